"""`pairwise` and `depth`: the numbers of the library, files that are written, bad input."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli.helpers import NAMES, QUICK, refusal, run, run_json, sample, save, write

import isodepth

SHIFTS = {"may": 0.0, "june": 0.5, "july": 6.0, "august": 7.0}
BAGS = {name: sample(i, 25 + i, SHIFTS[name]) for i, name in enumerate(SHIFTS)}
RAW = 'origin,a,b\nEWR,1,2\nJFK,,3\n"L, G",4,5\nEWR,5,9\nEWR,2,2\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Tables in a folder, one of them with permuted columns, and the same rows in one file."""
    monkeypatch.chdir(tmp_path)
    Path("months").mkdir()
    lines = [",".join(("name", *NAMES))]
    for name, bag in BAGS.items():
        save(Path(f"months/{name}.csv"), bag)
        lines += [",".join([name, *map(repr, row)]) for row in bag.tolist()]
    save(Path("months/june.csv"), BAGS["june"][:, [2, 0, 1]], ("wind", "temp", "dewp"))
    write(Path("months/_readme.txt"), "not a table")
    write(Path("whole.csv"), "\n".join(lines))
    return tmp_path


def wanted() -> isodepth.DistanceMatrix:
    bags = {name: BAGS[name] for name in sorted(SHIFTS)}
    return isodepth.pairwise(bags, n_directions=20, scale="pooled", random_state=0)


def test_a_folder_files_and_groups_give_the_same(folder: Path) -> None:
    files = [f"months/{name}.csv" for name in sorted(SHIFTS)]
    for given in (["months"], files, ["whole.csv", "--group-by", "name"]):
        found = run_json("pairwise", *given, *QUICK)
        assert found["labels"] == sorted(SHIFTS)
        np.testing.assert_allclose(found["distances"], wanted().values, rtol=1e-12)
        assert found["signature"] == wanted().signature


@pytest.mark.usefixtures("without_pictures")
def test_lines_clusters_and_files(folder: Path) -> None:
    drawn = ("--plot", "m.png", "--report", "r.html")
    for ending, more in ((".csv", drawn), (".npy", ()), (".parquet", ())):
        given = ("-o", f"d{ending}", "--clusters", 2, *more)
        text = run("pairwise", "months", *given, *QUICK).stdout
        assert "cluster 1      august, july\ncluster 2      june, may\n" in text
        assert f"nearest        june and may, {wanted().values[2, 3]:.4g}" in text
        assert f"written to     d{ending}" in text
    frame = pd.read_csv("d.csv", index_col="sample", dtype=str).astype(float)
    assert frame.columns.tolist() == frame.index.tolist() == sorted(SHIFTS)
    assert (np.load("d.npy") == frame.to_numpy()).all()
    assert (pd.read_parquet("d.parquet").set_index("sample").to_numpy() == frame.to_numpy()).all()
    assert Path("m.png").read_bytes().startswith(b"\x89PNG")


def test_numeric_labels_are_sorted_as_numbers(folder: Path) -> None:
    rows = [f"{month},{i}.5" for month in (10, 2, 1) for i in range(3)]
    path = write(Path("t.csv"), "\n".join(["month,x", *rows]))
    assert run_json("pairwise", path, "--group-by", "month", *QUICK)["labels"] == ["1", "2", "10"]
    write(path, path.read_text() + "\n,3")
    assert "1 rows have no value" in refusal("pairwise", path, "--group-by", "month")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["absent"], "there is no such file"),
        (["empty"], "the folder has no file that ends in"),
        (["months/may.csv"], "at least two samples, got may"),
        (["months", "--group-by", "temp"], "--group-by needs a single table, got 4"),
        (["months", "--clusters", "0"], "'--clusters'"),
        (["months", "-o", "d.xlsx"], "its name ends in '.xlsx'"),
        (["months", "--scale", "reference"], "is the spread of the first of two"),
        (["months", "--levels", "exact"], "levels"),
        (["months", "--permutations", "9"], "--permutations"),
        (["months", "other.csv"], "'rain' is only in"),
    ],
)
def test_wrong_samples(folder: Path, arguments: list[str], said: str) -> None:
    Path("empty").mkdir()
    write(Path("other.csv"), "temp,dewp,rain\n1,2,3\n")
    before = sorted(folder.iterdir())
    assert said in refusal("pairwise", *arguments)
    assert sorted(folder.iterdir()) == before


# -- depth ----------------------------------------------------------------------------------------


def test_depths_equal_those_of_the_library(folder: Path) -> None:
    table = save(Path("t.csv"), sample(0))
    own = isodepth.ProjectionDepth(n_directions=20, random_state=0).fit(sample(0))
    assert run_json("depth", table, *QUICK)["depths"] == own.depth_.tolist()
    lowest = own.depth_.argmin()
    assert (
        f"least deep     row {lowest}: {own.depth_[lowest]:.4g}"
        in run("depth", table, *QUICK).stdout
    )
    of = save(Path("of.csv"), sample(1)[:, [1, 2, 0]], ("dewp", "wind", "temp"))
    other = isodepth.HalfspaceDepth(n_directions=20, random_state=0).fit(sample(1))
    found = run_json("depth", table, "--of", of, "--depth", "halfspace", *QUICK)
    assert found["depths"] == other.score_samples(sample(0)).tolist()


def test_a_column_is_appended_and_nothing_else_changes(folder: Path) -> None:
    path = write(Path("raw.csv"), RAW)
    given = ("--drop-text", "--nan-policy", "omit", "-o", "deep.csv", "--name", "d", *QUICK)
    assert "written to     deep.csv, with a column 'd'" in run("depth", path, *given).stdout
    rows = [[1, 2], [4, 5], [5, 9], [2, 2]]
    depths = isodepth.ProjectionDepth(n_directions=20, random_state=0).fit(rows).depth_.tolist()
    cells = ["d", repr(depths[0]), "", *map(repr, depths[1:])]
    wanted = [f"{line},{cell}" for line, cell in zip(RAW.splitlines(), cells, strict=True)]
    assert Path("deep.csv").read_text().splitlines() == wanted


def test_a_column_is_appended_to_columnar_files_and_arrays(folder: Path) -> None:
    points = sample(0)
    depths = isodepth.ProjectionDepth(n_directions=20, random_state=0).fit(points).depth_
    frame = pd.DataFrame(points, columns=["temp", "dewp", "wind"])
    frame.to_parquet("t.parquet")
    frame.assign(temp=[None, *points[1:, 0]], note="dry").to_feather("t.feather")
    np.save("t.npy", points)
    run("depth", "t.parquet", "-o", "deep.feather", *QUICK)
    pd.testing.assert_frame_equal(pd.read_feather("deep.feather"), frame.assign(depth=depths))
    omitted = ("--drop-text", "--nan-policy", "omit", "-o", "deep.parquet")
    run("depth", "t.feather", *omitted, *QUICK)
    found = pd.read_parquet("deep.parquet")
    assert found.columns.tolist() == ["temp", "dewp", "wind", "note", "depth"]
    assert found["depth"].isna().tolist() == [True] + [False] * (len(points) - 1)
    assert "already has a column 'temp'" in refusal(
        "depth", "t.parquet", "-o", "d.parquet", "--name", "temp"
    )
    run("depth", "t.npy", "-o", "deep.npy", *QUICK)
    np.testing.assert_array_equal(np.load("deep.npy"), np.column_stack([points, depths]))
    assert "for a table that is read from .npy" in refusal("depth", "t.npy", "-o", "d.csv")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--of", "absent.csv"], "there is no such file"),
        (["-o", "absent/d.csv"], "there is no folder"),
        (["-o", "d.parquet"], "for a table that is read from .csv"),
        (["-o", "d.csv", "--name", "temp"], "already has a column 'temp'"),
        (["--directions", "0"], "--directions must"),
        (["--eps", "0.1"], "--eps"),
    ],
)
def test_wrong_options_of_depth(folder: Path, arguments: list[str], said: str) -> None:
    table = save(Path("t.csv"), sample(0))
    assert said in refusal("depth", table, *arguments)
    assert not Path("d.csv").exists()
