"""Slow, obvious twins of directional quantile envelopes: plain loops, exact masses."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

from twins import naive, naive_means


def quantile(X: naive.Points, mass: Sequence[Fraction], u: naive.Point, tail: Fraction) -> float:
    """Return the largest projection on u with at least the mass `tail` at or above it."""
    values = [naive.dot(u, x) for x in X]
    return max(
        v
        for v, m in zip(values, mass, strict=True)
        if m > 0 and naive.mass_where(mass, [w >= v for w in values]) >= tail
    )


def gap(
    X: naive.Points,
    Y: naive.Points,
    masses: tuple[list[Fraction], list[Fraction]],
    U: naive.Points,
    beta: Fraction,
    q: float,
) -> float:
    """Return the mean of order q over u and -u of the differences of quantiles."""
    tail = (1 - beta) / 2
    apart = [
        abs(quantile(X, masses[0], u, tail) - quantile(Y, masses[1], u, tail))
        for u in naive.both_signs(U)
    ]
    return naive_means.mean(apart, q)


def steps(masses: Sequence[Fraction], top: Fraction) -> set[Fraction]:
    """Return every level at which some quantile of points with these masses may move."""
    sums = {Fraction(0)}
    for m in masses:
        sums |= {s + m for s in sums}
    return {1 - 2 * s for s in sums if 0 < 1 - 2 * s < top}


def distance(
    X: naive.Points,
    Y: naive.Points,
    U: naive.Points,
    q: float,
    unit: float,
    weights: tuple[naive.Weights, naive.Weights] = (None, None),
    p: float = 2,
    eps: float = 0.1,
    levels: str | int = "exact",
) -> float:
    """Return the L_p mean over levels of the gaps between envelopes."""
    masses = naive.masses(len(X), weights[0]), naive.masses(len(Y), weights[1])
    top = naive.top_level(eps)
    if isinstance(levels, int):
        betas = naive.grid(levels, eps)
        shares = [Fraction(1, levels)] * levels
    else:
        cuts = sorted({Fraction(0), top} | steps(masses[0], top) | steps(masses[1], top))
        betas = cuts[:-1]
        shares = [(b - a) / top for a, b in itertools.pairwise(cuts)]
    gaps = [gap(X, Y, masses, U, beta, q) / unit for beta in betas]
    return naive.power_mean(gaps, shares, p)
