"""`--plot` and `--report` of commands: what the library makes, whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.helpers import refusal, run, sample, save

import isodepth

QUICK = ("--directions", 20)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    for i, name in enumerate(("june", "july")):
        save(tmp_path / f"{name}.csv", sample(i, shift=3.0 * i))
    return ["june.csv", "july.csv"]


@pytest.mark.parametrize("command", ["compare", "test"])
def test_a_report_and_a_picture(capsys: Any, files: list[str], command: str) -> None:
    many = ("--test", 19) if command == "compare" else ("--resamples", 19)
    given = (command, *files, *many, *QUICK, "--report", "r.html", "--plot", "p.svg")
    code, out, err = run(capsys, *given)
    assert (code, err) == (0, "")
    assert out.endswith("report       r.html\n")
    page = Path("r.html").read_text(encoding="utf-8")
    assert "july differs from june" in page
    assert f"isodepth {command} june.csv july.csv" in page
    assert "<svg" in Path("p.svg").read_text(encoding="utf-8")


def test_notes_are_in_the_report(capsys: Any, files: list[str]) -> None:
    np.savetxt("july.csv", sample(1), delimiter=",")
    code, _, err = run(capsys, "compare", *files, *QUICK, "--report", "r.html")
    assert code == 0
    assert "note: july.csv has no header" in err
    assert "july.csv has no header" in Path("r.html").read_text(encoding="utf-8")


def test_a_matrix_and_a_monitor(capsys: Any, files: list[str]) -> None:
    assert run(capsys, "pairwise", *files, *QUICK, "--report", "many.html")[0] == 0
    assert "june" in Path("many.html").read_text(encoding="utf-8")
    rows = np.random.default_rng(0).normal(size=(600, 2))
    isodepth.DepthMonitor(rows, batch_size=20, n_directions=10, random_state=0, path="m.npz").check(
        rows[:20]
    )
    code, out, _ = run(capsys, "monitor", "show", "m.npz", "--report", "m.html", "--json")
    assert (code, json.loads(out)["warnings"]) == (0, [])
    assert "1 batch(es)" in Path("m.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", ["compare", "test"])
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--report", "r.txt"], "its name must end in .html"),
        (["--report", "absent/r.html"], "there is no folder"),
        (["--report", "folder.html"], "it is a folder"),
        (["--plot", "p.xyz"], "its name must end in one of"),
        (["--plot", "absent/p.png"], "there is no folder"),
    ],
)
def test_what_cannot_be_written_is_said_before_anything_is_read(
    capsys: Any, files: list[str], command: str, arguments: list[str], said: str
) -> None:
    Path("folder.html").mkdir()
    assert said in refusal(capsys, command, "absent.csv", "absent.csv", *arguments)


def test_a_fault_while_writing_leaves_the_old_file(
    capsys: Any, files: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("r.html").write_text("old")

    def fail(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("isodepth.data.output.os.replace", fail)
    code, out, err = run(capsys, "compare", *files, *QUICK, "--report", "r.html")
    assert (code, out) == (74, "")
    assert "No space left" in err
    assert Path("r.html").read_text() == "old"
    assert sorted(path.name for path in Path().iterdir()) == ["july.csv", "june.csv", "r.html"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--tolerance", "0.1"], "--tolerance belongs to the test"),
        (["--blocks", "temp"], "--blocks belongs to the test"),
        (["--test", "9", "--blocks", "night"], "--blocks must name one of several columns"),
        (["--test", "0"], "n_resamples must be an integer >= 1"),
    ],
)
def test_options_of_the_test(
    capsys: Any, files: list[str], arguments: list[str], said: str
) -> None:
    assert said in refusal(capsys, "compare", *files, *arguments)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--drop", "temp"], "--drop does not go with tables that are read in chunks"),
        (["--drop-text"], "--drop-text does not go"),
        (["--test", "9"], "--test does not go"),
        (["--report", "r.html"], "--report does not go"),
    ],
)
def test_what_chunks_cannot_do_is_refused(
    capsys: Any, files: list[str], arguments: list[str], said: str
) -> None:
    for name in ("a", "b"):
        Path(name).mkdir()
        save(Path(name, "part.csv"), sample(0))
    assert said in refusal(capsys, "compare", "a", "b", *arguments)
    code, out, _ = run(capsys, "compare", "a", "b", "--columns", "temp,wind", "--json", *QUICK)
    assert (code, json.loads(out)["columns"]) == (0, ["temp", "wind"])
