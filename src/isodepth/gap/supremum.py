"""One entrance to the ways of finding the supremum over directions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from isodepth.backend.threads import Resources
from isodepth.gap.refine import refine_gaps
from isodepth.gap.search import search_gaps, signed_directions
from isodepth.integrate import LevelPlan

WAYS = ("search", "exact")


class Gaps(NamedTuple):
    """Hausdorff gaps of all levels of a plan.

    Attributes
    ----------
    plan : LevelPlan with L levels
    values : ndarray of shape (L,)
    vectors : ndarray of shape (J, d), unit vectors among which the gaps are attained
    where : int64 ndarray of shape (L,): k for vectors[k], -1 - k for its opposite
    """

    plan: LevelPlan
    values: np.ndarray
    vectors: np.ndarray
    where: np.ndarray

    def directions(self, levels: Any = slice(None)) -> np.ndarray:
        """The unit vectors, of shape (number of `levels`, d), at which the gaps are attained."""
        return signed_directions(self.vectors, self.where[levels])


def find_gaps(
    x: np.ndarray,
    y: np.ndarray,
    plan: LevelPlan,
    directions: np.ndarray,
    *,
    way: str,
    refine: int,
    resources: Resources,
) -> Gaps:
    """Hausdorff gap of each level.

    Parameters
    ----------
    x, y : ndarrays of shape (n, d) and (m, d), deepest rows first
    plan : LevelPlan with L levels
    directions : ndarray of shape (K, d)
    way : {"search", "exact"}
        The largest over the directions, climbing on from there for `refine` steps; or the exact
        Hausdorff distance of the convex hulls.
    """
    if way == "exact":
        from isodepth.hull import hausdorff_levels

        gaps, vectors = hausdorff_levels(x, y, plan.stops_x, plan.stops_y)
        return Gaps(plan, gaps, vectors, np.arange(len(gaps)))
    gaps, where = search_gaps(x, y, plan, directions, resources)
    # In one dimension the two directions there are have been tried.
    if refine == 0 or x.shape[1] == 1:
        return Gaps(plan, gaps, directions, where)
    return Gaps(plan, *refine_gaps(x, y, plan, directions, gaps, where, refine, resources))
