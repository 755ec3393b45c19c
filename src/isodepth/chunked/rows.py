"""Rows of a chunk, ready for a pass, and their projections a block at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

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


def slabs(
    moved: np.ndarray, frame: Frame, block_rows: int = BLOCK_ROWS
) -> Iterator[tuple[slice, Any]]:
    """The rows, and a slab of them with all directions, of one block after the other.

    Each writes its projections over those of the one before.
    """
    from isodepth.engine.compiled.tiles import multipliers, slab_of, tiles_of

    units = multipliers(frame.directions, moved.dtype)
    count = min(BLOCK_DIRECTIONS, len(units))
    work = np.empty(count * min(block_rows, len(moved)), dtype=moved.dtype)
    for start in range(0, len(moved), block_rows):
        rows = slice(start, min(start + block_rows, len(moved)))
        size = rows.stop - rows.start
        room = work[: count * size].reshape(count, size)
        yield rows, slab_of(tiles_of(moved[rows]), units, room)


def directions_of(slab: Any) -> Iterator[tuple[slice, np.ndarray]]:
    """The directions and the projections (B, n) of one block after the other."""
    from isodepth.engine.compiled.tiles import project_next

    first = 0
    while first < len(slab.rows):
        count = project_next(slab, first, slab.rows.shape[0])
        yield slice(first, first + count), slab.room[:count]
        first += count


def projected(moved: np.ndarray, frame: Frame) -> Iterator[tuple[slice, slice, np.ndarray]]:
    """Projections of standardized rows, with the bits that they have in memory.

    Gives the rows, the directions and the projections (B, n) of one block after the other; each is
    written over the one before.
    """
    for rows, slab in slabs(moved, frame):
        for which, projections in directions_of(slab):
            yield rows, which, projections
