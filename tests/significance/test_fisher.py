"""Fisher's exact test agrees with exact fractions, also for small p-values and a tolerance."""

from __future__ import annotations

import functools
import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import hypergeom

from isodepth.functions.fisher import (
    _log_pmf,
    _log_pmf_bound,
    least_changed,
    log_adjusted_pvalues,
    log_pvalues,
)

#: Relative error of a p-value, which is the absolute error of its logarithm.
ERROR = 1e-10


def exact_log(a: int, n: int, b: int, m: int) -> float:
    """Return the log p-value of a 2 x 2 table, computed with exact fractions.

    `a` of n rows of the first sample and `b` of m rows of the second have a property. The p-value
    is twice the smaller tail probability, but at most 1.
    """
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
    """With contaminated rows, the p-value is the maximum over all possible counts of clean rows.

    Values below 3/4 are exact; larger ones may be replaced by an upper bound up to 1.
    """
    a, b = np.divmod(np.arange((n + 1) * (m + 1)), m + 1)
    for dirty in range(m // 2 + 1):
        logs = [[exact_log(i, n, x, m - dirty) for x in range(m - dirty + 1)] for i in range(n + 1)]
        both = zip(a.tolist(), b.tolist(), strict=True)
        expected = np.array([max(logs[i][max(0, j - dirty) : j + 1]) for i, j in both])
        found, small = log_pvalues(a, n, b, m, dirty), expected < math.log(0.75)
        assert found[small] == pytest.approx(expected[small], abs=ERROR)
        assert (found[~small] >= expected[~small] - ERROR).all()


def test_the_median_of_a_count_is_its_mean_rounded_up_or_down() -> None:
    """The median of a hypergeometric count is its mean, rounded up or down.

    All distributions with at most 30 rows in both samples together are checked.
    """
    for n, m in itertools.product(range(1, 30), repeat=2):
        if n + m > 30:
            continue
        for ones in range(n + m + 1):
            weights = [math.comb(m, x) * math.comb(n, ones - x) for x in range(min(m, ones) + 1)]
            low, high = ones * m // (n + m), -(-ones * m // (n + m))
            assert 2 * sum(weights[: high + 1]) >= sum(weights)
            assert 2 * sum(weights[low:]) >= sum(weights)


def least_over_margins(ones: range, n: int, m: int) -> float:
    """Return the minimum log p-value over all 2 x 2 tables of samples of n and m rows.

    The number of rows of both samples with the property is one of `ones`.
    """
    return min(exact_log(s - x, n, x, m) for s in ones for x in range(max(0, s - n), min(m, s) + 1))


@pytest.mark.parametrize(("n", "m"), [(11, 5), (5, 11), (8, 8)])
def test_adjusted_pvalues_count_the_tables_that_can_be_as_small(n: int, m: int) -> None:
    rng = np.random.default_rng(n)
    for dirty in (0, 1, 3):
        a, b = rng.integers(0, n + 1, 20), rng.integers(0, m + 1, 20)
        a[:8] = rng.integers(0, 2, 8)
        clean, logs = m - dirty, log_pvalues(a, n, b, m, dirty)
        margins = [
            range(i + max(0, j - dirty), i + min(j, clean) + 1)
            for i, j in zip(a.tolist(), b.tolist(), strict=True)
        ]
        lowest = [least_over_margins(ones, n, clean) for ones in margins]
        factors = [sum(low <= log + 1e-9 for low in lowest) for log in logs.tolist()]
        found = log_adjusted_pvalues(a, n, b, m, dirty)
        assert found == pytest.approx(np.minimum(logs + np.log(factors), 0), abs=1e-7)


@pytest.mark.parametrize("seed", range(3))
def test_levels_over_all_splits_with_the_worst_row(seed: int) -> None:
    """P-values and bounds hold over all ways to divide 9 rows into a reference and a window.

    The reference has 5 rows and the window 4. For each way, the worst contaminated row is added to
    the window, or replaces one of its rows. It has the values of 3 functions that minimize the
    p-value, or maximize the bound.
    """
    rng = np.random.default_rng(seed)
    n, m, share = 5, 4, rng.uniform(0.1, 0.9, 3)
    rows = (rng.random((n + m, 3)) < share).astype(np.int64)
    smallest, bounds, clean = [], [], []
    vectors = np.array(list(itertools.product((0, 1), repeat=3)))
    # Many splits and changes have the same counts.
    smallest_log = functools.cache(
        lambda a, b, *sizes: log_adjusted_pvalues(np.array(a), n, np.array(b), *sizes).min()
    )
    bound = functools.cache(
        lambda a, b, level: least_changed(np.array(a), n, np.array(b), m, level)
    )
    for chosen in itertools.combinations(range(n + m), m):
        b = rows[list(chosen)].sum(axis=0)
        a = rows.sum(axis=0) - b
        reference = tuple(a)
        clean.append(smallest_log(reference, tuple(b), m))
        smallest.append(min(smallest_log(reference, tuple(b + v), m + 1, 1) for v in vectors))
        changed = {tuple(b - rows[i] + v) for i in chosen for v in vectors}
        bounds.append([max(bound(reference, c, level) for c in changed) for level in (0.3, 0.8)])
    for logs in (np.array(clean), np.array(smallest)):
        for value in np.unique(logs[logs < 0]):
            assert np.mean(logs <= value + 1e-9) <= math.exp(value) + 1e-9
    # The bound is above the number of changed rows with a probability of at most the level.
    assert (np.mean(np.array(bounds) > 1, axis=0) <= [0.3, 0.8]).all()
    assert np.max(bounds) > 0


@pytest.mark.parametrize(("n", "m"), [(29, 5), (20, 12), (7, 12)])
def test_the_bound_is_the_first_number_of_changed_rows_without_a_rejection(n: int, m: int) -> None:
    a, b = np.divmod(np.arange((n + 1) * (m + 1)), m + 1)
    level = 0.05
    for i, j in zip(a.tolist(), b.tolist(), strict=True):
        maxima = [
            max(exact_log(i, n, x, m) for x in range(max(0, j - d), min(m, j + d) + 1))
            for d in range(m + 1)
        ]
        assert maxima == sorted(maxima)
        first = next(d for d in range(m + 1) if maxima[d] >= math.log(level))
        assert least_changed(np.array([i]), n, np.array([j]), m, level) == first


def test_the_lower_bound_of_a_probability() -> None:
    """The function `_log_pmf_bound` is a lower bound of `_log_pmf`.

    The tables are random, have about equal shares, or have empty cells.
    """
    rng = np.random.default_rng(0)
    for n, m in itertools.product([1, 2, 7, 40, 10**6], [1, 3, 20, 10**5]):
        a, b = rng.integers(0, n + 1, 500), rng.integers(0, m + 1, 500)
        share = rng.random(250)
        a[:250], b[:250] = rng.binomial(n, share), rng.binomial(m, share)
        a[-4:], b[-4:] = [0, 0, n, n], [0, m, 0, m]
        bound = _log_pmf_bound(a, n, b, m)
        assert (bound <= _log_pmf(a, n, b, m)).all()
