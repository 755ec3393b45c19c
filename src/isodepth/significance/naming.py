"""Changes in the units of their columns, from the features that differ significantly."""

from __future__ import annotations

import math

import numpy as np

from isodepth.data.changes import (
    Change,
    conditional_change,
    dependence_change,
    location_change,
    missing_change,
    shape_change,
    spread_change,
)
from isodepth.significance.aggregated import Moments, mean_changes
from isodepth.significance.combination import (
    Feature,
    Findings,
    Test,
    neg_log_p,
    neg_log_p_of_largest,
)
from isodepth.significance.pooled_sample import CENTER, PooledSample, unit_ranks
from isodepth.significance.settings import Samples

# A dependence is named if it differs at this level after alignment, in a subset of the rows.
_ALIGNED_LEVEL, _ALIGNED_ROWS = 0.01, 50_000
_OF_COLUMN = {"location": location_change, "spread": spread_change, "shape": shape_change}


def significant_changes(
    rows: PooledSample, found: Findings, samples: Samples, alpha: float
) -> list[Change]:
    """Return the significant changes, the strongest evidence first.

    Functions of all columns are included only if no column or pair is significant by itself.
    """
    pairs = found.pairs.significant(alpha)
    tests = found.columns.significant(alpha) + _remaining_pairs(rows, pairs)
    tests = tests or found.whole.significant(alpha)
    tests = sorted(tests, key=lambda test: -test[0])
    return [
        _change(rows, samples, feature, kind, pvalue)
        for _, pvalue, feature in tests
        for kind in feature.kinds
    ]


def _remaining_pairs(rows: PooledSample, tests: list[Test]) -> list[Test]:
    """Return the pairs whose dependence differs even if all columns have equal distributions.

    A shift of a column changes the mean ranks within categories and the rank correlations of the
    pooled rows. Ranks within each sample align location, spread and shape of every column.
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
    evidence = []
    for _, _, feature in tests:
        first, second = feature.columns
        if feature.value is None:
            pair = np.array([[index[first], index[second]]])
            change = moments.correlation_change(ranks, pair)
        else:
            category = categories[second]
            inside = (category.codes == category.values.index(feature.value)).astype(np.float64)
            change = mean_changes(permutations, ranks[[index[first]]], inside[None])
        evidence.append(neg_log_p(np.square(change))[0])
    # A smooth tail of the maximum: few permutations suffice for this level.
    largest = np.max(evidence, axis=0)
    scores = np.array([each[0] for each in evidence])
    remaining = neg_log_p_of_largest(largest, scores) >= -math.log(_ALIGNED_LEVEL)
    return [test for test, remains in zip(tests, remaining, strict=True) if remains]


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
