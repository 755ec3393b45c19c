"""Hausdorff distances between convex hulls: of two samples, and of all levels of nested ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from isodepth import _core
from isodepth.data.validation import check_number
from isodepth.hull.frame import NestedPair, nested_pair
from isodepth.hull.supports import largest_gaps

# A relative duality gap that is as good as none: what rounding leaves of it.
_EXACT = 1e-13


class HullGap(NamedTuple):
    """How far apart two hulls are, and where.

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
    pair = nested_pair(first, second, [np.shape(first)[0]], [np.shape(second)[0]])
    bounds = level_bounds(pair, _EXACT)
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
    """Exact Hausdorff distances of nested hulls.

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
        Unit vectors u with ``|h_first(u) - h_second(u)|`` equal to the gap; any where it is 0.

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
    bounds = level_bounds(pair, _EXACT, initial_directions)
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
    """Lower and upper bounds of the Hausdorff distance of each level.

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
    pair = nested_pair(first, second, prefix_sizes_first, prefix_sizes_second)
    bounds = level_bounds(pair, slack, initial_directions)
    # The exact routine stops at a relative gap of its own, so the bracket is wider by as much.
    margin = pair.frame.lengths(pair.rounding()) + 2 * _EXACT * bounds.upper
    return bounds._replace(
        lower=np.maximum(bounds.lower - margin, 0.0), upper=bounds.upper + margin
    )


def hausdorff_upper(
    first: ArrayLike,
    second: ArrayLike,
    prefix_sizes_first: ArrayLike,
    prefix_sizes_second: ArrayLike,
    *,
    tolerance: float = 0.02,
    initial_directions: ArrayLike | None = None,
) -> np.ndarray:
    """Upper bounds (L,) of the Hausdorff distance of each level: see :func:`hausdorff_bracket`.

    Examples
    --------
    >>> from isodepth.hull import hausdorff_upper
    >>> bounds = hausdorff_upper([[0.0, 0.0], [3.0, 4.0]], [[0.0, 0.0]], [1, 2], [1, 1])
    >>> bounds.round(9).tolist()
    [0.0, 5.0]
    """
    return hausdorff_bracket(
        first,
        second,
        prefix_sizes_first,
        prefix_sizes_second,
        tolerance=tolerance,
        initial_directions=initial_directions,
    ).upper


def raise_gaps(
    first: ArrayLike,
    second: ArrayLike,
    prefix_sizes_first: ArrayLike,
    prefix_sizes_second: ArrayLike,
    gaps: np.ndarray,
    *,
    slack: float,
    limit: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Raise gaps (L,) that some directions attain towards the exact ones, for a limited cost.

    Parameters
    ----------
    first, second, prefix_sizes_first, prefix_sizes_second
        As in :func:`hausdorff_levels`.
    gaps : ndarray of shape (L,)
    slack : float
        Shortfall that is good enough, as a share of the gap.
    limit : float
        How many coordinates of points may be looked at; the outermost levels go short.

    Returns
    -------
    raised : int ndarray of shape (J,), the levels at which a larger gap was found
    gaps : ndarray of shape (J,)
    directions : ndarray of shape (J, d), unit vectors that attain them
    """
    pair = nested_pair(first, second, prefix_sizes_first, prefix_sizes_second)
    attained = np.ldexp(gaps, -pair.frame.exponent)
    lower, _, inner, sides = _hull_levels(pair, attained, slack, limit)
    raised = np.flatnonzero(sides >= 0)
    return raised, pair.frame.lengths(lower[raised]), pair.frame.directions(inner[raised])


def level_bounds(
    pair: NestedPair, slack: float, initial_directions: ArrayLike | None = None
) -> LevelBounds:
    """Bound the distance of every level until the bounds differ by a share of `slack` at most."""
    frame = pair.frame
    attained = np.zeros(len(pair.prefix_sizes_first))
    if initial_directions is not None:
        attained, known, known_first = largest_gaps(pair, initial_directions)
        # Less what rounding may have added, so that a hint never decides the result.
        attained = np.maximum(attained - pair.rounding(), 0.0)
    lower, upper, inner, sides = _hull_levels(pair, attained, slack, np.inf)
    directions, from_first = frame.directions(inner), sides == 0
    if initial_directions is not None:
        raised = sides >= 0
        directions = np.where(raised[:, None], directions, known)
        from_first = np.where(raised, from_first, known_first)
    return LevelBounds(
        frame.lengths(lower), frame.lengths(np.maximum(lower, upper)), directions, from_first
    )


def _hull_levels(
    pair: NestedPair, attained: np.ndarray, slack: float, limit: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Lower and upper bounds, directions and sides of all levels, in the frame of the pair."""
    return _core.hull_levels(
        pair.frame.first,
        pair.frame.second,
        stops=np.stack([pair.prefix_sizes_first, pair.prefix_sizes_second]),
        attained=attained,
        slack=slack,
        limit=limit,
    )
