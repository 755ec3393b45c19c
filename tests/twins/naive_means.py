"""Slow and simple reference implementations of gaps that are means over directions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from twins import naive


def moment(d: int, q: float, steps: int = 100_000) -> float:
    """Return E |u_1|^q for u uniform on the sphere of R^d, by the rectangle rule over the angle."""
    if d == 1:
        return 1.0
    # u_1 = cos(t) with a density proportional to sin(t)^(d-2) on [0, pi].
    angles = math.pi * (np.arange(steps) + 0.5) / steps
    density = np.sin(angles) ** (d - 2)
    powers = np.abs(np.cos(angles)) ** q
    return float((powers * density).sum() / density.sum())


def mean(values: Sequence[float], q: float) -> float:
    """Return (mean of value^q)^(1/q), or the maximum for q = inf, without overflow."""
    return naive.power_mean(values, [Fraction(1, len(values))] * len(values), q)


def gap(
    x: naive.NaiveRegions, y: naive.NaiveRegions, U: naive.Points, beta: naive.Number, q: float
) -> float:
    """Return the mean of order q of |h_X(u) - h_Y(u)| at level beta, over u and -u, not scaled."""
    inside_x = [x.points[i] for i in x.inside(beta)]
    inside_y = [y.points[i] for i in y.inside(beta)]
    apart = [
        abs(naive.farthest(inside_x, u) - naive.farthest(inside_y, u)) for u in naive.both_signs(U)
    ]
    return mean(apart, q)


def distance(
    x: naive.NaiveRegions,
    y: naive.NaiveRegions,
    U: naive.Points,
    q: float,
    unit: float,
    p: float = 2,
    eps: float = 0.1,
    levels: str | int = "exact",
) -> float:
    """Return the L_p mean over levels of the L_q gaps, each divided by `unit`."""
    top = naive.top_level(eps)
    if isinstance(levels, int):
        betas = naive.grid(levels, eps)
        shares = [Fraction(1, levels)] * levels
    else:
        parts = naive.pieces(x, y, eps)
        betas = [start for start, _ in parts]
        shares = [(stop - start) / top for start, stop in parts]
    return naive.power_mean([gap(x, y, U, beta, q) / unit for beta in betas], shares, p)
