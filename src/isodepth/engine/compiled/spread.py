"""Compiled: median, median absolute deviation and outlyingness of a block of projections."""

from __future__ import annotations

from typing import Any

import numpy as np

from isodepth.engine.compiled.buckets import center_and_spread
from isodepth.engine.compiled.lite.loop import loop
from isodepth.engine.compiled.selection import mean_of_middle
from isodepth.engine.compiled.sorting import sort_with_index
from isodepth.engine.compiled.tiles import project_next
from isodepth.engine.compiled.turns import take_part


def spread_workspace(n: int, dtype: Any) -> np.ndarray:
    """Scratch space for medians of n values."""
    return np.empty(n + 1, dtype)


@loop
def median_and_mad(values, work):
    """Median and median absolute deviation of many `values` (n,)."""
    real = values.dtype.type
    guess, spread = center_and_spread(values, work)
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


@loop
def weighted_median(values, masses, total, workspace):
    """The median of `values` (n,) repeated `masses` (n,) times."""
    sort_with_index(values, workspace)
    keys, index = workspace.keys, workspace.index
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


@loop
def raise_outlyingness(projection, middle, mad, out, direction, where):
    """Raise `out` (n,) to |projection - middle| / mad."""
    n = projection.shape[0]
    if where.shape[0] > 0:
        for i in range(n):
            x = abs(projection[i] - middle) / mad
            if x > out[i]:
                out[i] = x
                where[i] = direction
    else:
        scale = projection.dtype.type(1.0) / mad
        for i in range(n):
            x = abs(projection[i] - middle) * scale
            out[i] = x if x > out[i] else out[i]


@loop
def judge_row(row, middle, mad, projections, zero, queries, out, first, where, flat):
    """Raise `out` along one direction, or note the median where there is no MAD to divide by.

    Returns whether there is none.
    """
    if not mad > zero:
        flat[row] = middle
        return True
    flat[row] = np.nan
    if queries.shape[0] == 0:
        raise_outlyingness(projections[row], middle, mad, out, first + row, where)
    else:
        raise_outlyingness(queries[row], middle, mad, out, first + row, where)
    return False


@loop
def outlyingness_block(projections, work, zero, queries, out, first, where, flat):
    """Raise `out` to the largest |<u,x> - med| / MAD seen at each point, for equal masses.

    Parameters
    ----------
    projections : (B, n) array of the sample that gives median and MAD
    work : from `spread_workspace`
    zero : a MAD of at most this is rounding
    queries : (B, m) array of the points to judge, or (0, 0) to judge the sample itself
    out : (m,) or (n,), updated in place
    first : index of the first of these directions
    where : int64 (m,) or (n,), the direction that gave the largest, or empty
    flat : (B,), set to the median of the directions without a MAD, which are not judged, and to
        NaN for all others

    Returns
    -------
    some : whether there are directions without a MAD
    """
    some = False
    for row in range(projections.shape[0]):
        middle, mad = median_and_mad(projections[row], work)
        some |= judge_row(row, middle, mad, projections, zero, queries, out, first, where, flat)
    return some


@loop
def weighted_outlyingness_block(
    projections, workspace, deviations, masses, total, zero, queries, out, first, where, flat
):
    """The same for int64 `masses` (n,) that add up to `total`.

    `workspace` is from `sort_workspace`, and `deviations` (n,) scratch space.
    """
    n = projections.shape[1]
    some = False
    for row in range(projections.shape[0]):
        v = projections[row]
        middle = weighted_median(v, masses, total, workspace)
        for i in range(n):
            deviations[i] = abs(v[i] - middle)
        mad = weighted_median(deviations, masses, total, workspace)
        some |= judge_row(row, middle, mad, projections, zero, queries, out, first, where, flat)
    return some


@loop
def queries_next(queries, first, stop):
    """Project the queries on the same directions; how many rows that makes, none without them."""
    if queries.rows.shape[0] == 0:
        return 0
    return project_next(queries, first, stop)


@loop
def outlyingness_directions(slab, turn, work, zero, queries, out, where, flat):
    """`outlyingness_block` for all projections of a slab, and one of `queries`, whose turn it is.

    The slab of queries has room for equally many directions, or no rows; `flat` is (K,).
    """
    some = False
    first, stop = take_part(turn)
    while first < stop:
        while first < stop:
            count = project_next(slab, first, stop)
            judged = queries.room[: queries_next(queries, first, stop)]
            some |= outlyingness_block(
                slab.room[:count], work, zero, judged, out, first, where,
                flat[first : first + count],
            )  # fmt: skip
            first += count
        first, stop = take_part(turn)
    return some


@loop
def weighted_outlyingness_directions(
    slab, turn, workspace, deviations, masses, total, zero, queries, out, where, flat
):
    """The same for `weighted_outlyingness_block`."""
    some = False
    first, stop = take_part(turn)
    while first < stop:
        while first < stop:
            count = project_next(slab, first, stop)
            judged = queries.room[: queries_next(queries, first, stop)]
            some |= weighted_outlyingness_block(
                slab.room[:count], workspace, deviations, masses, total, zero, judged, out,
                first, where, flat[first : first + count],
            )  # fmt: skip
            first += count
        first, stop = take_part(turn)
    return some
