"""Samples in memory, their nested regions by depth, and gaps between the regions of two samples.

A :class:`Sample` is the backend of a distance for rows in memory: it computes the primitives of
:class:`isodepth.geometry.backend.Backend` with the compiled core. It has the distinct rows in
lexicographic order, each with an integer mass. Results therefore do not depend on the order of the
rows, w equal rows have the same effect as one row of weight w, and equal rows have equal depths in
spite of rounding.

The region of level beta is the smallest set of the deepest points with more than a fraction beta of
the total mass. The gap of a level is by default the Hausdorff distance between the convex hulls of
the regions of two samples: the supremum over directions of the absolute difference of their support
functions. `find_gaps` takes the maximum over sampled directions and refines it towards the
supremum. Local ascent starts from the best sampled directions of a few levels. The directions that
it finds are then evaluated at all levels. Each step of the ascent costs one projection of a sample,
so the ascent is cheaper than evaluating the sampled directions. For small samples, the vertices of
the regions are searched one by one, as for the exact distance. This search follows the ascent or,
for very small samples, replaces it. The number of its operations is limited.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np

from isodepth import _core
from isodepth.base.compiled import ALONE, Resources
from isodepth.geometry.backend import Backend, Queries
from isodepth.geometry.directions import mean_of_direction
from isodepth.geometry.hull import common_frame, exact_gaps
from isodepth.geometry.transforms import Whitening
from isodepth.geometry.weights import exact_masses
from isodepth.table.validation import check_weights

#: Relative difference up to which a level counts as equal to 1 - eps, the upper end of all levels.
#: eps is the fraction of the mass that the distance trims.
SLIVER = 1e-14
#: A power mean with an exponent p below this value has a relative error above 1e-13 if it is
#: computed as a sum of powers.
SMALL_POWER = 1e-3


# Maximum number of projections of a block of directions in Python.
_HELD_NUMBERS = 1 << 19
# Minimum and maximum number of ascents.
_FEWEST_ASCENTS, _MOST_ASCENTS = 10, 40
# A search for a gap ends if the relative difference from an upper bound is at most this value.
# `_SLACK` is for the ascent and the search of vertices that follows it. `_FULL` is for a search of
# all vertices that replaces the ascent.
_SLACK = 1e-3
_FULL = 1e-10
# Maximum cost of the search of vertices per refinement step, relative to the cost of a distance
# without refinement. Twenty steps then take somewhat less time than this distance.
_WORK_PER_STEP = 0.01
# Lower limit for the maximum cost of the search of vertices, as a number of point coordinates. They
# are read in a few milliseconds.
_LEAST_WORK = 3e6
# The search of all vertices replaces the ascent if its cost is at most this fraction of the maximum
# cost. It follows the ascent if its cost is at most `_AFFORDABLE` times the maximum cost.
_CHEAP, _AFFORDABLE = 0.25, 2.0


@dataclass(frozen=True, eq=False)
class Sample(Backend):
    """Distinct points of a sample in memory, with integer masses proportional to their weights.

    A sample of n rows with d columns has u distinct points. Rows of weight zero are not among them.

    Attributes
    ----------
    points : ndarray of shape (u, d)
        Distinct rows in lexicographic order.
    masses : int64 ndarray of shape (u,), or None
        Mass of each distinct point, proportional to the total weight of the rows that equal the
        point. None if all masses are equal; each is then 1.
    total : int
        Sum of the masses.
    inverse : intp ndarray of shape (n,)
        Index in `points` of each input row; -1 for rows of weight zero.
    rows : ndarray of shape (n, d)
        All rows of the sample, including those of weight zero.
    weights : ndarray of shape (n,) or None
        Weights of the rows; None if they are equal.
    resources : Resources
        Number of threads and working memory of the primitives.
    """

    points: np.ndarray
    masses: np.ndarray | None
    total: int
    inverse: np.ndarray
    rows: np.ndarray
    weights: np.ndarray | None = None
    resources: Resources = ALONE

    @classmethod
    def of(
        cls,
        points: np.ndarray,
        weights: Any = None,
        name: str = "weights",
        resources: Resources = ALONE,
    ) -> Sample:
        """Create the sample of validated rows `points` (n, d) with weights (n,).

        If `weights` is None, each row has weight 1. `name` is the name of the weights in messages.
        """
        checked = check_weights(weights, len(points), name)
        if checked is None:
            return cls._merge(points, None, resources)
        present = checked > 0
        if present.all():
            merged = cls._merge(points, exact_masses(checked), resources)
            return replace(merged, weights=checked)
        merged = cls._merge(points[present], exact_masses(checked[present]), resources)
        inverse = np.full(len(points), -1, dtype=np.intp)
        inverse[present] = merged.inverse
        return replace(merged, inverse=inverse, rows=points, weights=checked)

    def with_queries(self, queries: np.ndarray) -> Sample:
        """Return the sample with `queries` (m, d) as additional points of mass zero.

        A query that equals a sample point is merged with it, so that both have the same depth. The
        attribute `inverse` of the result is the index of each query in `points`, of shape (m,). The
        rows of the sample have no entry.
        """
        masses = np.zeros(len(self.points) + len(queries), dtype=np.int64)
        masses[: len(self.points)] = 1 if self.masses is None else self.masses
        joint = self._merge(np.concatenate([self.points, queries]), masses)
        return replace(joint, inverse=joint.inverse[len(self.points) :], resources=self.resources)

    def find(self, queries: np.ndarray) -> np.ndarray:
        """Return for each of `queries` (m, d) the index of the equal sample point, as ints (m,).

        The index is -1 if no sample point equals the query.
        """
        joint = self.with_queries(queries)
        index = np.full(joint.n_points, -1)
        index[joint.unit_masses > 0] = np.arange(self.n_points)
        return index[joint.inverse]

    @classmethod
    def _merge(
        cls, points: np.ndarray, masses: np.ndarray | None, resources: Resources = ALONE
    ) -> Sample:
        rows, inverse, merged = _core.distinct_rows(
            np.ascontiguousarray(points), masses, resources.n_threads
        )
        total = len(rows) if merged is None else int(merged.sum())
        return cls(rows, merged, total, inverse, points, resources=resources)

    @property
    def n_points(self) -> int:
        """Number of distinct points."""
        return len(self.points)

    @property
    def n_features(self) -> int:
        """Number of columns of the points."""
        return self.points.shape[1]

    @cached_property
    def is_simplex(self) -> bool:
        """Whether the points are the vertices of a simplex: affinely independent, up to rounding.

        A single point is a simplex.
        """
        u, d = self.points.shape
        if u == 1 or u > d + 1:
            return u == 1
        edges = self.points[1:].astype(np.float64) - self.points[0]
        # Edges are differences from the first point. Scale each edge to length about 1, so that a
        # distant point does not make the other edges negligible.
        edges /= np.abs(edges).max(axis=1, keepdims=True)
        singular = np.linalg.svd(edges, compute_uv=False)
        return bool(singular[-1] > singular[0] * d * np.finfo(self.points.dtype).eps)

    @property
    def unit_masses(self) -> np.ndarray:
        """Masses as an int64 array of shape (u,); all ones if `masses` is None."""
        if self.masses is None:
            return np.ones(self.n_points, dtype=np.int64)
        return self.masses

    @property
    def shares(self) -> np.ndarray:
        """Masses as float64 fractions of the total, of shape (u,)."""
        return self.unit_masses / self.total

    # -- primitives, see `Backend` ------------------------------------------------------------

    def outlyingness(self, directions: np.ndarray, queries: Queries = None) -> np.ndarray:
        largest = self._along(_core.largest_outlyingness, directions, queries)
        return largest.astype(np.float64, copy=False)

    def smallest_masses(self, directions: np.ndarray, queries: Queries = None) -> np.ndarray:
        return self._along(_core.smallest_halfspace, directions, queries)

    def rank_weights(
        self, directions: np.ndarray, queries: Queries = None, white: Whitening | None = None
    ) -> np.ndarray:
        if white is None:
            return self._along(_core.mean_rank_weight, directions, queries)
        # Whitened rows have the same ranks along a direction as the rows themselves along a
        # transformed direction. Only the directions are therefore transformed.
        moved = replace(self, points=white.scale(self.points))
        queries = None if queries is None else white.scale(queries)
        return moved._along(_core.mean_rank_weight, white.directions(directions), queries)

    def whitening(self, covariance: Any) -> Whitening:
        return Whitening.of(self, covariance)

    def _along(
        self, kernel: Callable[..., np.ndarray], directions: np.ndarray, queries: Queries
    ) -> np.ndarray:
        """Call a function of the compiled core that projects the sample on directions (K, d).

        `queries` (m, d) are the points for which the function returns a number, or None for the
        distinct points of the sample.
        """
        points = np.ascontiguousarray(self.points)
        directions = np.ascontiguousarray(directions, dtype=points.dtype)
        if queries is not None:
            queries = np.ascontiguousarray(queries, dtype=points.dtype)
        return kernel(points, directions, self.masses, queries, *self.resources)

    def descending(self, depths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        order = _core.order(-depths, self.resources.n_threads)
        return order, depths[order]

    def cumulated_masses(self, order: np.ndarray) -> np.ndarray | None:
        return None if self.masses is None else np.cumsum(self.masses[order])

    def ordered(self, order: np.ndarray) -> np.ndarray:
        return _core.take_rows(self.points, order, self.resources.n_threads)

    def level_gaps(
        self, x: Any, y: Any, plan: LevelPlan, directions: np.ndarray, q: float,
        resources: Resources,
    ) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
        return level_gaps(x, y, plan.prefix_sizes, directions, resources, q)

    def support_rows(
        self, points: np.ndarray, prefix_sizes: np.ndarray, directions: np.ndarray
    ) -> SupportRows:
        return support_rows(points.astype(np.float64, copy=False), prefix_sizes, directions)

    xp: ClassVar[Any] = np

    @property
    def is_double(self) -> bool:
        return self.points.dtype == np.float64

    def index_of_rows(self) -> np.ndarray:
        return self.inverse

    def from_host(self, array: np.ndarray) -> np.ndarray:
        return array

    def to_host(self, array: np.ndarray) -> np.ndarray:
        return array

    def block_size(self, n_numbers: int) -> int:
        return max(1, _HELD_NUMBERS // n_numbers)

    def scattered(self, values: np.ndarray, rows: np.ndarray, n: int) -> np.ndarray:
        sums = np.zeros((n, values.shape[1]))
        np.add.at(sums, (rows, np.arange(values.shape[1])), values)
        return sums


class Nested(NamedTuple):
    """Nested regions of one sample: its distinct points, sorted by depth.

    `counts`, `masses` and `distinct_depths` have one entry for each of the g distinct depths, in
    decreasing order of depth.

    Attributes
    ----------
    sample : Backend
    order : array of shape (u,)
        Indices of the distinct points of the sample, from the deepest on.
    counts : int64 ndarray of shape (g,)
        Number of points of at least this depth.
    masses : ndarray of shape (g,)
        Fraction of the total mass of these points.
    distinct_depths : ndarray of shape (g,)
    points : array of shape (u, d)
        Distinct points, deepest first: a region consists of the first rows.
    """

    sample: Any
    order: Any
    counts: np.ndarray
    masses: np.ndarray
    distinct_depths: np.ndarray
    points: Any

    @classmethod
    def of(cls, sample: Backend, depths: Any, tie_tolerance: float) -> Nested:
        """Sort the distinct points of a sample by their depths (u,).

        Depths that are at most `tie_tolerance` below the largest depth of their group count as
        equal, see `tie_ends`.
        """
        order, falling = sample.descending(depths)
        ends = tie_ends(falling, tie_tolerance)
        distinct_depths = falling if len(ends) == len(falling) else falling[ends - 1]
        upto = sample.cumulated_masses(order)
        masses = (ends if upto is None else upto[ends - 1]) / sample.total
        return cls(sample, order, ends, masses, distinct_depths, sample.ordered(order))

    def prefix_sizes(self, betas: np.ndarray) -> np.ndarray:
        """Return the number of distinct points (L,) in the region of each level `betas` (L,).

        The region consists of this number of the first points. The levels are not checked.
        """
        return self.counts[self.masses.searchsorted(betas, side="right")]


def tie_ends(falling: np.ndarray, tolerance: float) -> np.ndarray:
    """Divide decreasing depths (u,) into groups of ties, and return the end index of each group.

    A group has all depths that are at most `tolerance` below its first depth. The end index of a
    group is the index of the first depth of the next group, or u for the last group.
    """
    return _core.tie_ends(np.ascontiguousarray(falling, dtype=np.float64), tolerance)


class LevelPlan(NamedTuple):
    """Levels at which the regions of two samples x and y are compared.

    The region of a level is the smallest set of deepest points with more than this fraction of the
    mass.

    Attributes
    ----------
    levels : ndarray of shape (L, 2) or (L,)
        Intervals [start, stop) of levels on which the regions of both samples are constant, of
        shape (L, 2), or single levels, of shape (L,).
    shares : ndarray of shape (L,)
        Weights of the intervals, proportional to their lengths, or equal weights of single levels.
        Their sum is 1.
    prefix_sizes_x, prefix_sizes_y : int64 ndarrays of shape (L,)
        Number of distinct points of x and of y in the region of each level.
    """

    levels: np.ndarray
    shares: np.ndarray
    prefix_sizes_x: np.ndarray
    prefix_sizes_y: np.ndarray

    @property
    def prefix_sizes(self) -> tuple[np.ndarray, np.ndarray]:
        """The pair of `prefix_sizes_x` and `prefix_sizes_y`."""
        return self.prefix_sizes_x, self.prefix_sizes_y


def exact_plan(x: Nested, y: Nested, eps: float) -> LevelPlan:
    """Divide the levels into the longest intervals on which the regions of x and y are constant.

    The intervals cover [0, 1 - eps).
    """
    end = 1.0 - eps
    # A region may change at the level 1 - eps, which rounding can make slightly smaller. A level
    # from `last` on counts as the end, which avoids an additional interval of length about 1e-16.
    last = end * (1.0 - SLIVER)
    return LevelPlan(*_core.merge_levels(x.masses, x.counts, y.masses, y.counts, end, last))


def level_plan(x: Nested, y: Nested, betas: np.ndarray) -> LevelPlan:
    """Return the plan that compares two samples at the levels `betas` (L,) with equal weights.

    The levels are sorted, and not checked.
    """
    betas = np.sort(betas)
    shares = np.full(len(betas), 1.0 / len(betas))
    return LevelPlan(betas, shares, x.prefix_sizes(betas), y.prefix_sizes(betas))


def power_mean(gaps: np.ndarray, shares: np.ndarray, p: float, length: float = 1.0) -> float:
    """Compute (length * sum(shares * gaps**p)) ** (1 / p), or the maximum gap for p = inf.

    `gaps` (L,) are distances between regions at each level, and `shares` (L,) are the weights of
    the levels, with sum 1. `length` is 1 for a mean over levels, or the length of the range of
    levels for an integral. Gaps are divided by their maximum first, so that powers do not overflow.
    As p tends to 0, the result tends to the weighted geometric mean of the gaps, or to 0 if a gap
    is 0 or length < 1.

    Examples
    --------
    >>> import numpy as np
    >>> power_mean(np.array([3.0, 4.0]), np.array([0.5, 0.5]), p=1)
    3.5
    """
    values, weights = (np.ascontiguousarray(a, dtype=np.float64) for a in (gaps, shares))
    return _core.power_mean(values, weights, p, length)


class Gaps(NamedTuple):
    """Gaps between the regions of two samples, at all levels.

    Attributes
    ----------
    plan : LevelPlan with L levels
    values : ndarray of shape (L,)
        Gap of each level: the distance between both regions, see `find_gaps`.
    vectors : ndarray of shape (J, d)
        J unit vectors along which support functions were compared.
    codes : int64 ndarray of shape (L,)
        Vector with the largest difference of support functions at each level: k for vector k, and
        -1 - k for its opposite.
    exact : bool
        Whether the values are suprema over all directions.
    """

    plan: LevelPlan
    values: np.ndarray
    vectors: np.ndarray
    codes: np.ndarray
    exact: bool = False

    def directions(self, levels: Any = slice(None)) -> np.ndarray:
        """Return for each level the unit vector with the largest difference of support functions.

        `levels` selects levels by a slice or by indices; by default all levels. Vectors are rows.
        """
        return signed_directions(self.vectors, self.codes[levels])


def find_gaps(
    x: Nested,
    y: Nested,
    plan: LevelPlan,
    directions: np.ndarray,
    way: str,
    q: float,
    refine: int,
    resources: Resources,
) -> Gaps:
    """Compute the gap between the regions of two samples at each level.

    For q = inf the gap is the supremum over directions u of |h_x(u) - h_y(u)|, where h is the
    support function of a region. ``way="search"`` returns a lower bound, see `refine_gaps`. For a
    finite q the gap is the mean of order q over the given directions, divided by the mean of order
    q over the sphere for a translation of length one. If the directions are uniform, the q-th power
    of the gap is an unbiased estimate of the q-th power of its limit for many directions.

    For a translation by m this limit is |m|. With K independent uniform directions the relative
    standard error of the gap is then about c / sqrt(K). Here c^2 = (E|u_1|^(2q) / (E|u_1|^q)^2 - 1)
    / q^2, and u_1 is the first coordinate of a random unit vector. The error is 0 if the mean of
    |<m, u>|^q over the directions equals the mean over the sphere. This is the case for orthonormal
    bases if q = 2, and for K equispaced directions in the plane if q is even and q < 2K.

    Parameters
    ----------
    x, y : Nested
    plan : LevelPlan with L levels
    directions : ndarray of shape (K, d)
    way : {"search", "exact"}
        Value of the option `gap`.
    q : float in [1, inf]
        Order of the mean over directions; inf for the maximum.
    refine : int
        Maximum number of steps of each local ascent; used if ``way="search"`` and q = inf.
    resources : Resources

    Returns
    -------
    gaps : Gaps
    """
    sizes = plan.prefix_sizes
    first, second, d = x.points, y.points, x.points.shape[1]
    if q < math.inf or (way == "search" and (refine == 0 or d == 1)):
        # Refinement is not needed in one dimension, because the search evaluates both directions.
        values, codes = x.sample.level_gaps(first, second, plan, directions, q, resources)
        return Gaps(plan, values / mean_of_direction(d, q), directions, codes)
    # Rounding errors of the ascent and of exact hull distances depend on the order of the two
    # samples. A canonical order makes the distance exactly symmetric.
    ordered = plan
    if _comes_after(first, second, plan):
        first, second, sizes = second, first, sizes[::-1]
        ordered = plan._replace(prefix_sizes_x=sizes[0], prefix_sizes_y=sizes[1])
    if way == "exact":
        values, vectors, _ = exact_gaps(first, second, np.stack(sizes))
        return Gaps(plan, values, vectors, np.arange(len(values)), exact=True)
    return Gaps(plan, *refine_gaps(first, second, ordered, directions, refine, resources))


def _comes_after(x: np.ndarray, y: np.ndarray, plan: LevelPlan) -> bool:
    """Return whether y precedes x in the canonical order of samples.

    The sample with fewer points comes first. Samples with the same number of points are ordered by
    the first entry in which the points differ, or else the sizes of the regions in `plan`.
    """
    if len(x) != len(y):
        return len(x) > len(y)
    for one, other in ((x, y), plan.prefix_sizes):
        # Rows are compared in blocks, because most samples differ in the first row.
        for start, stop in pairwise([0, 1, *range(1024, len(one), 1024), len(one)]):
            first, second = one[start:stop], other[start:stop]
            if (first != second).any():
                return bool(first.tolist() > second.tolist())
    return False


def refine_gaps(
    x: np.ndarray,
    y: np.ndarray,
    plan: LevelPlan,
    directions: np.ndarray,
    steps: int,
    resources: Resources,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute gaps along directions, and increase them by local ascent or a search of vertices.

    The ascent takes at most `steps` steps from each starting direction. The search examines the
    vertices of the convex hulls of both regions. For very few points the search replaces the
    ascent, for somewhat more points it follows the ascent, and for many points there is no search.
    The limits are given by the numbers of points, columns, directions and steps.

    Parameters
    ----------
    x, y : ndarrays of shape (n, d) and (m, d), deepest rows first
    plan : LevelPlan with L levels
    directions : ndarray of shape (K, d)
    steps : int
    resources : Resources

    Returns
    -------
    gaps : ndarray of shape (L,), not smaller than those along the directions
    vectors : ndarray of shape (K + J, d)
        The K directions, followed by the J unit vectors that were found.
    codes : int64 ndarray of shape (L,)
        Vector that attains each gap, encoded as in `level_gaps`.
    """
    n, m, d = int(plan.prefix_sizes_x[-1]), int(plan.prefix_sizes_y[-1]), x.shape[1]
    limit = max(_LEAST_WORK, _WORK_PER_STEP * steps * len(directions) * (n + m) * (d + 50))
    cost = 2 * n * m * d  # of the search of all vertices
    replaces_ascent = cost <= _CHEAP * limit
    # The number of ascents is proportional to the number of sampled directions, within limits.
    n_ascents = min(_MOST_ASCENTS, max(_FEWEST_ASCENTS, len(directions) // 12))
    # Few points in many columns are searched in coordinates of their span.
    frame = points = None
    if cost > _AFFORDABLE * limit:
        limit = 0.0
    elif n + m <= d:
        frame = common_frame(x[:n], y[:m])
        points = SearchedPoints(frame.first, frame.second, frame.exponent)
    gaps, codes, ascended, searched = refined_gaps(
        x, y, plan.prefix_sizes, plan.shares, directions,
        n_ascents=0 if replaces_ascent else n_ascents, steps=steps,
        slack=_FULL if replaces_ascent else _SLACK,
        points=points, limit=limit, resources=resources,
    )  # fmt: skip
    if frame is not None:
        searched = frame.directions(searched)
    return gaps, np.concatenate([directions, ascended, searched]), codes


# -- calls of the compiled core ---------------------------------------------------------------


def level_gaps(
    x: np.ndarray,
    y: np.ndarray,
    prefix_sizes: tuple[np.ndarray, np.ndarray],
    directions: np.ndarray,
    resources: Resources = ALONE,
    q: float = math.inf,
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the gap between the regions of two samples at each level.

    The gap is a mean or maximum of |h_x(u) - h_y(u)| over the directions u and their opposites. The
    support functions h_x(u) and h_y(u) are the maximum projections of both regions on u.

    Parameters
    ----------
    x, y : ndarrays of shape (n, d) and (m, d), deepest rows first
    prefix_sizes : pair of non-decreasing int64 ndarrays of shape (L,)
        Number of rows of each sample in the region of each level.
    directions : ndarray of shape (K, d)
    resources : Resources
    q : float in [1, inf]
        Order of the mean over directions; inf for the maximum.

    Returns
    -------
    gaps : float64 ndarray of shape (L,)
        (mean of |h_x(u) - h_y(u)|**q over the 2K directions) ** (1/q), or the maximum for q = inf.
        The bits of the result do not depend on the order of the samples or on the number of
        threads.
    codes : int64 ndarray of shape (L,)
        Direction with the largest difference |h_x(u) - h_y(u)|: k for direction k, and -1 - k for
        its opposite. If several directions are tied, it is the first of them.

    Examples
    --------
    >>> import numpy as np
    >>> sizes = np.array([1, 2])
    >>> x, y = np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([[0.0, 1.0], [0.0, -3.0]])
    >>> gaps, codes = level_gaps(x, y, (sizes, sizes), np.eye(2))
    >>> gaps.tolist(), codes.tolist()
    ([1.0, 3.0], [1, -2])
    """
    units = np.ascontiguousarray(directions, dtype=x.dtype)
    sizes_x, sizes_y = map(_sizes, prefix_sizes)
    x, y = np.ascontiguousarray(x), np.ascontiguousarray(y)
    n_threads, memory_mb = resources.n_threads, resources.memory_mb
    return _core.gaps(x, y, sizes_x, sizes_y, units, q, n_threads, memory_mb)


def write_supports(
    ordered: np.ndarray,
    prefix_sizes: np.ndarray,
    directions: np.ndarray,
    out: np.ndarray,
    resources: Resources,
) -> None:
    """Write the support values h(u) and h(-u) of nested regions along directions u to `out`.

    The support value h(u) of a region is the maximum projection of its rows on u.

    Parameters
    ----------
    ordered : ndarray of shape (n, d), deepest rows first
    prefix_sizes : non-decreasing int64 ndarray of shape (L,)
        Number of rows in the region of each level.
    directions : ndarray of shape (K, d)
    out : contiguous ndarray of shape (L, 2K)
        Output: h(u) for the K directions, then h(-u).
    resources : Resources
    """
    ordered = np.ascontiguousarray(ordered)
    units = np.ascontiguousarray(directions, dtype=ordered.dtype)
    sizes, n_threads = _sizes(prefix_sizes), resources.n_threads
    with np.errstate(over="ignore"):
        out[:] = _core.supports(ordered, sizes, units, n_threads, resources.memory_mb)


class SupportRows(NamedTuple):
    """Extreme projections of the rows of L regions on K directions, and rows that attain them.

    Attributes
    ----------
    tops, lows : arrays of shape (L, K)
        Maximum and minimum projection of the region of each level on each direction.
    top_rows, low_rows : int64 arrays of shape (L, K)
        Indices of the first rows with these projections.
    """

    tops: Any
    lows: Any
    top_rows: Any
    low_rows: Any


def support_rows(
    ordered: np.ndarray, prefix_sizes: np.ndarray, directions: np.ndarray
) -> SupportRows:
    """Compute the extreme projections of nested regions, and the rows that attain them.

    `ordered` (n, d) has the deepest rows first, and `directions` has shape (K, d). `prefix_sizes`
    has shape (L,): the region of level l consists of the first `prefix_sizes[l]` rows.
    """
    along = ordered @ directions.T
    last = prefix_sizes - 1
    values, rows = [], []
    for sign in (1, -1):
        reach = np.maximum.accumulate(sign * along)
        further = np.zeros(along.shape, dtype=np.int64)
        further[1:] = np.where(reach[1:] > reach[:-1], np.arange(1, len(along))[:, None], 0)
        values.append(sign * reach[last])
        rows.append(np.maximum.accumulate(further)[last])
    return SupportRows(*values, *rows)


class SearchedPoints(NamedTuple):
    """Coordinates for the search of vertices in `refined_gaps`.

    Attributes
    ----------
    x, y : float64 ndarrays of shape (n, r) and (m, r), C-contiguous
        Rows of both samples, with a common origin and scale.
    exponent : int
        Original lengths are lengths in these coordinates times ``2 ** exponent``.
    """

    x: np.ndarray
    y: np.ndarray
    exponent: int


def refined_gaps(
    x: np.ndarray,
    y: np.ndarray,
    prefix_sizes: tuple[np.ndarray, np.ndarray],
    shares: np.ndarray,
    directions: np.ndarray,
    *,
    n_ascents: int,
    steps: int,
    slack: float,
    points: SearchedPoints | None,
    limit: float,
    resources: Resources = ALONE,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Compute gaps as `level_gaps` with q = inf, raised by ascent and a search of vertices.

    The ascent maximizes h_x(u) - h_y(u) over unit vectors u, for the support functions of the
    regions of at most eight levels. All levels are compared along the vectors that it finds.

    Parameters
    ----------
    x, y, prefix_sizes, directions, resources
        As in `level_gaps`.
    shares : ndarray of shape (L,)
        Weights of the levels.
    n_ascents : int
        Maximum number of ascents, which start from the vectors with the largest differences; 0 for
        none.
    steps : int
        Maximum number of steps of an ascent, each of which projects a sample once.
    slack : float
        Relative tolerance. An ascent or a search ends if the gap could increase by at most this
        fraction.
    points : SearchedPoints or None
        Coordinates for the search of vertices; None for those of x and y.
    limit : float
        Maximum number of point coordinates that the search reads; 0 for no search. Levels are
        searched from the innermost one outwards.

    Returns
    -------
    gaps : float64 ndarray of shape (L,)
    codes : int64 ndarray of shape (L,)
        Vector that attains each gap, as in `level_gaps`. The vectors are the directions, followed
        by `ascended` and `searched`.
    ascended : ndarray of shape (J, d), with J <= n_ascents
        Unit vectors at which the ascents ended.
    searched : ndarray of shape (R, r)
        Unit vectors that the search found, in the coordinates of `points`, or r = d.
    """
    units = np.ascontiguousarray(directions, dtype=x.dtype)
    sizes_x, sizes_y = map(_sizes, prefix_sizes)
    x, y = np.ascontiguousarray(x), np.ascontiguousarray(y)
    points_x, points_y, exponent = points or (None, None, 0)
    return _core.refined_gaps(
        x, y, sizes_x, sizes_y, shares, units, n_ascents, steps, slack, points_x, points_y,
        exponent, limit, resources.n_threads, resources.memory_mb,
    )  # fmt: skip


def _sizes(numbers: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(numbers, dtype=np.int64)


def decode(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices (L,) and the signs (L,), 1.0 or -1.0, of the directions `codes` (L,).

    The code k means direction k, and the code -1 - k its opposite.
    """
    forward = codes >= 0
    return np.where(forward, codes, -1 - codes), np.where(forward, 1.0, -1.0)


def signed_directions(directions: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the unit vectors (L, d) that `codes` (L,) select from `directions` (K, d).

    The code k means direction k, and the code -1 - k its opposite.
    """
    indices, signs = decode(codes)
    return directions[indices] * signs[:, None]
