"""Compiled: sort one projection with its indices.

Ranks need the order of the points, not only the sorted values, and a comparison sort of (value,
index) pairs costs several times a sort of bare values. Points of one projection are spread over a
known range, so a bucket sort places nearly every point at once; a last insertion pass makes the
result exact whatever the buckets were, and crowded buckets are sorted by heap first, so that no
data can make it quadratic. Many values are divided into stretches that fit the cache before that.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from isodepth.engine.compiled.buckets import (
    center_and_spread,
    fill_buckets,
    fill_by_crowds,
    has_crowds,
    n_probes,
)
from isodepth.engine.compiled.lite.loop import loop

# Buckets with more elements than this are sorted by heap.
_CROWDED = 24
# Above this size a scatter to random places misses the cache: values are first divided into
# stretches of fewer, which are sorted one by one.
STRETCH = 1 << 15
_STRETCH_BUCKETS = 1 << 13
_MOST_STRETCHES = 256
# Buckets of so many values are counted while they are still in the first-level cache.
CHUNK = 1 << 12


@loop
def _sift_down(keys, index, start, root, size):
    key = keys[start + root]
    item = index[start + root]
    while True:
        child = 2 * root + 1
        if child >= size:
            break
        if child + 1 < size and keys[start + child + 1] > keys[start + child]:
            child += 1
        if keys[start + child] <= key:
            break
        keys[start + root] = keys[start + child]
        index[start + root] = index[start + child]
        root = child
    keys[start + root] = key
    index[start + root] = item


@loop
def _heap_sort(keys, index, start, stop):
    size = stop - start
    for root in range(size // 2 - 1, -1, -1):
        _sift_down(keys, index, start, np.int64(root), size)
    for last in range(size - 1, 0, -1):
        key = keys[start]
        keys[start] = keys[start + last]
        keys[start + last] = key
        item = index[start]
        index[start] = index[start + last]
        index[start + last] = item
        _sift_down(keys, index, start, np.int64(0), np.int64(last))


@loop
def _all_equal(keys, start, stop):
    for i in range(start + 1, stop):
        if keys[i] != keys[start]:
            return False
    return True


class SortRoom(NamedTuple):
    """Room to sort n values; the result is in `keys` and `index`."""

    keys: Any  # (n,) the values, rising
    index: Any  # (n,) the places they came from
    bucket: Any  # (n,)
    count: Any  # (2 n + 1,)
    spare_keys: Any  # (n,) where n is large, else empty; likewise the next two
    spare_index: Any
    spare_bucket: Any
    starts: Any  # (s + 1,) where the stretches start and end, and
    cursors: Any  # how far each is filled; empty where n is small


def sort_workspace(n: int, dtype: Any) -> SortRoom:
    """Allocate for projections of n points."""
    spare = n if n > STRETCH else 0
    most = _MOST_STRETCHES + 2 if n > STRETCH else 0
    # Unsigned: a number that may be negative counts from the end, which has to be looked at.
    return SortRoom(
        keys=np.empty(n, dtype),
        index=np.empty(n, np.uint32),
        bucket=np.empty(n, np.uint32),
        count=np.empty(2 * n + 1, np.uint32),
        spare_keys=np.empty(spare, dtype),
        spare_index=np.empty(spare, np.uint32),
        spare_bucket=np.empty(spare, np.uint32),
        starts=np.empty(most, np.uint32),
        cursors=np.empty(most, np.uint32),
    )


@loop
def _scatter(values, bucket, first, count, keys, index):
    """Counting sort by `bucket` (n,) - `first`; returns whether a bucket is crowded.

    `count` (b + 1,) has room for b buckets. Afterwards count[b] is where bucket b ends.
    """
    n = values.shape[0]
    for b in range(count.shape[0]):
        count[b] = 0
    next_count = count[1:]
    for i in range(n):
        next_count[bucket[i] - first] += 1
    crowded = False
    running = 0
    for b in range(1, count.shape[0]):
        size = count[b]
        crowded |= size > _CROWDED
        running += size
        count[b] = running
    for i in range(n):
        b = bucket[i] - first
        place = count[b]
        count[b] = place + 1
        keys[place] = values[i]
        index[place] = i
    return crowded


@loop
def _sort_crowded(count, keys, index):
    start = np.int64(0)
    for b in range(count.shape[0] - 1):
        stop = np.int64(count[b])
        if stop - start > _CROWDED and not _all_equal(keys, start, stop):
            _heap_sort(keys, index, start, stop)
        start = stop


@loop
def sort_by_buckets(values, bucket, first, count, keys, index):
    """Sort `values` (n,) into `keys`, with `index` the places they came from.

    Parameters
    ----------
    bucket : uint32 (n,), rises with the values
    first : uint32, the first bucket there may be
    count : uint32 (b + 1,), scratch space for b buckets from there
    """
    if _scatter(values, bucket, first, count, keys, index):
        _sort_crowded(count, keys, index)
    for i in range(1, values.shape[0]):
        x = keys[i]
        if x < keys[i - 1]:
            item = index[i]
            j = i - 1
            while j >= 0 and keys[j] > x:
                keys[j + 1] = keys[j]
                index[j + 1] = index[j]
                j -= 1
            keys[j + 1] = x
            index[j + 1] = item


@loop
def stretch_bits(n):
    """How many buckets make a stretch, as a power of two, for n values in 2 n buckets."""
    bits = 0
    while (2 * n >> bits) > _MOST_STRETCHES or (1 << bits) < _STRETCH_BUCKETS:
        bits += 1
    return np.uint32(bits)


@loop
def divide(values, workspace):
    """Divide many `values` (n,) into stretches: all of one are below all of the next.

    Fills `room.bucket`, and `room.spare_keys` and `room.spare_bucket` with one stretch after the
    other, each in the order of `values`; `room.starts` has where they start and end. Returns how
    many there are.
    """
    n = values.shape[0]
    bits = stretch_bits(n)
    center, spread = center_and_spread(values, workspace.keys)
    if not spread > 0:
        # Equal values need no spread: all of them are at the center.
        spread = spread + 1
    stretches = (2 * n >> bits) + 1
    starts, cursors = workspace.starts, workspace.cursors
    for s in range(stretches + 1):
        starts[s] = 0
    next_starts = starts[1:]
    crowds = has_crowds(workspace.keys[: n_probes(n)], center, spread)
    if crowds:
        fill_by_crowds(
            values, center, spread, workspace.keys, workspace.count, 2 * n, workspace.bucket
        )
    for first in range(0, n, CHUNK):
        bucket = workspace.bucket[first : min(first + CHUNK, n)]
        if not crowds:
            fill_buckets(values[first : min(first + CHUNK, n)], center, spread, 2 * n, bucket)
        for i in range(bucket.shape[0]):
            next_starts[bucket[i] >> bits] += 1
    for s in range(stretches):
        starts[s + 1] += starts[s]
        cursors[s] = starts[s]
    for i in range(n):
        s = workspace.bucket[i] >> bits
        place = cursors[s]
        cursors[s] = place + 1
        workspace.spare_keys[place] = values[i]
        workspace.spare_bucket[place] = workspace.bucket[i]
    return stretches


@loop
def sort_stretch(workspace, number, start, stop, keys, index):
    """Sort stretch `number`, start..stop of what was divided, into `keys` and `index`.

    The places in `index` are counted from `start`.
    """
    bits = stretch_bits(workspace.keys.shape[0])
    sort_by_buckets(
        workspace.spare_keys[start:stop], workspace.spare_bucket[start:stop],
        np.uint32(number << bits), workspace.count[: (1 << bits) + 1], keys, index,
    )  # fmt: skip


@loop
def sort_with_index(values, workspace):
    """Sort `values` (n,) into `room.keys`, with `room.index` the places they came from."""
    n = values.shape[0]
    keys, index = workspace.keys, workspace.index
    if n > STRETCH:
        stretches = divide(values, workspace)
        bits = stretch_bits(n)
        starts, cursors = workspace.starts, workspace.cursors
        for s in range(stretches):
            cursors[s] = starts[s]
        for i in range(n):
            s = workspace.bucket[i] >> bits
            place = cursors[s]
            cursors[s] = place + 1
            workspace.spare_index[place] = i
        for s in range(stretches):
            start, stop = np.int64(starts[s]), np.int64(starts[s + 1])
            sort_stretch(workspace, s, start, stop, keys[start:stop], index[start:stop])
            for i in range(start, stop):
                index[i] = workspace.spare_index[start + index[i]]
        return
    center, spread = center_and_spread(values, workspace.keys)
    if spread > 0:
        if has_crowds(keys[: n_probes(n)], center, spread):
            fill_by_crowds(values, center, spread, keys, workspace.count, 2 * n, workspace.bucket)
        else:
            fill_buckets(values, center, spread, 2 * n, workspace.bucket)
        sort_by_buckets(values, workspace.bucket, np.uint32(0), workspace.count, keys, index)
    else:
        for i in range(n):
            keys[i] = values[i]
            index[i] = i
