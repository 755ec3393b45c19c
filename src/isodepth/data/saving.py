"""Tables as the bytes of a file, of the kind that its name says."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from isodepth.data.csv_files import csv_format
from isodepth.data.input_file import ARROW_ENDINGS, TEXT_ENDINGS, InputFile
from isodepth.data.output import check_target
from isodepth.data.readers import array_of, arrow_table
from isodepth.errors import InvalidInputError, InvalidOptionError

KNOWN = (*TEXT_ENDINGS, *ARROW_ENDINGS, ".npy")


def check_table_target(path: Any, known: Sequence[str] = KNOWN, why: str = "") -> Path:
    """Check that a table of a known kind can be written there, before the work."""
    target = check_target(path)
    ending = target.suffix.lower()
    if ending not in known:
        said = f"its name ends in {ending!r}" if ending else "its name has no ending"
        raise InvalidOptionError(
            f"cannot write {target}: {said}; the known ones are {', '.join(known)}{why}"
        )
    return target


def table_bytes(ending: str, columns: Mapping[str, Sequence[Any]], numbers: np.ndarray) -> bytes:
    """The bytes of a table: its columns by name, or for ``.npy`` the numbers alone."""
    if ending in TEXT_ENDINGS:
        rows = zip(*columns.values(), strict=True)
        return _text_bytes([list(columns), *map(list, rows)], TEXT_ENDINGS[ending])
    if ending in ARROW_ENDINGS:
        import pyarrow as pa

        return _arrow_bytes(ending, pa.table(dict(columns)))
    return _array_bytes(numbers)


def endings_for(file: InputFile) -> tuple[str, ...]:
    """The kinds of files that a table can be written to without losing anything."""
    if file.ending in TEXT_ENDINGS:
        return tuple(TEXT_ENDINGS)
    return ARROW_ENDINGS if file.ending in ARROW_ENDINGS else (".npy",)


def with_column(file: InputFile, name: str, values: np.ndarray, ending: str) -> bytes:
    """The bytes of a file that holds a table and one more column.

    Parameters
    ----------
    file : InputFile
    name : str
        Of the new column; a table without names has none for it either.
    values : ndarray of shape (n,)
        NaN is what is missing.
    ending : str
        One of `endings_for` the file.
    """
    if file.ending in TEXT_ENDINGS:
        form = csv_format(file)
        _refuse_twice(name, form.names or ())
        with io.TextIOWrapper(file.open(), encoding="utf-8-sig", newline="") as lines:
            reader = csv.reader(lines, delimiter=form.delimiter, strict=True)
            rows = [row for row in reader if row]
        if form.names:
            rows[0].append(name)
        for row, value in zip(rows[bool(form.names) :], values.tolist(), strict=True):
            row.append("" if np.isnan(value) else repr(value).replace(".", form.decimal))
        same = ending == file.ending
        return _text_bytes(rows, form.delimiter if same else TEXT_ENDINGS[ending])
    if file.ending in ARROW_ENDINGS:
        import pyarrow as pa

        table = arrow_table(file)
        _refuse_twice(name, table.column_names)
        made = pa.array(values, mask=np.isnan(values))
        return _arrow_bytes(ending, table.append_column(name, made))
    return _array_bytes(np.column_stack([array_of(file), values]))


def _text_bytes(rows: Sequence[Sequence[Any]], separator: str) -> bytes:
    """Rows of cells as text; floats keep every bit, and what is missing is empty."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=separator, lineterminator="\n")
    writer.writerows([_cell(value) for value in row] for row in rows)
    return buffer.getvalue().encode()


def _arrow_bytes(ending: str, table: Any) -> bytes:
    from pyarrow import feather, parquet

    buffer = io.BytesIO()
    (parquet.write_table if ending == ".parquet" else feather.write_feather)(table, buffer)
    return buffer.getvalue()


def _array_bytes(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, float | np.floating):
        return "" if np.isnan(value) else repr(float(value))
    return value


def _refuse_twice(name: str, names: Sequence[str]) -> None:
    if name in names:
        raise InvalidInputError(
            f"the table has a column {name!r} already; give the new one another name"
        )
