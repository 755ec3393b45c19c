"""Compiled: gaps between the quantiles of the two parts of a column, for many relabelings."""

from __future__ import annotations

import numpy as np

from isodepth.engine.compiled.lite.loop import loop
from isodepth.engine.compiled.sorting import sort_with_index
from isodepth.significance.label_bits import count_before, labels_in_order, place_of_rank


@loop
def _rank(size, level, n_levels):
    """Rank, from 0, of the quantile of level (level + 1) / (n_levels + 1) among `size` values.

    The smallest value with at least that share of all values up to it, in whole numbers.
    """
    return ((level + 1) * size + n_levels) // (n_levels + 1) - 1


@loop
def _mean_of_powers(gaps, p):
    """The mean of rising powers of gaps (L,) to the 1/p; the largest for p = inf."""
    total = 0.0
    for i in range(gaps.shape[0]):
        if p == np.inf:
            total = max(total, gaps[i])
        elif p == 2.0:
            total += gaps[i] * gaps[i]
        else:
            total += gaps[i] ** p
    if p == np.inf:
        return total
    total /= gaps.shape[0]
    return np.sqrt(total) if p == 2.0 else total ** (1.0 / p)


@loop
def _unexplained(keys, mine, room, x_foreign, y_foreign, gaps):
    """Gaps (L,) between the quantiles of two parts that foreign rows cannot explain.

    Of the parts `x_foreign` and `y_foreign` rows may be anything. Without them the quantile of a
    level lies between the value of its rank among the rest, and the value so many ranks further up:
    for each level the gap between the two intervals, 0 where they meet. Without foreign rows it is
    the gap between the quantiles.
    """
    n_levels = gaps.shape[0]
    others, counts, counts_of_others = room.others, room.counts, room.counts_of_others
    n = counts[counts.shape[0] - 1]
    m = counts_of_others[counts_of_others.shape[0] - 1]
    for level in range(n_levels):
        i = _rank(n - x_foreign, level, n_levels)
        j = _rank(m - y_foreign, level, n_levels)
        x_low = keys[place_of_rank(mine, counts, room.places, i)]
        y_low = keys[place_of_rank(others, counts_of_others, room.places, j)]
        x_high, y_high = x_low, y_low
        if x_foreign > 0:
            x_high = keys[place_of_rank(mine, counts, room.places, i + x_foreign)]
        if y_foreign > 0:
            y_high = keys[place_of_rank(others, counts_of_others, room.places, j + y_foreign)]
        gaps[level] = max(0.0, max(x_low - y_high, y_low - x_high))


@loop
def quantile_gaps_along(values, words, n_labelings, foreign, p, workspace, room, gaps, out):
    """Gaps between the quantiles of the two parts of `values`, for all relabelings.

    The values are sorted once.

    Parameters
    ----------
    values : (n,), what a function of a row gives for the pooled rows
    words : int64 (w, n), bit b of words[i, r] says whether row r is of the first part in the
        relabeling 64 i + b
    n_labelings : int
    foreign : int64 (2,), how many rows of each part of relabeling 0 may be anything
    p : float, power of the mean over levels, may be inf
    workspace : from `sort_workspace`
    room : from `bit_room`
    gaps : (L,), overwritten; the levels are 1 / (L + 1), ..., L / (L + 1)
    out : (n_labelings + 1,), written to: the plain gap of each relabeling, and at the end what the
        foreign rows cannot explain of that of relabeling 0
    """
    n = values.shape[0]
    sort_with_index(values, workspace)
    keys = workspace.keys
    for i in range(words.shape[0]):
        labels_in_order(words[i], workspace.index, room)
        for b in range(min(64, n_labelings - 64 * i)):
            count_before(room.bits[b], n, room)
            _unexplained(keys, room.bits[b], room, 0, 0, gaps)
            out[64 * i + b] = _mean_of_powers(gaps, p)
            if i == 0 and b == 0:
                _unexplained(keys, room.bits[b], room, foreign[0], foreign[1], gaps)
                out[n_labelings] = _mean_of_powers(gaps, p)
