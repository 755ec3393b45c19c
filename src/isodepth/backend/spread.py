"""Compiled: median, median absolute deviation and outlyingness of a block of projections."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from isodepth.backend.sorting import centre_and_spread, sort_room, sort_with_index

# Up to this many elements sorting is the quickest way to any order statistic.
_SMALL = 64
# Elements a bucket should hold near the middle, roughly.
_PER_BUCKET = 8


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
def _select(work, size, rank):
    """The element of `work[:size]` that has `rank` in sorted order, by dividing in three.

    `work` is rearranged and partly overwritten.
    """
    while True:
        pivot = work[size // 2]
        less = 0
        equal = 0
        for i in range(size):
            less += work[i] < pivot
            equal += work[i] == pivot
        if less <= rank < less + equal:
            return pivot
        kept = 0
        if rank < less:
            for i in range(size):
                x = work[i]
                work[kept] = x
                kept += x < pivot
        else:
            rank -= less + equal
            for i in range(size):
                x = work[i]
                work[kept] = x
                kept += x > pivot
        size = kept


class SpreadRoom(NamedTuple):
    """Scratch space for medians of n values."""

    work: Any  # (n + 1,)
    deviations: Any  # (n,)
    bucket: Any  # (n,) int32
    count: Any  # (b,) int32


@njit(cache=True, nogil=True)
def spread_room(values):
    """Allocate for projections like `values` (n,)."""
    n = values.shape[0]
    return SpreadRoom(
        np.empty(n + 1, values.dtype),
        np.empty(n, values.dtype),
        np.empty(n, np.int32),
        np.empty(n // _PER_BUCKET + 16, np.int32),
    )


@njit(cache=True, nogil=True)
def _gather(values, low, high, room):
    """Copy the values of buckets low..high to the front of `room.work`; return how many."""
    kept = 0
    for i in range(values.shape[0]):
        b = room.bucket[i]
        if b >= low and b <= high:
            room.work[kept] = values[i]
            kept += 1
    return kept


@njit(cache=True, nogil=True)
def middle_pair(values, room):
    """The two middle elements of `values` (n,) in sorted order; one and the same for odd n.

    Equal buckets around the middle, with everything further out in the first and the last, show
    which bucket holds them; only that one is looked at again. The bucket of a value never falls as
    the value rises, rounding included, so the answer is exact.
    """
    n = values.shape[0]
    real = values.dtype.type
    centre, spread = centre_and_spread(values)
    if not spread > 0:
        return values[0], values[0]
    count = room.count
    n_buckets = count.shape[0]
    scale = real(n_buckets / 3.0) / spread
    shift = real(0.5 * n_buckets)
    last_bucket = real(n_buckets - 1)
    zero = real(0)
    for i in range(n):
        # Far values, and products that overflow, are cut off on either side.
        x = (values[i] - centre) * scale + shift
        x = x if x < last_bucket else last_bucket
        x = x if x > zero else zero
        room.bucket[i] = np.int32(x)
    for b in range(n_buckets):
        count[b] = 0
    for i in range(n):
        count[room.bucket[i]] += 1
    first = (n - 1) // 2
    last = n // 2
    low = 0
    below = 0
    while below + count[low] <= first:
        below += count[low]
        low += 1
    high = low
    upto = below + count[low]
    while upto <= last:
        high += 1
        upto += count[high]
    kept = _gather(values, low, high, room)
    if kept <= _SMALL:
        _insertion_sort(room.work, kept)
        return room.work[first - below], room.work[last - below]
    smaller = _select(room.work, kept, first - below)
    if first == last:
        return smaller, smaller
    kept = _gather(values, low, high, room)
    return smaller, _select(room.work, kept, last - below)


@njit(cache=True, nogil=True)
def median(values, room):
    """The usual sample median of `values` (n,)."""
    low, high = middle_pair(values, room)
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
def median_and_mad(values, room):
    """Median and median absolute deviation of `values` (n,)."""
    if values.shape[0] <= _SMALL:
        return small_median_and_mad(values, room.work)
    middle = median(values, room)
    for i in range(values.shape[0]):
        room.deviations[i] = abs(values[i] - middle)
    return middle, median(room.deviations, room)


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
