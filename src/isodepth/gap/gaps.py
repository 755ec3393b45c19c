"""The gaps between the regions of two samples, for all levels at once.

The maximum over the sampled directions is refined towards the supremum. Local ascent starts from
the best sampled directions of a few levels. The directions that it finds are then evaluated at all
levels. Each step costs one projection of a sample, so the ascent is cheaper than the sampled
directions. If the samples are small enough, the vertices of the regions are then searched one by
one, as for the exact distance, within a limit of work.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from isodepth.core.directions import mean_of_direction
from isodepth.core.regions import LevelPlan, TrimmedRegions
from isodepth.core.settings import Settings
from isodepth.engine import (
    Resources,
    ascent,
    level_gaps,
    signed_directions,
)
from isodepth.hull import hausdorff_levels, raise_gaps

WAYS = ("search", "exact")
_MOST_LEVELS = 8
_FEWEST_CLIMBERS = 10
_MOST_CLIMBERS = 40
_MOST_WINNERS = 32
# Relative distance from an upper bound at which the ascent, or a full search, stops.
_SLACK = 1e-3
_FULL = 1e-10
# Limit of work per step, in coordinates of points (about a nanosecond each): twenty steps cost
# somewhat less than a distance without refinement.
_WORK_PER_STEP = 0.01
# Minimum limit of work, some milliseconds.
_LEAST_WORK = 3e6
_CHEAP = 0.25


class Gaps(NamedTuple):
    """Gaps of all levels of a plan.

    Attributes
    ----------
    plan : LevelPlan with L levels
    values : ndarray of shape (L,)
    vectors : ndarray of shape (J, d), unit vectors among which the gaps are attained
    where : int64 ndarray of shape (L,): codes of vectors and signs, as in `isodepth.engine`
    exact : whether the values are suprema over all directions
    """

    plan: LevelPlan
    values: np.ndarray
    vectors: np.ndarray
    where: np.ndarray
    exact: bool = False

    def directions(self, levels: Any = slice(None)) -> np.ndarray:
        """Return the unit vectors (number of `levels`, d) at which the gaps are attained."""
        return signed_directions(self.vectors, self.where[levels])


def find_gaps(
    x: TrimmedRegions,
    y: TrimmedRegions,
    plan: LevelPlan,
    directions: np.ndarray,
    settings: Settings,
    resources: Resources,
) -> Gaps:
    """Compute the gap of each level.

    A mean over directions (a finite q) is divided by its value for a translation of length one,
    averaged over the sphere. So the gap (to the power q) is an unbiased estimate of the L_q metric.
    A translation by m has the gap |m| up to a relative error of c / sqrt(K), with
    c^2 = (E|u_1|^(2q) / (E|u_1|^q)^2 - 1) / q^2. The error is zero if the directions integrate the
    power exactly: orthonormal bases do for q = 2, and K equispaced directions in the plane do for
    even q < 2K.

    Parameters
    ----------
    x, y : TrimmedRegions
    plan : LevelPlan with L levels
    directions : ndarray of shape (K, d)
    settings : Settings
    """
    sizes = plan.prefix_sizes
    way, q, refine = settings.gap, settings.q, settings.refine
    unit = mean_of_direction(x.n_features, q)
    first, second = x.ordered, y.ordered
    if q < math.inf or (way == "search" and (refine == 0 or x.n_features == 1)):
        # In one dimension both directions were evaluated.
        found, codes = level_gaps(first, second, sizes, directions, resources, q)
        return Gaps(plan, found / unit, directions, codes)
    # Ascent and hulls round differently for (x, y) and (y, x): use one canonical order.
    inner = plan
    if _comes_after(first, second, plan):
        first, second, sizes = second, first, sizes[::-1]
        inner = replace(plan, prefix_sizes_x=sizes[0], prefix_sizes_y=sizes[1])
    if way == "exact":
        found, vectors = hausdorff_levels(first, second, *sizes)
        return Gaps(plan, found, vectors, np.arange(len(found)), exact=True)
    found, codes = level_gaps(first, second, sizes, directions, resources)
    refined = refine_gaps(first, second, inner, directions, found, codes, refine, resources)
    return Gaps(plan, *refined)


def _comes_after(x: np.ndarray, y: np.ndarray, plan: LevelPlan) -> bool:
    """Check if (y, x) is the canonical order of this pair."""
    if len(x) != len(y):
        return len(x) > len(y)
    for a, b in ((x, y), plan.prefix_sizes):
        for start in range(0, len(a), 1024):  # most differ at once
            first, second = a[start : start + 1024], b[start : start + 1024]
            differ = first != second
            if differ.any():
                at = np.unravel_index(int(differ.argmax()), differ.shape)
                return bool(first[at] > second[at])
    return False


def refine_gaps(
    x: np.ndarray,
    y: np.ndarray,
    plan: LevelPlan,
    directions: np.ndarray,
    gaps: np.ndarray,
    codes: np.ndarray,
    steps: int,
    resources: Resources,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Raise the gaps of `level_gaps` by at most `steps` steps of ascent.

    Returns
    -------
    gaps : ndarray of shape (L,), nowhere smaller than before
    vectors : ndarray of shape (K + J, d), the directions with the new ones after them
    codes : int64 ndarray of shape (L,), as in `level_gaps`, into `vectors`
    """
    n, m, d = int(plan.prefix_sizes_x[-1]), int(plan.prefix_sizes_y[-1]), x.shape[1]
    limit = max(_LEAST_WORK, _WORK_PER_STEP * steps * len(directions) * (n + m) * (d + 50))
    every_corner = 2 * n * m * d
    # For few points a search of all vertices is cheaper than an ascent.
    cheap = every_corner <= _CHEAP * limit
    if not cheap:
        chosen = chosen_levels(plan, gaps)
        sizes = plan.prefix_sizes_x[chosen], plan.prefix_sizes_y[chosen]
        winners = np.unique(codes)
        few = np.append(codes[chosen], winners[:: -(-len(winners) // _MOST_WINNERS)])
        starts = np.concatenate([signed_directions(directions, few), _apart(x, y, sizes)])
        tops = ascent(
            x,
            y,
            sizes,
            np.concatenate([starts, -starts]),
            # In proportion to the cost of the sampled directions.
            n_climbers=min(_MOST_CLIMBERS, max(_FEWEST_CLIMBERS, len(directions) // 12)),
            steps=steps,
            slack=_SLACK,
            resources=resources,
        )
        climbed, where = level_gaps(x, y, plan.prefix_sizes, tops, resources)
        where += np.where(where >= 0, len(directions), -len(directions))
        codes = np.where(climbed > gaps, where, codes)
        gaps = np.maximum(climbed, gaps)
        directions = np.concatenate([directions, tops])
    if every_corner <= 2 * limit:
        raised, values, sharper = raise_gaps(
            x, y, *plan.prefix_sizes, gaps, slack=_FULL if cheap else _SLACK, limit=limit
        )
        gaps, codes = gaps.copy(), codes.copy()
        gaps[raised] = np.maximum(gaps[raised], values)
        codes[raised] = len(directions) + np.arange(len(raised))
        directions = np.concatenate([directions, sharper])
    return gaps, directions, codes


def chosen_levels(plan: LevelPlan, gaps: np.ndarray) -> np.ndarray:
    """Return the levels of the ascent: spread evenly over the mass, and that of the maximum gap."""
    n_levels = len(plan.shares)
    if n_levels <= _MOST_LEVELS:
        return np.arange(n_levels)
    reached = np.cumsum(plan.shares)
    wanted = (np.arange(_MOST_LEVELS - 1) + 0.5) / (_MOST_LEVELS - 1)
    spread = np.searchsorted(reached, wanted).clip(max=n_levels - 1)
    # The first level whose middle is at least as far: this one or the next.
    spread += reached[spread] - 0.5 * plan.shares[spread] < wanted
    return np.unique(np.append(spread.clip(max=n_levels - 1), gaps.argmax()))


def _apart(x: np.ndarray, y: np.ndarray, sizes: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Return unit vectors between the centers of both samples, at most one per level."""
    apart = np.stack([_prefix_mean(x, i) - _prefix_mean(y, j) for i, j in zip(*sizes, strict=True)])
    largest = np.abs(apart).max(axis=1)
    # Samples with one center have no such direction.
    apart = apart[largest > 0] / largest[largest > 0, None]
    return apart / np.linalg.norm(apart, axis=1, keepdims=True)


def _prefix_mean(rows: np.ndarray, size: int) -> np.ndarray:
    # A few hundred evenly spaced rows are enough for a starting direction.
    some = rows[: size : max(1, size // 256)]
    return np.add.reduce(some, axis=0, dtype=np.float64) / len(some)
