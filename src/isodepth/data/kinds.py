"""Kinds of columns of a mixed table: numbers, categories, and what is left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from isodepth.data.frames import Table, looks_like_frame
from isodepth.data.matching import differing
from isodepth.errors import InvalidInputError, InvalidOptionError

#: What `kinds=` may say of a column.
KINDS = ("numeric", "category", "omit")
#: A column with more categories than this is taken for an identifier.
MOST_CATEGORIES = 200
# Of fewer rows each may have a category of its own.
_MANY = 20
#: What missing values of a category are called.
MISSING = "(missing)"


class ColumnKind(NamedTuple):
    """A column of a mixed table, and what is done with it.

    Attributes
    ----------
    column : str
    kind : {"numeric", "category", "omit"}
    note : str
        Why it is left out, or what else is to be known; may be empty.
    """

    column: str
    kind: str
    note: str = ""


class MixedPair(NamedTuple):
    """Two frames, divided by the kinds of their columns.

    Attributes
    ----------
    x, y : frames with the numeric columns alone
    categories : dict of pairs of lists of str
        The values of each category column in the two samples.
    columns : tuple of ColumnKind
    """

    x: Any
    y: Any
    categories: dict[str, tuple[list[str], list[str]]]
    columns: tuple[ColumnKind, ...]


def split_columns(
    X: Any, Y: Any, kinds: Mapping[str, str] | None, nan_policy: str
) -> MixedPair | None:
    """Divide two frames with the same columns; None where both are plain arrays.

    Booleans, texts and categories are categories; dates are left out, and so are columns of text in
    which nearly every row has a value of its own.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"delay": [1.0, 5.0], "carrier": ["AA", "UA"]})
    >>> found = split_columns(X, X, {"carrier": "category"}, "raise")
    >>> list(found.x.columns), found.categories
    (['delay'], {'carrier': (['AA', 'UA'], ['AA', 'UA'])})
    """
    if kinds is not None:
        _check_kinds(kinds)
    frames = [each for each in (X, Y) if looks_like_frame(each) and not isinstance(each, Table)]
    if len(frames) < 2:
        if kinds:
            raise InvalidOptionError(
                f"kinds names columns, and X and Y must be data frames; got {type(X).__name__} and "
                f"{type(Y).__name__}"
            )
        return None
    import narwhals as nw

    try:
        x, y = (nw.from_native(each, eager_only=True) for each in (X, Y))
    except (TypeError, ValueError):
        return None  # what is wrong with it is said where numbers are read
    known, others = ({str(label): label for label in frame.columns} for frame in (x, y))
    unknown = [name for name in kinds or {} if name not in known]
    if unknown:
        raise InvalidOptionError(f"kinds names {unknown[0]!r}, which is not a column of X")
    if known.keys() != others.keys():
        if not kinds and all(_all_numeric(frame) for frame in (x, y)):
            return None
        raise differing(tuple(known), tuple(others), "X", "Y")
    found: list[ColumnKind] = []
    categories: dict[str, tuple[list[str], list[str]]] = {}
    for name, label in known.items():
        pair = x.get_column(label), y.get_column(others[name])
        column = _kind(name, pair, (kinds or {}).get(name))
        if column.kind == "category":
            values = (
                _texts(pair[0], name, "X", nan_policy), _texts(pair[1], name, "Y", nan_policy),
            )  # fmt: skip
            if column.note == "" and _is_identifier(values):
                column = ColumnKind(name, "omit", "nearly every row has a value of its own")
            else:
                categories[name] = values
        found.append(ColumnKind(column.column, column.kind, column.note.removeprefix("given")))
    numeric = [known[column.column] for column in found if column.kind == "numeric"]
    if len(numeric) == len(known):
        return MixedPair(X, Y, {}, tuple(found))
    if not numeric:
        return MixedPair(None, None, categories, tuple(found))
    rest = x.select(numeric), y.select([others[str(label)] for label in numeric])
    return MixedPair(rest[0].to_native(), rest[1].to_native(), categories, tuple(found))


def _all_numeric(frame: Any) -> bool:
    return all(kind.is_numeric() for kind in frame.schema.values())


def _check_kinds(kinds: Any) -> None:
    if not isinstance(kinds, Mapping):
        raise InvalidOptionError(
            f"kinds must be a dictionary such as {{'zip': 'category'}}, got {kinds!r:.80}"
        )
    for name, kind in kinds.items():
        if kind not in KINDS:
            raise InvalidOptionError(
                f"kinds[{name!r}] must be one of {', '.join(KINDS)}; got {kind!r}"
            )


def _kind(name: str, pair: tuple[Any, Any], given: str | None) -> ColumnKind:
    import narwhals as nw

    if given is not None:
        # The note keeps a category that was asked for from being taken for an identifier.
        return ColumnKind(name, given, "given" if given == "category" else "")
    types = [series.dtype for series in pair]
    if all(kind.is_numeric() or kind == nw.Unknown for kind in types):
        return ColumnKind(name, "numeric")
    if all(kind.is_temporal() for kind in types):
        return ColumnKind(name, "omit", "dates and times are not compared")
    return ColumnKind(name, "category")


def _texts(series: Any, name: str, called: str, nan_policy: str) -> list[str]:
    missing = series.is_null().to_numpy().astype(bool)
    values = series.to_list()
    # NaN in a column of objects is missing too.
    missing |= np.array([value != value for value in values], bool)
    if missing.any() and nan_policy == "raise":
        raise InvalidInputError(
            f"column {name!r} of {called} has {int(missing.sum())} missing value(s); with "
            "nan_policy='omit' they are a category of their own"
        )
    return [MISSING if gone else str(value) for value, gone in zip(values, missing, strict=True)]


def _is_identifier(values: tuple[list[str], list[str]]) -> bool:
    """Whether nearly all of many rows have a value of their own, or there are too many values."""
    if len({*values[0], *values[1]}) > MOST_CATEGORIES:
        return True
    return all(len(part) >= _MANY and len(set(part)) > 0.9 * len(part) for part in values)
