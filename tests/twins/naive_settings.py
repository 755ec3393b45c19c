"""Slow, obvious twins of scales and of what is done about missing values: plain loops."""

from __future__ import annotations

import math
from fractions import Fraction

from twins import naive


def spread(X: naive.Points, weights: naive.Weights = None) -> list[float]:
    """Return the robust spread of each column: MAD, then positive deviations, then 1."""
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
    """Return the rows without a NaN, and how many NaN each column has."""
    kept = [i for i, row in enumerate(X) if not any(math.isnan(v) for v in row)]
    counts = [sum(math.isnan(row[j]) for row in X) for j in range(len(X[0]))]
    return kept, counts
