"""The option `kinds`, and lines that describe the kinds of columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from isodepth.base.messages import Message, joined
from isodepth.base.words import listed, value_noun
from isodepth.errors import InvalidInputError, InvalidOptionError, NotNumbersError
from isodepth.table.columns import ColumnKind, Reason
from isodepth.table.frames import Names
from isodepth.table.values import strings_of

#: Allowed strings for a column in the option `kinds`. Also allowed are a list of values in
#: increasing order, and an integer that is subtracted from integers beyond 2**53.
KINDS = ("numeric", "category", "omit")
#: Name of the category that contains missing values.
MISSING = "(missing)"


def column_lines(columns: Sequence[ColumnKind], *, codes: bool = True) -> list[str]:
    """Return lines that describe the kinds of columns in a summary of a result.

    First comes one line per column of doubtful kind. Then there is one line each for categories,
    columns that are left out, and numeric columns with a note. Numeric columns with equal notes are
    listed together, at most six by name. At most six different notes are listed. Without
    `codes`, the note that integers may be codes of categories is omitted: many columns have it.

    Examples
    --------
    >>> column_lines([ColumnKind("carrier", "category", "category"),
    ...               ColumnKind("when", "date", "omit", "dates and times")])
    ['categories: carrier', 'left out: when (dates and times)']
    """
    lines = attention_lines(columns)
    for use, head in (("category", "categories"), ("omit", "left out")):
        described = [
            Message("{column} ({note})", column=each.column, note=each.note)
            if each.note and not each.attention else each.column
            for each in columns
            if each.use == use
        ]  # fmt: skip
        lines += [joined(": ", [head, joined(", ", described)])] if described else []
    return lines + number_lines(columns, codes=codes)


def attention_lines(columns: Sequence[ColumnKind]) -> list[str]:
    """Return the lines about columns whose kind is doubtful; results show these lines first.

    Columns with the same note are named in one line.

    Examples
    --------
    >>> attention_lines([ColumnKind("size", "category", "category", "2 of 9 values are numbers",
    ...                             attention=True)])
    ["check column 'size': 2 of 9 values are numbers"]
    """
    by_note: dict[str, list[str]] = {}
    for each in columns:
        if each.attention:
            by_note.setdefault(each.note, []).append(repr(each.column))
    return [
        Message(
            "check {columns} {names}: {note}",
            columns="column" if len(names) == 1 else "columns",
            names=listed(names, 6),
            note=note,
        )
        for note, names in by_note.items()
    ]


def attention_suffix(columns: Sequence[ColumnKind]) -> str:
    """Return the end of a headline that names the columns whose kind is doubtful, or "".

    Examples
    --------
    >>> attention_suffix([ColumnKind("size", "category", "category", "odd", attention=True)])
    "; check column 'size'"
    """
    doubtful = [repr(each.column) for each in columns if each.attention]
    noun = "column" if len(doubtful) == 1 else "columns"
    return f"; check {noun} {listed(doubtful, 3)}" if doubtful else ""


def missing_categories(column: str, sample: str, missing: int) -> InvalidInputError:
    """Return the error for a category column with missing values, if they are not allowed."""
    template = (
        "column {column!r} of {sample} has {missing} missing {noun}; use {--nan_policy='keep'}, "
        "with which missing values are a separate category"
    )
    about = {"column": column, "sample": sample, "missing": missing, "noun": value_noun(missing)}
    return InvalidInputError(Message(template, **about))


def category_values(
    values: Sequence[str | None], column: str, sample: str, nan_policy: str
) -> list[str]:
    """Return the values of a category column, with "(missing)" in place of missing values.

    With nan_policy "raise", missing values raise an error. `column` and `sample` are names for the
    message.
    """
    missing = sum(value is None for value in values)
    if missing and nan_policy == "raise":
        raise missing_categories(column, sample, missing)
    # A value that equals the name of the category of missing values is quoted, so that it remains a
    # category of its own.
    return [
        MISSING if value is None else repr(value) if value == MISSING else value for value in values
    ]


def utc_columns(columns: Sequence[ColumnKind]) -> set[str]:
    """Return the names of the columns of times with a time zone that are compared as days."""
    return {each.column for each in columns if each.has(Reason.SINCE_1970_UTC)}


def date_columns(columns: Sequence[ColumnKind]) -> set[str]:
    """Return the names of the columns of dates that are compared as days since 1970."""
    return {each.column for each in columns if each.has(Reason.SINCE_1970, Reason.SINCE_1970_UTC)}


def numeric_kinds(columns: Names) -> tuple[ColumnKind, ...]:
    """Return the kinds of columns that are all numeric; empty if the columns have no names."""
    return tuple(ColumnKind(name, "numeric", "numeric") for name in columns or ())


def subtracted_integers(columns: Sequence[ColumnKind]) -> dict[str, int]:
    """Return the integers that were subtracted from columns, by the names of the columns."""
    return {each.column: each.option for each in columns if isinstance(each.option, int)}


def rank_columns(columns: Sequence[ColumnKind]) -> dict[str, Sequence[str]]:
    """Return the columns whose values are compared by their ranks, with the values by rank.

    The result maps the name of each column to its values in increasing order.
    """
    return {each.column: each.option for each in columns if isinstance(each.option, tuple)}


def columns_with_words(columns: Sequence[ColumnKind]) -> set[str]:
    """Return the numeric columns in which strings other than numbers are read as missing values."""
    return {each.column for each in columns if each.has(Reason.WORDS_MISSING)}


def check_some_numeric(columns: Sequence[ColumnKind]) -> None:
    """Raise an error if none of `columns`, the kinds of the columns of X and Y, is numeric."""
    if not any(each.use == "numeric" for each in columns):
        lines = [*column_lines(columns), *numeric_hint(columns)]
        template = (
            "X and Y have no numeric column to compare ({lines}); the two-sample test compares "
            "categories ({two_sample_test()})"
        )
        raise NotNumbersError(Message(template, lines=joined("; ", lines)))


def numeric_hint(columns: Sequence[ColumnKind]) -> list[str]:
    """Return a line for errors that says how to compare row numbers; [] if there are none."""
    name = next((each.column for each in columns if each.numbers_rows), None)
    return [] if name is None else [Message("{--numeric=} compares {numeric}", numeric=name)]


# Kinds that columns do not have, but that users may expect.
_DATES = ("date", "datetime", "time", "timestamp")


def check_kinds(kinds: Any) -> dict[str, Any]:
    """Check the option `kinds` and return it as a dictionary, which is empty for None.

    Keys are converted to strings, like the labels of columns.
    """
    if not isinstance(kinds, Mapping | None):
        raise kinds_error(
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
            is_date = isinstance(kind, str) and kind in _DATES
            dates = "; dates are left out unless their kind is 'numeric'" if is_date else ""
            raise kinds_error(
                f"kinds[{name!r}] must be one of {', '.join(KINDS)}, a list of distinct values in "
                "increasing order, or an integer to subtract from integers beyond 2**53; got "
                f"{kind!r:.80}{dates}"
            )
    given = dict(kinds or {})
    checked = {str(name): kind for name, kind in given.items()}
    if len(checked) < len(given):
        raise kinds_error(f"kinds has keys that are equal as strings: {list(given)}; remove one")
    return checked


def kinds_error(message: str) -> InvalidOptionError:
    return InvalidOptionError(message, option="kinds")


def number_lines(columns: Sequence[ColumnKind], *, codes: bool = True) -> list[str]:
    """Return the line of `column_lines` about numeric columns, or [] if none has a note."""
    by_note: dict[str, list[str]] = {}
    for each in columns:
        note = "" if not codes and each.has(Reason.MAYBE_CODES) else each.note
        if each.use == "numeric" and note and not each.attention:
            by_note.setdefault(note, []).append(each.column)
    described = [f"{listed(names, 6)} ({note})" for note, names in by_note.items()]
    return [f"numbers: {listed(described, 6)}"] if described else []


def row_number_columns(columns: Sequence[ColumnKind]) -> set[str]:
    """Return the names of the columns of integers that number the rows."""
    return {each.column for each in columns if each.numbers_rows}
