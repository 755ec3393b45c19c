"""Compiled: distances between many tables."""

from __future__ import annotations

import numpy as np

from isodepth.engine.compiled.jit import njit


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def _raise_four(gaps, row, columns, k):
    """Raise `gaps` (C,) to |row[k..k+3] - columns[k..k+3]|, each of C columns on its own."""
    a0, a1, a2, a3 = row[k], row[k + 1], row[k + 2], row[k + 3]
    b0, b1, b2, b3 = columns[k], columns[k + 1], columns[k + 2], columns[k + 3]
    for j in range(gaps.shape[0]):
        x0 = abs(a0 - b0[j])
        x1 = abs(a1 - b1[j])
        x2 = abs(a2 - b2[j])
        x3 = abs(a3 - b3[j])
        x0 = x0 if x0 > x1 else x1
        x2 = x2 if x2 > x3 else x3
        x0 = x0 if x0 > x2 else x2
        gaps[j] = x0 if x0 > gaps[j] else gaps[j]


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def _raise_one(gaps, a, b):
    for j in range(gaps.shape[0]):
        x = abs(a - b[j])
        gaps[j] = x if x > gaps[j] else gaps[j]


@njit(cache=True, nogil=True)
def power_mean(gaps, p, length):
    """(length * mean of gaps**p) ** (1/p) of `gaps` (L,); the largest for p = inf.

    As in `isodepth.core.levels.power_mean`, gaps are divided by the largest first.
    """
    largest = 0.0
    for level in range(gaps.shape[0]):
        largest = max(largest, np.float64(gaps[level]))
    if largest == 0 or p == np.inf:
        return largest
    total = 0.0
    for level in range(gaps.shape[0]):
        share = np.float64(gaps[level]) / largest
        if p == 2:
            total += share * share
        elif p == 1:
            total += share
        else:
            total += share**p
    return largest * (length * (total / gaps.shape[0])) ** (1.0 / p)


@njit(cache=True, nogil=True)
def tile_distances(rows, columns, p, length, out):
    """Distances between the tables of a tile.

    Parameters
    ----------
    rows : (R, L, W) tables
    columns : (L, W, C) tables of the same dtype, the table index last: what the innermost loop
        runs over is then independent, which compiles to vector instructions where a maximum over W
        does not
    p : float in (0, inf]
    length : the integral over beta in units of its mean
    out : (R, C), overwritten
    """
    n_rows, n_levels, width = rows.shape
    n_columns = columns.shape[2]
    gaps = np.zeros((n_rows, n_levels, n_columns), rows.dtype)
    # Levels outermost: what is compared at one level stays in the first caches.
    for level in range(n_levels):
        for i in range(n_rows):
            whole = width - width % 4
            for k in range(0, whole, 4):
                _raise_four(gaps[i, level], rows[i, level], columns[level], k)
            for k in range(whole, width):
                _raise_one(gaps[i, level], rows[i, level, k], columns[level, k])
    profile = np.empty(n_levels, rows.dtype)
    for i in range(n_rows):
        for j in range(n_columns):
            for level in range(n_levels):
                profile[level] = gaps[i, level, j]
            out[i, j] = power_mean(profile, p, length)
