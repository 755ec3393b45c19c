"""Samples are processed within the documented memory, for any number of rows."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("resource")

MEMORY_MB = 8
CODE = """
import resource, sys
import numpy as np
from isodepth import Metric, scan
from isodepth.metric.chunked.region_tables import stream_table

def chunks(count):
    return lambda: (np.random.default_rng(i).standard_normal((20_000, 5)) for i in range(count))

def peak():
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used / 2**20 if sys.platform == "darwin" else used / 2**10

options = {"n_directions": 12, "levels": 5, "random_state": 0, "memory_mb": %d, "n_jobs": 2}
metric = Metric(depth=%r, **options)
stream_table(metric, scan(chunks(1)), in_memory=False)
before = peak()
stream_table(metric, scan(chunks(33)), in_memory=False)
print(peak() - before)
"""


@pytest.mark.parametrize("depth", ["projection", "halfspace"])
def test_peak_of_a_table(depth: str) -> None:
    """The peak memory of a region table is below `memory_mb`, for data of three times this size."""
    assert 3 * MEMORY_MB < 33 * 20_000 * 5 * 8 / 2**20
    source = str(Path(__file__).parents[2] / "src")
    environment = {**os.environ, "PYTHONPATH": source, "MALLOC_ARENA_MAX": "2"}
    done = subprocess.run(
        [sys.executable, "-c", CODE % (MEMORY_MB, depth)],
        capture_output=True, text=True, check=True, env=environment, timeout=300,
    )  # fmt: skip
    assert float(done.stdout) < MEMORY_MB
