"""Columns of integers that number the rows, such as an index or an identifier.

Such a column differs between any two samples, so it is not compared. `RowNumbers` summarizes the
integers of one sample. Summaries of chunks are merged in any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

#: Notes of columns that number the rows.
NUMBERS, INCREASES = "row numbers", "increases in every row"
# Minimum number of pooled rows that are numbered without gaps, and minimum number of rows of the
# largest sample in which the integers increase. Less often, small integers do so by chance.
_FEWEST_NUMBERED, _FEWEST_INCREASING = 20, 10
_BLOCK = 1 << 20


@dataclass
class RowNumbers:
    """Summary of the integers of a column in one sample, or in a chunk of it.

    Attributes
    ----------
    n_rows, low, high : int
        Number of rows, minimum and maximum.
    checksum : int
        Sum of a hash of each integer, modulo 2**64.
    runs : list of (start, first, last), or None
        Number of the first row, first and last integer of each chunk; None if the integers do not
        increase strictly in some chunk.
    """

    n_rows: int
    low: int
    high: int
    checksum: int
    runs: list[tuple[int, int, int]] | None

    @classmethod
    def of(cls, column: Any, start: int = 0) -> RowNumbers | None:
        """Return the summary of a pyarrow column of integers, or of strings that are integers.

        `start` is the number of its first row. Return None if the column does not number its rows:
        a value is missing, occurs twice or is not an integer.
        """
        values = _integers(column)
        if values is None or not len(values):
            return None
        low, high = int(values.min()), int(values.max())
        if high - low + 1 < len(values):
            return None
        increases = bool((values[1:] > values[:-1]).all())
        if not increases and len(np.unique(values)) < len(values):
            return None
        runs = [(start, int(values[0]), int(values[-1]))] if increases else None
        return cls(len(values), low, high, _checksum(values), runs)

    def merged(self, other: RowNumbers) -> RowNumbers:
        """Return the summary of two chunks together."""
        runs = None if self.runs is None or other.runs is None else self.runs + other.runs
        return RowNumbers(
            self.n_rows + other.n_rows, min(self.low, other.low), max(self.high, other.high),
            (self.checksum + other.checksum) % 2**64, runs,
        )  # fmt: skip

    def increases(self) -> bool:
        """Return whether the integers increase strictly, in the order of the rows."""
        if self.runs is None:
            return False
        runs = sorted(self.runs)
        return all(before[2] < after[1] for before, after in pairwise(runs))

    def has_no_gaps(self) -> bool:
        """Return whether the integers are all integers from the minimum to the maximum."""
        if self.high - self.low + 1 != self.n_rows:
            return False
        # Integers of this range with another checksum have repeated values, and therefore gaps.
        expected = 0
        for first in range(self.low, self.high + 1, _BLOCK):
            count = min(_BLOCK, self.high + 1 - first)
            block = np.arange(count, dtype=np.uint64) + np.uint64(first % 2**64)
            expected += _checksum(block)
        return expected % 2**64 == self.checksum


def numbering_note(samples: Sequence[RowNumbers | None]) -> str:
    """Return the note of a column that numbers the rows of the samples; "" for other columns.

    A column numbers the rows if the integers of all samples together have no repeated value and no
    gap, or if they increase strictly in every sample. `samples` has the summary of each sample.
    """
    known = [each for each in samples if each is not None]
    if not known or len(known) < len(samples):
        return ""
    sizes = [each.n_rows for each in known]
    if max(sizes) >= _FEWEST_INCREASING and all(each.increases() for each in known):
        return INCREASES
    pooled = known[0]
    for each in known[1:]:
        pooled = pooled.merged(each)
    return NUMBERS if sum(sizes) >= _FEWEST_NUMBERED and pooled.has_no_gaps() else ""


def _integers(column: Any) -> np.ndarray | None:
    """Return a pyarrow column without missing values as integers; None if it is not one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if column.null_count:
        return None
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        try:
            column = pc.utf8_trim_whitespace(column).cast(pa.int64())
        except pa.ArrowInvalid:
            return None
    return column.to_numpy() if pa.types.is_integer(column.type) else None


def _checksum(values: np.ndarray) -> int:
    """Return the sum of the hashes of integers, modulo 2**64."""
    return int(mixed_bits(values.astype(np.uint64)).sum(dtype=np.uint64))


def mixed_bits(values: np.ndarray) -> np.ndarray:
    """Return a hash (splitmix64) of each of the uint64 `values` (n,), as uint64 (n,)."""
    with np.errstate(over="ignore"):
        z = values + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(z ^ (z >> np.uint64(31)))
