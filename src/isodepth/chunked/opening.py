"""Opening sources: files and folders, arrays, functions and Dask collections."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from isodepth.chunked.parts import (
    ArrayPart,
    CallPart,
    CsvPart,
    fresh_iterator,
    numbers_of,
    parquet_header,
    place_of,
    refuse,
)
from isodepth.chunked.sources import Source
from isodepth.data.frames import Table, looks_like_frame, read_frame
from isodepth.data.readers import csv_header, read_table
from isodepth.data.validation import check_choice, check_integer
from isodepth.errors import InvalidInputError, UnreadableFileError

_ENDINGS = (".parquet", ".csv", ".npy")


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
        * a ``.parquet``, ``.csv`` or ``.npy`` file, or a folder of files of one kind;
        * an array, a memory map or a data frame;
        * a list of files, or of arrays and frames, of any lengths, also 0;
        * a function without arguments that gives a fresh iterator of chunks at each call: data are
          read several times, so a bare generator is refused;
        * a `dask.array` or `dask.dataframe` (extra ``dask``).
    columns : sequence of str or int, or None
        Which columns are the points; None for all (but that of the weights).
    weights : str, int or None
        The column that holds the weight of each row.
    dtype : {"float32", "float64"} or None
        Precision; None keeps float32 where all columns are and takes float64 otherwise.
    chunk_rows : int or None
        The most rows to read at a time; None lets `memory_mb` of the metric decide. The result
        does not depend on it.

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
    >>> in_chunks == isodepth.distance(whole, whole + 3, refine=0, **options)
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
        # By its name: the adapter needs the sources, not the other way round.
        adapter = importlib.import_module("isodepth.chunked.dask")
        return adapter.dask_source(data, columns, weights)
    if isinstance(data, str | os.PathLike):
        return _from_files([Path(data)], columns, weights, str(data))
    if isinstance(data, Iterator):
        raise InvalidInputError(
            f"a {type(data).__name__} can be gone through once, and the data are read several "
            "times; give a function that makes a fresh one, such as scan(lambda: make_chunks()), "
            "or a list of chunks"
        )
    if isinstance(data, np.ndarray | Table) or looks_like_frame(data):
        return _from_arrays([data], columns, weights, "array", named=False)
    if isinstance(data, list | tuple):
        if not data:
            raise InvalidInputError("scan got an empty list; a sample needs at least one row")
        if all(isinstance(item, str | os.PathLike) for item in data):
            return _from_files(
                [Path(item) for item in data], columns, weights, f"list of {len(data)}"
            )
        return _from_arrays(list(data), columns, weights, f"list of {len(data)}", named=True)
    if callable(data):
        return _from_call(data, columns, weights)
    raise InvalidInputError(
        f"scan takes a file or folder, an array, a list of these, a function that gives chunks, or "
        f"a Dask collection, got {type(data).__name__}"
    )


# -- files ----------------------------------------------------------------------------------------


def _from_files(given: list[Path], columns: list[Any] | None, weights: Any, label: str) -> Source:
    files = [file for path in given for file in _files_of(path)]
    kinds = sorted({file.suffix.lower() for file in files})
    if len(kinds) > 1:
        raise UnreadableFileError(
            f"{label} holds files of several kinds ({', '.join(kinds)}); give those of one kind"
        )
    if kinds[0] == ".parquet":
        return _from_parquet(files, columns, weights, label)
    if kinds[0] == ".csv":
        return _from_csv(files, columns, weights, label)
    arrays = [read_table(file).points for file in files]
    for file, array in zip(files, arrays, strict=True):
        if array.ndim != 2:
            raise refuse(file, f"it holds an array of shape {array.shape}, not a table")
    return _from_arrays(arrays, columns, weights, label, named=True, paths=[str(f) for f in files])


def _files_of(path: Path) -> list[Path]:
    if not path.exists():
        raise refuse(path, "there is no such file or folder")
    if not path.is_dir():
        if path.suffix.lower() not in _ENDINGS:
            raise refuse(path, f"its name ends in none of {', '.join(_ENDINGS)}")
        return [path]
    found = sorted(
        file
        for file in path.rglob("*")
        if file.is_file()
        and file.suffix.lower() in _ENDINGS
        and not any(part.startswith(("_", ".")) for part in file.relative_to(path).parts)
    )
    if not found:
        raise refuse(path, f"the folder holds no file that ends in {', '.join(_ENDINGS)}")
    return found


def _from_parquet(files: list[Path], columns: list[Any] | None, weights: Any, label: str) -> Source:
    headers = [parquet_header(file) for file in files]
    first = headers[0]
    chosen = _chosen(first.names, columns, weights, first.path)
    for header in headers[1:]:
        if columns is None and set(header.names) != set(first.names):
            raise refuse(
                header.path,
                f"its columns are {header.names} where {first.path} has {first.names}; name those "
                "to read with columns=[...]",
            )
    single = all(header.floats.issuperset(chosen) for header in headers)
    parts = [part for header in headers for part in header.parts(chosen, single)]
    weighted = weights is not None
    points = chosen[:-1] if weighted else chosen
    dtype = "float32" if all(h.floats.issuperset(points) for h in headers) else "float64"
    return Source(tuple(parts), len(points), points, dtype, weighted, None, label)


def _chosen(
    names: list[str], columns: list[Any] | None, weights: Any, where: str
) -> tuple[str, ...]:
    """The names of the points' columns, and that of the weights last."""
    if weights is None:
        chosen = names if columns is None else [names[place_of(c, names, where)] for c in columns]
        own: list[str] = []
    else:
        own = [names[place_of(weights, names, where)]]
        if columns is None:
            chosen = [name for name in names if name not in own]
        else:
            chosen = [names[place_of(c, names, where)] for c in columns]
    _check_chosen(chosen, own)
    return (*chosen, *own)


def _check_chosen(chosen: list[str], own: list[str]) -> None:
    twice = next((name for name in chosen if chosen.count(name) > 1), None)
    if twice is not None:
        raise InvalidInputError(f"column {twice!r} is asked for twice; name every column once")
    if own and own[0] in chosen:
        raise InvalidInputError(
            f"column {own[0]!r} is asked for both as a point's and as the weight; drop one of them"
        )
    if not chosen:
        raise InvalidInputError("there is no column left beside the weights")


def _from_csv(files: list[Path], columns: list[Any] | None, weights: Any, label: str) -> Source:
    parts: list[CsvPart] = []
    known: tuple[str, ...] | None = None
    width = 0
    chosen: tuple[str, ...] = ()
    for file in files:
        if not file.stat().st_size:
            continue
        names, header_lines, cells = csv_header(file)
        labels = list(names or map(str, range(cells)))
        if not parts:
            known, width = names, cells
            chosen = _chosen(labels, columns, weights, str(file))
        elif cells != width or names != known:
            raise refuse(
                file,
                f"its columns are {labels} where the files before have {list(known or ())}"
                if names
                else f"it has {cells} columns where the files before have {width}",
            )
        places = tuple(labels.index(name) for name in chosen)
        parts.append(CsvPart(str(file), header_lines, cells, places))
    if not parts:
        raise refuse(files[0], "it is empty")
    weighted = weights is not None
    points = chosen[:-1] if weighted else chosen
    return Source(
        tuple(parts), len(points), points if known else None, "float64", weighted, None, label
    )


# -- arrays and functions -------------------------------------------------------------------------


def _from_arrays(
    given: list[Any],
    columns: list[Any] | None,
    weights: Any,
    label: str,
    *,
    named: bool,
    paths: list[str] | None = None,
) -> Source:
    arrays, names = [], []
    for number, item in enumerate(given):
        place = f"chunk {number}" if named else label
        if looks_like_frame(item):
            array, named_columns = read_frame(item, place)
        else:
            array, named_columns = numbers_of(item, None, place), None
        arrays.append(array)
        names.append(named_columns)
    filled = [i for i, array in enumerate(arrays) if len(array)] or [0]
    first = filled[0]
    labels = list(names[first] or map(str, range(arrays[first].shape[1])))
    chosen = _chosen(labels, columns, weights, f"chunk {first}" if named else label)
    places = tuple(labels.index(name) for name in chosen)
    whole = places == tuple(range(len(labels)))
    parts = []
    for i in filled:
        place = f"chunk {i}" if named else label
        if paths is not None:
            place = paths[i]
        if arrays[i].shape[1] != len(labels) or names[i] != names[first]:
            raise InvalidInputError(
                f"{place} has {arrays[i].shape[1]} column(s) {list(names[i] or ())} where chunk "
                f"{first} has {len(labels)} {list(names[first] or ())}; give chunks of one table"
            )
        held: Any = arrays[i] if paths is None else paths[i]
        parts.append(ArrayPart(held, 0, len(arrays[i]), None if whole else places, place))
    single = all(arrays[i].dtype == np.float32 for i in filled)
    weighted = weights is not None
    points = chosen[:-1] if weighted else chosen
    return Source(
        tuple(parts), len(points), points if names[first] else None,
        "float32" if single else "float64", weighted, None, label,
    )  # fmt: skip


def _from_call(make: Callable[[], Any], columns: list[Any] | None, weights: Any) -> Source:
    label = getattr(make, "__name__", type(make).__name__)
    given = fresh_iterator(make)
    second = make()
    if second is given:
        raise InvalidInputError(
            f"{label} gives the same iterator at every call, and the data are read several times; "
            "it must make a fresh one"
        )
    for number, chunk in enumerate(given):
        place = f"chunk {number}"
        names = None
        if looks_like_frame(chunk):
            values, names = read_frame(chunk, place)
        else:
            values = numbers_of(chunk, None, place)
        if not len(values):
            continue
        labels = list(names or map(str, range(values.shape[1])))
        chosen = _chosen(labels, columns, weights, place)
        asked: tuple[Any, ...] = chosen if names else tuple(labels.index(name) for name in chosen)
        weighted = weights is not None
        points = chosen[:-1] if weighted else chosen
        dtype = "float32" if values.dtype == np.float32 else "float64"
        part = CallPart(make, asked)
        return Source((part,), len(points), points if names else None, dtype, weighted, None, label)
    raise InvalidInputError(f"{label} gives no rows; a sample needs at least one row")
