"""Refinement: raise the gaps that the directions attain towards the supremum.

First a few climbers start from the best directions found, for a few levels, and what they reach is
tried on all levels: one step costs each of them one projection of both samples, so together they
cost less than the thousand directions they start from. Then, where the samples are small enough
that it costs no more than what went before, corners that could still reach further out are looked
at one by one, as for the exact distance, until none is left or the allowance is spent.
"""

from __future__ import annotations

import numpy as np

from isodepth.core.levels import LevelPlan
from isodepth.engine.gap_passes import search_gaps
from isodepth.engine.signed import moved, place_of, signed_directions
from isodepth.engine.support_passes import support_points
from isodepth.engine.threads import Resources, single_threaded_blas
from isodepth.hull import raise_gaps

_MOST_LEVELS = 8
_FEWEST_CLIMBERS = 8
_MOST_CLIMBERS = 32
# Close enough to the best there is, as a share of the gap.
_SLACK = 1e-3
_FULL = 1e-10
# Looking at a coordinate of a point costs about a nanosecond; twenty steps may cost somewhat less
# than a distance without refinement does.
_WORK_PER_STEP = 0.01
# Some milliseconds, allowed however few the directions.
_LEAST_WORK = 3e6
_CHEAP = 0.25


def refine_gaps(
    x: np.ndarray,
    y: np.ndarray,
    plan: LevelPlan,
    directions: np.ndarray,
    gaps: np.ndarray,
    where: np.ndarray,
    steps: int,
    resources: Resources,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Raise the gaps of `search_gaps` by at most `steps` steps of ascent.

    Returns
    -------
    gaps : ndarray of shape (L,), nowhere smaller than before
    vectors : ndarray of shape (K + J, d), the directions with the new ones after them
    where : int64 ndarray of shape (L,), as in `search_gaps`, into `vectors`
    """
    n, m, d = int(plan.stops_x[-1]), int(plan.stops_y[-1]), x.shape[1]
    limit = max(_LEAST_WORK, _WORK_PER_STEP * steps * len(directions) * (n + m) * (d + 50))
    every_corner = 2 * n * m * d
    # Few points: looking at every corner is cheaper than climbing first, and can be done in full.
    cheap = every_corner <= _CHEAP * limit
    if not cheap:
        gaps, directions, where = _climb_gaps(x, y, plan, directions, gaps, where, steps, resources)
    if every_corner <= 2 * limit:
        raised, values, sharper = raise_gaps(
            x, y, plan.stops_x, plan.stops_y, gaps, slack=_FULL if cheap else _SLACK, limit=limit
        )
        gaps, where = gaps.copy(), where.copy()
        gaps[raised] = np.maximum(gaps[raised], values)
        where[raised] = len(directions) + np.arange(len(raised))
        directions = np.concatenate([directions, sharper])
    return gaps, directions, where


def _climb_gaps(
    x: np.ndarray,
    y: np.ndarray,
    plan: LevelPlan,
    directions: np.ndarray,
    gaps: np.ndarray,
    where: np.ndarray,
    steps: int,
    resources: Resources,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    chosen = chosen_levels(plan, gaps)
    stops = plan.stops_x[chosen], plan.stops_y[chosen]
    # As many climbers as leave the cost in proportion to that of the search.
    n_climbers = min(_MOST_CLIMBERS, max(_FEWEST_CLIMBERS, len(directions) // 16))
    starts = _starts(x, y, *stops, signed_directions(directions, where[chosen]), directions, where)
    tops = _climb(x, y, *stops, starts, n_climbers, steps)
    new_gaps, new_where = search_gaps(x, y, plan.stops_x, plan.stops_y, tops, resources)
    better = new_gaps > gaps
    return (
        np.where(better, new_gaps, gaps),
        np.concatenate([directions, tops]),
        np.where(better, moved(new_where, len(directions)), where),
    )


def chosen_levels(plan: LevelPlan, gaps: np.ndarray) -> np.ndarray:
    """The levels worth climbing for: spread evenly over the mass, and the largest gap."""
    n_levels = len(plan.shares)
    if n_levels <= _MOST_LEVELS:
        return np.arange(n_levels)
    middles = np.cumsum(plan.shares) - 0.5 * plan.shares
    wanted = (np.arange(_MOST_LEVELS - 1) + 0.5) / (_MOST_LEVELS - 1)
    spread = np.searchsorted(middles, wanted).clip(max=n_levels - 1)
    return np.unique(np.append(spread, gaps.argmax()))


def _starts(
    x: np.ndarray,
    y: np.ndarray,
    stops_x: np.ndarray,
    stops_y: np.ndarray,
    found: np.ndarray,
    directions: np.ndarray,
    where: np.ndarray,
) -> np.ndarray:
    """Directions worth starting from: the best at some level, and those between the centers."""
    apart = np.stack(
        [_prefix_mean(x, i) - _prefix_mean(y, j) for i, j in zip(stops_x, stops_y, strict=True)]
    )
    largest = np.abs(apart).max(axis=1)
    # Samples with one center have no such direction.
    apart = apart[largest > 0] / largest[largest > 0, None]
    apart /= np.linalg.norm(apart, axis=1, keepdims=True)
    winners = np.unique(place_of(where))
    few = winners[:: -(-len(winners) // _MOST_CLIMBERS)]
    return np.concatenate([found, apart, directions[few]])


def _prefix_mean(rows: np.ndarray, stop: int) -> np.ndarray:
    # Mean of a few hundred evenly spaced rows: a start needs no more.
    return rows[: stop : max(1, stop // 256)].mean(axis=0, dtype=np.float64)


def _climb(
    x: np.ndarray,
    y: np.ndarray,
    stops_x: np.ndarray,
    stops_y: np.ndarray,
    starts: np.ndarray,
    n_climbers: int,
    steps: int,
) -> np.ndarray:
    """The directions (J, d) at which climbers from the given starts (C, d) arrive."""
    from isodepth.gap.ascent_loops import climb, climbers, place

    state = climbers(n_climbers, x.shape[1], steps)
    with single_threaded_blas():
        sx, sy = (support_points(*pair, starts) for pair in ((x, stops_x), (y, stops_y)))
        corners = _best_corners(sx, sy, n_climbers)
        live = []
        for c, (level, k, sign, side, corner, met) in enumerate(corners):
            state.level[c], state.side[c], state.corner[c] = level, side, corner
            state.best[c] = sign * starts[k]
            if place(x, y, state, c, met):
                live.append(c)
        going = np.array(live, dtype=np.int64)
        for _ in range(steps):
            if not len(going):
                break
            trials = state.trial[going]
            sx, sy = (support_points(*pair, trials) for pair in ((x, stops_x), (y, stops_y)))
            goes_on = np.zeros(len(going), dtype=bool)
            climb(x, y, sx, sy, state, going, _SLACK, goes_on)
            going = going[goes_on]
    return state.best[: len(corners)]


def _best_corners(
    sx: np.ndarray, sy: np.ndarray, n_climbers: int
) -> list[tuple[int, int, float, int, int, int]]:
    """For each climber (level, start, sign, side, corner, support point opposite).

    The levels take turns, each with the corner that reaches furthest among those not yet taken.
    """
    n_levels = sx.shape[1]
    # Gaps at u and at -u, positive where x reaches further.
    gaps = np.stack([sx[0] - sy[0], sy[1] - sx[1]], axis=1)
    ranked = np.argsort(-np.abs(gaps).reshape(n_levels, -1), axis=1, kind="stable").tolist()
    taken: set[tuple[int, int, int]] = set()
    chosen: list[tuple[int, int, float, int, int, int]] = []
    n_starts = sx.shape[2]
    while len(chosen) < n_climbers and any(ranked):
        for level in range(n_levels):
            while ranked[level] and len(chosen) < n_climbers:
                sign, k = divmod(ranked[level].pop(0), n_starts)
                side = int(gaps[level, sign, k] < 0)
                at = (int(sx[2 + sign, level, k]), int(sy[2 + sign, level, k]))
                if (level, side, at[side]) not in taken:
                    taken.add((level, side, at[side]))
                    chosen.append((level, k, 1.0 - 2.0 * sign, side, at[side], at[1 - side]))
                    break
    return chosen
