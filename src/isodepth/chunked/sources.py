"""Samples that are read in chunks: arrays, functions and whatever else can be read in parts.

A `Source` is a tuple of parts; a part reads itself in chunks of float arrays, again and again,
wherever it is sent: it is small, and can be pickled.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from isodepth.data.arrays import listed, numbered
from isodepth.data.frames import Table, looks_like_frame, read_frame
from isodepth.data.matching import differing
from isodepth.errors import InvalidInputError


class Chunk(NamedTuple):
    """Rows as they were read.

    Attributes
    ----------
    values : ndarray of shape (n, c)
        All columns that are used, that of the weights last where there is one.
    origin : str
        Where they come from, for messages.
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
    parts : tuple
        What can be read by itself: row groups, files, arrays. A part has `columns`, the labels of
        those that it reads, `n_rows` (or None), and `read(rows)`, which gives chunks of at most so
        many rows.
    n_features : int
        How many columns the points have, that of the weights not counted.
    columns : tuple of str or None
    dtype : {"float32", "float64"}
        float32 where all columns are, as in memory.
    weighted : bool
        Whether the last column that is read holds weights.
    chunk_rows : int or None
        The most rows to read at a time; None lets the memory decide.
    label : str
        How to call it in messages.
    """

    parts: tuple[Any, ...]
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
        counts = [part.n_rows for part in self.parts]
        return None if any(count is None for count in counts) else sum(counts)

    def chunks(self, rows: int) -> Iterator[Chunk]:
        """All chunks, of at most so many rows; can be called again and again."""
        for part in self.parts:
            yield from part.read(min(rows, self.chunk_rows or rows))

    def aligned(self, names: tuple[str, ...] | None) -> Source:
        """The same with its columns in the order of `names`, where both have names."""
        if names is None or self.columns is None or sorted(names) != sorted(self.columns):
            return self
        parts = [replace(p, columns=(*names, *p.columns[self.n_features :])) for p in self.parts]
        return replace(self, parts=tuple(parts), columns=names)

    def __repr__(self) -> str:
        rows = self.n_rows
        known = "rows" if rows is None else f"{rows} rows"
        return (
            f"Source({self.label}: {known}, {self.n_features} column(s), "
            f"{len(self.parts)} part(s), {self.dtype}{', weighted' if self.weighted else ''})"
        )


# -- columns --------------------------------------------------------------------------------------


class Header(NamedTuple):
    """What is known of a table before it is read.

    Attributes
    ----------
    origin : str
        How to call it in messages.
    labels : sequence of str
        Of all columns: their names, or numbers where they have none.
    named : bool
        Whether these are names.
    single : collection of str
        The labels of columns of type float32.
    parts : function
        From the labels of the columns to read to the parts that read them.
    """

    origin: str
    labels: Sequence[str]
    named: bool
    single: Collection[str]
    parts: Callable[[tuple[str, ...]], Sequence[Any]]


def source_of(
    tables: Sequence[Header], columns: list[Any] | None, weights: Any, label: str
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
    width = len(chosen) - (weights is not None)
    if not width:
        raise InvalidInputError("there is no column left beside the weights")
    parts = tuple(part for table in tables for part in table.parts(chosen))
    single = all(set(chosen) <= set(table.single) for table in tables)
    return Source(
        parts, width, chosen[:width] if first.named else None, "float32" if single else "float64",
        weights is not None, None, label,
    )  # fmt: skip


def _chosen(table: Header, columns: list[Any] | None, weights: Any) -> tuple[str, ...]:
    """The labels of the points' columns, and that of the weights last."""
    labels, where = table.labels, table.origin
    own = [] if weights is None else indices_of([weights], labels, where)
    indices = [index for index in range(len(labels)) if index not in own]
    if columns is not None:
        indices = indices_of(columns, labels, where)
    for index in indices:
        if indices.count(index) > 1:
            raise InvalidInputError(
                f"column {labels[index]!r} is asked for twice; name every column once"
            )
        if index in own:
            raise InvalidInputError(
                f"column {labels[index]!r} is asked for both as a point's and as the weight; drop "
                "one of them"
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
    """Some columns of an array or a frame."""

    data: Any
    columns: tuple[str, ...]
    origin: str
    n_rows: int | None = None

    def read(self, rows: int) -> Iterator[Chunk]:
        """The rows, at most so many at a time."""
        return self.cut(self.data, self.origin, rows)

    def cut(self, table: Any, origin: str, rows: int) -> Iterator[Chunk]:
        """The rows of an array or a frame in memory."""
        values, names = _read_chunk(table, origin)
        indices = indices_of(self.columns, names or numbered(values.shape[1]), origin)
        for first in range(0, len(values), rows):
            yield Chunk(np.take(values[first : first + rows], indices, axis=1), origin, first)


class CallPart(Part):
    """What a function of the caller gives: a fresh iterator of chunks at each call."""

    def read(self, rows: int) -> Iterator[Chunk]:
        """The chunks, cut where they are longer than so many rows."""
        for number, chunk in enumerate(_fresh_iterator(self.data)):
            yield from self.cut(chunk, f"chunk {number}", rows)


def _read_chunk(chunk: Any, origin: str) -> tuple[np.ndarray, tuple[str, ...] | None]:
    if looks_like_frame(chunk):
        return read_frame(chunk, origin)
    values = np.asarray(chunk)
    if values.ndim != 2:
        raise InvalidInputError(
            f"{origin} must be a table of shape (n points, d columns), got {values.ndim} "
            f"dimension(s) with shape {values.shape}"
        )
    return values, None


def _header(
    values: np.ndarray, names: Any, origin: str, kind: type[Part], data: Any, n_rows: int | None
) -> Header:
    """That of an array with these names, or None; `data` is what the parts of that kind read."""
    labels = names or tuple(numbered(values.shape[1]))
    single = labels if values.dtype == np.float32 else ()
    return Header(
        origin, labels, names is not None, single, lambda own: [kind(data, own, origin, n_rows)]
    )


def array_tables(given: list[Any], called: list[str]) -> list[Header]:
    """Arrays and frames; empty ones only where all are."""
    tables = [(*_read_chunk(item, name), name) for item, name in zip(given, called, strict=True)]
    filled = [table for table in tables if len(table[0])] or tables[:1]
    return [_header(*table, Part, Table(*table[:2]), len(table[0])) for table in filled]


def _fresh_iterator(make: Callable[[], Any]) -> Iterator[Any]:
    """What the function gives, which must be something to go through."""
    given = make()
    try:
        return iter(given)
    except TypeError:
        raise InvalidInputError(
            "a function given to scan must return an iterator of chunks of shape (n, d), got "
            f"{type(given).__name__}"
        ) from None


def call_table(make: Callable[[], Any], label: str) -> Header:
    """What a function gives; its first rows are read here."""
    given = _fresh_iterator(make)
    if make() is given:
        raise InvalidInputError(
            f"{label} gives the same iterator at every call, and the data are read several times; "
            "it must make a fresh one"
        )
    for number, chunk in enumerate(given):
        values, names = _read_chunk(chunk, f"chunk {number}")
        if len(values):
            return _header(values, names, f"chunk {number}", CallPart, make, None)
    raise InvalidInputError(f"{label} gives no rows; a sample needs at least one row")
