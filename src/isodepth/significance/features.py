"""Features whose distributions are compared, their statistics, and significant changes.

A feature is a function of a row: a column, a pair of columns, a direction, a function of all
columns, or a function with values 0 and 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from isodepth.data.columns.kinds import MISSING
from isodepth.results.changes import Change
from isodepth.rowfunctions.describe import (
    ColumnPair,
    conditional_change,
    dependence_change,
    describe_column,
    exchanged_columns,
)
from isodepth.rowfunctions.families import FAMILIES, LEAST_ROWS, Extremes, Member, Repeated, filled
from isodepth.rowfunctions.families import Family as FunctionFamily
from isodepth.significance.permutations import (
    Moments,
    fewest_labelings,
    neg_log_p,
    permutation_pvalue,
    precision,
)
from isodepth.significance.samples import CENTER, TOTAL, PooledSample, direction_text

#: Number of cosines cos(pi j R), j = 1, 2, ..., that are computed for each column. R are the ranks
#: of its values, scaled to (0, 1).
COSINES = 6
# Number of labelings, the given one included, with which the lower bound for the share of changed
# rows is computed, if its confidence needs no more. More hardly change a 5% quantile.
_BOUND_LABELINGS = 128
#: Maximum number of values in memory when functions are evaluated at all rows: 400 MB in float32.
MAX_NUMBERS = 100_000_000
# A change of dependence is reported if its adjusted p-value is at most _ALIGNED_LEVEL after
# `_remaining_pairs` removes the changes of single columns. At most _ALIGNED_ROWS rows are used.
_ALIGNED_LEVEL, _ALIGNED_ROWS = 0.02, 50_000
# Part of the level with which columns are named. The rest is for pairs of columns.
_COLUMNS_LEVEL = 0.75
# Maximum share of rows that occur more than once in a sample whose rows are rarely equal.
_RARELY_EQUAL = 0.1
# Maximum number of columns that the description of a joint change names.
_JOINT = 3
# Maximum number of changed columns among which exchanges of values are searched.
_MOST_EXCHANGED = 30


def bound_labelings(confidence: float) -> int:
    """Return the maximum number of labelings with which `changed_share` is computed."""
    return max(_BOUND_LABELINGS, fewest_labelings(1 - confidence))


class Feature(NamedTuple):
    """Function of a row whose distribution may change."""

    kind: str  # kind of change, such as "distribution" of a column, "dependence", or "missing"
    name: str = ""  # name of a column, pair, direction or function; "" if there is a `member`
    columns: tuple[str, ...] = ()  # one column, or two for a dependence; empty for all columns
    # Category of the last column whose share changes, or within which the mean of the first changes
    value: str | None = None
    member: Member | None = None  # function with values 0 and 1, and its means in X and in Y
    shares: tuple[float, float] = (0.0, 0.0)
    direction: tuple[float, ...] = ()  # direction of a projection of standardized columns

    @property
    def label(self) -> str:
        """Name of the column, pair, direction or function."""
        return self.name or self.share_change(1.0)._label.rstrip(":")

    def share_change(self, pvalue: float) -> Change:
        """Return the change of the share of rows for which a function is 1."""
        assert self.member is not None
        return self.member.change(self.columns, self.value, *self.shares, pvalue)

    @property
    def subject(self) -> tuple[Any, ...]:
        """The column, its missing values, or the pair of columns to which the feature belongs."""
        pair = len(self.columns) > 1
        return (*self.columns, self.kind == "missing", self.value if pair else None)


def direction_feature(kind: str, direction: np.ndarray, names: tuple[str, ...]) -> Feature:
    """Return the feature of the projections on a direction."""
    return Feature(kind, direction_text(direction, names), direction=tuple(direction.tolist()))


# Result for one feature: its -log p, its adjusted p-value, and the feature itself.
Test = tuple[float, float, Feature]


class Family:
    """Features whose p-values are adjusted for multiple testing by the maximum statistic."""

    def __init__(self, count: int, level: float = 1.0) -> None:
        self.level = level  # part of the level if it is adjusted together with other families
        self.features: list[Feature] = []
        self.observed: list[float] = []  # -log p of each feature under the given labels
        self.largest = np.zeros(count)  # maximum of -log p over all features, for all labelings

    def add(self, features: Sequence[Feature], neg_log_p: np.ndarray) -> None:
        """Add F features with their -log p (F, B + 1), for the given labels and B permutations."""
        self.features += features
        self.observed += neg_log_p[:, 0].tolist()
        np.maximum(self.largest, neg_log_p.max(axis=0), out=self.largest)

    def pvalues(self) -> np.ndarray:
        """Return the p-values of all features, adjusted for multiple testing."""
        return permutation_pvalue(np.array(self.observed), self.largest[1:])

    @property
    def offset(self) -> float:
        """Term that is added to -log p if features are adjusted together with other families."""
        return math.log(self.level / max(1, len(self.features)))

    def significant(self, alpha: float, pvalues: np.ndarray | None = None) -> list[Test]:
        """Return the tests of the features whose adjusted p-value is at most alpha.

        `pvalues` are the adjusted p-values; None for those of this family alone.
        """
        adjusted = self.pvalues() if pvalues is None else pvalues
        tests = zip(self.observed, adjusted.tolist(), self.features, strict=True)
        return [test for test in tests if test[1] <= alpha]


class Findings:
    """Statistics of a test, by their names, for the given labels and for B permutations of them."""

    def __init__(self, count: int, weights: dict[str, float]) -> None:
        self.weights = weights
        self.parts: dict[str, np.ndarray] = {}  # (B + 1,), each statistic
        self.neg_log_p: dict[str, np.ndarray] = {}  # (B + 1,), -log p of each statistic
        self.strongest: dict[str, Feature] = {}  # with the largest value under the given labels
        # Single columns, pairs of columns, and functions of all columns.
        self.columns, self.pairs = Family(count, _COLUMNS_LEVEL), Family(count, 1 - _COLUMNS_LEVEL)
        self.whole = Family(count)
        # Statistics of the distinct rows of each sample, if one sample has copies of rows.
        self.distinct: Findings | None = None
        self.notes: list[str] = []  # remarks for the user
        # Functions with values 0 and 1, with the first labelings, for `TolerantFindings`.
        self.shares: list[Shares] = []

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

    def strongest_test(self) -> Test:
        """Return the feature of the statistic that contributes most, with its own p-value."""
        name = max(self.neg_log_p, key=lambda n: self.neg_log_p[n][0] + math.log(self.weights[n]))
        part = self.neg_log_p[name]
        return float(part[0]), permutation_pvalue(part[0], part[1:]), self.strongest[name]

    def adjusted(self, family: Family) -> np.ndarray:
        """Return the p-values of `columns` or `pairs`, adjusted for all features of both families.

        The probability that any column or pair without a change is significant at level alpha is
        at most alpha. Each family has a part of the level, because pairs may be much more numerous
        than columns. With `distinct`, a p-value is at least that of the distinct rows.
        """
        if not family.features:
            return np.empty(0)
        families = [each for each in (self.columns, self.pairs) if each.features]
        largest = np.max([each.largest + each.offset for each in families], axis=0)
        pvalues = permutation_pvalue(np.array(family.observed) + family.offset, largest[1:])
        if self.distinct is None:
            return pvalues
        same = self.distinct.columns if family is self.columns else self.distinct.pairs
        smallest: dict[Any, float] = {}
        for feature, pvalue in zip(same.features, self.distinct.adjusted(same), strict=True):
            smallest[feature.subject] = min(pvalue, smallest.get(feature.subject, 1.0))
        others = [smallest.get(feature.subject, 1.0) for feature in family.features]
        return np.maximum(pvalues, others)

    def copies_explain(self, alpha: float) -> bool:
        """Return whether one sample has copies of rows, and rows of the other are rarely equal.

        Copies are not independent, so that columns of a sample with copies differ more by chance
        than permutations show.
        """
        repeated = (test for test in self.whole.significant(alpha) if test[2].kind == "repeated")
        return any(min(feature.shares) <= _RARELY_EQUAL for *_, feature in repeated)

    def add_to_families(self, features: Sequence[Feature], neg_log_p: np.ndarray) -> None:
        """Add features with -log p (F, B + 1) to `columns`, or to `whole` without a column."""
        single = np.array([bool(feature.columns) for feature in features])
        for family, chosen in ((self.columns, single), (self.whole, ~single)):
            if chosen.any():
                own = [features[f] for f in np.flatnonzero(chosen).tolist()]
                family.add(own, neg_log_p[chosen])

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
                    features.append(Feature("dependence", label, columns))
                yield block, features, family


def in_blocks(items: Any, rows: PooledSample, numbers: int) -> Iterator[Any]:
    """Yield consecutive parts of `items` that need at most `MAX_NUMBERS` values in memory each.

    An item needs `numbers` arrays with one value per row or per permutation, whichever is more.
    """
    step = max(1, MAX_NUMBERS // (numbers * max(len(rows.points), rows.permutations.count)))
    for first in range(0, len(items), step):
        yield items[first : first + step]


class Shares(NamedTuple):
    """F functions with values 0 and 1 of one statistic, and their means in both samples."""

    name: str  # name of the statistic
    features: list[Feature]
    means: np.ndarray  # (F,), means over all rows that have information about a function
    contrasts: np.ndarray  # (F, B + 1), see `Permutations.contrasts`


def all_shares(rows: PooledSample, *, fixed: bool) -> Iterator[Shares]:
    """Yield the functions of a row with values 0 and 1, one statistic at a time.

    Functions are left out if they are 1, or 0, for fewer than four rows. If `fixed`, functions that
    depend on other rows are left out too.
    """
    kinds: tuple[type[FunctionFamily], ...] = FAMILIES if fixed else (*FAMILIES, Repeated)
    for kind in kinds:
        family = kind.choose(rows.rows)
        shares = (_extreme_shares if issubclass(kind, Extremes) else _shares)(rows, family)
        if shares.features:
            yield shares


def _shares(rows: PooledSample, family: FunctionFamily) -> Shares:
    """Evaluate the functions of a family at all rows."""
    values = family.evaluate(rows.rows)
    ones, known = np.nansum(values, axis=1), (~np.isnan(values)).sum(axis=1)
    kept = np.flatnonzero((ones >= LEAST_ROWS) & (known - ones >= LEAST_ROWS))
    contrasts = [np.empty((0, rows.permutations.count))]
    for part in in_blocks(kept, rows, 1):
        own = filled(values[part]).astype(precision(len(rows.points)), copy=False)
        contrasts.append(rows.permutations.contrasts(own))
    features = [_member_feature(rows, family.members[f], _means(values[f], rows.n_x)) for f in kept]
    return Shares(family.name, features, ones[kept] / known[kept], np.concatenate(contrasts))


def _member_feature(rows: PooledSample, member: Member, shares: tuple[float, float]) -> Feature:
    """Return the feature of a function with values 0 and 1, and with these means in X and Y."""
    samples, value = rows.samples, None
    if member.kind == "shares":
        category = samples.categories[member.columns[0] - len(samples.names)]
        value = category.all_values[int(member.value)]
    columns = tuple(samples.all_names[j] for j in member.columns)
    return Feature(member.kind, columns=columns, value=value, member=member, shares=shares)


def _means(values: np.ndarray, n_x: int) -> tuple[float, float]:
    """Return the means of values (n,) in X and in Y without NaN; 0 if all values are missing."""
    parts = (part[~np.isnan(part)] for part in (values[:n_x], values[n_x:]))
    x, y = (float(part.mean()) if len(part) else 0.0 for part in parts)
    return x, y


def _extreme_shares(rows: PooledSample, family: FunctionFamily) -> Shares:
    """Evaluate extremes at the rows beyond the first cut point of each column and side.

    The extremes of a column and side are nested, so that no other rows are needed. This is much
    faster than a product with all rows.
    """
    permutations, d = rows.permutations, len(rows.samples.names)
    means, contrasts = [np.empty(0)], [np.empty((0, permutations.count))]
    features: list[Feature] = []
    outer_first = sorted(
        family.members, key=lambda m: (m.columns or (d,), m.upper, -m.value if m.upper else m.value)
    )
    for (_, upper), group in groupby(outer_first, attrgetter("columns", "upper")):
        own = list(group)
        values, cuts = own[0].argument(rows.rows), np.array([member.value for member in own])
        if not upper:
            values, cuts = -values, -cuts
        beyond = np.flatnonzero(values >= cuts[-1])
        beyond = beyond[np.argsort(-values[beyond], kind="stable")]
        ends = np.searchsorted(-values[beyond], -cuts, side="right")
        sums = permutations.subset_counts(beyond, ends)
        absent = np.flatnonzero(np.isnan(values))
        mean = ends / (len(values) - len(absent))
        known = [np.count_nonzero(~np.isnan(part)) for part in np.split(values, [rows.n_x])]
        x = sums[:, 0].copy()
        before, after = x / max(1, known[0]), (ends - x) / max(1, known[1])
        shares = zip(before.tolist(), after.tolist(), strict=True)
        features += [_member_feature(rows, *each) for each in zip(own, shares, strict=True)]
        if len(absent):
            sums += mean[:, None] * permutations.subset_counts(absent, np.array([len(absent)]))
        means.append(mean)
        contrasts.append(permutations.scaled_contrasts(sums, mean))
    return Shares(family.name, features, np.concatenate(means), np.concatenate(contrasts))


# -- descriptions of significant changes, in the units of their columns ---------------------------


def significant_changes(rows: PooledSample, findings: Findings, alpha: float) -> list[Change]:
    """Return the significant changes at level `alpha`, in decreasing order of -log p.

    If no column or pair is significant by itself, the strongest statistic is described if it
    belongs to a column. Otherwise, the significant functions of all columns are described.
    """
    columns, pairs = (
        family.significant(alpha, findings.adjusted(family))
        for family in (findings.columns, findings.pairs)
    )
    changes = _column_changes(rows, columns)
    for strength, pvalue, feature in _remaining_pairs(rows, pairs, len(findings.pairs.features)):
        changes.append((strength, [_pair_change(rows, feature, pvalue)]))
    whole = findings.whole.significant(alpha)
    repeated = [test for test in whole if test[2].kind == "repeated"]
    changes += [(test[0], [test[2].share_change(test[1])]) for test in repeated]
    if not changes:
        strongest = findings.strongest_test()
        if len(strongest[2].columns) == 1 and strongest[2].kind != "dependence":
            changes = _column_changes(rows, [strongest])
        else:
            whole = [strongest] if strongest[2].columns or not whole else whole
            changes = [
                (strength, [_whole_change(rows, feature, pvalue)])
                for strength, pvalue, feature in whole
            ]
    ordered = sorted(changes, key=lambda each: -each[0])
    return list(dict.fromkeys(change for _, group in ordered for change in group))


def _column_changes(rows: PooledSample, tests: list[Test]) -> list[tuple[float, list[Change]]]:
    """Describe the significant changes of single columns; return pairs of -log p and changes.

    Missing values and the other values of a column are described separately.
    """
    tested: dict[tuple[str, bool], list[Test]] = {}
    for test in tests:
        tested.setdefault((test[2].columns[0], test[2].kind == "missing"), []).append(test)
    changed = [
        name
        for (name, missing), own in tested.items()
        if not missing and any(test[2].kind == "distribution" for test in own)
    ]
    pairs: dict[str, ColumnPair] = {}
    for (name, missing), own in tested.items():
        if not missing and name in rows.samples.names:
            members = [(test, test[2].member) for test in own]
            shares = [(m, t[2].share_change(t[1])) for t, m in members if m is not None]
            pairs[name] = ColumnPair(name, *rows.samples.read.numbers(name), shares)
    pvalues = {name: min(test[1] for test in tested[name, False]) for name in changed}
    compared = [pairs[name] for name in changed if name in pairs][:_MOST_EXCHANGED]
    exchanged = exchanged_columns(compared, pvalues)
    changes = []
    for (name, missing), own in tested.items():
        strength, pvalue = max(test[0] for test in own), min(test[1] for test in own)
        if missing or name not in rows.samples.names:
            strongest = max(own, key=lambda test: (test[2].member is not None, test[0]))
            group = [_whole_change(rows, strongest[2], pvalue)]
            if not missing and group[0].kind == "missing" and (name, True) in tested:
                continue
        elif name in exchanged:
            group = [exchanged[name]]
        else:
            group = describe_column(pairs[name], pvalue)
        changes.append((strength, group))
    return changes


def _category_change(rows: PooledSample, feature: Feature, pvalue: float) -> Change:
    """Return the change of the share of the category that the feature of a column names."""
    category = next(each for each in rows.categories if each.name == feature.columns[0])
    before, after = _means(category.rows_with(str(feature.value)).astype(float), rows.n_x)
    if feature.value == MISSING:
        return Change("missing", feature.columns, "missing", before, after, pvalue)
    return Change("shares", feature.columns, "share", before, after, pvalue, value=feature.value)


def _remaining_pairs(rows: PooledSample, tests: list[Test], count: int) -> list[Test]:
    """Return the tests of pairs that remain significant if ranks are computed within each sample.

    A change of a single column also changes its pooled rank correlations and its pooled mean ranks
    within categories. Ranks within each sample are not affected by changes of single columns. The
    new p-values are multiplied by `count`, the number of all compared pairs, because `tests` has
    only the significant ones.
    """
    if not tests:
        return []
    subset = rows.balanced_subset(_ALIGNED_ROWS)
    permutations = subset.permutations
    parts = np.split(subset.columns, [permutations.n_x], axis=1)
    ranks = np.concatenate([subset.centered_ranks(part) for part in parts], axis=1)
    categories = {category.name: category for category in subset.categories}
    moments = Moments(permutations, ranks, subset.present)
    remaining = []
    for test in tests:
        first, second = test[2].columns
        j, value = rows.names.index(first), test[2].value
        if value is None:
            change = moments.correlation_change(np.array([[j, rows.names.index(second)]]))
        else:
            inside = categories[second].rows_with(value)[None].astype(np.float64)
            present = None if subset.present is None else subset.present[[j]]
            change = permutations.mean_changes(ranks[[j]], inside, present)
        if neg_log_p(np.square(change))[0, 0] >= math.log(count / _ALIGNED_LEVEL):
            remaining.append(test)
    return remaining


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

    Values are those of standardized columns.
    """
    n_x = rows.n_x
    if feature.member is not None and not feature.columns and feature.kind == "extremes":
        # Name the column in which most of the far rows are farthest.
        far = rows.rows.distance >= feature.member.value
        column = rows.names[int(np.bincount(np.abs(rows.points[far]).argmax(axis=1)).argmax())]
        text = "far from its usual values"
        return Change("extremes", (column,), text, *feature.shares, pvalue)
    if feature.member is not None:
        return feature.share_change(pvalue)
    if feature.columns and feature.kind == "dependence" and len(feature.columns) > 1:
        return _pair_change(rows, feature, pvalue)
    if feature.columns and feature.value is not None:
        return _category_change(rows, feature, pvalue)
    center = rows.whole_rows[CENTER]
    if len(feature.columns) == 1 and feature.kind == "dependence":
        values = rows.points[:, rows.names.index(feature.columns[0])]
        both = np.stack([values, center], axis=1)
        change = dependence_change((feature.columns[0], CENTER), both[:n_x], both[n_x:], pvalue)
        text = f"{feature.columns[0]} depends differently on the distance from the center"
        return replace(change, kind="joint", columns=feature.columns, quantity=text)
    names: tuple[str, ...] = ()
    if feature.direction:
        direction = np.array(feature.direction)
        values = rows.along(direction[None])[0]
        before, after = float(np.median(values[:n_x])), float(np.median(values[n_x:]))
        names, text = _joint_text(feature.kind, direction * (1 if after >= before else -1), rows)
    elif feature.name == TOTAL:
        values = rows.whole_rows[TOTAL]
        before, after = float(np.median(values[:n_x])), float(np.median(values[n_x:]))
        text = f"all columns together are {'higher' if after >= before else 'lower'}"
    else:
        # `whole_rows` does not contain the outlyingness, which tests with a tolerance use.
        before, after = float(np.median(center[:n_x])), float(np.median(center[n_x:]))
        side = "farther from" if after >= before else "closer to"
        text = f"rows are {side} the center of the data"
        if feature.kind == "regions":
            text = "the center of the data or its spread changes in several columns together"
    return Change("joint", names, text, before, after, pvalue)


def _joint_text(
    kind: str, direction: np.ndarray, rows: PooledSample
) -> tuple[tuple[str, ...], str]:
    """Return the columns with the largest weights in a direction, and their joint change."""
    largest = np.argsort(-np.abs(direction), kind="stable")[:_JOINT]
    kept = [j for j in largest if abs(direction[j]) >= 0.3 * abs(direction[largest[0]])]
    names = tuple(rows.names[j] for j in kept)
    if kind != "location":
        verb = "changes its spread" if kind == "spread" else "changes"
        return names, f"the joint distribution of {_listed(names)} {verb}"
    higher = [rows.names[j] for j in kept if direction[j] > 0]
    lower = [rows.names[j] for j in kept if direction[j] < 0]
    both = ((higher, "higher"), (lower, "lower"))
    parts = [f"{_listed(columns)} {side}" for columns, side in both if columns]
    return names, f"small shifts together: {', '.join(parts)}"


def _listed(names: Sequence[str]) -> str:
    """Join names by commas and "and"."""
    return " and ".join([", ".join(names[:-1])] * (len(names) > 1) + [names[-1]])
