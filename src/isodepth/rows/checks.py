"""Checks of two tables: facts that need no test, each described by one sentence.

Each check is a `Check`. A category column is compared by the shares of its values, and a value is
called new or vanished if only one sample has it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np

from isodepth.base.export import ResultPart
from isodepth.base.export import percent_text as _percent
from isodepth.base.messages import Message, Sample, SampleNames, Wording, rendered
from isodepth.base.words import listed
from isodepth.rows.rows import TwoSamples, category_codes
from isodepth.table.arrays import is_duplicated, repeated_rows, row_hashes
from isodepth.table.dates import (
    Dates,
    apart,
    day_text,
    formats_differ,
    range_text,
    read_dates,
)
from isodepth.table.frames import NamedArray, column_type, is_frame, object_numbers
from isodepth.table.kinds import (
    ColumnKind,
    date_columns,
    rank_columns,
    subtracted_integers,
    utc_columns,
)
from isodepth.table.missing import TELLING, share_z
from isodepth.table.numerals import Numerals
from isodepth.table.values import strings_of, visible

# Maximum number of columns, categories or spellings that a sentence names.
_FEW = 3
# A table in which more than this fraction of the rows of both samples are repeated is discrete:
# equal rows are to be expected, and are not reported.
_DISCRETE = 0.5
# Maximum fraction of equal rows in a sample whose rows are rarely equal, except for copies.
_RARELY_EQUAL = 0.1
# Probability above which a difference of counts may be chance.
_CHANCE = 0.01
_TYPES = {
    "number": "numbers", "date": "dates", "boolean": "booleans", "category": "categories",
    "text": "strings",
}  # fmt: skip
# Words for the samples, which a headline replaces by their names, and for many rows in both.
_FIRST, _SECOND = Sample("the first sample"), Sample("the second sample")


class _Shared(Wording):
    """Texts about rows that both samples have."""

    DEPENDENT = "{overlap}{where}; a test of independent samples does not apply"
    CONTAINED = "{larger} contains all {count} rows of {smaller}{others}"
    SOME = "{in_y} {n} rows of {x} also occur in {y}, and {in_x} {m} rows of {y} in {x}"


# Minimum number of rows of each sample in which integers in increasing order are row numbers.
_FEWEST_ROW_NUMBERS = 10


@dataclass(frozen=True, eq=False, kw_only=True)
class Check(ResultPart):
    """One fact about two tables, such as a column that became empty.

    Attributes
    ----------
    kind : str
        "column" (in one sample only), "type", "empty", "constant", "new category", "vanished
        category", "rare categories" (in one sample only), "spelling", "missing", "date range"
        (without overlap), "overlapping date range", "date format", "time zone", "not a date", "not
        a number", "row number", "copied rows" (except for an identifier), "repeated rows", "shared
        rows" or "not compared".
    columns : tuple of str
        Columns that the fact concerns; empty if it concerns whole rows.
    text : str
        The fact in one sentence. The first sample is described as before, the second as after.
    before, after : float or None
        Fractions of the rows of the first and of the second sample that the kind is about: rows
        with missing values, with new or vanished categories, with other spellings than the most
        frequent one, with values that are not dates or numbers, copies of other rows, repeated
        rows, or rows that also occur in the other sample. None for facts that are not about
        fractions of rows.
    sample : {"X", "Y"} or None
        The sample that the fact concerns; None if it concerns both.
    """

    kind: str
    columns: tuple[str, ...]
    text: str
    before: float | None = None
    after: float | None = None
    sample: str | None = None

    def __str__(self) -> str:
        return self.text


def table_checks(X: Any, Y: Any, samples: TwoSamples) -> tuple[Check, ...]:
    """Return facts about two tables that need no test.

    The facts are exact. Facts that are likely by chance, such as a rare category that one sample
    does not have, are stated in one sentence for all columns. Shares of missing values are reported
    only for columns that are not compared, if they differ by more than four standard errors.

    Rows are compared by their numbers and categories. Rows that occur in both samples are reported
    if they are more than twice as frequent as repeated rows within a sample, or if they are too
    many for independent samples. Other equal rows are not reported if more than half of the rows of
    both samples are repeated.

    Parameters
    ----------
    X, Y : data frames, arrays or tensors
        The samples as the user passed them.
    samples : TwoSamples
        The result of ``TwoSamples.read(X, Y, kinds, common=True)``.

    Returns
    -------
    checks : tuple of Check
        Empty if nothing was found.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"year": [2013] * 20, "size": range(20), "city": list("abab") * 5})
    >>> Y = pd.DataFrame({"year": [2013] * 20, "size": [None] * 20, "city": list("abcc") * 5})
    >>> for check in table_checks(X, Y, TwoSamples.read(X, Y)):
    ...     print(check)
    size became empty
    year is constant (2013)
    city: new category c (10 rows, 50%)
    repeated rows within each sample: 0% -> 100%
    """
    X, Y = (
        given if typed is None else typed
        for given, typed in zip((X, Y), samples.typed, strict=True)
    )
    columns = _columns(samples)
    stored = _stored_columns(X, Y, samples)
    words = _words_among_numbers(stored)
    reported = {name for check in words for name in check.columns}
    counters = [*_row_numbers(columns)]
    copies = [*_copied_rows(samples, stored, [name for each in counters for name in each.columns])]
    return (
        *_columns_of_one_sample(samples),
        *words,
        *_changed_types([each for each in stored if each[0].column not in reported]),
        *_empty_columns(columns),
        *_constant_columns(columns),
        *_categories(columns),
        *(check for each in columns for check in _spellings(each)),
        *(check for kind, pair in stored for check in _dates(kind, pair)),
        *counters,
        *copies,
        *(each for each in _equal_rows(samples) if not (copies and each.kind == "repeated rows")),
        *_columns_not_compared(samples.kinds),
    )


# -- columns --------------------------------------------------------------------------------------


class _Column(NamedTuple):
    """Known values of one compared column, with the numbers of rows of both samples.

    Attributes
    ----------
    name : str
    values : pair of Counter, or pair of ndarrays
        Number of rows of each category, or numbers without NaN, in X and in Y.
    n_rows : pair of int
    base : int
        Number to add to the numbers of a column of integers beyond 2**53, else 0.
    is_date : bool
        Whether the numbers are days since 1970.
    order : sequence of str
        Values whose ranks 0, 1, ... are the numbers; empty for other columns.
    is_utc : bool
        Whether the numbers are times in UTC.
    """

    name: str
    values: tuple[Any, Any]
    n_rows: tuple[int, int]
    base: int = 0
    is_date: bool = False
    order: Sequence[str] = ()
    is_utc: bool = False

    @property
    def sizes(self) -> tuple[int, int]:
        """Number of known values of each sample."""
        x, y = (v.total() if isinstance(v, Counter) else len(v) for v in self.values)
        return x, y

    def constant(self, sample: int) -> str | None:
        """Return the only value of a sample as a string; None if there are no or several values."""
        values = self.values[sample]
        if isinstance(values, Counter):
            return next(iter(values)) if len(values) == 1 else None
        if not len(values) or values.min() != values.max():
            return None
        if self.order:
            return self.order[int(values[0])]
        if self.is_date:
            return day_text(float(values[0]), utc=self.is_utc)
        return str(self.base + int(values[0])) if self.base else f"{values[0]:.10g}"

    def n_others(self, sample: int, constant: str | None) -> int:
        """Return the number of values of a sample that differ from the value `constant`.

        `constant` is the only value of the other sample. If it is None, because the other sample is
        not constant, return 0.
        """
        if constant is None:
            return 0
        values, other = self.values[sample], self.values[1 - sample]
        if isinstance(values, Counter):
            return values.total() - values[constant]
        return int((values != other[0]).sum())


def _columns(samples: TwoSamples) -> list[_Column]:
    """Return the compared columns, numeric columns first."""
    bases = subtracted_integers(samples.kinds) if samples.kinds else {}
    dates = date_columns(samples.kinds) if samples.kinds else set()
    ranks = rank_columns(samples.kinds) if samples.kinds else {}
    in_utc = utc_columns(samples.kinds) if samples.kinds else set()
    columns = []
    for name in samples.columns:
        how = bases.get(name, 0), name in dates, ranks.get(name, ()), name in in_utc
        columns.append(_Column(name, samples.numbers(name), samples.n_rows, *how))
    for name, both in samples.categories.items():
        x, y = (Counter(values) for values in both)
        del x[None], y[None]
        columns.append(_Column(name, (x, y), samples.n_rows))
    return columns


def _stored_columns(
    X: Any, Y: Any, samples: TwoSamples
) -> list[tuple[ColumnKind, tuple[Any, Any]]]:
    """Return pairs for all columns: the kind, and the narwhals series in X and in Y.

    The list is empty for arrays.
    """
    if not samples.kinds or any(
        isinstance(each, NamedArray) or not is_frame(each) for each in (X, Y)
    ):
        return []
    import narwhals as nw

    frames = [nw.from_native(each, eager_only=True) for each in (X, Y)]
    x, y = ({str(label): frame.get_column(label) for label in frame.columns} for frame in frames)
    return [(kind, (x[kind.column], y[kind.column])) for kind in samples.kinds]


def _columns_of_one_sample(samples: TwoSamples) -> Iterator[Check]:
    """Yield a check of the columns that only X has, and one of those that only Y has."""
    for sample, names, word in zip("XY", samples.only, ("missing", "new"), strict=True):
        if names:
            head = f"{word} column" if len(names) == 1 else f"{len(names)} {word} columns"
            text = f"{head}, not compared: {listed(names, _FEW)}"
            yield Check(kind="column", columns=names, text=text, sample=sample)


def _words_among_numbers(stored: Sequence[tuple[ColumnKind, tuple[Any, Any]]]) -> list[Check]:
    """Return one check for each set of numeric columns that contain strings other than numbers.

    `stored` has the kind of each column, and its series in X and in Y. Columns with the same
    strings, in the same number of rows, are named in one sentence.
    """
    columns: dict[tuple[str, tuple[float, float]], list[str]] = {}
    for kind, pair in stored:
        # The note of such a column is shown first. See `isodepth.table.rules`.
        if not (kind.use == "numeric" and kind.option == "numeric" and kind.attention):
            continue
        values = [strings_of(series.to_list()).values for series in pair]
        numerals = Numerals([*values[0], *values[1]])
        x, y = (sum(value in numerals.others for value in part) for part in values)
        if not x + y:
            continue
        words = listed(sorted(map(repr, numerals.others)), _FEW)
        are = "is not a number" if x + y == 1 else "are not numbers"
        text = f"{x + y} of {numerals.rows} values {are} ({words}), read as missing"
        shares = x / max(1, len(values[0])), y / max(1, len(values[1]))
        columns.setdefault((text, shares), []).append(kind.column)
    checks = []
    for (text, (before, after)), names in columns.items():
        each = "" if len(names) == 1 else "in each column, "
        sentence = f"{listed(names, 2 * _FEW)}: {each}{text}"
        checks.append(
            Check(
                kind="not a number", columns=tuple(names), text=sentence, before=before,
                after=after,
            )
        )  # fmt: skip
    return checks


def _changed_types(stored: Sequence[tuple[ColumnKind, tuple[Any, Any]]]) -> Iterator[Check]:
    """Yield a check for each column whose type, such as numbers or dates, differs in X and in Y.

    `stored` has the kind of each column, and its series in X and in Y.
    """
    for kind, (x, y) in stored:
        if x.dtype == y.dtype or x.null_count() == len(x) or y.null_count() == len(y):
            continue
        before, after = (_TYPES[column_type(object_numbers(series))] for series in (x, y))
        if before != after:
            text = f"{kind.column}: type {before} -> {after}"
            yield Check(kind="type", columns=(kind.column,), text=text)


def _empty_columns(columns: Sequence[_Column]) -> Iterator[Check]:
    """Yield checks of the columns without values in a sample.

    There is one check for each column that only one sample lacks. Two more checks name the columns
    without values in both samples, and those that may be empty in one sample by chance.
    """
    in_both, in_one = [], []
    for each in columns:
        (before, after), (n, m) = each.sizes, each.n_rows
        if not before and not after:
            in_both.append(each.name)
        elif before and after:
            continue
        elif _by_chance(before, after, n, m, len(columns)):
            in_one.append(each.name)
        elif before:
            text = f"{each.name} became empty"
            yield _of_column("empty", each.name, text, 1 - before / n, 1.0, "Y")
        else:
            text = f"{each.name} is not empty any more"
            yield _of_column("empty", each.name, text, 1.0, 1 - after / m, "X")
    yield from _together("empty", "empty", in_both)
    yield from _together("empty", "empty in one sample", in_one)


def _constant_columns(columns: Sequence[_Column]) -> Iterator[Check]:
    """Yield checks of the columns with a single value in a sample.

    There is one check for each column that is constant in one sample, or has different values in
    both. Two more checks name the columns with the same value in both samples, and those that may
    be constant in one sample by chance.
    """
    in_both: dict[str, str] = {}
    in_one: dict[str, str] = {}
    for each in columns:
        x, y = each.constant(0), each.constant(1)
        if (x is None and y is None) or not all(each.sizes):
            continue
        if x is not None and y is not None:
            if x == y:
                in_both[each.name] = visible(x)
            else:
                text = f"{each.name} is constant in each sample: {visible(x)} -> {visible(y)}"
                yield _of_column("constant", each.name, text)
        elif _by_chance(each.n_others(0, y), each.n_others(1, x), *each.sizes, len(columns)):
            in_one[each.name] = visible(str(x if y is None else y))
        elif x is None:
            text = f"{each.name} became constant ({visible(str(y))})"
            yield _of_column("constant", each.name, text, sample="Y")
        else:
            text = f"{each.name} is not constant any more (it was {visible(x)})"
            yield _of_column("constant", each.name, text, sample="X")
    yield from _together("constant", "constant", in_both)
    yield from _together("constant", "constant in one sample", in_one)


def _row_numbers(columns: Sequence[_Column]) -> Iterator[Check]:
    """Yield a check for each column that counts the rows from 0 or 1.

    The rows are counted in each sample, or in both samples together.
    """
    for each in columns:
        x, y = each.values
        if (
            isinstance(x, Counter)
            or each.base
            or each.sizes != each.n_rows
            or min(each.sizes) < _FEWEST_ROW_NUMBERS
        ):
            continue
        if any((np.diff(values) <= 0).any() or (values % 1 != 0).any() for values in (x, y)):
            continue
        pooled = np.unique(np.concatenate([x, y]))
        together = len(pooled) == len(x) + len(y) and _is_consecutive(pooled)
        if pooled[0] in (0, 1) and (together or (_is_consecutive(x) and _is_consecutive(y))):
            yield _of_column("row number", each.name, f"{each.name} looks like a row number")


def _is_consecutive(values: np.ndarray) -> bool:
    """Return whether increasing integers (n,) have no gaps."""
    return bool(values[-1] - values[0] == len(values) - 1)


def _columns_not_compared(kinds: Sequence[ColumnKind]) -> Iterator[Check]:
    """Yield one check about all columns that both samples have and that are not compared."""
    omitted = [kind for kind in kinds if kind.use == "omit"]
    if omitted:
        # The note on a column of doubtful kind is shown first.
        described = [k.column if k.attention else f"{k.column} ({k.note})" for k in omitted]
        names = tuple(kind.column for kind in omitted)
        text = f"not compared: {listed(described, 2 * _FEW)}"
        yield Check(kind="not compared", columns=names, text=text)


def _of_column(
    kind: str,
    name: str,
    text: str,
    before: float | None = None,
    after: float | None = None,
    sample: str | None = None,
) -> Check:
    return Check(kind=kind, columns=(name,), text=text, before=before, after=after, sample=sample)


def _together(
    kind: str, adjective: str, columns: Sequence[str] | dict[str, str]
) -> Iterator[Check]:
    """Yield one check that each of `columns` is `adjective`, such as "constant in one sample".

    `kind` is the kind of the check. A dictionary of columns has the value of each column, which the
    sentence shows. If there are no columns, nothing is yielded.
    """
    names = tuple(columns)
    if not names:
        return
    values = [f" ({value})" for value in columns.values()] if isinstance(columns, dict) else []
    described = [f"{name}{value}" for name, value in zip_longest(names, values, fillvalue="")]
    text = f"{len(names)} columns are {adjective}: {listed(described, 2 * _FEW)}"
    if len(names) == 1:
        text = f"{names[0]} is {adjective}{''.join(values)}"
    yield Check(kind=kind, columns=names, text=text)


def _by_chance(x: int, y: int, n: int, m: int, n_facts: int = 1) -> bool:
    """Return whether chance may explain that only one sample has rows with a property.

    x of the n rows of X and y of the m rows of Y have the property, and x or y is 0. The
    probability that random labels assign these x + y rows to the same sample is multiplied by
    `n_facts`, the number of possible facts of this kind. Facts that may be due to chance are stated
    in one sentence for all columns.
    """
    return bool(n_facts * ((n if x else m) / (n + m)) ** (x + y) >= _CHANCE)


# -- categories -----------------------------------------------------------------------------------


def _categories(columns: Sequence[_Column]) -> Iterator[Check]:
    """Yield checks of the categories that occur in one sample only, the most frequent ones first.

    There is one check per column and sample. One more check has the numbers of rare categories,
    which the other sample may lack by chance, of all columns.
    """
    rare: dict[str, str] = {}
    for column in columns:
        x, y = column.values
        if not isinstance(x, Counter) or not x or not y:
            continue  # an empty column is reported as empty
        numbers = []
        for kind, side in (("new", 1), ("vanished", 0)):
            frequent, n_rare = _one_sided(column, side)
            if n_rare:
                numbers.append(f"{n_rare} {kind}")
            if frequent:
                yield _one_sided_check(column, kind, side, frequent)
        if numbers:
            rare[column.name] = " and ".join(numbers)
    if rare:
        described = [f"{name} ({numbers})" for name, numbers in rare.items()]
        text = f"rare categories in one sample only: {listed(described, 2 * _FEW)}"
        yield Check(kind="rare categories", columns=tuple(rare), text=text)


def _one_sided(column: _Column, side: int) -> tuple[Counter[str], int]:
    """Return the categories that only one sample has, with their numbers of rows.

    `side` is 0 for the categories of X, and 1 for those of Y. Categories that are so rare that the
    other sample may lack them by chance are left out. Their number is the second result.
    """
    counts, other = column.values[side], column.values[1 - side]
    sizes = column.n_rows if side == 0 else column.n_rows[::-1]
    only = {value: k for value, k in counts.items() if value not in other}
    frequent = Counter({value: k for value, k in only.items() if not _by_chance(k, 0, *sizes)})
    return frequent, len(only) - len(frequent)


def _one_sided_check(column: _Column, kind: str, side: int, counts: Counter[str]) -> Check:
    """Describe categories that only one sample has; `counts` are their numbers of rows.

    `kind` is "new" for Y (`side` 1) or "vanished" for X (`side` 0).
    """
    n_rows = column.n_rows[side]
    described = [
        f"{visible(value)} ({_rows(k)}, {_percent(k / n_rows)})"
        for value, k in counts.most_common()
    ]
    noun = f"{kind} category"
    if len(described) > 1:
        noun = f"{len(described)} {kind} categories:"
    text = f"{column.name}: {noun} {listed(described, _FEW)}"
    share = counts.total() / n_rows
    shares = (0.0, share) if side else (share, 0.0)
    return _of_column(f"{kind} category", column.name, text, *shares, "XY"[side])


def _spellings(column: _Column) -> Iterator[Check]:
    """Yield one check of the categories that differ only in case or spaces.

    Surrounding spaces and the number of repeated spaces are ignored.
    """
    x, y = column.values
    if not isinstance(x, Counter):
        return
    groups = defaultdict(list)
    for value in x | y:
        groups[" ".join(value.split()).casefold()].append(value)
    groups_of_several = [sorted(group, key=lambda v: -x[v] - y[v]) for group in groups.values()]
    groups_of_several = [group for group in groups_of_several if len(group) > 1]
    if not groups_of_several:
        return
    others = [value for group in groups_of_several for value in group[1:]]
    shares = [
        sum(counts[value] for value in others) / n
        for counts, n in zip((x, y), column.n_rows, strict=True)
    ]
    first = max(groups_of_several, key=lambda group: sum(x[v] + y[v] for v in group[1:]))
    described = [f"{_quoted(value)} ({x[value]} -> {_rows(y[value])})" for value in first]
    more = len(groups_of_several) - 1
    end = f"; {more} more categories have several spellings" if more > 1 else ""
    end = "; 1 more category has several spellings" if more == 1 else end
    text = f"{column.name}: spellings that differ in case or spaces: {listed(described, _FEW)}{end}"
    yield _of_column("spelling", column.name, text, *shares)


def _quoted(value: str) -> str:
    shown = visible(value)
    return repr(value) if shown == value else shown


def _rows(n: int) -> str:
    return "1 row" if n == 1 else f"{n} rows"


# -- dates and other columns that are not compared -------------------------------------------------


def _dates(kind: ColumnKind, pair: tuple[Any, Any]) -> Iterator[Check]:
    """Yield facts about a column with dates, or about another column that is not compared.

    They are about missing values, values that are not dates, formats, time zones and ranges. Only
    the ranges are checked if the dates are compared as numbers. `pair` has the series of the column
    in X and in Y.
    """
    name = kind.column
    if kind.use != "omit":
        if date_columns([kind]):
            yield from _date_ranges(name, *(read_dates(series, True) for series in pair))
        return
    x, y = (read_dates(series, kind.kind == "date") for series in pair)
    n, m = map(len, pair)
    if n and m and abs(share_z(x.missing * n, y.missing * m, n, m)) > TELLING:
        text = f"{name}: missing {_percent(x.missing)} -> {_percent(y.missing)}"
        yield _of_column("missing", name, text, x.missing, y.missing)
    if x.odd or y.odd:
        shares = f"{_percent(x.odd)} -> {_percent(y.odd)}"
        text = f"{name}: not a date {shares}, such as {(x.example or y.example)!r}"
        yield _of_column("not a date", name, text, x.odd, y.odd)
    for title, before, after in (
        ("date format", x.formats, y.formats),
        ("time zone", x.zones, y.zones),
    ):
        differ = formats_differ(before, after) if title == "date format" else before != after
        if before and after and differ:
            both = " -> ".join(" and ".join(sorted(each)) for each in (before, after))
            yield _of_column(title, name, f"{name}: {title} {both}")
    yield from _date_ranges(name, x, y)


def _date_ranges(name: str, x: Dates, y: Dates) -> Iterator[Check]:
    """Yield a check if the ranges of the dates `x` and `y` of a column differ."""
    text = range_text(x.range, y.range) if x.range and y.range else ""
    if text:
        kind = "date range" if apart(x.range, y.range) else "overlapping date range"
        yield _of_column(kind, name, f"{name}: {text}")


# -- rows -----------------------------------------------------------------------------------------


def _equal_rows(samples: TwoSamples) -> Iterator[Check]:
    """Yield a check of rows repeated within their sample, and one of rows that both samples have.

    Rows are compared in the compared columns only. If the samples have other columns, the sentences
    of the checks say so.
    """
    tables = _tables(samples)
    has_value = [~np.isnan(table).all(axis=1) for table in tables]
    rows = [table[known] for table, known in zip(tables, has_value, strict=True)]
    where = "" if samples.has_all_columns else ", in the compared columns only"
    if not all(map(len, rows)):
        return
    equal = [float(is_duplicated(part).mean()) for part in rows]
    if min(equal) <= _DISCRETE and any((repeated_rows(part) == 1).any() for part in rows):
        before, after = (float(is_duplicated(table).mean()) for table in tables)
        text = f"repeated rows within each sample{where}: {_percent(before)} -> {_percent(after)}"
        yield Check(kind="repeated rows", columns=(), text=text, before=before, after=after)
    x, y = map(row_hashes, tables)
    in_y, in_x = np.isin(x, y), np.isin(y, x)
    shares, n, m = (float(in_y.mean()), float(in_x.mean())), len(x), len(y)
    # If rows are equal by chance, a row of Y equals one of the n rows of X about as often as a row
    # of X equals another row of X.
    expected = max(len(rows[1]) * equal[0], len(rows[0]) * equal[1])
    if _has_many_rows_of(*rows) or _has_many_rows_of(*rows[::-1]):
        overlap = _overlap(in_y.sum(), n, in_x.sum(), m)
        shared = _Shared.DEPENDENT(overlap=overlap, where=where)
        yield Check(kind="shared rows", columns=(), text=shared, before=shares[0], after=shares[1])
    elif min(equal) <= _DISCRETE and in_x[has_value[1]].sum() > 2 * expected + 2:
        text = (
            f"{_percent(shares[1])} of the rows of the second sample also occur in the first "
            f"({in_x.sum()} of {m} rows{where})"
        )
        yield Check(kind="shared rows", columns=(), text=text, before=shares[0], after=shares[1])


def _has_many_rows_of(rows: np.ndarray, others: np.ndarray) -> bool:
    """Return whether `others` have too many of the distinct `rows` for independent samples.

    A given row occurs exactly once among m independent and identically distributed rows with a
    probability of at most (1 - 1 / m) ** (m - 1), about 37%, for any distribution. Half of the rows
    is therefore too many. For few rows, three standard deviations are added to 37%.
    """
    values, counts = np.unique(row_hashes(others), return_counts=True)
    distinct = np.unique(row_hashes(rows))
    shared, n = np.isin(distinct, values[counts == 1]).sum(), len(distinct)
    return bool(shared >= max(0.5 * n, 0.37 * n + 1.5 * np.sqrt(n)))


def _overlap(in_y: int, n: int, in_x: int, m: int) -> Message:
    """Describe that `in_y` of n rows of X also occur in Y, and `in_x` of m rows of Y in X."""
    if in_y == n == in_x:
        others = _more(m - n, "new")
        return _Shared.CONTAINED(larger=_SECOND, smaller=_FIRST, count=n, others=others)
    if in_x == m == in_y:
        others = _more(n - m, "other")
        return _Shared.CONTAINED(larger=_FIRST, smaller=_SECOND, count=m, others=others)
    parts = ["all" if count == size else f"{count} of" for count, size in ((in_y, n), (in_x, m))]
    return _Shared.SOME(in_y=parts[0], in_x=parts[1], n=n, m=m, x=_FIRST, y=_SECOND)


def _more(count: int, word: str) -> str:
    return f" and {count} {word} one{'s' * (count > 1)}" if count else ""


def with_names(check: Check, names: Sequence[str]) -> str:
    """Return the text of a check in which the samples have the given names."""
    return rendered(check.text, SampleNames(dict(zip((_FIRST, _SECOND), names, strict=True))))


def overlap_sentence(checks: Sequence[Check], names: Sequence[str]) -> str:
    """Return the first sentence of a headline if many rows occur in both samples, else ""."""
    for check in checks:
        if isinstance(check.text, Message) and check.text.kind is _Shared.DEPENDENT:
            text = with_names(check, names)
            # The name of a sample keeps its case.
            some = check.text.values["overlap"].kind is _Shared.SOME
            return f"{text[0].upper() if some else text[0]}{text[1:]}. "
    return ""


def _copied_rows(
    samples: TwoSamples,
    stored: Sequence[tuple[ColumnKind, tuple[Any, Any]]],
    row_numbers: Sequence[str],
) -> Iterator[Check]:
    """Yield the numbers of rows that are copies of other rows except for one column, such as "id".

    This column is an identifier that is not compared, or one of `row_numbers`. All other columns
    are used, also those that are not compared. `stored` has the kind of each column, and its series
    in X and in Y. Nothing is yielded if there are several such columns, or if more than 10% of the
    rows of both samples are equal to other rows, because many equal rows are then not copies.
    """
    identifiers = [kind.column for kind, _ in stored if kind.kind == "identifier"]
    identifiers = [*identifiers, *row_numbers]
    if len(identifiers) != 1:
        return
    used = [j for j, name in enumerate(samples.columns) if name not in row_numbers]
    others = {
        kind.column: [strings_of(series.to_list()).values for series in pair]
        for kind, pair in stored
        if kind.use == "omit" and kind.column not in identifiers
    }
    x, y = samples.points
    points, categories = (x[:, used], y[:, used]), samples.categories | others
    rows = _tables(replace(samples, points=points, categories=categories))
    equal = [row_hashes(part[repeated_rows(part) == 1]) for part in rows]
    shares = [len(part) / max(1, n) for part, n in zip(equal, samples.n_rows, strict=True)]
    before, after = (len(part) - len(np.unique(part)) for part in equal)
    if min(shares) <= _RARELY_EQUAL and before + after:
        (name,) = identifiers
        text = f"{before} -> {after} rows are copies of another row, without regard to {name}"
        n, m = samples.n_rows
        yield _of_column("copied rows", name, text, before / n, after / m)


def _tables(samples: TwoSamples) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers and codes of all rows of X and of Y; NaN for missing values."""
    codes, _ = category_codes(samples.categories, samples.n_rows)
    x, y = (
        np.column_stack([numbers.astype(np.float64), np.where(own < 0, np.nan, own)])
        for numbers, own in zip(samples.points, codes, strict=True)
    )
    return x, y
