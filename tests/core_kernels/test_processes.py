"""Threads of the core: behavior at a fork, at the exit of Python and at Ctrl-C."""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import isodepth
from isodepth import _core
from isodepth.base.compiled import thread_map

RNG = np.random.default_rng(0)
POINTS = RNG.standard_normal((5_000, 4))
DIRECTIONS = RNG.standard_normal((64, 4))


#: Number of processes: few, and enough to detect a rare deadlock.
COUNTS = [2, pytest.param(200, marks=pytest.mark.slow)]
distance = functools.partial(isodepth.distance, POINTS, 2 * POINTS, n_directions=64, random_state=0)


@contextlib.contextmanager
def busy_parent() -> Iterator[None]:
    """Context manager that keeps all threads of this process busy."""
    stop = threading.Event()

    def compute() -> None:
        while not stop.is_set():
            distance(n_jobs=2)

    busy = [threading.Thread(target=compute) for _ in range(2)]
    for thread in busy:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in busy:
            thread.join()


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forks_of_a_busy_parent_compute_the_same(count: int) -> None:
    expected = _core.project(POINTS, DIRECTIONS, 2)
    with busy_parent():
        for _ in range(count):
            child = os.fork()
            if child == 0:
                same = np.array_equal(_core.project(POINTS, DIRECTIONS, 2), expected)
                os._exit(0 if same else 1)
            _, status = os.waitpid(child, 0)
            assert os.waitstatus_to_exitcode(status) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("error:.*fork.*:DeprecationWarning")
def test_a_fork_ends_threads_that_wait_for_the_next_section() -> None:
    for _ in range(20):
        expected = _core.project(POINTS, DIRECTIONS, 2)
        child = os.fork()
        if child == 0:
            same = np.array_equal(_core.project(POINTS, DIRECTIONS, 2), expected)
            os._exit(0 if same else 1)
        assert np.array_equal(_core.project(POINTS, DIRECTIONS, 2), expected)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="needs /proc")
def test_threads_end_if_there_is_no_next_section() -> None:
    before = set(os.listdir("/proc/self/task"))
    expected = _core.project(POINTS, DIRECTIONS, 1)
    for _ in range(2):
        assert np.array_equal(_core.project(POINTS, DIRECTIONS, 3), expected)
        deadline = time.monotonic() + 60
        while not set(os.listdir("/proc/self/task")) <= before:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_sections_of_many_calling_threads_do_not_disturb_each_other() -> None:
    expected = _core.project(POINTS, DIRECTIONS, 1)
    found = thread_map(lambda n: _core.project(POINTS, DIRECTIONS, n), [1, 2, 3, 4] * 50, 6)
    assert all(np.array_equal(each, expected) for each in found)


class Interrupted(Exception):
    pass


def interrupted(*_: object) -> None:
    raise Interrupted


def search_in_hull(size: int) -> Callable[[], object]:
    points, query = RNG.standard_normal((size, 1500)), 0.5 * RNG.standard_normal((1, 1500))
    return functools.partial(_core.nearest_in_hull, points, query)


def many_short_sections(size: int) -> Callable[[], object]:
    x, y, directions = (RNG.standard_normal((n, 8)) for n in (64 * size, 64 * size, 1000))
    sizes = np.arange(1, len(x) + 1)
    return functools.partial(_core.gaps, x, y, sizes, sizes, directions, np.inf, 2, 256.0)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")
@pytest.mark.parametrize("prepare", [search_in_hull, many_short_sections])
def test_a_signal_ends_a_call(prepare: Callable[[int], Callable[[], object]]) -> None:
    """Check that a signal at a quarter of the duration of a call ends the call early."""
    # Signals are noticed after 50 ms. The call has to be longer, on any processor and with a
    # sanitizer, which makes it ten times as slow.
    size, whole = 128, 0.0
    while whole < 0.5:
        size *= 2
        call = prepare(size)
        start = time.process_time()
        call()
        whole = time.process_time() - start
    before = signal.signal(signal.SIGVTALRM, interrupted)
    try:
        # The timer counts processor time of this process.
        signal.setitimer(signal.ITIMER_VIRTUAL, whole / 4)
        start = time.process_time()
        with pytest.raises(Interrupted):
            call()
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    assert time.process_time() - start < 0.7 * whole


@pytest.mark.parametrize("count", COUNTS)
def test_processes_that_a_busy_parent_spawns_compute_the_same(count: int) -> None:
    expected = distance(n_jobs=2)
    context = multiprocessing.get_context("spawn")
    with busy_parent(), context.Pool(2, maxtasksperchild=1) as pool:
        found = [pool.apply_async(distance, kwds={"n_jobs": 2}) for _ in range(count)]
        assert {one.get() for one in found} == {expected}


def test_an_interrupt_ends_the_passes_of_all_threads() -> None:
    points, directions = (RNG.standard_normal((1000, 2000)) for _ in range(2))
    started, stopped = threading.Event(), threading.Event()

    def compute(item: int) -> None:
        if item == 0:
            started.wait()
            raise KeyboardInterrupt
        started.set()
        try:
            for _ in range(30):
                _core.project(points, directions)
        except RuntimeError:
            stopped.set()

    with pytest.raises(KeyboardInterrupt):
        thread_map(compute, (0, 1), 2)
    assert stopped.wait(timeout=60)
    # Later computations are not stopped.
    assert len(thread_map(functools.partial(_core.project, POINTS), [DIRECTIONS] * 3, 2)) == 3


DAEMON = """
import threading, time
import numpy as np
from isodepth import _core
from isodepth.base.compiled import thread_map

points = np.random.default_rng(0).standard_normal((20_000, 8))
directions = np.random.default_rng(1).standard_normal((500, 8))
started = threading.Event()

def compute():
    while True:
        started.set()
        _core.mean_rank_weight(points, directions, n_threads=2)

threading.Thread(target=compute, daemon=True).start()
started.wait()
time.sleep({pause})
"""


@pytest.mark.parametrize("pause", [0.05, 0.3])
def test_a_daemon_thread_does_not_abort_the_process_at_its_end(pause: float) -> None:
    """A process ends normally if a daemon thread is in the core while the interpreter ends."""
    path = os.path.dirname(os.path.dirname(isodepth.__file__))
    done = subprocess.run(
        [sys.executable, "-c", DAEMON.format(pause=pause)],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
