"""TwoSampleResult: whether two samples differ by more than chance, and how."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from isodepth.data.kinds import ColumnKind
from isodepth.data.missing import MissingPair
from isodepth.data.results import p_text, plain
from isodepth.metric.comparison import Comparison
from isodepth.results import ReportableResult
from isodepth.significance.categories import ValueShare
from isodepth.significance.null_profile import NullProfile, null_profile

#: The level at which verdicts are given.
ALPHA = 0.05
_SHOWN = 5
# Differences of shares from which an effect is small, medium and large.
_SIZES = {"large": 0.31, "medium": 0.2, "small": 0.08, "very small": 0.0}
# What `to_dict` tells without a change.
_AS_THEY_ARE = (
    "verdict", "effect", "statistic", "pvalue", "z_score", "method", "tolerance",
    "smallest_tolerance", "components", "changes", "columns", "notes", "kinds", "shares",
    "signature",
)  # fmt: skip


class Component(NamedTuple):
    """One of the statistics of a test.

    Attributes
    ----------
    name : str
        Such as "directions", "columns", "shape", "dependence", "regions", "categories".
    kind : str
        What change it indicates: "location", "spread", "shape", "dependence", "regions", "shares".
    carrier : str
        The column, pair of columns, direction or function of a row where it is largest.
    value : float
    pvalue : float
        Of this statistic alone; not adjusted for the others.
    """

    name: str
    kind: str
    carrier: str
    value: float
    pvalue: float


class Change(NamedTuple):
    """A change that is significant by itself.

    Attributes
    ----------
    kind : {"location", "spread", "shape", "dependence", "shares"}
    columns : tuple of str
        One column, or the two of a pair; empty for a function of all columns.
    text : str
        Such as "the spread of wind_speed".
    pvalue : float
        Adjusted for all columns, or for all pairs of columns. What kind of change it is, is an
        estimate.
    """

    kind: str
    columns: tuple[str, ...]
    text: str
    pvalue: float


class ColumnTest(NamedTuple):
    """One column of a two-sample test, tested by its own values alone.

    Attributes
    ----------
    column : str
    kind : str
        What changed most about it: "location", "spread", "shape" or, of a category, "shares".
    difference : float in [0, 1]
        The largest difference between the shares of rows up to a value in the two samples; of a
        category, half of the sum of the differences of all shares.
    shift : float or None
        The median of Y less that of X, in units of the spread of both; None for a category.
    pvalue : float
        Adjusted for all columns, and not below that of the test. If the unchanged columns have
        jointly the same distribution in both samples, the chance that any of them has one of at
        most a is at most a.
    """

    column: str
    kind: str
    difference: float
    shift: float | None
    pvalue: float


class Effect(NamedTuple):
    """How large a significant difference is, by the column whose shares differ most.

    Attributes
    ----------
    size : {"very small", "small", "medium", "large"}
        By the difference of shares: below 0.08, 0.2 and 0.31, which normal columns have whose means
        are 0.2, 0.5 and 0.8 standard deviations apart, and above.
    column : str
    difference : float
        Of the shares, see :class:`ColumnTest`.
    shift : float or None
        Of the medians, in units of the spread.
    """

    size: str
    column: str
    difference: float
    shift: float | None

    def __str__(self) -> str:
        medians = "" if self.shift is None else f"medians {abs(self.shift):.2g} spreads apart, "
        apart = f"{medians}shares {_percent(self.difference)} apart"
        return f"{self.size} effect by columns, largest in {self.column} ({apart})"


def _percent(share: float) -> str:
    return f"{100 * share:.2g}%" if share < 0.995 else "100%"


@dataclass(frozen=True, eq=False, repr=False)
class TwoSampleResult(ReportableResult):
    """The result of :func:`isodepth.two_sample_test`.

    Attributes
    ----------
    statistic : float
        For the aggregated test the largest of -log p + log w over its statistics; for
        ``method="regions"`` the distance DR.
    pvalue : float
        (1 + number of permutations with a statistic at least as large) / (1 + n_permutations).
    null_distribution : ndarray of shape (n_permutations,)
        The statistic of each permutation, without a tolerance.
    components : list of Component
        All statistics; the one that decided comes first.
    changes : list of Change
        What differs significantly, the strongest evidence first; may be empty even if the samples
        differ.
    columns : list of ColumnTest
        The strongest evidence first.
    n_rows : pair of int
        Rows of X and Y that were compared.
    method : {"aggregated", "regions"}
    tolerance : float or None
    smallest_tolerance : float or None
        With a tolerance: the smallest one that would not be rejected at 5%.
    missing : MissingPair or None
        What ``nan_policy="omit"`` left out.
    notes : tuple of str
        What else is to be known, such as columns that are categories or were left out, and
        categories that only one of the samples has.
    kinds : tuple of ColumnKind
        Every column of data frames, with its kind and what was done with it; empty for arrays.
    shares : list of ValueShare
        The shares of all values of categories in X and in Y, rare ones together.
    signature : str
        How the numbers were made.
    moved_from : str or None
        The device that tensors were moved from to the host, such as "cuda:0".

    Examples
    --------
    >>> import numpy as np, isodepth
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(300, 2)), rng.normal(size=(300, 2)) * [1, 1.5]
    >>> result = isodepth.two_sample_test(X, Y, n_permutations=199, random_state=0)
    >>> result.verdict
    'the samples differ (p = 0.005): the spread of column 1'
    """

    result_type = "test"

    statistic: float
    pvalue: float
    null_distribution: np.ndarray
    components: list[Component]
    changes: list[Change]
    columns: list[ColumnTest]
    n_rows: tuple[int, int]
    method: str
    tolerance: float | None
    smallest_tolerance: float | None
    missing: MissingPair | None
    notes: tuple[str, ...]
    kinds: tuple[ColumnKind, ...]
    shares: list[ValueShare]
    signature: str
    moved_from: str | None = None
    _compare: Callable[[], Comparison] | None = field(default=None, repr=False)
    _blocks: np.ndarray | None = field(default=None, repr=False)

    @property
    def null_mean(self) -> float:
        """What samples of the same distribution give on average."""
        return float(self.null_distribution.mean())

    @property
    def null_deviation(self) -> float:
        """The standard deviation of `null_distribution`."""
        return float(self.null_distribution.std())

    @property
    def null_interval(self) -> tuple[float, float]:
        """Between these lie 95% of `null_distribution`."""
        low, high = np.quantile(self.null_distribution, [0.025, 0.975])
        return float(low), float(high)

    @property
    def z_score(self) -> float:
        """The statistic above `null_mean`, in standard deviations; 0 where both are constant."""
        above, spread = self.statistic - self.null_mean, self.null_deviation
        rounding = 1e-12 * max(abs(self.statistic), abs(self.null_mean))
        if spread > rounding:
            return above / spread
        return 0.0 if abs(above) <= rounding else float(np.copysign(np.inf, above))

    @property
    def significant(self) -> bool:
        """Whether the p-value is at most 0.05."""
        return self.pvalue <= ALPHA

    @property
    def verdict(self) -> str:
        """One sentence: whether the samples differ, and what changed in which columns."""
        n, p = len(self.null_distribution), p_text(self.pvalue)
        if not self.significant:
            beyond = " beyond the tolerance" if self.tolerance else ""
            least = self.pvalue * (n + 1) < 1.5
            possible = f", the smallest possible with {n} permutations" if least else ""
            return f"no significant difference{beyond} (p = {p}{possible})"
        more = f" by more than {self.tolerance or 0:.3g} of the rows could explain"
        return f"the samples differ{more if self.tolerance else ''} (p = {p}): {self.what}"

    @property
    def effect(self) -> Effect | None:
        """How large the difference is; None where none is significant, or in no single column."""
        found = [column for column in self.columns if column.pvalue <= ALPHA]
        if not self.significant or not found:
            return None
        most = max(found, key=lambda column: column.difference)
        size = next(word for word, least in _SIZES.items() if most.difference >= least)
        return Effect(size, most.column, most.difference, most.shift)

    @property
    def explained(self) -> str:
        """Up to which tolerance the difference stays significant, where that is known."""
        if not self.significant or self.smallest_tolerance is None:
            return ""
        return f"significant with every tolerance below {_percent(self.smallest_tolerance)}"

    @property
    def what(self) -> str:
        """What changed in which columns, as far as the test can tell."""
        if self.changes:
            return sentence_of(self.changes)
        first = self.components[0]
        if first.kind == "regions":
            return "the regions that hold the deepest rows"
        return f"the {first.kind}, most along {first.carrier}; no column or pair by itself"

    @cached_property
    def comparison(self) -> Comparison:
        """The comparison of the two samples with the same settings, made when first asked for."""
        if self._compare is None:
            raise AttributeError("a test of categories alone has no comparison of regions")
        return replace(self._compare(), test=self)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers and texts; the null distribution by a few quantiles."""
        result = {name: getattr(self, name) for name in _AS_THEY_ARE}
        low, high = self.null_interval
        null = {"mean": self.null_mean, "deviation": self.null_deviation, "interval": [low, high]}
        result |= {
            "null": null,
            "n_permutations": len(self.null_distribution),
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
        """One row for each column."""
        names = ColumnTest._fields
        return {name: [getattr(column, name) for column in self.columns] for name in names}

    def profile_of(self, comparison: Comparison) -> NullProfile:
        """What equal distributions would give in a comparison of the same rows, at each level."""
        return null_profile(comparison, self._blocks, len(self.null_distribution))

    @property
    def summary(self) -> str:
        """One line: how large the difference is, the verdict, and the statistic beside chance."""
        low, high = self.null_interval
        known = [str(self.effect) if self.effect else "", self.verdict, self.explained]
        return (
            f"{'; '.join(filter(None, known))}; statistic {self.statistic:.3g}, by chance "
            f"{low:.3g} to {high:.3g} in 95% of {len(self.null_distribution)} permutations"
        )

    def __repr__(self) -> str:
        n, m = self.n_rows
        shown = ", ".join(f"{c.column} (p = {p_text(c.pvalue)})" for c in self.columns[:_SHOWN])
        more = len(self.columns) - _SHOWN
        parts = ", ".join(f"{c.name} {c.pvalue:.3g}" for c in self.components)
        lines = [
            f"TwoSampleResult: {n} against {m} rows",
            self.summary,
            f"by column: {shown}{f', and {more} more' if more > 0 else ''}",
            f"p by statistic: {parts}",
        ]
        if self.smallest_tolerance is not None:
            lines.append(f"smallest tolerance not rejected: {_percent(self.smallest_tolerance)}")
        if self.missing is not None:
            lines.append(str(self.missing))
        lines += self.notes
        if self.moved_from is not None:
            lines.append(f"computed on the host, to which rows were copied from {self.moved_from}")
        return "\n  ".join([*lines, self.signature])


def sentence_of(changes: Sequence[Change]) -> str:
    """The changes as they stand in a sentence, those of one kind together.

    Examples
    --------
    >>> sentence_of([Change("spread", ("a",), "the spread of a", 0.01),
    ...              Change("dependence", ("b", "c"), "the dependence between b and c", 0.02),
    ...              Change("spread", ("d",), "the spread of d", 0.03)])
    'the spread of a and d and the dependence between b and c'
    """
    phrases: dict[str, list[str]] = {}
    for change in changes[:_SHOWN]:
        if len(change.columns) == 1 and change.kind != "shares":
            phrases.setdefault(f"the {change.kind} of", []).append(change.columns[0])
        else:
            phrases[change.text] = []
    parts = [f"{head} {listed(names)}" if names else head for head, names in phrases.items()]
    more = len(changes) - _SHOWN
    return listed([*parts, f"{more} more change{'s' * (more > 1)}"] if more > 0 else parts)


def listed(words: Sequence[str]) -> str:
    """Words with commas and an "and"."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
