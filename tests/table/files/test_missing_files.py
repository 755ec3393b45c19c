"""A missing file raises an error that is also the FileNotFoundError of Python."""

from __future__ import annotations

import errno
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from isodepth import Monitor, scan
from isodepth.base.output import read_archive
from isodepth.cli.score import _lines_of
from isodepth.errors import MissingFileError, UnreadableFileError


@pytest.mark.parametrize(
    ("read", "ending"),
    [
        (Monitor.load, "npz"),
        (lambda path: read_archive(path, "region table"), "npz"),
        (scan, "csv"),
        (scan, "npy"),
        (_lines_of, "txt"),
    ],
)
def test_a_missing_file_is_a_file_not_found_error(
    read: Callable[[Any], Any], ending: str, tmp_path: Any
) -> None:
    path = tmp_path / f"absent.{ending}"
    with pytest.raises(FileNotFoundError) as caught:
        read(str(path))
    error = caught.value
    assert isinstance(error, MissingFileError)
    assert isinstance(error, UnreadableFileError)
    assert isinstance(error, ValueError)
    assert error.errno == errno.ENOENT
    assert str(error).startswith("cannot read ")
    assert "absent" in str(error)
    assert type(MissingFileError.__new__(MissingFileError)) is MissingFileError
    copied = pickle.loads(pickle.dumps(error))
    assert (type(copied), str(copied), copied.errno) == (type(error), str(error), error.errno)


def test_a_damaged_file_is_not_a_missing_file(tmp_path: Any) -> None:
    path = tmp_path / "damaged.npz"
    path.write_bytes(b"nothing")
    with pytest.raises(UnreadableFileError) as caught:
        Monitor.load(path)
    assert not isinstance(caught.value, OSError)
