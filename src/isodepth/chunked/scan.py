"""`isodepth.scan`, which makes sources of files, arrays, functions and Dask collections."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from isodepth.chunked.dask import dask_parts
from isodepth.chunked.files import file_parts
from isodepth.chunked.sources import Part, Source, array_parts, call_part, source_of
from isodepth.data.frames import Table, is_frame
from isodepth.data.validation import check_choice, check_integer
from isodepth.errors import InvalidInputError


def scan(
    data: Any,
    columns: Sequence[Any] | None = None,
    *,
    weights: Any = None,
    dtype: str | None = None,
    chunk_rows: int | None = None,
) -> Source:
    """Make a source of a sample that is read in chunks, because it does not fit into memory.

    The source is taken by :func:`isodepth.distance`, :func:`isodepth.compare`,
    :meth:`isodepth.Metric.table`, :func:`isodepth.region_tables` and :func:`isodepth.pairwise` in
    place of an array. `scan` itself reads only headers.

    Parameters
    ----------
    data : str, path, array, sequence of these, callable, or Dask collection
        * a ``.csv``, ``.tsv``, ``.parquet``, ``.feather``, ``.npy`` or ``.npz`` file, also with
          ``.gz``, or a folder of such files; names that begin with a dot, an underscore or "readme"
          are ignored, and any other file in the folder is an error;
        * an array, a memory map or a data frame;
        * a list of files, or of arrays and frames, of any lengths, also 0;
        * a function without arguments that returns a new iterator of chunks at each call. Data are
          read several times, so a generator is refused;
        * a `dask.array` or `dask.dataframe` (extra ``dask``).

        ``.npz`` and compressed files other than text are held in memory while they are read.
    columns : sequence of str or int, or None
        Columns of the points; None for all (except the column of weights).
    weights : str, int or None
        Column with the weight of each row.
    dtype : {"float32", "float64"} or None
        Precision; None for float32 if all columns are float32, and float64 otherwise.
    chunk_rows : int or None
        Maximum number of rows to read at a time; None for a number that fits into `memory_mb`.

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
    tables, label = _opened(data, dtype is not None)
    source = source_of(tables, wanted, weights, label)
    return replace(source, dtype=dtype or source.dtype, chunk_rows=chunk_rows)


def as_source(data: Any) -> Source:
    """Return a source unchanged, and make a source of other data."""
    return data if isinstance(data, Source) else scan(data)


def _opened(data: Any, any_dtype: bool) -> tuple[list[Part], str]:
    """Return the parts of the data, and their name in messages."""
    if isinstance(data, Source):
        raise InvalidInputError("this is a source already; give it to distance or Metric.table")
    if type(data).__module__.partition(".")[0] in ("dask", "dask_expr"):
        label = f"Dask {type(data).__name__}"
        return dask_parts(data, label), label
    several = isinstance(data, list | tuple) and not isinstance(data, Table)
    given = list(data) if several else [data]
    label = f"list of {len(given)}" if several else "array"
    if not given:
        raise InvalidInputError("scan got an empty list; a sample needs at least one row")
    if all(isinstance(item, str | os.PathLike) for item in given):
        return file_parts(given), label if several else str(data)
    if isinstance(data, Iterator):
        raise InvalidInputError(
            f"a {type(data).__name__} can be read once, and scan reads data several times; give "
            "a function that makes a new one, such as scan(lambda: make_chunks()), or a list of "
            "chunks"
        )
    if several or isinstance(data, np.ndarray) or is_frame(data):
        called = [f"chunk {i}" for i in range(len(given))] if several else [label]
        return array_parts(given, called), label
    if callable(data):
        label = getattr(data, "__name__", type(data).__name__)
        return [call_part(data, label, any_dtype)], label
    raise InvalidInputError(
        f"scan takes a file or folder, an array, a list of these, a function that gives chunks, or "
        f"a Dask collection, got {type(data).__name__}"
    )
