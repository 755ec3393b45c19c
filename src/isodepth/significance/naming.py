"""Changes in the units of their columns, from the features that differ significantly."""

from __future__ import annotations

import numpy as np

from isodepth.data.changes import (
    Change,
    conditional_change,
    dependence_change,
    location_change,
    shape_change,
    spread_change,
)
from isodepth.significance.combination import Feature, Findings
from isodepth.significance.pooled_sample import CENTER, TOTAL, PooledSample
from isodepth.significance.settings import Samples

_OF_COLUMN = {"location": location_change, "spread": spread_change, "shape": shape_change}


def significant_changes(
    rows: PooledSample, found: Findings, samples: Samples, alpha: float
) -> list[Change]:
    """Return the significant changes, the strongest evidence first.

    Functions of all columns are included only if no column or pair is significant by itself.
    """
    tests = found.columns.significant(alpha) + found.pairs.significant(alpha)
    tests = tests or found.whole.significant(alpha)
    tests = sorted(tests, key=lambda test: -test[0])
    return [
        _change(rows, samples, feature, kind, pvalue)
        for _, pvalue, feature in tests
        for kind in feature.kinds
    ]


def _change(
    rows: PooledSample, samples: Samples, feature: Feature, kind: str, pvalue: float
) -> Change:
    if kind == "shares":
        return _shares(samples, feature, pvalue)
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
    n_x, names = rows.permutations.n_x, [CENTER, TOTAL]
    functions = dict(zip(*rows.whole_rows(), strict=False))
    if kind == "dependence":
        column = rows.points[:, rows.names.index(feature.columns[0])]
        both = np.stack([column, functions[CENTER]], axis=1)
        change = dependence_change((feature.columns[0], CENTER), both[:n_x], both[n_x:], pvalue)
        return Change(
            kind, (), f"{change.quantity} of {feature.label}", change.before, change.after, pvalue
        )
    values = functions[feature.label if feature.label in names else CENTER]
    before, after = (float(np.median(part)) for part in (values[:n_x], values[n_x:]))
    quantity = f"median {feature.label if feature.label in functions else CENTER} (in spreads)"
    return Change(kind, (), quantity, before, after, pvalue)
