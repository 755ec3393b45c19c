"""Description of one difference between two samples in the units of the column that changed."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from isodepth.data.results import p_text


@dataclass(frozen=True)
class Change:
    """One difference between two samples, or between a reference and a batch.

    Attributes
    ----------
    kind : {"location", "spread", "shape", "dependence", "shares", "missing", "regions"}
        Kind of change. The kind is an estimate, even if the difference itself is significant.
        "shares" is a change of the relative frequencies of categories. "missing" is a change of the
        fraction of missing values. "regions" is a change of the depth-trimmed regions.
    columns : tuple of str
        One column, or the two columns of a dependence; empty if all columns contribute.
    quantity : str
        Quantity that was measured in both samples, such as "median" or "rank correlation".
    before, after : float
        Values of the quantity in the first and in the second sample. Medians, means and spreads are
        in the units of the column. For the kinds "shape", "shares" and "missing" the values are
        fractions between 0 and 1.
    pvalue : float
        P-value, adjusted for multiple testing of columns or pairs of columns.
    value : str or None
        Category whose share changed, or within which a numeric column changed. None for changes
        that do not belong to a single category.

    Examples
    --------
    >>> print(Change("location", ("air_time",), "median", 129.0, 158.0, 0.001))
    air_time: median 129 -> 158 (p = 0.001)
    >>> print(Change("shares", ("carrier",), "share", 0.0, 0.06, 0.001, value="NEW"))
    carrier = NEW: 0% -> 6% (p = 0.001)
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

    @property
    def label(self) -> str:
        """Name of the column or columns and of the quantity, such as "air_time: median"."""
        names = " and ".join(self.columns)
        if not names:
            return self.quantity
        if len(self.columns) > 1 and self.value is not None:
            first, category = self.columns
            return f"{self.quantity} of {first} within {category} = {self.value}:"
        if len(self.columns) > 1:
            return f"{self.quantity} of {names}:"
        return f"{names} = {self.value}:" if self.kind == "shares" else f"{names}: {self.quantity}"

    @property
    def values(self) -> tuple[str, str]:
        """`before` and `after` as strings, with enough digits to show their difference."""
        percent = self.kind in ("shares", "missing") or self.quantity.startswith("share")
        return format_pair(self.before, self.after, percent=percent)

    @property
    def text(self) -> str:
        """`label` and `values` as one string, without the p-value."""
        return f"{self.label} {' -> '.join(self.values)}"

    def to_dict(self) -> dict[str, Any]:
        """Return the attributes and `text` as a dictionary of numbers, strings and lists."""
        return {**asdict(self), "columns": list(self.columns), "text": self.text}

    def __str__(self) -> str:
        return f"{self.text} (p = {p_text(self.pvalue)})"


def format_pair(before: float, after: float, *, percent: bool = False) -> tuple[str, str]:
    """Format two numbers so that about two significant digits of their difference are visible.

    Examples
    --------
    >>> format_pair(129.04, 158.3), format_pair(0.01234, 0.01871)
    (('129', '158'), ('0.0123', '0.0187'))
    >>> format_pair(0, 0.06, percent=True), format_pair(0.52, 0.06, percent=True)
    (('0%', '6%'), ('52%', '6%'))
    >>> format_pair(1.5e9, 2.5e9)
    ('1.5e+09', '2.5e+09')
    """
    if percent:
        before, after = 100 * before, 100 * after
    sign = "%" if percent else ""
    size, step = max(abs(before), abs(after)), abs(after - before)
    # Comparisons with NaN are false, so NaN is formatted here.
    if not (1e-4 <= size < 1e7 and step < 1e7):
        return f"{before:.4g}{sign}", f"{after:.4g}{sign}"
    step = step or size
    decimals = min(max(0, 1 - math.floor(math.log10(step))), 8)
    if step >= 1 and size >= 10:
        decimals = 0
    shown = [f"{v:.{decimals}f}" for v in (before, after)]
    while decimals and all(text.endswith("0") for text in shown):
        decimals -= 1
        shown = [f"{v:.{decimals}f}" for v in (before, after)]
    return tuple(_unsigned_zero(text) + sign for text in shown)  # type: ignore[return-value]


def _unsigned_zero(text: str) -> str:
    return text.lstrip("-") if not text.strip("-0.") else text


# -- changes that are computed from the values of one or two columns --------------------------


def location_change(name: str, x: np.ndarray, y: np.ndarray, pvalue: float) -> Change:
    """Return the change of location of a column from the values x to the values y.

    The change has the medians of x and y, or the means if the medians are equal.
    """
    before, after = np.nanmedian(x), np.nanmedian(y)
    if before != after:
        return Change("location", (name,), "median", float(before), float(after), pvalue)
    return Change("location", (name,), "mean", float(np.nanmean(x)), float(np.nanmean(y)), pvalue)


def spread_change(name: str, x: np.ndarray, y: np.ndarray, pvalue: float) -> Change:
    """Return the change of spread of a column from the values x to the values y.

    The change has the interquartile ranges of x and y. If these are equal or one of them is 0, it
    has the standard deviations.
    """
    before, after = (float(np.subtract(*np.nanquantile(v, [0.75, 0.25]))) for v in (x, y))
    if before > 0 and after > 0 and before != after:
        return Change("spread", (name,), "interquartile range", before, after, pvalue)
    before, after = float(np.nanstd(x)), float(np.nanstd(y))
    return Change("spread", (name,), "standard deviation", before, after, pvalue)


def shape_change(name: str, x: np.ndarray, y: np.ndarray, pvalue: float) -> Change:
    """Return the change of shape of the distribution of a column.

    The change has the empirical distribution functions of x and y at their largest difference.
    """
    x, y = np.sort(x[~np.isnan(x)]), np.sort(y[~np.isnan(y)])
    values = np.unique(np.concatenate([x, y]))
    below = [np.searchsorted(v, values, side="right") / len(v) for v in (x, y)]
    at = int(np.abs(below[0] - below[1]).argmax())
    quantity = f"share of values up to {values[at]:.4g}"
    return Change("shape", (name,), quantity, float(below[0][at]), float(below[1][at]), pvalue)


def missing_change(name: str, before: float, after: float, pvalue: float) -> Change:
    """Return the change of the fraction of missing values of a column, from `before` to `after`."""
    return Change("missing", (name,), "missing", before, after, pvalue)


def dependence_change(
    names: tuple[str, str], x: np.ndarray, y: np.ndarray, pvalue: float
) -> Change:
    """Return the change of the rank correlation of two columns, from x (n, 2) to y (m, 2)."""
    from scipy.stats import rankdata

    before, after = (float(_correlation(rankdata(v.astype(float), axis=0))) for v in (x, y))
    return Change("dependence", names, "rank correlation", before, after, pvalue)


def conditional_change(
    names: tuple[str, str], value: str, x: np.ndarray, y: np.ndarray, pvalue: float
) -> Change:
    """Return the change of location of a numeric column within a category of another column.

    `names` are both columns, the numeric one first, and `value` is the category. x and y are the
    values of the numeric column in the rows with this category.
    """
    change = location_change(names[0], x, y, pvalue)
    return replace(change, kind="dependence", columns=names, value=value)


def _correlation(columns: np.ndarray) -> float:
    """Return the Pearson correlation of two columns (n, 2); 0 if a column is constant."""
    centered = columns - columns.mean(axis=0)
    norms = np.sqrt((centered**2).sum(axis=0))
    return 0.0 if not norms.all() else float(centered[:, 0] @ centered[:, 1] / norms.prod())
