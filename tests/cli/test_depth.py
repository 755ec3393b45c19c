"""`isodepth depth`: a depth for each row, and everything else in the table as it was."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.helpers import refusal, run, sample, save, write

import isodepth

QUICK = ("--directions", 20)
RAW = 'origin,a,b\nEWR,1,2\nJFK,,3\n"L, G",4,5\nEWR,5,9\nEWR,2,2\n'


def depths(points: Any, of: Any = None, kind: Any = isodepth.ProjectionDepth) -> np.ndarray:
    fitted = kind(n_directions=20, random_state=0).fit(points if of is None else of)
    return fitted.depth_ if of is None else fitted.score_samples(points)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return save(tmp_path / "t.csv", sample(0))


def test_the_depths_of_the_library(capsys: Any, tmp_path: Path, table: Path) -> None:
    code, out, err = run(capsys, "depth", table, "--json", *QUICK)
    assert (code, err) == (0, "")
    assert json.loads(out)["depths"] == depths(sample(0)).tolist()
    of = save(tmp_path / "of.csv", sample(1)[:, [1, 2, 0]], ("dewp", "wind", "temp"))
    _, out, _ = run(capsys, "depth", table, "--of", of, "--depth", "halfspace", "--json", *QUICK)
    wanted = depths(sample(0), sample(1), isodepth.HalfspaceDepth)
    assert json.loads(out)["depths"] == wanted.tolist()


def test_the_least_deep_rows_for_people(capsys: Any, table: Path) -> None:
    _, out, _ = run(capsys, "depth", table, *QUICK)
    found = depths(sample(0))
    assert f"least deep   row {found.argmin()}: {found.min():.4g}" in out
    assert f"deepest      row {found.argmax()}: {found.max():.4g}" in out


def test_a_column_is_appended_and_nothing_else_changes(capsys: Any, tmp_path: Path) -> None:
    path, target = write(tmp_path / "raw.csv", RAW), tmp_path / "deep.csv"
    target.write_text("there was something before")
    given = ("depth", path, "--drop-text", "--missing", "omit", "-o", target, "--name", "d", *QUICK)
    code, out, _ = run(capsys, *given)
    assert code == 0
    assert "rows         5, of which 1 have missing values" in out
    assert f"written      {target}, with a column 'd'" in out
    found = depths([[1, 2], [4, 5], [5, 9], [2, 2]]).tolist()
    cells = [repr(found[0]), "", *map(repr, found[1:])]
    lines = RAW.splitlines()
    wanted = [f"{lines[0]},d"] + [f"{a},{b}" for a, b in zip(lines[1:], cells, strict=True)]
    assert target.read_text().splitlines() == wanted


def test_other_kinds_of_files(capsys: Any, tmp_path: Path) -> None:
    import pandas as pd

    frame = pd.DataFrame({"a": [1.0, None, 4.0, 5.0], "b": [2, 3, 5, 9], "c": list("wxyz")})
    frame.to_parquet(tmp_path / "t.parquet")
    given = ("--drop", "c", "--missing", "omit", *QUICK)
    run(capsys, "depth", tmp_path / "t.parquet", "-o", tmp_path / "d.feather", *given)
    found = pd.read_feather(tmp_path / "d.feather")
    assert found.columns.tolist() == ["a", "b", "c", "depth"]
    assert found["c"].tolist() == list("wxyz")
    assert np.isnan(found["depth"][1])
    np.testing.assert_array_equal(found["depth"].dropna(), depths([[1.0, 2], [4, 5], [5, 9]]))
    np.save(tmp_path / "t.npy", sample(0))
    run(capsys, "depth", tmp_path / "t.npy", "-o", tmp_path / "d.npy", *QUICK)
    wanted = np.column_stack([sample(0), depths(sample(0))])
    np.testing.assert_array_equal(np.load(tmp_path / "d.npy"), wanted)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["absent.csv"], "there is no such file"),
        (["t.csv", "--of", "absent.csv"], "there is no such file"),
        (["t.csv", "--of", "raw.csv", "--drop-text", "--missing", "omit"], "only in"),
        (["raw.csv"], "'EWR' is not a number"),
        (["raw.csv", "--drop-text"], "the cell is empty"),
        (["empty.csv"], "it is empty"),
        (["t.csv", "-o", "absent/d.csv"], "there is no folder"),
        (["t.csv", "-o", "d.parquet"], "for a table that is read from .csv"),
        (["t.csv", "-o", "d.txt"], "its name ends in '.txt'"),
        (["t.csv", "-o", "d.csv", "--name", "temp"], "has a column 'temp' already"),
        (["t.csv", "--depth", "tukey"], "--depth must be one of halfspace"),
        (["t.csv", "--directions", "0"], "n_directions"),
        (["t.csv", "--family", "grid"], "directions"),
        (["t.csv", "--eps", "0.1"], "--eps"),
        (["."], "it is a folder"),
    ],
)
def test_bad_input(
    capsys: Any, table: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(table.parent)
    write(table.parent / "raw.csv", RAW)
    write(table.parent / "empty.csv", "")
    assert said in refusal(capsys, "depth", *arguments)
    assert sorted(path.name for path in table.parent.iterdir()) == ["empty.csv", "raw.csv", "t.csv"]


def test_as_a_program_that_reads_a_pipe(table: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "isodepth.cli", "depth", "-", "-o", "d.csv", "--directions", "20"],
        input=table.read_bytes(), capture_output=True, cwd=table.parent, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    assert (table.parent / "d.csv").read_text().splitlines()[0] == "temp,dewp,wind,depth"
