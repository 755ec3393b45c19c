"""Sources, which are samples that are read in chunks: from arrays, data frames and functions.

A `Source` consists of parts, such as files or arrays. A part can be read repeatedly, in chunks of
numbers (`Part.read`) or of columns of any type (`Part.frames`). A part can be pickled if its data
can be pickled, so that another machine can read it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np

from isodepth.base.annotations import TableLike
from isodepth.base.fold import Fold
from isodepth.base.paths import refuse
from isodepth.base.words import listed, numbered
from isodepth.errors import InvalidInputError
from isodepth.stream.checksums import add_to_checksums, different_column
from isodepth.stream.frames import (
    has_large_integers,
    has_other_types,
    may_number_rows,
    without_words,
)
from isodepth.stream.passes import FrameReading, runner_of, within
from isodepth.table.arrow import class_of_type
from isodepth.table.frames import (
    NamedArray,
    check_frame,
    differing,
    is_frame,
    is_record_batch,
    labels_of,
    read_frame,
    select_columns,
)
from isodepth.table.raw import RawChunk, Sample, raw_table
from isodepth.table.text_columns import typed_column


class Chunk(NamedTuple):
    """Rows as they were read, before validation.

    Attributes
    ----------
    values : ndarray of shape (n, c)
        The c selected columns of n rows. The last column has the weights, if there are any.
    origin : str
        Name of the file, row group of a file, array or partition in messages.
    first : int
        Index of the first row of the chunk in the data that `origin` names.
    """

    values: np.ndarray
    origin: str
    first: int


@dataclass(frozen=True, eq=False)
class Source(Sample):
    """A sample that is read in chunks; created by :func:`isodepth.scan`.

    Attributes
    ----------
    n_features : int
        Number of columns, without the weights.
    columns : tuple of str or None
        Names of the columns, without the weights. None if the columns have no names.
    dtype : {"float32", "float64"}
        Precision of the computation, the option `dtype` of `scan`.
    weighted : bool
        Whether the rows have weights, from a column of the data.
    chunk_rows : int or None
        Maximum number of rows to read at a time; None if it depends on the memory limit.
    """

    n_features: int
    columns: tuple[str, ...] | None
    dtype: str
    weighted: bool
    chunk_rows: int | None
    # Objects that are read independently: row groups, files, arrays.
    _parts: tuple[Part, ...]
    # Name of the source in messages.
    _label: str
    # Object that runs folds over the source; None for that of `runner_of`.
    _runner: Any = None

    #: Attribute by which `isodepth.table.validation.is_chunked` recognizes sources.
    _reads_in_chunks: ClassVar[bool] = True

    @property
    def n_rows(self) -> int | None:
        """Number of rows; None if it is not known before reading."""
        counts = [part.n_rows for part in self._parts if part.n_rows is not None]
        return sum(counts) if len(counts) == len(self._parts) else None

    @property
    def _labels(self) -> tuple[str, ...]:
        """Names of the columns without the weights, or their indices as strings."""
        return tuple(self._parts[0].labels[: self.n_features])

    @property
    def _others(self) -> dict[str, str]:
        """Names of the pyarrow types of the columns that are not stored as numbers, by label.

        A column of a text file is included only if the first lines show that it is not numeric.
        """
        labels = {*self._labels}
        return {
            label: type_
            for part in self._parts
            for label, type_ in part.others.items()
            if label in labels
        }

    @property
    def _categorical(self) -> set[str]:
        """Labels of the columns that are stored as categorical."""
        types = (item for part in self._parts for item in part.others.items())
        return {label for label, type_ in types if type_.startswith("dictionary")}

    @property
    def _is_array(self) -> bool:
        """Whether the data are arrays, not data frames or tables with names of columns."""
        return all(part.is_array for part in self._parts)

    @property
    def _is_numeric(self) -> bool:
        """Whether chunks of numbers can be read without rounding, as far as known before reading.

        It is False if the user named strings that stand for missing values, see `_with_missing`.
        These are replaced only in chunks of columns of any type.
        """
        if any(part.missing for part in self._parts):
            return False
        rounded = any(part.large for part in self._parts)
        return all(part.reader is not None for part in self._parts) or not (self._others or rounded)

    @property
    def _may_number_rows(self) -> bool:
        """Whether columns have names, and integers may number the rows, as far as known."""
        return self.columns is not None and all(part.numbered for part in self._parts)

    @property
    def _named(self) -> bool:
        return self.columns is not None

    def _raw_chunks(self, names: Sequence[str]) -> Iterator[RawChunk]:
        reading = within(FrameReading(), self)
        yield from reading.read(self._without_weights()._select(names)._parts)

    def _run(self, fold: Fold, names: Sequence[str]) -> Any:
        source = self._without_weights()._select(names)
        runner = self._runner or runner_of(self)
        return fold.finish(runner.fold(source, fold, FrameReading())[0])

    def _chunks(self, rows: int) -> Iterator[Chunk]:
        """Yield all chunks, of at most `rows` rows each."""
        for part in self._parts:
            yield from part.read(min(rows, self.chunk_rows or rows))

    def _select(self, names: Sequence[str], reader: Any = None) -> Source:
        """Return a source with only the columns `names`, in this order, and the weights.

        `names` are labels of columns. `reader` converts the columns to numbers, see `Part`.
        """
        parts = tuple(
            replace(p, labels=(*names, *p.labels[self.n_features :]), reader=reader or p.reader)
            for p in self._parts
        )
        columns = None if self.columns is None else tuple(names)
        return replace(self, _parts=parts, columns=columns, n_features=len(names))

    def _without(self, names: Sequence[str]) -> Source:
        """Return the source without the columns `names`, which are names or indices.

        Raise an error if one of the columns does not exist, or if no column is left.
        """
        indices = {*indices_of(names, self._labels, self._label)}
        kept = [name for index, name in enumerate(self._labels) if index not in indices]
        if not kept:
            raise InvalidInputError(
                f"{self._label}: all columns are left out; a sample needs at least one column"
            )
        return self._select(kept)

    def _with_missing(self, words: Sequence[str]) -> Source:
        """Return a source in which the strings in `words` stand for missing values."""
        parts = tuple(replace(part, missing=tuple(words)) for part in self._parts)
        return replace(self, _parts=parts)

    def _without_weights(self) -> Source:
        """Return the source without its column of weights."""
        parts = tuple(replace(part, labels=self._labels) for part in self._parts)
        return replace(self, _parts=parts, weighted=False)

    def _aligned(self, names: tuple[str, ...] | None) -> Source:
        """Return the source with its columns in the order of `names`.

        The source is returned unchanged if the columns have no names, if `names` is None, or if the
        names differ in more than their order.
        """
        if names is None or self.columns is None or sorted(names) != sorted(self.columns):
            return self
        return self._select(names)

    def __repr__(self) -> str:
        rows = "unknown number of rows" if self.n_rows is None else f"{self.n_rows} rows"
        columns = "1 column" if self.n_features == 1 else f"{self.n_features} columns"
        weighted = ", weighted" if self.weighted else ""
        return f"Source({self._label}: {rows}, {columns}, {self.dtype}{weighted})"


# -- columns --------------------------------------------------------------------------------------


def source_of(parts: Sequence[Part], columns: list[Any] | None, weights: Any, label: str) -> Source:
    """Create a source from parts, and check that all parts have the same columns, in any order.

    `columns` are the names or indices of the columns to use, None for all. If `columns` is given,
    only these columns must be in all parts. `weights` is the name or index of the column with the
    weights, or None. `label` is the name of the source in messages.
    """
    first = parts[0]
    selected = _select_columns(first, columns, weights)
    known: dict[str, tuple[str, str]] = {}
    for part in parts:
        other = columns is None and sorted(part.labels) != sorted(first.labels)
        if other or part.named != first.named:
            raise differing(tuple(first.labels), tuple(part.labels), first.origin, part.origin)
        indices_of(selected, part.labels, part.origin)
        if not part.untyped:
            _check_types(part, selected, known)
    width = len(selected) - (weights is not None)
    if not width:
        raise InvalidInputError("the only column holds the weights; a sample needs another column")
    if weights is not None and (type_ := first.others.get(selected[-1])) is not None:
        refuse(first.origin, f"the weights in column {selected[-1]!r} are of type {type_}")
    single = all(set(selected) <= {*part.single, *part.others} for part in parts)
    single = single and any(set(selected) & {*part.single} for part in parts)
    return Source(
        n_features=width, columns=selected[:width] if first.named else None,
        dtype="float32" if single else "float64", weighted=weights is not None, chunk_rows=None,
        _parts=tuple(replace(part, labels=selected, single=()) for part in parts), _label=label,
    )  # fmt: skip


def _check_types(part: Part, selected: Sequence[str], known: dict[str, tuple[str, str]]) -> None:
    """Raise an error if a selected column is of another class in this part than in earlier parts.

    Classes are those of `class_of_type`. `known` maps the name of a column to its class and to the
    name of the first part in which the class is known. The columns of `part` are added to `known`.
    """
    for name in selected:
        found = class_of_type(part.others.get(name, "double"))
        if found is not None and part.n_rows != 0:
            before, origin = known.setdefault(name, (found, part.origin))
            if found != before:
                refuse(
                    part.origin,
                    f"column {name!r} is of type {part.others.get(name, 'number')}, but contains "
                    f"{before} in {origin}; convert one of them, or select other columns",
                )


def _select_columns(part: Part, columns: list[Any] | None, weights: Any) -> tuple[str, ...]:
    """Return the labels of the columns to read. The column of the weights is the last one.

    `columns` has the names or indices of the columns of `part` to use, None for all. `weights` is
    the name or index of the column with the weights, or None.
    """
    labels, origin = part.labels, part.origin
    last = [] if weights is None else indices_of([weights], labels, origin)
    if columns is None:
        indices = [index for index in range(len(labels)) if index not in last]
    else:
        indices = indices_of(columns, labels, origin)
    for index, count in Counter(indices + last).items():
        if count > 1:
            how = "for points and for weights" if index in last else "twice"
            raise InvalidInputError(f"column {labels[index]!r} is selected {how}; name it once")
    return tuple(labels[index] for index in indices + last)


def indices_of(names: Sequence[Any], labels: Sequence[str], origin: str) -> list[int]:
    """Return the indices in `labels` of columns that are given by name or index.

    Raise an error if a column does not exist. `origin` is the name of the data for the message.
    """
    known = {label: index for index, label in enumerate(labels)}
    indices = []
    for name in names:
        number = isinstance(name, int | np.integer) and not isinstance(name, bool)
        index = int(name) if number else known.get(name, -1)
        if not 0 <= index < len(labels):
            shown = listed([*map(repr, labels)])
            raise InvalidInputError(f"{origin} has no column {name!r}; its columns are {shown}")
        indices.append(index)
    return indices


# -- arrays, frames and functions -----------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """Part of a source that can be read independently: here an array or a data frame.

    Subclasses read files, functions and Dask partitions.

    Attributes
    ----------
    data : array, data frame, or the data of a subclass
    origin : str
        Name of the part in messages.
    labels : sequence of str
        Names of the columns to read, or their indices as strings if they have no names.
    named : bool
        Whether the columns have names.
    single : collection of str
        Labels of columns of type float32.
    n_rows : int or None
        Number of rows; None if it is not known before reading.
    others : dict
        Types of the columns that are not stored as numbers, by label: names of types of pyarrow,
        which start with "dictionary" for a categorical column. For a text file, the types in its
        first lines.
    only_single : bool
        Whether tables of another dtype are an error, because the first table is float32.
    place, offset : int
        Index of the file, array or partition, and index of the first row of this part in the file,
        array or partition. They determine the numbers of the rows, see `RawChunk.number`.
    untyped : bool
        Whether the types of the columns are not known before all rows have been read.
    decimal : str
        Decimal mark of the numbers in a text file.
    reader : Schema or None
        Numeric columns, if they must be converted to numbers.
    missing : tuple of str
        Strings that stand for missing values in `raw_chunks`, in addition to the usual ones.
    is_array : bool
        Whether the data are arrays, which have no names of columns, not data frames.
    large : bool
        Whether there are columns of integers beyond 2**53, which would be rounded as floats. Of
        files and functions only the first rows are examined.
    numbered : bool
        Whether integers may number the rows. Of files and functions only the first rows are
        examined.
    """

    data: Any
    origin: str
    labels: Sequence[str]
    named: bool
    single: Collection[str] = ()
    n_rows: int | None = None
    others: dict[str, str] = field(default_factory=dict)
    only_single: bool = False
    place: int = 0
    offset: int = 0
    untyped: bool = False
    decimal: str = "."
    reader: Any = None
    missing: tuple[str, ...] = ()
    is_array: bool = False
    large: bool = False
    numbered: bool = False

    #: Whether the part is computed by Dask.
    delayed: ClassVar[bool] = False

    @classmethod
    def like(cls, table: Any, origin: str, data: Any, n_rows: int | None) -> Self:
        """Return a part that reads `data`, with the columns and types of `table`.

        `table` is a pyarrow table or a `NamedArray`. `origin` and `n_rows` are attributes of the
        result.
        """
        if not isinstance(table, NamedArray):
            others = {
                field.name: str(field.type)
                for field in table.schema
                if class_of_type(str(field.type)) not in ("numbers", None)
            }
            floats = [field.name for field in table.schema if str(field.type) == "float"]
            named = table.column_names != numbered(table.num_columns)
            return cls(data, origin, table.column_names, named, floats, n_rows, others)
        labels = table.columns or tuple(numbered(table.points.shape[1]))
        single = list(labels) if table.points.dtype == np.float32 else []
        return cls(data, origin, labels, table.columns is not None, single, n_rows)

    def tables(self, rows: int, raw: bool = False) -> Iterator[tuple[Any, str, int]]:
        """Yield the data as tables, each with its name in messages and the index of its first row.

        Subclasses that read files yield tables of about `rows` rows. If `raw`, the columns of text
        files remain strings.
        """
        yield self.data, self.origin, 0

    def read(self, rows: int) -> Iterator[Chunk]:
        """Yield the columns `labels` as chunks of numbers, of at most `rows` rows each."""
        if self.reader is not None:
            for chunk in self.raw_chunks(rows):
                yield Chunk(self._converted(chunk), chunk.origin, chunk.start)
            return
        for table, origin, start in self.tables(rows):
            if has_other_types(table):
                table = self._selected(table, origin)
            values, names = _numbers_and_names(table, origin)
            if self.only_single and values.dtype != np.float32:
                raise InvalidInputError(
                    f"{origin} has dtype {values.dtype} after chunks of float32; choose "
                    "dtype='float64' or dtype='float32' of scan"
                )
            indices = indices_of(self.labels, names or numbered(values.shape[1]), origin)
            for first in range(0, len(values), rows):
                selected = np.take(values[first : first + rows], indices, axis=1)
                yield Chunk(selected, origin, start + first)

    def _converted(self, chunk: RawChunk) -> np.ndarray:
        """Return the columns of a chunk as numbers; a last column has the weights."""
        numbers = self.reader.table(chunk).numbers
        width = chunk.table.num_columns
        if width == numbers.shape[1]:
            return np.asarray(numbers)
        weights = chunk.table.column(width - 1)
        if chunk.decimal:
            weights = typed_column(weights, "double")
        return np.column_stack([numbers, weights.to_numpy()])

    def _selected(self, frame: Any, origin: str) -> Any:
        """Return a data frame with only the columns `labels`."""
        labels = labels_of(frame) or ()
        return select_columns(
            frame, tuple(labels[i] for i in indices_of(self.labels, labels, origin))
        )

    def raw_chunks(self, rows: int) -> Iterator[RawChunk]:
        """Yield the columns `labels` in the types in which they are stored.

        A chunk has at most `rows` rows.
        """
        decimal, number = self.decimal if self.untyped else "", self.offset
        for table, origin, _ in self.tables(rows, raw=True):
            frame = without_words(raw_table(table, origin), self.missing)
            frame = frame.select(indices_of(self.labels, frame.column_names, origin))
            for first in range(0, len(frame), rows):
                own = frame.slice(first, rows)
                yield RawChunk(own, origin, self.place, number + first, decimal)
            number += len(frame)


class CallPart(Part):
    """Part of a source that is a function, which returns a new iterator of chunks at each call."""

    def tables(self, rows: int, raw: bool = False) -> Iterator[tuple[Any, str, int]]:
        """Yield the chunks that the function returns. Row indices start at 0 in each chunk.

        Raise an error if the rows have changed since an earlier call. A change is noticed after the
        last chunk, except for a change of the first row.
        """
        n_rows = 0
        checksums: dict[str, int] = {}
        for number, chunk in enumerate(map(as_table, _new_iterator(self.data.make))):
            origin = f"chunk {number}"
            if not n_rows and _length(chunk):
                self.data.check_first_row(_first_row(chunk, number))
            n_rows += _length(chunk)
            if raw and has_other_types(chunk):
                chunk = raw_table(chunk, origin)  # converts strings only once
            add_to_checksums(checksums, chunk, origin)
            yield chunk, origin, 0
        self.data.check_rows(n_rows, checksums)


@dataclass
class RepeatedCall:
    """Function that returns an iterator of chunks, with properties of the rows of earlier calls.

    Attributes
    ----------
    make : function
    label : str
        Name of the function in messages.
    first_row : str
        Values of the first row.
    n_rows : int or None
        Number of rows; None before all chunks have been read.
    checksums : dict
        Checksums of the columns, see `add_to_checksums`; empty before all chunks have been read.
    """

    make: Callable[[], Any]
    label: str
    first_row: str
    n_rows: int | None = None
    checksums: dict[str, int] = field(default_factory=dict)

    def check_first_row(self, first_row: str) -> None:
        """Raise an error if the first row differs from that of earlier calls."""
        if first_row != self.first_row:
            raise changed_between_readings(self.label, "other values in the first row")

    def check_rows(self, n_rows: int, checksums: dict[str, int]) -> None:
        """Raise an error if the number of rows or the checksums differ from earlier calls."""
        # The first row was read when the source was created.
        if self.n_rows not in (None, n_rows) or not n_rows:
            before = "at least one row" if self.n_rows is None else f"{self.n_rows} rows"
            raise changed_between_readings(self.label, f"{before}, then {n_rows}")
        if self.n_rows is not None:
            column = different_column(self.checksums, checksums)
            if column is not None:
                where = f" in column {column!r}" if column else ""
                change = f"{n_rows} rows, then other values{where}"
                raise changed_between_readings(self.label, change)
        self.n_rows, self.checksums = n_rows, checksums


def changed_between_readings(label: str, change: str) -> InvalidInputError:
    """Return the error for a source whose rows have changed; `label` is its name."""
    return InvalidInputError(
        f"{label} has changed between two readings ({change}); the data are read several times and "
        "must stay the same: a function must give the same chunks at every call"
    )


def _length(table: Any) -> int:
    return len(table.points if isinstance(table, NamedArray) else table)


def _first_row(table: Any, number: int) -> str:
    """Return the values of the first row of chunk `number` as a string."""
    if isinstance(table, NamedArray):
        return repr(table.points[:1].tolist())
    first, origin = table[:1], f"chunk {number}"
    if not is_frame(first):
        return repr(np.asarray(first).tolist())
    if has_other_types(first):
        return repr(raw_table(first, origin).to_pylist())
    # Numbers are not converted to floats, which would warn of large integers at each reading.
    return repr(check_frame(first, origin).rows())


def _numbers_and_names(table: Any, origin: str) -> tuple[np.ndarray, tuple[str, ...] | None]:
    if is_frame(table):
        return read_frame(table, origin)
    values = np.asarray(table)
    if values.ndim != 2:
        raise InvalidInputError(
            f"{origin} must be a table of shape (n points, d columns), got an array "
            f"of shape {values.shape}"
        )
    return values, None


def as_table(data: Any) -> Any:
    """Return a pyarrow table for a record batch; other data are returned unchanged."""
    if not is_record_batch(data):
        return data
    import pyarrow as pa

    return pa.Table.from_batches([data])


def _numbers_or_frame(table: Any, origin: str) -> Any:
    """Return a `NamedArray` of numbers, or a pyarrow table if some columns are not numeric."""
    if has_other_types(table):
        frame = raw_table(table, origin)
        if any(class_of_type(str(type_)) != "numbers" for type_ in frame.schema.types):
            return frame
    return NamedArray(*_numbers_and_names(table, origin))


def array_parts(tables: Sequence[Any], names: Sequence[str]) -> list[Part]:
    """Return one part per nonempty array or data frame. If all are empty, return one empty part.

    `names` are the names of the tables in messages.
    """
    read = [_numbers_or_frame(table, name) for table, name in zip(tables, names, strict=True)]
    sizes = [len(each.points if isinstance(each, NamedArray) else each) for each in read]
    kept = [table if is_frame(table) else each for table, each in zip(tables, read, strict=True)]
    parts = [
        replace(Part.like(each, name, data, size), place=place)
        for place, (each, name, data, size) in enumerate(zip(read, names, kept, sizes, strict=True))
    ]
    parts = [
        replace(
            part,
            others=part.others,
            is_array=not is_frame(table),
            large=has_large_integers(table),
            numbered=may_number_rows(table),
        )
        for part, table in zip(parts, tables, strict=True)
    ]
    return [part for part in parts if part.n_rows] or parts[:1]


def call_part(make: Callable[[], Any], label: str, any_dtype: bool) -> Part:
    """Return a part that reads the chunks of the function `make`.

    The columns and dtype are those of the first nonempty chunk. If this chunk is float32, later
    chunks must be float32 as well, unless `any_dtype` is true. `label` is the name of the function
    in messages.
    """
    chunks = _new_iterator(make)
    if make() is chunks:
        raise InvalidInputError(
            f"{label} returns the same iterator at every call, and the data are read several "
            "times; return a new iterator"
        )
    for number, chunk in enumerate(map(as_table, chunks)):
        table = _numbers_or_frame(chunk, f"chunk {number}")
        if _length(table):
            call = RepeatedCall(make, label, _first_row(chunk, number))
            part = CallPart.like(table, label, call, None)
            single = isinstance(table, NamedArray) and table.points.dtype == np.float32
            others = part.others
            return replace(
                part, others=others, only_single=not any_dtype and single,
                is_array=not is_frame(chunk), large=has_large_integers(chunk),
                numbered=may_number_rows(chunk),
            )  # fmt: skip
    raise InvalidInputError(f"{label} returns no rows; a sample needs at least one row")


def _new_iterator(make: Callable[[], Any]) -> Iterator[Any]:
    chunks = make()
    try:
        return iter(chunks)
    except TypeError:
        raise InvalidInputError(
            "a function given to scan must return an iterator of chunks of shape (n, d), got "
            f"{type(chunks).__name__}"
        ) from None


#: Sample in memory, a source of `isodepth.scan`, or a Dask collection.
SampleLike: TypeAlias = TableLike | Source
