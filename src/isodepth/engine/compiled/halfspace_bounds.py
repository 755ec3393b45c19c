"""Compiled: lower the smallest halfspace masses along one direction, mostly without sorting.

A direction matters to few points: among a thousand, the smallest mass of a point is lowered about
seven times. Counts of buckets bound every mass from below at once, and only the points for which
that bound is an improvement are ranked among the others of their bucket.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from isodepth.engine.compiled.buckets import (
    PROBES,
    center_and_spread,
    fill_buckets,
    fill_by_crowds,
    has_crowds,
    n_probes,
)
from isodepth.engine.compiled.lite.loop import loop
from isodepth.engine.compiled.sorting import CHUNK, SortRoom, sort_with_index, sort_workspace

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


def bounds_workspace(n: int, dtype: Any) -> BoundsRoom:
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
        sorting=sort_workspace(few, dtype),
    )


@loop
def _bound_masses(values, center, spread, workspace):
    """Fill and count the buckets, and bound the smaller of the two masses of anything in each."""
    n = values.shape[0]
    start = workspace.start
    for b in range(start.shape[0]):
        start[b] = 0
    counts = start[1:]
    n_buckets = workspace.bound.shape[0]
    crowds = has_crowds(workspace.values[: n_probes(n)], center, spread)
    if crowds:
        fill_by_crowds(
            values, center, spread, workspace.values, workspace.found, n_buckets, workspace.bucket
        )
    for first in range(0, n, CHUNK):
        bucket = workspace.bucket[first : min(first + CHUNK, n)]
        chunk = values[first : min(first + CHUNK, n)]
        if not crowds:
            fill_buckets(chunk, center, spread, n_buckets, bucket)
        for i in range(bucket.shape[0]):
            counts[bucket[i]] += 1
    running = 0
    for b in range(workspace.bound.shape[0]):
        from_below = running + 1
        running += start[b + 1]
        start[b + 1] = running
        from_above = n - running + 1
        workspace.bound[b] = from_below if from_below < from_above else from_above


@loop
def _points_of_wanted(n, workspace):
    """List the points whose bucket is wanted; return how many."""
    count = 0
    for i in range(n):
        workspace.found[count] = i
        count += workspace.wanted[workspace.bucket[i]]
    return count


@loop
def _rank_found(values, count, workspace, best):
    """Lower `best` for the listed points, which are all the points of some buckets."""
    n = values.shape[0]
    for j in range(count):
        workspace.values[j] = values[workspace.found[j]]
    everything = workspace.sorting
    part = SortRoom(
        everything.keys[:count], everything.index[:count], everything.bucket[:count],
        everything.count[: 2 * count + 1], everything.spare_keys, everything.spare_index,
        everything.spare_bucket, everything.starts, everything.cursors,
    )  # fmt: skip
    sort_with_index(workspace.values[:count], part)
    here = -1
    offset = 0
    i = 0
    while i < count:
        b = workspace.bucket[workspace.found[part.index[i]]]
        if b != here:
            here = b
            offset = workspace.start[b] - i
        stop = i + 1
        while stop < count and part.keys[stop] == part.keys[i]:
            stop += 1
        upto = offset + stop
        from_above = n - (offset + i)
        smaller = upto if upto < from_above else from_above
        for j in range(i, stop):
            point = workspace.found[part.index[j]]
            if smaller < best[point]:
                best[point] = smaller
        i = stop


@loop
def lower_by_bounds(values, workspace, best):
    """Lower `best` (n,) to the smaller closed-halfspace mass of each point, for unit masses.

    Returns False, with nothing lowered wrongly, where so many points must be ranked that sorting
    all of them is faster.
    """
    n = values.shape[0]
    n_buckets = workspace.bound.shape[0]
    center, spread = center_and_spread(values, workspace.values)
    if not spread > 0:
        return False
    _bound_masses(values, center, spread, workspace)
    count = 0
    for i in range(n):
        workspace.found[count] = i
        count += workspace.bound[workspace.bucket[i]] < best[i]
    if count == 0:
        return True
    if count > n // _FEW:
        return False
    for j in range(count):
        workspace.wanted[workspace.bucket[workspace.found[j]]] = 1
    count = _points_of_wanted(n, workspace)
    few = count <= n // _FEW
    if few:
        _rank_found(values, count, workspace, best)
    for b in range(n_buckets):
        workspace.wanted[b] = 0
    return few
