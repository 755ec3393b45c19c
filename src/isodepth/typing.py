"""Classes of objects that functions, methods and attributes of results return, for annotations.

Do not create objects of these classes: attributes are stable between versions, but constructors are
not.
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
