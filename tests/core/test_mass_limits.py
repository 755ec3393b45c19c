"""Weights of any size become masses in the same proportion."""

from __future__ import annotations

import numpy as np
import pytest

from isodepth.core.regions import Sample

POINTS = np.array([[0.0], [1.0], [2.0]])


@pytest.mark.parametrize("unit", [1.0, 0.25, 2.0**51, 2.0**60, 1e20, 1e300, 1e-300, 2.0**-1074])
def test_units_do_not_matter(unit: float) -> None:
    sample = Sample.of(POINTS, np.array([1.0, 2.0, 5.0]) * unit)
    assert sample.shares.tolist() == [0.125, 0.25, 0.625]
    assert sample.unit_masses.dtype == np.int64
    assert sample.unit_masses.sum() == sample.total > 0


def test_equal_weights_are_no_weights() -> None:
    for weights in (None, [1, 1, 1], [0.1, 0.1, 0.1], [1e300] * 3):
        sample = Sample.of(POINTS, weights)
        assert sample.masses is None
        assert (sample.total, sample.unit_masses.tolist()) == (3, [1, 1, 1])


def test_repeated_rows_are_weights_and_rows_without_weight_are_not_there() -> None:
    rows = POINTS[[2, 0, 0, 1, 0, 2]]
    sample = Sample.of(rows, [1, 1, 2, 0, 3, 4])
    assert sample.points.tolist() == [[0.0], [2.0]]
    assert sample.unit_masses.tolist() == [6, 5]
    assert sample.total == 11
    assert sample.inverse.tolist() == [1, 0, 0, -1, 0, 1]


def test_weights_far_apart_keep_the_smallest() -> None:
    """The smallest mass is one unit at least: a row with a weight is never lost."""
    sample = Sample.of(POINTS, [1e-30, 1.0, 3.0])
    assert sample.unit_masses.min() >= 1
    assert sample.total < 2**62
    np.testing.assert_allclose(sample.shares[1:], [0.25, 0.75], rtol=1e-15)


def test_queries_join_a_sample_without_mass() -> None:
    sample = Sample.of(POINTS, [1, 2, 3])
    joint = sample.with_queries(np.array([[5.0], [1.0], [-0.0]]))
    assert joint.points.ravel().tolist() == [0.0, 1.0, 2.0, 5.0]
    assert joint.unit_masses.tolist() == [1, 2, 3, 0]
    assert joint.inverse.tolist() == [3, 1, 0]


@pytest.mark.parametrize(
    ("rows", "simplex"),
    [
        ([[0, 0], [1, 0], [0, 1]], True),
        ([[0, 0], [1, 1], [2, 2]], False),
        ([[0, 0], [1, 0], [0, 1], [1, 1]], False),
        ([[3, 4]], True),
        ([[0, 0], [1, 0]], True),
        ([[0, 0], [1e-9, 0], [0, 1e9]], True),
        ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], False),
    ],
)
def test_simplices(rows: list[list[float]], simplex: bool) -> None:
    assert Sample.of(np.array(rows, dtype=float)).is_simplex is simplex
