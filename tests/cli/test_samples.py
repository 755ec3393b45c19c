"""The commands `pairwise` and `depth`: results equal those of functions, files, wrong input."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli.helpers import NAMES, QUICK, refusal, run, run_json, sample, save, write

import isodepth

SHIFTS = {"may": 0.0, "june": 0.5, "july": 6.0, "august": 7.0}
BAGS = {name: sample(i, 25 + i, SHIFTS[name]) for i, name in enumerate(SHIFTS)}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write tables to a folder, one with permuted columns, and all their rows to one file."""
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
    for given in (["months"], files, ["whole.csv", "--by", "name"]):
        found = run_json("pairwise", *given, *QUICK)
        assert found["labels"] == sorted(SHIFTS)
        np.testing.assert_allclose(found["distances"], wanted().values, rtol=1e-12)
        assert found["signature"] == wanted().signature


def test_lines_and_files(folder: Path) -> None:
    text = run("pairwise", "months", "-o", "d.csv", *QUICK).stdout
    assert f"nearest        june and may, {wanted().values[2, 3]:.4g}" in text
    assert "written to     d.csv" in text
    frame = pd.read_csv("d.csv", index_col="sample", dtype=str).astype(float)
    assert frame.columns.tolist() == frame.index.tolist() == sorted(SHIFTS)
    np.testing.assert_array_equal(frame, wanted())


@pytest.mark.parametrize(
    "labels",
    [
        ["2024_01", "2024_02"],
        ["1", "nan"],
        ["28446744073709551616", "98446744073709551616"],
        ["9007199254740992", "9007199254740993"],
    ],
)
def test_labels_that_floats_do_not_represent_are_strings(folder: Path, labels: list[str]) -> None:
    """Labels are not converted to floats if the conversion would change or merge them.

    Examples are "2024_01", "nan" and integers beyond 2**53.
    """
    rows = [f"{label},{i + 3 * j}.5" for j, label in enumerate(labels) for i in range(3)]
    path = write(Path("t.csv"), "\n".join(["month,x", *rows]))
    found = run_json("pairwise", path, "--by", "month", *QUICK)
    assert found["labels"] == labels
    assert found["distances"][0][1] > 0


def test_numeric_labels_are_sorted_as_numbers(folder: Path) -> None:
    rows = [f"{month},{i}.5" for month in (10, 2, 1) for i in range(3)]
    path = write(Path("t.csv"), "\n".join(["month,x", *rows]))
    assert run_json("pairwise", path, "--by", "month", *QUICK)["labels"] == ["1", "2", "10"]
    write(path, path.read_text() + "\n,3")
    assert "1 row has no value" in refusal("pairwise", path, "--by", "month")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["absent"], "there is no such file"),
        (["empty"], "the folder has no file that ends in"),
        (["months/may.csv"], "at least two samples, got may"),
        (["months", "--by", "temp"], "--by needs a single table, got 4"),
        (["months", "-o", "d.xlsx"], "its name must end in .csv"),
        (["months", "--scale", "reference"], "is not one of 'pooled', 'none'"),
        (["months", "--levels", "exact"], "levels"),
        (["months", "--n-permutations", "9"], "--n-permutations"),
        (["months", "other.csv"], "'rain' is only in other; select columns that both have"),
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
    fitted = isodepth.ProjectionDepth(n_directions=20, random_state=0).fit(sample(0))
    assert run_json("depth", table, *QUICK)["depths"] == fitted.depth_.tolist()
    lowest = fitted.depth_.argmin()
    printed = run("depth", table, *QUICK).stdout
    assert f"least deep     row {lowest} ({fitted.depth_[lowest]:.4g})" in printed
    of = save(Path("of.csv"), sample(1)[:, [1, 2, 0]], ("dewp", "wind", "temp"))
    other = isodepth.HalfspaceDepth(n_directions=20, random_state=0).fit(sample(1))
    answer = run_json("depth", table, "--reference", of, "--depth", "halfspace", *QUICK)
    assert answer["depths"] == other.score_samples(sample(0)).tolist()


def test_depths_are_written(folder: Path) -> None:
    raw = 'origin,a,b\nEWR,1,2\nJFK,,3\n"L, G",4,5\nEWR,5,9\nEWR,2,2\n'
    path = write(Path("raw.csv"), raw)
    rows = [[1, 2], [4, 5], [5, 9], [2, 2]]
    depths = isodepth.ProjectionDepth(n_directions=20, random_state=0).fit(rows).depth_.tolist()
    run("depth", path, "-o", "deep.csv", "--numeric-only", "--nan-policy", "omit", *QUICK)
    cells = [repr(depths[0]), "", *map(repr, depths[1:])]
    lines = [f"{row},{cell}" for row, cell in enumerate(cells)]
    assert Path("deep.csv").read_text().splitlines() == ["row,depth", *lines]


@pytest.mark.parametrize(
    ("arguments", "cause"),
    [
        (["--reference", "absent.csv"], "no such file"),
        (["-o", "absent/d.csv"], "no folder"),
        (["-o", "d.parquet"], ".csv"),
        (["--n-directions", "0"], "--n-directions"),
        (["--eps", "0.1"], "--eps"),
    ],
)
def test_wrong_options_of_depth(folder: Path, arguments: list[str], cause: str) -> None:
    assert cause in refusal("depth", save(Path("t.csv"), sample(0)), *arguments)


def test_the_help_of_pairwise_does_not_offer_exact_levels() -> None:
    text = " ".join(run("pairwise", "--help").stdout.split())
    assert "equal length (default 20)." in text
    text = " ".join(run("compare", "--help").stdout.split())
    assert "or exact for the integral over all levels (default exact" in text
    assert "exact" in refusal("pairwise", "absent.csv", "--levels", "exact")
