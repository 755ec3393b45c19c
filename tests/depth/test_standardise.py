"""Data are moved to zero and scaled to about one before depths are computed."""

from __future__ import annotations

import numpy as np
import pytest

from isodepth.core.regions import Sample
from isodepth.depth.base import standardize


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("exponent", [-100, -65, -64, -30, -1, 0, 3, 30, 64, 65, 100])
def test_of_any_size_to_about_one(exponent: int, dtype: str) -> None:
    rows = np.random.default_rng(0).uniform(-1, 1, (50, 3)).astype(dtype)
    points = np.ldexp(rows, exponent)
    sample = Sample.of(points)
    moved = standardize(sample, points)
    assert moved.dtype == dtype
    # A few rows decide: the farthest of those from their middle is between a half and one.
    assert 0.4 < np.abs(moved).max() < 4
    # Powers of two only: shape and order are kept without rounding but for the move itself.
    np.testing.assert_array_equal(moved, standardize(Sample.of(rows), rows))


def test_the_middle_comes_to_zero() -> None:
    rows = np.random.default_rng(1).uniform(-1, 1, (60, 2)) + [1000.0, -500.0]
    moved = standardize(Sample.of(rows), rows)
    assert np.abs(np.median(moved, axis=0)).max() < 1.0
    # Every column is moved to its own middle: otherwise the farthest would decide the scale.
    assert moved.std(axis=0).min() > 0.1


def test_a_single_point_and_equal_points() -> None:
    for rows in (np.full((1, 2), 7.0), np.full((4, 2), -3.0)):
        assert standardize(Sample.of(rows), rows).tolist() == np.zeros(rows.shape).tolist()
