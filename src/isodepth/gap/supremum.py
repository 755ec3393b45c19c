"""One entrance to the ways of finding the supremum over directions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from isodepth.core.levels import LevelPlan
from isodepth.core.regions import TrimmedRegions
from isodepth.engine.gap_passes import search_gaps
from isodepth.engine.signed import signed_directions
from isodepth.engine.threads import Resources
from isodepth.gap.refine import refine_gaps

WAYS = ("search", "exact")
REGIONS = ("sample", "exact", "envelope")


class Gaps(NamedTuple):
    """Hausdorff gaps of all levels of a plan.

    Attributes
    ----------
    plan : LevelPlan with L levels
    values : ndarray of shape (L,)
    vectors : ndarray of shape (J, d), unit vectors among which the gaps are attained
    where : int64 ndarray of shape (L,): codes of vectors and signs, as in `engine.signed`
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
    regions_x: TrimmedRegions,
    regions_y: TrimmedRegions,
    plan: LevelPlan,
    directions: np.ndarray,
    *,
    way: str,
    region: str,
    refine: int,
    resources: Resources,
) -> Gaps:
    """Hausdorff gap of each level.

    Parameters
    ----------
    regions_x, regions_y : TrimmedRegions
    plan : LevelPlan with L levels
    directions : ndarray of shape (K, d)
    way : {"search", "exact"}
        The largest over the directions, climbing on from there for `refine` steps; or the exact
        Hausdorff distance of the convex hulls.
    region : {"sample", "exact"}
        Regions as hulls of the sample points inside, or in full (in the plane).
    """
    x, y = regions_x.ordered, regions_y.ordered
    # On the line a region ends at sample points: the hull of those inside is all of it.
    if region == "exact" and x.shape[1] == 2:
        from isodepth.gap.full_regions import full_region_gaps

        gaps, vectors = full_region_gaps(regions_x, regions_y, plan)
        return Gaps(plan, gaps, vectors, np.arange(len(gaps)), exact=True, full=True)
    if way == "search" and (refine == 0 or x.shape[1] == 1):
        # In one dimension the two directions there are have been tried.
        return Gaps(plan, *_searched(x, y, plan, directions, resources))
    # Ascent and hulls round differently for (x, y) than for (y, x): always take them in one order.
    inner = plan
    if _comes_after(x, y, plan):
        x, y = y, x
        inner = replace(plan, stops_x=plan.stops_y, stops_y=plan.stops_x)
    if way == "exact":
        from isodepth.hull import hausdorff_levels

        gaps, vectors = hausdorff_levels(x, y, inner.stops_x, inner.stops_y)
        return Gaps(plan, gaps, vectors, np.arange(len(gaps)), exact=True)
    gaps, vectors, where = _searched(x, y, inner, directions, resources)
    return Gaps(plan, *refine_gaps(x, y, inner, vectors, gaps, where, refine, resources))


def _searched(
    x: np.ndarray, y: np.ndarray, plan: LevelPlan, directions: np.ndarray, resources: Resources
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    gaps, where = search_gaps(x, y, plan.stops_x, plan.stops_y, directions, resources)
    return gaps, directions, where


def _comes_after(x: np.ndarray, y: np.ndarray, plan: LevelPlan) -> bool:
    """Whether (y, x) is the order in which this pair is always taken."""
    if len(x) != len(y):
        return len(x) > len(y)
    for a, b in ((x, y), (plan.stops_x, plan.stops_y)):
        differ = a != b
        if differ.any():
            at = np.unravel_index(int(differ.argmax()), differ.shape)
            return bool(a[at] > b[at])
    return False
