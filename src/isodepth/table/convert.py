"""Conversion of raw columns to numbers and to codes of categories, as a schema describes them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from isodepth.base.messages import InPython, Message
from isodepth.errors import ColumnWarning, InvalidInputError, warn_user
from isodepth.table.arrays import float_of, warn_of_rounded_objects, warn_of_rounding
from isodepth.table.arrow import DATES, class_of_type, encode
from isodepth.table.columns import Column, Note, Reason
from isodepth.table.dates import day_numbers
from isodepth.table.numerals import STYLES, Numerals, is_plain_number
from isodepth.table.pooled import contradiction, is_padded
from isodepth.table.rules import may_have_words
from isodepth.table.text_columns import category_type, typed_column
from isodepth.table.values import (
    Strings,
    boolean,
    boolean_word,
    plain_number,
    spelled,
    strings_of,
)


@dataclass(frozen=True)
class Place:
    """Where values come from, for messages, and how strings are written there.

    Attributes
    ----------
    name : str
        Name of the sample, file or batch.
    decimal : str
        Decimal mark of a text file; "" if the values have types.
    reference : str
        Name of the samples that determined the schema.
    hint : str
        Advice at the end of errors.
    """

    name: str
    decimal: str = ""
    reference: str = "the schema"
    hint: str = ""

    def error(self, column: str, fault: str, value: str | None = None) -> InvalidInputError:
        """Return the error for contradictory values, see `contradiction`."""
        return InvalidInputError(contradiction(column, fault, value, self.hint))

    def other_type(self, column: str, content: str, received: str) -> InvalidInputError:
        """Return the error for a column that holds `content` in the reference."""
        template = (
            "column {category!r} holds {content} in {reference} and {received} in {name}; convert "
            "it{pandas}, or fit a new monitor without the column, or with the column as a category "
            "({--category=}){hint}"
        )
        pandas = InPython(f" (in pandas, read it with dtype={{{column!r}: str}})")
        values = {"content": content, "received": received, "pandas": pandas}
        return InvalidInputError(
            Message(
                template, category=column, reference=self.reference, name=self.name,
                hint=self.hint, **values,
            )
        )  # fmt: skip


_MICROSECONDS_PER_DAY = 86_400_000_000
_NUMBER_TYPES = ("int64", "double")


def numbers_of(column: Column, values: Any, place: Place) -> np.ndarray:
    """Convert a pyarrow column to numbers (n,); missing values are NaN.

    Parameters
    ----------
    column : Column
        Numeric column of a schema.
    values : pyarrow.ChunkedArray
    place : Place
    """
    class_, stored = class_of_type(str(values.type)), str(values.type)
    if values.null_count == len(values) or class_ is None:
        return np.full(len(values), np.nan)
    if place.decimal and class_ == "strings" and not column.order:
        values, class_ = _typed(column, values, place), "typed"
    if class_ in ("numbers", "typed") and not column.order and not _is_text(values):
        return _differences(column, values) if column.base else _floats(column, values, place)
    if column.has(Reason.DAYS) and stored.startswith("duration"):
        return _days(values)
    if column.is_date and class_of_type(str(values.type)) in DATES:
        _check_zone(column, values, place)
        return _days(values)
    if class_ in DATES or stored.startswith(("duration", "time")):
        raise place.other_type(column.name, "numbers", stored)
    codes, distinct = encode(values)
    strings = strings_of(distinct.to_pylist())
    rows = np.bincount(codes[codes >= 0], minlength=len(distinct)).tolist()
    found = _numbers_of_strings(column, strings, rows, place)
    table = [np.nan if v is None else found.get(v, np.nan) for v in strings.values]
    return np.array([*table, np.nan])[codes]


def _is_text(values: Any) -> bool:
    return class_of_type(str(values.type)) != "numbers"


def _typed(column: Column, values: Any, place: Place) -> Any:
    """Convert the strings of a text file to the type of the column, if all of them fit."""
    import pyarrow as pa

    numbers = ("int64", "double")
    types = {"int64": numbers, "double": numbers[1:], None: numbers}
    for type_ in types.get(column.text_type, (column.text_type,)):
        try:
            return typed_column(values, type_)
        except pa.ArrowInvalid:
            continue
    return values


def _check_zone(column: Column, values: Any, place: Place) -> None:
    zone = getattr(values.type, "tz", None)
    if (zone is None) == column.has(Reason.SINCE_1970_UTC):
        notes = [Reason.SINCE_1970.value, Reason.SINCE_1970_UTC.value]
        own, other = notes if zone is None else reversed(notes)
        raise InvalidInputError(
            f"column {column.name!r} has {other} in {place.reference} and {own} in {place.name}; "
            "add or remove the time zone (in pandas, .dt.tz_localize or .dt.tz_convert(None))"
            f"{place.hint}"
        )


def _floats(column: Column, values: Any, place: Place) -> np.ndarray:
    import pyarrow as pa

    where = f"column {column.name!r} of {place.name}"
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


def _differences(column: Column, values: Any) -> np.ndarray:
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


def _numbers_of_strings(
    column: Column, strings: Strings, rows: list[int], place: Place
) -> dict[str, float]:
    """Return the numbers of distinct values; words are an error unless they are missing values."""
    counts: Counter[str] = Counter()
    for value, count in zip(strings.values, rows, strict=True):
        if value is not None and count:
            counts[value] += count
    known, name = [*counts], column.name
    if column.order:
        ranks = {value: float(rank) for rank, value in enumerate(column.order)}
        odd = next((value for value in known if value not in ranks), None)
        if odd is not None:
            order = ", ".join(column.order)
            fault = f"has {odd!r} in {place.name}, which is not in the list of its values ({order})"
            raise place.error(name, fault)
        return ranks
    if column.has(Reason.BOOLEANS):
        return {value: float(boolean(value) == "True") for value in known}
    if column.is_date:
        days = day_numbers(known)
        odd = next((value for value in known if days.get(value) is None), None)
        if odd is not None:
            raise place.error(name, f"has {odd!r} in {place.name}, which is not a clear date", odd)
        return {value: day for value, day in days.items() if day is not None}
    numerals = Numerals(counts, column.styles or STYLES)
    if not column.styles and column.option is None and known and not place.decimal:
        example = numerals.example
        if example and not is_plain_number(example):
            template = (
                "column {numeric!r} holds numbers in {reference} and strings such as {example!r} "
                "in {name}; convert them to numbers, or fit a new monitor that converts them "
                "({--numeric=}){hint}"
            )
            values = {"reference": place.reference, "name": place.name, "hint": place.hint}
            raise InvalidInputError(Message(template, numeric=name, example=example, **values))
        if numerals.others:
            raise place.other_type(name, "numbers", "strings")
    if numerals.others and not column.has(Reason.WORDS_MISSING):
        if column.option == "numeric" and may_have_words(numerals):
            note = Note(Reason.WORDS_MISSING, {"word": str(numerals.other)})
            warn_user(
                Message("check column {name!r}: {note}", name=name, note=note.text), ColumnWarning
            )
            return numerals.mapped(numerals.style)
        fault = f"has {numerals.other!r} in {place.name}, which is not a number"
        if column.styles and Numerals({str(numerals.other): 1}).count:
            decimal, group = column.styles[0]
            fault += f" with {decimal!r} as the decimal mark and {group!r} between thousands"
        raise place.error(name, fault, numerals.other)
    if column.option == "numeric" and numerals.is_ambiguous(numerals.style):
        note = Note(Reason.THOUSANDS, {"mark": numerals.style.group})
        warn_user(
            Message("check column {name!r}: {note}", name=name, note=note.text), ColumnWarning
        )
    return numerals.mapped(numerals.style)


# -- categories -----------------------------------------------------------------------------------


def codes_of(column: Column, values: Any, place: Place) -> tuple[np.ndarray, tuple[str, ...]]:
    """Convert a pyarrow column to codes (n,), and return the new words of this column.

    The codes are indices in `column.categories`, followed by the new words. Missing values have the
    code -1. The parameters are those of `numbers_of`.
    """
    if class_of_type(str(values.type)) is None:
        return np.full(len(values), -1, np.int32), ()
    if place.decimal and column.text_type not in ("string", None):
        # Words such as "NA" are missing values in a column of numbers, booleans or dates.
        values = typed_column(values, category_type(column.text_type))
        if column.text_type in ("bool", "timestamp[us]"):
            values = _typed(column, values, place)
    codes, distinct = encode(values)
    texts = _texts(column, strings_of(distinct.to_pylist()), str(values.type), place)
    index = {word: code for code, word in enumerate(column.categories)}
    used = np.zeros(len(texts) + 1, bool)
    used[codes] = True
    table = np.full(len(texts) + 1, -1, np.int32)
    for at, text in enumerate(texts):
        if text is not None and used[at]:
            table[at] = index.setdefault(text, len(index))
    return table[codes], tuple(index)[len(column.categories) :]


def _texts(column: Column, strings: Strings, stored: str, place: Place) -> list[str | None]:
    """Return distinct values in the spelling of the column; None if missing.

    Numbers and booleans are written like equal categories. Raise an error if their original text is
    not known: several categories are equal as numbers, or have leading zeros. `stored` is the type
    of the values.
    """
    padded = min(filter(is_padded, strings.words), default=None)
    if "number" in column.spelling and padded is not None:
        raise place.other_type(column.name, "numbers", f"strings such as {padded!r}")
    values = [None if v is None else spelled(v, column.spelling) for v in strings.values]
    known = {*column.categories}
    if class_of_type(stored) == "strings" and "boolean" not in column.spelling:
        return values
    distinct = {value for value in values if value is not None}
    binary = {boolean(value): value for value in column.categories}
    are_booleans = bool(known) and known <= {"True", "False"}
    if known and "" not in binary and len(binary) == len(known) and all(map(boolean, distinct)):
        if are_booleans:
            binary = {"True": "True", "False": "False"}
        texts = {value: binary.get(boolean(value), value) for value in distinct}
    else:
        texts = _equal_categories(column, strings, stored, place)
    values = [None if v is None else texts.get(v, v) for v in values]
    is_typed = class_of_type(stored) not in ("strings", "other values")
    distinct = {value for value in values if value is not None}
    if is_typed and distinct:
        is_other = distinct.isdisjoint(known) and known and "number" not in column.spelling
        if are_booleans and not distinct <= {"True", "False"}:
            raise place.other_type(column.name, "booleans", _type_text(stored))
        if is_other and not are_booleans:
            raise place.other_type(column.name, "strings", _type_text(stored))
    return values


def _equal_categories(
    column: Column, strings: Strings, stored: str, place: Place
) -> dict[str, str]:
    """Return the category that equals each number or boolean, if the schema has strings."""
    texts: dict[str, str] = {}
    for type_, name, canonical in (
        (float, "number", plain_number), (bool, "boolean", boolean_word),
    ):  # fmt: skip
        if type_ not in strings.types or name in column.spelling:
            continue
        for value in sorted({*column.categories} | strings.words):
            text = canonical(value)
            if not text or (text == value and not is_plain_number(value)):
                continue
            padded = type_ is float and is_padded(value)
            if padded or texts.setdefault(text, value) != value:
                content = f"strings such as {value!r}"
                raise place.other_type(column.name, content, _type_text(stored))
    return texts


def _type_text(stored: str) -> str:
    """Return the name of a type of pyarrow for a message."""
    return {"double": "float64", "float": "float32", "bool": "booleans"}.get(stored, stored)
