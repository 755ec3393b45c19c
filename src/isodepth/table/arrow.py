"""Columns of pyarrow tables: classes of types, codes of values, and missing words."""

from __future__ import annotations

from typing import Any

import numpy as np

#: Classes of `class_of_type` for dates and times.
DATES = ("dates", "times with a time zone")


_NUMBERS = ("int", "uint", "float", "double", "halffloat", "decimal")


def class_of_type(type_: str) -> str | None:
    """Return the class of a pyarrow type, given the name of the type.

    A column of a sample must be of the same class in all files of the sample.

    Returns
    -------
    name : str or None
        "numbers", "booleans", "strings", "dates", "times with a time zone" or "other values". None
        if the type is not known: a column without values, or a column of Python objects.

    Examples
    --------
    >>> [class_of_type(type_) for type_ in ("float", "bool", "large_string", "date32[day]", "null")]
    ['numbers', 'booleans', 'strings', 'dates', None]
    """
    if type_ in ("null", "object"):
        return None
    if type_.startswith("timestamp") and "tz=" in type_:
        return "times with a time zone"
    for name, starts in (
        ("numbers", _NUMBERS), ("booleans", ("bool",)), ("dates", ("date", "timestamp")),
        ("strings", ("string", "large_string", "dictionary")),
    ):  # fmt: skip
        if type_.startswith(starts):
            return name
    return "other values"


def encode(column: Any) -> tuple[np.ndarray, Any]:
    """Return the code of each value of a column, as an array (n,), and the distinct values.

    A code is an index into the distinct values, or -1 for a missing value.
    """
    import pyarrow as pa

    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    try:
        encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    except pa.ArrowNotImplementedError:  # such as lists
        texts = [None if value is None else str(value) for value in column.to_pylist()]
        encoded = pa.array(texts, pa.string()).dictionary_encode()
    indices = encoded.indices.fill_null(-1) if encoded.null_count else encoded.indices
    return indices.to_numpy(zero_copy_only=False), encoded.dictionary
