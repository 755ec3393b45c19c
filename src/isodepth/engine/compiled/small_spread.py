"""Compiled: outlyingness for a few points, with all directions of a block side by side.

A sorting network makes the same comparisons whatever the data are, so that neighboring directions
can be sorted together, a few at a time by each instruction of the processor. For up to a hundred
points that takes a fraction of the time of anything that looks at one direction after the other.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from isodepth.engine.compiled.lite.loop import loop
from isodepth.engine.compiled.spread import judge_row, queries_next
from isodepth.engine.compiled.tiles import project_next
from isodepth.engine.compiled.turns import take_part


class SmallRoom(NamedTuple):
    """Room for n points and B directions."""

    rows: Any  # (n, B)
    middle: Any  # (B,)
    mad: Any  # (B,)
    other: Any  # (B,)


def small_workspace(n: int, width: int, dtype: Any) -> SmallRoom:
    """Allocate for n points and `width` directions."""
    return SmallRoom(np.empty((n, width), dtype), *np.empty((3, width), dtype))


@loop
def sort_columns(rows):
    """Sort every column of `rows` (n, B) in place, by Batcher's odd-even merging network."""
    n, width = rows.shape
    size = 1
    while size < n:
        gap = size
        while gap >= 1:
            for start in range(gap % size, n - gap, 2 * gap):
                for i in range(start, start + gap if start + 2 * gap <= n else n - gap):
                    if i // (2 * size) != (i + gap) // (2 * size):
                        continue
                    upper = rows[i]
                    lower = rows[i + gap]
                    for k in range(width):
                        a = upper[k]
                        b = lower[k]
                        upper[k] = a if a < b else b
                        lower[k] = b if a < b else a
            gap //= 2
        size *= 2


@loop
def _deviation(rows, middle, rank, out):
    """Write to `out` (B,) the deviation from `middle` (B,) of rank 1, 2, ... in sorted columns.

    Deviations rise outwards on both sides. Of two rising lists A and B the element of rank h is the
    smallest over i of max(A_i, B_(h - i)), with 0 for what comes before the first.
    """
    n, width = rows.shape
    split = (n - 1) // 2 + 1
    for k in range(width):
        out[k] = np.inf
    for from_left in range(max(0, rank - (n - split)), min(rank, split) + 1):
        from_right = rank - from_left
        for k in range(width):
            x = abs(rows[split - from_left, k] - middle[k]) if from_left > 0 else out.dtype.type(0)
            y = abs(rows[split + from_right - 1, k] - middle[k]) if from_right > 0 else x
            larger = x if x > y else y
            out[k] = larger if larger < out[k] else out[k]


@loop
def medians_and_mads(rows, middle, mad, other):
    """Medians and median absolute deviations, both (B,), of the columns of `rows` (n, B).

    The columns are sorted in place; `other` (B,) is scratch space.
    """
    n, width = rows.shape
    real = rows.dtype.type
    half = real(0.5)
    sort_columns(rows)
    for k in range(width):
        middle[k] = half * rows[(n - 1) // 2, k] + half * rows[n // 2, k]
    _deviation(rows, middle, (n + 1) // 2, mad)
    if n % 2 == 0:
        _deviation(rows, middle, n // 2 + 1, other)
        for k in range(width):
            mad[k] = half * mad[k] + half * other[k]


@loop
def _judge_columns(slab, first, stop, workspace, zero, judged, out, where, flat):
    """Judge what is in the room of a slab: `outlyingness_block` for the directions first..stop."""
    projections = slab.room
    n = projections.shape[1]
    rows = workspace.rows
    middle = workspace.middle
    mad = workspace.mad
    for row in range(stop - first):
        for i in range(n):
            rows[i, row] = projections[row, i]
    # What lies beyond was sorted before, or never written: nobody looks at it.
    medians_and_mads(rows, middle, mad, workspace.other)
    some = False
    for row in range(stop - first):
        some |= judge_row(
            row, middle[row], mad[row], projections, zero, judged, out, first, where,
            flat[first:stop],
        )  # fmt: skip
    return some


@loop
def small_outlyingness(slab, turn, workspace, zero, queries, out, where, flat):
    """The same as `outlyingness_directions` for a few points.

    `workspace` is from `small_workspace`, as wide as the slab has room for directions.
    """
    some = False
    first, stop = take_part(turn)
    while first < stop:
        while first < stop:
            end = first + project_next(slab, first, stop)
            judged = queries.room[: queries_next(queries, first, stop)]
            some |= _judge_columns(slab, first, end, workspace, zero, judged, out, where, flat)
            first = end
        first, stop = take_part(turn)
    return some


@loop
def outlyingness_at_once(slab, workspace, zero, out, nowhere, flat):
    """The same for a slab with room for all directions, by one worker and without queries."""
    end = project_next(slab, 0, slab.rows.shape[0])
    return _judge_columns(slab, 0, end, workspace, zero, slab.room[:0], out, nowhere, flat)
