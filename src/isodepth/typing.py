"""Types for annotations: classes of results and of their parts, and types of arguments.

Functions, and attributes and methods of results, return objects of these classes. Objects are not
created by hand: their attributes are stable, but not their constructors. Arrays and dictionaries in
attributes of results are read-only. Use `result.gaps.copy()` or `dict(result.settings)` to change a
copy.

The names that end in `Like`, `NanPolicy` and `Precision` are types of arguments. They are aliases
for type checkers, and may accept more in later versions.
"""

from isodepth.base.annotations import (
    CovarianceLike,
    DepthLike,
    DirectionsLike,
    KindsLike,
    LabelsLike,
    NanPolicy,
    Precision,
    RandomStateLike,
    ScaleLike,
    TableLike,
    TestNanPolicy,
    VectorLike,
)
from isodepth.functions.changes import Change, Contribution
from isodepth.geometry.hull import HullDistance
from isodepth.geometry.trimmed import TrimmedRegions
from isodepth.many.collections import SamplesLike
from isodepth.many.multiple_testing import PairwiseTestResult
from isodepth.metric.attribution import LargestGap
from isodepth.metric.comparison import ChanceLevel, Comparison
from isodepth.metric.fitted import FittedMetric
from isodepth.metric.gradient import Gradient
from isodepth.metric.region_table import RegionTables
from isodepth.metric.settings import RandomLevels
from isodepth.monitor.verdict import Verdict
from isodepth.rows.checks import Check
from isodepth.rows.suspicious.results import (
    OneSidedValue,
    RepeatedValue,
    SuspiciousRow,
    SuspiciousRows,
)
from isodepth.rows.typical import TypicalRow, TypicalRows
from isodepth.significance.result import ColumnTest, Component, TwoSampleResult
from isodepth.significance.samples import ValueShare
from isodepth.stream.source import SampleLike, Source
from isodepth.table.kinds import ColumnKind
from isodepth.table.missing import MissingPair, MissingReport, MissingShare

__all__ = [
    "ChanceLevel",
    "Change",
    "Check",
    "ColumnKind",
    "ColumnTest",
    "Comparison",
    "Component",
    "Contribution",
    "CovarianceLike",
    "DepthLike",
    "DirectionsLike",
    "FittedMetric",
    "Gradient",
    "HullDistance",
    "KindsLike",
    "LabelsLike",
    "LargestGap",
    "MissingPair",
    "MissingReport",
    "MissingShare",
    "NanPolicy",
    "OneSidedValue",
    "PairwiseTestResult",
    "Precision",
    "RandomLevels",
    "RandomStateLike",
    "RegionTables",
    "RepeatedValue",
    "SampleLike",
    "SamplesLike",
    "ScaleLike",
    "Source",
    "SuspiciousRow",
    "SuspiciousRows",
    "TableLike",
    "TestNanPolicy",
    "TrimmedRegions",
    "TwoSampleResult",
    "TypicalRow",
    "TypicalRows",
    "ValueShare",
    "VectorLike",
    "Verdict",
]
