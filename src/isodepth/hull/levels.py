"""Hausdorff distances between the hulls of two samples at every level, from the inside out."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from isodepth.hull.extreme import MAX_DIMENSION, extreme_rows
from isodepth.hull.nested import NestedPair, nested_pair
from isodepth.hull.supports import largest_gaps

_FRESH_ROWS = 64
_NO_LIMIT = float("inf")


class LevelBounds(NamedTuple):
    """Bounds of the Hausdorff distance at each of L levels.

    Attributes
    ----------
    lower, upper : (L,) arrays
        The lower bound is attained: it is ``|h_first(u) - h_second(u)|`` along `directions`.
    directions : (L, d) array of unit vectors
    from_first : bool (L,) array
        Whether the first hull is the one that reaches further along the direction.
    """

    lower: np.ndarray
    upper: np.ndarray
    directions: np.ndarray
    from_first: np.ndarray


def hausdorff_levels(
    first: ArrayLike,
    second: ArrayLike,
    stops_first: ArrayLike,
    stops_second: ArrayLike,
    initial_directions: ArrayLike | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Exact Hausdorff distances of nested hulls.

    Parameters
    ----------
    first, second : array-like of shape (n, d) and (m, d)
        Rows in the order in which they enter.
    stops_first, stops_second : int array-like of shape (L,)
        Level l compares the hulls of ``first[:stops_first[l]]`` and ``second[:stops_second[l]]``.
        Non-decreasing, at least 1.
    initial_directions : array-like of shape (K, d), optional
        Directions that may be good, tried on every level: they save work and change nothing else.

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
    from isodepth.hull.nearest_loops import EXACT

    pair = nested_pair(first, second, stops_first, stops_second)
    bounds = level_bounds(pair, EXACT, initial_directions)
    return bounds.lower, bounds.directions


def level_bounds(
    pair: NestedPair, slack: float, initial_directions: ArrayLike | None = None
) -> LevelBounds:
    """Bound the distance of every level until the bounds differ by a share of `slack` at most."""
    frame = pair.frame
    n_levels, dim = len(pair.stops_first), frame.first.shape[1]
    lower, sides = np.zeros(n_levels), np.full(n_levels, -1, dtype=np.int64)
    inner = np.zeros((n_levels, dim))
    inner[:, 0] = 1.0
    if initial_directions is not None:
        attained, known, known_first = largest_gaps(pair, initial_directions)
        # Less what rounding may have added, so that a hint never decides the result.
        lower = np.maximum(attained - pair.rounding(), 0.0)
    upper = _sweep(pair, slack, _NO_LIMIT, lower, inner, sides)
    directions, from_first = frame.directions(inner), sides == 0
    if initial_directions is not None:
        raised = sides >= 0
        directions = np.where(raised[:, None], directions, known)
        from_first = np.where(raised, from_first, known_first)
    return LevelBounds(
        frame.lengths(lower), frame.lengths(np.maximum(lower, upper)), directions, from_first
    )


def raise_gaps(
    first: ArrayLike,
    second: ArrayLike,
    stops_first: ArrayLike,
    stops_second: ArrayLike,
    gaps: np.ndarray,
    *,
    slack: float,
    limit: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Raise gaps (L,) that some directions attain towards the exact ones, for a limited cost.

    Parameters
    ----------
    first, second, stops_first, stops_second
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
    pair = nested_pair(first, second, stops_first, stops_second)
    lower = np.ldexp(gaps, -pair.frame.exponent)
    inner = np.zeros((len(gaps), pair.frame.first.shape[1]))
    sides = np.full(len(gaps), -1, dtype=np.int64)
    _sweep(pair, slack, limit, lower, inner, sides)
    raised = np.flatnonzero(sides >= 0)
    return raised, pair.frame.lengths(lower[raised]), pair.frame.directions(inner[raised])


def _sweep(
    pair: NestedPair,
    slack: float,
    limit: float,
    lower: np.ndarray,
    directions: np.ndarray,
    sides: np.ndarray,
) -> np.ndarray:
    """Go through all levels; raise `lower`, set `directions` and `sides`, return upper bounds.

    Ends early when more than `limit` coordinates were looked at: the bounds are then unfinished.
    """
    from isodepth.hull.factor_loops import workspace
    from isodepth.hull.sweep_loops import sources, sweep

    a, b = pair.frame.first, pair.frame.second
    near, far = _Candidates(a, pair.stops_first), _Candidates(b, pair.stops_second)
    from_a, from_b = sources(a, b), sources(b, a)
    work = workspace(max(len(a), len(b)), a.shape[1])
    winner = np.array([0, -1], dtype=np.int64)
    upper = np.zeros(len(lower))
    level = 0
    while level < len(lower):
        last = min(near.start_chunk(level), far.start_chunk(level))
        sweep(
            near.targets(last), far.targets(last), from_a, from_b, pair.stops_first,
            pair.stops_second, level, last, work, winner, slack, limit, lower, upper, directions,
            sides,
        )  # fmt: skip
        level = last if work.spent[0] <= limit else len(lower)
    return upper


class _Candidates:
    """The rows that may span the hull of a growing prefix, thinned now and then.

    A row inside the hull stays inside, so thinning carries over; doing it once the rows that are
    new outnumber those kept costs little per row. Above three dimensions nearly all rows are
    vertices, and none is dropped.
    """

    def __init__(self, rows: np.ndarray, stops: np.ndarray) -> None:
        self._rows = rows
        self._stops = stops
        self._thin = rows.shape[1] <= MAX_DIMENSION
        self._kept = np.arange(0, dtype=np.int64)
        self._seen = 0

    def start_chunk(self, level: int) -> int:
        """Take in the rows of `level`; return the level before which no thinning is due."""
        stop = self._stops[level]
        self._kept = np.concatenate([self._kept, np.arange(self._seen, stop, dtype=np.int64)])
        self._seen = stop
        if not self._thin:
            return len(self._stops)
        self._kept = self._kept[extreme_rows(self._rows[self._kept])]
        workspace = max(_FRESH_ROWS, len(self._kept))
        return int(np.searchsorted(self._stops, stop + workspace, side="right"))

    def targets(self, last: int) -> Any:
        """Candidates of the levels before `last`, for the compiled loops."""
        from isodepth.hull.nearest_loops import targets_of

        fresh = np.arange(self._seen, self._stops[last - 1], dtype=np.int64)
        return targets_of(self._rows, np.concatenate([self._kept, fresh]))
