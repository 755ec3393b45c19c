"""Depths: how central a point is in a sample."""

from isodepth.depth.base import Depth
from isodepth.depth.integrated import AIIRW, IRW, Dual, SteadyIRW
from isodepth.depth.minimized import Halfspace, Projection

#: The depths that can be asked for by name.
BY_NAME: dict[str, type[Depth]] = {
    depth.name: depth for depth in (Halfspace, Projection, IRW, AIIRW, SteadyIRW, Dual)
}

__all__ = ["AIIRW", "BY_NAME", "IRW", "Depth", "Dual", "Halfspace", "Projection", "SteadyIRW"]
