"""Slow reference implementation of Algorithm 1 of the paper with fixed percentiles of depths.

It is written from the paper, with loops over points, directions and levels. Directions are drawn
one at a time. The depths are those of the appendix of the paper, with the mean of min(F, 1 - F) for
the IRW depth. NumPy computes percentiles and means: rounding may decide whether a point with the
depth of a percentile is in the region.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

Points = Sequence[Sequence[float]]


def direction(stream: np.random.RandomState, d: int) -> list[float]:
    gaussian = [float(stream.standard_normal()) for _ in range(d)]
    length = math.sqrt(sum(x * x for x in gaussian))
    return [x / length for x in gaussian]


def dot(u: Sequence[float], v: Sequence[float]) -> float:
    return math.fsum(a * b for a, b in zip(u, v, strict=True))


def median(values: Sequence[float]) -> float:
    ordered, half = sorted(values), len(values) // 2
    return ordered[half] if len(values) % 2 else (ordered[half - 1] + ordered[half]) / 2


def depths(points: Points, name: str, directions: list[list[float]]) -> list[float]:
    """Return the depth of each point in the sample, as a minimum or mean over directions."""
    n = len(points)
    per_direction = []
    for u in directions:
        line = [dot(u, x) for x in points]
        if name == "projection":
            middle = median(line)
            mad = median([abs(t - middle) for t in line])
            per_direction.append([1 / (1 + abs(t - middle) / mad) for t in line])
            continue
        below = [sum(s <= t for s in line) for t in line]
        shares = [k / n for k in below]
        per_direction.append([min(f, 1 - f) if name == "irw" else f for f in shares])
    combine = np.mean if name == "irw" else min
    return [float(combine(column)) for column in zip(*per_direction, strict=True)]


def signed_gaps(
    X: Points,
    Y: Points,
    name: str,
    n_alpha: int,
    eps_min: float,
    eps_max: float,
    n_dirs: int,
    seed: int,
) -> list[list[float]]:
    """Return h_X(u) - h_Y(u) for the regions of each level and each direction u."""
    d = len(X[0])
    stream = np.random.RandomState(seed)
    ordering = [direction(stream, d) for _ in range(n_dirs)]
    depths_x = depths(X, name, ordering)
    if name != "irw":
        ordering = [direction(stream, d) for _ in range(n_dirs)]
    depths_y = depths(Y, name, ordering)
    directions = [direction(stream, d) for _ in range(n_dirs)]
    result = []
    for percent in np.linspace(100 * eps_min, 100 * eps_max, n_alpha):
        regions = [
            [x for x, depth in zip(points, values, strict=True) if depth >= cut]
            for points, values in ((X, depths_x), (Y, depths_y))
            for cut in [np.percentile(values, percent)]
        ]
        result.append([max(dot(u, x) for x in regions[0]) - max(dot(u, y) for y in regions[1])
                       for u in directions])  # fmt: skip
    return result


def distance(gaps: list[list[float]], p: float) -> float:
    """Return the mean of order p over levels of the maximum absolute gap."""
    return (sum(max(map(abs, row)) ** p for row in gaps) / len(gaps)) ** (1 / p)


def printed_distance(gaps: list[list[float]], p: int) -> float:
    """Return the mean of powers of signed gaps, for an integer p; nan if their sum is negative."""
    mean = sum(max(gap**p for gap in row) for row in gaps) / len(gaps)
    return mean ** (1 / p) if mean >= 0 else math.nan
