"""Description of one difference between two samples in the units of the column that changed."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass
from decimal import ROUND_FLOOR, Decimal
from typing import Any

from isodepth.data.columns.dates import day_text
from isodepth.data.export import p_text

# Ratio below which two numbers are formatted separately, with three significant digits each.
_FAR_BELOW = 0.002
# Kinds whose values are shares, which are shown in percent.
_SHARES = ("shares", "value", "missing", "extremes", "precision", "repeated")


@dataclass(frozen=True)
class Change:
    """One difference between two samples, or between a reference and a batch.

    Attributes
    ----------
    kind : str
        Kind of change. The kind is an estimate, even if the difference itself is significant.

        - "location", "spread", "shape": of the distribution of a numeric column.
        - "unit", "sign": the values were multiplied by a constant, or by -1.
        - "exchange": two columns exchanged their values.
        - "extremes": the share of the largest or smallest values, or of rows far from the center.
        - "value", "shares": the share of a single number, or of a category.
        - "precision": the share of whole numbers, whole tenths, or multiples of 5 or 10.
        - "missing": the fraction of missing values.
        - "repeated": the share of rows that occur more than once.
        - "dependence": of two columns on each other.
        - "joint": of several columns together; `before` and `after` are in standard deviations.
        - "regions": of all columns together.
    columns : tuple of str
        One column, the two columns of a dependence, or up to three columns of a joint change; empty
        if all columns contribute.
    quantity : str
        Quantity that was measured in both samples, such as "median" or "rank correlation".
    before, after : float
        Values of the quantity in the first and in the second sample. Medians, means and spreads are
        in the units of the column. Shares are fractions between 0 and 1.
    pvalue : float
        P-value. For a column or a pair of columns it is adjusted for all columns and pairs
        together, see `isodepth.typing.ColumnTest`. For a change of kind "joint" it is the p-value
        of a statistic of all columns, or of the whole test.
    value : str or None
        Number or category whose share changed, or category within which a numeric column changed.
        None for other changes.
    share : float or None
        Lower confidence bound for the share of rows that changed in these columns, see
        `TwoSampleResult.changed_share`. For a change of kind "joint" that was added because of its
        bound, the columns are those that contribute most. None if it was not computed.

    Examples
    --------
    >>> print(Change("location", ("air_time",), "median", 129.0, 158.0, 0.001))
    air_time: median 129 -> 158 (p = 0.001)
    >>> print(Change("shares", ("carrier",), "share", 0.0, 0.06, 0.001, value="NEW"))
    carrier = NEW: 0% -> 6% (p = 0.001)
    >>> print(Change("extremes", ("wind",), "at least 120", 0.0, 0.031, 0.001))
    wind at least 120: 0.0% -> 3.1% (p = 0.001)
    >>> print(Change("precision", ("price",), "whole numbers", 0.03, 1.0, 0.001))
    price: whole numbers 3% -> 100% (p = 0.001)
    >>> print(Change("dependence", ("weight", "mpg"), "rank correlation", -0.83, 0.02, 0.005))
    rank correlation of weight and mpg: -0.83 -> 0.02 (p = 0.005)
    >>> columns = ("air_time", "dest")
    >>> print(Change("dependence", columns, "median", 310.0, 340.0, 0.005, value="LAS"))
    median of air_time within dest = LAS: 310 -> 340 (p = 0.005)
    """

    kind: str
    columns: tuple[str, ...]
    quantity: str
    before: float
    after: float
    pvalue: float
    value: str | None = None
    share: float | None = None

    @property
    def _label(self) -> str:
        """Name of the column or columns and of the quantity, such as "air_time: median"."""
        names = " and ".join(self.columns)
        if self.kind == "joint":  # the quantity names the columns
            return self.quantity
        if not names:
            return f"{self.quantity}:" if self.kind in _SHARES else self.quantity
        if self.kind == "exchange":
            return f"{names} exchanged their values: {self.quantity} of {self.columns[0]}"
        if len(self.columns) > 1 and self.value is not None:
            first, category = self.columns
            return f"{self.quantity} of {first} within {category} = {self.value}:"
        if len(self.columns) > 1:
            return f"{self.quantity} of {names}:"
        if self.kind in ("shares", "value"):
            return f"{names} = {self.value}:"
        return (
            f"{names} {self.quantity}:" if self.kind == "extremes" else f"{names}: {self.quantity}"
        )

    @property
    def _values(self) -> tuple[str, str]:
        """`before` and `after` as strings, with enough digits to show their difference."""
        percent = self.kind in _SHARES or self.quantity.startswith("share")
        return format_pair(self.before, self.after, percent=percent)

    @property
    def text(self) -> str:
        """Sentence without the p-value, such as "air_time: median 129 -> 158"."""
        if self.kind == "joint":
            return self.quantity
        return f"{self._label} {' -> '.join(self._values)}"

    def to_dict(self) -> dict[str, Any]:
        """Return the attributes and `text` as a dictionary of numbers, strings and lists."""
        return {**asdict(self), "columns": list(self.columns), "text": self.text}

    def __str__(self) -> str:
        return f"{self.text} (p = {p_text(self.pvalue)})"


class DateChange(Change):
    """Change of a column of dates, which are compared as days since 1970 and shown as dates.

    Examples
    --------
    >>> print(DateChange("location", ("signup",), "median", 19737.0, 19768.0, 0.001))
    signup: median 2024-01-15 -> 2024-02-15 (p = 0.001)
    >>> print(DateChange("value", ("signup",), "share", 0.0, 0.06, 0.001, value="19737"))
    signup = 2024-01-15: 0% -> 6% (p = 0.001)
    """

    @property
    def _label(self) -> str:
        if self.kind == "value":
            return f"{self.columns[0]} = {day_text(float(self.value or 0.0))}:"
        return super()._label

    @property
    def _values(self) -> tuple[str, str]:
        if self.kind == "location":
            return day_text(self.before), day_text(self.after)
        return super()._values


def with_dates(changes: Iterable[Change], columns: Collection[str]) -> list[Change]:
    """Return the changes, those of the columns of dates as `DateChange`.

    `columns` are the names of the columns of dates. A change of two columns remains as it is.
    """
    return [
        DateChange(**vars(each)) if len(each.columns) == 1 and each.columns[0] in columns else each
        for each in changes
    ]


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


def format_pair(before: float, after: float, *, percent: bool = False) -> tuple[str, str]:
    """Format two numbers so that about two significant digits of their difference are visible.

    Examples
    --------
    >>> format_pair(129.04, 158.3), format_pair(0.01234, 0.01871)
    (('129', '158'), ('0.0123', '0.0187'))
    >>> format_pair(0, 0.06, percent=True), format_pair(0.52, 0.06, percent=True)
    (('0%', '6%'), ('52%', '6%'))
    >>> format_pair(1.5e9, 2.5e9), format_pair(0.5883, 588.3)
    (('1.5e+09', '2.5e+09'), ('0.588', '588'))
    """
    if percent:
        before, after = 100 * before, 100 * after
    sign = "%" if percent else ""
    size, step = max(abs(before), abs(after)), abs(after - before)
    # Comparisons with NaN are false, so NaN is formatted here.
    if not (1e-4 <= size < 1e7 and step < 1e7):
        return f"{before:.4g}{sign}", f"{after:.4g}{sign}"
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
    return tuple(_unsigned_zero(text) + sign for text in shown)  # type: ignore[return-value]


def _three_digits(value: float) -> str:
    """Format a number with three significant digits, and with all digits before the point."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{float(f'{value:.3g}'):.10g}"


def _unsigned_zero(text: str) -> str:
    return text.lstrip("-") if not text.strip("-0.") else text
