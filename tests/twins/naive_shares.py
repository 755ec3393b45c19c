"""Maximum difference of shares of a batch and a reference up to cut points, in plain loops."""

from __future__ import annotations

import math
from collections.abc import Sequence

Rows = Sequence[Sequence[float]]


def median(values: Sequence[float]) -> float:
    """Return the middle value, or the mean of the two middle values."""
    ordered = sorted(values)
    n = len(ordered)
    return ordered[(n - 1) // 2] / 2 + ordered[n // 2] / 2


def spread(values: Sequence[float]) -> float:
    """Return the MAD.

    If the MAD is 0, return the median of the positive deviations, or 1 without such deviations.
    """
    center = median(values)
    away = [abs(value - center) for value in values]
    if median(away) > 0:
        return median(away)
    positive = [value for value in away if value > 0]
    return median(positive) if positive else 1.0


def functions(rows: Rows, directions: Rows, reference: Rows) -> list[list[float]]:
    """Return the values at `rows` of all functions that a monitor compares, one list per function.

    These are the projections on `directions`, the distance from the center with columns clipped at
    6 spreads, and the outlyingness. Medians and spreads are those of `reference`.
    """

    def along(points: Rows) -> list[list[float]]:
        return [
            [sum(a * b for a, b in zip(row, u, strict=True)) for row in points] for u in directions
        ]

    units = [(median(values), spread(values)) for values in along(reference)]
    values = along(rows)
    away = [[abs(v - m) / s for v in own] for own, (m, s) in zip(values, units, strict=True)]
    d, n = len(rows[0]), len(rows)
    radius = [math.sqrt(sum(min(away[j][i], 6.0) ** 2 for j in range(d))) for i in range(n)]
    return [*values, radius, [max(own[i] for own in away) for i in range(n)]]


def quantile(values: Sequence[float], level: float) -> float:
    """Return the quantile of order `level`, by linear interpolation.

    It is between two neighboring order statistics.
    """
    ordered = sorted(values)
    at = level * (len(ordered) - 1)
    low = min(int(at), len(ordered) - 1)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (at - low) * (ordered[high] - ordered[low])


def distance(batch: Rows, reference: Rows, directions: Rows, levels: int) -> float:
    """Return the maximum difference of shares between a batch and a reference.

    For each function of `functions`, shares are fractions of the rows up to cut points. These are
    just below and just above `levels` equally spaced quantiles of the reference.
    """
    largest = 0.0
    for x, y in zip(
        functions(batch, directions, reference),
        functions(reference, directions, reference),
        strict=True,
    ):
        cuts = [quantile(y, level / (levels + 1)) for level in range(1, levels + 1)]
        width = max(cuts) - min(cuts)
        for cut in cuts:
            for side in (-1e-9, 1e-9):
                end = cut + side * (abs(cut) + width)
                shares = [sum(v <= end for v in values) / len(values) for values in (x, y)]
                largest = max(largest, abs(shares[0] - shares[1]))
    return largest
