"""Profiles of columns: a fold that looks at the values of all rows of a sample.

The profile of a column has what the rules need to decide its kind: stored types, ranges of
integers, and counts of distinct strings. If there are more than 16,384 distinct strings, the
profile has those with the smallest hashes. The kept strings depend on the set of all strings only.
The profile of pooled samples therefore does not depend on the assignment of rows to samples, or on
chunks.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from isodepth.base.fold import Fold
from isodepth.table.arrow import DATES, class_of_type, encode
from isodepth.table.raw import RawChunk, decimal_of, order_of, value_types, words_of
from isodepth.table.row_numbers import RowNumbers, mixed_bits
from isodepth.table.text_columns import common_type, narrowed_type, typed_column
from isodepth.table.values import strings_of

# Maximum number of distinct strings of a column whose counts are kept.
_MOST_STRINGS = 1 << 14
# Number of distinct integers from which on they are not counted: at most ten may be codes.
_MANY_INTEGERS = 11
# Numbers with a decimal mark, in the syntax of RE2.
_PLAIN = r"^\s*[+-]?(\d+{mark}?\d*|{mark}\d+)([eE][+-]?\d+)?\s*$"

# A string is a word if it has no digit, or a character that is not part of any number, in the
# syntax of RE2.
_WORD = r"^[^0-9]*$|[^0-9.,\s'\x{2019}eE%+\-\x{2212}$\x{a2}-\x{a5}\x{20a0}-\x{20cf}]"


@dataclass
class StringCounts:
    """Counts of distinct strings, at most those with the smallest hashes.

    Attributes
    ----------
    counts : Counter
        Number of rows of each string.
    n_rows : int
        Number of rows of all strings.
    limit : int or None
        Maximum hash of a string in `counts`; None if all strings are in it.
    decimal : str
        Decimal mark if all strings are numbers; "" for other strings.
    """

    counts: Counter[str] = field(default_factory=Counter)
    n_rows: int = 0
    limit: int | None = None
    decimal: str = ""

    @property
    def n_distinct(self) -> int:
        """Number of distinct strings, estimated from the hashes if there are more than 16,384."""
        if self.limit is None:
            return len(self.counts)
        return int(len(self.counts) * 2.0**32 / (self.limit + 1))

    def add(self, column: Any) -> None:
        """Add a pyarrow array of strings, none of which is missing."""
        import pyarrow as pa

        self.n_rows += len(column)
        if self.limit is not None:
            column = column.filter(pa.array(self._hashes(column) <= self.limit))
        found = column.value_counts()
        self.add_counts(dict(zip(*(found.field(i).to_pylist() for i in (0, 1)), strict=True)), 0)

    def add_counts(self, counts: dict[str, int], n_rows: int) -> None:
        """Add the number of rows of each of several strings, and increase `n_rows`."""
        self.n_rows += n_rows
        self.counts.update(counts)
        if len(self.counts) > 2 * _MOST_STRINGS:
            self.trim()

    def merge(self, other: StringCounts) -> None:
        """Add the strings of other rows."""
        self.decimal = self.decimal or other.decimal
        self.limit = min((e.limit for e in (self, other) if e.limit is not None), default=None)
        self.add_counts(other.counts, other.n_rows)
        self.trim()

    def trim(self) -> None:
        """Keep the strings with the smallest hashes if there are too many."""
        import pyarrow as pa

        if len(self.counts) <= _MOST_STRINGS and self.limit is None:
            return
        hashes = self._hashes(pa.array([*self.counts], pa.string()))
        if len(hashes) > _MOST_STRINGS:
            self.limit = int(np.partition(hashes, _MOST_STRINGS - 1)[_MOST_STRINGS - 1])
        kept = zip(self.counts.items(), (hashes <= self.limit).tolist(), strict=True)
        self.counts = Counter({value: n for (value, n), is_kept in kept if is_kept})

    def _hashes(self, column: Any) -> np.ndarray:
        """Return a hash of each of n strings, as integers (n,) below 2**32.

        Equal numbers have equal hashes.
        """
        if self.decimal:
            numbers = typed_column(column, "double").to_numpy(zero_copy_only=False)
            return mixed_bits((numbers + 0.0).view(np.uint64)) >> np.uint64(32)
        hashes = (zlib.crc32(value.encode()) for value in column.to_pylist())
        return np.fromiter(hashes, np.uint64, len(column))


@dataclass
class ColumnProfile:
    """Profile of one column in one sample.

    Attributes
    ----------
    types : set of str
        Stored types of the chunks with a value: "number", "date", "duration", "boolean",
        "category" or "text". Text files have no stored types.
    text_type : str or None
        Type of the strings of text files, see `isodepth.table.text_columns.narrowed_type`. Other
        columns of strings have the type "bool" or "string".
    words, styled, plain : StringCounts
        Values as strings, except for numbers and dates, which are counted only on request. `plain`
        has the strings that are numbers in the notation of Python, and `styled` other strings that
        may be numbers. So words are counted even if there are too many numbers to count.
    value_types : set of type
        Types of these values: bool, float for any number, and str.
    texts : set of str
        Values of type str in columns of Python objects of several types.
    n_values : int
        Number of rows with a value.
    ends : tuple of int
        Minimum and maximum of integers; empty for other columns.
    is_whole : bool
        Whether all numbers have a type of integers.
    integers : set of int
        Distinct integers, at most eleven.
    numbering : list of RowNumbers, or None
        Summary of the integers of each chunk; None if the column does not number the rows.
    zones : set of str
        Time zones of times; "none" for times without a zone.
    orders : list of list of str
        Categories of ordered categoricals.
    """

    types: set[str] = field(default_factory=set)
    text_type: str | None = None
    words: StringCounts = field(default_factory=StringCounts)
    styled: StringCounts = field(default_factory=StringCounts)
    plain: StringCounts = field(default_factory=lambda: StringCounts(decimal="."))
    value_types: set[type] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)
    n_values: int = 0
    ends: tuple[int, ...] = ()
    is_whole: bool = True
    integers: set[int] = field(default_factory=set)
    numbering: RowNumbers | bool | None = True
    zones: set[str] = field(default_factory=set)
    orders: list[list[str]] = field(default_factory=list)

    @property
    def counts(self) -> Counter[str]:
        """Number of rows of each string."""
        return sum((part.counts for part in self.parts), Counter())

    @property
    def parts(self) -> tuple[StringCounts, ...]:
        """StringCounts of each form."""
        return self.words, self.styled, self.plain

    def merge(self, other: ColumnProfile) -> None:
        """Merge the profile of later rows into this one."""
        self.types |= other.types
        self.text_type = common_type((self.text_type, other.text_type))
        for part, more in zip(self.parts, other.parts, strict=True):
            part.merge(more)
        self.value_types |= other.value_types
        self.texts |= other.texts
        self.n_values += other.n_values
        self._add_ends(other.ends)
        self.is_whole = self.is_whole and other.is_whole
        if len(self.integers) < _MANY_INTEGERS:
            self.integers |= other.integers
        if self.numbering is True or not other.numbering:
            self.numbering = other.numbering
        elif isinstance(self.numbering, RowNumbers) and isinstance(other.numbering, RowNumbers):
            self.numbering = self.numbering.merged(other.numbering)
        self.zones |= other.zones
        self.orders += [order for order in other.orders if order not in self.orders]

    # -- one chunk ---------------------------------------------------------------------------------

    def add(self, column: Any, field_: Any, chunk: RawChunk, counted: bool) -> None:
        """Add a column of a chunk; `field_` is its field in the schema of pyarrow.

        Numbers and dates are counted as strings if `counted`.
        """
        import pyarrow as pa

        stored = str(column.type)
        class_ = class_of_type(stored)
        if column.null_count == len(column) or class_ is None:
            self.numbering = None
            return
        self.n_values += len(column) - column.null_count
        if self.numbering is not None:
            self._add_row_numbers(column, chunk)
        if pa.types.is_dictionary(column.type):
            self.types.add("category")
            order = order_of(field_)
            if order is None and column.type.ordered:
                order = strings_of(encode(column)[1].to_pylist()).values
            self.orders += [order] if order and order not in self.orders else []
            self._count(column)
        elif class_ == "strings":
            self._add_strings(column, field_, chunk.decimal or decimal_of(field_))
        elif class_ == "numbers":
            self._add_numbers(column, counted)
        elif class_ == "booleans":
            self.types.add("boolean")
            self._count(column)
        elif class_ in DATES or stored.startswith(("duration", "time")):
            self.types.add("duration" if stored.startswith("duration") else "date")
            self.zones.add(getattr(column.type, "tz", None) or "none")
            if counted:
                self._count(column)
        else:
            self.types.add("text")
            self._count(column)

    def _add_ends(self, ends: Iterable[int | None]) -> None:
        known = [each for each in (*self.ends, *ends) if each is not None]
        if known:
            self.ends = min(known), max(known)

    def _add_row_numbers(self, column: Any, chunk: RawChunk) -> None:
        own = RowNumbers.of(column, chunk.number)
        if own is None or self.numbering is True:
            self.numbering = own
        elif isinstance(self.numbering, RowNumbers):
            self.numbering = self.numbering.merged(own)

    def _add_numbers(self, column: Any, counted: bool) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        if pa.types.is_integer(column.type):
            self._add_ends(pc.min_max(column).as_py().values())
            if len(self.integers) < _MANY_INTEGERS:
                few = column.unique()[: _MANY_INTEGERS + 1].to_pylist()
                self.integers.update(value for value in few if value is not None)
        else:
            self.is_whole = False
            if pa.types.is_floating(column.type) and pc.all(pc.is_nan(column)).as_py():
                return
        self.types.add("number")
        if counted:
            self._count(column)

    def _add_strings(self, column: Any, field_: Any, decimal: str) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        n_rows = len(column) - column.null_count
        column = column.filter(pc.not_equal(column, "")).cast(pa.string())
        self.n_values -= n_rows - len(column)
        if not len(column):
            return
        types = value_types(field_)
        if decimal:
            self.text_type = narrowed_type(column, self.text_type, decimal)
            if self.text_type == "int64":
                self._add_ends(pc.min_max(typed_column(column, "int64")).as_py().values())
        else:
            self.types.add("text")
            self.value_types |= types or {str}
            self.texts |= words_of(field_)
        mark = "," if decimal == "," else r"\."
        is_plain = pc.match_substring_regex(column, _PLAIN.replace("{mark}", mark))
        self.plain.decimal = decimal or "."
        self.plain.add(column.filter(is_plain))
        column = column.filter(pc.invert(is_plain))
        is_word = pc.match_substring_regex(column, _WORD)
        self.words.add(column.filter(is_word))
        self.styled.add(column.filter(pc.invert(is_word)))

    def _count(self, column: Any) -> None:
        """Count the values of a column of any type as strings."""
        codes, distinct = encode(column)
        values, types, _ = strings_of(distinct.to_pylist())
        counts = np.bincount(codes[codes >= 0], minlength=len(distinct)).tolist()
        self.value_types |= types
        found: Counter[str] = Counter()
        for value, count in zip(values, counts, strict=True):
            if value is not None and count:
                found[value] += count
        self.words.add_counts(found, found.total())


@dataclass(frozen=True)
class ProfileFold(Fold):
    """Fold that computes the profiles of columns.

    Attributes
    ----------
    names : sequence of str
        Names of the columns.
    counted : collection of str
        Columns of which numbers and dates are counted as strings.
    """

    names: Sequence[str]
    counted: Collection[str] = ()

    def start(self) -> dict[str, ColumnProfile]:
        return {name: ColumnProfile() for name in self.names}

    def step(self, state: dict[str, ColumnProfile], chunk: RawChunk, n_threads: int) -> None:
        table = chunk.table
        for at, name in enumerate(self.names):
            state[name].add(table.column(at), table.field(at), chunk, name in self.counted)

    def merge(self, state: dict[str, ColumnProfile], other: dict[str, ColumnProfile]) -> None:
        for name, profile in state.items():
            profile.merge(other[name])

    def finish(self, state: dict[str, ColumnProfile]) -> dict[str, ColumnProfile]:
        for profile in state.values():
            for part in profile.parts:
                part.trim()
        return state
