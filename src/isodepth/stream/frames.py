"""Chunks with columns of any type, as pyarrow tables."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from isodepth.base.words import is_missing, numbered
from isodepth.errors import InvalidInputError
from isodepth.table.arrays import EXACT_INTEGERS
from isodepth.table.arrow import DATES, class_of_type, is_encoded
from isodepth.table.frames import NamedArray, is_frame, object_numbers, period_strings
from isodepth.table.row_numbers import RowNumbers
from isodepth.table.text_columns import typed_column


def has_other_types(table: Any) -> bool:
    """Return whether a table is an eager data frame with non-numeric columns."""
    if isinstance(table, NamedArray) or not is_frame(table) or hasattr(table, "collect"):
        return False
    import narwhals as nw

    try:
        frame = nw.from_native(table, eager_only=True)
        schema = frame.schema
    except (TypeError, ValueError):
        return False  # reading the table raises the error with the reason

    def is_other(label: str, type_: Any) -> bool:
        if type_ == nw.Unknown:  # such as the type null of pyarrow, and the periods of pandas
            column = object_numbers(frame.get_column(label))
            known = column.null_count() < len(frame)
            return len(frame) > 0 and not (known and column.to_numpy().dtype.kind in "biufc")
        return not type_.is_numeric()

    return any(is_other(label, type_) for label, type_ in schema.items())


def has_large_integers(table: Any) -> bool:
    """Return whether a table is an eager data frame with integers beyond 2**53."""
    if isinstance(table, NamedArray) or not is_frame(table) or hasattr(table, "collect"):
        return False
    import narwhals as nw

    try:
        columns = [*nw.from_native(table, eager_only=True).iter_columns()]
    except (TypeError, ValueError):
        return False  # reading the table raises the error with the reason
    known = [column.drop_nulls() for column in columns if column.dtype.is_integer()]
    return any(
        len(column) and max(int(column.max()), -int(column.min())) > EXACT_INTEGERS
        for column in known
    )


def may_number_rows(table: Any) -> bool:
    """Return whether a table is an eager data frame with integers that may number the rows."""
    if isinstance(table, NamedArray) or not is_frame(table) or hasattr(table, "collect"):
        return False
    import narwhals as nw

    try:
        columns = [*nw.from_native(table, eager_only=True).iter_columns()]
    except (TypeError, ValueError):
        return False  # reading the table raises the error with the reason
    integers = (column for column in columns if column.dtype.is_integer())
    return any(RowNumbers.of(column.to_arrow()) is not None for column in integers)


def arrow_table(table: Any, origin: str, encoded: Collection[str] = ()) -> Any:
    """Convert an array or a data frame to a pyarrow table with few types.

    Integers become int64, or uint64 if one of them is 2**63 or larger. Other numbers become double,
    strings and categories string, and dates and times timestamp[us], in UTC if they have a time
    zone. Python objects of several types, and the periods and intervals of pandas, become string.
    Columns of all other types, such as booleans and lists, are unchanged.

    Parameters
    ----------
    table : array of shape (n, d), or an eager frame of a library that narwhals supports
        Columns without names are named "0", "1", ...
    origin : str
        Name of the table in messages.
    encoded : collection of str
        Names of columns that remain dictionary-encoded if `table` is a pyarrow table in which they
        are dictionary-encoded strings.

    Returns
    -------
    table : pyarrow.Table

    Examples
    --------
    >>> import pandas as pd
    >>> arrow_table(pd.DataFrame({"size": ["S", None], "n": [1, 2]}), "X").to_pydict()
    {'size': ['S', None], 'n': [1, 2]}
    """
    import pyarrow as pa

    if isinstance(table, NamedArray) or not is_frame(table):
        points, names = table if isinstance(table, NamedArray) else (np.asarray(table), None)
        if points.ndim != 2:
            raise InvalidInputError(
                f"{origin} must be a table of shape (n points, d columns), got an array of shape "
                f"{points.shape}"
            )
        columns = [pa.array(np.ascontiguousarray(column)) for column in points.T]
        return _plain_table(columns, names or numbered(points.shape[1]))
    if isinstance(table, pa.Table):
        return _plain_table(table.columns, table.column_names, encoded)
    import narwhals as nw

    try:
        frame = nw.from_native(table, eager_only=True)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            f"the {type(table).__name__} {origin} cannot be read as a data frame "
            f"({' '.join(str(error).split())}); give all columns different names"
        ) from None
    columns = [_arrow_column(frame.get_column(label)) for label in frame.columns]
    return _plain_table(columns, [*map(str, frame.columns)])


def categorical_types(table: Any) -> dict[str, str]:
    """Return the categorical columns of an eager data frame, as a dict.

    Each name of a column is mapped to the name of a dictionary type of pyarrow. The dict is empty
    for other tables. `arrow_table` converts these columns to strings, from which their kind cannot
    be determined: the categories may be numbers.
    """
    if isinstance(table, NamedArray) or not is_frame(table) or hasattr(table, "collect"):
        return {}
    import narwhals as nw

    schema = nw.from_native(table, eager_only=True).schema
    categorical = (label for label, type_ in schema.items() if type_ in (nw.Categorical, nw.Enum))
    return {str(label): "dictionary<values=string>" for label in categorical}


def _arrow_column(series: Any) -> Any:
    """Convert a narwhals series to a pyarrow array.

    Python objects of several types, and the periods and intervals of pandas, become strings.
    """
    import pyarrow as pa

    series = object_numbers(series)
    with suppress(pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        column = series.to_arrow()
        if not isinstance(column.type, pa.BaseExtensionType):
            return column
    values = series.to_list()
    return pa.array([None if is_missing(v) else str(v) for v in values], pa.string())


def _plain_table(
    columns: Sequence[Any], names: Sequence[str], encoded: Collection[str] = ()
) -> Any:
    import pyarrow as pa

    plain = [
        column if name in encoded and is_encoded(column.type) else _plain_column(column)
        for name, column in zip(names, columns, strict=True)
    ]
    return pa.Table.from_arrays(plain, list(names))


def _plain_column(column: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    type_ = column.type
    if (strings := period_strings(column)) is not None:
        return strings
    if is_encoded(type_):
        return column.cast(pa.string())
    if pa.types.is_dictionary(type_):
        column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        parts = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
        return pa.chunked_array(
            [pa.array(_words(part.dictionary)).take(part.indices) for part in parts], pa.string()
        )
    name = class_of_type(str(type_))
    if name == "strings":
        return column.cast(pa.string())
    if name in DATES:
        # safe=False: nanoseconds are rounded to microseconds.
        return column.cast(pa.timestamp("us", None if name == "dates" else "UTC"), safe=False)
    if name == "numbers":
        if pa.types.is_decimal(type_):
            # The direct conversion of pyarrow is often wrong in the last bit, so that decimals
            # would differ from equal floats.
            return column.cast(pa.string()).cast(pa.float64())
        if not pa.types.is_integer(type_):
            return column.cast(pa.float64())
        large = pa.types.is_uint64(type_) and (pc.max(column).as_py() or 0) >= 2**63
        return column if large else column.cast(pa.int64())
    return column


def concatenated(tables: Sequence[Any]) -> Any:
    """Concatenate pyarrow tables of `arrow_table` with the same columns.

    The types of numbers may differ. A column becomes uint64 if it has no floats and no negative
    integers, otherwise double, with rounding of large integers.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    tables = list(tables)
    for at, name in enumerate(tables[0].column_names):
        parts = [table.column(name) for table in tables]
        types = {str(part.type) for part in parts} & {"int64", "uint64", "double"}
        if len(types) > 1:
            negative = any(len(part) and (pc.min(part).as_py() or 0) < 0 for part in parts)
            common = pa.float64() if "double" in types or negative else pa.uint64()
            tables = [
                table.set_column(at, name, part.cast(common, safe=False))
                for table, part in zip(tables, parts, strict=True)
            ]
    return pa.concat_tables(tables, promote_options="permissive").combine_chunks()


def _words(values: Any) -> list[str | None]:
    """Return the categories of a categorical column as strings, and None for a missing one.

    The number 1.0 is written as "1".
    """
    plain = [int(v) if isinstance(v, float) and v.is_integer() else v for v in values.to_pylist()]
    return [None if is_missing(value) else str(value) for value in plain]


def without_words(table: Any, words: Sequence[str]) -> Any:
    """Return a pyarrow table in which the strings `words` are replaced with null in every column.

    Columns of other types than strings are unchanged.
    """
    for at, column in enumerate(table.columns if words else ()):
        if class_of_type(str(column.type)) == "strings":
            column = typed_column(column, "string", words)
            table = table.set_column(at, table.column_names[at], column)
    return table
