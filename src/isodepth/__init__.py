"""isodepth: how far apart two samples are, robust against a few outliers.

The distance is DR_{p,eps}, the mean Hausdorff distance between the depth-trimmed regions of two
distributions (Staerman, Mozharovskyi, Colombo, Clémençon and d'Alché-Buc, arXiv 2103.12711).
"""

import importlib
from typing import TYPE_CHECKING, Any

from isodepth._version import __version__ as __version__

if TYPE_CHECKING:
    from isodepth.api import Metric as Metric
    from isodepth.api import compare as compare
    from isodepth.api import distance as distance
    from isodepth.chunked.scan import scan as scan
    from isodepth.core.directions import unit_vectors as unit_vectors
    from isodepth.core.regions import TrimmedRegions as TrimmedRegions
    from isodepth.data.frames import Table as Table
    from isodepth.data.readers import read_table as read_table
    from isodepth.depth.estimators import AIIRWDepth as AIIRWDepth
    from isodepth.depth.estimators import HalfspaceDepth as HalfspaceDepth
    from isodepth.depth.estimators import IRWDepth as IRWDepth
    from isodepth.depth.estimators import ProjectionDepth as ProjectionDepth
    from isodepth.errors import BusyFileError as BusyFileError
    from isodepth.errors import ColumnWarning as ColumnWarning
    from isodepth.errors import DegenerateDepthWarning as DegenerateDepthWarning
    from isodepth.errors import DeviceMemoryError as DeviceMemoryError
    from isodepth.errors import InvalidInputError as InvalidInputError
    from isodepth.errors import InvalidOptionError as InvalidOptionError
    from isodepth.errors import IsodepthError as IsodepthError
    from isodepth.errors import LogWarning as LogWarning
    from isodepth.errors import MissingExtraError as MissingExtraError
    from isodepth.errors import ScaleWarning as ScaleWarning
    from isodepth.errors import SignatureError as SignatureError
    from isodepth.errors import UnreadableFileError as UnreadableFileError
    from isodepth.many.distance_matrix import DistanceMatrix as DistanceMatrix
    from isodepth.many.estimators import DepthDistance as DepthDistance
    from isodepth.many.estimators import RegionTransformer as RegionTransformer
    from isodepth.many.pairwise import pairwise as pairwise
    from isodepth.many.pairwise import tables as tables
    from isodepth.many.pairwise_test import PairwiseTestResult as PairwiseTestResult
    from isodepth.many.pairwise_test import pairwise_test as pairwise_test
    from isodepth.metric.comparison import Comparison as Comparison
    from isodepth.metric.table import RegionTable as RegionTable
    from isodepth.monitor.depth_monitor import DepthMonitor as DepthMonitor
    from isodepth.monitor.verdict import Verdict as Verdict
    from isodepth.significance.result import TwoSampleResult as TwoSampleResult
    from isodepth.significance.two_sample import two_sample_test as two_sample_test

# The public names of each module; they are imported when first used, so that `import isodepth` is
# fast and optional packages are needed by those alone who use them.
_NAMES_IN = {
    "api": ["Metric", "compare", "distance"],
    "chunked.scan": ["scan"],
    "core.directions": ["unit_vectors"],
    "core.regions": ["TrimmedRegions"],
    "data.frames": ["Table"],
    "data.readers": ["read_table"],
    "depth.estimators": ["AIIRWDepth", "HalfspaceDepth", "IRWDepth", "ProjectionDepth"],
    "errors": [
        "BusyFileError", "ColumnWarning", "DegenerateDepthWarning", "DeviceMemoryError",
        "InvalidInputError", "InvalidOptionError", "IsodepthError", "LogWarning",
        "MissingExtraError", "ScaleWarning", "SignatureError", "UnreadableFileError",
    ],
    "many.distance_matrix": ["DistanceMatrix"],
    "many.estimators": ["DepthDistance", "RegionTransformer"],
    "many.pairwise": ["pairwise", "tables"],
    "many.pairwise_test": ["PairwiseTestResult", "pairwise_test"],
    "metric.comparison": ["Comparison"],
    "metric.table": ["RegionTable"],
    "monitor.depth_monitor": ["DepthMonitor"],
    "monitor.verdict": ["Verdict"],
    "significance.result": ["TwoSampleResult"],
    "significance.two_sample": ["two_sample_test"],
}  # fmt: skip
_MODULE_OF = {name: module for module, names in _NAMES_IN.items() for name in names}
_SUBPACKAGES = ("plot", "report", "text", "torch")

__all__ = sorted([*_MODULE_OF, "__version__"])


def __getattr__(name: str) -> Any:
    if name in _SUBPACKAGES:
        return importlib.import_module(f"isodepth.{name}")
    if name in _MODULE_OF:
        module = importlib.import_module(f"isodepth.{_MODULE_OF[name]}")
        globals()[name] = getattr(module, name)
        return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_OF, *_SUBPACKAGES})
