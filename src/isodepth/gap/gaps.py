"""The gaps between the regions of two samples, for all levels at once.

The gaps that the directions attain are raised towards the supremum. First a few climbers start from
the best directions found, for a few levels, and what they reach is tried on all levels: one step
costs each of them one projection of a sample, so together they cost less than the thousand
directions they start from. Then, where the samples are small enough that it costs no more than what
went before, corners that could still reach further out are looked at one by one, as for the exact
distance, until none is left or the allowance is spent.
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
# Close enough to the best there is, as a share of the gap.
_SLACK = 1e-3
_FULL = 1e-10
# Looking at a coordinate of a point costs about a nanosecond; twenty steps may cost somewhat less
# than a distance without refinement does.
_WORK_PER_STEP = 0.01
# Some milliseconds, allowed however few the directions.
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
    exact : whether no direction whatsoever attains more
    """

    plan: LevelPlan
    values: np.ndarray
    vectors: np.ndarray
    where: np.ndarray
    exact: bool = False

    def directions(self, levels: Any = slice(None)) -> np.ndarray:
        """The unit vectors, of shape (number of `levels`, d), at which the gaps are attained."""
        return signed_directions(self.vectors, self.where[levels])


def find_gaps(
    x: TrimmedRegions,
    y: TrimmedRegions,
    plan: LevelPlan,
    directions: np.ndarray,
    settings: Settings,
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
    settings : Settings
    """
    sizes = plan.prefix_sizes
    way, q, refine = settings.gap, settings.q, settings.refine
    unit = mean_of_direction(x.n_features, q)
    first, second = x.ordered, y.ordered
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
    # Few points: looking at every corner is cheaper than climbing first, and can be done in full.
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
            # As many climbers as leave the cost in proportion to that of the search.
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
    """The levels worth climbing for: spread evenly over the mass, and the largest gap."""
    n_levels = len(plan.shares)
    if n_levels <= _MOST_LEVELS:
        return np.arange(n_levels)
    reached = np.cumsum(plan.shares)
    wanted = (np.arange(_MOST_LEVELS - 1) + 0.5) / (_MOST_LEVELS - 1)
    spread = np.searchsorted(reached, wanted).clip(max=n_levels - 1)
    # The first whose middle is as far: that one or the next.
    spread += reached[spread] - 0.5 * plan.shares[spread] < wanted
    return np.unique(np.append(spread.clip(max=n_levels - 1), gaps.argmax()))


def _apart(x: np.ndarray, y: np.ndarray, sizes: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Unit vectors between the centers of both samples, at most one a level."""
    apart = np.stack([_prefix_mean(x, i) - _prefix_mean(y, j) for i, j in zip(*sizes, strict=True)])
    largest = np.abs(apart).max(axis=1)
    # Samples with one center have no such direction.
    apart = apart[largest > 0] / largest[largest > 0, None]
    return apart / np.linalg.norm(apart, axis=1, keepdims=True)


def _prefix_mean(rows: np.ndarray, size: int) -> np.ndarray:
    # Mean of a few hundred evenly spaced rows: a start needs no more.
    some = rows[: size : max(1, size // 256)]
    return np.add.reduce(some, axis=0, dtype=np.float64) / len(some)
