"""Tables from files: what is read, and that every fault is named in one line."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from isodepth.data.readers import read_table
from isodepth.errors import MissingExtraError, UnreadableFileError


def write(folder: Path, text: str | bytes, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def fault(path: Path) -> str:
    """The message of the refusal, checked to be one line that names the file."""
    with pytest.raises(UnreadableFileError) as caught:
        read_table(path)
    message = str(caught.value)
    assert path.name in message
    assert "\n" not in message
    return message


# -- csv ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "points", "columns"),
    [
        ("a,b\n1,2\n3,4\n", [[1, 2], [3, 4]], ("a", "b")),
        ("1,2\n3,4\n", [[1, 2], [3, 4]], None),
        ("1,2\n3,4", [[1, 2], [3, 4]], None),
        ("a,b\r\n1,2\r\n3,4\r\n", [[1, 2], [3, 4]], ("a", "b")),
        ("\ufeffa,b\n1,2\n", [[1, 2]], ("a", "b")),
        ("\n\na , b\n\n 1, 2 \n\n3,4\n\n", [[1, 2], [3, 4]], ("a", "b")),
        ('"a, in m","two\nlines"\n"1",2\n', [[1, 2]], ("a, in m", "two\nlines")),
        ("a\n1\n2\n", [[1], [2]], ("a",)),
        ("-1e-150,+.5\n1E150,-0\n", [[-1e-150, 0.5], [1e150, 0]], None),
        ("a#,b%\n1,2\n", [[1, 2]], ("a#", "b%")),
        ("größe,длина\n1,2\n", [[1, 2]], ("größe", "длина")),
    ],
)
def test_csv_is_read(tmp_path, text, points, columns):
    table, names = read_table(write(tmp_path, text))
    assert table.dtype == np.float64
    np.testing.assert_array_equal(table, points)
    assert names == columns


def test_csv_gives_back_every_bit(tmp_path):
    numbers = np.random.default_rng(0).standard_normal((50, 3)) * 10.0 ** np.array([-9, 0, 9])
    text = "\n".join(",".join(map(repr, row)) for row in numbers.tolist())
    np.testing.assert_array_equal(read_table(write(tmp_path, text))[0], numbers)


def test_csv_leaves_nan_to_the_check_of_the_data(tmp_path):
    """The check of user input counts NaN and inf and says how to fix them, for every source."""
    table, _ = read_table(write(tmp_path, "a,b\nnan,1\n2,inf\n"))
    np.testing.assert_array_equal(table, [[np.nan, 1], [2, np.inf]])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it is empty"),
        ("\n\n", "it is empty"),
        ("a,b\n", "a header but no rows"),
        ("a,b\n1,2\n3,x\n", "line 3, column 2 ('b'): 'x' is not a number"),
        ("1,2\n3,x\n", "line 2, column 2: 'x' is not a number"),
        ("a,b\n1,2\n3,1_000\n", "'1_000' is not a number"),
        ("a,b\n1,2\n\n3,\n", "line 4, column 2 ('b'): the cell is empty"),
        ("1,\n3,4\n", "line 1, column 2: the cell is empty"),
        ("a,b\n1,2\n3,4,5\n", "line 3 has 3 cells where 2 are expected"),
        ("a,b\n1,2\n3\n", "line 3 has 1 cells where 2 are expected"),
        ("a,b,c\n1,2\n3,4\n", "line 2 has 2 cells where 3 are expected"),
        ("1,2,x\n3,4,5\n", "mixes numbers ('1') and text ('x')"),
        (",a,b\n0,1,2\n", "column 1 has no name"),
        ("a,b,a\n1,2,3\n", "two columns are named 'a'"),
        ("a;b\n1;2\n", "separated by commas, not by ';'"),
        ("a\tb\n1\t2\n", "separated by commas, not by '\\t'"),
        (b"a,b\n1,\xff\n", "not UTF-8"),
        (b"\x00\x01\x02\x00" * 10, "not a text file"),
        ('a,b\n1,"2\n3,4\n', "quotes are damaged"),
    ],
)
def test_csv_fault_is_named(tmp_path, text, said):
    message = fault(write(tmp_path, text))
    assert said in message


# -- parquet --------------------------------------------------------------------------------------


@pytest.fixture
def pandas():
    pytest.importorskip("pyarrow")
    return pytest.importorskip("pandas")


def test_parquet_is_read(tmp_path, pandas):
    frame = pandas.DataFrame({"a": [1, 2, 3], "b": [0.5, 1.5, 2.5]}, index=[7, 8, 9])
    frame.to_parquet(tmp_path / "t.parquet")
    table, names = read_table(tmp_path / "t.parquet")
    assert table.dtype == np.float64
    np.testing.assert_array_equal(table, frame.to_numpy())
    assert names == ("a", "b")


def test_parquet_keeps_float32(tmp_path, pandas):
    frame = pandas.DataFrame(np.ones((3, 2), np.float32), columns=["a", "b"])
    frame.to_parquet(tmp_path / "t.PARQUET")
    assert read_table(tmp_path / "t.PARQUET")[0].dtype == np.float32


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"a": [1.0, 2.0], "b": ["x", "y"]}, "column 'b' is of type"),
        ({"a": [1.0, None, None]}, "column 'a' has 2 missing values"),
        ({"a": []}, "0 rows"),
        ({}, "0 columns"),
    ],
)
def test_parquet_fault_is_named(tmp_path, columns, said):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    assert said in fault(tmp_path / "t.parquet")


def test_damaged_parquet_is_refused(tmp_path):
    pytest.importorskip("pyarrow")
    assert "damaged" in fault(write(tmp_path, b"PAR1 and then nothing", "t.parquet"))
    assert "damaged" in fault(write(tmp_path, b"", "t.parquet"))


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    path = write(tmp_path, b"", "t.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'isodepth\[frames\]'"):
        read_table(path)


# -- npy ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy_is_mapped_not_copied(tmp_path, dtype, order):
    points = np.asarray(np.arange(12).reshape(4, 3), dtype, order=order)
    np.save(tmp_path / "t.npy", points)
    table, names = read_table(tmp_path / "t.npy")
    assert isinstance(table, np.memmap)
    assert not table.flags.writeable
    assert table.dtype == dtype
    np.testing.assert_array_equal(table, points)
    assert names is None


def test_npy_of_objects_is_never_unpickled(tmp_path):
    np.save(tmp_path / "t.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    assert "not a .npy file of numbers" in fault(tmp_path / "t.npy")


@pytest.mark.parametrize("content", [b"", b"no numbers here", b"\x93NUMPY\x01\x00"])
def test_damaged_npy_is_refused(tmp_path, content):
    assert "damaged" in fault(write(tmp_path, content, "t.npy"))


def test_truncated_npy_is_refused(tmp_path):
    np.save(tmp_path / "t.npy", np.ones((100, 3)))
    whole = (tmp_path / "t.npy").read_bytes()
    assert "damaged" in fault(write(tmp_path, whole[:-100], "t.npy"))


def test_archive_under_the_name_of_an_array_is_refused(tmp_path):
    with (tmp_path / "t.npy").open("wb") as file:
        np.savez(file, a=np.ones(3))
    assert "archive" in fault(tmp_path / "t.npy")


# -- paths ----------------------------------------------------------------------------------------


def test_missing_file(tmp_path):
    assert "no such file" in fault(tmp_path / "absent.csv")


def test_folder(tmp_path):
    (tmp_path / "folder.csv").mkdir()
    assert "folder, not a file" in fault(tmp_path / "folder.csv")


def test_unknown_kind_lists_the_known_ones(tmp_path):
    message = fault(write(tmp_path, "1,2\n", "table.xlsx"))
    assert "'.xlsx'" in message
    assert ".csv, .tsv, .parquet, .feather, .npy, .npz" in message
    assert "no ending" in fault(write(tmp_path, "1,2\n", "table"))


def test_path_may_be_text(tmp_path):
    path = write(tmp_path, "1,2\n3,4\n")
    np.testing.assert_array_equal(read_table(str(path))[0], [[1, 2], [3, 4]])
