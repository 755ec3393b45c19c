"""Summaries of chunks: what lies below an interval, in its parts, or one by one inside of it.

Every summary is made of chunks and merged with others of its kind; masses are integers, so that
any order of chunks and of merging gives the same bits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from isodepth.chunked.rows import NO_MASSES

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

    def some(self, which: Any) -> Intervals:
        """Those of some directions."""
        centers = None if self.centers is None else self.centers[which]
        return Intervals(self.low[which], self.high[which], centers)


class Counts:
    """Masses below intervals, and in equal parts of them: int64 (K, 1 + parts)."""

    def __init__(self, intervals: Intervals, parts: int = PARTS) -> None:
        self.intervals = intervals
        self.counts = np.zeros((len(intervals.low), 1 + parts), dtype=np.int64)
        self._work: tuple[np.ndarray, np.ndarray] | None = None

    @property
    def scale(self) -> np.ndarray:
        """Parts of each interval by its length; 0 where it has none."""
        low, high, _ = self.intervals
        length = high - low
        parts = low.dtype.type(self.counts.shape[1] - 1)
        return np.divide(parts, length, out=np.zeros_like(low), where=length > 0)

    def add(self, projections: np.ndarray, masses: np.ndarray, which: slice) -> None:
        """Take in projections (B, n) on the directions `which`."""
        from isodepth.chunked.counting_loops import bin_rows

        low, high, centers = self.intervals
        n = projections.shape[1]
        if self._work is None or len(self._work[0]) <= n:
            self._work = np.empty(n + 1, dtype=low.dtype), np.empty(n + 1, dtype=np.int64)
        middle = low if centers is None else centers
        bin_rows(
            projections, middle[which], centers is not None, low[which], high[which],
            self.scale[which], masses, *self._work, self.counts[which],
        )  # fmt: skip

    def merge(self, other: Counts) -> None:
        """Take in what another has counted."""
        self.counts += other.counts

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_work": None}

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
    """The distinct numbers in intervals with their masses, as long as there is room for them."""

    def __init__(self, intervals: Intervals, workspace: int) -> None:
        count = len(intervals.low)
        self.intervals = Intervals(intervals.low.copy(), intervals.high.copy(), intervals.centers)
        self.workspace = workspace
        self.below = np.zeros(count, dtype=np.int64)
        self.kept = np.zeros(count, dtype=np.int64)
        self.found = np.empty((count, workspace), dtype=intervals.low.dtype)
        self.masses = np.empty((count, workspace), dtype=np.int64)
        self.too_many = np.zeros(count, dtype=bool)

    def add(self, projections: np.ndarray, masses: np.ndarray, which: slice) -> None:
        """Take in projections (B, n) on the directions `which`; n must be below the room."""
        from isodepth.chunked.counting_loops import gather_rows

        self._make_room(which, projections.shape[1])
        low, high, centers = self.intervals
        middle = low if centers is None else centers
        gather_rows(
            projections, middle[which], centers is not None, low[which], high[which], masses,
            self.below[which], self.found[which], self.masses[which], self.kept[which],
        )  # fmt: skip

    def _make_room(self, which: slice, n: int) -> None:
        for row in np.flatnonzero(self.kept[which] + n >= self.workspace) + which.start:
            self._put(int(row), *self.numbers(int(row)))
            if self.kept[row] + n >= self.workspace:
                self._give_up(int(row))

    def _give_up(self, row: int) -> None:
        self.too_many[row] = True
        self.kept[row] = 0
        self.intervals.low[row], self.intervals.high[row] = 1, -1

    def _put(self, row: int, values: np.ndarray, masses: np.ndarray) -> None:
        self.kept[row] = len(values)
        self.found[row, : len(values)] = values
        self.masses[row, : len(values)] = masses

    def numbers(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        """The distinct numbers along one direction, rising, and their masses."""
        kept = self.kept[row]
        return distinct(self.found[row, :kept], self.masses[row, :kept])

    def merge(self, other: Gathered) -> None:
        """Take in what another has gathered."""
        self.below += other.below
        for row in range(len(self.kept)):
            if self.too_many[row] or other.too_many[row]:
                self._give_up(row)
                continue
            if not other.kept[row]:
                continue
            mine, theirs = self.numbers(row), other.numbers(row)
            values, masses = distinct(
                np.concatenate([mine[0], theirs[0]]), np.concatenate([mine[1], theirs[1]])
            )
            if len(values) >= self.workspace:
                self._give_up(row)
            else:
                self._put(row, values, masses)

    def __getstate__(self) -> dict[str, Any]:
        # Only what is filled travels.
        most = int(self.kept.max(initial=0)) + 1
        found, masses = self.found[:, :most].copy(), self.masses[:, :most].copy()
        return {**self.__dict__, "found": found, "masses": masses}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for name in ("found", "masses"):
            part = state[name]
            whole = np.empty((len(part), self.workspace), dtype=part.dtype)
            whole[:, : part.shape[1]] = part
            setattr(self, name, whole)

    def ranked(self, first: np.ndarray, last: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The numbers of mass ranks `first` and `last` (K,), NaN where they are not among these."""
        results = np.full((2, len(first)), np.nan, dtype=self.found.dtype)
        for row in range(len(first)):
            if self.too_many[row] or not self.kept[row]:
                continue
            values, masses = self.numbers(row)
            upto = self.below[row] + np.cumsum(masses)
            if self.below[row] < first[row] and last[row] <= upto[-1]:
                for result, rank in zip(results, (first[row], last[row]), strict=True):
                    result[row] = values[np.searchsorted(upto, rank)]
        return results[0], results[1]


class Digits:
    """Masses of numbers by the leading digits of their keys: the fallback that always ends.

    `keys_of` gives floats as unsigned integers of the same order. Of each direction the numbers
    that agree with a key in all but its last `shift` bits are counted by their next eight.
    """

    def __init__(self, prefixes: np.ndarray, shift: int, centers: np.ndarray | None) -> None:
        self.prefixes, self.shift, self.centers = prefixes, shift, centers
        self.counts = np.zeros((len(prefixes), 1 << 8), dtype=np.int64)

    def add(self, projections: np.ndarray, masses: np.ndarray, which: slice) -> None:
        """Take in projections (B, n) on the directions `which`."""
        for row in range(which.start, which.stop):
            values = projections[row - which.start]
            if self.centers is not None:
                values = np.abs(values - self.centers[row])
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
