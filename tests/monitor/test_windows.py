"""Windows of batches: sums, thresholds that sum to alpha, restarts and patience."""

from __future__ import annotations

import math

import numpy as np
import pytest

from isodepth.monitor.functions import Counts
from isodepth.monitor.windows import AlarmPolicy, DyadicSums


def counted(number: int) -> Counts:
    return Counts(1, np.array([number]), np.zeros((3, 0)))


def test_windows_are_the_last_batches_since_the_restart() -> None:
    rng = np.random.default_rng(0)
    sums, numbers, start = DyadicSums(), [], 0
    for end in range(1, 200):
        numbers.append(int(rng.integers(100)))
        sums, windows = sums.add(counted(numbers[-1]))
        widths = [2**j for j in range(9) if end % max(1, 2**j // 2) == 0 and end - 2**j >= start]
        assert widths == [2**scale for scale in range(len(windows))]
        assert [int(w.ones[0]) for w in windows] == [sum(numbers[-width:]) for width in widths]
        if rng.random() < 0.05:
            sums, start = sums.restarted(), end
    assert len(sums.runs) <= 8


def test_the_weights_of_the_level_sum_to_at_most_one() -> None:
    level, last = AlarmPolicy(alpha=0.5).window_level, 10**5
    # Half of the level belongs to the windows of one batch.
    scales = math.fsum(level(scale, 2**scale) / level(0, 1) for scale in range(200)) / 2
    assert scales == pytest.approx(1 - 1 / 201)
    # The weights are decreasing and convex, so that an integral is an upper bound of the others.
    rest = 0.47 / math.log(last + 1.5)
    total = math.fsum(level(0, k) for k in range(1, last + 1)) / (0.5 / 2)
    assert 0.99 < total + rest < 1


def test_levels_of_a_stream_sum_to_alpha_or_to_half_a_level_per_batch() -> None:
    alpha, arl = AlarmPolicy(alpha=0.05, patience=2), AlarmPolicy(arl=500.0)
    sums, totals = DyadicSums(), np.zeros(2)
    for end in range(1, 3000):
        sums, windows = sums.add(counted(1))
        for scale in range(len(windows)):
            totals += 3 * alpha.window_level(scale, end, 3), arl.window_level(scale, end)
        assert totals[1] <= end / (2 * 500.0)
    assert 0.5 < totals[0] / (2 * 0.05) < 1
    assert totals[1] > 0.8 * end / 1000
