"""Kinds of the columns of sources, and the conversion of their chunks to numbers and categories.

The kinds are those of `isodepth.table.kinds`. They are decided from random rows of all
samples together and from the distinct values of all rows. Therefore they do not depend on which
rows belong to which sample. The profile of a source has these random rows and distinct values
(`isodepth.stream.profile`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from isodepth.stream.profile import Profile, alike
from isodepth.stream.source import Source
from isodepth.table.arrow import class_of_type, encode
from isodepth.table.frames import read_frame
from isodepth.table.kinds import ColumnKind, check_kinds, split_columns
from isodepth.table.numerals import Numerals, Style
from isodepth.table.row_numbers import numbering_note
from isodepth.table.rules import MOST_CATEGORIES
from isodepth.table.text_columns import typed_table

# Maximum number of remembered sets of distinct values.
_MOST_KNOWN = 1000


def mixed_readers(
    profiles: Sequence[Profile], names: Sequence[str], kinds: Mapping[str, Any] | None
) -> list[MixedReader]:
    """Determine the kinds of the columns of several sources, and return one reader per source.

    The kind of a column is the same for all sources.

    Parameters
    ----------
    profiles : sequence of Profile
        Profiles of sources with the same columns.
    names : sequence of str
        Names of the sources in messages.
    kinds : dict or None
        Option of :func:`isodepth.two_sample_test`.
    """
    given = check_kinds(kinds)
    profiles = alike(profiles, given)
    frames = [profile.deciding_frame() for profile in profiles]
    mixed = split_columns(frames, names, kinds, row_numbers=False)
    assert mixed is not None
    columns = tuple(
        each if each.column in given else _of_all_rows(each, profiles) for each in mixed.columns
    )
    strings = {
        each.column: [value for frame in frames for value in frame[each.column].to_pylist()]
        for each in columns
        if each.use == "numeric" and each.option == "numeric"
    }
    with_words = frozenset(name for name, values in strings.items() if _words(values))
    return [
        MixedReader(columns, profile.types, mixed.styles, mixed.spellings, with_words)
        for profile in profiles
    ]


def _of_all_rows(column: ColumnKind, profiles: Sequence[Profile]) -> ColumnKind:
    """Return the kind of a column, given the kind `column` that was decided from random rows.

    A column of kind "category" becomes an "identifier" if it has more than 200 distinct strings in
    all rows of all sources together. So does a numeric column of integers that number the rows, if
    the columns have names. Other kinds are returned unchanged.
    """
    if column.kind == "numeric" and all(each.source.columns is not None for each in profiles):
        numbering = numbering_note([each.state.numbers.get(column.column) for each in profiles])
        return _identifier(column, numbering) if numbering else column
    values = [profile.state.values.get(column.column, Counter()) for profile in profiles]
    distinct = set().union(*(each for each in values if each is not None))
    many = None in values or len(distinct) > MOST_CATEGORIES
    if column.kind != "category" or not many:
        return column
    return _identifier(column, f"more than {MOST_CATEGORIES} values")


def _identifier(column: ColumnKind, note: str) -> ColumnKind:
    return ColumnKind(column.column, "identifier", "omit", note)


def _words(values: Sequence[Any]) -> set[str]:
    """Return the strings among `values` that are not numbers, whatever the decimal mark is."""
    words = {value for value in values if isinstance(value, str)}
    while (numerals := Numerals([*words])).count:
        words = numerals.others
    return numerals.others


@dataclass(frozen=True)
class MixedReader:
    """Object that converts chunks of a source to numbers and categories.

    Attributes
    ----------
    columns : tuple of ColumnKind
        Kinds of all columns, for all samples together.
    types : dict
        Types to which columns of strings are converted, by name, see `Profile`.
    styles : dict
        For the name of each column of strings that are numbers, their styles, see `MixedFrames`.
    spellings : dict
        For the name of each category column, the spelling of its values, see `MixedFrames`.
    with_words : frozenset of str
        Names of columns of numbers and words, in which the words are missing values.
    """

    columns: tuple[ColumnKind, ...]
    types: Mapping[str, str | None]
    styles: dict[str, tuple[Style, ...]]
    spellings: dict[str, frozenset[str]]
    with_words: frozenset[str]

    @property
    def numeric(self) -> tuple[str, ...]:
        """Names of the numeric columns."""
        return tuple(each.column for each in self.columns if each.use == "numeric")

    @property
    def categorical(self) -> tuple[str, ...]:
        """Names of the category columns, which are compared by the shares of their values."""
        return tuple(each.column for each in self.columns if each.use == "category")

    @property
    def kinds(self) -> dict[str, Any]:
        """Option `kinds` with which any rows of the sources have the kinds in `columns`."""
        given = {each.column: each.option for each in self.columns if each.option is not None}
        given |= dict.fromkeys(self.categorical, "category")
        left_out = [each.column for each in self.columns if each.use == "omit"]
        return given | dict.fromkeys(left_out, "omit")

    @cached_property
    def _given(self) -> dict[str, Any]:
        return {each.column: each.option for each in self.columns}

    @property
    def used(self) -> tuple[str, ...]:
        """Names of the numeric and categorical columns, in the order of all columns."""
        return tuple(each.column for each in self.columns if each.use != "omit")

    def used_source(self, source: Source) -> Source:
        """Return the source with only the columns `used`; their names in the source are kept."""
        names = dict(zip((each.column for each in self.columns), source._labels, strict=True))
        categorical = [names[name] for name in self.categorical]
        return source._select([names[name] for name in self.used])._encoding(categorical)

    def numeric_source(self, source: Source) -> Source:
        """Return the source with only its numeric columns, converted to numbers if necessary."""
        given = [self._given[name] for name in self.numeric]
        texts = [self.types.get(name) for name in self.numeric]
        plain = all(each is None for each in given)
        plain = plain and all(type_ in (None, "int64", "double") for type_ in texts)
        plain = plain and not any(part.missing for part in source._parts)
        # The columns of a source without names are matched by position.
        names = dict(zip((each.column for each in self.columns), source._labels, strict=True))
        return source._select([names[name] for name in self.numeric], None if plain else self)

    def numbers(self, table: Any, origin: str, first: int = 0) -> np.ndarray:
        """Return the c columns of a chunk as numbers (n, c); missing values are NaN.

        `table` is a pyarrow table with the numeric columns, and possibly a last column of weights.
        `origin`, the name of the data, and `first`, the index of the first row, are for messages.
        """
        table = typed_table(table, self.types)
        # In Fortran order: columns are written and read one by one.
        points = np.empty((len(table), table.num_columns), order="F")
        for j, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True)):
            stored = class_of_type(str(column.type))
            if stored is None:
                points[:, j] = np.nan
            elif stored == "numbers" and self._given.get(name) in (None, "numeric"):
                points[:, j] = column.to_numpy()
            else:
                points[:, j] = self._converted(name, column, f"{origin}, from row {first} on")
        return points

    def _converted(self, name: str, column: Any, origin: str) -> np.ndarray:
        """Convert a pyarrow column to numbers (n,), according to its kind.

        `origin` is the name of the data in messages.
        """
        import pyarrow as pa

        codes, values = encode(column)
        if name in self.with_words:
            strings = values.to_pylist()
            words = _words(strings)
            # A chunk may have more words than numbers, although all rows together have few words.
            values = pa.array([None if v in words else v for v in strings], values.type)
        # The warning about the column was issued when its kind was determined.
        mixed = split_columns(
            [pa.table({name: values})], [origin], {name: self._given[name]}, styles=self.styles,
            warn=False,
        )  # fmt: skip
        assert mixed is not None
        numbers = read_frame(mixed.numeric[0], origin)[0][:, 0]
        return np.append(numbers, np.nan)[codes]

    def all_values(self, name: str, profiles: Sequence[Profile]) -> list[str]:
        """Return the values of a category column in all rows of several sources, sorted.

        If the sources together have more than 200 distinct values, or if values are stored as
        numbers, return the values of the random rows instead. The choice does not depend on which
        source has a row.
        """
        import pyarrow as pa

        counts = [profile.state.values.get(name) for profile in profiles]
        distinct = set().union(*(each or () for each in counts))
        if None in counts or len(distinct) > MOST_CATEGORIES:
            columns = [profile.random_rows.table[name] for profile in profiles]
        else:
            tables = [pa.table({name: pa.array([*each])}) for each in counts if each]
            columns = [typed_table(table, self.types)[name] for table in tables]
        words = (self._words(name, encode(column)[1], "X or Y")[1] for column in columns)
        return sorted(set().union(*words))

    def categories(self, table: Any, origin: str) -> dict[str, tuple[np.ndarray, list[str]]]:
        """Return the codes (n,) and the distinct values of each category column of a chunk.

        The result is a dict by column name. A code is an index into the distinct values, or -1 for
        a missing value. `table` is a pyarrow table, and `origin` its name in messages.
        """
        table = typed_table(table, self.types)
        result = {}
        for name in self.categorical:
            codes, distinct = encode(table[name])
            places, words = self._words(name, distinct, origin)
            result[name] = places[codes], words
        return result

    def codes(self, table: Any, origin: str, categories: Sequence[Sequence[str]]) -> np.ndarray:
        """Return the codes (n, C) of the values of the C category columns of a chunk.

        `categories` has one sequence of values per column, in the order of `categorical`. A code is
        an index into this sequence, -1 for a value that is not in it, or NaN for a missing value.
        `table` is a pyarrow table, and `origin` its name in messages.
        """
        table = typed_table(table, self.types)
        # In Fortran order: columns are written and read one by one.
        result = np.empty((len(table), len(categories)), order="F")
        for c, (name, known) in enumerate(zip(self.categorical, categories, strict=True)):
            codes, distinct = encode(table[name])
            places, words = self._words(name, distinct, origin)
            index = {word: float(code) for code, word in enumerate(known)}
            of_words = np.array([*(index.get(word, -1.0) for word in words), np.nan])
            result[:, c] = of_words[places][codes]
        return result

    def _words(self, name: str, distinct: Any, origin: str) -> tuple[np.ndarray, list[str]]:
        """Convert the m distinct values of the category column `name` to strings.

        `distinct` is a pyarrow array, and `origin` the name of the data in messages. Return an
        array (m + 1,) and the list of the distinct strings. Entry i of the array is the index in
        the list of the string of value i, or -1 for a missing value. The last entry is -1, so that
        the index -1 of a missing value selects it.
        """
        import pyarrow as pa

        values = distinct.to_pylist()
        key = (name, str(distinct.type), *values)
        if key in self._known_words:
            return self._known_words[key]
        mixed = split_columns(
            [pa.table({name: distinct})], [origin], {name: "category"}, spellings=self.spellings
        )
        assert mixed is not None
        (strings,) = mixed.categories[name]
        words = list(dict.fromkeys(word for word in strings if word is not None))
        places: dict[str | None, int] = {word: at for at, word in enumerate(words)}
        places[None] = -1
        indices = np.array([*(places[word] for word in strings), -1], dtype=np.int32)
        if len(values) <= MOST_CATEGORIES and len(self._known_words) < _MOST_KNOWN:
            self._known_words[key] = indices, words
        return indices, words

    @cached_property
    def _known_words(self) -> dict[tuple[Any, ...], tuple[np.ndarray, list[str]]]:
        """Cache of the results of the method `_words`, because many chunks have the same values.

        A key is a tuple: the name of the column, its type, and its distinct values in the chunk.
        """
        return {}
