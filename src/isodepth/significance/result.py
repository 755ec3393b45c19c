"""Result of a two-sample test, alone and together with a comparison of the same samples.

A block is a group of rows that are permuted together. A joint change is a change of several columns
together.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Self

import numpy as np

from isodepth._version import __version__
from isodepth.base.declared import ALPHA
from isodepth.base.export import Headline, ResultPart, keys, p_text, printable, table_of
from isodepth.base.words import counted, listed
from isodepth.errors import DegenerateDepthWarning, InvalidInputError, ScaleWarning, warn_user
from isodepth.functions.changes import Change, at_least
from isodepth.geometry.scaling import column_units
from isodepth.metric.attribution import named_contributions
from isodepth.metric.comparison import ChanceLevel, Comparison, few_splits
from isodepth.metric.metric import Metric
from isodepth.metric.signature import kinds_text
from isodepth.rows.checks import Check, overlap_sentence, with_names
from isodepth.rows.kept import KeptRows, ReleasedRows
from isodepth.rows.pair_result import PairResult
from isodepth.rows.rows import TwoSamples
from isodepth.rows.suspicious import UNCHANGED, ChangedColumns, SuspiciousRows
from isodepth.rows.suspicious.far import FarValues, far_texts
from isodepth.rows.suspicious.results import split_repeated
from isodepth.significance.null_profile import NullProfile, null_profile
from isodepth.significance.permutations import too_few_labelings, too_few_permutations
from isodepth.significance.regions import compare_regions
from isodepth.significance.samples import Samples, ValueShare
from isodepth.stream.subsets import RandomRows
from isodepth.table.kinds import ColumnKind, attention_suffix, date_columns
from isodepth.table.missing import MissingPair

#: Options of the metric of method="regions".
OF_REGIONS: dict[str, Any] = {"depth": "projection", "p": 2.0, "q": 2.0, "eps": 0.1, "levels": 20}
# Minimum fraction of the rows of a sample with the same unusual value that the headline mentions.
_HEADLINED_FRACTION = 0.01
# Kinds of checks that the headline mentions, minimum fraction of rows with a new category, and
# maximum number of facts without a significant change; with a change, one fact is mentioned.
_HEADLINED_CHECKS = ("empty", "constant", "new category", "date range")
_HEADLINED_CATEGORY, _MOST_FACTS = 0.05, 2
# Maximum number of changes in a summary, in addition to that of the headline.
_MAX_CHANGES = 4
# Kind of the change that says the same as a check of a kind.
_SAME_KIND = {
    "empty": "missing", "constant": "value", "new category": "shares",
    "vanished category": "shares", "repeated rows": "repeated",
}  # fmt: skip
# Maximum number of rows of both samples for which `repr` lists suspicious rows, which takes less
# than a second then.
_ROWS_IN_REPR = 20_000


@dataclass(frozen=True, eq=False)
class Component(ResultPart):
    """One of the statistics that a test combines.

    Attributes
    ----------
    name : str
        Name of the statistic, such as "directions", "columns", "extremes", "dependence", "regions".
    feature : str
        Column, pair of columns, direction or function of a row with the largest statistic.
    statistic : float
        Value of the statistic. Statistics have different units, so compare their p-values.
    pvalue : float
        P-value of this statistic alone, not adjusted for the other statistics.
    """

    name: str
    feature: str
    statistic: float
    pvalue: float


@dataclass(frozen=True, eq=False)
class ColumnTest(ResultPart):
    """Test of one column by its own values.

    Attributes
    ----------
    column : str
    change_kind : str or None
        Kind of the change of the column, see :class:`isodepth.typing.Change`; None if it is not
        significant.
    difference : float in [0, 1]
        Maximum difference between the empirical distribution functions of the two samples. For a
        category, half of the sum of the absolute differences of all shares. If the missing values
        of the column have its strongest test, the absolute difference of their shares.
    shift : float or None
        Median of Y minus median of X, divided by the robust standard deviation of the column in
        both samples together. None for a category, if the missing values have the strongest test,
        and if a sample has no value.
    pvalue : float
        P-value, adjusted for all columns and pairs of columns together, and at least the p-value of
        the whole test. If the unchanged columns have the same joint distribution in both samples,
        the probability that any of them, or any pair of them, has a p-value of at most a is at most
        a.
    """

    column: str
    change_kind: str | None
    difference: float
    shift: float | None
    pvalue: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Decision:
    """P-values of a test and its significant changes. See `TwoSampleResult` for most attributes.

    Attributes
    ----------
    changes : list of Change
        Significant changes without bounds for the share of changed rows, smallest p-value first.
    factor : float
        Factor of the p-values, 1 unless a part of the level is used for rare events.
    """

    statistic: float
    pvalue: float
    null_distribution: np.ndarray
    components: tuple[Component, ...]
    column_tests: tuple[ColumnTest, ...]
    changes: list[Change]
    alpha: float
    factor: float = 1.0


@dataclass(eq=False)
class TestedRows(KeptRows):
    """Rows of two samples as the test read them.

    Attributes
    ----------
    tested : Samples
    metric : Metric or None
        Metric that compares the samples, with directions and scale. None without numeric columns.
    random_rows : RandomRows or None
        Random rows of two sources, which were tested; None if the samples are in memory.
    changed : ChangedColumns
        Names of the columns that changed.
    """

    tested: Samples
    metric: Metric | None
    random_rows: RandomRows | None = None
    changed: ChangedColumns = UNCHANGED

    @property
    def samples(self) -> TwoSamples:
        return self.tested.read

    @property
    def pair(self) -> RandomRows | None:
        return self.random_rows


@dataclass(frozen=True, eq=False)
class TestDetails:
    """Results of a test that are not public.

    Attributes
    ----------
    changes : tuple of Change
    changed_share : float or None
        Lower confidence bound for the share of changed rows; None if it was not computed.
    factor : float
        See `Decision`.
    in_chunks : bool
        Whether the samples were read in chunks. The tested rows are then random rows, or all rows
        if they are few.
    n_blocks : pair of int, or None
        Numbers of blocks of X and Y; None if rows are permuted.
    """

    changes: tuple[Change, ...]
    changed_share: float | None
    factor: float = 1.0
    in_chunks: bool = False
    n_blocks: tuple[int, int] | None = None


def _same_fact(check: Check, change: Change) -> bool:
    """Return whether a change says the same as a check, with the p-value of a test."""
    same = change.kind == _SAME_KIND.get(check.kind) and change.columns == check.columns
    return same and (change.value is None or str(change._shown_value) in check.text)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TwoSampleResult(PairResult):
    """Result of :func:`isodepth.two_sample_test`.

    Attributes
    ----------
    statistic : float
        For the aggregated test the maximum of -log p + log w over its statistics, with weights w;
        for ``method="regions"`` the distance DR between the trimmed regions of the samples.
    pvalue : float
        (1 + number of permutations with a statistic at least as large) / (1 + n_permutations).
        If rare events of samples that are read in chunks are counted, it is the minimum of this
        value / 0.8 and of the smallest p-value of a rare event / 0.2, and at most 1. It may then be
        below 1 / (1 + n_permutations), because rare events have exact p-values without
        permutations.
    null_distribution : ndarray of shape (n_permutations,)
        Statistic of each permutation. With a tolerance, the allowed share of contaminated rows is
        subtracted from the observed differences only, not from those of the permutations.
    components : tuple of Component
        All statistics, in decreasing order of their contribution to `statistic`; "rare events" is
        last.
    column_tests : tuple of ColumnTest
        Test of each column, the strongest evidence first.
    n_rows : pair of int
        Numbers of rows of X and Y, as they were passed.
    n_used_rows : pair of int
        Numbers of tested rows. They are smaller than `n_rows` if random rows of samples that are
        read in chunks were tested.
    method : {"aggregated", "regions"}
        "regions" also if the argument `method` was a metric, whose options are in `settings`.
    tolerance : float or None
    alpha : float
        Significance level of the test. The confidence level of `changed_share` is 1 - alpha.
    missing : MissingPair
        Numbers of missing values of each numeric column in the tested rows. No row is dropped.
    notes : tuple of str
        Remarks, such as omitted columns, and categories that occur in only one sample.
    kinds : tuple of ColumnKind
        Kind and use of the columns that both data frames have; empty for arrays. `checks` names
        other columns.
    category_shares : tuple of ValueShare
        Shares of all values of categories in X and in Y; rare values are pooled.
    checks : tuple of Check
        Facts about the two tables that need no test, such as constant columns and new categories.
        Empty if random rows of samples that are read in chunks were tested.
    settings : dict
        Settings of the test by the names of the options, with the values that were used. Arrays
        and objects are described by strings. `blocks` is the number of blocks.
    device : str or None
        Device from which tensors were copied to the host, such as "cuda:0".
    n_permutations : int
        Number of permutations.
    significant : bool
        Whether `pvalue` is at most `alpha`.
    headline : str
        The result in one sentence.
    changes : tuple of Change
        Significant changes, the largest first; empty if there are none.
    changed_share : float or None
        Lower confidence bound for the share of rows that changed; None with `blocks`, and with
        ``bounds=False``.
    changed_share_text : str
        The same bound in words.
    signature : str
        Settings of the test, as a short string.

    Examples
    --------
    >>> import numpy as np, isodepth
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(300, 2)), rng.normal(size=(300, 2)) * [1, 1.5]
    >>> result = isodepth.two_sample_test(X, Y, random_state=0)
    >>> result.headline
    'Y differs from X (p = 0.002): column 1: interquartile range 1.27 -> 1.82.'
    """

    _result_type = "test"
    _in_json = keys(
        "headline", "significant", "statistic", "pvalue", "method", "tolerance", "changed_share",
        "alpha", "components", "column_tests", "notes", "kinds", "category_shares", "signature",
        "changes", "checks", "n_permutations", "n_rows", "n_used_rows", "missing", "device",
        null_distribution="_null_summary", settings="_json_settings",
    )  # fmt: skip

    statistic: float
    pvalue: float
    null_distribution: np.ndarray
    components: tuple[Component, ...]
    column_tests: tuple[ColumnTest, ...]
    n_rows: tuple[int, int]
    n_used_rows: tuple[int, int]
    method: str
    tolerance: float | None
    alpha: float
    missing: MissingPair
    notes: tuple[str, ...]
    kinds: tuple[ColumnKind, ...]
    category_shares: tuple[ValueShare, ...]
    checks: tuple[Check, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)
    device: str | None = None
    _details: TestDetails | None = field(init=False, repr=False, default=None)
    _kept: TestedRows | ReleasedRows | None = field(init=False, repr=False, default=None)
    _names: tuple[str, str] = field(init=False, repr=False, default=("X", "Y"))

    @property
    def signature(self) -> str:
        """Settings of the test, as a short string."""
        tolerance, blocks, scale, seed, n_directions = (
            self.settings[name]
            for name in ("tolerance", "blocks", "scale", "random_state", "n_directions")
        )
        parts = {
            "method": self.method,
            "tolerance": "none" if tolerance is None else f"{tolerance:g}",
            "permutations": self.settings["n_permutations"],
            "blocks": "rows" if blocks is None else blocks,
            "scale": "none" if scale is None else scale,
            "dirs": f"axes+orthogonal:{n_directions or 0}",
        }
        if self.method == "regions":
            metric = self.settings.get("metric", OF_REGIONS)
            parts |= {name: f"{metric[name]:g}" for name in ("q", "p", "eps", "levels")}
            parts["depth"] = metric["depth"]
        if "kinds" in self.settings:
            parts["kinds"] = kinds_text(self.settings["kinds"])
        if "max_rows" in self.settings:
            parts["max_rows"] = self.settings["max_rows"]
        parts |= {"seed": "none" if seed is None else seed, "v": __version__}
        return "|".join(["two-sample", *(f"{key}={value}" for key, value in parts.items())])

    @property
    def _tested_rows_text(self) -> str:
        """Sentence about the numbers of tested rows; "" if all rows were tested."""
        if self.n_used_rows == self.n_rows:
            return ""
        both = zip(self.n_used_rows, self.n_rows, "XY", strict=True)
        parts = " and ".join(f"{count} of {n} rows of {name}" for count, n, name in both)
        rare = self.tolerance is None and self.method != "regions"
        return f"tested at random: {parts}{'; rare events are counted in all rows' * rare}"

    @property
    def _has_all_rows(self) -> bool:
        return self._details is None or not self._details.in_chunks

    @property
    def _keeps_rows(self) -> bool:
        """Whether the result has the tested rows; False after `without_rows`."""
        return isinstance(self._kept, TestedRows)

    def without_rows(self) -> Self:
        # The docstring is that of the base class.
        return self._with(
            _kept=ReleasedRows(self._repeated_values, self._far_values, self._typical),
        )

    @property
    def _kept_rows(self) -> TestedRows:
        rows = super()._kept_rows
        assert isinstance(rows, TestedRows)
        return rows

    @property
    def n_permutations(self) -> int:
        """Number of permutations."""
        return len(self.null_distribution)

    @property
    def significant(self) -> bool:
        """Whether the p-value is at most `alpha`."""
        return self.pvalue <= self.alpha

    @property
    def changed_share(self) -> float | None:
        """Lower confidence bound for the share of rows that changed, in [0, 1].

        At least this share of the rows of one sample has no counterpart in the other. If the
        samples have equal sizes, it is about the smallest tolerance that a test does not reject at
        the level `alpha`. It is 0 if nothing can be claimed, also if this test, without a
        tolerance, is not significant. For large samples, it is a lower bound for the total
        variation distance of the two distributions. The bound depends slightly on whether the test
        has a tolerance, but not on its value. It is None with ``bounds=False``, and with blocks,
        for which there is no guarantee for a bound.
        """
        return self._required(self._details).changed_share

    @property
    def _n_blocks(self) -> tuple[int, int] | None:
        """Numbers of blocks of X and Y; None without blocks."""
        return self._required(self._details).n_blocks

    def _too_few(self, factor: float = 1.0) -> str:
        """Return why the test can never be significant, or "" if it can.

        The reason is a too small number of rows, blocks or permutations. P-values are multiplied
        by `factor`. If it is not 1, rare events have exact p-values, and only permutations are
        counted.
        """
        blocks = self._n_blocks
        units = (*self.n_used_rows, "rows") if blocks is None else (*blocks, "blocks")
        n_x, n_y, noun = units
        few = too_few_labelings(n_x, n_y, self.alpha, noun) if factor == 1.0 else ""
        return few or too_few_permutations(self.n_permutations, self.alpha, factor)

    @property
    def _confidence_text(self) -> str:
        """Confidence level of `changed_share`, such as "95% confidence"."""
        return f"{100 * (1 - self.alpha):.10g}% confidence"

    @property
    def changed_share_text(self) -> str:
        """Sentence about `changed_share`, such as "at least 21% of the rows changed"."""
        if self.settings["blocks"] is not None:
            return "no bound for the share of changed rows with blocks"
        if self.changed_share is None:
            return "the share of changed rows was not computed (bounds=False)"
        too_few = self._too_few()
        if too_few:
            return f"no share of changed rows can be claimed: {too_few}"
        share = at_least(self.changed_share)
        claim = (
            f"{share} of the rows changed" if share
            else "no change of at least 1% of the rows can be claimed"
        )  # fmt: skip
        return f"{claim} ({self._confidence_text})"

    @property
    def changes(self) -> tuple[Change, ...]:
        """Significant changes, the largest first; empty if the test is not significant.

        Changes are ordered by `Change.changed_share`, the lower confidence bound for the share of
        rows that changed in these columns, and without bounds by their p-values. Columns that look
        like row numbers come last. If several columns together show that far more rows changed than
        any of these changes, a change of kind "joint" is added as the second one. It is not the
        first, because its description has no numbers.
        """
        return self._required(self._details).changes

    @property
    def _test(self) -> Self:
        return self

    def _headline(self, names: Sequence[str]) -> Headline:
        # Equality is not suggested if most of the data could not be compared, or if the headline
        # names a difference that needs no test, such as a column of one sample only.
        doubts = self._unused_part(names) or self._facts(names)
        doubts = doubts or overlap_sentence(self.checks, names)
        status = "differs" if self.significant else "open" if doubts else "alike"
        sentence = f"{self._headline_about(names)}{attention_suffix(self.kinds)}."
        return Headline(sentence, status)

    def _remarks(self, rows: SuspiciousRows | None, names: Sequence[str]) -> list[str]:
        headline = self._headline_about(names)
        changes = [] if self._has_typical_rows else self.changes[: 1 + _MAX_CHANGES]
        checks = [
            check
            for check in self.checks
            if not any(_same_fact(check, change) for change in changes)
        ]
        texts = [with_names(check, names) for check in checks]
        return [
            *super()._remarks(rows, names), *(text for text in texts if text[1:] not in headline)
        ]  # fmt: skip

    @property
    def _further_changes(self) -> list[str]:
        # The headline names one change, or typical rows if there are many unnamed columns.
        named = 0 if self._has_typical_rows else 1
        further = len(self.changes) - named
        return [counted(further, "more change" if named else "change")] if further > 0 else []

    @property
    def _has_typical_rows(self) -> bool:
        return self.significant and super()._has_typical_rows

    def _difference_lines(self, names: Sequence[str]) -> list[str]:
        """Return lines about changes that the headline does not name, and `changed_share_text`.

        The text is omitted if the bound is below 1%. If the difference is described by typical
        rows, they replace the changes.
        """
        share = [self.changed_share_text] if at_least(self.changed_share) else []
        if (typical := self._typical) is not None:
            return [self._tested_rows_text, *share, *typical._texts(names)]
        headline = self._headline_about(names)
        known = [check for check in self.checks if check.text in headline]
        lines = [
            str(change)
            for change in self.changes[1 : 1 + _MAX_CHANGES]
            if not any(_same_fact(check, change) for check in known)
        ]
        unlisted = len(self.changes) - 1 - _MAX_CHANGES
        more = [f"and {counted(unlisted, 'more change')}"] if unlisted > 0 else []
        return [self._tested_rows_text, *lines, *more, *share]

    def _last_lines(self, chance: Any) -> list[str]:
        device = self.device
        return [] if device is None else [f"rows were copied from {device} to the host"]

    def _headline_about(self, names: Sequence[str]) -> str:
        """Return the headline with the names of both samples, without columns of doubtful kind."""
        x, y = names
        p = p_text(self.pvalue, self.alpha)
        p += "" if self.alpha == ALPHA else f", alpha = {self.alpha}"
        facts = self._facts((x, y))
        if self.significant:
            beyond = f" beyond a tolerance of {self.tolerance:.3g}" if self.tolerance else ""
            typical = self._typical
            change = self._strongest_change if typical is None else typical._phrase((x, y))
            if typical is None and self.changes and self.changes[0].pvalue > self.alpha:
                alone = p_text(self.changes[0].pvalue, self.alpha)
                change += f" (alone p = {alone}, not significant)"
            if typical is None and self.changes:
                # Changes of such columns come last, so all changes are of such columns.
                first = {*self.changes[0].columns}
                counters = [
                    c for c in self.checks if c.kind == "row number" and first & {*c.columns}
                ]
                change += f" ({counters[0].text})" if counters else ""
                # A fact is easier to act on than a change of several columns together.
                if facts and self.changes[0].kind in ("joint", "regions"):
                    change = facts.pop(0)
            headline = f"{y} differs from {x}{beyond} (p = {p}): {change}"
        else:
            beyond = " beyond the tolerance" if self.tolerance else ""
            too_few = self._too_few(self._required(self._details).factor)
            p += f"; {too_few}" if too_few else ""
            headline = f"No significant difference between {x} and {y}{beyond} (p = {p})"
        if facts:
            headline += f"{'; also ' if self.significant else ', but '}{'; '.join(facts)}"
        return overlap_sentence(self.checks, names) + self._caveat + headline

    def _facts(self, names: Sequence[str]) -> list[str]:
        """Return facts about the tables that need no test and are not part of the first change.

        `names` are the names of X and Y. Rows with values far beyond any extrapolation are first.
        At most two further facts are returned, and one if the test is significant.
        """
        named = set(self.changes[0].columns) if self.changes else set()
        values = named if self.changes and self.changes[0].kind == "value" else set()
        of_one_sample = [
            f"{name} (only in {names['XY'.index(check.sample or 'X')]})"
            for check in self.checks if check.kind == "column"
            for name in check.columns
        ]  # fmt: skip
        facts = [f"not compared: {listed(of_one_sample, 4)}"] if of_one_sample else []
        omitted = {kind.column for kind in self.kinds if kind.use == "omit"}
        facts += [
            check.text for check in self.checks
            if check.kind == "type" and omitted & {*check.columns}
        ]  # fmt: skip
        wrong, _ = split_repeated(self._repeated_values)
        dates = date_columns(self.kinds)
        for each in wrong:
            if each.share >= _HEADLINED_FRACTION and not values & {*each.columns}:
                facts.append(each._text(names["XY".index(each.sample)], dates))
        for check in self.checks:
            shown = check.kind in _HEADLINED_CHECKS and not named & {*check.columns}
            rare = check.kind == "new category" and (check.after or 0.0) < _HEADLINED_CATEGORY
            if shown and not rare and (check.sample or check.kind == "date range"):
                facts.append(check.text)
        extremes = named if self.changes and self.changes[0].kind in ("value", "extremes") else ()
        far = far_texts([each for each in self._far_values if each.column not in extremes], names)
        return [*far, *facts[: 1 if self.significant else _MOST_FACTS]]

    @property
    def _far_values(self) -> tuple[FarValues, ...]:
        """Values far beyond any extrapolation from the other sample; () if unknown."""
        return () if self._kept is None else self._kept.far_values

    @property
    def _caveat(self) -> str:
        """First sentence of the headline if more than half of the values are missing, else ""."""
        known = self._known_fraction
        return f"Only {known:.0%} of the values are known. " if known < 0.5 else ""

    @property
    def _known_fraction(self) -> float:
        """Fraction of the values of numeric columns that are not missing."""
        counts = [each.counts for each in (self.missing.x, self.missing.y)]
        cells = sum(self.n_used_rows) * max(1, len(counts[0]))
        absent = sum(sum(part.values()) for part in counts)
        return 1.0 - absent / max(1, cells)

    @property
    def _strongest_change(self) -> str:
        """Text of the first of `changes`; "" if there is none."""
        return self.changes[0].text if self.changes else ""

    @cached_property
    def _comparison(self) -> TestedComparison:
        """Comparison of the two samples by their distance, with the settings of the test.

        Figures and reports use it. It is computed at the first access.
        """
        rows = self._kept_rows
        if rows.metric is None:
            raise InvalidInputError(
                "a test of categories alone has no regions, which need numeric columns"
            )
        with warnings.catch_warnings():
            if self.method == "aggregated":  # it has no option `depth` that the warning advises
                warnings.simplefilter("ignore", DegenerateDepthWarning)
            return TestedComparison.of(compare_regions(rows.tested, rows.metric), self)

    @property
    def _null_summary(self) -> dict[str, Any]:
        """Mean, standard deviation, and 0.025 and 0.975 quantiles of the null distribution."""
        null = self.null_distribution
        # Statistics may be so large that their squares overflow.
        size = math.ldexp(1.0, math.frexp(float(np.abs(null).max()))[1] - 1)
        std = (null / size).std() * size
        return {"mean": null.mean(), "std": std, "interval": np.quantile(null, [0.025, 0.975])}

    def _rows(self) -> dict[str, list[Any]]:
        """Return `column_tests` as a table with one row per column of the data."""
        return table_of(self.column_tests, [each.name for each in fields(ColumnTest)])

    def _profile_of(self, comparison: Comparison, count: int | None = None) -> NullProfile:
        """Compute gaps between the regions of both samples after permutations of the labels.

        The blocks of this test are permuted as a whole. `count` is the number of permutations; None
        for a number that takes a few seconds.
        """
        blocks = self._kept_rows.tested.blocks
        kept = None if comparison.missing is None else comparison.missing.kept
        if blocks is not None and kept is not None:
            blocks = blocks[np.concatenate(kept)]
            blocks = np.unique(blocks, return_inverse=True)[1]
        return null_profile(comparison, blocks, self.n_permutations, count)

    def __bool__(self) -> bool:
        raise TypeError("a test has no truth value; use result.significant")

    def __repr__(self) -> str:
        shown = self._keeps_rows and sum(self.n_rows) <= _ROWS_IN_REPR
        rows = self.suspicious_rows() if shown else None
        return printable("\n  ".join(self._summary(self._names, rows)))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TestedComparison(Comparison):
    """Comparison of two samples, with a test of the same samples.

    Attributes
    ----------
    test : TwoSampleResult
    """

    __test__ = False  # pytest would collect the class because of its name

    test: TwoSampleResult
    # Value of `_units_note` if the rows from which it is computed were released.
    _known_note: str | None = field(init=False, repr=False, default=None)

    @classmethod
    def of(cls, comparison: Comparison, test: TwoSampleResult) -> TestedComparison:
        """Combine a comparison and a test of the same samples; the rows are those of the test."""
        public = {
            each.name: getattr(comparison, each.name) for each in fields(Comparison) if each.init
        }
        return cls(**public, test=test)._with(_details=comparison._details, _kept=test._kept)

    @property
    def units(self) -> str:
        # The comparison of a test has the array of the divisors that the test computed.
        if self.settings["scale"] is not None and self.test.settings.get("scale") == "pooled":
            return "robust standard deviations of the columns"
        return super().units

    @cached_property
    def _units_note(self) -> str:
        """Sentence about units that hide the changes of a significant test; "" if they do not.

        The units of the columns hide them if no changed column has one of the largest contributions
        to the distance, and if a changed column had the largest one in units of the spreads.
        """
        if self._known_note is not None:
            return self._known_note
        if not self.test.significant or self.settings["scale"] is not None:
            return ""
        fractions = {each.column: each.fraction for each in self.contributions}
        tests = self.test.column_tests
        changed = [each.column for each in tests if each.change_kind and each.column in fractions]
        named = [each.column for each in named_contributions(self.contributions)]
        if not changed or {*named} & {*changed}:
            return ""
        first, samples = named[0], self._two_samples

        def in_spreads(name: str) -> float:
            at = samples.columns.index(name)
            values = np.concatenate([points[:, at] for points in samples.points])
            unit = column_units(values[~np.isnan(values), None])[0]
            return math.sqrt(fractions[name]) / float(unit)

        if in_spreads(first) >= max(map(in_spreads, changed)):
            return ""
        return (
            f"because of its unit, {first} contributes {fractions[first]:.0%} to the distance, "
            f"although the test finds a change of {listed(changed, 3)}; the scale 'pooled' divides "
            "every column by its spread"
        )

    def _warn_of_units(self) -> None:
        if self._units_note:
            warn_user(self._units_note, ScaleWarning)
        else:
            super()._warn_of_units()

    @property
    def _has_all_rows(self) -> bool:
        return super()._has_all_rows and self.test._has_all_rows

    # -- sentences --------------------------------------------------------------------------

    @property
    def _test(self) -> TwoSampleResult:
        return self.test

    def _headline(self, names: Sequence[str]) -> Headline:
        return self.test._headline(names)

    def _remarks(self, rows: SuspiciousRows | None, names: Sequence[str]) -> list[str]:
        return [*self.test._remarks(rows, names), *self._dropped()]

    def _unused_part(self, names: Sequence[str]) -> str:
        return self.test._unused_part(names)

    @property
    def _has_typical_rows(self) -> bool:
        return self.test.significant and super()._has_typical_rows

    def _difference_lines(self, names: Sequence[str]) -> list[str]:
        return self.test._difference_lines(names)

    def _distance_sentence(self, chance: ChanceLevel | str, name: str = "distance") -> str:
        """Return also a sentence about units that hide the changes that the test finds."""
        sentence = super()._distance_sentence(chance, name)
        if not isinstance(chance, str):
            sentence += " (the test uses more than the distance)"
        note = self._units_note
        return f"{sentence}. {note[0].upper()}{note[1:]}" if note else sentence

    # -- permutations of blocks ---------------------------------------------------------------

    def _few_splits(self) -> str:
        blocks = self.test._n_blocks
        return super()._few_splits() if blocks is None else few_splits(*blocks, "blocks")

    def _chance_distances(self, n_splits: int) -> np.ndarray:
        """Return the distances between random splits; with blocks, of whole blocks."""
        if self.test.settings["blocks"] is None:
            return super()._chance_distances(n_splits)
        self._require_rows("random splits need")
        profile = self._null_profile
        assert profile is not None
        distances = profile.distances
        if len(distances) < n_splits:
            distances = self.test._profile_of(self, n_splits).distances
        return distances[:n_splits]

    @cached_property
    def _null_profile(self) -> NullProfile | None:
        """Gaps between regions after permutations of the labels; None without rows in memory."""
        return self.test._profile_of(self) if self._keeps_rows else None

    # -- results ------------------------------------------------------------------------------

    def without_rows(self) -> Self:
        # The docstring is that of the base class.
        note, typical = self._units_note, self._typical
        released = super().without_rows()
        kept = ReleasedRows(self._repeated_values, (), typical)
        return released._with(test=self.test.without_rows(), _known_note=note, _kept=kept)

    def _rows(self) -> dict[str, list[Any]]:
        """Return a table with one row per column of the samples: its contribution and its test.

        The entries of the test are None for columns that are not tested, such as constant columns.
        """
        rows = super()._rows()
        tested = {column.column: column for column in self.test.column_tests}
        for name in ("change_kind", "difference", "pvalue"):
            rows[name] = [getattr(tested.get(each), name, None) for each in rows["column"]]
        return rows
