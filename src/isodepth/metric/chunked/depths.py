"""Models from which the depth of any row is computed, for samples that are read in chunks.

For each direction, a model contains either the median and the scale of the projections of all rows,
or the mass of these projections in intervals. A model is computed by passes over the chunks.

The mass of a row is its weight, converted to an integer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from isodepth import _core
from isodepth.base.fold import Fold
from isodepth.geometry.transforms import (
    Whitening,
    column_exponents,
    exact_center,
    inverse_root,
    scale_columns,
    stretch_of,
)
from isodepth.metric.chunked.preparation import Rows
from isodepth.metric.chunked.reading import Summary
from isodepth.metric.chunked.selection import RowValues, Selection
from isodepth.stream.passes import RunFold

_OCTAVES = 8
_BITS = (9, 8, 7, 6, 5)
# Typical distance of a value from the center of its column, after `sized_numbers` has scaled it.
_TYPICAL = 1.0
# If the binary exponents of the typical sizes of all columns differ by at most this number,
# `sized_numbers` scales all columns by the same factor.
_SIMILAR = 2


@dataclass(frozen=True)
class ProjectionModel:
    """Medians and scales of a sample along directions, which determine projection depths.

    Attributes
    ----------
    numbers : RowValues
        Function that projects rows on K directions.
    middles, mads : ndarrays of shape (K,)
        Median and MAD of the projections on each direction.
    scales : ndarray of shape (K,)
        Scale that replaces a MAD of zero (up to rounding errors), see `Selection.spreads`.
    """

    numbers: RowValues
    middles: np.ndarray
    mads: np.ndarray
    scales: np.ndarray

    @classmethod
    def fit(
        cls, selection: Selection, drawn: np.ndarray, directions: np.ndarray
    ) -> ProjectionModel:
        """Compute the exact medians and MADs of the projections on `directions` (K, d).

        `selection` computes order statistics of the sample. `drawn` (m, d) are random rows of the
        sample. They determine the powers of two by which the columns are scaled; see
        `sized_numbers`.
        """
        numbers = sized_numbers(drawn, directions)
        sizes = np.abs(numbers.directions).sum(axis=1)
        # MADs that are only rounding errors are below `zero`. The compiled core replaces them with
        # another scale, which `Selection.spreads` computes for MADs up to `zero`.
        width = drawn.shape[1]
        zero = 16 * width * np.finfo(drawn.dtype).eps * np.maximum(sizes, 1) * _TYPICAL
        return cls(numbers, *selection.spreads(numbers, _TYPICAL, zero))

    def depths(self, points: np.ndarray, n_threads: int) -> np.ndarray:
        """Return the projection depths of points (n, d), as an array of shape (n, 1)."""
        chunk = self.numbers.chunk(points, None, n_threads)
        largest = chunk.outlyingness(self.middles, self.mads, self.scales, _TYPICAL)
        return 1.0 / (1.0 + largest.astype(np.float64)[:, None])


@dataclass(frozen=True)
class RankCells(Fold):
    """Fold over the data that computes the mass of the projections in each of many intervals.

    The intervals are called cells. Each direction has its own cells, which are narrower near the
    median of the projections.

    Attributes
    ----------
    numbers : RowValues
        Function that projects rows on K directions.
    middles, scales : ndarrays of shape (K,)
        Approximate median of the projections on each direction, and inverse of their approximate
        MAD.
    bits : int
        Each side of the median is divided into 8 ranges, at distances of 1, 3, 7, 15, ..., 127 MADs
        from the median. Each range has 2**bits cells. The outermost cell is unbounded.
    """

    numbers: RowValues
    middles: np.ndarray
    scales: np.ndarray
    bits: int

    @classmethod
    def around(cls, numbers: RowValues, pilot: Rows, memory: float, n_threads: int) -> RankCells:
        """Return cells around the medians of the projections of `pilot`, a random subset of rows.

        `numbers` projects rows. `bits` is the maximum from 5 to 9 for which the masses and bounds
        of all cells fit into `memory` bytes. It is 5 if no value fits.
        """
        count = len(numbers.directions)
        fitting = [b for b in _BITS if 3 * 8 * count * 2 * (_OCTAVES << b) <= memory]
        middles, mads = np.empty((2, count), dtype=numbers.directions.dtype)
        for block, values in numbers.along(pilot.points, n_threads):
            middles[block] = _core.quantile(values, 0.5, pilot.masses, n_threads)
            away = np.abs(values - middles[block, None])
            mad = _core.quantile(away, 0.5, pilot.masses, n_threads)
            mads[block] = np.where(mad > 0, mad, away.max(axis=1))
        # Subnormal MADs are replaced with the smallest normal number, because the inverse of a
        # subnormal number may overflow.
        scales = 1 / np.maximum(np.where(mads > 0, mads, 1), np.finfo(mads.dtype).tiny)
        return cls(numbers, middles, scales, fitting[0] if fitting else _BITS[-1])

    @property
    def options(self) -> dict[str, Any]:
        """Keyword arguments that define the cells in calls of the compiled core."""
        return {"middles": self.middles, "scales": self.scales, "bits": self.bits}

    def start(self) -> np.ndarray:
        return np.zeros((len(self.middles), 2 * (_OCTAVES << self.bits)), dtype=np.int64)

    def step(self, state: np.ndarray, rows: Rows, n_threads: int) -> None:
        chunk = self.numbers.chunk(rows.points, rows.masses, n_threads)
        chunk.count_rank_cells(state, **self.options)


@dataclass(frozen=True)
class RankModel:
    """Lower and upper bounds on depths that depend only on the ranks of projections.

    The projections on each direction are divided into intervals, called cells. Only the mass in
    each cell is known, so the rank of a projection is known up to the mass of its cell.

    Attributes
    ----------
    cells : RankCells
    bounds : ndarray of shape (K, cells, 2)
        Lower and upper bounds on the contribution of a direction to the depth of a point in a cell,
        multiplied by `unit`. They are integers, so their sums are exact and ties are preserved.
    unit : float
        Number by which sums or minima of `bounds` are divided to obtain depths.
    smallest : bool
        Whether the depth is the minimum of the contributions of all directions (halfspace) or
        their sum (irw).
    """

    cells: RankCells
    bounds: np.ndarray
    unit: float
    smallest: bool

    @classmethod
    def fit(
        cls, selection: Selection, numbers: RowValues, memory: float, smallest: bool
    ) -> RankModel:
        """Compute the mass of the sample in each cell, and bounds on depths from these masses.

        Cells are intervals of the projections that `numbers` computes. `selection` runs a pass over
        the sample, and `memory` limits the memory for the cells, in bytes. `smallest` is the
        attribute of the class with this name.
        """
        cells = RankCells.around(numbers, selection.pilot, memory, selection.n_threads)
        counts, total = selection.fold(cells), selection.mass
        upto = np.cumsum(counts, axis=1)
        before = upto - counts
        if smallest:
            # Bounds on the mass of a closed halfspace whose boundary contains a point of a cell.
            # The halfspace contains the point, of mass at least 1, and all mass beyond the cell. At
            # most it contains the mass of the cell and all mass beyond the cell.
            low = np.minimum(before, total - upto) + 1
            high = np.minimum(upto, total - before)
            return cls(cells, np.stack([low, high], axis=-1).astype(np.float64), float(total), True)
        # `first` and `last` are the minimum and maximum of twice the mid-rank of a point in a cell.
        # The mid-rank is the mass below the point plus half of its own mass, which is at least 1. F
        # is the mid-rank divided by the total mass. Between these extremes, min(F, 1 - F) has its
        # minimum at an extreme, and its maximum at an extreme or at the median.
        first, last = 2 * before + 1, 2 * upto - 1
        low = np.minimum(first, 2 * total - last)
        high = np.minimum(total, np.minimum(last, 2 * total - first))
        bounds = np.stack([low, high], axis=-1).astype(np.float64)
        return cls(cells, bounds, 2.0 * total * len(counts), False)

    def depths(self, points: np.ndarray, n_threads: int) -> np.ndarray:
        """Return bounds on the depths of points (n, d), as an array of shape (n, 3).

        The columns are the midpoint of the bounds, the lower bound and the upper bound.
        """
        chunk = self.cells.numbers.chunk(points, None, n_threads)
        bounds = chunk.rank_bounds(self.bounds, self.smallest, **self.cells.options)
        return np.column_stack([bounds.mean(axis=1), bounds]) / self.unit


# -- projections ----------------------------------------------------------------------------------


def sized_numbers(drawn: np.ndarray, directions: np.ndarray) -> RowValues:
    """Return a function that scales rows and projects them on multiples of `directions` (K, d).

    The typical size of a column is the median distance from its center in the random rows `drawn`
    (m, d), rounded up to a power of two. Each column of the rows is divided by its typical size.
    The same coordinate of the directions is multiplied by it. The rounding error of a projection is
    then relative to the size of the projection. Scaling by powers of two is exact.

    If half of the rows have the same value in a column, its median distance is zero. The column is
    then scaled to values far above 1, compared with which a typical size of 1 is negligible.
    """
    center = _core.center_and_exponent(drawn)[0]
    sizes = np.ascontiguousarray(np.abs(drawn - center).T)
    typical, largest = _core.quantile(sizes, 0.5), sizes.max(axis=1)
    reference = np.where(largest > 0, largest, np.abs(center))
    exponents = np.frexp(np.where(typical > 0, typical, reference))[1]
    exponents -= np.where(typical > 0, 0, np.finfo(drawn.dtype).maxexp // 2)
    similar = bool(np.ptp(exponents) <= _SIMILAR)
    exponents = np.full_like(exponents, exponents.max()) if similar else exponents
    # Directions are rounded to the dtype of the rows, as for samples in memory. Their entries are
    # scaled by adding integers to the binary exponents, because products could underflow.
    mantissas, powers = np.frexp(directions.astype(drawn.dtype))
    powers = np.where(mantissas != 0, powers + exponents, np.iinfo(np.int32).min // 2)
    units = np.ldexp(mantissas, powers - powers.max(axis=1, keepdims=True))
    units = np.ascontiguousarray(units)
    if similar:
        # All columns are divided by the same power of two. The compiled core does this faster than
        # NumPy.
        return RowValues((center, int(exponents[0])), units)
    scaled = partial(_scale_rows, exponents)
    return RowValues((_core.center_and_exponent(scaled(drawn))[0], 0), units, of=scaled)


def _scale_rows(exponents: np.ndarray, rows: np.ndarray, n_threads: int = 1) -> np.ndarray:
    """Divide the columns of rows (n, d) by 2**exponents (d,).

    `n_threads` is not used. Functions that transform rows before projection need this argument.
    """
    return scale_columns(rows, exponents)


def rank_numbers(summary: Summary, drawn: np.ndarray, directions: np.ndarray) -> RowValues:
    """Return a function that centers and scales rows, and projects them on `directions` (K, d).

    `summary` is the result of the first pass, and `drawn` (m, d) are random rows. The projections
    are used only to rank the rows. A column is centered only if the subtraction is
    exact for all of its values. The rows are divided by a power of two for which no value becomes
    subnormal. Ranks along a coordinate axis therefore do not change.
    """
    low, high = -summary.ends[0], summary.ends[1]
    center = exact_center(_core.center_and_exponent(drawn)[0], low, high)
    largest = np.frexp(np.maximum(high - center, center - low).max())[1]
    most_down = np.frexp(summary.smallest)[1] - np.frexp(np.finfo(drawn.dtype).tiny)[1]
    # Rows are divided by a power of two, which must not make a number subnormal. If a center is
    # subtracted, the differences may be as small as the last binary digit of a value.
    most_down -= np.finfo(drawn.dtype).nmant + 1 if center.any() else 0
    exponent = min(largest, max(0, most_down))
    return RowValues((center, int(exponent)), np.ascontiguousarray(directions, dtype=drawn.dtype))


def whitened_numbers(
    fold: RunFold, summary: Summary, drawn: np.ndarray, directions: np.ndarray
) -> RowValues:
    """Return a function that projects whitened rows on `directions` (K, d).

    `fold` runs a pass over the sample. `summary` is the result of the first pass, and `drawn` (m,
    d) are random rows. The projections are used only to rank the rows. All projections on a
    direction are shifted by the same number and multiplied by the same positive factor, which does
    not change ranks. The whitening is that of `geometry.transforms.Whitening` with the
    empirical covariance, up to rounding.
    """
    white = whitening(fold, summary, drawn)
    scaled = partial(_scale_rows, white.exponents)
    low, high = scaled(np.stack([-summary.ends[0], summary.ends[1]]))
    center = exact_center(_core.center_and_exponent(scaled(drawn))[0], low, high)
    units = np.ascontiguousarray(white.directions(directions), dtype=drawn.dtype)
    return RowValues((center, 0), units, of=scaled)


def whitening(fold: RunFold, summary: Summary, drawn: np.ndarray) -> Whitening:
    """Compute the whitening transformation of a sample in one pass over all rows.

    `fold` runs a pass over the sample, and `summary` is the result of the first one. The covariance
    of all rows is computed from moments about a center. The center has the column medians of the
    random rows `drawn` (m, d).
    """
    ends = np.stack([-summary.ends[0], summary.ends[1]])
    exponents = column_exponents(*ends)
    low, high = scale_columns(ends.astype(np.float64), exponents)
    columns = scale_columns(drawn.astype(np.float64), exponents).T
    middle = _core.quantile(np.ascontiguousarray(columns), 0.5)
    moments = fold(MomentPass(exponents, middle))
    mean = moments[0, 1:] / moments[0, 0]
    offset = mean + middle
    stretch = stretch_of(np.maximum(high - offset, offset - low), low == high)
    covariance = moments[1:, 1:] / moments[0, 0] - np.outer(mean, mean)
    root = inverse_root(covariance * stretch * stretch[:, None])
    return Whitening(exponents, root * stretch)


@dataclass(frozen=True)
class MomentPass(Fold):
    """Fold over the data that sums mass * v v^T over the rows, with v = (1, scaled centered row).

    The sum contains the total mass, and the first and second moments. Columns are centered near
    their medians. A median is at most one standard deviation from the mean. The covariance, a
    difference of moments, therefore loses only about one binary digit by cancellation.
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
