"""P-values of statistics under permutation of the labels, and multiple testing.

A labeling assigns each row to X or to Y. A feature is a function of a row, such as the value of a
column (`isodepth.significance.features`).

The last axis of an array of statistics has one entry per labeling: the given labels first, then B
random permutations of them. The rank of the first entry among all entries gives the p-value. The
p-value remains exact after any transformation of the statistics that treats all labelings alike.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from isodepth.significance.features import Feature, in_blocks
from isodepth.significance.permutations import fewest_labelings, permutation_pvalue
from isodepth.significance.samples import CENTER, PooledSample

# Number of labelings, the given one included, with which the lower bound for the share of changed
# rows is computed, if its level needs no more. More hardly change a 5% quantile.
_BOUND_LABELINGS = 128
# Part of the level with which columns are named. The rest is for pairs of columns.
_COLUMNS_LEVEL = 0.75
# Maximum share of rows that occur more than once in a sample whose rows are rarely equal.
_RARELY_EQUAL = 0.1


def bound_labelings(alpha: float) -> int:
    """Return the maximum number of labelings from which confidence bounds are computed.

    These are the lower bounds for the share of changed rows (`changed_share` of a result), with
    confidence 1 - `alpha`. The number is sufficient for a p-value of `alpha`.
    """
    return max(_BOUND_LABELINGS, fewest_labelings(alpha))


def combined(strengths: dict[str, np.ndarray], weights: dict[str, float]) -> np.ndarray:
    """Return the test statistic (B + 1,): the maximum of -log p + log(weight) over statistics.

    `strengths` has -log p (B + 1,) of each statistic, and `weights` its weight.
    """
    return np.max([part + np.log(weights[name]) for name, part in strengths.items()], axis=0)


class FeatureTest(NamedTuple):
    """Test of one feature.

    The attribute `strength` is -log p of this feature alone. The attribute `pvalue` is adjusted
    for all features of the same family. In the result of `ranked_tests`, it is the p-value of a
    statistic, which is the maximum over several features.
    """

    strength: float
    pvalue: float
    feature: Feature


class FeatureFamily:
    """Features whose p-values are adjusted together for multiple testing.

    The adjusted p-value of a feature compares its -log p with the maximum of -log p over all
    features of the family, under each permutation of the labels. `count` is the number of
    labelings, and `level` the part of the significance level that the family has.
    """

    def __init__(self, count: int, level: float) -> None:
        self.level = level  # part of the level if it is adjusted together with other families
        self.features: list[Feature] = []
        self.observed: list[float] = []  # -log p of each feature under the given labels
        self.largest = np.zeros(count)  # maximum of -log p over all features, for all labelings

    @property
    def offset(self) -> float:
        """Logarithm of the part of the significance level that each feature of the family has.

        The offset is added to -log p of the features, so that families of different sizes can be
        compared.
        """
        return math.log(self.level / max(1, len(self.features)))


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
        self.columns = FeatureFamily(count, _COLUMNS_LEVEL)
        self.pairs = FeatureFamily(count, 1 - _COLUMNS_LEVEL)
        self.whole = FeatureFamily(count, 1.0)
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
        """Add F features with their -log p (F, B + 1) to their families, see `family_of`."""
        families = [self.family_of(feature) for feature in features]
        for family in (self.columns, self.pairs, self.whole):
            own = [f for f, each in enumerate(families) if each is family]
            if own:
                family.features += [features[f] for f in own]
                family.observed += strengths[own, 0].tolist()
                np.maximum(family.largest, strengths[own].max(axis=0), out=family.largest)

    def family_of(self, feature: Feature) -> FeatureFamily:
        """Return the family of a feature: single columns, pairs of columns, or all columns.

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

    def adjusted(self, family: FeatureFamily) -> np.ndarray:
        """Return the p-values of a family, adjusted for multiple testing.

        P-values of columns and pairs are adjusted for both together. If the unchanged columns have
        the same joint distribution in both samples, the probability that any of them, or any pair
        of them, has a p-value of at most a is at most a. The significance level is divided between
        columns and pairs, because pairs may be much more numerous. If one sample has copies of
        rows, a p-value of a column or pair is at least its p-value after the copies are removed.
        """
        if not family.features:
            return np.empty(0)
        whole = family is self.whole
        families = [self.whole] if whole else [self.columns, self.pairs]
        largest = np.max([each.largest + each.offset for each in families if each.features], axis=0)
        pvalues = permutation_pvalue(np.array(family.observed) + family.offset, largest[1:])
        if self.distinct is None or whole:
            return pvalues
        same = self.distinct.columns if family is self.columns else self.distinct.pairs
        smallest: dict[Any, float] = {}
        for feature, pvalue in zip(same.features, self.distinct.adjusted(same), strict=True):
            smallest[feature.subject] = min(pvalue, smallest.get(feature.subject, 1.0))
        others = [smallest.get(feature.subject, 1.0) for feature in family.features]
        return np.maximum(pvalues, others)

    def significant(self, family: FeatureFamily, alpha: float) -> list[FeatureTest]:
        """Return the tests of the features whose adjusted p-value is at most alpha."""
        each = zip(family.observed, self.adjusted(family).tolist(), family.features, strict=True)
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
        self, rows: PooledSample, most: int
    ) -> Iterator[tuple[np.ndarray, list[Feature]]]:
        """Yield the pairs of columns whose dependence is compared, in blocks of P pairs.

        A block consists of the column indices (P, 2) and of a list with the feature of each pair.

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
        for block in in_blocks(np.concatenate([pairs, with_distance]), rows, 4):
            features = []
            for a, b in block.tolist():
                columns = (names[a], names[b]) if b < d else (names[a],)
                features.append(Feature("dependence", f"{names[a]} and {names[b]}", columns))
            yield block, features
