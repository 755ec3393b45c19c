"""Numeric columns within the groups of rows that have the same value of a category.

In this module a category is a column, and its values are integer codes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

import numpy as np

# Minimum number of values of a group.
_MIN_GROUP = 5
# Number of rows with the mean variance of all groups that are added to each group, because the
# variances of small groups are uncertain.
_PRIOR_ROWS = 10
# A category is used for a column if the spreads within groups are on average less than a fraction
# _NARROWER of the spread of the column. It is also used if the median of one group with a share of
# at least _MIN_SHARE is more than _SHIFTED spreads from the median of the column, or the spread of
# this group is less than a fraction _MUCH_NARROWER. Otherwise, nearly the same values are unusual
# within groups and in the whole column.
_NARROWER, _MIN_SHARE, _SHIFTED, _MUCH_NARROWER = 0.85, 0.05, 1.0, 0.6
# Minimum spread within a group, as a fraction of the spread of the column.
_MIN_SPREAD = 0.02
# Approximate maximum number of values of columns that are grouped at a time.
_BLOCK_NUMBERS = 1 << 19


class Groups(NamedTuple):
    """Medians and spreads of one column within the groups of one category.

    Attributes
    ----------
    category, column : int
        Indices of the category and of the column.
    median, spread : ndarrays of shape (g,)
        Median and spread within each of g groups; NaN if the group has fewer than five values.
    sizes : ndarray of shape (g,)
        Number of values in each group.
    logarithm : bool
        Whether `median` and `spread` are those of the logarithms of the column.
    """

    category: int
    column: int
    median: np.ndarray
    spread: np.ndarray
    sizes: np.ndarray
    logarithm: bool

    def deviations(self, values: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Return the deviations (m,) of the column from the medians of groups, divided by spreads.

        The spreads of small groups are increased, because their medians vary. `values` (m,) are
        standardized values of the column, or logarithms if `logarithm`. The categories `codes` have
        the shape (m, k). The rows are not among those for which the medians were computed. The
        result is NaN if the value or the category is missing, or if the group is too small.
        """
        group = codes[:, self.category]
        known = (group >= 0) & (group < len(self.sizes))
        group = np.where(known, group, 0)
        # The median of n normal values has a variance of about 1.5 / n.
        spread = self.spread * np.sqrt(1 + 1.5 / np.maximum(self.sizes, 1))
        return np.where(known, (values - self.median[group]) / spread[group], np.nan)

    def fitted_deviations(self, values: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Return the deviations (n,) of the rows for which the medians were computed.

        They are multiplied by (s + 1.5) / (s - 1) for a group of s rows, because a row is closer to
        a median that was computed with this row.
        """
        count = np.maximum(self.sizes, 2)[codes[:, self.category]]
        return self.deviations(values, codes) * (count + 1.5) / (count - 1)


def find_groups(
    values: np.ndarray, logarithms: np.ndarray, positive: np.ndarray, codes: np.ndarray
) -> list[Groups]:
    """Find categories that make the values of a column less variable.

    Columns with at most two distinct values are left out: a rare value within a group is not far
    from the others. The values of a positive column are compared, or their logarithms, if the
    logarithms do not have longer tails within groups.

    Parameters
    ----------
    values, logarithms : ndarrays of shape (n, d)
        Standardized columns and their standardized logarithms, with a spread of 1; NaN for missing
        values.
    positive : bool ndarray of shape (d,)
        Whether the column has logarithms.
    codes : int ndarray of shape (n, k)
        Values of k categories, from 0; -1 for missing values.
    """
    low, high = np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)
    columns = np.flatnonzero(((values > low) & (values < high)).any(axis=0)).tolist()
    # Logarithms are first, because they are preferred if tails tie.
    scales = [(j, log) for j in columns for log in (True, False) if positive[j] or not log]
    numbers = np.array([(logarithms if log else values)[:, j] for j, log in scales])
    if not len(numbers):
        return []
    order = np.argsort(numbers, axis=1, kind="stable")
    found = []
    for category in range(codes.shape[1]):
        fits: dict[int, list[tuple[Groups, np.ndarray]]] = {}
        for k, groups in _fit_groups(numbers, order, codes, category, scales):
            fits.setdefault(groups.column, []).append((groups, numbers[k]))
        for first, *second in fits.values():
            lengths = [
                _tail_length(groups.fitted_deviations(column, codes))
                for groups, column in (first, *second)
                if second
            ]
            found.append(second[0][0] if second and lengths[1] < lengths[0] else first[0])
    return found


def _fit_groups(
    numbers: np.ndarray,
    order: np.ndarray,
    codes: np.ndarray,
    category: int,
    scales: list[tuple[int, bool]],
) -> Iterator[tuple[int, Groups]]:
    """Yield pairs (index, groups) for those of k columns that are less variable within groups.

    A group has the rows with the same value of `category`. The index counts the k columns from 0.
    `numbers` (k, n) are standardized columns or logarithms, and `order` (k, n) sorts each. `scales`
    has for each of the k columns its index in the data, and whether `numbers` has its logarithms.
    """
    n_groups = codes[:, category].max(initial=-1) + 1
    size = max(1, _BLOCK_NUMBERS // len(codes))
    blocks = [slice(start, start + size) for start in range(0, len(numbers), size)]
    within = [_within(numbers[b], order[b], codes[:, category], n_groups) for b in blocks]
    columns = chain.from_iterable(zip(*block, strict=True) for block in within)
    for k, (count, median, variance) in enumerate(columns):
        large = count >= _MIN_GROUP
        if count.sum() < 2 * _MIN_GROUP or large.sum() < 2:
            continue
        weights, total = count[large], count[large].sum()
        mean = (variance[large] * weights).sum() / total
        variance = (count * variance + _PRIOR_ROWS * mean) / (count + _PRIOR_ROWS)
        spread = np.maximum(np.sqrt(variance), _MIN_SPREAD)
        mean_log = (np.log(spread[large]) * weights).sum() / total
        big = count >= max(2 * _MIN_GROUP, _MIN_SHARE * count.sum())
        differs = (np.abs(median[big]) > _SHIFTED) | (spread[big] < _MUCH_NARROWER)
        if mean_log < np.log(_NARROWER) or differs.any():
            spread[~large] = np.nan
            column, logarithm = scales[k]
            yield k, Groups(category, column, median, spread, count, logarithm)


def _tail_length(deviations: np.ndarray) -> float:
    """Return the length of the longer tail of deviations (n,), relative to their spread.

    The tails reach from 0 to the 1% and the 99% quantile. The spread is the standard deviation of
    the deviations, clipped at their 10% and 90% quantiles. The result is infinite if the spread is
    0.
    """
    known = deviations[~np.isnan(deviations)]
    low, start, stop, high = np.quantile(known, (0.01, 0.1, 0.9, 0.99))
    spread = np.std(np.clip(known, start, stop))
    return float(max(-low, high) / spread) if spread > 0 else np.inf


def _within(
    values: np.ndarray, order: np.ndarray, group: np.ndarray, n_groups: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the size, median and variance (k, g) of the values of each group in k columns.

    Values are clipped at the 10% and 90% quantiles of their group before the variance is computed,
    unless the clipped values are constant. Medians and variances are NaN for empty groups.

    Parameters
    ----------
    values, order : ndarrays of shape (k, n)
        Columns, with NaN for missing values, and the indices that sort each column.
    group : int ndarray of shape (n,)
        Group of each row, -1 if it is missing.
    n_groups : int
    """
    k, n = values.shape
    # Rows without a group, and missing values, are in an additional last group. Small types have a
    # faster stable sort.
    group = np.where(group < 0, n_groups, group).astype(np.min_scalar_type(n_groups))
    groups = np.where(np.isnan(values), group.dtype.type(n_groups), group)
    first_of_column = n * np.arange(k)[:, None]
    by_value = order + first_of_column
    by_group = np.argsort(groups.take(by_value), axis=1, kind="stable")
    ordered = values.take(by_value.take(by_group + first_of_column))
    index = groups + (n_groups + 1) * np.arange(k)[:, None]
    count = np.bincount(index.ravel(), minlength=k * (n_groups + 1)).reshape(k, -1)
    start = np.cumsum(count, axis=1) - count

    def quantile(level: float) -> np.ndarray:
        position = level * (count - 1)
        low = np.floor(position).astype(np.int64)
        first = np.minimum(start + np.maximum(low, 0), n - 1)
        second = np.minimum(first + 1, np.maximum(start + count - 1, 0))
        fraction = position - low
        below, above = (np.take_along_axis(ordered, each, axis=1) for each in (first, second))
        return (1 - fraction) * below + fraction * above

    low, median, high = quantile(0.1), quantile(0.5), quantile(0.9)
    divisor = np.maximum(count, 1)

    def variance(clipped: np.ndarray) -> np.ndarray:
        mean = totals(clipped) / divisor
        return totals((clipped - mean.ravel()[index]) ** 2) / divisor

    def totals(weights: np.ndarray) -> np.ndarray:
        return np.bincount(index.ravel(), weights.ravel(), count.size).reshape(count.shape)

    spread = variance(np.clip(values, low.ravel()[index], high.ravel()[index]))
    constant = (spread == 0) & (count > 1)
    if constant.any():
        spread = np.where(constant, variance(values), spread)
    count, median, spread = (each[:, :n_groups] for each in (count, median, spread))
    empty = count == 0
    return count, np.where(empty, np.nan, median), np.where(empty, np.nan, spread)
