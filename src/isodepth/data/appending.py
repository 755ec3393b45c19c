"""A table with one more column: everything that is there stays as it is."""

from __future__ import annotations

import csv

import numpy as np

from isodepth.data.array_files import array_of
from isodepth.data.arrow_tables import arrow_table
from isodepth.data.file_source import Source
from isodepth.data.saving import (
    ARROW_ENDINGS,
    TEXT_ENDINGS,
    array_bytes,
    arrow_bytes,
    text_bytes,
)
from isodepth.data.text_tables import header_of
from isodepth.errors import InvalidInputError


def endings_for(source: Source) -> tuple[str, ...]:
    """The kinds of files that a table can be written to without losing anything."""
    if source.ending in TEXT_ENDINGS:
        return tuple(TEXT_ENDINGS)
    return ARROW_ENDINGS if source.ending in ARROW_ENDINGS else (".npy",)


def with_column(source: Source, name: str, values: np.ndarray, ending: str) -> bytes:
    """The bytes of a file that holds a table and one more column.

    Parameters
    ----------
    source : Source
    name : str
        Of the new column; a table without names has none for it either.
    values : ndarray of shape (n,)
        NaN is what is missing.
    ending : str
        One of `endings_for` the source.
    """
    if source.ending in TEXT_ENDINGS:
        columns, _, _ = header_of(source)
        _refuse_twice(name, columns or ())
        rows = []
        with source.lines() as lines:
            reader = csv.reader(lines, delimiter=TEXT_ENDINGS[source.ending], strict=True)
            for row in reader:
                if row:
                    rows.append(row)
        start = 0
        if columns:
            rows[0].append(name)
            start = 1
        for row, value in zip(rows[start:], values.tolist(), strict=True):
            row.append("" if np.isnan(value) else repr(value))
        return text_bytes(rows, TEXT_ENDINGS[ending])
    if source.ending in ARROW_ENDINGS:
        import pyarrow as pa

        table = arrow_table(source)
        _refuse_twice(name, table.column_names)
        made = pa.array(values, mask=np.isnan(values))
        return arrow_bytes(ending, table.append_column(name, made))
    return array_bytes(np.column_stack([array_of(source), values]))


def _refuse_twice(name: str, names: tuple[str, ...] | list[str]) -> None:
    if name in names:
        raise InvalidInputError(
            f"the table has a column {name!r} already; give the new one another name"
        )
