"""Output files: checks in advance, atomic replacement, and locks."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import filelock
import numpy as np
import pytest

from isodepth import Metric
from isodepth.base.output import check_target, csv_bytes, locked, replace_file
from isodepth.errors import BusyFileError, InvalidOptionError


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes of POSIX systems")
def test_paths_that_cannot_be_written(tmp_path: Path) -> None:
    table = Metric(levels=2, n_directions=3, random_state=0).region_table(np.eye(2))
    (tmp_path / "file").touch()
    (tmp_path / "folder.npz").mkdir()
    os.mkfifo(tmp_path / "pipe.npz")
    (tmp_path / "null.npz").symlink_to("/dev/null")
    before = sorted(tmp_path.rglob("*"))
    for path, said in (
        (tmp_path / "absent" / "t.npz", r"cannot write .*there is no folder .*absent"),
        (tmp_path / "file" / "t.npz", "cannot write"),
        (tmp_path / "folder.npz", "it is a folder"),
        (tmp_path / "pipe.npz", "a device or a pipe"),
        (tmp_path / "null.npz", "a device or a pipe"),
        (7, "got 7"),
        ("a\0.npz", "null"),
        ("a" * 300 + ".npz", "too long"),
    ):
        with pytest.raises(InvalidOptionError, match=said):
            table.save(path)  # type: ignore[arg-type]
    assert sorted(tmp_path.rglob("*")) == before


UNWRITABLE = """
import os, sys
from isodepth.errors import InvalidOptionError
from isodepth.base.output import check_target
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
try:
    check_target(sys.argv[1])
except InvalidOptionError as error:
    print(error)
"""


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX systems")
def test_a_folder_that_is_not_writable() -> None:
    # Not below the folders of pytest, which other users may not even enter.
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o555)
    try:
        done = subprocess.run(
            [sys.executable, "-c", UNWRITABLE, str(folder / "t.npz")],
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
    finally:
        folder.rmdir()
    assert "files cannot be made in the folder" in done.stdout, done.stderr


def test_the_longest_names_can_be_saved(tmp_path: Path) -> None:
    target = check_target(tmp_path / ("a" * 251 + ".npz"))
    replace_file(target, b"content")
    assert target.read_bytes() == b"content"
    assert [path.name for path in tmp_path.iterdir()] == [target.name]


# -- one process at a time ------------------------------------------------------------------------

HOLDER = """
import sys, time
from isodepth.base.output import locked
with locked(sys.argv[1]):
    print("held", flush=True)
    time.sleep(600)
"""


def test_a_second_process_waits_and_a_killed_one_lets_go(tmp_path: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path / "file")], stdout=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "held\n"
        busy = pytest.raises(BusyFileError, match=r"in use by another process, for more than 0.2 s")
        with busy, locked(tmp_path / "file", timeout=0.2):
            pass
    finally:
        child.kill()
        child.wait()
        child.stdout.close()
    with locked(tmp_path / "file", timeout=5):
        pass
    assert list(tmp_path.iterdir()) == []


def test_locks_are_released_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyError), locked(tmp_path / "file"):
        raise KeyError
    first, second = (locked(tmp_path / "file", timeout=0) for _ in range(2))
    with first, pytest.raises(BusyFileError), second:
        pass
    assert list(tmp_path.iterdir()) == []


COUNT = """
import sys
from pathlib import Path
from isodepth.base.output import locked
path = Path(sys.argv[1])
for _ in range(80):
    with locked(path, 60):
        path.write_text(str(int(path.read_text()) + 1))
"""


def test_processes_take_turns(tmp_path: Path) -> None:
    """Two processes never hold a lock at the same time, and each release removes its file."""
    path = tmp_path / "count"
    path.write_text("0")
    children = [subprocess.Popen([sys.executable, "-c", COUNT, str(path)]) for _ in range(3)]
    assert [child.wait(timeout=120) for child in children] == [0, 0, 0]
    assert path.read_text() == "240"
    assert [file.name for file in tmp_path.iterdir()] == ["count"]


def test_drafts_of_killed_processes_are_removed(tmp_path: Path) -> None:
    target = tmp_path / "monitor.npz"
    stale, recent, other = (
        tmp_path / f".{name}.{'0' * 15}{i}.part"
        for i, name in enumerate(("monitor.npz", "monitor.npz", "other.npz"))
    )
    for draft in (stale, recent, other):
        draft.write_bytes(b"cut")
    for draft in (stale, other):
        os.utime(draft, (0, 0))
    replace_file(target, b"whole")
    assert target.read_bytes() == b"whole"
    assert [draft.exists() for draft in (stale, recent, other)] == [False, True, True]


def test_a_full_disk_is_reported_with_the_name_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    target = tmp_path / "report.html"
    target.write_text("before")
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match=r"No space left.*report\.html"):
        replace_file(target, b"after")
    assert target.read_text() == "before"
    assert list(tmp_path.iterdir()) == [target]


def test_labels_are_not_formulas() -> None:
    columns = {"label": ["=cmd|' /C calc'!A0", "@x", "plain"], "-d": [-1.5, 0.0, 2.0]}
    text = csv_bytes(columns).decode()
    assert text.splitlines()[0] == "label,'-d"
    assert text.splitlines()[1] == "'=cmd|' /C calc'!A0,-1.5"
    assert text.splitlines()[2:] == ["'@x,0.0", "plain,2.0"]
    labels = csv_bytes({"label": ["-1", "+2.5", "-1+2", "-a"]}).decode()
    assert labels == "label\n-1\n+2.5\n'-1+2\n'-a\n"


def test_an_error_of_the_lock_names_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lock is an additional file, which cannot be made in a read-only folder."""

    def refused(lock: filelock.FileLock) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), lock.lock_file)

    monkeypatch.setattr(filelock.FileLock, "acquire", refused)
    with pytest.raises(PermissionError) as found, locked(tmp_path / "file"):
        pass
    assert found.value.filename == str(tmp_path / "file")
