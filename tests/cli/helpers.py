"""What tests of commands share: running them in this process, and tables in files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from isodepth.cli.main import main

NAMES = ("temp", "dewp", "wind")


def run(capsys: Any, *arguments: object) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a command."""
    capsys.readouterr()
    code = main([str(argument) for argument in arguments])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def refusal(capsys: Any, *arguments: object) -> str:
    """What a command says when it refuses, checked to be one line on stderr and code 2."""
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, ""), err
    assert err.startswith("isodepth: error: ")
    assert err.count("\n") == 1
    return err


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def save(path: Path, points: Any, names: Any = NAMES) -> Path:
    """A .csv file that gives every bit back."""
    header = ",".join(names) if names else ""
    np.savetxt(path, points, fmt="%.17g", delimiter=",", header=header, comments="")
    return path


def sample(seed: int, rows: int = 30, shift: float = 0.0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(rows, 3)) + [shift, 0, 0]
