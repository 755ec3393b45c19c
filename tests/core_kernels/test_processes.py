"""Threads of the core end with the call: forks do not hang, Ctrl-C ends all passes."""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import os
import subprocess
import sys
import threading
from collections.abc import Iterator

import numpy as np
import pytest

import isodepth
from isodepth import _core
from isodepth.engine import thread_map

RNG = np.random.default_rng(0)
POINTS = RNG.standard_normal((5_000, 4))
DIRECTIONS = RNG.standard_normal((64, 4))


#: A few, and as many as would show a hang that is rare.
COUNTS = [2, pytest.param(200, marks=pytest.mark.slow)]
distance = functools.partial(isodepth.distance, POINTS, 2 * POINTS, n_directions=64, random_state=0)


@contextlib.contextmanager
def busy_parent() -> Iterator[None]:
    """Threads of this process compute all the time."""
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
from isodepth.engine import thread_map

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
    """Python ends daemon threads that return from the core while the interpreter shuts down."""
    path = os.path.dirname(os.path.dirname(isodepth.__file__))
    done = subprocess.run(
        [sys.executable, "-c", DAEMON.format(pause=pause)],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
