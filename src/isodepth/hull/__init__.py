"""Distances to and between convex hulls of points, in any dimension."""

from isodepth.hull.hausdorff import (
    HullGap,
    LevelBounds,
    coordinates_in_span,
    hausdorff,
    hausdorff_bracket,
    hausdorff_levels,
    hausdorff_lower,
    hausdorff_upper,
    raise_gaps,
)
from isodepth.hull.projection import Projection, project_to_hull

__all__ = [
    "HullGap",
    "LevelBounds",
    "Projection",
    "coordinates_in_span",
    "hausdorff",
    "hausdorff_bracket",
    "hausdorff_levels",
    "hausdorff_lower",
    "hausdorff_upper",
    "project_to_hull",
    "raise_gaps",
]
