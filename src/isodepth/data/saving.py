"""Columns as the bytes of a file, of the kind that its name says."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from isodepth.data.extras import load_extra
from isodepth.data.output import check_target
from isodepth.errors import InvalidOptionError

TEXT_ENDINGS = {".csv": ",", ".tsv": "\t"}
ARROW_ENDINGS = (".parquet", ".feather")
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
    if ending in ARROW_ENDINGS:
        load_extra("pyarrow", "frames", f"writing {target}")
    return target


def table_bytes(ending: str, columns: Mapping[str, Sequence[Any]], numbers: np.ndarray) -> bytes:
    """The bytes of a table: its columns by name, or for ``.npy`` the numbers alone."""
    if ending in TEXT_ENDINGS:
        rows = zip(*columns.values(), strict=True)
        return text_bytes([list(columns), *map(list, rows)], TEXT_ENDINGS[ending])
    if ending in ARROW_ENDINGS:
        pa = load_extra("pyarrow", "frames", f"writing {ending}")
        return arrow_bytes(ending, pa.table(dict(columns)))
    return array_bytes(numbers)


def text_bytes(rows: Sequence[Sequence[Any]], separator: str = ",") -> bytes:
    """Rows of cells as text; floats keep every bit, and what is missing is empty."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=separator, lineterminator="\n")
    writer.writerows([_cell(value) for value in row] for row in rows)
    return buffer.getvalue().encode()


def arrow_bytes(ending: str, table: Any) -> bytes:
    """A table of pyarrow as a parquet or feather file."""
    buffer = io.BytesIO()
    if ending == ".parquet":
        load_extra("pyarrow.parquet", "frames", "writing parquet").write_table(table, buffer)
    else:
        load_extra("pyarrow.feather", "frames", "writing feather").write_feather(table, buffer)
    return buffer.getvalue()


def array_bytes(array: np.ndarray) -> bytes:
    """An array as a .npy file."""
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, float | np.floating):
        return "" if np.isnan(value) else repr(float(value))
    return value
