"""Describe a change of columns in their units: the one describer of tests and monitors.

A `ColumnPair` has the values of a column in both samples. Its explanations are compared, and the
best one becomes a `Change` with the numbers that show it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from isodepth.functions.changes import Change
from isodepth.functions.explanations import (
    ColumnPair,
    Explanation,
    are_exchanged,
    size_of,
)

# A description of the shape is used if every other explanation leaves more than this fraction of
# the deviance.
_PARTLY = 0.5
# Minimum and maximum ratio of the shift, or factor, of the shown numbers to the explanation.
_SHOWN = 0.5, 4.0
# Maximum difference between the logarithms of a factor of all values and of the ratio of the shown
# numbers, relative to the former. Other numbers would contradict the factor.
_CONTRADICTION = 0.25
# A difference is described by the values beyond a point instead of those up to it if at most this
# fraction of the values lies beyond.
_TAIL = 0.25
# The share of a single value describes a change of the shape if it explains at least this fraction
# of the largest difference of shares.
_COMPARABLE = 0.8


def describe_column(
    column: ColumnPair, pvalue: float, *, only_extremes: bool = False
) -> list[Change]:
    """Describe the change of the values of a numeric column.

    Parameters
    ----------
    column : ColumnPair
    pvalue : float
        Adjusted p-value of the strongest change of the column.
    only_extremes : bool
        Whether only shares of extreme or isolated values changed significantly. The share that
        changed most is described: another explanation, such as a shift, may fit better by chance.

    Returns
    -------
    changes : list of Change
        The description that fits best, and a second one if two changes explain the difference
        together.
    """
    constant = _became_constant(column, pvalue)
    if constant is not None:
        return [constant]
    shares = [change for _, change in column.shares]
    if only_extremes:
        return [largest_share_change(shares)]
    for each in column.explanations():
        if each.deviance <= _PARTLY * column.deviance or column.explains(each.deviance):
            changes = _explained(column, each, pvalue)
            if changes:
                return changes
    largest = max(shares, key=size_of, default=None)
    if largest is not None and size_of(largest) >= _COMPARABLE * column.ks_distance():
        return [largest]
    return [_shape(column, pvalue)]


def _became_constant(column: ColumnPair, pvalue: float) -> Change | None:
    """Describe a column that is constant in one sample: the share of its only value changed.

    None if both samples or neither of them are constant.
    """
    constant = [part for part in (column.x, column.y) if part.min() == part.max()]
    if len(constant) != 1:
        return None
    value = float(constant[0][0])
    both = float(np.mean(column.x == value)), float(np.mean(column.y == value))
    return _change(column, "value", "share", both, pvalue, value=value)


def _explained(column: ColumnPair, explanation: Explanation, pvalue: float) -> list[Change]:
    """Describe the change of a column as `explanation`, such as a shift or a change of the unit.

    Return an empty list if the explanation is a change of location or spread, and no median, mean
    or spread changed accordingly.
    """
    kind, share_change = explanation.kind, explanation.share_change
    rounded = [] if share_change is None else [share_change]
    if kind in ("sign", "unit"):
        return [_multiplied(column, explanation, pvalue), *rounded]
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
    if kind == "location" and not rounded and changes:
        changes[0] = replace(changes[0], shift=column.named_constant())
    return [*changes, *rounded] if changes else []


def _multiplied(column: ColumnPair, explanation: Explanation, pvalue: float) -> Change:
    """Return the change of the sign or the unit of a column.

    It is described by the medians, or by means or interquartile ranges if their ratio agrees
    better with the factor. If the factor is an estimate, the ratio of these numbers is stated. An
    estimate that these numbers do not show is not stated, unless the medians differ by chance.
    """
    kind, factor, shift = explanation.kind, explanation.factor, explanation.shift
    shown = dict(column.locations)
    quantity, both = "median", shown["median"]
    if both[0] == both[1]:
        quantity, both = "interquartile range", column.spreads[0][1]
    elif kind == "unit" and not shift and not _shows_factor(both, factor):
        shown |= dict(column.spreads[:1])
        agreeing = (each for each in shown.items() if _shows_factor(each[1], factor))
        quantity, both = next(agreeing, (quantity, both))
    details = {"shift": shift} if shift else {}
    if not explanation.is_exact:
        is_shown = _shows_factor(both, factor)
        factor = column.approximate(both[1] / both[0] if is_shown else factor)
        details = {"is_approximate": True}
        if factor == 1.0 or not (is_shown or column.has_median_of(explanation)):
            kind = "spread" if quantity == "interquartile range" else "location"
            return _change(column, kind, quantity, both, pvalue)
    return _change(column, kind, quantity, both, pvalue, factor=factor, **details)


def _shows_factor(both: tuple[float, float], factor: float) -> bool:
    """Return whether after / before is near `factor`, where `both` = (before, after)."""
    before, after = both
    if before * after <= 0:
        return False
    ratio, wanted = math.log(abs(after)) - math.log(abs(before)), math.log(factor)
    return abs(ratio - wanted) <= _CONTRADICTION * abs(wanted)


def _change(
    column: ColumnPair,
    kind: str,
    quantity: str,
    both: tuple[float, float],
    pvalue: float,
    **details: Any,
) -> Change:
    """Return a change of a column, such as of its median or of its interquartile range.

    `kind` is the kind of the change, as in `Change`. `quantity` is the name of the changed
    quantity, and `both` its values in X and in Y. `details` are other attributes of the change.
    """
    before, after = both
    return Change(
        kind=kind, columns=(column.name,), quantity=quantity, before=before, after=after,
        pvalue=pvalue, **details,
    )  # fmt: skip


def _moved(column: ColumnPair, explanation: Explanation, pvalue: float) -> Change | None:
    """Return the change of the median or the mean if it agrees with an explanation, else None.

    The explanation predicts a shift of the median. The observed shift of the median or of the mean
    agrees with it if it is 0.5 to 4 times as large.
    """
    middle = column.medians[0]
    with np.errstate(over="ignore", invalid="ignore"):
        wanted = explanation.factor * middle + explanation.shift - middle
    if not wanted:
        return None
    for quantity, both in column.locations:
        if _SHOWN[0] <= (both[1] - both[0]) / wanted <= _SHOWN[1]:
            return _change(column, "location", quantity, both, pvalue)
    return None


def _widened(column: ColumnPair, explanation: Explanation, pvalue: float) -> Change | None:
    """Return the change of a spread if it agrees with an explanation, else None.

    The explanation predicts that the spread is multiplied by a factor. The observed ratio of the
    spreads agrees with it if its logarithm is 0.5 to 4 times the logarithm of the factor.
    """
    wanted = math.log(explanation.factor)
    for quantity, both in column.spreads:
        known = wanted != 0 and min(both) > 0 and max(both) < math.inf
        if known and _SHOWN[0] <= (math.log(both[1]) - math.log(both[0])) / wanted <= _SHOWN[1]:
            return _change(column, "spread", quantity, both, pvalue)
    return None


def _shape(column: ColumnPair, pvalue: float) -> Change:
    """Return the change of the share of values on one side of a point.

    The point maximizes the difference between the empirical distribution functions. If the share of
    a single value changed nearly as much, the change of this share is returned instead.
    """
    values, before, after = column.distribution_functions()
    at = int(np.abs(before - after).argmax())
    low, high = float(before[at]), float(after[at])
    x, y = np.diff(before, prepend=0.0), np.diff(after, prepend=0.0)
    single = int(np.abs(x - y).argmax())
    if column.has_values and abs(x[single] - y[single]) >= _COMPARABLE * abs(high - low):
        both, value = (float(x[single]), float(y[single])), float(values[single])
        return _change(column, "value", "share", both, pvalue, value=value)
    kind, side = "shape", "at most"
    if min(low, high) >= 1 - _TAIL:
        kind, side, low, high = "extremes", "above", 1 - low, 1 - high
    elif max(low, high) <= _TAIL:
        kind = "extremes"
    limit = float(values[at])
    return _change(column, kind, "share", (low, high), pvalue, limit=limit, side=side)


def exchanged_columns(
    columns: Sequence[ColumnPair],
    pvalues: dict[str, float],
    all_columns: Callable[[], Sequence[ColumnPair]] = tuple,
) -> dict[str, Change]:
    """Find pairs of columns that exchanged their values; return the changes by column name.

    Both columns of a pair have the same change. `pvalues` has the p-value of each column, and
    `all_columns` returns the columns among which none may have similar values, see `are_exchanged`.
    A column takes part in at most one exchange.
    """
    pairs = [
        (first.deviance_from(second) + second.deviance_from(first), first, second)
        for first, second in combinations(columns, 2)
        if are_exchanged(first, second)
    ]
    others = all_columns() if pairs else ()
    found: dict[str, Change] = {}
    # A column may be similar to several others; the best pairs come first.
    for _, first, second in sorted(pairs, key=lambda pair: pair[0]):
        names = (first.name, second.name)
        if found.keys() & {*names} or not are_exchanged(first, second, [*columns, *others]):
            continue
        pvalue = min(pvalues[name] for name in names)
        change = Change(kind="exchange", columns=names, **_differing(first), pvalue=pvalue)
        if len({*change._shown_numbers}) > 1:
            found |= dict.fromkeys(names, change)
    return found


def _differing(column: ColumnPair) -> dict[str, Any]:
    """Return the medians of a column as attributes of a `Change`.

    If they are equal, return the interquartile ranges.
    """
    quantity, (before, after) = "median", column.medians
    if before == after:
        quantity, (before, after) = column.spreads[0]
    return {"quantity": quantity, "before": before, "after": after}


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

    It is the change of the median, or of the mean if the medians are equal. `names` are both
    columns, the numeric one first, and `value` is the category. x and y are the values of the
    numeric column in the rows of X and Y with this category.
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


def largest_share_change(changes: Sequence[Change]) -> Change:
    """Return the change whose shares differ most, see `standardized_difference`.

    Its p-value is the minimum over all changes.
    """
    largest = max(changes, key=lambda each: standardized_difference(each.before, each.after))
    return replace(largest, pvalue=min(each.pvalue for each in changes))


def direction_text(direction: np.ndarray, names: tuple[str, ...]) -> str:
    """Describe a direction by its largest entries, at most three.

    Entries of absolute value below 0.1 are left out. "..." is added if the sum of squares of the
    named entries is below 0.99.

    Examples
    --------
    >>> direction_text(np.array([0.8, -0.6, 0.05]), ("temp", "dewp", "wind"))
    '0.8 temp - 0.6 dewp'
    >>> direction_text(np.array([-0.5, 0.5, 0.5, 0.5]), ("a", "b", "c", "d"))
    '- 0.5 a + 0.5 b + 0.5 c ...'
    """
    order = np.argsort(-np.abs(direction), kind="stable")[:3]
    kept = [j for j in order if abs(direction[j]) >= 0.1]
    terms = "".join(
        f" {'-' if direction[j] < 0 else '+'} {abs(direction[j]):.2g} {names[j]}" for j in kept
    )
    more = " ..." if np.square(direction[kept]).sum() < 0.99 else ""
    return terms.removeprefix(" + ").lstrip() + more


def standardized_difference(before: float, after: float) -> float:
    """Return the absolute difference of two shares, divided by sqrt(p (1 - p)) for their mean p.

    Categories in decreasing order of this number are about in increasing order of their p-values,
    but the number does not depend on permutations. It is rounded, so that two categories whose
    shares sum to 1 have equal results.

    Examples
    --------
    >>> standardized_difference(0.0, 0.06) > standardized_difference(0.52, 0.46)
    True
    >>> standardized_difference(0.7, 0.8) == standardized_difference(0.3, 0.2)
    True
    """
    mean = 0.5 * (before + after)
    deviation = math.sqrt(max(mean * (1.0 - mean), 0.0))
    return round(abs(after - before) / deviation, 9) if deviation else 0.0
