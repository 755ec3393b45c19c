"""Files of monitors: atomic writing, one process at a time, and identical results."""

from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc
from base64 import b64decode, b64encode
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from isodepth import Metric, Monitor
from isodepth.base import output
from isodepth.base.output import read_archive, write_archive
from isodepth.errors import (
    BusyFileError,
    InvalidInputError,
    InvalidOptionError,
    UnreadableFileError,
)
from isodepth.monitor.saved import KIND, read_state, write_state
from isodepth.monitor.state import MonitorState
from isodepth.significance.martingale import RankEvidence
from isodepth.table.numerals import Style

RNG = np.random.default_rng(20)
REFERENCE = RNG.normal(size=(1500, 2))
BATCHES = [RNG.normal(size=(20, 2)) + 2 * (i >= 8) for i in range(14)]

SETTINGS: dict[str, dict[str, Any]] = {
    "patience": {"patience": 3},
    "tolerance, arl": {"tolerance": 0.1, "arl": 20.0, "patience": 2},
    "blocks": {"blocks": np.arange(1500) // 20},
    "blocks, arl": {"blocks": np.arange(1500) // 20, "arl": 30.0},
}


def fresh(**options: Any) -> Monitor:
    return Monitor(REFERENCE, **{"random_state": 0, **options})


@pytest.mark.parametrize("options", SETTINGS.values(), ids=list(SETTINGS))
def test_a_loaded_monitor_continues_bit_for_bit(tmp_path: Path, options: dict[str, Any]) -> None:
    whole = fresh(**options)
    expected = [whole.check(batch) for batch in BATCHES]
    again = fresh(**options)
    for batch, verdict in zip(BATCHES, expected, strict=True):
        again.save(tmp_path / "m.npz")
        again = Monitor.load(tmp_path / "m.npz")
        assert again.check(batch) == verdict
    assert again.verdicts == expected
    assert any(verdict.alarm for verdict in expected)
    assert repr(again) == repr(whole)
    assert again.to_dict() == whole.to_dict()


def test_no_row_is_in_the_file(tmp_path: Path) -> None:
    monitor = fresh()
    monitor.check(BATCHES[0])
    monitor.save(tmp_path / "m.npz")
    header = read_archive(tmp_path / "m.npz", KIND)[0]
    floats = [np.frombuffer(b64decode(data), dtype) for dtype, _, data in arrays_of(header)
              if dtype == "<f8"]  # fmt: skip
    # Cut points are values of the reference; a batch leaves nothing but counts and medians.
    assert not np.isin(np.concatenate(floats), BATCHES[0]).any()
    assert (tmp_path / "m.npz").stat().st_size < 66_000


def test_it_is_saved_after_every_check(tmp_path: Path) -> None:
    path = tmp_path / "m.npz"
    monitor = fresh(path=path)
    assert Monitor.load(path).verdicts == []
    for batch in BATCHES:
        monitor.check(batch)
        assert Monitor.load(path).verdicts == monitor.verdicts
    assert monitor.alarm
    monitor.reset()
    assert not Monitor.load(path).check(BATCHES[0]).alarm


def test_a_loaded_monitor_is_saved_after_every_check_unless_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.npz"
    fresh(path=path)
    Monitor.load(path).check(BATCHES[0])
    assert Monitor.load(path).n_batches == 1
    content, copy = path.read_bytes(), Monitor.load(path, autosave=False)
    copy.check(BATCHES[1])
    copy.reset()
    assert copy.n_batches == 2
    assert path.read_bytes() == content
    continued = Monitor.load(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(BusyFileError):
        continued.check(BATCHES[1])
    assert continued.n_batches == 1


def test_a_new_monitor_never_replaces_a_file_silently(tmp_path: Path) -> None:
    path = tmp_path / "m.npz"
    fresh(path=path).check(BATCHES[0])
    content = path.read_bytes()
    with pytest.raises(InvalidOptionError, match=r"Monitor\.load\(.*overwrite=True"):
        fresh(path=path)
    assert path.read_bytes() == content
    assert Monitor.load(path).n_batches == 1
    assert fresh(path=path, overwrite=True).n_batches == Monitor.load(path).n_batches == 0
    other = tmp_path / "other.npz"
    np.savez(other, rows=REFERENCE)
    content = other.read_bytes()
    for overwrite in (False, True):
        with pytest.raises(InvalidOptionError, match="not a readable monitor"):
            fresh(path=other, overwrite=overwrite)
    assert other.read_bytes() == content


def test_a_monitor_that_was_overtaken_refuses(tmp_path: Path) -> None:
    path = tmp_path / "m.npz"
    first = fresh(path=path)
    second = Monitor.load(path)
    first.check(BATCHES[0])
    for act in (lambda: second.check(BATCHES[1]), second.reset):
        with pytest.raises(BusyFileError, match=r"has been changed .*Monitor\.load"):
            act()
    assert second.verdicts == []
    path.unlink()
    with pytest.raises(BusyFileError, match=r"has been removed .*save\("):
        first.check(BATCHES[1])
    n_batches = first.n_batches
    first.save(path)
    first.check(BATCHES[1])
    assert Monitor.load(path).n_batches == n_batches + 1


def test_save_replaces_its_own_file_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own, other, text = tmp_path / "own.npz", tmp_path / "other.npz", tmp_path / "text.npz"
    text.write_text("not a monitor")
    monitor = fresh(path=own)
    fresh(path=other).check(BATCHES[0])
    before = other.read_bytes()
    for overwrite in (False, True):
        with pytest.raises(InvalidOptionError, match="exists and is not a readable monitor"):
            monitor.save(text, overwrite=overwrite)
    with pytest.raises(InvalidOptionError, match=r"already contains a monitor.*overwrite=True"):
        monitor.save(other)
    assert (text.read_text(), other.read_bytes()) == ("not a monitor", before)
    monkeypatch.chdir(tmp_path)
    monitor.save("own.npz")  # the same file by another path
    monitor.check(BATCHES[0])
    monitor.save(other, overwrite=True)
    assert other.read_bytes() == own.read_bytes()
    own.write_text("not a monitor")
    with pytest.raises(InvalidOptionError, match="exists and is not a readable monitor"):
        monitor.save(own)
    with pytest.raises(InvalidOptionError, match="overwrite"):
        monitor.save(other, overwrite="yes")


def test_a_full_disk_leaves_everything_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.npz"
    monitor = fresh(path=path)
    monitor.check(BATCHES[0])
    content = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(output.os, "replace", full)
        with pytest.raises(OSError, match="No space"):
            monitor.check(BATCHES[1])
    assert path.read_bytes() == content
    assert len(monitor.verdicts) == 1
    whole = fresh()
    assert monitor.check(BATCHES[1]) == [whole.check(batch) for batch in BATCHES[:2]][1]
    assert [entry.name for entry in tmp_path.iterdir()] == ["m.npz"]


# -- files that are not monitors ------------------------------------------------------------------


def test_files_that_are_not_monitors_of_this_format_are_refused(tmp_path: Path) -> None:
    write_archive(tmp_path / "new.npz", KIND, {"content": 2}, {})
    with pytest.raises(UnreadableFileError, match=r"format 2, .* reads format 1; update isodepth"):
        Monitor.load(tmp_path / "new.npz")
    fresh().save(tmp_path / "m.npz")
    header, _ = read_archive(tmp_path / "m.npz", KIND)
    del header["state"]["seed"]
    write_archive(tmp_path / "m.npz", KIND, {n: header[n] for n in ("content", "state")}, {})
    with pytest.raises(UnreadableFileError, match=r"lacks a part of a monitor .*'seed'"):
        Monitor.load(tmp_path / "m.npz")
    table = Metric(levels=5, refine=0, random_state=0).region_table(REFERENCE)
    table.save(tmp_path / "t.npz")
    with pytest.raises(UnreadableFileError, match="not a monitor"):
        Monitor.load(tmp_path / "t.npz")


def arrays_of(value: Any) -> Iterator[list[Any]]:
    """Yield the arrays in the header of a file, each as a list of its type, shape and bytes."""
    if isinstance(value, list) and len(value) == 3 and str(value[0])[:2] in ("<f", "<i"):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from arrays_of(each)


def leaves(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield (container, key) for each number and each string of the header of a file."""
    for key, each in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(each, dict | list):
            yield from leaves(each)
        else:
            yield value, key


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("blocks", [None, np.arange(1500) // 50])
def test_crafted_files_are_refused(tmp_path: Path, blocks: Any) -> None:
    """A file of a monitor is refused if one number, string or array in its header is invalid."""
    path, batch = tmp_path / "m.npz", REFERENCE[:50]
    monitor = fresh(blocks=blocks)
    monitor.check(batch)
    monitor.save(path)
    state = read_archive(path, KIND)[0]["state"]

    def refused() -> bool:
        write_archive(path, KIND, {"content": 1, "state": state}, {})
        try:
            # If a wrong value is not detected, later calls must not raise other errors.
            Monitor.load(path, autosave=False).check(batch)
            return False
        except (UnreadableFileError, InvalidInputError):
            return True

    rng = np.random.default_rng(0)
    arrays, numbers = list(arrays_of(state)), list(leaves(state))
    for array in (arrays[i] for i in rng.permutation(len(arrays))[:8]):
        dtype, shape, data = array
        for array[0] in ("|b1", "|O"):
            assert refused()
        array[0] = dtype
        tracemalloc.start()
        for array[1] in ([10**9], [*shape, 2]):
            assert refused() or not np.prod(shape)
        assert tracemalloc.get_traced_memory()[1] < 30e6
        tracemalloc.stop()
        array[1], zeros = shape, np.zeros(shape, dtype)
        # Counts and codes are not negative, and no number is NaN.
        wrong = zeros - 1 if zeros.dtype.kind == "i" else zeros + np.nan
        array[2] = b64encode(wrong.tobytes()).decode()
        assert refused() or not wrong.size
        array[2] = data
    for container, key in (numbers[i] for i in rng.permutation(len(numbers))[:15]):
        value = container[key]
        for container[key] in (True, -1, "a"):
            refused()
        for container[key] in ({"a": 1}, 10**400):
            assert refused(), (key, value)
        container[key] = value
    assert not refused()
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(UnreadableFileError):
        Monitor.load(path)


def parts_out_of_range(state: MonitorState) -> Iterator[MonitorState]:
    """Yield invalid states: in each, one entry of `state` is out of its range."""
    group, n = state.groups["0"], state.n_batches
    for other in ({"n_batches": 0}, {"records": ("{}",) * n}, {"records": state.records[1:]},
                  {"records": state.records[::-1]}, {"labels": np.array([[5, 1, 0, 0]])},
                  {"labels": np.array([[5, 1, n + 1, 0]])},
                  {"labels": np.array([[5, 1, 1, 0], [5, 2, 2, 0]])},
                  {"labels": np.zeros((1, 3), np.int64)},
                  {"ranks": dict.fromkeys(state.groups, RankEvidence.start(False, 1))},
                  {"groups": {**state.groups, None: group}}):  # fmt: skip
        yield replace(state, **other)
    first, second, *others = state.schema.columns
    for columns in ((first, *others), (first, first, *others), (first, second),
                    (first, second, second, *others),
                    (replace(first, styles=(Style(".", "."),)), second, *others)):  # fmt: skip
        yield replace(state, schema=replace(state.schema, columns=columns))
    f, counts, (first, *_) = group.functions, group.reference, group.sums.runs
    t = f.thresholds
    groups = [
        *(group._replace(functions=replace(f, **other)) for other in (
            {"scale": f.scale * [0, 1]}, {"scale": f.scale[:1]}, {"center": f.center * np.inf},
            {"middles": f.middles * [[1], [0]]}, {"middles": np.vstack([f.middles] * 2)},
            {"middles": f.middles[:, :1]},
            {"medians": f.medians + np.nan}, {"known": (f.known[0][::-1],)},
            {"known": (f.known[0] + 1,)}, {"thresholds": t._replace(upper=t.upper[1:])},
            {"thresholds": t._replace(relation=t.relation + 4)},
            {"thresholds": t._replace(feature=t.feature + 1)},
            {"thresholds": t._replace(value=t.value * np.inf)},
        )),
        *(group._replace(reference=counts._replace(**other)) for other in (
            {"n_rows": 0}, {"n_rows": 1 << 31}, {"n_rows": int(counts.ones.max()) - 1},
            {"ones": counts.ones[:-1]}, {"summaries": counts.summaries[:, :1]},
        )),
        group._replace(alarm_since=-1), group._replace(alarm_since=n + 1),
        group._replace(crossings=-1), group._replace(hashes=None),
        *(group._replace(hashes=group.hashes._replace(**other)) for other in (
            {"distinct": group.hashes.distinct[::-1]}, {"counts": 0 * group.hashes.counts},
            {"counts": group.hashes.counts[:-1]},
        )),
        group._replace(sums=group.sums._replace(runs=(first._replace(n_rows=0), None))),
        group._replace(sums=group.sums._replace(runs=(first,) * 3)),
    ]  # fmt: skip
    yield from (replace(state, groups={**state.groups, "0": other}) for other in groups)


@pytest.mark.filterwarnings("ignore")
def test_parts_out_of_range_are_refused(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(REFERENCE[:100], columns=["a", "b"]).assign(k=["x", "y"] * 50)
    monitor = Monitor(frame, groups=np.arange(100) // 2 % 2, random_state=0)
    for group in (0, 0, 1):
        monitor.check(frame[:5], group=group)
    state = monitor._state
    write_state(tmp_path / "m.npz", state)
    assert read_state(tmp_path / "m.npz").n_batches == 3
    for number, wrong in enumerate(parts_out_of_range(state)):
        write_state(tmp_path / "m.npz", wrong)
        with pytest.raises(UnreadableFileError):
            pytest.fail(f"state {number} was read: {read_state(tmp_path / 'm.npz')}")


# -- kill -9 --------------------------------------------------------------------------------------

KILLED = """
import os, signal, sys
from pathlib import Path
import numpy as np
from isodepth import Monitor

path, every = Path(sys.argv[1]) / "m.npz", int(sys.argv[2])
rng = np.random.default_rng(0)
reference = rng.normal(size=(500, 2))
batches = [rng.normal(size=(20, 2)) + 3 * (i >= 2) for i in range(5)]

monitor = Monitor(reference, random_state=0, path=path)
for batch in batches[:3]:
    monitor.check(batch)
before = path.read_bytes()
for batch in batches[3:]:
    monitor.check(batch)
uninterrupted = monitor.verdicts


def killed_at(line):
    # The child kills itself when it comes to that line of isodepth, counted from the load on.
    def trace(frame, event, _):
        if "isodepth" not in frame.f_code.co_filename:
            return None
        if event == "line":
            trace.seen += 1
            if trace.seen == line:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    trace.seen = 0
    sys.settrace(trace)
    Monitor.load(path).check(batches[3])
    sys.settrace(None)
    os._exit(0)


counts, line = {3: 0, 4: 0}, 1
while True:
    path.write_bytes(before)
    child = os.fork()
    if child == 0:
        killed_at(line)
    _, status = os.waitpid(child, 0)
    again = Monitor.load(path)
    seen = len(again.verdicts)
    counts[seen] += 1
    for batch in batches[seen:]:
        again.check(batch)
    assert again.verdicts == uninterrupted
    if os.WIFEXITED(status):
        assert os.WEXITSTATUS(status) == 0
        break
    assert os.WTERMSIG(status) == signal.SIGKILL
    line += every
print(counts[3], counts[4], line)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks of POSIX systems")
def test_killed_at_any_point_it_is_before_or_after(tmp_path: Path) -> None:
    """If a process is killed while it checks a batch, the file has the state before or after it.

    The process is killed at every 331st line of Python that loading and checking execute.
    """
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path), "331"],
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    before, after, lines = map(int, done.stdout.split())
    assert before > 5
    assert after >= 1
    assert lines > 300


WORKER = """
import sys
import numpy as np
from isodepth import Monitor
from isodepth.errors import BusyFileError

path, seed = sys.argv[1], int(sys.argv[2])
rng = np.random.default_rng(seed)
for number, batch in enumerate(rng.normal(size=(12, 20, 2))):
    while True:
        monitor = Monitor.load(path)
        try:
            monitor.check(batch, label=f"{seed} {number}")
            break
        except BusyFileError:
            pass
"""


def test_two_processes_lose_nothing(tmp_path: Path) -> None:
    fresh(path=tmp_path / "m.npz")
    workers = [
        subprocess.Popen([sys.executable, "-c", WORKER, str(tmp_path / "m.npz"), str(seed)])
        for seed in (1, 2)
    ]
    assert [worker.wait(timeout=300) for worker in workers] == [0, 0]
    verdicts = Monitor.load(tmp_path / "m.npz").verdicts
    assert [verdict.batch_number for verdict in verdicts] == list(range(1, 25))
    # Every batch is there once.
    expected = {f"{seed} {number}" for seed in (1, 2) for number in range(12)}
    assert {verdict.label for verdict in verdicts} == expected
