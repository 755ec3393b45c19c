"""Compiled: which points carry the median and the MAD of planar projections, arc by arc."""

from __future__ import annotations

import numpy as np

from isodepth.depth.exact.predicates import INNER, ROUNDOFF
from isodepth.engine.compiled.jit import njit


@njit(**INNER)
def _sort_again(order, values):
    """Sort indices by their values; quick when they were nearly in order, as from arc to arc."""
    for start in range(1, order.shape[0]):
        moved = order[start]
        place = start
        while place > 0 and values[order[place - 1]] > values[moved]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = moved


@njit(**INNER)
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


@njit(**INNER)
def _moved(points, rounding, i, j, k):
    """How much a determinant of i, j, k can change when only i moves within its rounding."""
    return rounding[i, 0] * abs(points[j, 1] - points[k, 1]) + rounding[i, 1] * abs(
        points[j, 0] - points[k, 0]
    )


@njit(cache=True, nogil=True)
def are_in_line(points, rounding, i, j, k):
    """Whether moving coordinates by no more than `rounding` (n, 2) can put i, j, k on one line."""
    # The determinant is computed from the corner opposite the longest side, where it is smallest.
    longest = -1.0
    for _ in range(3):
        length = abs(points[j, 0] - points[k, 0]) + abs(points[j, 1] - points[k, 1])
        if length > longest:
            longest, corner, first, second = length, i, j, k
        i, j, k = j, k, i
    ax, ay = points[first, 0] - points[corner, 0], points[first, 1] - points[corner, 1]
    bx, by = points[second, 0] - points[corner, 0], points[second, 1] - points[corner, 1]
    allowed = _moved(points, rounding, i, j, k)
    allowed += _moved(points, rounding, j, k, i) + _moved(points, rounding, k, i, j)
    allowed += 4.0 * ROUNDOFF * (abs(ax * by) + abs(ay * bx))
    return abs(ax * by - ay * bx) <= allowed


@njit(cache=True, nogil=True)
def find_heavy_lines(points, rounding, masses):
    """Lines that hold more than half of the mass, up to the rounding of the coordinates.

    Parameters
    ----------
    points : float64 (n, 2), distinct
    rounding : float64 (n, 2), how far each coordinate may be from what was meant
    masses : int64 (n,), none more than half of the total

    Returns
    -------
    members : bool (h, n), which points lie on each line
    """
    n = points.shape[0]
    total = masses.sum()
    # Two such lines always share a point, so there are at most n (Fisher's inequality).
    found = np.zeros((n, n), dtype=np.bool_)
    count = 0
    passed = np.int64(0)
    for i in range(n):
        # When half of the mass has been passed, a heavy line has been met.
        if 2 * passed >= total or count == n:
            break
        passed += masses[i]
        for j in range(i + 1, n):
            known = False
            for h in range(count):
                known = known or (found[h, i] and found[h, j])
            if known or count == n:
                continue
            mass = np.int64(0)
            for k in range(n):
                found[count, k] = k in (i, j) or are_in_line(points, rounding, i, j, k)
                if found[count, k]:
                    mass += masses[k]
            if 2 * mass > total:
                count += 1
    return found[:count]
