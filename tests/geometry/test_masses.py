"""Weights as integer masses: only their ratios matter, also if the weights are rounded."""

from __future__ import annotations

from fractions import Fraction
from math import gcd

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import isodepth
from isodepth.geometry.regions import Sample
from isodepth.geometry.weights import contaminated_rows, exact_masses

SETTINGS = settings(derandomize=True, max_examples=150, deadline=None)


def reduced(integers: list[int]) -> list[int]:
    return [k // gcd(*integers) for k in integers]


@SETTINGS
@example([291, *range(294, 345, 3), 346], 0.3)  # the first 16 ratios have the denominator 97
@example([6788, 11461], 2.0)  # halves, within the rounding of single precision of 475 : 802
@given(st.lists(st.integers(1, 2**20), min_size=1, max_size=40), st.floats(1e-200, 1e200))
def test_small_integers_times_anything_are_those_integers(integers: list[int], c: float) -> None:
    weights = np.array(integers, dtype=float)
    expected = reduced(integers)
    assert exact_masses(weights).tolist() == expected
    for same in (weights * c, weights / c, weights / weights.sum(), weights * 10, weights * 0.1):
        # Weights that single precision represents may have been rounded, unless they are small.
        with np.errstate(over="ignore", under="ignore"):
            single = bool((same.astype(np.float32) == same).all()) and max(integers) > 2**14
        masses = exact_masses(same)
        if single:
            # The masses are then integers whose ratios are those of the weights up to rounding.
            np.testing.assert_allclose(masses / masses.min(), same / same.min(), rtol=8 * 2.0**-23)
        else:
            assert masses.tolist() == expected
    assert exact_masses(weights / 3 * 0.7).tolist() == expected


@SETTINGS
@example([9, 11], 0.2646860018226955)  # rounding errors of 2.3 * 2**-23 of the ratio
@given(st.lists(st.integers(1, 1000), min_size=1, max_size=40), st.floats(2.0**-80, 1.0))
def test_so_are_those_of_single_precision(integers: list[int], c: float) -> None:
    """Check that integers times a factor, rounded to float32, have the masses of the integers."""
    weights = np.array(integers, dtype=np.float32)
    thrice = weights * np.float32(c) * np.float32(0.7) * np.float32(0.3)  # rounded three times
    for same in (thrice, weights * np.float32(c), weights / weights.sum()):
        assert same.dtype == np.float32
        assert exact_masses(same.astype(np.float64)).tolist() == reduced(integers)


@SETTINGS
@given(st.integers(2, 60), st.integers(0, 10**6))
def test_other_floats_are_unchanged(n: int, seed: int) -> None:
    """Check that the masses of weights in [1, 2) are the weights times a power of two."""
    weights = 1.0 + np.random.default_rng(seed).random(n)
    masses = [int(m) for m in exact_masses(weights)]
    factors = {Fraction(m) / Fraction(w) for m, w in zip(masses, weights.tolist(), strict=True)}
    assert len(factors) == 1
    factor = factors.pop()
    assert factor.denominator == 1
    assert factor.numerator & (factor.numerator - 1) == 0


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ([0.1, 0.2, 0.3], [1, 2, 3]),
        ([5.0], [1]),
        ([0.3, 0.3], [1, 1]),
        ([2.0**60, 3 * 2.0**60], [1, 3]),
        ([2.0**51 + 0.5, 1.5 * 2.0**51 + 0.75], [2, 3]),
        ([1.0, 2.0**45], [1, 2**45]),
        ([7.0, 7 * 2.0**40], [1, 2**40]),
        ([0.5, 0.5 + 2.0**-40], [2**39, 2**39 + 1]),
        ([2.0**49 + 1, 2.0**48], [2**49 + 1, 2**48]),
        ([1e-310, 2e-310], None),
        ([1.0, 1e300], None),
    ],
)
def test_masses_of_one_kind_or_another(weights: list[float], expected: list[int] | None) -> None:
    masses = exact_masses(np.array(weights))
    assert (masses > 0).all()
    if expected is not None:
        assert masses.tolist() == expected


@pytest.mark.parametrize("covariance", ["ledoit-wolf", "mcd"])
def test_estimators_that_see_repeated_rows_see_proportions_alone(covariance: str) -> None:
    rng = np.random.default_rng(4)
    X, w = rng.normal(size=(30, 3)), rng.integers(1, 30, size=30)
    depths = [
        isodepth.AIIRWDepth(covariance=covariance, random_state=0).fit(X, sample_weight=v).depth_
        for v in (w, w * 10, w / w.sum())
    ]
    assert depths[0].tolist() == depths[1].tolist() == depths[2].tolist()


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
    # A row of weight zero does not prevent the division of the others by a common divisor.
    assert Sample.of(POINTS, [0.0, 10.0, 20.0]).unit_masses.tolist() == [1, 2]


def test_weights_far_apart_keep_the_smallest() -> None:
    """Check that every positive weight has a mass of at least 1."""
    sample = Sample.of(POINTS, [1e-30, 1.0, 3.0])
    assert sample.unit_masses.min() == 1
    assert sample.total < 2**62
    np.testing.assert_allclose(sample.shares[1:], [0.25, 0.75], rtol=1e-15)


def test_queries_join_a_sample_without_mass() -> None:
    sample = Sample.of(POINTS, [1, 2, 3])
    joint = sample.with_queries(np.array([[5.0], [1.0], [-0.0]]))
    assert joint.points.ravel().tolist() == [0.0, 1.0, 2.0, 5.0]
    assert joint.unit_masses.tolist() == [1, 2, 3, 0]
    assert joint.inverse.tolist() == [3, 1, 0]
    assert sample.find(np.array([[5.0], [1.0], [-0.0]])).tolist() == [-1, 1, 0]


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


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rounded_points_of_a_hyperplane_are_not_a_simplex(dtype: type) -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        points = rng.normal(size=(21, 19)) @ rng.normal(size=(19, 20))
        assert not Sample.of(points.astype(dtype)).is_simplex


@pytest.mark.parametrize(
    ("tolerance", "n", "rows"),
    [(0.0, 50, 0), (0.05, 20, 1), (0.29, 100, 29), (0.29, 99, 28), (0.1, 10**9, 10**8)],
)
def test_contaminated_rows_are_not_lost_by_rounding(tolerance: float, n: int, rows: int) -> None:
    assert contaminated_rows(tolerance, n) == rows
