"""Parts of messages: descriptions of values, lists of names, suggestions."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

#: Maximum number of columns in the short lists of messages, such as columns with missing values.
FEW = 5


def named_counts(counts: Iterable[tuple[str, int]]) -> str:
    """Return at most five columns with positive counts as a string, such as "temp (2), wind (1)".

    `counts` has pairs of a column and its count. The columns with the largest counts come first.
    """
    positive = sorted((item for item in counts if item[1]), key=lambda item: -item[1])
    return listed([f"{label} ({count})" for label, count in positive], FEW)


def counted(number: int, noun: str) -> str:
    """Return a number with a noun in the singular or plural.

    Examples
    --------
    >>> counted(1, "row"), counted(2, "row")
    ('1 row', '2 rows')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def listed(names: Sequence[str], most: int = 20) -> str:
    """Return a string with at most `most` names, and the number of the remaining names.

    Examples
    --------
    >>> listed(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def closest(name: str, names: Sequence[str]) -> str:
    """Return the most similar of the first 1000 of `names`, or "" if none is similar to `name`."""
    return next(iter(difflib.get_close_matches(name, names[:1000], 1)), "")


def did_you_mean(name: str, names: Sequence[str]) -> str:
    """Return "; did you mean ...?" with the most similar of `names`, or "" if none is similar."""
    similar = closest(name, names)
    return f"; did you mean {similar!r}?" if similar else ""


def numbered(width: int) -> list[str]:
    """Return the names "0", "1", ... with which options select columns that have no names."""
    return [str(place) for place in range(width)]


def is_missing(value: Any) -> bool:
    """Return whether an object is a missing value: None, a float NaN, or NA or NaT of pandas."""
    if isinstance(value, float):
        return value != value
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def describe(value: Any) -> str:
    """Describe a received value for an error message.

    Examples
    --------
    >>> describe(None), describe(3.5), describe(np.zeros(2))
    ('None', 'a float', 'an array of shape (2,) and dtype float64')
    """
    if value is None:
        return "None"
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape} and dtype {value.dtype}"
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def value_noun(count: int) -> str:
    """Return "value" if `count` is 1, otherwise "values"."""
    return "value" if count == 1 else "values"
