"""Numbers within the groups of rows that have the same value of a category."""

from __future__ import annotations

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
        """Return deviations (m,) of the column from the medians of groups, in spreads.

        `values` (m,) are standardized values of the column, or logarithms if `logarithm`. The
        categories `codes` have the shape (m, k). The rows are not among those for which the medians
        were computed. The result is NaN if the value or the category is missing, or if the group is
        too small.
        """
        group = codes[:, self.category]
        known = (group >= 0) & (group < len(self.sizes))
        group = np.where(known, group, 0)
        # The median of n normal values has a variance of about 1.5 / n.
        spread = self.spread * np.sqrt(1 + 1.5 / np.maximum(self.sizes, 1))
        return np.where(known, (values - self.median[group]) / spread[group], np.nan)

    def fitted_deviations(self, values: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Return the deviations (n,) of the rows for which the medians were computed.

        They are multiplied by (n + 1.5) / (n - 1) for a group of n rows, because a row is closer to
        a median that was computed with this row.
        """
        count = np.maximum(self.sizes, 2)[codes[:, self.category]]
        return self.deviations(values, codes) * (count + 1.5) / (count - 1)


def find_groups(
    values: np.ndarray, logarithms: np.ndarray, positive: np.ndarray, codes: np.ndarray
) -> list[Groups]:
    """Find categories that make the values of a column less variable.

    A column with fewer than three values is a category too: a rare value within a group is not far
    from the others. The values of a positive column are compared, or their logarithms, if these
    have shorter tails within groups.

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
    found = []
    low, high = np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)
    between = ((values > low) & (values < high)).any(axis=0)
    for category in range(codes.shape[1]):
        for column in np.flatnonzero(between).tolist():
            scales = [(values[:, column], False)]
            if positive[column]:  # logarithms are first, because they are preferred if tails tie
                scales.insert(0, (logarithms[:, column], True))
            fits = []
            for numbers, logarithm in scales:
                groups = _fit_groups(numbers, codes, category, column, logarithm)
                if groups is not None:
                    fits.append((_tail_length(groups.fitted_deviations(numbers, codes)), groups))
            if fits:
                found.append(min(fits, key=lambda fit: fit[0])[1])
    return found


def _fit_groups(
    values: np.ndarray, codes: np.ndarray, category: int, column: int, logarithm: bool
) -> Groups | None:
    """Return the groups of standardized values (n,); None if they are not less variable."""
    known = (codes[:, category] >= 0) & ~np.isnan(values)
    if known.sum() < 2 * _MIN_GROUP:
        return None
    group = codes[known, category]
    count = np.bincount(group, minlength=codes[:, category].max() + 1)
    median, variance = _within(values[known], group, count)
    large = count >= _MIN_GROUP
    if large.sum() < 2:
        return None
    mean = np.average(variance[large], weights=count[large])
    variance = (count * variance + _PRIOR_ROWS * mean) / (count + _PRIOR_ROWS)
    spread = np.maximum(np.sqrt(variance), _MIN_SPREAD)
    mean_log = np.average(np.log(spread[large]), weights=count[large])
    big = count >= max(2 * _MIN_GROUP, _MIN_SHARE * known.sum())
    differs = (np.abs(median[big]) > _SHIFTED) | (spread[big] < _MUCH_NARROWER)
    if mean_log >= np.log(_NARROWER) and not differs.any():
        return None
    spread[~large] = np.nan
    return Groups(category, column, median, spread, count, logarithm)


def _tail_length(deviations: np.ndarray) -> float:
    """Return the length of the longer tail of deviations (n,), relative to their spread.

    The tails reach to the 1% and the 99% quantile. The spread is the standard deviation of the
    deviations, clipped at their 10% and 90% quantiles. The result is infinite if it is 0.
    """
    known = deviations[~np.isnan(deviations)]
    low, start, stop, high = np.quantile(known, (0.01, 0.1, 0.9, 0.99))
    spread = np.std(np.clip(known, start, stop))
    return float(max(-low, high) / spread) if spread > 0 else np.inf


def _within(
    values: np.ndarray, group: np.ndarray, count: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the median and variance (g,) of the values (n,) of each group.

    Values are clipped at the 10% and 90% quantiles of their group before the variance is computed,
    unless the clipped values are constant. Both results are NaN for empty groups.
    """
    ordered = values[np.lexsort((values, group))]
    start = np.cumsum(count) - count
    empty = count == 0

    def quantile(level: float) -> np.ndarray:
        position = level * (count - 1)
        low = np.floor(position).astype(np.int64)
        first = np.minimum(start + np.maximum(low, 0), len(ordered) - 1)
        second = np.minimum(first + 1, np.maximum(start + count - 1, 0))
        fraction = position - low
        mixed = (1 - fraction) * ordered[first] + fraction * ordered[second]
        return np.where(empty, np.nan, mixed)

    low, median, high = quantile(0.1), quantile(0.5), quantile(0.9)
    divisor = np.maximum(count, 1)

    def variance(clipped: np.ndarray) -> np.ndarray:
        mean = np.bincount(group, clipped, len(count)) / divisor
        squares = np.bincount(group, (clipped - mean[group]) ** 2, len(count))
        return squares / divisor

    clipped = variance(np.clip(values, low[group], high[group]))
    return median, np.where(empty, np.nan, np.where(clipped > 0, clipped, variance(values)))
