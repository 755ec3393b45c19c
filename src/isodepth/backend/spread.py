"""Compiled: median, median absolute deviation and outlyingness of a block of projections."""

from __future__ import annotations

import numpy as np
from numba import njit

from isodepth.backend.sorting import probe, sort_room, sort_with_index

# Up to this many elements sorting is the quickest way to any order statistic.
_SMALL = 64
_PROBES = 40
# Three standard deviations of the rank among the probes: a wider bracket keeps more, a narrower one
# misses more often, and a miss costs several passes.
_MARGIN = 10


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
def _keep(source, size, low, high, work):
    """Move what lies in [low, high] to the front of `work`; also count what lies below.

    What is kept is written over what has been read, so `source` may be `work`.
    """
    below = 0
    kept = 0
    for i in range(size):
        x = source[i]
        work[kept] = x
        kept += (x >= low) & (x <= high)
        below += x < low
    return below, kept


@njit(cache=True, nogil=True)
def _select(values, rank, work):
    """The element of `values` (n,) that has `rank` in sorted order, by dividing in three."""
    size = values.shape[0]
    for i in range(size):
        work[i] = values[i]
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


@njit(cache=True, nogil=True)
def middle_pair(values, work):
    """The two middle elements of `values` (n,) in sorted order; one and the same for odd n.

    A few evenly spaced elements bracket them; only what lies between is looked at again. Where the
    bracket misses, which is rare, each is found on its own. `work` (n + 1,) is scratch space.
    """
    n = values.shape[0]
    first = (n - 1) // 2
    last = n // 2
    size = n
    source = values
    skipped = 0
    probes = np.empty(_PROBES, values.dtype)
    while size > _SMALL:
        probe(source[:size], probes)
        middle = ((first - skipped) * _PROBES) // size
        low = probes[max(0, middle - _MARGIN)]
        high = probes[min(_PROBES - 1, middle + _MARGIN)]
        below, kept = _keep(source, size, low, high, work)
        if low == high or kept == size or first < skipped + below or last >= skipped + below + kept:
            if first >= skipped + below and last < skipped + below + kept and low == high:
                return low, high
            # Few distinct values, or a miss. `work` no longer holds all of it: start over.
            return _select(values, first, work), _select(values, last, work)
        skipped += below
        size = kept
        source = work
    if size == n:
        for i in range(n):
            work[i] = values[i]
    _insertion_sort(work, size)
    return work[first - skipped], work[last - skipped]


@njit(cache=True, nogil=True)
def median(values, work):
    """The usual sample median of `values` (n,)."""
    low, high = middle_pair(values, work)
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
    n = projections.shape[1]
    work = np.empty(n + 1, projections.dtype)
    deviations = np.empty(n, projections.dtype)
    for row in range(projections.shape[0]):
        middle, mad = median_and_mad(projections[row], work, deviations)
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
