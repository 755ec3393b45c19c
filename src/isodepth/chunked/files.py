"""Sources of files: one part for each file, or for each row group of a parquet file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from isodepth.chunked.sources import (
    Chunk,
    ColumnChoice,
    Source,
    chunks_of,
    indices_of,
    take_columns,
)
from isodepth.data.arrays import numbered
from isodepth.data.csv_files import check_distinct, csv_chunks, csv_format
from isodepth.data.frames import read_frame
from isodepth.data.input_file import (
    ARROW_ENDINGS,
    TEXT_ENDINGS,
    InputFile,
    open_input,
    refuse,
    table_files,
)
from isodepth.data.matching import differing
from isodepth.data.readers import (
    array_of,
    arrow_table,
    check_ending,
    holds_numbers,
    parquet_row_counts,
    refuse_damaged,
    without_index,
)


@dataclass(frozen=True)
class FilePart:
    """A file, or one row group of a parquet file; some of its columns.

    Attributes
    ----------
    path : str
    group : int
        Which row group.
    columns : tuple of str or int
        Names of columns in files of Arrow, indices in others.
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
        if _version_of(file) != self.version:
            refuse(self.path, "it has been changed since it was opened; open it again with scan")
        origin = f"{self.path}, row group {self.group}" if file.ending == ".parquet" else self.path
        first = 0
        try:
            for values in self._arrays(file, rows):
                yield from chunks_of(values, origin, rows, first)
                first += len(values)
        except Exception as error:
            refuse_damaged(file._replace(path=Path(origin)), error)

    def _arrays(self, file: InputFile, rows: int) -> Iterator[np.ndarray]:
        if file.ending in TEXT_ENDINGS:
            yield from csv_chunks(file, csv_format(file), self.columns, rows)
        elif file.ending in ARROW_ENDINGS:
            for table in _arrow_tables(file, self.group, list(self.columns), rows):
                yield read_frame(table, self.path)[0]
        else:
            for chunk in chunks_of(array_of(file), self.path, rows):
                yield take_columns(chunk.values, self.columns)


def file_source(given: Sequence[Any], choice: ColumnChoice, label: str) -> Source:
    """A source of files, and of all tables in folders."""
    paths = [path for item in given for path in table_files(item)]
    parts: list[FilePart] = []
    single, first, first_path = True, None, paths[0]
    for path in paths:
        file = open_input(path)
        check_ending(file)
        header = _header_of(file)
        if header is None:
            continue
        labels = header.labels
        if first is None:
            first, first_path = header, path
            chosen = [labels[index] for index in choice.indices(labels, str(path))]
        other = choice.columns is None and sorted(labels) != sorted(first.labels)
        if other or (header.names is None) != (first.names is None):
            said = differing(tuple(first.labels), tuple(labels), first_path.name, path.name)
            refuse(path, str(said))
        indices = indices_of(chosen, labels, str(path))
        single &= _all_single(file, header, indices)
        columns = tuple(chosen if file.ending in ARROW_ENDINGS else indices)
        parts += [
            FilePart(str(path), group, columns, count, _version_of(file))
            for group, count in enumerate(header.counts)
        ]
    if first is None:
        refuse(paths[0], "it is empty")
    return choice.source(parts, first.names and chosen, len(chosen), single, label)


class _Header(NamedTuple):
    """What a file says about itself: names and types of columns, and rows of its parts."""

    names: Sequence[str] | None
    kinds: Sequence[Any]
    counts: Sequence[int | None]

    @property
    def labels(self) -> Sequence[str]:
        return self.names or numbered(len(self.kinds))


def _header_of(file: InputFile) -> _Header | None:
    """What a file says about itself; None where it is an empty text."""
    if file.ending in TEXT_ENDINGS:
        if not file.read(1):
            return None
        form = csv_format(file)
        return _Header(form.names, ["double"] * form.width, [None])
    if file.ending not in ARROW_ENDINGS:
        array = array_of(file)
        if array.ndim != 2:
            refuse(file.path, f"it holds an array of shape {array.shape}, not a table")
        kind = "float" if array.dtype == np.float32 else "double"
        return _Header(None, [kind] * array.shape[1], [len(array)])
    try:
        schema, counts = _arrow_schema(file)
    except Exception as error:
        refuse_damaged(file, error)
    schema = without_index(schema.empty_table()).schema
    check_distinct(file.path, schema.names)
    return _Header(schema.names, schema.types, counts)


def _all_single(file: InputFile, header: _Header, indices: list[int]) -> bool:
    """Whether the chosen columns are float32; other types than those of numbers are refused."""
    for index in indices:
        kind = header.kinds[index]
        if file.ending in ARROW_ENDINGS and not holds_numbers(kind):
            label = header.labels[index]
            refuse(file.path, f"column {label!r} is of type {kind}, not a number type")
    return all(str(header.kinds[index]) == "float" for index in indices)


def _version_of(file: InputFile) -> tuple[int, int]:
    status = os.stat(file.path)
    return status.st_size, status.st_mtime_ns


# -- Arrow ----------------------------------------------------------------------------------------


def _arrow_schema(file: InputFile) -> tuple[Any, Sequence[int | None]]:
    """The columns of a file, and the rows of its row groups."""
    import pyarrow as pa
    from pyarrow import ipc, parquet

    if not file.plain:
        table = arrow_table(file)
        return table.schema, [len(table)]
    if file.ending == ".feather":
        with pa.OSFile(str(file.path)) as stream, ipc.open_file(stream) as opened:
            return opened.schema, [None]
    with parquet.ParquetFile(file.path) as opened:
        return opened.schema_arrow, parquet_row_counts(opened)


def _arrow_tables(file: InputFile, group: int, columns: list[str], rows: int) -> Iterator[Any]:
    """Some columns of a row group, a few rows at a time as far as the file allows."""
    import pyarrow as pa
    from pyarrow import ipc, parquet

    if not file.plain:
        yield arrow_table(file).select(columns)
    elif file.ending == ".feather":
        with pa.OSFile(str(file.path)) as stream, ipc.open_file(stream) as opened:
            for number in range(opened.num_record_batches):
                yield pa.Table.from_batches([opened.get_batch(number)]).select(columns)
    else:
        with parquet.ParquetFile(file.path) as opened:
            for batch in opened.iter_batches(rows, [group], columns, use_threads=False):
                yield pa.Table.from_batches([batch]).select(columns)
