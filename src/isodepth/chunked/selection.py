"""Order statistics of numbers that are read in chunks: exact, by brackets and by cells.

A sample of the rows says between what numbers an order statistic will lie. One pass counts what
lies below that bracket and gathers what lies inside. Where the bracket has missed, or holds more
numbers than memory allows, passes that count the numbers in cells narrow it down: by a factor of
1024 in the integers that order floats, so that no data take more than a few.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from isodepth import _core
from isodepth.chunked.passes import Fold
from isodepth.chunked.rows import Rows
from isodepth.depth.base import moved_by

_CELL_BITS = 10
# A bracket reaches this many standard deviations of a share to either side.
_DEVIATIONS = 4.5
_HELD_NUMBERS = 1 << 22


class Frame(NamedTuple):
    """Where a sample lies, roughly, and the power of two next to its size.

    Attributes
    ----------
    center : ndarray of shape (d,)
    exponent : int
    """

    center: np.ndarray
    exponent: int

    def moved(self, points: np.ndarray) -> np.ndarray:
        """Points (n, d) around zero and of size about one."""
        return moved_by(points, *self)


def core_chunk(
    points: np.ndarray,
    frame: Frame,
    directions: np.ndarray,
    masses: np.ndarray | None,
    n_threads: int,
) -> Any:
    """Rows (n, d) and directions (K, d) as the compiled core looks at them."""
    kind: Any = _core.Chunk32 if points.dtype == np.float32 else _core.Chunk64
    return kind(points, *frame, np.ascontiguousarray(directions), masses, n_threads)


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


class Budget(NamedTuple):
    """What may be held, and how much there is.

    Attributes
    ----------
    numbers : int
        Numbers that may be gathered in all.
    mass, n_rows : int
        Of the whole sample.
    n_threads : int
    """

    numbers: int
    mass: int
    n_rows: int
    n_threads: int


@dataclass(frozen=True)
class Numbers:
    """E sets of numbers, of which every row has one each.

    They are projections of moved rows on directions, or their distances from centers.

    Attributes
    ----------
    frame : Frame
    directions : ndarray of shape (E, d)
    centers : ndarray of shape (E,) or None
    typical : float or None
        The size of a typical row: distances that are no more than rounding beside it become -1.
        Negative: only zero does.
    of : gives the points (n, d) to project, from rows and a number of threads; None for the rows
    """

    frame: Frame
    directions: np.ndarray
    centers: np.ndarray | None = None
    typical: float | None = None
    of: Any = None

    def take(self, which: np.ndarray) -> Numbers:
        """Some of the sets."""
        centers = None if self.centers is None else self.centers[which]
        return replace(self, directions=self.directions[which], centers=centers)

    def chunk(self, rows: Rows, n_threads: int) -> Any:
        """The numbers of a chunk, as the compiled core looks at them."""
        points = rows.points if self.of is None else self.of(rows, n_threads)
        return core_chunk(points, self.frame, self.directions, rows.masses, n_threads)

    @property
    def options(self) -> dict[str, Any]:
        """What the passes of the compiled core do with projections first."""
        return {"centers": self.centers, "typical": self.typical}

    def guess(
        self, pilot: Pilot, shares: np.ndarray, n_threads: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Brackets [low, high), each (E,), that will hold the quantiles of given orders (E,)."""
        moved = self.frame.moved(pilot.points)
        low, high = np.empty((2, len(self.directions)), dtype=moved.dtype)
        step = max(1, _HELD_NUMBERS // len(moved))
        for k in range(0, len(low), step):
            some = slice(k, k + step)
            values = _core.project(moved, np.ascontiguousarray(self.directions[some]), n_threads)
            if self.centers is not None:
                values = np.abs(values - self.centers[some, None])
            for share in np.unique(shares[some]):
                own = np.flatnonzero(shares[some] == share)
                for ends, sign in ((low, -1), (high, 1)):
                    q = float(share + sign * pilot.margin)
                    ends[k + own] = sign * np.inf
                    if 0 <= q <= 1:
                        ends[k + own] = _core.quantile(values[own], q, pilot.masses, n_threads)
        return low, np.nextafter(high, np.inf)


class Inside:
    """What lies below and inside of brackets: masses, and the numbers as long as they fit.

    Attributes
    ----------
    below, mass, held : int64 ndarrays of shape (E,)
    full : boolean ndarray of shape (E,)
        Whether there are more numbers than may be held.
    """

    def __init__(self, size: int) -> None:
        self.below, self.mass, self.held = np.zeros((3, size), dtype=np.int64)
        self.full = np.zeros(size, dtype=bool)
        self.pieces: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def numbers(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The numbers in bracket k, rising, and the mass up to each, those below included."""
        cuts = [
            (values, masses, slice(ends[k], ends[k + 1])) for values, masses, ends in self.pieces
        ]
        values = np.concatenate([values[cut] for values, _, cut in cuts])
        if not any(len(masses) for _, masses, _ in cuts):
            return np.sort(values), self.below[k] + np.arange(1, len(values) + 1)
        masses = np.concatenate([masses[cut] for _, masses, cut in cuts])
        order = np.argsort(values, kind="stable")
        return values[order], self.below[k] + np.cumsum(masses[order])


@dataclass(frozen=True)
class BracketPass:
    """Counts what lies below brackets [low, high), and gathers what lies inside.

    At most `most` (E,) numbers are held for each.
    """

    numbers: Numbers
    low: np.ndarray
    high: np.ndarray
    most: np.ndarray

    def start(self) -> Inside:
        return Inside(len(self.low))

    def step(self, state: Inside, rows: Rows, n_threads: int) -> None:
        most = np.where(state.full, 0, self.most - state.held)
        counts, values, masses = self.numbers.chunk(rows, n_threads).numbers_inside(
            low=self.low, high=self.high, most=most, **self.numbers.options
        )
        state.below += counts[0]
        state.mass += counts[1]
        state.full |= counts[2] < 0
        gathered = counts[2].clip(0)
        state.held += gathered
        if len(values):
            state.pieces.append((values, masses, np.concatenate([[0], np.cumsum(gathered)])))

    def merge(self, state: Inside, other: Inside) -> None:
        for name in ("below", "mass", "held", "full", "pieces"):
            setattr(state, name, getattr(state, name) + getattr(other, name))
        state.full |= state.held > self.most


@dataclass(frozen=True)
class KeyPass:
    """The mass below, in 1024 cells of 2**shift floats from `low` on, and above: (E, 1026)."""

    numbers: Numbers
    low: np.ndarray
    shift: np.ndarray

    def start(self) -> np.ndarray:
        return np.zeros((len(self.low), (1 << _CELL_BITS) + 2), dtype=np.int64)

    def step(self, state: np.ndarray, rows: Rows, n_threads: int) -> None:
        self.numbers.chunk(rows, n_threads).count_keys(
            state, low=self.low, shift=self.shift, **self.numbers.options
        )

    def merge(self, state: np.ndarray, other: np.ndarray) -> None:
        state += other


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


def order_statistics(
    fold: Fold,
    numbers: Numbers,
    ranks: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    expected: float,
    budget: Budget,
) -> np.ndarray:
    """The numbers (E, R) of given mass ranks (E, R), counted from 0, in each of E sets.

    Parameters
    ----------
    low, high : ndarrays of shape (E,)
        Brackets [low, high) where they are expected, all ranks of a set in the same.
    expected : float
        The share of all numbers that is expected inside of a bracket.
    """
    count, each = len(low), max(1, budget.numbers // len(low))
    found = np.full(ranks.shape, np.nan, dtype=low.dtype)
    if 1.2 * expected * budget.n_rows <= each:
        inside = fold(BracketPass(numbers, low, high, np.full(count, each)))
        for k in np.flatnonzero(~inside.full):
            values, upto = inside.numbers(k) if inside.mass[k] else (low[:0], inside.below[:0])
            within = (ranks[k] >= inside.below[k]) & (ranks[k] < inside.below[k] + inside.mass[k])
            found[k, within] = values[np.searchsorted(upto, ranks[k][within], side="right")]
        del inside
    targets = np.argwhere(np.isnan(found))
    if len(targets):
        where, which = targets.T
        found[where, which] = _by_cells(
            fold, numbers.take(where), ranks[where, which], low[where], high[where], budget
        )
    return found


def _by_cells(
    fold: Fold,
    numbers: Numbers,
    ranks: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    budget: Budget,
) -> np.ndarray:
    """The numbers (E,) of given mass ranks (E,), looked for in [low, high) first."""
    dtype = low.dtype
    ends = keys_of(np.array([-np.inf, np.inf], dtype=dtype)).tolist()
    start, stop = keys_of(low).tolist(), keys_of(high).tolist()
    found = np.full(len(ranks), np.nan, dtype=dtype)
    open_ = np.arange(len(ranks))
    while len(open_):
        shift = [max(0, (stop[e] - start[e] - 1).bit_length() - _CELL_BITS) for e in open_]
        first = np.array([start[e] for e in open_], dtype=np.uint64)
        counts = fold(KeyPass(numbers.take(open_), first, np.array(shift)))
        upto = np.cumsum(counts, axis=1)
        cells = (upto <= ranks[open_, None]).sum(axis=1).tolist()
        heavy = []
        for place, (e, cell) in enumerate(zip(open_, cells, strict=True)):
            if cell == 0:  # the bracket has missed
                start[e], stop[e] = ends[0], start[e]
            elif cell > 1 << _CELL_BITS:
                start[e], stop[e] = start[e] + (1 << (shift[place] + _CELL_BITS)), ends[1]
            else:
                start[e] += (cell - 1) << shift[place]
                stop[e] = min(stop[e], start[e] + (1 << shift[place]))
            outside = not 0 < cell <= 1 << _CELL_BITS
            share = float(counts[place, cell]) / budget.mass
            heavy.append(outside or 1.2 * share * budget.n_rows * len(open_) > budget.numbers)
        single = np.array([stop[e] - start[e] <= 1 for e in open_])
        own = np.array([start[e] for e in open_[single]], dtype=np.uint64)
        found[open_[single]] = values_of(own, dtype)
        light = open_[~single & ~np.array(heavy)]
        if len(light):
            low, high = (
                values_of(np.array([side[e] for e in light], dtype=np.uint64), dtype)
                for side in (start, stop)
            )
            most = np.full(len(light), budget.numbers // len(light))
            inside = fold(BracketPass(numbers.take(light), low, high, most))
            for place, e in enumerate(light):
                if not inside.full[place]:
                    values, upto = inside.numbers(place)
                    found[e] = values[np.searchsorted(upto, ranks[e], side="right")]
        open_ = open_[np.isnan(found[open_])]
    return found


def medians(
    fold: Fold, numbers: Numbers, pilot: Pilot, budget: Budget, skipped: np.ndarray | None = None
) -> np.ndarray:
    """The median (E,) of each set: the mean of the lower and the upper one.

    Numbers that became -1, of mass `skipped` (E,), do not count.
    """
    size = len(numbers.directions)
    before = np.zeros(size, dtype=np.int64) if skipped is None else skipped
    left = budget.mass - before
    ranks = before[:, None] + np.stack([(left - 1) // 2, left // 2], axis=1)
    if skipped is None:
        low, high = numbers.guess(pilot, np.full(size, 0.5), budget.n_threads)
        expected = 2 * pilot.margin
    else:
        dtype = numbers.directions.dtype
        low, high, expected = np.zeros(size, dtype), np.full(size, np.inf, dtype), np.inf
    found = order_statistics(fold, numbers, ranks, low, high, expected, budget)
    half = found.dtype.type(0.5)
    # Halving first: symmetric under a change of sign, and the sum cannot overflow.
    return half * found[:, 0] + half * found[:, 1]


def spreads(
    fold: Fold, numbers: Numbers, pilot: Pilot, budget: Budget, typical: float, zero: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Median, MAD, and where that is at most `zero` another scale, of each set: each (E,).

    That scale is the median of the deviations that are more than rounding beside the `typical`
    size, 0 where there are none.
    """
    middles = medians(fold, numbers, pilot, budget)
    away = replace(numbers, centers=middles)
    mads = medians(fold, away, pilot, budget)
    scales = np.zeros_like(mads)
    flat = np.flatnonzero(~(mads > zero))
    if len(flat):
        off = replace(away.take(flat), typical=typical)
        start = np.zeros(len(flat), dtype=mads.dtype)
        none = np.zeros(len(flat), dtype=np.int64)
        skipped = fold(BracketPass(off, start, start, none)).below
        some = skipped < budget.mass
        if some.any():
            scales[flat[some]] = medians(fold, off.take(some), pilot, budget, skipped[some])
    return middles, mads, scales
