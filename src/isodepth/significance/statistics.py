"""Features whose distributions are compared, their statistics, and multiple testing.

A feature is a function of a row: a column, a pair of columns, a direction, a function of all
columns, or a function with values 0 and 1. Statistics are computed for the given labels of the
pooled rows and for B permutations of the labels. Most of them are computed from matrix products of
the labels with functions of a row that do not depend on the labels: cosines of ranks along
directions, products of ranks, and indicators. A new statistic is one class of this file.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from isodepth import _core
from isodepth.functions.changes import Change
from isodepth.functions.describer import direction_text, standardized_difference
from isodepth.functions.families import FAMILIES, LEAST_ROWS, Extremes, Family, Member, filled
from isodepth.metric.metric import Metric
from isodepth.metric.settings import check_level_memory, midpoint_levels
from isodepth.significance.permutations import (
    WORD,
    Moments,
    neg_log_p,
    neg_log_p_of_largest,
    permutation_pvalue,
    precision,
)
from isodepth.significance.regions import depth_distances
from isodepth.significance.samples import CENTER, PooledSample
from isodepth.table.arrays import repeated_rows, row_hashes
from isodepth.table.kinds import MISSING

#: Maximum number of values in memory when functions are evaluated at all rows: 400 MB in float32.
MAX_NUMBERS = 100_000_000
# Part of the level with which columns are named. The rest is for pairs of columns.
_COLUMNS_LEVEL = 0.75
# Maximum share of rows that occur more than once in a sample whose rows are rarely equal.
_RARELY_EQUAL = 0.1
# Numbers of cosines cos(pi j R), j = 1, 2, ..., that are computed for each column and for each
# direction. R are the ranks of the values or projections, scaled to (0, 1).
_COSINES, _DIRECTION_COSINES = 6, 4
# Maximum number of pairs of columns that are compared: all pairs of 64 columns.
_PAIRS = 64 * 63 // 2
# Maximum number of rows for the statistic "regions", which is slow and has a small weight. If the
# samples have more rows, a random subset is used.
_REGION_ROWS = 8000
# Number of permutations of the labels per call of the compiled code, a multiple of WORD. The
# progress bar is updated after each call.
_LABELINGS = 4 * WORD

Advance = Callable[[int], None]


class Feature(NamedTuple):
    """Function of a row whose distributions in the two samples are compared.

    Examples are the value of a column, the product of two columns, the projection on a direction,
    and the indicator of a missing value.
    """

    kind: str  # kind of change, such as "distribution" of a column, "dependence", or "missing"
    name: str = ""  # name of a column, pair, direction or function; "" if there is a `member`
    columns: tuple[str, ...] = ()  # one column, or two for a dependence; empty for all columns
    # Category of the last column: its share changes, or the mean of the first column within it
    value: str | None = None
    member: Member | None = None  # the function, if its values are 0 and 1
    shares: tuple[float, float] = (0.0, 0.0)  # means of `member` in X and in Y
    direction: tuple[float, ...] = ()  # direction of a projection of standardized columns

    @property
    def label(self) -> str:
        """Name of the column, pair of columns, direction or function of all columns."""
        # The name of a column may be the empty string.
        if self.name or self.member is None:
            return self.name
        return self.share_change(1.0)._label.rstrip(":")

    def share_change(self, pvalue: float) -> Change:
        """Return the change of the share of rows for which the function `member` is 1."""
        assert self.member is not None
        return self.member.change(self.columns, self.value, *self.shares, pvalue)

    @property
    def subject(self) -> tuple[Any, ...]:
        """Key that is equal for two features of the same subject.

        A subject is the values of one column, the missing values of one column, a pair of columns,
        or a column within one category.
        """
        pair = len(self.columns) > 1
        return (*self.columns, self.kind == "missing", self.value if pair else None)


def direction_feature(kind: str, direction: np.ndarray, names: tuple[str, ...]) -> Feature:
    """Return the feature whose values are the projections of rows on a direction (d,).

    `kind` is the kind of the change, and `names` are the names of the d columns.
    """
    return Feature(kind, direction_text(direction, names), direction=tuple(direction.tolist()))


def in_blocks(items: Any, pool: PooledSample, numbers: int) -> Iterator[Any]:
    """Yield consecutive slices of `items` that are small enough to be processed in memory at once.

    Each slice needs at most `MAX_NUMBERS` values. An item needs `numbers` arrays of length
    max(number of rows, number of labelings of `pool`). A slice has at least one item, even if this
    item needs more memory.
    """
    step = max(1, MAX_NUMBERS // (numbers * max(len(pool.points), pool.permutations.count)))
    for first in range(0, len(items), step):
        yield items[first : first + step]


# -- multiple testing ------------------------------------------------------------------------------


class FeatureTest(NamedTuple):
    """Test of one feature.

    The attribute `strength` is -log p of this feature alone. The attribute `pvalue` is adjusted
    for all features of the same group. In the result of `ranked_tests`, it is the p-value of a
    statistic, which is the maximum over several features.
    """

    strength: float
    pvalue: float
    feature: Feature


class FeatureGroup:
    """Features whose p-values are adjusted together for multiple testing.

    The adjusted p-value of a feature compares its -log p with the maximum of -log p over all
    features of the group, under each permutation of the labels. `count` is the number of
    labelings, and `level` the part of the significance level that the group has.
    """

    def __init__(self, count: int, level: float) -> None:
        self.level = level  # part of the level if it is adjusted together with other groups
        self.features: list[Feature] = []
        self.observed: list[float] = []  # -log p of each feature under the given labels
        self.largest = np.zeros(count)  # maximum of -log p over all features, for all labelings

    @property
    def offset(self) -> float:
        """Logarithm of the part of the significance level that each feature of the group has.

        The offset is added to -log p of the features, so that groups of different sizes can be
        compared.
        """
        return math.log(self.level / max(1, len(self.features)))


def combined(strengths: dict[str, np.ndarray], weights: dict[str, float]) -> np.ndarray:
    """Return the test statistic (B + 1,): the maximum of -log p + log(weight) over statistics.

    `strengths` has -log p (B + 1,) of each statistic, and `weights` its weight.
    """
    return np.max([part + np.log(weights[name]) for name, part in strengths.items()], axis=0)


class Findings:
    """Statistics of a test, by their names, for the given labels and for B permutations of them.

    `count` is the number of labelings, B + 1. `weights` has the weight of each statistic in the
    combined test statistic, see `combined`.
    """

    def __init__(self, count: int, weights: dict[str, float]) -> None:
        self.weights = weights
        self.parts: dict[str, np.ndarray] = {}  # (B + 1,), each statistic
        self.strengths: dict[str, np.ndarray] = {}  # (B + 1,), -log p of each statistic
        self.strongest: dict[str, Feature] = {}  # with the maximum under the given labels
        # Single columns, pairs of columns, and functions of all columns.
        self.columns = FeatureGroup(count, _COLUMNS_LEVEL)
        self.pairs = FeatureGroup(count, 1 - _COLUMNS_LEVEL)
        self.whole = FeatureGroup(count, 1.0)
        # Statistics of the distinct rows of each sample, if one sample has copies of rows.
        self.distinct: Findings | None = None
        # Whether rows are repeated because columns changed, not because rows were copied.
        self.ties_explain = False
        self.notes: list[str] = []  # remarks for the user

    def add(
        self, name: str, values: np.ndarray, features: Sequence[Feature], *, tested: bool = False
    ) -> None:
        """Update the statistic `name`, a maximum over features, by values (F, B + 1) of F features.

        The second axis has the given labels and B permutations. If `tested`, the values are -log p,
        and each feature is also tested alone.
        """
        first, largest = int(values[:, 0].argmax()), values.max(axis=0)
        if name not in self.parts or largest[0] > self.parts[name][0]:
            self.strongest[name] = features[first]
        self.parts[name] = np.maximum(self.parts.get(name, 0.0), largest)
        if tested:
            self.add_tests(features, values)

    def add_tests(self, features: Sequence[Feature], strengths: np.ndarray) -> None:
        """Add F features with their -log p (F, B + 1) to their groups, see `group_of`."""
        groups = [self.group_of(feature) for feature in features]
        for group in (self.columns, self.pairs, self.whole):
            members = [f for f, each in enumerate(groups) if each is group]
            if members:
                group.features += [features[f] for f in members]
                group.observed += strengths[members, 0].tolist()
                np.maximum(group.largest, strengths[members].max(axis=0), out=group.largest)

    def group_of(self, feature: Feature) -> FeatureGroup:
        """Return the group of a feature: single columns, pairs of columns, or all columns.

        The dependence of a column on the distance from the center belongs to all columns.
        """
        if len(feature.columns) == 2:
            return self.pairs
        single = feature.columns and feature.kind != "dependence"
        return self.columns if single else self.whole

    def ranked_tests(self) -> dict[str, FeatureTest]:
        """Return the strongest feature of each statistic, with the p-value of the statistic alone.

        The statistic that contributes most to the test is first.
        """
        observed = {n: part[0] + math.log(self.weights[n]) for n, part in self.strengths.items()}
        tests = {}
        for name in sorted(observed, key=lambda n: -observed[n]):
            part = self.strengths[name]
            pvalue = permutation_pvalue(part[0], part[1:])
            tests[name] = FeatureTest(float(part[0]), pvalue, self.strongest[name])
        return tests

    def adjusted(self, group: FeatureGroup) -> np.ndarray:
        """Return the p-values of a group, adjusted for multiple testing.

        P-values of columns and pairs are adjusted for both together. If the unchanged columns have
        the same joint distribution in both samples, the probability that any of them, or any pair
        of them, has a p-value of at most a is at most a. The significance level is divided between
        columns and pairs, because pairs may be much more numerous. If one sample has copies of
        rows, a p-value of a column or pair is at least its p-value after the copies are removed.
        """
        if not group.features:
            return np.empty(0)
        whole = group is self.whole
        groups = [self.whole] if whole else [self.columns, self.pairs]
        largest = np.max([each.largest + each.offset for each in groups if each.features], axis=0)
        pvalues = permutation_pvalue(np.array(group.observed) + group.offset, largest[1:])
        if self.distinct is None or whole:
            return pvalues
        same = self.distinct.columns if group is self.columns else self.distinct.pairs
        smallest: dict[Any, float] = {}
        for feature, pvalue in zip(same.features, self.distinct.adjusted(same), strict=True):
            smallest[feature.subject] = min(pvalue, smallest.get(feature.subject, 1.0))
        others = [smallest.get(feature.subject, 1.0) for feature in group.features]
        return np.maximum(pvalues, others)

    def significant(self, group: FeatureGroup, alpha: float) -> list[FeatureTest]:
        """Return the tests of the features whose adjusted p-value is at most alpha."""
        each = zip(group.observed, self.adjusted(group).tolist(), group.features, strict=True)
        return [test for test in map(FeatureTest._make, each) if test.pvalue <= alpha]

    def copies_explain(self, alpha: float) -> bool:
        """Return whether copies of rows may explain other changes.

        They may do so if the share of repeated rows changed significantly, and is at most 10% in
        one sample. Copies of rows are not independent. The columns of a sample with copies
        therefore vary more than under permutations. `alpha` is the significance level.
        """
        if self.ties_explain:
            return False
        return any(min(shares) <= _RARELY_EQUAL for shares in self.repeated_shares(alpha))

    def repeated_shares(self, alpha: float) -> list[tuple[float, float]]:
        """Return the shares of repeated rows in X and Y if they changed, else an empty list."""
        tests = self.significant(self.whole, alpha)
        return [test.feature.shares for test in tests if test.feature.kind == "repeated"]

    def changed_columns(self, alpha: float) -> set[str]:
        """Return the names of the columns whose own values changed significantly."""
        return {test.feature.columns[0] for test in self.significant(self.columns, alpha)}

    def column_pairs(
        self, pool: PooledSample, most: int
    ) -> Iterator[tuple[np.ndarray, list[Feature]]]:
        """Yield the pairs of columns whose dependence is compared, in blocks of P pairs.

        A block consists of the column indices (P, 2) and of a list with the feature of each pair.

        A pair has two columns, or a column and the distance from the center, which has the index d.
        A pair with this distance detects opposite changes of inner and outer rows, which may not
        change the distribution of any column or pair of columns. If there are more than `most`
        pairs of columns, a random selection is used.
        """
        d, names = len(pool.names), (*pool.names, CENTER)
        if d * (d - 1) // 2 <= most:
            pairs = np.transpose(np.triu_indices(d, 1))
        else:
            first = pool.rng.integers(0, d, most)
            second = (first + pool.rng.integers(1, d, most)) % d
            pairs = np.sort(np.stack([first, second], axis=1), axis=1)
            self.notes.append(f"dependence was compared in {most} random pairs of columns")
        with_distance = np.stack([np.arange(d), np.full(d, d)], axis=1)
        for block in in_blocks(np.concatenate([pairs, with_distance]), pool, 4):
            features = []
            for a, b in block.tolist():
                columns = (names[a], names[b]) if b < d else (names[a],)
                features.append(Feature("dependence", f"{names[a]} and {names[b]}", columns))
            yield block, features


# -- statistics ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Statistic:
    """Base class of statistics of the aggregated test.

    Attributes
    ----------
    weights : dict from str to float
        Weights of the statistics that `add` computes, by name. They were tuned for power on samples
        like those of docs/power_study.md, drawn with other seeds. The weight of isolated values was
        tuned on the set "tuning" of experiments/tables. It is large, because most tables do not
        have isolated values.
    pool : PooledSample
    findings : Findings
        Statistics that were computed before; `add` adds others.
    metric : Metric
        Options of the distance between trimmed regions.
    only_regions : bool
        Whether this distance is the test statistic. It is then computed on all rows instead of a
        random subset.
    advance : function
        It is called with the number of completed steps of a progress bar.
    """

    weights: ClassVar[dict[str, float]]
    pool: PooledSample
    findings: Findings
    metric: Metric
    only_regions: bool
    advance: Advance

    def add(self) -> None:
        """Add the statistics to `findings`."""
        raise NotImplementedError


def _smooth_weights(count: int) -> np.ndarray:
    """Return the weights 1 / j^2, j = 1, ..., count, as an array of shape (count, 1, 1).

    They are the weights of the cosines cos(pi j R) of the ranks R, scaled to (0, 1). Let c_j be the
    difference between the means of cosine j in the two samples. The sum of c_j^2 / j^2 over all j
    is proportional to the Cramer-von Mises statistic, and the first terms approximate it.
    """
    return 1.0 / np.square(np.arange(1.0, count + 1))[:, None, None]


class Ranks(Statistic):
    """Rank statistics of columns, directions and functions of all columns."""

    weights: ClassVar = {"columns": 0.16, "whole rows": 0.09, "shape": 0.08, "directions": 0.55}

    def add(self) -> None:
        pool, findings = self.pool, self.findings
        d = len(pool.names)
        if not d:
            return
        functions = np.stack([*pool.columns, *pool.whole_rows.values()])
        blocks = in_blocks(functions, pool, _COSINES)
        contrasts = [pool.permutations.cosine_contrasts(block, _COSINES) for block in blocks]
        powers = np.square(np.concatenate(contrasts, axis=1))
        self.advance(d)
        smooth = neg_log_p((powers * _smooth_weights(_COSINES)).sum(axis=0))
        flat = neg_log_p(powers.sum(axis=0))
        self._add_directions(powers[:_DIRECTION_COSINES, :d])
        features = [Feature("distribution", name, (name,)) for name in pool.names]
        for name in pool.whole_rows:
            features.append(Feature("spread" if name == CENTER else "location", name))
        findings.add("columns", smooth[:d], features[:d])
        findings.add("whole rows", smooth[d:], features[d:])
        findings.add("shape", flat, features)
        findings.add_tests(features, np.maximum(smooth, flat))

    def _add_directions(self, axes: np.ndarray) -> None:
        """Add the mean of the Cramer-von Mises statistics over all directions.

        `axes` (4, d, B + 1) has the terms of this mean for the d coordinate axes: the squared
        differences between the sample means of four cosines of the ranks along each axis.
        """
        pool, d = self.pool, len(self.pool.names)
        weights = _smooth_weights(_DIRECTION_COSINES)
        along = (axes * weights).sum(axis=0)
        total, best = along.sum(axis=0), int(along[:, 0].argmax())
        largest, direction = along[best, 0], np.eye(d)[best]
        by_cosine = axes.sum(axis=1)
        for block in in_blocks(pool.directions[d:], pool, _DIRECTION_COSINES):
            contrasts = pool.permutations.cosine_contrasts(pool.along(block), _DIRECTION_COSINES)
            powers = np.square(contrasts)
            along = (powers * weights).sum(axis=0)
            total += along.sum(axis=0)
            by_cosine += powers.sum(axis=1)
            if along[:, 0].max() > largest:
                largest, direction = along[:, 0].max(), block[along[:, 0].argmax()]
            self.advance(len(block))
        kind = ("location", "spread", "shape", "shape")[int(neg_log_p(by_cosine)[:, 0].argmax())]
        mean = total[None] / len(pool.directions)
        self.findings.add("directions", mean, [direction_feature(kind, direction, pool.names)])


class Pairs(Statistic):
    """Change of the rank correlation of each pair of columns.

    The distance of a row from the center is used as an additional column.
    """

    weights: ClassVar = {"dependence": 0.06}

    def add(self) -> None:
        pool = self.pool
        if len(pool.names) < 2:
            return
        ranks = pool.centered_ranks(np.stack([*pool.columns, pool.whole_rows[CENTER]]))
        present = pool.present
        if present is not None:
            present = np.concatenate([present, np.ones_like(present[:1])])
        moments = Moments(pool.permutations, ranks, present)
        for pairs, features in self.findings.column_pairs(pool, _PAIRS):
            strengths = neg_log_p(np.square(moments.correlation_change(pairs)))
            self.findings.add("dependence", strengths, features, tested=True)


class CategoryMeans(Statistic):
    """Change of the mean rank of each numeric column within each category."""

    weights = Pairs.weights

    def add(self) -> None:
        pool, findings = self.pool, self.findings
        d = len(pool.names)
        values = [(category, value) for category in pool.categories for value in category.values]
        pairs = [(j, *each) for each in values for j in range(d)]
        if not pairs:
            return
        if len(pairs) > _PAIRS:
            pairs = [pairs[k] for k in pool.rng.choice(len(pairs), _PAIRS, replace=False)]
            findings.notes.append(
                f"means by category were compared in {_PAIRS} random pairs of a column and a value"
            )
        ranks = pool.centered_ranks(pool.columns)
        for block in in_blocks(pairs, pool, 4):
            inside = np.array([category.rows_with(value) for _, category, value in block])
            columns = [j for j, *_ in block]
            present = None if pool.present is None else pool.present[columns]
            changes = pool.permutations.mean_changes(
                ranks[columns], inside.astype(ranks.dtype), present
            )
            features = []
            for j, category, value in block:
                first, second = pool.names[j], category.name
                label = f"{first} and {second} = {value}"
                features.append(Feature("dependence", label, (first, second), value))
            findings.add("dependence", neg_log_p(np.square(changes)), features, tested=True)


class Categories(Statistic):
    """Pearson's chi-squared statistic of all values of a category column."""

    weights: ClassVar = {"categories": 0.10}

    def add(self) -> None:
        pool = self.pool
        for category in pool.categories:
            indicators = category.indicators()
            squares = np.square(pool.permutations.contrasts(indicators))
            each = neg_log_p((squares / indicators.mean(axis=1)[:, None]).sum(axis=0))[None]
            largest = max(
                category.shares(pool.n_x), key=lambda s: standardized_difference(s.before, s.after)
            )
            name, shares = largest.column, (largest.before, largest.after)
            missing = largest.value == MISSING
            member = Member("missing" if missing else "shares")
            value = None if missing else largest.value
            feature = Feature("shares", name, (name,), value, member, shares)
            self.findings.add("categories", each, [feature], tested=True)


class Shares(Statistic):
    """Shares of rows for which functions with values 0 and 1 are 1, and of repeated rows."""

    weights: ClassVar = {each.name: each.weight for each in FAMILIES} | {"repeated rows": 0.03}

    def add(self) -> None:
        for shares in [*all_shares(self.pool), *_repeated_shares(self.pool)]:
            strengths = neg_log_p(np.square(shares.contrasts))
            self.findings.add(shares.name, strengths, shares.features, tested=True)


class Regions(Statistic):
    """Distance DR between the trimmed regions of both samples."""

    weights: ClassVar = {"regions": 0.02}

    def add(self) -> None:
        if self.pool.names:
            pool = self.pool if self.only_regions else self.pool.random_subset(_REGION_ROWS)
            values = region_distances(
                pool, self.metric, self.advance, only_regions=self.only_regions
            )
            self.findings.add("regions", values[None], [Feature("regions", "all columns")])


def region_distances(
    pool: PooledSample, metric: Metric, advance: Advance, *, only_regions: bool
) -> np.ndarray:
    """Return the distances DR (B + 1,) between the trimmed regions of X and Y, for all labelings.

    The constant divisor `mean_of_direction` of DR, by which the distance of two samples that differ
    by a translation m is |m|, is omitted. `advance` is called with the number of labelings that
    were completed since the last call. `only_regions` is whether the distance is the only statistic
    of the test: then any permuted sample must have valid regions.
    """
    fast = metric.depth == "projection" and not (only_regions and _may_be_simplex(pool))
    return (projection_distances if fast else depth_distances)(pool, metric, advance)


def projection_distances(pool: PooledSample, metric: Metric, advance: Advance) -> np.ndarray:
    """Return the distances DR (B + 1,) of `region_distances` for the projection depth."""
    count, words = pool.permutations.count, pool.permutations.words
    assert isinstance(metric.levels, int)
    # Support values of both samples at each level, per thread.
    check_level_memory(metric.levels, 32 * len(pool.directions), metric.memory_mb)
    betas = midpoint_levels(metric.levels, metric.eps)
    out = np.empty(count)
    for first in range(0, count, _LABELINGS):
        last = min(first + _LABELINGS, count)
        block = words[first // WORD : -(-last // WORD)]
        out[first:last] = _core.label_distances(
            pool.points, pool.directions, block, last - first, betas, metric.q, metric.p,
            pool.n_threads,
        )  # fmt: skip
        advance(last - first)
    return out


def _may_be_simplex(pool: PooledSample) -> bool:
    """Return whether permuted labels can give a sample with at most d + 1 distinct rows.

    All rows of such a sample may have equal projection depth. `projection_distances` is not valid
    in this case. The result depends on the pooled rows only, not on their labels.
    """
    counts = np.unique(pool.points, axis=0, return_counts=True)[1]
    largest = np.sort(counts)[-pool.points.shape[1] - 1 :].sum()
    return bool(largest >= pool.permutations.sizes.min())


#: Statistics of the aggregated test.
STATISTICS: tuple[type[Statistic], ...] = (
    Ranks, Pairs, CategoryMeans, Categories, Shares, Regions,
)  # fmt: skip
#: Weights w of the statistics. The test statistic is the maximum of -log p + log w over all
#: statistics.
WEIGHTS = {name: weight for each in STATISTICS for name, weight in each.weights.items()}
# Statistics that have a single value per labeling, which is an assignment of the rows to the two
# samples. Each of the other statistics is a maximum of -log p over many features.
_SINGLE = ("directions", "regions")


def aggregated_statistics(
    pool: PooledSample, metric: Metric, advance: Advance, *, only_regions: bool
) -> Findings:
    """Compute each statistic and its -log p for the given labels and all permutations of them.

    The arguments are attributes of `Statistic`.
    """
    findings = Findings(pool.permutations.count, WEIGHTS)
    for statistic in STATISTICS:
        statistic(pool, findings, metric, only_regions, advance).add()
    findings.strengths = {
        name: neg_log_p(part) if name in _SINGLE else neg_log_p_of_largest(part)
        for name, part in findings.parts.items()
    }
    return findings


# -- shares of functions with values 0 and 1 -------------------------------------------------------


class FamilyShares(NamedTuple):
    """Functions of a row with values 0 and 1 that are compared by one statistic, and their means.

    F is the number of functions. The mean of a function is the share of rows for which it is 1.
    """

    name: str  # name of the statistic
    features: list[Feature]
    means: np.ndarray  # (F,), means over all rows that have information about a function
    known: np.ndarray  # (F,), fractions of the rows that have information about a function
    contrasts: np.ndarray  # (F, B + 1), see `Permutations.contrasts`


def all_shares(pool: PooledSample) -> Iterator[FamilyShares]:
    """Yield the functions of a row with values 0 and 1, grouped by family.

    Functions that have the value 1, or the value 0, in fewer than four rows are left out.
    Indicators of extremes are an exception: they have the value 1 in at least four rows, but may
    have the value 0 in fewer.
    """
    for each in FAMILIES:
        family = each.choose(pool.rows)
        if isinstance(family, Extremes):
            shares = _extreme_shares(pool, family)
        else:
            shares = _shares(pool, family)
        if shares.features:
            yield shares


def _shares(pool: PooledSample, family: Family) -> FamilyShares:
    """Evaluate the functions of a family at all rows.

    Functions that have the value 1, or the value 0, in fewer than four rows are left out.
    """
    values = family.evaluate(pool.rows)
    ones, known = np.nansum(values, axis=1), (~np.isnan(values)).sum(axis=1)
    kept = np.flatnonzero((ones >= LEAST_ROWS) & (known - ones >= LEAST_ROWS))
    contrasts = [np.empty((0, pool.permutations.count))]
    for part in in_blocks(kept, pool, 1):
        block = filled(values[part]).astype(precision(len(pool.points)), copy=False)
        contrasts.append(pool.permutations.contrasts(block))
    features = []
    for f in kept.tolist():
        member, at_rows = family.members[f], values[f]
        # The share of a category is relative to all rows, because missing values are a category.
        at_rows = np.nan_to_num(at_rows) if member.event == "shares" else at_rows
        features.append(_member_feature(pool, member, _means(at_rows, pool.n_x)))
    means, known = ones[kept] / known[kept], known[kept] / values.shape[1]
    return FamilyShares(family.name, features, means, known, np.concatenate(contrasts))


def _extreme_shares(pool: PooledSample, family: Extremes) -> FamilyShares:
    """Evaluate the functions of a family of extremes, faster than `_shares`; none is left out.

    Functions on one side of a column are nested. Therefore only the rows at or beyond the innermost
    cut point, the one nearest to the median, are used.
    """
    permutations, means, fractions = pool.permutations, [np.empty(0)], [np.empty(0)]
    contrasts = [np.empty((0, permutations.count))]
    features: list[Feature] = []
    for side in family.sides():
        values, cuts = side.argument(pool.rows)
        beyond = np.flatnonzero(values >= cuts[-1])
        beyond = beyond[np.argsort(-values[beyond], kind="stable")]
        ends = np.searchsorted(-values[beyond], -cuts, side="right")
        sums = permutations.subset_counts(beyond, ends)
        absent = np.flatnonzero(np.isnan(values))
        mean = ends / (len(values) - len(absent))
        known = [max(1, np.count_nonzero(~np.isnan(part))) for part in np.split(values, [pool.n_x])]
        x = sums[:, 0]
        shares = np.stack([x / known[0], (ends - x) / known[1]], axis=1).tolist()
        for member, (before, after) in zip(side.members, shares, strict=True):
            features.append(_member_feature(pool, member, (before, after)))
        if len(absent):
            sums += mean[:, None] * permutations.subset_counts(absent, np.array([len(absent)]))
        means.append(mean)
        fractions.append(np.full(len(mean), 1 - len(absent) / len(values)))
        contrasts.append(permutations.scaled_contrasts(sums, mean))
    return FamilyShares(
        family.name, features, np.concatenate(means), np.concatenate(fractions),
        np.concatenate(contrasts),
    )  # fmt: skip


def _repeated_shares(pool: PooledSample) -> Iterator[FamilyShares]:
    """Yield the statistic of rows that occur more than once in their own sample.

    Let D be the share of such rows in Y minus their share in X. A large sample has more of them by
    chance than a small one, so that D is also centered at its mean over all labelings. The
    statistic is D or the centered D, whichever is nearer to 0, and 0 if their signs differ: X and a
    copy of X with new rows have D = 0, although their common rows make a larger D likely.

    Nothing is yielded if fewer than four pooled rows equal another row. Rows are left out if they
    may be equal only because of missing values, see `repeated_rows`.
    """
    table = pool.samples.table
    repeated = repeated_rows(table)
    equal, unclear = np.flatnonzero(repeated == 1), np.flatnonzero(np.isnan(repeated))
    if len(equal) < LEAST_ROWS:
        return
    _, group, counts = np.unique(row_hashes(table[equal]), return_inverse=True, return_counts=True)
    permutations = pool.permutations
    counts = permutations.repeated_counts(equal[np.argsort(group, kind="stable")], counts)
    sizes = permutations.sizes
    if len(unclear):
        of_x = permutations.subset_counts(unclear, np.array([len(unclear)]))[0]
        sizes = np.maximum(1.0, sizes - np.stack([of_x, len(unclear) - of_x]))
    x, y = counts / sizes
    difference = y - x
    centered = difference - difference.mean()
    smaller = np.minimum(np.abs(difference), np.abs(centered))
    contrasts = np.where(difference * centered > 0, np.copysign(smaller, difference), 0.0)
    feature = _member_feature(pool, Member("repeated"), (float(x[0]), float(y[0])))
    mean = np.array([len(equal) / len(table)])
    yield FamilyShares("repeated rows", [feature], mean, np.ones(1), contrasts[None])


def _member_feature(pool: PooledSample, member: Member, shares: tuple[float, float]) -> Feature:
    """Return the feature of a function with values 0 and 1, and with these means in X and Y."""
    samples, value = pool.samples, None
    if member.event == "shares":
        category = samples.categories[member.columns[0] - len(samples.names)]
        value = category.all_values[int(member.value)]
    columns = tuple(samples.all_names[j] for j in member.columns)
    return Feature(member.event, columns=columns, value=value, member=member, shares=shares)


def _means(values: np.ndarray, n_x: int) -> tuple[float, float]:
    """Return the means of values (n,) in X and in Y, ignoring NaN; 0 if all are NaN."""
    parts = (part[~np.isnan(part)] for part in (values[:n_x], values[n_x:]))
    x, y = (float(part.mean()) if len(part) else 0.0 for part in parts)
    return x, y
