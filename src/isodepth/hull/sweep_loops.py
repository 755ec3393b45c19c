"""Compiled: Hausdorff distances of growing hulls, with bounds that decide what need not be solved.

The distance from a fixed point to a growing hull only falls. So the distance to any point ever
found in the other hull stays an upper bound, and at each level only the points whose bound exceeds
the largest distance found so far are looked at again, those of the largest bound first; a
projection stops as soon as it falls below that distance. A solved projection is resumed from its
active rows, and only the rows that entered since can have changed it.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from isodepth.engine.compiled.lite.loop import loop
from isodepth.hull.factor_loops import (
    EPSILON,
    SHORT,
    distance_between,
    dot,
    factorize,
    move_to,
    straighten,
)
from isodepth.hull.nearest_loops import EXACT, find_nearest, lowest_slope


class Sources(NamedTuple):
    """What is known of the distance from each of n rows to the other hull: see :func:`sources`."""

    active: Any  # (n, k) rows of the other sample that combine to the nearest point known
    weights: Any  # (n, k)
    count: Any  # (n,) how many of them are in use; 0: never projected
    bound: Any  # (n,) upper bound of the distance
    lower: Any  # (n,) lower bound, valid once solved
    solved: Any  # (n,) the number of rows of the other sample it is solved for; 0: not solved
    looked: Any  # (n,) the last level at which it was looked at


def sources(rows: np.ndarray, others: np.ndarray) -> Sources:
    """Start with nothing known but the distance to the first of the other rows."""
    n, k = len(rows), min(len(others), rows.shape[1] + 1)
    return Sources(
        active=np.zeros((n, k), dtype=np.int64),
        weights=np.zeros((n, k)),
        count=np.zeros(n, dtype=np.int64),
        bound=np.sqrt(((rows - others[0]) ** 2).sum(axis=1)),
        lower=np.zeros(n),
        solved=np.zeros(n, dtype=np.int64),
        looked=np.full(n, -1, dtype=np.int64),
    )


@loop
def _n_below(numbers, limit):
    """How many of the increasing numbers are below a limit; compiles faster than searchsorted."""
    low, high = 0, numbers.shape[0]
    while low < high:
        middle = (low + high) // 2
        if numbers[middle] < limit:
            low = middle + 1
        else:
            high = middle
    return low


@loop
def _still_solved(work, state, i, query, targets, stop, slack):
    """Whether no candidate that entered since row `i` was solved brings the hull closer to it."""
    if state.solved[i] == 0:
        return False
    if state.bound[i] == 0.0:
        return True
    rows, active, count = targets.rows, state.active[i], state.count[i]
    distance, reach = move_to(work, rows, active, state.weights[i], count, query)
    if distance < SHORT * reach and factorize(work, rows, active, count, query)[0]:
        distance = straighten(work, count)
    start = _n_below(targets.ids, state.solved[i])
    if start >= stop:
        return True
    found, slope = lowest_slope(work, targets, start, stop, query)
    lower = slope / distance if slope > 0.0 else 0.0
    rounding = 4.0 * EPSILON * distance_between(targets.rows[targets.ids[found]], query)
    if distance - lower > slack * distance + rounding:
        return False
    if lower < state.lower[i]:
        state.lower[i] = lower
    return True


@loop
def _project(work, state, i, query, targets, stop, enough, slack):
    """Sharpen the bounds of row `i`; True if solved, and then `work.offset` leads to the hull."""
    if not _still_solved(work, state, i, query, targets, stop, slack):
        count, distance, lower, solved = find_nearest(
            work, targets, stop, query, state.active[i], state.weights[i], state.count[i],
            enough, slack,
        )  # fmt: skip
        state.count[i] = count
        state.lower[i] = lower
        if not solved:
            state.solved[i] = 0
            if distance < state.bound[i]:
                state.bound[i] = distance
            return False
        # A solution replaces the bound, so that both bounds speak of one point.
        state.bound[i] = distance
    state.solved[i] = targets.ids[stop - 1] + 1
    return True


@loop
def _largest_open(state, ids, stop, level):
    """Return the candidate of largest bound not looked at in this level, or -1, and its bound."""
    found, largest = -1, -1.0
    for j in range(stop):
        i = ids[j]
        if state.bound[i] > largest and state.looked[i] != level:
            found, largest = i, state.bound[i]
    return found, largest


@loop
def _largest_bound(state, ids, stop):
    largest = 0.0
    for j in range(stop):
        if state.bound[ids[j]] > largest:
            largest = state.bound[ids[j]]
    return largest


@loop
def _reached(work, state, i, query, targets, stop, level, best, slack):
    """Look at row `i`; its distance if that is solved, else -1."""
    state.looked[i] = level
    if not _project(work, state, i, query, targets, stop, (1.0 + slack) * best, slack):
        return -1.0
    # Solved exactly, the distance is the more precise of its two bounds.
    return state.bound[i] if slack <= EXACT else state.lower[i]


@loop
def sweep(
    first, second, from_first, from_second, stops_first, stops_second, first_level, last_level,
    work, winner, slack, limit, lower, upper, directions, sides,
):  # fmt: skip
    """Bound the Hausdorff distances of levels first_level..last_level.

    Parameters
    ----------
    first, second : Targets of both samples
    from_first, from_second : Sources of both samples, updated in place
    stops_first, stops_second : int64 (L,) rows inside, per level
    work : Workspace
    winner : int64 (2,) side and row of the last witness (row -1: none), updated in place
    slack : relative difference of the bounds that is good enough; up to EXACT, `lower` is set to
        the distance itself
    limit : when `work.spent` exceeds this, end: the upper bounds are then not to be used
    lower : (L,) values known to be attained, raised in place
    upper : (L,) set to upper bounds
    directions : (L, d) unit vectors that attain `lower`, set where it is raised
    sides : int64 (L,) set where it is raised: 0 if the first hull sticks out, 1 if the second does
    """
    for level in range(first_level, last_level):
        stop_first = _n_below(first.ids, stops_first[level])
        stop_second = _n_below(second.ids, stops_second[level])
        best = lower[level]
        # What was furthest out a level ago most often still is.
        side, i = winner[0], winner[1]
        while True:
            if i < 0:
                side = 0
                i, bound = _largest_open(from_first, first.ids, stop_first, level)
                other, other_bound = _largest_open(from_second, second.ids, stop_second, level)
                if other_bound > bound:
                    side, i, bound = 1, other, other_bound
                if bound <= (1.0 + slack) * best:
                    break
            if work.spent[0] > limit:
                lower[level] = best
                return
            if side == 0:
                value = _reached(
                    work, from_first, i, first.rows[i], second, stop_second, level, best, slack
                )
            else:
                value = _reached(
                    work, from_second, i, second.rows[i], first, stop_first, level, best, slack
                )
            if value > best:
                best = value
                size = math.sqrt(dot(work.offset, work.offset))
                for k in range(work.offset.shape[0]):
                    directions[level, k] = -work.offset[k] / size
                winner[0], winner[1] = side, i
                sides[level] = side
            i = -1
        lower[level] = best
        bound = _largest_bound(from_first, first.ids, stop_first)
        other_bound = _largest_bound(from_second, second.ids, stop_second)
        upper[level] = bound if bound > other_bound else other_bound
