"""Slow, obvious twins of the permutation test: one relabeling after the other, plain loops."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from twins import naive, naive_means, naive_settings


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


def parts(rows: naive.Points, labels: Sequence[bool]) -> tuple[list, list]:
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


def axis_gap(
    X: naive.Points, Y: naive.Points, U: naive.Points, j: int, q: float, p: float, eps: float,
    levels: int,
) -> float:  # fmt: skip
    """Return the same along direction j and its opposite alone; depths are those along all."""
    x = naive.depth_regions("projection", X, U)
    y = naive.depth_regions("projection", Y, U)
    return naive_means.distance(x, y, [U[j]], q, 1.0, p, eps, levels)


def quantile_interval(
    values: Sequence[float], foreign: int, level: Fraction
) -> tuple[float, float]:
    """Return the least and the largest the quantile of the other values may be."""
    ordered = sorted(values)
    rank = math.ceil((len(ordered) - foreign) * level)
    return ordered[rank - 1], ordered[rank - 1 + foreign]


def envelope_gap(
    X: Sequence[float], Y: Sequence[float], foreign: tuple[int, int], n_levels: int, p: float
) -> float:
    """Return the mean over levels of the gaps that so many foreign values cannot explain."""
    gaps = []
    for i in range(1, n_levels + 1):
        level = Fraction(i, n_levels + 1)
        x_low, x_high = quantile_interval(X, foreign[0], level)
        y_low, y_high = quantile_interval(Y, foreign[1], level)
        gaps.append(max(0.0, x_low - y_high, y_low - x_high))
    return naive_means.mean(gaps, p)


def standard(values: Sequence[float]) -> list[float]:
    """Return the values around their median in units of their spread."""
    spread = naive_settings.spread([[v] for v in values])[0]
    center = naive.weighted_median(values, naive.masses(len(values)))
    return [(v - center) / spread for v in values]


def functions_of_rows(rows: naive.Points, U: naive.Points) -> list[list[float]]:
    """Return what each function gives for all rows: projections, and the outlyingness, cut at 3."""
    along = [standard([naive.dot(u, row) for row in rows]) for u in U]
    outlying = [max(abs(v) for v in column) for column in zip(*along, strict=True)]
    return [[min(3.0, max(-3.0, v)) for v in values] for values in [*along, standard(outlying)]]


def envelope_statistics(
    rows: naive.Points,
    U: naive.Points,
    labels: Sequence[bool],
    foreign: tuple[int, int],
    n_levels: int,
    q: float,
    p: float,
) -> float:
    """Return the mean over functions of a row of the gaps between quantiles."""
    gaps = []
    for values in functions_of_rows(rows, U):
        x, y = parts(values, labels)
        gaps.append(envelope_gap(x, y, foreign, n_levels, p))
    return naive_means.mean(gaps, q)


def pvalue(statistic: float, null: Sequence[float]) -> float:
    """Return (1 + how many are at least as large, up to rounding) / (1 + how many there are)."""
    reached = sum(value >= statistic or math.isclose(value, statistic, rel_tol=1e-12)
                  for value in null)  # fmt: skip
    return (1 + reached) / (1 + len(null))
