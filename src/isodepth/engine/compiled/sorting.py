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

from isodepth.engine.compiled.lite.loop import loop

PROBES = 16
# Values that lie in crowds are divided into so many parts, and these into buckets.
_MOST_PARTS = 1 << 11
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


@loop
def n_probes(n):
    """How many of n values are looked at to know roughly where they are."""
    m = n // 16
    if m < 8:
        m = 8
    if m > PROBES:
        m = PROBES
    if m > n:
        m = n
    return m


@loop
def center_and_spread(values, scratch):
    """A middle value and the distance of the quartiles, roughly: enough to balance buckets.

    The spread is 0 only where all values are equal. `scratch` has room for PROBES values, of which
    the first `n_probes` are left there, rising.
    """
    n = values.shape[0]
    m = n_probes(n)
    probes = scratch[:m]
    probe(values, probes)
    center = probes[m // 2]
    spread = probes[(3 * m) // 4] - probes[m // 4]
    if not spread > 0:
        spread = probes[m - 1] - probes[0]
    if not spread > 0:
        low = values[0]
        high = values[0]
        for i in range(n):
            low = values[i] if values[i] < low else low
            high = values[i] if values[i] > high else high
        spread = high - low
    return center, spread


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
def fill_buckets(values, center, spread, n_buckets, bucket):
    """Write to `bucket` (n,) the place of each value among `n_buckets`; it rises with the value."""
    real = values.dtype.type
    half = real(0.5 * (n_buckets - 1))
    one = real(1.0)
    # Where one over the spread overflows, every quotient lands on the limit: slower, still right.
    scale = real(1.35) / spread
    limit = real(1e6)
    for i in range(values.shape[0]):
        x = (values[i] - center) * scale
        x = x if x < limit else limit
        x = x if x > -limit else -limit
        # x / (1 + |x|) spreads bell-shaped and heavy-tailed data alike over (-1, 1).
        bucket[i] = np.int32(half * (x / (one + abs(x))) + half)


@loop
def _squashed(x, center, scale):
    """Where `fill_buckets` puts a value, between -1 and 1."""
    t = (x - center) * scale
    return t / (1 + abs(t))


@loop
def has_crowds(probes, center, spread):
    """Whether much lies so close together that `fill_buckets` puts it into few buckets.

    That is, an eighth of the `probes` (m,), which rise, in a five hundredth of the buckets; equal
    values do no harm.
    """
    step = probes.shape[0] // 8
    if step < 2:
        return False
    scale = 1.35 / spread
    crowds = False
    for j in range(probes.shape[0] - step):
        low, high = probes[j], probes[j + step]
        if low < high:
            apart = _squashed(high, center, scale) - _squashed(low, center, scale)
            crowds |= apart < 0.004
    return crowds


@loop
def fill_by_crowds(values, center, spread, scratch, starts, n_buckets, bucket):
    """Like `fill_buckets`, for values in crowds far from each other.

    They are divided coarsely first. Each part then has as many of the buckets as it has values,
    evenly from its smallest to its largest. `scratch` has room for a quarter, and `starts` for an
    eighth of the values and one.
    """
    real = values.dtype.type
    n = values.shape[0]
    parts = n // 8 if n // 8 < _MOST_PARTS else _MOST_PARTS
    fill_buckets(values, center, spread, parts, bucket)
    lows, slopes = scratch[:parts], scratch[parts : 2 * parts]
    for c in range(parts):
        starts[c] = 0
        lows[c] = np.inf
        slopes[c] = -np.inf
    for i in range(n):
        c = bucket[i]
        x = values[i]
        starts[c] += 1
        lows[c] = x if x < lows[c] else lows[c]
        slopes[c] = x if x > slopes[c] else slopes[c]
    each = n_buckets / n
    before = np.int64(0)
    for c in range(parts):
        count = np.int64(starts[c])
        width = slopes[c] - lows[c]
        slopes[c] = 0.0
        if width > 0 and each * count > 1.0:
            slopes[c] = (each * count - 1.0) / width
        if count == 0:
            lows[c] = 0.0
        starts[c] = np.int64(each * before)
        before = np.int64(before + count)
    last = real(n_buckets - 1)
    for i in range(n):
        c = bucket[i]
        place = real(starts[c]) + (values[i] - lows[c]) * slopes[c]
        bucket[i] = np.int32(place if place < last else last)


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
