"""Descriptions of changes of columns and of pairs of columns, by the numbers that show them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from isodepth.results.changes import Change
from isodepth.rowfunctions.explanations import ColumnPair, Explanation, size_of

# A description of the shape is used if every other explanation leaves more than this fraction of
# the deviance.
_PARTLY = 0.5
# Minimum and maximum ratio of the shift, or factor, of the shown numbers to the explanation.
_SHOWN = 0.5, 4.0
# A difference is described by the values beyond a point instead of those up to it if at most this
# fraction of the values lies beyond.
_TAIL = 0.25
# The share of a single value describes a change of the shape if it explains at least this fraction
# of the largest difference of shares.
_COMPARABLE = 0.8


def describe_column(column: ColumnPair, pvalue: float) -> list[Change]:
    """Describe the change of the values of a numeric column.

    Parameters
    ----------
    column : ColumnPair
    pvalue : float
        Adjusted p-value of the strongest change of the column.

    Returns
    -------
    changes : list of Change
        The description that fits best, and a second one if two changes explain the difference
        together.
    """
    for each in column.explanations():
        if each.deviance <= _PARTLY * column.deviance or column.explains(each.deviance):
            changes = _explained(column, each, pvalue)
            if changes:
                return changes
    shares = [change for _, change in column.shares]
    largest = max(shares, key=size_of, default=None)
    if largest is not None and size_of(largest) >= _COMPARABLE * ks_distance(column.x, column.y):
        return [largest]
    return [_shape(column, pvalue)]


def _explained(column: ColumnPair, explanation: Explanation, pvalue: float) -> list[Change]:
    """Describe the change of a column by an explanation; empty if no number shows it."""
    kind, share_change = explanation.kind, explanation.share_change
    rounded = [] if share_change is None else [share_change]
    if kind in ("sign", "unit"):
        quantity, both = "median", column.medians
        if both[0] == both[1]:
            quantity, both = "interquartile range", _ranges(column)
        factor = explanation.factor
        return [_change(column, kind, quantity, both, pvalue, factor=factor), *rounded]
    if kind not in ("location", "spread", "both"):
        return rounded
    parts = []
    if kind != "spread":
        parts.append(_moved(column, explanation, pvalue))
    if kind != "location":
        parts.append(_widened(column, explanation, pvalue))
    if kind == "both" and not column.is_rather_a_shift():
        parts.reverse()
    changes = [part for part in parts if part is not None]
    return [*changes, *rounded] if changes else []


def _change(
    column: ColumnPair,
    kind: str,
    quantity: str,
    both: tuple[float, float],
    pvalue: float,
    **details: Any,
) -> Change:
    """Return a change of a column, given the values of the quantity in X and in Y."""
    before, after = both
    return Change(
        kind=kind, columns=(column.name,), quantity=quantity, before=before, after=after,
        pvalue=pvalue, **details,
    )  # fmt: skip


def _ranges(column: ColumnPair) -> tuple[float, float]:
    """Return the interquartile ranges of X and Y."""
    x, y = (float(np.subtract(*np.quantile(v, [0.75, 0.25]))) for v in (column.x, column.y))
    return x, y


def _moved(column: ColumnPair, explanation: Explanation, pvalue: float) -> Change | None:
    """Return the change of the median or the mean that shows a shift."""
    middle = column.medians[0]
    with np.errstate(over="ignore", invalid="ignore"):
        wanted = explanation.factor * middle + explanation.shift - middle
        means = float(np.mean(column.x)), float(np.mean(column.y))
    if not wanted:
        return None
    for quantity, both in (("median", column.medians), ("mean", means)):
        if _SHOWN[0] <= (both[1] - both[0]) / wanted <= _SHOWN[1]:
            return _change(column, "location", quantity, both, pvalue)
    return None


def _widened(column: ColumnPair, explanation: Explanation, pvalue: float) -> Change | None:
    """Return the change of a spread that shows a factor."""
    wanted = math.log(explanation.factor)
    with np.errstate(over="ignore", invalid="ignore"):
        deviations = float(np.std(column.x)), float(np.std(column.y))
    spreads = (("interquartile range", _ranges(column)), ("standard deviation", deviations))
    for quantity, both in spreads:
        known = wanted != 0 and min(both) > 0 and max(both) < math.inf
        if known and _SHOWN[0] <= (math.log(both[1]) - math.log(both[0])) / wanted <= _SHOWN[1]:
            return _change(column, "spread", quantity, both, pvalue)
    return None


def _shape(column: ColumnPair, pvalue: float) -> Change:
    """Return the share of values on one side of the point with the largest difference.

    If a single value explains the difference, its share is returned.
    """
    values, before, after = _distribution_functions(column.x, column.y)
    at = int(np.abs(before - after).argmax())
    low, high = float(before[at]), float(after[at])
    x, y = np.diff(before, prepend=0.0), np.diff(after, prepend=0.0)
    single = int(np.abs(x - y).argmax())
    if abs(x[single] - y[single]) >= _COMPARABLE * abs(high - low):
        both, value = (float(x[single]), float(y[single])), f"{values[single]:.10g}"
        return _change(column, "value", "share", both, pvalue, value=value)
    kind, side = "shape", "at most"
    if min(low, high) >= 1 - _TAIL:
        kind, side, low, high = "extremes", "above", 1 - low, 1 - high
    elif max(low, high) <= _TAIL:
        kind = "extremes"
    limit = float(values[at])
    return _change(column, kind, "share", (low, high), pvalue, limit=limit, side=side)


def ks_distance(x: np.ndarray, y: np.ndarray) -> float:
    """Return the Kolmogorov-Smirnov distance between the values x (n,) and y (m,).

    Examples
    --------
    >>> ks_distance(np.array([1.0, 2.0]), np.array([2.0, 3.0]))
    0.5
    """
    return float(np.abs(np.subtract(*_distribution_functions(x, y)[1:])).max())


def _distribution_functions(
    x: np.ndarray, y: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the distinct values of x and y, and both empirical distribution functions there."""
    values = np.unique(np.concatenate([x, y]))
    below = [np.searchsorted(np.sort(v), values, side="right") / len(v) for v in (x, y)]
    return values, below[0], below[1]


def exchanged_columns(
    columns: Sequence[ColumnPair], pvalues: dict[str, float]
) -> dict[str, Change]:
    """Return the exchange of values between two columns, for the name of each such column."""
    found: dict[str, Change] = {}
    for i, first in enumerate(columns):
        for second in columns[i + 1 :]:
            if {first.name, second.name} & found.keys():
                continue
            if first.like(second) and second.like(first):
                names = (first.name, second.name)
                before, after = first.medians
                pvalue = min(pvalues[name] for name in names)
                change = Change(
                    kind="exchange", columns=names, quantity="median", before=before, after=after,
                    pvalue=pvalue,
                )  # fmt: skip
                found |= dict.fromkeys(names, change)
    return found


def dependence_change(
    names: tuple[str, str], x: np.ndarray, y: np.ndarray, pvalue: float
) -> Change:
    """Return the change of the rank correlation of two columns, from x (n, 2) to y (m, 2)."""
    from scipy.stats import rankdata

    before, after = (float(_correlation(rankdata(v.astype(float), axis=0))) for v in (x, y))
    return Change(
        kind="dependence", columns=names, quantity="rank correlation", before=before, after=after,
        pvalue=pvalue,
    )  # fmt: skip


def conditional_change(
    names: tuple[str, str], value: str, x: np.ndarray, y: np.ndarray, pvalue: float
) -> Change:
    """Return the change of location of a numeric column within a category of another column.

    `names` are both columns, the numeric one first, and `value` is the category. x and y are the
    values of the numeric column in the rows with this category.
    """
    quantity, before, after = "median", float(np.median(x)), float(np.median(y))
    if before == after:
        quantity, before, after = "mean", float(np.mean(x)), float(np.mean(y))
    return Change(
        kind="dependence", columns=names, quantity=quantity, before=before, after=after,
        pvalue=pvalue, value=value,
    )  # fmt: skip


def _correlation(columns: np.ndarray) -> float:
    """Return the Pearson correlation of two columns (n, 2); 0 if a column is constant."""
    if not len(columns):
        return 0.0
    centered = columns - columns.mean(axis=0)
    norms = np.sqrt((centered**2).sum(axis=0))
    return 0.0 if not norms.all() else float(centered[:, 0] @ centered[:, 1] / norms.prod())
