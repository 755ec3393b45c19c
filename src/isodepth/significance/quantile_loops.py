"""Compiled: gaps between the quantiles of the two parts of a column, for many relabelings."""

from __future__ import annotations

import numpy as np

from isodepth.engine.compiled.jit import njit
from isodepth.engine.compiled.sorting import sort_with_index
from isodepth.significance.label_bits import count_before, labels_in_order, place_of_rank


@njit(nogil=True)
def _rank(size, level, n_levels):
    """Rank, from 0, of the quantile of level (level + 1) / (n_levels + 1) among `size` values.

    The smallest value with at least that share of all values up to it, in whole numbers.
    """
    return ((level + 1) * size + n_levels) // (n_levels + 1) - 1


@njit(nogil=True)
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


@njit(nogil=True)
def _unexplained(keys, mine, counts, others, counts_of_others, foreign, gaps):
    """Gaps (L,) between the quantiles of two parts that foreign rows cannot explain.

    Of each part foreign[part] rows may be anything. Without them the quantile of a level lies
    between the value of its rank among the rest, and the value so many ranks further up: for each
    level the gap between the two intervals, 0 where they meet. Without foreign rows it is the gap
    between the quantiles.
    """
    n_levels = gaps.shape[0]
    n = counts[counts.shape[0] - 1]
    m = counts_of_others[counts_of_others.shape[0] - 1]
    for level in range(n_levels):
        i = _rank(n - foreign[0], level, n_levels)
        j = _rank(m - foreign[1], level, n_levels)
        x_low = keys[place_of_rank(mine, counts, i)]
        y_low = keys[place_of_rank(others, counts_of_others, j)]
        x_high, y_high = x_low, y_low
        if foreign[0] > 0:
            x_high = keys[place_of_rank(mine, counts, i + foreign[0])]
        if foreign[1] > 0:
            y_high = keys[place_of_rank(others, counts_of_others, j + foreign[1])]
        gaps[level] = max(0.0, max(x_low - y_high, y_low - x_high))


@njit(cache=True, nogil=True)
def quantile_gaps_along(values, words, n_labelings, foreign, n_levels, p, workspace, out):
    """Gaps between the quantiles of the two parts of `values`, for all relabelings.

    The values are sorted once.

    Parameters
    ----------
    values : (n,), what a function of a row gives for the pooled rows
    words : uint64 (w, n), bit b of words[i, r] says whether row r is of the first part in the
        relabeling 64 i + b
    n_labelings : int
    foreign : int64 (2,), how many rows of each part of relabeling 0 may be anything
    n_levels : int, levels 1 / (n_levels + 1), ..., n_levels / (n_levels + 1)
    p : float, power of the mean over levels, may be inf
    workspace : from `sort_workspace`
    out : (n_labelings + 1,), written to: the plain gap of each relabeling, and at the end what the
        foreign rows cannot explain of that of relabeling 0
    """
    n = values.shape[0]
    sort_with_index(values, workspace)
    keys = workspace.keys
    w = (n + 63) // 64
    bits = np.empty((64, w), np.uint64)
    others = np.empty(w, np.uint64)
    counts = np.empty(w + 1, np.int64)
    counts_of_others = np.empty(w + 1, np.int64)
    gaps = np.empty(n_levels)
    none = np.zeros(2, np.int64)
    for i in range(words.shape[0]):
        labels_in_order(words[i], workspace.index, bits)
        for b in range(min(64, n_labelings - 64 * i)):
            count_before(bits[b], n, counts, others, counts_of_others)
            _unexplained(keys, bits[b], counts, others, counts_of_others, none, gaps)
            out[64 * i + b] = _mean_of_powers(gaps, p)
            if i == 0 and b == 0:
                _unexplained(keys, bits[b], counts, others, counts_of_others, foreign, gaps)
                out[n_labelings] = _mean_of_powers(gaps, p)
