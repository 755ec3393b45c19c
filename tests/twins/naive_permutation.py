"""Slow, obvious twins of the permutation test: one labeling after the other, plain loops."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from twins import naive, naive_means


def labelings(
    n_x: int, n_y: int, blocks: Sequence[int] | None, count: int, rng: np.random.Generator
) -> list[list[bool]]:
    """Return the given labels, True for the first sample, and `count` drawn ones.

    Blocks are numbered, those of the first sample first; as many as before become X.
    """
    numbers = list(range(n_x + n_y)) if blocks is None else list(blocks)
    units = max(numbers) + 1
    units_of_x = max(numbers[:n_x]) + 1
    result = [[i < n_x for i in range(n_x + n_y)]]
    for _ in range(count):
        chosen = set(rng.permutation(units)[:units_of_x].tolist())
        result.append([number in chosen for number in numbers])
    return result


def parts(rows: Sequence, labels: Sequence[bool]) -> tuple[list, list]:
    """Return the rows of the first and of the second sample."""
    first = [row for row, mine in zip(rows, labels, strict=True) if mine]
    return first, [row for row, mine in zip(rows, labels, strict=True) if not mine]


def region_statistic(
    X: naive.Points, Y: naive.Points, U: naive.Points, q: float, p: float, eps: float, levels: int
) -> float:
    """Return DR with the projection depth and a plain mean over the directions."""
    x = naive.depth_regions("projection", X, U)
    y = naive.depth_regions("projection", Y, U)
    return naive_means.distance(x, y, U, q, 1.0, p, eps, levels)


def mean(values: Sequence[float]) -> float:
    """Return the arithmetic mean."""
    return math.fsum(values) / len(values)


def unit_ranks(values: Sequence[float]) -> list[float]:
    """Return for each value the share of smaller ones and half of those that are equal."""
    n = len(values)
    return [(sum(w < v for w in values) + 0.5 * sum(w == v for w in values)) / n for v in values]


def difference(values: Sequence[float], labels: Sequence[bool]) -> float:
    """Return the mean over the first sample less that over the second."""
    x, y = parts(values, labels)
    return mean(x) - mean(y)


def wave(values: Sequence[float], labels: Sequence[bool], j: int) -> float:
    """Return the difference of the means of cos(pi j R) times sqrt(n m / (n + m))."""
    n, m = sum(labels), len(labels) - sum(labels)
    cosines = [math.cos(math.pi * j * r) for r in unit_ranks(values)]
    return math.sqrt(n * m / (n + m)) * difference(cosines, labels)


def correlation(a: Sequence[float], b: Sequence[float]) -> float:
    """Return Pearson's correlation; 0 where one is constant."""
    ma, mb = mean(a), mean(b)
    va, vb = mean([(v - ma) ** 2 for v in a]), mean([(v - mb) ** 2 for v in b])
    if va * vb <= 1e-24:
        return 0.0
    return mean([(v - ma) * (w - mb) for v, w in zip(a, b, strict=True)]) / math.sqrt(va * vb)


def correlation_change(a: Sequence[float], b: Sequence[float], labels: Sequence[bool]) -> float:
    """Return the correlation of the pooled ranks in the first sample less that in the second."""
    (ax, ay), (bx, by) = (parts(unit_ranks(values), labels) for values in (a, b))
    return correlation(ax, bx) - correlation(ay, by)


def largest_share_differences(
    values: Sequence[float], labels: Sequence[bool]
) -> tuple[float, float]:
    """Return the largest difference of shares over half-lines, and over intervals."""
    x, y = parts(values, labels)
    ends = [-math.inf, *sorted(set(values))]

    def gap(low: float, high: float) -> float:
        return abs(
            sum(low < v <= high for v in x) / len(x) - sum(low < v <= high for v in y) / len(y)
        )

    half_lines = [gap(-math.inf, t) for t in ends]
    return max(half_lines), max(gap(s, t) for s in ends for t in ends if s <= t)


def clipped_rank_difference(
    values: Sequence[float], labels: Sequence[bool], start: float, stop: float
) -> float:
    """Return |G| of ranks clipped to an interval and stretched to [0, 1]."""
    ranks = [min(stop, max(start, r)) for r in unit_ranks(values)]
    low, high = min(ranks), max(ranks)
    if high == low:
        return 0.0
    return abs(difference([(r - low) / (high - low) for r in ranks], labels))


def p_value(statistic: float, null: Sequence[float]) -> float:
    """Return (1 + how many are at least as large, up to rounding) / (1 + how many there are)."""
    reached = sum(value >= statistic or math.isclose(value, statistic, rel_tol=1e-9)
                  for value in null)  # fmt: skip
    return (1 + reached) / (1 + len(null))
