"""Threads of the core end with the call: forks do not hang, Ctrl-C is noticed within a pass."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest

from isodepth import _core

RNG = np.random.default_rng(0)
POINTS = RNG.standard_normal((20_000, 4))
DIRECTIONS = RNG.standard_normal((64, 4))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forks_of_a_busy_parent_compute_the_same() -> None:
    expected = _core.project(POINTS, DIRECTIONS, 2)
    stop = threading.Event()

    def compute() -> None:
        while not stop.is_set():
            _core.project(POINTS, DIRECTIONS, 2)

    busy = threading.Thread(target=compute)
    busy.start()
    try:
        for _ in range(20):
            child = os.fork()
            if child == 0:
                same = np.array_equal(_core.project(POINTS, DIRECTIONS, 2), expected)
                os._exit(0 if same else 1)
            _, status = os.waitpid(child, 0)
            assert os.waitstatus_to_exitcode(status) == 0
    finally:
        stop.set()
        busy.join()


@pytest.mark.skipif(
    not hasattr(signal, "setitimer"), reason="needs timers that count processor time"
)
def test_an_interrupt_ends_a_pass_before_its_time() -> None:
    rng = np.random.default_rng(0)
    points, directions = (rng.standard_normal((1000, 4000)) for _ in range(2))
    start = time.process_time()
    _core.project(points, directions, 1)
    whole = time.process_time() - start

    # What Ctrl-C does, after a tenth of the work. Processor time is the same under any load.
    former = signal.signal(signal.SIGVTALRM, signal.default_int_handler)
    start = time.process_time()
    signal.setitimer(signal.ITIMER_VIRTUAL, whole / 10)
    try:
        with pytest.raises(KeyboardInterrupt):
            _core.project(points, directions, 1)
        spent = time.process_time() - start
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, former)

    assert spent < whole / 2
