"""Tables from files; every error is one line with the position of the fault."""

from __future__ import annotations

import decimal
import errno
import gzip
import io
import os
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isodepth import distance, scan
from isodepth.errors import InvalidOptionError, UnreadableFileError
from isodepth.table.frames import NamedArray
from isodepth.table.input_file import table_files
from isodepth.table.readers import Choice, ReadOptions, choose_columns, read_table

POINTS = np.random.default_rng(0).normal(size=(12, 3)) * 10.0 ** np.array([-9, 0, 9])


def write(folder: Path, text: str | bytes, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def numbers(path: Any, **options: Any) -> NamedArray:
    return read_table(path, ReadOptions(**options)).numbers


def fault(path: Path, **options: Any) -> str:
    """Return the error message for a file, which must be one line that contains the file name."""
    with pytest.raises(UnreadableFileError) as caught:
        numbers(path, **options)
    message = str(caught.value)
    assert path.name in message
    assert "\n" not in message
    assert len(message) < 1000
    return message


# -- text -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "points", "columns"),
    [
        ("1,2\n3,4", [[1, 2], [3, 4]], None),
        ("a,b\r\n1,2\r\n3,4\r\n", [[1, 2], [3, 4]], ("a", "b")),
        ("\ufeffa,b\n1,2\n", [[1, 2]], ("a", "b")),
        ("\ufeff1,2\n3,4\n", [[1, 2], [3, 4]], None),
        ("\n\na , b\n\n 1, 2 \n\n3,4\n\n", [[1, 2], [3, 4]], ("a", "b")),
        ('"a, in m","two\nlines"\n"1",2\n', [[1, 2]], ("a, in m", "two\nlines")),
        ("a\n1\n2\n", [[1], [2]], ("a",)),
        ("mean radius\n1\n2\n", [[1], [2]], ("mean radius",)),
        ("-1e-150,+.5\n1E150,-0\n", [[-1e-150, 0.5], [1e150, 0]], None),
        ("größe,a#\n1,1\n2,0\n", [[1, 1], [2, 0]], ("größe", "a#")),
        ("a,b\nnan,1\n2,inf\n", [[np.nan, 1], [2, np.inf]], ("a", "b")),
        # Other separators, and decimal commas.
        ("a;b\n1;2\n3;4\n", [[1, 2], [3, 4]], ("a", "b")),
        ("a\tb\n1\t2\n", [[1, 2]], ("a", "b")),
        ("a|b\n1.5|2\n", [[1.5, 2]], ("a", "b")),
        ("a b\n1,5 2\n2,5 3\n", [[1.5, 2], [2.5, 3]], ("a", "b")),
        ("\ufeffx, cm;y\n1,5;2\n-3,25e2;4\n", [[1.5, 2], [-325, 4]], ("x, cm", "y")),
        ('"x";"y"\n"1,5";"2,5"\n', [[1.5, 2.5]], ("x", "y")),
        ("1,5;2,5\n3,5;4\n", [[1.5, 2.5], [3.5, 4]], None),
        ("when;y\n1,5;2\n 1,25 ;2\n", [[1.5, 2], [1.25, 2]], ("when", "y")),
    ],
)
def test_text_is_read(tmp_path: Path, text: str, points: Any, columns: Any) -> None:
    table, names = numbers(write(tmp_path, text))
    assert table.dtype == np.float64
    np.testing.assert_array_equal(table, points)
    assert names == columns
    if names:
        zipped = write(tmp_path, gzip.compress(text.encode()), "t.csv.gz")
        np.testing.assert_array_equal(numbers(zipped)[0], points)


@pytest.mark.filterwarnings("ignore:.*integers up to:isodepth.errors.ColumnWarning")
@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(allow_nan=False), st.text("ab,;\"' \n\t|", max_size=5), st.integers()),
        min_size=1, max_size=6,
    ),
    st.sampled_from([",", ";", "\t"]),
)  # fmt: skip
def test_text_files_are_read_exactly(tmp_path_factory: Any, rows: Any, mark: str) -> None:
    """Numbers in text files are read exactly; columns that are not selected have no influence."""
    path = tmp_path_factory.mktemp("t") / "t.csv"
    frame = pd.DataFrame(rows, columns=["x", "text", "n"])
    frame.to_csv(path, sep=mark, index=False)
    table = numbers(path, columns=["n", "x"])
    np.testing.assert_array_equal(table.points, frame[["n", "x"]].astype(float))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it is empty"),
        ("\n\n", "it is empty"),
        ("a,b\n", "a header but no rows"),
        ("a,b", "a header but no rows"),
        ("a,b\n1,2\n\n3,x\n", "line 4, column 2 ('b'): 'x' is not a number"),
        ("1,2\n3,x\n", "line 2, column 2: 'x' is not a number"),
        ("a,b\n1,2\n3,1_000\n", "'1_000' is not a number"),
        ("a,b\n1,-\n3,-\n2,7\n", "read them as missing values with --missing -, or"),
        ("a,b\n1,true\n3,7\n", "line 2, column 2 ('b'): 'true' is not a number"),
        ('a,b\n1,"1,234"\n', "'1,234' is not a number"),
        ("a;b\n1,5;1.234\n", "is not a number"),
        ("a,b\n1,2\n\n3, na \n", "line 4, column 2 ('b'): the value is missing"),
        ("a,b\n1,2\n3,4,5\n", "line 3 has 3 cells instead of 2"),
        ("a,b,c\n1,2\n3,4\n", "line 2 has 2 cells instead of 3"),
        ("a,b\n1,2\n3\n", "line 3 has 1 cell instead of 2"),
        ("1,2,x\n3,4,5\n", "mixes numbers ('1') and other strings ('x')"),
        ("a,,b\n0,1,2\n", "column 2 has no name"),
        ("a,b,a\n1,2,3\n", "two columns are named 'a'"),
        (b"a,b\n1,\xff\n", "not UTF-8"),
        (b"a,b\n" + b"1,2\n" * 200_000 + b"1,\xff\n", "not UTF-8"),
        (b"\x00\x01\x02\x00" * 10, "not a text file"),
        ('a,b\n1,"2\n3,4\n', "quotes are damaged"),
        ('"a,b\n1,2\n', "quotes are damaged"),
    ],
)
def test_text_fault_is_named(tmp_path: Path, text: str | bytes, said: str) -> None:
    assert said in fault(write(tmp_path, text))


def test_an_open_quote_in_a_column_that_is_not_chosen(tmp_path: Path) -> None:
    """A missing closing quotation mark is an error, also in a column that is not selected.

    Otherwise, one cell would include the following rows.
    """
    path = write(tmp_path, 'a,b\n1,x\n2,"y\n3,z\n4,z\n')
    assert "quotes are damaged" in fault(path, columns=["a"])
    inches = write(tmp_path, 'a,b\n1,5" pipe\n2,y\n')
    assert numbers(inches, columns=["a"]).points.tolist() == [[1], [2]]


def test_a_fault_far_down_is_found(tmp_path: Path) -> None:
    lines = ["x;t;y", *(f'{i},5;"a\nb";{i}' for i in range(60_000)), "1,5;t;word"]
    path = write(tmp_path, "\n".join(lines))
    assert "line 120002, column 3 ('y'): 'word'" in fault(path, columns=["x", "y"])
    assert len(numbers(path, columns=["x"]).points) == 60_001


def test_damaged_gzip(tmp_path: Path) -> None:
    whole = gzip.compress(b"a,b\n" + b"1,2\n" * 1000)
    for damaged in (whole[:-9], b"no gzip", whole[:30] + b"\xff" * 9 + whole[39:]):
        assert "gzip" in fault(write(tmp_path, damaged, "t.csv.gz"))
    # Damaged where only reading the rows finds it, whole or in chunks.
    long = gzip.compress(b"a\n" + b"\n".join(b"%d" % (i * i) for i in range(200_000)), 1)
    for damaged in (long[:-9], long[:-200] + b"\xff" * 50 + long[-150:]):
        path = write(tmp_path, damaged, "t.csv.gz")
        assert "gzip" in fault(path)
        with pytest.raises(UnreadableFileError, match="gzip"):
            distance(scan(path), scan(path), levels=3, refine=0)


# -- columns, text, notes -------------------------------------------------------------------------

TEXT = "site,a,when,b\nEWR,1,2013-06-01,2\nJFK,3,2013-06-02,\nJFK,5,2013-06-03,7\n"


@pytest.fixture(params=[".csv", ".tsv", ".csv.gz", ".parquet"])
def path(request: Any, tmp_path: Path) -> Path:
    frame = pd.read_csv(io.StringIO(TEXT))
    file = tmp_path / f"t{request.param}"
    if request.param == ".parquet":
        frame.to_parquet(file)
    else:
        frame.to_csv(file, index=False, sep="\t" if request.param == ".tsv" else ",")
    return file


def test_columns_are_chosen(path: Path) -> None:
    points, columns = numbers(path, columns=["b", "a"], missing=True)
    assert columns == ("b", "a")
    np.testing.assert_array_equal(points, [[2, 1], [np.nan, 3], [7, 5]])
    for how in ({"drop": ["site", "when"]}, {"text": "drop"}):
        points, columns = numbers(path, missing=True, **how)
        assert columns == ("a", "b")
        np.testing.assert_array_equal(points, [[1, 2], [3, np.nan], [5, 7]])


def test_text_is_refused_with_advice(path: Path) -> None:
    message = fault(path)
    assert "'EWR' is not a number (text, booleans or dates in 'site', 'when')" in message
    assert "--numeric-only or --drop site,when" in message
    with pytest.raises(InvalidOptionError, match=r"has no column 'c'.*site, a, when, b"):
        numbers(path, columns=["c"])
    assert read_table(path, ReadOptions(missing=True, text="keep", drop=["c"])).absent == ["c"]
    assert "the value is missing (1 of 3 in this column)" in fault(path, columns=["b"])
    assert "none of its columns is numeric" in fault(path, columns=["site"], text="drop")


def test_text_can_be_kept(path: Path) -> None:
    """Check that a table with ``text="keep"`` has all columns with their types."""
    result = read_table(path, ReadOptions(missing=True, text="keep", drop=["site"]))
    assert result.columns == ("a", "when", "b")
    assert str(result.frame["when"].to_numpy()[0]) == "2013-06-01"
    assert result.frame["b"].null_count == 1
    whole = read_table(path, ReadOptions(missing=True, text="keep"))
    assert whole.frame["site"].to_numpy().tolist() == ["EWR", "JFK", "JFK"]
    assert whole.mixed is whole.frame
    chosen = read_table(path, ReadOptions(missing=True, text="keep", columns=["a", "b"]))
    assert chosen.mixed is chosen.frame  # the integers 1, 3, 5 may number the rows
    chosen = read_table(path, ReadOptions(missing=True, text="keep", columns=["b"]))
    assert chosen.mixed.columns == ("b",)
    left = read_table(path, ReadOptions(missing=True, text="drop"))
    assert left.left_out == ["site", "when"]
    about = "'site' (text such as 'EWR'), 'when' (text such as '2013-06-01')"
    assert left.notes == [f"left out of {path}: {about}"]


def test_notes(tmp_path: Path) -> None:
    path = write(tmp_path, "1,5;7\n2;x\n", "n.csv")
    notes = " ".join(read_table(path, ReadOptions(text="drop")).notes)
    assert "separated by semicolons, not commas, and numbers have decimal commas" in notes
    assert "has no header" in notes
    assert "'1' (text such as 'x')" in notes
    path = write(tmp_path, "a,b\ntrue,7\n")
    with pytest.raises(
        UnreadableFileError, match=r"'[Tt]rue' is not a number .*booleans or dates in 'a'"
    ):
        read_table(path)
    notes = " ".join(read_table(path, ReadOptions(text="drop")).notes)
    assert "'a' (text such as 'True')" in notes
    assert "has only one row" in notes


def test_choice_of_columns() -> None:
    assert choose_columns(["a,b", "a", "b"], ReadOptions(columns=["a,b"]), "t").kept == [0]
    assert choose_columns(["a", "b", "c"], ReadOptions(columns=["c,a,c"]), "t").kept == [2, 0]
    assert choose_columns(["a", "b"], ReadOptions(drop=["c"]), "t") == Choice([0, 1], [], ["c"])


def test_many_columns_are_named_briefly(tmp_path: Path) -> None:
    names = [f"c{i}" for i in range(400)]
    path = write(tmp_path, ",".join(names) + "\n" + ",".join(["x"] * 400) + "\n")
    assert "and 380 more" in fault(path)


# -- Arrow ----------------------------------------------------------------------------------------


def test_types_of_parquet(tmp_path: Path) -> None:
    path = tmp_path / "year=2020" / "t.parquet"  # the folder does not become a column
    path.parent.mkdir()
    frame = pd.DataFrame({"a": [1, 2, 3], "b": [0.5, 1.5, 2.5]}, index=[7, 8, 9])
    frame.to_parquet(path)
    table, names = numbers(path)
    np.testing.assert_array_equal(table, frame.to_numpy())
    assert names == ("a", "b")
    euros = pa.array([decimal.Decimal("1.25"), None, decimal.Decimal("-3.50")])
    pq.write_table(pa.table({"euros": euros, "n": pa.array([1, 2, 3], pa.uint8())}), path)
    expected = [[1.25, 1], [np.nan, 2], [-3.5, 3]]
    np.testing.assert_array_equal(numbers(path, missing=True).points, expected)
    assert "row 1, column 'euros' is of type decimal128(3, 2): the value is missing" in fault(path)
    pq.write_table(pa.table({"a": np.ones(3, np.float32)}), path)
    assert numbers(path).points.dtype == np.float32
    for empty in ({"a": []}, {}):
        pq.write_table(pa.table(empty), path)
        assert "it has 0 rows" in fault(path)


#: Damaged metadata can crash the process that reads a file. Another process therefore reads it, and
#: must end regularly within a bound on its memory.
FLIP = """
import resource, sys
import numpy as np
from pathlib import Path
from isodepth.errors import UnreadableFileError
from isodepth.table.readers import read_table

folder = Path(sys.argv[1])
content = (folder / "whole.parquet").read_bytes()
rng = np.random.default_rng(5)
resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
path = folder / "t.parquet"
counts = {"read": 0, "refused": 0}
damaged = [content[:length] for length in range(0, len(content), 29)]
for bit in rng.choice(len(content) * 8, 300, replace=False).tolist():
    flipped = bytearray(content)
    flipped[bit // 8] ^= 1 << bit % 8
    damaged.append(flipped)
for changed in damaged:
    path.write_bytes(changed)
    try:
        read_table(path).numbers
        counts["read"] += 1
    except UnreadableFileError as error:
        assert "\\n" not in str(error)
        counts["refused"] += 1
print(counts["read"], counts["refused"])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits as POSIX systems have them")
def test_damaged_parquet_is_read_or_refused(tmp_path: Path) -> None:
    frame = pd.DataFrame(POINTS, columns=list("abc"), index=range(5, 17))
    frame.to_parquet(tmp_path / "whole.parquet")
    done = subprocess.run(
        [sys.executable, "-c", FLIP, str(tmp_path)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert min(map(int, done.stdout.split())) > 50


# -- arrays ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "points",
    [POINTS, np.asfortranarray(POINTS), POINTS.astype(">f4"), np.arange(6).reshape(2, 3) > 2]
    + [np.empty((0, 3)), np.float64(7.0), np.arange(5, dtype=np.uint8)],
)
def test_arrays_keep_shape_type_and_numbers(tmp_path: Path, points: np.ndarray) -> None:
    np.save(tmp_path / "t.npy", points)
    zipped = write(tmp_path, gzip.compress((tmp_path / "t.npy").read_bytes()), "t.npy.gz")
    for path in (tmp_path / "t.npy", zipped):
        table, names = numbers(path)
        assert names is None
        assert table.dtype == points.dtype
        assert table.shape == points.shape
        np.testing.assert_array_equal(table, points)
    if points.size > 1:
        mapped = numbers(tmp_path / "t.npy").points
        assert isinstance(mapped, np.memmap)
        assert not mapped.flags.writeable


def test_columns_of_arrays_are_numbered(tmp_path: Path) -> None:
    np.save(tmp_path / "t.npy", POINTS)
    found = numbers(tmp_path / "t.npy", columns=["2", "0"]).points
    np.testing.assert_array_equal(found, POINTS[:, [2, 0]])
    assert found.flags.c_contiguous
    with pytest.raises(InvalidOptionError, match="has no column '3'"):
        numbers(tmp_path / "t.npy", columns=["3"])


def test_damaged_arrays(tmp_path: Path) -> None:
    """Check truncated files and flipped bits of the header: an error, or an array of that size."""
    np.save(tmp_path / "whole.npy", POINTS)
    whole = (tmp_path / "whole.npy").read_bytes()
    damaged = [whole[:length] for length in range(0, len(whole), 5)] + [whole + b"\0"]
    flipped = []
    for bit in range(0, 128 * 8, 3):
        flipped.append(bytearray(whole))
        flipped[-1][bit // 8] ^= 1 << bit % 8
    path, refused = tmp_path / "t.npy", 0
    for content in damaged + flipped:
        path.write_bytes(content)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                assert numbers(path).points.size == POINTS.size
                assert len(content) == len(whole)
            except UnreadableFileError:
                refused += 1
    assert refused > len(damaged) + len(flipped) / 2


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999, 99999999999), }",
        "{'descr': '<c16', 'fortran_order': False, 'shape': (6, 3), }",
        "{'descr': '|O', 'fortran_order': False, 'shape': (12, 3), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (" + "1" * 30_000,
        "(" * 30_000,
    ],
)
def test_wrong_headers_of_arrays(tmp_path: Path, header: str) -> None:
    start = b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header.encode()
    message = fault(write(tmp_path, start + POINTS.tobytes(), "t.npy"))
    assert "damaged or not a npy file" in message


def test_wrong_endings(tmp_path: Path) -> None:
    with (tmp_path / "t.npy").open("wb") as file:
        np.savez(file, a=np.ones(3))
    assert "archive" in fault(tmp_path / "t.npy")
    for name in ("t.parquet", "t.npy"):
        assert "damaged" in fault(write(tmp_path, b"a,b\n1,2\n", name))


# -- paths, pipes, folders ------------------------------------------------------------------------


def test_paths(tmp_path: Path) -> None:
    assert "no such file" in fault(tmp_path / "absent.csv")
    (tmp_path / "folder.csv").mkdir()
    assert "folder, not a file" in fault(tmp_path / "folder.csv")
    message = fault(write(tmp_path, "1,2\n", "table.xlsx"))
    assert "'.xlsx'; supported are .csv, .tsv, .parquet, .npy" in message
    assert "no ending" in fault(write(tmp_path, "1,2\n", "table"))
    for odd, said in ((7, "got 7"), ("a\0.csv", "null"), ("a" * 300 + ".csv", "too long")):
        with pytest.raises(UnreadableFileError, match=said):
            numbers(odd)  # type: ignore[arg-type]


def test_errors_of_the_disk_are_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, "a,b\n1,2\n")
    for error, words in (
        (OSError(errno.EIO, os.strerror(errno.EIO)), os.strerror(errno.EIO)),
        (OSError("the tape\nis torn"), "the tape is torn"),
    ):

        def torn(*_: Any, error: OSError = error, **__: Any) -> None:
            raise error

        with monkeypatch.context() as patch:
            patch.setattr(Path, "open", torn)
            assert fault(path) == f"cannot read {path}: {words}"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes of POSIX systems")
def test_pipes_are_read_once(tmp_path: Path) -> None:
    text = b"a;b\n1,5;2\n"
    np.save(tmp_path / "whole.npy", POINTS)
    pq.write_table(pa.table({"a": [1.5], "b": [2.0]}), tmp_path / "whole.parquet")
    for place, (name, content) in enumerate(
        [("t.csv", text), ("t", text), ("t.csv", gzip.compress(text))]
        + [(f"t{end}", (tmp_path / f"whole{end}").read_bytes()) for end in (".npy", ".parquet")]
    ):
        (tmp_path / str(place)).mkdir()
        pipe = tmp_path / str(place) / name
        os.mkfifo(pipe)
        writer = threading.Thread(target=pipe.write_bytes, args=(content,))
        writer.start()
        try:
            # A second opening would wait for a second writer, for ever.
            points = numbers(pipe).points
        finally:
            writer.join(timeout=10)
        assert not writer.is_alive()
        np.testing.assert_array_equal(points, POINTS if name == "t.npy" else [[1.5, 2]])
    for device in ("/dev/zero", "/dev/null"):
        with pytest.raises(UnreadableFileError, match="it is a device"):
            numbers(device)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes of POSIX systems")
@pytest.mark.parametrize("how", ["cat {} | {}", "{1} < {0}"])
def test_standard_input(tmp_path: Path, how: str) -> None:
    path = write(tmp_path, "a,b\n1,2\n3,4\n")
    read = "from isodepth.table.readers import read_table as read"
    code = f"{read}; print(read('/dev/stdin').numbers.points.sum())"
    done = subprocess.run(
        ["sh", "-c", how.format(path, f'{sys.executable} -c "{code}"')],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.stdout == "10.0\n", done.stderr


def test_standard_input_that_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    typed = io.TextIOWrapper(io.BytesIO())
    typed.isatty = lambda: True  # type: ignore[method-assign]
    damaged = io.TextIOWrapper(io.BytesIO(gzip.compress(b"a,b\n1,2\n")[:-9]))
    for stream, said in (
        (None, "it is closed"), (typed, "it is a terminal"), (damaged, "not compressed by gzip"),
    ):  # fmt: skip
        monkeypatch.setattr(sys, "stdin", stream)
        with pytest.raises(UnreadableFileError, match=said):
            numbers("-")


def test_other_files_in_a_folder_are_refused(tmp_path: Path) -> None:
    for name in ("1.csv", "2.csv.gz", "3.tsv", "4.npy", "_SUCCESS", ".hidden.csv", "README.md"):
        (tmp_path / name).touch()
    found = [file.name for file in table_files(tmp_path)]
    assert found == ["1.csv", "2.csv.gz", "3.tsv", "4.npy"]
    (tmp_path / "5.xlsx").touch()
    with pytest.raises(UnreadableFileError, match=r"5\.xlsx in this folder is not a table"):
        table_files(tmp_path)


def test_a_huge_line_is_refused_before_it_is_in_memory(tmp_path: Path) -> None:
    for number, start in ((2, b"a,b\n1,"), (1, b"")):
        path = tmp_path / f"{number}.csv.gz"
        with gzip.open(path, "wb", compresslevel=1) as file:
            file.write(start)
            for _ in range(24):
                file.write(b"7" * 1_000_000)
        with pytest.raises(UnreadableFileError, match=f"line {number} is longer than 16 MB"):
            read_table(path)


def test_spaces_and_other_encodings(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a b\n1 2.5\n3 4\n")
    assert read_table(path).numbers.points.tolist() == [[1, 2.5], [3, 4]]
    path.write_text("a   b\n1   2.5\n3   4\n")
    with pytest.raises(UnreadableFileError, match="separated by several spaces"):
        read_table(path)
    path.write_text("city name\nNew York\nLos Angeles\n")
    assert read_table(path, ReadOptions(text="keep")).columns == ("city name",)
    path.write_bytes("a,café\n1,2\n".encode("latin-1"))
    with pytest.raises(UnreadableFileError, match=r"byte 0xe9.*Latin-1"):
        read_table(path)


@pytest.mark.parametrize(
    ("written", "named"),
    [("utf-16", "utf-16"), ("utf-16-le", "utf-16"), ("utf-16-be", "utf-16"), ("utf-32", "utf-32"),
     ("utf-32-be", "utf-32"), ("latin-1", "latin-1")],
)  # fmt: skip
@pytest.mark.parametrize("compressed", [False, True])
def test_the_recommended_encoding_reads_the_file(
    tmp_path: Path, written: str, named: str, compressed: bool
) -> None:
    path = tmp_path / ("t.csv.gz" if compressed else "t.csv")
    text = "a,café\n1,2\n"
    mark = "\ufeff" if written.endswith("e") else ""
    content = (mark + text).encode(written)
    path.write_bytes(gzip.compress(content) if compressed else content)
    with pytest.raises(UnreadableFileError, match=rf"read_csv\(..., encoding='{named}'\)"):
        read_table(path)
    assert content.decode(named) == text


def test_periods_in_a_file_are_read_without_an_import_of_pandas(tmp_path: Path) -> None:
    """Periods are read as strings in a process that has not imported pandas.

    pyarrow alone reads them as integers.
    """
    months = pd.period_range("2020-01", periods=4, freq="M")
    pd.DataFrame({"month": months, "x": range(4)}).to_parquet(tmp_path / "a.parquet")
    code = (
        "import sys, isodepth; assert 'pandas' not in sys.modules; "
        f"(part,) = isodepth.scan({str(tmp_path / 'a.parquet')!r})._parts; "
        "print(next(part.raw_chunks(9)).table.column('month').to_pylist())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['2020-01', '2020-02', '2020-03', '2020-04']"


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_an_error_of_memory_names_the_file(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise pa.ArrowMemoryError("malloc of size 64 failed")

    path = tmp_path / f"t{ending}"
    frame = pd.DataFrame({"a": [1.5, 2.5]})
    if ending == ".csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path)
    monkeypatch.setattr("pyarrow.csv.open_csv", fail)
    monkeypatch.setattr("pyarrow.parquet.ParquetFile.read", fail)
    message = r"t\.\w+: it does not fit into memory \(malloc of size 64 failed\)"
    with pytest.raises(UnreadableFileError, match=message):
        read_table(path)
