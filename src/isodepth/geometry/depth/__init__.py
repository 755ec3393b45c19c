"""Depth functions, which measure how central a point is in a sample."""

from isodepth.geometry.depth.base import Depth, Halfspace, Projection
from isodepth.geometry.depth.integrated import AIIRW, IRW, CorrectedIRW, Dual

#: Depth classes by the names that the option `depth` accepts.
BY_NAME: dict[str, type[Depth]] = {
    depth._name: depth for depth in (Halfspace, Projection, IRW, AIIRW)
}

#: Further depth classes, for few points in many columns, whose names only text scores accept.
OF_TEXTS: dict[str, type[Depth]] = {depth._name: depth for depth in (CorrectedIRW, Dual)}

__all__ = [
    "AIIRW", "BY_NAME", "IRW", "OF_TEXTS", "CorrectedIRW", "Depth", "Dual", "Halfspace",
    "Projection",
]  # fmt: skip
