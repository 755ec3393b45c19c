"""Compiled: walk two samples in depth order and add up powers of the gaps of their supports.

As in `walk`, with a sum over directions in place of the largest. A sum of powers overflows or
vanishes where the mean does not, so that each level keeps its largest gap and the sum of powers in
units of it; when a larger one comes, the sum is brought to the new unit.
"""

from __future__ import annotations

import numpy as np

from isodepth.engine.compiled.lite.loop import loop
from isodepth.engine.compiled.walk import follow


@loop
def power(ratio, q):
    """ratio ** q, without a call for the powers that are in use."""
    if q == 2.0:
        return ratio * ratio
    if q == 1.0:
        return ratio
    return ratio**q


@loop
def _add(workspace, stops_x, stops_y, start, stop, first, lane, end, q, largest, sums, where):
    """Add what `follow` noted at the levels start..stop, for the lanes lane..end of a tile."""
    tops, lows, moves, _ = workspace
    at_x = 0
    at_y = moves.shape[0] // 2
    level = start
    while level < stop:
        while moves[at_x] < stops_x[level]:
            at_x += 1
        while moves[at_y] < stops_y[level]:
            at_y += 1
        most = 0.0
        code = 0
        for k in range(lane, end):
            above = np.float64(abs(tops[at_x, k] - tops[at_y, k]))
            below = np.float64(abs(lows[at_x, k] - lows[at_y, k]))
            if above > most:
                most = above
                code = first + k
            if below > most:
                most = below
                code = -1 - (first + k)
        total = 0.0
        if most > 0:
            for k in range(lane, end):
                total += power(np.float64(abs(tops[at_x, k] - tops[at_y, k])) / most, q)
                total += power(np.float64(abs(lows[at_x, k] - lows[at_y, k])) / most, q)
        # Until one of the supports moves, all levels get the same.
        next_x = moves[at_x]
        next_y = moves[at_y]
        while level < stop and stops_x[level] <= next_x and stops_y[level] <= next_y:
            known = largest[level]
            if most > known:
                sums[level] = total + sums[level] * power(known / most, q)
                largest[level] = most
                where[level] = code
            elif most > 0:
                sums[level] += total * power(most / known, q)
            level += 1


@loop
def mean_walk(
    x, y, stops_x, stops_y, ends, tiles, starts, lanes, workspace, q, largest, sums, where
):
    """Sums over a block of directions and their opposites of gaps to the power q, at each level.

    Parameters
    ----------
    x, y, stops_x, stops_y, ends, tiles, starts, workspace
        As in `walk`.
    lanes : int64 (T, 2) which lanes of each tile count: tiles may overlap, and repeat directions
    q : float >= 1
    largest : float64 (L,), zeros; becomes the largest gap
    sums : float64 (L,), zeros; becomes the sum of (gap / largest)**q
    where : int64 (L,), becomes the first direction of the largest gap: k for u_k, -1 - k for -u_k
    """
    ranges = workspace.ranges
    half = workspace.moves.shape[0] // 2
    for side in range(2):
        for tile in range(tiles.shape[0]):
            for k in range(tiles.shape[2]):
                ranges[side, tile, 0, k] = np.inf
                ranges[side, tile, 1, k] = -np.inf
    row_x = 0
    row_y = 0
    level = 0
    for chunk in range(ends.shape[0]):
        end_x, end_y, done = ends[chunk, 0], ends[chunk, 1], ends[chunk, 2]
        for tile in range(tiles.shape[0]):
            follow(tiles, tile, x, row_x, end_x, workspace, ranges[0, tile], 0)
            follow(tiles, tile, y, row_y, end_y, workspace, ranges[1, tile], half)
            _add(
                workspace, stops_x, stops_y, level, done, starts[tile],
                lanes[tile, 0], lanes[tile, 1], q, largest, sums, where,
            )  # fmt: skip
        row_x, row_y, level = end_x, end_y, done
