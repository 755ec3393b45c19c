"""isodepth: how far apart two samples are, in a way that a few outliers cannot spoil.

The distance is DR_{p,eps}, the mean Hausdorff distance between the depth-trimmed regions of two
distributions (Staerman, Mozharovskyi, Colombo, Clémençon and d'Alché-Buc, arXiv 2103.12711).
"""

from isodepth import theory
from isodepth._version import __version__
from isodepth.comparison import Comparison
from isodepth.depth import AIIRWDepth, HalfspaceDepth, IRWDepth, ProjectionDepth
from isodepth.errors import (
    DegenerateDepthWarning,
    InvalidInputError,
    InvalidOptionError,
    IsodepthError,
    MissingExtraError,
    SignatureError,
    UnreadableFileError,
)
from isodepth.functions import compare, distance
from isodepth.metric import Metric
from isodepth.regions import TrimmedRegions

__all__ = [
    "AIIRWDepth",
    "Comparison",
    "DegenerateDepthWarning",
    "HalfspaceDepth",
    "IRWDepth",
    "InvalidInputError",
    "InvalidOptionError",
    "IsodepthError",
    "Metric",
    "MissingExtraError",
    "ProjectionDepth",
    "SignatureError",
    "TrimmedRegions",
    "UnreadableFileError",
    "__version__",
    "compare",
    "distance",
    "theory",
]
