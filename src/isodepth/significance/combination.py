"""Combination of several statistics on the same permutations into one exact p-value.

The last axis of statistics is that of the labelings, the given one first. Any function that treats
all labelings alike keeps the p-value, the rank of the given labeling, exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from isodepth.significance.pooled_sample import CENTER, MAX_NUMBERS, Permutations, PooledSample
from isodepth.significance.settings import Category

# Relative difference below which two statistics count as tied, because of rounding.
ROUNDING = 1e-6
# The mean of a column within a category is not compared if a sample has fewer rows in it.
_MIN_INSIDE = 5


def moments(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and variance / mean^2 along the last axis, which is kept.

    The maximum is excluded: an outlier would otherwise inflate the moments that it is compared
    with.
    """
    others = np.array(values, np.float64)
    largest = others.argmax(axis=-1)[..., None]
    n = max(1, others.shape[-1] - 1)
    np.put_along_axis(others, largest, 0.0, axis=-1)
    mean = others.sum(axis=-1, keepdims=True) / n
    np.put_along_axis(others, largest, mean, axis=-1)
    mean = np.maximum(mean, np.finfo(np.float64).tiny)
    variance = np.square(others / mean - 1.0).sum(axis=-1, keepdims=True) / n
    # If all values are equal, a value that is larger by more than rounding is an outlier.
    return mean, np.maximum(variance, 1e-12)


def neg_log_p(values: np.ndarray, at: np.ndarray | None = None) -> np.ndarray:
    """Return -log p of each labeling, from the gamma distribution with the moments of all.

    Uses the approximation of Wilson and Hilferty: the cube root of a gamma variable is nearly
    normal.

    Parameters
    ----------
    values : ndarray of shape (..., B + 1), not negative
    at : ndarray of shape (..., any) or None
        Points at which the tail probability is computed; None for the values themselves.

    Examples
    --------
    >>> import numpy as np
    >>> int(neg_log_p(np.array([9.0, 1.0, 2.0, 3.0])).argmax())
    0
    """
    from scipy.special import log_ndtr

    mean, variance = moments(values)
    deviation = np.sqrt(variance) / 3.0
    root = np.cbrt((values if at is None else at) / mean)
    return -log_ndtr((1.0 - root) / deviation - deviation)


def neg_log_p_of_largest(values: np.ndarray, at: np.ndarray | None = None) -> np.ndarray:
    """Return -log p of each labeling for a maximum of many -log p, from the Gumbel distribution.

    The maximum of K exponential variables is nearly log K plus a Gumbel variable. A gamma
    distribution with the same moments has a shorter tail: such statistics would then use a larger
    part of the level the more columns there are.
    """
    from scipy.special import exprel

    mean, variance = moments(values)
    scale = np.sqrt(6.0 * variance) / np.pi * mean
    z = ((values if at is None else at) - mean) / scale + np.euler_gamma
    # -log(1 - exp(-exp(-z))), which is about z for large z.
    return z - np.log(exprel(-np.exp(-np.maximum(z, -500.0))))


def combined(neg_log_p: dict[str, np.ndarray], weights: dict[str, float]) -> np.ndarray:
    """Return the maximum of -log p + log w over statistics, for each labeling."""
    return np.max([part + np.log(weights[name]) for name, part in neg_log_p.items()], axis=0)


def permutation_pvalue(observed: Any, null: np.ndarray) -> Any:
    """Return (1 + number of `null` (B,) at least as large) / (1 + B), for one or many statistics.

    Examples
    --------
    >>> import numpy as np
    >>> permutation_pvalue(2.0, np.array([1.0, 2.0, 3.0]))
    0.75
    """
    observed = np.asarray(observed, np.float64)
    least = observed - ROUNDING * (np.abs(observed) + np.ptp(null))
    below = np.searchsorted(np.sort(null), least, side="left")
    found = (1 + len(null) - below) / (1 + len(null))
    return float(found) if observed.ndim == 0 else found


def mean_changes(permutations: Permutations, values: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Compare the means of values (F, n) within sets of rows between the samples.

    Parameters
    ----------
    permutations : Permutations
    values : ndarray of shape (F, n)
    inside : ndarray of shape (F, n)
        1 for the rows of the set, else 0.

    Returns
    -------
    changes : ndarray of shape (F, B + 1)
        Difference between the samples of (mean within the set - mean of all rows), in units of the
        standard error of the mean within the set. 0 if a sample has fewer than five rows in the
        set.
    """
    inner, counts, whole = (permutations.both_sums(v) for v in (values * inside, inside, values))
    sizes = np.maximum(counts, 1.0)
    relative = inner / sizes - whole / permutations.sizes[:, None]
    change = (relative[0] - relative[1]) * np.sqrt(sizes[0] * sizes[1] / (sizes[0] + sizes[1]))
    return np.where(counts.min(axis=0) < _MIN_INSIDE, 0.0, change)


class Moments:
    """Means and variances of centered functions of a row (F, n) in both samples, all labelings."""

    def __init__(self, permutations: Permutations, values: np.ndarray) -> None:
        self._permutations = permutations
        self.means = self._both(values)
        self.variances = self._both(np.square(values)) - np.square(self.means)

    def _both(self, values: np.ndarray) -> np.ndarray:
        """Return the means in the two samples, of shape (2, F, B + 1)."""
        return self._permutations.both_sums(values) / self._permutations.sizes[:, None]

    def correlation_change(self, values: np.ndarray, pairs: np.ndarray) -> np.ndarray:
        """Return the correlations of pairs (P, 2) in X minus those in Y, of shape (P, B + 1)."""
        a, b = pairs.T
        covariance = self._both(values[a] * values[b]) - self.means[:, a] * self.means[:, b]
        # The correlation is 0 if a function is constant in a sample. Ranks are of order one, so a
        # variance below this limit is rounding.
        flat = np.minimum(self.variances[:, a], self.variances[:, b]) <= 1e-15
        product = np.where(flat, 1.0, self.variances[:, a] * self.variances[:, b])
        correlations = np.where(flat, 0.0, covariance / np.sqrt(product))
        return correlations[0] - correlations[1]


# -- features of a row that may have changed ---------------------------------------------------


class Feature(NamedTuple):
    """Function of a row that may have changed: of a column, a pair of columns, or of all columns.

    Attributes
    ----------
    kinds : tuple of str
        Kinds of change that it indicates, such as ("location", "spread"); the main one first.
    label : str
        Name of the column, pair, direction or function.
    columns : tuple of str
        One column, or the two columns of a dependence; empty for a function of all columns.
    value : str or None
        Category of the last column, for a share or for a dependence within a category.
    """

    kinds: tuple[str, ...]
    label: str
    columns: tuple[str, ...] = ()
    value: str | None = None


def column_feature(name: str, *kinds: str) -> Feature:
    """Return the feature of one column."""
    return Feature(kinds, name, (name,))


def shares_feature(category: Category, strengths: np.ndarray) -> Feature:
    """Return the feature of a category, with the value that changed most."""
    return Feature(
        ("shares",), category.name, (category.name,), category.values[int(strengths.argmax())]
    )


# -log p, adjusted p-value, and feature.
Test = tuple[float, float, Feature]


class Family:
    """Features whose p-values are adjusted for each other by the maximum over all of them.

    Attributes
    ----------
    features : list of Feature
    observed : list of float
        -log p of each feature under the given labels.
    largest : ndarray of shape (B + 1,)
        Maximum of -log p over all features, for each labeling.
    """

    def __init__(self, count: int) -> None:
        self.features: list[Feature] = []
        self.observed: list[float] = []
        self.largest = np.zeros(count)

    def add(self, features: Sequence[Feature], neg_log_p: np.ndarray) -> None:
        """Add features with their -log p (F, B + 1)."""
        self.features += features
        self.observed += neg_log_p[:, 0].tolist()
        np.maximum(self.largest, neg_log_p.max(axis=0), out=self.largest)

    def pvalues(self) -> np.ndarray:
        """Return the adjusted p-values of all features."""
        return permutation_pvalue(np.array(self.observed), self.largest[1:])

    def significant(self, alpha: float) -> list[Test]:
        """Return -log p, adjusted p-value and feature, for p-values of at most alpha."""
        tests = zip(self.observed, self.pvalues().tolist(), self.features, strict=True)
        return [test for test in tests if test[1] <= alpha]


class Findings:
    """Statistics of all labelings.

    Attributes
    ----------
    parts, neg_log_p : dicts of ndarrays of shape (B + 1,)
        Each statistic for all labelings, and its -log p.
    weights : dict of float
        Weights of the statistics.
    strongest : dict of Feature
        Feature with the largest value of each statistic under the given labels.
    columns, pairs, whole : Family
        Single columns, pairs of columns, and functions of all columns.
    smallest_tolerance : float or None
    notes : list of str
    """

    def __init__(self, count: int, weights: dict[str, float]) -> None:
        self.weights = weights
        self.parts: dict[str, np.ndarray] = {}
        self.neg_log_p: dict[str, np.ndarray] = {}
        self.smallest_tolerance: float | None = None
        self.strongest: dict[str, Feature] = {}
        self.columns, self.pairs, self.whole = (Family(count) for _ in range(3))
        self.notes: list[str] = []

    def add(self, name: str, values: np.ndarray, features: Sequence[Feature]) -> None:
        """Include values (F, B + 1) of features in the maximum that is the statistic `name`."""
        first, largest = int(values[:, 0].argmax()), values.max(axis=0)
        if name not in self.parts or largest[0] > self.parts[name][0]:
            self.strongest[name] = features[first]
        self.parts[name] = np.maximum(self.parts.get(name, 0.0), largest)

    def pairs_of(
        self, rows: PooledSample, most: int
    ) -> Iterator[tuple[np.ndarray, list[Feature], Family]]:
        """Yield pairs of columns, and of each column and the distance from the center, in blocks.

        The distance has the index d. A change of inner rows in one direction and of outer rows in
        the opposite one shows in no column and no pair of columns.
        """
        d = rows.points.shape[1]
        names = (*rows.names, CENTER)
        pairs, notes = rows.pairs(most)
        self.notes += notes
        with_distance = np.stack([np.arange(d), np.full(d, d)], axis=1)
        step = max(1, MAX_NUMBERS // (4 * max(len(rows.points), rows.permutations.count)))
        for chosen, family in ((pairs, self.pairs), (with_distance, self.whole)):
            for first in range(0, len(chosen), step):
                block = chosen[first : first + step]
                features = [
                    Feature(
                        ("dependence",), f"{names[a]} and {names[b]}",
                        (names[a], names[b]) if family is self.pairs else (names[a],),
                    )
                    for a, b in block
                ]  # fmt: skip
                yield block, features, family
