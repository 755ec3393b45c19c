"""Descriptions of significant changes, in the units of their columns.

A feature is a function of a row, such as the value of a column (`isodepth.significance.features`).
X and Y are the two samples of the test, pooled in a `PooledSample`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import compress

import numpy as np

from isodepth.base.export import name_text
from isodepth.functions.changes import Change
from isodepth.functions.describer import (
    became_constant,
    conditional_change,
    dependence_change,
    describe_column,
    exchanged_columns,
)
from isodepth.functions.explanations import (
    ColumnPair,
    ks_distance,
)
from isodepth.functions.families import Member
from isodepth.significance.features import Feature, standardized_difference
from isodepth.significance.findings import FeatureTest, Findings
from isodepth.significance.permutations import Moments, neg_log_p, precision
from isodepth.significance.repeated import repeated_change
from isodepth.significance.samples import CENTER, FAR, TOTAL, PooledSample

# A change of dependence is reported if its adjusted p-value is at most _ALIGNED * alpha after
# `_remaining_pairs` removes the changes of single columns. At most _ALIGNED_ROWS rows are used.
_ALIGNED, _ALIGNED_ROWS = 0.4, 50_000
# Maximum number of columns that the description of a joint change names, and minimum absolute entry
# of a named column in the direction of the change, relative to the largest entry.
_JOINT, _LARGE_ENTRY = 3, 0.3
# Maximum number of changed columns among which exchanges of values are searched.
_MOST_EXCHANGED = 30


def significant_changes(rows: PooledSample, findings: Findings, alpha: float) -> list[Change]:
    """Return the significant changes at level `alpha`, in decreasing order of -log p.

    They are changes of single columns, pairs of columns, and repeated rows. If none of them is
    significant, the significant functions of all columns are described. If there is none either, or
    if the strongest statistic belongs to one or two columns, the strongest statistic is described
    instead.
    """
    families = findings.columns, findings.pairs, findings.whole
    columns, pairs, whole = (findings.significant(family, alpha) for family in families)
    changes = _column_changes(rows, columns)
    named = [change for _, group in changes for change in group]
    count = len(findings.pairs.features)
    for strength, pvalue, feature in _remaining_pairs(rows, pairs, count, alpha, named):
        changes.append((strength, [_pair_change(rows, feature, pvalue)]))
    for strength, pvalue, feature in whole:
        if feature.kind == "repeated" and not findings.ties_explain:
            changes.append((strength, [repeated_change(rows.samples, feature, pvalue)]))
    if not changes:
        strongest = next(iter(findings.ranked_tests().values()))
        tests = [strongest] if strongest.feature.columns or not whole else whole
        of_column = [test._replace(feature=_column_feature(rows, test.feature)) for test in tests]
        single = [findings.family_of(test.feature) is findings.columns for test in of_column]
        changes = _column_changes(rows, list(compress(of_column, single)))
        for test, alone in zip(tests, single, strict=True):
            if not alone:
                changes.append((test.strength, [_strongest_change(rows, test, alpha)]))
    ordered = sorted(changes, key=lambda each: -each[0])
    unique = dict.fromkeys(change for _, group in ordered for change in group)
    return [_with_denominator(rows, change) for change in unique]


def _with_denominator(rows: PooledSample, change: Change) -> Change:
    """Return a change that says if its shares are relative to the known values of a column."""
    read = rows.samples.read
    if change.quantity != "share" or change.kind == "missing" or change.description is not None:
        return change
    if len(change.columns) != 1 or change.columns[0] not in read.columns:
        return change
    n_known = tuple(map(len, read.numbers(change.columns[0])))
    return replace(change, of_known_values=n_known != tuple(read.n_rows))


def _strongest_change(rows: PooledSample, test: FeatureTest, alpha: float) -> Change:
    """Describe the strongest statistic, a function of several columns or of all columns.

    If a column changed within a category only relative to the other rows, the change is described
    as a change of the joint distribution of both columns.
    """
    change = _whole_change(rows, test.feature, test.pvalue)
    if test.feature.value is None or _remaining_pairs(rows, [test], 1, alpha):
        return change
    text = f"the joint distribution of {_listed(change.columns)} changes"
    return replace(change, kind="joint", value=None, description=text)


def joint_change(rows: PooledSample, feature: Feature) -> Change | None:
    """Describe the change of a function of all columns; None if it depends mainly on one column.

    The p-value of the change is 1, a placeholder.
    """
    if _column_feature(rows, feature) is not feature:
        return None
    return _whole_change(rows, feature, 1.0)


def _column_feature(rows: PooledSample, feature: Feature) -> Feature:
    """Return the feature of a single column if a function of all columns depends mainly on it.

    Examples are a direction with one large entry, and the distance from the center if there is only
    one column. All other features are returned unchanged.
    """
    if feature.columns or feature.member is not None:
        return feature
    names = rows.names
    if feature.direction:
        names = tuple(_large_entries(feature.direction, rows.names))
    return Feature("distribution", names[0], (names[0],)) if len(names) == 1 else feature


def _column_changes(
    rows: PooledSample, tests: list[FeatureTest]
) -> list[tuple[float, list[Change]]]:
    """Describe the significant changes of single columns; return pairs of -log p and changes.

    A change of the share of missing values is described separately from a change of the values.
    """
    tested: dict[tuple[str, bool], list[FeatureTest]] = {}
    for test in tests:
        feature = test.feature
        tested.setdefault((feature.columns[0], feature.kind == "missing"), []).append(test)
    numeric = {
        name: own for (name, missing), own in tested.items()
        if not missing and name in rows.samples.names
    }  # fmt: skip
    of_numbers = _numeric_changes(rows, numeric)
    changes = []
    for (name, missing), own in tested.items():
        if not missing and name in numeric:
            group = of_numbers[name]
        else:
            group = [_largest_share_change(own)]
            if not missing and group[0].kind == "missing" and (name, True) in tested:
                continue
        changes.append((max(test.strength for test in own), group))
    return changes


def _numeric_changes(
    rows: PooledSample, tested: dict[str, list[FeatureTest]]
) -> dict[str, list[Change]]:
    """Describe the changes of numeric columns, by column name.

    `tested` maps the name of each column to its significant tests. If they are only tests of
    extreme or isolated values, the share of these values is described: another explanation, such as
    a shift, may fit better by chance. If a sample has no value, the share of missing values is
    described.
    """
    pairs: dict[str, ColumnPair] = {}
    for name, tests in tested.items():
        shares = [(f.member, f.share_change(p)) for _, p, f in tests if f.member is not None]
        x, y = rows.samples.read.numbers(name)
        if len(x) and len(y):
            pairs[name] = ColumnPair(name, x, y, shares)
    pvalues = {name: min(test.pvalue for test in tests) for name, tests in tested.items()}
    moved = [
        name for name, tests in tested.items()
        if name in pairs and any(test.feature.kind == "distribution" for test in tests)
    ]  # fmt: skip
    exchanged = exchanged_columns(
        [pairs[name] for name in moved[:_MOST_EXCHANGED]], pvalues, lambda: _all_pairs(rows)
    )
    changes = {}
    for name, tests in tested.items():
        pair, pvalue = pairs.get(name), pvalues[name]
        if pair is None:
            changes[name] = [_missing_change(rows, name, pvalue)]
        elif name in exchanged:
            changes[name] = [exchanged[name]]
        elif all(test.feature.kind == "extremes" for test in tests):
            changes[name] = [became_constant(pair, pvalue) or _largest_share_change(tests)]
        else:
            changes[name] = describe_column(pair, pvalue)
    return changes


def _all_pairs(rows: PooledSample) -> list[ColumnPair]:
    """Return all numeric columns that have values in both samples."""
    values = {name: rows.samples.read.numbers(name) for name in rows.names}
    return [ColumnPair(name, x, y) for name, (x, y) in values.items() if len(x) and len(y)]


def _missing_change(rows: PooledSample, name: str, pvalue: float) -> Change:
    """Describe the change of the share of missing values of a numeric column."""
    j = rows.samples.names.index(name)
    before, after = (float(np.isnan(part[:, j]).mean()) for part in rows.samples.read.points)
    return Member("missing", (j,)).change((name,), None, before, after, pvalue)


def _largest_share_change(tests: list[FeatureTest]) -> Change:
    """Describe the value of a category, or the missing values, whose share changed most.

    `tests` are the significant tests of one column. Values that are significant alone are preferred
    to the test of all values of the column together.
    """
    # Features without a name are values that are significant alone.
    largest = max(
        (test.feature for test in tests),
        key=lambda f: (not f.name, standardized_difference(*f.shares)),
    )
    return largest.share_change(min(test.pvalue for test in tests))


def _remaining_pairs(
    rows: PooledSample,
    tests: list[FeatureTest],
    count: int,
    alpha: float,
    named: Sequence[Change] = (),
) -> list[FeatureTest]:
    """Return the tests of pairs that remain significant if ranks are computed within each sample.

    A change of a single column also changes its pooled rank correlations and its pooled mean ranks
    within categories. Ranks within each sample are not affected by changes of single columns,
    except changes of sign. Changes of sign and exchanges of columns that are in `named` are undone
    in Y before the ranks are computed, so that pairs that they explain are not listed too. For the
    same reason, values whose share changed according to `named`, such as -999, are left out.

    The new p-values are multiplied by `count`, the number of all compared pairs, because `tests`
    has only those that are significant at the level `alpha`. Pairs with a column that is constant
    in a sample are left out.

    A change of other rows, or of the share of a category, also changes the mean rank within the
    category relative to all rows. The values within the category must therefore also differ if the
    other rows are left out.
    """
    if not tests:
        return []
    subset = rows.balanced_subset(_ALIGNED_ROWS)
    permutations = subset.permutations
    columns = _without_named_values(subset.columns, rows.names, named)
    parts = np.split(columns, [permutations.n_x], axis=1)
    order, signs = _undoing(rows.names, named)
    parts[1] = parts[1][order] * signs[:, None]
    known = None
    if np.isnan(columns).any():
        known = (~np.isnan(np.concatenate(parts, axis=1))).astype(precision(columns.shape[1]))
    ranks = np.concatenate([subset.centered_ranks(part) for part in parts], axis=1)
    categories = {category.name: category for category in subset.categories}
    moments = Moments(permutations, ranks, known)
    varies = np.logical_and(*(_varies(part) for part in parts))
    remaining = []
    for test in tests:
        first, second = test.feature.columns
        j, value = rows.names.index(first), test.feature.value
        if not varies[j] or (value is None and not varies[rows.names.index(second)]):
            continue
        if value is None:
            change = moments.correlation_change(np.array([[j, rows.names.index(second)]]))
        else:
            inside = categories[second].rows_with(value)[None].astype(np.float64)
            present = None if known is None else known[[j]]
            change = permutations.mean_changes(ranks[[j]], inside, present)
        if neg_log_p(np.square(change))[0, 0] >= math.log(count / (_ALIGNED * alpha)):
            remaining.append(test)
    n_within = sum(test.feature.value is not None for test in remaining)
    aligned = replace(subset, columns=np.concatenate(parts, axis=1))
    return [
        test for test in remaining
        if test.feature.value is None
        or _strength_within(aligned, test.feature) >= math.log(n_within / (_ALIGNED * alpha))
    ]  # fmt: skip


def _strength_within(rows: PooledSample, feature: Feature) -> float:
    """Return -log p of the change of a column among the rows of one category alone.

    `feature` is that of the column within the category.
    """
    first, second = feature.columns
    assert feature.value is not None
    category = next(each for each in rows.categories if each.name == second)
    inside = category.rows_with(feature.value)
    values = rows.columns[[rows.names.index(first)]]
    ranks = np.zeros(values.shape)
    ranks[:, inside] = rows.centered_ranks(values[:, inside])
    known = (inside & ~np.isnan(values)).astype(np.float64)
    change = rows.permutations.mean_changes(ranks, known, relative=False)
    return float(neg_log_p(np.square(change))[0, 0])


def _undoing(names: Sequence[str], changes: Sequence[Change]) -> tuple[np.ndarray, np.ndarray]:
    """Return column indices (d,) and signs (d,) that undo exchanges and changes of sign in Y.

    The restored column j is column indices[j] of Y times signs[j]. Changes of other kinds are
    ignored.
    """
    order, signs = np.arange(len(names)), np.ones(len(names))
    for change in dict.fromkeys(changes):
        at = [names.index(name) for name in change.columns if name in names]
        if change.kind == "exchange":
            order[at] = order[at[::-1]]
        elif change.kind == "sign":
            signs[at] = -1.0
    return order, signs


def _without_named_values(
    columns: np.ndarray, names: Sequence[str], changes: Sequence[Change]
) -> np.ndarray:
    """Return a copy of columns (d, n) in which values whose share changed are missing.

    These are single values of a column (kind "value"), and extreme values of a column (kind
    "extremes") that one of the samples does not have.
    """
    columns = columns.copy()
    for change in changes:
        if change.kind not in ("value", "extremes") or change.columns[0] not in names:
            continue
        own = columns[names.index(change.columns[0])]
        if isinstance(change.value, float):
            own[own == change.value] = np.nan
        elif change.limit is not None and min(change.before, change.after) == 0:
            upper, lower = change.side in ("at least", "above"), change.side in ("at most", "below")
            own[(own >= change.limit) & upper | (own <= change.limit) & lower] = np.nan
    return columns


def _varies(columns: np.ndarray) -> np.ndarray:
    """Return a bool array (d,): whether each of d columns (d, n) has two or more values."""
    low = np.fmin.reduce(columns, axis=1, initial=np.inf)
    return low < np.fmax.reduce(columns, axis=1, initial=-np.inf)


def _pair_change(rows: PooledSample, feature: Feature, pvalue: float) -> Change:
    """Describe a change of the dependence of two columns."""
    n_x, (first, second) = rows.n_x, feature.columns
    values = rows.columns[rows.names.index(first)]
    if feature.value is not None:
        category = next(each for each in rows.categories if each.name == second)
        inside = category.rows_with(feature.value) & ~np.isnan(values)
        x, y = values[:n_x][inside[:n_x]], values[n_x:][inside[n_x:]]
        return conditional_change((first, second), feature.value, x, y, pvalue)
    both = np.stack([values, rows.columns[rows.names.index(second)]], axis=1)
    parts = [part[~np.isnan(part).any(axis=1)] for part in (both[:n_x], both[n_x:])]
    return dependence_change((first, second), parts[0], parts[1], pvalue)


def _whole_change(rows: PooledSample, feature: Feature, pvalue: float) -> Change:
    """Describe a change of a function of several columns, or of all columns, in words.

    Medians in the description are in standardized units.
    """
    if feature.member is not None and not feature.columns and feature.kind == "extremes":
        # Name the column in which most of the far rows are farthest.
        far = rows.rows.distance >= feature.member.value
        column = rows.names[int(np.bincount(np.abs(rows.points[far]).argmax(axis=1)).argmax())]
        text = f"rows far from the center of the data, mostly in {name_text(column)}:"
        return replace(feature.share_change(pvalue), columns=(column,), description=text)
    if feature.kind == "repeated":
        return repeated_change(rows.samples, feature, pvalue)
    if feature.member is not None:
        return feature.share_change(pvalue)
    if len(feature.columns) > 1:
        return _pair_change(rows, feature, pvalue)
    # `whole_rows` does not contain the outlyingness, which tests with a tolerance use.
    values, n_x = rows.whole_rows.get(feature.name, rows.whole_rows[CENTER]), rows.n_x
    if feature.columns:
        both = np.stack([rows.points[:, rows.names.index(feature.columns[0])], values], axis=1)
        change = dependence_change((feature.columns[0], CENTER), both[:n_x], both[n_x:], pvalue)
        text = f"the joint distribution of {feature.columns[0]} and the other columns changes"
        return replace(change, kind="joint", columns=feature.columns, description=text)
    direction = np.array(feature.direction)
    if len(direction):
        values = rows.along(direction[None])[0]
    before, after = (float(np.median(part)) for part in np.split(values, [n_x]))
    names: tuple[str, ...] = ()
    if len(direction):
        if after < before:  # the opposite direction, in which values increase
            before, after, direction = -before, -after, -direction
        names, text = _joint_text(feature.kind, direction, rows)
    elif feature.name == TOTAL:
        names, rise = _most_changed(_mean_differences(rows, lambda points: points), rows.names)
        text = f"joint shift: {_of('mean', names)} {'higher' if rise else 'lower'}"
    elif feature.kind == "regions":
        distances = [ks_distance(*part) for part in _known_parts(rows.columns, n_x)]
        names, _ = _most_changed(np.array(distances), rows.names)
        text = f"the joint distribution changes, with the largest differences in {_listed(names)}"
    else:
        names, rise = _most_changed(_mean_differences(rows, np.abs), rows.names)
        side = "farther from" if rise else "closer to"
        text = f"rows are {side} the center of the data, mostly in {_listed(names)}"
    return Change(
        kind="joint", columns=names, quantity="median", before=before, after=after, pvalue=pvalue,
        description=text,
    )  # fmt: skip


def _known_parts(columns: np.ndarray, n_x: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the known values in X and in Y of each of d columns (d, n).

    A sample without values has the single value 0 instead.
    """
    for values in columns:
        parts = [part[~np.isnan(part)] for part in np.split(values, [n_x])]
        x, y = (part if len(part) else np.zeros(1) for part in parts)
        yield x, y


def _mean_differences(
    rows: PooledSample, function: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Return the differences (d,) of the means of a function of standardized values, Y minus X.

    Means are those of the known values, clipped like those of the distance from the center.
    """
    points = np.where(np.isnan(rows.columns.T), np.nan, rows.points.clip(-FAR, FAR))
    parts = _known_parts(function(points).T, rows.n_x)
    return np.array([float(y.mean() - x.mean()) for x, y in parts])


def _most_changed(differences: np.ndarray, names: Sequence[str]) -> tuple[tuple[str, ...], bool]:
    """Return at most three columns whose differences (d,) have the sign of the sum of all.

    They are those with the largest differences. The second result is whether the sum is at least 0.
    """
    rise = bool(differences.sum() >= 0)
    same_sign = np.maximum(differences if rise else -differences, 0.0)
    return tuple(_large_entries(same_sign.tolist(), names)), rise


def _of(noun: str, names: Sequence[str]) -> str:
    """Return "mean of a", or "means of a and b"."""
    return f"{noun}{'s' * (len(names) > 1)} of {_listed(names)}"


def _joint_text(
    kind: str, direction: np.ndarray, rows: PooledSample
) -> tuple[tuple[str, ...], str]:
    """Return at most three columns with the largest entries of a direction, and a description.

    `kind` is the kind of the feature: "location", "spread" or another kind.
    """
    entries = _large_entries(direction.tolist(), rows.names)
    names = tuple(entries)
    if kind != "location":
        verb = "changes its spread" if kind == "spread" else "changes"
        return names, f"the joint distribution of {_listed(names)} {verb}"
    higher = [name for name, entry in entries.items() if entry > 0]
    lower = [name for name, entry in entries.items() if entry < 0]
    if higher and lower:
        return names, f"joint shift: {_listed(higher)} higher relative to {_listed(lower)}"
    return names, f"joint shift: {_listed(names)} {'higher' if higher else 'lower'}"


def _large_entries(direction: Sequence[float], names: Sequence[str]) -> dict[str, float]:
    """Return the largest entries of a direction (d,), at most three, by column name.

    An entry is left out if its absolute value is less than 0.3 times the largest.
    """
    entries = np.asarray(direction)
    largest = np.argsort(-np.abs(entries), kind="stable")[:_JOINT]
    least = _LARGE_ENTRY * abs(entries[largest[0]])
    named = [j for j in largest if abs(entries[j]) >= least > 0] or largest[:1]
    return {names[j]: float(entries[j]) for j in named}


def _listed(names: Sequence[str]) -> str:
    """Join names by commas and "and"."""
    return " and ".join([", ".join(names[:-1])] * (len(names) > 1) + [names[-1]])


# -- numbers that show a change --------------------------------------------------------------------
