"""Sources, which are samples that are read in chunks: from arrays, data frames and functions.

A `Source` consists of parts, such as files or arrays. A part can be read repeatedly, in chunks. A
part can be pickled if its data can be pickled, so that another machine can read it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from isodepth.data.arrays import listed, numbered
from isodepth.data.frames import Table, differing, is_frame, read_frame
from isodepth.data.input_file import refuse
from isodepth.errors import InvalidInputError


class Chunk(NamedTuple):
    """Rows as they were read, before validation.

    Attributes
    ----------
    values : ndarray of shape (n, c)
        All selected columns. The last column has the weights, if there are any.
    origin : str
        Name of the file, array or partition in messages.
    first : int
        Index of the first row of the chunk in this file, array or partition.
    """

    values: np.ndarray
    origin: str
    first: int


@dataclass(frozen=True, eq=False)
class Source:
    """A sample that is read in chunks; created by :func:`isodepth.scan`.

    Attributes
    ----------
    parts : tuple of Part
        Objects that are read independently: row groups, files, arrays.
    n_features : int
        Number of columns of the points, without the weights.
    columns : tuple of str or None
    dtype : {"float32", "float64"}
        Precision of the computation, the option `dtype` of `scan`.
    weighted : bool
        Whether the last column that is read holds weights.
    chunk_rows : int or None
        Maximum number of rows to read at a time; None if it depends on the memory limit.
    label : str
        Name of the source in messages.
    """

    parts: tuple[Part, ...]
    n_features: int
    columns: tuple[str, ...] | None
    dtype: str
    weighted: bool
    chunk_rows: int | None
    label: str

    #: Attribute by which `isodepth.data.validation.is_chunked` recognizes sources.
    reads_in_chunks: ClassVar[bool] = True

    @property
    def n_rows(self) -> int | None:
        """Number of rows; None if it is not known before reading."""
        counts = [part.n_rows for part in self.parts if part.n_rows is not None]
        return sum(counts) if len(counts) == len(self.parts) else None

    def chunks(self, rows: int) -> Iterator[Chunk]:
        """Yield all chunks, of at most `rows` rows each."""
        for part in self.parts:
            yield from part.read(min(rows, self.chunk_rows or rows))

    def select(self, names: tuple[str, ...]) -> Source:
        """Return a source with only the columns `names` and the weights, in the given order."""
        parts = [replace(p, labels=(*names, *p.labels[self.n_features :])) for p in self.parts]
        return replace(self, parts=tuple(parts), columns=names, n_features=len(names))

    def aligned(self, names: tuple[str, ...] | None) -> Source:
        """Return the source with its columns in the order of `names`.

        The source is returned unchanged if its column names differ from `names`.
        """
        if names is None or self.columns is None or sorted(names) != sorted(self.columns):
            return self
        return self.select(names)

    def __repr__(self) -> str:
        rows = "rows" if self.n_rows is None else f"{self.n_rows} rows"
        return (
            f"Source({self.label}: {rows}, {self.n_features} column(s), "
            f"{len(self.parts)} part(s), {self.dtype}{', weighted' if self.weighted else ''})"
        )


# -- columns --------------------------------------------------------------------------------------


def source_of(parts: Sequence[Part], columns: list[Any] | None, weights: Any, label: str) -> Source:
    """Create a source from parts, and check that all parts have the same columns, in any order.

    `columns` are the names or indices of the columns to use, None for all. If `columns` is given,
    only these columns must be in all parts. `weights` is the name or index of the column with the
    weights, or None.
    """
    first = parts[0]
    selected = _select_columns(first, columns, weights)
    for part in parts:
        other = columns is None and sorted(part.labels) != sorted(first.labels)
        if other or part.named != first.named:
            raise differing(tuple(first.labels), tuple(part.labels), first.origin, part.origin)
        indices_of(selected, part.labels, part.origin)
        for name in set(selected) & set(part.non_numeric):
            refuse(part.origin, f"column {name!r} is of type {part.non_numeric[name]}, not numbers")
    width = len(selected) - (weights is not None)
    if not width:
        raise InvalidInputError("the only column holds the weights; a sample needs another column")
    single = all(set(selected) <= set(part.single) for part in parts)
    return Source(
        tuple(replace(part, labels=selected, single=(), non_numeric={}) for part in parts), width,
        selected[:width] if first.named else None, "float32" if single else "float64",
        weights is not None, None, label,
    )  # fmt: skip


def _select_columns(part: Part, columns: list[Any] | None, weights: Any) -> tuple[str, ...]:
    """Return the labels of the columns to read. The column of the weights is the last one."""
    labels, origin = part.labels, part.origin
    last = [] if weights is None else indices_of([weights], labels, origin)
    if columns is None:
        indices = [index for index in range(len(labels)) if index not in last]
    else:
        indices = indices_of(columns, labels, origin)
    for index in indices:
        if (indices + last).count(index) > 1:
            how = "for points and for weights" if index in last else "twice"
            raise InvalidInputError(f"column {labels[index]!r} is selected {how}; name it once")
    return tuple(labels[index] for index in indices + last)


def indices_of(names: Sequence[Any], labels: Sequence[str], origin: str) -> list[int]:
    """Return the indices of columns that are given by name or index, and check that they exist."""
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
    non_numeric : dict
        Types of the non-numeric columns, by label.
    only_single : bool
        Whether tables of another dtype are an error, because the first table is float32.
    """

    data: Any
    origin: str
    labels: Sequence[str]
    named: bool
    single: Collection[str] = ()
    n_rows: int | None = None
    non_numeric: dict[str, Any] = field(default_factory=dict)
    only_single: bool = False

    @classmethod
    def like(cls, values: np.ndarray, names: Any, origin: str, data: Any, n_rows: Any) -> Self:
        """Return a part that reads `data`, with the columns and dtype of the array `values`.

        `names` are the names of the columns, or None.
        """
        labels = names or tuple(numbered(values.shape[1]))
        single = labels if values.dtype == np.float32 else ()
        return cls(data, origin, labels, names is not None, single, n_rows)

    def tables(self, rows: int) -> Iterator[tuple[Any, str, int]]:
        """Yield the data as tables, each with its name in messages and its first row index."""
        yield self.data, self.origin, 0

    def read(self, rows: int) -> Iterator[Chunk]:
        """Yield chunks of the selected columns, of at most `rows` rows each."""
        for table, origin, start in self.tables(rows):
            values, names = _values_and_names(table, origin)
            if self.only_single and values.dtype != np.float32:
                raise InvalidInputError(
                    f"{origin} has dtype {values.dtype} after chunks of float32; choose "
                    "dtype='float64' or dtype='float32' of scan"
                )
            indices = indices_of(self.labels, names or numbered(values.shape[1]), origin)
            for first in range(0, len(values), rows):
                selected = np.take(values[first : first + rows], indices, axis=1)
                yield Chunk(selected, origin, start + first)


class CallPart(Part):
    """Part of a source that is a function, which returns a new iterator of chunks at each call."""

    def tables(self, rows: int) -> Iterator[tuple[Any, str, int]]:
        """Call the function and yield its chunks, each with its name and its first row index, 0."""
        for number, chunk in enumerate(_new_iterator(self.data)):
            yield chunk, f"chunk {number}", 0


def _values_and_names(table: Any, origin: str) -> tuple[np.ndarray, tuple[str, ...] | None]:
    if is_frame(table):
        return read_frame(table, origin)
    values = np.asarray(table)
    if values.ndim != 2:
        raise InvalidInputError(
            f"{origin} must be a table of shape (n points, d columns), got an array "
            f"of shape {values.shape}"
        )
    return values, None


def array_parts(tables: Sequence[Any], names: Sequence[str]) -> list[Part]:
    """Return one part per nonempty array or data frame. If all are empty, return one empty part."""
    read = [(*_values_and_names(table, n), n) for table, n in zip(tables, names, strict=True)]
    filled = [table for table in read if len(table[0])] or read[:1]
    return [Part.like(*table, Table(*table[:2]), len(table[0])) for table in filled]


def call_part(make: Callable[[], Any], label: str, any_dtype: bool) -> Part:
    """Return a part that reads the chunks of the function `make`.

    The columns and dtype are those of the first nonempty chunk. If this chunk is float32, later
    chunks must be float32 as well, unless `any_dtype` is true.
    """
    chunks = _new_iterator(make)
    if make() is chunks:
        raise InvalidInputError(
            f"{label} returns the same iterator at every call, and the data are read several "
            "times; return a new iterator"
        )
    for number, chunk in enumerate(chunks):
        values, names = _values_and_names(chunk, f"chunk {number}")
        if len(values):
            part = CallPart.like(values, names, f"chunk {number}", make, None)
            return replace(part, only_single=not any_dtype and values.dtype == np.float32)
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
