"""Rules for the kind of a column, in order: the first rule that applies determines the kind.

A rule is a function that returns a `Column`, or None if the rule does not apply. A rule may also
raise an error for contradictory values. "Words" are strings that are not numbers, and "left out"
columns are not compared. A style of numbers is a decimal mark with a thousands separator.

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
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

from isodepth.base.messages import Message
from isodepth.base.words import listed
from isodepth.errors import InvalidInputError
from isodepth.table.columns import Column, Note, Reason
from isodepth.table.dates import date_format
from isodepth.table.numerals import Numerals, common_style
from isodepth.table.pooled import FEW_VALUES, PooledColumn
from isodepth.table.row_numbers import RowNumbers, numbering_note
from isodepth.table.text_columns import CODES, narrowed_type
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
# Use of a column of each kind.
_USES = {"numeric": "numeric", "category": "category", "date": "omit", "identifier": "omit"}


def decide(column: PooledColumn, row_numbers: bool) -> Column:
    """Return the kind of a column, and how its values are read.

    If the column has no entry in the option `kinds`, the first rule in `RULES` that applies
    determines the kind. If `row_numbers`, a numeric column of integers that number the rows is then
    an identifier.
    """
    option = column.option
    if option == "category":
        if "date" in column.known_types:
            column.time_zone()  # raises an error if the samples differ
        column.check_texts()
        decided = _column(column, "category", option=option)
    elif option == "omit":
        decided = _column(column, _detected(column), Reason.ON_REQUEST, option=option)
        decided = replace(decided, use="omit")
    elif option is not None:
        decided = _converted(column)
    else:
        decided = _first_rule(RULES, column)
        if decided.kind == "category":
            column.check_texts()
        if row_numbers and decided.kind == "numeric" and (reason := _numbering(column)):
            decided = _column(column, "identifier", reason)
    if decided.use != "category":
        return decided
    categories = tuple(sorted(column.counts))
    text_type = column.text_type or _text_type(categories)
    return replace(
        decided, categories=categories, spelling=tuple(column.spelling), text_type=text_type
    )


def _text_type(categories: Sequence[str]) -> str:
    """Return the type with which categories are read from text files.

    Words for missing values, such as "NA", are missing if all categories are numbers, booleans or
    dates.
    """
    import pyarrow as pa

    narrowed = narrowed_type(pa.array(categories, pa.string()), None)
    return "string" if narrowed in ("string", None) else CODES


def _column(
    column: PooledColumn, kind: str, *notes: Note | Reason | None, option: Any = None,
    attention: bool = False,
) -> Column:  # fmt: skip
    given = (Note(each) if isinstance(each, Reason) else each for each in notes)
    known = tuple(each for each in given if each is not None)
    return Column(
        column.name, kind, _USES[kind], known, attention, option, text_type=column.text_type
    )


def _numbering(column: PooledColumn) -> Reason | None:
    samples = [profile.numbering for profile in column.profiles]
    known = [each for each in samples if isinstance(each, RowNumbers)]
    note = numbering_note(known) if len(known) == len(samples) else ""
    return Reason(note) if note else None


def _first_rule(rules: tuple[Rule, ...], column: PooledColumn) -> Column:
    return next(decided for rule in rules if (decided := rule(column)) is not None)


def _detected(column: PooledColumn) -> str:
    """Return the kind that the rules determine; "category" if they raise an error."""
    try:
        return _first_rule(RULES, column).kind
    except InvalidInputError:
        return "category"


# -- rules: each returns None if it does not apply to the column ----------------------------------


def _number_types(column: PooledColumn) -> Column | None:
    """Read a column that has a type of numbers in all samples.

    Integers beyond 2**53 are read exactly if possible.
    """
    if column.known_types != {"number"}:
        return None
    base = column.integer_base()
    if base is not None:
        return _differences(column, base)
    return _column(column, "numeric", _maybe_codes(column))


def _maybe_codes(column: PooledColumn, numbers: Collection[float] | None = None) -> Note | None:
    count = column.n_codes(numbers)
    return Note(Reason.MAYBE_CODES, {"count": count}) if count else None


def _date_types(column: PooledColumn) -> Column | None:
    """Leave out a column that has a type of dates, times or durations in all samples."""
    if not column.known_types or not column.known_types <= {"date", "duration"}:
        return None
    durations = column.known_types == {"duration"}
    return _column(column, "date", Reason.DURATIONS if durations else Reason.DATES)


def _booleans(column: PooledColumn) -> Column | None:
    """Read a column of booleans, which may be "true", "false", 0 or 1 in some samples."""
    if not column.is_boolean or "boolean" not in column.spelling:
        return None
    note = None
    if "number" in column.types:
        note = Note(Reason.ZERO_AND_ONE, {"sample": column.sample_of("number")})
    return _column(column, "category", note)


def _categoricals(column: PooledColumn) -> Column | None:
    """Read a column that has a categorical type in at least one sample, see `_shares`."""
    if "category" not in column.known_types:
        return None
    note = None
    if column.known_types != {"category"}:
        note = Note(Reason.CATEGORICAL_IN, {"sample": column.sample_of("category")})
    decided = _shares(column, note)
    if "number" in column.known_types and (contradiction := _without_numbers(column)):
        notes = (contradiction, *(() if note is None else (note,)))
        decided = replace(decided, notes=notes, attention=True)
    if float in column.value_types and decided.kind == "category":
        # Other samples may have a column of numbers.
        return replace(decided, option="category")
    return decided


def _without_numbers(column: PooledColumn) -> Note | None:
    """Return a note if one sample has numbers, and another has values but not a number."""
    both = zip(column.counts_by_sample, column.samples, column.numerals, strict=True)
    for counts, sample, numerals in both:
        if counts and not numerals.count:
            numbers, value = column.sample_of("number"), min(counts)
            values = {"numbers": numbers, "value": value, "sample": sample}
            return Note(Reason.NUMBERS_AND_VALUE, values)
    return None


def _strings_of_numbers(column: PooledColumn) -> Column | None:
    """Read strings that are all numbers in one style; other samples may have numbers."""
    pooled = column.pooled_numerals
    if not column.known_types <= {"number", "text"} or pooled.count < pooled.rows:
        return None
    if not pooled.count:
        return None
    _refuse_units(column, pooled.others)
    decided = _numbers(column, ())
    padded = min(filter(_PADDED.fullmatch, pooled.distinct), default=None)
    if padded is None:
        few = pooled.distinct if len(pooled.distinct) <= 2 * FEW_VALUES else ()
        numbers = set(pooled.mapped(decided.styles[0], few).values())
        note = _maybe_codes(column, numbers) if numbers else None
        return replace(decided, notes=(*decided.notes, *([note] if note else [])))
    note = Note(Reason.LEADING_ZEROS, {"value": padded})
    return replace(decided, notes=(*decided.notes, note), attention=True)


def _refuse_units(column: PooledColumn, words: Collection[str]) -> None:
    """Raise an error if one sample has numbers, and another strings such as "$1,500" or "12%".

    `words` are values that are read as missing.
    """
    numerals = [each.without(words) for each in column.numerals]
    styled = [each.example for each in numerals if not each.plain]
    if "number" in column.types and styled:
        template = (
            "contains numbers in {numbers} and strings such as {example!r} in {strings}, which can "
            "be converted ({--numeric=})"
        )
        samples = {"numbers": column.sample_of("number"), "strings": column.sample_of("text")}
        raise column.error(Message(template, numeric=column.name, example=styled[0], **samples))


def _two_styles(column: PooledColumn) -> Column | None:
    """Raise an error if most values are numbers, but in different styles, such as 1.5 and 1,5.

    Return None otherwise.
    """
    if not _has_some_numbers(column):
        return None
    pooled = column.pooled_numerals
    others = Numerals({v: n for v, n in column.counts.items() if v in pooled.others})
    if not others.count or 2 * (pooled.count + others.count) <= pooled.rows:
        return None
    if all(each.count == each.rows for each in column.numerals):
        raise _styles_error(column)
    raise column.error(
        f"has numbers in different styles: {pooled.example!r} and {others.example!r}"
    )


def _codes_and_words(column: PooledColumn) -> Column | None:
    """Read numbers and words with at most ten distinct values in more than ten rows as a category.

    An example is a column of numeric codes and one word.
    """
    pooled = column.pooled_numerals
    distinct = len(pooled.distinct)
    if not _has_some_numbers(column) or not distinct <= FEW_VALUES < pooled.rows:
        return None
    note = Note(Reason.CODES_AND_WORDS, {"word": str(pooled.other), "distinct": distinct})
    return _column(column, "category", note, option="category", attention=True)


def _has_some_numbers(column: PooledColumn) -> bool:
    """Return whether the values are strings and numbers, and at least one is a number."""
    return column.known_types <= {"number", "text"} and column.pooled_numerals.count > 0


def _numbers_with_words(column: PooledColumn) -> Column | None:
    """Read a column as numeric if its words stand for missing values, see `_few_words`."""
    if not _has_some_numbers(column) or not _few_words(column.pooled_numerals):
        return None
    _refuse_units(column, column.pooled_numerals.others)
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


def may_have_words(pooled: Numerals) -> bool:
    """Return whether words in a column that the user declared numeric may be missing values."""
    codes = len(pooled.distinct) <= FEW_VALUES < pooled.rows
    return _are_marks(pooled.others) or (_may_be_numeric(pooled) and not codes)


def _without_words(column: PooledColumn) -> Column | None:
    """Read a column of numbers and words as numeric, with missing values in place of the words.

    Return None if some words are numbers in another style.
    """
    pooled = column.pooled_numerals
    if Numerals(dict.fromkeys(pooled.others, 1)).count:
        return None
    decided = _numbers(column, pooled.others)
    note = Note(Reason.WORDS_MISSING, {"word": str(pooled.other)})
    notes = (note, *(decided.notes if decided.attention else ()))
    return replace(decided, notes=notes, option="numeric", attention=True)


def _words_with_numbers(column: PooledColumn) -> Column | None:
    """Read numbers and words as a category, if there are not too many distinct values.

    If there are too many, the words are read as missing values if `_may_be_numeric`. Otherwise the
    column is left out. It is then doubtful only if it has a type of numbers in some of the samples:
    identifiers such as "250" and "V45" are common.
    """
    if not _has_some_numbers(column):
        return None
    pooled = column.pooled_numerals
    decided = _first_rule(_STRING_RULES, column)
    numbers = _without_words(column) if _may_be_numeric(pooled) else None
    if numbers is not None and decided.kind == "identifier":
        return numbers
    some = Note(
        Reason.ONE_NUMBER if pooled.count == 1 else Reason.SOME_NUMBERS,
        {
            "count": pooled.count, "rows": pooled.rows, "number": pooled.example,
            "word": str(pooled.other),
        },
    )  # fmt: skip
    notes = [some] if numbers is None else [some, Note(Reason.NUMBERS_ALONE)]
    both = [*zip(column.numerals, column.samples, strict=True)]
    x = next((sample for each, sample in both if each.count == each.rows > 0), None)
    y = next((sample for each, sample in both if each.count == 0 < each.rows), None)
    if x is not None and y is not None:
        notes.insert(0, Note(Reason.NUMBERS_AND_STRINGS, {"numbers": x, "strings": y}))
    return replace(
        decided,
        notes=(*notes, *decided.notes),
        option="category" if decided.kind == "category" else None,
        attention=len(column.known_types) > 1 or decided.kind != "identifier",
    )


def _two_types(column: PooledColumn) -> Column | None:
    """Raise an error for numbers in one sample, and dates, booleans or other types in another.

    Return None if no sample has a type of numbers.
    """
    if "number" not in column.known_types:
        return None
    other, value = next(
        (sample, min(counts))
        for counts, sample, type_ in zip(
            column.counts_by_sample, column.samples, column.types, strict=True
        )
        if type_ not in ("number", "empty")
    )
    numbers = column.sample_of("number")
    raise column.error(f"contains numbers in {numbers} and {value!r} in {other}", value)


def _dates_as_strings(column: PooledColumn) -> Column | None:
    """Leave out a column if at least 90% of its values are dates.

    The dates may be strings, or values of a type of dates in some of the samples.
    """
    rows = column.counts.total()
    dates = sum(count for value, count in column.counts.items() if date_format(value))
    if not dates or dates < _NEARLY_ALL * rows:
        return None
    if dates == rows:
        return _column(column, "date", Reason.DATE_STRINGS)
    return _column(column, "date", Note(Reason.ODD_DATES, {"odd": rows - dates, "rows": rows}))


def _shares(column: PooledColumn, note: Note | None = None) -> Column:
    """Read a column as a category, or leave it out if it is an identifier.

    An identifier has more than `MOST_CATEGORIES` distinct values, or more distinct values than 90%
    of the mean number of rows of a sample. `note` is that of a category.
    """
    rows, distinct, n_samples = column.counts.total(), column.n_distinct, len(column.samples)
    if rows >= n_samples * _MANY_ROWS and n_samples * distinct > _NEARLY_ALL * rows:
        values = {"distinct": distinct, "rows": rows}
        return _column(column, "identifier", Note(Reason.DISTINCT, values))
    if distinct > MOST_CATEGORIES:
        values = {"distinct": distinct, "most": MOST_CATEGORIES}
        return _column(column, "identifier", Note(Reason.MANY_VALUES, values))
    return _column(column, "category", note)


Rule = Callable[[PooledColumn], Column | None]
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


def _converted(column: PooledColumn) -> Column:
    """Return a column that is converted to numbers.

    The option is "numeric", an integer to subtract, or a list of values in increasing order.
    """
    option = column.option
    if isinstance(option, int):
        if column.known_types != {"number"}:
            raise column.error(f"must contain integers, from which {option} is subtracted")
        return _differences(column, option)
    order = _common_order(column) if option == "numeric" else strings_of(option).values
    if order is not None:
        _check_ranks(column, order)
        return _column(column, "numeric", Reason.RANKS, option=tuple(order))
    if column.known_types == {"duration"}:
        return _column(column, "numeric", Reason.DAYS, option=option)
    if column.known_types == {"date"}:
        return _column(column, "numeric", _since_1970(column), option=option)
    if column.known_types <= {"number"}:
        return _column(column, "numeric", option=option)
    if column.is_boolean:
        return _column(column, "numeric", Reason.BOOLEANS, option=option)
    if _dates_as_strings(column) is not None:
        _check_days(column)
        return _column(column, "numeric", _since_1970(column), option=option)
    return _stated_numbers(column) or _numbers(column, ())


def _since_1970(column: PooledColumn) -> Reason:
    return Reason.SINCE_1970 if column.time_zone() is None else Reason.SINCE_1970_UTC


def _check_days(column: PooledColumn) -> None:
    """Raise an error if a value is not a date, or if the order of day and month is unknown."""
    for counts, sample in zip(column.counts_by_sample, column.samples, strict=True):
        for value in counts:
            if value not in column.days:
                raise column.error(f"has {value!r} in {sample}, which is not a date", value)
            if column.days[value] is None:
                order = f"has {value!r} in {sample}, where the order of day and month is unknown"
                raise column.error(order, value)


def _check_ranks(column: PooledColumn, order: list[str]) -> None:
    """Raise an error if a value is not in the list `order`."""
    known = {*order}
    for counts, sample in zip(column.counts_by_sample, column.samples, strict=True):
        unknown = next((value for value in counts if value not in known), None)
        if unknown is not None:
            raise column.error(
                f"has {unknown!r} in {sample}, which is not in the list of its values "
                f"({listed(order)})"
            )


def _common_order(column: PooledColumn) -> list[str] | None:
    """Return the common categories of ordered categoricals, in order.

    These are the categories of the sample with the most categories. Other samples may have only
    some of them. Raise an error if a sample has a further category, or another order. Return None
    if the column is not an ordered categorical in every sample.
    """
    both = [*zip(column.profiles, column.samples, strict=True)]
    if not all(profile.orders for profile, _ in both):
        return None
    orders = [(order, sample) for profile, sample in both for order in profile.orders]
    longest = max((order for order, _ in orders), key=len)
    if any(order != [v for v in longest if v in {*order}] for order, _ in orders):
        lists = " and ".join(f"[{', '.join(order)}] in {sample}" for order, sample in orders)
        raise column.error(f"has categories in different orders: {lists}")
    return longest


def _stated_numbers(column: PooledColumn) -> Column | None:
    """Read a column that the user declared numeric, although some values are not numbers.

    The values that are not numbers are missing values if they have no letter and no digit, such as
    "-". Others are missing values if `_may_be_numeric`, and if there are more than ten distinct
    values or at most ten rows. Otherwise raise an error. Return None if all values are numbers.
    """
    pooled = column.pooled_numerals
    if not pooled.others:
        return None
    decided = _without_words(column) if may_have_words(pooled) else None
    if decided is None:
        odd, sample = next(
            (each.other, sample)
            for each, sample in zip(column.numerals, column.samples, strict=True)
            if each.other is not None
        )
        fault = f"has {odd!r} in {sample}, which is not a number"
        if Numerals({odd: 1}).count:
            decimal, group = pooled.style
            fault += f" with {decimal!r} as the decimal mark and {group!r} between thousands"
        raise column.error(fault, odd)
    return decided


def _differences(column: PooledColumn, base: int) -> Column:
    """Return a column of integers from which the integer `base` is subtracted."""
    note = Note(Reason.DIFFERENCE, {"base": base})
    return _column(column, "numeric", note, _maybe_codes(column), option=base)


def _numbers(column: PooledColumn, words: Collection[str]) -> Column:
    """Return a column of strings that are all numbers, except for `words`.

    Raise an error if no decimal mark and thousands separator fit the strings of all samples.
    """
    numerals = [each.without(words) for each in column.numerals]
    pooled = column.pooled_numerals.without(words)
    style = common_style(numerals)
    if style is None:
        raise _styles_error(column)
    doubts = []
    units = sorted(set().union(*(each.units for each in numerals)))
    if len(units) > 1:
        units_text = ", ".join(unit or "none" for unit in units)
        doubts.append(Note(Reason.UNITS, {"units": units_text}))
    for each, sample in zip(numerals, column.samples, strict=True):
        if each.mapped(each.style) != each.mapped(style):
            values = {"value": each.example, "sample": sample, "mark": style.decimal}
            doubts.append(Note(Reason.DECIMAL_MARK, values))
    if pooled.is_ambiguous(style):
        doubts.append(Note(Reason.THOUSANDS, {"mark": style.group}))
    example = next((each.example for each in numerals if each.count), None)
    read = None if example is None else Note(Reason.STRINGS, {"value": example})
    decided = _column(column, "numeric", read, *doubts, option="numeric", attention=bool(doubts))
    return replace(decided, styles=pooled.equivalent_styles(style))


def _styles_error(column: PooledColumn) -> InvalidInputError:
    both = zip(column.numerals, column.samples, strict=True)
    styles = " and ".join(f"{each.example!r} in {sample}" for each, sample in both)
    return column.error(f"has different styles of numbers in the samples: {styles}")
