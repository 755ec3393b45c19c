"""Depths: how central a point is in a sample. One file a depth, all of one shape."""

from isodepth.depth.base import Depth
from isodepth.depth.few_points import DualDepth, SteadyIRWDepth
from isodepth.depth.halfspace import HalfspaceDepth
from isodepth.depth.irw import AIIRWDepth, IRWDepth
from isodepth.depth.projection import ProjectionDepth

#: The depths that can be asked for by name.
BY_NAME: dict[str, type[Depth]] = {
    depth.name: depth
    for depth in (HalfspaceDepth, ProjectionDepth, IRWDepth, AIIRWDepth, SteadyIRWDepth, DualDepth)
}

__all__ = [
    "BY_NAME",
    "AIIRWDepth",
    "Depth",
    "DualDepth",
    "HalfspaceDepth",
    "IRWDepth",
    "ProjectionDepth",
    "SteadyIRWDepth",
]
