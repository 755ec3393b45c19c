"""Quantiles along functions of a row, and what foreign rows cannot explain: plain loops."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

Rows = Sequence[Sequence[float]]


def median(values: Sequence[float]) -> float:
    """The middle value, or the mean of the two in the middle."""
    ordered = sorted(values)
    n = len(ordered)
    return ordered[(n - 1) // 2] / 2 + ordered[n // 2] / 2


def spread(values: Sequence[float]) -> float:
    """The median absolute deviation; where it is 0, that of the positive ones; else 1."""
    center = median(values)
    away = [abs(value - center) for value in values]
    if median(away) > 0:
        return median(away)
    positive = [value for value in away if value > 0]
    return median(positive) if positive else 1.0


def quantile(values: Sequence[float], level: Fraction) -> float:
    """The smallest value with at least that share of all values up to it."""
    for value in sorted(values):
        if Fraction(sum(other <= value for other in values), len(values)) >= level:
            return value
    raise AssertionError("the largest value has all of them up to it")


def functions(rows: Rows, directions: Rows, reference: Rows) -> list[list[float]]:
    """Values of each function, in units of its spread in the reference."""

    def along(points: Rows) -> list[list[float]]:
        return [
            [sum(a * b for a, b in zip(row, u, strict=True)) for row in points] for u in directions
        ]

    def outlying(columns: list[list[float]]) -> list[float]:
        places = [(median(c), spread(c)) for c in along(reference)]
        return [
            max(abs(c[i] - m) / s for c, (m, s) in zip(columns, places, strict=True))
            for i in range(len(columns[0]))
        ]

    columns, usual = along(rows), along(reference)
    columns.append(outlying(columns))
    usual.append(outlying(usual))
    return [[v / spread(own) for v in c] for c, own in zip(columns, usual, strict=True)]


def distance(
    batch: Rows, reference: Rows, directions: Rows, tolerance: float, levels: int
) -> float:
    """The largest over functions of the root mean square of gaps over levels.

    With a tolerance, of the gaps between the intervals in which the quantiles of the clean rows of
    both lie; without, of those between the quantiles.
    """
    largest = 0.0
    ours = functions(batch, directions, reference)
    theirs = functions(reference, directions, reference)
    for x, y in zip(ours, theirs, strict=True):
        total = 0.0
        for level in range(1, levels + 1):
            share = Fraction(level, levels + 1)
            x_low, x_high = _interval(x, share, tolerance)
            y_low, y_high = _interval(y, share, tolerance)
            total += max(0.0, x_low - y_high, y_low - x_high) ** 2
        largest = max(largest, math.sqrt(total / levels))
    return largest


def _interval(values: Sequence[float], level: Fraction, tolerance: float) -> tuple[float, float]:
    ordered = sorted(values)
    foreign = math.floor(Fraction(tolerance).limit_denominator(10_000) * len(ordered))
    rank = math.ceil(level * (len(ordered) - foreign))
    return ordered[rank - 1], ordered[rank - 1 + foreign]
