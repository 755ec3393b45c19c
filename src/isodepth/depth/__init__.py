"""Depth functions, which measure how central a point is in a sample."""

from isodepth.depth.base import Depth, Halfspace, Projection
from isodepth.depth.integrated import AIIRW, IRW, Dual, SteadyIRW

#: Depth classes by the names that the option `depth` accepts.
BY_NAME: dict[str, type[Depth]] = {
    depth._name: depth for depth in (Halfspace, Projection, IRW, AIIRW)
}

__all__ = ["AIIRW", "BY_NAME", "IRW", "Depth", "Dual", "Halfspace", "Projection", "SteadyIRW"]
