"""Summaries of chunks: what lies below an interval, in its parts, or one by one inside of it.

Every summary is made of chunks and merged with others of its kind; masses are integers, so that
any order of chunks and of merging gives the same bits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from isodepth.chunked.rows import BLOCK_ROWS, NO_MASSES, directions_of

#: Parts of an interval.
PARTS = 256


class Intervals(NamedTuple):
    """What is looked for along each of K directions.

    Attributes
    ----------
    low, high : ndarrays of shape (K,), finite
        Ends of closed intervals; where low > high nothing is looked for.
    centers : ndarray of shape (K,), or None
        The numbers looked at are the projections, or their distances from these.
    """

    low: np.ndarray
    high: np.ndarray
    centers: np.ndarray | None = None

    @property
    def arguments(self) -> tuple[Any, ...]:
        """As the loops take them: centers, whether there are any, and the ends."""
        folded = self.centers is not None
        return (self.centers if folded else self.low, folded, self.low, self.high)


class Counts:
    """Masses below intervals, and in equal parts of them: int64 (K, 1 + parts)."""

    def __init__(self, intervals: Intervals, parts: int = PARTS) -> None:
        self.intervals = intervals
        self.counts = np.zeros((len(intervals.low), 1 + parts), dtype=np.int64)
        low, high, _ = intervals
        length = high - low
        # Parts of each interval by its length; 0 where it has none.
        self.scale = np.divide(low.dtype.type(parts), length, np.zeros_like(low), where=length > 0)

    def take(self, slab: Any, masses: np.ndarray) -> None:
        """Take in the projections of rows on all directions."""
        from isodepth.chunked.counting_loops import bin_products

        bin_products(slab, *self.intervals.arguments, self.scale, masses, self.counts)

    def add(self, values: np.ndarray, masses: np.ndarray) -> None:
        """Take in numbers (n,) that are looked at in all intervals."""
        from isodepth.chunked.counting_loops import bin_rows

        bin_rows(values[None], *self.intervals.arguments, self.scale, masses, self.counts)

    def merge(self, other: Counts) -> None:
        """Take in what another has counted."""
        self.counts += other.counts

    def narrowed(self, first: np.ndarray, last: np.ndarray) -> tuple[np.ndarray, ...]:
        """The parts that hold the numbers of mass ranks `first` to `last` (K,), from 1 on.

        Returns
        -------
        low, high : ndarrays of shape (K,)
            Closed intervals around these parts, a little wider than they are; low > high where
            the numbers lie outside.
        mass : int64 ndarray of shape (K,), in the parts and their neighbors
        """
        low, high, _ = self.intervals
        rising = np.cumsum(self.counts, axis=1)
        parts = self.counts.shape[1] - 1
        ends = [
            (rising[:, 1:] < rank[:, None]).sum(axis=1).clip(0, parts - 1) for rank in (first, last)
        ]
        inside = (first > rising[:, 0]) & (last <= rising[:, -1])
        width = (high - low) / low.dtype.type(parts)
        # One part more on each side makes up for the rounding of their ends.
        start, stop = (ends[0] - 1).clip(0), (ends[1] + 2).clip(None, parts)
        new_low = np.where(start == 0, low, low + start.astype(low.dtype) * width)
        new_high = np.where(stop == parts, high, low + stop.astype(low.dtype) * width)
        rows = np.arange(len(low))
        mass = rising[rows, stop] - rising[rows, start]
        nothing = low.dtype.type(1)
        return (
            np.where(inside, new_low.clip(low, high), nothing),
            np.where(inside, new_high.clip(low, high), -nothing),
            mass,
        )


class Gathered:
    """The numbers in intervals with their masses, as long as there is room for them.

    They are written to a page for each direction, which is put aside when it is full. Where there
    are more than `workspace` of them, equal ones are merged; where that does not help, the
    direction is given up.
    """

    def __init__(self, intervals: Intervals, workspace: int) -> None:
        count = len(intervals.low)
        self.intervals = Intervals(intervals.low.copy(), intervals.high.copy(), intervals.centers)
        self.workspace = workspace
        self.below = np.zeros(count, dtype=np.int64)
        self.too_many = np.zeros(count, dtype=bool)
        self.held = np.zeros(count, dtype=np.int64)
        # Pairs of numbers and masses, None where each is one unit.
        self.pieces: list[list[tuple[np.ndarray, np.ndarray | None]]] = [[] for _ in range(count)]
        self._begin_pages()

    def _begin_pages(self) -> None:
        count = len(self.below)
        page = min(self.workspace, 2 * BLOCK_ROWS)
        self.kept = np.zeros(count, dtype=np.int64)
        self.found = np.empty((count, page), dtype=self.intervals.low.dtype)
        # Made when the first masses come.
        self.masses: np.ndarray = np.empty((count, 0), dtype=np.int64)

    def take(self, slab: Any, masses: np.ndarray) -> None:
        """Take in the projections of rows on all directions; they must fit on a page."""
        from isodepth.chunked.counting_loops import gather_products

        self._make_room(slab.room.shape[1], masses)
        gather_products(slab, *self.intervals.arguments, masses, *self._kept)

    def add(self, values: np.ndarray, masses: np.ndarray) -> None:
        """Take in numbers (n,) that are looked at in all intervals; n must fit on a page."""
        from isodepth.chunked.counting_loops import gather_rows

        self._make_room(len(values), masses)
        gather_rows(values[None], *self.intervals.arguments, masses, *self._kept)

    @property
    def _kept(self) -> tuple[np.ndarray, ...]:
        return self.below, self.found, self.masses, self.kept

    def _make_room(self, n: int, masses: np.ndarray) -> None:
        if len(masses) and not self.masses.shape[1]:
            self.masses = np.empty(self.found.shape, dtype=np.int64)
        for row in np.flatnonzero(self.kept > self.found.shape[1] - n):
            self._put_aside(int(row))

    def _put_aside(self, row: int) -> None:
        kept = int(self.kept[row])
        if kept and not self.too_many[row]:
            masses = self.masses[row, :kept].copy() if self.masses.shape[1] else None
            self._take(row, [(self.found[row, :kept].copy(), masses)])
        self.kept[row] = 0

    def _take(self, row: int, pieces: list[tuple[np.ndarray, np.ndarray | None]]) -> None:
        self.pieces[row] += pieces
        self.held[row] += sum(len(values) for values, _ in pieces)
        if self.held[row] <= self.workspace:
            return
        values, masses = self._distinct(row)
        self.pieces[row], self.held[row] = [(values, masses)], len(values)
        # Half of the room must be free, or equal ones would be looked for again and again.
        if len(values) > self.workspace // 2:
            self._give_up(row)

    def _give_up(self, row: int) -> None:
        self.too_many[row] = True
        self.pieces[row], self.held[row], self.kept[row] = [], 0, 0
        self.intervals.low[row], self.intervals.high[row] = 1, -1

    def _distinct(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        pieces = self.pieces[row]
        if not pieces:
            return np.empty(0, dtype=self.found.dtype), np.empty(0, dtype=np.int64)
        masses = [np.ones(len(v), dtype=np.int64) if m is None else m for v, m in pieces]
        return distinct(np.concatenate([values for values, _ in pieces]), np.concatenate(masses))

    def numbers(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        """The distinct numbers along one direction, rising, and their masses."""
        self._put_aside(row)
        return self._distinct(row)

    def merge(self, other: Gathered) -> None:
        """Take in what another has gathered."""
        self.below += other.below
        for row in range(len(self.kept)):
            other._put_aside(row)
            self._put_aside(row)
            if self.too_many[row] or other.too_many[row]:
                self._give_up(row)
            else:
                self._take(row, other.pieces[row])

    def __getstate__(self) -> dict[str, Any]:
        for row in range(len(self.kept)):
            self._put_aside(row)
        pages = ("kept", "found", "masses")
        return {name: value for name, value in self.__dict__.items() if name not in pages}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._begin_pages()

    def ranked(self, first: np.ndarray, last: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The numbers of mass ranks `first` and `last` (K,), NaN where they are not among these."""
        results = np.full((2, len(first)), np.nan, dtype=self.found.dtype)
        for row in range(len(first)):
            self._put_aside(row)
            if self.too_many[row] or not self.held[row]:
                continue
            ranks = np.array([first[row], last[row]]) - self.below[row]
            if ranks[0] <= 0:
                continue
            if all(masses is None for _, masses in self.pieces[row]):
                # Of unit masses two places are found without sorting the others.
                values = np.concatenate([values for values, _ in self.pieces[row]])
                if ranks[1] <= len(values):
                    results[:, row] = np.partition(values, ranks - 1)[ranks - 1]
                continue
            values, masses = self._distinct(row)
            upto = np.cumsum(masses)
            if ranks[1] <= upto[-1]:
                results[:, row] = values[np.searchsorted(upto, ranks)]
        return results[0], results[1]


class Digits:
    """Masses of numbers by the leading digits of their keys: the fallback that always ends.

    `keys_of` gives floats as unsigned integers of the same order. Of each direction the numbers
    that agree with a key in all but its last `shift` bits are counted by their next eight.
    """

    def __init__(self, prefixes: np.ndarray, shift: int, centers: np.ndarray | None) -> None:
        self.prefixes, self.shift, self.centers = prefixes, shift, centers
        self.counts = np.zeros((len(prefixes), 1 << 8), dtype=np.int64)

    def take(self, slab: Any, masses: np.ndarray) -> None:
        """Take in the projections of rows on all directions."""
        for which, projections in directions_of(slab):
            for row in range(which.start, which.stop):
                values = projections[row - which.start]
                if self.centers is not None:
                    values = np.abs(values - self.centers[row])
                self.add_values(values, masses, row)

    def add(self, values: np.ndarray, masses: np.ndarray) -> None:
        """Take in numbers (n,) that are looked at with all prefixes."""
        for row in range(len(self.prefixes)):
            self.add_values(values, masses, row)

    def add_values(self, values: np.ndarray, masses: np.ndarray, row: int) -> None:
        """Take in numbers (n,) along one direction."""
        keys = keys_of(values)
        word = keys.dtype.type
        bits = 8 * keys.itemsize
        if self.shift + 8 < bits:
            near = (keys >> word(self.shift + 8)) == (self.prefixes[row] >> word(self.shift + 8))
            keys, masses = keys[near], masses[near] if len(masses) else masses
        digits = ((keys >> word(self.shift)) & word(255)).astype(np.intp)
        self.counts[row] += exact_bincount(digits, masses, 256)

    def merge(self, other: Digits) -> None:
        """Take in what another has counted."""
        self.counts += other.counts


def keys_of(values: np.ndarray) -> np.ndarray:
    """Unsigned integers in the order of finite floats (n,) without -0.0."""
    word: Any = np.uint32 if values.itemsize == 4 else np.uint64
    sign = word(1 << (8 * values.itemsize - 1))
    bits: Any = np.ascontiguousarray(values + values.dtype.type(0)).view(word)
    return np.where(bits & sign, ~bits, bits | sign)


def values_of(keys: np.ndarray) -> np.ndarray:
    """The floats of keys (n,)."""
    word = keys.dtype.type
    sign = word(1 << (8 * keys.itemsize - 1))
    bits = np.where(keys & sign, keys ^ sign, ~keys)
    return bits.view(np.float32 if keys.itemsize == 4 else np.float64)


def distinct(values: np.ndarray, masses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct numbers among `values` (n,), rising, and the sums of their masses."""
    if not len(values):
        return values, masses
    order = np.argsort(values, kind="stable")
    values, masses = values[order], masses[order]
    starts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    return values[starts], np.add.reduceat(masses, starts)


def exact_bincount(places: np.ndarray, masses: np.ndarray, size: int) -> np.ndarray:
    """Sums (size,), int64, of int64 masses (n,) at places (n,); of ones where masses are empty."""
    if masses is NO_MASSES or not len(masses):
        return np.bincount(places, minlength=size)
    # Sums of doubles are exact as long as they stay below 2**53.
    halves = [
        np.bincount(places, weights=part.astype(np.float64), minlength=size).astype(np.int64)
        for part in (masses >> 31, masses & ((1 << 31) - 1))
    ]
    return (halves[0] << 31) + halves[1]
