"""Changes between two samples, and contributions of columns to their distance."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from decimal import ROUND_FLOOR, Decimal
from typing import Any

from isodepth.base.export import ResultPart, keys, name_text, number_text, p_text
from isodepth.table.dates import day_text
from isodepth.table.kinds import (
    ColumnKind,
    columns_with_words,
    date_columns,
    rank_columns,
    subtracted_integers,
    utc_columns,
)
from isodepth.table.values import visible

# Ratio below which two numbers are formatted separately, with three significant digits each.
_FAR_BELOW = 0.002
#: Quantities of changes, see `Change`.
QUANTITIES = (
    "median", "mean", "interquartile range", "standard deviation", "share", "rank correlation",
)  # fmt: skip
# Names of the multiples that are counted to measure the precision of a column.
_MULTIPLES = {0.1: "whole tenths", 1.0: "whole numbers"}


@dataclass(frozen=True, eq=False)
class Contribution(ResultPart):
    """Contribution of one column to a distance or, in a `LargestGap`, to a gap.

    Attributes
    ----------
    column : str
        Name of the column.
    fraction : float
        Fraction of the distance or of the gap; the sum over all columns is 1.
    """

    column: str
    fraction: float


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Change(ResultPart):
    """One difference between two samples, or between a reference and a batch.

    It is described in the units of the column that changed.

    All attributes except `description` are numbers, names of columns, values of the data, or words
    of a fixed list. `text` describes the change in words.

    Attributes
    ----------
    kind : str
        Kind of change. The kind is an estimate, even if the difference itself is significant.

        - "location", "spread", "shape": of the distribution of a numeric column.
        - "unit", "sign": the values were multiplied by a constant, or by -1.
        - "exchange": two columns exchanged their values.
        - "extremes": the share of the largest or smallest values, or of rows far from the center.
        - "value", "shares": the share of a single number, or of a category. A monitor counts rare
          and new categories together; then `value` may be None and `description` is given.
        - "precision": the share of whole numbers, whole tenths, or multiples of 5 or 10.
        - "missing": the share of missing values.
        - "repeated": the share of rows that occur more than once in their own sample or batch.
        - "dependence": of two columns on each other.
        - "joint": of several columns together; `before` and `after` are in standard deviations.
        - "regions": of all columns together.
    columns : tuple of str
        One column, the two columns of a dependence, or up to three columns of a joint change; empty
        if all columns contribute.
    quantity : str
        Quantity that was measured in both samples: "median", "mean", "interquartile range",
        "standard deviation", "share" or "rank correlation".
    before, after : float
        Values of the quantity in the first and in the second sample. Medians, means and spreads are
        in the units of the column. Shares are fractions between 0 and 1. Medians and means of
        integers that floats would round, such as times in nanoseconds, are Python integers.
    pvalue : float
        P-value. For a column or a pair of columns it is adjusted for all columns and pairs
        together, see `isodepth.typing.ColumnTest`. For a change of kind "joint" it is the p-value
        of a statistic of all columns, or of the whole test.
    value : float, str or None
        Number (for the kind "value") or category whose share changed, or category within which a
        numeric column changed. None for other changes.
    limit : float or None
        Number with which values are compared, if `quantity` is the share of the values on one side
        of this number. Otherwise None.
    side : {"at least", "above", "at most", "below", "within"} or None
        Position of the counted values relative to `limit`. Values "within" the limit are at most
        this far from the median. None without a limit.
    multiple_of : float or None
        For the kind "precision": the multiples of this number, which is 0.1, 1, 5 or 10, are
        counted. If all new values are multiples of a larger number, such as 100, it is this number.
        A monitor names the larger number in `description` instead.
    factor : float or None
        For the kinds "unit" and "sign": constant by which the values were multiplied.
    is_approximate : bool
        Whether `factor` is an estimate, rounded to two digits, because the values do not decide it.
    shift : float or None
        Constant that was added to all values, after the multiplication by `factor` if there is one.
        None if there is none, or if the values do not decide it.
    n_batches : int or None
        Number of batches of which `after` is the mean, if a monitor compares the median or the
        interquartile range of several batches.
    of_known_values : bool
        Whether shares are relative to the known values of the column, because values are missing.
        Otherwise they are relative to all rows, or to the rows with one category.
    is_date : bool
        Whether the first column has dates. They are compared as days since 1970-01-01, and `text`
        shows dates.
    is_utc : bool
        Whether the dates of the first column are times with a time zone. `text` shows them in UTC.
    description : str or None
        Words for the changed quantity, if the other attributes do not determine it. Examples are a
        change of several columns together (kinds "joint" and "regions"), the share of several
        categories such as those that are rare in the reference of a monitor, the share of rows in
        which two columns are on the same side of two numbers, and the share of repeated rows of a
        batch, or if not all columns are compared, if copies have a value in common, or if only
        random rows are counted. Otherwise None.
    changed_share : float or None
        Lower confidence bound for the share of rows that changed in these columns, see
        `TwoSampleResult.changed_share`. For a change of kind "joint" that was added because of its
        bound, the columns are those that contribute most. None if it was not computed, as with
        blocks.

    Examples
    --------
    >>> def show(kind, *columns, **fields):
    ...     print(Change(kind=kind, columns=columns, pvalue=0.001, **fields))
    >>> show("location", "air_time", quantity="median", before=129.0, after=158.0)
    air_time: median 129 -> 158 (p = 0.001)
    >>> show("shares", "carrier", quantity="share", before=0.0, after=0.06, value="NEW")
    carrier = NEW: 0% -> 6% (p = 0.001)
    >>> show("extremes", "wind", quantity="share", before=0.0, after=0.031, limit=120.0,
    ...      side="at least")
    wind at least 120: 0% -> 3.1% (p = 0.001)
    >>> show("precision", "price", quantity="share", before=0.03, after=1.0, multiple_of=1.0)
    price: whole numbers 3% -> 100% (p = 0.001)
    >>> show("dependence", "weight", "mpg", quantity="rank correlation", before=-0.83, after=0.02)
    rank correlation of weight and mpg: -0.83 -> 0.02 (p = 0.001)
    >>> show("dependence", "air_time", "dest", quantity="median", before=310.0, after=340.0,
    ...      value="LAS")
    median of air_time within dest = LAS: 310 -> 340 (p = 0.001)
    >>> show("location", "signup", quantity="median", before=19737.0, after=19768.0, is_date=True)
    signup: median 2024-01-15 -> 2024-02-15 (p = 0.001)
    """

    _more_in_json = keys("text")

    kind: str
    columns: tuple[str, ...]
    quantity: str
    before: float
    after: float
    pvalue: float
    value: float | str | None = None
    limit: float | None = None
    side: str | None = None
    multiple_of: float | None = None
    factor: float | None = None
    is_approximate: bool = False
    shift: float | None = None
    n_batches: int | None = None
    of_known_values: bool = False
    is_date: bool = False
    is_utc: bool = False
    description: str | None = None
    changed_share: float | None = None

    @property
    def _label(self) -> str:
        """Names of the columns and of the quantity, such as "air_time: median".

        If there is a `description`, it is returned instead.
        """
        if self.description is not None:
            return self.description
        if len(self.columns) > 1:
            return self._label_of_two()
        if not self.columns:
            return "repeated rows:" if self.kind == "repeated" else "rows far from the center:"
        name = name_text(*self.columns)
        if self.kind in ("shares", "value"):
            return f"{name} = {self._shown_value}:"
        if self.kind == "extremes":
            far = "far from its usual values"
            return f"{name} {far if self.limit is None else f'{self.side} {self._shown_limit}'}:"
        return f"{name}: {self._measure}"

    def _label_of_two(self) -> str:
        """Return the names of the two columns of the change and of the quantity, as a string."""
        first, second = map(name_text, self.columns)
        if self.kind == "exchange":
            return f"{first} and {second} exchanged their values: {self._measure} of {first}"
        if self.value is not None:
            measure = "share up to the median" if self.quantity == "share" else self._measure
            return f"{measure} of {first} within {second} = {self._shown_value}:"
        return f"{self._measure} of {first} and {second}:"

    @property
    def _measure(self) -> str:
        """Name of the changed quantity, also with the factor of the values or a number of batches.

        If the quantity is a mean over batches of a window, their number is named.
        """
        if self.kind == "missing":
            return "missing"
        if self.multiple_of is not None:
            return _MULTIPLES.get(self.multiple_of, f"multiples of {self.multiple_of:g}")
        if self.side == "within":
            return f"share of values within {self.limit:.4g} of the median"
        if self.limit is not None:
            return f"share of values up to {self._shown_limit}"
        words = self.quantity
        if self.n_batches is not None:
            words += f" (mean of {self.n_batches} batches)"
        if self.kind == "sign":
            return f"sign changed, {words}"
        return f"{self._map_text}, {words}" if self._map_text else words

    @property
    def _map_text(self) -> str:
        """Words for the map of all values, such as "values multiplied by 1.8, plus 32"; or ""."""
        sign = "plus" if (self.shift or 0.0) > 0 else "minus"
        digits = 10 if self.factor is None else 4
        added = "" if self.shift is None else f"{sign} {abs(self.shift):.{digits}g}"
        if self.factor is None:
            # A shift of dates is visible in the dates.
            return f"all values {added}" if added and not self.is_date else ""
        text = f"values multiplied by {'about ' * self.is_approximate}{self.factor:.4g}"
        return f"{text}, {added}" if added else text

    @property
    def _shown_limit(self) -> str:
        assert self.limit is not None
        if isinstance(self.limit, int):
            return str(self.limit)
        # Digits before the decimal point are never rounded.
        return self._day(self.limit) if self.is_date else number_text(self.limit, 4, step=10.0)

    def _day(self, days: float) -> str:
        """Return the date of a number of days since 1970."""
        return day_text(days, utc=self.is_utc)

    @property
    def _shown_value(self) -> str | None:
        if isinstance(self.value, int):
            return str(self.value)
        if not isinstance(self.value, float):
            return None if self.value is None else visible(self.value)
        return self._day(self.value) if self.is_date else f"{self.value:.10g}"

    @property
    def _shown_numbers(self) -> tuple[str, str]:
        """`before` and `after` as strings, with enough digits to show their difference."""
        if self.is_date and self.quantity in ("median", "mean") and self.description is None:
            return self._day(self.before), self._day(self.after)
        if isinstance(self.before, int) and isinstance(self.after, int):
            return str(self.before), str(self.after)
        return format_pair(self.before, self.after, percent=self.quantity == "share")

    @property
    def _values(self) -> tuple[str, str]:
        """`_shown_numbers`, followed by the denominator of shares if it is not all rows."""
        before, after = self._shown_numbers
        return before, f"{after} of the known values" if self.of_known_values else after

    @property
    def text(self) -> str:
        """Sentence without the p-value, such as "air_time: median 129 -> 158"."""
        if self.kind == "joint":  # `before` and `after` are not in the units of a column
            return self._label
        return f"{self._label} {' -> '.join(self._values)}"

    def __repr__(self) -> str:
        # Most attributes apply to a few kinds only.
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        used = [f"{k}={v!r}" for k, v in given.items() if v is not None and v is not False]
        return f"Change({', '.join(used)})"

    def __str__(self) -> str:
        return f"{self.text} (p = {p_text(self.pvalue)})"


def for_kinds(changes: Iterable[Change], kinds: Sequence[ColumnKind]) -> list[Change]:
    """Return copies of the changes that take the kinds of the columns into account.

    `is_date` is set if the first column has dates. If an integer was subtracted from the integers
    of the first column, it is added to the numbers of the change. They become Python integers,
    because floats would round them. If strings other than numbers in a numeric column are read as
    missing, the description of the share of missing values mentions them. Ranks of values are
    described by the values.
    """
    if not kinds:
        return [*changes]
    ranks = rank_columns(kinds)
    dates, with_words = date_columns(kinds), columns_with_words(kinds)
    in_utc = utc_columns(kinds)
    bases = subtracted_integers(kinds)
    found = []
    for each in changes:
        first = each.columns[0] if each.columns else None
        if first in ranks:
            each = _with_values(each, ranks[first])
        elif first in dates:
            each = replace(each, is_date=True, is_utc=first in in_utc)
        elif first in bases:
            each = _with_base(each, bases[first])
        elif first in with_words and each.kind == "missing":
            each = replace(each, description=f"{name_text(first)}: missing or not a number")
        found.append(each)
    return found


def _with_base(change: Change, base: int) -> Change:
    """Return a change with `base` added to its medians, means, limit and value.

    The integer `base` was subtracted from the values of the column before the comparison.
    """
    fields: dict[str, float | None] = {}
    if change.quantity in ("median", "mean") and change.description is None:
        fields |= {"before": change.before, "after": change.after}
    if change.side != "within":
        fields["limit"] = change.limit
    if isinstance(change.value, float):
        fields["value"] = change.value
    whole: dict[str, Any] = {
        name: base + round(value)
        for name, value in fields.items()
        if value is not None and math.isfinite(value)
    }
    return replace(change, **whole)


def _with_values(change: Change, order: Sequence[str]) -> Change:
    """Return a change of ranks that is described by the values of the column.

    The values were converted to ranks 0, 1, ..., their positions in `order`.
    """
    if change.description is not None or len(change.columns) != 1 or change.kind == "missing":
        return change
    change = replace(change, shift=None)
    if isinstance(change.value, float):
        return replace(change, value=order[round(change.value)])
    name = name_text(*change.columns)
    if change.quantity != "share":
        ends = f"0 = {visible(order[0])}, {len(order) - 1} = {visible(order[-1])}"
        return replace(change, description=f"{name}: {change._measure} of ranks ({ends})")
    if change.limit is None or change.side == "within":
        return change
    # All ranks are integers.
    rank = math.ceil(change.limit) if change.side in ("at least", "below") else int(change.limit)
    value = visible(order[min(max(rank, 0), len(order) - 1)])
    if change.kind == "extremes":
        return replace(change, description=f"{name} {change.side} {value}:")
    return replace(change, description=f"{name}: share of values up to {value}")


def lower_percent(share: float) -> str:
    """Format a lower bound for a share as a percentage of about two digits, rounded down.

    Examples
    --------
    >>> lower_percent(0.997), lower_percent(0.29), lower_percent(0.0199), lower_percent(0.0004)
    ('99%', '29%', '1.9%', '0.04%')
    """
    # The decimal digits of 0.29 are exact, unlike 100 * 0.29, which is below 29.
    percent = 100 * Decimal(str(float(share)))
    digits = 0 if percent >= 10 else 1 - percent.adjusted()
    shown = percent.quantize(Decimal(1).scaleb(-digits), ROUND_FLOOR)
    return f"{shown.normalize():f}%"


def at_least(share: float | None) -> str:
    """Format a lower bound for the share of changed rows, or return "" if it is below 1% or None.

    Examples
    --------
    >>> at_least(0.0219), at_least(0.0)
    ('at least 2.1%', '')
    """
    return f"at least {lower_percent(share)}" if share is not None and share >= 0.01 else ""


def format_pair(before: float, after: float, *, percent: bool = False) -> tuple[str, str]:
    """Format two numbers so that about two significant digits of their difference are visible.

    If `percent`, the numbers are fractions that are shown as percentages. Numbers of very different
    size get three significant digits, and very small or large numbers at least four.

    Examples
    --------
    >>> format_pair(129.04, 158.3), format_pair(0.01234, 0.01871)
    (('129', '158'), ('0.0123', '0.0187'))
    >>> format_pair(0, 0.06, percent=True), format_pair(0.52, 0.06, percent=True)
    (('0%', '6%'), ('52%', '6%'))
    >>> format_pair(0.004, 0.12, percent=True), format_pair(0.9996, 0.5, percent=True)
    (('0.4%', '12%'), ('99.96%', '50%'))
    >>> format_pair(1.5e9, 2.5e9), format_pair(0.5883, 588.3)
    (('1500000000', '2500000000'), ('0.588', '588'))
    >>> format_pair(1.7e12, 1.7e12 + 812), format_pair(1e-12, 1.00002e-12)
    (('1700000000000', '1700000000810'), ('1e-12', '1.00002e-12'))
    """
    if percent:
        before, after = 100 * before, 100 * after
    sign = "%" if percent else ""
    size, step = max(abs(before), abs(after)), abs(after - before)
    # Comparisons with NaN are false, so NaN is formatted here.
    if not (1e-4 <= size < 1e7 and step < 1e7) or 0 < step < 1e-7:
        return number_text(before, 4, step) + sign, number_text(after, 4, step) + sign
    smaller = min(abs(before), abs(after))
    if not percent and 0 < smaller < _FAR_BELOW * size:
        return _three_digits(before), _three_digits(after)
    step = step or size
    decimals = min(max(0, 1 - math.floor(math.log10(step))), 8)
    if step >= 1 and size >= 10:
        decimals = 0
    shown = [f"{v:.{decimals}f}" for v in (before, after)]
    while decimals and all(text.endswith("0") for text in shown):
        decimals -= 1
        shown = [f"{v:.{decimals}f}" for v in (before, after)]
    if percent:
        shown = [_share_digits(v, text) for v, text in zip((before, after), shown, strict=True)]
        shown = [text.rstrip("0").rstrip(".") if "." in text else text for text in shown]
    return tuple(_unsigned_zero(text) + sign for text in shown)  # type: ignore[return-value]


def _share_digits(percent: float, text: str) -> str:
    """Return the formatted percentage `text`, with more digits if it is 0 or 100 by rounding only.

    `percent` is the percentage itself.
    """
    distance = min(percent, 100 - percent)
    if float(text) not in (0, 100) or distance <= 1e-9:  # not more than rounding errors
        return text
    return f"{percent:.{1 - math.floor(math.log10(distance))}f}".rstrip("0")


def _three_digits(value: float) -> str:
    """Format a number with three significant digits, or as an integer if it is 100 or more."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{float(f'{value:.3g}'):.10g}"


def _unsigned_zero(text: str) -> str:
    return text.lstrip("-") if not text.strip("-0.") else text
