"""`isodepth.scan`, which creates sources from files, arrays, functions and Dask collections."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from isodepth.base.annotations import Precision
from isodepth.base.declared import SCAN
from isodepth.base.extras import load_extra
from isodepth.base.options import takes
from isodepth.base.paths import refuse
from isodepth.base.words import numbered
from isodepth.errors import ColumnWarning, InvalidInputError, warn_user
from isodepth.stream.frames import (
    has_large_integers,
    may_number_rows,
)
from isodepth.stream.source import (
    Part,
    Source,
    array_parts,
    as_table,
    call_part,
    indices_of,
    source_of,
)
from isodepth.table.arrow import class_of_type
from isodepth.table.csv_files import csv_chunks, csv_string_chunks, first_rows
from isodepth.table.csv_format import check_distinct, csv_format, index_note
from isodepth.table.frames import NamedArray, is_frame
from isodepth.table.input_file import TEXT_ENDINGS, InputFile, open_input, table_files
from isodepth.table.raw import raw_table
from isodepth.table.readers import (
    array_of,
    check_ending,
    open_parquet,
    parquet_row_counts,
    refuse_damaged,
    without_index,
)

# Number of rows that `_first_integers` reads.
_FIRST_ROWS = 1 << 14


@takes()
def scan(
    data: Any,
    columns: Sequence[Any] | None = None,
    *,
    weights: Any = None,
    dtype: Precision | None = None,
    chunk_rows: int | None = None,
) -> Source:
    """Create a source: a sample that is read in chunks, because it does not fit into memory.

    A source replaces an array or a data frame in :func:`isodepth.distance`,
    :func:`isodepth.compare`, :func:`isodepth.two_sample_test`, :func:`isodepth.pairwise`,
    :func:`isodepth.pairwise_test`, :func:`isodepth.region_tables`,
    :meth:`isodepth.Metric.distance`, :meth:`isodepth.Metric.compare`,
    :meth:`isodepth.Metric.region_table`, :class:`isodepth.Monitor` and
    :meth:`isodepth.Monitor.check`. `scan` itself reads only the beginning of each file, and the
    first nonempty chunk of a function.

    Columns may contain numbers, strings, booleans, dates and missing values. Functions that compare
    two sources determine the kind of each column from both, in one pass over the data. Region
    tables need columns of numbers.

    Parameters
    ----------
    data : str, path, array, sequence of these, callable, or Dask collection
        * a ``.csv``, ``.tsv``, ``.parquet`` or ``.npy`` file, also with ``.gz``, or a folder of
          such files; names that begin with a dot, an underscore or "readme" are ignored, and any
          other file in the folder is an error;
        * an array, a memory map or a data frame;
        * a list of files, or of arrays and frames; empty ones are allowed;
        * a function without arguments that returns a new iterator of arrays or data frames at each
          call. Data are read several times, so a generator is refused;
        * a `dask.array` or `dask.dataframe` (extra ``dask``).

        A compressed Parquet or NumPy file is held in memory as a whole while it is read.
    columns : sequence of str or int, or None
        Names or indices of the columns to use; None for all, except that of the weights.
    weights : str, int or None
        Name or index of the column with the weight of each row; None for equal weights.
    dtype : {"float32", "float64"}, NumPy dtype or None
        Precision; None for float32 if all columns are float32, and float64 otherwise.
    chunk_rows : int or None
        Maximum number of rows to read at a time; None for a number that fits into `memory_mb`.

    Returns
    -------
    source : isodepth.typing.Source
        With the attributes `n_rows`, `n_features`, `columns`, `dtype`, `weighted` and `chunk_rows`.

    Examples
    --------
    >>> import numpy as np, isodepth
    >>> rng = np.random.default_rng(0)
    >>> chunks = [rng.normal(size=(n, 2)) for n in (300, 0, 5, 700)]
    >>> source = isodepth.scan(chunks)
    >>> source
    Source(list of 4: 1005 rows, 2 columns, float64)
    >>> whole = np.concatenate(chunks)
    >>> options = {"levels": 10, "refine": 0, "n_directions": 50, "random_state": 0}
    >>> in_chunks = isodepth.distance(source, isodepth.scan([whole + 3]), **options)
    >>> bool(np.isclose(in_chunks, isodepth.distance(whole, whole + 3, **options)))
    True
    """
    checked = SCAN.check({"dtype": dtype, "chunk_rows": chunk_rows})
    if isinstance(columns, str):
        raise InvalidInputError(
            f"columns must be a sequence of names, got {columns!r}; write [{columns!r}]"
        )
    selected = None if columns is None else list(columns)
    if selected == []:
        raise InvalidInputError("columns is empty: a sample needs at least one column")
    parts, label = _parts_and_label(data, dtype is not None)
    source = source_of(parts, selected, weights, label)
    return replace(source, **checked | {"dtype": checked["dtype"] or source.dtype})


def as_source(data: Any) -> Source:
    """Return `data` if it is a source; otherwise create a source with `scan`."""
    return data if isinstance(data, Source) else scan(data)


def _parts_and_label(data: Any, any_dtype: bool) -> tuple[list[Part], str]:
    """Return the `Part` objects that read `data`, and the name of `data` in messages.

    `any_dtype` is true if chunks that a function returns may have different dtypes.
    """
    if isinstance(data, Source):
        raise InvalidInputError(
            "data is already a source; pass it to distance or Metric.region_table"
        )
    if type(data).__module__.partition(".")[0] in ("dask", "dask_expr"):
        return dask_parts(data), f"Dask {type(data).__name__}"
    several = isinstance(data, list | tuple) and not isinstance(data, NamedArray)
    items = [as_table(item) for item in data] if several else [as_table(data)]
    label = f"list of {len(items)}" if several else "array"
    if not items:
        raise InvalidInputError("scan got an empty list; a sample needs at least one row")
    if all(isinstance(item, str | os.PathLike) for item in items):
        return file_parts(items), label if several else str(data)
    if isinstance(data, Iterator):
        raise InvalidInputError(
            f"a {type(data).__name__} can be read only once, but scan reads data several times; "
            "give a function that makes a new one, such as scan(lambda: make_chunks()), or a list "
            "of chunks"
        )
    if several or isinstance(data, np.ndarray) or is_frame(items[0]):
        names = [f"chunk {i}" for i in range(len(items))] if several else [label]
        return array_parts(items, names), label
    if callable(data):
        label = getattr(data, "__name__", type(data).__name__)
        return [call_part(data, label, any_dtype)], label
    raise InvalidInputError(
        f"scan takes a file or folder, an array, a list of these, a function that returns chunks, "
        f"or a Dask collection, got {type(data).__name__}"
    )


# -- files ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FilePart(Part):
    """Part of a source that reads a file, or one row group of a Parquet file.

    Attributes
    ----------
    group : int or None
        Index of the row group; None for the whole file.
    """

    group: int | None = None

    def tables(self, rows: int, raw: bool = False) -> Iterator[tuple[Any, str, int]]:
        """Yield the content of the file as tables of about `rows` rows.

        Each table comes with the name of the file in messages, and the index of its first row in
        the file or row group. An array in a .npy file is one table of any length. If `raw`, the
        columns of a text file are strings, otherwise numbers.
        """
        origin = self.origin if self.group is None else f"{self.origin}, row group {self.group}"
        file, first = open_input(self.data), 0
        try:
            for table in self._read(file, rows, raw):
                yield table, origin, first
                first += len(table.points if isinstance(table, NamedArray) else table)
        except Exception as error:
            refuse_damaged(file._replace(path=Path(origin)), error)

    def _read(self, file: InputFile, rows: int, raw: bool) -> Iterator[Any]:
        if file.ending in TEXT_ENDINGS:
            form = csv_format(file)
            indices = indices_of(self.labels, form.names or numbered(form.width), self.data)
            if raw:
                for strings in csv_string_chunks(file, form, indices):
                    yield strings.rename_columns(list(self.labels))
                return
            for values in csv_chunks(file, form, indices, rows):
                yield NamedArray(values, tuple(self.labels))
        elif file.ending == ".parquet":
            import pyarrow as pa

            columns, groups = list(self.labels), None if self.group is None else [self.group]
            with open_parquet(file) as reader:
                for batch in reader.iter_batches(rows, groups, columns, use_threads=False):
                    yield pa.Table.from_batches([batch]).select(columns)
        else:
            yield array_of(file)


def file_parts(items: Sequence[Any]) -> list[Part]:
    """Return the `Part` objects of `items`, which are paths of files and of folders of files."""
    paths = [path for item in items for path in table_files(item)]
    for path in paths:
        if path.is_fifo():
            refuse(path, "a pipe can be read once, and scan reads data several times; save a file")
    files = [open_input(path) for path in paths]
    parts = [
        replace(part, place=place) for place, file in enumerate(files) for part in _parts_of(file)
    ]
    if not parts:
        refuse(files[0].path, "it is empty")
    return parts


def _parts_of(file: InputFile) -> list[Part]:
    """Return the `Part` objects of one file, after reading its header.

    The list is empty for an empty CSV or TSV file.
    """
    check_ending(file)
    path = str(file.path)
    if file.ending in TEXT_ENDINGS:
        if not file.read(1):
            return []
        form = csv_format(file)
        labels = form.names or numbered(form.width)
        first = first_rows(file, form)
        if form.has_index:
            warn_user(index_note(path), ColumnWarning)
            labels, first = labels[1:], first.drop_columns(first.column_names[:1])
        types = zip(labels, map(str, first.schema.types), strict=True)
        others = {name: type_ for name, type_ in types if class_of_type(type_) != "numbers"}
        others = {name: type_ for name, type_ in others.items() if type_ != "null"}
        named, large = form.names is not None, has_large_integers(first)
        return [
            FilePart(
                path, path, labels, named, others=others, untyped=True, decimal=form.decimal,
                large=large, numbered=may_number_rows(first),
            )
        ]  # fmt: skip
    if file.ending == ".npy":
        array = array_of(file)
        if array.ndim != 2:
            refuse(file.path, f"it holds an array of shape {array.shape}, not a table")
        part = FilePart.like(NamedArray(array, None), path, path, len(array))
        return [replace(part, is_array=True)]
    try:
        with open_parquet(file) as reader:
            schema, counts = reader.schema_arrow, parquet_row_counts(reader)
            integers = _first_integers(reader) if sum(counts) else None
            large, counting = has_large_integers(integers), may_number_rows(integers)
    except Exception as error:
        refuse_damaged(file, error)
    table = without_index(schema.empty_table())
    check_distinct(file.path, table.column_names)
    whole = FilePart.like(table, path, path, sum(counts))
    whole = replace(whole, named=True, large=large, numbered=counting)
    if not counts or not file.plain:  # row groups of a compressed file cannot be read one by one
        return [whole]
    offsets = [sum(counts[:group]) for group in range(len(counts))]
    return [
        replace(whole, group=group, n_rows=counts[group], offset=offsets[group])
        for group in range(len(counts))
    ]


def _first_integers(reader: Any) -> Any:
    """Return the columns of integers in the first rows of a Parquet file; None without them."""
    import pyarrow as pa

    fields = without_index(reader.schema_arrow.empty_table()).schema
    names = [field.name for field in fields if pa.types.is_integer(field.type)]
    batches = reader.iter_batches(_FIRST_ROWS, [0], names, use_threads=False) if names else ()
    return next((pa.Table.from_batches([batch]) for batch in islice(batches, 1)), None)


# -- Dask collections -----------------------------------------------------------------------------


class DelayedPart(Part):
    """Part of a source that is one partition of a Dask collection.

    In a Dask task, Dask has already computed the partition. Otherwise `tables` computes it.
    """

    delayed = True

    def tables(self, rows: int, raw: bool = False) -> Iterator[tuple[Any, str, int]]:
        """Yield the partition as one table, with its name in messages and the row index 0."""
        data = self.data.compute() if hasattr(self.data, "compute") else self.data
        yield data, self.origin, 0


def dask_parts(data: Any) -> list[Part]:
    """Return one `Part` per partition of a `dask.array` or `dask.dataframe`."""
    load_extra("dask", "dask", "reading a Dask collection")
    # An int is required, because the `ndim` of a Dask Delayed object is another Delayed object.
    if not isinstance(getattr(data, "ndim", None), int) or data.ndim != 2:
        shape = f" with shape {data.shape}" if hasattr(data, "ndim") else ""
        raise InvalidInputError(
            f"a Dask collection must be a data frame or an array of shape (n points, d columns), "
            f"got {type(data).__name__}{shape}"
        )
    if hasattr(data, "dtypes"):
        # pyarrow does not know the type of an empty column of Python objects.
        objects = {str(name): "object" for name, type_ in data.dtypes.items() if type_.kind == "O"}
        table, delayed = raw_table(data._meta, "the Dask data frame"), data.to_delayed()
        single = [str(name) for name, type_ in data.dtypes.items() if type_ == np.float32]
        whole = Part.like(table, "", None, None)
        others = whole.others | objects
        counting = any(type_.kind in "iu" for type_ in data.dtypes)
        whole = replace(whole, single=single, others=others, numbered=counting)
        counts = [np.nan] * len(delayed)
    else:
        array = data.rechunk({1: -1})
        whole = Part.like(
            NamedArray(np.empty((0, data.shape[1]), data.dtype), None), "", None, None
        )
        whole = replace(whole, is_array=True)
        counts, delayed = array.chunks[0], array.to_delayed().ravel()
    return [
        DelayedPart(
            part, f"partition {i}", whole.labels, whole.named, whole.single,
            None if np.isnan(rows) else int(rows), whole.others, place=i, is_array=whole.is_array,
            numbered=whole.numbered,
        )
        for i, (part, rows) in enumerate(zip(delayed, counts, strict=True))
    ]  # fmt: skip
