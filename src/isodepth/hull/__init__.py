"""Distances to and between convex hulls of points, in any dimension."""

from isodepth.hull.hausdorff import (
    HullGap,
    LevelBounds,
    hausdorff,
    hausdorff_bracket,
    hausdorff_levels,
    hausdorff_upper,
    raise_gaps,
)
from isodepth.hull.projection import Projection, project_to_hull
from isodepth.hull.supports import hausdorff_lower

__all__ = [
    "HullGap",
    "LevelBounds",
    "Projection",
    "hausdorff",
    "hausdorff_bracket",
    "hausdorff_levels",
    "hausdorff_lower",
    "hausdorff_upper",
    "project_to_hull",
    "raise_gaps",
]
