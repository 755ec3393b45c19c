"""Threads of the core end with the call: forks do not hang, Ctrl-C is noticed within a pass."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

from isodepth import _core

RNG = np.random.default_rng(0)
POINTS = RNG.standard_normal((20_000, 4))
DIRECTIONS = RNG.standard_normal((64, 4))

#: One pass of many minutes, were it not interrupted: 2^25 parts of 16 directions of one number each
#: written to a small result again and again would need a kernel of its own, so the work is in `d`.
LONG_PASS = """
import sys
import numpy as np
from isodepth import _core
points = np.ones((64, 400_000))
directions = np.broadcast_to(np.ones((1, 400_000)), (2_000, 400_000))
"""


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
