"""Whitening with estimators that know no weights: rows repeated as their masses say."""

from __future__ import annotations

import numpy as np
import pytest

from isodepth.core.regions import Sample
from isodepth.depth import whitening


def repeats(weights: np.ndarray) -> tuple[np.ndarray, Sample]:
    """How often each row of a sample with these weights is repeated."""
    points = np.arange(float(len(weights)))[:, None]
    sample = Sample.of(points, weights)
    rows = whitening._repeated(sample.points, sample)
    return np.bincount(rows[:, 0].astype(int), minlength=len(weights)), sample


def test_equal_masses_are_not_repeated() -> None:
    assert repeats(np.ones(7))[0].tolist() == [1] * 7


def test_small_totals_are_repeated_exactly() -> None:
    weights = np.array([1, 2, 3, 17, 57])
    assert weights.sum() == whitening._MOST_REPEATS * len(weights) - 20
    assert repeats(weights)[0].tolist() == weights.tolist()
    # The largest total that is still exact.
    weights = np.array([1, 2, 3, 17, 77])
    assert weights.sum() == whitening._MOST_REPEATS * len(weights)
    assert repeats(weights)[0].tolist() == weights.tolist()


@pytest.mark.parametrize("seed", range(4))
def test_larger_totals_are_repeated_in_proportion(seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 1000, size=40) if seed % 2 else rng.random(40)
    found, sample = repeats(weights)
    limit = whitening._MOST_REPEATS * len(weights)
    assert sample.total > limit
    assert found.sum() == limit
    # Rounded at both ends, so that no row is off by one or more, nor is any sum of neighbors.
    wanted = sample.shares * limit
    assert np.abs(found - wanted).max() < 1
    assert np.abs(np.cumsum(found) - np.cumsum(wanted)).max() <= 0.5
