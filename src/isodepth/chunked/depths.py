"""Depths of rows that are read in chunks: what they need of the whole sample, found by passes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from isodepth import _core
from isodepth.chunked.passes import Fold, Pass, Rows
from isodepth.chunked.reading import Summary
from isodepth.chunked.selection import Numbers, Selection
from isodepth.depth.base import exact_center, moved_by
from isodepth.depth.whitening import (
    Whitening,
    column_exponents,
    inverse_root,
    scale_columns,
    stretch_of,
)

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
        # The inverse of a subnormal number may overflow.
        scales = 1 / np.maximum(np.where(mads > 0, mads, 1), np.finfo(mads.dtype).tiny)
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
        Lower and upper bounds of the contribution of a cell to a depth, in units of 1 / `unit`.
        They are integers: sums of them are exact, so that equal depths are equal numbers.
    unit : float
    smallest : bool
        Whether a depth is the minimum of the contributions of its directions (halfspace) or their
        sum (irw).
    """

    cells: RankCells
    bounds: np.ndarray
    unit: float
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
            return cls(cells, np.stack([low, high], axis=-1).astype(np.float64), float(total), True)
        # Twice the mid-rank of a point of mass one or more, anywhere in its cell; the least and the
        # most of its distance from the ends is at an end of the cell, or at the middle inside.
        first, last = 2 * before + 1, 2 * upto - 1
        low = np.minimum(first, 2 * total - last)
        high = np.minimum(total, np.minimum(last, 2 * total - first))
        bounds = np.stack([low, high], axis=-1).astype(np.float64)
        return cls(cells, bounds, 2.0 * total * len(counts), False)

    def depths(self, points: np.ndarray, n_threads: int) -> np.ndarray:
        """The depths (n, 3) of points (n, d): in the middle of their bounds, and these."""
        chunk = self.cells.numbers.chunk(points, None, n_threads)
        bounds = chunk.rank_bounds(self.bounds, self.smallest, **self.cells.options)
        return np.column_stack([bounds.mean(axis=1), bounds]) / self.unit


# -- frames of rank-based depths ------------------------------------------------------------------


@dataclass(frozen=True)
class ScaledColumns:
    """Division of the columns of rows (n, d) by powers of two (d,)."""

    exponents: np.ndarray

    def __call__(self, rows: np.ndarray, n_threads: int) -> np.ndarray:
        return scale_columns(rows, self.exponents)


def rank_numbers(summary: Summary, drawn: np.ndarray, directions: np.ndarray) -> Numbers:
    """Return projections with the ranks of the rows along `directions` (K, d).

    A column is centered only if the difference is exact for all of its values, and no value
    becomes subnormal. So no order and no tie along a coordinate axis changes.
    """
    low, high = -summary.ends[0], summary.ends[1]
    center = exact_center(_core.center_and_exponent(drawn)[0], low, high)
    largest = np.frexp(np.maximum(high - center, center - low).max())[1]
    most_down = np.frexp(summary.smallest)[1] - np.frexp(np.finfo(drawn.dtype).tiny)[1]
    # The differences of a centered column are at least as large as the spacing of its numbers.
    most_down -= np.finfo(drawn.dtype).nmant + 1 if center.any() else 0
    exponent = min(largest, max(0, most_down))
    return Numbers((center, int(exponent)), np.ascontiguousarray(directions, dtype=drawn.dtype))


def whitened_numbers(
    fold: Fold, summary: Summary, drawn: np.ndarray, directions: np.ndarray
) -> Numbers:
    """Return projections with the ranks of whitened rows along `directions` (K, d).

    As `isodepth.depth.whitening.Whitening` with the empirical covariance, up to rounding.
    """
    white = whitening(fold, summary, drawn)
    scale = ScaledColumns(white.exponents)
    low, high = scale(np.stack([-summary.ends[0], summary.ends[1]]), 1)
    center = exact_center(_core.center_and_exponent(scale(drawn, 1))[0], low, high)
    units = np.ascontiguousarray(white.directions(directions), dtype=drawn.dtype)
    return Numbers((center, 0), units, of=scale)


def whitening(fold: Fold, summary: Summary, drawn: np.ndarray) -> Whitening:
    """Return the whitening of all rows, with about the center of those `drawn` (m, d)."""
    ends = np.stack([-summary.ends[0], summary.ends[1]])
    exponents = column_exponents(*ends)
    low, high = scale_columns(ends.astype(np.float64), exponents)
    middle = np.median(scale_columns(drawn.astype(np.float64), exponents), axis=0)
    moments = fold(MomentPass(exponents, middle))
    mean = moments[0, 1:] / moments[0, 0]
    offset = mean + middle
    stretch = stretch_of(np.maximum(high - offset, offset - low), low == high)
    covariance = moments[1:, 1:] / moments[0, 0] - np.outer(mean, mean)
    root = inverse_root(covariance * stretch * stretch[:, None])
    return Whitening(exponents, root * stretch)


@dataclass(frozen=True)
class MomentPass(Pass):
    """Sums of products of (1, scaled and centered row), of shape (d + 1, d + 1).

    The center is about the median, from which the mean is at most a standard deviation away: a
    covariance as the difference of moments loses no more than a digit.
    """

    exponents: np.ndarray
    center: np.ndarray

    def start(self) -> np.ndarray:
        width = len(self.center)
        return np.zeros((width + 1, width + 1))

    def step(self, state: np.ndarray, rows: Rows, n_threads: int) -> None:
        moved = scale_columns(rows.points.astype(np.float64), self.exponents) - self.center
        joined = np.column_stack([np.ones(len(moved)), moved])
        masses = 1.0 if rows.masses is None else rows.masses.astype(np.float64)
        state += (joined.T * masses) @ joined
