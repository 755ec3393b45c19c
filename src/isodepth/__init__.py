"""isodepth: how far apart two samples are, in a way that a few outliers cannot spoil.

The distance is DR_{p,eps}, the mean Hausdorff distance between the depth-trimmed regions of two
distributions (Staerman, Mozharovskyi, Colombo, Clémençon and d'Alché-Buc, arXiv 2103.12711).
"""

from typing import Any

from isodepth import theory
from isodepth._version import __version__
from isodepth.api import Metric, compare, distance
from isodepth.core.regions import TrimmedRegions
from isodepth.data.forms import showing
from isodepth.depth import AIIRWDepth, HalfspaceDepth, IRWDepth, ProjectionDepth
from isodepth.errors import (
    BusyFileError,
    CacheWarning,
    DegenerateDepthWarning,
    DeviceMemoryError,
    ForkError,
    InvalidInputError,
    InvalidOptionError,
    IsodepthError,
    MissingExtraError,
    PlainLoopsWarning,
    ScaleWarning,
    SignatureError,
    UnreadableFileError,
)
from isodepth.inference.monitor import DepthMonitor
from isodepth.inference.verdict import Verdict
from isodepth.many.distance_matrix import DistanceMatrix
from isodepth.many.index import RegionIndex
from isodepth.many.pairwise import pairwise, tables
from isodepth.metric.comparison import Comparison
from isodepth.metric.table import RegionTable
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
    "Metric",
    "MissingExtraError",
    "PlainLoopsWarning",
    "ProjectionDepth",
    "RegionIndex",
    "RegionTable",
    "RegionTransformer",
    "ScaleWarning",
    "SignatureError",
    "TrimmedRegions",
    "TwoSampleResult",
    "UnreadableFileError",
    "Verdict",
    "__version__",
    "compare",
    "distance",
    "pairwise",
    "scan",
    "tables",
    "theory",
    "two_sample_test",
]

# The first two need scikit-learn, which takes longer to import than all the rest.
_LAZY = {
    "DepthDistance": "isodepth.many.estimators",
    "RegionTransformer": "isodepth.many.estimators",
    "scan": "isodepth.chunked.opening",
}


def _draw(result: Any, kind: str | None, ax: Any) -> Any:
    from isodepth.plot.shortcut import draw

    return draw(result, kind, ax)


def _report(result: Any, path: Any, **options: Any) -> None:
    from isodepth.report import write_report

    write_report(result, path, **options)


showing.update(plot=_draw, report=_report)


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        import importlib

        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
