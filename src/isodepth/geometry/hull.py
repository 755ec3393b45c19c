"""Hausdorff distance between the convex hulls of two sets of points, exact up to rounding.

Points are first centered and scaled to a size of about one. Few points in many dimensions are
represented by coordinates in their span.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from isodepth import _core
from isodepth.base.export import ResultPart
from isodepth.table.validation import check_points, check_same_width


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
    check_same_width(a.shape[1], b.shape[1], "the first set of points", "the second")
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
