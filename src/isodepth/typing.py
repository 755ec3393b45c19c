"""Classes of the parts of results, and of objects that functions return, for annotations.

Attributes and methods of results, and functions, return objects of these classes. Objects are not
created by hand: their attributes are stable, but not their constructors.
"""

from isodepth.data.columns.kinds import ColumnKind
from isodepth.data.missing import MissingPair, MissingReport, MissingShare
from isodepth.geometry.hull import HullGap
from isodepth.inspection.checks import Check
from isodepth.inspection.suspicious import (
    OneSidedValue,
    RepeatedValue,
    SuspiciousRow,
    SuspiciousRows,
)
from isodepth.inspection.typical import TypicalRow, TypicalRows
from isodepth.metric.attribution import LargestGap
from isodepth.metric.comparison import ChanceLevel
from isodepth.metric.fitted import FittedMetric
from isodepth.metric.gradient import Gradient
from isodepth.metric.region_table import RegionTables
from isodepth.metric.settings import RandomLevels
from isodepth.results.changes import Change, Contribution
from isodepth.significance.result import ColumnTest, Component
from isodepth.significance.samples import ValueShare
from isodepth.sources.source import Source

__all__ = [
    "ChanceLevel",
    "Change",
    "Check",
    "ColumnKind",
    "ColumnTest",
    "Component",
    "Contribution",
    "FittedMetric",
    "Gradient",
    "HullGap",
    "LargestGap",
    "MissingPair",
    "MissingReport",
    "MissingShare",
    "OneSidedValue",
    "RandomLevels",
    "RegionTables",
    "RepeatedValue",
    "Source",
    "SuspiciousRow",
    "SuspiciousRows",
    "TypicalRow",
    "TypicalRows",
    "ValueShare",
]
