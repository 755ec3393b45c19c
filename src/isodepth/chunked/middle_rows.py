"""The rows that say where a sample in chunks lies: exactly those that would be looked at in memory.

Rows of given mass ranks in lexicographic order are bracketed by rows of a random sample. A pass
adds up what lies below, at and between the ends of each bracket, and draws some of the rows
between; these give the next brackets, until all rows between are there. Ends belong to no bracket
again, so that ties cannot keep it from ending.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from isodepth.chunked.passes import Fold
from isodepth.chunked.rows import Rows
from isodepth.chunked.sampling import Pilot, RowDraw
from isodepth.depth.base import middle_of
from isodepth.engine.middle_rows import probed_masses

# As for medians: a sample misleads by more than so many standard errors once in 150,000 times.
_ERRORS = 4.5


class Bracket(NamedTuple):
    """Two rows (d,) in lexicographic order, None where nothing lies beyond."""

    low: np.ndarray | None
    high: np.ndarray | None


class Seen:
    """Masses below, at and between the ends of a bracket, and some of the rows between."""

    def __init__(self, n_features: int, dtype: Any, capacity: int) -> None:
        self.below = self.at_low = self.inside = self.at_high = 0
        self.draw = RowDraw(n_features, dtype, capacity)

    def add(self, rows: Rows, column: np.ndarray, bracket: Bracket) -> None:
        """Take in the rows of a chunk, whose first column is at hand as well."""
        points, masses = rows.points, rows.masses
        # Most rows are told apart by their first entry.
        beyond = np.zeros(len(column), dtype=bool)
        if bracket.low is not None:
            before = column < bracket.low[0]
            self.below += _mass(before, masses)
            beyond |= before
        if bracket.high is not None:
            beyond |= column > bracket.high[0]
        left = np.flatnonzero(~beyond)
        if bracket.low is not None:
            less, equal = compared(points[left], bracket.low)
            self.below += _mass(left[less], masses)
            self.at_low += _mass(left[equal], masses)
            left = left[~(less | equal)]
        if bracket.high is not None:
            less, equal = compared(points[left], bracket.high)
            self.at_high += _mass(left[equal], masses)
            left = left[less]
        own = masses[left] if len(masses) else masses
        self.inside += _mass(left, masses)
        self.draw.add(points[left], own)

    def merge(self, other: Seen) -> None:
        """Take in what another has seen."""
        self.below += other.below
        self.at_low += other.at_low
        self.inside += other.inside
        self.at_high += other.at_high
        self.draw.merge(other.draw)


@dataclass(frozen=True)
class BracketPass:
    """What lies in each of some brackets."""

    brackets: tuple[Bracket, ...]
    n_features: int
    dtype: Any
    capacity: int

    def start(self) -> list[Seen]:
        return [Seen(self.n_features, self.dtype, self.capacity) for _ in self.brackets]

    def step(self, state: list[Seen], rows: Rows) -> None:
        column = np.ascontiguousarray(rows.points[:, 0])
        for seen, bracket in zip(state, self.brackets, strict=True):
            seen.add(rows, column, bracket)

    def merge(self, state: list[Seen], other: list[Seen]) -> None:
        for mine, theirs in zip(state, other, strict=True):
            mine.merge(theirs)


@dataclass(frozen=True)
class FarthestPass:
    """The largest distance (1,) of an entry from that of a row."""

    center: np.ndarray

    def start(self) -> np.ndarray:
        return np.zeros(1, dtype=self.center.dtype)

    def step(self, state: np.ndarray, rows: Rows) -> None:
        np.maximum(state, np.abs(rows.points - self.center).max(), out=state)

    def merge(self, state: np.ndarray, other: np.ndarray) -> None:
        np.maximum(state, other, out=state)


def center_and_exponent(fold: Fold, pilot: Pilot, total: int, room: int) -> tuple[np.ndarray, int]:
    """As `isodepth.depth.base.center_and_exponent`, of more rows than `FEW_ROWS`.

    `room` is how many rows may be held.
    """
    few = rows_of_ranks(fold, pilot, [int(m) + 1 for m in probed_masses(total)], total, room)
    center = middle_of(few)
    size = np.abs(few - center).max() or fold(FarthestPass(center))[0]
    return center, math.frexp(size)[1]


def rows_of_ranks(fold: Fold, pilot: Pilot, ranks: list[int], total: int, room: int) -> np.ndarray:
    """The rows (k, d) of given mass ranks, from 1 on, in lexicographic order."""
    capacity = max(2, room // len(ranks))
    width, dtype = pilot.points.shape[1], str(pilot.points.dtype)
    everything = Bracket(None, None)
    ordered = _ordered(pilot)
    open_ = {
        rank: (everything, _inner(everything, ordered, rank / total, pilot.size)) for rank in ranks
    }
    found: dict[int, np.ndarray] = {}
    while open_:
        tried = tuple(guess for _, guess in open_.values())
        state = fold(BracketPass(tried, width, dtype, capacity))
        for rank in list(open_):
            # Taken out one after the other: the next pass needs the memory.
            place = _place(*open_.pop(rank), state.pop(0), rank)
            if isinstance(place, tuple):
                open_[rank] = place
            else:
                found[rank] = place
    return np.stack([found[rank] for rank in ranks])


def _place(
    certain: Bracket, guess: Bracket, seen: Seen, rank: int
) -> np.ndarray | tuple[Bracket, Bracket]:
    """The row of a mass rank, or the bracket that holds it for sure, and one that may.

    `seen` is what lies in the `guess`; the row lies inside of `certain`.
    """
    if rank <= seen.below:
        between = Bracket(certain.low, guess.low)
        return between, between
    rank -= seen.below
    if rank <= seen.at_low:
        assert guess.low is not None
        return guess.low
    rank -= seen.at_low
    if rank > seen.inside + seen.at_high:
        between = Bracket(guess.high, certain.high)
        return between, between
    if rank > seen.inside:
        assert guess.high is not None
        return guess.high
    drawn = seen.draw.pilot
    ordered = _ordered(drawn)
    if seen.draw.complete:
        return ordered.points[np.searchsorted(np.cumsum(ordered.masses), rank)].copy()
    return guess, _inner(guess, ordered, rank / seen.inside, drawn.size)


def _ordered(pilot: Pilot) -> Pilot:
    order = np.lexsort(pilot.points.T[::-1])
    return Pilot(pilot.points[order], pilot.masses[order])


def _inner(outer: Bracket, ordered: Pilot, share: float, size: float) -> Bracket:
    """Rows of a bracket between which lies that with a share of its mass below it, most likely.

    One end at least is another row: so the next bracket that is certain is smaller.
    """
    margin = _ERRORS * math.sqrt(share * (1 - share) / size) + 2 / size
    upto = np.cumsum(ordered.masses)
    low, here, high = np.searchsorted(
        upto, upto[-1] * np.array([share - margin, share, share + margin]).clip(0, 1)
    ).tolist()
    last = len(upto) - 1
    if low > 0 or high < last:
        return Bracket(
            ordered.points[low].copy() if low > 0 else outer.low,
            ordered.points[high].copy() if high < last else outer.high,
        )
    return Bracket(outer.low, ordered.points[min(here, last)].copy())


def compared(points: np.ndarray, row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which rows (n, d) come before a row (d,) in lexicographic order, and which equal it."""
    column = np.ascontiguousarray(points[:, 0])
    less, equal = column < row[0], column == row[0]
    for j in range(1, len(row)):
        open_ = np.flatnonzero(equal)
        if not len(open_):
            break
        entries = points[open_, j]
        less[open_[entries < row[j]]] = True
        equal[open_[entries != row[j]]] = False
    return less, equal


def _mass(which: np.ndarray, masses: np.ndarray) -> int:
    """The mass of some rows, given by their places or by what is true of them."""
    if len(masses):
        return int(masses[which].sum())
    return int(np.count_nonzero(which)) if which.dtype == bool else len(which)
