"""Helpers for tests of commands: run a command, and write a table to a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from click.testing import CliRunner, Result

from isodepth.cli.program import cli

NAMES = ("temp", "dewp", "wind")
QUICK = ("--n-directions", 20)


def run(*arguments: object, code: int = 0, stdin: bytes | None = None) -> Result:
    """Run a command, check that its exit code is `code` and that there is no traceback.

    `stdin` is the standard input. Return the result of the command.
    """
    result = CliRunner().invoke(cli, [str(each) for each in arguments], input=stdin)
    assert result.exit_code == code, result.output
    assert isinstance(result.exception, SystemExit | None)
    return result


def run_json(*arguments: object, code: int = 0) -> dict[str, Any]:
    """Return the JSON output of a command, which must end with the exit code `code`."""
    return json.loads(run(*arguments, "--json", code=code).stdout)


def refusal(*arguments: object, stdin: bytes | None = None) -> str:
    """Return the error message of a command: one line on stderr, with exit code 2."""
    result = run(*arguments, code=2, stdin=stdin)
    assert result.stdout == ""
    assert result.stderr.startswith("isodepth: error: ")
    assert result.stderr.count("\n") == 1
    assert "unexpected" not in result.stderr
    return result.stderr


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def save(path: Path, points: Any, names: Any = NAMES) -> Path:
    """Write `points` (n, d) to a CSV file without rounding, and return the path.

    `names` are the names of the columns.
    """
    header = ",".join(names) if names else ""
    np.savetxt(path, points, fmt="%.17g", delimiter=",", header=header, comments="")
    return path


def sample(seed: int, rows: int = 30, shift: float = 0.0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(rows, 3)) + [shift, 0, 0]
