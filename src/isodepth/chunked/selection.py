"""Order statistics of numbers that are read in chunks: exact, by brackets and by cells.

A sample of the rows says between what numbers an order statistic will lie. One pass counts what
lies below that bracket and gathers what lies inside. Where the bracket has missed, or holds more
numbers than memory allows, passes that count the numbers in cells narrow it down: by a factor of
1024 in the integers that order floats, so that no data take more than a few.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from isodepth import _core
from isodepth.chunked.passes import Fold, Pass
from isodepth.chunked.rows import Rows
from isodepth.depth.base import moved_by

_CELL_BITS = 10
# A bracket reaches this many standard deviations of a share to either side.
_DEVIATIONS = 4.5
_HELD_NUMBERS = 1 << 22


class Pilot(NamedTuple):
    """Rows drawn at random, for a first guess.

    Attributes
    ----------
    points : ndarray of shape (m, d)
    masses : int64 ndarray of shape (m,) or None
    """

    points: np.ndarray
    masses: np.ndarray | None

    @property
    def margin(self) -> float:
        """How far a share of the pilot may be from that of the sample."""
        size = float(len(self.points))
        if self.masses is not None:
            masses = self.masses.astype(np.float64)
            size = masses.sum() ** 2 / (masses**2).sum()
        return _DEVIATIONS * 0.5 / np.sqrt(size)


@dataclass(frozen=True)
class Numbers:
    """E sets of numbers, of which every row has one each.

    They are projections of moved rows on directions, or their distances from centers.

    Attributes
    ----------
    frame : ndarray of shape (d,), int
        Where a sample lies, roughly, and the power of two next to its size: by these, rows are
        moved around zero and to a size of about one.
    directions : ndarray of shape (E, d)
    centers : ndarray of shape (E,) or None
    typical : float or None
        The size of a typical row: distances that are no more than rounding beside it become -1.
        Negative: only zero does.
    of : gives the points (n, c) to project, from rows (n, d) and a number of threads; None for
        the rows
    """

    frame: tuple[np.ndarray, int]
    directions: np.ndarray
    centers: np.ndarray | None = None
    typical: float | None = None
    of: Any = None

    def take(self, which: np.ndarray) -> Numbers:
        """Some of the sets."""
        centers = None if self.centers is None else self.centers[which]
        return replace(self, directions=self.directions[which], centers=centers)

    def chunk(self, rows: np.ndarray, masses: np.ndarray | None, n_threads: int) -> Any:
        """The numbers of rows (n, d), as the compiled core looks at them."""
        points = rows if self.of is None else self.of(rows, n_threads)
        kind: Any = _core.Chunk32 if points.dtype == np.float32 else _core.Chunk64
        return kind(points, *self.frame, np.ascontiguousarray(self.directions), masses, n_threads)

    @property
    def options(self) -> dict[str, Any]:
        """What the passes of the compiled core do with projections first."""
        return {"centers": self.centers, "typical": self.typical}

    def along(self, points: np.ndarray, n_threads: int) -> Iterator[tuple[slice, np.ndarray]]:
        """Some sets at a time, and the projections (some, m) of points (m, d)."""
        moved = moved_by(points, *self.frame)
        step = max(1, _HELD_NUMBERS // len(moved))
        for k in range(0, len(self.directions), step):
            some = np.ascontiguousarray(self.directions[k : k + step])
            yield slice(k, k + step), _core.project(moved, some, n_threads)

    def guess(
        self, pilot: Pilot, shares: np.ndarray, n_threads: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Brackets [low, high), each (E,), that will hold the quantiles of given orders (E,)."""
        ends = np.full((2, len(shares)), [[-np.inf], [np.inf]], dtype=self.directions.dtype)
        for some, along in self.along(pilot.points, n_threads):
            values = along if self.centers is None else np.abs(along - self.centers[some, None])
            for share in np.unique(shares[some]):
                own = np.flatnonzero(shares[some] == share)
                for end, q in zip(ends, (share - pilot.margin, share + pilot.margin), strict=True):
                    if 0 <= q <= 1:
                        found = _core.quantile(values[own], float(q), pilot.masses, n_threads)
                        end[some][own] = found
        return ends[0], np.nextafter(ends[1], np.inf)


class Inside(NamedTuple):
    """What lies below and inside of brackets: masses, and the numbers as long as they fit.

    Attributes
    ----------
    counts : int64 ndarray of shape (3, E)
        Mass below, mass inside, and how many numbers are held; more than may be where they did not
        fit.
    pieces : list of (values, masses, ends of each bracket) of chunks; no masses where all are one
    """

    counts: np.ndarray
    pieces: list[tuple[np.ndarray, np.ndarray, np.ndarray]]

    def select(self, k: int, ranks: np.ndarray) -> np.ndarray:
        """The numbers in bracket k of given mass ranks (R,); NaN for those outside."""
        cuts = [(v, masses, slice(ends[k], ends[k + 1])) for v, masses, ends in self.pieces]
        values = np.concatenate([values[cut] for values, _, cut in cuts])
        indices = ranks - self.counts[0, k]
        outside = (indices < 0) | (indices >= self.counts[1, k])
        if any(len(masses) for _, masses, _ in cuts):
            order = np.argsort(values)
            upto = np.cumsum(np.concatenate([masses[cut] for _, masses, cut in cuts])[order])
            values, indices = values[order], np.searchsorted(upto, indices, side="right")
        else:
            values.sort()
        return np.where(outside, np.nan, values[np.where(outside, 0, indices)])


@dataclass(frozen=True)
class BracketPass(Pass):
    """Counts what lies below brackets [low, high), and gathers at most `most` numbers in each."""

    numbers: Numbers
    low: np.ndarray
    high: np.ndarray
    most: int

    def start(self) -> Inside:
        return Inside(np.zeros((3, len(self.low)), dtype=np.int64), [])

    def step(self, state: Inside, rows: Rows, n_threads: int) -> None:
        most = np.maximum(self.most - state.counts[2], 0)
        counts, values, masses = self.numbers.chunk(
            rows.points, rows.masses, n_threads
        ).numbers_inside(low=self.low, high=self.high, most=most, **self.numbers.options)
        ends = np.concatenate([[0], np.cumsum(counts[2].clip(0))])
        state.counts[:] += np.where(counts < 0, self.most + 1, counts)
        if len(values):
            state.pieces.append((values, masses, ends))

    def merge(self, state: Inside, other: Inside) -> None:
        state.counts[:] += other.counts
        state.pieces.extend(other.pieces)

    def select(self, fold: Fold, ranks: np.ndarray) -> np.ndarray:
        """The numbers (E, R) of given mass ranks (E, R); NaN where they were not gathered."""
        inside = fold(self)
        found = np.full(ranks.shape, np.nan, dtype=self.low.dtype)
        for k in np.flatnonzero((inside.counts[2] > 0) & (inside.counts[2] <= self.most)):
            found[k] = inside.select(k, ranks[k])
        return found


@dataclass(frozen=True)
class KeyPass(Pass):
    """The mass below, in 1024 cells of 2**shift floats from `low` on, and above: (E, 1026)."""

    numbers: Numbers
    low: np.ndarray
    shift: np.ndarray

    def start(self) -> np.ndarray:
        return np.zeros((len(self.low), (1 << _CELL_BITS) + 2), dtype=np.int64)

    def step(self, state: np.ndarray, rows: Rows, n_threads: int) -> None:
        self.numbers.chunk(rows.points, rows.masses, n_threads).count_keys(
            state, low=self.low, shift=self.shift, **self.numbers.options
        )


def keys_of(values: np.ndarray) -> np.ndarray:
    """Integers (n,), uint64, in the order of floats (n,): neighbors have neighboring keys."""
    bits = (values + values.dtype.type(0)).view(f"u{values.itemsize}")
    sign = bits.dtype.type(1) << bits.dtype.type(8 * values.itemsize - 1)
    return np.where(bits & sign, ~bits, bits | sign).astype(np.uint64)


def values_of(keys: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The floats that have these keys."""
    bits = keys.astype(f"u{dtype.itemsize}")
    sign = bits.dtype.type(1) << bits.dtype.type(8 * dtype.itemsize - 1)
    return np.where(bits & sign, bits ^ sign, ~bits).view(dtype)


@dataclass(frozen=True)
class Selection:
    """Order statistics of a sample that is read by passes.

    Attributes
    ----------
    fold : runs a pass over the sample
    pilot : Pilot
    mass, n_rows : int
        Of the whole sample.
    most_numbers : int
        Numbers that may be gathered in all.
    n_threads : int
    """

    fold: Fold
    pilot: Pilot
    mass: int
    n_rows: int
    most_numbers: int
    n_threads: int

    def order_statistics(
        self, numbers: Numbers, ranks: np.ndarray, pilot: Pilot | None = None
    ) -> np.ndarray:
        """The numbers (E, R) of given mass ranks (E, R), counted from 0, in each of E sets.

        The ranks of a set are next to each other. The pilot has the points of the numbers, where
        these are not those of the sample.
        """
        pilot = pilot or self.pilot
        low, high = numbers.guess(pilot, ranks.mean(axis=1) / self.mass, self.n_threads)
        most = max(1, self.most_numbers // len(low))
        found = np.full(ranks.shape, np.nan, dtype=low.dtype)
        if 1.2 * 2 * pilot.margin * self.n_rows <= most:
            found = BracketPass(numbers, low, high, most).select(self.fold, ranks)
        sets, which = np.nonzero(np.isnan(found))
        if len(sets):
            found[sets, which] = self._by_cells(
                numbers.take(sets), ranks[sets, which], low[sets], high[sets]
            )
        return found

    def _by_cells(
        self, numbers: Numbers, ranks: np.ndarray, low: np.ndarray, high: np.ndarray
    ) -> np.ndarray:
        """The numbers (E,) of given mass ranks (E,), looked for in [low, high) first."""
        dtype = low.dtype
        # Integers of Python's: cells may reach beyond all floats.
        first, last = keys_of(np.array([-np.inf, np.inf], dtype=dtype)).astype(object)
        start, stop = keys_of(low).astype(object), keys_of(high).astype(object)
        found = np.full(len(ranks), np.nan, dtype=dtype)
        while len(left := np.flatnonzero(np.isnan(found))):
            begin, end = start[left], stop[left]
            shift = [max(0, (width - 1).bit_length() - _CELL_BITS) for width in end - begin]
            work = KeyPass(numbers.take(left), begin.astype(np.uint64), np.array(shift))
            counts = self.fold(work)
            cells = (np.cumsum(counts, axis=1) <= ranks[left, None]).sum(axis=1)
            below, above = cells == 0, cells > 1 << _CELL_BITS  # the bracket has missed
            size = np.array([1 << bits for bits in shift], dtype=object)
            cell = begin + (cells - 1) * size
            start[left] = np.where(below, first, cell)
            end = np.where(above, last, np.minimum(cell + size, last))
            stop[left] = np.where(below, begin, end)
            single = left[stop[left] - start[left] <= 1]
            found[single] = values_of(start[single].astype(np.uint64), dtype)
            inside = counts[np.arange(len(left)), cells] / self.mass * self.n_rows
            fits = ~below & ~above & (1.2 * inside * len(left) <= self.most_numbers)
            light = left[fits & np.isnan(found[left])]
            if len(light):
                low, high = (values_of(k[light].astype(np.uint64), dtype) for k in (start, stop))
                gather = BracketPass(
                    numbers.take(light), low, high, self.most_numbers // len(light)
                )
                found[light] = gather.select(self.fold, ranks[light, None])[:, 0]
        return found

    def medians(self, numbers: Numbers, skipped: np.ndarray | None = None) -> np.ndarray:
        """The median (E,) of each set: the mean of the lower and the upper one.

        Numbers that became -1, of mass `skipped` (E,), do not count.
        """
        before = np.zeros(len(numbers.directions), np.int64) if skipped is None else skipped
        left = self.mass - before
        ranks = before[:, None] + np.stack([(left - 1) // 2, left // 2], axis=1)
        found = self.order_statistics(numbers, ranks)
        half = found.dtype.type(0.5)
        # Halving first: symmetric under a change of sign, and the sum cannot overflow.
        return half * found[:, 0] + half * found[:, 1]

    def spreads(
        self, numbers: Numbers, typical: float, zero: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Median, MAD, and where that is at most `zero` another scale, of each set: each (E,).

        That scale is the median of the deviations that are more than rounding beside the `typical`
        size, 0 where there are none.
        """
        middles = self.medians(numbers)
        away = replace(numbers, centers=middles)
        mads = self.medians(away)
        scales = np.zeros_like(mads)
        flat = np.flatnonzero(~(mads > zero))
        if len(flat):
            off = replace(away.take(flat), typical=typical)
            start = np.zeros(len(flat), dtype=mads.dtype)
            skipped = self.fold(BracketPass(off, start, start, 0)).counts[0]
            some = skipped < self.mass
            if some.any():
                scales[flat[some]] = self.medians(off.take(some), skipped[some])
        return middles, mads, scales

    def depth_thresholds(self, model: Any, betas: np.ndarray, tolerance: float) -> np.ndarray:
        """The smallest depth (C, L) in the region of each level, for the C depths of a model.

        Depths within `tolerance` of that of a given rank are tied with it, and enter together.
        """
        depths = -model.depths(self.pilot.points, self.n_threads)
        kinds, levels = depths.shape[1], len(betas)
        units = np.repeat(np.eye(kinds), levels, axis=0)
        numbers = Numbers((np.zeros(kinds), 0), units, of=NegatedDepths(model))
        ranks = np.tile(level_ranks(betas, self.mass), kinds)
        pilot = Pilot(depths, self.pilot.masses)
        found = self.order_statistics(numbers, ranks[:, None], pilot)
        return -found.reshape(kinds, levels) - tolerance


@dataclass(frozen=True)
class NegatedDepths:
    """The depths (n, C) of rows, negated: the deepest come first."""

    model: Any

    def __call__(self, points: np.ndarray, n_threads: int) -> np.ndarray:
        return -self.model.depths(points, n_threads)


def level_ranks(betas: np.ndarray, total: int) -> np.ndarray:
    """Mass ranks (L,), from 0 on, at which the share of the mass first exceeds each level."""
    # Shares are rounded quotients, as they are in memory; they never fall as masses grow.
    return np.array(
        [
            bisect.bisect_right(range(1, total), beta, key=lambda mass: float(mass) / float(total))
            for beta in betas.tolist()
        ],
        dtype=np.int64,
    )
