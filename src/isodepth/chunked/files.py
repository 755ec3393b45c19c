"""Sources of files: one part for each file, or for each row group of a parquet file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from isodepth.chunked.sources import Chunk, Header, Part, indices_of
from isodepth.data.arrays import numbered
from isodepth.data.csv_files import check_distinct, csv_chunks, csv_format
from isodepth.data.frames import Table
from isodepth.data.input_file import (
    ARROW_ENDINGS,
    TEXT_ENDINGS,
    InputFile,
    open_input,
    refuse,
    table_files,
)
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
class FilePart(Part):
    """A file, or one row group of a parquet file; some of its columns.

    Attributes
    ----------
    data : str
        The path.
    group : int
        Which row group.
    """

    group: int = 0

    def read(self, rows: int) -> Iterator[Chunk]:
        """The rows, at most so many at a time."""
        file, first = open_input(self.data), 0
        try:
            for table in self._tables(file, rows):
                for chunk in self.cut(table, self.origin, rows):
                    yield chunk._replace(first=first)
                    first += len(chunk.values)
        except Exception as error:
            refuse_damaged(file._replace(path=Path(self.origin)), error)

    def _tables(self, file: InputFile, rows: int) -> Iterator[Any]:
        import pyarrow as pa
        from pyarrow import ipc, parquet

        columns = list(self.columns)
        if file.ending in TEXT_ENDINGS:
            form = csv_format(file)
            indices = indices_of(columns, form.names or numbered(form.width), self.data)
            for values in csv_chunks(file, form, indices, rows):
                yield Table(values, self.columns)
        elif file.ending not in ARROW_ENDINGS:
            yield array_of(file)
        elif not file.plain:
            yield arrow_table(file).select(columns)
        elif file.ending == ".feather":
            with pa.OSFile(self.data) as stream, ipc.open_file(stream) as opened:
                for number in range(opened.num_record_batches):
                    yield pa.Table.from_batches([opened.get_batch(number)]).select(columns)
        else:
            with parquet.ParquetFile(file.path) as opened:
                for batch in opened.iter_batches(rows, [self.group], columns, use_threads=False):
                    yield pa.Table.from_batches([batch])


def file_tables(given: Sequence[Any]) -> list[Header]:
    """Files, and all tables in folders."""
    files = [open_input(path) for item in given for path in table_files(item)]
    headers = [_header_of(file) for file in files]
    known = [header for header in headers if header is not None]
    if not known:
        refuse(files[0].path, "it is empty")
    return known


def _header_of(file: InputFile) -> Header | None:
    """What a file says about itself; None where it is an empty text."""
    check_ending(file)
    path, names = str(file.path), None
    labels: Sequence[str]
    single: Sequence[str] = ()
    counts: Sequence[int | None] = [None]
    if file.ending in TEXT_ENDINGS:
        if not file.read(1):
            return None
        form = csv_format(file)
        names, labels = form.names, form.names or numbered(form.width)
    elif file.ending in ARROW_ENDINGS:
        try:
            schema, counts = _arrow_schema(file)
        except Exception as error:
            refuse_damaged(file, error)
        schema = without_index(schema.empty_table()).schema
        check_distinct(file.path, schema.names)
        names = labels = schema.names
        single = [field.name for field in schema if str(field.type) == "float"]
    else:
        array = array_of(file)
        if array.ndim != 2:
            refuse(file.path, f"it holds an array of shape {array.shape}, not a table")
        labels, counts = numbered(array.shape[1]), [len(array)]
        single = labels if array.dtype == np.float32 else ()

    def parts(columns: tuple[str, ...]) -> list[FilePart]:
        for name in columns if file.ending in ARROW_ENDINGS else ():
            if not holds_numbers(kind := schema.field(name).type):
                refuse(file.path, f"column {name!r} is of type {kind}, not a number type")
        origin = "{}, row group {}" if file.ending == ".parquet" else "{}"
        return [
            FilePart(path, columns, origin.format(file.path, group), count, group)
            for group, count in enumerate(counts)
        ]

    return Header(path, labels, names is not None, single, parts)


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
