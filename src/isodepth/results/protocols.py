"""Attributes of results that summaries, figures and reports use, as protocols.

Summaries, figures and reports accept every object with these attributes and import no class of
results. The classes are `Comparison`, `TwoSampleResult` and `Monitor`, which document the
attributes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Protocol, TypedDict

import numpy as np

from isodepth.data.columns.kinds import ColumnKind
from isodepth.data.missing import MissingPair
from isodepth.geometry.regions import TrimmedRegions
from isodepth.inspection.checks import Check
from isodepth.inspection.rows import TwoSamples
from isodepth.inspection.suspicious import RepeatedValue, SuspiciousRows
from isodepth.inspection.typical import TypicalRows
from isodepth.results.changes import Change, Contribution


class _CommonOptions(TypedDict, total=False):
    """Options of all reports."""

    title: str | None
    notes: Sequence[str]
    command: str | None


class PairReportOptions(_CommonOptions, total=False):
    """Options of the report of a comparison or a test."""

    names: Sequence[str]


class MonitorReportOptions(_CommonOptions, total=False):
    """Options of the report of a monitor."""

    labels: Sequence[Any] | None


class ReportOptions(PairReportOptions, MonitorReportOptions, total=False):
    """Options of all reports together: `labels` is for monitors only, `names` for other results."""


class TwoSampleLike(Protocol):
    """Attributes that a comparison and a test of two samples have in common."""

    @property
    def signature(self) -> str: ...
    @property
    def settings(self) -> dict[str, Any]: ...
    @property
    def headline(self) -> str: ...
    @property
    def n_rows(self) -> tuple[int, int]: ...
    @property
    def n_used_rows(self) -> tuple[int, int]: ...
    @property
    def missing(self) -> MissingPair | None: ...
    @property
    def kinds(self) -> tuple[ColumnKind, ...]: ...
    @property
    def _two_samples(self) -> TwoSamples: ...
    @property
    def _has_all_rows(self) -> bool: ...
    @property
    def _keeps_rows(self) -> bool: ...
    @property
    def _has_typical_rows(self) -> bool: ...
    @property
    def _known_suspicious_rows(self) -> SuspiciousRows | None: ...
    @property
    def _repeated_values(self) -> tuple[RepeatedValue, ...]: ...
    def suspicious_rows(self) -> SuspiciousRows: ...
    def typical_rows(self, n: int = 5) -> TypicalRows: ...
    def to_dict(self) -> dict[str, Any]: ...


class ColumnTestLike(Protocol):
    """Test of one column."""

    @property
    def column(self) -> str: ...
    @property
    def difference(self) -> float: ...
    @property
    def pvalue(self) -> float: ...


class ValueShareLike(Protocol):
    """Shares of one value of a column of categories in both samples."""

    @property
    def value(self) -> str: ...


class TwoSampleTestLike(TwoSampleLike, Protocol):
    """Result of a two-sample test."""

    _result_type: ClassVar[Literal["test"]]

    @property
    def statistic(self) -> float: ...
    @property
    def pvalue(self) -> float: ...
    @property
    def significant(self) -> bool: ...
    @property
    def tolerance(self) -> float | None: ...
    @property
    def changed_share(self) -> float | None: ...
    @property
    def confidence(self) -> float: ...
    @property
    def _tested_rows_text(self) -> str: ...
    @property
    def changed_share_text(self) -> str: ...
    @property
    def checks(self) -> Sequence[Check]: ...
    def _headline_about(self, names: Sequence[str]) -> str: ...
    @property
    def _strongest_change(self) -> str: ...
    @property
    def changes(self) -> Sequence[Change]: ...
    @property
    def column_tests(self) -> Sequence[ColumnTestLike]: ...
    @property
    def null_distribution(self) -> np.ndarray: ...
    @property
    def category_shares(self) -> Sequence[ValueShareLike]: ...
    @property
    def device(self) -> str | None: ...
    @property
    def _comparison(self) -> ComparisonLike: ...


class LargestGapLike(Protocol):
    """Largest gap between the regions of two samples."""

    @property
    def level(self) -> float: ...
    @property
    def gap(self) -> float: ...
    @property
    def contributions(self) -> tuple[Contribution, ...]: ...


class NullProfileLike(Protocol):
    """Gaps between regions after permutations of the labels."""

    @property
    def levels(self) -> np.ndarray: ...
    @property
    def band(self) -> tuple[np.ndarray, np.ndarray]: ...


class ChanceLevelLike(Protocol):
    """Distances between random splits of the pooled rows."""

    def to_dict(self) -> dict[str, Any]: ...


class ComparisonLike(TwoSampleLike, Protocol):
    """Comparison of two samples by the distance between their regions."""

    _result_type: ClassVar[Literal["comparison"]]

    @property
    def distance(self) -> float: ...
    @property
    def units(self) -> str: ...
    @property
    def test(self) -> TwoSampleTestLike | None: ...
    @property
    def columns(self) -> tuple[str, ...] | None: ...
    @property
    def contributions(self) -> tuple[Contribution, ...]: ...
    @property
    def regions(self) -> tuple[TrimmedRegions, TrimmedRegions]: ...
    @property
    def levels(self) -> np.ndarray: ...
    @property
    def level_intervals(self) -> np.ndarray | None: ...
    @property
    def level_widths(self) -> np.ndarray: ...
    @property
    def gaps(self) -> np.ndarray: ...
    @property
    def largest_gap(self) -> LargestGapLike: ...
    @property
    def gap_directions(self) -> np.ndarray: ...
    @property
    def _search_directions(self) -> np.ndarray: ...
    @property
    def _null_profile(self) -> NullProfileLike | None: ...
    @property
    def _splitting_cost(self) -> int: ...
    def _require_rows(self, what: str) -> None: ...
    def _supports(
        self, side: int, directions: np.ndarray, levels: Any = slice(None)
    ) -> np.ndarray: ...
    def chance_level(self, n_splits: int = 19) -> ChanceLevelLike: ...
    def _changed_options(self) -> dict[str, Any] | None: ...


class VerdictLike(Protocol):
    """Verdict of a monitor on one batch."""

    @property
    def batch_number(self) -> int: ...
    @property
    def label(self) -> str | None: ...
    @property
    def pvalue(self) -> float: ...
    @property
    def window_pvalue(self) -> float: ...
    @property
    def threshold(self) -> float: ...
    @property
    def crossed(self) -> bool: ...
    @property
    def alarm(self) -> bool: ...
    @property
    def alarm_since(self) -> int | None: ...
    @property
    def beyond_blocks(self) -> bool: ...
    @property
    def changes(self) -> tuple[Change, ...]: ...


class MonitorLike(Protocol):
    """Monitor with the verdicts on its batches."""

    _result_type: ClassVar[Literal["monitor"]]

    @property
    def verdicts(self) -> Sequence[VerdictLike]: ...
    @property
    def alarm(self) -> bool: ...
    def to_dict(self) -> dict[str, Any]: ...


class DistanceMatrixLike(Protocol):
    """Distance matrix with labels."""

    @property
    def values(self) -> np.ndarray: ...
    @property
    def labels(self) -> tuple[str, ...]: ...
    @property
    def other_labels(self) -> tuple[str, ...]: ...


#: Result about two samples; the attribute `_result_type` distinguishes the two types.
PairResult = ComparisonLike | TwoSampleTestLike
#: Result with figures and a report.
AnyResult = ComparisonLike | TwoSampleTestLike | MonitorLike
