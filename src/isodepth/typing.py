"""Types for annotations: classes of results and of their parts, and types of arguments.

Functions, and attributes and methods of results, return objects of these classes. Objects are not
created by hand: their attributes are stable, but not their constructors. Arrays and dictionaries in
attributes of results are read-only. Use `result.gaps.copy()` or `dict(result.settings)` to change a
copy.

The names that end in `Like`, `NanPolicy` and `Precision` are types of arguments. They are aliases
for type checkers, and may accept more in later versions.
"""

from isodepth.base.annotations import CovarianceLike as CovarianceLike
from isodepth.base.annotations import DepthLike as DepthLike
from isodepth.base.annotations import DirectionsLike as DirectionsLike
from isodepth.base.annotations import KindsLike as KindsLike
from isodepth.base.annotations import LabelsLike as LabelsLike
from isodepth.base.annotations import NanPolicy as NanPolicy
from isodepth.base.annotations import Precision as Precision
from isodepth.base.annotations import RandomStateLike as RandomStateLike
from isodepth.base.annotations import ScaleLike as ScaleLike
from isodepth.base.annotations import TableLike as TableLike
from isodepth.base.annotations import TestNanPolicy as TestNanPolicy
from isodepth.base.annotations import VectorLike as VectorLike
from isodepth.functions.changes import Change as Change
from isodepth.functions.changes import Contribution as Contribution
from isodepth.geometry.hull import HullDistance as HullDistance
from isodepth.geometry.trimmed import TrimmedRegions as TrimmedRegions
from isodepth.many.collections import SamplesLike as SamplesLike
from isodepth.many.multiple_testing import PairwiseTestResult as PairwiseTestResult
from isodepth.metric.attribution import LargestGap as LargestGap
from isodepth.metric.comparison import ChanceLevel as ChanceLevel
from isodepth.metric.comparison import Comparison as Comparison
from isodepth.metric.fitted import FittedMetric as FittedMetric
from isodepth.metric.gradient import Gradient as Gradient
from isodepth.metric.region_table import RegionTables as RegionTables
from isodepth.metric.settings import RandomLevels as RandomLevels
from isodepth.monitor.verdict import Verdict as Verdict
from isodepth.rows.checks import Check as Check
from isodepth.rows.suspicious.results import OneSidedValue as OneSidedValue
from isodepth.rows.suspicious.results import RepeatedValue as RepeatedValue
from isodepth.rows.suspicious.results import SuspiciousRow as SuspiciousRow
from isodepth.rows.suspicious.results import SuspiciousRows as SuspiciousRows
from isodepth.rows.typical import TypicalRow as TypicalRow
from isodepth.rows.typical import TypicalRows as TypicalRows
from isodepth.significance.result import ColumnTest as ColumnTest
from isodepth.significance.result import Component as Component
from isodepth.significance.result import TwoSampleResult as TwoSampleResult
from isodepth.significance.samples import ValueShare as ValueShare
from isodepth.stream.source import SampleLike as SampleLike
from isodepth.stream.source import Source as Source
from isodepth.table.kinds import ColumnKind as ColumnKind
from isodepth.table.missing import MissingPair as MissingPair
from isodepth.table.missing import MissingReport as MissingReport
from isodepth.table.missing import MissingShare as MissingShare

__all__ = sorted(name for name in globals() if name[0].isupper())
