"""Fisher's exact test: exact fractions, deep tails, and the maximum over contaminated counts."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import hypergeom

from isodepth.significance.fisher import log_pvalues

#: Relative error of a p-value, which is the absolute error of its logarithm.
ERROR = 1e-10


def exact_log(a: int, n: int, b: int, m: int) -> float:
    """Logarithm of twice the smaller tail, from binomial coefficients."""
    ones, total = a + b, n + m
    low, high = max(0, ones - n), min(m, ones)

    weight = math.comb(ones, low) * math.comb(total - ones, m - low)
    lower = upper = 0
    for x in range(low, high + 1):
        lower += weight * (x <= b)
        upper += weight * (x >= b)
        weight = weight * (ones - x) * (m - x) // ((x + 1) * (total - ones - m + x + 1))
    tails = lower, upper
    value = min(Fraction(1), Fraction(2 * min(tails), math.comb(total, m)))
    # Logarithms of integers of any size.
    return _log(value.numerator) - _log(value.denominator)


def _log(number: int) -> float:
    shift = max(0, number.bit_length() - 1000)
    return math.log(number >> shift) + shift * math.log(2)


def one(a: int, n: int, b: int, m: int, **options: Any) -> float:
    return float(log_pvalues(np.array([a]), n, np.array([b]), m, **options)[0])


@settings(deadline=None, max_examples=100)
@given(st.integers(1, 300), st.integers(1, 200), st.data())
def test_fractions(n: int, m: int, data: st.DataObject) -> None:
    a, b = data.draw(st.integers(0, n)), data.draw(st.integers(0, m))
    expected = exact_log(a, n, b, m)
    assert one(a, n, b, m) == pytest.approx(expected, abs=ERROR)
    # P-values are fractions and never equal to these caps.
    for cap in (0.5**5.5, 0.5**20.5, 0.5**33.5):
        capped = expected if expected < math.log(cap) else 0.0
        assert one(a, n, b, m, cap=cap) == pytest.approx(capped, abs=ERROR)


@pytest.mark.parametrize(
    ("a", "n", "b", "m"),
    [(1000, 2000, 1190, 1200), (5, 4000, 350, 900), (3900, 4000, 430, 900), (0, 3000, 170, 400)],
)
def test_tails_down_to_1e_300(a: int, n: int, b: int, m: int) -> None:
    expected = exact_log(a, n, b, m)
    assert -700 < expected < -100 * math.log(10)
    assert one(a, n, b, m) == pytest.approx(expected, abs=ERROR)
    assert one(a, n, b, m, cap=1e-3) == pytest.approx(expected, abs=ERROR)


def test_many_at_once_with_large_counts() -> None:
    rng = np.random.default_rng(1)
    n, m = 700_000, 20_000
    share = rng.uniform(0.001, 0.999, 200)
    a, b = rng.binomial(n, share), rng.binomial(m, np.clip(share + rng.normal(0, 0.01, 200), 0, 1))
    found = log_pvalues(a, n, b, m)
    rv = hypergeom(n + m, a + b, m)
    tails = np.minimum(rv.logsf(b - 1), rv.logcdf(b)) + math.log(2)
    # SciPy adds nine logarithms of up to 9e6, each with a relative rounding error of 2e-16.
    assert found == pytest.approx(np.minimum(tails, 0.0), abs=2e-8)
    # With 10,000 tables, fewer terms of each tail are computed at once.
    tiled = log_pvalues(np.tile(a, 50), n, np.tile(b, 50), m)
    assert tiled == pytest.approx(np.tile(found, 50), abs=ERROR)


@pytest.mark.parametrize(("n", "m"), [(29, 5), (60, 9), (7, 12)])
def test_a_tolerance_takes_the_maximum_over_all_counts(n: int, m: int) -> None:
    """A maximum at a count next to the expected one is above 3/4, and replaced by 1."""
    a, b = np.divmod(np.arange((n + 1) * (m + 1)), m + 1)
    for dirty in range(m // 2 + 1):
        logs = [[exact_log(i, n, x, m - dirty) for x in range(m - dirty + 1)] for i in range(n + 1)]
        both = zip(a.tolist(), b.tolist(), strict=True)
        expected = np.array([max(logs[i][max(0, j - dirty) : j + 1]) for i, j in both])
        found, small = log_pvalues(a, n, b, m, dirty), expected < math.log(0.75)
        assert found[small] == pytest.approx(expected[small], abs=ERROR)
        assert (found[~small] >= expected[~small] - ERROR).all()
