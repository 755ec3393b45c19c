"""Hausdorff distances between the convex hulls of nested regions, for all levels at once.

The gap of a level is by default the Hausdorff distance between both hulls: the supremum over
directions of the absolute difference of their support functions. `find_gaps` takes the maximum over
sampled directions and refines it towards the supremum. Local ascent starts from the best sampled
directions of a few levels. The directions that it finds are then evaluated at all levels. Each step
of the ascent costs one projection of a sample, so the ascent is cheaper than evaluating the sampled
directions. For small samples, the vertices of the regions are searched one by one, as for the exact
distance. This search follows the ascent or, for very small samples, replaces it. The number of its
operations is limited.

`hull_distance`, `exact_gaps` and `project_to_hull` are exact up to rounding. Points are first
centered and scaled to a size of about one. Few points in many dimensions are represented by
coordinates in their span.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from isodepth import _core
from isodepth.base.compiled import (
    Resources,
    SearchedPoints,
    level_gaps,
    refined_gaps,
    signed_directions,
)
from isodepth.base.export import ReadOnlyFields, ResultPart
from isodepth.geometry.directions import mean_of_direction
from isodepth.geometry.regions import LevelPlan, TrimmedRegions
from isodepth.table.validation import check_points, check_same_width

#: Allowed values of the option `gap`.
WAYS = ("search", "exact")
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
class HullDistance(ResultPart):
    """Hausdorff distance of two convex hulls, and a direction that attains the distance.

    ``float(result)`` is the distance.

    Attributes
    ----------
    distance : float
        Hausdorff distance.
    direction : ndarray of shape (d,)
        Unit vector u with ``|h_X(u) - h_Y(u)| == distance`` up to rounding, where h is the support
        function of a hull. The vector is arbitrary if the distance is 0.
    sample : {"X", "Y"}
        Sample whose hull extends farther along the direction; arbitrary if the distance is 0.
    """

    distance: float
    direction: np.ndarray
    sample: Literal["X", "Y"]

    def __float__(self) -> float:
        return self.distance


def hull_distance(X: ArrayLike, Y: ArrayLike) -> HullDistance:
    """Compute the Hausdorff distance between the convex hulls of two sets of points.

    This distance is the maximum distance from a point of one set to the hull of the other set. It
    equals the supremum of ``|h_X(u) - h_Y(u)|`` over unit vectors u, where h is the support
    function of a hull. `scipy.spatial.distance.directed_hausdorff` compares the sets of points
    instead of their hulls.

    Parameters
    ----------
    X, Y : array-like of shape (n, d) and (m, d)

    Returns
    -------
    result : HullDistance
        With the attributes `distance`, `direction` and `sample`.

    Examples
    --------
    >>> from isodepth import hull_distance
    >>> square = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    >>> gap = hull_distance(square, [[0.5, 0.5], [0.5, 3.0]])
    >>> round(gap.distance, 12), abs(gap.direction.round(12)).tolist(), gap.sample
    (2.0, [0.0, 1.0], 'Y')
    """
    a, b = as_points(X, "X"), as_points(Y, "Y")
    gaps, directions, from_first = exact_gaps(a, b, np.array([[len(a)], [len(b)]]))
    return HullDistance(float(gaps[0]), directions[0], "X" if from_first[0] else "Y")


def exact_gaps(
    first: np.ndarray, second: np.ndarray, prefix_sizes: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute the exact Hausdorff distance between the convex hulls of two regions at each level.

    The region of a level consists of the first rows of a sample.

    Parameters
    ----------
    first, second : ndarrays of shape (n, d) and (m, d), deepest rows first
    prefix_sizes : int64 ndarray of shape (2, L), non-decreasing, at least 1
        Number of rows of both samples in the region of each level.

    Returns
    -------
    gaps : ndarray of shape (L,)
    directions : ndarray of shape (L, d)
        Unit vectors u with ``|h_first(u) - h_second(u)|`` equal to the gap, where h is the support
        function of a region; arbitrary if the gap is 0.
    from_first : bool ndarray of shape (L,)
        Whether the first hull extends farther along the direction.
    """
    frame = common_frame(first[: prefix_sizes[0, -1]], second[: prefix_sizes[1, -1]])
    attained = np.zeros(prefix_sizes.shape[1])
    gaps, _, inner, sides = _core.hull_levels(
        frame.first, frame.second, prefix_sizes, attained, _core.EXACT_GAP, np.inf
    )
    return frame.lengths(gaps), frame.directions(inner), sides == 0


def upper_bounds(
    first: np.ndarray, second: np.ndarray, prefix_sizes: np.ndarray, gaps: np.ndarray, slack: float
) -> np.ndarray:
    """Compute upper bounds (L,) on the exact gaps of all levels.

    A bound is the maximum, over the points of one region, of the distance to some point of the hull
    of the other region. Nearer points of the hull are searched until the bound exceeds the exact
    gap by at most the fraction `slack`, up to rounding. `gaps` (L,) are lower bounds on the exact
    gaps. The other parameters are those of `exact_gaps`.
    """
    frame = common_frame(first[: prefix_sizes[0, -1]], second[: prefix_sizes[1, -1]])
    attained = np.ldexp(gaps, -frame.exponent)
    upper = _core.hull_levels(frame.first, frame.second, prefix_sizes, attained, slack, np.inf)[1]
    return np.maximum(frame.lengths(upper), gaps)


class Projection(NamedTuple):
    """Nearest points of the convex hull of n points to each of q query points.

    Attributes
    ----------
    distance : ndarray of shape (q,)
        Distance of each query to the nearest point of the hull.
    nearest : ndarray of shape (q, d)
        Nearest points of the hull, ``weights @ points``.
    weights : ndarray of shape (q, n)
        Coefficients of the convex combinations of the n points. At most d + 1 coefficients of a
        query are positive.
    gap : ndarray of shape (q,)
        Error bound: the exact distance to the hull is at least ``distance - gap``.
    """

    distance: np.ndarray
    nearest: np.ndarray
    weights: np.ndarray
    gap: np.ndarray


def project_to_hull(points: np.ndarray, queries: np.ndarray) -> Projection:
    """Find the nearest point of the convex hull of `points` (n, d) to each of `queries` (q, d)."""
    frame = common_frame(points, queries)
    weights, distance, lower = _core.nearest_in_hull(frame.first, frame.second)
    gap = frame.lengths(distance - lower)
    return Projection(frame.lengths(distance), weights @ points, weights, gap)


@dataclass(frozen=True)
class Frame:
    """Two sets of points in a common coordinate system, whose unit of length is a power of two.

    Attributes
    ----------
    first, second : float64 ndarrays of shape (n, r) and (m, r), C-contiguous
        Points in the r new coordinates, with the first point of `first` as origin.
    exponent : int
        Original lengths are new lengths times ``2 ** exponent``. This scaling does not round, and
        squares of new lengths neither overflow nor underflow.
    basis : ndarray of shape (d, r) or None
        Orthonormal columns that are the new axes; None if the axes are unchanged, and r = d.
    """

    first: np.ndarray
    second: np.ndarray
    exponent: int
    basis: np.ndarray | None

    def lengths(self, values: np.ndarray) -> np.ndarray:
        """Convert lengths in the new coordinates to lengths in the original coordinates."""
        return np.ldexp(values, self.exponent)

    def directions(self, vectors: np.ndarray) -> np.ndarray:
        """Convert unit vectors (L, r) in the new coordinates to original coordinates (L, d)."""
        if self.basis is None:
            return vectors + 0.0  # adding zero converts -0.0 to 0.0
        turned = vectors @ self.basis.T
        return turned / np.linalg.norm(turned, axis=1, keepdims=True)


def common_frame(a: np.ndarray, b: np.ndarray) -> Frame:
    """Convert two samples (n, d) and (m, d) to a common coordinate system.

    All points are centered at the first point of `a` and scaled by a power of two. If there are at
    most as many points as dimensions, they are represented by coordinates in their span, the
    triangular factor of a QR factorization.
    """
    check_same_width(a.shape[1], b.shape[1], "the first set of points", "the second")
    points = np.ascontiguousarray(np.concatenate([a, b], dtype=np.float64))
    # The limit keeps the factor finite. Subnormal numbers are then scaled to at least 2**-52.
    exponent = max(math.frexp(max(points.max(), -points.min()))[1], -1022)
    points *= math.ldexp(1.0, -exponent)
    # Zero minus a number is not -0.0, and neither are the sums. So equal points have equal bits.
    points += 0.0 - points[0]
    basis = None
    if points.shape[1] >= len(points):
        # Equal points must have distance exactly 0. They are merged before the factorization, so
        # that rounding cannot make their coordinates differ.
        distinct, place = np.unique(points, axis=0, return_inverse=True)
        basis, triangle = np.linalg.qr(distinct.T)
        points = np.ascontiguousarray(triangle.T[place.ravel()])
    return Frame(points[: len(a)], points[len(a) :], exponent, basis)


def as_points(points: ArrayLike, name: str) -> np.ndarray:
    """Convert `points` to a float64 array (n, d), and check that it is nonempty and finite.

    `name` is used in messages. Values of any size are allowed, because `common_frame` scales them.
    """
    return check_points(points, name, "float64", any_size=True)[0]


# -- gaps of the regions of two samples --------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Gaps(ReadOnlyFields):
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
    x: TrimmedRegions,
    y: TrimmedRegions,
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
    x, y : TrimmedRegions
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
    unit = mean_of_direction(x.n_features, q)
    first, second = x._ordered, y._ordered
    if q < math.inf or (way == "search" and (refine == 0 or x.n_features == 1)):
        # Refinement is not needed in one dimension, because the search evaluates both directions.
        values, codes = level_gaps(first, second, sizes, directions, resources, q)
        return Gaps(plan, values / unit, directions, codes)
    # Rounding errors of the ascent and of exact hull distances depend on the order of the two
    # samples. A canonical order makes the distance exactly symmetric.
    ordered = plan
    if _comes_after(first, second, plan):
        first, second, sizes = second, first, sizes[::-1]
        ordered = replace(plan, prefix_sizes_x=sizes[0], prefix_sizes_y=sizes[1])
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
