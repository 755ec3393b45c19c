"""A few rows that speak for all: the ones whose digits have the smallest hashes.

Where a rough idea of the data is enough (a middle row, a typical size), a few thousand rows will
do. Picked by a hash of their digits they are the same rows in whatever order, with whatever
repetitions and in whatever chunks the data arrive. Exponents count relative to the largest of a
row, so that data multiplied by a power of two give the same rows.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

#: So many distinct rows are enough for a rough idea, and up to so many all of them are taken.
FEW_ROWS = 4096

_BLOCK = 1 << 15
# Bytes of a float: its word, the bits of its digits, and the largest exponent.
_WORDS = {4: (np.uint32, 23, 0xFF), 8: (np.uint64, 52, 0x7FF)}


def row_hashes(points: np.ndarray) -> np.ndarray:
    """A number (n,), uint64, for each row of float32 or float64 points (n, d).

    It depends on the digits of the row alone. Different rows may have one number.
    """
    word, n_digits, largest = _WORDS[points.itemsize]
    result = np.empty(len(points), dtype=np.uint64)
    size = max(1, _BLOCK // points.shape[1])
    factors = _factors(points.shape[1])[:, None]
    for start in range(0, len(points), size):
        # Columns along the short axis: sums over a few columns are then made for many rows at once.
        bits = np.ascontiguousarray(points[start : start + size].T).view(word)
        exponents = (bits >> word(n_digits)) & word(largest)
        apart = exponents.max(axis=0) + word(1) - exponents
        # Zeros have no exponent; the others, where all are multiplied by two, keep their distance.
        apart *= exponents > 0
        numbers = (bits ^ ((exponents ^ apart) << word(n_digits))).astype(np.uint64)
        # Numbers of few digits have them in their upper half, which products would lose.
        numbers ^= numbers >> np.uint64(29)
        numbers *= factors
        result[start : start + size] = _mixed(np.add.reduce(numbers, axis=0))
    return result


def few_rows(points: np.ndarray) -> np.ndarray:
    """Indices, rising, of at most `FEW_ROWS` of distinct rows (u, d) in lexicographic order."""
    if len(points) <= FEW_ROWS:
        return np.arange(len(points))
    hashes = row_hashes(points)
    last = np.partition(hashes, FEW_ROWS - 1)[FEW_ROWS - 1]
    below = np.flatnonzero(hashes < last)
    # Of rows with one hash the first in lexicographic order are taken.
    tied = np.flatnonzero(hashes == last)[: FEW_ROWS - len(below)]
    return np.sort(np.concatenate([below, tied]))


class RowSketch(NamedTuple):
    """The distinct rows of smallest hash in a stream, with the mass each has in all of it.

    Attributes
    ----------
    hashes : uint64 ndarray of shape (k,), rising
    rows : ndarray of shape (k, d)
        Of rows with one hash, in lexicographic order.
    masses : int64 ndarray of shape (k,)
    capacity : int
        The most rows that are kept.
    complete : bool
        Whether these are all distinct rows that there were.
    """

    hashes: np.ndarray
    rows: np.ndarray
    masses: np.ndarray
    capacity: int
    complete: bool

    @classmethod
    def empty(cls, n_features: int, dtype: str, capacity: int) -> RowSketch:
        """The sketch of no rows."""
        hashes, masses = np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64)
        return cls(hashes, np.empty((0, n_features), dtype=dtype), masses, capacity, True)

    def merge(self, other: RowSketch) -> RowSketch:
        """The sketch of both streams: the same bits in whatever order they are merged."""
        complete = self.complete and other.complete
        return self._with(other.hashes, other.rows, other.masses, complete)

    def _with(
        self, hashes: np.ndarray, rows: np.ndarray, masses: np.ndarray, complete: bool
    ) -> RowSketch:
        hashes = np.concatenate([self.hashes, hashes])
        rows = np.concatenate([self.rows, rows])
        masses = np.concatenate([self.masses, masses])
        order = np.argsort(hashes, kind="stable")
        tied = hashes[order][1:] == hashes[order][:-1]
        if tied.any():
            shared = np.zeros(len(order), dtype=bool)
            shared[1:] |= tied
            shared[:-1] |= tied
            some = order[shared]
            order[shared] = some[np.lexsort((*rows[some].T[::-1], hashes[some]))]
        hashes, rows, masses = hashes[order], rows[order], masses[order]
        if tied.any():
            first = np.ones(len(order), dtype=bool)
            np.any(rows[1:] != rows[:-1], axis=1, out=first[1:])
            starts = np.flatnonzero(first)
            hashes, rows = hashes[starts], rows[starts]
            masses = np.add.reduceat(masses, starts)
        kept = slice(self.capacity)
        complete = complete and len(hashes) <= self.capacity
        return RowSketch(
            hashes[kept].copy(), rows[kept].copy(), masses[kept].copy(), self.capacity, complete
        )

    def lexicographic(self, count: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """The first `count` rows, and their masses, in the order of their columns."""
        rows, masses = self.rows[:count], self.masses[:count]
        order = np.lexsort(rows.T[::-1])
        return rows[order], masses[order]


class SketchBuilder:
    """A sketch that grows: rows that may come in are put aside, and taken in many at a time."""

    def __init__(self, n_features: int, dtype: str, capacity: int) -> None:
        self._sketch = RowSketch.empty(n_features, dtype, capacity)
        self._waiting: list[RowSketch] = []

    def add(self, points: np.ndarray, masses: np.ndarray | None) -> None:
        """Take in further rows (n, d) that hold no -0.0, of unit masses or masses (n,)."""
        own = self._sketch
        hashes = row_hashes(points)
        units = np.ones(len(points), dtype=np.int64) if masses is None else masses
        near = slice(None)
        if len(own.hashes) == own.capacity:
            # What lies beyond the last row kept cannot come in; most rows do.
            near = hashes <= own.hashes[-1]
        some = RowSketch(hashes[near], points[near], units[near], own.capacity, True)
        complete = len(some.hashes) == len(hashes)
        self._waiting.append(some._replace(complete=complete))
        if sum(len(part.hashes) for part in self._waiting) > own.capacity // 4:
            self.sketch()

    def merge(self, other: SketchBuilder) -> None:
        """Take in what another has seen."""
        self._waiting.append(other.sketch())
        self.sketch()

    def sketch(self) -> RowSketch:
        """The sketch of all rows so far."""
        if self._waiting:
            self._sketch = self._sketch.merge(_joined(self._waiting))
            self._waiting = []
        return self._sketch


def _joined(parts: list[RowSketch]) -> RowSketch:
    return RowSketch(
        np.concatenate([part.hashes for part in parts]),
        np.concatenate([part.rows for part in parts]),
        np.concatenate([part.masses for part in parts]),
        parts[0].capacity,
        all(part.complete for part in parts),
    )


def _mixed(numbers: np.ndarray) -> np.ndarray:
    """Every digit of a number changes about half of the result (splitmix64)."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


@lru_cache(maxsize=16)
def _factors(width: int) -> np.ndarray:
    steps = np.arange(1, width + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return _mixed(steps) | np.uint64(1)
