"""The state of a monitor: whole or not at all, one process at a time, and bit for bit the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tracemalloc
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from isodepth import (
    BusyFileError,
    DepthMonitor,
    InvalidOptionError,
    LogWarning,
    UnreadableFileError,
)
from isodepth.data import output
from isodepth.data.archive import read_archive, write_archive
from isodepth.monitor import persistence
from isodepth.monitor.persistence import CALIBRATED

RNG = np.random.default_rng(20)
REFERENCE = RNG.normal(size=(1500, 2))
BATCHES = [RNG.normal(size=(20, 2)) + (i >= 8) for i in range(14)]
OPTIONS: dict[str, Any] = {"batch_size": 20, "n_directions": 12, "levels": 5, "random_state": 0}

SETTINGS: dict[str, dict[str, Any]] = {
    "patience, unscaled": {"patience": 3, "scale": None},
    "tolerance": {"tolerance": 0.1},
    "tolerance, patience, arl": {"tolerance": 0.1, "patience": 2, "arl": 20.0},
    "sizes, float32": {"batch_size": [10, 40], "dtype": "float32"},
    "blocks": {"batch_size": None, "blocks": np.arange(1500) // 20},
    "tolerance, float32": {"tolerance": 0.1, "dtype": "float32"},
    "directions": {"directions": np.eye(2), "n_directions": 2},
    "tolerance, unscaled": {"scale": None, "tolerance": 0.1},
}


def fresh(**options: Any) -> DepthMonitor:
    return DepthMonitor(REFERENCE, **{**OPTIONS, **options})


@pytest.mark.parametrize("options", SETTINGS.values(), ids=list(SETTINGS))
def test_a_loaded_monitor_goes_on_bit_for_bit(tmp_path: Path, options: dict) -> None:
    whole = fresh(**options)
    expected = [whole.check(batch) for batch in BATCHES]
    again = fresh(**options)
    for batch, verdict in zip(BATCHES, expected, strict=True):
        again.save(tmp_path / "m.npz")
        again = DepthMonitor.load(tmp_path / "m.npz")
        assert again.check(batch) == verdict
    assert again.verdicts == expected
    assert any(verdict.alarm for verdict in expected)
    assert again.signature == whole.signature
    assert repr(again) == repr(whole)
    assert again.to_dict() == whole.to_dict()


def test_groups_and_missing_values_are_kept(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(REFERENCE.copy(), columns=["a", "b"])
    frame.iloc[::50, 1] = np.nan
    groups = np.arange(1500) % 2
    options = {"groups": groups, "nan_policy": "omit", **OPTIONS}
    for tolerance in (0.0, 0.1):
        monitor = DepthMonitor(frame, **options, tolerance=tolerance)
        monitor.save(tmp_path / "m.npz")
        again = DepthMonitor.load(tmp_path / "m.npz")
        rows = np.vstack([BATCHES[0][:19], [[np.nan, 1.0]]])
        first, second = (m.check(rows, group=1) for m in (monitor, again))
        assert first == second
        assert first.missing["columns"]["a"] == {"batch": 1 / 20, "reference": 0.0}
        again.save(tmp_path / "m.npz")
        assert DepthMonitor.load(tmp_path / "m.npz").verdicts == [first]


def test_no_row_is_in_the_file(tmp_path: Path) -> None:
    for tolerance in (0.0, 0.1):
        monitor = fresh(path=tmp_path / "m.npz", tolerance=tolerance)
        monitor.check(BATCHES[0])
        _, arrays = read_archive(tmp_path / "m.npz", CALIBRATED)
        kept = np.concatenate([array.ravel() for array in arrays.values()])
        rows = np.concatenate([REFERENCE, BATCHES[0]])
        assert not np.isin(rows.ravel(), kept).any()


# -- while it is used -----------------------------------------------------------------------------


def test_it_is_saved_after_every_check(tmp_path: Path) -> None:
    path, log = tmp_path / "m.npz", tmp_path / "m.jsonl"
    monitor = fresh(path=path, log=log)
    assert DepthMonitor.load(path).verdicts == []
    for count, batch in enumerate(BATCHES, 1):
        monitor.check(batch)
        assert DepthMonitor.load(path).verdicts == monitor.verdicts
        assert len(log.read_text().splitlines()) == count
    assert [json.loads(line) for line in log.read_text().splitlines()] == [
        verdict.to_dict() for verdict in monitor.verdicts
    ]
    assert monitor.verdicts[-1].alarm
    monitor.reset()
    later = DepthMonitor.load(path, autosave=True, log=log)
    assert not later.check(BATCHES[0]).alarm
    assert DepthMonitor.load(path).verdicts == later.verdicts


def test_a_monitor_that_was_overtaken_refuses(tmp_path: Path) -> None:
    path = tmp_path / "m.npz"
    first = fresh(path=path)
    second = DepthMonitor.load(path, autosave=True)
    first.check(BATCHES[0])
    for act in (lambda: second.check(BATCHES[1]), second.reset):
        with pytest.raises(BusyFileError, match=r"has been changed .*autosave=True"):
            act()
    assert second.verdicts == []
    path.unlink()
    with pytest.raises(BusyFileError):
        first.check(BATCHES[1])
    # Saved elsewhere or not at all, it may go its own way.
    alone = DepthMonitor.load(tmp_path / "m.npz") if path.exists() else fresh()
    assert alone.check(BATCHES[1]).batch == 1


def test_a_disk_that_fails_leaves_everything_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, log = tmp_path / "m.npz", tmp_path / "m.jsonl"
    monitor = fresh(path=path, log=log)
    monitor.check(BATCHES[0])
    content, lines = path.read_bytes(), log.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(output.os, "replace", full)
        with pytest.raises(OSError, match="No space"):
            monitor.check(BATCHES[1])
    assert (path.read_bytes(), log.read_bytes()) == (content, lines)
    assert len(monitor.verdicts) == 1
    whole = fresh()
    assert monitor.check(BATCHES[1]) == [whole.check(batch) for batch in BATCHES[:2]][1]
    assert len(log.read_text().splitlines()) == 2
    assert {entry.name for entry in tmp_path.iterdir()} == {"m.npz", "m.jsonl"}


class FullDisk:
    """A file that takes some bytes and then no more."""

    def __init__(self, file: Any, room: int) -> None:
        self.file, self.room = file, room

    def __enter__(self) -> FullDisk:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)

    def write(self, data: bytes) -> None:
        self.file.write(data[: self.room])
        self.file.flush()
        raise OSError(28, "No space left on device")


@pytest.mark.parametrize("room", [0, 1, 40])
@pytest.mark.parametrize("before", [0, 2])
def test_a_full_disk_under_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: int, room: int
) -> None:
    """Batches are counted once, the problem is said, and the log is mended with the next one."""
    path, log = tmp_path / "m.npz", tmp_path / "m.jsonl"
    monitor = fresh(path=path, log=log)
    for batch in BATCHES[:before]:
        monitor.check(batch)

    def full(name: Any, mode: str = "r", **options: Any) -> Any:
        file = open(name, mode, **options)  # noqa: SIM115
        return FullDisk(file, room) if Path(name) == log and mode != "rb" else file

    with monkeypatch.context() as patched:
        patched.setattr(persistence, "open", full, raising=False)
        for batch in BATCHES[before : before + 2]:
            with pytest.warns(LogWarning, match=r"is counted and saved.*No space left"):
                monitor.check(batch)
    assert len(monitor.verdicts) == before + 2
    assert DepthMonitor.load(path).verdicts == monitor.verdicts
    monitor.check(BATCHES[before + 2])
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert lines == [verdict.to_dict() for verdict in monitor.verdicts]


def test_a_log_that_lags_behind_is_repaired(tmp_path: Path) -> None:
    path, log = tmp_path / "m.npz", tmp_path / "m.jsonl"
    monitor = fresh(path=path, log=log)
    for batch in BATCHES[:3]:
        monitor.check(batch)
    whole = log.read_bytes()
    ends = [i + 1 for i, byte in enumerate(whole) if byte == ord("\n")]
    for cut in (0, ends[0], ends[0] + 9, ends[1], ends[1] + 1, ends[2] - 2, ends[2] - 1, ends[2]):
        log.write_bytes(whole[:cut])
        DepthMonitor.load(path, autosave=True, log=log)
        assert log.read_bytes() == whole


OTHER_FILES = [
    b"notes of mine\n",
    b"[]\n",
    b'{"a": 1,\n "b": [2, 3]}',
    b'{"batch": 9',
    b"a,b\n1,2\n3,4",
    b"no line end",
    b'{"batch": 7}\n',
    b'{"batch": 1, "score": 0.25}\n',
    b"\0" * 1000,
]


@pytest.mark.parametrize("content", OTHER_FILES)
def test_another_file_is_no_log_and_stays_as_it_is(tmp_path: Path, content: bytes) -> None:
    path, log = tmp_path / "m.npz", tmp_path / "s.json"
    log.write_bytes(content)
    with pytest.raises(InvalidOptionError, match="give another file"):
        fresh(path=path, log=log)
    assert not path.exists()
    monitor = fresh(path=path)
    monitor.check(BATCHES[0])
    with pytest.raises(InvalidOptionError, match="give another file"):
        DepthMonitor.load(path, autosave=True, log=log)
    log.unlink()
    monitor = DepthMonitor.load(path, autosave=True, log=log)
    # Also where it takes the place of the log later: the batch is not counted.
    log.write_bytes(content)
    with pytest.raises(InvalidOptionError, match="give another file"):
        monitor.check(BATCHES[1])
    assert log.read_bytes() == content
    assert len(DepthMonitor.load(path).verdicts) == len(monitor.verdicts) == 1


def test_a_line_of_a_log_must_be_that_of_its_batch(tmp_path: Path) -> None:
    path, log = tmp_path / "m.npz", tmp_path / "m.jsonl"
    monitor = fresh(path=path)
    first, second = (monitor.check(batch).score for batch in BATCHES[:2])
    for number, score in ((0, second), (-1, first), (3, second), (1, second), (True, first)):
        log.write_text(json.dumps({"batch": number, "score": score}) + "\n")
        with pytest.raises(InvalidOptionError, match=r"said of its 2 batch\(es\); give another"):
            DepthMonitor.load(path, autosave=True, log=log)


def test_paths_are_checked_before_the_work(tmp_path: Path) -> None:
    for odd in ("m.txt", tmp_path / "absent" / "m.npz"):
        with pytest.raises(InvalidOptionError, match=r"named \*.npz|no folder"):
            DepthMonitor(None, batch_size=20, path=odd)
    with pytest.raises(InvalidOptionError, match="no folder"):
        DepthMonitor(None, batch_size=20, path=tmp_path / "m.npz", log=tmp_path / "absent" / "l")
    with pytest.raises(InvalidOptionError, match="give path"):
        DepthMonitor.load(tmp_path / "m.npz", log=tmp_path / "m.jsonl")
    DepthMonitor(REFERENCE, levels=4, n_directions=5).save(tmp_path / "plain.npz")
    with pytest.raises(InvalidOptionError, match="only scores"):
        DepthMonitor.load(tmp_path / "plain.npz", autosave=True)


def test_a_depth_of_ones_own_cannot_be_kept(tmp_path: Path) -> None:
    with pytest.raises(InvalidOptionError, match="cannot be saved"):
        fresh(depth=lambda X: -np.abs(X).sum(axis=1), path=tmp_path / "m.npz")
    assert not (tmp_path / "m.npz").exists()


# -- files that are not what they should be -------------------------------------------------------


def written(path: Path, header: dict, arrays: dict) -> None:
    own = ("format", "version", "kind")
    kept = {name: value for name, value in header.items() if name not in own}
    write_archive(path, CALIBRATED, kept, arrays)


def added(where: Any, number: Any) -> Any:
    """A function that adds a number to one entry of an array."""

    def change(array: np.ndarray) -> np.ndarray:
        changed = array.copy()
        changed[where] += number
        return changed

    return change


def twice(array: np.ndarray) -> np.ndarray:
    return np.concatenate([array, array], axis=-1)


# For every kind of monitor: parts of its file, and what each may not be, one thing at a time.
REGIONS: dict[str, list[Any]] = {
    "missing": [[1500, 1500], [1500, -1]], "missing_counts": [[0], [0, -1]], "width": [1],
    "columns": [["a"], ["a", 1]], "scaled": [1], "seed": [True], "count": [3], "alarm_since": [3],
    "table_sizes": [[40, 10], [40, 40], [0, 40]], "signatures": [lambda own: own * 2],
    "labels": [["a", 1], "ab", [None]], "groups": [[None, None], [1]],
    "strata": [
        lambda own: own[:1], lambda own: [*own, [0, 40, 40, 0]],
        lambda own: [[0, 10, 0, own[0][3]], own[1]], lambda own: [[0, 10, 11, own[0][3]], own[1]],
        lambda own: [own[0], [*own[1][:3], own[1][3] + 1]],
    ],
    ":calibration": [lambda a: a[::-1], added(-1, np.inf), added(0, -np.inf)],
    ":records": [
        added((0, 0), 0.5), added((1, 1), -1), added((0, 0), 21), added((0, 2), 2),
        added(0, [-20, 20, 0, 0, 0, 0, 0, 0, 0, 0]), added((1, 6), np.inf),
    ],
    ":contributions": [added((0, 0), np.inf), twice], ":scale": [lambda a: np.tile(a, (2, 1))],
    ":missing": [lambda a: a.astype(float), added((0, 1), -1), twice],
    ":logs": [lambda a: np.tile(a, (2, 1)), added(0, np.inf)],
    ":tables": [lambda a: np.tile(a, (2, 1, 1, 1))],
}  # fmt: skip
SHARES: dict[str, list[Any]] = {
    "count": [1], ":scale": [lambda a: 0 * a, lambda a: np.inf * a, lambda a: a[:, :1]],
    ":ranks": [
        lambda a: a.astype(float), added((0, 0), 2), added((0, 1), -(10**6)), added((0, 0), -10),
    ],
    ":directions": [
        lambda a: a[:1], lambda a: a[:, :1], lambda a: a.astype(np.float32), added((0, 0), np.inf),
    ],
    ":centers": [lambda a: a[:, 1:], added((0, 1), np.inf)],
    ":widths": [lambda a: a[:, 1:], lambda a: 0 * a, added(0, np.inf)],
    ":cuts": [lambda a: a[:, ::-1], lambda a: a[:, :-1], added((0, -1), np.inf)],
    ":shares": [lambda a: a[..., 1:], added((0, -1), 1.0), added((0, 0), -1.0)],
}  # fmt: skip
CATEGORIES: dict[str, list[Any]] = {
    "categories": [lambda own: {**own, "c": [*own["c"][1:], 1]}],
    "kinds": [lambda own: own[::-1], lambda own: [[*each[:4], "odd"] for each in own]],
    ":units": [lambda a: a[:, :1], added((0, 0, 0), np.inf), lambda a: 0 * a, lambda a: -a, twice],
    ":counts": [
        lambda a: a[:, 1:], lambda a: a.astype(float), lambda a: 0 * a, added((0, 0), 1),
        lambda a: a + [-(10**6), 10**6, 0, 0, 0, 0],
    ],
}  # fmt: skip
CHANGES = {"regions": REGIONS, "shares": SHARES, "categories": CATEGORIES}


@pytest.mark.parametrize("kind", ["regions", "shares", "categories"])
def test_parts_that_make_no_sense_are_refused(tmp_path: Path, kind: str) -> None:
    pd = pytest.importorskip("pandas")
    path, batches = tmp_path / "m.npz", [REFERENCE, *BATCHES[:2]]
    options: dict = {"tolerance": 0.1} if kind == "shares" else {"batch_size": [10, 40]}
    if kind == "categories":
        columns = [(p[:, 0], np.sign(p[:, 1]).astype(str), np.sign(p[:, 0])) for p in batches]
        batches = [pd.DataFrame(dict(zip("ace", own, strict=True))) for own in columns]
        options = {"kinds": {"c": "category", "e": "category"}}
    monitor = DepthMonitor(batches[0], **{**OPTIONS, **options})
    monitor.check(batches[1])
    monitor.check(batches[2])
    monitor.save(path)
    header, arrays = read_archive(path, CALIBRATED)

    def refused(changed: dict, parts: dict) -> bool:
        written(path, changed, parts)
        try:
            DepthMonitor.load(path)
        except UnreadableFileError:
            return True
        return False

    assert not refused(header, arrays)
    for name, change in [(name, odd) for name, own in CHANGES[kind].items() for odd in own]:
        parts, key = (arrays, name[1:]) if name[0] == ":" else (header, name)
        changed = {**parts, key: change(parts[key]) if callable(change) else change}
        assert refused(*((header, changed) if parts is arrays else (changed, arrays))), changed[key]
    for name in header.keys() - {"format", "version", "kind", "algorithm"}:
        left = {key: given for key, given in header.items() if key != name}
        assert refused(left, arrays), name
        for odd in ("nonsense", -3, [], [[1]], {"a": 1}, 10**12):
            if odd != header[name] and (name, odd) != ("seed", 10**12):
                assert refused({**header, name: odd}, arrays), (name, odd)
    for name, array in arrays.items():
        left = {key: value for key, value in arrays.items() if key != name}
        assert refused(header, left), name
        for odd in (array[:-1], np.full(array.shape, np.nan), array[..., None][..., [0, 0]]):
            assert refused(header, {**arrays, name: odd}), name


def test_small_files_do_not_ask_for_much_memory(tmp_path: Path) -> None:
    """Numbers of a crafted file are compared with its arrays before anything is made of them."""
    for tolerance in (0.0, 0.1):
        monitor = fresh(tolerance=tolerance)
        monitor.check(BATCHES[0])
        monitor.save(tmp_path / "m.npz")
        header, arrays = read_archive(tmp_path / "m.npz", CALIBRATED)
        changes: list[tuple[dict, dict]] = [
            ({"policy": [0.01, None, tolerance, patience]}, {})
            for patience in (2 + 98 * (tolerance > 0) + 1, 300_000, 30_000_000)
        ]
        changes += [({"width": 10**9}, {}), ({"count": 10**9}, {}), ({"alarm_since": 10**9}, {})]
        changes += [({"strata": [[0, 20, 20, 10**9]]}, {}), ({"strata": [[0, 30, 30, 72]]}, {})]
        if tolerance:
            changes.append(({}, {name: arrays[name][:, :0] for name in ("cuts", "shares")}))
        else:
            (signature,) = header["signatures"]
            for old, new in (
                ("q=2", "q=1e308"), ("q=2", "q=nan"), ("orthogonal:12", "orthogonal:1000000000"),
                ("levels=5", "levels=1000000000"), ("p=2", "p=1e308"), ("seed=0", "seed=-1"),
            ):  # fmt: skip
                assert old in signature
                changes.append(({"signatures": [signature.replace(old, new)]}, {}))
        for changed, parts in changes:
            written(tmp_path / "c.npz", {**header, **changed}, {**arrays, **parts})
            tracemalloc.start()
            with suppress(UnreadableFileError):
                again = DepthMonitor.load(tmp_path / "c.npz")
                # What a metric may have must give a score.
                assert changed.get("signatures"), changed
                assert 0 <= again.score(BATCHES[1]) < np.inf, changed
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert peak < 30e6, changed


# -- kill -9 --------------------------------------------------------------------------------------

KILLED = """
import os, shutil, signal, sys
from pathlib import Path
import numpy as np
from isodepth import DepthMonitor

folder, every = Path(sys.argv[1]), int(sys.argv[2])
path, log = folder / "m.npz", folder / "m.jsonl"
rng = np.random.default_rng(0)
reference = rng.normal(size=(1500, 2))
batches = [rng.normal(size=(20, 2)) + (i >= 2) for i in range(5)]
options = dict(batch_size=20, n_directions=12, levels=5, random_state=0, n_jobs=1)

monitor = DepthMonitor(reference, **options, path=path, log=log)
for batch in batches[:3]:
    monitor.check(batch)
before = path.read_bytes(), log.read_bytes()
for batch in batches[3:]:
    monitor.check(batch)
uninterrupted = monitor.verdicts, log.read_bytes()


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
    DepthMonitor.load(path, autosave=True, log=log).check(batches[3])
    sys.settrace(None)
    os._exit(0)


counts, line = {3: 0, 4: 0}, 1
while True:
    path.write_bytes(before[0])
    log.write_bytes(before[1])
    child = os.fork()
    if child == 0:
        killed_at(line)
    _, status = os.waitpid(child, 0)
    again = DepthMonitor.load(path, autosave=True, log=log)
    seen = len(again.verdicts)
    counts[seen] += 1
    assert log.read_bytes() == b"".join(uninterrupted[1].splitlines(keepends=True)[:seen])
    for batch in batches[seen:]:
        again.check(batch)
    assert again.verdicts == uninterrupted[0]
    assert log.read_bytes() == uninterrupted[1]
    if os.WIFEXITED(status):
        assert os.WEXITSTATUS(status) == 0
        break
    assert os.WTERMSIG(status) == signal.SIGKILL
    line += every
print(counts[3], counts[4], line)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks of POSIX systems")
def test_killed_at_any_point_it_is_before_or_after(tmp_path: Path) -> None:
    """Killed at every 83rd line of Python that loading and checking runs through."""
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path), "83"],
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
from isodepth import BusyFileError, DepthMonitor

path, seed = sys.argv[1], int(sys.argv[2])
rng = np.random.default_rng(seed)
for batch in rng.normal(size=(12, 20, 2)):
    while True:
        monitor = DepthMonitor.load(path, autosave=True)
        try:
            monitor.check(batch)
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
    monitor = DepthMonitor.load(tmp_path / "m.npz")
    assert [verdict.batch for verdict in monitor.verdicts] == list(range(1, 25))
    # Every batch is there once.
    drawn = [np.random.default_rng(seed).normal(size=(12, 20, 2)) for seed in (1, 2)]
    expected = {monitor.score(batch) for batch in np.concatenate(drawn)}
    assert {verdict.score for verdict in monitor.verdicts} == expected
