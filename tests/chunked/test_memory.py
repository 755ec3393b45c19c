"""The memory that was promised is enough, whatever the size of the data."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator

import numpy as np
import pytest

from isodepth import Metric, scan
from isodepth.chunked.table import stream_table


@pytest.mark.parametrize("depth", ["projection", "halfspace"])
def test_peak_of_a_table(depth: str) -> None:
    """NumPy tells of all its arrays; the sample is three times as large as what it may take."""
    memory_mb, n_chunks = 16, 60

    def chunks() -> Iterator[np.ndarray]:
        for i in range(n_chunks):
            yield np.random.default_rng(i).standard_normal((20_000, 5))

    source = scan(chunks)
    metric = Metric(
        depth=depth, n_directions=12, levels=5, random_state=0, memory_mb=memory_mb, n_jobs=2
    )
    assert n_chunks * 20_000 * 5 * 8 > 2.8 * memory_mb * 2**20
    stream_table(metric, scan(lambda: list(chunks())[:4]), in_memory=False)  # compiled by now
    tracemalloc.start()
    try:
        stream_table(metric, source, in_memory=False)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < memory_mb * 2**20
