"""Files that cannot be read because the disk says so."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from isodepth.data.readers import read_table
from isodepth.errors import UnreadableFileError


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (OSError(errno.EIO, os.strerror(errno.EIO)), os.strerror(errno.EIO)),
        (PermissionError(errno.EACCES, os.strerror(errno.EACCES)), os.strerror(errno.EACCES)),
        (OSError("the tape\nis torn"), "the tape is torn"),
    ],
)
def test_a_fault_of_the_disk_is_told_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: OSError, words: str
) -> None:
    file = tmp_path / "table.csv"
    file.write_text("a,b\n1,2\n")

    def torn(*args, **options):
        raise fault

    monkeypatch.setattr(Path, "open", torn)
    with pytest.raises(UnreadableFileError) as caught:
        read_table(file)
    assert str(caught.value) == f"cannot read {file}: {words}"
    assert caught.value.__cause__ is fault
