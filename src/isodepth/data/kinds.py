"""Kinds of columns in data frames: numbers, categories, and columns that are not compared."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from isodepth.data.arrays import is_missing, listed
from isodepth.data.frames import Table, is_frame, object_numbers
from isodepth.data.matching import differing
from isodepth.data.numerals import Numerals, common_style
from isodepth.errors import (
    ColumnWarning,
    InvalidInputError,
    InvalidOptionError,
    NotNumbersError,
)

#: Allowed strings in `kinds=`; a list of values in increasing order is allowed too.
KINDS = ("numeric", "category", "omit")
#: A column with more distinct values than this is an identifier, not a category.
MOST_CATEGORIES = 200
# With fewer rows than this, distinct values do not indicate an identifier.
_MANY_ROWS = 20
# A column with at most this number of distinct integers may contain codes.
_FEW_NUMBERS = 10
#: Category of missing values.
MISSING = "(missing)"
_MICROSECONDS_PER_DAY = 86_400_000_000
_DATE = re.compile(r"\d{4}-\d\d-\d\d([ T]|$)")


class ColumnKind(NamedTuple):
    """Kind of one column, and how it is compared.

    Attributes
    ----------
    column : str
    kind : {"numeric", "category", "date", "identifier"}
    use : {"numbers", "shares", "left out"}
        Numbers enter distances and tests. Shares of the values of a category enter tests and
        monitors only.
    note : str
        Reason why the column is left out, or how its values were read; may be empty.
    given : str, list of str or None
        Entry of `kinds` with which other samples are read in the same way; None if the type of
        the column is sufficient.
    attention : bool
        Whether the kind is doubtful, so that results show the note first.
    """

    column: str
    kind: str
    use: str
    note: str = ""
    given: Any = None
    attention: bool = False


class MixedFrames(NamedTuple):
    """Data frames with the same columns, split by the kinds of these columns.

    Attributes
    ----------
    numeric : list of frames with the numeric columns in one order, or of None without any
    categories : dict of lists of lists of str or None
        Values of each category in each frame; None if missing.
    columns : tuple of ColumnKind
    """

    numeric: list[Any]
    categories: dict[str, list[list[str | None]]]
    columns: tuple[ColumnKind, ...]


def column_lines(columns: Sequence[ColumnKind]) -> list[str]:
    """Describe doubtful and non-numeric columns, and numeric ones with a note, one line per use.

    Examples
    --------
    >>> column_lines([ColumnKind("carrier", "category", "shares"),
    ...               ColumnKind("when", "date", "left out", "dates and times")])
    ['categories: carrier', 'left out: when (dates and times)']
    """
    lines = attention_lines(columns)
    for use, head in (("shares", "categories"), ("left out", "left out"), ("numbers", "numbers")):
        described = [
            f"{each.column} ({each.note})" if each.note and not each.attention else each.column
            for each in columns
            if each.use == use and (use != "numbers" or (each.note and not each.attention))
        ]
        lines += [f"{head}: {', '.join(described)}"] if described else []
    return lines


def attention_lines(columns: Sequence[ColumnKind]) -> list[str]:
    """Return one line per column whose kind is doubtful; results show these lines first.

    Examples
    --------
    >>> attention_lines([ColumnKind("size", "category", "shares", "2 of 9 values are numbers",
    ...                             attention=True)])
    ["check column 'size': 2 of 9 values are numbers"]
    """
    return [f"check column {each.column!r}: {each.note}" for each in columns if each.attention]


def attention_suffix(columns: Sequence[ColumnKind]) -> str:
    """Return the end of a headline that names the columns whose kind is doubtful, or "".

    Examples
    --------
    >>> attention_suffix([ColumnKind("size", "category", "shares", "odd", attention=True)])
    "; check the kind of 'size'"
    """
    doubtful = [repr(each.column) for each in columns if each.attention]
    return f"; check the kind of {listed(doubtful, 3)}" if doubtful else ""


def split_columns(
    samples: Sequence[Any], names: Sequence[str], kinds: Mapping[str, Any] | None = None
) -> MixedFrames | None:
    """Split data frames with the same columns by kind; None if a sample is not a data frame.

    The kind of a column is decided once for all samples. Objects and strings that are all numbers
    are numeric. Other strings, booleans and categoricals are categories. Dates, columns in which
    nearly all values are distinct and columns with more than 200 values are left out. `kinds`
    overrides this: "numeric" converts dates (days since 1970), booleans (0 and 1), ordered
    categoricals (ranks) and strings; a list of values in increasing order converts any column to
    ranks.

    Parameters
    ----------
    samples : sequence of data frames
    names : sequence of str
        Names of the samples for messages.
    kinds : dict or None

    Warns
    -----
    ColumnWarning
        If the kind of a column is doubtful.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"delay": [1.0, 5.0], "carrier": ["AA", "UA"], "size": ["S", "L"]})
    >>> mixed = split_columns([X], ["X"], {"size": ["S", "M", "L"]})
    >>> list(mixed.numeric[0].columns), mixed.numeric[0]["size"].tolist(), mixed.categories
    (['delay', 'size'], [0.0, 2.0], {'carrier': [['AA', 'UA']]})
    """
    kinds = check_kinds(kinds)
    frames = _narwhals_frames(samples)
    if frames is None:
        if kinds:
            types = " and ".join(type(each).__name__ for each in samples)
            raise InvalidOptionError(
                f"kinds needs data frames in memory, got {types}", option="kinds"
            )
        return None
    labels = [{str(label): label for label in frame.columns} for frame in frames]
    for name in kinds:
        if name not in labels[0]:
            raise InvalidOptionError(
                f"kinds has the key {name!r}, which is not a column of {names[0]}", option="kinds"
            )
    numeric = all(dtype.is_numeric() for frame in frames for dtype in frame.schema.values())
    for at, names_of_frame in enumerate(labels):
        if names_of_frame.keys() != labels[0].keys():
            if numeric and not kinds:
                return None  # the check of numeric samples reports the difference
            raise differing(tuple(labels[0]), tuple(names_of_frame), names[0], names[at])
    columns: list[ColumnKind] = []
    categories: dict[str, list[list[str | None]]] = {}
    parts: list[list[Any]] = [[] for _ in frames]
    converted = False
    for name in labels[0]:
        stored = [f.get_column(own[name]) for f, own in zip(frames, labels, strict=True)]
        kind, series, values = _read_column(name, stored, names, kinds.get(name))
        columns.append(kind)
        if kind.use == "shares":
            categories[name] = values
        elif kind.use == "numbers":
            converted = converted or any(a is not b for a, b in zip(series, stored, strict=True))
            for part, each in zip(parts, series, strict=True):
                part.append(each)
    if lines := attention_lines(columns):
        warnings.warn("; ".join(lines), ColumnWarning, stacklevel=3)
    if len(parts[0]) == len(columns) and not converted:
        return MixedFrames(list(samples), {}, tuple(columns))
    natives = [
        frame.select(part).to_native() if part else None
        for frame, part in zip(frames, parts, strict=True)
    ]
    return MixedFrames(natives, categories, tuple(columns))


def category_values(
    values: Sequence[str | None], column: str, sample: str, nan_policy: str
) -> list[str]:
    """Return the values of a category; with "omit", missing values are a category of their own."""
    missing = sum(value is None for value in values)
    if missing and nan_policy == "raise":
        raise InvalidInputError(
            f"column {column!r} of {sample} has {missing} missing "
            f"{'value' if missing == 1 else 'values'}; use nan_policy='omit', with which missing "
            "values are a separate category"
        )
    # A value that is spelled like the category of missing values must not be merged with it.
    return [
        MISSING if value is None else repr(value) if value == MISSING else value for value in values
    ]


def numeric_columns(
    X: Any, Y: Any, kinds: Mapping[str, Any] | None
) -> tuple[Any, Any, tuple[ColumnKind, ...]]:
    """Return the numeric columns of two samples, and the kinds of all columns of data frames."""
    mixed = split_columns((X, Y), ("X", "Y"), kinds)
    if mixed is None:
        return X, Y, ()
    if mixed.numeric[0] is None:
        described = "; ".join(column_lines(mixed.columns))
        raise NotNumbersError(
            f"X and Y have no numeric column to compare ({described}); the "
            "two-sample test compares categories (two_sample_test, isodepth test)"
        )
    return mixed.numeric[0], mixed.numeric[1], mixed.columns


def check_kinds(kinds: Any) -> dict[str, Any]:
    """Check `kinds=` and return it as a dictionary, empty for None."""
    if not isinstance(kinds, Mapping | None):
        raise InvalidOptionError(
            f"kinds must be a dictionary such as {{'zip': 'category'}}, got {kinds!r:.80}",
            option="kinds",
        )
    for name, kind in (kinds or {}).items():
        ordered = isinstance(kind, list | tuple) and len(set(map(str, kind))) == len(kind) > 1
        if kind not in KINDS and not ordered:
            raise InvalidOptionError(
                f"kinds[{name!r}] must be one of {', '.join(KINDS)}, or a list of distinct values "
                f"in increasing order; got {kind!r}",
                option="kinds",
            )
    return dict(kinds or {})


# -- one column -----------------------------------------------------------------------------------


def _narwhals_frames(samples: Sequence[Any]) -> list[Any] | None:
    """Return the samples as narwhals frames; None if one is not an eager data frame."""
    for each in samples:
        if isinstance(each, Table) or not is_frame(each) or hasattr(each, "__dask_graph__"):
            return None
    import narwhals as nw

    try:
        return [nw.from_native(each, eager_only=True) for each in samples]
    except (TypeError, ValueError):
        return None  # the check of numeric samples reports the reason


def _all_numeric(columns: Sequence[Any]) -> bool:
    import narwhals as nw

    return all(series.dtype.is_numeric() or series.dtype == nw.Unknown for series in columns)


def _read_column(
    name: str, stored: Sequence[Any], names: Sequence[str], option: Any
) -> tuple[ColumnKind, Sequence[Any], list[list[str | None]]]:
    """Return the kind of a column, its series with numbers converted, and its values as strings."""
    series = [object_numbers(each) for each in stored]
    if option is None and _all_numeric(series):
        return ColumnKind(name, "numeric", "numbers", _codes_note(series)), series, []
    values = [_strings(each) for each in series]
    if option == "category":
        return ColumnKind(name, "category", "shares", "", option), series, values
    if option == "omit":
        return (
            ColumnKind(name, _detect(series, values)[0], "left out", "on request", option),
            series,
            values,
        )
    if option is not None:
        return *_converted(name, series, values, names, option), values
    numbers = _numbers_of_strings(name, series, values, names)
    if isinstance(numbers, _ColumnNumbers):
        converted = numbers.series(series)
        note = "; ".join(filter(None, [numbers.note, _codes_note(converted)]))
        kind = ColumnKind(name, "numeric", "numbers", note, "numeric", numbers.attention)
        return kind, converted, values
    _refuse_two_kinds(name, series, values, names)
    word, reason = _detect(series, values)
    use = "shares" if word == "category" else "left out"
    note = "; ".join(filter(None, [numbers, reason]))
    return ColumnKind(name, word, use, note, attention=bool(numbers)), series, values


def _detect(columns: Sequence[Any], values: Sequence[list[str | None]]) -> tuple[str, str]:
    """Return the kind of a column that does not contain numbers, and a note."""
    if _all_numeric(columns):
        return "numeric", ""
    if all(series.dtype.is_temporal() for series in columns):
        return "date", "dates and times"
    distinct = [set(part) - {None} for part in values]
    both = set().union(*distinct)
    if both and all(_DATE.match(value) for value in both if value):
        return "date", "dates as strings"
    if all(
        len(part) >= _MANY_ROWS and len(own) > 0.9 * len(part)
        for part, own in zip(values, distinct, strict=True)
    ):
        return "identifier", "nearly all values are distinct"
    if len(both) > MOST_CATEGORIES:
        return "identifier", f"{len(both)} values, more than {MOST_CATEGORIES} categories"
    return "category", ""


def _codes_note(columns: Sequence[Any]) -> str:
    """Return a note if a column has so few distinct integers that they may be codes."""
    if not all(series.dtype.is_integer() for series in columns):
        return ""
    count = len(set().union(*(series.unique().to_list() for series in columns)))
    if not 1 < count <= _FEW_NUMBERS < sum(map(len, columns)):
        return ""
    return f"{count} distinct values; choose 'category' if they are codes"


def _refuse_two_kinds(
    name: str, columns: Sequence[Any], values: Sequence[list[str | None]], names: Sequence[str]
) -> None:
    """Refuse a column that is numeric in one sample and not in another, unless it is empty."""
    examples = {
        series.dtype.is_numeric(): (sample, value)
        for sample, series, own in zip(names, columns, values, strict=True)
        if (value := next(filter(None, own), None)) is not None
    }
    if len(examples) == 2:
        raise _two_kinds(name, examples[True][0], repr(examples[False][1]), examples[False][0])


def _two_kinds(name: str, numeric: str, value: str, other: str) -> InvalidInputError:
    return InvalidInputError(
        f"column {name!r} contains numbers in {numeric} and {value} in {other}; correct these "
        f"values, or compare the column as a category (kinds={{{name!r}: 'category'}}, --category "
        f"{name}), or leave it out (kinds={{{name!r}: 'omit'}}, --drop {name})"
    )


def _strings(series: Any) -> list[str | None]:
    values = series.to_list()
    if series.dtype.is_float():  # integer codes with missing values are stored as floats
        values = [int(v) if v is not None and v.is_integer() else v for v in values]
    return [None if is_missing(value) or value == "" else str(value) for value in values]


# -- conversion to numbers ------------------------------------------------------------------------


class _ColumnNumbers(NamedTuple):
    """Numbers of a column of strings in each sample, with a note on how they were read."""

    arrays: list[np.ndarray]
    note: str
    attention: bool

    def series(self, columns: Sequence[Any]) -> list[Any]:
        """Return them as series like `columns`; integers if all numbers are integers."""
        import narwhals as nw

        whole = all(
            np.array_equal(a, np.floor(a)) and (np.abs(a) < 2**53).all() for a in self.arrays
        )
        dtype = nw.Int64 if whole else nw.Float64
        return [
            nw.new_series(
                each.name, (a.astype(np.int64) if whole else a).tolist(), dtype,
                backend=each.implementation,
            )
            for each, a in zip(columns, self.arrays, strict=True)
        ]  # fmt: skip


def _numbers_of_strings(
    name: str, columns: Sequence[Any], values: Sequence[list[str | None]], names: Sequence[str]
) -> _ColumnNumbers | str:
    """Read strings as numbers, or return why the kind of the column is doubtful ("" if it is not).

    Raises InvalidInputError if one sample or most rows contain numbers, and others do not, or if
    the samples write numbers in different styles.
    """
    import narwhals as nw

    strings = (nw.String, nw.Object)
    if not all(s.dtype in strings or s.dtype.is_numeric() for s in columns):
        return ""
    samples = [Numerals(part) for part in values]
    rows, count = sum(s.rows for s in samples), sum(s.count for s in samples)
    if not count:
        return ""
    example = next(s.example for s in samples if s.count)
    if count < rows:
        odd, sample = next((s, n) for s, n in zip(samples, names, strict=True) if s.count < s.rows)
        full = next((n for s, n in zip(samples, names, strict=True) if s.count == s.rows > 0), None)
        if full is not None:
            raise _two_kinds(name, full, repr(odd.other), sample)
        if 2 * count > rows:
            raise _two_kinds(
                name,
                f"{odd.count} of {odd.rows} rows of {sample}",
                f"values such as {odd.other!r}",
                "the other rows",
            )
        return (
            f"{count} of {rows} values are numbers such as {example!r}, but others such as "
            f"{odd.other!r} are not"
        )
    if any(s.dtype.is_numeric() for s in columns) and not all(s.plain for s in samples):
        numeric = next(n for s, n in zip(columns, names, strict=True) if s.dtype.is_numeric())
        odd, sample = next((s, n) for s, n in zip(samples, names, strict=True) if not s.plain)
        raise InvalidInputError(
            f"column {name!r} contains numbers in {numeric} and strings such as {odd.example!r} in "
            f"{sample}; convert these, or use kinds={{{name!r}: 'numeric'}} (--numeric {name})"
        )
    return _in_common_style(name, samples, names)


def _in_common_style(
    name: str, samples: Sequence[Numerals], names: Sequence[str]
) -> _ColumnNumbers:
    """Convert strings that are all numbers; their style must be the same in all samples."""
    style = common_style(samples)
    if style is None:
        styles = " and ".join(f"{s.example!r} in {n}" for s, n in zip(samples, names, strict=True))
        raise InvalidInputError(
            f"column {name!r} has different styles of numbers in the samples: {styles}; write them "
            f"in one style, or leave the column out (kinds={{{name!r}: 'omit'}}, --drop {name})"
        )
    arrays = [s.numbers(style) for s in samples]
    note = f"read from strings such as {next(s.example for s in samples if s.count)!r}"
    units = sorted(set().union(*(s.units for s in samples)))
    doubts = []
    if len(units) > 1:
        doubts.append(f"different units: {', '.join(unit or 'none' for unit in units)}")
    for s, sample, array in zip(samples, names, arrays, strict=True):
        if s.style != style and not np.array_equal(s.numbers(s.style), array, equal_nan=True):
            doubts.append(
                f"{s.example!r} in {sample} is read with {style.decimal!r} as the decimal mark"
            )
    return _ColumnNumbers(arrays, "; ".join([note, *doubts]), bool(doubts))


def _converted(
    name: str, series: Sequence[Any], values: Sequence[list[str | None]], names: Sequence[str],
    option: Any,
) -> tuple[ColumnKind, list[Any]]:  # fmt: skip
    """Convert a column to numbers as `kinds` requires."""
    import narwhals as nw

    order = _common_order(name, series, names) if option == "numeric" else [*map(str, option)]
    if order is not None:
        kind = ColumnKind(name, "numeric", "numbers", "ranks of its values", order)
        return kind, [_ranks(*each, order) for each in zip(series, values, names, strict=True)]
    if all(each.dtype in (nw.Date, nw.Datetime) for each in series):
        days = [each.dt.timestamp("us").cast(nw.Float64) / _MICROSECONDS_PER_DAY for each in series]
        return ColumnKind(name, "numeric", "numbers", "days since 1970", option), days
    if all(each.dtype == nw.Boolean for each in series):
        return ColumnKind(name, "numeric", "numbers", "0 and 1", option), list(series)
    if _all_numeric(series):
        return ColumnKind(name, "numeric", "numbers", "", option), list(series)
    samples = [Numerals(part) for part in values]
    for numerals, sample in zip(samples, names, strict=True):
        if numerals.other is not None:
            raise InvalidInputError(
                f"column {name!r} of {sample} has the value {numerals.other!r}, which is not a "
                "number; correct it, or give the values of the column in increasing order "
                f"(kinds={{{name!r}: [...]}})"
            )
    numbers = _in_common_style(name, samples, names)
    kind = ColumnKind(name, "numeric", "numbers", numbers.note, option, numbers.attention)
    return kind, numbers.series(series)


def _common_order(name: str, series: Sequence[Any], names: Sequence[str]) -> list[str] | None:
    """Return the order of ordered categoricals that all samples share; None for other types."""
    orders = [getattr(each.dtype, "categories", None) for each in series]
    lists = [None if order is None else [*map(str, order)] for order in orders]
    known = [order for order in lists if order is not None]
    if len(known) < len(lists):
        return None
    longest = max(known, key=len)
    for order in known:
        if order != [value for value in longest if value in set(order)]:
            both = " and ".join(
                f"[{', '.join(order)}] in {sample}"
                for order, sample in zip(known, names, strict=True)
            )
            raise InvalidInputError(
                f"column {name!r} has categories in different orders: {both}; use one order in "
                f"all samples, or give it with kinds={{{name!r}: [...]}}"
            )
    return longest


def _ranks(series: Any, values: Sequence[str | None], sample: str, order: Sequence[str]) -> Any:
    import narwhals as nw

    ranks = {value: float(place) for place, value in enumerate(order)}
    for value in values:
        if value is not None and value not in ranks:
            raise InvalidInputError(
                f"column {series.name!r} of {sample} has the value {value!r}, which is not in the "
                f"list of its values: {', '.join(order[:20])}"
            )
    numbers = [None if value is None else ranks[value] for value in values]
    return nw.new_series(series.name, numbers, nw.Float64, backend=series.implementation)
