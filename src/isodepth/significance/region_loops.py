"""Compiled: DR between the two parts of a pooled sample, for one relabeling after the other."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from isodepth.engine.compiled.lite.loop import loop
from isodepth.engine.compiled.sorting import SortRoom, sort_with_index, sort_workspace

# Depths closer than this are one depth, as everywhere for the projection depth.
_TIE = 1e-12


class SplitRoom(NamedTuple):
    """Room for the regions of the two parts of n rows, seen along K directions at L levels."""

    tables: Any  # (2, L, 2, K), tops and lows of both parts
    tops: Any  # (K,)
    lows: Any  # (K,)
    outlying: Any  # (n,)
    members: Any  # uint32 (n,), the rows of a part, and
    ordered: Any  # uint32 (n,), the same from the deepest on
    stops: Any  # int64 (L,)
    sorting: Any  # a SortRoom


def split_room(n: int, count: int, n_levels: int) -> SplitRoom:
    """Allocate for n rows, `count` directions and so many levels."""
    return SplitRoom(
        tables=np.empty((2, n_levels, 2, count)),
        tops=np.empty(count),
        lows=np.empty(count),
        outlying=np.empty(n),
        members=np.empty(n, np.uint32),
        ordered=np.empty(n, np.uint32),
        stops=np.empty(n_levels, np.int64),
        sorting=sort_workspace(n, np.float64),
    )


# Largest values in any order are the same number: there is nothing to round, and no NaN.
@loop(fastmath={"nnan", "nsz"})
def _outlyingness(row, center, scale):
    largest = 0.0
    for k in range(row.shape[0]):
        largest = max(largest, abs(row[k] - center[k]) * scale[k])
    return largest


@loop(fastmath={"nnan", "nsz"})
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


@loop
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


@loop
def _power(x, exponent):
    if exponent == 2.0:
        return x * x
    return x if exponent == 1.0 else x**exponent


@loop
def _root(x, exponent):
    if exponent == 2.0:
        return np.sqrt(x)
    return x if exponent == 1.0 else x ** (1.0 / exponent)


@loop
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


@loop
def _tabulate(projections, words, shift, wanted, center, scale, betas, room, table):
    """Write to `table` (L, 2, K) tops and lows of the regions of one part.

    A row belongs to the part if the bit of its word (n,) at `shift` is `wanted`.
    """
    members, ordered, stops, given = room.members, room.ordered, room.stops, room.sorting
    n_levels = betas.shape[0]
    size = 0
    for i in range(projections.shape[0]):
        members[size] = i
        size += ((words[i] >> shift) & 1) == wanted
    for i in range(size):
        room.outlying[i] = _outlyingness(projections[members[i]], center, scale)
    sorting = SortRoom(
        given.keys[:size], given.index[:size], given.bucket[:size], given.count[: 2 * size + 1],
        given.spare_keys[:size], given.spare_index[:size], given.spare_bucket[:size],
        given.starts, given.cursors,
    )  # fmt: skip
    sort_with_index(room.outlying[:size], sorting)
    _stops(sorting.keys, betas, stops)
    for i in range(stops[n_levels - 1]):
        ordered[i] = members[sorting.index[i]]
    tops, lows = room.tops, room.lows
    for k in range(tops.shape[0]):
        tops[k] = -np.inf
        lows[k] = np.inf
    done = 0
    for level in range(n_levels):
        if stops[level] > done:
            _widen(projections, ordered, done, stops[level], tops, lows)
            done = stops[level]
        for k in range(tops.shape[0]):
            table[level, 0, k] = tops[k]
            table[level, 1, k] = lows[k]


@loop
def split_distances(
    projections, words, first, last, centers, scales, betas, q, p, room, out, axis_gaps
):
    """DR between the two parts of each of the relabelings `first` to `last`.

    Parameters
    ----------
    projections : (n, K), those of one row side by side
    words : int64 (w, n), see `centers_along`
    centers, scales : (n_labelings, 2, K), see `centers_along`
    betas : (L,), rising
    q, p : float
    room : from `split_room`
    out : (n_labelings,), written to
    axis_gaps : (n_labelings, d), written to
    """
    for b in range(first, last):
        for part in range(2):
            _tabulate(
                projections, words[b // 64], b % 64, 1 - part, centers[b, part], scales[b, part],
                betas, room, room.tables[part],
            )  # fmt: skip
        out[b] = _summary(room.tables, q, p, axis_gaps.shape[1], axis_gaps[b])
