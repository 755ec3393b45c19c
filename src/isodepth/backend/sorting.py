"""Compiled: sort one projection with its indices.

Ranks need the order of the points, not only the sorted values, and a comparison sort of (value,
index) pairs costs several times a sort of bare values. Points of one projection are spread over a
known range, so a bucket sort places nearly every point at once; a last insertion pass makes the
result exact whatever the buckets were, and crowded buckets are sorted by heap first, so that no
data can make it quadratic.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

_PROBES = 32
# Buckets with more elements than this are sorted by heap.
_CROWDED = 24
# Above this size a scatter to random places misses the cache, and two passes are faster than one.
_ONE_PASS = 40_000
_STRETCHES = 128


@njit(cache=True, nogil=True)
def probe(values, probes):
    """Sorted evenly spaced elements of `values` (n,), written to `probes` (m,), m <= n."""
    n = values.shape[0]
    m = probes.shape[0]
    for i in range(m):
        x = values[(i * n) // m]
        j = i - 1
        while j >= 0 and probes[j] > x:
            probes[j + 1] = probes[j]
            j -= 1
        probes[j + 1] = x


@njit(cache=True, nogil=True)
def centre_and_spread(values):
    """A middle value and the distance of the quartiles, roughly: enough to balance buckets.

    The spread is 0 only where all values are equal.
    """
    n = values.shape[0]
    m = min(n, _PROBES, max(8, n // 16))
    probes = np.empty(m, values.dtype)
    probe(values, probes)
    centre = probes[m // 2]
    spread = probes[(3 * m) // 4] - probes[m // 4]
    if not spread > 0:
        spread = probes[m - 1] - probes[0]
    if not spread > 0:
        low = values[0]
        high = values[0]
        for i in range(n):
            low = min(low, values[i])
            high = max(high, values[i])
        spread = high - low
    return centre, spread


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _all_equal(keys, start, stop):
    for i in range(start + 1, stop):
        if keys[i] != keys[start]:
            return False
    return True


class SortRoom(NamedTuple):
    """Room to sort n values; the result is in `keys` and `index`."""

    keys: Any  # (n,) the values, rising
    index: Any  # (n,) the places they came from
    bucket: Any  # (n,) int32
    count: Any  # (n + 1,) int32
    spare_keys: Any  # (n,) where n is large, else empty; likewise the next two
    spare_index: Any
    spare_bucket: Any


@njit(cache=True, nogil=True)
def sort_room(values):
    """Allocate for projections like `values` (n,)."""
    n = values.shape[0]
    spare = n if n > _ONE_PASS else 0
    return SortRoom(
        np.empty(n, values.dtype),
        np.empty(n, np.int32),
        np.empty(n, np.int32),
        np.empty(n + 1, np.int32),
        np.empty(spare, values.dtype),
        np.empty(spare, np.int32),
        np.empty(spare, np.int32),
    )


# Without this error model every division is checked for zero, and the loop uses no vectors.
@njit(cache=True, nogil=True, error_model="numpy")
def _fill_buckets(values, centre, spread, n_buckets, bucket):
    real = values.dtype.type
    half = real(0.5 * (n_buckets - 1))
    one = real(1.0)
    # Where one over the spread overflows, every quotient lands on the limit: slower, still right.
    scale = real(1.35) / spread
    limit = real(1e6)
    for i in range(values.shape[0]):
        x = (values[i] - centre) * scale
        x = x if x < limit else limit
        x = x if x > -limit else -limit
        # x / (1 + |x|) spreads bell-shaped and heavy-tailed data alike over (-1, 1).
        bucket[i] = np.int32(half * (x / (one + abs(x))) + half)


@njit(cache=True, nogil=True)
def _scatter(values, places, bucket, first, count, keys, index, base):
    """Counting sort of one stretch by `bucket` - `first`; returns whether a bucket is crowded.

    `count` (b + 1,) has room for the b buckets of the stretch; `base` is where the stretch starts
    in `keys` and `index`. Afterwards count[b] is where bucket b ends, counted from there.
    """
    n = values.shape[0]
    for b in range(count.shape[0]):
        count[b] = 0
    for i in range(n):
        count[bucket[i] - first + 1] += 1
    crowded = False
    running = np.int32(0)
    for b in range(1, count.shape[0]):
        size = count[b]
        crowded |= size > _CROWDED
        running += size
        count[b] = running
    for i in range(n):
        b = bucket[i] - first
        place = count[b]
        count[b] = place + 1
        keys[base + place] = values[i]
        index[base + place] = places[i] if places.shape[0] > 0 else i
    return crowded


@njit(cache=True, nogil=True)
def _sort_crowded(count, keys, index, base):
    start = base
    for b in range(count.shape[0] - 1):
        stop = base + np.int64(count[b])
        if stop - start > _CROWDED and not _all_equal(keys, start, stop):
            _heap_sort(keys, index, start, stop)
        start = stop


@njit(cache=True, nogil=True)
def _scatter_twice(values, room):
    """Counting sort in two passes: into stretches that fit the cache, then within each."""
    n = values.shape[0]
    shift = 0
    while (n >> shift) > _STRETCHES:
        shift += 1
    n_stretches = ((n - 1) >> shift) + 1
    ends = np.zeros(n_stretches + 1, np.int64)
    for i in range(n):
        ends[(room.bucket[i] >> shift) + 1] += 1
    for s in range(n_stretches):
        ends[s + 1] += ends[s]
    for i in range(n):
        s = room.bucket[i] >> shift
        place = ends[s]
        ends[s] = place + 1
        room.spare_keys[place] = values[i]
        room.spare_index[place] = i
        room.spare_bucket[place] = room.bucket[i]
    start = np.int64(0)
    for s in range(n_stretches):
        stop = ends[s]
        count = room.count[: (1 << shift) + 1]
        crowded = _scatter(
            room.spare_keys[start:stop], room.spare_index[start:stop],
            room.spare_bucket[start:stop], np.int64(s << shift), count, room.keys, room.index,
            start,
        )  # fmt: skip
        if crowded:
            _sort_crowded(count, room.keys, room.index, start)
        start = stop


@njit(cache=True, nogil=True)
def sort_with_index(values, room):
    """Sort `values` (n,) into `room.keys`, with `room.index` the places they came from."""
    n = values.shape[0]
    keys, index = room.keys, room.index
    centre, spread = centre_and_spread(values)
    if not spread > 0:
        for i in range(n):
            keys[i] = values[i]
            index[i] = i
        return
    _fill_buckets(values, centre, spread, n, room.bucket)
    if n > _ONE_PASS:
        _scatter_twice(values, room)
    else:
        places = room.spare_index[:0]
        zero = np.int64(0)
        if _scatter(values, places, room.bucket, zero, room.count, keys, index, zero):
            _sort_crowded(room.count, keys, index, zero)
    for i in range(1, n):
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
