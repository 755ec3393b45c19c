"""Results of the search for suspicious rows."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, overload

import numpy as np

from isodepth.base.export import (
    ResultMixin,
    ResultPart,
    keys,
    name_text,
    number_text,
    percent_text,
    table_of,
)
from isodepth.base.options import Choice
from isodepth.base.words import listed
from isodepth.rows.rows import TwoSamples
from isodepth.table.dates import day_text
from isodepth.table.values import visible

RULE = (
    "The threshold is a rule, not a guarantee: it extrapolates the tail of the scores of the other "
    "sample. A listed row may be correct, and a wrong row that looks like others is not listed."
)

# A value is nearly absent in a sample if its share there is at most this fraction of its share in
# the other sample.
NEARLY_ABSENT = 0.1


def range_text(ends: tuple[float, float]) -> str:
    """Return a range with four digits, or more if two digits of its length need them.

    Examples
    --------
    >>> range_text((3865.2, 16098.0)), range_text((273.14998, 273.15003))
    ('3865 to 16100', '273.14998 to 273.15003')
    """
    return " to ".join(number_text(end, 4, ends[1] - ends[0]) for end in ends)


def value_text(value: float, is_date: bool, step: float = 0.0) -> str:
    """Return a number, or the date if the number is a day since 1970.

    The number has six significant digits, or more if two digits of `step` need them. Whole numbers
    up to 10^15 are exact.

    Examples
    --------
    >>> value_text(1234567.0, False), value_text(2 / 3, False), value_text(273.15004, False, 2e-5)
    ('1234567', '0.666667', '273.15004')
    """
    if is_date:
        return day_text(value)
    return number_text(value, 15 if value % 1 == 0 else 6, step)


def usual_text(
    ends: tuple[float, float] | None, values: Sequence[float | str] | None, is_date: bool
) -> str:
    """Describe the usual range or the usual values of a column.

    The description is "not repeated" if both are None.

    Examples
    --------
    >>> usual_text((3865.2, 16098.0), None, False), usual_text(None, (0.0, 1.0, 2.0), False)
    ('3865 to 16100', '0, 1 or 2')
    >>> usual_text((19737.0, 19768.0), None, True), usual_text(None, (19737.0,), True)
    ('2024-01-15 to 2024-02-15', '2024-01-15')
    """
    if ends is not None:
        return " to ".join(map(day_text, ends)) if is_date else range_text(ends)
    if values is None:
        return "not repeated"
    names = [each if isinstance(each, str) else value_text(each, is_date) for each in values]
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


@dataclass(frozen=True, eq=False)
class SuspiciousRow(ResultPart):
    """A row that does not look like the rows of the other sample.

    Attributes
    ----------
    sample : {"X", "Y"}
    row : int
        Position of the row, from 0, in the sample as the user passed it. Labels in the index of a
        data frame have no influence: the row is ``frame.iloc[row]``.
    score : float
        Score defined in `suspicious_rows`: how unusual the row is, relative to a threshold. It is
        at least 1, and it orders the rows. It is not a probability.
    column : str
        Column with the unusual value.
    value : float, int or str
        Value of the row in this column; a string if the column is a category, and an integer if an
        integer was subtracted from the integers of the column.
    usual_range : pair of float or None
        Range of about 98% of the values of this column in the other sample. If the value is unusual
        only together with other values of the row, it is the range for these other values. The
        range is within the values of rows that are not suspicious. None if the usual values are
        listed in `usual_values`, or if the reason is "repeated value".
    usual_values : tuple of float, tuple of str or None
        Usual values of a number with few distinct values, such as ``(0.0, 1.0)``, or the only usual
        value of a category, such as ``("Africa",)``. None if `usual_range` is given, or if the
        reason is "repeated value".
    reason : str
        "value": the value is outside the usual range. "value within a category": it is outside the
        range of the rows with the same category. "value given the other columns": it does not fit
        the prediction from other columns. "category given another category": the pair of values
        never occurs in the other sample. "repeated value": many rows have the value, and rows of
        the other sample nearly never have it.
    given : str
        Other values of the row that make the value unusual, such as "weeks = 26" or "weeks = 26 and
        other columns"; empty if the value is unusual by itself.
    text : str
        The reason in words, such as "weight = 9 at weeks = 26, usually 1.2 to 2.4". If the range
        depends on more columns than one or two: "weight = 9, expected 1.2 to 2.4 from weeks = 26
        and other columns".
    file : str or None
        File, array or partition with the row, if the sample was read in chunks.
    file_row : int or None
        Position of the row in `file`, from 0.
    is_date : bool
        Whether the column has dates. `value`, `usual_range` and `usual_values` are then days since
        1970-01-01.
    """

    sample: str
    row: int
    score: float
    column: str
    value: float | str
    usual_range: tuple[float, float] | None
    usual_values: tuple[float, ...] | tuple[str, ...] | None
    reason: str
    given: str
    text: str
    file: str | None = None
    file_row: int | None = None
    is_date: bool = False

    @property
    def _value_text(self) -> str:
        """Value as a string."""
        if isinstance(self.value, str):
            return self.value
        low, high = self.usual_range or (0.0, 0.0)
        return value_text(self.value, self.is_date, high - low)

    @property
    def _usual_text(self) -> str:
        """Usual range or values as a string."""
        return usual_text(self.usual_range, self.usual_values, self.is_date)

    def _text(self, name: str) -> str:
        """Describe the row in one line; `name` is the name of the sample."""
        if self.file is not None:
            return f"{self.file}, row {self.file_row}: {self.text}"
        return f"{name}[{self.row}]: {self.text}"


@dataclass(frozen=True, eq=False)
class OneSidedValue(ResultPart):
    """A value of a category that occurs in only one sample.

    Attributes
    ----------
    sample : {"X", "Y"}
        The sample that has the value.
    column, value : str
        Name of the column, and the value.
    count : int
        Number of rows with the value.
    row : int
        Index of the first row with the value.
    pvalue : float
        Probability that all rows with this value belong to this sample if rows are assigned to the
        two samples at random; not adjusted for the number of values.
    """

    sample: str
    column: str
    value: str
    count: int
    row: int
    pvalue: float

    def __str__(self) -> str:
        rows = "1 row" if self.count == 1 else f"{self.count} rows"
        return f"only {self.sample} has {name_text(self.column)} = {visible(self.value)} ({rows})"


@dataclass(frozen=True, eq=False)
class RepeatedValue(ResultPart):
    """One unusual value, such as -9999, that many rows of a sample have in common.

    Attributes
    ----------
    sample : {"X", "Y"}
    value : float
    columns : tuple of str
        Columns with the maximum number of rows that have the value.
    count : int
        Number of rows that have the value, in each of these columns.
    share : float
        `count` divided by the number of rows of the sample.
    """

    sample: str
    value: float
    columns: tuple[str, ...]
    count: int
    share: float

    def _replaced(self, count: int, n_rows: int) -> RepeatedValue:
        """Return the same value in `count` of the `n_rows` rows of its sample."""
        return replace(self, count=count, share=count / max(1, n_rows))

    def _where(self, dates: Collection[str]) -> str:
        """Return columns and value as a string; `dates` are the names of columns of dates."""
        more = len(self.columns) - 1
        others = f" and {more} more column{'s' * (more > 1)}" if more else ""
        first = self.columns[0]
        return f"{name_text(first)}{others} = {value_text(self.value, first in dates)}"

    def _text(self, name: str, dates: Collection[str] = ()) -> str:
        """Describe the rows with the value in one line.

        `name` is the name of the sample, and `dates` are the names of columns of dates.
        """
        return f"{self.count} rows of {name} look wrong: {self._where(dates)}"


def split_repeated(
    values: Sequence[RepeatedValue],
) -> tuple[list[RepeatedValue], list[tuple[RepeatedValue, RepeatedValue]]]:
    """Split values into those that look wrong, and pairs (X, Y) of values that both samples have.

    Both samples have a value if they have it in the same column, and its share in each sample is
    more than a tenth of its share in the other. Such a value does not make rows of one sample
    suspicious.
    """
    pairs = [
        (x, y)
        for x in values
        for y in values
        if (x.sample, y.sample) == ("X", "Y")
        and x.value == y.value
        and {*x.columns} & {*y.columns}
        and min(x.share, y.share) > NEARLY_ABSENT * max(x.share, y.share)
    ]
    paired = [each for pair in pairs for each in pair]
    return [each for each in values if each not in paired], pairs


def repeated_texts(
    values: Sequence[RepeatedValue], names: Sequence[str], dates: Collection[str] = ()
) -> list[str]:
    """Describe each repeated value in one line.

    `names` are the names of X and Y, and `dates` are the names of columns of dates.

    Examples
    --------
    >>> x = RepeatedValue("X", 0.0, ("s",), 15, 0.021)
    >>> repeated_texts([x], ("June", "July"))
    ['15 rows of June look wrong: s = 0']
    >>> repeated_texts([x, RepeatedValue("Y", 0.0, ("s",), 13, 0.019)], ("June", "July"))
    ['s = 0 in 2.1% of June and 1.9% of July']
    """
    wrong, pairs = split_repeated(values)
    texts = [each._text(names["XY".index(each.sample)], dates) for each in wrong]
    for x, y in pairs:
        shares = f"{percent_text(x.share)} of {names[0]} and {percent_text(y.share)} of {names[1]}"
        texts.append(f"{x._where(dates)} in {shares}")
    return texts


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SuspiciousRows(ResultMixin):
    """Rows of each sample that do not look like any row of the other sample.

    Attributes
    ----------
    rows : tuple of SuspiciousRow
        Suspicious rows of both samples, most suspicious first.
    one_sided_values : tuple of OneSidedValue
        Values of categories that occur in only one sample, most frequent first.
    n_rows : pair of int
        Numbers of rows of X and Y.
    skipped_columns : tuple of str
        Columns that were not used, because more than 20% of the rows of a sample have unusual
        values in these columns. The whole distribution differs then, not single rows. A column with
        usual values is not skipped if only its relation to other columns or to categories differs.
    repeated_values : tuple of RepeatedValue
        Unusual values, such as -9999, that many rows have in common.
    small_samples : tuple of {"X", "Y"}
        Samples with fewer than 50 rows, too few to estimate how far their values reach. Rows of the
        other sample are listed only if they are far beyond all values of the small sample.
    n_unlisted : pair of int
        Numbers of further suspicious rows of X and of Y, which have smaller scores, in samples that
        are read in chunks.

    Examples
    --------
    >>> import numpy as np, isodepth
    >>> X = np.random.default_rng(5).normal(size=(200, 2))
    >>> Y = np.random.default_rng(6).normal(size=(100, 2))
    >>> Y[7, 1] = -9999
    >>> suspicious = isodepth.compare(X, Y, random_state=0).suspicious_rows()
    >>> len(suspicious), suspicious.indices("Y")
    (1, array([7]))
    >>> suspicious.rows[0].column, suspicious.rows[0].value
    ('column 1', -9999.0)
    """

    _result_type = "suspicious_rows"
    _more_in_json = keys(rule="_rule")

    rows: tuple[SuspiciousRow, ...]
    one_sided_values: tuple[OneSidedValue, ...]
    n_rows: tuple[int, int]
    skipped_columns: tuple[str, ...] = ()
    repeated_values: tuple[RepeatedValue, ...] = ()
    small_samples: tuple[str, ...] = ()
    n_unlisted: tuple[int, int] = (0, 0)
    _points: dict[tuple[str, int], np.ndarray] | None = field(init=False, repr=False, default=None)
    # Numbers of random rows of X and of Y among which pairs of categories were searched, if not
    # among all rows.
    _pair_rows: tuple[int, int] | None = field(init=False, repr=False, default=None)
    # Columns of which only the values are scored, because their relation to other columns or to
    # categories differs.
    _unrelated: tuple[str, ...] = field(init=False, repr=False, default=())
    # Whether a column changed, and whether the whole distribution of one differs, by a test.
    _changed: bool = field(init=False, repr=False, default=False)
    _whole: bool = field(init=False, repr=False, default=False)

    def _points_of(self, row: SuspiciousRow, samples: TwoSamples) -> np.ndarray:
        """Return the numeric values (d,) of a suspicious row; `samples` are those in memory."""
        if self._points is not None:
            return self._points[row.sample, row.row]
        return samples.points["XY".index(row.sample)][row.row]

    def indices(self, sample: str) -> np.ndarray:
        """Return the positions of the rows of one sample, "X" or "Y", most suspicious first.

        The rows of a data frame are ``frame.iloc[indices]``.
        """
        Choice(("X", "Y")).check("sample", sample)
        return np.array([row.row for row in self.rows if row.sample == sample], dtype=np.int64)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[SuspiciousRow]:
        return iter(self.rows)

    @overload
    def __getitem__(self, item: int) -> SuspiciousRow: ...
    @overload
    def __getitem__(self, item: slice) -> tuple[SuspiciousRow, ...]: ...
    def __getitem__(self, item: int | slice) -> SuspiciousRow | tuple[SuspiciousRow, ...]:
        """Return one of `rows`, or several as a tuple."""
        return self.rows[item]

    @property
    def _rule(self) -> str:
        return RULE

    def _rows(self) -> dict[str, list[Any]]:
        names = ["sample", "row", "score", "column", "value", "reason", "text"]
        if any(row.file is not None for row in self.rows):
            names += ["file", "file_row"]
        columns = table_of(self.rows, names)
        # Some libraries of data frames do not allow numbers and strings in one column.
        columns["value"] = [None if isinstance(value, str) else value for value in columns["value"]]
        return columns

    def _summary(self, names: Sequence[str] = ("X", "Y")) -> str:
        """Return a phrase with numbers of suspicious rows, such as "12 suspicious rows in July".

        Unlisted rows are counted too. `names` are the names of X and Y.
        """
        counts = [
            (len(self.indices(sample)) + more, name)
            for sample, name, more in zip("XY", names, self.n_unlisted, strict=True)
        ]
        parts = [f"{n} suspicious row{'s' * (n > 1)} in {name}" for n, name in counts if n]
        return " and ".join(parts) or "no suspicious rows"

    def _notes(self, names: Sequence[str] = ("X", "Y")) -> list[str]:
        """Return sentences about limits of the search; `names` are the names of X and Y."""
        sentences = []
        share = "in more than 20% of the rows of a sample"
        if self.skipped_columns:
            sentences.append(
                f"Columns without search for single values: {listed(self.skipped_columns)}. Values "
                f"are unusual {share}, so the whole distribution differs."
            )
        if self._unrelated:
            columns = listed(self._unrelated)
            sentences.append(
                f"Columns searched without other columns and categories: {columns}. Together with "
                f"these, values are unusual {share}."
            )
        if self._changed:
            of_second = f", and of {names[1]} in columns that changed as a whole," * self._whole
            own = "their own sample" if self._whole else names[0]
            sentences.append(
                f"Values of {names[0]} in columns that changed{of_second} are listed only if they "
                f"are unusual in {own} too, without regard to other columns."
            )
        if self._pair_rows is not None:
            first, second = self._pair_rows
            sentences.append(
                f"Pairs of categories that contradict each other were searched among {first} "
                f"random rows of {names[0]} and {second} of {names[1]}; all other kinds of "
                "suspicious rows among all rows."
            )
        for sample in self.small_samples:
            side = "XY".index(sample)
            n, own, other = self.n_rows[side], names[side], names[1 - side]
            rows = "1 row" if n == 1 else f"{n} rows"
            sentences.append(
                f"{own} has only {rows}, too few to estimate how far its values reach: rows of "
                f"{other} are listed only if they are far beyond all values of {own}."
            )
        return sentences

    def __repr__(self) -> str:
        positions = " (row positions, from 0)" if self.rows else ""
        lines = [self._summary() + positions, *(row._text(row.sample) for row in self.rows[:7])]
        if len(self.rows) > 7:
            lines.append(f"and {len(self.rows) - 7} more")
        lines += [str(value) for value in self.one_sided_values[: 10 - len(lines)]]
        return "\n  ".join([*lines, *self._notes(), RULE])
