"""Compiled: DR between the two parts of a pooled sample, for one relabeling after the other."""

from __future__ import annotations

import numpy as np

from isodepth.engine.compiled.jit import njit
from isodepth.engine.compiled.sorting import SortRoom, sort_with_index
from isodepth.significance.label_bits import count_before, labels_in_order, place_of_rank

# Depths closer than this are one depth, as everywhere for the projection depth.
_TIE = 1e-12


@njit(nogil=True)
def _middle(keys, bits, counts):
    """The median of the values of the rows whose bits are set."""
    n = counts[counts.shape[0] - 1]
    low = keys[place_of_rank(bits, counts, (n - 1) // 2)]
    if n % 2 == 1:
        return low
    return 0.5 * low + 0.5 * keys[place_of_rank(bits, counts, n // 2)]


@njit(nogil=True)
def _deviation(keys, bits, counts, middle, inner, i, above):
    """The i-th smallest deviation among the values above the median, or among those below."""
    rank = inner + i if above else inner - 1 - i
    return abs(keys[place_of_rank(bits, counts, rank)] - middle)


@njit(nogil=True)
def _middle_deviation(keys, bits, counts, middle):
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
        below = _deviation(keys, bits, counts, middle, inner, i, False)
        above = _deviation(keys, bits, counts, middle, inner, rank - i - 1, True)
        if below < above:
            low = i + 1
        else:
            high = i
    i, j = low, rank - low
    first = 0.0
    for turn in range(2 - n % 2):
        take_below = i < inner
        if take_below and j < n - inner:
            below = _deviation(keys, bits, counts, middle, inner, i, False)
            above = _deviation(keys, bits, counts, middle, inner, j, True)
            take_below = below <= above
            found = below if take_below else above
        else:
            at = i if take_below else j
            found = _deviation(keys, bits, counts, middle, inner, at, not take_below)
        if take_below:
            i += 1
        else:
            j += 1
        if turn == 0:
            first = found
        else:
            first = 0.5 * first + 0.5 * found
    return first


@njit(nogil=True)
def _scale_where_flat(keys, bits, counts, middle, zero):
    """The median of the deviations that are more than rounding; 0 where there are none."""
    n = counts[counts.shape[0] - 1]
    kept = np.empty(n, keys.dtype)
    size = 0
    for rank in range(n):
        away = abs(keys[place_of_rank(bits, counts, rank)] - middle)
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


@njit(cache=True, nogil=True)
def centers_along(values, words, n_labelings, zero, workspace, centers, scales):
    """Median and scale of both parts along one direction, for all relabelings.

    The values are sorted once.

    Parameters
    ----------
    values : (n,), the projections of the pooled rows
    words : uint64 (w, n), bit b of words[i, r] says whether row r is of the first part in the
        relabeling 64 i + b
    n_labelings : int
    zero : a MAD of at most this is rounding
    workspace : from `sort_workspace`
    centers, scales : (n_labelings, 2), written to: the median, and one over the MAD or over what
        takes its place; 0 where all values of a part coincide
    """
    n = values.shape[0]
    sort_with_index(values, workspace)
    keys = workspace.keys
    w = (n + 63) // 64
    bits = np.empty((64, w), np.uint64)
    others = np.empty(w, np.uint64)
    counts = np.empty(w + 1, np.int64)
    counts_of_others = np.empty(w + 1, np.int64)
    for i in range(words.shape[0]):
        labels_in_order(words[i], workspace.index, bits)
        for b in range(min(64, n_labelings - 64 * i)):
            count_before(bits[b], n, counts, others, counts_of_others)
            for part in range(2):
                mine = bits[b] if part == 0 else others
                cumulated = counts if part == 0 else counts_of_others
                middle = _middle(keys, mine, cumulated)
                scale = _middle_deviation(keys, mine, cumulated, middle)
                if not scale > zero:
                    scale = _scale_where_flat(keys, mine, cumulated, middle, zero)
                centers[64 * i + b, part] = middle
                scales[64 * i + b, part] = 1.0 / scale if scale > 0 else 0.0


# Largest values in any order are the same number: there is nothing to round, and no NaN.
@njit(nogil=True, fastmath={"nnan", "nsz"})
def _outlyingness(row, center, scale):
    largest = 0.0
    for k in range(row.shape[0]):
        largest = max(largest, abs(row[k] - center[k]) * scale[k])
    return largest


@njit(nogil=True, fastmath={"nnan", "nsz"})
def _widen(projections, rows, first, last, tops, lows):
    """Raise `tops` (K,) and lower `lows` (K,) to the projections of rows[first:last]."""
    count = tops.shape[0]
    i = first
    # Four rows at a time: what is loaded and stored between them counts once.
    while i + 4 <= last:
        a, b = projections[rows[i]], projections[rows[i + 1]]
        c, d = projections[rows[i + 2]], projections[rows[i + 3]]
        for k in range(count):
            tops[k] = max(tops[k], max(max(a[k], b[k]), max(c[k], d[k])))
            lows[k] = min(lows[k], min(min(a[k], b[k]), min(c[k], d[k])))
        i += 4
    while i < last:
        a = projections[rows[i]]
        for k in range(count):
            tops[k] = max(tops[k], a[k])
            lows[k] = min(lows[k], a[k])
        i += 1


@njit(nogil=True)
def _stops(outlying, betas, stops):
    """How many of n rows, from the deepest on, lie in the region of each level.

    `outlying` (n,) rises. Rows of equal depth enter together; depths count as equal up to
    rounding from the first of a group on.
    """
    n = outlying.shape[0]
    level = 0
    end = 0
    while level < betas.shape[0]:
        head = 1.0 / (1.0 + outlying[end])
        end += 1
        while end < n and head - 1.0 / (1.0 + outlying[end]) <= _TIE:
            end += 1
        share = end / n
        while level < betas.shape[0] and share > betas[level]:
            stops[level] = end
            level += 1


@njit(nogil=True)
def _room_for(workspace, n):
    """The part of a room for more values that n of them need."""
    return SortRoom(
        workspace.keys[:n], workspace.index[:n], workspace.bucket[:n], workspace.count[: 2 * n + 1],
        workspace.spare_keys[:n], workspace.spare_index[:n], workspace.spare_bucket[:n],
        workspace.starts, workspace.cursors,
    )  # fmt: skip


@njit(nogil=True)
def _power(x, exponent):
    if exponent == 2.0:
        return x * x
    return x if exponent == 1.0 else x**exponent


@njit(nogil=True)
def _root(x, exponent):
    if exponent == 2.0:
        return np.sqrt(x)
    return x if exponent == 1.0 else x ** (1.0 / exponent)


@njit(nogil=True)
def _summary(tables, q, p, n_axes, axis_gaps):
    """The mean over levels of the mean over directions, and the same for each axis alone.

    Parameters
    ----------
    tables : (2, levels, 2, K), tops and lows of both parts
    q, p : float, powers of the means over directions and over levels; may be inf
    axis_gaps : (n_axes,), written to, for the first directions
    """
    n_levels, count = tables.shape[1], tables.shape[3]
    whole = 0.0
    for k in range(n_axes):
        axis_gaps[k] = 0.0
    for level in range(n_levels):
        gap = 0.0
        for k in range(count):
            above = abs(tables[0, level, 0, k] - tables[1, level, 0, k])
            below = abs(tables[0, level, 1, k] - tables[1, level, 1, k])
            if q == np.inf:
                both = max(above, below)
                gap = max(gap, both)
            else:
                both = _power(above, q) + _power(below, q)
                gap += both
                both = _root(0.5 * both, q)
            if k < n_axes:
                axis_gaps[k] = max(axis_gaps[k], both) if p == np.inf else (
                    axis_gaps[k] + _power(both, p)
                )  # fmt: skip
        if q != np.inf:
            gap = _root(gap / (2 * count), q)
        whole = max(whole, gap) if p == np.inf else whole + _power(gap, p)
    if p == np.inf:
        return whole
    for k in range(n_axes):
        axis_gaps[k] = _root(axis_gaps[k] / n_levels, p)
    return _root(whole / n_levels, p)


@njit(cache=True, nogil=True)
def split_distances(
    projections, words, first, last, centers, scales, betas, q, p, workspace, out, axis_gaps
):
    """DR between the two parts of each of the relabelings `first` to `last`.

    Parameters
    ----------
    projections : (n, K), those of one row side by side
    words : uint64 (w, n), see `centers_along`
    centers, scales : (n_labelings, 2, K), see `centers_along`
    betas : (L,), rising
    q, p : float
    workspace : from `sort_workspace`, for n values
    out : (n_labelings,), written to
    axis_gaps : (n_labelings, d), written to
    """
    n, count = projections.shape
    n_levels = betas.shape[0]
    tables = np.empty((2, n_levels, 2, count))
    outlying = np.empty(n)
    members = np.empty(n, np.uint32)
    ordered = np.empty(n, np.uint32)
    stops = np.empty(n_levels, np.int64)
    tops = np.empty(count)
    lows = np.empty(count)
    for b in range(first, last):
        shift = np.uint64(b % 64)
        for part in range(2):
            wanted = np.uint64(1 - part)
            size = 0
            for i in range(n):
                members[size] = i
                size += int(((words[b // 64, i] >> shift) & np.uint64(1)) == wanted)
            for i in range(size):
                outlying[i] = _outlyingness(
                    projections[members[i]], centers[b, part], scales[b, part]
                )
            part_of_room = _room_for(workspace, size)
            sort_with_index(outlying[:size], part_of_room)
            _stops(part_of_room.keys, betas, stops)
            for i in range(stops[n_levels - 1]):
                ordered[i] = members[part_of_room.index[i]]
            for k in range(count):
                tops[k] = -np.inf
                lows[k] = np.inf
            done = 0
            for level in range(n_levels):
                if stops[level] > done:
                    _widen(projections, ordered, done, stops[level], tops, lows)
                    done = stops[level]
                for k in range(count):
                    tables[part, level, 0, k] = tops[k]
                    tables[part, level, 1, k] = lows[k]
        out[b] = _summary(tables, q, p, axis_gaps.shape[1], axis_gaps[b])
