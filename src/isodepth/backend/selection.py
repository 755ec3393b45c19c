"""Compiled: the middle elements of many numbers, without sorting them.

Counting how many numbers lie below a value costs a few percent of what sorting costs, since the
processor does it for several numbers at once. So two values are moved in on the middle from both
sides, each round aimed by the counts of the last, until only a handful of numbers lie between
them; these are copied out and sorted.
"""

from __future__ import annotations

import numpy as np
from numba import njit

# Up to this many elements sorting is the quickest way to any order statistic.
_SMALL = 64
# So few that it is time to copy them out.
_FEW = 20
_ROUNDS = 10
# A first guess is off by about this share of the numbers.
_FIRST_MARGIN = 0.08
# Mass per interquartile range at the middle of a bell-shaped distribution.
_DENSITY = 0.54


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


@njit(nogil=True, inline="always")
def _count_below(values, low, high):
    """How many of `values` (n,) are below each of two numbers."""
    # 32 bits, like float32: counters as wide as the numbers are what vector instructions need.
    below_low = np.int32(0)
    below_high = np.int32(0)
    for i in range(values.shape[0]):
        below_low = np.int32(below_low + (values[i] < low))
        below_high = np.int32(below_high + (values[i] < high))
    return np.int64(below_low), np.int64(below_high)


@njit(cache=True, nogil=True)
def _copy_between(values, low, high, room):
    """Copy the values in [low, high) to the front of `room.work`; return how many."""
    n = values.shape[0]
    inside, eights, work = room.inside, room.eights, room.work
    for i in range(n):
        inside[i] = (values[i] >= low) & (values[i] < high)
    kept = 0
    # Nearly all are outside: eight at a time are passed over.
    for j in range(n // 8):
        if eights[j] != 0:
            for i in range(8 * j, 8 * j + 8):
                work[kept] = values[i]
                kept += inside[i]
    for i in range(n - n % 8, n):
        work[kept] = values[i]
        kept += inside[i]
    return kept


@njit(cache=True, nogil=True, error_model="numpy")
def mean_of_middle(values, guess, spread, room):
    """The usual sample median of `values` (n,): the mean of the two middle elements.

    Parameters
    ----------
    values : (n,) finite
    guess, spread : about where the middle is, and the distance of the quartiles. However wrong they
        are, the answer is exact.
    room : SpreadRoom
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
        n_left, n_right = _count_below(values, left, right)
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
    kept = _copy_between(values, low, high, room)
    if kept <= _SMALL:
        _insertion_sort(room.work, kept)
        smaller = room.work[first - below]
        larger = room.work[last - below]
    else:
        smaller = _select(room.work, kept, first - below)
        larger = smaller
        if first < last:
            kept = _copy_between(values, low, high, room)
            larger = _select(room.work, kept, last - below)
    # Halving first: symmetric under a change of sign, and the sum cannot overflow.
    half = real(0.5)
    return half * smaller + half * larger
