"""Summaries of the numeric columns: medians, interquartile ranges, and ranges of usual values.

A summary of d columns is an array (3, d). It has for each column the number n of values, n times
the median, and n times the interquartile range. A sum of summaries thus gives means weighted by n.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from isodepth.rows.suspicious.scoring import Rows, RowScorer, bounded
from isodepth.table.table import Table

_LEVELS = np.array([0.25, 0.5, 0.75])
# Maximum number of values of a column that are kept from each part of a batch. The rank of a
# quantile of all parts together is then wrong by at most 0.05% of the rows.
_MOST_KEPT = 1000


def summary_of_sorted(columns: np.ndarray, present: np.ndarray) -> np.ndarray:
    """Return the summary (3, d) of sorted columns (d, m), in which missing values are last.

    `present` (d,) is the number of values of each column that are not missing.
    """
    last = np.maximum(present - 1, 0)
    at = _LEVELS[:, None] * last
    low, index = at.astype(np.int64), np.arange(len(columns))
    below, above = columns[index, low], columns[index, np.minimum(low + 1, last)]
    with np.errstate(over="ignore", invalid="ignore"):
        quartiles = np.where(present > 0, below + (at - low) * (above - below), 0.0)
        return _summary(present, quartiles)


def summary_of_rows(numbers: np.ndarray) -> np.ndarray:
    """Return the summary (3, d) of rows (m, d), in which NaN are missing values."""
    return summary_of_sorted(np.sort(numbers.T), np.count_nonzero(~np.isnan(numbers), axis=0))


def _summary(present: np.ndarray, quartiles: np.ndarray) -> np.ndarray:
    """Return the summary (3, d) of columns with `present` (d,) values and `quartiles` (3, d)."""
    first, median, third = quartiles
    return present * np.array([np.ones(len(present)), median, third - first])


def order_statistics(columns: np.ndarray, present: np.ndarray) -> list[np.ndarray]:
    """Return order statistics with weights, an array (2, k) for each of the sorted columns (d, m).

    k is at most 1000. The ranks are equidistant. `present` (d,) is the number of values that are
    not missing.
    """
    kept = []
    for column, n in zip(columns, present.tolist(), strict=True):
        count = min(n, _MOST_KEPT)
        weight = n / max(count, 1)
        ranks = ((np.arange(count) + 0.5) * weight).astype(np.int64)
        kept.append(np.stack([column[ranks], np.full(count, weight)]))
    return kept


def summary_of_parts(parts: Sequence[list[np.ndarray]]) -> np.ndarray:
    """Return the summary (3, d) of all parts of a batch, without keeping all values.

    `parts` has the order statistics of the columns of each part. The quartiles are exact if no part
    has more than 1000 rows.
    """
    columns = [np.concatenate(each, axis=1) for each in zip(*parts, strict=True)]
    present = np.array([weights.sum() for _, weights in columns])
    quartiles = np.array([_weighted_quartiles(*each) for each in columns]).reshape(-1, 3).T
    with np.errstate(over="ignore", invalid="ignore"):
        return _summary(np.rint(present), quartiles)


def _weighted_quartiles(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the quartiles (3,) of values (k,) with weights (k,); 0 if there are no values.

    A value of weight w counts as w equal values, and its rank is the mean of the ranks of these.
    """
    if not len(values):
        return np.zeros(3)
    order = np.argsort(values, kind="stable")
    values, weights = values[order], weights[order]
    up_to = np.cumsum(weights)
    ranks = up_to - 0.5 * (weights + 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.interp(_LEVELS * (up_to[-1] - 1.0), ranks, values)


class UsualValues(NamedTuple):
    """Ranges of the values of d numeric columns. A value outside its range is suspicious.

    The ranges are those of `TwoSampleResult.suspicious_rows` for single values: they are
    extrapolated from the tails of the values and, if all values of the column are positive, of
    their logarithms. Relations between columns are not stored, so that a row with unusual
    combinations of usual values is not suspicious.
    """

    values: np.ndarray  # (2, d), minima and maxima for zeros: zero has no logarithm
    nonzero: np.ndarray  # (2, d), minima and maxima for all other values

    @classmethod
    def of_numbers(cls, numbers: np.ndarray) -> UsualValues:
        """Return the ranges of the numeric columns `numbers` (n, d) of the reference."""
        if not numbers.shape[1]:
            return cls(np.empty((2, 0)), np.empty((2, 0)))
        scorer = RowScorer(Rows(numbers, np.empty((len(numbers), 0), np.int64)), ())
        # Values beyond these limits are as usual as the limits.
        most = bounded(np.array(np.inf))
        return cls(*(
            np.where(each >= most, np.inf, np.where(each <= -most, -np.inf, each))
            for each in scorer.usual_values()
        ))  # fmt: skip

    def suspicious(self, rows: Table) -> np.ndarray:
        """Return an array (m,) of bool: whether each row is suspicious.

        A row is suspicious if a value is outside its range, or if it has a category that does not
        occur in the reference. Missing values are not suspicious.
        """
        numbers = rows.numbers
        outside = (numbers < self.nonzero[0]) | (numbers > self.nonzero[1])
        outside &= (numbers != 0) | (numbers < self.values[0]) | (numbers > self.values[1])
        known = [len(column.categories) for column in rows.schema.categorical]
        return outside.any(axis=1) | (rows.codes >= known).any(axis=1)
