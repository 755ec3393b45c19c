"""Kinds of the changes of columns, and significant changes in the units of their columns."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from isodepth.core.scaling import mad_spread
from isodepth.data.changes import (
    Change,
    conditional_change,
    dependence_change,
    location_change,
    missing_change,
    shape_change,
    spread_change,
)
from isodepth.significance.combination import (
    Feature,
    Findings,
    Moments,
    Test,
    mean_changes,
    neg_log_p,
)
from isodepth.significance.pooled_sample import (
    CENTER,
    PooledSample,
    map_rows,
    rank_cosines,
    unit_ranks,
)
from isodepth.significance.settings import Samples

#: Number of cosines of the ranks of a single column.
COSINES = 6
# Columns with at most this number of distinct values are not aligned: alignment breaks ties.
_FEW_VALUES = 20
# Rows of each sample that determine the kinds.
_MAX_ROWS = 50_000
# Quantile of permuted statistics above which a difference remains after alignment.
_QUANTILE = 0.99
_LIMIT = float(np.finfo(np.float64).max) / 4
# A dependence is named if it differs at this level after alignment, in a subset of the rows.
_ALIGNED_LEVEL, _ALIGNED_ROWS = 0.02, 50_000
_OF_COLUMN = {"location": location_change, "spread": spread_change, "shape": shape_change}


def significant_changes(
    rows: PooledSample, found: Findings, samples: Samples, alpha: float
) -> list[Change]:
    """Return the significant changes, the strongest evidence first.

    Functions of all columns are included only if no column or pair is significant by itself.
    """
    pairs = found.pairs.significant(alpha)
    pairs = _remaining_pairs(rows, pairs, len(found.pairs.features))
    tests = found.columns.significant(alpha) + pairs
    tests = tests or found.whole.significant(alpha)
    tests = sorted(tests, key=lambda test: -test[0])
    return [
        _change(rows, samples, feature, kind, pvalue)
        for _, pvalue, feature in tests
        for kind in feature.kinds
    ]


def _remaining_pairs(rows: PooledSample, tests: list[Test], count: int) -> list[Test]:
    """Return the pairs whose dependence differs even if all columns have equal distributions.

    A shift of a column changes the mean ranks within categories and the rank correlations of the
    pooled rows. Ranks within each sample align location, spread and shape of every column. P-values
    of aligned rows are multiplied by the number of all compared pairs, `count`: the significant
    ones are the largest of them.
    """
    if not tests:
        return []
    subset = rows.random_subset(_ALIGNED_ROWS)
    n_x, permutations = subset.permutations.n_x, subset.permutations
    parts = subset.columns[:, :n_x], subset.columns[:, n_x:]
    ranks = np.concatenate([unit_ranks(part, rows.n_threads) - 0.5 for part in parts], axis=1)
    index = {name: j for j, name in enumerate(rows.names)}
    categories = {category.name: category for category in subset.categories}
    moments = Moments(permutations, ranks)
    remaining = []
    for test in tests:
        feature = test[2]
        first, second = feature.columns
        if feature.value is None:
            pair = np.array([[index[first], index[second]]])
            change = moments.correlation_change(ranks, pair)
        else:
            category = categories[second]
            inside = (category.codes == category.values.index(feature.value)).astype(np.float64)
            change = mean_changes(permutations, ranks[[index[first]]], inside[None])
        if neg_log_p(np.square(change))[0, 0] >= math.log(count / _ALIGNED_LEVEL):
            remaining.append(test)
    return remaining


def _change(
    rows: PooledSample, samples: Samples, feature: Feature, kind: str, pvalue: float
) -> Change:
    if kind == "shares":
        return _shares(samples, feature, pvalue)
    if kind == "missing":
        before, after = samples.missing_shares(feature.columns[0])
        return missing_change(feature.columns[0], before, after, pvalue)
    columns = [samples.values_of(name) for name in feature.columns if name in rows.names]
    if kind == "dependence" and feature.value is not None:
        name, category = feature.columns
        inside = samples.rows_with(category, feature.value)
        x, y = (values[chosen] for values, chosen in zip(columns[0], inside, strict=True))
        return conditional_change((name, category), feature.value, x, y, pvalue)
    if kind == "dependence" and len(columns) == 2:
        x, y = (np.stack(pair, axis=1) for pair in zip(*columns, strict=True))
        return dependence_change((feature.columns[0], feature.columns[1]), x, y, pvalue)
    if len(columns) == 1 and kind != "dependence":
        return _OF_COLUMN[kind](feature.columns[0], *columns[0], pvalue)
    return _whole_change(rows, feature, kind, pvalue)


def _shares(samples: Samples, feature: Feature, pvalue: float) -> Change:
    (name,), value = feature.columns, feature.value or ""
    before, after = (float(np.mean(inside)) for inside in samples.rows_with(name, value))
    return Change("shares", (name,), "share", before, after, pvalue, value=value)


def _whole_change(rows: PooledSample, feature: Feature, kind: str, pvalue: float) -> Change:
    """Describe a function of all columns, each column in units of its spread."""
    n_x = rows.permutations.n_x
    functions = dict(zip(*rows.whole_rows, strict=True))
    if kind == "dependence":
        column = rows.points[:, rows.names.index(feature.columns[0])]
        both = np.stack([column, functions[CENTER]], axis=1)
        change = dependence_change((feature.columns[0], CENTER), both[:n_x], both[n_x:], pvalue)
        quantity = f"{change.quantity} of {feature.label}"
        return Change(kind, (), quantity, change.before, change.after, pvalue)
    # The outlyingness, of the test with a tolerance, is described by the distance.
    label = feature.label if feature.label in functions else CENTER
    values = functions[label]
    before, after = (float(np.median(part)) for part in (values[:n_x], values[n_x:]))
    return Change(kind, (), f"median {label} (in spreads)", before, after, pvalue)


# -- kinds of changes of single columns ------------------------------------------------------------


def column_kinds(
    rows: PooledSample, powers: np.ndarray, share: float = 0.0
) -> list[tuple[str, ...]]:
    """Determine the kinds of change of each column.

    A change of location is a difference that remains if only the spreads are aligned, and vanishes
    if the medians are aligned too. A change of spread is the reverse. A change of shape remains if
    both are aligned.

    Parameters
    ----------
    rows : PooledSample
    powers : ndarray of shape (6, d, B + 1)
        Squared contrasts of the cosines of the ranks of the columns, for all labelings.
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
    # Contrasts grow with the root of the number of rows.
    enlarged = n / sum(map(len, parts))

    def kinds(j: int) -> tuple[str, ...]:
        # A quarter of the values: differences do not overflow.
        x, y = (0.25 * part[:, j] for part in parts)
        limit = float(np.quantile(powers[:, j].sum(axis=0), _QUANTILE))
        # Contaminated rows change the mean of a cosine by about their share.
        limit = (math.sqrt(limit) + share * size) ** 2
        location, spread, shape = _strengths(powers[:, j, 0])
        if len(np.unique(np.concatenate([x, y]))) <= _FEW_VALUES:
            return ("location",) if location >= spread else ("spread",)
        centers = np.median(x), np.median(y)
        x, y, shift = x - centers[0], y - centers[1], centers[1] - centers[0]
        units = mad_spread(x[:, None])[0], mad_spread(y[:, None])[0]
        # The shift is in units of the geometric mean of both spreads.
        common = math.sqrt(units[0]) * math.sqrt(units[1])
        a, b, shift = _divided(x, units[0]), _divided(y, units[1]), _divided(shift, common)
        neither, same_spread, same_location = (
            enlarged * _difference(*pair) for pair in ((a, b), (a, b + shift), (x, y))
        )
        total = powers[:, j, 0].sum()
        if neither > limit and neither > 0.5 * total:
            return ("shape",)
        named = [
            (strength, kind)
            for strength, kind, left in (
                (location, "location", same_spread), (spread, "spread", same_location),
            )
            if left - neither > limit
        ]  # fmt: skip
        if named:
            return tuple(kind for _, kind in sorted(named, reverse=True))
        ordered = sorted([(location, "location"), (spread, "spread"), (shape, "shape")])
        kind = ordered[-1][1]
        if kind == "shape" and neither <= limit:
            kind = ordered[-2][1]
        return (kind,)

    return map_rows(kinds, len(rows.names), n, rows.n_threads)


def _strengths(powers: np.ndarray) -> tuple[float, float, float]:
    """Return the powers that indicate location, spread and shape; rounding counts as 0."""
    rounded = np.where(powers > 1e-9 * powers.sum(), powers, 0.0)
    return rounded[0], rounded[1], rounded[2:].mean()


def _divided(values: Any, unit: float) -> Any:
    """Return values / unit, at most a quarter of the maximum float, so that sums are finite."""
    with np.errstate(over="ignore"):
        return np.clip(values / unit, -_LIMIT, _LIMIT)


def _difference(x: np.ndarray, y: np.ndarray) -> float:
    """Return the sum of squared contrasts of the cosines of the pooled ranks of two columns."""
    cosines = rank_cosines(np.concatenate([x, y])[None], COSINES)[:, 0]
    means = [part.mean(axis=1, dtype=np.float64) for part in np.split(cosines, [len(x)], axis=1)]
    return float(np.square(means[0] - means[1]).sum() * len(x) * len(y) / (len(x) + len(y)))
