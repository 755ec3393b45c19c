"""Gaps between full halfspace-depth regions of the plane, not only hulls of sample points.

The paper, and the rest of this library, take the hull of the sample points inside a region. The
region itself, {x : HD(x) >= alpha}, is the intersection of all closed halfplanes that hold more
than 1 - alpha of the mass: it contains that hull, and is larger the sparser the sample.
"""

from __future__ import annotations

import numpy as np

from isodepth.core.regions import LevelPlan, TrimmedRegions
from isodepth.hull import hausdorff


def full_region_gaps(
    x: TrimmedRegions, y: TrimmedRegions, plan: LevelPlan
) -> tuple[np.ndarray, np.ndarray]:
    """Hausdorff distance of the full regions of each level.

    Returns
    -------
    gaps : ndarray of shape (L,)
    directions : ndarray of shape (L, 2), unit vectors that attain them
    """
    corners_x, corners_y = _corners(x, plan.prefix_sizes_x), _corners(y, plan.prefix_sizes_y)
    gaps = np.empty(len(plan.shares))
    directions = np.empty((len(plan.shares), 2))
    for level, (i, j) in enumerate(zip(plan.prefix_sizes_x, plan.prefix_sizes_y, strict=True)):
        gap = hausdorff(corners_x[i], corners_y[j])
        gaps[level], directions[level] = gap.distance, gap.direction
    return gaps, directions


def _corners(regions: TrimmedRegions, prefix_sizes: np.ndarray) -> dict[int, np.ndarray]:
    """Corners of the full region for each number of points inside."""
    from isodepth.depth.exact.planar import halfspace_region_vertices

    sample = regions.sample
    corners = {}
    for size in np.unique(prefix_sizes):
        alpha = float(regions.alphas[np.searchsorted(regions.counts, size)])
        corners[int(size)] = halfspace_region_vertices(
            sample.points.astype(np.float64), sample.unit_masses, alpha
        )
    return corners
