"""Slow and simple reference implementation of the permutation test: a loop over labelings."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from twins import naive, naive_means, naive_shares


def labelings(
    n_x: int, n_y: int, blocks: Sequence[int] | None, count: int, rng: np.random.Generator
) -> list[list[bool]]:
    """Return the given labels, True for the first sample, and `count` random permutations.

    The samples have `n_x` and `n_y` rows. `blocks` has the block number of each row. The blocks of
    the first sample have the smallest numbers. Permutations do not change the number of blocks of a
    sample.
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
    """Return DR with the projection depth and a mean of order q over the directions.

    `levels` is the number of levels.
    """
    x = naive.depth_regions("projection", X, U)
    y = naive.depth_regions("projection", Y, U)
    return naive_means.distance(x, y, U, q, 1.0, p, eps, levels)


def mean(values: Sequence[float]) -> float:
    """Return the arithmetic mean."""
    return math.fsum(values) / len(values)


def unit_ranks(values: Sequence[float]) -> list[float]:
    """Return for each value the fraction of smaller values plus half of that of equal values."""
    n = len(values)
    return [(sum(w < v for w in values) + 0.5 * sum(w == v for w in values)) / n for v in values]


def difference(values: Sequence[float], labels: Sequence[bool]) -> float:
    """Return the mean over the first sample minus the mean over the second sample."""
    x, y = parts(values, labels)
    return mean(x) - mean(y)


def wave(values: Sequence[float], labels: Sequence[bool], j: int) -> float:
    """Return the difference of the means of cos(pi j R) times sqrt(n m / (n + m)).

    R is the rank of a value, see `unit_ranks`. The samples have n and m values.
    """
    n, m = sum(labels), len(labels) - sum(labels)
    cosines = [math.cos(math.pi * j * r) for r in unit_ranks(values)]
    return math.sqrt(n * m / (n + m)) * difference(cosines, labels)


def correlation(a: Sequence[float], b: Sequence[float]) -> float:
    """Return Pearson's correlation, or 0 if `a` or `b` is constant."""
    ma, mb = mean(a), mean(b)
    va, vb = mean([(v - ma) ** 2 for v in a]), mean([(v - mb) ** 2 for v in b])
    if va * vb <= 1e-24:
        return 0.0
    return mean([(v - ma) * (w - mb) for v, w in zip(a, b, strict=True)]) / math.sqrt(va * vb)


def correlation_change(a: Sequence[float], b: Sequence[float], labels: Sequence[bool]) -> float:
    """Return the correlation of a and b in the first sample minus that in the second.

    Correlations are those of the pooled ranks of a and of b.
    """
    (ax, ay), (bx, by) = (parts(unit_ranks(values), labels) for values in (a, b))
    return correlation(ax, bx) - correlation(ay, by)


def largest_share_differences(
    values: Sequence[float], labels: Sequence[bool]
) -> tuple[float, float]:
    """Return the maximum absolute difference of shares over half-lines, and over intervals.

    A share is the fraction of the values of a sample in the half-line or interval.
    """
    x, y = parts(values, labels)
    ends = [-math.inf, *sorted(set(values))]

    def gap(low: float, high: float) -> float:
        return abs(
            sum(low < v <= high for v in x) / len(x) - sum(low < v <= high for v in y) / len(y)
        )

    half_lines = [gap(-math.inf, t) for t in ends]
    return max(half_lines), max(gap(s, t) for s in ends for t in ends if s <= t)


def outlyingness(values: Sequence[float]) -> list[float]:
    """Return the distance of each value from the median, divided by `naive_shares.spread`."""
    center, unit = naive_shares.median(values), naive_shares.spread(values)
    return [abs(value - center) / unit for value in values]


def clipped_rank_difference(
    values: Sequence[float],
    labels: Sequence[bool],
    start: float,
    stop: float,
    far: float = math.inf,
) -> float:
    """Return the absolute difference of the means of clipped ranks.

    Ranks are clipped to [start, stop] and scaled to [0, 1]. A value with an outlyingness above
    `far` has the clipped rank 1/2.
    """
    ranks = [min(stop, max(start, r)) for r in unit_ranks(values)]
    low, high = min(ranks), max(ranks)
    scores = [(r - low) / (high - low) if high > low else 0.0 for r in ranks]
    away = outlyingness(values)
    return abs(
        difference([0.5 if a > far else s for a, s in zip(away, scores, strict=True)], labels)
    )


Function = tuple[list[float], tuple[float, float], float]


def tolerance_functions(rows: naive.Points, U: naive.Points) -> dict[str, list[Function]]:
    """Return the functions of a row that each statistic uses, by the name of the statistic.

    A function is a tuple: its values at the rows, the two ranks at which it is clipped, and the
    outlyingness above which a value gets the middle rank. The columns of `rows` must be centered
    and divided by their spread. The first directions in U are the axes.
    """
    inner, outer = (0.25, 0.75), (0.5, 0.9)
    d = len(rows[0])
    columns = [[row[j] for row in rows] for j in range(d)]
    along = [[sum(a * b for a, b in zip(row, u, strict=True)) for row in rows] for u in U]
    distance = [math.sqrt(sum(min(6.0, abs(v)) ** 2 for v in row)) for row in rows]
    away = [outlyingness(values) for values in along]
    outlying = [max(own[i] for own in away) for i in range(len(rows))]
    found: dict[str, list[Function]] = {
        "spreads": [([abs(v) for v in column], outer, math.inf) for column in columns],
        "whole rows": [(distance, outer, math.inf), (outlying, outer, math.inf)],
    }
    if d > 1:
        found["directions"] = [(values, inner, 6.0) for values in along[d:]]
        found["whole rows"].append(([math.fsum(row) for row in rows], inner, math.inf))
        middle = naive_shares.median(distance)
        factors = [*columns, [v - middle for v in distance]]
        found["dependence"] = [
            ([v * w for v, w in zip(factors[i], factors[j], strict=True)], inner, math.inf)
            for j in range(d + 1)
            for i in range(j)
        ]
    return found


def whitened(rows: naive.Points) -> list[list[float]]:
    """Return rows with about unit covariance; rows far from the center are moved to the center."""
    n, d = len(rows), len(rows[0])
    points = np.array(rows) / 1.4826
    if n > 10 * d:
        clipped = [[min(2.5, max(-2.5, v)) for v in row] for row in points.tolist()]
        means = [mean([row[j] for row in clipped]) for j in range(d)]
        covariance = [
            [math.fsum((row[i] - means[i]) * (row[j] - means[j]) for row in clipped) / (n - 1)
             + 1e-3 * (i == j) for j in range(d)]
            for i in range(d)
        ]  # fmt: skip
        values, vectors = np.linalg.eigh(covariance)
        points = points @ sum(
            np.outer(v, v) / math.sqrt(value) for v, value in zip(vectors.T, values, strict=True)
        )
    lengths = [math.hypot(*row) for row in points.tolist()]
    positive = [length for length in lengths if length > 0]
    most = 3 * naive_shares.median(positive) if positive else 0.0
    return [
        [0.0] * d if length > most else row
        for row, length in zip(points.tolist(), lengths, strict=True)
    ]


def learned_difference(rows: naive.Points, labels: Sequence[bool]) -> float:
    """Return the maximum absolute difference of means of clipped projections on three directions.

    The first direction is the difference of the means of clipped rows. Each further direction is
    the difference of the means of clipped rows, where rows that the previous direction clips count
    as zero, plus 0.3 times the first direction.
    """

    def mean_difference(kept: Sequence[bool]) -> list[float]:
        return [
            difference([min(2.5, max(-2.5, row[j])) * keep
                        for row, keep in zip(rows, kept, strict=True)], labels)
            for j in range(len(rows[0]))
        ]  # fmt: skip

    start = direction = mean_difference([True] * len(rows))
    found = []
    for _ in range(3):
        length = math.hypot(*direction)
        unit = [v / length if length > 0 else 0.0 for v in direction]
        along = [sum(a * b for a, b in zip(row, unit, strict=True)) for row in rows]
        clipped = [min(0.7, max(-0.7, v)) for v in along]
        found.append(abs(difference(clipped, labels)) / 1.4)
        step = mean_difference([abs(v) < 0.7 for v in along])
        direction = [a + 0.3 * b for a, b in zip(step, start, strict=True)]
    return max(found)


def pvalue(statistic: float, null: Sequence[float]) -> float:
    """Return (1 + number of null values >= statistic) / (1 + number of null values).

    Null values that are smaller only by rounding are counted.
    """
    reached = sum(value >= statistic or math.isclose(value, statistic, rel_tol=1e-9)
                  for value in null)  # fmt: skip
    return (1 + reached) / (1 + len(null))
