"""Compiled: nearest tables, with as little of each table looked at as possible."""

from __future__ import annotations

import math

import numpy as np

from isodepth.engine.compiled.lite.loop import loop
from isodepth.engine.compiled.mean_walk import power
from isodepth.metric.table_loops import SAFE_SQUARES, power_mean


@loop(fastmath={"nnan", "nsz"})
def largest_gap(a, b):
    """Largest |a - b| of two rows (W,)."""
    zero = a.dtype.type(0)
    g0 = zero
    g1 = zero
    g2 = zero
    g3 = zero
    width = a.shape[0]
    whole = width - width % 4
    # Four running maxima: one alone would wait for itself at every step.
    for k in range(0, whole, 4):
        x0 = abs(a[k] - b[k])
        x1 = abs(a[k + 1] - b[k + 1])
        x2 = abs(a[k + 2] - b[k + 2])
        x3 = abs(a[k + 3] - b[k + 3])
        g0 = x0 if x0 > g0 else g0
        g1 = x1 if x1 > g1 else g1
        g2 = x2 if x2 > g2 else g2
        g3 = x3 if x3 > g3 else g3
    for k in range(whole, width):
        x0 = abs(a[k] - b[k])
        g0 = x0 if x0 > g0 else g0
    return max(max(g0, g1), max(g2, g3))


@loop
def level_gap(a, b, q, unit):
    """Gap of two rows (W,): the largest |a - b|, or its mean of order q divided by `unit`.

    The same bits as in `tile_distances`: sums are taken in the same order.
    """
    width = a.shape[0]
    if q == 2.0:
        total = 0.0
        whole = width - width % 4
        for k in range(0, whole, 4):
            x0 = np.float64(a[k] - b[k])
            x1 = np.float64(a[k + 1] - b[k + 1])
            x2 = np.float64(a[k + 2] - b[k + 2])
            x3 = np.float64(a[k + 3] - b[k + 3])
            total += (x0 * x0 + x1 * x1) + (x2 * x2 + x3 * x3)
        for k in range(whole, width):
            x0 = np.float64(a[k] - b[k])
            total += x0 * x0
        if SAFE_SQUARES[0] < total < SAFE_SQUARES[1]:
            return math.sqrt(total / width) / unit
    largest = np.float64(largest_gap(a, b))
    if q == np.inf or largest == 0:
        return largest
    total = 0.0
    for k in range(width):
        total += power(np.float64(abs(a[k] - b[k])) / largest, q)
    return largest * (total / width) ** (1.0 / q) / unit


@loop
def distances_to(query, tables, places, p, q, unit, length, gaps, out):
    """Distances from `query` (L, W) to the tables (N, L, W) at `places` (M,), to `out` (M,).

    `gaps` (L,) is overwritten.
    """
    for at in range(places.shape[0]):
        for level in range(query.shape[0]):
            gaps[level] = level_gap(query[level], tables[places[at], level], q, unit)
        out[at] = power_mean(gaps, p, length)


@loop
def _share(gap, limit, p, weight):
    """How much of the allowed sum of powers a gap uses up, where `limit` allows a sum of one."""
    if limit == 0:
        return np.inf if gap > 0 else 0.0
    if p == np.inf:
        return 2.0 if gap > limit else 0.0
    return weight * (gap / limit) ** p


@loop
def _insert(distance, place, distances, places):
    """Put a neighbor in its place among the nearest so far; equal distances go by index."""
    k = distances.shape[0] - 1
    while k > 0 and (
        distances[k - 1] > distance or (distances[k - 1] == distance and places[k - 1] > place)
    ):
        distances[k] = distances[k - 1]
        places[k] = places[k - 1]
        k -= 1
    distances[k] = distance
    places[k] = place


@loop
def nearest(
    query, tables, order, bounds, levels, p, q, unit, length, slack, gaps, distances, places
):
    """Find the nearest tables among the candidates.

    Parameters
    ----------
    query : (L, W) table
    tables : (N, L, W) tables of the same dtype
    order : int64 (M,) candidates, by rising lower bound
    bounds : float64 (M,) lower bounds of their distances
    levels : int64 (L,) in which order to look at the levels: the telling ones first
    p, q, unit, length : as in `tile_distances`
    slack : how far rounding may move a distance, relative
    gaps : (L,), overwritten
    distances, places : (k,) the nearest so far, by distance and index; inf and -1 where none.
        Updated in place.

    Returns
    -------
    rows : how many rows (one level of one candidate) were looked at
    """
    n_levels = levels.shape[0]
    weight = length / n_levels
    last = distances.shape[0] - 1
    rows = 0
    for at in range(order.shape[0]):
        # A little more than the distance to beat: what ties with it must be looked at in full.
        limit = distances[last] * (1.0 + slack)
        if bounds[at] > limit:
            break
        candidate = tables[order[at]]
        used = 0.0
        for turn in range(n_levels):
            level = levels[turn]
            gaps[level] = level_gap(query[level], candidate[level], q, unit)
            rows += 1
            used += _share(gaps[level], limit, p, weight)
            if used > 1.0 + slack:
                break
        if used > 1.0 + slack:
            continue
        distance = power_mean(gaps, p, length)
        closer = distance < distances[last]
        if closer or (distance == distances[last] and order[at] < places[last]):
            _insert(distance, order[at], distances, places)
    return rows
