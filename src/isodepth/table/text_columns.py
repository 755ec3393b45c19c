"""Types of the columns of text files, and conversion of their strings.

The type of a column is determined from all rows of all files that are compared. A column whose
strings are not all numbers, booleans or dates remains as it is in the files: `01`, `2.50`, `TRUE`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from isodepth.table.numerals import MISSING_NUMBERS

# Words for missing values. Cells with "nan" are read as the number NaN instead, and later checks
# decide whether NaN is allowed.
MISSING_NUMBER_WORDS = tuple(word for word in MISSING_NUMBERS if word != "nan")
#: Type of a column of strings whose values are all numbers, booleans or dates. Strings that stand
#: for missing values, such as "NA", become null as in a column of numbers.
CODES = "codes"
# Keys of the metadata of a column of a text file: decimal mark of the file, type of the values, and
# distinct strings, from which the string of each value is restored.
_DECIMAL, _TYPE, _TEXTS = b"isodepth.decimal", b"isodepth.type", b"isodepth.texts"
# Maximum number of distinct strings that are stored. A column with more values is no category.
_MOST_TEXTS = 1000
# Numbers with a decimal comma, in the syntax of RE2.
_COMMA_DIGITS = r"^(\s*[+-]?\d+),(\d+(?:[eE][+-]?\d+)?\s*)$"


def _spellings(words: Sequence[str]) -> list[str]:
    return sorted({spell(word) for word in words for spell in (str.lower, str.upper, str.title)})


#: Strings that stand for missing values in columns of numbers, booleans and dates.
MISSING_WORDS = tuple(_spellings(MISSING_NUMBER_WORDS))


def narrowed_type(column: Any, type_: str | None, decimal: str = ".") -> str | None:
    """Return the type of a column of a text file, given the strings of its next chunk.

    Parameters
    ----------
    column : pyarrow array of strings
        Values of the column in this chunk.
    type_ : {"int64", "double", "bool", "timestamp[us]", "string"} or None
        Type of the column in the earlier chunks; None if all of their values are missing.
    decimal : str
        Decimal mark of the file.

    Returns
    -------
    type_ : str or None
        First of these types to which the strings of all chunks can be converted; None if all values
        are missing.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if type_ == "string":
        return type_
    missing = pc.is_in(column, value_set=pa.array(MISSING_WORDS, pa.string()))
    column = pc.drop_null(column.filter(pc.invert(missing)))
    if not len(column):
        return type_
    following = {"int64": ("int64", "double"), "double": ("double",)}
    types = ("int64", "double", "bool", "timestamp[us]")
    for each in types if type_ is None else following.get(type_, (type_,)):
        if _castable(column, each, decimal):
            return each
    return "string"


def common_type(types: Iterable[str | None]) -> str | None:
    """Return the type of a column with the types `types` in several chunks or files.

    Types are those of `narrowed_type`; None if all values are missing.
    """
    found = {*types} - {None}
    if found == {"int64", "double"}:
        return "double"
    return found.pop() if len(found) == 1 else ("string" if found else None)


def category_type(type_: str | None) -> str | None:
    """Return the type with which a column of type `type_` is read if it is a category."""
    return type_ if type_ in ("string", None) else CODES


def _castable(column: Any, type_: str, decimal: str) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    # "0" and "1" are numbers in all chunks, also if other chunks contain "true" and "false".
    if type_ == "bool" and pc.any(pc.is_in(column, value_set=pa.array(["0", "1"]))).as_py():
        return False
    # pyarrow converts hexadecimal codes such as "0x1" to integers.
    if type_ == "int64" and pc.any(pc.match_substring(column, "x", ignore_case=True)).as_py():
        return False
    # The mark that is not the decimal mark may separate thousands.
    other = "." if decimal == "," else ","
    if type_ == "double" and pc.any(pc.match_substring(column, other)).as_py():
        return False
    try:
        typed_column(column, type_)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return False
    return True


def typed_column(column: Any, type_: str | None, missing: Sequence[str] = ("",)) -> Any:
    """Convert a column of strings to the type `type_`, such as "int64" or "bool".

    `narrowed_type` lists all types; another one is `CODES`. In a column of strings (`type_`
    "string" or None), only the strings in `missing` become null. In a column of another type, all
    strings that stand for missing values, such as "NA", become null.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(pa.string())
    if type_ not in ("string", None):
        missing = MISSING_WORDS
    absent = pc.is_in(column, value_set=pa.array(missing, pa.string()))
    # Spaces first: pyarrow before 24 may read undefined bytes at nulls that `if_else` has made.
    if type_ in ("int64", "double"):
        column = pc.utf8_trim_whitespace(column)
    if type_ == "double" and pc.any(pc.match_substring(column, ",")).as_py():
        column = pc.replace_substring_regex(column, _COMMA_DIGITS, r"\1.\2")
    if pc.any(absent).as_py():
        column = pc.if_else(absent, pa.scalar(None, pa.string()), column)
    return column.cast(pa.type_for_alias("string" if type_ in (CODES, None) else type_))


def has_strings(type_: Any) -> bool:
    """Return whether a pyarrow type is that of strings, which may be dictionary-encoded."""
    import pyarrow as pa

    if pa.types.is_dictionary(type_):
        type_ = type_.value_type
    return bool(pa.types.is_string(type_) or pa.types.is_large_string(type_))


# -- columns that remember their strings -----------------------------------------------------------


def remembering(column: Any, type_: str | None, decimal: str) -> tuple[Any, dict[bytes, bytes]]:
    """Convert strings of a text file to the type `type_`, with metadata to restore the strings.

    If two strings have the same value, such as "1" and "01", the column remains a column of
    strings. Strings of columns with over 1000 distinct ones are not restored, and neither are
    strings of equal floats, such as "0.5" and "0.50".
    """

    metadata = {_DECIMAL: decimal.encode()}
    if type_ in ("string", None):
        return column, metadata
    typed = days_at_midnight(typed_column(column, type_))
    texts = column.unique().drop_null()
    if len(texts) > _MOST_TEXTS:
        return typed, {}
    values = typed_column(texts, type_)
    known = values.drop_null()
    if len(known.unique()) < len(known):
        return (typed, {}) if type_ == "double" else (column, metadata)
    texts = texts.filter(values.is_valid())
    metadata |= {_TYPE: type_.encode(), _TEXTS: json.dumps(texts.to_pylist()).encode()}
    return typed, metadata


def restored(column: Any, field: Any) -> tuple[Any, str]:
    """Return a column as the strings of its text file, and the decimal mark of the file.

    Other columns are returned unchanged, with "" for the decimal mark.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    metadata = field.metadata or {}
    decimal = metadata.get(_DECIMAL, b"").decode()
    if _TEXTS not in metadata:
        return column, decimal if has_strings(column.type) else ""
    texts = pa.array(json.loads(metadata[_TEXTS]), pa.string())
    values = typed_column(texts, metadata[_TYPE].decode()).cast(column.type)
    return texts.take(pc.index_in(column, value_set=values).combine_chunks()), decimal


def days_at_midnight(column: Any) -> Any:
    """Convert a column of times that are all midnight to dates; return others unchanged."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_timestamp(column.type):
        return column
    midnight = pc.all(pc.equal(column, pc.floor_temporal(column, unit="day"))).as_py()
    return column.cast(pa.date32()) if midnight else column
