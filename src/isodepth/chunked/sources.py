"""Samples that are read in chunks: arrays, data frames and functions.

A `Source` is a tuple of parts. A part can be read repeatedly, in chunks of float arrays. It is
small and can be pickled, so that it can be read on another machine.
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
    """Rows as they were read.

    Attributes
    ----------
    values : ndarray of shape (n, c)
        All columns that are used; weights are the last column.
    origin : str
        Name of the data in messages.
    first : int
        The number of the first row within that origin.
    """

    values: np.ndarray
    origin: str
    first: int


@dataclass(frozen=True, eq=False, repr=False)
class Source:
    """A sample that is read in chunks; made by :func:`isodepth.scan`.

    Attributes
    ----------
    parts : tuple of Part
        Units that are read independently: row groups, files, arrays.
    n_features : int
        Number of columns of the points, without the weights.
    columns : tuple of str or None
    dtype : {"float32", "float64"}
        float32 if all columns are float32, as in memory.
    weighted : bool
        Whether the last column that is read holds weights.
    chunk_rows : int or None
        The most rows to read at a time; None lets the memory decide.
    label : str
        How to call it in messages.
    """

    parts: tuple[Part, ...]
    n_features: int
    columns: tuple[str, ...] | None
    dtype: str
    weighted: bool
    chunk_rows: int | None
    label: str

    #: How `Metric` knows one without knowing of this module.
    reads_in_chunks: ClassVar[bool] = True

    @property
    def n_rows(self) -> int | None:
        """How many rows there are, where that is known before reading."""
        counts = [part.n_rows for part in self.parts if part.n_rows is not None]
        return sum(counts) if len(counts) == len(self.parts) else None

    def chunks(self, rows: int) -> Iterator[Chunk]:
        """Yield all chunks, of at most `rows` rows each."""
        for part in self.parts:
            yield from part.read(min(rows, self.chunk_rows or rows))

    def aligned(self, names: tuple[str, ...] | None) -> Source:
        """The same with its columns in the order of `names`, where both have names."""
        if names is None or self.columns is None or sorted(names) != sorted(self.columns):
            return self
        parts = [replace(p, labels=(*names, *p.labels[self.n_features :])) for p in self.parts]
        return replace(self, parts=tuple(parts), columns=names)

    def __repr__(self) -> str:
        rows = self.n_rows
        known = "rows" if rows is None else f"{rows} rows"
        return (
            f"Source({self.label}: {known}, {self.n_features} column(s), "
            f"{len(self.parts)} part(s), {self.dtype}{', weighted' if self.weighted else ''})"
        )


# -- columns --------------------------------------------------------------------------------------


def source_of(
    tables: Sequence[Part], columns: list[Any] | None, weights: Any, label: str
) -> Source:
    """A source of tables with the same columns, in whatever order.

    `columns` are those of the points, by name or number (None for all), `weights` is that of the
    weights.
    """
    first = tables[0]
    chosen = _chosen(first, columns, weights)
    for table in tables:
        other = columns is None and sorted(table.labels) != sorted(first.labels)
        if other or table.named != first.named:
            both = tuple(first.labels), tuple(table.labels)
            raise differing(*both, first.origin, table.origin)
        indices_of(chosen, table.labels, table.origin)
        for name in set(chosen) & set(table.texts):
            refuse(table.origin, f"column {name!r} is of type {table.texts[name]}, not numbers")
    width = len(chosen) - (weights is not None)
    if not width:
        raise InvalidInputError("the only column holds the weights; a sample needs another column")
    single = all(set(chosen) <= set(table.single) for table in tables)
    return Source(
        tuple(replace(table, labels=chosen, single=(), texts={}) for table in tables), width,
        chosen[:width] if first.named else None, "float32" if single else "float64",
        weights is not None, None, label,
    )  # fmt: skip


def _chosen(table: Part, columns: list[Any] | None, weights: Any) -> tuple[str, ...]:
    """The labels of the points' columns, and that of the weights last."""
    labels, where = table.labels, table.origin
    own = [] if weights is None else indices_of([weights], labels, where)
    indices = [index for index in range(len(labels)) if index not in own]
    if columns is not None:
        indices = indices_of(columns, labels, where)
    for index in indices:
        if (indices + own).count(index) > 1:
            how = "both as a point's and as the weight" if index in own else "twice"
            raise InvalidInputError(
                f"column {labels[index]!r} is asked for {how}; name every column once"
            )
    return tuple(labels[index] for index in indices + own)


def indices_of(names: Sequence[Any], labels: Sequence[str], where: str) -> list[int]:
    """The indices of columns that are named, or numbered."""
    known = {label: index for index, label in enumerate(labels)}
    indices = []
    for name in names:
        number = isinstance(name, int | np.integer) and not isinstance(name, bool)
        index = int(name) if number else known.get(name, -1)
        if not 0 <= index < len(labels):
            shown = listed([*map(repr, labels)])
            raise InvalidInputError(f"{where} has no column {name!r}; its columns are {shown}")
        indices.append(index)
    return indices


# -- arrays, frames and functions -----------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """An array or a frame, or what it is read from.

    Attributes
    ----------
    data : array, data frame, or what a subclass reads
    origin : str
        How to call it in messages.
    labels : sequence of str
        Of the columns to read, all at first: their names, or numbers where they have none.
    named : bool
        Whether these are names.
    single : collection of str
        The labels of columns of type float32.
    n_rows : int or None
    texts : dict
        The columns that hold no numbers, and their types.
    """

    data: Any
    origin: str
    labels: Sequence[str]
    named: bool
    single: Collection[str] = ()
    n_rows: int | None = None
    texts: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def like(cls, values: np.ndarray, names: Any, origin: str, data: Any, n_rows: Any) -> Self:
        """Return the part that reads `data`, with the columns of `values` and their `names`."""
        labels = names or tuple(numbered(values.shape[1]))
        single = labels if values.dtype == np.float32 else ()
        return cls(data, origin, labels, names is not None, single, n_rows)

    def tables(self, rows: int) -> Iterator[tuple[Any, str, int]]:
        """Arrays and frames, how to call each of them, and the number of its first row."""
        yield self.data, self.origin, 0

    def read(self, rows: int) -> Iterator[Chunk]:
        """Yield chunks of the selected columns, of at most `rows` rows each."""
        for table, origin, start in self.tables(rows):
            values, names = _read_chunk(table, origin)
            indices = indices_of(self.labels, names or numbered(values.shape[1]), origin)
            for first in range(0, len(values), rows):
                some = np.take(values[first : first + rows], indices, axis=1)
                yield Chunk(some, origin, start + first)


@dataclass(frozen=True)
class CallPart(Part):
    """Function that returns a fresh iterator of chunks at each call.

    Attributes
    ----------
    only_single : bool
        Whether all chunks must be float32, as the first one is.
    """

    only_single: bool = False

    def read(self, rows: int) -> Iterator[Chunk]:
        """Read the chunks, at most `rows` rows at a time."""
        for chunk in super().read(rows):
            if self.only_single and chunk.values.dtype != np.float32:
                raise InvalidInputError(
                    f"{chunk.origin} has dtype {chunk.values.dtype} after chunks of float32; "
                    "choose dtype='float64' or dtype='float32' of scan"
                )
            yield chunk

    def tables(self, rows: int) -> Iterator[tuple[Any, str, int]]:
        """The chunks."""
        for number, chunk in enumerate(_fresh_iterator(self.data)):
            yield chunk, f"chunk {number}", 0


def _read_chunk(chunk: Any, origin: str) -> tuple[np.ndarray, tuple[str, ...] | None]:
    if is_frame(chunk):
        return read_frame(chunk, origin)
    values = np.asarray(chunk)
    if values.ndim != 2:
        raise InvalidInputError(
            f"{origin} must be a table of shape (n points, d columns), got {values.ndim} "
            f"dimension(s) with shape {values.shape}"
        )
    return values, None


def array_parts(given: list[Any], called: list[str]) -> list[Part]:
    """Return the parts of arrays and frames; empty ones only if all are empty."""
    tables = [(*_read_chunk(item, name), name) for item, name in zip(given, called, strict=True)]
    filled = [table for table in tables if len(table[0])] or tables[:1]
    return [Part.like(*table, Table(*table[:2]), len(table[0])) for table in filled]


def _fresh_iterator(make: Callable[[], Any]) -> Iterator[Any]:
    """Call a function that must return an iterable."""
    given = make()
    try:
        return iter(given)
    except TypeError:
        raise InvalidInputError(
            "a function given to scan must return an iterator of chunks of shape (n, d), got "
            f"{type(given).__name__}"
        ) from None


def call_part(make: Callable[[], Any], label: str, any_dtype: bool) -> Part:
    """Return the part of a function that makes chunks, after a look at its first rows.

    All chunks must have one precision, unless `any_dtype`.
    """
    given = _fresh_iterator(make)
    if make() is given:
        raise InvalidInputError(
            f"{label} gives the same iterator at every call, and the data are read several times; "
            "it must make a fresh one"
        )
    for number, chunk in enumerate(given):
        values, names = _read_chunk(chunk, f"chunk {number}")
        if len(values):
            part = CallPart.like(values, names, f"chunk {number}", make, None)
            return replace(part, only_single=not any_dtype and values.dtype == np.float32)
    raise InvalidInputError(f"{label} gives no rows; a sample needs at least one row")
