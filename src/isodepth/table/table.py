"""The value that holds rows, `Table`, and the value that knows columns, `Schema`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, get_type_hints

import numpy as np

from isodepth.base.fold import Fold
from isodepth.base.messages import joined
from isodepth.base.records import FieldNames, packed, unpacked
from isodepth.errors import ColumnWarning, InvalidInputError, warn_user
from isodepth.table.arrays import column_labels, row_hashes
from isodepth.table.arrow import DATES, class_of_type
from isodepth.table.columns import Column, ColumnKind, Note, Reason
from isodepth.table.convert import Place, codes_of, numbers_of
from isodepth.table.frames import (
    NamedArray,
    differing,
    is_frame,
    matched_by_position,
    refuse_other_types,
    with_nan,
)
from isodepth.table.kind_lines import (
    attention_lines,
    check_kinds,
    kinds_error,
    missing_categories,
)
from isodepth.table.missing import MissingReport
from isodepth.table.numerals import Style
from isodepth.table.pooled import PooledColumn
from isodepth.table.profile import ColumnProfile, ProfileFold
from isodepth.table.raw import ROWS_OF_A_PART, FrameSample, RawChunk, Sample, decimal_of
from isodepth.table.rules import decide
from isodepth.table.text_columns import typed_column
from isodepth.table.validation import (
    check_finite,
    check_same_width,
    is_tensor,
    read_points,
    read_sample,
)


@dataclass(frozen=True)
class Origin:
    """Place of the rows of a table in the data, for messages and for showing raw rows.

    Attributes
    ----------
    sample : str
        Name of the sample.
    files : tuple of str
        Names of the files, arrays or partitions by their indices; empty for data in memory.
    numbers : int64 ndarray of shape (n,), or int
        Number of each row, or of the first of consecutive rows: 2**40 times the index of its file,
        plus its index in the file.
    raw : pyarrow.Table or None
        The rows with all columns as they were read, also those that are not compared. None for
        arrays.
    """

    sample: str = "X"
    files: tuple[str, ...] = ()
    numbers: Any = 0
    raw: Any = None

    def take(self, rows: Any) -> Origin:
        """Return the origin of the rows with these indices, or of those where a mask is True."""
        indices = np.asarray(rows)
        indices = np.flatnonzero(indices) if indices.dtype == bool else indices
        whole = isinstance(self.numbers, int)
        numbers = self.numbers + indices if whole else self.numbers[indices]
        raw = None if self.raw is None else self.raw.take(indices)
        return replace(self, numbers=np.asarray(numbers, np.int64), raw=raw)

    def row_numbers(self, n: int) -> np.ndarray:
        """Return the numbers (n,) of the n rows."""
        if isinstance(self.numbers, int):
            return np.arange(self.numbers, self.numbers + n, dtype=np.int64)
        return np.asarray(self.numbers)

    def indices_of(self, numbers: np.ndarray, n: int) -> np.ndarray:
        """Return the indices of those of n consecutive rows whose numbers are in `numbers`.

        `numbers` is sorted.
        """
        ends = np.searchsorted(numbers, [self.numbers, self.numbers + n])
        return numbers[slice(*ends)] - self.numbers

    def place(self, row: int) -> tuple[str, int]:
        """Return the name of the file of a row, "" in memory, and its index in the file."""
        number = self.numbers + row if isinstance(self.numbers, int) else int(self.numbers[row])
        file, index = divmod(number, ROWS_OF_A_PART)
        return (self.files[file] if self.files else ""), index


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of one sample, or of one chunk of it.

    Attributes
    ----------
    numbers : ndarray or tensor of shape (n, d)
        Values of the numeric columns, float64 or float32; NaN if missing.
    codes : int32 ndarray of shape (n, c)
        Index of each value among the categories of its column. The codes of values that the schema
        does not know are larger: they are indices in `words`. Missing values have the code -1.
    schema : Schema
    origin : Origin
    weights : float64 ndarray of shape (n,) or None
    new_words : tuple of c tuples of str
        For each category column, the values that the schema does not know.
    """

    numbers: Any
    codes: np.ndarray
    schema: Schema
    origin: Origin = field(default_factory=Origin)
    weights: np.ndarray | None = None
    new_words: tuple[tuple[str, ...], ...] = ()

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.numbers)

    def words(self, c: int) -> tuple[str, ...]:
        """Return the values of the c-th category column by their codes."""
        return self.schema.categorical[c].categories + (self.new_words[c] if self.new_words else ())

    def texts(self, name: str) -> list[str | None]:
        """Return the value of a category column in each row; None if missing."""
        c = self.schema.category_names.index(name)
        words = [*self.words(c), None]
        return [words[code] for code in self.codes[:, c].tolist()]

    def column(self, name: str) -> np.ndarray:
        """Return the numbers or the codes (n,) of a column."""
        if name in self.schema.numeric_names:
            return np.asarray(self.numbers[:, self.schema.numeric_names.index(name)])
        return self.codes[:, self.schema.category_names.index(name)]

    def known(self, name: str) -> np.ndarray:
        """Return the numbers of a numeric column without missing values."""
        values = self.column(name)
        return values[~np.isnan(values)]

    @property
    def matrix(self) -> np.ndarray:
        """Numbers followed by codes (n, d + c) as floats, with NaN for missing values."""
        codes = np.where(self.codes < 0, np.nan, self.codes)
        return np.column_stack([self.numbers, codes]) if codes.shape[1] else self.numbers

    def hashes(self) -> np.ndarray:
        """Return a hash of each row (n,), uint64.

        Rows with equal values have equal hashes, also rows of two tables of one schema: values that
        the schema does not know are compared as words.
        """
        hashed = np.empty(self.codes.shape)
        for c in range(self.codes.shape[1]):
            known = len(self.schema.categorical[c].categories)
            # Hashes of words are negative, so that they differ from all codes.
            new = (-1.0 - _word_hash(word) for word in self.words(c)[known:])
            values = np.array([*range(known), *new, np.nan], np.float64)
            hashed[:, c] = values[self.codes[:, c]]
        return row_hashes(np.column_stack([np.asarray(self.numbers, np.float64), hashed]))

    def take(self, rows: Any) -> Table:
        """Return the rows with these indices, or the rows where a bool array is True."""
        return replace(
            self,
            numbers=self.numbers[rows],
            codes=self.codes[rows],
            origin=self.origin.take(rows),
            weights=None if self.weights is None else self.weights[rows],
        )

    @classmethod
    def pooled(cls, *tables: Table) -> Table:
        """Return the rows of several tables of one schema, one after the other.

        The origin is that of the first table, without raw rows.
        """
        first = tables[0]
        words = [dict.fromkeys(first.words(c)) for c in range(first.codes.shape[1])]
        parts = [first.codes]
        for table in tables[1:]:
            codes = table.codes.copy()
            for c, known in enumerate(words):
                known.update(dict.fromkeys(table.words(c)))
                index = {word: code for code, word in enumerate(known)}
                places = np.array([*(index[word] for word in table.words(c)), -1], np.int32)
                codes[:, c] = places[table.codes[:, c]]
            parts.append(codes)
        categories = [len(column.categories) for column in first.schema.categorical]
        numbers = [table.origin.row_numbers(len(table)) for table in tables]
        weights = None
        if first.weights is not None:
            weights = np.concatenate([table.weights for table in tables])  # type: ignore[misc]
        return cls(
            np.concatenate([table.numbers for table in tables]),
            np.concatenate(parts),
            first.schema,
            replace(first.origin, numbers=np.concatenate(numbers), raw=None),
            weights,
            tuple(tuple(each)[n:] for each, n in zip(words, categories, strict=True)),
        )

    @property
    def missing(self) -> MissingReport:
        """Number of missing values of each numeric column."""
        counts = np.isnan(self.numbers).sum(axis=0).tolist()
        names = self.schema.numeric_names
        return MissingReport(len(self), 0, dict(zip(names, counts, strict=True)))

    def check_complete(self, hint: str = "") -> None:
        """Raise an error if a value is missing; `hint` is further advice."""
        names = self.schema.numeric_names
        if self.numbers.shape[1]:
            columns = names if self.schema.named else None
            check_finite(self.numbers, self.origin.sample, True, columns, hint)
        for name, missing in zip(
            self.schema.category_names, (self.codes < 0).sum(axis=0).tolist(), strict=True
        ):
            if missing:
                raise missing_categories(name, self.origin.sample, missing)


@dataclass(frozen=True)
class Schema:
    """Columns of samples: names, kinds, and how their values are read.

    Attributes
    ----------
    columns : tuple of Column
        All columns that the samples have in common, in the order of the first sample, also those
        that are left out.
    named : bool
        Whether the columns have names. Otherwise they are named "column 0", "column 1", ...
    unmatched : tuple of Column
        Columns that only one of the samples has. They are left out.
    reference : str
        Name of the samples that determined the schema, for messages about other samples.
    """

    columns: tuple[Column, ...]
    named: bool = True
    unmatched: tuple[Column, ...] = ()
    reference: str = "X and Y"

    # -- columns -----------------------------------------------------------------------------------

    @cached_property
    def numeric(self) -> tuple[Column, ...]:
        """Numeric columns, in the order of the columns of `Table.numbers`."""
        return tuple(column for column in self.columns if column.use == "numeric")

    @cached_property
    def categorical(self) -> tuple[Column, ...]:
        """Category columns, in the order of the columns of `Table.codes`."""
        return tuple(column for column in self.columns if column.use == "category")

    @cached_property
    def numeric_names(self) -> tuple[str, ...]:
        """Names of the numeric columns."""
        return tuple(column.name for column in self.numeric)

    @cached_property
    def category_names(self) -> tuple[str, ...]:
        """Names of the category columns."""
        return tuple(column.name for column in self.categorical)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the compared columns: numeric columns, followed by category columns."""
        return self.numeric_names + self.category_names

    @property
    def is_whole(self) -> bool:
        """Whether all columns of all samples are compared, so that equal rows are copies."""
        return not self.unmatched and all(column.use != "omit" for column in self.columns)

    def __getitem__(self, name: str) -> Column:
        """Return the column with this name."""
        return next(column for column in self.columns if column.name == name)

    @property
    def kinds(self) -> tuple[ColumnKind, ...]:
        """Descriptions of all columns for users; empty if the columns have no names."""
        if not self.named and self == Schema.plain(len(self.columns)):
            return ()
        return tuple(column.described for column in (*self.columns, *self.unmatched))

    # -- decision ----------------------------------------------------------------------------------

    @classmethod
    def plain(cls, width: int, names: Sequence[str] | None = None) -> Schema:
        """Return the schema of arrays of numbers with `width` columns.

        Examples
        --------
        >>> Schema.plain(2).numeric_names
        ('column 0', 'column 1')
        """
        labels = column_labels(width) if names is None else tuple(names)
        columns = tuple(Column(name, "numeric", "numeric") for name in labels)
        return cls(columns, names is not None)

    @classmethod
    def of(
        cls,
        *samples: Any,
        labels: Sequence[str] = ("X", "Y"),
        kinds: Mapping[str, Any] | None = None,
        common: bool = False,
        row_numbers: bool = True,
        warn: bool = True,
    ) -> Schema:
        """Decide the kinds of all columns from all rows of all samples together.

        Parameters
        ----------
        samples : data frames, arrays, tensors or sources
        labels : sequence of str
            Names of the samples for messages.
        kinds : dict or None
            Option of :func:`isodepth.two_sample_test`.
        common : bool
            Whether to leave out columns that only one sample has. Otherwise they are an error.
        row_numbers : bool
            Whether to leave out integers that number the rows.
        warn : bool
            Whether to issue a warning about columns of doubtful kind.

        Examples
        --------
        >>> import pandas as pd
        >>> X = pd.DataFrame({"delay": [1.0, None], "carrier": ["AA", "UA"]})
        >>> Y = pd.DataFrame({"carrier": ["UA", None, "B6"], "delay": [5.0, 6.0, 7.0]})
        >>> schema = Schema.of(X, Y)
        >>> schema.numeric_names, schema["carrier"].categories
        (('delay',), ('AA', 'B6', 'UA'))
        >>> y = schema.read(Y, "Y")
        >>> y.numbers.tolist(), y.codes.tolist()
        ([[5.0], [6.0], [7.0]], [[2], [-1], [1]])
        """
        checked, labels = check_kinds(kinds), labels[: len(samples)]
        for sample, label in zip(samples, labels, strict=True):
            if _is_array(sample):
                refuse_other_types(sample, label)
        if all(_is_array(sample) for sample in samples):
            return _schema_of_arrays(samples, labels, checked)
        read = [as_sample(*each) for each in zip(samples, labels, strict=False)]
        names, only = matched_names(read, labels, common)
        checked = {name: kind for name, kind in checked.items() if name not in {*sum(only, ())}}
        unknown = next((name for name in checked if name not in names[-1]), None)
        if unknown is not None:
            raise kinds_error(
                f"kinds has the key {unknown!r}, which is not a column of {labels[0]}"
            )
        named = any(sample._named for sample in read)
        profiles = profiles_of(names, checked, lambda at, *of: read[at]._run(*of))
        schema = cls.decided(names[-1], profiles, labels, checked, named, named and row_numbers)
        unmatched = tuple(
            unmatched_column(name, stored_kind(sample, name), label)
            for sample, own, label in zip(read, only, labels, strict=False)
            for name in own
        )
        schema = replace(schema, unmatched=unmatched)
        if warn:
            schema.warn()
        return schema

    def warn(self) -> None:
        """Issue a warning about columns of doubtful kind."""
        if lines := attention_lines([column.described for column in self.columns]):
            warn_user(joined("; ", lines), ColumnWarning)

    @classmethod
    def decided(
        cls,
        names: Sequence[str],
        profiles: Sequence[Mapping[str, ColumnProfile]],
        labels: Sequence[str],
        kinds: Mapping[str, Any],
        named: bool,
        row_numbers: bool,
    ) -> Schema:
        """Decide the kinds of the columns `names` from the profiles of all samples."""
        pooled = (
            PooledColumn(name, [each[name] for each in profiles], labels, kinds.get(name))
            for name in names
        )
        columns = tuple(decide(column, row_numbers) for column in pooled)
        return cls(columns, named, reference=" and ".join(labels[: len(profiles)]))

    # -- reading -----------------------------------------------------------------------------------

    def read(self, sample: Any, label: str = "X", *, hint: str = "") -> Table:
        """Read a sample in memory, or all rows of a source, as one table.

        `label` is the name of the sample, and `hint` advice at the end of errors. Raise an error
        for infinite values, and for values of another type than the schema has.
        """
        if _is_array(sample):
            return self._read_array(sample, label)
        tables = [*self.chunks(sample, label, hint=hint)]
        table = tables[0] if len(tables) == 1 else Table.pooled(*tables)
        if not len(table):
            raise InvalidInputError(f"{label} has no rows; it needs at least one")
        return table

    def chunks(self, sample: Any, label: str = "X", *, hint: str = "") -> Iterator[Table]:
        """Yield the rows of a sample as tables, one table per chunk."""
        if _is_array(sample):
            yield self._read_array(sample, label)
            return
        source = as_sample(sample, label)
        for chunk in source._raw_chunks(self._labels(source)):
            yield self.table(chunk, label, hint)

    def run(self, fold: Fold, sample: Any, label: str = "X") -> Any:
        """Return the result of a fold over the rows of a sample; its chunks are tables."""
        if _is_array(sample):
            return fold.run([self._read_array(sample, label)])
        source = as_sample(sample, label)
        return source._run(TableFold(fold, self, label), self._labels(source))

    def table(self, chunk: RawChunk, label: str = "X", hint: str = "") -> Table:
        """Convert a raw chunk with all columns of the schema, in their order, to a table."""
        raw = chunk.table
        numbers, codes, new = [], [], []
        for at, column in enumerate(self.columns):
            decimal = chunk.decimal or decimal_of(raw.field(at))
            place = Place(chunk.origin, decimal, self.reference, hint)
            if column.use == "numeric":
                numbers.append(numbers_of(column, raw.column(at), place))
            elif column.use == "category":
                found, words = codes_of(column, raw.column(at), place)
                codes.append(found)
                new.append(words)
        n = len(raw)
        single = bool(numbers) and all(each.dtype == np.float32 for each in numbers)
        points = np.empty((n, len(numbers)), np.float32 if single else np.float64)
        for j, values in enumerate(numbers):
            points[:, j] = values
        if n and numbers:
            names = self.numeric_names if self.named else None
            check_finite(points, chunk.origin, False, names, allow_nan=True, first_row=chunk.start)
        places = np.empty((n, len(codes)), np.int32)
        for c, found in enumerate(codes):
            places[:, c] = found
        origin = Origin(label, numbers=chunk.number, raw=raw)
        return Table(points, places, self, origin, None, tuple(new))

    def _labels(self, sample: Sample) -> list[str]:
        """Return the names that the columns of the schema have in a sample."""
        own = [column.name for column in self.columns]
        if {*own} <= {*sample._labels}:
            return own
        if len(own) == len(sample._labels) and (
            not self.named or matched_by_position(sample._labels, tuple(own))
        ):
            return list(sample._labels)
        if not self.named or not sample._named:
            check_same_width(len(own), len(sample._labels), self.reference, sample._label)
        raise differing(tuple(own), sample._labels, self.reference, sample._label)

    def _read_array(self, sample: Any, label: str) -> Table:
        """Return an array or tensor as a table; contiguous arrays of floats are not copied."""
        if is_tensor(sample):
            points = sample
        else:
            points = read_sample(sample, None, label, None, "keep").points
        check_same_width(len(self.columns), points.shape[1], self.reference, label)
        codes = np.empty((len(points), 0), np.int32)
        return Table(points, codes, self, Origin(label))

    # -- storage -----------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """Convert to a dictionary of the types of JSON."""
        return packed(self, SCHEMA_FIELDS)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Schema:
        """Create a schema from the result of `to_json`; raise an exception if it is damaged."""
        return unpacked(cls, value, SCHEMA_FIELDS)


#: Keys in JSON of the fields of a schema and its parts, see `isodepth.base.records`.
SCHEMA_FIELDS: FieldNames = {
    type_: {name: name for name in get_type_hints(type_)} for type_ in (Schema, Column, Note, Style)
}


def tables_of(
    *samples: Any,
    labels: Sequence[str] = ("X", "Y"),
    kinds: Mapping[str, Any] | None = None,
    common: bool = False,
    row_numbers: bool = True,
    warn: bool = True,
) -> list[Table]:
    """Return samples in memory as tables of one schema, see `Schema.of`.

    Examples
    --------
    >>> import pandas as pd
    >>> X, Y = pd.DataFrame({"size": ["S", "L"]}), pd.DataFrame({"size": ["M"]})
    >>> x, y = tables_of(X, Y)
    >>> x.schema is y.schema, x.texts("size"), y.codes.tolist()
    (True, ['S', 'L'], [[1]])
    """
    read = [
        each if _is_array(each) else as_sample(each, label)
        for each, label in zip(samples, labels, strict=False)
    ]
    schema = Schema.of(
        *read, labels=labels, kinds=kinds, common=common, row_numbers=row_numbers, warn=warn
    )
    return [schema.read(*each) for each in zip(read, labels, strict=False)]


class TableFold(Fold):
    """Fold over raw chunks that passes them to another fold as tables."""

    def __init__(self, fold: Fold, schema: Schema, label: str) -> None:
        self.fold, self.schema, self.label = fold, schema, label

    def start(self) -> Any:
        return self.fold.start()

    def step(self, state: Any, chunk: RawChunk, n_threads: int) -> None:
        self.fold.step(state, self.schema.table(chunk, self.label), n_threads)

    def merge(self, state: Any, other: Any) -> None:
        self.fold.merge(state, other)

    def finish(self, state: Any) -> Any:
        return self.fold.finish(state)


# -- samples ---------------------------------------------------------------------------------------


def as_sample(data: Any, label: str) -> Sample:
    """Return the rows of a data frame; sources of `isodepth.scan` are returned unchanged."""
    if isinstance(data, Sample):
        return data
    if _is_array(data):
        data = NamedArray(read_points(with_nan(data), label, None)[0], None)
    return FrameSample(data, label)


def _is_array(sample: Any) -> bool:
    """Return whether a sample is an array, a list or a tensor, whose columns have no names."""
    return not isinstance(sample, Sample) and not is_frame(sample)


def _schema_of_arrays(
    samples: Sequence[Any], labels: Sequence[str], kinds: Mapping[str, Any]
) -> Schema:
    """Return the schema of arrays, whose values are not looked at."""
    if kinds:
        types = " and ".join(type(each).__name__ for each in samples)
        raise kinds_error(f"kinds needs data frames in memory, got {types}")
    widths = [
        each.shape[1]
        if is_tensor(each) or (isinstance(each, np.ndarray) and each.ndim == 2)
        else read_points(with_nan(each), label, None)[0].shape[1]
        for each, label in zip(samples, labels, strict=False)
    ]
    for width, label in zip(widths, labels, strict=False):
        check_same_width(widths[0], width, labels[0], label)
    return Schema.plain(widths[0])


def matched_names(
    samples: Sequence[Sample], labels: Sequence[str], common: bool
) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """Match the columns of samples by name, or by position if a sample has no names.

    Return the names of the matched columns in each sample, followed by those of the schema, and the
    names of all other columns of each sample. `common` is an argument of `Schema.of`.
    """
    first = samples[0]
    names, is_common = [], True
    for sample, label in zip(samples, labels, strict=True):
        own = sample._labels
        if {*own} == {*first._labels}:
            names.append(first._labels)
        elif not (sample._named and first._named) or matched_by_position(first._labels, own):
            check_same_width(len(first._labels), len(own), labels[0], label)
            names.append(own)
        elif common:
            is_common = False
        else:
            raise differing(first._labels, own, labels[0], label)
    if is_common:
        pairs = zip(samples, names, strict=True)
        known = next((own for sample, own in pairs if sample._named), names[0])
        return [*names, known], [()] * len(samples)
    both = tuple(n for n in first._labels if all(n in each._labels for each in samples))
    if not both:
        raise differing(first._labels, samples[1]._labels, labels[0], labels[1])
    only = [tuple(n for n in each._labels if n not in both) for each in samples]
    return [both] * (len(samples) + 1), only


def profiles_of(
    names: Sequence[tuple[str, ...]], kinds: Mapping[str, Any], run: Callable[..., Any]
) -> list[dict[str, ColumnProfile]]:
    """Return the profiles of the columns of each sample, by their names in the schema.

    `names` has the names of the columns in each sample, in the order of the schema. Those of the
    schema come last. ``run(i, fold, columns)`` runs a fold over columns of the i-th sample.
    """
    *names, common = names

    def profiled(columns: Sequence[str], counted: Collection[str]) -> list[dict[str, Any]]:
        found = []
        for at, own in enumerate(names):
            own_names = [own[common.index(name)] for name in columns]
            is_counted = {o for o, name in zip(own_names, columns, strict=True) if name in counted}
            state = run(at, ProfileFold(own_names, is_counted), own_names)
            found.append(dict(zip(columns, state.values(), strict=True)))
        return found

    as_strings = {n for n, kind in kinds.items() if kind == "category" or not isinstance(kind, str)}
    profiles = profiled(common, as_strings)
    # The numbers and dates of one sample are counted if another sample has values of another type.
    mixed = []
    for name in common:
        types = PooledColumn(name, [each[name] for each in profiles], (), None).known_types
        if len(types) > 1 and types & {"number", "date", "duration"}:
            mixed.append(name)
    if mixed:
        for profile, again in zip(profiles, profiled(mixed, mixed), strict=True):
            profile.update(again)
    return profiles


def unmatched_column(name: str, kind: str, label: str) -> Column:
    """Return a column that only the sample with the name `label` has."""
    note = Note(Reason.ONLY_IN, {"sample": label})
    return Column(name, kind, "omit", (note,), attention=True)


def stored_kind(sample: Sample, name: str) -> str:
    """Return the kind of a column, determined by its stored type alone."""
    chunk = next(iter(sample._raw_chunks([name])), None)
    class_ = None if chunk is None else class_of_type(str(chunk.table.column(0).type))
    return ({"numbers": "numeric"} | dict.fromkeys(DATES, "date")).get(class_ or "", "category")


def typed_columns(chunk: RawChunk, schema: Schema) -> Any:
    """Return the rows of a raw chunk, with the strings of text files converted to their types."""
    table = chunk.table
    for at, column in enumerate(schema.columns):
        is_text = chunk.decimal or decimal_of(table.field(at))
        if is_text and column.text_type not in ("string", None):
            values = typed_column(table.column(at), column.text_type)
            table = table.set_column(at, column.name, values)
    return table.rename_columns([column.name for column in schema.columns])


def typed_rows(table: Table) -> Any:
    """Return the raw rows of a table that was read from a text file, with the types of the schema.

    Return None for other tables.
    """
    raw = table.origin.raw
    if raw is None or not any(map(decimal_of, raw.schema)):
        return None
    return typed_columns(RawChunk(raw, table.origin.sample), table.schema)


def _word_hash(word: str) -> int:
    """Return a 52-bit hash of a word, which a float represents exactly."""
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little") >> 12
