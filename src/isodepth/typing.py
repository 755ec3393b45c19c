"""Classes of results, of their parts, and of other objects that functions return, for annotations.

Functions, and attributes and methods of results, return objects of these classes. Objects are not
created by hand: their attributes are stable, but not their constructors.
"""

from isodepth.data.columns.kinds import ColumnKind
from isodepth.data.missing import MissingPair, MissingReport, MissingShare
from isodepth.geometry.hull import HullDistance
from isodepth.geometry.regions import TrimmedRegions
from isodepth.inspection.checks import Check
from isodepth.inspection.suspicious import (
    OneSidedValue,
    RepeatedValue,
    SuspiciousRow,
    SuspiciousRows,
)
from isodepth.inspection.typical import TypicalRow, TypicalRows
from isodepth.many.multiple_testing import PairwiseTestResult
from isodepth.metric.attribution import LargestGap
from isodepth.metric.comparison import ChanceLevel, Comparison
from isodepth.metric.fitted import FittedMetric
from isodepth.metric.gradient import Gradient
from isodepth.metric.region_table import RegionTables
from isodepth.metric.settings import RandomLevels
from isodepth.monitor.verdict import Verdict
from isodepth.results.changes import Change, Contribution
from isodepth.significance.result import ColumnTest, Component, TwoSampleResult
from isodepth.significance.samples import ValueShare
from isodepth.sources.source import Source

__all__ = [
    "ChanceLevel",
    "Change",
    "Check",
    "ColumnKind",
    "ColumnTest",
    "Comparison",
    "Component",
    "Contribution",
    "FittedMetric",
    "Gradient",
    "HullDistance",
    "LargestGap",
    "MissingPair",
    "MissingReport",
    "MissingShare",
    "OneSidedValue",
    "PairwiseTestResult",
    "RandomLevels",
    "RegionTables",
    "RepeatedValue",
    "Source",
    "SuspiciousRow",
    "SuspiciousRows",
    "TrimmedRegions",
    "TwoSampleResult",
    "TypicalRow",
    "TypicalRows",
    "ValueShare",
    "Verdict",
]
