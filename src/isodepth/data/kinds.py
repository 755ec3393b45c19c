"""Kinds of columns in data frames: numbers, categories, and columns that are not compared."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from isodepth.data.arrays import is_missing, listed
from isodepth.data.frames import Table, differing, is_frame, object_numbers
from isodepth.data.numerals import Numerals, common_style
from isodepth.errors import ColumnWarning, InvalidInputError, InvalidOptionError, NotNumbersError

#: Allowed strings for a column in the option `kinds`. A list of values in increasing order is also
#: allowed.
KINDS = ("numeric", "category", "omit")
#: Maximum number of distinct values of a category. A non-numeric column with more distinct values
#: is an identifier, which is not compared.
MOST_CATEGORIES = 200
# Minimum number of rows of each sample for which a column with nearly all values distinct is taken
# for an identifier.
_MANY_ROWS = 20
#: Maximum number of distinct values for which the numbers in a column may be codes of categories.
FEW_VALUES = 10
#: Name of the category that contains missing values.
MISSING = "(missing)"
_MICROSECONDS_PER_DAY = 86_400_000_000
_DATE = re.compile(r"\d{4}-\d\d-\d\d([ T]|$)")
# Value of `ColumnKind.use` for each kind of column.
_USES = {
    "numeric": "numbers", "category": "shares", "date": "left out", "identifier": "left out"
}  # fmt: skip


class ColumnKind(NamedTuple):
    """Kind of one column, and how it is compared.

    Attributes
    ----------
    column : str
    kind : {"numeric", "category", "date", "identifier"}
    use : {"numbers", "shares", "left out"}
        "numbers": the values enter distances, tests and monitors. "shares": the relative
        frequencies of the values enter tests and monitors, but not distances. "left out": the
        column is not compared.
    note : str
        Reason why the column is left out, or how its values were read; may be empty.
    given : str, list of str or None
        Entry of the option `kinds` with which the column is read in the same way from other
        samples. None if no entry is needed.
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
    """Data frames with the same columns, split into numeric and category columns.

    Attributes
    ----------
    numeric : list of frames, or list of None
        Numeric columns of each frame, in the same order; None if no column is numeric.
    categories : dict
        For the name of each category column, a list with one list of values per frame. Values are
        strings, or None if missing.
    columns : tuple of ColumnKind
        Kinds of all columns, including those that are left out.
    """

    numeric: list[Any]
    categories: dict[str, list[list[str | None]]]
    columns: tuple[ColumnKind, ...]


def column_lines(columns: Sequence[ColumnKind]) -> list[str]:
    """Return lines that describe the kinds of columns in a summary of a result.

    First comes one line per column of doubtful kind. Then there is one line each for categories,
    columns that are left out, and numeric columns with a note.

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

    The kind of a column is determined once for all samples. Columns of numbers are numeric, and so
    are columns of strings or objects if all values are numbers. Other strings, booleans and
    categoricals are categories. Dates are left out, and so are categories if nearly all values are
    distinct or if there are more than 200 distinct values.

    `kinds` overrides these rules: "numeric" converts dates (days since 1970), booleans (0 and 1),
    ordered categoricals (ranks) and strings. A list of values in increasing order converts any
    column to ranks.

    Parameters
    ----------
    samples : sequence of data frames
    names : sequence of str
        Names of the samples for messages.
    kinds : dict or None
        For the name of a column, "numeric", "category", "omit", or a list of values.

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
    (['delay', 'size'], [0, 2], {'carrier': [['AA', 'UA']]})
    """
    kinds = check_kinds(kinds)
    frames = _narwhals_frames(samples)
    if frames is None:
        if kinds:
            types = " and ".join(type(each).__name__ for each in samples)
            raise _kinds_error(f"kinds needs data frames in memory, got {types}")
        return None
    labels = [{str(label): label for label in frame.columns} for frame in frames]
    unknown = next((name for name in kinds if name not in labels[0]), None)
    if unknown is not None:
        raise _kinds_error(f"kinds has the key {unknown!r}, which is not a column of {names[0]}")
    numeric = all(dtype.is_numeric() for frame in frames for dtype in frame.schema.values())
    for at, names_of_frame in enumerate(labels):
        if names_of_frame.keys() != labels[0].keys():
            # If all columns are numeric, a later check raises the error about different columns.
            if numeric and not kinds:
                return None
            raise differing(tuple(labels[0]), tuple(names_of_frame), names[0], names[at])
    columns: list[ColumnKind] = []
    categories: dict[str, list[list[str | None]]] = {}
    parts: list[list[Any]] = [[] for _ in frames]
    changed = False
    for name in labels[0]:
        stored = [f.get_column(label[name]) for f, label in zip(frames, labels, strict=True)]
        column = _Column(name, stored, names)
        kind, series = column.read(kinds.get(name))
        columns.append(kind)
        changed = changed or any(a is not b for a, b in zip(series, stored, strict=True))
        if kind.use == "shares":
            categories[name] = column.values
        elif kind.use == "numbers":
            for part, each in zip(parts, series, strict=True):
                part.append(each)
    if lines := attention_lines(columns):
        warnings.warn("; ".join(lines), ColumnWarning, stacklevel=3)
    if len(parts[0]) == len(columns) and not changed:
        return MixedFrames(list(samples), {}, tuple(columns))
    natives = [
        frame.select(part).to_native() if part else None
        for frame, part in zip(frames, parts, strict=True)
    ]
    return MixedFrames(natives, categories, tuple(columns))


def category_values(
    values: Sequence[str | None], column: str, sample: str, nan_policy: str
) -> list[str]:
    """Return the values of a category column, in which missing values are a separate category.

    With nan_policy "raise", missing values raise an error. `column` and `sample` are names for the
    message.
    """
    missing = sum(value is None for value in values)
    if missing and nan_policy == "raise":
        raise InvalidInputError(
            f"column {column!r} of {sample} has {missing} missing "
            f"{'value' if missing == 1 else 'values'}; use nan_policy='omit', with which missing "
            "values are a separate category"
        )
    # A value that equals the name of the category of missing values is quoted, so that it remains a
    # category of its own.
    return [
        MISSING if value is None else repr(value) if value == MISSING else value for value in values
    ]


def numeric_columns(
    X: Any, Y: Any, kinds: Mapping[str, Any] | None
) -> tuple[Any, Any, tuple[ColumnKind, ...]]:
    """Return the numeric columns of X and of Y, and the kinds of all columns.

    Samples that are not data frames are returned unchanged, with () for the kinds. Raise an error
    if no column is numeric.
    """
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
    """Check the option `kinds` and return it as a dictionary, which is empty for None."""
    if not isinstance(kinds, Mapping | None):
        raise _kinds_error(
            f"kinds must be a dictionary such as {{'zip': 'category'}}, got {kinds!r:.80}"
        )
    for name, kind in (kinds or {}).items():
        ordered = isinstance(kind, list | tuple) and len(set(map(str, kind))) == len(kind) > 1
        if kind not in KINDS and not ordered:
            raise _kinds_error(
                f"kinds[{name!r}] must be one of {', '.join(KINDS)}, or a list of distinct values "
                f"in increasing order; got {kind!r}"
            )
    return dict(kinds or {})


def _kinds_error(message: str) -> InvalidOptionError:
    return InvalidOptionError(message, option="kinds")


# -- kind of one column ---------------------------------------------------------------------------


def _narwhals_frames(samples: Sequence[Any]) -> list[Any] | None:
    """Return the samples as narwhals frames; None if any sample is not an eager data frame."""
    for each in samples:
        if isinstance(each, Table) or not is_frame(each) or hasattr(each, "__dask_graph__"):
            return None
    import narwhals as nw

    try:
        return [nw.from_native(each, eager_only=True) for each in samples]
    except (TypeError, ValueError):
        return None  # a later check of the samples raises the error with the reason


class _Column:
    """One column, with its values in all samples.

    Attributes
    ----------
    name : str
    samples : sequence of str
        Names of the samples for messages.
    series : list of narwhals series
        Values of the column in each sample. Python objects are converted to floats if all of them
        are numbers.
    """

    def __init__(self, name: str, stored: Sequence[Any], samples: Sequence[str]) -> None:
        self.name, self.samples = name, samples
        self.series = [object_numbers(each) for each in stored]

    @cached_property
    def values(self) -> list[list[str | None]]:
        """Values of each sample as strings; None if missing."""
        values = [_strings(series) for series in self.series]
        if len({series.dtype.is_numeric() for series in self.series}) > 1:
            # If one sample has numbers and another has strings, the strings "01" and "1.0" must
            # equal the number 1.
            return [[v if v is None else _plain_number(v) for v in part] for part in values]
        return values

    def _kind(
        self, kind: str, note: str = "", given: Any = None, attention: bool = False
    ) -> ColumnKind:
        return ColumnKind(self.name, kind, _USES[kind], note, given, attention)

    def _error(self, fault: str) -> InvalidInputError:
        """Return the error for a column with contradictory values, described by `fault`."""
        name = self.name
        return InvalidInputError(
            f"column {name!r} {fault}; correct the values, or replace them by missing values "
            f"(--missing WORD), or compare the column as a category (kinds={{{name!r}: "
            f"'category'}}, --category {name}), or leave it out (kinds={{{name!r}: 'omit'}}, "
            f"--drop {name})"
        )

    def read(self, option: Any) -> tuple[ColumnKind, list[Any]]:
        """Return the kind of the column, and one series of its values per sample.

        The series of a numeric column are converted to numbers. `option` is the entry of the option
        `kinds` for this column, or None.
        """
        if option == "category":
            return self._kind("category", given=option), self.series
        if option == "omit":
            kind = self._kind(self._detect()[0], "on request", option)
            return kind._replace(use="left out"), self.series
        if option is not None:
            return self._converted(option)
        if self._all_numeric():
            return self._kind("numeric", _codes_note(self.series)), self.series
        import narwhals as nw

        numerals = []
        if all(s.dtype in (nw.String, nw.Object) or s.dtype.is_numeric() for s in self.series):
            numerals = [Numerals(part) for part in self.values]
        if not any(each.count for each in numerals):
            self._refuse_two_types()
            return self._kind(*self._detect()), self.series
        if any(each.count < each.rows for each in numerals):
            return self._partly_numbers(numerals), self.series
        numeric = [each.dtype.is_numeric() for each in self.series]
        styled = [each.example for each in numerals if not each.plain]
        if any(numeric) and styled:
            raise self._error(
                f"contains numbers in {self.samples[numeric.index(True)]} and strings such as "
                f"{styled[0]!r} in {self.samples[numeric.index(False)]}, which --numeric "
                f"{self.name} (kinds={{{self.name!r}: 'numeric'}}) converts"
            )
        kind, series = self._numbers(numerals)
        return kind._replace(note=_joined(kind.note, _codes_note(series))), series

    def _all_numeric(self) -> bool:
        import narwhals as nw

        return all(s.dtype.is_numeric() or s.dtype == nw.Unknown for s in self.series)

    def _detect(self) -> tuple[str, str]:
        """Return the kind of the column, detected from its types and values, and the reason."""
        if self._all_numeric():
            return "numeric", ""
        if all(series.dtype.is_temporal() for series in self.series):
            return "date", "dates and times"
        distinct = [set(part) - {None} for part in self.values]
        pooled = set().union(*distinct)
        if pooled and all(_DATE.match(value) for value in pooled if value):
            return "date", "dates as strings"
        if all(
            len(part) >= _MANY_ROWS and len(values) > 0.9 * len(part)
            for part, values in zip(self.values, distinct, strict=True)
        ):
            return "identifier", "nearly all values are distinct"
        if len(pooled) > MOST_CATEGORIES:
            return "identifier", f"{len(pooled)} values, more than {MOST_CATEGORIES} categories"
        return "category", ""

    def _refuse_two_types(self) -> None:
        """Raise an error if one sample has numbers and another has other types, such as dates."""
        examples = {
            series.dtype.is_numeric(): (sample, value)
            for sample, series, part in zip(self.samples, self.series, self.values, strict=True)
            if (value := next(filter(None, part), None)) is not None
        }
        if len(examples) == 2:
            other, value = examples[False]
            raise self._error(f"contains numbers in {examples[True][0]} and {value!r} in {other}")

    def _partly_numbers(self, numerals: Sequence[Numerals]) -> ColumnKind:
        """Return the kind of a column in which some values are numbers and others are not.

        A column of at most ten distinct values in more than ten rows is a category, for example
        numeric codes and one word. Any other column raises an error if all values of one sample or
        most values of all samples are numbers: a typing error must not turn numbers into a
        category.
        """
        rows, count = sum(each.rows for each in numerals), sum(each.count for each in numerals)
        both = list(zip(numerals, self.samples, strict=True))
        odd, sample = next((each, name) for each, name in both if each.count < each.rows)
        distinct = len(set().union(*(each.distinct for each in numerals)))
        if distinct <= FEW_VALUES < rows:
            note = f"compared as a category: {odd.other!r} is not a number ({distinct} values)"
            return self._kind("category", note, "category", True)
        full = next((name for each, name in both if each.count == each.rows > 0), None)
        if full is not None:
            raise self._error(f"contains numbers in {full} and {odd.other!r} in {sample}")
        if 2 * count > rows:
            raise self._error(
                f"contains numbers in {odd.count} of {odd.rows} rows of {sample}, and values such "
                f"as {odd.other!r} in the others"
            )
        example = next(each.example for each in numerals if each.count)
        kind, reason = self._detect()
        note = (
            f"{count} of {rows} values are numbers such as {example!r}, but others such as "
            f"{odd.other!r} are not"
        )
        return self._kind(kind, _joined(note, reason), attention=True)

    def _numbers(self, numerals: Sequence[Numerals]) -> tuple[ColumnKind, list[Any]]:
        """Return the kind and the converted series of a column of strings that are all numbers.

        Raise an error if no decimal mark and thousands separator fit the strings of all samples.
        """
        both = list(zip(numerals, self.samples, strict=True))
        style = common_style(numerals)
        if style is None:
            styles = " and ".join(f"{each.example!r} in {sample}" for each, sample in both)
            raise self._error(f"has different styles of numbers in the samples: {styles}")
        arrays = [each.numbers(style) for each in numerals]
        doubts = []
        units = sorted(set().union(*(each.units for each in numerals)))
        if len(units) > 1:
            doubts.append(f"different units: {', '.join(unit or 'none' for unit in units)}")
        for (each, sample), array in zip(both, arrays, strict=True):
            if not np.array_equal(each.numbers(each.style), array, equal_nan=True):
                mark = f"with {style.decimal!r} as the decimal mark"
                doubts.append(f"{each.example!r} in {sample} is read {mark}")
        example = next(each.example for each in numerals if each.count)
        note = _joined(f"read from strings such as {example!r}", *doubts)
        return self._kind("numeric", note, "numeric", bool(doubts)), self._series_of(arrays)

    def _series_of(self, arrays: Sequence[np.ndarray]) -> list[Any]:
        """Convert arrays of numbers, one per sample, to series of the data frame libraries.

        The series are integers if all numbers in all arrays are integers, else floats.
        """
        import narwhals as nw

        whole = all(np.array_equal(a, np.floor(a)) and (np.abs(a) < 2**53).all() for a in arrays)
        kind = nw.Int64 if whole else nw.Float64
        lists = [(a.astype(np.int64) if whole else a).tolist() for a in arrays]
        return [
            nw.new_series(each.name, numbers, kind, backend=each.implementation)
            for each, numbers in zip(self.series, lists, strict=True)
        ]

    def _converted(self, option: Any) -> tuple[ColumnKind, list[Any]]:
        """Return the kind and the series of the column after conversion to numbers.

        `option` is "numeric", or a list of values in increasing order.
        """
        import narwhals as nw

        series: list[Any] = self.series
        order = self._common_order() if option == "numeric" else [*map(str, option)]
        note = ""
        if order is not None:
            note, option, series = "ranks of its values", order, self._ranks(order)
        elif all(each.dtype in (nw.Date, nw.Datetime) for each in series):
            note = "days since 1970"
            series = [s.dt.timestamp("us").cast(nw.Float64) / _MICROSECONDS_PER_DAY for s in series]
        elif all(each.dtype == nw.Boolean for each in series):
            note = "0 and 1"
        elif not self._all_numeric():
            numerals = [Numerals(part) for part in self.values]
            for each, sample in zip(numerals, self.samples, strict=True):
                if each.other is not None:
                    raise self._error(f"has {each.other!r} in {sample}, which is not a number")
            return self._numbers(numerals)
        return self._kind("numeric", note, option), series

    def _common_order(self) -> list[str] | None:
        """Return the common categories of ordered categoricals, in order.

        These are the categories of the sample with the most categories. Other samples may lack some
        of them. Raise an error if a sample has a further category, or another order. Return None if
        the column is not an ordered categorical in every sample.
        """
        categories = [getattr(each.dtype, "categories", None) for each in self.series]
        orders = [[*map(str, each)] for each in categories if each is not None]
        if len(orders) < len(categories):
            return None
        longest = max(orders, key=len)
        if any(order != [v for v in longest if v in set(order)] for order in orders):
            both = zip(orders, self.samples, strict=True)
            lists = " and ".join(f"[{', '.join(order)}] in {sample}" for order, sample in both)
            raise self._error(f"has categories in different orders: {lists}")
        return longest

    def _ranks(self, order: Sequence[str]) -> list[Any]:
        """Convert values to their positions in the list `order`; missing values become NaN.

        Raise an error if a value is not in the list.
        """
        ranks: dict[str | None, float] = {value: float(i) for i, value in enumerate(order)}
        ranks[None] = np.nan
        for part, sample in zip(self.values, self.samples, strict=True):
            unknown = next((value for value in part if value not in ranks), None)
            if unknown is not None:
                raise self._error(
                    f"has {unknown!r} in {sample}, which is not in the list of its values "
                    f"({listed(order)})"
                )
        return self._series_of([np.array([ranks[v] for v in part]) for part in self.values])


def _joined(*notes: str) -> str:
    return "; ".join(filter(None, notes))


def _codes_note(columns: Sequence[Any]) -> str:
    """Return a note if a column of integers may contain codes of categories, else "".

    Integers may be codes if there are two to ten distinct values in more than ten rows.
    """
    if not all(series.dtype.is_integer() for series in columns):
        return ""
    count = len(set().union(*(series.unique().to_list() for series in columns)))
    if not 1 < count <= FEW_VALUES < sum(map(len, columns)):
        return ""
    return f"{count} distinct values; choose 'category' if they are codes"


def _strings(series: Any) -> list[str | None]:
    values = series.to_list()
    if series.dtype.is_float():  # pandas stores integers as floats if the column has missing values
        values = [int(v) if v is not None and v.is_integer() else v for v in values]
    return [None if is_missing(value) or value == "" else str(value) for value in values]


def _plain_number(value: str) -> str:
    """Return the number in a string in its shortest form, such as "1" for "01" and "1.0".

    Strings that are not numbers are returned unchanged.
    """
    try:
        number = float(value)
    except ValueError:
        return value
    return str(int(number) if number.is_integer() else number)
