"""How the command ends when its surroundings fail: quietly, with the code that shells know."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes and signals of POSIX systems")

COMMAND = [sys.executable, "-m", "isodepth.cli"]
FULL_DISK, INTERRUPTED, CLOSED_PIPE = 74, 130, 141


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    rng = np.random.default_rng(0)
    names = [str(tmp_path / name) for name in ("a.csv", "b.csv")]
    for name in names:
        np.savetxt(name, rng.normal(size=(30, 2)), delimiter=",", header="a,b", comments="")
    return names


def closed_pipe() -> int:
    """The writing end of a pipe that nobody reads."""
    read, write = os.pipe()
    os.close(read)
    return write


@pytest.mark.parametrize("arguments", [["compare", "--json"], ["compare"], ["--help"]])
def test_a_closed_pipe(files: list[str], arguments: list[str]) -> None:
    if arguments[0] == "compare":
        arguments = [*arguments, *files, "--directions", "20"]
    write = closed_pipe()
    try:
        done = subprocess.run(
            [*COMMAND, *arguments], stdout=write, stderr=subprocess.PIPE, timeout=300
        )
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (CLOSED_PIPE, b"")


def test_a_reader_that_stops_early(files: list[str]) -> None:
    # More than a pipe holds, so that the command is still writing when the reader has left.
    wide = Path(files[0]).with_name("wide.npy")
    np.save(wide, np.random.default_rng(1).normal(size=(5, 20_000)))
    child = subprocess.Popen(
        [*COMMAND, "compare", str(wide), str(wide), "--json", "--directions", "2", "--refine", "0"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert child.stdout is not None
    assert child.stderr is not None
    assert child.stdout.read(1) == b"{"
    child.stdout.close()
    said = child.stderr.read()
    child.stderr.close()
    assert child.wait(timeout=300) == CLOSED_PIPE
    assert b"Traceback" not in said
    assert b"BrokenPipe" not in said


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a disk that is always full, of Linux")
@pytest.mark.parametrize("arguments", [["compare"], ["--version"]])
def test_a_full_disk(files: list[str], arguments: list[str]) -> None:
    if arguments == ["compare"]:
        arguments = ["compare", *files, "--directions", "20"]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*COMMAND, *arguments], stdout=full, stderr=subprocess.PIPE, timeout=300
        )
    assert done.returncode == FULL_DISK
    assert done.stderr == b"isodepth: error: cannot write the report: No space left on device\n"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a disk that is always full, of Linux")
def test_nowhere_to_complain(files: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*COMMAND, "compare", files[0], "absent.csv"],
            stdout=subprocess.PIPE, stderr=full, timeout=300,
        )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, b"")


def test_no_standard_output(files: list[str]) -> None:
    command = " ".join([*COMMAND, "compare", *files, "--directions", "20", ">&-"])
    done = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, timeout=300)
    assert done.returncode == FULL_DISK
    assert done.stderr.count(b"\n") == 1


def started(tmp_path: Path, other: str, *options: str) -> tuple[subprocess.Popen, int]:
    """The command at work: it reads a table from a pipe, whose other end is given back."""
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    child = subprocess.Popen(
        [*COMMAND, "compare", other, str(pipe), *options],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    # Waits until the command opens the pipe to read.
    return child, os.open(pipe, os.O_WRONLY)


def wait_until_asleep(child: subprocess.Popen) -> None:
    """Return once the process has used no processor time for a second (or a minute has passed)."""
    used = Path(f"/proc/{child.pid}/stat")
    before, quiet, deadline = "", 0, time.monotonic() + 60
    while quiet < 10 and time.monotonic() < deadline:
        time.sleep(0.1)
        # State and the times in user and system mode follow the name in parentheses.
        fields = used.read_text().rpartition(")")[2].split() if used.exists() else []
        now = " ".join(fields[:1] + fields[11:13])
        quiet = quiet + 1 if now == before and now[:1] in ("S", "") else 0
        before = now


def end(child: subprocess.Popen) -> tuple[int, bytes, bytes]:
    try:
        out, err = child.communicate(timeout=120)
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()
        raise
    # Interrupted inside an exec of a text (as while numba is imported), CPython remembers and ends
    # by the signal itself after main has returned: to a shell that is 128 + SIGINT, the same code.
    code = child.returncode if child.returncode >= 0 else 128 - child.returncode
    return code, out, err


def test_interrupted_while_reading(tmp_path: Path, files: list[str]) -> None:
    child, pipe = started(tmp_path, files[0])
    os.write(pipe, b"1,2\n")
    # A signal that arrives in the instant before the read begins is noticed by Python only when the
    # read returns. So wait until the command sleeps in it, and close the pipe if it never ends.
    wait_until_asleep(child)
    child.send_signal(signal.SIGINT)
    try:
        assert end(child) == (INTERRUPTED, b"", b"")
    finally:
        os.close(pipe)


def test_interrupted_while_computing(tmp_path: Path) -> None:
    large = tmp_path / "large.npy"
    np.save(large, np.random.default_rng(0).normal(size=(20_000, 8)))
    # Hours of work, of which the picture at the end is never begun.
    child, pipe = started(
        tmp_path, str(large), "--directions", "2000000", "--plot", str(tmp_path / "gaps.png")
    )
    os.write(pipe, b"1,2,3,4,5,6,7,8\n" * 3)
    os.close(pipe)
    time.sleep(3)
    assert child.poll() is None
    child.send_signal(signal.SIGINT)
    assert end(child) == (INTERRUPTED, b"", b"")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["large.npy", "pipe.csv"]


@pytest.mark.parametrize(
    "command",
    [
        ["compare", "large.npy", "large.npy", "--depth", "irw", "--plot", "new.png"],
        ["depth", "large.npy", "--depth", "halfspace", "-o", "new.npy"],
        ["pairwise", "large.npy", "large.npy", "-o", "new.csv"],
    ],
)
def test_nothing_is_waited_for_once_interrupted(tmp_path: Path, command: list[str]) -> None:
    """Blocks of work that take long are not finished: the process goes, and writes nothing."""
    np.save(tmp_path / "large.npy", np.random.default_rng(0).normal(size=(200_000, 8)))
    child = subprocess.Popen(
        [*COMMAND, *command, "--directions", "2000000"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path,
    )  # fmt: skip
    time.sleep(4)
    assert child.poll() is None
    child.send_signal(signal.SIGINT)
    assert end(child) == (INTERRUPTED, b"", b"")
    assert [path.name for path in tmp_path.iterdir()] == ["large.npy"]


def test_a_watcher_ends_a_process_that_does_not_come_back() -> None:
    """One that sleeps in compiled code, where Python cannot raise KeyboardInterrupt."""
    code = (
        "import signal, time\n"
        "from isodepth.cli.interrupts import prompt_interrupts\n"
        "signal.signal(signal.SIGINT, lambda *_: None)  # as if Python never got to it\n"
        "with prompt_interrupts(True, 130):\n"
        "    print('ready', flush=True)\n"
        "    for _ in range(600): time.sleep(1)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline() == b"ready\n"
    child.send_signal(signal.SIGINT)
    assert child.wait(timeout=60) == INTERRUPTED
    child.stdout.close()


def test_work_that_ends_is_left_alone() -> None:
    import threading

    from isodepth.cli.interrupts import prompt_interrupts

    before = threading.active_count()
    with prompt_interrupts(True, INTERRUPTED):
        assert threading.active_count() == before + 1
    assert threading.active_count() == before
    assert signal.set_wakeup_fd(-1) == -1
    with prompt_interrupts(False, INTERRUPTED):
        assert threading.active_count() == before
    with pytest.raises(ValueError, match="work"), prompt_interrupts(True, INTERRUPTED):
        raise ValueError("work")
    assert threading.active_count() == before


def test_names_that_the_terminal_cannot_show(tmp_path: Path) -> None:
    table = tmp_path / "größe.csv"
    table.write_text("größe,длина\n1,2\n3,4\n5,7\n", encoding="utf-8")
    done = subprocess.run(
        [*COMMAND, "compare", str(table), str(table), "--directions", "20"],
        capture_output=True, timeout=300, env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert b"\\xf6" in done.stdout


def test_a_path_that_is_no_text() -> None:
    done = subprocess.run(
        [*COMMAND, "compare", b"caf\xe9.csv", b"b.csv"], capture_output=True, timeout=300
    )
    assert done.returncode == 2
    assert done.stderr.startswith(b"isodepth: error: cannot read caf")
    assert done.stderr.count(b"\n") == 1


def test_process_substitution(files: list[str]) -> None:
    command = f"{' '.join(COMMAND)} compare <(cat {files[0]}) <(cat {files[1]}) --directions 20"
    piped = subprocess.run(["bash", "-c", command], capture_output=True, timeout=300)
    plain = subprocess.run(
        [*COMMAND, "compare", *files, "--directions", "20"], capture_output=True, timeout=300
    )
    assert piped.returncode == 0, piped.stderr
    assert piped.stdout == plain.stdout


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_all_of_a_long_report_arrives(tmp_path: Path, unbuffered: str) -> None:
    """Through a pipe that is slower than the command, with and without a buffer of Python's."""
    wide = tmp_path / "wide.npy"
    np.save(wide, np.random.default_rng(1).normal(size=(5, 20_000)))
    child = subprocess.Popen(
        [*COMMAND, "compare", str(wide), str(wide), "--json", "--directions", "2", "--refine", "0"],
        stdout=subprocess.PIPE, env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
    )  # fmt: skip
    assert child.stdout is not None
    start = child.stdout.read(1)
    time.sleep(1)
    report = json.loads(start + child.stdout.read())
    child.stdout.close()
    assert child.wait(timeout=300) == 0
    assert len(report["worst"]["columns"]) == 20_000
