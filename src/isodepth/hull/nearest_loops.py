"""Compiled: the point of a convex hull nearest to a query, by Wolfe's minimum-norm algorithm.

The nearest point is kept as a positive combination of affinely independent rows (the *active*
rows). A step adds a row that lies far on the query's side of the present point, moves to the
nearest point of the affine span of the active rows, and drops the rows whose weight would turn
negative. The row that lies furthest proves a lower bound of the distance, so the remaining error is
always known.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from isodepth.engine.compiled.lite.loop import loop
from isodepth.hull.factor_loops import (
    EPSILON,
    SHORT,
    append,
    descend,
    distance_between,
    dot,
    factorize,
    move_to,
    straighten,
)

#: A relative duality gap that is as good as none: what rounding leaves of it.
EXACT = 1e-13
#: Far more steps than a projection takes: each one brings the point closer.
MAX_STEPS = 1_000_000
#: Rows that promise this share of what the best one does are listed, and used while they promise
#: that share of it. All candidates are looked at less often for it; the values matter little.
_LISTED = 0.5
_USEFUL = 0.25
#: How many listed rows may turn out to be no use.
_CHANCES = 8


class Targets(NamedTuple):
    """The rows that span a hull.

    `rows` (n, d) holds all of them; `columns` (d, h) the transposed candidates, of increasing row
    numbers `ids` (h,): rows known to be inside the hull of the others need not be candidates.
    """

    rows: Any
    columns: Any
    ids: Any


def targets_of(rows: np.ndarray, ids: np.ndarray) -> Targets:
    """Lay out the candidates `ids` (int64, increasing) of `rows` (n, d) for the loops."""
    return Targets(rows, np.ascontiguousarray(rows[ids].T), ids)


@loop
def lowest_slope(work, targets, start, stop, query):
    """Return the candidate of start..stop lowest along `work.offset`, and <offset, it - query>.

    Coordinates are the outer loop, so that the inner one runs over neighboring numbers; four at
    a time, so that the sums are fetched and stored less often.
    """
    columns, slopes, offset = targets.columns, work.slopes, work.offset
    for j in range(start, stop):
        slopes[j] = 0.0
    dim = offset.shape[0]
    work.spent[0] += (stop - start) * dim
    fours = dim - dim % 4
    for k in range(0, fours, 4):
        w, x, y, z = offset[k], offset[k + 1], offset[k + 2], offset[k + 3]
        qw, qx, qy, qz = query[k], query[k + 1], query[k + 2], query[k + 3]
        pw, px, py, pz = columns[k], columns[k + 1], columns[k + 2], columns[k + 3]
        for j in range(start, stop):
            slopes[j] += (w * (pw[j] - qw) + x * (px[j] - qx)) + (
                y * (py[j] - qy) + z * (pz[j] - qz)
            )
    for k in range(fours, dim):
        w, qw, pw = offset[k], query[k], columns[k]
        for j in range(start, stop):
            slopes[j] += w * (pw[j] - qw)
    found = start
    for j in range(start + 1, stop):
        if slopes[j] < slopes[found]:
            found = j
    return found, slopes[found]


@loop
def _make_shortlist(work, ids, stop, highest):
    """List the first candidates whose slope is at most `highest`; return how many."""
    slopes, shortlist = work.slopes, work.shortlist
    listed = 0
    for j in range(stop):
        if slopes[j] <= highest:
            shortlist[listed] = ids[j]
            listed += 1
            if listed == shortlist.shape[0]:
                break
    return listed


@loop
def _lowest_listed(work, rows, listed, query):
    """Return the listed row lowest along `work.offset`, and <offset, it - query>."""
    offset = work.offset
    origin = dot(offset, query)
    found, lowest = -1, np.inf
    for i in range(listed):
        slope = dot(offset, rows[work.shortlist[i]]) - origin
        if slope < lowest:
            found, lowest = work.shortlist[i], slope
    return found, lowest


@loop
def _closest_candidate(work, targets, stop, query):
    columns, squares = targets.columns, work.slopes
    for j in range(stop):
        squares[j] = 0.0
    for k in range(query.shape[0]):
        q, p = query[k], columns[k]
        for j in range(stop):
            squares[j] += (p[j] - q) ** 2
    found = 0
    for j in range(1, stop):
        if squares[j] < squares[found]:
            found = j
    return targets.ids[found]


@loop
def find_nearest(work, targets, stop, query, active, weights, count, enough, slack):
    """Find the point nearest to `query` in the hull of the first `stop` candidates.

    Parameters
    ----------
    work : Workspace
    targets : Targets
    stop : int
    query : (d,)
    active, weights : (k,) row numbers and their weights, changed in place
    count : how many of them to start from; 0 for none
    enough : stop as soon as the distance is known to be at most this
    slack : relative duality gap at which to stop

    Returns
    -------
    count : active rows in use
    distance : to the point they combine to: at least that to the hull
    lower : lower bound of the distance to the hull (0 where none was made)
    solved : whether it ended because nothing could be improved; `work.offset` then leads from the
        query to the nearest point, unless that is the query
    """
    rows, ids = targets.rows, targets.ids
    usable, height = False, 0.0
    if count > 0:
        usable, height = factorize(work, rows, active, count, query)
    if not usable:
        active[0] = _closest_candidate(work, targets, stop, query)
        weights[0] = 1.0
        count = 1
        usable, height = factorize(work, rows, active, count, query)
        if not usable:
            return count, 0.0, 0.0, True
    distance, reach = move_to(work, rows, active, weights, count, query)
    if distance < SHORT * reach:
        distance = straighten(work, count)
    lower, chances, listed, largest = 0.0, _CHANCES, 0, 0.0
    for _ in range(MAX_STEPS):
        if distance <= enough:
            return count, distance, lower, False
        if distance <= 8.0 * EPSILON * reach:
            # Rounding of the rows themselves: the query is inside.
            return count, 0.0, 0.0, True
        entering, from_list = -1, False
        if listed > 0:
            entering, slope = _lowest_listed(work, rows, listed, query)
            from_list = distance * distance - slope >= _USEFUL * largest
        if not from_list:
            found, slope = lowest_slope(work, targets, 0, stop, query)
            lower = slope / distance if slope > 0.0 else 0.0
            entering = ids[found]
            rounding = 4.0 * EPSILON * distance_between(rows[entering], query)
            if chances <= 0 or distance - lower <= slack * distance + rounding:
                return count, distance, lower, True
            largest = distance * distance - slope
            listed = _make_shortlist(work, ids, stop, slope + (1.0 - _LISTED) * largest)
        known = count == weights.shape[0]
        for i in range(count):
            known = known or active[i] == entering
        if known or not append(work, count, rows[entering], query, height):
            if not from_list:
                return count, distance, lower, True
            listed = 0
            continue
        active[count] = entering
        weights[count] = 0.0
        count, useful = descend(work, active, weights, count + 1)
        before = distance
        distance, reach = move_to(work, rows, active, weights, count, query)
        if distance < SHORT * reach:
            distance = straighten(work, count)
        if not useful or distance >= before:
            # Rounding is all that is left, unless a listed row was the wrong one: look at all
            # again, but not forever.
            chances = chances - 1 if from_list else 0
            listed = 0
    return count, distance, lower, False


@loop
def find_nearest_of_each(work, targets, queries, active, shares, weights, distances, lowers):
    """Project every query (q, d); fill `weights` (q, n), `distances` and `lowers` (q,).

    `active` int64 (k,) and `shares` (k,) are scratch space, as long as `work.affine`.
    """
    for i in range(queries.shape[0]):
        count, distances[i], lowers[i], _ = find_nearest(
            work, targets, targets.ids.shape[0], queries[i], active, shares, 0, 0.0, EXACT
        )
        for j in range(count):
            weights[i, active[j]] = shares[j]
