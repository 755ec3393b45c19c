"""isodepth: how far apart two samples are, in a way that a few outliers cannot spoil.

The distance is DR_{p,eps}, the mean Hausdorff distance between the depth-trimmed regions of two
distributions (Staerman, Mozharovskyi, Colombo, Clémençon and d'Alché-Buc, arXiv 2103.12711).
"""

import importlib
from typing import TYPE_CHECKING, Any

from isodepth._version import __version__
from isodepth.errors import (
    BusyFileError,
    ColumnWarning,
    DegenerateDepthWarning,
    DeviceMemoryError,
    InvalidInputError,
    InvalidOptionError,
    IsodepthError,
    LogWarning,
    MissingExtraError,
    ScaleWarning,
    SignatureError,
    UnreadableFileError,
)

if TYPE_CHECKING:
    from isodepth.api import Metric, compare, distance
    from isodepth.chunked.scan import scan
    from isodepth.core.directions import unit_vectors
    from isodepth.core.regions import TrimmedRegions
    from isodepth.data.frames import Table
    from isodepth.data.readers import read_table
    from isodepth.depth.estimators import (
        AIIRWDepth,
        DualDepth,
        HalfspaceDepth,
        IRWDepth,
        ProjectionDepth,
        SteadyIRWDepth,
    )
    from isodepth.many.distance_matrix import DistanceMatrix
    from isodepth.many.estimators import DepthDistance, RegionTransformer
    from isodepth.many.pairwise import pairwise, tables
    from isodepth.many.pairwise_test import PairwiseTestResult, pairwise_test
    from isodepth.metric.comparison import Comparison
    from isodepth.metric.table import RegionTable
    from isodepth.monitor.depth_monitor import DepthMonitor
    from isodepth.monitor.verdict import Verdict
    from isodepth.significance.result import TwoSampleResult
    from isodepth.significance.two_sample import two_sample_test

# Where each public name is defined; it is imported when first used, so that `import isodepth` is
# fast and optional packages are needed by those alone who use them.
_MODULE_OF = {
    "AIIRWDepth": "isodepth.depth.estimators",
    "Comparison": "isodepth.metric.comparison",
    "DepthDistance": "isodepth.many.estimators",
    "DepthMonitor": "isodepth.monitor.depth_monitor",
    "DistanceMatrix": "isodepth.many.distance_matrix",
    "DualDepth": "isodepth.depth.estimators",
    "HalfspaceDepth": "isodepth.depth.estimators",
    "IRWDepth": "isodepth.depth.estimators",
    "Metric": "isodepth.api",
    "PairwiseTestResult": "isodepth.many.pairwise_test",
    "ProjectionDepth": "isodepth.depth.estimators",
    "RegionTable": "isodepth.metric.table",
    "RegionTransformer": "isodepth.many.estimators",
    "SteadyIRWDepth": "isodepth.depth.estimators",
    "Table": "isodepth.data.frames",
    "TrimmedRegions": "isodepth.core.regions",
    "TwoSampleResult": "isodepth.significance.result",
    "Verdict": "isodepth.monitor.verdict",
    "compare": "isodepth.api",
    "distance": "isodepth.api",
    "pairwise": "isodepth.many.pairwise",
    "pairwise_test": "isodepth.many.pairwise_test",
    "read_table": "isodepth.data.readers",
    "scan": "isodepth.chunked.scan",
    "tables": "isodepth.many.pairwise",
    "two_sample_test": "isodepth.significance.two_sample",
    "unit_vectors": "isodepth.core.directions",
}
_SUBPACKAGES = ("plot", "report", "text", "torch")


def __getattr__(name: str) -> Any:
    if name in _SUBPACKAGES:
        return importlib.import_module(f"isodepth.{name}")
    if name in _MODULE_OF:
        value = getattr(importlib.import_module(_MODULE_OF[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_OF, *_SUBPACKAGES})


__all__ = [
    "AIIRWDepth",
    "BusyFileError",
    "ColumnWarning",
    "Comparison",
    "DegenerateDepthWarning",
    "DepthDistance",
    "DepthMonitor",
    "DeviceMemoryError",
    "DistanceMatrix",
    "DualDepth",
    "HalfspaceDepth",
    "IRWDepth",
    "InvalidInputError",
    "InvalidOptionError",
    "IsodepthError",
    "LogWarning",
    "Metric",
    "MissingExtraError",
    "PairwiseTestResult",
    "ProjectionDepth",
    "RegionTable",
    "RegionTransformer",
    "ScaleWarning",
    "SignatureError",
    "SteadyIRWDepth",
    "Table",
    "TrimmedRegions",
    "TwoSampleResult",
    "UnreadableFileError",
    "Verdict",
    "__version__",
    "compare",
    "distance",
    "pairwise",
    "pairwise_test",
    "read_table",
    "scan",
    "tables",
    "two_sample_test",
    "unit_vectors",
]
