"""Significant changes of a test, described in the units of their columns.

X and Y are the two samples of the test, pooled in a `PooledSample`. Changes of single columns are
described by `isodepth.functions.describer`, as in a monitor.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from itertools import compress

import numpy as np

from isodepth.base.export import name_text
from isodepth.functions.changes import Change, for_kinds
from isodepth.functions.describer import (
    conditional_change,
    dependence_change,
    describe_column,
    exchanged_columns,
    largest_share_change,
)
from isodepth.functions.explanations import ColumnPair, ks_distance
from isodepth.functions.families import Member
from isodepth.significance.permutations import Moments, neg_log_p, precision
from isodepth.significance.samples import CENTER, FAR, TOTAL, PooledSample, Samples
from isodepth.significance.statistics import Feature, FeatureTest, Findings
from isodepth.significance.tolerance import Bounds
from isodepth.table.arrays import is_duplicated, row_hashes
from isodepth.table.kinds import date_columns, rank_columns, subtracted_integers
from isodepth.table.values import visible

# A change of several columns together is added if its lower bound for the share of changed rows is
# at least this multiple of the bounds of all other changes, and larger by at least this share.
_JOINT_RATIO, _JOINT_SHARE = 2.0, 0.1
# A change of dependence is reported if its adjusted p-value is at most _ALIGNED * alpha after
# `_remaining_pairs` removes the changes of single columns. At most _ALIGNED_ROWS rows are used.
_ALIGNED, _ALIGNED_ROWS = 0.4, 50_000
# Maximum number of columns that the description of a joint change names, and minimum absolute entry
# of a named column in the direction of the change, relative to the largest entry.
_JOINT, _LARGE_ENTRY = 3, 0.3
# Maximum number of changed columns among which exchanges of values are searched.
_MOST_EXCHANGED = 30
# Minimum fraction of the copies with a common value that is named, and maximum probability that
# random rows have the value as often.
_IN_COMMON, _CHANCE = 0.9, 0.01
# Mean number of rows per repeated value of a single column above which they are not copied rows.
_MANY_TIES = 5


def significant_changes(
    pool: PooledSample,
    findings: Findings,
    alpha: float,
    distinct_statistics: Callable[[Samples], Findings | None],
) -> list[Change]:
    """Return the significant changes at level `alpha`, in decreasing order of -log p.

    They are changes of single columns, pairs of columns, and repeated rows. If none of them is
    significant, the significant functions of all columns are described. If there is none either, or
    if the strongest statistic belongs to one or two columns, the strongest statistic is described
    instead.

    `distinct_statistics` computes the statistics of the distinct rows of both samples. It is called
    if copies of rows may explain other changes.
    """
    samples = pool.samples
    if findings.repeated_shares(alpha):
        findings.ties_explain = ties_explain(samples, findings.changed_columns(alpha))
    if samples.blocks is None and findings.copies_explain(alpha):
        findings.distinct = distinct_statistics(samples)
    groups = findings.columns, findings.pairs, findings.whole
    columns, pairs, whole = (findings.significant(group, alpha) for group in groups)
    changes = _column_changes(pool, columns)
    named = [change for _, described in changes for change in described]
    count = len(findings.pairs.features)
    for strength, pvalue, feature in _remaining_pairs(pool, pairs, count, alpha, named):
        changes.append((strength, [_pair_change(pool, feature, pvalue)]))
    for strength, pvalue, feature in whole:
        if feature.kind == "repeated" and not findings.ties_explain:
            changes.append((strength, [repeated_change(pool.samples, feature, pvalue)]))
    if not changes:
        strongest = next(iter(findings.ranked_tests().values()))
        tests = [strongest] if strongest.feature.columns or not whole else whole
        of_column = [test._replace(feature=_column_feature(pool, test.feature)) for test in tests]
        single = [findings.group_of(test.feature) is findings.columns for test in of_column]
        changes = _column_changes(pool, list(compress(of_column, single)))
        for test, alone in zip(tests, single, strict=True):
            if not alone:
                changes.append((test.strength, [_strongest_change(pool, test, alpha)]))
    ordered = sorted(changes, key=lambda each: -each[0])
    unique = dict.fromkeys(change for _, described in ordered for change in described)
    return [_with_denominator(pool, change) for change in unique]


def _with_denominator(pool: PooledSample, change: Change) -> Change:
    """Return a change that says if its shares are relative to the known values of a column."""
    read = pool.samples.read
    if change.quantity != "share" or change.kind == "missing" or change.description is not None:
        return change
    if len(change.columns) != 1 or change.columns[0] not in read.columns:
        return change
    n_known = tuple(map(len, read.numbers(change.columns[0])))
    return replace(change, of_known_values=n_known != tuple(read.n_rows))


def _strongest_change(pool: PooledSample, test: FeatureTest, alpha: float) -> Change:
    """Describe the strongest statistic, a function of several columns or of all columns.

    If a column changed within a category only relative to the other rows, the change is described
    as a change of the joint distribution of both columns.
    """
    change = _whole_change(pool, test.feature, test.pvalue)
    if test.feature.value is None or _remaining_pairs(pool, [test], 1, alpha):
        return change
    text = f"the joint distribution of {_listed(change.columns)} changes"
    return replace(change, kind="joint", value=None, description=text)


def ordered_changes(
    pool: PooledSample,
    changes: Sequence[Change],
    bounds: Bounds | None,
    pvalue: float,
    row_numbers: Collection[str],
) -> list[Change]:
    """Return the changes of a test with lower bounds for the share of changed rows, largest first.

    If several columns together show that far more rows changed than any of the changes, a joint
    change of them is added as the second one. It is not the first, because its description has no
    numbers. Without `bounds`, changes remain in the order of their p-values. `pvalue` is that of
    the test, and `row_numbers` are the columns that look like row numbers. Their changes are last.
    """
    kinds = pool.samples.read.kinds
    ordered = [_with_share(each, bounds) for each in for_kinds(changes, kinds)]
    joint = None if bounds is None or not ordered else _joint_change(pool, bounds, ordered)
    if joint is not None:
        ordered = [
            each for each in ordered
            if each.kind != "joint" or (len(each.columns) < 2 and each.text != joint.text)
        ]  # fmt: skip
    # Sorting is stable: changes of equal size remain in the order of their p-values.
    ordered.sort(key=lambda each: (not {*each.columns}.isdisjoint(row_numbers), -_size(each)))
    added = [] if joint is None else [replace(joint, pvalue=pvalue)]
    return [*ordered[:1], *added, *ordered[1:]]


def _with_share(change: Change, bounds: Bounds | None) -> Change:
    """Return the change with the lower bound for the share of rows that changed in its columns.

    If two columns exchanged their values (kind "exchange"), it is the larger of the bounds of each
    column alone. A change without columns has no bound.
    """
    if bounds is None or not change.columns:
        return change
    of_columns = {frozenset(columns): bound for columns, bound in bounds.columns.items()}
    sets = [change.columns] if change.kind != "exchange" else [(c,) for c in change.columns]
    share = max(of_columns.get(frozenset(columns), 0.0) for columns in sets)
    return replace(change, changed_share=share)


def _size(change: Change) -> float:
    """Return the size by which changes are ordered: the bound for the share of changed rows, or 0.

    Repeated rows have no bound. Their size is the absolute difference of their shares.
    """
    if change.kind == "repeated":
        return abs(change.after - change.before)
    return change.changed_share or 0.0


def _joint_change(pool: PooledSample, bounds: Bounds, changes: Sequence[Change]) -> Change | None:
    """Describe the change of several columns together that has the largest bound, or return None.

    Its bound must be at least twice the largest bound of `changes`, and larger by at least 0.1. It
    must not depend mainly on one column. The p-value of the change is 1, a placeholder.
    """
    largest = max(change.changed_share or 0.0 for change in changes)
    needed = max(_JOINT_RATIO * largest, largest + _JOINT_SHARE)
    feature = bounds.joint
    if feature is None or bounds.joint_share < needed:
        return None
    if _column_feature(pool, feature) is not feature:
        return None
    return replace(_whole_change(pool, feature, 1.0), changed_share=bounds.joint_share)


def _column_feature(pool: PooledSample, feature: Feature) -> Feature:
    """Return the feature of a single column if a function of all columns depends mainly on it.

    Examples are a direction with one large entry, and the distance from the center if there is only
    one column. All other features are returned unchanged.
    """
    if feature.columns or feature.member is not None:
        return feature
    names = pool.names
    if feature.direction:
        names = tuple(_large_entries(feature.direction, pool.names))
    return Feature("distribution", names[0], (names[0],)) if len(names) == 1 else feature


def _column_changes(
    pool: PooledSample, tests: list[FeatureTest]
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
        if not missing and name in pool.samples.names
    }  # fmt: skip
    of_numbers = _numeric_changes(pool, numeric)
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
    pool: PooledSample, tested: dict[str, list[FeatureTest]]
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
        x, y = pool.samples.read.numbers(name)
        if len(x) and len(y):
            pairs[name] = ColumnPair(name, x, y, shares)
    pvalues = {name: min(test.pvalue for test in tests) for name, tests in tested.items()}
    moved = [
        name for name, tests in tested.items()
        if name in pairs and any(test.feature.kind == "distribution" for test in tests)
    ]  # fmt: skip
    exchanged = exchanged_columns(
        [pairs[name] for name in moved[:_MOST_EXCHANGED]], pvalues, lambda: _all_pairs(pool)
    )
    changes = {}
    for name, tests in tested.items():
        pair, pvalue = pairs.get(name), pvalues[name]
        if pair is None:
            changes[name] = [_missing_change(pool, name, pvalue)]
        elif name in exchanged:
            changes[name] = [exchanged[name]]
        else:
            only_extremes = all(test.feature.kind == "extremes" for test in tests)
            changes[name] = describe_column(pair, pvalue, only_extremes=only_extremes)
    return changes


def _all_pairs(pool: PooledSample) -> list[ColumnPair]:
    """Return all numeric columns that have values in both samples."""
    values = {name: pool.samples.read.numbers(name) for name in pool.names}
    return [ColumnPair(name, x, y) for name, (x, y) in values.items() if len(x) and len(y)]


def _missing_change(pool: PooledSample, name: str, pvalue: float) -> Change:
    """Describe the change of the share of missing values of a numeric column."""
    j = pool.samples.names.index(name)
    before, after = (float(np.isnan(part[:, j]).mean()) for part in pool.samples.read.points)
    return Member("missing", (j,)).change((name,), None, before, after, pvalue)


def _largest_share_change(tests: list[FeatureTest]) -> Change:
    """Describe the value of a category, or the missing values, whose share changed most.

    `tests` are the significant tests of one column. Values that are significant alone are preferred
    to the test of all values of the column together.
    """
    # Features without a name are values that are significant alone.
    features = [test.feature for test in tests]
    single = [feature for feature in features if not feature.name]
    pvalue = min(test.pvalue for test in tests)
    return largest_share_change([each.share_change(pvalue) for each in single or features])


def _remaining_pairs(
    pool: PooledSample,
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
    subset = pool.balanced_subset(_ALIGNED_ROWS)
    permutations = subset.permutations
    columns = _without_named_values(subset.columns, pool.names, named)
    parts = np.split(columns, [permutations.n_x], axis=1)
    order, signs = _undoing(pool.names, named)
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
        j, value = pool.names.index(first), test.feature.value
        if not varies[j] or (value is None and not varies[pool.names.index(second)]):
            continue
        if value is None:
            change = moments.correlation_change(np.array([[j, pool.names.index(second)]]))
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


def _strength_within(pool: PooledSample, feature: Feature) -> float:
    """Return -log p of the change of a column among the rows of one category alone.

    `feature` is that of the column within the category.
    """
    first, second = feature.columns
    assert feature.value is not None
    category = next(each for each in pool.categories if each.name == second)
    inside = category.rows_with(feature.value)
    values = pool.columns[[pool.names.index(first)]]
    ranks = np.zeros(values.shape)
    ranks[:, inside] = pool.centered_ranks(values[:, inside])
    known = (inside & ~np.isnan(values)).astype(np.float64)
    change = pool.permutations.mean_changes(ranks, known, relative=False)
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


def _pair_change(pool: PooledSample, feature: Feature, pvalue: float) -> Change:
    """Describe a change of the dependence of two columns."""
    n_x, (first, second) = pool.n_x, feature.columns
    values = pool.columns[pool.names.index(first)]
    if feature.value is not None:
        category = next(each for each in pool.categories if each.name == second)
        inside = category.rows_with(feature.value) & ~np.isnan(values)
        x, y = values[:n_x][inside[:n_x]], values[n_x:][inside[n_x:]]
        return conditional_change((first, second), feature.value, x, y, pvalue)
    both = np.stack([values, pool.columns[pool.names.index(second)]], axis=1)
    parts = [part[~np.isnan(part).any(axis=1)] for part in (both[:n_x], both[n_x:])]
    return dependence_change((first, second), parts[0], parts[1], pvalue)


def _whole_change(pool: PooledSample, feature: Feature, pvalue: float) -> Change:
    """Describe a change of a function of several columns, or of all columns, in words.

    Medians in the description are in standardized units.
    """
    if feature.member is not None and not feature.columns and feature.kind == "extremes":
        # Name the column in which most of the far rows are farthest.
        far = pool.rows.distance >= feature.member.value
        column = pool.names[int(np.bincount(np.abs(pool.points[far]).argmax(axis=1)).argmax())]
        text = f"rows far from the center of the data, mostly in {name_text(column)}:"
        return replace(feature.share_change(pvalue), columns=(column,), description=text)
    if feature.kind == "repeated":
        return repeated_change(pool.samples, feature, pvalue)
    if feature.member is not None:
        return feature.share_change(pvalue)
    if len(feature.columns) > 1:
        return _pair_change(pool, feature, pvalue)
    # `whole_rows` does not contain the outlyingness, which tests with a tolerance use.
    values, n_x = pool.whole_rows.get(feature.name, pool.whole_rows[CENTER]), pool.n_x
    if feature.columns:
        both = np.stack([pool.points[:, pool.names.index(feature.columns[0])], values], axis=1)
        change = dependence_change((feature.columns[0], CENTER), both[:n_x], both[n_x:], pvalue)
        text = f"the joint distribution of {feature.columns[0]} and the other columns changes"
        return replace(change, kind="joint", columns=feature.columns, description=text)
    direction = np.array(feature.direction)
    if len(direction):
        values = pool.along(direction[None])[0]
    before, after = (float(np.median(part)) for part in np.split(values, [n_x]))
    names: tuple[str, ...] = ()
    if len(direction):
        if after < before:  # the opposite direction, in which values increase
            before, after, direction = -before, -after, -direction
        names, text = _joint_text(feature.kind, direction, pool)
    elif feature.name == TOTAL:
        names, rise = _most_changed(_mean_differences(pool, lambda points: points), pool.names)
        text = f"joint shift: {_of('mean', names)} {'higher' if rise else 'lower'}"
    elif feature.kind == "regions":
        distances = [ks_distance(*part) for part in _known_parts(pool.columns, n_x)]
        names, _ = _most_changed(np.array(distances), pool.names)
        text = f"the joint distribution changes, with the largest differences in {_listed(names)}"
    else:
        names, rise = _most_changed(_mean_differences(pool, np.abs), pool.names)
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
    pool: PooledSample, function: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Return the differences (d,) of the means of a function of standardized values, Y minus X.

    Means are those of the known values, clipped like those of the distance from the center.
    """
    points = np.where(np.isnan(pool.columns.T), np.nan, pool.points.clip(-FAR, FAR))
    parts = _known_parts(function(points).T, pool.n_x)
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
    kind: str, direction: np.ndarray, pool: PooledSample
) -> tuple[tuple[str, ...], str]:
    """Return at most three columns with the largest entries of a direction, and a description.

    `kind` is the kind of the feature: "location", "spread" or another kind.
    """
    entries = _large_entries(direction.tolist(), pool.names)
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


# -- repeated rows ---------------------------------------------------------------------------------


def repeated_change(samples: Samples, feature: Feature, pvalue: float) -> Change:
    """Describe a change of the share of rows that occur more than once in their own sample.

    The shares are those of ``duplicated(keep=False)`` of pandas for the compared columns. A value
    that all or nearly all copies have in common is named.
    """
    table, n_x = samples.table, samples.n_x
    is_copy = np.concatenate([is_duplicated(part) for part in np.split(table, [n_x])])
    before, after = float(is_copy[:n_x].mean()), float(is_copy[n_x:].mean())
    change = replace(feature.share_change(pvalue), before=before, after=after)
    where = "" if samples.read.has_all_columns else ", in the compared columns only"
    in_sample = np.arange(len(table)) < n_x if before > after else np.arange(len(table)) >= n_x
    common = _value_in_common(samples, is_copy, np.flatnonzero(in_sample))
    if where or common:
        change = replace(change, description=f"repeated rows{where}{common}:")
    return change


def among_random_rows(change: Change) -> Change:
    """Return the change with a description that names random rows if it is about repeated rows.

    Random rows of a sample are repeated less often than all of its rows.
    """
    if change.kind != "repeated":
        return change
    words = change._label.replace("repeated rows", "repeated rows among the random rows", 1)
    return replace(change, description=words)


def _value_in_common(samples: Samples, is_copy: np.ndarray, rows: np.ndarray) -> str:
    """Return the value of one column that copies of rows have in common, as a phrase.

    `is_copy` (n_x + n_y,) indicates the rows that are repeated in their sample, and `rows` are the
    rows of the sample with more of them. Among the distinct rows of this sample, the value must be
    significantly more frequent in those that are repeated. Return "" if there is no such value.
    """
    from scipy.special import bdtrc

    table, kinds, d = samples.table, samples.read.kinds, len(samples.names)
    first = rows[np.unique(row_hashes(table[rows]), return_index=True)[1]]
    skipped = {*date_columns(kinds), *rank_columns(kinds), *subtracted_integers(kinds)}
    best = 1.0, 0.0, ""
    for j, name in enumerate(samples.all_names):
        values, counts = np.unique(table[rows[is_copy[rows]], j], return_counts=True)
        fraction, value = counts.max() / counts.sum(), values[counts.argmax()]
        if name in skipped or fraction < _IN_COMMON or np.isnan(value):
            continue
        has_value = table[first, j] == value
        usual, copied = has_value.mean(), has_value[is_copy[first]]
        chance = float(bdtrc(copied.sum() - 1, len(copied), usual)) if usual < 1 else 1.0
        if chance * table.shape[1] <= _CHANCE:
            shown = f"{value:.10g}"
            if j >= d:
                shown = visible(samples.categories[j - d].all_values[int(value)])
            percent = 100 * fraction
            shown_percent = f"{percent:.0f}" if percent < 99 else f"{min(percent, 99.9):.1f}"
            share = "all" if fraction == 1 else f"{shown_percent}% of the"
            text = f" ({share} copies have {name_text(name)} = {shown})"
            best = min(best, (chance, usual - fraction, text))
    return best[2]


def ties_explain(samples: Samples, changed: Collection[str]) -> bool:
    """Return whether rows are repeated because columns changed, and not because rows were copied.

    Examples of such changes of the columns `changed` are rounding and a frequent value such as
    -999. In the sample with more repeated rows, at least half as many rows must be repeated after
    each of these columns is shuffled, which separates copies. In the other sample, at least half as
    many rows must be repeated if these columns are left out: their other columns are then equal
    without copies. In a table of one column, a repeated value must have more than five rows on
    average.
    """
    table, names = samples.table, samples.all_names
    parts = np.split(table, [samples.n_x])
    shares = [is_duplicated(part).mean() for part in parts]
    side = int(np.argmax(shares))
    others = [j for j, name in enumerate(names) if name not in changed]
    if not changed or is_duplicated(parts[1 - side][:, others]).mean() < 0.5 * shares[side]:
        return False
    if len(names) == 1:
        copies = parts[side][is_duplicated(parts[side])]
        return len(copies) > _MANY_TIES * len(np.unique(row_hashes(copies)))
    rng = np.random.default_rng(0)
    shuffled = parts[side].copy()
    for j, name in enumerate(names):
        if name in changed:
            shuffled[:, j] = rng.permutation(shuffled[:, j])
    return bool(is_duplicated(shuffled).mean() >= 0.5 * shares[side])
