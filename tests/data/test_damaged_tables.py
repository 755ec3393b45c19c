"""Damaged .npy and .parquet files: any flipped bit and any cut is an answer or one clear error."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from isodepth.data.readers import read_table
from isodepth.errors import UnreadableFileError

POINTS = np.random.default_rng(0).normal(size=(12, 3))


def outcome(path: Path, content: bytes) -> np.ndarray | None:
    """The numbers, or None where the file is refused in one line; no warning, no other error."""
    path.write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return np.array(read_table(path).points)
        except UnreadableFileError as error:
            message = str(error)
    assert "\n" not in message
    return None


# -- npy ------------------------------------------------------------------------------------------


@pytest.fixture
def array(tmp_path: Path) -> bytes:
    np.save(tmp_path / "whole.npy", POINTS)
    return (tmp_path / "whole.npy").read_bytes()


def test_every_bit_of_an_npy_header_flipped(tmp_path: Path, array: bytes) -> None:
    refused = 0
    for bit in range(128 * 8):
        damaged = bytearray(array)
        damaged[bit // 8] ^= 1 << bit % 8
        points = outcome(tmp_path / "t.npy", bytes(damaged))
        refused += points is None
        # Another type of number or another order cannot be told from what was meant; a table of
        # another size can.
        assert points is None or points.size == POINTS.size
    assert refused > 800


def test_an_npy_file_cut_anywhere(tmp_path: Path, array: bytes) -> None:
    for length in range(len(array)):
        assert outcome(tmp_path / "t.npy", array[:length]) is None
    assert outcome(tmp_path / "t.npy", array + b"\0") is None


@pytest.mark.parametrize(
    "text",
    [
        "{'descr': '<f8', 'fortran_order': False, 'shape': (12, 3)}",
        '{"shape": (12,3), "descr":"<f8","fortran_order":False}',
        "{'descr': '<f8', 'fortran_order': False, 'shape': (12L, 3L), }",
    ],
)
@pytest.mark.parametrize("version", [1, 2, 3])
def test_headers_of_other_programs_are_read(tmp_path: Path, text: str, version: int) -> None:
    header = text.encode() + b" " * 20 + b"\n"
    length = len(header).to_bytes(2 if version == 1 else 4, "little")
    start = b"\x93NUMPY" + bytes([version, 0]) + length + header
    points = outcome(tmp_path / "t.npy", start + POINTS.tobytes())
    assert points is not None
    np.testing.assert_array_equal(points, POINTS)


@pytest.mark.parametrize(
    "text",
    [
        "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999, 99999999999), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (12, 3), 'more': 1}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (12, 3)",
        "{'descr': '<c16', 'fortran_order': False, 'shape': (6, 3), }",
        "{'descr': '<M8[s]', 'fortran_order': False, 'shape': (12, 3), }",
        "{'descr': '<f3', 'fortran_order': False, 'shape': (12, 3), }",
        "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (36,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (" + "1" * 30_000,
        "(" * 30_000,
    ],
)
def test_headers_that_are_none(tmp_path: Path, text: str) -> None:
    header = text.encode()
    start = b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header
    assert outcome(tmp_path / "t.npy", start + POINTS.tobytes()) is None


@pytest.mark.parametrize(
    "points",
    [POINTS, np.asfortranarray(POINTS), POINTS.astype(">f4"), np.arange(6).reshape(2, 3) > 2]
    + [np.empty((0, 3)), np.float64(7.0), np.arange(5, dtype=np.uint8)],
)
def test_arrays_keep_shape_type_and_numbers(tmp_path: Path, points: np.ndarray) -> None:
    np.save(tmp_path / "t.npy", points)
    table, names = read_table(tmp_path / "t.npy")
    assert names is None
    assert table.dtype == points.dtype
    assert table.shape == points.shape
    np.testing.assert_array_equal(table, points)


# -- parquet --------------------------------------------------------------------------------------

#: Damaged metadata can bring down the process that reads it: the work is done in another one,
#: which must come back, within a bound on its memory.
FLIP = """
import resource, sys
import numpy as np
from pathlib import Path
from isodepth.data.readers import read_table
from isodepth.errors import UnreadableFileError
import pyarrow.parquet

folder = Path(sys.argv[1])
content = (folder / "whole.parquet").read_bytes()
footer = int.from_bytes(content[-8:-4], "little") + 8
rng = np.random.default_rng(5)
bits = np.concatenate([
    rng.choice(footer * 8, 800, replace=False) + (len(content) - footer) * 8,
    rng.choice((len(content) - footer) * 8, 200, replace=False),
])
resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
path = folder / "t.parquet"
counts = {"read": 0, "refused": 0}
for bit in bits.tolist():
    damaged = bytearray(content)
    damaged[bit // 8] ^= 1 << bit % 8
    path.write_bytes(damaged)
    try:
        read_table(path)
        counts["read"] += 1
    except UnreadableFileError as error:
        assert "\\n" not in str(error)
        counts["refused"] += 1
for length in range(0, len(content), 7):
    path.write_bytes(content[:length])
    try:
        read_table(path)
        raise SystemExit(f"cut at {length} and read")
    except UnreadableFileError:
        pass
print(counts["read"], counts["refused"])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits as POSIX systems have them")
@pytest.mark.parametrize("library", ["pandas", "pyarrow"])
def test_flipped_bits_and_cuts_of_parquet(tmp_path: Path, library: str) -> None:
    pytest.importorskip("pyarrow")
    if library == "pandas":
        pd = pytest.importorskip("pandas")
        pd.DataFrame(POINTS, columns=list("abc"), index=range(5, 17)).to_parquet(
            tmp_path / "whole.parquet"
        )
    else:
        pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        columns = {"a": np.arange(12), "b": POINTS[:, 0], "c": POINTS[:, 1].astype(np.float32)}
        pq.write_table(pa.table(columns), tmp_path / "whole.parquet", compression="none")
    done = subprocess.run(
        [sys.executable, "-c", FLIP, str(tmp_path)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    read, refused = map(int, done.stdout.split())
    assert read + refused == 1000
    assert refused > 100


def test_folders_do_not_become_columns(tmp_path: Path) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    folder = tmp_path / "year=2020"
    folder.mkdir()
    pq.write_table(pa.table({"a": [1.0, 2.0]}), folder / "t.parquet")
    assert read_table(folder / "t.parquet").columns == ("a",)
