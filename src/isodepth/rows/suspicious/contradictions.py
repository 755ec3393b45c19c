"""Pairs of categories that never occur in the other sample, such as a city in another country.

In this module a category is a column, and its values are integer codes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

# A category determines another one if at least _MIN_CHECKED rows were checked, at most a fraction
# _MAX_EXCEPTIONS of them are exceptions, and at least _MIN_OTHERS rows that follow the rule do not
# have the most frequent value. Otherwise nearly all rows have this value, with or without a rule.
_MIN_CHECKED, _MAX_EXCEPTIONS, _MIN_OTHERS = 100, 0.002, 5
# Minimum number of rows of both samples with the determining value and the usual value of the
# determined category. The other sample must also have the unusual value in _MIN_VALUE rows, or the
# determining value in _MIN_ROWS rows.
_MIN_GROUP, _MIN_VALUE, _MIN_ROWS = 3, 5, 50
# If more rows of a sample are exceptions, the categories as a whole differ, not single rows.
_MAX_FRACTION = 0.2


class Contradiction(NamedTuple):
    """A row with a pair of categories that contradicts the other sample.

    Attributes
    ----------
    row : int
    column, given : int
        Indices of the determined category and of the category that determines it.
    usual : int
        Value of the determined category in rows of the other sample with the same value of `given`.
    score : float
        Score of the pair of categories, see `_determined`.
    """

    row: int
    column: int
    given: int
    usual: int
    score: float


def find_contradictions(codes: np.ndarray, other: np.ndarray) -> list[Contradiction]:
    """Find rows with pairs of categories that the other sample excludes.

    In the other sample, one category determines another one: rows with the same value of the first
    have the same value of the second. A row is a contradiction if the other sample never has its
    pair of values. The pair must be surprising: the other sample has the second value in at least 5
    rows, or the first value in at least 50 rows.

    Parameters
    ----------
    codes, other : int ndarrays of shapes (n, k) and (m, k)
        Values of k categories in a sample and in the other one, from 0; -1 for missing values.

    Returns
    -------
    contradictions : list of Contradiction
        At most one per row, with the maximum score.
    """
    best: dict[int, Contradiction] = {}
    for given, column, table, score in _determined(other):
        a, b = codes[:, given], codes[:, column]
        # Values that the other sample does not have.
        table = np.pad(table, ((0, 0), (0, max(0, b.max(initial=-1) + 1 - table.shape[1]))))
        known = (a >= 0) & (a < table.shape[0]) & (b >= 0)
        a, b = np.where(known, a, 0), np.where(known, b, 0)
        pooled = table.copy()
        np.add.at(pooled, (a[known], b[known]), 1)
        # The value that both samples usually have with each value of the determining category.
        usual = pooled.argmax(axis=1)
        certain = (pooled.max(axis=1) >= _MIN_GROUP) & (table[np.arange(len(table)), usual] > 0)
        often = (table.sum(axis=0) >= _MIN_VALUE)[b] | (table.sum(axis=1) >= _MIN_ROWS)[a]
        exceptions = known & certain[a] & (table[a, b] == 0) & often
        if exceptions.sum() > _MAX_FRACTION * len(codes):
            continue
        for i in np.flatnonzero(exceptions).tolist():
            if i not in best or score > best[i].score:
                best[i] = Contradiction(i, column, given, int(usual[a[i]]), score)
    return list(best.values())


def _determined(codes: np.ndarray) -> Iterator[tuple[int, int, np.ndarray, float]]:
    """Yield pairs of categories of which the first determines the second, with few exceptions.

    A pair is yielded as a tuple: the indices of both categories, the numbers of rows with each pair
    of their values, and a score above 1. The score is the logarithm of the fraction of exceptions,
    divided by the logarithm of 1 / 50.
    """
    # Missing values have an additional last code, so that all rows are counted together.
    n_values = codes.max(axis=0, initial=-1) + 1
    by_column = np.ascontiguousarray(np.where(codes < 0, n_values, codes).T)
    for given, a in enumerate(by_column):
        for column, b in enumerate(by_column):
            if given == column:
                continue
            shape = n_values[given] + 1, n_values[column] + 1
            pairs = np.bincount(a * shape[1] + b, minlength=shape[0] * shape[1])
            table = pairs.reshape(shape)[:-1, :-1]
            if not table.size:
                continue
            sizes, modes = table.sum(axis=1), table.max(axis=1, initial=0)
            # Without another row that has the same value, a row cannot be checked.
            checked = int(sizes[sizes >= 2].sum())
            exceptions = int((sizes - modes)[sizes >= 2].sum())
            if checked < _MIN_CHECKED or exceptions > _MAX_EXCEPTIONS * checked:
                continue
            others = table.argmax(axis=1) != table.sum(axis=0).argmax()
            if modes[others & (sizes >= 2)].sum() >= _MIN_OTHERS:
                score = math.log((exceptions + 1) / (checked + 2)) / math.log(1 / _MIN_ROWS)
                if score > 1:
                    yield given, column, table, score
