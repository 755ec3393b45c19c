"""Compiled: the middle elements of many numbers, without sorting them.

Counting how many numbers lie below a value costs a few percent of what sorting costs, since the
processor does it for several numbers at once. So two values are moved in on the middle from both
sides, each round aimed by the counts of the last, until only a handful of numbers lie between
them; these are copied out and sorted.
"""

from __future__ import annotations

import numpy as np

from isodepth.engine.compiled.lanes import TILE_BYTES, nearest, nearest_folded
from isodepth.engine.compiled.lite.loop import loop

# Rounding of float32 and of float64.
_EPS = (float(np.finfo(np.float32).eps), float(np.finfo(np.float64).eps))
# Up to this many elements sorting is the quickest way to any order statistic.
_SMALL = 64
# So few that it is time to copy them out.
_FEW = 20
_ROUNDS = 10
# A first guess is off by about this share of the numbers.
_FIRST_MARGIN = 0.08
# Mass per interquartile range at the middle of a bell-shaped distribution.
_DENSITY = 0.54


@loop
def _insertion_sort(values, size):
    for i in range(1, size):
        x = values[i]
        j = i - 1
        while j >= 0 and values[j] > x:
            values[j + 1] = values[j]
            j -= 1
        values[j + 1] = x


@loop
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


@loop
def _count_below(values, center, folded, low, high):
    """How many of the numbers are below each of two."""
    # 32 bits, like float32: counters as wide as the numbers are what vector instructions need.
    below_low = np.int32(0)
    below_high = np.int32(0)
    if folded:
        for i in range(values.shape[0]):
            x = abs(values[i] - center)
            below_low = np.int32(below_low + (x < low))
            below_high = np.int32(below_high + (x < high))
    else:
        for i in range(values.shape[0]):
            below_low = np.int32(below_low + (values[i] < low))
            below_high = np.int32(below_high + (values[i] < high))
    return np.int64(below_low), np.int64(below_high)


@loop
def _copy_some(values, start, stop, center, folded, low, high, work, kept):
    for i in range(start, stop):
        x = abs(values[i] - center) if folded else values[i]
        work[kept] = x
        kept += (x >= low) & (x < high)
    return kept


@loop
def _copy_between(values, center, folded, low, high, work):
    """Copy the numbers in [low, high) to the front of `work` (n + 1,); return how many."""
    n = values.shape[0]
    real = values.dtype.type
    half = real(0.5)
    if not high - low < np.inf:
        return _copy_some(values, 0, n, center, folded, low, high, work, 0)
    # Nearly all are outside: a tile is passed over unless one is about as near the middle.
    target = half * low + half * high
    reach = half * (high - low) + real(4 * _EPS[values.itemsize // 8]) * (abs(low) + abs(high))
    width = TILE_BYTES // values.itemsize
    kept = 0
    start = 0
    while start + width <= n:
        if folded:
            near = nearest_folded(values, start, center, target)
        else:
            near = nearest(values, start, center, target)
        if near <= reach:
            kept = _copy_some(values, start, start + width, center, folded, low, high, work, kept)
        start += width
    return _copy_some(values, start, n, center, folded, low, high, work, kept)


@loop
def mean_of_middle(values, center, folded, guess, spread, work):
    """The usual sample median of some numbers: the mean of the two middle ones.

    Parameters
    ----------
    values : (n,) finite
    center, folded : the numbers are `values`, or if `folded`, |values - center|
    guess, spread : about where the middle is, and the distance of the quartiles. However wrong they
        are, the answer is exact.
    work : (n + 1,) scratch space
    """
    n = values.shape[0]
    real = values.dtype.type
    first = (n - 1) // 2
    last = n // 2
    middle = real(0.5) * real(first + last + 1)
    # Both middle elements are in [low, high); `below` and `upto` count what is below low and high.
    low = real(-np.inf)
    high = real(np.inf)
    below = np.int64(0)
    upto = np.int64(n)
    step = spread / real(_DENSITY * n)
    margin = real(_FIRST_MARGIN * n)
    for _ in range(_ROUNDS):
        left = guess - margin * step
        right = guess + margin * step
        n_left, n_right = _count_below(values, center, folded, left, right)
        moved = False
        if n_left <= first and left > low:
            low, below, moved = left, n_left, True
        if n_right <= first and right > low:
            low, below, moved = right, n_right, True
        if n_right > last and right < high:
            high, upto, moved = right, n_right, True
        if n_left > last and left < high:
            high, upto, moved = left, n_left, True
        if not moved:
            break
        between = real(upto - below)
        if low > -np.inf and high < np.inf:
            step = (high - low) / between
            guess = low + (middle - real(below)) * step
            # Counts of random numbers between two known ones are off by about half a root.
            margin = real(0.6) * np.sqrt(between) + real(0.01) * between + real(1.0)
        else:
            if n_right > n_left:
                step = (right - left) / real(n_right - n_left)
            if high == np.inf:
                guess = low + (middle - real(below)) * step
            else:
                guess = high - (real(upto) - middle) * step
        if between <= _FEW or real(2.5) * margin > between:
            break
    kept = _copy_between(values, center, folded, low, high, work)
    if kept <= _SMALL:
        _insertion_sort(work, kept)
        smaller = work[first - below]
        larger = work[last - below]
    else:
        smaller = _select(work, kept, first - below)
        larger = smaller
        if first < last:
            kept = _copy_between(values, center, folded, low, high, work)
            larger = _select(work, kept, last - below)
    # Halving first: symmetric under a change of sign, and the sum cannot overflow.
    half = real(0.5)
    return half * smaller + half * larger
