"""Features whose distributions are compared: their statistics, kinds of change and descriptions.

A feature is a function of a row: a column, a pair of columns, a direction or a function of all
columns.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from isodepth.core.scaling import mad_spread
from isodepth.data import changes
from isodepth.data.changes import Change
from isodepth.significance.permutations import (
    Moments,
    map_rows,
    neg_log_p,
    permutation_pvalue,
    rank_cosines,
)
from isodepth.significance.samples import CENTER, Category, PooledSample

#: Number of cosines cos(pi j R), j = 1, 2, ..., that are computed for each column. R are the ranks
#: of its values, scaled to (0, 1).
COSINES = 6
#: Maximum number of values in memory when functions are evaluated at all rows: 400 MB in float32.
MAX_NUMBERS = 100_000_000
# To determine the kind of change of a column, both samples are shifted to the same median and
# divided by their spreads. A column with at most this number of distinct values is not aligned in
# this way, because alignment would break ties.
_FEW_VALUES = 20
# Maximum number of rows of each sample that are used to determine the kind of change of a column.
_MAX_ROWS = 50_000
# Samples that are aligned in median or spread still differ if their statistic exceeds this quantile
# of the statistics of the permutations.
_QUANTILE = 0.99
_LIMIT = float(np.finfo(np.float64).max) / 4
# A change of dependence is reported if its adjusted p-value is at most _ALIGNED_LEVEL after
# `_remaining_pairs` removes the changes of single columns. At most _ALIGNED_ROWS rows are used.
_ALIGNED_LEVEL, _ALIGNED_ROWS = 0.02, 50_000
_OF_COLUMN = {
    "location": changes.location_change,
    "spread": changes.spread_change,
    "shape": changes.shape_change,
}


class Feature(NamedTuple):
    """Function of one, two or all columns whose distribution may change.

    Attributes
    ----------
    kinds : tuple of str
        Kinds of change that the feature indicates, such as ("location", "spread"); the main one
        first.
    label : str
        Name of the column, pair, direction or function.
    columns : tuple of str
        One column, or the two columns of a dependence; empty for a function of all columns.
    value : str or None
        Category whose share changes, or within which the mean of a column changes. It is a value
        of the last of `columns`. None for other features.
    """

    kinds: tuple[str, ...]
    label: str
    columns: tuple[str, ...] = ()
    value: str | None = None


def column_feature(name: str, *kinds: str) -> Feature:
    """Return the feature of one column for the given kinds of change."""
    return Feature(kinds, name, (name,))


def shares_feature(category: Category, strengths: np.ndarray) -> Feature:
    """Return the feature of a category column, with the category whose share changed most.

    `strengths` has -log p of the change of each category's share.
    """
    value = category.values[int(strengths.argmax())]
    return column_feature(category.name, "shares")._replace(value=value)


# Result for one feature: its -log p, its adjusted p-value, and the feature itself.
Test = tuple[float, float, Feature]


class Family:
    """Features whose p-values are adjusted for multiple testing by the maximum statistic.

    Attributes
    ----------
    features : list of Feature
    observed : list of float
        -log p of each feature under the given labels.
    largest : ndarray of shape (B + 1,)
        Maximum of -log p over all features, for the given labels and B permutations of them.
    """

    def __init__(self, count: int) -> None:
        self.features: list[Feature] = []
        self.observed: list[float] = []
        self.largest = np.zeros(count)

    def add(self, features: Sequence[Feature], neg_log_p: np.ndarray) -> None:
        """Add F features with their -log p (F, B + 1), for the given labels and B permutations."""
        self.features += features
        self.observed += neg_log_p[:, 0].tolist()
        np.maximum(self.largest, neg_log_p.max(axis=0), out=self.largest)

    def pvalues(self) -> np.ndarray:
        """Return the p-values of all features, adjusted for multiple testing."""
        return permutation_pvalue(np.array(self.observed), self.largest[1:])

    def significant(self, alpha: float) -> list[Test]:
        """Return the tests of the features whose adjusted p-value is at most alpha."""
        tests = zip(self.observed, self.pvalues().tolist(), self.features, strict=True)
        return [test for test in tests if test[1] <= alpha]


class Findings:
    """Statistics of a test for the given labels and for B permutations of them.

    Attributes
    ----------
    parts, neg_log_p : dicts of ndarrays of shape (B + 1,)
        Each statistic by its name, and its -log p, for the given labels and the permutations.
    weights : dict of float
        Weights of the statistics.
    strongest : dict of Feature
        Feature with the largest value of each statistic under the given labels.
    columns, pairs, whole : Family
        Single columns, pairs of columns, and functions of all columns.
    smallest_tolerance : float or None
        Smallest tolerance for which a test with a tolerance is not significant, else None.
    notes : list of str
        Remarks for the user.
    """

    def __init__(self, count: int, weights: dict[str, float]) -> None:
        self.weights = weights
        self.parts: dict[str, np.ndarray] = {}
        self.neg_log_p: dict[str, np.ndarray] = {}
        self.smallest_tolerance: float | None = None
        self.strongest: dict[str, Feature] = {}
        self.columns, self.pairs, self.whole = (Family(count) for _ in range(3))
        self.notes: list[str] = []

    def add(
        self,
        name: str,
        values: np.ndarray,
        features: Sequence[Feature],
        family: Family | None = None,
    ) -> None:
        """Update the statistic `name`, a maximum over features, by values (F, B + 1) of F features.

        The second axis has the given labels and B permutations. If a family is given, the values
        must be -log p of the features. The features are then added to the family.
        """
        first, largest = int(values[:, 0].argmax()), values.max(axis=0)
        if name not in self.parts or largest[0] > self.parts[name][0]:
            self.strongest[name] = features[first]
        self.parts[name] = np.maximum(self.parts.get(name, 0.0), largest)
        if family is not None:
            family.add(features, values)

    def column_pairs(
        self, rows: PooledSample, most: int
    ) -> Iterator[tuple[np.ndarray, list[Feature], Family]]:
        """Yield blocks of P pairs: column indices (P, 2), the features, and their family.

        A pair has two columns, or a column and the distance from the center, which has the index d.
        A pair with this distance detects opposite changes of inner and outer rows, which may not
        change the distribution of any column or pair of columns. If there are more than `most`
        pairs of columns, a random selection is used.
        """
        d, names = len(rows.names), (*rows.names, CENTER)
        if d * (d - 1) // 2 <= most:
            pairs = np.transpose(np.triu_indices(d, 1))
        else:
            first = rows.rng.integers(0, d, most)
            second = (first + rows.rng.integers(1, d, most)) % d
            pairs = np.sort(np.stack([first, second], axis=1), axis=1)
            self.notes.append(f"dependence was compared in {most} random pairs of columns")
        with_distance = np.stack([np.arange(d), np.full(d, d)], axis=1)
        for chosen, family in ((pairs, self.pairs), (with_distance, self.whole)):
            for block in in_blocks(chosen, rows, 4):
                features = []
                for a, b in block:
                    columns = (names[a], names[b])[: 1 + (family is self.pairs)]
                    label = f"{names[a]} and {names[b]}"
                    features.append(Feature(("dependence",), label, columns))
                yield block, features, family


def in_blocks(items: Any, rows: PooledSample, numbers: int) -> Iterator[Any]:
    """Yield consecutive parts of `items` that need at most `MAX_NUMBERS` values in memory each.

    An item needs `numbers` arrays with one value per row or per permutation, whichever is more.
    """
    step = max(1, MAX_NUMBERS // (numbers * max(len(rows.points), rows.permutations.count)))
    for first in range(0, len(items), step):
        yield items[first : first + step]


# -- descriptions of significant changes, in the units of their columns ---------------------------


def significant_changes(rows: PooledSample, findings: Findings, alpha: float) -> list[Change]:
    """Return the significant changes at level `alpha`, in decreasing order of -log p.

    Functions of all columns are included only if no column or pair is significant by itself.
    """
    pairs = findings.pairs.significant(alpha)
    tests = findings.columns.significant(alpha)
    tests += _remaining_pairs(rows, pairs, len(findings.pairs.features))
    tests = sorted(tests or findings.whole.significant(alpha), key=lambda test: -test[0])
    return [
        _change(rows, feature, kind, pvalue)
        for _, pvalue, feature in tests
        for kind in feature.kinds
    ]


def _remaining_pairs(rows: PooledSample, tests: list[Test], count: int) -> list[Test]:
    """Return the tests of pairs that remain significant if ranks are computed within each sample.

    A change of a single column also changes its pooled rank correlations and its pooled mean ranks
    within categories. Ranks within each sample are not affected by changes of single columns. The
    new p-values are multiplied by `count`, the number of all compared pairs, because `tests` has
    only the significant ones.
    """
    if not tests:
        return []
    subset = rows.random_subset(_ALIGNED_ROWS)
    permutations = subset.permutations
    parts = np.split(subset.columns, [permutations.n_x], axis=1)
    ranks = np.concatenate([subset.centered_ranks(part) for part in parts], axis=1)
    categories = {category.name: category for category in subset.categories}
    moments = Moments(permutations, ranks)
    remaining = []
    for test in tests:
        first, second = test[2].columns
        j, value = rows.names.index(first), test[2].value
        if value is None:
            pair = np.array([[j, rows.names.index(second)]])
            change = moments.correlation_change(ranks, pair)
        else:
            inside = categories[second].rows_with(value)[None].astype(np.float64)
            change = permutations.mean_changes(ranks[[j]], inside)
        if neg_log_p(np.square(change))[0, 0] >= math.log(count / _ALIGNED_LEVEL):
            remaining.append(test)
    return remaining


def _change(rows: PooledSample, feature: Feature, kind: str, pvalue: float) -> Change:
    """Describe a change of a feature in the units of its columns.

    For a function of all columns, the columns are first divided by their spreads.
    """
    n_x, columns = rows.permutations.n_x, feature.columns
    inside = np.ones(len(rows.points), bool)
    if feature.value is not None:
        category = next(each for each in rows.categories if each.name == columns[-1])
        inside = category.rows_with(feature.value)
    if kind == "shares":
        before, after = float(inside[:n_x].mean()), float(inside[n_x:].mean())
        return Change(kind, columns, "share", before, after, pvalue, value=feature.value)
    if kind == "missing":
        assert rows.missing is not None
        return changes.missing_change(columns[0], *rows.missing.shares(columns[0]), pvalue)
    if not columns:
        # `whole_rows` does not contain the outlyingness, which tests with a tolerance use. A change
        # of outlyingness is described by the median distance from the center instead.
        label = feature.label if feature.label in rows.whole_rows else CENTER
        values = rows.whole_rows[label]
        before, after = float(np.median(values[:n_x])), float(np.median(values[n_x:]))
        return Change(kind, (), f"median {label} (in spreads)", before, after, pvalue)
    values = rows.columns[rows.names.index(columns[0])]
    x, y = values[:n_x][inside[:n_x]], values[n_x:][inside[n_x:]]
    if kind != "dependence":
        return _OF_COLUMN[kind](columns[0], x, y, pvalue)
    if len(columns) == 1:
        both = np.stack([values, rows.whole_rows[CENTER]], axis=1)
        change = changes.dependence_change((columns[0], CENTER), both[:n_x], both[n_x:], pvalue)
        return replace(change, columns=(), quantity=f"{change.quantity} of {feature.label}")
    names = columns[0], columns[1]
    if feature.value is not None:
        return changes.conditional_change(names, feature.value, x, y, pvalue)
    both = np.stack([values, rows.columns[rows.names.index(columns[1])]], axis=1)
    return changes.dependence_change(names, both[:n_x], both[n_x:], pvalue)


# -- kinds of changes of single columns ------------------------------------------------------------


def column_kinds(
    rows: PooledSample, powers: np.ndarray, share: float = 0.0
) -> list[tuple[str, ...]]:
    """Determine the kinds of change of each column: location, spread or shape.

    Both samples of a column are aligned: shifted to the same median, or divided by their spreads. A
    change of location remains if only the spreads are aligned, and vanishes if the medians are
    aligned too. A change of spread remains if only the medians are aligned, and vanishes if the
    spreads are aligned too. A change of shape remains if both are aligned.

    Parameters
    ----------
    rows : PooledSample
    powers : ndarray of shape (6, d, B + 1)
        Squared scaled difference between the sample means of each cosine cos(pi j R),
        j = 1, ..., 6, of the ranks R of each column, for the given labels and B permutations.
    share : float
        Fraction of the rows of each sample that may be contaminated.

    Returns
    -------
    kinds : list of d tuples
        One or two of "location", "spread" and "shape", the main one first.
    """
    n_x, n = rows.permutations.n_x, len(rows.points)
    size = math.sqrt(n_x * (n - n_x) / n)
    parts = [part[:_MAX_ROWS] for part in (rows.points[:n_x], rows.points[n_x:])]
    # The statistics `powers` were computed from all rows, but aligned samples have at most 50,000
    # rows each. The statistics are proportional to the number of rows, so those of aligned samples
    # are multiplied by the ratio of both numbers of rows.
    enlarged = n / sum(map(len, parts))

    def kinds(j: int) -> tuple[str, ...]:
        # Values are multiplied by 0.25, so that differences of very large values do not overflow.
        x, y = (0.25 * part[:, j] for part in parts)
        limit = float(np.quantile(powers[:, j].sum(axis=0), _QUANTILE))
        # A share of contaminated rows may change the mean of a cosine by about this share. The
        # limit, above which a difference is not due to chance, is increased accordingly.
        limit = (math.sqrt(limit) + share * size) ** 2
        observed = powers[:, j, 0]
        rounded = np.where(observed > 1e-9 * observed.sum(), observed, 0.0)
        location, spread, shape = rounded[0], rounded[1], rounded[2:].mean()
        if len(np.unique(np.concatenate([x, y]))) <= _FEW_VALUES:
            return ("location",) if location >= spread else ("spread",)
        neither, same_spread, same_location = enlarged * _aligned_differences(x, y)
        if neither > limit and neither > 0.5 * observed.sum():
            return ("shape",)
        named = []
        if same_spread - neither > limit:
            named.append((location, "location"))
        if same_location - neither > limit:
            named.append((spread, "spread"))
        if named:
            return tuple(kind for _, kind in sorted(named, reverse=True))
        ordered = sorted([(location, "location"), (spread, "spread"), (shape, "shape")])
        if ordered[-1][1] == "shape" and neither <= limit:
            ordered.pop()
        return (ordered[-1][1],)

    return map_rows(kinds, len(rows.names), n, rows.n_threads)


def _aligned_differences(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the differences (3,) between two samples of a column after each of three alignments.

    The first alignment equalizes the medians and the spreads, the second only the spreads, and the
    third only the medians. A difference is a rank statistic: the sum over j of the squared
    differences between the sample means of cos(pi j R), times n m / (n + m). R are the pooled ranks
    after the alignment, and n and m the sample sizes.
    """
    centers = np.median(x), np.median(y)
    x, y, shift = x - centers[0], y - centers[1], centers[1] - centers[0]
    units = mad_spread(x[:, None])[0], mad_spread(y[:, None])[0]
    # If only the spreads are aligned, the difference of the medians remains. It is divided by the
    # geometric mean of both spreads.
    common = math.sqrt(units[0]) * math.sqrt(units[1])
    a, b, shift = _divided(x, units[0]), _divided(y, units[1]), _divided(shift, common)
    pooled = [np.concatenate(pair) for pair in ((a, b), (a, b + shift), (x, y))]
    cosines = rank_cosines(np.stack(pooled), COSINES)
    means = [part.mean(axis=2, dtype=np.float64) for part in np.split(cosines, [len(x)], axis=2)]
    return np.square(means[0] - means[1]).sum(axis=0) * len(x) * len(y) / (len(x) + len(y))


def _divided(values: Any, unit: float) -> Any:
    """Return values / unit, clipped to a quarter of the largest float, so that sums are finite."""
    with np.errstate(over="ignore"):
        return np.clip(values / unit, -_LIMIT, _LIMIT)
