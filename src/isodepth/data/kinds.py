"""Kinds of columns of mixed tables: numbers, categories, and what is left out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from isodepth.data.arrays import is_missing
from isodepth.data.frames import Table, looks_like_frame
from isodepth.data.matching import differing
from isodepth.errors import InvalidInputError, InvalidOptionError, NotNumbersError

#: What `kinds=` may say of a column, beside a list of its values in their order.
KINDS = ("numeric", "category", "omit")
#: A column with more categories than this is taken for an identifier.
MOST_CATEGORIES = 200
# Of fewer rows each may have a value of its own.
_MANY = 20
# So few different whole numbers may be codes.
_FEW_NUMBERS = 10
#: What missing values of a category are called.
MISSING = "(missing)"
_DAY = 86_400_000_000
_DATE = re.compile(r"\d{4}-\d\d-\d\d([ T]|$)")


class ColumnKind(NamedTuple):
    """A column of a table, and what is done with it.

    Attributes
    ----------
    column : str
    kind : {"numeric", "category", "date", "identifier"}
    use : {"numbers", "shares", "left out"}
        Numbers are compared by distances and by tests; shares of the values of categories by tests
        and monitors alone.
    note : str
        Why it is left out, or what else is to be known; may be empty.
    given : str, list or None
        What `kinds` said of it.
    """

    column: str
    kind: str
    use: str
    note: str = ""
    given: Any = None


class MixedFrames(NamedTuple):
    """Frames with the same columns, divided by the kinds of these.

    Attributes
    ----------
    numeric : list of frames with the columns of numbers, in one order; None where there are none
    categories : dict of lists of lists of str or None
        The values of each category column in each of the frames; None is a missing one.
    columns : tuple of ColumnKind
    """

    numeric: list[Any]
    categories: dict[str, list[list[str | None]]]
    columns: tuple[ColumnKind, ...]


def column_lines(columns: Sequence[ColumnKind]) -> list[str]:
    """What is to be said of columns that are no numbers, or may be none, one line a use.

    Examples
    --------
    >>> column_lines([ColumnKind("carrier", "category", "shares"),
    ...               ColumnKind("when", "date", "left out", "dates and times")])
    ['categories: carrier', 'left out: when (dates and times)']
    """
    lines = []
    for use, head in (("shares", "categories"), ("left out", "left out"), ("numbers", "numbers")):
        such = [each for each in columns if each.use == use and (each.note or use != "numbers")]
        texts = [f"{each.column}{f' ({each.note})' * bool(each.note)}" for each in such]
        lines += [f"{head}: {', '.join(texts)}"] if texts else []
    return lines


def split_columns(
    samples: Sequence[Any], names: Sequence[str], kinds: Mapping[str, Any] | None = None
) -> MixedFrames | None:
    """Divide data frames with the same columns; None where a sample is no data frame.

    Booleans, texts and categories are categories. Dates are left out, and so are columns in which
    nearly every row has a value of its own, or which have more than 200 values. `kinds` says
    otherwise: "numeric" makes numbers of dates (days since 1970), booleans (0 and 1) and ordered
    categories (ranks), a list of values makes ranks of any column.

    Parameters
    ----------
    samples : data frames
    names : how to call each of them in messages
    kinds : dict or None

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"delay": [1.0, 5.0], "carrier": ["AA", "UA"], "size": ["S", "L"]})
    >>> found = split_columns([X], ["X"], {"size": ["S", "M", "L"]})
    >>> list(found.numeric[0].columns), found.numeric[0]["size"].tolist(), found.categories
    (['delay', 'size'], [0.0, 2.0], {'carrier': [['AA', 'UA']]})
    """
    kinds = check_kinds(kinds)
    frames = _opened(samples)
    if frames is None:
        if kinds:
            got = " and ".join(type(each).__name__ for each in samples)
            raise InvalidOptionError(f"kinds names columns of data frames in memory, got {got}")
        return None
    labels = [{str(label): label for label in frame.columns} for frame in frames]
    for name in kinds:
        if name not in labels[0]:
            raise InvalidOptionError(f"kinds names {name!r}, which is not a column of {names[0]}")
    numeric = all(kind.is_numeric() for frame in frames for kind in frame.schema.values())
    for own, called in zip(labels, names, strict=True):
        if own.keys() != labels[0].keys():
            if numeric and not kinds:
                return None  # what differs is said where numbers are matched
            raise differing(tuple(labels[0]), tuple(own), names[0], called)
    found: list[ColumnKind] = []
    categories: dict[str, list[list[str | None]]] = {}
    changed: list[dict[str, Any]] = [{} for _ in frames]
    for name in labels[0]:
        series = [f.get_column(own[name]) for f, own in zip(frames, labels, strict=True)]
        values = [] if _all_numeric(series) and name not in kinds else list(map(_texts, series))
        column = _kind(name, series, values, kinds.get(name))
        if name not in kinds:
            _refuse_two_kinds(name, series, values, names)
        found.append(column)
        if column.use == "shares":
            categories[name] = values
        elif column.use == "numbers" and name in kinds:
            for at, each in enumerate(series):
                changed[at][name] = _numbers(each, values[at], kinds[name], names[at])
    kept = [column.column for column in found if column.use == "numbers"]
    if len(kept) == len(found) and not any(changed):
        return MixedFrames(list(samples), {}, tuple(found))
    parts = [
        frame.select([changed[at].get(name, frame.get_column(labels[at][name])) for name in kept])
        for at, frame in enumerate(frames)
    ]
    numbers = [part.to_native() if kept else None for part in parts]
    return MixedFrames(numbers, categories, tuple(found))


def category_texts(
    values: Sequence[str | None], column: str, called: str, nan_policy: str
) -> list[str]:
    """Values of a category; what is missing is refused, or with "omit" a value of its own."""
    missing = sum(value is None for value in values)
    if missing and nan_policy == "raise":
        raise InvalidInputError(
            f"column {column!r} of {called} has {missing} missing value(s); with "
            "nan_policy='omit' they are a category of their own"
        )
    return [MISSING if value is None else value for value in values]


def numeric_columns(
    X: Any, Y: Any, kinds: Mapping[str, Any] | None
) -> tuple[Any, Any, tuple[ColumnKind, ...]]:
    """The columns of numbers of two samples, which may be frames, and the kinds of all columns."""
    mixed = split_columns((X, Y), ("X", "Y"), kinds)
    if mixed is None:
        return X, Y, ()
    if mixed.numeric[0] is None:
        raise NotNumbersError(
            f"there is no column of numbers to compare ({'; '.join(column_lines(mixed.columns))}); "
            "the two-sample test compares categories (two_sample_test, isodepth test)"
        )
    return mixed.numeric[0], mixed.numeric[1], mixed.columns


def check_kinds(kinds: Any) -> dict[str, Any]:
    """What `kinds=` says of columns, checked; empty for None."""
    if not isinstance(kinds, Mapping | None):
        raise InvalidOptionError(
            f"kinds must be a dictionary such as {{'zip': 'category'}}, got {kinds!r:.80}"
        )
    for name, kind in (kinds or {}).items():
        ordered = isinstance(kind, list | tuple) and len(set(map(str, kind))) == len(kind) > 1
        if kind not in KINDS and not ordered:
            raise InvalidOptionError(
                f"kinds[{name!r}] must be one of {', '.join(KINDS)}, or a list of different values "
                f"in their order; got {kind!r}"
            )
    return dict(kinds or {})


def _opened(samples: Sequence[Any]) -> list[Any] | None:
    """The samples as frames of narwhals; None where one of them is none, or is read in chunks."""
    for each in samples:
        if isinstance(each, Table) or not looks_like_frame(each) or hasattr(each, "__dask_graph__"):
            return None
    import narwhals as nw

    try:
        return [nw.from_native(each, eager_only=True) for each in samples]
    except (TypeError, ValueError):
        return None  # what is wrong with it is said where numbers are read


def _all_numeric(columns: Sequence[Any]) -> bool:
    import narwhals as nw

    return all(series.dtype.is_numeric() or series.dtype == nw.Unknown for series in columns)


def _kind(
    name: str, columns: Sequence[Any], values: Sequence[list[str | None]], given: Any
) -> ColumnKind:
    import narwhals as nw

    kind, note = _detected(columns, values)
    if given == "omit":
        return ColumnKind(name, kind, "left out", "as asked", given)
    if given == "category":
        return ColumnKind(name, "category", "shares", "", given)
    if given is not None:
        plain = {"date": "days since 1970", "numeric": ""} if given == "numeric" else {}
        boolean = all(series.dtype == nw.Boolean for series in columns)
        how = plain.get(kind, "0 and 1" if boolean else "ranks of its values")
        return ColumnKind(name, "numeric", "numbers", how, given)
    use = {"numeric": "numbers", "category": "shares"}.get(kind, "left out")
    return ColumnKind(name, kind, use, note)


def _detected(columns: Sequence[Any], values: Sequence[list[str | None]]) -> tuple[str, str]:
    """What a column holds by its type and values, and what is to be known about it."""
    if _all_numeric(columns):
        whole = all(series.dtype.is_integer() for series in columns)
        distinct = set().union(*(series.unique().to_list() for series in columns)) if whole else ()
        if whole and 1 < len(distinct) <= _FEW_NUMBERS < sum(map(len, columns)):
            return "numeric", f"{len(distinct)} different values, a category if they are codes"
        return "numeric", ""
    if all(series.dtype.is_temporal() for series in columns):
        return "date", "dates and times"
    found = [set(part) for part in values]
    texts = {text for part in found for text in part if text is not None}
    if texts and all(_DATE.match(text) for text in texts):
        return "date", "dates as texts"
    many = all(
        len(part) >= _MANY and len(one) > 0.9 * len(part)
        for part, one in zip(values, found, strict=True)
    )
    if many:
        return "identifier", "nearly every row has a value of its own"
    count = len(texts)
    if count > MOST_CATEGORIES:
        return "identifier", f"{count} values, more than {MOST_CATEGORIES} categories"
    return "category", ""


def _refuse_two_kinds(
    name: str, columns: Sequence[Any], values: Sequence[list[str | None]], names: Sequence[str]
) -> None:
    """A column of numbers in one sample is no other in the next, unless nothing is in it."""
    known = [
        (called, series.dtype.is_numeric(), next(filter(None, own), None))
        for called, series, own in zip(names, columns, values, strict=bool(values))
    ]
    such = {numeric: (called, value) for called, numeric, value in known if value is not None}
    if len(such) == 2:
        (numbers, _), (others, value) = such[True], such[False]
        raise InvalidInputError(
            f"column {name!r} holds numbers in {numbers} and {value!r} in {others}: make it a "
            f"category (kinds={{{name!r}: 'category'}}, --category {name}), or leave it out"
        )


def _texts(series: Any) -> list[str | None]:
    values = series.to_list()
    if series.dtype.is_float():  # codes, of which some are missing
        values = [int(v) if v is not None and v.is_integer() else v for v in values]
    return [None if is_missing(value) else str(value) for value in values]


def _numbers(series: Any, values: Sequence[str | None], given: Any, called: str) -> Any:
    """A column as numbers: dates as days since 1970, ordered values as ranks."""
    import narwhals as nw

    order = getattr(series.dtype, "categories", None) if given == "numeric" else given
    if series.dtype in (nw.Date, nw.Datetime) and given == "numeric":
        return series.dt.timestamp("us").cast(nw.Float64) / _DAY
    if order is None:
        return series
    places = {str(value): float(place) for place, value in enumerate(order)}
    odd = [value for value in values if value is not None and value not in places]
    if odd:
        raise InvalidInputError(
            f"column {series.name!r} of {called} has the value {odd[0]!r}, which is not among "
            f"those in order: {', '.join(list(places)[:20])}"
        )
    ranks = [None if value is None else places[value] for value in values]
    return nw.new_series(series.name, ranks, nw.Float64, backend=series.implementation)
