"""Samples that are read in chunks: files, folders, arrays and functions as one kind of source.

A `Source` is a tuple of parts; a part reads itself in chunks of float arrays, again and again,
wherever it is sent: it is small, and can be pickled.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from isodepth.data.csv_files import check_distinct, csv_chunks, csv_format
from isodepth.data.frames import Table, looks_like_frame, read_frame
from isodepth.data.input_file import (
    ARROW_ENDINGS,
    ENDINGS,
    TEXT_ENDINGS,
    InputFile,
    open_input,
    refuse,
    table_files,
)
from isodepth.data.matching import differing
from isodepth.data.read_options import listed, numbered
from isodepth.data.readers import (
    array_of,
    arrow_table,
    holds_numbers,
    parquet_row_counts,
    refuse_damaged,
    without_index,
)
from isodepth.data.validation import check_choice, check_integer
from isodepth.errors import InvalidInputError


class Chunk(NamedTuple):
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


@dataclass(frozen=True, eq=False, repr=False)
class Source:
    """A sample that is read in chunks; made by :func:`isodepth.scan`.

    Attributes
    ----------
    parts : tuple
        What can be read by itself: row groups, files, arrays. A part has `n_rows` (or None) and
        `read(rows)`, which gives chunks of at most so many rows.
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
        if names is None or self.columns is None or self.columns == names:
            return self
        if sorted(names) != sorted(self.columns):
            return self
        places = {name: place for place, name in enumerate(self.columns)}
        order = [places[name] for name in names]
        order += [self.n_features] if self.weighted else []
        parts = tuple(_Reordered(part, tuple(order)) for part in self.parts)
        return replace(self, parts=parts, columns=names)

    def __repr__(self) -> str:
        rows = self.n_rows
        known = "rows" if rows is None else f"{rows} rows"
        return (
            f"Source({self.label}: {known}, {self.n_features} column(s), "
            f"{len(self.parts)} part(s), {self.dtype}{', weighted' if self.weighted else ''})"
        )


@dataclass(frozen=True)
class _Reordered:
    part: Any
    order: tuple[int, ...]

    @property
    def n_rows(self) -> int | None:
        return self.part.n_rows

    def read(self, rows: int) -> Iterator[Chunk]:
        for chunk in self.part.read(rows):
            yield chunk._replace(values=chunk.values[:, list(self.order)])


def scan(
    data: Any,
    columns: Sequence[Any] | None = None,
    *,
    weights: Any = None,
    dtype: str | None = None,
    chunk_rows: int | None = None,
) -> Source:
    """A sample that does not fit into memory, to be read in chunks.

    The source is taken by :func:`isodepth.distance`, :func:`isodepth.compare`,
    :meth:`isodepth.Metric.table`, :func:`isodepth.tables` and :func:`isodepth.pairwise` wherever
    they take an array. Nothing but headers is read before.

    Parameters
    ----------
    data : str, path, array, sequence of these, callable, or Dask collection
        * a ``.csv``, ``.tsv``, ``.parquet``, ``.feather``, ``.npy`` or ``.npz`` file, also with
          ``.gz``, or a folder of such files, all of which are read; names that begin with a dot, an
          underscore or "readme" are left alone, and any other file in the folder is an error;
        * an array, a memory map or a data frame;
        * a list of files, or of arrays and frames, of any lengths, also 0;
        * a function without arguments that gives a fresh iterator of chunks at each call: data are
          read several times, so a bare generator is refused;
        * a `dask.array` or `dask.dataframe` (extra ``dask``).

        ``.npz`` and compressed files other than text are held in memory while they are read.
    columns : sequence of str or int, or None
        Which columns are the points; None for all (but that of the weights).
    weights : str, int or None
        The column that holds the weight of each row.
    dtype : {"float32", "float64"} or None
        Precision; None keeps float32 where all columns are and takes float64 otherwise.
    chunk_rows : int or None
        The most rows to read at a time; None lets `memory_mb` of the metric decide.

    Returns
    -------
    source : Source

    Examples
    --------
    >>> import numpy as np, isodepth
    >>> rng = np.random.default_rng(0)
    >>> chunks = [rng.normal(size=(n, 2)) for n in (300, 0, 5, 700)]
    >>> source = isodepth.scan(chunks)
    >>> source
    Source(list of 4: 1005 rows, 2 column(s), 3 part(s), float64)
    >>> whole = np.concatenate(chunks)
    >>> options = {"levels": 10, "n_directions": 50, "random_state": 0}
    >>> in_chunks = isodepth.distance(source, isodepth.scan([whole + 3]), **options)
    >>> bool(np.isclose(in_chunks, isodepth.distance(whole, whole + 3, refine=0, **options)))
    True
    """
    if dtype is not None:
        check_choice(dtype, "dtype", ("float32", "float64"))
    if chunk_rows is not None:
        check_integer(chunk_rows, "chunk_rows", 1)
    if isinstance(columns, str):
        raise InvalidInputError(
            f"columns must be a sequence of names, got {columns!r}; write [{columns!r}]"
        )
    wanted = None if columns is None else list(columns)
    if wanted is not None and not wanted:
        raise InvalidInputError("columns is empty: a sample needs at least one column")
    source = _opened(data, wanted, weights)
    return replace(source, dtype=dtype or source.dtype, chunk_rows=chunk_rows)


def as_source(data: Any) -> Source:
    """A source as it is, a Dask collection or anything else as a source."""
    return data if isinstance(data, Source) else scan(data)


def _opened(data: Any, columns: list[Any] | None, weights: Any) -> Source:
    if isinstance(data, Source):
        raise InvalidInputError("this is a source already; give it to distance or Metric.table")
    if type(data).__module__.partition(".")[0] in ("dask", "dask_expr"):
        from isodepth.chunked.dask import dask_source

        return dask_source(data, columns, weights)
    if isinstance(data, str | os.PathLike):
        return _from_files([data], columns, weights, str(data))
    if isinstance(data, Iterator):
        raise InvalidInputError(
            f"a {type(data).__name__} can be gone through once, and the data are read several "
            "times; give a function that makes a fresh one, such as scan(lambda: make_chunks()), "
            "or a list of chunks"
        )
    if isinstance(data, np.ndarray | Table) or looks_like_frame(data):
        return _from_arrays([data], columns, weights, "array")
    if isinstance(data, list | tuple):
        if not data:
            raise InvalidInputError("scan got an empty list; a sample needs at least one row")
        if all(isinstance(item, str | os.PathLike) for item in data):
            return _from_files(data, columns, weights, f"list of {len(data)}")
        return _from_arrays(list(data), columns, weights, f"list of {len(data)}")
    if callable(data):
        return _from_call(data, columns, weights)
    raise InvalidInputError(
        f"scan takes a file or folder, an array, a list of these, a function that gives chunks, or "
        f"a Dask collection, got {type(data).__name__}"
    )


# -- columns --------------------------------------------------------------------------------------


def places_of(names: Sequence[Any], labels: Sequence[str], where: str) -> list[int]:
    """The places of columns that are named, or numbered."""
    known = {label: place for place, label in enumerate(labels)}
    places = []
    for name in names:
        number = isinstance(name, int | np.integer) and not isinstance(name, bool)
        place = int(name) if number else known.get(name, -1)
        if not 0 <= place < len(labels):
            shown = listed([*map(repr, labels)])
            raise InvalidInputError(f"{where} has no column {name!r}; its columns are {shown}")
        places.append(place)
    return places


def chosen_places(
    labels: Sequence[str], columns: list[Any] | None, weights: Any, where: str
) -> list[int]:
    """The places of the points' columns, and that of the weights last."""
    own = [] if weights is None else places_of([weights], labels, where)
    if columns is None:
        return [place for place in range(len(labels)) if place not in own] + own
    places = places_of(columns, labels, where)
    if len(set(places)) < len(places):
        twice = next(place for place in places if places.count(place) > 1)
        raise InvalidInputError(
            f"column {labels[twice]!r} is asked for twice; name every column once"
        )
    if own and own[0] in places:
        raise InvalidInputError(
            f"column {labels[own[0]]!r} is asked for both as a point's and as the weight; drop one "
            "of them"
        )
    return places + own


def numbers_of(chunk: Any, columns: tuple[Any, ...] | None, place: str) -> np.ndarray:
    """The numbers (n, c) of an array or a frame, in the columns asked for."""
    values, names = _read_chunk(chunk, place)
    if columns is None:
        return values
    labels = names or numbered(values.shape[1])
    return values[:, places_of(columns, labels, place)]


def _read_chunk(chunk: Any, place: str) -> tuple[np.ndarray, tuple[str, ...] | None]:
    if looks_like_frame(chunk):
        return read_frame(chunk, place)
    values = np.asarray(chunk)
    if values.ndim != 2:
        raise InvalidInputError(
            f"{place} must be a table of shape (n points, d columns), got {values.ndim} "
            f"dimension(s) with shape {values.shape}"
        )
    return values, None


def _source_of(
    parts: Sequence[Any], names: Sequence[str] | None, width: int, single: bool, weighted: bool,
    label: str,
) -> Source:  # fmt: skip
    """A source of parts of `width` columns, that of the weights included."""
    width -= weighted
    if not width:
        raise InvalidInputError("there is no column left beside the weights")
    columns = None if names is None else tuple(names)[:width]
    dtype = "float32" if single else "float64"
    return Source(tuple(parts), width, columns, dtype, weighted, None, label)


# -- files ----------------------------------------------------------------------------------------


class _Header(NamedTuple):
    """What a file says about itself: names and types of columns, and rows of its parts."""

    names: list[str] | None
    width: int
    kinds: list[Any] | None
    counts: Sequence[int | None]

    @property
    def labels(self) -> list[str]:
        return self.names or numbered(self.width)


@dataclass(frozen=True)
class FilePart:
    """A file, or one row group of a parquet file; some of its columns.

    Attributes
    ----------
    path : str
    group : int
        Which row group.
    columns : tuple of str or int
        Names of columns in files of Arrow, places in others.
    n_rows : int or None
    version : tuple of int
        Size and time of change when it was opened: a file that changes between two passes would
        give a number that no version of it has.
    """

    path: str
    group: int
    columns: tuple[Any, ...]
    n_rows: int | None
    version: tuple[int, int]

    def read(self, rows: int) -> Iterator[Chunk]:
        """The rows, at most so many at a time."""
        file = open_input(self.path)
        if _version_of(str(file.path)) != self.version:
            refuse(self.path, "it has been changed since it was opened; open it again with scan")
        place = f"{self.path}, row group {self.group}" if file.ending == ".parquet" else self.path
        first = 0
        try:
            for values in self._arrays(file, rows):
                if len(values):
                    yield Chunk(values, place, first)
                    first += len(values)
        except Exception as error:
            refuse_damaged(file._replace(path=Path(place)), error)

    def _arrays(self, file: InputFile, rows: int) -> Iterator[np.ndarray]:
        if file.ending in TEXT_ENDINGS:
            yield from csv_chunks(file, csv_format(file), self.columns, rows)
        elif file.ending in (".npy", ".npz"):
            array = array_of(file)
            for first in range(0, len(array), rows):
                yield array[first : first + rows][:, list(self.columns)]
        else:
            for batch in _arrow_batches(file, self.group, list(self.columns), rows):
                chosen = batch.select(list(self.columns))
                for first in range(0, len(chosen), rows):
                    yield read_frame(chosen.slice(first, rows), self.path)[0]


def _version_of(path: str) -> tuple[int, int]:
    status = os.stat(path)
    return status.st_size, status.st_mtime_ns


def _arrow_batches(file: InputFile, group: int, columns: list[str], rows: int) -> Iterator[Any]:
    import pyarrow as pa
    from pyarrow import ipc, parquet

    if not file.plain:
        yield arrow_table(file)
    elif file.ending == ".feather":
        with pa.OSFile(str(file.path)) as stream, ipc.open_file(stream) as opened:
            for place in range(opened.num_record_batches):
                yield pa.Table.from_batches([opened.get_batch(place)])
    else:
        with parquet.ParquetFile(file.path) as opened:
            for batch in opened.iter_batches(rows, [group], columns, use_threads=False):
                yield pa.Table.from_batches([batch])


def _header_of(file: InputFile) -> _Header | None:
    """What a file says about itself; None where it is an empty text."""
    if file.ending in TEXT_ENDINGS:
        if not file.read(1):
            return None
        form = csv_format(file)
        return _Header(list(form.names) if form.names else None, form.width, None, [None])
    if file.ending in (".npy", ".npz"):
        array = array_of(file)
        if array.ndim != 2:
            refuse(file.path, f"it holds an array of shape {array.shape}, not a table")
        return _Header(None, array.shape[1], [array.dtype] * array.shape[1], [len(array)])
    try:
        return _arrow_header(file)
    except Exception as error:
        refuse_damaged(file, error)


def _arrow_header(file: InputFile) -> _Header:
    import pyarrow as pa
    from pyarrow import ipc, parquet

    counts: Sequence[int | None]
    if not file.plain:
        table = arrow_table(file)
        schema, counts = table.schema, [len(table)]
    elif file.ending == ".feather":
        with pa.OSFile(str(file.path)) as stream, ipc.open_file(stream) as opened:
            schema, counts = opened.schema, [None]
    else:
        with parquet.ParquetFile(file.path) as opened:
            schema, counts = opened.schema_arrow, parquet_row_counts(opened)
    schema = without_index(schema.empty_table()).schema
    check_distinct(file.path, schema.names)
    return _Header(schema.names, len(schema), schema.types, counts)


def _from_files(
    given: Sequence[Any], columns: list[Any] | None, weights: Any, label: str
) -> Source:
    paths = [path for item in given for path in table_files(item)]
    parts: list[FilePart] = []
    single, first, first_path = True, None, paths[0]
    for path in paths:
        file = open_input(path)
        if file.ending not in ENDINGS:
            refuse(path, f"its name ends in none of {', '.join(ENDINGS)}, also with .gz")
        header = _header_of(file)
        if header is None:
            continue
        if first is None:
            first, first_path = header, path
            places = chosen_places(header.labels, columns, weights, str(path))
            chosen = [header.labels[place] for place in places]
        else:
            places = _same_columns(header, first, chosen, columns is None, path, first_path)
        single &= _all_single(file, header, places)
        version = _version_of(str(file.path))
        asked = chosen if file.ending in ARROW_ENDINGS else places
        parts += [
            FilePart(str(path), group, tuple(asked), count, version)
            for group, count in enumerate(header.counts)
        ]
    if first is None:
        refuse(paths[0], "it is empty")
    named = None if first.names is None else chosen
    return _source_of(parts, named, len(chosen), single, weights is not None, label)


def _same_columns(
    header: _Header, first: _Header, chosen: list[str], everything: bool, path: Path, other: Path
) -> list[int]:
    """The places of the chosen columns in another file."""
    if (header.names is None) != (first.names is None) or (
        header.names is None and header.width != first.width
    ):
        said = [
            f"{h.width} columns {'with' if h.names else 'without'} names" for h in (header, first)
        ]
        refuse(path, f"it has {said[0]} where {other} has {said[1]}")
    places = {name: place for place, name in enumerate(header.labels)}
    if any(name not in places for name in chosen) or (everything and len(places) != first.width):
        refuse(
            path, str(differing(tuple(first.labels), tuple(header.labels), other.name, path.name))
        )
    return [places[name] for name in chosen]


def _all_single(file: InputFile, header: _Header, places: list[int]) -> bool:
    """Whether the chosen columns are float32; other types than those of numbers are refused."""
    if header.kinds is None or isinstance(header.kinds[0], np.dtype):
        return header.kinds is not None and header.kinds[0] == np.float32
    for place in places:
        if not holds_numbers(header.kinds[place]):
            refuse(
                file.path,
                f"column {header.labels[place]!r} is of type {header.kinds[place]}, not a number "
                "type",
            )
    return all(str(header.kinds[place]) == "float" for place in places)


# -- arrays and functions -------------------------------------------------------------------------


@dataclass(frozen=True)
class ArrayPart:
    """Some columns of an array."""

    array: Any
    places: tuple[int, ...] | None
    place: str

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.array)

    def read(self, rows: int) -> Iterator[Chunk]:
        """The rows, at most so many at a time."""
        for first in range(0, len(self.array), rows):
            block = np.asarray(self.array[first : first + rows])
            values = block if self.places is None else block[:, list(self.places)]
            yield Chunk(values, self.place, first)


@dataclass(frozen=True)
class CallPart:
    """What a function of the caller gives: a fresh iterator of chunks at each call."""

    make: Callable[[], Any]
    columns: tuple[Any, ...] | None
    n_rows: int | None = None

    def read(self, rows: int) -> Iterator[Chunk]:
        """The chunks, cut where they are longer than so many rows."""
        for number, chunk in enumerate(_fresh_iterator(self.make)):
            values = numbers_of(chunk, self.columns, f"chunk {number}")
            for first in range(0, len(values), rows):
                yield Chunk(values[first : first + rows], f"chunk {number}", first)


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


def _from_arrays(given: list[Any], columns: list[Any] | None, weights: Any, label: str) -> Source:
    called = [label] if label == "array" else [f"chunk {i}" for i in range(len(given))]
    read = [_read_chunk(item, place) for item, place in zip(given, called, strict=True)]
    filled = [i for i, (array, _) in enumerate(read) if len(array)] or [0]
    first, names = read[filled[0]]
    labels = names or numbered(first.shape[1])
    places = chosen_places(labels, columns, weights, called[filled[0]])
    whole = places == list(range(len(labels)))
    parts = []
    for i in filled:
        array, own = read[i]
        if array.shape[1] != len(labels) or own != names:
            raise InvalidInputError(
                f"{called[i]} has {array.shape[1]} column(s) {listed(own or ())} where "
                f"{called[filled[0]]} has {len(labels)} {listed(names or ())}; give chunks of one "
                "table"
            )
        parts.append(ArrayPart(array, None if whole else tuple(places), called[i]))
    single = all(read[i][0].dtype == np.float32 for i in filled)
    chosen = None if names is None else [labels[place] for place in places]
    return _source_of(parts, chosen, len(places), single, weights is not None, label)


def _from_call(make: Callable[[], Any], columns: list[Any] | None, weights: Any) -> Source:
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
        labels = names or numbered(values.shape[1])
        places = chosen_places(labels, columns, weights, f"chunk {number}")
        chosen = [labels[place] for place in places]
        part = CallPart(make, tuple(chosen) if names else tuple(places))
        single = values.dtype == np.float32
        named = chosen if names else None
        return _source_of([part], named, len(places), single, weights is not None, label)
    raise InvalidInputError(f"{label} gives no rows; a sample needs at least one row")
