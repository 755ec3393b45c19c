"""Slow reference implementations of units of columns and of dropped rows, in plain loops."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist

from twins import naive


def column_units(X: naive.Points, weights: naive.Weights = None) -> list[float]:
    """Return the robust standard deviation of each column, from clipped values."""
    mass = naive.masses(len(X), weights)
    result = []
    for j in range(len(X[0])):
        values = [float(row[j]) for row in X]
        center = naive.weighted_median(values, mass)
        off = sum((m for v, m in zip(values, mass, strict=True) if v != center), Fraction(0))
        order = min(Fraction(1, 5), Fraction(2, 5) * off)
        low, high = _quantile(values, mass, order), _quantile(values, mass, 1 - order)
        clipped = [min(max(v, low), high) for v in values]
        mean = sum(m * c for m, c in zip(mass, map(Fraction, clipped), strict=True))
        square = sum(m * (c - mean) ** 2 for m, c in zip(mass, map(Fraction, clipped), strict=True))
        result.append(math.sqrt(square) / CLIPPED_NORMAL if square else 1.0)
    return result


#: Standard deviation of a standard normal variable clipped at its quantiles 0.2 and 0.8.
CLIPPED_NORMAL = math.sqrt(
    0.6
    - 2 * NormalDist().inv_cdf(0.8) * NormalDist().pdf(NormalDist().inv_cdf(0.8))
    + 0.4 * NormalDist().inv_cdf(0.8) ** 2
)


def _quantile(values: list[float], mass: list[Fraction], order: Fraction) -> float:
    """Return a quantile of values with masses, as the mean of two values, which are usually equal.

    The first is the smallest value up to which the cumulative mass is at least `order`. The second
    is the smallest value up to which the cumulative mass is above `order`. If `order` is not
    between 0 and 1, return the first of `values`.
    """
    if not 0 < order < 1:
        return values[0]
    ranked = sorted(zip(values, mass, strict=True))
    lower = upper = None
    upto = Fraction(0)
    for value, own in ranked:
        upto += own
        lower = value if lower is None and upto >= order else lower
        upper = value if upper is None and upto > order else upper
    assert lower is not None
    assert upper is not None
    return 0.5 * lower + 0.5 * upper


def mad_spread(X: naive.Points, weights: naive.Weights = None) -> list[float]:
    """Return the MAD of each column. If it is 0, return the median of positive deviations, or 1."""
    mass = naive.masses(len(X), weights)
    result = []
    for j in range(len(X[0])):
        values = [float(row[j]) for row in X]
        center = naive.weighted_median(values, mass)
        deviations = [abs(v - center) for v in values]
        scale = naive.weighted_median(deviations, mass)
        if scale == 0:
            off = [(v, m) for v, m in zip(deviations, mass, strict=True) if v > 0 and m > 0]
            share = sum((m for _, m in off), Fraction(0))
            if off:
                scale = naive.weighted_median([v for v, _ in off], [m / share for _, m in off])
            else:
                scale = 1.0
        result.append(scale)
    return result


def scale_samples(samples: list[naive.Points], scale: list[float]) -> list[list[list[float]]]:
    """Return the samples with every column divided by its scale."""
    return [[[float(v) / s for v, s in zip(row, scale, strict=True)] for row in X] for X in samples]


def without_missing(X: naive.Points) -> tuple[list[int], list[int]]:
    """Return the indices of the rows without NaN, and the number of NaN in each column."""
    kept = [i for i, row in enumerate(X) if not any(math.isnan(v) for v in row)]
    counts = [sum(math.isnan(row[j]) for row in X) for j in range(len(X[0]))]
    return kept, counts
