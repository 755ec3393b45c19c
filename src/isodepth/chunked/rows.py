"""Rows of a chunk, ready for a pass, and their projections a block at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from isodepth.depth.base import moved_by

# A block of projections stays in the second-level cache, and takes a fraction of a millisecond:
# interrupts are noticed between blocks.
BLOCK_ROWS = 4096
BLOCK_DIRECTIONS = 32

NO_MASSES = np.empty(0, dtype=np.int64)


class Rows(NamedTuple):
    """Checked rows of a chunk.

    Attributes
    ----------
    points : ndarray of shape (n, d), C-contiguous, without -0.0
    masses : int64 ndarray of shape (n,), empty where each is one unit
    start : int
        How many rows were read before these.
    """

    points: np.ndarray
    masses: np.ndarray
    start: int = 0

    @property
    def mass(self) -> int:
        """The sum of the masses."""
        return int(self.masses.sum()) if len(self.masses) else len(self.points)


class Frame(NamedTuple):
    """Where the standardized rows of a sample lie, and the directions on which they are projected.

    Attributes
    ----------
    center : ndarray of shape (d,)
    exponent : int
    directions : ndarray of shape (K, d), of the precision of the rows
    """

    center: np.ndarray
    exponent: int
    directions: np.ndarray

    def along(self, which: np.ndarray) -> Frame:
        """The same with some of the directions."""
        return self._replace(directions=self.directions[which])

    def moved(self, points: np.ndarray) -> np.ndarray:
        """Standardized rows (n, d)."""
        return moved_by(points, self.center, self.exponent)


def projected(
    moved: np.ndarray, frame: Frame, block_rows: int = BLOCK_ROWS
) -> Iterator[tuple[slice, slice, np.ndarray]]:
    """Projections of standardized rows, with the bits that they have in memory.

    Gives the rows, the directions and the projections (B, n) of one block after the other; each is
    written over the one before.
    """
    from isodepth.engine.compiled.tiles import multipliers, project, tiles_of

    n_directions = len(frame.directions)
    units = multipliers(frame.directions, moved.dtype)
    work = np.empty(BLOCK_DIRECTIONS * min(block_rows, len(moved)), dtype=moved.dtype)
    for start in range(0, len(moved), block_rows):
        rows = slice(start, min(start + block_rows, len(moved)))
        tiles = tiles_of(moved[rows])
        size = rows.stop - rows.start
        for k in range(0, n_directions, BLOCK_DIRECTIONS):
            which = slice(k, min(k + BLOCK_DIRECTIONS, n_directions))
            out = work[: (which.stop - k) * size].reshape(-1, size)
            project(tiles, units[which], out)
            yield rows, which, out
