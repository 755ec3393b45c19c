"""Numbers that are constant within a category, such as a price of 0 for all free products.

In this module a category is a column, and its values are integer codes. A group has the rows of
both samples with the same value of a category.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isodepth.rows.suspicious.results import NEARLY_ABSENT

# Minimum number of values of a group that are a constant.
_MIN_GROUP = 5
# A value is far if its distance from the central 90% of the other values of its column is more than
# _FAR times the length of this interval.
_FAR = 3


def far_values(column: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return whether each of the k `values` is far from the other values of a column (n,).

    The result is False if the central 90% of the other values are equal, or if there are none.
    """
    ordered = np.sort(column[~np.isnan(column)])
    start = np.searchsorted(ordered, values)
    count = np.searchsorted(ordered, values, "right") - start
    others = len(ordered) - count

    def quantile(level: float) -> np.ndarray:
        place = np.rint(level * np.maximum(others - 1, 0)).astype(np.int64)
        place += np.where(place >= start, count, 0)  # the values themselves are left out
        return ordered.take(place, mode="clip")

    if not len(ordered):
        return np.zeros(len(values), dtype=bool)
    low, high = quantile(0.05), quantile(0.95)
    with np.errstate(over="ignore"):
        beyond = np.maximum(low - values, values - high) > _FAR * (high - low)
    return beyond & (low < high) & (others > 0)


def rare_constants(points: Sequence[np.ndarray], codes: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return for each category the constants (g, d) of d columns in its g groups; NaN for others.

    A constant is the only value of a column in a group, and at least five rows have it. Only rare
    groups have constants: one sample has fewer than five of their rows, or their share in one
    sample is at most a tenth of that in the other. A constant that is far from the other values of
    its column is left out, because such a value may be wrong in all rows of a group.

    Parameters
    ----------
    points : ndarrays of shapes (n, d) and (m, d)
        Columns of both samples; NaN for missing values.
    codes : int ndarrays of shapes (n, k) and (m, k)
        Values of k categories, from 0; -1 for missing values.
    """
    both, groups = np.concatenate(points), np.concatenate(codes)
    result = []
    for c in range(groups.shape[1]):
        n_groups = groups[:, c].max(initial=-1) + 1
        counts = np.array(
            [np.bincount(part[part[:, c] >= 0, c], minlength=n_groups) for part in codes]
        )
        shares = counts / np.array([[max(len(part), 1)] for part in codes])
        rare = (counts.min(axis=0) < _MIN_GROUP) | (
            shares.min(axis=0) <= NEARLY_ABSENT * shares.max(axis=0)
        )
        constants = np.full((n_groups, both.shape[1]), np.nan)
        chosen = np.flatnonzero(rare & (counts.sum(axis=0) >= _MIN_GROUP))
        if len(chosen):
            rows = np.flatnonzero(np.isin(groups[:, c], chosen))
            rows = rows[np.argsort(groups[rows, c], kind="stable")]
            values, starts = both[rows], np.searchsorted(groups[rows, c], chosen)
            low, high = (each.reduceat(values, starts) for each in (np.fmin, np.fmax))
            known = np.add.reduceat(~np.isnan(values), starts, dtype=np.int64)
            constants[chosen] = np.where((known >= _MIN_GROUP) & (low == high), low, np.nan)
        result.append(constants)
    for j in range(both.shape[1]):
        for constants in result:
            found = np.flatnonzero(~np.isnan(constants[:, j]))
            if len(found):
                constants[found[far_values(both[:, j], constants[found, j])], j] = np.nan
    return result


def without_constants(
    points: np.ndarray, codes: np.ndarray, constants: Sequence[np.ndarray]
) -> np.ndarray:
    """Return the points (m, d) of rows, with NaN for the constants of their groups.

    `codes` (m, k) are the categories of the rows, and `constants` is the result of
    `rare_constants`.
    """
    points = points.astype(np.float64, copy=True)
    for c, table in enumerate(constants):
        known = np.flatnonzero((codes[:, c] >= 0) & (codes[:, c] < len(table)))
        if len(known):
            constant = points[known] == table[codes[known, c]]
            points[known] = np.where(constant, np.nan, points[known])
    return points


def in_constant_groups(
    columns: Sequence[np.ndarray], codes: Sequence[np.ndarray], value: float
) -> list[np.ndarray]:
    """Return masks of the rows of both samples in groups whose only value of a column is `value`.

    Groups with fewer than five such rows do not count, nor does a value that is far from the other
    values of the column. `columns` are the values (n,) and (m,) of the column.
    """
    column, groups = np.concatenate(columns), np.concatenate(codes)
    equal, known = column == value, ~np.isnan(column)
    found = np.zeros(len(column), dtype=bool)
    if not far_values(column, np.array([value]))[0]:
        for own in groups.T:
            used = own >= 0
            n_equal = np.bincount(own[used], equal[used])
            constant = (n_equal == np.bincount(own[used], known[used])) & (n_equal >= _MIN_GROUP)
            found[used] |= constant[own[used]]
    return np.split(found & equal, [len(columns[0])])
