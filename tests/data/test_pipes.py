"""Tables through pipes: read once, whole."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from isodepth.data.readers import read_table
from isodepth.errors import UnreadableFileError

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes of POSIX systems")

POINTS = np.random.default_rng(0).normal(size=(500, 3))
CSV = ("a,b,c\n" + "\n".join(",".join(map(repr, row)) for row in POINTS.tolist())).encode()


def through_pipe(path: Path, content: bytes):
    """What is read while another thread writes the content once, and how often it was opened."""
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(content,))
    writer.start()
    try:
        # A second opening would wait for a second writer, for ever.
        return read_table(path)
    finally:
        writer.join(timeout=10)
        assert not writer.is_alive()


@pytest.mark.parametrize("name", ["t.csv", "t", "T.CSV"])
def test_csv_through_a_named_pipe(tmp_path, name):
    points, columns = through_pipe(tmp_path / name, CSV)
    np.testing.assert_array_equal(points, POINTS)
    assert columns == ("a", "b", "c")


def test_npy_through_a_named_pipe(tmp_path):
    np.save(tmp_path / "whole.npy", POINTS)
    points, _ = through_pipe(tmp_path / "t.npy", (tmp_path / "whole.npy").read_bytes())
    np.testing.assert_array_equal(points, POINTS)


def test_parquet_through_a_named_pipe(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table(dict(zip("abc", POINTS.T, strict=True))), tmp_path / "whole.parquet")
    content = (tmp_path / "whole.parquet").read_bytes()
    points, columns = through_pipe(tmp_path / "t.parquet", content)
    np.testing.assert_array_equal(points, POINTS)
    assert columns == ("a", "b", "c")


def test_a_fault_in_a_pipe_is_named(tmp_path):
    with pytest.raises(UnreadableFileError, match=r"line 2, column 2 \('b'\): 'x' is not"):
        through_pipe(tmp_path / "t.csv", b"a,b\n1,x\n")
    with pytest.raises(UnreadableFileError, match="it is empty"):
        through_pipe(tmp_path / "empty.csv", b"")
    with pytest.raises(UnreadableFileError, match=r"ends in '\.xls'"):
        through_pipe(tmp_path / "t.xls", b"a,b\n1,2\n")


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_devices_are_refused(device):
    with pytest.raises(UnreadableFileError, match="it is a device"):
        read_table(device)


@pytest.mark.parametrize("how", ["cat {} | {}", "{1} < {0}"])
def test_standard_input(tmp_path, how):
    (tmp_path / "t.csv").write_bytes(CSV)
    code = "from isodepth.data.readers import read_table; print(read_table('/dev/stdin')[0].sum())"
    done = subprocess.run(
        ["sh", "-c", how.format(tmp_path / "t.csv", f'{sys.executable} -c "{code}"')],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.stdout == f"{POINTS.sum()}\n", done.stderr


def test_paths_that_are_none(tmp_path):
    with pytest.raises(UnreadableFileError, match="got 7"):
        read_table(7)
    with pytest.raises(UnreadableFileError, match="null"):
        read_table("a\0.csv")
    with pytest.raises(UnreadableFileError, match="File name too long"):
        read_table(tmp_path / ("a" * 300 + ".csv"))
