"""Depths by ranks (halfspace, irw) of samples in chunks: by counting, with bounds that hold.

Along each direction the mass in each of some thousand cells is counted, which are the finer the
less mass they hold: towards the tails. So the rank of a point is known up to the mass of its cell,
and its depth lies between two numbers. Regions between those of the lower and the upper bounds
give bounds of the support values, and these of the distance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from isodepth.chunked.rows import BLOCK_ROWS, Frame, Rows, projected

_OCTAVES = 8
_BITS = (9, 8, 7, 6, 5)
_MOST_SUM = 1 << 62
#: So many rows, evenly spaced in mass, say where the cells lie.
SPACED_ROWS = 31


@dataclass(frozen=True)
class Cells:
    """Where the cells lie along each direction.

    Attributes
    ----------
    frame : Frame
    middles, scales : ndarrays of shape (K,)
    bits : int
        There are 2**bits cells from the middle to one unit away from it.
    """

    frame: Frame
    middles: np.ndarray
    scales: np.ndarray
    bits: int

    @property
    def count(self) -> int:
        """How many cells there are along a direction."""
        return 2 * (_OCTAVES << self.bits)

    @classmethod
    def around(cls, frame: Frame, some: np.ndarray, room_bytes: float) -> Cells:
        """Cells around the middle of some rows (m, d), as many as there is room for.

        Depths depend on where the cells lie, so these rows must not depend on the chunks.
        """
        from isodepth.engine.compiled.tiles import multipliers, project, tiles_of

        count = len(frame.directions)
        fitting = [b for b in _BITS if 3 * 8 * count * 2 * (_OCTAVES << b) <= room_bytes]
        moved = frame.moved(some)
        units, tiles = multipliers(frame.directions, moved.dtype), tiles_of(moved)
        middles, scales = np.empty(count, moved.dtype), np.empty(count, moved.dtype)
        for k in range(0, count, 16):
            block = slice(k, min(k + 16, count))
            values = np.empty((block.stop - k, len(moved)), dtype=moved.dtype)
            project(tiles, units[block], values)
            middles[block] = np.median(values, axis=1)
            away = np.abs(values - middles[block, None])
            spread = np.median(away, axis=1)
            spread = np.where(spread > 0, spread, away.max(axis=1))
            scales[block] = np.divide(1, spread, out=np.ones_like(spread), where=spread > 0)
        return cls(frame, middles, scales, fitting[0] if fitting else _BITS[-1])


@dataclass(frozen=True)
class CellPass:
    """The mass in each cell, int64 (K, cells)."""

    cells: Cells

    def start(self) -> np.ndarray:
        return np.zeros((len(self.cells.middles), self.cells.count), dtype=np.int64)

    def step(self, state: np.ndarray, rows: Rows) -> None:
        from isodepth.chunked.counting_loops import cell_rows

        cells, work = self.cells, np.empty(BLOCK_ROWS, dtype=np.float32)
        for block, which, projections in projected(cells.frame.moved(rows.points), cells.frame):
            masses = rows.masses[block] if len(rows.masses) else rows.masses
            cell_rows(
                projections, cells.middles[which], cells.scales[which], cells.bits, masses,
                state[which], work, work.view(np.int32),
            )  # fmt: skip

    def merge(self, state: np.ndarray, other: np.ndarray) -> None:
        state += other


@dataclass(frozen=True)
class RankBounds:
    """Bounds of the depths of points, in units of `unit`.

    Attributes
    ----------
    cells : Cells
    low, high : int64 ndarrays of shape (K, cells)
    smallest : bool
        Whether a depth is the smallest of these over directions (halfspace) or their mean (irw).
    unit : float
    """

    cells: Cells
    low: np.ndarray
    high: np.ndarray
    smallest: bool
    unit: float

    raw_dtype = np.dtype(np.int64)
    raw_width = 2

    @classmethod
    def of(cls, cells: Cells, counts: np.ndarray, total: int, smallest: bool) -> RankBounds:
        """From the masses (K, cells) of all cells."""
        upto = np.cumsum(counts, axis=1)
        before = upto - counts
        if smallest:
            # A closed halfspace holds the point itself, of mass one at least.
            low = np.minimum(before, total - upto) + 1
            return cls(cells, low, np.minimum(upto, total - before), True, 1.0 / total)
        # Twice the mid-rank of a point of mass one or more, anywhere in its cell.
        first, last = 2 * before + 1, 2 * upto - 1
        ends = np.minimum(first, 2 * total - first), np.minimum(last, 2 * total - last)
        holds_middle = (first <= total) & (last >= total)
        high = np.where(holds_middle, total, np.maximum(*ends))
        shift = max(0, (2 * total * len(counts)).bit_length() - 62)
        unit = 2.0**shift / (2.0 * total * len(counts))
        return cls(cells, np.minimum(*ends) >> shift, -(-high >> shift), False, unit)

    def raw(self, points: np.ndarray) -> np.ndarray:
        """Lower and upper bounds (n, 2), int64, of the depths of rows (n, d)."""
        from isodepth.chunked.counting_loops import bound_rows

        cells, work = self.cells, np.empty(BLOCK_ROWS, dtype=np.float32)
        out = np.full((len(points), 2), _MOST_SUM if self.smallest else 0, dtype=np.int64)
        for rows, which, projections in projected(cells.frame.moved(points), cells.frame):
            bound_rows(
                projections, cells.middles[which], cells.scales[which], cells.bits,
                self.low[which], self.high[which], self.smallest, out[rows],
                work, work.view(np.int32),
            )  # fmt: skip
        return out

    def finish(self, raw: np.ndarray) -> np.ndarray:
        """The depths (n,) in the middle of their bounds."""
        return 0.5 * self.unit * (raw[:, 0] + raw[:, 1])


@dataclass(frozen=True)
class Side:
    """The lower (0) or upper (1) bounds of depths that are known up to these."""

    depths: Any
    which: int
    unit: float

    def __call__(self, rows: Rows) -> np.ndarray:
        return self.unit * self.depths.raw(rows)[:, self.which]


@dataclass(frozen=True)
class WidthPass:
    """The largest distance of two bounds."""

    depths: Any

    def start(self) -> np.ndarray:
        return np.zeros(1, dtype=np.int64)

    def step(self, state: np.ndarray, rows: Rows) -> None:
        raw = self.depths.raw(rows)
        np.maximum(state, (raw[:, 1] - raw[:, 0]).max(), out=state)

    def merge(self, state: np.ndarray, other: np.ndarray) -> None:
        np.maximum(state, other, out=state)


@dataclass(frozen=True)
class Recomputed:
    """Depths that are computed anew wherever they are asked for."""

    model: Any

    known = True
    complete = False

    def raw(self, rows: Rows) -> np.ndarray:
        """What the depths of the rows of a chunk are made of."""
        return self.model.raw(rows.points)

    def __call__(self, rows: Rows) -> np.ndarray:
        return self.model.finish(self.raw(rows))
