"""Every command shows examples in its help, and every example runs."""

from __future__ import annotations

import argparse
import io
import shlex
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from text_extra import needs_encoder

from isodepth.cli.main import _parser, main


def parsers() -> dict[str, argparse.ArgumentParser]:
    """Every command by its name, those of `monitor` as well."""
    found: dict[str, argparse.ArgumentParser] = {}
    left = [("", _parser())]
    while left:
        name, parser = left.pop()
        below = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
        for action in below:
            left += [(f"{name} {word}".strip(), each) for word, each in action.choices.items()]
        if not below:
            found[name] = parser
    return found


def examples(parser: argparse.ArgumentParser) -> list[str]:
    _, _, shown = parser.format_help().partition("examples:\n")
    return [line.strip() for line in shown.splitlines() if line.strip()]


COMMANDS = parsers()
EXAMPLES = [(name, line) for name, parser in COMMANDS.items() for line in examples(parser)]


def test_all_commands_are_there() -> None:
    assert set(COMMANDS) >= {
        "compare", "test", "pairwise", "nearest", "depth", "monitor fit", "monitor check",
        "monitor show", "monitor reset", "report", "score", "warm-up", "cite",
    }  # fmt: skip


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_has_examples_and_json(name: str) -> None:
    shown = examples(COMMANDS[name])
    assert shown
    assert all(f"isodepth {name}" in line for line in shown)
    assert "--json" in COMMANDS[name].format_help()


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that examples name."""
    folder = tmp_path_factory.mktemp("examples")
    rng = np.random.default_rng(0)
    (folder / "months").mkdir()
    whole = ["origin,month,day,temp,dewp,wind"]
    for month, name in ((6, "june"), (7, "july"), (8, "august")):
        rows = rng.normal(size=(60, 3)) + [month, 0, 0]
        lines = ["day,temp,dewp,wind"]
        for i, row in enumerate(rows):
            cells = ",".join(map(repr, row.tolist()))
            lines.append(f"{100 * month + i // 3},{cells}")
            whole.append(f"{'EWR' if i % 2 else 'JFK'},{month},{lines[-1]}")
        text = "\n".join(lines) + "\n"
        (folder / f"{name}.csv").write_text(text)
        (folder / "months" / f"{name}.csv").write_text(text)
    (folder / "year.csv").write_text("\n".join(whole) + "\n")
    lines = (folder / "june.csv").read_text().splitlines()
    raw = [f"{line},EWR" for line in lines[1:-1]] + ["999,,1.0,2.0,JFK"]
    (folder / "raw.csv").write_text("\n".join([f"{lines[0]},origin", *raw]) + "\n")
    (folder / "reference.csv").write_text(
        "\n".join(
            ["week,a,b"]
            + [
                f"{i // 20},{a!r},{b!r}"
                for i, (a, b) in enumerate(rng.normal(size=(2000, 2)).tolist())
            ]
        )
    )
    np.savetxt(folder / "batch.csv", rng.normal(size=(50, 2)), delimiter=",", header="a,b",
               comments="")  # fmt: skip
    for name in ("candidates", "references", "more"):
        (folder / f"{name}.txt").write_text("the cat sat on the mat\nit rains today\n")
    return folder


@pytest.mark.parametrize(
    "example",
    [
        pytest.param(line, marks=needs_encoder if name == "score" else (), id=line)
        for name, line in EXAMPLES
    ],
)
def test_every_example_runs(
    example: str, tables: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tables)
    if " fit " not in example and "monitor" in example:
        Path("monitor.npz").unlink(missing_ok=True)
        reference = ["reference.csv", "--batch-size", "50", "--drop", "week", "-o", "monitor.npz"]
        assert main(["monitor", "fit", *reference]) == 0
        assert main(["monitor", "check", "monitor.npz", "batch.csv"]) == 0
        capsys.readouterr()
    else:
        Path("monitor.npz").unlink(missing_ok=True)
    feed, _, command = example.rpartition(" | ")
    if feed:
        word, file = feed.split()
        assert word == "cat"
        content = Path(file).read_bytes()
        monkeypatch.setattr(
            "sys.stdin",
            SimpleNamespace(buffer=io.BytesIO(content), closed=False, isatty=lambda: False),
        )
    program, *arguments = shlex.split(command)
    assert program == "isodepth"
    code = main(arguments)
    printed = capsys.readouterr()
    assert code == 0, printed.err
    assert printed.out.strip()
    for flag in ("-o", "--output", "--plot", "--report", "--log"):
        if flag in arguments:
            assert Path(arguments[arguments.index(flag) + 1]).stat().st_size > 0
