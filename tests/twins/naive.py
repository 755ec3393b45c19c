"""Slow and simple reference implementations of the fast functions, in plain loops.

The tests compare the fast functions with this module. Masses are :class:`fractions.Fraction`, or
integers proportional to the masses, so levels and ties are exact. Every maximum is a loop over
points. ``U`` is a list of unit vectors, and both ``u`` and ``-u`` are used for each vector.

A sample is a list of points (rows) with one mass each. Masses are not negative and have the sum
one. A row of mass zero does not belong to the sample: it may have a depth, but it is in no region.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Decimal, localcontext
from fractions import Fraction
from functools import cached_property

Point = Sequence[float]
Points = Sequence[Point]
Weights = Sequence[float] | None
Number = Fraction | float
Mass = Fraction | int

#: Projection depths are quotients of floats, so values that are equal by symmetry may differ by
#: rounding: closer than this they count as equal. The other depths are exact sums of masses.
PROJECTION_TIE = 1e-12


# ---------------------------------------------------------------------------------------------
# points, masses, quantiles
# ---------------------------------------------------------------------------------------------


def dot(u: Point, x: Point) -> float:
    """Return <u, x>, with equal bits for equal points."""
    return math.fsum(float(a) * float(b) for a, b in zip(u, x, strict=True))


def both_signs(U: Points) -> list[list[float]]:
    """Return every direction and its opposite."""
    return [[sign * float(c) for c in u] for u in U for sign in (1.0, -1.0)]


def transform(X: Points, W: Points) -> list[list[float]]:
    """Return the list of W x for the points x in X, where W is a list of rows of a matrix."""
    return [[dot(row, x) for row in W] for x in X]


def masses(n: int, weights: Weights = None) -> list[Fraction]:
    """Return the masses of n points: weights as fractions of the total weight."""
    if weights is None:
        return [Fraction(1, n)] * n
    exact = [Fraction(float(w)) for w in weights]
    total = sum(exact)
    return [w / total for w in exact]


def counts(n: int, weights: Weights = None) -> list[int]:
    """Return integers proportional to the masses of n points."""
    mass = masses(n, weights)
    common = math.lcm(*(m.denominator for m in mass))
    return [int(m * common) for m in mass]


def mass_where(mass: Sequence[Mass], chosen: Sequence[bool]) -> Mass:
    """Return the total mass of the chosen points."""
    return sum(m for m, yes in zip(mass, chosen, strict=True) if yes)


def weighted_median(values: Sequence[float], mass: Sequence[Mass]) -> float:
    """Return the mean of the lower and the upper weighted median.

    A value of mass m counts like m copies of the value.
    """
    present = sorted((v, m) for v, m in zip(values, mass, strict=True) if m > 0)
    lower = upper = None
    reached, total = 0, sum(mass)
    for value, m in present:
        reached += m
        if lower is None and 2 * reached >= total:
            lower = value
        if upper is None and 2 * reached > total:
            upper = value
    assert lower is not None
    assert upper is not None
    return lower + (upper - lower) / 2


# ---------------------------------------------------------------------------------------------
# depths of the points Z with respect to the sample X (Z = X when not given)
# ---------------------------------------------------------------------------------------------


def halfspace_depth(
    X: Points, U: Points, weights: Weights = None, Z: Points | None = None
) -> list[Fraction]:
    """Return the minimum mass of a closed halfspace with the point on its boundary, per point.

    The minimum is over the directions U and their opposites. The points are Z, or X if Z is None.
    """
    mass = counts(len(X), weights)
    targets = X if Z is None else Z
    smallest = [sum(mass)] * len(targets)
    for u in both_signs(U):
        values = [dot(u, x) for x in X]
        for i, z in enumerate(targets):
            at = dot(u, z)
            smallest[i] = min(smallest[i], mass_where(mass, [v <= at for v in values]))
    return [Fraction(each, sum(mass)) for each in smallest]


def projection_depth(
    X: Points, U: Points, weights: Weights = None, Z: Points | None = None
) -> list[float]:
    """Return 1 / (1 + maximum outlyingness |<u,z> - med| / MAD over directions u) of each point z.

    If the MAD is 0, it is replaced with the median of the positive deviations. If there are no
    positive deviations, the outlyingness is infinite for points off the median. The points are Z,
    or X if Z is None.
    """
    mass = counts(len(X), weights)
    targets = X if Z is None else Z
    worst = [0.0] * len(targets)
    for u in U:  # -u gives the same outlyingness
        values = [dot(u, x) for x in X]
        center = weighted_median(values, mass)
        deviations = [abs(v - center) for v in values]
        scale = weighted_median(deviations, mass)
        if scale == 0:
            positive = [(v, m) for v, m in zip(deviations, mass, strict=True) if v > 0 and m > 0]
            if positive:
                scale = weighted_median(*zip(*positive, strict=True))
        for i, z in enumerate(targets):
            off = abs(dot(u, z) - center)
            if off == 0:
                outlyingness = 0.0
            elif scale == 0:
                outlyingness = math.inf
            else:
                outlyingness = off / scale
            worst[i] = max(worst[i], outlyingness)
    return [1 / (1 + w) for w in worst]


def irw_depth(
    X: Points, U: Points, weights: Weights = None, Z: Points | None = None
) -> list[Fraction]:
    """Return the mean over directions of min(F, 1-F), with F the mid-rank (P(<) + P(<=)) / 2.

    The points are Z, or X if Z is None.
    """
    mass = counts(len(X), weights)
    targets = X if Z is None else Z
    signed = both_signs(U)
    whole, total = sum(mass), [0] * len(targets)
    for u in signed:
        values = [dot(u, x) for x in X]
        for i, z in enumerate(targets):
            at = dot(u, z)
            below = mass_where(mass, [v < at for v in values])
            up_to = mass_where(mass, [v <= at for v in values])
            twice = below + up_to
            total[i] += min(twice, 2 * whole - twice)
    return [Fraction(t, 2 * whole * len(signed)) for t in total]


def ai_irw_depth(
    X: Points, W: Points, U: Points, weights: Weights = None, Z: Points | None = None
) -> list[Fraction]:
    """Return the AI-IRW depth: the IRW depth of the whitened points W x.

    The whitening matrix W has r rows, and the vectors in U have length r. The points are Z, or X if
    Z is None.
    """
    return irw_depth(transform(X, W), U, weights, None if Z is None else transform(Z, W))


DEPTHS: dict[str, Callable[..., list]] = {
    "halfspace": halfspace_depth,
    "projection": projection_depth,
    "irw": irw_depth,
}
TIES: dict[str, float] = {"halfspace": 0.0, "projection": PROJECTION_TIE, "irw": 0.0, "ai_irw": 0.0}


def merge_ties(depths: Sequence[Number], mass: Sequence[Fraction], tie: float) -> list[Number]:
    """Return the depths with each group of ties replaced by the maximum of the group.

    In decreasing order, a depth more than ``tie`` below the maximum of the group starts a new
    group. Rows of mass zero belong to no group, and their depths are unchanged.
    """
    merged = list(depths)
    head: Number | None = None
    for i in sorted(range(len(depths)), key=lambda i: depths[i], reverse=True):
        if mass[i] == 0:
            continue
        if head is None or head - depths[i] > tie:
            head = depths[i]
        merged[i] = head
    return merged


# ---------------------------------------------------------------------------------------------
# nested regions
# ---------------------------------------------------------------------------------------------


def farthest(points: Points, u: Point) -> float:
    """Return the maximum <x, u> over the points: the support function of their convex hull."""
    return max(dot(u, x) for x in points)


@dataclass
class NaiveRegions:
    """Sample with the depths of its points, in which ties are merged already."""

    points: list[list[float]]
    mass: list[Fraction]
    depth: list[Number]

    @cached_property
    def reached(self) -> dict[Number, Mass]:
        """Mass of the points of depth at least g, for each distinct depth g in decreasing order."""
        present = {g for g, m in zip(self.depth, self.mass, strict=True) if m > 0}
        return {
            g: mass_where(self.mass, [value >= g for value in self.depth])
            for g in sorted(present, reverse=True)
        }

    def alpha(self, beta: Number) -> Number:
        """Return the maximum depth g of a point with mass(D >= g) > beta."""
        for g, mass in self.reached.items():
            if mass > Fraction(beta):
                return g
        raise ValueError(f"no region has mass above beta={beta}")

    def inside(self, beta: Number) -> set[int]:
        """Return the rows of the region of level beta, the sample points with D >= alpha(beta)."""
        least = self.alpha(beta)
        return {i for i, m in enumerate(self.mass) if m > 0 and self.depth[i] >= least}

    def support(self, u: Point, beta: Number) -> float:
        """Return h(u), the maximum <x, u> over the points of the region of level beta."""
        return farthest([self.points[i] for i in self.inside(beta)], u)

    def breakpoints(self) -> list[Fraction]:
        """Return the levels at which the region grows, and 1, in increasing order."""
        return sorted(self.reached.values())


def regions(
    X: Points, depths: Sequence[Number], weights: Weights = None, tie: float = 0.0
) -> NaiveRegions:
    """Return the regions of the sample X whose points have the given depths.

    Depths at most `tie` below the maximum of their group are tied, see `merge_ties`.
    """
    mass = masses(len(X), weights)
    rows = [[float(c) for c in x] for x in X]
    return NaiveRegions(rows, mass, merge_ties(depths, mass, tie))


def depth_regions(depth: str, X: Points, U: Points, weights: Weights = None) -> NaiveRegions:
    """Return the regions of X under a depth named in :data:`DEPTHS`."""
    return regions(X, DEPTHS[depth](X, U, weights), weights, TIES[depth])


# ---------------------------------------------------------------------------------------------
# gap and distance
# ---------------------------------------------------------------------------------------------


def gap(x: NaiveRegions, y: NaiveRegions, U: Points, beta: Number) -> float:
    """Return the maximum at level beta of |h_X(u) - h_Y(u)| over u and -u, for u in U."""
    inside_x = [x.points[i] for i in x.inside(beta)]
    inside_y = [y.points[i] for i in y.inside(beta)]
    return max(abs(farthest(inside_x, u) - farthest(inside_y, u)) for u in both_signs(U))


def top_level(eps: float) -> Fraction:
    """Return 1 - eps for eps as a decimal number: exactly 7/10 for eps = 0.3."""
    return 1 - Fraction(repr(float(eps)))


def pieces(x: NaiveRegions, y: NaiveRegions, eps: float) -> list[tuple[Fraction, Fraction]]:
    """Return the intervals [start, stop) of [0, 1-eps) on which both regions are constant."""
    top = top_level(eps)
    inner = {b for b in x.breakpoints() + y.breakpoints() if 0 < b < top}
    cuts = [Fraction(0), *sorted(inner), top]
    return [(a, b) for a, b in itertools.pairwise(cuts) if a < b]


def power_mean(gaps: Sequence[float], shares: Sequence[Number], p: float) -> float:
    """Return (sum of share * gap^p)^(1/p), or the maximum gap for p = inf, without overflow."""
    largest = max(gaps)
    if p == math.inf or largest == 0:
        return largest
    if p < 0.01:
        return power_mean_of_many_digits(gaps, shares, p)
    total = math.fsum(float(s) * (g / largest) ** p for g, s in zip(gaps, shares, strict=True))
    return largest * total ** (1 / p)


def power_mean_of_many_digits(
    gaps: Sequence[float], shares: Sequence[Number], p: float, length: Number = 1
) -> float:
    """Return (length * sum of share * gap^p)^(1/p), computed in decimals with enough digits."""
    with localcontext() as context:
        context.prec, context.Emin, context.Emax = 800, MIN_EMIN, MAX_EMAX
        parts = [
            Decimal(Fraction(s).numerator) / Fraction(s).denominator * Decimal(g) ** Decimal(p)
            for g, s in zip(gaps, shares, strict=True)
            if g > 0
        ]
        whole = Decimal(Fraction(length).numerator) / Fraction(length).denominator
        if not whole:
            return 0.0
        log = (whole * sum(parts)).ln() / Decimal(p)
        # Far below the smallest float.
        return float(log.exp()) if log > -2000 else 0.0


def grid(n_levels: int, eps: float) -> list[Fraction]:
    """Return the midpoints of n_levels equal pieces of [0, 1-eps]."""
    return [Fraction(2 * i + 1, 2 * n_levels) * top_level(eps) for i in range(n_levels)]


def distance(
    x: NaiveRegions,
    y: NaiveRegions,
    U: Points,
    p: float = 2,
    eps: float = 0.1,
    levels: str | int | Sequence[Number] = "exact",
    normalize: bool = True,
) -> float:
    """Return DR_{p,eps}: the L_p mean of the gap over [0, 1-eps].

    ``levels`` is "exact" for a sum over all intervals, a number of midpoints, or a list of levels.
    With ``normalize=False`` the integral is not divided by 1-eps, the length of the interval.
    """
    top = top_level(eps)
    if top == 0:
        return gap(x, y, U, 0)
    if isinstance(levels, str):
        assert levels == "exact"
        parts = pieces(x, y, eps)
        gaps = [gap(x, y, U, start) for start, _ in parts]
        shares = [(stop - start) / top for start, stop in parts]
    else:
        betas = grid(levels, eps) if isinstance(levels, int) else list(levels)
        gaps = [gap(x, y, U, beta) for beta in betas]
        shares = [Fraction(1, len(gaps))] * len(gaps)
    mean = power_mean(gaps, shares, p)
    if normalize or p == math.inf:
        return mean
    return mean * float(top) ** (1 / p)


def walked_gaps(
    X: Points, Y: Points, U: Points, stops_x: Sequence[int], stops_y: Sequence[int]
) -> list[tuple[float, int]]:
    """Return the maximum gap of each level, and the code of the maximizing direction.

    Level l compares the first ``stops_x[l]`` rows of X with the first ``stops_y[l]`` of Y. The code
    k stands for U[k], and -1 - k for its opposite. If gaps are equal, the first direction is used,
    and u before -u.
    """
    result = [(-1.0, 0)] * len(stops_x)
    for k, u in enumerate(U):
        for sign, name in ((1.0, k), (-1.0, -1 - k)):
            v = [sign * float(c) for c in u]
            along_x, along_y = ([dot(v, row) for row in rows] for rows in (X, Y))
            for level, (i, j) in enumerate(zip(stops_x, stops_y, strict=True)):
                size = abs(max(along_x[:i]) - max(along_y[:j]))
                if size > result[level][0]:
                    result[level] = (size, name)
    return result
