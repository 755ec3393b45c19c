"""Sources of files: one part per file, or per row group of a Parquet file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from isodepth.chunked.sources import Part, indices_of
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
    check_ending,
    holds_numbers,
    parquet_row_counts,
    refuse_damaged,
    without_index,
)


@dataclass(frozen=True)
class FilePart(Part):
    """A file, or one row group of a parquet file.

    Attributes
    ----------
    group : int or None
        Index of the row group; None for the whole file.
    """

    group: int | None = None

    def tables(self, rows: int) -> Iterator[tuple[Any, str, int]]:
        """Yield tables of the file; they may have more than `rows` rows."""
        origin = self.origin if self.group is None else f"{self.origin}, row group {self.group}"
        file, first = open_input(self.data), 0
        try:
            for table in self._read(file, rows):
                yield table, origin, first
                first += len(table.points if isinstance(table, Table) else table)
        except Exception as error:
            refuse_damaged(file._replace(path=Path(origin)), error)

    def _read(self, file: InputFile, rows: int) -> Iterator[Any]:
        if file.ending in TEXT_ENDINGS:
            form = csv_format(file)
            indices = indices_of(self.labels, form.names or numbered(form.width), self.data)
            for values in csv_chunks(file, form, indices, rows):
                yield Table(values, tuple(self.labels))
        elif file.ending in ARROW_ENDINGS:
            with _opened(file) as opened:
                yield from _batches(opened, self.group, list(self.labels), rows)
        else:
            yield array_of(file)


def file_parts(given: Sequence[Any]) -> list[Part]:
    """Return the parts of files, and of all tables in folders."""
    paths = [path for item in given for path in table_files(item)]
    for path in paths:
        if path.is_fifo():
            refuse(path, "a pipe can be read once, and scan reads data several times; save a file")
    files = [open_input(path) for path in paths]
    parts = [part for file in files for part in _parts_of(file)]
    if not parts:
        refuse(files[0].path, "it is empty")
    return parts


def _parts_of(file: InputFile) -> list[Part]:
    """Read the header of a file. The list is empty if the file is empty."""
    check_ending(file)
    path = str(file.path)
    if file.ending in TEXT_ENDINGS:
        if not file.read(1):
            return []
        form = csv_format(file)
        labels = form.names or numbered(form.width)
        return [FilePart(path, path, labels, form.names is not None)]
    if file.ending not in ARROW_ENDINGS:
        array = array_of(file)
        if array.ndim != 2:
            refuse(file.path, f"it holds an array of shape {array.shape}, not a table")
        return [FilePart.like(array, None, path, path, len(array))]
    try:
        with _opened(file) as opened:
            parquet = file.ending == ".parquet"
            schema = opened.schema_arrow if parquet else opened.schema
            counts = parquet_row_counts(opened) if parquet else []
    except Exception as error:
        refuse_damaged(file, error)
    schema = without_index(schema.empty_table()).schema
    check_distinct(file.path, schema.names)
    single = [field.name for field in schema if str(field.type) == "float"]
    texts = {field.name: field.type for field in schema if not holds_numbers(field.type)}
    n_rows = sum(counts) if parquet else None
    whole = FilePart(path, path, schema.names, True, single, n_rows, texts)
    if not counts or not file.plain:  # row groups of a compressed file cannot be read one by one
        return [whole]
    return [replace(whole, group=group, n_rows=count) for group, count in enumerate(counts)]


@contextmanager
def _opened(file: InputFile) -> Iterator[Any]:
    """Open a Parquet or Feather file with pyarrow."""
    from pyarrow import ipc, parquet

    with file.open() as stream:
        opened: Any = parquet.ParquetFile if file.ending == ".parquet" else ipc.open_file
        with opened(stream) as reader:
            yield reader


def _batches(opened: Any, group: int | None, columns: list[str], rows: int) -> Iterator[Any]:
    import pyarrow as pa

    if hasattr(opened, "iter_batches"):
        groups = None if group is None else [group]
        batches = opened.iter_batches(rows, groups, columns, use_threads=False)
    else:
        batches = map(opened.get_batch, range(opened.num_record_batches))
    for batch in batches:
        yield pa.Table.from_batches([batch]).select(columns)
