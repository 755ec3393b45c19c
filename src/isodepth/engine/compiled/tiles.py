"""Products of points and directions, made tile by tile in registers.

A BLAS is made for long sums. With few columns most of its time goes into copying the operands into
tiles and the results out of them, again at every call. Here the points (or the directions) are laid
out in tiles once. Each product is a sum over the columns in their order, so it has the same bits
wherever a point stands.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from isodepth.engine.compiled.lanes import check_precision, lanes, multiply_four, multiply_one
from isodepth.engine.compiled.lite.loop import loop


class Tiles(NamedTuple):
    """Rows of numbers laid out in tiles."""

    values: Any  # (tiles, d, lanes)
    starts: Any  # int64 (tiles,), the row in the first lane of each tile


def tiles_of(rows: np.ndarray) -> Tiles:
    """Lay out `rows` (n, d) in tiles.

    The last tile ends with the last row, so it may overlap the one before. Where there are fewer
    rows than lanes, the last is repeated.
    """
    n, d = rows.shape
    check_precision(rows.dtype.char)
    width = lanes(rows.dtype)
    if n < width:
        values = np.empty((1, d, width), rows.dtype)
        values[0, :, :n] = rows.T
        values[0, :, n:] = rows[-1][:, None]
        return Tiles(values, np.zeros(1, np.int64))
    whole = n // width
    starts = np.arange(0, n, width)
    starts[-1] = n - width
    values = np.empty((len(starts), d, width), rows.dtype)
    values[:whole] = rows[: whole * width].reshape(whole, width, d).transpose(0, 2, 1)
    values[-1] = rows[n - width :].T
    return Tiles(values, starts)


def multipliers(directions: np.ndarray, dtype: Any) -> np.ndarray:
    """`directions` (K, d) as `project` takes them.

    A copy, always: directions may be kept and read-only, and for such arrays everything would be
    compiled once more.
    """
    return np.array(directions, dtype=dtype, order="C")


def project(tiles: Tiles, rows: np.ndarray, out: np.ndarray) -> None:
    """Write to `out` (B, n) the products of n points in `tiles` with `rows` (B, d)."""
    width = tiles.values.shape[2]
    if out.shape[1] >= width:
        multiply(tiles.values, tiles.starts, rows, out)
        return
    wide = np.empty((len(rows), width), out.dtype)
    multiply(tiles.values, tiles.starts, rows, wide)
    out[:] = wide[:, : out.shape[1]]


class Slab(NamedTuple):
    """Points and some directions, with room for the projections on a few of these at a time."""

    tiles: Any  # of the points, with
    starts: Any  # as in `Tiles`
    rows: Any  # (K, d), from `multipliers`
    room: Any  # (b, n)
    spare: Any  # (lanes,), for points that do not fill a tile


def slab_of(tiles: Tiles, rows: np.ndarray, room: np.ndarray) -> Slab:
    """The projections (K, n) of points in tiles on `rows` (K, d), as many at a time as fit."""
    return Slab(*tiles, rows, room, np.empty(tiles.values.shape[2], room.dtype))


def empty_slab(slab: Slab) -> Slab:
    """A slab of the same types without directions, for where nothing else is asked."""
    return slab._replace(rows=slab.rows[:0], room=slab.room[:0])


@loop
def project_next(slab, first, stop):
    """Project on the directions first..stop; how many of them there was room for."""
    rows, room, spare = slab.rows, slab.room, slab.spare
    n = room.shape[1]
    count = min(room.shape[0], stop - first)
    if n >= spare.shape[0]:
        multiply(slab.tiles, slab.starts, rows[first : first + count], room[:count])
        return count
    for row in range(count):
        multiply_one(slab.tiles, 0, rows, first + row, spare, 0, n)
        for i in range(n):
            room[row, i] = spare[i]
    return count


@loop
def multiply(tiles, starts, rows, out):
    """`project`, where there are as many points as a tile has lanes."""
    count, n = out.shape
    for tile in range(tiles.shape[0]):
        row = 0
        place = starts[tile]
        while row + 4 <= count:
            multiply_four(tiles, tile, rows, row, out, place, n)
            row += 4
            place += 4 * n
        while row < count:
            multiply_one(tiles, tile, rows, row, out, place, n)
            row += 1
            place += n
