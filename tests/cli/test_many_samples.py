"""`isodepth pairwise` and `isodepth nearest`: the numbers of the library, good and bad input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.helpers import NAMES, refusal, run, sample, save, write

import isodepth

SHIFTS = {"may": 0.0, "june": 0.5, "july": 6.0, "august": 7.0}
BAGS = {name: sample(i, 25 + i, shift) for i, (name, shift) in enumerate(SHIFTS.items())}
QUICK = ("--directions", 20)


def matrix(names: Any = tuple(SHIFTS), **options: Any) -> isodepth.DistanceMatrix:
    bags = {name: BAGS[name] for name in names}
    return isodepth.pairwise(bags, n_directions=20, random_state=0, **options)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of tables, one with its columns in another order, and files that are none."""
    (tmp_path / "months").mkdir()
    for name, bag in BAGS.items():
        if name == "june":
            save(tmp_path / "months/june.csv", bag[:, [2, 0, 1]], ("wind", "temp", "dewp"))
        else:
            save(tmp_path / f"months/{name}.csv", bag)
    write(tmp_path / "months/readme.txt", "not a table")
    write(tmp_path / "months/_hidden.csv", "not a table")
    return tmp_path


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """All samples in one file, told apart by a column of text."""
    lines = [",".join(("name", *NAMES))]
    for name, bag in BAGS.items():
        lines += [",".join([name, *map(repr, row)]) for row in bag.tolist()]
    return write(tmp_path / "whole.csv", "\n".join(lines))


# -- pairwise -------------------------------------------------------------------------------------


def test_a_folder(capsys: Any, folder: Path) -> None:
    code, out, err = run(capsys, "pairwise", folder / "months", "--json", *QUICK)
    assert (code, err) == (0, "")
    wanted = matrix(("august", "july", "june", "may"))
    # The first of the folder, whose order of columns all others take.
    found = json.loads(out)
    assert found["labels"] == ["august", "july", "june", "may"]
    assert found["distances"] == wanted.values.tolist()
    assert found["signature"] == wanted.signature
    assert found["clusters"] is None


def test_files_and_groups_give_the_same(capsys: Any, folder: Path, whole: Path) -> None:
    files = [folder / f"months/{name}.csv" for name in sorted(SHIFTS)]
    by_file = json.loads(run(capsys, "pairwise", *files, "--json", "--scale", "pooled", *QUICK)[1])
    given = (whole, "--group-by", "name", "--json", "--scale", "pooled", *QUICK)
    by_group = json.loads(run(capsys, "pairwise", *given)[1])
    assert by_group["labels"] == sorted(SHIFTS) == by_file["labels"]
    assert by_group["distances"] == by_file["distances"]
    assert by_group["distances"] == matrix(sorted(SHIFTS), scale="pooled").values.tolist()


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".npy", ".parquet", ".feather"])
def test_the_matrix_in_a_file(capsys: Any, folder: Path, whole: Path, ending: str) -> None:
    import pandas as pd

    target = folder / f"d{ending}"
    target.write_text("there was something before")
    code, out, _ = run(capsys, "pairwise", whole, "--group-by", "name", "-o", target, *QUICK)
    assert code == 0
    assert f"written      {target}" in out
    wanted = matrix(sorted(SHIFTS))
    if ending == ".npy":
        assert (np.load(target) == wanted.values).all()
        return
    read = {".csv": pd.read_csv, ".parquet": pd.read_parquet, ".feather": pd.read_feather}
    frame = read.get(ending, lambda path: pd.read_csv(path, sep="\t"))(target)
    assert frame.columns.tolist() == ["sample", *sorted(SHIFTS)]
    assert frame["sample"].tolist() == sorted(SHIFTS)
    assert (frame.drop(columns="sample").to_numpy() == wanted.values).all()


def test_clusters_are_named_with_their_algorithm(capsys: Any, whole: Path) -> None:
    given = ("pairwise", whole, "--group-by", "name", "--clusters", 2, *QUICK)
    found = json.loads(run(capsys, *given, "--json")[1])["clusters"]
    assert found["samples"] == {"august": 1, "july": 1, "june": 2, "may": 2}
    assert "average linkage" in found["method"]
    text = run(capsys, *given)[1]
    assert "cluster 1    august, july\ncluster 2    june, may\n" in text
    assert "agglomerative clustering of the distances, average linkage" in text
    assert json.loads(run(capsys, *given[:-3], 1, *QUICK, "--json")[1])["clusters"]["samples"] == (
        dict.fromkeys(sorted(SHIFTS), 1)
    )


def test_lines_for_people(capsys: Any, whole: Path) -> None:
    _, out, _ = run(capsys, "pairwise", whole, "--group-by", "name", *QUICK)
    wanted = matrix(sorted(SHIFTS))
    assert f"nearest      june and may, {wanted.values[2, 3]:.4g}" in out
    assert f"farthest     august and may, {wanted.values[0, 3]:.4g}" in out
    assert out.splitlines()[-1].startswith("may ")


def test_numbers_are_in_their_order(capsys: Any, tmp_path: Path) -> None:
    rows = [f"{month},{i}.5" for month in (10, 2, 1) for i in range(3)]
    path = write(tmp_path / "t.csv", "\n".join(["month,x", *rows]))
    _, out, _ = run(capsys, "pairwise", path, "--group-by", "month", "--json", *QUICK)
    assert json.loads(out)["labels"] == ["1", "2", "10"]


def test_rows_of_no_group(capsys: Any, tmp_path: Path) -> None:
    text = "month,x\n1,1\n1,2\n,3\n2,4\n2,6\n2,\n"
    path = write(tmp_path / "t.csv", text)
    complete = write(tmp_path / "u.csv", text.replace("2,\n", ""))
    given = ("pairwise", path, "--group-by", "month", *QUICK)
    assert "line 7, column 2 ('x'): the cell is empty" in refusal(capsys, *given)
    said = refusal(capsys, "pairwise", complete, "--group-by", "month")
    assert "1 rows have no value in column 'month'" in said
    code, out, err = run(capsys, *given, "--missing", "omit", "--json")
    assert code == 0
    assert "left out 1 rows without a value in column 'month'" in err
    assert json.loads(out)["missing"] == {"rows": 6, "left_out": 1}
    assert "missing      left out 1 of 6 rows" in run(capsys, *given, "--missing", "omit")[1]


def test_a_picture(capsys: Any, folder: Path) -> None:
    target = folder / "m.png"
    code, _, err = run(capsys, "pairwise", folder / "months", "--plot", target, *QUICK)
    assert (code, err) == (0, "")
    assert target.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["absent"], "there is no such file"),
        (["months", "absent.csv"], "there is no such file"),
        (["empty"], "the folder holds no file that ends in"),
        (["months/may.csv"], "one sample only (may)"),
        (["months", "--group-by", "temp"], "--group-by takes one table apart, got 4"),
        (["months/may.csv", "--group-by", "name"], "has no column 'name'"),
        (["months", "--clusters", "5"], "--clusters must be at most the number of samples, 4"),
        (["months", "--clusters", "0"], "--clusters must be an integer >= 1"),
        (["months", "--clusters", "x"], "--clusters"),
        (["months", "-o", "absent/d.csv"], "there is no folder"),
        (["months", "-o", "d.xlsx"], "its name ends in '.xlsx'"),
        (["months", "-o", "d"], "its name has no ending"),
        (["months", "-o", "months"], "it is a folder"),
        (["months", "--plot", "m.xyz"], "its name must end in one of"),
        (["months", "--report", "r.txt"], "must end in .html"),
        (["months", "--report", "absent/r.html"], "there is no folder"),
        (["months", "--scale", "reference"], "--scale must be pooled or none"),
        (["months", "--scale", "wide"], "scale"),
        (["months", "--levels", "exact"], "levels"),
        (["months", "--eps", "2"], "eps"),
        (["months", "--refine", "3"], "--refine"),
        (["months", "--test", "9"], "--test"),
        (["months", "broken.csv"], "'x' is not a number"),
        (["months", "other.csv"], "'rain' is only in"),
        (["months", "narrow.npy"], "same number of columns"),
    ],
)
def test_bad_input(
    capsys: Any, folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(folder)
    (folder / "empty").mkdir()
    write(folder / "broken.csv", "temp,dewp,wind\n1,2,x\n")
    write(folder / "other.csv", "temp,dewp,rain\n1,2,3\n")
    np.save(folder / "narrow.npy", np.ones((3, 2)))
    before = sorted(path.name for path in folder.iterdir())
    assert said in refusal(capsys, "pairwise", *arguments)
    assert sorted(path.name for path in folder.iterdir()) == before


# -- nearest --------------------------------------------------------------------------------------


def test_the_nearest(capsys: Any, folder: Path, whole: Path) -> None:
    query = save(folder / "query.csv", sample(9, 20, 5.8))
    wanted = isodepth.pairwise(
        [sample(9, 20, 5.8)], [BAGS[name] for name in SHIFTS], n_directions=20, random_state=0
    )[0]
    order = [list(SHIFTS)[i] for i in np.argsort(wanted)]
    given = ("nearest", query, whole, "--group-by", "name", "--json", *QUICK)
    code, out, err = run(capsys, *given)
    found = json.loads(out)
    assert code == 0
    assert "-k 5: there are 4 samples only" in err
    assert [near["sample"] for near in found["nearest"]] == order
    assert [near["distance"] for near in found["nearest"]] == sorted(wanted)
    _, out, err = run(capsys, "nearest", query, folder / "months", "-k", 2, *QUICK)
    assert err == ""
    assert out.splitlines()[1].split()[:2] == ["1.", order[0]]
    assert len(out.splitlines()) == 4


def test_a_sample_is_not_its_own_neighbor(capsys: Any, folder: Path) -> None:
    query = folder / "months/may.csv"
    code, out, err = run(capsys, "nearest", query, folder / "months", "-k", 1, "--json", *QUICK)
    assert code == 0
    assert "is one of the samples, and not its own neighbor" in err
    assert json.loads(out)["nearest"][0]["sample"] == "june"
    assert "the query is the only sample" in refusal(capsys, "nearest", query, query)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["absent.csv", "months"], "there is no such file"),
        (["query.csv", "absent"], "there is no such file"),
        (["query.csv", "months", "-k", "0"], "-k must be an integer >= 1"),
        (["query.csv"], "SAMPLES"),
        (["query.csv", "months", "--columns", "rain"], "has no column 'rain'"),
        (["other.csv", "months"], "'rain' is only in"),
        (["query.csv", "months", "--clusters", "2"], "--clusters"),
        (["query.csv", "months", "--depth", "tukey"], "halfspace"),
        (["months", "query.csv"], "it is a folder"),
    ],
)
def test_bad_queries(
    capsys: Any, folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(folder)
    save(folder / "query.csv", sample(9))
    write(folder / "other.csv", "temp,dewp,rain\n1,2,3\n")
    assert said in refusal(capsys, "nearest", *arguments)


@pytest.mark.parametrize(
    "command", [["pairwise", "months"], ["nearest", "months/may.csv", "months"]]
)
def test_as_programs(folder: Path, command: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "isodepth.cli", *command, "--directions", "20", "--json"],
        capture_output=True, cwd=folder, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["signature"].startswith("DR|")
    # No bar in a pipe.
    assert b"%" not in done.stderr
