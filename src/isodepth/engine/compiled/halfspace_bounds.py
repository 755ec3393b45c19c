"""Compiled: lower the smallest halfspace masses along one direction, mostly without sorting.

A direction matters to few points: among a thousand, the smallest mass of a point is lowered about
seven times. Counts of buckets bound every mass from below at once, and only the points for which
that bound is an improvement are ranked among the others of their bucket.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from isodepth.engine.compiled.jit import njit
from isodepth.engine.compiled.sorting import (
    CHUNK,
    PROBES,
    SortRoom,
    centre_and_spread,
    fill_buckets,
    sort_room,
    sort_with_index,
)

#: Below this many points sorting takes no longer.
WORTH_BOUNDS = 128
# Counters should stay in the cache, but with many values in a bucket its bound says little.
_CACHED_BUCKETS = 1 << 15
_PER_BUCKET = 2
_MOST_PER_BUCKET = 8
# Where more than one in so many points has to be ranked, sorting all of them is faster.
_FEW = 3


class BoundsRoom(NamedTuple):
    """Scratch space for n values."""

    bucket: Any  # (n,) uint32
    start: Any  # (b + 1,) int32, how many values are in the buckets before
    bound: Any  # (b,) int32, a lower bound of the masses of its values
    wanted: Any  # (b,) uint8, whether its values are to be ranked
    found: Any  # (n + 1,) uint32
    values: Any  # (n // few,) or PROBES
    sorting: Any  # SortRoom of as many


def bounds_room(n: int, dtype: Any) -> BoundsRoom:
    """Allocate for projections of n points."""
    n_buckets = max(1, min(n // _PER_BUCKET, max(_CACHED_BUCKETS, n // _MOST_PER_BUCKET)))
    few = max(PROBES, n // _FEW)
    return BoundsRoom(
        bucket=np.empty(n, np.uint32),
        start=np.empty(n_buckets + 1, np.int32),
        bound=np.empty(n_buckets, np.int32),
        wanted=np.zeros(n_buckets, np.uint8),
        found=np.empty(n + 1, np.uint32),
        values=np.empty(few, dtype),
        sorting=sort_room(few, dtype),
    )


@njit(cache=True, nogil=True)
def _bound_masses(values, centre, spread, room):
    """Fill and count the buckets, and bound the smaller of the two masses of anything in each."""
    n = values.shape[0]
    start = room.start
    for b in range(start.shape[0]):
        start[b] = 0
    counts = start[1:]
    for first in range(0, n, CHUNK):
        bucket = room.bucket[first : min(first + CHUNK, n)]
        fill_buckets(
            values[first : min(first + CHUNK, n)], centre, spread, room.bound.shape[0], bucket
        )
        for i in range(bucket.shape[0]):
            counts[bucket[i]] += 1
    running = 0
    for b in range(room.bound.shape[0]):
        from_below = running + 1
        running += start[b + 1]
        start[b + 1] = running
        from_above = n - running + 1
        room.bound[b] = from_below if from_below < from_above else from_above


@njit(cache=True, nogil=True)
def _points_of_wanted(n, room):
    """List the points whose bucket is wanted; return how many."""
    count = 0
    for i in range(n):
        room.found[count] = i
        count += room.wanted[room.bucket[i]]
    return count


@njit(cache=True, nogil=True)
def _rank_found(values, count, room, best):
    """Lower `best` for the listed points, which are all the points of some buckets."""
    n = values.shape[0]
    for j in range(count):
        room.values[j] = values[room.found[j]]
    everything = room.sorting
    part = SortRoom(
        everything.keys[:count], everything.index[:count], everything.bucket[:count],
        everything.count[: 2 * count + 1], everything.spare_keys, everything.spare_index,
        everything.spare_bucket,
    )  # fmt: skip
    sort_with_index(room.values[:count], part)
    here = -1
    offset = 0
    i = 0
    while i < count:
        b = room.bucket[room.found[part.index[i]]]
        if b != here:
            here = b
            offset = room.start[b] - i
        stop = i + 1
        while stop < count and part.keys[stop] == part.keys[i]:
            stop += 1
        upto = offset + stop
        from_above = n - (offset + i)
        smaller = upto if upto < from_above else from_above
        for j in range(i, stop):
            point = room.found[part.index[j]]
            if smaller < best[point]:
                best[point] = smaller
        i = stop


@njit(cache=True, nogil=True)
def lower_by_bounds(values, room, best):
    """Lower `best` (n,) to the smaller closed-halfspace mass of each point, for unit masses.

    Returns False, with nothing lowered wrongly, where so many points must be ranked that sorting
    all of them is faster.
    """
    n = values.shape[0]
    n_buckets = room.bound.shape[0]
    centre, spread = centre_and_spread(values, room.values)
    if not spread > 0:
        return False
    _bound_masses(values, centre, spread, room)
    count = 0
    for i in range(n):
        room.found[count] = i
        count += room.bound[room.bucket[i]] < best[i]
    if count == 0:
        return True
    if count > n // _FEW:
        return False
    for j in range(count):
        room.wanted[room.bucket[room.found[j]]] = 1
    count = _points_of_wanted(n, room)
    few = count <= n // _FEW
    if few:
        _rank_found(values, count, room, best)
    for b in range(n_buckets):
        room.wanted[b] = 0
    return few
