"""Power means of small order p are exact: rounding errors are not multiplied by 1/p."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from twins.naive import power_mean_of_many_digits

import isodepth
from isodepth import _core
from isodepth.geometry.regions import SMALL_POWER, power_mean

POWERS = [9.9e-4, 1e-9, 1e-15, 1.1e-100, 0.9e-100, 5e-324]
GAPS = {
    "spread": [0.3, 1.0, 2.5, 4.0, 4.0],
    "equal": [0.7] * 6,
    "near": [1.0, 1.0 + 2**-52, 1.0 - 2**-53],
    "far apart": [1e-305, 1e300, 1.0],
    "tiny": [5e-324, 1e-310, 2e-308],
    "one": [3.0],
}


def naive(gaps: list[float], p: float, length: float = 1.0) -> float:
    shares = [Fraction(1, len(gaps))] * len(gaps)
    return power_mean_of_many_digits(gaps, shares, p, length)


def of_tables(gaps: np.ndarray, p: float, length: float) -> float:
    """Return the power mean as the distance between a table with these gaps and one of zeros.

    `length` is the factor of the mean.
    """
    values = gaps[None, :, None]
    found = _core.table_distances(values, np.zeros_like(values), p, math.inf, length, 1)
    return float(found[0, 0])


def tolerance(gaps: list[float]) -> float:
    # Logarithms and their sums have a relative rounding error of eps / 2. The exponential makes
    # the absolute error of a logarithm a relative error of the mean.
    return 8 * np.finfo(float).eps * max(1.0, *(abs(math.log(gap)) for gap in gaps))


@pytest.mark.parametrize("p", POWERS)
@pytest.mark.parametrize("name", GAPS)
def test_core_and_compiled_mean_against_the_definition(name: str, p: float) -> None:
    gaps = np.array(GAPS[name])
    shares = np.full(len(gaps), 1.0 / len(gaps))
    expected = pytest.approx(naive(GAPS[name], p), rel=tolerance(GAPS[name]), abs=1e-323)
    assert power_mean(gaps, shares, p) == expected
    assert of_tables(gaps, p, 1.0) == expected


@pytest.mark.parametrize("p", POWERS)
def test_unequal_shares(p: float) -> None:
    gaps, shares = np.array([0.5, 2.0, 8.0]), np.array([0.5, 0.25, 0.25])
    repeated = [0.5, 0.5, 2.0, 8.0]
    assert power_mean(gaps, shares, p) == pytest.approx(naive(repeated, p), rel=1e-14)


@pytest.mark.parametrize("p", [9.9e-4, 1e-4])
def test_a_plain_integral_shrinks(p: float) -> None:
    gaps = np.array(GAPS["spread"])
    shares = np.full(5, 0.2)
    # The rounding error of log(length) / p, which is of order 1 / p, dominates.
    expected = pytest.approx(naive(GAPS["spread"], p, 0.999), rel=4 * 2**-52 / p)
    assert power_mean(gaps, shares, p, 0.999) == expected
    assert of_tables(gaps, p, 0.999) == expected


@pytest.mark.parametrize("p", [1e-12, 1e-90, 1e-300])
def test_integrals_tend_to_zero(p: float) -> None:
    gaps, shares = np.array(GAPS["spread"]), np.full(5, 0.2)
    for length in (0.9, 0.0):
        assert power_mean(gaps, shares, p, length) == 0.0
        assert of_tables(gaps, p, length) == 0.0


@pytest.mark.parametrize("p", [*POWERS, 0.01])
def test_one_gap_that_is_zero_makes_the_limit_zero(p: float) -> None:
    for gaps in ([0.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 2.0]):
        found = power_mean(np.array(gaps), np.full(4, 0.25), p)
        # The mean of zeros and a value v is v * share ** (1 / p), whose log is of order 1 / p.
        assert found == pytest.approx(naive(gaps, p), rel=4 * 2**-52 / p)
        assert of_tables(np.array(gaps), p, 1.0) == pytest.approx(found, rel=4 * 2**-52 / p)
        assert found == 0.0 or p > 1e-4


def test_the_formulas_agree_at_their_boundary() -> None:
    gaps = np.array(GAPS["spread"])
    shares = np.full(5, 0.2)
    for edge in (SMALL_POWER, 1e-100):
        below, above = (power_mean(gaps, shares, edge * f) for f in (1 - 1e-9, 1 + 1e-9))
        assert below == pytest.approx(above, rel=1e-11)
    assert power_mean(gaps, shares, 0.5) < power_mean(gaps, shares, 1.0)


@pytest.mark.parametrize("p", [1e-3, 1e-12, 1e-300, 5e-324])
def test_distances_tables_and_neighbors_with_tiny_powers(p: float) -> None:
    rng = np.random.default_rng(0)
    bags = [rng.normal(size=(30, 2)) + [i, 0] for i in range(6)]
    options = {"p": p, "levels": 8, "n_directions": 20, "random_state": 0}
    metric = isodepth.Metric(refine=0, **options)
    tables = isodepth.region_tables(bags, **options)
    matrix = isodepth.pairwise(tables)
    assert np.isfinite(matrix).all()
    for i in range(1, 6):
        gaps = metric.compare(bags[0], bags[i]).gaps
        assert gaps.min() <= matrix[0, i] <= gaps.mean()
        assert matrix[0, i] == pytest.approx(metric.distance(bags[0], bags[i]), rel=1e-12)
    assert tables.distances(tables[2]).tolist() == matrix[2].tolist()
