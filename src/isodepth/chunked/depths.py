"""Depths of rows that are read in chunks: what they need of the whole sample, found by passes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from isodepth import _core
from isodepth.chunked.passes import Fold, Pass, Rows
from isodepth.chunked.selection import Numbers, Selection
from isodepth.depth.base import moved_by
from isodepth.depth.whitening import inverse_root, stretch_of

_OCTAVES = 8
_BITS = (9, 8, 7, 6, 5)
# A typical size needs no more rows than these.
_SIZED_ROWS = 1023


@dataclass(frozen=True)
class ProjectionModel:
    """All that the projection depth of a point needs of a sample.

    Attributes
    ----------
    numbers : Numbers
        Projections on K directions.
    middles, mads : ndarrays of shape (K,)
    scales : ndarray of shape (K,)
        What takes the place of a MAD that is zero.
    typical : float
        The size of a typical row: what is rounding is said in terms of it.
    """

    numbers: Numbers
    middles: np.ndarray
    mads: np.ndarray
    scales: np.ndarray
    typical: float

    @classmethod
    def fit(cls, selection: Selection, numbers: Numbers, distinct: np.ndarray) -> ProjectionModel:
        """Medians and MADs along all directions, exactly; with the distinct rows of the pilot."""
        some = moved_by(distinct[:: -(-len(distinct) // _SIZED_ROWS)], *numbers.frame)
        sizes = np.sort(np.abs(some).max(axis=1))
        typical, kind = sizes[len(sizes) // 2], some.dtype.type
        # As `Rounding` in the compiled core has it.
        zero = kind(np.finfo(some.dtype).eps) * kind(8 * some.shape[1]) * typical
        found = selection.spreads(numbers, float(typical), zero)
        return cls(numbers, *found, float(typical))

    def depths(self, points: np.ndarray, n_threads: int) -> np.ndarray:
        """The depths (n, 1) of points (n, d)."""
        chunk = self.numbers.chunk(points, None, n_threads)
        largest = chunk.outlyingness(self.middles, self.mads, self.scales, self.typical)
        return 1.0 / (1.0 + largest.astype(np.float64)[:, None])


@dataclass(frozen=True)
class RankCells(Pass):
    """The mass in each of the cells along each direction, the finer the nearer to the middle.

    Attributes
    ----------
    numbers : Numbers
        Projections on K directions.
    middles, scales : ndarrays of shape (K,)
    bits : int
        There are 2**bits cells from the middle to one unit away from it, and in each octave beyond.
    """

    numbers: Numbers
    middles: np.ndarray
    scales: np.ndarray
    bits: int

    @classmethod
    def around(cls, numbers: Numbers, pilot: Rows, memory: float, n_threads: int) -> RankCells:
        """Cells around the middle of the pilot, as many as fit into `memory` bytes."""
        count = len(numbers.directions)
        fitting = [b for b in _BITS if 3 * 8 * count * 2 * (_OCTAVES << b) <= memory]
        middles, mads = np.empty((2, count), dtype=numbers.directions.dtype)
        for some, values in numbers.along(pilot.points, n_threads):
            middles[some] = _core.quantile(values, 0.5, pilot.masses, n_threads)
            away = np.abs(values - middles[some, None])
            own = _core.quantile(away, 0.5, pilot.masses, n_threads)
            mads[some] = np.where(own > 0, own, away.max(axis=1))
        scales = np.divide(1, mads, out=np.ones_like(mads), where=mads > 0)
        return cls(numbers, middles, scales, fitting[0] if fitting else _BITS[-1])

    @property
    def options(self) -> dict[str, Any]:
        """As the passes of `isodepth._core` take them."""
        return {"middles": self.middles, "scales": self.scales, "bits": self.bits}

    def start(self) -> np.ndarray:
        return np.zeros((len(self.middles), 2 * (_OCTAVES << self.bits)), dtype=np.int64)

    def step(self, state: np.ndarray, rows: Rows, n_threads: int) -> None:
        chunk = self.numbers.chunk(rows.points, rows.masses, n_threads)
        chunk.count_rank_cells(state, **self.options)


@dataclass(frozen=True)
class RankModel:
    """Bounds of depths by ranks: the rank of a point is known up to the mass of its cell.

    Attributes
    ----------
    cells : RankCells
    bounds : ndarray of shape (K, cells, 2)
        Lower and upper bounds of what a cell adds to a depth.
    smallest : bool
        Whether a depth is the smallest of these over directions (halfspace) or their sum (irw).
    """

    cells: RankCells
    bounds: np.ndarray
    smallest: bool

    @classmethod
    def fit(
        cls, selection: Selection, numbers: Numbers, memory: float, smallest: bool
    ) -> RankModel:
        """Count the mass of all cells, as many as fit into `memory` bytes."""
        cells = RankCells.around(numbers, selection.pilot, memory, selection.n_threads)
        counts, total = selection.fold(cells), selection.mass
        upto = np.cumsum(counts, axis=1)
        before = upto - counts
        if smallest:
            # A closed halfspace holds the point itself, of mass one at least.
            low = np.minimum(before, total - upto) + 1
            high = np.minimum(upto, total - before)
            return cls(cells, np.stack([low, high], axis=-1) / total, True)
        # Twice the mid-rank of a point of mass one or more, anywhere in its cell; the least and the
        # most of its distance from the ends is at an end of the cell, or at the middle inside.
        first, last = 2 * before + 1, 2 * upto - 1
        low = np.minimum(first, 2 * total - last)
        high = np.minimum(total, np.minimum(last, 2 * total - first))
        return cls(cells, np.stack([low, high], axis=-1) / (2.0 * total * len(counts)), False)

    def depths(self, points: np.ndarray, n_threads: int) -> np.ndarray:
        """The depths (n, 3) of points (n, d): in the middle of their bounds, and these."""
        chunk = self.cells.numbers.chunk(points, None, n_threads)
        bounds = chunk.rank_bounds(self.bounds, self.smallest, **self.cells.options)
        return np.column_stack([bounds.mean(axis=1), bounds])


@dataclass(frozen=True)
class MomentPass(Pass):
    """Sums of products of (1, moved row), of shape (d + 1, d + 1), and extremes of -rows and rows.

    Rows are moved to about their median, from which the mean is at most a standard deviation away:
    a covariance as the difference of moments loses no more than a digit.
    """

    frame: tuple[np.ndarray, int]

    def start(self) -> list[np.ndarray]:
        width = len(self.frame[0])
        return [np.zeros((width + 1, width + 1)), np.full((2, width), -np.inf)]

    def step(self, state: list[np.ndarray], rows: Rows, n_threads: int) -> None:
        moved = moved_by(rows.points, *self.frame).astype(np.float64)
        joined = np.column_stack([np.ones(len(moved)), moved])
        masses = 1.0 if rows.masses is None else rows.masses.astype(np.float64)
        ends = np.stack([(-moved).max(axis=0), moved.max(axis=0)])
        self.merge(state, [(joined.T * masses) @ joined, ends])

    def merge(self, state: list[np.ndarray], other: list[np.ndarray]) -> None:
        state[0] += other[0]
        np.maximum(state[1], other[1], out=state[1])


def whitening_matrix(fold: Fold, frame: tuple[np.ndarray, int]) -> np.ndarray:
    """That of `isodepth.depth.whitening` for the empirical covariance, up to rounding."""
    moments, ends = fold(MomentPass(frame))
    low, high = -ends[0], ends[1]
    mean = moments[0, 1:] / moments[0, 0]
    stretch = stretch_of(np.maximum(high - mean, mean - low), low == high)
    covariance = moments[1:, 1:] / moments[0, 0] - np.outer(mean, mean)
    return inverse_root(covariance * stretch * stretch[:, None]) * stretch
