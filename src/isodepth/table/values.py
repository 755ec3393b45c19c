"""Conversion of values of any type to strings, such that equal values have equal strings."""

from __future__ import annotations

import math
import numbers
from collections.abc import Collection, Sequence
from contextlib import suppress
from decimal import Decimal
from types import NoneType
from typing import Any, NamedTuple

import numpy as np

from isodepth.base.words import is_missing


class Strings(NamedTuple):
    """Values as strings, None if missing, and the types of the values.

    The types are bool, float (for any number) and str (for any other object). `words` are the
    distinct values of type str.
    """

    values: list[Any]
    types: set[type]
    words: set[str]


def strings_of(values: Sequence[Any]) -> Strings:
    """Convert values of any type to strings, such that equal values have equal strings.

    Whole numbers are written as integers, because pandas converts integers to floats if a value is
    missing. The empty string is a missing value.
    """
    if {*map(type, values)} <= {str, NoneType}:
        strings: list[Any] = [value or None for value in values]
        if not "".join(filter(None, values)).isascii():
            strings = [None if value is None else _writable(value) for value in strings]
        return Strings(strings, {str} if any(values) else set(), {*strings} - {None})
    known: dict[Any, str | None] = {}
    types: set[type] = set()
    words: set[str] = set()
    strings = []
    for value in values:
        # The type is part of the key, because True and 1 are equal in a dictionary.
        key = type(value), value
        try:
            strings.append(known[key])
            continue
        except (KeyError, TypeError):  # a TypeError means that the value is not hashable
            pass
        string = None if is_missing(value) else _string(value, types, words)
        strings.append(string)
        with suppress(TypeError):
            known[key] = string
    return Strings(strings, types, words)


def _string(value: Any, types: set[type], words: set[str]) -> str | None:
    """Return the string of a value that is not missing, and add its type to `types`.

    Return None for an empty string, which counts as missing. Other strings are added to `words`.
    """
    if isinstance(value, bool | np.bool_):
        types.add(bool)
        return str(bool(value))
    if isinstance(value, numbers.Integral):
        types.add(float)
        return str(int(value))
    if isinstance(value, numbers.Real | Decimal):
        types.add(float)
        number = float(value)
        return str(math.trunc(value) if number.is_integer() else number)
    string = str(value)
    if not string:
        return None
    types.add(str)
    words.add(_writable(string))
    return _writable(string)


def _writable(string: str) -> str:
    """Return a string in which lone surrogates are escaped.

    A lone surrogate is half of a UTF-16 pair, which files and terminals do not accept.
    """
    return string.encode("utf-8", "backslashreplace").decode()


def visible(value: str) -> str:
    """Return a string for a message, quoted if its spaces would not be visible otherwise.

    A long run of spaces at the end is replaced with the number of spaces.

    Examples
    --------
    >>> print(visible("No"), visible("No "), visible("a  b"), visible("Tensed" + 74 * " "))
    No 'No ' 'a  b' 'Tensed' + 74 spaces
    """
    if value == " ".join(value.split()):
        return value
    start = value.rstrip(" ")
    n_spaces = len(value) - len(start)
    return f"{start!r} + {n_spaces} spaces" if start and n_spaces > 3 else repr(value)


def boolean(value: str) -> str:
    """Return "True" for "true" and "1", "False" for "false" and "0", in any case, "" otherwise."""
    return {"1": "True", "0": "False"}.get(value, boolean_word(value))


def boolean_word(value: str) -> str:
    """Return "True" for "true" and "False" for "false", in any case, and "" otherwise."""
    return {"true": "True", "false": "False"}.get(value.lower(), "")


def plain_number(value: str) -> str:
    """Return the number in a string in its shortest form, such as "1" for "01" and "1.0".

    Strings that are not finite numbers are returned unchanged.
    """
    try:
        number = float("" if "_" in value else value)
        if not math.isfinite(number):
            return value
    except ValueError:
        return value
    try:
        return str(int(value))  # exact beyond 2**53
    except ValueError:
        return str(int(number) if number.is_integer() else number)


def spelled(value: str, spelling: Collection[str]) -> str:
    """Return a string in the spelling of a column.

    `spelling` is the attribute of `isodepth.table.pooled.PooledColumn` with this name.

    Examples
    --------
    >>> spelled("TRUE", {"boolean"}), spelled("2.50", {"number"}), spelled("2.50", ())
    ('True', '2.5', '2.50')
    """
    if "binary" in spelling:
        return boolean(value) or value
    word = boolean_word(value) if "boolean" in spelling else ""
    return word or (plain_number(value) if "number" in spelling else value)
