"""Samples that are read in chunks: arrays, functions and whatever else can be read in parts.

A `Source` is a tuple of parts; a part reads itself in chunks of float arrays, again and again,
wherever it is sent: it is small, and can be pickled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from isodepth.data.arrays import listed, numbered
from isodepth.data.frames import looks_like_frame, read_frame
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


def chunks_of(values: np.ndarray, origin: str, rows: int, first: int = 0) -> Iterator[Chunk]:
    """Chunks of at most so many of the rows (n, c), the first of which has the number `first`."""
    for start in range(0, len(values), rows):
        yield Chunk(values[start : start + rows], origin, first + start)


@dataclass(frozen=True, eq=False, repr=False)
class Source:
    """A sample that is read in chunks; made by :func:`isodepth.scan`.

    Attributes
    ----------
    parts : tuple
        What can be read by itself: row groups, files, arrays. A part has `columns`, the names or
        indices of those that it reads, `n_rows` (or None), and `read(rows)`, which gives chunks of
        at most so many rows.
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
            yield from part.read(rows if self.chunk_rows is None else min(rows, self.chunk_rows))

    def aligned(self, names: tuple[str, ...] | None) -> Source:
        """The same with its columns in the order of `names`, where both have names."""
        if names is None or self.columns is None or sorted(names) != sorted(self.columns):
            return self
        indices = {name: index for index, name in enumerate(self.columns)}
        order = [indices[name] for name in names]
        order += [self.n_features] if self.weighted else []
        parts = tuple(
            replace(part, columns=tuple(part.columns[index] for index in order))
            for part in self.parts
        )
        return replace(self, parts=parts, columns=names)

    def __repr__(self) -> str:
        rows = self.n_rows
        known = "rows" if rows is None else f"{rows} rows"
        return (
            f"Source({self.label}: {known}, {self.n_features} column(s), "
            f"{len(self.parts)} part(s), {self.dtype}{', weighted' if self.weighted else ''})"
        )


# -- columns --------------------------------------------------------------------------------------


class ColumnChoice(NamedTuple):
    """Which columns are the points, by name or number (None for all), and which the weights."""

    columns: list[Any] | None
    weights: Any

    def indices(self, labels: Sequence[str], where: str) -> list[int]:
        """The indices of the points' columns, and that of the weights last."""
        own = [] if self.weights is None else indices_of([self.weights], labels, where)
        if self.columns is None:
            return [index for index in range(len(labels)) if index not in own] + own
        indices = indices_of(self.columns, labels, where)
        if len(set(indices)) < len(indices):
            twice = next(index for index in indices if indices.count(index) > 1)
            raise InvalidInputError(
                f"column {labels[twice]!r} is asked for twice; name every column once"
            )
        if own and own[0] in indices:
            raise InvalidInputError(
                f"column {labels[own[0]]!r} is asked for both as a point's and as the weight; drop "
                "one of them"
            )
        return indices + own

    def source(
        self, parts: Sequence[Any], names: Sequence[str] | None, width: int, single: bool,
        label: str,
    ) -> Source:  # fmt: skip
        """A source of parts of `width` columns with these names, that of the weights included."""
        weighted = self.weights is not None
        width -= weighted
        if not width:
            raise InvalidInputError("there is no column left beside the weights")
        columns = None if names is None else tuple(names)[:width]
        dtype = "float32" if single else "float64"
        return Source(tuple(parts), width, columns, dtype, weighted, None, label)


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


def take_columns(values: np.ndarray, indices: Sequence[int]) -> np.ndarray:
    """The columns of an array at some indices; the array itself where these are all."""
    whole = list(indices) == list(range(values.shape[1]))
    return values if whole else values[:, list(indices)]


def numbers_of(chunk: Any, columns: tuple[Any, ...], origin: str) -> np.ndarray:
    """The numbers (n, c) of an array or a frame, in the columns chosen."""
    values, names = _read_chunk(chunk, origin)
    labels = names or numbered(values.shape[1])
    return take_columns(values, indices_of(columns, labels, origin))


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


# -- arrays and functions -------------------------------------------------------------------------


@dataclass(frozen=True)
class ArrayPart:
    """Some columns of an array."""

    array: Any
    columns: tuple[int, ...]
    origin: str

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.array)

    def read(self, rows: int) -> Iterator[Chunk]:
        """The rows, at most so many at a time."""
        for chunk in chunks_of(self.array, self.origin, rows):
            yield chunk._replace(values=take_columns(np.asarray(chunk.values), self.columns))


@dataclass(frozen=True)
class CallPart:
    """What a function of the caller gives: a fresh iterator of chunks at each call."""

    make: Callable[[], Any]
    columns: tuple[Any, ...]
    n_rows: int | None = None

    def read(self, rows: int) -> Iterator[Chunk]:
        """The chunks, cut where they are longer than so many rows."""
        for number, chunk in enumerate(_fresh_iterator(self.make)):
            origin = f"chunk {number}"
            yield from chunks_of(numbers_of(chunk, self.columns, origin), origin, rows)


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


def array_source(given: list[Any], choice: ColumnChoice, label: str) -> Source:
    """A source of arrays and frames with the same columns."""
    called = [label] if label == "array" else [f"chunk {i}" for i in range(len(given))]
    read = [_read_chunk(item, origin) for item, origin in zip(given, called, strict=True)]
    filled = [i for i, (array, _) in enumerate(read) if len(array)] or [0]
    first, names = read[filled[0]]
    labels = names or numbered(first.shape[1])
    indices = choice.indices(labels, called[filled[0]])
    for i in filled:
        array, own = read[i]
        if array.shape[1] != len(labels) or own != names:
            raise InvalidInputError(
                f"{called[i]} has {array.shape[1]} column(s) {listed(own or ())} where "
                f"{called[filled[0]]} has {len(labels)} {listed(names or ())}; give chunks of one "
                "table"
            )
    parts = [ArrayPart(read[i][0], tuple(indices), called[i]) for i in filled]
    single = all(part.array.dtype == np.float32 for part in parts)
    chosen = names and [labels[index] for index in indices]
    return choice.source(parts, chosen, len(indices), single, label)


def call_source(make: Callable[[], Any], choice: ColumnChoice) -> Source:
    """A source of what a function gives; its first rows are read here."""
    label = getattr(make, "__name__", type(make).__name__)
    given = _fresh_iterator(make)
    if make() is given:
        raise InvalidInputError(
            f"{label} gives the same iterator at every call, and the data are read several times; "
            "it must make a fresh one"
        )
    for number, chunk in enumerate(given):
        values, names = _read_chunk(chunk, f"chunk {number}")
        if not len(values):
            continue
        indices = choice.indices(names or numbered(values.shape[1]), f"chunk {number}")
        chosen = names and [names[index] for index in indices]
        part = CallPart(make, tuple(chosen or indices))
        return choice.source([part], chosen, len(indices), values.dtype == np.float32, label)
    raise InvalidInputError(f"{label} gives no rows; a sample needs at least one row")
