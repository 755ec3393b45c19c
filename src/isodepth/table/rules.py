"""Rules for the kind of a column, in order: the first rule that applies determines the kind.

A rule is a function that returns the kind and the values of a column as a `Reading`, or None if the
rule does not apply. A rule may also raise an error for contradictory values. "Words" are strings
that are not numbers, and "left out" columns are not compared. A style of numbers is a decimal mark
with a thousands separator.

Every decision is made from the rows of all samples together, the pooled rows, so that a permutation
of the rows between the samples does not change it. Otherwise the selection of columns would depend
on the labels, and a permutation test of the selected columns would not be exact. The decisions are,
in the order of `RULES`:

=================  ================================================================================
decision           made from
=================  ================================================================================
type               types of all samples with a value; a sample without values has no influence
strings of values  pooled types and values: `PooledColumn.spelling`; an error if the samples have
                   different types and a value has two strings (`PooledColumn.check_texts`)
integer base       pooled minimum and maximum of integers beyond 2**53
numeric            pooled values: all are numbers in one style
codes and words    pooled number of distinct values, and pooled number of rows
words in numbers   pooled values: numbers, and words that stand for missing values (`_few_words`)
numbers in words   pooled values: a category. If there are too many values for a category, numbers
                   if `_may_be_numeric`
date               at least 90% of the pooled strings are dates
identifier         pooled number of distinct values: over 90% of the mean number of rows of a sample
row numbers        pooled integers have no repeated value and no gap, or they increase strictly in
                   every sample (`isodepth.table.row_numbers`)
too many values    pooled number of distinct values: over 200
=================  ================================================================================

If the samples contradict each other, for example numbers in one sample and dates in another, an
error is raised, unless a sample has a categorical type: the column is then doubtful. No column is
left out or converted because of such a difference. The only decision that depends on the order of
rows, and therefore on the samples, is that integers increase in every sample. Of exchangeable rows
it is made with a probability of at most 1 / (n! m!) for n and m rows. Two styles of numbers, such
as 1.5 and 1,5, are an error, because any choice could read a wrong number. Rare categories are
pooled later, by the number of pooled rows that have them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import numpy as np

from isodepth.base.messages import Message, joined
from isodepth.errors import InvalidInputError
from isodepth.table.dates import date_format, day_numbers
from isodepth.table.numerals import Numerals, Style, common_style
from isodepth.table.pooled import FEW_VALUES, PooledColumn
from isodepth.table.row_numbers import RowNumbers, numbering_note
from isodepth.table.values import strings_of

#: Maximum number of distinct values of a category. A non-numeric column with more distinct values
#: is an identifier, which is not compared.
MOST_CATEGORIES = 200
# Minimum number of pooled values per sample, and minimum fraction of distinct values, for which a
# column is an identifier.
_MANY_ROWS, _NEARLY_ALL = 20, 0.9
# Minimum fraction of pooled values that are numbers for which any other values are read as missing.
_NEARLY_NUMERIC = 0.99
# Integers with leading zeros, such as postal codes.
_PADDED = re.compile(r"0\d+")


#: Note of a column of dates that is compared as numbers.
SINCE_1970 = "days since 1970"
#: The same for times with a time zone.
SINCE_1970_UTC = f"{SINCE_1970} in UTC"
# Start of the note on a numeric column with words, which are read as missing.
NOT_NUMBERS = "values that are not numbers, such as"


class Reading(NamedTuple):
    """Kind of a column, and its values.

    Attributes
    ----------
    kind : {"numeric", "category", "date", "identifier"}
    series : list of narwhals series
        Values in each sample. Those of a numeric column are converted to numbers.
    note, option, attention
        Attributes of `isodepth.table.kinds.ColumnKind`.
    omitted : bool
        Whether the user left out the column by the option `kinds`.
    styles : tuple of Style
        Styles in which the strings of a numeric column are these numbers; empty for other columns.
    """

    kind: str
    series: list[Any]
    note: str = ""
    option: Any = None
    attention: bool = False
    omitted: bool = False
    styles: tuple[Style, ...] = ()


def read_column(column: PooledColumn, option: Any, row_numbers: bool = True) -> Reading:
    """Return the kind and the values of a column.

    `option` is the entry of the option `kinds` for this column. With None, the first rule in
    `RULES` that applies determines the kind. If `row_numbers`, a numeric column of integers that
    number the rows is then an identifier.
    """
    if option == "category":
        if "date" in column.known_types:
            column.time_zone()  # raises an error if the samples differ
        column.check_texts()
        return Reading("category", column.series, option=option)
    if option == "omit":
        return Reading(_detected(column), column.series, "on request", option, omitted=True)
    if option is not None:
        return _converted(column, option)
    reading = _first_rule(RULES, column)
    if reading.kind == "category":
        column.check_texts()
    if row_numbers and reading.kind == "numeric" and (note := _numbering_note(column)):
        return Reading("identifier", column.series, note)
    return reading


def _numbering_note(column: PooledColumn) -> str:
    """Return the note of a column that numbers the rows, see `numbering_note`; "" for others."""
    import narwhals as nw

    samples = []
    for series in column.series:
        if not series.dtype.is_integer() and series.dtype != nw.String:
            return ""
        samples.append(RowNumbers.of(series.to_arrow()))
        if samples[-1] is None:
            return ""
    return numbering_note(samples)


def _first_rule(rules: tuple[Rule, ...], column: PooledColumn) -> Reading:
    return next(reading for rule in rules if (reading := rule(column)) is not None)


def _detected(column: PooledColumn) -> str:
    """Return the kind that the rules determine; "category" if they raise an error."""
    try:
        return _first_rule(RULES, column).kind
    except InvalidInputError:
        return "category"


# -- rules: each returns None if it does not apply to the column ----------------------------------


def _number_types(column: PooledColumn) -> Reading | None:
    """Read a column that has a type of numbers in all samples.

    Integers beyond 2**53 are read exactly if possible.
    """
    if column.known_types != {"number"}:
        return None
    base = column.integer_base()
    if base is not None:
        return _differences(column, base)
    return Reading("numeric", column.filled(), column.codes_note())


def _date_types(column: PooledColumn) -> Reading | None:
    """Leave out a column that has a type of dates, times or durations in all samples."""
    if column.known_types != {"date"}:
        return None
    note = "durations" if column.has_durations else "dates and times"
    return Reading("date", column.series, note)


def _booleans(column: PooledColumn) -> Reading | None:
    """Read a column of booleans, which may be "true", "false", 0 or 1 in some samples."""
    if not column.is_boolean or "boolean" not in column.spelling:
        return None
    note = ""
    if "number" in column.types:
        note = f"0 and 1 in {column.sample_of('number')} read as booleans"
    return Reading("category", column.series, note)


def _categoricals(column: PooledColumn) -> Reading | None:
    """Read a column that has a categorical type in at least one sample, see `_shares`."""
    if "category" not in column.known_types:
        return None
    note = ""
    if column.known_types != {"category"}:
        note = f"categorical in {column.sample_of('category')}, so compared as a category"
    reading = _shares(column, note)
    if "number" in column.known_types and (contradiction := _without_numbers(column)):
        reading = reading._replace(note=_joined(contradiction, note), attention=True)
    if float in column.value_types and reading.kind == "category":
        # Other samples may have a column of numbers.
        return reading._replace(option="category")
    return reading


def _without_numbers(column: PooledColumn) -> str:
    """Return a note if one sample has numbers, and another has values but not a number.

    Return "" otherwise.
    """
    for part, sample, numerals in zip(column.values, column.samples, column.numerals, strict=True):
        value = next((each for each in part if each is not None), None)
        if value is not None and not numerals.count:
            return f"numbers in {column.sample_of('number')} and {value!r} in {sample}"
    return ""


def _strings_of_numbers(column: PooledColumn) -> Reading | None:
    """Read strings that are all numbers in one style; other samples may have numbers."""
    pooled = column.pooled_numerals
    if not column.known_types <= {"number", "text"} or pooled.count < pooled.rows:
        return None
    if not pooled.count:
        return None
    _refuse_units(column)
    reading = _numbers(column)
    padded = min(filter(_PADDED.fullmatch, pooled.distinct), default=None)
    if padded is None:
        return reading._replace(note=_joined(reading.note, column.codes_note(reading.series)))
    template = "{padded!r} is read without leading zeros; choose {--category} if they are codes"
    note = Message(template, padded=padded)
    return reading._replace(note=_joined(reading.note, note), attention=True)


def _refuse_units(column: PooledColumn) -> None:
    """Raise an error if one sample has numbers, and another strings such as "$1,500" or "12%"."""
    styled = [each.example for each in column.numerals if not each.plain]
    if "number" in column.types and styled:
        template = (
            "contains numbers in {numbers} and strings such as {example!r} in {strings}, which can "
            "be converted ({--numeric=})"
        )
        samples = {"numbers": column.sample_of("number"), "strings": column.sample_of("text")}
        fault = Message(template, numeric=column.name, example=styled[0], **samples)
        raise column.error(fault)


def _two_styles(column: PooledColumn) -> Reading | None:
    """Raise an error if most values are numbers, but in different styles, such as 1.5 and 1,5.

    Return None otherwise.
    """
    if not _has_some_numbers(column):
        return None
    pooled = column.pooled_numerals
    others = Numerals([v for part in column.values for v in part if v in pooled.others])
    if not others.count or 2 * (pooled.count + others.count) <= pooled.rows:
        return None
    if all(each.count == each.rows for each in column.numerals):
        raise _styles_error(column)
    raise column.error(
        f"has numbers in different styles: {pooled.example!r} and {others.example!r}"
    )


def _codes_and_words(column: PooledColumn) -> Reading | None:
    """Read numbers and words with at most ten distinct values in more than ten rows as a category.

    An example is a column of numeric codes and one word.
    """
    pooled = column.pooled_numerals
    distinct = len(pooled.distinct)
    if not _has_some_numbers(column) or not distinct <= FEW_VALUES < pooled.rows:
        return None
    note = f"compared as a category: {pooled.other!r} is not a number ({distinct} values)"
    return Reading("category", column.series, note, "category", attention=True)


def _has_some_numbers(column: PooledColumn) -> bool:
    """Return whether the values are strings and numbers, and at least one is a number."""
    return column.known_types <= {"number", "text"} and column.pooled_numerals.count > 0


def _numbers_with_words(column: PooledColumn) -> Reading | None:
    """Read a column as numeric if its words stand for missing values, see `_few_words`."""
    if not _has_some_numbers(column) or not _few_words(column.pooled_numerals):
        return None
    _refuse_units(column.without(column.pooled_numerals.others))
    return _without_words(column)


def _few_words(pooled: Numerals) -> bool:
    """Return whether the words among the values of all samples stand for missing values.

    They do if they have no letter and no digit, such as "-" and "?". Other words do if they are at
    most 1% of the values, or if there are at most ten distinct words and most values are numbers.
    """
    if pooled.count >= _NEARLY_NUMERIC * pooled.rows or _are_marks(pooled.others):
        return True
    return len(pooled.others) <= FEW_VALUES and _most_are_numbers(pooled)


def _are_marks(words: Collection[str]) -> bool:
    return not any(letter.isalnum() for word in words for letter in word)


def _most_are_numbers(pooled: Numerals) -> bool:
    return 2 * pooled.count > pooled.rows


def _may_be_numeric(pooled: Numerals) -> bool:
    """Return whether most values are numbers, or some are and at most ten other strings occur."""
    return _most_are_numbers(pooled) or (pooled.count > 0 and len(pooled.others) <= FEW_VALUES)


def _without_words(column: PooledColumn) -> Reading | None:
    """Read a column of numbers and words as numeric, with missing values in place of the words.

    Return None if some words are numbers in another style.
    """
    pooled = column.pooled_numerals
    if Numerals([*pooled.others]).count:
        return None
    reading = _numbers(column.without(pooled.others))
    template = (
        " {example!r}, are read as missing; choose {--category} if they are not missing values"
    )
    note: str = Message(NOT_NUMBERS + template, example=pooled.other)
    if reading.attention:
        note = _joined(note, reading.note)
    return reading._replace(note=note, option="numeric", attention=True)


def _words_with_numbers(column: PooledColumn) -> Reading | None:
    """Read numbers and words as a category, if there are not too many distinct values.

    If there are too many, the words are read as missing values if `_may_be_numeric`. Otherwise the
    column is left out. It is then doubtful only if it has a type of numbers in some of the samples:
    identifiers such as "250" and "V45" are common.
    """
    if not _has_some_numbers(column):
        return None
    pooled = column.pooled_numerals
    reading = _first_rule(_STRING_RULES, column)
    numbers = _without_words(column) if _may_be_numeric(pooled) else None
    if numbers is not None and reading.kind == "identifier":
        return numbers
    are = "is a number," if pooled.count == 1 else "are numbers such as"
    note = (
        f"{pooled.count} of {pooled.rows} values {are} {pooled.example!r}, but "
        f"others such as {pooled.other!r} are not"
    )
    if numbers is not None:
        note = _joined(note, Message("choose {--numeric} to compare the numbers alone"))
    option = "category" if reading.kind == "category" else None
    both = [*zip(column.numerals, column.samples, strict=True)]
    x = next((sample for each, sample in both if each.count == each.rows > 0), None)
    y = next((sample for each, sample in both if each.count == 0 < each.rows), None)
    if x is not None and y is not None:
        note = Message("numbers in {x}, strings in {y}: {note}", x=x, y=y, note=note)
    note = _joined(note, reading.note)
    attention = len(column.known_types) > 1 or reading.kind != "identifier"
    return reading._replace(note=note, option=option, attention=attention)


def _two_types(column: PooledColumn) -> Reading | None:
    """Raise an error for numbers in one sample, and dates, booleans or other types in another.

    Return None if no sample has a type of numbers.
    """
    if "number" not in column.known_types:
        return None
    other, value = next(
        (sample, next(each for each in part if each is not None))
        for part, sample, type_ in zip(column.values, column.samples, column.types, strict=True)
        if type_ not in ("number", "empty")
    )
    numbers = column.sample_of("number")
    raise column.error(f"contains numbers in {numbers} and {value!r} in {other}", value)


def _dates_as_strings(column: PooledColumn) -> Reading | None:
    """Leave out a column if at least 90% of its values are dates.

    The dates may be strings, or values of a type of dates in some of the samples.
    """
    rows = column.counts.total()
    dates = sum(count for value, count in column.counts.items() if date_format(value))
    if not dates or dates < _NEARLY_ALL * rows:
        return None
    odd = f"; {rows - dates} of {rows} values are not dates" if dates < rows else ""
    return Reading("date", column.series, f"dates as strings{odd}")


def _shares(column: PooledColumn, note: str = "") -> Reading:
    """Read a column as a category, or leave it out if it is an identifier.

    An identifier has more than `MOST_CATEGORIES` distinct values, or more distinct values than 90%
    of the mean number of rows of a sample. `note` is that of a category.
    """
    rows, distinct, n_samples = column.counts.total(), len(column.counts), len(column.samples)
    if rows >= n_samples * _MANY_ROWS and n_samples * distinct > _NEARLY_ALL * rows:
        note = f"{distinct} of {rows} values are distinct"
        return Reading("identifier", column.series, note)
    if distinct > MOST_CATEGORIES:
        reason = f"{distinct} values, more than {MOST_CATEGORIES} categories"
        return Reading("identifier", column.series, reason)
    return Reading("category", column.series, note)


Rule = Callable[[PooledColumn], Reading | None]
#: Rules for columns without numbers. The last rule always applies.
_STRING_RULES: tuple[Rule, ...] = (_dates_as_strings, _shares)
#: Rules for all columns.
RULES: tuple[Rule, ...] = (
    _number_types,
    _date_types,
    _booleans,
    _categoricals,
    _strings_of_numbers,
    _two_styles,
    _codes_and_words,
    _numbers_with_words,
    _words_with_numbers,
    _two_types,
    *_STRING_RULES,
)


# -- conversion to numbers ------------------------------------------------------------------------


def _converted(column: PooledColumn, option: Any) -> Reading:
    """Return the reading of a column after conversion to numbers.

    `option` is "numeric", an integer to subtract, or a list of values in increasing order.
    """
    if isinstance(option, int):
        return _differences(column, option)
    order = column.common_order() if option == "numeric" else strings_of(option).values
    if order is not None:
        return Reading("numeric", column.ranks(order), "ranks of its values", order)
    days = column.days()
    if days is not None:
        note = "days" if column.has_durations else _since_1970(column)
        return Reading("numeric", days, note, option)
    if {*column.types} == {"number"}:
        return Reading("numeric", column.series, option=option)
    if column.is_boolean:
        return Reading("numeric", column.codes({"False": 0.0, "True": 1.0}), "0 and 1", option)
    if _dates_as_strings(column) is not None:
        return Reading("numeric", column.codes(_days(column)), _since_1970(column), option)
    return _stated_numbers(column) or _numbers(column)


def _since_1970(column: PooledColumn) -> str:
    return SINCE_1970 if column.time_zone() is None else SINCE_1970_UTC


def _days(column: PooledColumn) -> dict[str, float]:
    """Return days since 1970 for each value of a column of dates as strings.

    Raise an error if a value is not a date, or if the order of day and month is unknown.
    """
    numbers = day_numbers(column.counts)
    days: dict[str, float] = {}
    for part, sample in zip(column.values, column.samples, strict=True):
        for value in part:
            if value is None:
                continue
            if value not in numbers:
                raise column.error(f"has {value!r} in {sample}, which is not a date", value)
            number = numbers[value]
            if number is None:
                order = f"has {value!r} in {sample}, where the order of day and month is unknown"
                raise column.error(order, value)
            days[value] = number
    return days


def _stated_numbers(column: PooledColumn) -> Reading | None:
    """Read a column that the user declared numeric, although some values are not numbers.

    The values that are not numbers are missing values if they have no letter and no digit, such as
    "-". Others are missing values if `_may_be_numeric`, and if there are more than ten distinct
    values or at most ten rows. Otherwise raise an error. Return None if all values are numbers.
    """
    pooled = column.pooled_numerals
    if not pooled.others:
        return None
    codes = len(pooled.distinct) <= FEW_VALUES < pooled.rows
    reading = None
    if _are_marks(pooled.others) or (_may_be_numeric(pooled) and not codes):
        reading = _without_words(column)
    if reading is None:
        odd, sample = next(
            (each.other, sample)
            for each, sample in zip(column.numerals, column.samples, strict=True)
            if each.other is not None
        )
        fault = f"has {odd!r} in {sample}, which is not a number"
        if Numerals([odd]).count:
            decimal, group = pooled.style
            fault += f" with {decimal!r} as the decimal mark and {group!r} between thousands"
        raise column.error(fault, odd)
    return reading


def _differences(column: PooledColumn, base: int) -> Reading:
    """Return the reading of a column of integers from which the integer `base` was subtracted."""
    note = _joined(f"difference from {base}", column.codes_note())
    return Reading("numeric", column.differences(base), note, base)


def _numbers(column: PooledColumn) -> Reading:
    """Return the reading of a column of strings that are all numbers.

    Raise an error if no decimal mark and thousands separator fit the strings of all samples.
    """
    numerals = column.numerals
    style = common_style(numerals, column.styles)
    if style is None:
        raise _styles_error(column)
    arrays = [each.numbers(style) for each in numerals]
    doubts = []
    units = sorted(set().union(*(each.units for each in numerals)))
    if len(units) > 1:
        doubts.append(f"different units: {', '.join(unit or 'none' for unit in units)}")
    for each, sample, array in zip(numerals, column.samples, arrays, strict=True):
        if not np.array_equal(each.numbers(each.style), array, equal_nan=True):
            mark = f"with {style.decimal!r} as the decimal mark"
            doubts.append(f"{each.example!r} in {sample} is read {mark}")
    if column.pooled_numerals.is_ambiguous(style):
        doubts.append(
            f"{style.group!r} is read as a thousands separator, but it may be a decimal mark; "
            "convert the strings to numbers if it is"
        )
    example = next((each.example for each in numerals if each.count), None)
    note = "" if example is None else f"read from strings such as {example!r}"
    series = column.series_of(arrays)
    styles = column.pooled_numerals.equivalent_styles(style)
    note = _joined(note, *doubts)
    return Reading("numeric", series, note, "numeric", bool(doubts), styles=styles)


def _styles_error(column: PooledColumn) -> InvalidInputError:
    both = zip(column.numerals, column.samples, strict=True)
    styles = " and ".join(f"{each.example!r} in {sample}" for each, sample in both)
    return column.error(f"has different styles of numbers in the samples: {styles}")


def _joined(*notes: str) -> str:
    return joined("; ", filter(None, notes))
