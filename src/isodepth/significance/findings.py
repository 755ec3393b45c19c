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
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from isodepth.base.options import MOST
from isodepth.significance.features import Feature, in_blocks
from isodepth.significance.samples import CENTER, PooledSample

# Relative difference below which two statistics count as tied, because of rounding.
_ROUNDING = 1e-6
# Maximum ratio of a statistic to the mean of the others.
_LARGEST_RATIO = 1e60
# Number of labelings above which statistics are evaluated one by one. Ctrl-C is noticed only
# between calls of NumPy, and the tail probabilities of a million labelings take about 0.1 s.
_LONG_ROW = 100_000
# Number of labelings, the given one included, with which the lower bound for the share of changed
# rows is computed, if its level needs no more. More hardly change a 5% quantile.
_BOUND_LABELINGS = 128
# Part of the level with which columns are named. The rest is for pairs of columns.
_COLUMNS_LEVEL = 0.75
# Maximum share of rows that occur more than once in a sample whose rows are rarely equal.
_RARELY_EQUAL = 0.1


def fewest_labelings(level: float, factor: float = 1.0) -> int:
    """Return the smallest number of labelings with which a p-value can be at most `level`.

    P-values are multiplied by `factor`, an adjustment for multiple testing. The number includes the
    given labels. A rounding error of `level` has no effect.

    Examples
    --------
    >>> fewest_labelings(0.05), fewest_labelings(1 - 0.999)
    (20, 1000)
    """
    # Fractions do not overflow if `level` is tiny.
    return math.ceil(Fraction((1.0 - 1e-12) * factor) / Fraction(level))


def too_few_permutations(n_permutations: int, alpha: float, factor: float = 1.0) -> str:
    """Return a phrase with the number of permutations that is needed; "" if there are enough.

    There are enough if a p-value can be at most `alpha`. P-values are multiplied by `factor`.

    Examples
    --------
    >>> too_few_permutations(19, 0.01)
    '19 permutations cannot give a p-value of at most 0.01, at least 99 are needed'
    >>> too_few_permutations(99, 0.01)
    ''
    """
    needed = fewest_labelings(alpha, factor) - 1
    if n_permutations >= needed:
        return ""
    permutations = "1 permutation" if n_permutations == 1 else f"{n_permutations} permutations"
    pvalue = "a p-value" if factor == 1.0 else "an adjusted p-value"
    least = str(needed) if needed <= MOST else f"{Decimal(needed):.3g}"
    return f"{permutations} cannot give {pvalue} of at most {alpha}, at least {least} are needed"


def too_few_labelings(n_x: int, n_y: int, alpha: float, units: str = "rows") -> str:
    """Return a phrase if n_x and n_y units have too few labelings for a p-value of at most alpha.

    The phrase is "" if they have enough. A labeling assigns n_x of the units, such as rows or
    blocks, to X and the others to Y. If all C(n_x + n_y, n_x) labelings were compared, a p-value
    would be at least 1 / C(n_x + n_y, n_x). It would be at least twice this number for n_x = n_y,
    because statistics do not change if X and Y are exchanged. A p-value from random permutations
    estimates the p-value from all labelings. `units` is the noun for the units.

    Examples
    --------
    >>> too_few_labelings(2, 2, 0.05, "blocks")
    '4 blocks have only 6 labelings: over all of them, a p-value is at least 2/6, above 0.05'
    >>> too_few_labelings(3, 4, 0.05)
    ''
    """
    n, ties, count = n_x + n_y, 1 + (n_x == n_y), 1
    for i in range(min(n_x, n_y)):
        count = count * (n - i) // (i + 1)
        if count > MOST or Fraction(alpha) * count >= Fraction((1.0 - 1e-12) * ties):
            return ""
    return (
        f"{n} {units} have only {count} labelings: over all of them, a p-value is at least "
        f"{ties}/{count}, above {alpha}"
    )


def bound_labelings(alpha: float) -> int:
    """Return the maximum number of labelings from which confidence bounds are computed.

    These are the lower bounds for the share of changed rows (`changed_share` of a result), with
    confidence 1 - `alpha`. The number is sufficient for a p-value of `alpha`.
    """
    return max(_BOUND_LABELINGS, fewest_labelings(alpha))


def moments(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean of statistics over the last axis, and their variance divided by mean^2.

    The last axis of both results has length 1. The maximum is excluded: an outlier would otherwise
    inflate the moments that it is compared with.
    """
    others = np.array(values, np.float64)
    largest = others.argmax(axis=-1)[..., None]
    n = max(1, others.shape[-1] - 1)
    np.put_along_axis(others, largest, 0.0, axis=-1)
    # Values are multiplied by a power of two, which is exact, so that their sum does not overflow.
    mean = (others * 2.0**-64).sum(axis=-1, keepdims=True) / n * 2.0**64
    np.put_along_axis(others, largest, mean, axis=-1)
    mean = np.maximum(mean, np.finfo(np.float64).tiny)
    variance = np.square(others / mean - 1.0).sum(axis=-1, keepdims=True) / n
    # If all values except the maximum are equal, their variance is 0. The lower limit 1e-12 ensures
    # that a maximum that is larger only by rounding does not count as an outlier.
    return mean, np.maximum(variance, 1e-12)


def neg_log_p(values: np.ndarray, at: np.ndarray | None = None) -> np.ndarray:
    """Return -log p of statistics, where p is the upper tail probability of a gamma distribution.

    The gamma distribution has the mean and the variance of all `values` (..., B + 1) along the last
    axis except the maximum; see `moments`. Tail probabilities are computed by the approximation of
    Wilson and Hilferty: the cube root of a gamma variable is nearly normal. -log p is returned for
    the statistics `at`, of any length along the last axis, or for `values` if `at` is None. All
    statistics must be at least 0.

    Examples
    --------
    >>> import numpy as np
    >>> int(neg_log_p(np.array([9.0, 1.0, 2.0, 3.0])).argmax())
    0
    """
    from scipy.special import log_ndtr

    if at is None and values.ndim > 1 and values.shape[-1] > _LONG_ROW:
        return np.stack([neg_log_p(row) for row in values])
    mean, variance = moments(values)
    deviation = np.sqrt(variance) / 3.0
    # If all other statistics are 0, the ratio would be infinite, and statistics that are infinite
    # for different labelings could not be compared.
    with np.errstate(over="ignore"):
        root = np.cbrt(np.minimum((values if at is None else at) / mean, _LARGEST_RATIO))
    return -log_ndtr((1.0 - root) / deviation - deviation)


def critical_value(values: np.ndarray, level: float) -> float:
    """Return the statistic whose -log p is `level`, the inverse of `neg_log_p` for values (B + 1,).

    Examples
    --------
    >>> values = np.array([9.0, 1.0, 2.0, 3.0])
    >>> round(critical_value(values, neg_log_p(values)[0]), 6)
    9.0
    """
    from scipy.special import ndtri_exp

    mean, variance = moments(values)
    deviation = np.sqrt(variance) / 3.0
    root = 1.0 - deviation * (ndtri_exp(min(-level, -1e-300)) + deviation)
    return float((mean * np.maximum(root, 0.0) ** 3)[0])


def neg_log_p_of_largest(values: np.ndarray) -> np.ndarray:
    """Return -log p (B + 1,) of a statistic (B + 1,) that is itself a maximum of many -log p.

    A Gumbel distribution is fitted, because the maximum of K exponential variables is nearly log K
    plus a Gumbel variable. A gamma distribution has a shorter tail and would give too large -log p.
    Maxima over many columns would then dominate the other statistics of the test.
    """
    from scipy.special import exprel

    mean, variance = moments(values)
    z = (values - mean) / (np.sqrt(6.0 * variance) / np.pi * mean) + np.euler_gamma
    # The result is -log(1 - exp(-exp(-z))), the -log of the Gumbel tail probability at z. It is
    # about z for large z.
    return z - np.log(exprel(-np.exp(-np.maximum(z, -500.0))))


def combined(strengths: dict[str, np.ndarray], weights: dict[str, float]) -> np.ndarray:
    """Return the test statistic (B + 1,): the maximum of -log p + log(weight) over statistics.

    `strengths` has -log p (B + 1,) of each statistic, and `weights` its weight.
    """
    return np.max([part + np.log(weights[name]) for name, part in strengths.items()], axis=0)


def permutation_pvalue(observed: Any, null: np.ndarray) -> Any:
    """Return (1 + number of `null` values >= `observed`) / (1 + B), where `null` has shape (B,).

    `observed` may be an array of statistics. Values that differ by rounding errors count as equal.

    Examples
    --------
    >>> import numpy as np
    >>> permutation_pvalue(2.0, np.array([1.0, 2.0, 3.0]))
    0.75
    """
    observed = np.asarray(observed, np.float64)
    # The median is a typical size of the statistic. A few permutations may have huge statistics.
    least = observed - _ROUNDING * (np.abs(observed) + np.median(np.abs(null)))
    below = np.searchsorted(np.sort(null), least, side="left")
    pvalues = (1 + len(null) - below) / (1 + len(null))
    return float(pvalues) if observed.ndim == 0 else pvalues


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
