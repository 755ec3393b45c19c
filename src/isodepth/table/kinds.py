"""Kinds of columns in data frames: numbers, categories, and columns that are not compared.

The kind of a column is determined by an ordered list of rules (`isodepth.table.rules`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from isodepth.base.export import ResultPart
from isodepth.base.messages import Message, joined
from isodepth.base.words import listed, numbered, value_noun
from isodepth.errors import (
    ColumnWarning,
    InvalidInputError,
    InvalidOptionError,
    NotNumbersError,
    warn_user,
)
from isodepth.table.frames import (
    NamedArray,
    Names,
    check_frame,
    column_names,
    common_columns,
    differing,
    is_frame,
    refuse_other_types,
    select_columns,
)
from isodepth.table.numerals import STYLES, Style
from isodepth.table.pooled import MAYBE_CODES, PooledColumn, column_type
from isodepth.table.row_numbers import INCREASES, NUMBERS
from isodepth.table.rules import (
    NOT_NUMBERS,
    SINCE_1970,
    SINCE_1970_UTC,
    Reading,
    read_column,
)
from isodepth.table.values import strings_of

#: Allowed strings for a column in the option `kinds`. Also allowed are a list of values in
#: increasing order, and an integer that is subtracted from integers beyond 2**53.
KINDS = ("numeric", "category", "omit")
#: Notes of columns of integers that number the rows.
ROW_NUMBERS = (NUMBERS, INCREASES)
#: Name of the category that contains missing values.
MISSING = "(missing)"
# Value of `ColumnKind.use` for each kind of column.
_USES = {
    "numeric": "numeric", "category": "category", "date": "omit", "identifier": "omit"
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class ColumnKind(ResultPart):
    """Kind of one column, and how it is compared.

    Attributes
    ----------
    column : str
        Name of the column.
    kind : {"numeric", "category", "date", "identifier"}
        Kind of the values. An identifier is a column of integers that number the rows, or a
        non-numeric column with too many distinct values for a category.
    use : {"numeric", "category", "omit"}
        How the column is compared, in the words of the option `kinds`. "numeric": the values enter
        distances, tests and monitors. "category": the relative frequencies of the values enter
        tests and monitors, but not distances. "omit": the column is not compared.
    note : str
        Reason why the column is left out, or how its values were read; may be empty.
    option : str, tuple of str, int or None
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
    styles : dict
        For the name of each numeric column of strings, the styles of numbers in which the strings
        are these numbers, see `isodepth.table.numerals`.
    spellings : dict
        For the name of each category column, the spelling of its values, see `PooledColumn`.
    """

    numeric: list[Any]
    categories: dict[str, list[list[str | None]]]
    columns: tuple[ColumnKind, ...]
    styles: dict[str, tuple[Style, ...]]
    spellings: dict[str, frozenset[str]]


# Notes of a monitor that was read from a file are plain strings.
_MAYBE_CODES = str(Message(MAYBE_CODES))


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


def number_lines(columns: Sequence[ColumnKind], *, codes: bool = True) -> list[str]:
    """Return the line of `column_lines` about numeric columns, or [] if none has a note."""
    by_note: dict[str, list[str]] = {}
    for each in columns:
        note = "" if each.note.endswith(_MAYBE_CODES) and not codes else each.note
        if each.use == "numeric" and note and not each.attention:
            by_note.setdefault(note, []).append(each.column)
    described = [f"{listed(names, 6)} ({note})" for note, names in by_note.items()]
    return [f"numbers: {listed(described, 6)}"] if described else []


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


def split_columns(
    samples: Sequence[Any],
    names: Sequence[str],
    kinds: Mapping[str, Any] | None = None,
    *,
    styles: Mapping[str, Sequence[Style]] | None = None,
    spellings: Mapping[str, Collection[str]] | None = None,
    warn: bool = True,
    row_numbers: bool = True,
) -> MixedFrames | None:
    """Split data frames with the same columns into numeric and category columns.

    The kind of a column is determined once for all samples, from all rows together. Columns of
    numbers are numeric, and so are columns of strings or objects if all values are numbers, or most
    of them (see `isodepth.table.rules`). Other strings, booleans and categoricals are
    categories. Equal values in two samples are one category even if their types differ, such as 1
    and 1.0, or True and "true". It is an error if types differ and a value has two strings, such as
    "1" and "01", because the text of numbers and booleans is not known. Dates are left out, and so
    are categories if nearly all values are distinct or if there are more than 200 distinct values.
    Integers that number the rows are left out if the columns have names (see
    `isodepth.table.row_numbers`).

    `kinds` overrides these rules: "numeric" converts dates (days since 1970), booleans (0 and 1),
    ordered categoricals (ranks) and strings. A list of values in increasing order converts any
    column to ranks. An integer is subtracted from a column of integers before these are converted
    to floats, so that integers beyond 2**53 are not rounded. Without the option, a multiple
    of 100,000 is subtracted from a column with such integers if no difference is beyond 2**53.

    Return None if a sample is not a data frame in memory. Also return None if the frames have
    different columns, all columns are numeric and `kinds` is empty: a later check then raises the
    error.

    Parameters
    ----------
    samples : sequence of data frames
    names : sequence of str
        Names of the samples for messages.
    kinds : dict or None
        For the name of a column, "numeric", "category", "omit", a list of values, or an integer.
    styles : dict or None
        For the name of a column, the styles of numbers that are allowed in strings, such as the
        attribute `styles` of the result for an earlier sample.
    spellings : dict or None
        For the name of a column, the attribute `spellings` of the result for an earlier sample.
    warn : bool
        Whether to issue the warning about columns of doubtful kind.
    row_numbers : bool
        Whether to leave out integers that number the rows. False if the kinds were determined from
        other rows.

    Returns
    -------
    mixed : MixedFrames or None

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
        _check_without_frames(samples, names, kinds)
        return None
    columns = _pooled_columns(frames, names, kinds, styles or {}, spellings or {})
    if columns is None:
        return None
    named = [column.name for column in columns] != numbered(len(columns))
    readings = [read_column(each, kinds.get(each.name), row_numbers and named) for each in columns]
    found = tuple(map(_column_kind, columns, readings))
    if warn and (lines := attention_lines(found)):
        warn_user(joined("; ", lines), ColumnWarning)
    read = list(zip(found, columns, readings, strict=True))
    if all(kind.use == "numeric" and each.series is column.stored for kind, column, each in read):
        return MixedFrames(list(samples), {}, found, {}, {})
    numeric = [each.series for kind, _, each in read if kind.use == "numeric"]
    categories = {kind.column: column.values for kind, column, _ in read if kind.use == "category"}
    used = {kind.column: reading.styles for kind, _, reading in read if reading.styles}
    spelled = {kind.column: each.spelling for kind, each, _ in read if kind.use == "category"}
    return MixedFrames(_numeric_frames(frames, numeric), categories, found, used, spelled)


def _numeric_frames(frames: Sequence[Any], numeric: Sequence[list[Any]]) -> list[Any]:
    """Return the numeric columns of each frame; None if there are none.

    `numeric` has one list per column, with the series of the column in each frame.
    """
    if not numeric:
        return [None] * len(frames)
    return [
        frame.select([series[at] for series in numeric]).to_native()
        for at, frame in enumerate(frames)
    ]


def _check_without_frames(
    samples: Sequence[Any], names: Sequence[str], kinds: Mapping[str, Any]
) -> None:
    """Raise an error if `kinds` is not empty, or if a sample is a path, None or a dictionary.

    `names` are the names of the samples for the message. The error about a frame with two columns
    of the same name is raised before that about `kinds`.
    """
    for sample, name in zip(samples, names, strict=True):
        refuse_other_types(sample, name)
        if kinds and is_frame(sample) and not hasattr(sample, "__dask_graph__"):
            check_frame(sample, name)
    if kinds:
        types = " and ".join(type(each).__name__ for each in samples)
        raise kinds_error(f"kinds needs data frames in memory, got {types}")


def _pooled_columns(
    frames: Sequence[Any],
    names: Sequence[str],
    kinds: Mapping[str, Any],
    styles: Mapping[str, Sequence[Style]],
    spellings: Mapping[str, Collection[str]],
) -> list[PooledColumn] | None:
    """Return one `PooledColumn` per column of the frames, which are matched by name.

    The parameters are those of `split_columns`, with an empty dictionary in place of None.

    Return None if the frames have different columns, all columns are numeric and `kinds` is empty:
    a later check raises the error in this case. In other cases different columns are an error here.
    """
    labels = [
        dict(zip(column_names(frame.columns, name), frame.columns, strict=True))
        for frame, name in zip(frames, names, strict=True)
    ]
    unknown = next((name for name in kinds if name not in labels[0]), None)
    if unknown is not None:
        raise kinds_error(f"kinds has the key {unknown!r}, which is not a column of {names[0]}")
    other = next((at for at, each in enumerate(labels) if each.keys() != labels[0].keys()), None)
    if other is not None:
        if not kinds and all(t.is_numeric() for frame in frames for t in frame.schema.values()):
            return None
        raise differing(tuple(labels[0]), tuple(labels[other]), names[0], names[other])
    both = list(zip(frames, labels, strict=True))
    return [
        PooledColumn(
            name,
            [frame.get_column(label[name]) for frame, label in both],
            names,
            styles.get(name, STYLES),
            given=spellings.get(name),
            literal=kinds.get(name) == "category",
        )
        for name in labels[0]
    ]


def _column_kind(column: PooledColumn, reading: Reading) -> ColumnKind:
    use = "omit" if reading.omitted else _USES[reading.kind]
    return ColumnKind(
        column.name, reading.kind, use, reading.note, reading.option, reading.attention
    )


def category_values(
    values: Sequence[str | None], column: str, sample: str, nan_policy: str
) -> list[str]:
    """Return the values of a category column, with "(missing)" in place of missing values.

    With nan_policy "raise", missing values raise an error. `column` and `sample` are names for the
    message.
    """
    missing = sum(value is None for value in values)
    if missing and nan_policy == "raise":
        template = (
            "column {column!r} of {sample} has {missing} missing {noun}; use "
            "{--nan_policy='keep'}, with which missing values are a separate category"
        )
        noun = value_noun(missing)
        about = {"column": column, "sample": sample, "missing": missing, "noun": noun}
        raise InvalidInputError(Message(template, **about))
    # A value that equals the name of the category of missing values is quoted, so that it remains a
    # category of its own.
    return [
        MISSING if value is None else repr(value) if value == MISSING else value for value in values
    ]


def numeric_columns(
    X: Any, Y: Any, kinds: Mapping[str, Any] | None
) -> tuple[Any, Any, tuple[ColumnKind, ...]]:
    """Return the numeric columns of X and of Y, and the kinds of all columns.

    `kinds` maps the names of columns to the kinds that the user chose, or is None. Samples for
    which `split_columns` returns None are returned unchanged, with () for the kinds unless they are
    named arrays. Raise an error if no column is numeric.
    """
    mixed = split_columns((X, Y), ("X", "Y"), kinds)
    if mixed is None:
        return X, Y, numeric_kinds(X.columns if isinstance(X, NamedArray) else None)
    check_some_numeric(mixed.columns)
    return mixed.numeric[0], mixed.numeric[1], mixed.columns


class MatchedFrames(NamedTuple):
    """Two samples with the columns that both have.

    Attributes
    ----------
    X, Y : samples
        The samples, without other columns.
    kinds : dict or None
        The option `kinds`, without entries for other columns.
    unmatched : tuple of ColumnKind
        Columns that only one sample has. They are not compared.
    """

    X: Any
    Y: Any
    kinds: dict[str, Any] | None
    unmatched: tuple[ColumnKind, ...]


def matched_frames(X: Any, Y: Any, kinds: Mapping[str, Any] | None) -> MatchedFrames:
    """Return two samples without the columns of data frames that only one sample has.

    Samples without column names are returned unchanged. Raise an error if data frames have no
    column in common.

    Examples
    --------
    >>> import pandas as pd
    >>> X, Y = pd.DataFrame({"a": [1], "b": [2]}), pd.DataFrame({"a": [4]})
    >>> X, Y, _, unmatched = matched_frames(X, Y, None)
    >>> list(X), column_lines(unmatched)
    (['a'], ["check column 'b': only in X", 'left out: b'])
    """
    if not is_frame(X) or not is_frame(Y):
        return MatchedFrames(X, Y, None if kinds is None else dict(kinds), ())
    x, y, only = common_columns(X, Y)
    types = [
        _stored_kinds(select_columns(each, names)) if names else {}
        for each, names in zip((X, Y), only, strict=True)
    ]
    return MatchedFrames(x, y, *unmatched_kinds(kinds, types))


def _stored_kinds(frame: Any) -> dict[str, str]:
    """Return a dict of the kinds of the columns of a data frame, from their types alone.

    The kinds are "numeric", "date" and "category".
    """
    if isinstance(frame, NamedArray):
        return dict.fromkeys(frame.columns or (), "numeric")
    import narwhals as nw

    kinds = {"number": "numeric", "date": "date"}
    columns = nw.from_native(frame, eager_only=True).iter_columns()
    return {str(each.name): kinds.get(column_type(each), "category") for each in columns}


def unmatched_kinds(
    kinds: Mapping[str, Any] | None, types: Sequence[Mapping[str, str]]
) -> tuple[dict[str, Any] | None, tuple[ColumnKind, ...]]:
    """Return the option `kinds` without unmatched columns, and the kinds of unmatched columns.

    An unmatched column is in only one sample. `types` has two dictionaries, for X and for Y, which
    map the names of unmatched columns to their kinds.
    """
    unmatched = tuple(
        ColumnKind(name, kind, "omit", f"only in {sample}", attention=True)
        for sample, found in zip("XY", types, strict=True)
        for name, kind in found.items()
    )
    if kinds is None or not unmatched:
        return None if kinds is None else dict(kinds), unmatched
    names = {each.column for each in unmatched}
    return {k: v for k, v in check_kinds(kinds).items() if k not in names}, unmatched


def utc_columns(columns: Sequence[ColumnKind]) -> set[str]:
    """Return the names of the columns of times with a time zone that are compared as days."""
    return {each.column for each in columns if each.note == SINCE_1970_UTC}


def date_columns(columns: Sequence[ColumnKind]) -> set[str]:
    """Return the names of the columns of dates that are compared as days since 1970."""
    return {each.column for each in columns if each.note in (SINCE_1970, SINCE_1970_UTC)}


def row_number_columns(columns: Sequence[ColumnKind]) -> set[str]:
    """Return the names of the columns of integers that number the rows."""
    return {each.column for each in columns if each.note in ROW_NUMBERS}


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
    return {each.column for each in columns if each.note.startswith(NOT_NUMBERS)}


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
    name = next((each.column for each in columns if each.note in ROW_NUMBERS), None)
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


def _narwhals_frames(samples: Sequence[Any]) -> list[Any] | None:
    """Return the samples as narwhals frames.

    Return None if any sample is not an eager data frame, or if narwhals cannot read it.
    """
    for each in samples:
        if isinstance(each, NamedArray) or not is_frame(each) or hasattr(each, "__dask_graph__"):
            return None
    import narwhals as nw

    try:
        return [nw.from_native(each, eager_only=True) for each in samples]
    except (TypeError, ValueError):
        return None  # a later check of the samples raises the error with the reason
