"""Compiled: medians and spreads of the two parts of a column, for many relabelings."""

from __future__ import annotations

from isodepth.engine.compiled.lite.loop import loop
from isodepth.engine.compiled.sorting import sort_with_index
from isodepth.significance.label_bits import count_before, labels_in_order, place_of_rank


@loop
def _middle(keys, bits, counts, places):
    """The median of the values of the rows whose bits are set."""
    n = counts[counts.shape[0] - 1]
    low = keys[place_of_rank(bits, counts, places, (n - 1) // 2)]
    if n % 2 == 1:
        return low
    return 0.5 * low + 0.5 * keys[place_of_rank(bits, counts, places, n // 2)]


@loop
def _deviation(keys, bits, counts, places, middle, inner, i, above):
    """The i-th smallest deviation among the values above the median, or among those below."""
    rank = inner + i if above else inner - 1 - i
    return abs(keys[place_of_rank(bits, counts, places, rank)] - middle)


@loop
def _middle_deviation(keys, bits, counts, places, middle):
    """The median of the absolute deviations from `middle`, the median.

    Values below the median and values above it are two lists of rising deviations. How many of the
    smallest deviations come from below is found by bisection.
    """
    n = counts[counts.shape[0] - 1]
    inner = (n + 1) // 2  # values up to here are below, the others above
    rank = (n - 1) // 2  # so many deviations are to be left behind
    low = max(0, rank - (n - inner))
    high = min(rank, inner)
    while low < high:
        i = (low + high) // 2
        below = _deviation(keys, bits, counts, places, middle, inner, i, False)
        above = _deviation(keys, bits, counts, places, middle, inner, rank - i - 1, True)
        if below < above:
            low = i + 1
        else:
            high = i
    i, j = low, rank - low
    first = 0.0
    for turn in range(2 - n % 2):
        take_below = i < inner
        if take_below and j < n - inner:
            below = _deviation(keys, bits, counts, places, middle, inner, i, False)
            above = _deviation(keys, bits, counts, places, middle, inner, j, True)
            take_below = below <= above
            found = below if take_below else above
        else:
            at = i if take_below else j
            found = _deviation(keys, bits, counts, places, middle, inner, at, not take_below)
        if take_below:
            i += 1
        else:
            j += 1
        if turn == 0:
            first = found
        else:
            first = 0.5 * first + 0.5 * found
    return first


@loop
def _scale_where_flat(keys, bits, counts, places, middle, zero, kept):
    """The median of the deviations that are more than rounding; 0 where there are none.

    `kept` (n,) is overwritten.
    """
    n = counts[counts.shape[0] - 1]
    size = 0
    for rank in range(n):
        away = abs(keys[place_of_rank(bits, counts, places, rank)] - middle)
        if away > zero:
            kept[size] = away
            size += 1
    if size == 0:
        return 0.0
    # Shell's sort: rare, and what NumPy sorts with takes seconds to compile.
    step = size // 2
    while step > 0:
        for i in range(step, size):
            x = kept[i]
            j = i
            while j >= step and kept[j - step] > x:
                kept[j] = kept[j - step]
                j -= step
            kept[j] = x
        step //= 2
    return 0.5 * kept[(size - 1) // 2] + 0.5 * kept[size // 2]


@loop
def centers_along(values, words, n_labelings, zero, workspace, room, spare, centers, scales):
    """Median and scale of both parts along one direction, for all relabelings.

    The values are sorted once.

    Parameters
    ----------
    values : (n,), the projections of the pooled rows
    words : int64 (w, n), bit b of words[i, r] says whether row r is of the first part in the
        relabeling 64 i + b
    n_labelings : int
    zero : a MAD of at most this is rounding
    workspace : from `sort_workspace`
    room : from `bit_room`
    spare : (n,), overwritten
    centers, scales : (n_labelings, 2), written to: the median, and one over the MAD or over what
        takes its place; 0 where all values of a part coincide
    """
    n = values.shape[0]
    sort_with_index(values, workspace)
    keys = workspace.keys
    for i in range(words.shape[0]):
        labels_in_order(words[i], workspace.index, room)
        for b in range(min(64, n_labelings - 64 * i)):
            count_before(room.bits[b], n, room)
            for part in range(2):
                mine = room.bits[b] if part == 0 else room.others
                counts = room.counts if part == 0 else room.counts_of_others
                middle = _middle(keys, mine, counts, room.places)
                scale = _middle_deviation(keys, mine, counts, room.places, middle)
                if not scale > zero:
                    scale = _scale_where_flat(keys, mine, counts, room.places, middle, zero, spare)
                centers[64 * i + b, part] = middle
                scales[64 * i + b, part] = 1.0 / scale if scale > 0 else 0.0
