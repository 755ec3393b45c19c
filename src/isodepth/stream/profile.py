"""Random rows of a source, and the types and distinct values of its columns, in one pass.

A pass reads all chunks of a source once (`isodepth.stream.passes`). Each row gets a random key,
and the random rows are those with the smallest keys.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from isodepth.base.fold import Fold
from isodepth.base.paths import refuse
from isodepth.errors import InvalidInputError
from isodepth.stream.frames import arrow_table, concatenated
from isodepth.stream.passes import (
    FrameReading,
    Runner,
    place_and_row,
    row_keys,
    runner_of,
)
from isodepth.stream.source import Source
from isodepth.table.arrow import class_of_type, encode
from isodepth.table.kinds import check_kinds
from isodepth.table.raw import RawChunk
from isodepth.table.row_numbers import RowNumbers
from isodepth.table.rules import MOST_CATEGORIES
from isodepth.table.text_columns import (
    MISSING_WORDS,
    category_type,
    common_type,
    narrowed_type,
    typed_table,
)
from isodepth.table.values import boolean_word

# Number of random rows from which the kinds of the columns are decided, if not from all rows.
_DECIDING_ROWS = 1 << 14
# A string is not a number if it has no digit, or a character that is not part of any number, in the
# syntax of RE2. Strings that stand for missing values are excluded before.
_NOT_A_NUMBER = r"^[^0-9]*$|[^0-9.,\s'\x{2019}eE%+\-\x{2212}$\x{a2}-\x{a5}\x{20a0}-\x{20cf}]"


class RandomRows(NamedTuple):
    """Uniform random subset of the rows of a source, in the order of the source.

    Attributes
    ----------
    table : pyarrow.Table
        The m rows, with all columns of the source except for weights.
    files : list of str
        Name of the file, array or partition of each row.
    rows : int64 ndarray of shape (m,)
        Index of each row in its file, array or partition.
    indices : int64 ndarray of shape (m,)
        Index of each row in the source.
    numbers : int64 ndarray of shape (m,)
        Number of each row, see `RawChunk.number`.
    n_rows : int
        Number of rows of the source.
    """

    table: Any
    files: list[str]
    rows: np.ndarray
    indices: np.ndarray
    numbers: np.ndarray
    n_rows: int


def random_rows(
    source: Source, max_rows: int, rng: np.random.Generator, runner: Runner | None = None
) -> RandomRows:
    """Draw a uniform random subset of the rows of a source, in one pass.

    The subset has `max_rows` rows, or all rows if there are fewer. It depends on the state of
    `rng`, but not on the size of the chunks, the number of threads, or the scheduler of Dask.
    `runner` is the object that runs the pass. If it is None, the pass runs with Dask if the source
    is a Dask collection, and in this process otherwise.

    Examples
    --------
    >>> import numpy as np, isodepth
    >>> source = isodepth.scan([np.arange(6.0).reshape(3, 2), np.arange(4.0).reshape(2, 2)])
    >>> subset = random_rows(source, 3, np.random.default_rng(0))
    >>> subset.n_rows, subset.indices.tolist(), subset.files
    (5, [0, 2, 4], ['chunk 0', 'chunk 0', 'chunk 1'])
    """
    return Profile.of(source, max_rows, int(rng.integers(2**62)), runner).random_rows


# -- the pass -------------------------------------------------------------------------------------


@dataclass
class ProfileState:
    """State of `ProfilePass`.

    Attributes
    ----------
    n_rows : Counter of int
        Number of rows of each file, array or partition, by its index.
    pieces : list of (keys, numbers, table)
        Blocks of random rows: random keys, row numbers (see `RawChunk.number`), and a pyarrow
        table of the columns.
    limit : float
        Upper bound on the random keys of the rows of the subset.
    values : dict
        For the name of each column of strings or booleans, the number of rows of each distinct
        value, or None if there are more than `MOST_CATEGORIES` distinct values. All columns of text
        files are columns of strings here.
    odd : dict
        For the name of a column of strings, the number of the first row with a string that is not a
        number, and this string. Columns without such a string are absent.
    types : dict
        Type of each column of text files by its name, see `narrowed_type`.
    numbers : dict
        For the name of each column, its `RowNumbers`, or None if it does not number the rows.
    """

    n_rows: Counter[int] = field(default_factory=Counter)
    pieces: list[tuple[np.ndarray, np.ndarray, Any]] = field(default_factory=list)
    limit: float = 1.0
    values: dict[str, Counter[Any] | None] = field(default_factory=dict)
    odd: dict[str, tuple[int, str]] = field(default_factory=dict)
    types: dict[str, str | None] = field(default_factory=dict)
    numbers: dict[str, RowNumbers | None] = field(default_factory=dict)


@dataclass(frozen=True)
class ProfilePass(Fold):
    """Fold over the data that draws random rows and counts distinct values.

    Each row has a random key, and the subset consists of the rows with the smallest keys.

    Attributes
    ----------
    capacity : int
        Number of rows of the subset.
    seed : int
        Seed of the random keys.
    labels : tuple of str
        Names of the columns, without that of the weights.
    texts : dict
        Decimal marks of the text files, in which all columns are strings, by their indices.
    """

    capacity: int
    seed: int
    labels: tuple[str, ...]
    texts: Mapping[int, str]

    def start(self) -> ProfileState:
        return ProfileState()

    def step(self, state: ProfileState, rows: RawChunk, n_threads: int) -> None:
        chunk, table = ProfileState(), rows.table.select(list(self.labels))
        chunk.n_rows[rows.place] = len(table)
        keys = row_keys(self.seed, rows.number, len(table))
        near = np.flatnonzero(keys <= state.limit)
        if len(near):
            piece = arrow_table(table.take(near), rows.origin)
            chunk.pieces.append((keys[near], rows.number + near, piece))
        for name, column in zip(self.labels, table.columns, strict=True):
            if state.numbers.get(name, ()) is not None:
                chunk.numbers[name] = RowNumbers.of(column, rows.number)
            stored = class_of_type(str(column.type))
            strings = stored == "strings"
            if rows.place in self.texts:
                before, decimal = state.types.get(name), self.texts[rows.place]
                chunk.types[name] = narrowed_type(column, before, decimal)
                strings = chunk.types[name] == "string"
            counted = stored in ("strings", "booleans") and state.values.get(name, ()) is not None
            searched = strings and name not in state.odd
            if counted or searched:
                codes, values = encode(column)
                if counted:
                    chunk.values[name] = _distinct(codes, values)
                if searched and (odd := _odd_string(codes, values)) is not None:
                    chunk.odd[name] = rows.number + odd[0], odd[1]
        self.merge(state, chunk)

    def merge(self, state: ProfileState, other: ProfileState) -> None:
        state.n_rows += other.n_rows
        state.pieces += other.pieces
        state.limit = min(state.limit, other.limit)
        for name, odd in other.odd.items():
            state.odd[name] = min(odd, state.odd.get(name, odd))
        for name, type_ in other.types.items():
            state.types[name] = common_type((state.types.get(name), type_))
        for name, own in other.numbers.items():
            if name not in state.numbers:
                state.numbers[name] = own
            elif (before := state.numbers[name]) is not None:
                state.numbers[name] = None if own is None else before.merged(own)
        for name, counts in other.values.items():
            known = state.values.get(name, Counter())
            both = None if known is None or counts is None else known + counts
            state.values[name] = both if both is None or len(both) <= MOST_CATEGORIES else None
        if sum(len(keys) for keys, *_ in state.pieces) > 2 * self.capacity:
            self.settle(state)

    def settle(self, state: ProfileState) -> None:
        """Reduce the random rows to the `capacity` rows with the smallest keys.

        Of rows with equal keys, those with the smallest numbers come first. Rows with the same
        types of columns are collected in one table.
        """
        import pyarrow as pa

        keys = np.concatenate([each[0] for each in state.pieces])
        numbers = np.concatenate([each[1] for each in state.pieces])
        kept = np.ones(len(keys), dtype=bool)
        if len(keys) > self.capacity:
            order = np.lexsort((numbers, keys))
            kept[order[self.capacity :]] = False
            state.limit = float(keys[order[self.capacity - 1]])
        groups: dict[Any, list[Any]] = {}
        first = 0
        for _, own, table in state.pieces:
            mask = kept[first : first + len(own)]
            rows = slice(first, first + len(own))
            if mask.any():
                group = groups.setdefault(tuple(map(str, table.schema.types)), [])
                group.append((keys[rows][mask], own[mask], table.filter(pa.array(mask))))
            first += len(own)
        state.pieces = [
            (
                np.concatenate([each[0] for each in group]),
                np.concatenate([each[1] for each in group]),
                pa.concat_tables([each[2] for each in group]).combine_chunks(),
            )
            for group in groups.values()
        ]


def _distinct(codes: np.ndarray, values: Any) -> Counter[Any] | None:
    """Count the rows of each value of a column.

    Return None if there are more than `MOST_CATEGORIES` distinct values. `codes` (n,) are
    indices into the distinct values `values`, or -1 for missing values. Missing values and empty
    strings are not counted.
    """
    counts = np.bincount(codes[codes >= 0] if codes.min() < 0 else codes, minlength=len(values))
    present = np.flatnonzero(counts)
    if len(present) > MOST_CATEGORIES + 2:  # null and the empty string do not count
        return None
    pairs = zip(values.take(present).to_pylist(), counts[present].tolist(), strict=True)
    known = Counter({value: n for value, n in pairs if value not in (None, "")})
    return known if len(known) <= MOST_CATEGORIES else None


def _odd_string(codes: np.ndarray, values: Any) -> tuple[int, str] | None:
    """Return the index of the first row with a string that is not a number, and this string.

    Strings that stand for missing values are ignored. `codes` (n,) are indices into the
    distinct values `values`, or -1 for missing values. Return None if there is no such string.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    missing = pc.is_in(values, value_set=pa.array([*MISSING_WORDS, "nan", "NaN", "NAN"]))
    odd = pc.and_not(pc.match_substring_regex(values, _NOT_A_NUMBER), missing)
    flags = np.append(odd.fill_null(False).to_numpy(zero_copy_only=False), False)[codes]
    row = int(np.argmax(flags)) if len(flags) else 0
    return (row, values[int(codes[row])].as_py()) if flags.any() else None


# -- result of the pass ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Profile:
    """Random rows of a source, and the distinct values and types of its columns.

    Attributes
    ----------
    source : Source
    max_rows : int
        Maximum number of rows of `random_rows`.
    state : ProfileState
        Final state of the pass over all rows.
    types : dict
        Types to which columns of strings are converted, by name: the types of the values of this
        source, or those of several sources together (`alike`). See `narrowed_type`.
    """

    source: Source
    max_rows: int
    state: ProfileState
    types: Mapping[str, str | None]

    @classmethod
    def of(
        cls,
        source: Source,
        max_rows: int,
        seed: int,
        runner: Runner | None = None,
        names: tuple[str, ...] | None = None,
    ) -> Profile:
        """Return the profile of a source, after one pass over all of its rows.

        `max_rows` is the attribute of the result, and `seed` the seed of the random rows. `runner`
        runs the pass. `names` are new names of the columns; None keeps the names in the source.
        """
        names = names or source._labels
        texts = {part.place: part.decimal for part in source._parts if part.untyped}
        step = ProfilePass(max(max_rows, _DECIDING_ROWS), seed, names, texts)
        source = source._without_weights()
        encoded = source._encoding(source._parts[0].few_valued_strings())
        state, _ = (runner or runner_of(source)).fold(encoded, step, FrameReading(names=names))
        if not state.pieces:
            raise InvalidInputError(
                f"{source._label} is empty: it has no row; a sample needs at least one row"
            )
        step.settle(state)
        types = {name: _type_of_strings(source, state, name) for name in names}
        return cls(source, max_rows, state, types)

    @property
    def n_rows(self) -> int:
        """Number of rows of the source."""
        return self.state.n_rows.total()

    @cached_property
    def _ordered(self) -> tuple[np.ndarray, np.ndarray, Any]:
        """Random keys (m,), row numbers (m,) and columns of the random rows, as a tuple.

        The rows are in the order of the source. Row numbers are those of `RawChunk.number`.
        """
        table = concatenated([typed_table(table, self.types) for *_, table in self.state.pieces])
        keys, numbers = (np.concatenate([each[i] for each in self.state.pieces]) for i in (0, 1))
        order = np.argsort(numbers)
        return keys[order], numbers[order], table.take(order)

    def _smallest(self, count: int) -> np.ndarray:
        """Return the indices, in increasing order, of the `count` rows with the smallest keys.

        They are indices into the arrays of `_ordered`.
        """
        keys, numbers, _ = self._ordered
        return np.sort(np.lexsort((numbers, keys))[:count])

    @cached_property
    def random_rows(self) -> RandomRows:
        """Random rows: `max_rows` rows, or all rows of the source if there are fewer."""
        _, numbers, table = self._ordered
        chosen = self._smallest(self.max_rows)
        return RandomRows(
            table.take(chosen), *self.locate(numbers[chosen]), numbers[chosen], self.n_rows
        )

    def locate(self, numbers: np.ndarray) -> tuple[list[str], np.ndarray, np.ndarray]:
        """Return the names of the files of rows, and the indices of the rows (m,) in two arrays.

        The first array has the index of each row in its file, array or partition, and the second
        its index in the source. `numbers` (m,) are the numbers of the rows, see `RawChunk.number`.
        """
        place, row = place_and_row(numbers)
        names = {part.place: part.origin for part in reversed(self.source._parts)}
        places = sorted(self.state.n_rows)
        before = np.cumsum([0, *(self.state.n_rows[each] for each in places)])
        files = [names[each] for each in place.tolist()]
        return files, row, before[np.searchsorted(places, place)] + row

    def deciding_frame(self) -> Any:
        """Return a pyarrow table from which the kinds of the columns are decided.

        It has random rows, and below them additional rows with the strings in `state.values` and
        `state.odd` that do not occur in the random rows. Other values of the additional rows are
        missing. If all rows of the source are in memory, the table consists of these rows. Columns
        that are categorical in the source are dictionary-encoded.
        """
        table = self._ordered[2]
        if len(table) < self.n_rows:
            table = self._with_all_values(table.take(self._smallest(_DECIDING_ROWS)))
        for at, label in enumerate(self.source._labels):
            if label in self.source._categorical:
                encoded = table.column(at).cast("string").dictionary_encode()
                table = table.set_column(at, table.column_names[at], encoded)
        return table

    def _with_all_values(self, table: Any) -> Any:
        import pyarrow as pa

        lacking: dict[str, list[Any]] = {}
        for name, column in zip(table.column_names, table.columns, strict=True):
            if class_of_type(str(column.type)) == "strings":
                values = {*(self.state.values.get(name) or ())}
                values |= {*self.state.odd.get(name, ())[1:]}
                lacking[name] = sorted(values - {*column.unique().to_pylist()})
        count = max(map(len, lacking.values()), default=0)
        columns = [
            pa.array([*(own := lacking.get(field.name, [])), *[None] * (count - len(own))])
            .cast(field.type)
            for field in table.schema
        ]  # fmt: skip
        return pa.concat_tables([table, pa.Table.from_arrays(columns, schema=table.schema)])


def alike(profiles: Sequence[Profile], kinds: Mapping[str, Any] | None) -> list[Profile]:
    """Return the profiles of several sources with the same types of columns of strings.

    A column is converted to numbers, booleans or dates if all strings of all sources can be
    converted, and remains as it is in the files otherwise. A column remains as it is, too, if its
    kind is "category" in `kinds`, the option of :func:`isodepth.two_sample_test`.
    """
    types, given = {}, check_kinds(kinds)
    for name in profiles[0].types:
        found = [_type_of_strings(each.source, each.state, name) for each in profiles]
        types[name] = common_type(found)
        if given.get(name) == "category":
            types[name] = category_type(types[name])
    return [each if each.types == types else replace(each, types=types) for each in profiles]


def _type_of_strings(source: Source, state: ProfileState, name: str) -> str | None:
    """Return the type of the strings of a column in text files and in data of other formats.

    In data of other formats, strings are booleans or strings; numbers are recognized later, because
    there are more styles. Raise an error if text files have another type than other files.
    """
    type_ = state.types.get(name)
    for part in source._parts:
        stored = class_of_type(part.others.get(name, "double"))
        if part.untyped or (stored is None and name not in state.values):
            continue
        if stored in ("strings", None):
            values = state.values.get(name, ())
            words = values is not None and all(boolean_word(str(value)) for value in values)
            own = "bool" if words else "string"
            type_ = common_type((type_, None if values == Counter() else own))
        elif type_ is not None and stored != class_of_type(type_):
            refuse(
                source._label,
                f"column {name!r} contains {class_of_type(type_)} in text files and "
                f"{stored} in {part.origin}; convert one of them, or select other columns",
            )
    return type_
