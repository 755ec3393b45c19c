"""Compiled: median, median absolute deviation and outlyingness of a block of projections."""

from __future__ import annotations

import numpy as np
from numba import njit

from isodepth.backend.sorting import probe, sort_room, sort_with_index

# Up to this many elements sorting is the quickest way to any order statistic.
_SMALL = 64
_PROBES = 24
# Two standard deviations of the rank among the probes: a wider bracket keeps more, a narrower one
# misses more often.
_MARGIN = 5


@njit(cache=True, nogil=True)
def _insertion_sort(values, size):
    for i in range(1, size):
        x = values[i]
        j = i - 1
        while j >= 0 and values[j] > x:
            values[j + 1] = values[j]
            j -= 1
        values[j + 1] = x


@njit(cache=True, nogil=True)
def _count(source, size, low, high):
    """How many of the first `size` elements are < low, and how many <= high."""
    below = 0
    upto = 0
    for i in range(size):
        below += source[i] < low
        upto += source[i] <= high
    return below, upto


@njit(cache=True, nogil=True)
def order_statistic(values, rank, work):
    """The element of `values` (n,) that has `rank` (from 0) in sorted order.

    A few evenly spaced elements bracket it; only what lies between is looked at again. `work`
    (n + 1,) is scratch space.
    """
    size = values.shape[0]
    source = values
    probes = np.empty(_PROBES, values.dtype)
    while size > _SMALL:
        probe(source[:size], probes)
        middle = (rank * _PROBES) // size
        low = probes[max(0, middle - _MARGIN)]
        high = probes[min(_PROBES - 1, middle + _MARGIN)]
        below, upto = _count(source, size, low, high)
        if below == 0 and upto == size and low != high:
            # Nothing would be left out, as with few distinct values: bracket the smallest alone.
            high = low
            below, upto = _count(source, size, low, high)
        kept = 0
        # What is kept is written over what has been read, so `source` may be `work`.
        if rank < below:
            for i in range(size):
                x = source[i]
                work[kept] = x
                kept += x < low
        elif rank >= upto:
            for i in range(size):
                x = source[i]
                work[kept] = x
                kept += x > high
            rank -= upto
        elif low == high:
            return low
        else:
            for i in range(size):
                x = source[i]
                work[kept] = x
                kept += (x >= low) & (x <= high)
            rank -= below
        size = kept
        source = work
    if size == values.shape[0]:
        for i in range(size):
            work[i] = values[i]
    _insertion_sort(work, size)
    return work[rank]


@njit(cache=True, nogil=True)
def median(values, work):
    """The usual sample median of `values` (n,)."""
    n = values.shape[0]
    low = order_statistic(values, (n - 1) // 2, work)
    if n % 2 == 1:
        return low
    upto = 0
    above = values.dtype.type(np.inf)
    for i in range(n):
        x = values[i]
        upto += x <= low
        above = x if (x > low) & (x < above) else above
    high = low if upto > n // 2 else above
    # Halving first: symmetric under a change of sign, and the sum cannot overflow.
    half = values.dtype.type(0.5)
    return half * low + half * high


@njit(cache=True, nogil=True)
def small_median_and_mad(values, work):
    """Median and median absolute deviation of a few `values` (n,), from one sort."""
    n = values.shape[0]
    for i in range(n):
        work[i] = values[i]
    _insertion_sort(work, n)
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
def median_and_mad(values, work, deviations):
    """Median and median absolute deviation of `values` (n,); the rest is scratch space."""
    if values.shape[0] <= _SMALL:
        return small_median_and_mad(values, work)
    middle = median(values, work)
    for i in range(values.shape[0]):
        deviations[i] = abs(values[i] - middle)
    return middle, median(deviations, work)


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
def outlyingness_block(
    projections, masses, total, zero, reach, queries, query_reach, out, first, where
):
    """Raise `out` to the largest |<u,x> - med| / MAD seen at each point.

    Parameters
    ----------
    projections : (B, n) array of the sample that gives median and MAD
    masses : int64 (n,), or empty for unit masses
    total : int, the sum of the masses
    zero : a MAD of at most this is rounding
    reach : (n,) deviations of at most this are rounding
    queries : (B, m) array of the points to judge, or (0, 0) to judge the sample itself
    query_reach : (m,) or (0,)
    out : (m,) or (n,), updated in place
    first : index of the first of these directions
    where : int64 (m,) or (n,), the direction that gave the largest, or empty
    """
    n = projections.shape[1]
    weighted = masses.shape[0] > 0
    work = np.empty(n + 1, projections.dtype)
    deviations = np.empty(n, projections.dtype)
    room = sort_room(work[: n if weighted else 0])
    for row in range(projections.shape[0]):
        v = projections[row]
        if weighted:
            middle = weighted_median(v, masses, total, room)
            for i in range(n):
                deviations[i] = abs(v[i] - middle)
            mad = weighted_median(deviations, masses, total, room)
        else:
            middle, mad = median_and_mad(v, work, deviations)
        if queries.shape[0] == 0:
            _raise_outlyingness(v, middle, mad, zero, reach, out, first + row, where)
        else:
            judged = queries[row]
            _raise_outlyingness(judged, middle, mad, zero, query_reach, out, first + row, where)
