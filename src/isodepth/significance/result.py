"""Result of a two-sample test, and distances between regions of samples with permuted labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from isodepth.core.directions import rng_for
from isodepth.core.regions import midpoint_levels
from isodepth.data.changes import Change
from isodepth.data.kinds import ColumnKind, attention_suffix
from isodepth.data.missing import MissingPair
from isodepth.data.results import p_text, plain
from isodepth.metric.comparison import Comparison
from isodepth.metric.fitted import FittedMetric
from isodepth.results import TwoSampleReport
from isodepth.significance.permutations import Permutations
from isodepth.significance.samples import ValueShare

#: Significance level for headlines and lists of changes.
ALPHA = 0.05
# Attributes of `TwoSampleResult` that `to_dict` includes under the same name.
_COPIED = (
    "headline", "statistic", "pvalue", "method", "tolerance", "smallest_tolerance",
    "components", "column_tests", "notes", "kinds", "shares", "signature",
)  # fmt: skip


_LEVELS = 20
# Minimum and maximum number of permutations in `null_profile`. The 0.05 and 0.95 quantiles of 19
# numbers are their minimum and maximum. More than 99 permutations hardly change these quantiles.
_FEWEST, _MOST = 19, 99
# Maximum number of projections of a row on a direction in `null_profile`, for all permutations
# together. It limits the time to a few seconds. If 19 permutations need more, 19 are used.
_WORK = 1 << 27


class Component(NamedTuple):
    """One of the statistics that a test combines.

    Attributes
    ----------
    name : str
        Name of the statistic, such as "directions", "columns", "shape", "dependence", "regions".
    kind : str
        Kind of change that the statistic indicates: "location", "spread", "shape", "dependence",
        "regions", "shares", "missing".
    feature : str
        Column, pair of columns, direction or function of a row with the largest statistic.
    value : float
        Value of the statistic.
    pvalue : float
        P-value of this statistic alone, not adjusted for the other statistics.
    """

    name: str
    kind: str
    feature: str
    value: float
    pvalue: float


class ColumnTest(NamedTuple):
    """Test of one column by its own values.

    Attributes
    ----------
    column : str
    kind : str
        Kind of the largest change of the column: "location", "spread", "shape", "shares" (of a
        category) or "missing".
    difference : float in [0, 1]
        Maximum difference between the empirical distribution functions of the two samples. For a
        category, half of the sum of the absolute differences of all shares. For the kind "missing",
        the absolute difference of the shares of missing values.
    shift : float or None
        Median of Y minus median of X, divided by the robust standard deviation of the column in
        both samples together; None for a category and for the kind "missing".
    pvalue : float
        P-value, adjusted for the number of columns, and at least the p-value of the whole test. If
        the unchanged columns have the same joint distribution in both samples, the probability that
        any of these columns has a p-value of at most a is at most a.
    """

    column: str
    kind: str
    difference: float
    shift: float | None
    pvalue: float


@dataclass(frozen=True, eq=False, repr=False)
class TwoSampleResult(TwoSampleReport):
    """Result of :func:`isodepth.two_sample_test`.

    Attributes
    ----------
    statistic : float
        For the aggregated test the maximum of -log p + log w over its statistics, with weights w;
        for ``method="regions"`` the distance DR between the trimmed regions of the samples.
    pvalue : float
        (1 + number of permutations with a statistic at least as large) / (1 + n_permutations).
    null_distribution : ndarray of shape (n_permutations,)
        Statistic of each permutation. With a tolerance, the allowed share of contaminated rows is
        subtracted from the observed differences only, not from those of the permutations.
    components : list of Component
        All statistics, in decreasing order of their contribution to `statistic`.
    changes : list of Change
        Significant changes, the strongest first. The list is empty if the test is not
        significant, and may be empty if no column or pair of columns is significant by itself.
    column_tests : list of ColumnTest
        Test of each column, the strongest evidence first.
    n_rows : pair of int
        Numbers of compared rows of X and Y.
    method : {"aggregated", "regions"}
    tolerance : float or None
    smallest_tolerance : float or None
        For a test with a tolerance, the smallest tolerance for which the p-value is above 5%.
    missing : MissingPair or None
        Rows that ``nan_policy="omit"`` dropped.
    notes : tuple of str
        Remarks, such as omitted columns, and categories that occur in only one sample.
    kinds : tuple of ColumnKind
        Kind and use of every column of data frames; empty for arrays.
    shares : list of ValueShare
        Shares of all values of categories in X and in Y; rare values are pooled.
    moved_from : str or None
        Device from which tensors were copied to the host, such as "cuda:0".

    Examples
    --------
    >>> import numpy as np, isodepth
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(300, 2)), rng.normal(size=(300, 2)) * [1, 1.5]
    >>> result = isodepth.two_sample_test(X, Y, random_state=0)
    >>> result.headline
    'The samples differ (p = 0.003): column 1: interquartile range 1.27 -> 1.82'
    """

    result_type = "test"

    statistic: float
    pvalue: float
    null_distribution: np.ndarray
    components: list[Component]
    changes: list[Change]
    column_tests: list[ColumnTest]
    n_rows: tuple[int, int]
    method: str
    tolerance: float | None
    smallest_tolerance: float | None
    missing: MissingPair | None
    notes: tuple[str, ...]
    kinds: tuple[ColumnKind, ...]
    shares: list[ValueShare]
    moved_from: str | None = None
    _signature: Callable[[], str] = str
    _compare: Callable[[], Comparison] | None = None
    _blocks: np.ndarray | None = None
    _inputs: Any = None

    @cached_property
    def signature(self) -> str:
        """Settings of the test, as a short string."""
        return self._signature()

    @property
    def null_mean(self) -> float:
        """Mean of `null_distribution`."""
        return float(self.null_distribution.mean())

    @property
    def significant(self) -> bool:
        """Whether the p-value is at most 0.05."""
        return self.pvalue <= ALPHA

    @property
    def headline(self) -> str:
        """One sentence: whether the samples differ, the p-value, and the strongest change.

        If at least 5% of the rows of a sample have the same unusual value, such as -9999, the
        headline mentions these rows instead of the strongest change.
        """
        p = p_text(self.pvalue)
        if self.significant:
            beyond = f" beyond a tolerance of {self.tolerance:.3g}" if self.tolerance else ""
            change = self._headlined_rows() or self.strongest_change
            headline = f"The samples differ{beyond} (p = {p}): {change}"
        else:
            n = len(self.null_distribution)
            beyond = " beyond the tolerance" if self.tolerance else ""
            if self.pvalue * (n + 1) < 1.5:
                p = f"{p}, the smallest possible with {n} permutations"
            headline = f"No significant difference{beyond} (p = {p})"
        return headline + attention_suffix(self.kinds)

    @property
    def strongest_change(self) -> str:
        """Strongest change in the units of its column; "" if the test is not significant."""
        if not self.significant:
            return ""
        if self.changes:
            return self.changes[0].text
        first = self.components[0]
        if first.kind == "regions":
            return "regions of the deepest rows, no column by itself"
        return f"{first.kind} along {first.feature}, no column by itself"

    @property
    def tolerance_range(self) -> str:
        """Phrase with the range of tolerances for which the test is significant.

        It is "" if the test is not significant or has no tolerance.
        """
        if not self.significant or self.smallest_tolerance is None:
            return ""
        smallest = self.smallest_tolerance
        percent = f"{100 * smallest:.2g}%" if smallest < 0.995 else "100%"
        return f"significant with every tolerance below {percent}"

    @cached_property
    def comparison(self) -> Comparison:
        """Comparison of the two samples by their distance, with the settings of the test.

        It is computed at the first access.
        """
        if self._compare is None:
            raise AttributeError("a test of categories alone has no comparison of regions")
        return replace(self._compare(), test=self, _inputs=self._inputs)

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain Python numbers and strings.

        The null distribution is summarized by its mean, its standard deviation, and its 0.025 and
        0.975 quantiles.
        """
        result = {name: getattr(self, name) for name in _COPIED}
        null = self.null_distribution
        interval = np.quantile(null, [0.025, 0.975])
        result |= {
            "changes": [change.to_dict() for change in self.changes],
            "null": {"mean": self.null_mean, "deviation": null.std(), "interval": interval},
            "n_permutations": len(null),
            "rows": list(self.n_rows),
        }
        if self.missing is not None:
            result["missing"] = [
                {"rows": m.n_rows, "dropped": m.n_dropped, "counts": dict(m.counts)}
                for m in (self.missing.x, self.missing.y)
            ]
        if self.moved_from is not None:
            result["moved_from"] = self.moved_from
        return plain(result)

    def _rows(self) -> dict[str, list[Any]]:
        """Return `column_tests` as a table with one row per column of the data."""
        names = ColumnTest._fields
        return {name: [getattr(test, name) for test in self.column_tests] for name in names}

    def profile_of(self, comparison: Comparison) -> NullProfile:
        """Return the gaps between regions after permutations of the labels, see `null_profile`."""
        return null_profile(comparison, self._blocks, len(self.null_distribution))

    def __repr__(self) -> str:
        # Imported here and not at the top, because `isodepth.report` imports Jinja, which is slow.
        from isodepth.report.sentences import summary_lines

        return "\n  ".join(summary_lines(self))


class NullProfile(NamedTuple):
    """Distances between the trimmed regions of two samples after permutation of the labels.

    Attributes
    ----------
    levels : ndarray of shape (L,)
        Levels of the compared regions.
    gaps : ndarray of shape (B, L)
        Gap of each of B permutations at each level: the distance between both regions.
    distances : ndarray of shape (B,)
        Distance DR of each permutation, the mean of its gaps.
    """

    levels: np.ndarray
    gaps: np.ndarray
    distances: np.ndarray

    @property
    def band(self) -> tuple[np.ndarray, np.ndarray]:
        """The 0.05 and 0.95 quantiles of the gaps at each level, as two arrays of shape (L,)."""
        low, high = np.quantile(self.gaps, [0.05, 0.95], axis=0, method="weibull")
        return low, high


def null_profile(comparison: Comparison, blocks: np.ndarray | None, most: int) -> NullProfile:
    """Compute the gaps between the regions of two samples after permutations of their labels.

    The settings are those of `comparison`, except that gaps are computed at 20 fixed levels. The
    number of permutations, 19 to 99 and at most `most`, is chosen so that the computation takes a
    few seconds. Each call uses the same permutations.

    Parameters
    ----------
    comparison : Comparison
        Comparison of two samples of n and m rows without weights.
    blocks : int64 ndarray of shape (n + m,) or None
        Index of the block of each row. The rows of a block are permuted together. None if every
        row is a block.
    most : int
        Maximum number of permutations.
    """
    x, y = (regions.points for regions in comparison.regions)
    points = np.concatenate([x, y])
    fitted: FittedMetric = comparison._fitted
    levels = midpoint_levels(_LEVELS, fitted.settings.eps)
    fitted = replace(fitted, betas=levels)
    affordable = _WORK // (len(points) * len(fitted.directions))
    count = min(most, max(_FEWEST, min(_MOST, affordable)))
    rng = rng_for(0, "permutations")
    labels = Permutations.draw(len(x), len(y), count, rng, blocks).labels(dtype=bool)
    gaps, distances = np.empty((count, _LEVELS)), np.empty(count)
    for b, first in enumerate(labels.T[1:]):
        compared = fitted.gaps(*map(fitted.regions_of_rows, (points[first], points[~first])))
        gaps[b] = compared.values
        distances[b] = fitted.mean(compared.values, compared.plan)
    return NullProfile(levels, gaps, distances)
