"""Compiled: distances between many tables."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from isodepth.engine.compiled.lite.loop import loop
from isodepth.engine.compiled.mean_walk import power
from isodepth.engine.powers import GEOMETRIC_POWER, SMALL_POWER, TINIEST

#: Sums of squares between these have neither overflowed nor lost digits to the smallest numbers.
SAFE_SQUARES = (1e-280, 1e300)


@loop(fastmath={"nnan", "nsz"})
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


@loop(fastmath={"nnan", "nsz"})
def _raise_one(gaps, a, b):
    for j in range(gaps.shape[0]):
        x = abs(a - b[j])
        gaps[j] = x if x > gaps[j] else gaps[j]


@loop
def _small_power_mean(gaps, largest, p, length):
    """As in `isodepth.core.levels`, for gaps (L,) of equal shares, in units of the largest."""
    if length == 0:
        return 0.0
    n_levels = gaps.shape[0]
    mean = 0.0
    below = 0.0
    total = 0.0
    for level in range(n_levels):
        gap = np.float64(gaps[level])
        if gap == 0:
            mean = -np.inf
            below -= 1.0
            continue
        ratio = gap / largest
        # A quotient may vanish though the gap does not.
        log = math.log(ratio) if ratio >= TINIEST else math.log(gap) - math.log(largest)
        mean += log / n_levels
        below += math.expm1(p * log)
        total += math.exp(p * log)
    if p < GEOMETRIC_POWER:
        return math.exp(mean) if length == 1 else 0.0
    below /= n_levels
    log_sum = math.log1p(below) if below > -0.5 else math.log(total / n_levels)
    return math.exp((log_sum + math.log(length)) / p)


@loop
def power_mean(gaps, p, length):
    """(length * mean of gaps**p) ** (1/p) of `gaps` (L,); the largest for p = inf.

    As in `isodepth.core.levels.power_mean`, gaps are divided by the largest first.
    """
    largest = 0.0
    for level in range(gaps.shape[0]):
        largest = max(largest, np.float64(gaps[level]))
    if largest == 0 or p == np.inf:
        return largest
    if p < SMALL_POWER:
        return largest * _small_power_mean(gaps, largest, p, length)
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


@loop
def _mean_of_powers(row, columns, j, largest, q):
    """Mean of |row - columns[:, j]| ** q over W, in units of the largest, which is positive."""
    total = 0.0
    for k in range(row.shape[0]):
        total += power(np.float64(abs(row[k] - columns[k, j])) / largest, q)
    return largest * (total / row.shape[0]) ** (1.0 / q)


@loop
def _add_squares(sums, row, columns):
    """Add squares of row (W,) - columns (W, C) to sums (C,), each of C columns on its own."""
    width = row.shape[0]
    whole = width - width % 4
    for k in range(0, whole, 4):
        a0, a1, a2, a3 = row[k], row[k + 1], row[k + 2], row[k + 3]
        b0, b1, b2, b3 = columns[k], columns[k + 1], columns[k + 2], columns[k + 3]
        for j in range(sums.shape[0]):
            x0 = np.float64(a0 - b0[j])
            x1 = np.float64(a1 - b1[j])
            x2 = np.float64(a2 - b2[j])
            x3 = np.float64(a3 - b3[j])
            sums[j] += (x0 * x0 + x1 * x1) + (x2 * x2 + x3 * x3)
    for k in range(whole, width):
        for j in range(sums.shape[0]):
            x0 = np.float64(row[k] - columns[k, j])
            sums[j] += x0 * x0


@loop
def _level_gaps(row, columns, q, unit, gaps, largest):
    """Gaps (C,) of one level: row (W,) against columns (W, C), a mean of order q divided by unit.

    `largest` (C,) is overwritten.
    """
    width = row.shape[0]
    if q == 2.0:
        for j in range(gaps.shape[0]):
            gaps[j] = 0.0
        _add_squares(gaps, row, columns)
        safe = True
        for j in range(gaps.shape[0]):
            safe = safe and SAFE_SQUARES[0] < gaps[j] < SAFE_SQUARES[1]
        if safe:
            for j in range(gaps.shape[0]):
                gaps[j] = math.sqrt(gaps[j] / width) / unit
            return
    for j in range(gaps.shape[0]):
        largest[j] = 0
    whole = width - width % 4
    for k in range(0, whole, 4):
        _raise_four(largest, row, columns, k)
    for k in range(whole, width):
        _raise_one(largest, row[k], columns[k])
    for j in range(gaps.shape[0]):
        most = np.float64(largest[j])
        if q == np.inf or most == 0:
            gaps[j] = most
        elif q == 2.0 and SAFE_SQUARES[0] < gaps[j] < SAFE_SQUARES[1]:
            gaps[j] = math.sqrt(gaps[j] / width) / unit
        else:
            gaps[j] = _mean_of_powers(row, columns, j, most, q) / unit


class TileRoom(NamedTuple):
    """Room for the distances of a tile."""

    gaps: Any  # (R, L, C)
    largest: Any  # (C,), of the dtype of the tables
    profile: Any  # (L,)


def tile_room(n_rows: int, n_levels: int, n_columns: int, dtype: Any) -> TileRoom:
    """Allocate for R tables against C tables of L levels."""
    return TileRoom(
        np.empty((n_rows, n_levels, n_columns)), np.empty(n_columns, dtype), np.empty(n_levels)
    )


@loop
def _fill(rows, columns, p, q, unit, length, room, out):
    n_rows, n_levels = rows.shape[0], rows.shape[1]
    gaps, profile = room.gaps, room.profile
    # Levels outermost: what is compared at one level stays in the first caches.
    for level in range(n_levels):
        for i in range(n_rows):
            _level_gaps(rows[i, level], columns[level], q, unit, gaps[i, level], room.largest)
    for i in range(n_rows):
        for j in range(columns.shape[2]):
            for level in range(n_levels):
                profile[level] = gaps[i, level, j]
            out[i, j] = power_mean(profile, p, length)


def tile_distances(
    rows: np.ndarray,
    columns: np.ndarray,
    p: float,
    q: float,
    unit: float,
    length: float,
    out: np.ndarray,
) -> None:
    """Distances between the tables of a tile.

    Parameters
    ----------
    rows : (R, L, W) tables
    columns : (L, W, C) tables of the same dtype, the table index last: what the innermost loop
        runs over is then independent, which compiles to vector instructions where a maximum over W
        does not
    p : float in (0, inf]
    q : float in [1, inf]
    unit : what a mean over directions is divided by; 1 for q = inf
    length : the integral over beta in units of its mean
    out : (R, C), overwritten
    """
    room = tile_room(rows.shape[0], rows.shape[1], columns.shape[2], rows.dtype)
    _fill(rows, columns, float(p), float(q), float(unit), float(length), room, out)
