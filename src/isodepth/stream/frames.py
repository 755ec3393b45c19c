"""Types of the columns of data frames, as far as known before the rows are read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from isodepth.table.arrays import EXACT_INTEGERS
from isodepth.table.arrow import class_of_type
from isodepth.table.frames import NamedArray, is_frame, object_numbers
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


def without_words(table: Any, words: Sequence[str]) -> Any:
    """Return a pyarrow table in which the strings `words` are replaced with null in every column.

    Columns of other types than strings are unchanged.
    """
    for at, column in enumerate(table.columns if words else ()):
        if class_of_type(str(column.type)) == "strings":
            column = typed_column(column, "string", words)
            table = table.set_column(at, table.column_names[at], column)
    return table
