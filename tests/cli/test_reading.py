"""What all commands read: every kind of file, chosen columns, notes about odd files."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from cli.helpers import NAMES, refusal, run, sample, save, write

import isodepth

QUICK = ("--directions", 20)
RAW = (
    "origin,temp,when,dewp\nEWR,1.0,2013-06-01,2.5\nJFK,2.0,2013-06-02,1.5\nEWR,4.0,2013-06-03,0\n"
)


@pytest.fixture
def a(tmp_path: Path) -> Path:
    return save(tmp_path / "a.csv", sample(0))


def as_kind(folder: Path, ending: str, points: np.ndarray) -> Path:
    """The same table in a file of every kind."""
    import pandas as pd

    frame = pd.DataFrame(points, columns=list(NAMES))
    path = folder / f"b{ending}"
    text = frame.to_csv(index=False, sep="\t" if ".tsv" in ending else ",")
    if ending in (".csv", ".tsv"):
        path.write_text(text)
    elif ending.endswith(".gz"):
        path.write_bytes(gzip.compress(text.encode()))
    elif ending == ".parquet":
        frame.to_parquet(path)
    elif ending == ".feather":
        frame.to_feather(path)
    elif ending == ".npy":
        np.save(path, points)
    else:
        np.savez_compressed(path, table=points)
    return path


@pytest.mark.parametrize(
    "ending", [".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet", ".feather", ".npy", ".npz"]
)
def test_every_kind_of_file(capsys: Any, tmp_path: Path, a: Path, ending: str) -> None:
    b = as_kind(tmp_path, ending, sample(1))
    code, out, err = run(capsys, "compare", a, b, "--json", *QUICK)
    assert (code, err) == (0, "")
    wanted = isodepth.distance(sample(0), sample(1), n_directions=20, random_state=0)
    assert json.loads(out)["distance"] == wanted


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".csv.gz", ".parquet", ".feather", ".npy"])
def test_standard_input_is_known_by_its_first_bytes(
    capsys: Any, tmp_path: Path, a: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = as_kind(tmp_path, ending, sample(1)).read_bytes()
    stdin = SimpleNamespace(buffer=io.BytesIO(content), closed=False, isatty=lambda: False)
    monkeypatch.setattr("sys.stdin", stdin)
    code, out, err = run(capsys, "compare", a, "-", "--json", *QUICK)
    assert (code, err) == (0, "")
    wanted = isodepth.distance(sample(0), sample(1), n_directions=20, random_state=0)
    assert json.loads(out)["distance"] == wanted


def test_standard_input_cannot_be_read(
    capsys: Any, a: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "standard input can be read once" in refusal(capsys, "compare", "-", "-")
    terminal = SimpleNamespace(buffer=io.BytesIO(), closed=False, isatty=lambda: True)
    monkeypatch.setattr("sys.stdin", terminal)
    assert "it is a terminal" in refusal(capsys, "compare", a, "-")
    monkeypatch.setattr("sys.stdin", None)
    assert "it is closed" in refusal(capsys, "compare", a, "-")


def test_one_of_several_arrays(capsys: Any, tmp_path: Path, a: Path) -> None:
    b = tmp_path / "b.npz"
    np.savez(b, june=sample(0), july=sample(1))
    said = refusal(capsys, "compare", a, b)
    assert "2 arrays (june, july)" in said
    assert f"{b}:june" in said
    assert "no array 'may'; there are june, july" in refusal(capsys, "compare", a, f"{b}:may")
    code, out, _ = run(capsys, "compare", a, f"{b}:july", "--json", *QUICK)
    wanted = isodepth.distance(sample(0), sample(1), n_directions=20, random_state=0)
    assert (code, json.loads(out)["distance"]) == (0, wanted)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("b.csv.gz", b"no gzip at all", "not compressed by gzip"),
        ("b.csv.gz", gzip.compress(b"a,b\n1,2\n")[:-9], "damaged"),
        ("b.xls.gz", gzip.compress(b"1"), "'.xls'"),
        ("b.feather", b"ARROW1 and then nothing", "damaged or not a feather file"),
        ("b.npz", b"PK and then nothing", "damaged"),
        ("b.npz", b"", "damaged"),
    ],
)
def test_damaged_files(
    capsys: Any, tmp_path: Path, a: Path, name: str, content: bytes, said: str
) -> None:
    (tmp_path / name).write_bytes(content)
    assert said in refusal(capsys, "compare", a, tmp_path / name)


def test_a_monitor_is_not_a_table(capsys: Any, tmp_path: Path, a: Path) -> None:
    isodepth.Metric(levels=5, n_directions=5, random_state=0).table(sample(0)).save(
        tmp_path / "t.npz"
    )
    assert "a file of isodepth" in refusal(capsys, "compare", a, tmp_path / "t.npz")


# -- columns --------------------------------------------------------------------------------------


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    return write(tmp_path / "raw.csv", RAW)


def test_text_is_refused_and_named(capsys: Any, raw: Path) -> None:
    said = refusal(capsys, "compare", raw, raw)
    assert "line 2, column 1 ('origin'): 'EWR' is not a number" in said
    assert "'origin', 'when'" in said
    assert "--drop origin,when" in said
    assert "--drop-text" in said


@pytest.mark.parametrize(
    "arguments",
    [
        ("--drop", "origin,when"),
        ("--drop", "origin", "--drop", "when"),
        ("--drop-text",),
        ("--columns", "temp,dewp"),
        ("--columns", "temp", "--columns", "dewp"),
    ],
)
def test_text_is_left_out_where_asked(capsys: Any, raw: Path, arguments: tuple[str, ...]) -> None:
    given = (raw, raw, "--depth", "irw", *QUICK, *arguments)
    code, out, err = run(capsys, "compare", *given, "--json")
    found = json.loads(out)
    assert (code, found["columns"], found["distance"]) == (0, ["temp", "dewp"], 0)
    dropped = [] if "--columns" in arguments else ["origin", "when"]
    assert found["left_out"] == dropped
    _, out, _ = run(capsys, "compare", *given)
    assert ("left out     origin, when" in out) == bool(dropped)
    if arguments == ("--drop-text",):
        assert "note: left out of" in err
        assert "'origin' (text, such as 'EWR')" in err
        assert "'when' (dates, such as '2013-06-01')" in err
        assert len(found["warnings"]) == 1


def test_a_slip_among_numbers_is_counted_when_left_out(capsys: Any, tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "a,b\n1,2\n3,4o\n5,6\n")
    code, _, err = run(capsys, "compare", path, path, "--drop-text", *QUICK)
    assert code == 0
    assert "'b' (text in 1 of 3 cells, the first '4o' in line 3)" in err


def test_text_in_parquet(capsys: Any, tmp_path: Path) -> None:
    import pandas as pd

    frame = pd.DataFrame({"a": [1.0, 2.0, 5.0], "b": ["x", "y", "z"], "c": [True, False, True]})
    frame.to_parquet(tmp_path / "t.parquet")
    path = tmp_path / "t.parquet"
    said = refusal(capsys, "compare", path, path)
    assert "column 'b' is of type" in said
    assert "--drop b" in said
    code, out, err = run(capsys, "compare", path, path, "--drop-text", "--json", *QUICK)
    assert (code, json.loads(out)["columns"]) == (0, ["a", "c"])
    assert "left out of" in err
    assert "column 'c' of" in err
    assert "is boolean: true is taken as 1" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--columns", "temp,dew"), "has no column 'dew'; did you mean 'dewp'?"),
        (("--drop", "dew"), "none of the tables has such a column"),
        (("--drop", "temp,dewp,wind"), "no column of"),
        (("--columns", "temp", "--drop", "temp"), "no column of"),
        (("--missing", "drop"), "--missing must be one of raise, omit"),
    ],
)
def test_wrong_columns(capsys: Any, a: Path, arguments: tuple[str, ...], said: str) -> None:
    assert said in refusal(capsys, "compare", a, a, *arguments)


def test_a_column_of_one_table_may_be_dropped(capsys: Any, tmp_path: Path, a: Path) -> None:
    wide = save(tmp_path / "wide.csv", np.column_stack([sample(1), np.ones(30)]), (*NAMES, "id"))
    said = refusal(capsys, "compare", a, wide)
    assert "'id' is only in" in said
    assert "--drop" in said
    assert run(capsys, "compare", a, wide, "--drop", "id", *QUICK)[0] == 0


def test_columns_by_number(capsys: Any, tmp_path: Path) -> None:
    np.save(tmp_path / "t.npy", sample(0))
    path = tmp_path / "t.npy"
    code, out, _ = run(capsys, "depth", path, "--columns", "0,2", "--json", *QUICK)
    wanted = isodepth.ProjectionDepth(n_directions=20, random_state=0).fit(sample(0)[:, [0, 2]])
    assert (code, json.loads(out)["depths"]) == (0, wanted.depth_.tolist())


# -- notes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1,2\n3,4\n5,1\n", "has no header: its first row is taken for data"),
        ("a,b\n1,2\n", "has one row only"),
        ("a,b\n1,true\n2,False\n3,TRUE\n", "column 'b' of"),
    ],
)
def test_notes(capsys: Any, tmp_path: Path, text: str, said: str) -> None:
    path = write(tmp_path / "t.csv", text)
    code, out, err = run(capsys, "compare", path, path, "--json", *QUICK)
    assert code == 0
    assert err.startswith("isodepth: note: ")
    assert said in err
    assert any(said in each for each in json.loads(out)["warnings"])


def test_true_is_one(capsys: Any, tmp_path: Path) -> None:
    words = write(tmp_path / "words.csv", "a,b\n1,true\n2,false\n3,true\n7,false\n")
    digits = write(tmp_path / "digits.csv", "a,b\n1,1\n2,0\n3,1\n7,0\n")
    code, out, _ = run(capsys, "compare", words, digits, "--json", *QUICK)
    assert (code, json.loads(out)["distance"]) == (0, 0)


def test_many_rows_lost_to_one_column(capsys: Any, tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "a,b\n1,\n2,\n3,\n4,1\n5,2\n")
    code, _, err = run(capsys, "compare", path, path, "--missing", "omit", "--depth", "irw", *QUICK)
    assert code == 0
    assert "3 of 5 rows" in err
    assert "--drop b would keep" in err
