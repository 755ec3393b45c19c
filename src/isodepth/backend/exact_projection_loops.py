"""Compiled: which points carry the median and the MAD of planar projections, arc by arc."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def _sort_again(order, values):
    """Sort indices by their values; quick when they were nearly in order, as from arc to arc."""
    for start in range(1, order.shape[0]):
        moved = order[start]
        place = start
        while place > 0 and values[order[place - 1]] > values[moved]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = moved


@njit(cache=True, nogil=True)
def _middle(order, masses, total):
    """Indices of the lower and of the upper weighted median of values sorted by `order`."""
    below = np.int64(0)
    lower = -1
    for place in range(order.shape[0]):
        i = order[place]
        below += masses[i]
        if lower < 0 and 2 * below >= total:
            lower = i
        if 2 * below > total:
            return lower, i
    return lower, lower


@njit(cache=True, nogil=True)
def median_pairs(points, masses, angles):
    """The points whose mean is the median of the projections, in each of the directions given.

    Parameters
    ----------
    points : float64 (n, 2), distinct
    masses : int64 (n,)
    angles : float64 (k,), increasing

    Returns
    -------
    pairs : int64 (k, 2)
    """
    n = points.shape[0]
    total = masses.sum()
    order = np.arange(n)
    values = np.empty(n)
    pairs = np.empty((angles.shape[0], 2), dtype=np.int64)
    for t in range(angles.shape[0]):
        c, s = np.cos(angles[t]), np.sin(angles[t])
        for i in range(n):
            values[i] = c * points[i, 0] + s * points[i, 1]
        _sort_again(order, values)
        pairs[t] = _middle(order, masses, total)
    return pairs


@njit(cache=True, nogil=True)
def spread_vectors(offsets, masses, angles, order):
    """Vectors whose products with the directions are the weighted medians of ``|offsets @ u|``.

    Parameters
    ----------
    offsets : float64 (n, 2), the points seen from the median
    masses : int64 (n,)
    angles : float64 (k,), increasing
    order : int64 (n,), a guess of the order of the deviations, replaced by the last order found

    Returns
    -------
    vectors : float64 (k, 2)
    """
    n = offsets.shape[0]
    total = masses.sum()
    values = np.empty(n)
    vectors = np.empty((angles.shape[0], 2))
    for t in range(angles.shape[0]):
        c, s = np.cos(angles[t]), np.sin(angles[t])
        for i in range(n):
            values[i] = abs(c * offsets[i, 0] + s * offsets[i, 1])
        _sort_again(order, values)
        vectors[t] = 0.0
        for i in _middle(order, masses, total):
            sign = 1.0 if c * offsets[i, 0] + s * offsets[i, 1] >= 0.0 else -1.0
            for k in range(2):
                vectors[t, k] += 0.5 * sign * offsets[i, k]
    return vectors


@njit(cache=True, nogil=True)
def find_heavy_lines(points, masses, tolerance):
    """Lines that hold more than half of the mass, up to the rounding of the coordinates.

    Parameters
    ----------
    points : float64 (n, 2), distinct
    masses : int64 (n,), none more than half of the total
    tolerance : float64 (2,), how far each coordinate may be from what was meant

    Returns
    -------
    members : bool (h, n), which points lie on each line
    """
    n = points.shape[0]
    total = masses.sum()
    found = np.empty((n, n), dtype=np.bool_)
    count = 0
    passed = np.int64(0)
    on_line = np.empty(n, dtype=np.bool_)
    for i in range(n):
        # What is left has at most half of the mass, so a heavy line would have been met.
        if 2 * passed >= total:
            break
        passed += masses[i]
        for j in range(i + 1, n):
            known = False
            for h in range(count):
                if found[h, i] and found[h, j]:
                    known = True
                    break
            if known:
                continue
            mass = np.int64(0)
            for k in range(n):
                on_line[k] = is_on_line(points, i, j, points[k], tolerance)
                if on_line[k]:
                    mass += masses[k]
            if 2 * mass > total and count < n:
                found[count] = on_line
                count += 1
    return found[:count]


@njit(cache=True, nogil=True)
def is_on_line(points, i, j, point, tolerance):
    """Whether moving coordinates by no more than `tolerance` can put `point` on the line of i, j."""
    ax, ay = points[j, 0] - points[i, 0], points[j, 1] - points[i, 1]
    bx, by = point[0] - points[i, 0], point[1] - points[i, 1]
    allowed = tolerance[0] * (abs(ay) + abs(by)) + tolerance[1] * (abs(ax) + abs(bx))
    return abs(ax * by - ay * bx) <= 2.0 * allowed
