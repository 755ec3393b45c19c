"""Compiled: walk two samples in depth order and keep the largest gap of their supports.

A tile of directions is taken at a time. Few points reach farther than all deeper ones in any of
them, so each sample is first reduced to these, with the supports after each; between two of them
the gap stays the same.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from isodepth.engine.compiled.lanes import follow_four, follow_one, lanes, widest_gap
from isodepth.engine.compiled.lite.loop import loop
from isodepth.engine.compiled.turns import take_part


class WalkRoom(NamedTuple):
    """What `follow` notes, of the first sample in the first half and of the second in the second.

    In each half the first row of `tops` and `lows` has the supports where a chunk begins, and each
    other row those after the row of points in the place before of `moves`.
    """

    tops: Any  # (2 (rows + 2) + 1, lanes), with room for the gaps of a tile in the last row
    lows: Any
    moves: Any  # int64 (2 (rows + 2),)
    ranges: Any  # (2, tiles, 2, lanes)


def walk_workspace(rows: int, tiles: int, dtype: Any) -> WalkRoom:
    """Allocate for chunks of that many rows and blocks of that many tiles."""
    width, places = lanes(dtype), 2 * (rows + 2)
    tops, lows = np.empty((2, places + 1, width), dtype)
    return WalkRoom(tops, lows, np.empty(places, np.int64), np.empty((2, tiles, 2, width), dtype))


@loop
def follow(tiles, tile, rows, start, stop, workspace, range_, place):
    """Note the rows start..stop that move the supports in a tile of directions.

    They are noted from `place` on; `stop` comes last in `moves`.
    """
    tops, lows, moves, _ = workspace
    for k in range(range_.shape[1]):
        lows[place, k] = range_[0, k]
        tops[place, k] = range_[1, k]
    row = start
    while row + 4 <= stop:
        place = follow_four(tiles, tile, rows, row, range_, tops, lows, moves, place)
        row += 4
    while row < stop:
        place = follow_one(tiles, tile, rows, row, range_, tops, lows, moves, place)
        row += 1
    moves[place] = stop


@loop
def _raise(gaps, where, level, largest, each, tops, at_x, at_y, first):
    """Note the largest gap of a tile whose first direction is number `first`."""
    known = where[level] if where[level] >= 0 else -1 - where[level]
    if largest == gaps[level] and known <= first:
        return
    lane = 0
    while each[lane] != largest:
        lane += 1
    place = first + lane
    # Of equal gaps the first direction is named, whichever thread saw it first.
    if largest > gaps[level] or place < known:
        gaps[level] = largest
        where[level] = place if abs(tops[at_x, lane] - tops[at_y, lane]) == largest else -1 - place


@loop
def _compare(workspace, stops_x, stops_y, start, stop, first, gaps, where, each):
    """Compare the supports that `follow` noted at the levels start..stop."""
    tops, lows, moves, _ = workspace
    at_x = 0
    at_y = moves.shape[0] // 2
    level = start
    while level < stop:
        while moves[at_x] < stops_x[level]:
            at_x += 1
        while moves[at_y] < stops_y[level]:
            at_y += 1
        gap = widest_gap(tops, lows, at_x, at_y, each)
        largest = np.float64(gap)
        next_x = moves[at_x]
        next_y = moves[at_y]
        while level < stop and stops_x[level] <= next_x and stops_y[level] <= next_y:
            if largest >= gaps[level]:
                _raise(gaps, where, level, gap, each, tops, at_x, at_y, first)
            level += 1


@loop
def walk(x, y, stops_x, stops_y, ends, tiles, starts, workspace, gaps, where):
    """Largest gap of each level over a block of directions and their opposites.

    Parameters
    ----------
    x, y : (n, d) and (m, d) points, deepest first
    stops_x, stops_y : int64 (L,) rows that belong to each level
    ends : int64 (C, 3) where each chunk of the walk ends: row of x, row of y, level
    tiles, starts : (T, d, lanes) and int64 (T,), the directions, from `tiles_of`
    workspace : from `walk_workspace`
    gaps : float64 (L,), raised in place to the largest gap
    where : int64 (L,), the direction that gives it: k for u_k, -1 - k for -u_k
    """
    ranges = workspace.ranges
    width = tiles.shape[2]
    each = workspace.tops[workspace.moves.shape[0]]
    half = workspace.moves.shape[0] // 2
    for side in range(2):
        for tile in range(tiles.shape[0]):
            for k in range(width):
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
            _compare(workspace, stops_x, stops_y, level, done, starts[tile], gaps, where, each)
        row_x, row_y, level = end_x, end_y, done


@loop
def walk_parts(turn, x, y, stops_x, stops_y, ends, tiles, starts, workspace, gaps, where):
    """`walk` for all tiles whose turn it is; in its first turn a worker clears `gaps` and `where`.

    The workspace has room for the tiles of one part.
    """
    if turn.left[1] == 0:
        for level in range(gaps.shape[0]):
            gaps[level] = -1.0
            where[level] = 0
    first, stop = take_part(turn)
    while first < stop:
        walk(
            x, y, stops_x, stops_y, ends, tiles[first:stop], starts[first:stop], workspace, gaps,
            where,
        )  # fmt: skip
        first, stop = take_part(turn)


@loop
def merge_levels_of(gaps, where, first, stop, largest, chosen):
    """The largest of all rows of `gaps` (W, L) at the levels first..stop, and its direction.

    Of equal gaps the first direction is named; codes in `where` (W, L) and `chosen` (L,) are those
    of `walk`.
    """
    for level in range(first, stop):
        most = gaps[0, level]
        code = where[0, level]
        for row in range(1, gaps.shape[0]):
            gap = gaps[row, level]
            other = where[row, level]
            place = other if other >= 0 else -1 - other
            known = code if code >= 0 else -1 - code
            # Of u and -u, which one worker has both of, u comes first.
            if gap > most or (gap == most and (place < known or (place == known and other >= 0))):
                most = gap
                code = other
        largest[level] = most
        chosen[level] = code
