"""Hausdorff distances between convex hulls, for all levels of two nested samples at once.

`find_gaps` takes the maximum over sampled directions and refines it towards the supremum. Local
ascent starts from the best sampled directions of a few levels. The directions that it finds are
then evaluated at all levels. Each step costs one projection of a sample, so the ascent is cheaper
than the sampled directions. If the samples are small enough, the vertices of the regions are then
searched one by one, as for the exact distance, within a limit of work.

The other functions are exact. They compare hulls in coordinates that are centered, of size one,
and in the span of the points.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from isodepth import _core
from isodepth.core.directions import mean_of_direction
from isodepth.core.regions import LevelPlan, TrimmedRegions
from isodepth.data.validation import (
    check_direction_rows,
    check_number,
    check_points,
    check_same_width,
)
from isodepth.engine import Resources, ascent, level_gaps, signed_directions
from isodepth.errors import InvalidInputError

__all__ = [
    "HullGap",
    "LevelBounds",
    "Projection",
    "hausdorff",
    "hausdorff_bracket",
    "hausdorff_levels",
    "project_to_hull",
    "raise_gaps",
]

#: Values of the option `gap`.
WAYS = ("search", "exact")
_EXACT = _core.EXACT_GAP
_MOST_LEVELS = 8
_FEWEST_CLIMBERS = 10
_MOST_CLIMBERS = 40
_MOST_WINNERS = 32
# Relative distance from an upper bound at which the ascent, or a full search, stops.
_SLACK = 1e-3
_FULL = 1e-10
# Limit of work per step, in coordinates of points (about a nanosecond each): twenty steps cost
# somewhat less than a distance without refinement.
_WORK_PER_STEP = 0.01
# Minimum limit of work, some milliseconds.
_LEAST_WORK = 3e6
_CHEAP = 0.25


class HullGap(NamedTuple):
    """Hausdorff distance of two hulls, and the direction in which it is attained.

    Attributes
    ----------
    distance : float
    direction : ndarray of shape (d,)
        Unit vector u with ``|h_first(u) - h_second(u)| == distance``; any if that is 0.
    from_first : bool
        Whether the first hull extends farther along it.
    """

    distance: float
    direction: np.ndarray
    from_first: bool


def hausdorff(first: ArrayLike, second: ArrayLike) -> HullGap:
    """Compute the Hausdorff distance between the convex hulls of two sets of points.

    It is the largest distance from a point of one set to the hull of the other, and the supremum
    of ``|h_first(u) - h_second(u)|`` over unit vectors u, h the support function of a hull.

    Parameters
    ----------
    first, second : array-like of shape (n, d) and (m, d)

    Returns
    -------
    HullGap

    Examples
    --------
    >>> from isodepth.hull import hausdorff
    >>> square = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    >>> gap = hausdorff(square, [[0.5, 0.5], [0.5, 3.0]])
    >>> round(gap.distance, 12), abs(gap.direction.round(12)).tolist(), gap.from_first
    (2.0, [0.0, 1.0], False)
    """
    bounds = level_bounds(
        *nested_pair(first, second, [np.shape(first)[0]], [np.shape(second)[0]]), _EXACT
    )
    return HullGap(float(bounds.lower[0]), bounds.directions[0], bool(bounds.from_first[0]))


class LevelBounds(NamedTuple):
    """Bounds of the Hausdorff distance at each of L levels.

    Attributes
    ----------
    lower, upper : (L,) arrays
        The lower bound is attained: it is ``|h_first(u) - h_second(u)|`` along `directions`.
    directions : (L, d) array of unit vectors
    from_first : bool (L,) array
        Whether the first hull extends farther along the direction.
    """

    lower: np.ndarray
    upper: np.ndarray
    directions: np.ndarray
    from_first: np.ndarray


def hausdorff_levels(
    first: ArrayLike,
    second: ArrayLike,
    prefix_sizes_first: ArrayLike,
    prefix_sizes_second: ArrayLike,
    initial_directions: ArrayLike | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the exact Hausdorff distances of nested hulls.

    Parameters
    ----------
    first, second : array-like of shape (n, d) and (m, d)
        Rows in the order in which they enter.
    prefix_sizes_first, prefix_sizes_second : int array-like of shape (L,)
        Level l compares the hulls of ``first[:prefix_sizes_first[l]]`` and of
        ``second[:prefix_sizes_second[l]]``. Non-decreasing, at least 1.
    initial_directions : array-like of shape (K, d), optional
        Starting directions, tried on every level: they save time and do not change the result.

    Returns
    -------
    gaps : ndarray of shape (L,)
    directions : ndarray of shape (L, d)
        Unit vectors u with ``|h_first(u) - h_second(u)|`` equal to the gap; arbitrary if it is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from isodepth.hull import hausdorff_levels
    >>> line = np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0]])
    >>> gaps, directions = hausdorff_levels(line, line[:1], [1, 2], [1, 1])
    >>> gaps.tolist(), directions[1].tolist()
    ([0.0, 1.0], [1.0, 0.0])
    """
    pair = nested_pair(first, second, prefix_sizes_first, prefix_sizes_second)
    bounds = level_bounds(*pair, _EXACT, initial_directions)
    return bounds.lower, bounds.directions


def hausdorff_bracket(
    first: ArrayLike,
    second: ArrayLike,
    prefix_sizes_first: ArrayLike,
    prefix_sizes_second: ArrayLike,
    *,
    tolerance: float = 0.02,
    initial_directions: ArrayLike | None = None,
) -> LevelBounds:
    """Compute lower and upper bounds of the Hausdorff distance of each level.

    A point of one hull is at most as far from the other hull as from any point known to be in it.
    Such points are improved until the largest of those distances is within the tolerance of the
    largest gap that some direction attains. A bound of the rounding error is added on both sides.

    Parameters
    ----------
    first, second, prefix_sizes_first, prefix_sizes_second, initial_directions
        As in :func:`hausdorff_levels`.
    tolerance : float in [0, 1)
        The bounds of a level differ by about this share of its distance at most. Larger is
        cheaper.

    Returns
    -------
    LevelBounds
        ``lower``, ``upper``, ``directions`` and ``from_first``.

    Examples
    --------
    >>> import numpy as np
    >>> from isodepth.hull import hausdorff_bracket, hausdorff_levels
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=(30, 8)), rng.normal(size=(40, 8)) + 1
    >>> exact, _ = hausdorff_levels(x, y, [10, 30], [20, 40])
    >>> bounds = hausdorff_bracket(x, y, [10, 30], [20, 40], tolerance=0.1)
    >>> bool((bounds.lower <= exact).all() and (exact <= bounds.upper).all())
    True
    >>> bool((bounds.upper <= 1.12 * bounds.lower).all())
    True
    """
    slack = max(check_number(tolerance, "tolerance", 0.0, 1.0, high_open=True), _EXACT)
    frame, sizes = nested_pair(first, second, prefix_sizes_first, prefix_sizes_second)
    bounds = level_bounds(frame, sizes, slack, initial_directions)
    # The exact routine stops at a relative gap of its own, so the bracket is wider by as much.
    margin = frame.lengths(_rounding(frame, sizes)) + 2 * _EXACT * bounds.upper
    return bounds._replace(
        lower=np.maximum(bounds.lower - margin, 0.0), upper=bounds.upper + margin
    )


def raise_gaps(
    first: np.ndarray,
    second: np.ndarray,
    prefix_sizes_first: np.ndarray,
    prefix_sizes_second: np.ndarray,
    gaps: np.ndarray,
    *,
    slack: float,
    limit: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Raise attained gaps (L,) towards the exact ones at a limited cost.

    Parameters
    ----------
    first, second : ndarrays of shape (n, d) and (m, d)
    prefix_sizes_first, prefix_sizes_second : int64 ndarrays of shape (L,)
        As in :func:`hausdorff_levels`, and not checked again.
    gaps : ndarray of shape (L,)
    slack : float
        Acceptable shortfall as a fraction of the gap.
    limit : float
        Maximum number of coordinates of points that are read. The outermost levels are then not
        searched.

    Returns
    -------
    raised : int ndarray of shape (J,), the levels at which a larger gap was found
    gaps : ndarray of shape (J,)
    directions : ndarray of shape (J, d), unit vectors that attain them
    """
    sizes = np.stack([prefix_sizes_first, prefix_sizes_second])
    frame = common_frame(first[: sizes[0, -1]], second[: sizes[1, -1]])
    attained = np.ldexp(gaps, -frame.exponent)
    lower, _, inner, sides = _core.hull_levels(
        frame.first, frame.second, sizes, attained, slack, limit
    )
    raised = np.flatnonzero(sides >= 0)
    return raised, frame.lengths(lower[raised]), frame.directions(inner[raised])


def level_bounds(
    frame: Frame, sizes: np.ndarray, slack: float, initial_directions: ArrayLike | None = None
) -> LevelBounds:
    """Bound the distance of every level until the relative difference is at most `slack`."""
    attained = np.zeros(sizes.shape[1])
    if initial_directions is not None:
        attained, known = _largest_gaps(frame, sizes, initial_directions)
        # Minus a bound of the rounding, so that the hint never decides the result.
        attained = np.maximum(attained - _rounding(frame, sizes), 0.0)
    lower, upper, inner, sides = _core.hull_levels(
        frame.first, frame.second, sizes, attained, slack, np.inf
    )
    directions, from_first = frame.directions(inner), sides == 0
    if initial_directions is not None:
        for level in np.flatnonzero(sides < 0):
            (i, j), inner_u = sizes[:, level], frame.covectors(known[level])
            tops = (frame.first[:i] @ inner_u).max(), (frame.second[:j] @ inner_u).max()
            from_first[level], directions[level] = tops[0] > tops[1], known[level]
    return LevelBounds(
        frame.lengths(lower), frame.lengths(np.maximum(lower, upper)), directions, from_first
    )


def _largest_gaps(
    frame: Frame, sizes: np.ndarray, directions: ArrayLike
) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest gap (L,) of each level in lengths of the frame, and directions (L, d)."""
    units = check_direction_rows(directions, frame.dimension)
    vectors = frame.covectors(units)
    gaps, codes = level_gaps(frame.first, frame.second, (sizes[0], sizes[1]), vectors, Resources())
    return gaps, signed_directions(units, codes)


class Projection(NamedTuple):
    """Nearest points of a hull to q queries.

    Attributes
    ----------
    distance : float or (q,) array
    nearest : (d,) or (q, d) array
        The point of the hull, ``weights @ points``.
    weights : (n,) or (q, n) array
        Non-negative, with sum 1, at most d + 1 of them positive.
    gap : float or (q,) array
        The distance to the hull is at least ``distance - gap``, by the half-space at `nearest`.
    """

    distance: np.ndarray
    nearest: np.ndarray
    weights: np.ndarray
    gap: np.ndarray


def project_to_hull(
    points: ArrayLike, query: ArrayLike, *, n_jobs: int | None = None
) -> Projection:
    """Find the point of the convex hull of `points` nearest to `query`.

    Parameters
    ----------
    points : array-like of shape (n, d)
        Repeated and collinear points, and fewer than d, are allowed.
    query : array-like of shape (d,), or (q, d) for many at once
    n_jobs : int or None
        Threads for many queries; None for all cores.

    Returns
    -------
    Projection
        ``(distance, nearest, weights, gap)``, with a leading axis of length q for many queries.

    Examples
    --------
    >>> from isodepth.hull import project_to_hull
    >>> distance, nearest, weights, gap = project_to_hull([[0.0, 0.0], [2.0, 0.0]], [1.0, 3.0])
    >>> round(float(distance), 12), nearest.round(12).tolist(), weights.round(12).tolist()
    (3.0, [1.0, 0.0], [0.5, 0.5])
    >>> bool(gap < 1e-12)
    True
    """
    rows = as_points(points, "points")
    queries = np.asarray(query, dtype=np.float64)
    frame = common_frame(rows, as_points(np.atleast_2d(queries), "query"))
    threads = Resources(n_jobs).n_threads
    weights, distance, lower = _core.nearest_in_hull(frame.first, frame.second, threads)
    nearest = weights @ rows
    result = Projection(frame.lengths(distance), nearest, weights, frame.lengths(distance - lower))
    return result if queries.ndim == 2 else Projection(*(part[0] for part in result))


@dataclass(frozen=True)
class Frame:
    """Two sets of points in coordinates that keep every distance up to a power of two.

    Attributes
    ----------
    first, second : float64 ndarrays of shape (n, r) and (m, r), C-contiguous
    exponent : int
        Lengths of the caller are lengths of the frame times ``2 ** exponent``: nothing is rounded,
        and squares neither overflow nor underflow.
    basis : ndarray of shape (d, r) with orthonormal columns, or None for the caller's own axes
    """

    first: np.ndarray
    second: np.ndarray
    exponent: int
    basis: np.ndarray | None

    @property
    def dimension(self) -> int:
        """Number of columns of the caller's points."""
        return self.first.shape[1] if self.basis is None else self.basis.shape[0]

    def lengths(self, values: np.ndarray) -> np.ndarray:
        """Convert lengths of the frame to lengths of the caller."""
        return np.ldexp(values, self.exponent)

    def directions(self, vectors: np.ndarray) -> np.ndarray:
        """Convert unit vectors (L, r) of the frame to unit vectors of the caller."""
        if self.basis is None:
            return vectors + 0.0  # no -0
        turned = vectors @ self.basis.T
        return turned / np.linalg.norm(turned, axis=1, keepdims=True)

    def covectors(self, directions: np.ndarray) -> np.ndarray:
        """Return vectors (K, r) whose products with the points are those of directions (K, d)."""
        return directions if self.basis is None else directions @ self.basis


def common_frame(a: np.ndarray, b: np.ndarray) -> Frame:
    """Bring two samples (n, d) and (m, d) to one frame.

    N points in more than N dimensions differ only within their span, so they are rotated into it:
    the triangle of a QR factorization has their coordinates, with full relative precision.
    """
    check_same_width(a.shape[1], b.shape[1], "the first set of points", "the second")
    points = np.concatenate([a, b], dtype=np.float64)
    exponent = math.frexp(float(np.abs(points).max()))[1]
    points = np.ldexp(points, -exponent)
    # Adding zero turns -0 into 0, so that equal points are equal bit by bit.
    points = np.ascontiguousarray(points - points[0] + 0.0)
    basis = None
    if points.shape[1] >= len(points):
        # One column for equal points: they must stay equal, for a distance of exactly 0.
        distinct, place = np.unique(points, axis=0, return_inverse=True)
        basis, triangle = np.linalg.qr(distinct.T)
        points = np.ascontiguousarray(triangle.T[place.ravel()])
    return Frame(points[: len(a)], points[len(a) :], exponent, basis)


def as_points(points: ArrayLike, name: str) -> np.ndarray:
    """Return a finite, non-empty (n, d) float64 array with numbers of any size."""
    return check_points(points, name, "float64", any_size=True)[0]


def nested_pair(
    first: ArrayLike,
    second: ArrayLike,
    prefix_sizes_first: ArrayLike,
    prefix_sizes_second: ArrayLike,
) -> tuple[Frame, np.ndarray]:
    """Return two samples in one frame, without rows that never enter, and prefix sizes (2, L)."""
    a, b = as_points(first, "the first sample"), as_points(second, "the second sample")
    sizes_a = _as_prefix_sizes(prefix_sizes_first, len(a), "prefix_sizes_first")
    sizes_b = _as_prefix_sizes(prefix_sizes_second, len(b), "prefix_sizes_second")
    if len(sizes_a) != len(sizes_b):
        raise InvalidInputError(
            f"both samples need one prefix size for each level, got {len(sizes_a)} and "
            f"{len(sizes_b)}"
        )
    frame = common_frame(a[: sizes_a[-1]], b[: sizes_b[-1]])
    return frame, np.stack([sizes_a, sizes_b])


def _rounding(frame: Frame, sizes: np.ndarray) -> np.ndarray:
    """Return a bound (L,) of the effect of rounding on the distance at each level.

    Products of d numbers have an error of at most about d ulps of the largest of them, and no
    point inside is longer than the radius used here.
    """
    radii = [
        np.maximum.accumulate(np.linalg.norm(points, axis=1))[prefix_sizes - 1]
        for points, prefix_sizes in zip((frame.first, frame.second), sizes, strict=True)
    ]
    return (64 + frame.first.shape[1]) * np.finfo(np.float64).eps * np.maximum(*radii)


def _as_prefix_sizes(sizes: ArrayLike, n: int, name: str) -> np.ndarray:
    array = np.asarray(sizes)
    if array.ndim != 1 or not len(array) or array.dtype.kind not in "iu":
        raise InvalidInputError(
            f"{name} must be a list of at least one whole number, got shape {array.shape} and "
            f"type {array.dtype}"
        )
    array = np.ascontiguousarray(array, dtype=np.int64)
    if array[0] < 1 or array[-1] > n or (np.diff(array) < 0).any():
        raise InvalidInputError(
            f"{name} must not decrease and lie in 1..{n}, got values from {array.min()} to "
            f"{array.max()}"
        )
    return array


# -- gaps of the regions of two samples --------------------------------------------------------


class Gaps(NamedTuple):
    """Gaps of all levels of a plan.

    Attributes
    ----------
    plan : LevelPlan with L levels
    values : ndarray of shape (L,)
    vectors : ndarray of shape (J, d), unit vectors among which the gaps are attained
    codes : int64 ndarray of shape (L,): vectors and signs, encoded as in `isodepth.engine`
    exact : whether the values are suprema over all directions
    """

    plan: LevelPlan
    values: np.ndarray
    vectors: np.ndarray
    codes: np.ndarray
    exact: bool = False

    def directions(self, levels: Any = slice(None)) -> np.ndarray:
        """Return the unit vectors (number of `levels`, d) at which the gaps are attained."""
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
    """Compute the gap of each level.

    A mean over directions (a finite q) is divided by its value for a translation of length one,
    averaged over the sphere. So the gap (to the power q) is an unbiased estimate of the L_q metric.
    A translation by m has the gap |m| up to a relative error of c / sqrt(K), with
    c^2 = (E|u_1|^(2q) / (E|u_1|^q)^2 - 1) / q^2. The error is zero if the directions integrate the
    power exactly: orthonormal bases do for q = 2, and K equispaced directions in the plane do for
    even q < 2K.

    Parameters
    ----------
    x, y : TrimmedRegions
    plan : LevelPlan with L levels
    directions : ndarray of shape (K, d)
    way : {"search", "exact"}
        The option `gap`.
    q : float in [1, inf]
    refine : int
    """
    sizes = plan.prefix_sizes
    unit = mean_of_direction(x.n_features, q)
    first, second = x.ordered, y.ordered
    if q < math.inf or (way == "search" and (refine == 0 or x.n_features == 1)):
        # In one dimension both directions were evaluated.
        values, codes = level_gaps(first, second, sizes, directions, resources, q)
        return Gaps(plan, values / unit, directions, codes)
    # Ascent and hulls round differently for (x, y) and (y, x): use one canonical order.
    inner = plan
    if _comes_after(first, second, plan):
        first, second, sizes = second, first, sizes[::-1]
        inner = replace(plan, prefix_sizes_x=sizes[0], prefix_sizes_y=sizes[1])
    if way == "exact":
        values, vectors = hausdorff_levels(first, second, *sizes)
        return Gaps(plan, values, vectors, np.arange(len(values)), exact=True)
    values, codes = level_gaps(first, second, sizes, directions, resources)
    refined = refine_gaps(first, second, inner, directions, values, codes, refine, resources)
    return Gaps(plan, *refined)


def _comes_after(x: np.ndarray, y: np.ndarray, plan: LevelPlan) -> bool:
    """Check if (y, x) is the canonical order of this pair."""
    if len(x) != len(y):
        return len(x) > len(y)
    for a, b in ((x, y), plan.prefix_sizes):
        for start in range(0, len(a), 1024):  # most differ at once
            first, second = a[start : start + 1024], b[start : start + 1024]
            differ = first != second
            if differ.any():
                at = np.unravel_index(int(differ.argmax()), differ.shape)
                return bool(first[at] > second[at])
    return False


def refine_gaps(
    x: np.ndarray,
    y: np.ndarray,
    plan: LevelPlan,
    directions: np.ndarray,
    gaps: np.ndarray,
    codes: np.ndarray,
    steps: int,
    resources: Resources,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Raise the gaps of `level_gaps` by at most `steps` steps of ascent.

    Returns
    -------
    gaps : ndarray of shape (L,), at least the former gaps
    vectors : ndarray of shape (K + J, d), the directions with the new ones after them
    codes : int64 ndarray of shape (L,), as in `level_gaps`, into `vectors`
    """
    n, m, d = int(plan.prefix_sizes_x[-1]), int(plan.prefix_sizes_y[-1]), x.shape[1]
    limit = max(_LEAST_WORK, _WORK_PER_STEP * steps * len(directions) * (n + m) * (d + 50))
    every_corner = 2 * n * m * d
    # For few points a search of all vertices is cheaper than an ascent.
    cheap = every_corner <= _CHEAP * limit
    if not cheap:
        chosen = chosen_levels(plan, gaps)
        sizes = plan.prefix_sizes_x[chosen], plan.prefix_sizes_y[chosen]
        winners = np.unique(codes)
        best = np.append(codes[chosen], winners[:: -(-len(winners) // _MOST_WINNERS)])
        starts = np.concatenate([signed_directions(directions, best), _apart(x, y, sizes)])
        # Only rows of these regions: the ascent copies them in float64.
        tops = ascent(
            x[: sizes[0][-1]],
            y[: sizes[1][-1]],
            sizes,
            np.concatenate([starts, -starts]),
            # In proportion to the cost of the sampled directions.
            n_climbers=min(_MOST_CLIMBERS, max(_FEWEST_CLIMBERS, len(directions) // 12)),
            steps=steps,
            slack=_SLACK,
            resources=resources,
        )
        climbed, new_codes = level_gaps(x, y, plan.prefix_sizes, tops, resources)
        new_codes += np.where(new_codes >= 0, len(directions), -len(directions))
        codes = np.where(climbed > gaps, new_codes, codes)
        gaps = np.maximum(climbed, gaps)
        directions = np.concatenate([directions, tops])
    if every_corner <= 2 * limit:
        raised, values, sharper = raise_gaps(
            x, y, *plan.prefix_sizes, gaps, slack=_FULL if cheap else _SLACK, limit=limit
        )
        gaps, codes = gaps.copy(), codes.copy()
        gaps[raised] = np.maximum(gaps[raised], values)
        codes[raised] = len(directions) + np.arange(len(raised))
        directions = np.concatenate([directions, sharper])
    return gaps, directions, codes


def chosen_levels(plan: LevelPlan, gaps: np.ndarray) -> np.ndarray:
    """Return the levels of the ascent: spread evenly over the mass, and that of the maximum gap."""
    n_levels = len(plan.shares)
    if n_levels <= _MOST_LEVELS:
        return np.arange(n_levels)
    reached = np.cumsum(plan.shares)
    wanted = (np.arange(_MOST_LEVELS - 1) + 0.5) / (_MOST_LEVELS - 1)
    spread = np.searchsorted(reached, wanted).clip(max=n_levels - 1)
    # The first level whose middle is at least as far: this one or the next.
    spread += reached[spread] - 0.5 * plan.shares[spread] < wanted
    return np.unique(np.append(spread.clip(max=n_levels - 1), gaps.argmax()))


def _apart(x: np.ndarray, y: np.ndarray, sizes: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Return unit vectors between the centers of both samples, at most one per level."""
    apart = np.stack([_prefix_mean(x, i) - _prefix_mean(y, j) for i, j in zip(*sizes, strict=True)])
    largest = np.abs(apart).max(axis=1)
    # Samples with one center have no such direction.
    apart = apart[largest > 0] / largest[largest > 0, None]
    return apart / np.linalg.norm(apart, axis=1, keepdims=True)


def _prefix_mean(rows: np.ndarray, size: int) -> np.ndarray:
    # A few hundred evenly spaced rows are enough for a starting direction.
    subset = rows[: size : max(1, size // 256)]
    return np.add.reduce(subset, axis=0, dtype=np.float64) / len(subset)
