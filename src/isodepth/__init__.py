"""isodepth: how far apart two samples are, in a way that a few outliers cannot spoil.

The distance is DR_{p,eps}, the mean Hausdorff distance between the depth-trimmed regions of two
distributions (Staerman, Mozharovskyi, Colombo, Clémençon and d'Alché-Buc, arXiv 2103.12711).
"""

import importlib
from typing import Any

from isodepth import theory
from isodepth._version import __version__
from isodepth.api import Metric, compare, distance
from isodepth.core.directions import unit_vectors
from isodepth.core.regions import TrimmedRegions
from isodepth.errors import (
    BusyFileError,
    CacheWarning,
    DegenerateDepthWarning,
    DeviceMemoryError,
    ForkError,
    InvalidInputError,
    InvalidOptionError,
    IsodepthError,
    LogWarning,
    MissingExtraError,
    PlainLoopsWarning,
    ScaleWarning,
    SignatureError,
    UnreadableFileError,
)
from isodepth.many.distance_matrix import DistanceMatrix
from isodepth.many.pairwise import pairwise, tables
from isodepth.metric.comparison import Comparison
from isodepth.metric.table import RegionTable
from isodepth.monitor.depth_monitor import DepthMonitor
from isodepth.monitor.verdict import Verdict
from isodepth.significance.result import TwoSampleResult
from isodepth.significance.two_sample import two_sample_test

__all__ = [
    "AIIRWDepth",
    "BusyFileError",
    "CacheWarning",
    "Comparison",
    "DegenerateDepthWarning",
    "DepthDistance",
    "DepthMonitor",
    "DeviceMemoryError",
    "DistanceMatrix",
    "ForkError",
    "HalfspaceDepth",
    "IRWDepth",
    "InvalidInputError",
    "InvalidOptionError",
    "IsodepthError",
    "LogWarning",
    "Metric",
    "MissingExtraError",
    "PlainLoopsWarning",
    "ProjectionDepth",
    "RegionTable",
    "RegionTransformer",
    "ScaleWarning",
    "SignatureError",
    "Table",
    "TrimmedRegions",
    "TwoSampleResult",
    "UnreadableFileError",
    "Verdict",
    "__version__",
    "compare",
    "distance",
    "pairwise",
    "read_table",
    "scan",
    "tables",
    "theory",
    "two_sample_test",
    "unit_vectors",
]

#: Imported when first used: they need packages that take long to import, or may not be installed.
_LAZY = {
    "AIIRWDepth": "isodepth.depth.estimators",
    "DepthDistance": "isodepth.many.estimators",
    "HalfspaceDepth": "isodepth.depth.estimators",
    "IRWDepth": "isodepth.depth.estimators",
    "ProjectionDepth": "isodepth.depth.estimators",
    "RegionTransformer": "isodepth.many.estimators",
    "Table": "isodepth.data.frames",
    "read_table": "isodepth.data.readers",
    "scan": "isodepth.chunked.sources",
}
_SUBPACKAGES = ("plot", "report", "text", "torch")


def __getattr__(name: str) -> Any:
    if name in _SUBPACKAGES:
        return importlib.import_module(f"isodepth.{name}")
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY, *_SUBPACKAGES})
