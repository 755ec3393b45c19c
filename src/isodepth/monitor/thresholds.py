"""Numeric features of a row, and functions that compare a feature with a threshold.

The features are the numeric columns, their standardized absolute deviations from the medians,
projections of standardized rows, the distance from the center, and the outlyingness. A cut point
is a threshold near a quantile of a feature; the function is 1 up to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from isodepth.functions.families import Extremes, Member, Rows, SingleValues

# Levels of the quantiles that are the cut points of each feature. They were tuned on the streams of
# experiments/monitoring/delays.py: more cut points detect more kinds of changes, but the p-value is
# multiplied by the number of functions.
_LEVELS = {
    "column": (0.01, 0.03, *(np.arange(1, 16) / 16), 0.97, 0.99),
    "deviation": (0.3, 0.5, 0.7, 0.85, 0.95, 0.99),
    "direction": (0.02, *(np.arange(1, 10) / 10), 0.98),
    "distance": (*(np.arange(1, 10) / 10), 0.95, 0.975, 0.99, 0.997),
}
# Numbers that often replace missing values. They may be new in a batch.
_SENTINELS = (0.0, -1.0, -9.0, -99.0, -999.0, -9999.0, 99.0, 999.0, 9999.0)
# Standardized values are clipped to this absolute value, and rounded to multiples of _STEP before
# they are projected. The components of directions are multiples of DIRECTION_STEP. See `project`.
_FAR, _STEP, DIRECTION_STEP = 2.0**16, 2.0**-20, 2.0**-8
# Standardized values that differ by at most this count as equal, because of rounding.
_ROUNDING = 1e-9
# Number of rows whose projections fit into the cache.
_FEW_ROWS = 1 << 10


class Relation(IntEnum):
    """Relation between a feature and a threshold; files of monitors contain these numbers."""

    CUT = 0  # at most the threshold, which is a quantile
    EQUAL = 1  # equal to the threshold: a frequent value, minimum, maximum or one of _SENTINELS
    EXTREME = 2  # one of the few values that are at least the threshold, or at most the threshold
    BEYOND = 3  # above the threshold, which is the maximum, or below it, if it is the minimum


# Value of `Member.event` for the relations other than CUT, whose event is the name of the feature.
_EVENTS = {Relation.EQUAL: "value", Relation.EXTREME: "extremes", Relation.BEYOND: "beyond"}


class Threshold(NamedTuple):
    """Function of a row that is 1 if a feature of the row has a `Relation` to a number.

    The number, the threshold, is the attribute `value`.
    """

    feature: int  # index of the feature in the result of `features_of`
    relation: Relation
    value: float
    upper: bool = True  # for EXTREME and BEYOND, whether large values have the relation


class Thresholds(NamedTuple):
    """L functions that compare a feature with a threshold, see `Threshold`."""

    feature: np.ndarray  # (L,), integers
    relation: np.ndarray  # (L,), integers of `Relation`
    value: np.ndarray  # (L,)
    upper: np.ndarray  # (L,), bool

    @classmethod
    def from_array(cls, stored: np.ndarray) -> Thresholds:
        """Return the thresholds, given the attributes in their order as an array (4, L) of floats.

        Files of monitors contain this array.
        """
        feature, relation, value, upper = stored
        return cls(feature.astype(np.int64), relation.astype(np.int64), value, upper > 0)

    def members(self, width: int, n_directions: int) -> list[Member]:
        """Return the L functions as `Member` objects.

        There are `width` numeric columns and `n_directions` projections.
        """
        features, members = feature_names(width, n_directions), []
        for feature, relation, value, upper in zip(*(each.tolist() for each in self), strict=True):
            name, columns = features[feature]
            members.append(Member(_EVENTS.get(relation, name), columns, value, upper))
        return members

    def intervals(self, n_features: int) -> tuple[list[np.ndarray], np.ndarray]:
        """Return sorted ends of intervals for each feature, and indices (2, L) of these ends.

        A function is 1 if its feature is in a half-open interval (low, high]. The two rows are the
        indices of low and high in the concatenated ends of all features.
        """
        beyond, extreme = self.relation == Relation.BEYOND, self.relation == Relation.EXTREME
        before = np.nextafter(self.value, -np.inf)
        # The interval ends or begins at the threshold. BEYOND excludes the threshold, the other
        # relations include it.
        low = np.where(self.relation == Relation.EQUAL, before, -np.inf)
        high = np.where(beyond, before, self.value)
        above = self.upper & (extreme | beyond)
        low[above] = np.where(beyond, self.value, before)[above]
        high[above] = np.inf
        ends, index, first = [], np.empty((2, len(self.value)), np.int64), 0
        for f in range(n_features):
            own = self.feature == f
            distinct = np.unique([low[own], high[own]])
            index[:, own] = first + distinct.searchsorted([low[own], high[own]])
            ends.append(distinct)
            first += len(distinct)
        return ends, index


def choose_thresholds(
    numbers: np.ndarray, codes: np.ndarray, features: np.ndarray
) -> list[Threshold]:
    """Choose the thresholds of n rows.

    `numbers` (n, d) has the numeric columns and `codes` (n, C) the category columns. `features`
    (F, n) is the result of `features_of`. The list is empty if d = 0. Otherwise it has, in this
    order:

    * quantiles of all features (`Relation.CUT`);
    * frequent values, minimum and maximum of each column, and numbers that often replace missing
      values (`Relation.EQUAL`);
    * values of a column that fewer than 1% of the rows reach (`Relation.EXTREME`);
    * maximum and minimum of each column (`Relation.BEYOND`);
    * maximum of the outlyingness (`Relation.BEYOND`).

    If all distinct values of a column are cut points, the column has no threshold of relation
    EXTREME, and none of relation BEYOND for its maximum.
    """
    width = numbers.shape[1]
    if not width:
        return []
    names = feature_names(width, len(features) - 2 * width - 2)
    both = zip(names, features, strict=True)
    cuts = [cut_points(values, _LEVELS[name], name == "column") for (name, _), values in both]
    ranges = [_range(column) for column in numbers.T]
    # Whether there are values above the last cut point of a column.
    tails = [each is not None and bool(cuts[j][-1] < each[1]) for j, each in enumerate(ranges)]
    rows = Rows(numbers, codes, features[-2])
    chosen = [Threshold(f, Relation.CUT, cut) for f, own in enumerate(cuts) for cut in own.tolist()]
    chosen += _single_values(rows, ranges) + _extremes(rows, tails)
    for j, each in enumerate(ranges):
        if each is not None:
            if tails[j]:
                chosen.append(Threshold(j, Relation.BEYOND, each[1]))
            chosen.append(Threshold(j, Relation.BEYOND, each[0], upper=False))
    last = len(features) - 1
    return [*chosen, Threshold(last, Relation.BEYOND, float(features[last].max()))]


def _range(column: np.ndarray) -> tuple[float, float] | None:
    """Return the minimum and the maximum of a column; None if all values are missing."""
    present = column[~np.isnan(column)]
    return (float(present.min()), float(present.max())) if len(present) else None


def _single_values(rows: Rows, ranges: list[tuple[float, float] | None]) -> list[Threshold]:
    """Return thresholds for single values, in increasing order for each column.

    They are frequent values, the minimum, the maximum, and numbers that often replace missing
    values. `ranges` has the minimum and the maximum of each column; None for an empty column.
    """
    single = {(each.columns[0], each.value) for each in SingleValues.choose(rows).members}
    for j, ends in enumerate(ranges):
        single |= {(j, value) for value in (*_SENTINELS, *(ends or ()))}
    return [Threshold(j, Relation.EQUAL, value) for j, value in sorted(single)]


def _extremes(rows: Rows, tails: list[bool]) -> list[Threshold]:
    """Return thresholds that fewer than 1% of the rows reach.

    `tails` is, for each column, whether there are values above its last cut point. Other columns
    have no such thresholds.
    """
    family = Extremes.choose(rows)
    counts = np.nansum(family.evaluate(rows), axis=1).tolist()
    least = _LEVELS["column"][0] * len(rows.numbers)
    return [
        Threshold(each.columns[0], Relation.EXTREME, each.value, each.upper)
        for each, count in zip(family.members, counts, strict=True)
        if each.columns and count < least and tails[each.columns[0]]
    ]


def feature_names(width: int, n_directions: int) -> list[tuple[str, tuple[int, ...]]]:
    """Return the name and the columns of each row of the result of `features_of`.

    The names are "column", "deviation", "direction" and "distance". The last one is the name of
    both the distance from the center and the outlyingness. Directions and distances depend on all
    columns; their tuple of columns is empty.
    """
    names: list[tuple[str, tuple[int, ...]]] = [("column", (j,)) for j in range(width)]
    names += [("deviation", (j,)) for j in range(width)] + [("direction", ())] * n_directions
    return names + [("distance", ())] * 2 if width else []


def features_of(
    numbers: np.ndarray, z: np.ndarray, directions: np.ndarray, middles: np.ndarray
) -> np.ndarray:
    """Return numeric features (F, m) of m rows, to be compared with cut points.

    In this order: the columns `numbers` (m, d), the absolute values of the standardized columns `z`
    (m, d), projections of `z` on `directions` (K, d), the distance from the center, and the
    outlyingness, which is the maximum standardized deviation over all columns and directions.
    `middles` (2, K) has the median and the MAD of each projection.
    """
    m, width = z.shape
    if not width:
        return np.empty((0, m))
    features = np.empty((2 * width + len(directions) + 2, m))
    features[:width] = numbers.T
    deviations = np.abs(z.T, out=features[width : 2 * width])
    along = features[2 * width : -2]
    along[:] = project(directions, z)
    features[-2] = np.sqrt(sum(np.minimum(values, 10.0) ** 2 for values in deviations))
    features[-1] = deviations.max(axis=0)
    # A few rows at a time: the allocation of larger arrays takes longer than the computation.
    for start in range(0, m if len(directions) else 0, _FEW_ROWS):
        part = slice(start, start + _FEW_ROWS)
        apart = np.abs(along[:, part] - middles[0, :, None])
        apart /= middles[1, :, None]
        np.maximum(features[-1, part], apart.max(axis=0), out=features[-1, part])
    # Standardized missing values are 0: they must not count as values in the center.
    deviations[np.isnan(numbers.T)] = np.nan
    return features


def cut_points(values: np.ndarray, levels: Sequence[float], exact: bool) -> np.ndarray:
    """Return the cut points of a feature: quantiles of its values at `levels`.

    The maximum is not a cut point. If there are at most len(levels) + 1 distinct values, all of
    them are cut points instead, also the maximum.

    `exact` is False for computed features, which have rounding errors. Their cut points are moved
    up to the midpoints between consecutive distinct values, which rounding errors do not cross. The
    maximum is then never a cut point.
    """
    present = values[~np.isnan(values)]
    distinct = np.unique(present)
    if not exact:
        distinct = distinct[np.diff(distinct, append=np.inf) > _ROUNDING]
    cuts = distinct
    if len(distinct) > len(levels) + 1:
        cuts = np.unique(np.quantile(present, levels, method="inverted_cdf"))
        cuts = cuts[cuts < distinct[-1]]
    if exact:
        return cuts
    midpoints, index = (distinct[:-1] + distinct[1:]) / 2, np.unique(distinct.searchsorted(cuts))
    return midpoints[index[index < len(midpoints)]]


def standardized(numbers: np.ndarray, center: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return `numbers` (m, d) minus `center`, divided by `scale` and clipped; 0 if missing."""
    with np.errstate(over="ignore", invalid="ignore"):
        z = numbers / scale
        z -= center / scale
    z[np.isnan(z)] = 0.0
    return np.clip(z, -_FAR, _FAR, out=z)


def project(directions: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Return the projections (K, m) of standardized rows z (m, d) on directions (K, d).

    The values z are rounded to multiples of a power of 2, and the directions are such multiples.
    All products and their sums are then exact in float64, for at most 2**18 columns. So the
    projection of a row has the same bits alone and among other rows, in any memory layout, with any
    library for matrix products, and on every machine.
    """
    return (directions / DIRECTION_STEP) @ np.rint(z.T / _STEP) * (_STEP * DIRECTION_STEP)
