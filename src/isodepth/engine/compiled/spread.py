"""Compiled: median, median absolute deviation and outlyingness of a block of projections."""

from __future__ import annotations

from typing import Any

import numpy as np

from isodepth.engine.compiled.jit import njit
from isodepth.engine.compiled.selection import mean_of_middle
from isodepth.engine.compiled.sorting import centre_and_spread, sort_with_index


def spread_room(n: int, dtype: Any) -> np.ndarray:
    """Scratch space for medians of n values."""
    return np.empty(n + 1, dtype)


# Part of its only caller: compiling it apart would take as long again.
@njit(cache=True, nogil=True, inline="always")
def median_and_mad(values, work):
    """Median and median absolute deviation of many `values` (n,)."""
    real = values.dtype.type
    guess, spread = centre_and_spread(values, work)
    if not spread > 0:
        return values[0], spread
    middle = guess
    result = guess
    for turn in range(2):
        result = mean_of_middle(values, middle, turn == 1, guess, spread, work)
        if turn == 0:
            middle = result
            # Half of the distance of the quartiles; the density there is that of a normal law.
            guess = real(0.5) * spread
            spread = real(0.625) * spread
    return middle, result


@njit(cache=True, nogil=True)
def weighted_median(values, masses, total, room):
    """The median of `values` (n,) repeated `masses` (n,) times."""
    sort_with_index(values, room)
    keys, index = room.keys, room.index
    cumulated = total - total
    low = keys[0]
    found = False
    half = values.dtype.type(0.5)
    for i in range(values.shape[0]):
        cumulated += masses[index[i]]
        if not found and 2 * cumulated >= total:
            low = keys[i]
            found = True
        if 2 * cumulated > total:
            return half * low + half * keys[i]
    return low


@njit(cache=True, nogil=True)
def raise_outlyingness(projection, middle, mad, zero, reach, out, direction, where):
    """Raise `out` (n,) to |projection - middle| / mad; a MAD up to `zero` counts as none."""
    n = projection.shape[0]
    if where.shape[0] > 0:
        for i in range(n):
            x = abs(projection[i] - middle)
            if mad > zero:
                x /= mad
            else:
                x = projection.dtype.type(np.inf if x > reach[i] else 0.0)
            if x > out[i]:
                out[i] = x
                where[i] = direction
    elif mad > zero:
        scale = projection.dtype.type(1.0) / mad
        for i in range(n):
            x = abs(projection[i] - middle) * scale
            out[i] = x if x > out[i] else out[i]
    else:
        for i in range(n):
            if abs(projection[i] - middle) > reach[i]:
                out[i] = np.inf


@njit(nogil=True, inline="always")
def _judge_row(row, middle, mad, projections, zero, reach, queries, query_reach, out, first, where):
    if queries.shape[0] == 0:
        judged, judged_reach = projections[row], reach
    else:
        judged, judged_reach = queries[row], query_reach
    raise_outlyingness(judged, middle, mad, zero, judged_reach, out, first + row, where)


@njit(cache=True, nogil=True)
def outlyingness_block(projections, work, zero, reach, queries, query_reach, out, first, where):
    """Raise `out` to the largest |<u,x> - med| / MAD seen at each point, for equal masses.

    Parameters
    ----------
    projections : (B, n) array of the sample that gives median and MAD
    work : from `spread_room`
    zero : a MAD of at most this is rounding
    reach : (n,) deviations of at most this are rounding
    queries : (B, m) array of the points to judge, or (0, 0) to judge the sample itself
    query_reach : (m,) or (0,)
    out : (m,) or (n,), updated in place
    first : index of the first of these directions
    where : int64 (m,) or (n,), the direction that gave the largest, or empty
    """
    for row in range(projections.shape[0]):
        middle, mad = median_and_mad(projections[row], work)
        _judge_row(
            row, middle, mad, projections, zero, reach, queries, query_reach, out, first, where
        )


@njit(cache=True, nogil=True)
def weighted_outlyingness_block(
    projections, room, deviations, masses, total, zero, reach, queries, query_reach, out, first,
    where,
):  # fmt: skip
    """The same for int64 `masses` (n,) that add up to `total`.

    `room` is from `sort_room`, and `deviations` (n,) scratch space.
    """
    n = projections.shape[1]
    for row in range(projections.shape[0]):
        v = projections[row]
        middle = weighted_median(v, masses, total, room)
        for i in range(n):
            deviations[i] = abs(v[i] - middle)
        mad = weighted_median(deviations, masses, total, room)
        _judge_row(
            row, middle, mad, projections, zero, reach, queries, query_reach, out, first, where
        )
