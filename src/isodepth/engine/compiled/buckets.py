"""Compiled: buckets for values of which a few have been looked at, so that each gets about as many.

Most data are bell-shaped or have heavy tails, and one formula spreads them. Crowds that lie far
from each other are divided twice.
"""

from __future__ import annotations

import numpy as np

from isodepth.engine.compiled.lite.loop import loop

#: At most so many values are looked at.
PROBES = 16
# Values that lie in crowds are divided into so many parts, and these into buckets.
_MOST_PARTS = 1 << 11


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
