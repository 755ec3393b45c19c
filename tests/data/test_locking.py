"""One process at a time: who comes second waits, and nothing is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from isodepth import BusyFileError
from isodepth.data.locking import locked

HOLDER = """
import sys, time
from isodepth.data.locking import locked
with locked(sys.argv[1]):
    print("held", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def holder(tmp_path: Path):
    child = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path / "file")], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    yield child
    child.kill()
    child.wait()
    child.stdout.close()


def test_a_second_process_waits_and_gives_up(tmp_path: Path, holder: subprocess.Popen) -> None:
    busy = pytest.raises(BusyFileError, match=r"in use by another process, for more than 0.2 s")
    with busy, locked(tmp_path / "file", patience=0.2):
        pass


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX systems")
def test_a_killed_process_lets_go(tmp_path: Path, holder: subprocess.Popen) -> None:
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    with locked(tmp_path / "file", patience=5):
        pass


def test_it_is_free_again_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyError), locked(tmp_path / "file"):
        raise KeyError
    first, second = (locked(tmp_path / "file", patience=0) for _ in range(2))
    with first, pytest.raises(BusyFileError), second:
        pass
    assert [entry.name for entry in tmp_path.iterdir()] == ["file.lock"]
