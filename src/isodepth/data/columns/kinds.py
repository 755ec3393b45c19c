"""Kinds of columns in data frames: numbers, categories, and columns that are not compared.

Every decision about a column is made from the rows of all samples together, the pooled rows, so
that a permutation of the rows between the samples does not change it. Otherwise the selection of
columns would depend on the labels, and a permutation test of the selected columns would not be
exact. The decisions are, in the order of `_RULES`:

=================  ================================================================================
decision           made from
=================  ================================================================================
type               types of all samples with a value; a sample without values has no influence
strings of values  pooled types: with a boolean, the words true and false, 0 and 1 are booleans if
                   there is no other value; with a number, strings of numbers are numbers
integer base       pooled minimum and maximum of integers beyond 2**53
numeric            pooled values: all are numbers in one style
codes and words    pooled number of distinct values, and pooled number of rows
date               at least 90% of the pooled values are dates
identifier         pooled distinct values: on average about one row per value and sample
too many values    pooled number of distinct values
=================  ================================================================================

If the samples contradict each other, for example numbers in one sample and words in another, an
error is raised. No column is left out or converted because of such a difference. Rare categories
are pooled later, by their numbers of pooled rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from isodepth.data.arrays import EXACT_INTEGERS, is_missing, listed
from isodepth.data.columns.numerals import Numerals, common_style
from isodepth.data.columns.values import Strings, boolean, date_format, plain_number, strings_of
from isodepth.data.frames import Table, column_names, differing, is_frame, object_numbers
from isodepth.errors import (
    ColumnWarning,
    InvalidInputError,
    InvalidOptionError,
    NotNumbersError,
    warn_user,
)

#: Allowed strings for a column in the option `kinds`. Also allowed are a list of values in
#: increasing order, and an integer that is subtracted from integers beyond 2**53.
KINDS = ("numeric", "category", "omit")
#: Maximum number of distinct values of a category. A non-numeric column with more distinct values
#: is an identifier, which is not compared.
MOST_CATEGORIES = 200
# Minimum number of pooled values per sample for which a column with nearly all values distinct is
# taken for an identifier, and the fraction that is nearly all.
_MANY_ROWS, _NEARLY_ALL = 20, 0.9
#: Maximum number of distinct values for which the numbers in a column may be codes of categories.
FEW_VALUES = 10
#: Name of the category that contains missing values.
MISSING = "(missing)"
_MICROSECONDS_PER_DAY = 86_400_000_000
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
    option : str, list of str, int or None
        Entry of the option `kinds` with which the column is read in the same way from other
        samples. None if no entry is needed.
    attention : bool
        Whether the kind is doubtful, so that results show the note first.
    """

    column: str
    kind: str
    use: str
    note: str = ""
    option: Any = None
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

    The kind of a column is determined once for all samples, from all rows together. Columns of
    numbers are numeric, and so are columns of strings or objects if all values are numbers. Other
    strings, booleans and categoricals are categories, whose values are equal in two samples if they
    are equal as values: 1 and 1.0, True and "true". Dates are left out, and so are categories if
    nearly all values are distinct or if there are more than 200 distinct values.

    `kinds` overrides these rules: "numeric" converts dates (days since 1970), booleans (0 and 1),
    ordered categoricals (ranks) and strings. A list of values in increasing order converts any
    column to ranks. An integer is subtracted from a column of integers, which is exact beyond
    2**53; without the option, the minimum is subtracted from such a column if this is exact.

    Parameters
    ----------
    samples : sequence of data frames
    names : sequence of str
        Names of the samples for messages.
    kinds : dict or None
        For the name of a column, "numeric", "category", "omit", a list of values, or an integer.

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
    labels = [
        dict(zip(column_names(frame.columns, name), frame.columns, strict=True))
        for frame, name in zip(frames, names, strict=True)
    ]
    unknown = next((name for name in kinds if name not in labels[0]), None)
    if unknown is not None:
        raise _kinds_error(f"kinds has the key {unknown!r}, which is not a column of {names[0]}")
    other = next((at for at, each in enumerate(labels) if each.keys() != labels[0].keys()), None)
    if other is not None:
        # If all columns are numeric, a later check raises the error about different columns.
        if not kinds and all(t.is_numeric() for frame in frames for t in frame.schema.values()):
            return None
        raise differing(tuple(labels[0]), tuple(labels[other]), names[0], names[other])
    columns, read = [], []
    for name in labels[0]:
        stored = [f.get_column(label[name]) for f, label in zip(frames, labels, strict=True)]
        columns.append(_Column(name, stored, names))
        read.append(columns[-1].read(kinds.get(name)))
    found = tuple(kind for kind, _ in read)
    if lines := attention_lines(found):
        warn_user("; ".join(lines), ColumnWarning)
    both = list(zip(columns, read, strict=True))
    if all(kind.use == "numbers" and series is each.stored for each, (kind, series) in both):
        return MixedFrames(list(samples), {}, found)
    categories = {each.name: each.values for each, (kind, _) in both if kind.use == "shares"}
    numeric = [series for kind, series in read if kind.use == "numbers"]
    natives = [
        frame.select([series[at] for series in numeric]).to_native() if numeric else None
        for at, frame in enumerate(frames)
    ]
    return MixedFrames(natives, categories, found)


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
    check_some_numeric(mixed.columns)
    return mixed.numeric[0], mixed.numeric[1], mixed.columns


def check_some_numeric(columns: Sequence[ColumnKind]) -> None:
    """Raise an error if no column of X and Y is numeric."""
    if not any(each.use == "numbers" for each in columns):
        raise NotNumbersError(
            f"X and Y have no numeric column to compare ({'; '.join(column_lines(columns))}); the "
            "two-sample test compares categories (two_sample_test, isodepth test)"
        )


def check_kinds(kinds: Any) -> dict[str, Any]:
    """Check the option `kinds` and return it as a dictionary, which is empty for None."""
    if not isinstance(kinds, Mapping | None):
        raise _kinds_error(
            f"kinds must be a dictionary such as {{'zip': 'category'}}, got {kinds!r:.80}"
        )
    for name, kind in (kinds or {}).items():
        if isinstance(kind, list | tuple):
            allowed = len(set(strings_of(kind).values)) == len(kind) > 1
        elif isinstance(kind, str):
            allowed = kind in KINDS
        else:
            allowed = isinstance(kind, int) and not isinstance(kind, bool)
        if not allowed:
            raise _kinds_error(
                f"kinds[{name!r}] must be one of {', '.join(KINDS)}, a list of distinct values in "
                "increasing order, or an integer to subtract from integers beyond 2**53; got "
                f"{kind!r:.80}"
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


_Read = tuple[ColumnKind, list[Any]]


class _Column:
    """One column, with its values in all samples.

    Attributes
    ----------
    name : str
    samples : sequence of str
        Names of the samples for messages.
    series : list of narwhals series
        Values of the column in each sample. Python objects are converted to numbers if all of them
        are numbers.
    stored : list of narwhals series
        Values as stored in the frames; the same list as `series` if nothing is converted.
    """

    def __init__(self, name: str, stored: list[Any], samples: Sequence[str]) -> None:
        self.name, self.samples, self.stored = name, samples, stored
        converted = [object_numbers(each) for each in stored]
        same = all(a is b for a, b in zip(converted, stored, strict=True))
        self.series = stored if same else converted

    # -- values and types of the column ------------------------------------------------------------

    @cached_property
    def strings(self) -> list[Strings]:
        """Values of each sample as strings, independently of the other samples."""
        return [strings_of(each.to_list()) for each in self.series]

    @property
    def value_types(self) -> set[type]:
        """Types of values in all samples together: bool, float for any number, and str."""
        return set().union(*(each.types for each in self.strings))

    @cached_property
    def values(self) -> list[list[str | None]]:
        """Values of each sample as strings; None if missing.

        Equal values have equal strings, whatever the type of the column in each sample. If any
        value in any sample is a boolean, see `boolean`. If any value is a number, strings that
        are numbers, such as "01" and "1.0", are written like the number.
        """
        values, types = [each.values for each in self.strings], self.value_types
        if bool in types:
            words = {word for part in values for word in part if word is not None}
            if all(boolean(word) for word in words):
                return [[None if v is None else boolean(v) for v in part] for part in values]
        if float in types and str in types:
            return [[None if v is None else plain_number(v) for v in part] for part in values]
        return values

    @cached_property
    def types(self) -> list[str]:
        """Type of the column in each sample; "empty" if all values of the sample are missing."""
        types = [column_type(series) for series in self.series]
        if len({*types}) == 1:
            return types
        # A sample of missing values has no influence on the kind of the column.
        both = zip(types, self.values, strict=True)
        return [type_ if any(v is not None for v in part) else "empty" for type_, part in both]

    @cached_property
    def known_types(self) -> set[str]:
        """Types of the column in the samples that have values."""
        return {*self.types} - {"empty"}

    @cached_property
    def numerals(self) -> list[Numerals]:
        """Values of each sample, read as numbers if possible."""
        return [Numerals(part) for part in self.values]

    @cached_property
    def pooled_numerals(self) -> Numerals:
        """Values of all samples together, read as numbers if possible."""
        return Numerals([value for part in self.values for value in part])

    @cached_property
    def pooled(self) -> Counter[str]:
        """Number of rows of each value in all samples together, without missing values."""
        counts: Counter[Any] = Counter()
        for part in self.values:
            counts.update(part)
        del counts[None]
        return counts

    def _kind(
        self, kind: str, note: str = "", option: Any = None, attention: bool = False
    ) -> ColumnKind:
        return ColumnKind(self.name, kind, _USES[kind], note, option, attention)

    def _error(self, fault: str) -> InvalidInputError:
        """Return the error for a column with contradictory values, described by `fault`."""
        name = self.name
        return InvalidInputError(
            f"column {name!r} {fault}; correct the values, or replace them by missing values "
            f"(--missing WORD), or compare the column as a category (kinds={{{name!r}: "
            f"'category'}}, --category {name}), or leave it out (kinds={{{name!r}: 'omit'}}, "
            f"--drop {name})"
        )

    # -- reading -----------------------------------------------------------------------------------

    def read(self, option: Any) -> _Read:
        """Return the kind of the column, and one series of its values per sample.

        The series of a numeric column are converted to numbers. `option` is the entry of the option
        `kinds` for this column. With None, the first rule in `_RULES` that applies determines the
        kind.
        """
        if option == "category":
            return self._kind("category", option=option), self.series
        if option == "omit":
            kind = self._kind(self._detected(), "on request", option)
            return kind._replace(use="left out"), self.series
        if option is not None:
            return self._converted(option)
        return next(found for rule in _RULES if (found := rule(self)) is not None)

    def _detected(self) -> str:
        """Return the kind that the rules determine; "category" if they refuse the column."""
        try:
            return self.read(None)[0].kind
        except InvalidInputError:
            return "category"

    # -- rules: each returns None if it does not apply to the column -------------------------------

    def _number_types(self) -> _Read | None:
        """Read numbers in all samples; integers beyond 2**53 are read exactly if possible."""
        if self.known_types != {"number"}:
            return None
        base = _integer_base(self.series)
        if base is not None:
            return self._above(base)
        return self._kind("numeric", _codes_note(self.series)), self._filled(self.series)

    def _date_types(self) -> _Read | None:
        """Leave out dates and times in all samples."""
        if self.known_types != {"date"}:
            return None
        return self._kind("date", "dates and times"), self.series

    def _booleans(self) -> _Read | None:
        """Read booleans in one sample, with booleans, "true", "false", 0 or 1 in the others."""
        if not {*self.pooled} <= {"True", "False"} or self.known_types == {"text"}:
            return None
        note = ""
        if "number" in self.types:
            note = f"0 and 1 in {self.samples[self.types.index('number')]} read as booleans"
        return self._kind("category", note), self.series

    def _categoricals(self) -> _Read | None:
        """Read columns that are categorical in one or all samples, and compare them by value."""
        if "category" not in self.known_types:
            return None
        if "number" in self.known_types:
            self._refuse_without_numbers()
        note = ""
        if self.known_types != {"category"}:
            at = self.types.index("category")
            note = f"categorical in {self.samples[at]}, so compared as a category"
        kind, series = self._shares(note)
        if float in self.value_types and kind.use == "shares":
            kind = kind._replace(option="category")  # other samples may have a column of numbers
        return kind, series

    def _strings_of_numbers(self) -> _Read | None:
        """Read strings that are all numbers in one style; other samples may have numbers."""
        pooled = self.pooled_numerals
        if not self.known_types <= {"number", "text"} or pooled.count < pooled.rows:
            return None
        if not pooled.count:
            return None
        styled = [each.example for each in self.numerals if not each.plain]
        if "number" in self.types and styled:
            number, text = (self.samples[self.types.index(t)] for t in ("number", "text"))
            raise self._error(
                f"contains numbers in {number} and strings such as "
                f"{styled[0]!r} in {text}, which can be converted "
                f"(kinds={{{self.name!r}: 'numeric'}}, --numeric {self.name})"
            )
        kind, series = self._numbers()
        return kind._replace(note=_joined(kind.note, _codes_note(series))), series

    def _partly_numbers(self) -> _Read | None:
        """Read strings of which some are numbers and others are not.

        A column of at most ten distinct values in more than ten rows is a category, for example
        numeric codes and one word. Any other column raises an error if all values of one sample or
        most values of all samples are numbers: a typing error must not turn numbers into a
        category.
        """
        pooled = self.pooled_numerals
        if not self.known_types <= {"number", "text"} or not pooled.count:
            return None
        both = list(zip(self.numerals, self.samples, strict=True))
        if all(each.count == each.rows for each in self.numerals):
            raise self._styles_error()
        odd, sample = next((each, name) for each, name in both if each.count < each.rows)
        distinct = len(pooled.distinct)
        if distinct <= FEW_VALUES < pooled.rows:
            note = f"compared as a category: {odd.other!r} is not a number ({distinct} values)"
            return self._kind("category", note, "category", True), self.series
        full = next((name for each, name in both if each.count == each.rows > 0), None)
        if full is not None:
            raise self._error(f"contains numbers in {full} and {odd.other!r} in {sample}")
        if 2 * pooled.count > pooled.rows:
            raise self._error(
                f"contains numbers in {odd.count} of {odd.rows} rows of {sample}, and values such "
                f"as {odd.other!r} in the others"
            )
        note = (
            f"{pooled.count} of {pooled.rows} values are numbers such as {pooled.example!r}, but "
            f"others such as {pooled.other!r} are not"
        )
        kind, series = next(found for rule in _OTHERS if (found := rule(self)) is not None)
        return kind._replace(note=_joined(note, kind.note), attention=True), series

    def _refuse_without_numbers(self) -> None:
        """Raise an error if one sample has numbers and another has values but no number."""
        first = self.types.index("number")
        for part, sample, numerals in zip(self.values, self.samples, self.numerals, strict=True):
            value = next((each for each in part if each is not None), None)
            if value is not None and not numerals.count:
                raise self._error(
                    f"contains numbers in {self.samples[first]} and {value!r} in {sample}"
                )

    def _two_types(self) -> _Read | None:
        """Refuse numbers in one sample, and dates, booleans or other types in another."""
        if "number" not in self.known_types:
            return None
        other, value = next(
            (sample, next(each for each in part if each is not None))
            for part, sample, type_ in zip(self.values, self.samples, self.types, strict=True)
            if type_ not in ("number", "empty")
        )
        number = self.samples[self.types.index("number")]
        raise self._error(f"contains numbers in {number} and {value!r} in {other}")

    def _dates_as_strings(self) -> _Read | None:
        """Leave out strings of which at least 90% are dates; other samples may have date types."""
        rows = self.pooled.total()
        dates = sum(count for value, count in self.pooled.items() if date_format(value))
        if not dates or dates < _NEARLY_ALL * rows:
            return None
        odd = f"; {rows - dates} of {rows} values are not dates" if dates < rows else ""
        return self._kind("date", f"dates as strings{odd}"), self.series

    def _shares(self, note: str = "") -> _Read:
        """Read categories, or leave out an identifier, which has too many distinct values."""
        rows, distinct, n_samples = self.pooled.total(), len(self.pooled), len(self.samples)
        if rows >= n_samples * _MANY_ROWS and n_samples * distinct > _NEARLY_ALL * rows:
            return self._kind("identifier", "nearly all values are distinct"), self.series
        if distinct > MOST_CATEGORIES:
            reason = f"{distinct} values, more than {MOST_CATEGORIES} categories"
            return self._kind("identifier", reason), self.series
        return self._kind("category", note), self.series

    # -- conversion to numbers ---------------------------------------------------------------------

    def _styles_error(self) -> InvalidInputError:
        both = zip(self.numerals, self.samples, strict=True)
        styles = " and ".join(f"{each.example!r} in {sample}" for each, sample in both)
        return self._error(f"has different styles of numbers in the samples: {styles}")

    def _numbers(self) -> _Read:
        """Return the kind and the converted series of a column of strings that are all numbers.

        Raise an error if no decimal mark and thousands separator fit the strings of all samples.
        """
        numerals = self.numerals
        both = list(zip(numerals, self.samples, strict=True))
        style = common_style(numerals)
        if style is None:
            raise self._styles_error()
        arrays = [each.numbers(style) for each in numerals]
        doubts = []
        units = sorted(set().union(*(each.units for each in numerals)))
        if len(units) > 1:
            doubts.append(f"different units: {', '.join(unit or 'none' for unit in units)}")
        for (each, sample), array in zip(both, arrays, strict=True):
            if not np.array_equal(each.numbers(each.style), array, equal_nan=True):
                mark = f"with {style.decimal!r} as the decimal mark"
                doubts.append(f"{each.example!r} in {sample} is read {mark}")
        example = next((each.example for each in numerals if each.count), None)
        note = "" if example is None else f"read from strings such as {example!r}"
        kind = self._kind("numeric", _joined(note, *doubts), "numeric", bool(doubts))
        return kind, self._series_of(arrays)

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

    def _converted(self, option: Any) -> _Read:
        """Return the kind and the series of the column after conversion to numbers.

        `option` is "numeric", an integer to subtract, or a list of values in increasing order.
        """
        import narwhals as nw

        if isinstance(option, int):
            return self._above(option)
        series: list[Any] = self.series
        order = self._common_order() if option == "numeric" else strings_of(option).values
        note = ""
        if order is not None:
            note, option, series = "ranks of its values", order, self._ranks(order)
        elif all(each.dtype in (nw.Date, nw.Datetime) for each in series):
            note = "days since 1970"
            series = [s.dt.timestamp("us").cast(nw.Float64) / _MICROSECONDS_PER_DAY for s in series]
        elif {*self.types} != {"number"}:
            if not {*self.pooled} <= {"True", "False"}:
                for each, sample in zip(self.numerals, self.samples, strict=True):
                    if each.other is not None:
                        raise self._error(f"has {each.other!r} in {sample}, which is not a number")
                return self._numbers()
            note = "0 and 1"
            codes = {"False": 0.0, "True": 1.0, None: np.nan}
            series = self._series_of([np.array([codes[v] for v in part]) for part in self.values])
        return self._kind("numeric", note, option), series

    def _above(self, base: int) -> _Read:
        """Return the kind and the series of a column of numbers after subtraction of `base`."""
        import narwhals as nw

        if self.known_types != {"number"}:
            raise self._error(f"must contain integers, from which {base} is subtracted")
        note = _joined(f"difference from {base}", _codes_note(self.series))
        series = [
            nw.new_series(
                each.name,
                # Python integers are exact. Floats are already rounded.
                [None if is_missing(v) else float(v - base) for v in each.to_list()],
                nw.Float64,
                backend=each.implementation,
            )
            for each in self._filled(self.series)
        ]
        return self._kind("numeric", note, base), series

    def _filled(self, series: list[Any]) -> list[Any]:
        """Return the series of a numeric column, with NaN for a sample without values."""
        import narwhals as nw

        if "empty" not in self.types:
            return series
        return [
            nw.new_series(each.name, [np.nan] * len(each), nw.Float64, backend=each.implementation)
            if type_ == "empty"
            else each
            for each, type_ in zip(series, self.types, strict=True)
        ]

    def _common_order(self) -> list[str] | None:
        """Return the common categories of ordered categoricals, in order.

        These are the categories of the sample with the most categories. Other samples may lack some
        of them. Raise an error if a sample has a further category, or another order. Return None if
        the column is not an ordered categorical in every sample.
        """
        categories = [getattr(each.dtype, "categories", None) for each in self.series]
        orders = [strings_of(each).values for each in categories if each is not None]
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


#: Rules for the kind of a column without numbers, in order. The last rule always applies.
_OTHERS = (_Column._dates_as_strings, _Column._shares)
#: Rules for the kind of a column, in order: the first rule that applies determines the kind.
_RULES = (
    _Column._number_types,
    _Column._date_types,
    _Column._booleans,
    _Column._categoricals,
    _Column._strings_of_numbers,
    _Column._partly_numbers,
    _Column._two_types,
    *_OTHERS,
)


def column_type(series: Any) -> str:
    """Return the type of a series: "number", "date", "boolean", "category" or "text"."""
    import narwhals as nw

    dtype = series.dtype
    if dtype.is_numeric():
        return "number"
    if dtype.is_temporal():
        return "date"
    if dtype == nw.Boolean:
        return "boolean"
    if dtype in (nw.Categorical, nw.Enum):
        return "category"
    # narwhals does not know sparse columns of pandas, long doubles and complex numbers.
    unknown = dtype == nw.Unknown and series.to_numpy().dtype.kind in "biufc"
    return "number" if unknown else "text"


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


def _integer_base(columns: Sequence[Any]) -> int | None:
    """Return the minimum of integers beyond 2**53 whose differences are exact in float64.

    Return None if the integers are exact without a base, or if their range exceeds 2**53.
    """
    if not all(series.dtype.is_integer() for series in columns):
        return None
    known = [part for series in columns if len(part := series.drop_nulls())]
    if not known:
        return None
    low, high = min(int(part.min()) for part in known), max(int(part.max()) for part in known)
    if max(high, -low) <= EXACT_INTEGERS or high - low > EXACT_INTEGERS:
        return None
    return low
