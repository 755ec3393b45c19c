"""Slow reference implementations for region tables: loops over levels, directions and pairs.

Regions are computed by ``naive``. A table is a list of levels. A level is a list of support values:
h(u) for all directions, followed by h(-u).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from twins import naive

Table = list[list[float]]


def table(
    depth: str, X: naive.Points, U: naive.Points, betas: Sequence[float], weights: naive.Weights
) -> Table:
    """Return the support values of the regions of X at each level in `betas`."""
    regions = naive.depth_regions(depth, X, U, weights)
    both = [list(map(float, u)) for u in U] + [[-float(c) for c in u] for u in U]
    return [[regions.support(u, Fraction(float(beta))) for u in both] for beta in betas]


def distance(a: Table, b: Table, p: float, length: float = 1.0) -> float:
    """Return the L_p mean over levels of the maximum difference of support values at each level.

    `a` and `b` are the tables, and `length` is the factor of the mean.
    """
    gaps = [
        max(abs(x - y) for x, y in zip(row, other, strict=True))
        for row, other in zip(a, b, strict=True)
    ]
    mean = naive.power_mean(gaps, [Fraction(1, len(gaps))] * len(gaps), p)
    return mean if p == float("inf") else mean * length ** (1 / p)


def nearest(distances: Sequence[float], k: int) -> list[int]:
    """Return the indices of the k smallest distances; the first indices if distances are equal."""
    return sorted(range(len(distances)), key=lambda i: (distances[i], i))[:k]
