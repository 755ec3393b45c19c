"""Tables in files of Arrow: .parquet and .feather; needs pyarrow."""

from __future__ import annotations

from typing import Any

import numpy as np

from isodepth.data.extras import load_extra
from isodepth.data.file_source import Source, refuse
from isodepth.data.frames import Table
from isodepth.data.text_tables import check_distinct
from isodepth.data.wishes import Found, Wish, choose
from isodepth.errors import IsodepthError


def read_arrow(source: Source, wish: Wish) -> Found:
    """Read a table of numbers from a parquet or feather file."""
    kind = source.ending.removeprefix(".")
    try:
        return _numbers(without_index(arrow_table(source)), source.file, wish)
    except IsodepthError:
        raise
    except Exception as error:
        # A flipped bit in the metadata can surface as any error of pyarrow or of Python.
        refuse(source.file, f"it is damaged or not a {kind} file ({error})", error)


def arrow_table(source: Source) -> Any:
    """All columns of a file as a table of pyarrow."""
    file = source.file
    pa = load_extra("pyarrow", "frames", f"reading {file}")
    try:
        if source.ending == ".feather":
            feather = load_extra("pyarrow.feather", "frames", f"reading {file}")
            given = str(file) if source.content is None else pa.BufferReader(source.content)
            return feather.read_table(given, use_threads=False, memory_map=False)
        pq = load_extra("pyarrow.parquet", "frames", f"reading {file}")
        given = str(file) if source.content is None else pa.BufferReader(source.content)
        # Not pq.read_table, which makes columns of the names of folders such as "year=2020".
        with pq.ParquetFile(given) as opened:
            _check_parquet_rows(opened.metadata)
            return opened.read(use_threads=False)
    except IsodepthError:
        raise
    except Exception as error:
        kind = source.ending.removeprefix(".")
        refuse(file, f"it is damaged or not a {kind} file ({error})", error)


def without_index(table: Any) -> Any:
    """A table without the columns that hold a pandas index."""
    index = (table.schema.pandas_metadata or {}).get("index_columns", [])
    return table.drop_columns([name for name in index if isinstance(name, str)])


def _check_parquet_rows(metadata: Any) -> None:
    """Refuse counts that contradict each other, before room is made for that many rows.

    The metadata of columns is left alone: where it is damaged, asking pyarrow for it ends the
    process, while reading the column raises an error.
    """
    counts = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
    if min(counts, default=0) < 0 or metadata.num_rows != sum(counts):
        raise ValueError(f"row groups of {counts} rows do not add up to {metadata.num_rows}")


def _numbers(table: Any, file: object, wish: Wish) -> Found:
    from pyarrow import types

    if not table.num_columns or not table.num_rows:
        refuse(file, f"it holds {table.num_rows} rows and {table.num_columns} columns")
    names = table.column_names
    check_distinct(file, names)
    kept, label_place, left_out, absent = choose(names, wish, file)
    kinds = [field.type for field in table.schema]
    texts = [place for place in kept if not _holds_numbers(kinds[place], types)]
    if texts and not wish.drop_text:
        first, listed = texts[0], [names[place] for place in texts]
        refuse(
            file,
            f"column {names[first]!r} is of type {kinds[first]}, not a number type; not numbers "
            f"in column(s) {', '.join(map(repr, listed))}: {wish.hints.leaving_out(listed)}",
        )
    kept = [place for place in kept if place not in texts]
    if not kept:
        refuse(file, "none of its columns holds numbers")
    about = ", ".join(f"{names[place]!r} (of type {kinds[place]})" for place in texts)
    notes = [f"left out of {file}: {about}"] if texts else []
    notes += [
        f"column {names[place]!r} of {file} is boolean: true is taken as 1"
        for place in kept
        if types.is_boolean(kinds[place])
    ]
    for place in kept:
        lacking = table.column(place).null_count
        if lacking and not wish.missing:
            refuse(
                file,
                f"column {names[place]!r} has {lacking} missing values; "
                f"fill in or drop incomplete rows{wish.hints.missing}",
            )
    single = all(types.is_float32(kinds[place]) for place in kept)
    points = np.empty((table.num_rows, len(kept)), np.float32 if single else np.float64)
    for position, place in enumerate(kept):
        points[:, position] = _values(table.column(place), kinds[place], types)
    labels = None
    if label_place is not None:
        labels = ["" if v is None else str(v) for v in table.column(label_place).to_pylist()]
    left_out += [names[place] for place in texts]
    chosen = tuple(names[place] for place in kept)
    return Found(Table(points, chosen), labels, left_out, notes, absent)


def _holds_numbers(kind: Any, types: Any) -> bool:
    return types.is_floating(kind) or types.is_integer(kind) or types.is_boolean(kind)


def _values(column: Any, kind: Any, types: Any) -> Any:
    if types.is_boolean(kind):
        import pyarrow as pa

        column = column.cast(pa.uint8())
    return column.to_numpy()
