"""The vector instructions tried out on small integers, where every product is exact."""

from __future__ import annotations

import numpy as np

from isodepth.engine.compiled.lite.entries import call_translated
from isodepth.engine.compiled.lite.function import Source
from isodepth.engine.compiled.vector_lanes import (
    TILE_BYTES,
    follow_four,
    multiply_four,
    nearest_folded,
    widest_gap,
)


# Only one operation of each kind, as the others are made by the same code: this is compiled before
# anything else, and should take little time.
def _use_each(tiles, rows, out, range_, tops, lows, moves, found):
    multiply_four(tiles, 0, rows, 0, out, 0, out.shape[1])
    place = follow_four(tiles, 0, rows, 0, range_, tops, lows, moves, 0)
    found[0] = place
    found[1] = widest_gap(tops, lows, 1, place, out[4])
    found[2] = nearest_folded(out[1], 0, out[0, 0], out[0, 1])


def works(dtype: str) -> bool:
    """Whether each operation gives what NumPy gives."""
    width = TILE_BYTES // np.dtype(dtype).itemsize
    tiles = (np.arange(3 * width) % 11 - 4.0).reshape(1, 3, width).astype(dtype)
    rows = np.array([[1, 0, 2], [0, 3, -1], [1, 0, 1], [-2, 1, 5]], dtype)
    out = np.zeros((5, width), dtype)
    range_ = np.array([np.full(width, np.inf), np.full(width, -np.inf)], dtype)
    tops, lows = np.zeros((2, 6, width), dtype)
    moves, found = np.zeros(5, np.int64), np.zeros(3)
    call_translated(Source(_use_each, ""), tiles, rows, out, range_, tops, lows, moves, found)

    products = rows @ tiles[0]
    highest, lowest = (f.accumulate(products) for f in (np.maximum, np.minimum))
    widens = (np.diff(highest, axis=0) > 0) | (np.diff(lowest, axis=0) < 0)
    moved = np.flatnonzero(np.append(True, widens.any(axis=1)))
    gaps = np.maximum(abs(highest[0] - highest[-1]), abs(lowest[0] - lowest[-1]))
    center, target = products[0, :2]
    expected = [
        (out[:4], products),
        (out[4], gaps),
        (range_, [lowest[-1], highest[-1]]),
        (moves[: len(moved)], moved),
        (tops[1 : len(moved) + 1], highest[moved]),
        (lows[1 : len(moved) + 1], lowest[moved]),
        (found[0], len(moved)),
        (found[1], gaps.max()),
        (found[2], abs(abs(products[1] - center) - target).min()),
    ]
    return all(np.array_equal(given, wanted) for given, wanted in expected)
