"""Checksums of chunks, with which two readings of the same data are compared."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from isodepth.table.arrow import DATES, class_of_type
from isodepth.table.frames import NamedArray, is_frame
from isodepth.table.raw import raw_table

# Value in place of a missing value in a column of int64.
_MISSING = -(2**63)


def add_to_checksums(checksums: dict[str, int], chunk: Any, origin: str) -> None:
    """Update `checksums`, a dictionary by column name, with the rows of a chunk.

    The checksums depend on the order of the rows, but not on the size of chunks of data frames. An
    array has one checksum with the name "". `origin` is the name of the chunk in messages.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"a": [1, 2, 3], "word": ["x", None, "yz"]})
    >>> first, second = {}, {}
    >>> add_to_checksums(first, frame, "chunk 0")
    >>> for part in (frame[:1], frame[1:]):
    ...     add_to_checksums(second, part, "chunk")
    >>> first == second
    True
    """
    if isinstance(chunk, NamedArray) or not is_frame(chunk):
        values = chunk.points if isinstance(chunk, NamedArray) else np.asarray(chunk)
        # With order "K", an array in Fortran order is not copied.
        _add(checksums, "", _plain(values.ravel(order="K")))
        return
    table = raw_table(chunk, origin)
    for name, column in zip(table.column_names, table.columns, strict=True):
        for part in column.chunks:
            for kind, values in _values(part):
                _add(checksums, name + kind, values)


def different_column(first: dict[str, int], second: dict[str, int]) -> str | None:
    """Return the name of a column with different checksums; None if all checksums are equal."""
    names = (name for name in {**first, **second} if first.get(name) != second.get(name))
    return next((name.removesuffix(_LENGTHS) for name in names), None)


# End of the name of the checksum of the lengths of strings.
_LENGTHS = "\0lengths"


def _add(checksums: dict[str, int], name: str, values: Any) -> None:
    checksums[name] = zlib.crc32(values, checksums.get(name, 0))


def _plain(values: np.ndarray) -> Any:
    """Return values in a form for which a checksum can be computed: an array or bytes."""
    if values.dtype.kind == "O":
        return _representations(values.tolist())
    return values.view(np.int64) if values.dtype.kind in "mM" else values


def _representations(values: list[Any]) -> bytes:
    return "".join(f"{value!r}\0" for value in values).encode("utf-8", "surrogatepass")


def _values(column: Any) -> Iterator[tuple[str, Any]]:
    """Yield pairs (suffix, values) of a pyarrow array, of which checksums are computed.

    A column of strings has two checksums: one of the lengths of the strings, and one of their
    characters. The suffix is appended to the name of the column to get the name of the checksum.
    `column` is a column of a table that `raw_table` returned.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    stored = class_of_type(str(column.type))
    if pa.types.is_dictionary(column.type) or pa.types.is_large_string(column.type):
        values = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
        column = values.cast(pa.string())
    if stored == "strings":
        yield _LENGTHS, pc.binary_length(column).fill_null(-1).to_numpy()
        known = column.drop_null()
        _, offsets, strings = known.buffers()
        if len(known) and strings is not None:
            ends = np.frombuffer(offsets, np.int32)[known.offset : known.offset + len(known) + 1]
            yield "", memoryview(strings)[ends[0] : ends[-1]]
    elif pa.types.is_floating(column.type):
        yield "", column.to_numpy(zero_copy_only=False)  # missing values become NaN
    elif stored in ("numbers", "booleans", *DATES):
        yield "", column.cast(pa.int64(), safe=False).fill_null(_MISSING).to_numpy()
    elif stored is not None:
        yield "", _representations(column.to_pylist())
