"""The gaps between the regions of two samples, for all levels at once."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from isodepth.core.directions import mean_of_direction
from isodepth.core.regions import LevelPlan, TrimmedRegions
from isodepth.engine.gap_passes import level_gaps, quantile_gaps, signed_directions
from isodepth.engine.resources import Resources
from isodepth.gap.refine import refine_gaps

WAYS = ("search", "exact")
REGIONS = ("sample", "exact", "envelope")


class Gaps(NamedTuple):
    """Gaps of all levels of a plan.

    Attributes
    ----------
    plan : LevelPlan with L levels
    values : ndarray of shape (L,)
    vectors : ndarray of shape (J, d), unit vectors among which the gaps are attained
    where : int64 ndarray of shape (L,): codes of vectors and signs, as in `engine.gap_passes`
    exact : whether no direction whatsoever attains more
    full : whether they are gaps of full regions, whose corners are no sample points
    """

    plan: LevelPlan
    values: np.ndarray
    vectors: np.ndarray
    where: np.ndarray
    exact: bool = False
    full: bool = False

    def directions(self, levels: Any = slice(None)) -> np.ndarray:
        """The unit vectors, of shape (number of `levels`, d), at which the gaps are attained."""
        return signed_directions(self.vectors, self.where[levels])


def find_gaps(
    x: TrimmedRegions,
    y: TrimmedRegions,
    plan: LevelPlan,
    directions: np.ndarray,
    *,
    way: str,
    region: str,
    q: float,
    refine: int,
    resources: Resources,
) -> Gaps:
    """Gap of each level.

    A mean over directions (a finite q) is divided by what a direction sees on average of a
    translation of length one. That is the average over the sphere, not over the directions at hand:
    so the gap is an unbiased estimate of the L_q metric (to the power q), and the same for all
    samples. A translation by m has the gap |m| up to the scatter of the directions, of relative
    size c / sqrt(K), c^2 = (E|u_1|^(2q) / (E|u_1|^q)^2 - 1) / q^2, and exactly where they integrate
    the power: for q = 2 every orthonormal basis does ("orthogonal" directions, a multiple of d of
    them), and in the plane K equispaced ones do for even q < 2K.

    Parameters
    ----------
    x, y : TrimmedRegions
    plan : LevelPlan with L levels
    directions : ndarray of shape (K, d)
    way : {"search", "exact"}
        The largest over the directions, climbing on from there for `refine` steps; or the exact
        Hausdorff distance of the convex hulls.
    region : {"sample", "exact", "envelope"}
        Regions as hulls of the sample points inside, in full (in the plane), or envelopes.
    q : float in [1, inf]
        The order of the mean over directions; inf for their supremum.
    """
    sizes = plan.prefix_sizes
    unit = mean_of_direction(x.n_features, q)
    if region == "envelope":
        first_sample = x.sample.points, x.sample.masses
        second_sample = y.sample.points, y.sample.masses
        found, codes = quantile_gaps(first_sample, second_sample, sizes, directions, resources, q)
        return Gaps(plan, found / unit, directions, codes)
    first, second = x.ordered, y.ordered
    # On the line a region ends at sample points: the hull of those inside is all of it.
    if region == "exact" and q == math.inf and x.n_features == 2:
        from isodepth.gap.full_regions import full_region_gaps

        found, vectors = full_region_gaps(x, y, plan)
        return Gaps(plan, found, vectors, np.arange(len(found)), exact=True, full=True)
    if q < math.inf or (way == "search" and (refine == 0 or x.n_features == 1)):
        # In one dimension the two directions there are have been tried.
        found, codes = level_gaps(first, second, sizes, directions, resources, q)
        return Gaps(plan, found / unit, directions, codes)
    # Ascent and hulls round differently for (x, y) than for (y, x): always take them in one order.
    inner = plan
    if _comes_after(first, second, plan):
        first, second, sizes = second, first, sizes[::-1]
        inner = replace(plan, prefix_sizes_x=sizes[0], prefix_sizes_y=sizes[1])
    if way == "exact":
        from isodepth.hull import hausdorff_levels

        found, vectors = hausdorff_levels(first, second, *sizes)
        return Gaps(plan, found, vectors, np.arange(len(found)), exact=True)
    found, codes = level_gaps(first, second, sizes, directions, resources)
    refined = refine_gaps(first, second, inner, directions, found, codes, refine, resources)
    return Gaps(plan, *refined)


def _comes_after(x: np.ndarray, y: np.ndarray, plan: LevelPlan) -> bool:
    """Whether (y, x) is the order in which this pair is always taken."""
    if len(x) != len(y):
        return len(x) > len(y)
    for a, b in ((x, y), plan.prefix_sizes):
        differ = a != b
        if differ.any():
            at = np.unravel_index(int(differ.argmax()), differ.shape)
            return bool(a[at] > b[at])
    return False
