"""A sample in canonical form: distinct rows in lexicographic order, each with its exact mass.

Everything downstream works on this form. So the order of the rows does not matter, repeated rows
are the same as weights, and equal points have equal depths, however a matrix product rounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from isodepth import _core
from isodepth.data.validation import check_weights
from isodepth.engine.resources import Resources

# Twice the total must fit in a signed 64-bit integer (mid-ranks add two cumulative masses).
TOTAL_BITS = 61
# Weights of at most so many binary digits are taken as exact.
_EXACT_DIGITS = 14
_SINGLE_THREAD = Resources(n_jobs=1)


@dataclass(frozen=True, eq=False)
class Sample:
    """Distinct points and their masses.

    Attributes
    ----------
    points : ndarray of shape (u, d)
        Distinct rows in lexicographic order.
    masses : int64 ndarray of shape (u,), or None
        The mass of each row in units of 1/total; None when all are one unit.
    total : int
    inverse : intp ndarray of shape (n,)
        For each row the caller gave, its index in `points`; -1 for rows of weight zero.
    """

    points: np.ndarray
    masses: np.ndarray | None
    total: int
    inverse: np.ndarray

    @classmethod
    def of(
        cls,
        points: np.ndarray,
        weights: Any = None,
        name: str = "weights",
        resources: Resources = _SINGLE_THREAD,
    ) -> Sample:
        """Canonical form of checked points (n, d) with optional weights (n,)."""
        checked = check_weights(weights, len(points), name)
        if checked is None:
            return cls._merge(points, None, resources)
        present = checked > 0
        if present.all():
            return cls._merge(points, exact_masses(checked), resources)
        merged = cls._merge(points[present], exact_masses(checked[present]), resources)
        inverse = np.full(len(points), -1, dtype=np.intp)
        inverse[present] = merged.inverse
        return cls(merged.points, merged.masses, merged.total, inverse)

    def with_queries(self, queries: np.ndarray) -> Sample:
        """The same sample with further points of mass zero; `inverse` is that of the queries.

        A query that equals a sample point becomes that point, so it gets the same depth.
        """
        masses = np.zeros(len(self.points) + len(queries), dtype=np.int64)
        masses[: len(self.points)] = 1 if self.masses is None else self.masses
        joint = self._merge(np.concatenate([self.points, queries]), masses)
        return Sample(joint.points, joint.masses, joint.total, joint.inverse[len(self.points) :])

    @classmethod
    def _merge(
        cls, points: np.ndarray, masses: np.ndarray | None, resources: Resources = _SINGLE_THREAD
    ) -> Sample:
        rows, inverse, merged = _core.distinct_rows(
            np.ascontiguousarray(points), masses, resources.n_threads
        )
        total = len(rows) if merged is None else int(merged.sum())
        return cls(rows, merged, total, inverse)

    @property
    def n_points(self) -> int:
        """How many distinct points there are."""
        return len(self.points)

    @property
    def n_features(self) -> int:
        """The dimension of the space."""
        return self.points.shape[1]

    @property
    def is_simplex(self) -> bool:
        """Whether these are u <= d + 1 points in general position."""
        u, d = self.points.shape
        if u > d + 1:
            return False
        if u == 1:
            return True
        edges = self.points[1:].astype(np.float64) - self.points[0]
        # Scaling each edge to about one keeps a single far point from hiding the others.
        edges /= np.abs(edges).max(axis=1, keepdims=True)
        singular = np.linalg.svd(edges, compute_uv=False)
        return bool(singular[-1] > singular[0] * d * np.finfo(self.points.dtype).eps)

    @property
    def unit_masses(self) -> np.ndarray:
        """The masses as an int64 array of shape (u,), also when all are equal."""
        if self.masses is None:
            return np.ones(self.n_points, dtype=np.int64)
        return self.masses

    @property
    def shares(self) -> np.ndarray:
        """The masses as float64 shares of the total, of shape (u,)."""
        return self.unit_masses / self.total


@np.errstate(over="ignore")
def exact_masses(weights: np.ndarray, counts: np.ndarray | None = None) -> np.ndarray:
    """Positive weights as integers in proportion, so that their sums are exact in any order.

    Ties between regions and depths are decided by sums of weights; floating-point sums of one set
    in two orders differ, integer sums do not. So weights that are small integers up to a common
    factor and rounding (``w / w.sum()``, ``0.1 * w``) are those integers, without a common divisor.
    Other floats are dyadic rationals: a common power of two makes them integers without any
    rounding, unless they span more than about 2**8 in size with full mantissas; then they are
    rounded at 2**-61 of the total.

    With `counts` each weight is that of so many rows.
    """
    every = weights if counts is None else weights * counts
    integral = bool((weights == np.rint(weights)).all()) and every.sum() < 2.0**53
    # Larger integers may themselves be rounded.
    small = None if integral and weights.max() < 2.0**50 else _small_integers(weights, counts)
    if small is not None:
        return small
    if integral:
        integers = weights.astype(np.int64)
        return integers // np.gcd.reduce(integers)
    # In [0.5, 1) for the largest weight, so that nothing below can overflow.
    scaled = np.ldexp(weights, -np.frexp(weights.max())[1])
    total = (scaled if counts is None else scaled * counts).sum()
    bits = TOTAL_BITS - int(np.frexp(total)[1])
    mantissas, exponents = np.frexp(scaled)
    # Weights that vanish beside the largest are not exact, and take all the bits there are.
    needed = bits
    if mantissas.all():
        needed = int((53 - trailing_zeros(mantissas) - exponents).max())
    integers = np.rint(np.ldexp(scaled, min(needed, bits))).astype(np.int64)
    return np.maximum(integers, 1)


def trailing_zeros(mantissas: np.ndarray) -> np.ndarray:
    """How many of the 53 bits of each mantissa, in [0.5, 1), are zeros at its end."""
    whole = (mantissas * 2.0**53).astype(np.int64)
    return np.log2((whole & -whole).astype(np.float64)).astype(np.int64)


def _small_integers(weights: np.ndarray, counts: np.ndarray | None) -> np.ndarray | None:
    """Small integers without a common divisor to which positive weights are proportional, or None.

    What counts as rounding and as small goes together: two ratios of integers up to m differ by a
    share of m**-2 at least, which must be more than what rounding can do.
    """
    # Weights of few digits are not rounded, unless they were scaled to add up to one: they are
    # taken as exact.
    mantissas, exponents = np.frexp(weights)
    last_places = exponents - 53 + trailing_zeros(mantissas)
    if exponents.max() - last_places.min() <= _EXACT_DIGITS:
        integers = np.ldexp(weights, -last_places.min()).astype(np.int64)
        total = int((integers if counts is None else integers * counts).sum())
        if total & (total - 1):
            return integers // np.gcd.reduce(integers)
    # Weights of single precision carry its rounding along when they become doubles, and then may
    # be close to larger integers by chance.
    with np.errstate(over="ignore", under="ignore"):
        single = bool((weights.astype(np.float32) == weights).all())
    for rounding, most in ((4 * 2.0**-23, 1000), (8 * 2.0**-52, 2**20))[0 if single else 1 :]:
        found = _integers_within(weights, rounding, most)
        if found is not None:
            return found
    return None


def _integers_within(weights: np.ndarray, rounding: float, most: int) -> np.ndarray | None:
    """Integers up to `most` in proportion to the weights, up to a share `rounding` of each."""
    if weights.max() > 2 * most * weights.min():
        return None
    ratios = weights / weights.min()
    unit = 1  # the integer that stands for the smallest weight
    while True:
        integers = np.rint(unit * ratios)
        away = np.abs(unit * ratios - integers) > rounding * integers
        if not away.any():
            return integers.astype(np.int64) if integers.max() <= most else None
        # Random numbers fail at the first ratios; each step at least doubles the unit.
        first = unit * ratios[np.flatnonzero(away)[:16]]
        denominators = _denominators(first, rounding, most // unit)
        if denominators is None:
            return None
        unit *= int(np.lcm.reduce(denominators))
        if unit > most:
            return None


def _denominators(ratios: np.ndarray, rounding: float, most: int) -> np.ndarray | None:
    """The denominators, up to `most`, of the simplest fractions within rounding of the ratios.

    By continued fractions, all at once; None where one of them has no such fraction.
    """
    whole = np.floor(ratios)
    before, now = np.ones(len(ratios)), whole
    below, denominators = np.zeros(len(ratios)), np.ones(len(ratios))
    rest = ratios - whole
    while True:
        open_ = np.abs(denominators * ratios - now) > rounding * now
        if not open_.any():
            return denominators.astype(np.int64)
        if denominators[open_].max() > most or not rest[open_].all():
            return None
        inverse = 1.0 / np.where(open_, rest, 1.0)
        whole = np.where(open_, np.floor(inverse), 0.0)
        rest = np.where(open_, inverse - whole, rest)
        before, now = np.where(open_, (now, whole * now + before), (before, now))
        below, denominators = np.where(
            open_, (denominators, whole * denominators + below), (below, denominators)
        )
