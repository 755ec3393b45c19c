"""Parts of a source: each knows how to read itself, again and again, wherever it is sent."""

from __future__ import annotations

import csv
import itertools
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from isodepth.data.extras import load_extra
from isodepth.data.frames import looks_like_frame, read_frame
from isodepth.errors import InvalidInputError, IsodepthError, UnreadableFileError


class RawChunk(NamedTuple):
    """Rows as they were read.

    Attributes
    ----------
    values : ndarray of shape (n, c)
        All columns that are used, that of the weights last where there is one.
    place : str
        Where they come from, for messages.
    first : int
        The number of the first row within that place.
    """

    values: np.ndarray
    place: str
    first: int


def refuse(path: Any, reason: str, cause: BaseException | None = None) -> IsodepthError:
    """The error for a file that cannot be used, in one line."""
    error = UnreadableFileError(f"cannot read {os.fspath(path)}: {' '.join(reason.split())}")
    error.__cause__ = cause
    return error


@dataclass(frozen=True)
class ParquetPart:
    """One row group of a file."""

    path: str
    group: int
    columns: tuple[str, ...]
    single: bool
    n_rows: int

    def read(self, rows: int) -> Iterator[RawChunk]:
        """The rows, at most so many at a time."""
        pq = load_extra("pyarrow.parquet", "frames", f"reading {self.path}")
        place = f"{self.path}, row group {self.group}"
        first = 0
        try:
            with pq.ParquetFile(self.path) as opened:
                batches = opened.iter_batches(
                    rows, row_groups=[self.group], columns=list(self.columns), use_threads=False
                )
                for batch in batches:
                    values = np.empty(
                        (batch.num_rows, len(self.columns)),
                        np.float32 if self.single else np.float64,
                    )
                    for position, name in enumerate(self.columns):
                        column = batch.column(batch.schema.get_field_index(name))
                        values[:, position] = column.to_numpy(zero_copy_only=False)
                    yield RawChunk(values, place, first)
                    first += batch.num_rows
        except IsodepthError:
            raise
        except Exception as error:
            # A flipped bit can surface as any error of pyarrow or of Python.
            raise refuse(place, f"it is damaged or not what it was ({error})", error) from error


@dataclass(frozen=True)
class CsvPart:
    """One file of numbers separated by commas."""

    path: str
    header_lines: int
    width: int
    places: tuple[int, ...]
    n_rows: int | None = None

    def read(self, rows: int) -> Iterator[RawChunk]:
        """The rows, at most so many at a time."""
        try:
            with open(self.path, encoding="utf-8-sig", newline="") as lines:
                for _ in range(self.header_lines):
                    next(lines)
                line = self.header_lines
                while block := list(itertools.islice(lines, rows)):
                    values = self._numbers(block, line)
                    line += len(block)
                    if len(values):
                        first = line - len(block) + 1
                        place = f"{self.path}, lines {first} to {line}"
                        yield RawChunk(values, place, 0)
        except OSError as error:
            raise refuse(self.path, error.strerror or str(error), error) from error
        except UnicodeDecodeError as error:
            raise refuse(self.path, "it is not UTF-8 text", error) from error

    def _numbers(self, block: list[str], before: int) -> np.ndarray:
        """The chosen columns of some lines, `before` being how many came before them."""
        filled = [line for line in block if line.strip()]
        if not filled:
            return np.empty((0, len(self.places)))
        # What else is in a line may be anything; but there must be as much of it in each.
        if all(line.count(",") == self.width - 1 for line in filled):
            try:
                return np.loadtxt(
                    filled, delimiter=",", comments=None, quotechar='"', ndmin=2,
                    usecols=self.places,
                )  # fmt: skip
            except ValueError:
                pass
        # Something is not a number, or is missing, or in quotes: walked again, cell by cell.
        result = np.empty((len(filled), len(self.places)))
        row = 0
        for number, text in enumerate(block, start=before + 1):
            if not text.strip():
                continue
            cells = next(csv.reader([text]), [])
            if len(cells) != self.width:
                reason = f"line {number} has {len(cells)} cells where {self.width} are expected"
                raise refuse(self.path, reason)
            for column, place in enumerate(self.places):
                cell = cells[place]
                try:
                    # An empty cell is a missing value, which nan_policy decides about.
                    result[row, column] = float(cell) if cell.strip() else np.nan
                except ValueError:
                    reason = f"line {number}, column {place + 1}: {cell!r} is not a number"
                    raise refuse(self.path, reason) from None
            row += 1
        return result


@dataclass(frozen=True)
class ArrayPart:
    """Some rows of an array, or of a memory map of a file, which is opened where it is read."""

    array: Any
    start: int
    stop: int
    places: tuple[int, ...] | None
    place: str

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.stop - self.start

    def read(self, rows: int) -> Iterator[RawChunk]:
        """The rows, at most so many at a time."""
        array = self.array
        if isinstance(array, str):
            from isodepth.data.readers import read_table

            array = read_table(array).points
        for first in range(self.start, self.stop, rows):
            block = np.asarray(array[first : min(first + rows, self.stop)])
            values = block if self.places is None else block[:, list(self.places)]
            yield RawChunk(values, self.place, first)


@dataclass(frozen=True)
class CallPart:
    """What a function of the caller gives: a fresh iterator of chunks at each call."""

    make: Callable[[], Any]
    columns: tuple[Any, ...] | None
    n_rows: int | None = None

    def read(self, rows: int) -> Iterator[RawChunk]:
        """The chunks, cut where they are longer than so many rows."""
        for number, chunk in enumerate(fresh_iterator(self.make)):
            values = numbers_of(chunk, self.columns, f"chunk {number}")
            for first in range(0, len(values), rows):
                yield RawChunk(values[first : first + rows], f"chunk {number}", first)


def fresh_iterator(make: Callable[[], Any]) -> Iterator[Any]:
    """What the function gives, which must be something to go through."""
    given = make()
    try:
        return iter(given)
    except TypeError:
        raise InvalidInputError(
            "a function given to scan must return an iterator of chunks of shape (n, d), got "
            f"{type(given).__name__}"
        ) from None


def numbers_of(chunk: Any, columns: tuple[Any, ...] | None, place: str) -> np.ndarray:
    """The numbers (n, c) of an array or a frame, in the columns asked for."""
    if looks_like_frame(chunk):
        values, names = read_frame(chunk, place)
        if columns is not None:
            labels = list(names or map(str, range(values.shape[1])))
            values = values[:, [place_of(name, labels, place) for name in columns]]
        return values
    values = np.asarray(chunk)
    if values.ndim != 2:
        raise InvalidInputError(
            f"{place} must be a table of shape (n points, d columns), got {values.ndim} "
            f"dimension(s) with shape {values.shape}"
        )
    if columns is not None:
        labels = [str(j) for j in range(values.shape[1])]
        values = values[:, [place_of(name, labels, place) for name in columns]]
    return values


def place_of(name: Any, labels: list[str], where: str) -> int:
    """The place of a column that is named, or numbered."""
    if isinstance(name, int | np.integer) and not isinstance(name, bool):
        if 0 <= name < len(labels):
            return int(name)
    elif name in labels:
        return labels.index(name)
    shown = ", ".join(map(repr, labels[:20])) + (", ..." if len(labels) > 20 else "")
    raise InvalidInputError(f"{where} has no column {name!r}; its columns are {shown}")


class ParquetHeader(NamedTuple):
    """What a file says about itself: its columns of numbers or not, and rows of its row groups."""

    path: str
    names: list[str]
    floats: frozenset[str]  # of single precision
    numbers: frozenset[str]
    kinds: dict[str, str]
    counts: list[int]

    def parts(self, columns: tuple[str, ...], single: bool) -> list[ParquetPart]:
        """The row groups, with those columns."""
        for name in columns:
            if name not in self.kinds:
                shown = ", ".join(map(repr, self.names[:20]))
                raise refuse(self.path, f"it has no column {name!r}; its columns are {shown}")
            if name not in self.numbers:
                reason = f"column {name!r} is of type {self.kinds[name]}, not a number type"
                raise refuse(self.path, reason)
        return [
            ParquetPart(self.path, group, columns, single, rows)
            for group, rows in enumerate(self.counts)
        ]


def parquet_header(path: Path) -> ParquetHeader:
    """Read what a file says about itself, and none of its rows."""
    pq = load_extra("pyarrow.parquet", "frames", f"reading {path}")
    from pyarrow import types

    try:
        with pq.ParquetFile(path) as opened:
            schema, metadata = opened.schema_arrow, opened.metadata
            counts = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
            if min(counts, default=0) < 0 or metadata.num_rows != sum(counts):
                raise ValueError(f"row groups of {counts[:5]} rows do not add up")
            index = (schema.pandas_metadata or {}).get("index_columns", [])
    except Exception as error:
        raise refuse(path, f"it is damaged or not a parquet file ({error})", error) from error
    names = [name for name in schema.names if name not in index]
    if len(set(names)) < len(names):
        raise refuse(path, "two columns have one name; give every column a name of its own")
    kinds = {name: schema.field(name).type for name in names}
    return ParquetHeader(
        path=str(path),
        names=names,
        floats=frozenset(name for name in names if types.is_float32(kinds[name])),
        numbers=frozenset(
            name
            for name, kind in kinds.items()
            if types.is_floating(kind) or types.is_integer(kind) or types.is_boolean(kind)
        ),
        kinds={name: str(kind) for name, kind in kinds.items()},
        counts=counts,
    )
