"""Compiled: median, median absolute deviation and outlyingness of a block of projections."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from isodepth.backend.selection import SMALL, insertion_sort, middle_pair
from isodepth.backend.sorting import centre_and_spread, sort_room, sort_with_index


class SpreadRoom(NamedTuple):
    """Scratch space for medians of n values."""

    work: Any  # (n + 1,)
    deviations: Any  # (n,)
    inside: Any  # uint8, n rounded up to a multiple of 8


@njit(cache=True, nogil=True)
def spread_room(values):
    """Allocate for projections like `values` (n,)."""
    n = values.shape[0]
    return SpreadRoom(
        np.empty(n + 1, values.dtype),
        np.empty(n, values.dtype),
        np.empty((n + 7) // 8 * 8, np.uint8),
    )


@njit(cache=True, nogil=True)
def small_median_and_mad(values, work):
    """Median and median absolute deviation of a few `values` (n,), from one sort."""
    n = values.shape[0]
    for i in range(n):
        work[i] = values[i]
    insertion_sort(work, n)
    half = values.dtype.type(0.5)
    low = (n - 1) // 2
    middle = half * work[low] + half * work[n // 2]
    # Deviations rise outwards on both sides: walk out from the middle, smaller step first.
    left = low
    right = low + 1
    deviation = values.dtype.type(0)
    before = deviation
    for _ in range(n // 2 + 1):
        before = deviation
        if right == n or (left >= 0 and middle - work[left] <= work[right] - middle):
            deviation = abs(work[left] - middle)
            left -= 1
        else:
            deviation = abs(work[right] - middle)
            right += 1
    return middle, deviation if n % 2 == 1 else half * before + half * deviation


@njit(cache=True, nogil=True)
def _mean_of_middle(values, guess, spread, room):
    """The usual sample median of `values` (n,); guess and spread as in `middle_pair`."""
    low, high = middle_pair(values, guess, spread, room.inside, room.work)
    # Halving first: symmetric under a change of sign, and the sum cannot overflow.
    half = values.dtype.type(0.5)
    return half * low + half * high


@njit(cache=True, nogil=True)
def median_and_mad(values, room):
    """Median and median absolute deviation of `values` (n,)."""
    if values.shape[0] <= SMALL:
        return small_median_and_mad(values, room.work)
    centre, spread = centre_and_spread(values)
    if not spread > 0:
        return values[0], spread
    middle = _mean_of_middle(values, centre, spread, room)
    for i in range(values.shape[0]):
        room.deviations[i] = abs(values[i] - middle)
    # Half of the distance of the quartiles; the density there is that of a normal law.
    half = values.dtype.type(0.5)
    wide = values.dtype.type(0.625)
    return middle, _mean_of_middle(room.deviations, half * spread, wide * spread, room)


@njit(cache=True, nogil=True)
def weighted_median(values, masses, total, room):
    """The median of `values` (n,) repeated `masses` (n,) times."""
    sort_with_index(values, room)
    keys, index = room.keys, room.index
    cumulated = total - total
    low = keys[0]
    found = False
    half = values.dtype.type(0.5)
    for i in range(values.shape[0]):
        cumulated += masses[index[i]]
        if not found and 2 * cumulated >= total:
            low = keys[i]
            found = True
        if 2 * cumulated > total:
            return half * low + half * keys[i]
    return low


@njit(cache=True, nogil=True)
def _raise_outlyingness(projection, middle, mad, zero, reach, out, direction, where):
    """Raise `out` (n,) to |projection - middle| / mad; a MAD up to `zero` counts as none."""
    n = projection.shape[0]
    if where.shape[0] > 0:
        for i in range(n):
            x = abs(projection[i] - middle)
            if mad > zero:
                x /= mad
            else:
                x = projection.dtype.type(np.inf if x > reach[i] else 0.0)
            if x > out[i]:
                out[i] = x
                where[i] = direction
    elif mad > zero:
        scale = projection.dtype.type(1.0) / mad
        for i in range(n):
            x = abs(projection[i] - middle) * scale
            out[i] = x if x > out[i] else out[i]
    else:
        for i in range(n):
            if abs(projection[i] - middle) > reach[i]:
                out[i] = np.inf


@njit(cache=True, nogil=True)
def outlyingness_block(projections, zero, reach, queries, query_reach, out, first, where):
    """Raise `out` to the largest |<u,x> - med| / MAD seen at each point, for equal masses.

    Parameters
    ----------
    projections : (B, n) array of the sample that gives median and MAD
    zero : a MAD of at most this is rounding
    reach : (n,) deviations of at most this are rounding
    queries : (B, m) array of the points to judge, or (0, 0) to judge the sample itself
    query_reach : (m,) or (0,)
    out : (m,) or (n,), updated in place
    first : index of the first of these directions
    where : int64 (m,) or (n,), the direction that gave the largest, or empty
    """
    room = spread_room(projections[0])
    for row in range(projections.shape[0]):
        middle, mad = median_and_mad(projections[row], room)
        if queries.shape[0] == 0:
            judged, judged_reach = projections[row], reach
        else:
            judged, judged_reach = queries[row], query_reach
        _raise_outlyingness(judged, middle, mad, zero, judged_reach, out, first + row, where)


@njit(cache=True, nogil=True)
def weighted_outlyingness_block(
    projections, masses, total, zero, reach, queries, query_reach, out, first, where
):
    """The same for int64 `masses` (n,) that add up to `total`."""
    n = projections.shape[1]
    deviations = np.empty(n, projections.dtype)
    room = sort_room(deviations)
    for row in range(projections.shape[0]):
        v = projections[row]
        middle = weighted_median(v, masses, total, room)
        for i in range(n):
            deviations[i] = abs(v[i] - middle)
        mad = weighted_median(deviations, masses, total, room)
        if queries.shape[0] == 0:
            judged, judged_reach = v, reach
        else:
            judged, judged_reach = queries[row], query_reach
        _raise_outlyingness(judged, middle, mad, zero, judged_reach, out, first + row, where)
