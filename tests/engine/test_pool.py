"""The helpers: who works on what, how many there are, and that failures leave no trace."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import pytest

from isodepth.engine import pool
from isodepth.engine.threads import fold_blocks, side_by_side


def wait_for_the_end_of_all() -> None:
    deadline = time.monotonic() + 60 * pool.IDLE_SECONDS
    while pool.helper_count() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert pool.helper_count() == 0


def squares(n: int, workers: int) -> int:
    """The sum of squares below n, by states that are lists."""
    states = fold_blocks(range(n), list, lambda state, i: state.append(i * i), workers)
    return sum(map(sum, states))


@pytest.mark.parametrize("workers", [1, 2, 7, 16])
def test_every_block_is_done_once(workers: int) -> None:
    for n in (0, 1, 3, 100):
        states = fold_blocks(range(n), list, lambda state, i: state.append(i), workers)
        assert sorted(i for state in states for i in state) == list(range(n))
        assert 1 <= len(states) <= workers


def test_helpers_stay_and_then_end() -> None:
    def busy(_: None, i: int) -> None:
        time.sleep(0.005)

    fold_blocks(range(12), lambda: None, busy, 4)
    first = {t.ident for t in threading.enumerate() if t.name == "isodepth"}
    fold_blocks(range(12), lambda: None, busy, 4)
    again = {t.ident for t in threading.enumerate() if t.name == "isodepth"}
    assert first
    assert first & again
    wait_for_the_end_of_all()
    assert squares(50, 4) == sum(i * i for i in range(50))


@pytest.mark.parametrize("threads", [2, 3, 5])
def test_folds_inside_of_folds_use_no_more_threads_than_the_outermost(threads: int) -> None:
    # More helpers than that are about, left over from another call.
    fold_blocks(range(30), lambda: None, lambda _, i: time.sleep(0.002), 9)
    lock, inside, most = threading.Lock(), [0], [0]

    def inner(_: None, i: int) -> None:
        with lock:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
        time.sleep(0.002)
        with lock:
            inside[0] -= 1

    def outer() -> int:
        fold_blocks(range(20), lambda: None, inner, 8)
        return squares(40, 8)

    expected = sum(i * i for i in range(40))
    assert side_by_side([outer, outer], threads) == [expected, expected]
    assert 2 <= most[0] <= threads


def test_whoever_is_done_helps_the_others() -> None:
    seen = set()

    def slow() -> None:
        def step(_: None, i: int) -> None:
            seen.add(threading.get_ident())
            time.sleep(0.01)

        fold_blocks(range(20), lambda: None, step, 2)

    side_by_side([lambda: None, slow], 2)
    assert len(seen) == 2


@pytest.mark.parametrize("nested", [False, True])
def test_an_exception_comes_out_and_stops_the_others(nested: bool) -> None:
    done = []

    def step(_: None, i: int) -> None:
        if i == 5:
            raise ValueError("five")
        done.append(i)
        time.sleep(0.001)

    def work() -> None:
        fold_blocks(range(10_000), lambda: None, step, 3)

    with pytest.raises(ValueError, match="five"):
        side_by_side([work, work], 4) if nested else work()
    assert len(done) < 10_000
    # Nothing is left behind.
    assert squares(100, 3) == sum(i * i for i in range(100))


@pytest.mark.parametrize("workers", [1, 3])
def test_a_failure_stops_what_runs_beside_it(workers: int) -> None:
    done = []

    def fail() -> None:
        while not done:
            time.sleep(0.001)
        raise KeyError("early")

    def long() -> None:
        def step(_: None, i: int) -> None:
            done.append(i)
            time.sleep(0.001)

        fold_blocks(range(10_000), lambda: None, step, workers)

    with pytest.raises(KeyError, match="early"):
        side_by_side([fail, long], 4)
    assert len(done) < 10_000


def test_a_state_that_cannot_be_made() -> None:
    def start() -> None:
        raise MemoryError("no room")

    with pytest.raises(MemoryError, match="no room"):
        fold_blocks(range(10), start, lambda _, i: None, 4)


def test_several_threads_of_the_user() -> None:
    wait_for_the_end_of_all()
    results: list[int] = []

    def call() -> None:
        for _ in range(20):
            results.append(squares(200, 4))

    callers = [threading.Thread(target=call) for _ in range(5)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert results == [sum(i * i for i in range(200))] * 100
    # They share the helpers.
    assert pool.helper_count() <= 3


def test_no_thread_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    wait_for_the_end_of_all()

    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert squares(100, 4) == sum(i * i for i in range(100))
    assert pool.helper_count() == 0


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


DISTANCE = """
import os, threading
import numpy as np
import isodepth
X, Y = np.random.default_rng(0).standard_normal((2, 4000, 3))
def names():
    return sum(t.name == "isodepth" for t in threading.enumerate())
def distance(**options):
    return isodepth.distance(X, Y, depth="irw", n_directions=300, random_state=0, **options)
"""


def test_one_job_starts_no_thread() -> None:
    assert run(DISTANCE + "distance(n_jobs=1); print(names())") == "0\n"


@pytest.mark.skipif(not hasattr(__import__("os"), "sched_setaffinity"), reason="no affinity here")
def test_one_core_starts_no_thread() -> None:
    one = "os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])\n"
    assert run(DISTANCE + one + "distance(); print(names())") == "0\n"
    # What is asked for is done.
    assert int(run(DISTANCE + one + "distance(n_jobs=3); print(names())")) in (1, 2)


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="no fork here")
def test_a_child_has_helpers_of_its_own() -> None:
    code = """
expected = distance(n_jobs=3)
assert names()
child = os.fork()
if child == 0:
    assert names() == 0
    same = distance(n_jobs=3) == expected
    os._exit(0 if same and 1 <= names() <= 2 else 1)
assert os.waitpid(child, 0)[1] == 0
print(distance(n_jobs=3) == expected)
"""
    assert run(DISTANCE + code) == "True\n"


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="no fork here")
def test_a_fork_in_the_middle_of_a_fold_fails_in_the_child_alone() -> None:
    code = """
import os, sys, threading, time
from isodepth.engine.threads import fold_blocks
from isodepth.errors import ForkError
main, other = threading.get_ident(), threading.Event()
def step(_, i):
    if threading.get_ident() != main:
        other.set()
        time.sleep(0.3)
    elif other.wait(10) and not children:
        children.append(os.fork())
children = []
try:
    fold_blocks(range(8), lambda: None, step, 2)
except ForkError:
    os._exit(7)
if children[0] == 0:
    os._exit(1)
print(os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]))
"""
    assert run(code) == "7\n"


def test_helpers_do_not_keep_the_interpreter() -> None:
    start = time.monotonic()
    run("from isodepth.engine.threads import fold_blocks\nfrom isodepth.engine import pool\n"
        "pool.IDLE_SECONDS = 600\nimport time\n"
        "fold_blocks(range(9), lambda: None, lambda _, i: time.sleep(0.01), 4)\n"
        "assert pool.helper_count()")  # fmt: skip
    assert time.monotonic() - start < 300
