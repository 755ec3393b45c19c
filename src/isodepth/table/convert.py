"""Conversion of raw columns to numbers and to codes of categories, as a schema describes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from isodepth.table.arrays import float_of, warn_of_rounded_objects, warn_of_rounding
from isodepth.table.arrow import DATES, class_of_type, encode
from isodepth.table.columns import Column, Reason
from isodepth.table.dates import day_numbers
from isodepth.table.numerals import STYLES, Numerals
from isodepth.table.pool import contradiction
from isodepth.table.text_columns import category_type, typed_column
from isodepth.table.values import Strings, boolean, spelled, strings_of

_MICROSECONDS_PER_DAY = 86_400_000_000
_NUMBER_TYPES = ("int64", "double")


def numbers_of(column: Column, values: Any, decimal: str, where: str) -> np.ndarray:
    """Convert a pyarrow column to numbers (n,); missing values are NaN.

    Parameters
    ----------
    column : Column
        Numeric column of a schema.
    values : pyarrow.ChunkedArray
    decimal : str
        Decimal mark of a text file; "" if the values have types.
    where : str
        Name of the sample for messages.
    """
    class_, stored = class_of_type(str(values.type)), str(values.type)
    if values.null_count == len(values) or class_ is None:
        return np.full(len(values), np.nan)
    if decimal and class_ == "strings" and column.text_type in _NUMBER_TYPES and not column.order:
        values = _cast(column, values, where)
        class_ = "numbers"
    if class_ == "numbers" and not column.order:
        return _differences(column, values, where) if column.base else _floats(values, where)
    if column.has(Reason.DAYS) and stored.startswith("duration"):
        return _days(values)
    if column.is_date and class_ in DATES:
        return _days(values)
    if column.is_date and decimal and column.text_type == "timestamp[us]":
        return _days(typed_column(values, column.text_type))
    codes, distinct = encode(values)
    strings = strings_of(distinct.to_pylist())
    found = _numbers_of_strings(column, strings, where)
    table = [np.nan if v is None else found.get(v, np.nan) for v in strings.values]
    return np.array([*table, np.nan])[codes]


def _cast(column: Column, values: Any, where: str) -> Any:
    """Convert strings of a text file to numbers; words are an error, or missing values."""
    import pyarrow as pa

    try:
        return typed_column(values, "double" if column.text_type == "double" else "int64")
    except pa.ArrowInvalid:
        pass
    try:
        return typed_column(values, "double")
    except pa.ArrowInvalid as error:
        raise contradiction(column.name, f"has values in {where} that are not numbers") from error


def _floats(values: Any, where: str) -> np.ndarray:
    import pyarrow as pa

    if pa.types.is_decimal(values.type):
        # The conversion of pyarrow is often wrong in the last bit, so that decimals would differ
        # from equal floats.
        objects = values.to_pylist()
        warn_of_rounded_objects(objects, where)
        return np.array([np.nan if v is None else float_of(v) for v in objects])
    if pa.types.is_integer(values.type):
        warn_of_rounding(values.drop_null().to_numpy(), where)
        values = values.cast(pa.float64(), safe=False)
    array = values.to_numpy()
    return array if array.dtype == np.float32 else np.asarray(array, np.float64)


def _differences(column: Column, values: Any, where: str) -> np.ndarray:
    # Python integers are exact. Floats are already rounded.
    return np.array([np.nan if v is None else float(v - column.base) for v in values.to_pylist()])


def _days(values: Any) -> np.ndarray:
    """Convert dates and times to days since 1970, and durations to days."""
    import pyarrow as pa

    if pa.types.is_duration(values.type):
        values = values.cast(pa.duration("us"), safe=False)
    else:
        values = values.cast(pa.timestamp("us", getattr(values.type, "tz", None)), safe=False)
    microseconds = values.cast(pa.int64()).cast(pa.float64(), safe=False)
    return np.asarray(microseconds.to_numpy(), np.float64) / _MICROSECONDS_PER_DAY


def _numbers_of_strings(column: Column, strings: Strings, where: str) -> dict[str, float]:
    """Return the numbers of distinct values; words are an error unless they are missing values."""
    known = [value for value in strings.values if value is not None]
    name = column.name
    if column.order:
        ranks = {value: float(rank) for rank, value in enumerate(column.order)}
        odd = next((value for value in known if value not in ranks), None)
        if odd is not None:
            order = ", ".join(column.order)
            fault = f"has {odd!r} in {where}, which is not in the list of its values ({order})"
            raise contradiction(name, fault)
        return ranks
    if column.has(Reason.BOOLEANS):
        return {value: float(boolean(value) == "True") for value in known}
    if column.is_date:
        days = day_numbers(known)
        odd = next((value for value in known if days.get(value) is None), None)
        if odd is not None:
            raise contradiction(name, f"has {odd!r} in {where}, which is not a clear date", odd)
        return {value: day for value, day in days.items() if day is not None}
    numerals = Numerals(dict.fromkeys(known, 1), column.styles or STYLES)
    if numerals.others and not column.has(Reason.WORDS_MISSING):
        raise contradiction(
            name, f"has {numerals.other!r} in {where}, which is not a number", numerals.other
        )
    return numerals.mapped(numerals.style)


# -- categories -----------------------------------------------------------------------------------


def codes_of(
    column: Column, values: Any, decimal: str, where: str
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Convert a pyarrow column to codes (n,), and return the new words of this column.

    The codes are indices in `column.categories`, followed by the new words. Missing values have the
    code -1. The parameters are those of `numbers_of`.
    """
    if class_of_type(str(values.type)) is None:
        return np.full(len(values), -1, np.int32), ()
    if decimal and column.text_type not in ("string", None):
        # Words such as "NA" are missing values in a column of numbers, booleans or dates.
        values = typed_column(values, category_type(column.text_type))
        if column.text_type in ("bool", "timestamp[us]"):
            values = typed_column(values, column.text_type)
    codes, distinct = encode(values)
    strings = strings_of(distinct.to_pylist())
    texts = _texts(column, strings, where)
    index = {word: code for code, word in enumerate(column.categories)}
    used = np.zeros(len(texts) + 1, bool)
    used[codes] = True
    new: list[str] = []
    table = np.full(len(texts) + 1, -1, np.int32)
    for at, text in enumerate(texts):
        if text is None or not used[at]:
            continue
        if text not in index:
            index[text] = len(index)
            new.append(text)
        table[at] = index[text]
    return table[codes], tuple(new)


def _texts(column: Column, strings: Strings, where: str) -> list[str | None]:
    """Return the values in the spelling of the column; None if missing."""
    texts = [None if v is None else spelled(v, column.spelling) for v in strings.values]
    return texts
