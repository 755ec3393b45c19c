"""Refinement of gaps step by step, with one call of the compiled core per step.

The package refines gaps in a single call of the core, which must return the same bits.
"""

from __future__ import annotations

import numpy as np

from isodepth import _core
from isodepth.base.compiled import ALONE, Resources
from isodepth.geometry import regions
from isodepth.geometry.hull import common_frame
from isodepth.geometry.regions import LevelPlan, level_gaps, signed_directions

# Maximum number of levels at which the ascent starts, and maximum number of directions that attain
# the gap of some level among the starts.
MOST_LEVELS, MOST_MAXIMIZERS = 8, 32


def refine_gaps(
    x: np.ndarray,
    y: np.ndarray,
    plan: LevelPlan,
    directions: np.ndarray,
    steps: int,
    resources: Resources = ALONE,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute the result of `isodepth.geometry.regions.refine_gaps`, step by step."""
    gaps, codes = level_gaps(x, y, plan.prefix_sizes, directions, resources)
    n, m, d = int(plan.prefix_sizes_x[-1]), int(plan.prefix_sizes_y[-1]), x.shape[1]
    limit = max(
        regions._LEAST_WORK, regions._WORK_PER_STEP * steps * len(directions) * (n + m) * (d + 50)
    )
    cost = 2 * n * m * d  # of the search of all vertices
    replaces_ascent = cost <= regions._CHEAP * limit
    if not replaces_ascent:
        vectors = _ascend(x, y, plan, directions, gaps, codes, steps, resources)
        new_gaps, new_codes = level_gaps(x, y, plan.prefix_sizes, vectors, resources)
        new_codes += np.where(new_codes >= 0, len(directions), -len(directions))
        codes = np.where(new_gaps > gaps, new_codes, codes)
        gaps = np.maximum(new_gaps, gaps)
        directions = np.concatenate([directions, vectors])
    if cost <= regions._AFFORDABLE * limit:
        stops, slack = (
            np.stack(plan.prefix_sizes),
            regions._FULL if replaces_ascent else regions._SLACK,
        )
        raised, values, vectors = raise_gaps(x, y, stops, gaps, slack, limit, resources)
        gaps, codes = gaps.copy(), codes.copy()
        gaps[raised] = np.maximum(gaps[raised], values)
        codes[raised] = len(directions) + np.arange(len(raised))
        directions = np.concatenate([directions, vectors])
    return gaps, directions, codes


def _ascend(
    x: np.ndarray,
    y: np.ndarray,
    plan: LevelPlan,
    directions: np.ndarray,
    gaps: np.ndarray,
    codes: np.ndarray,
    steps: int,
    resources: Resources,
) -> np.ndarray:
    """Return the directions (J, d) that local ascent finds; arguments are those of `refine_gaps`.

    The ascent starts from directions that attain gaps, from the directions between the means of the
    regions of `chosen_levels`, and from the opposites of both.
    """
    chosen = chosen_levels(plan, gaps)
    sizes = plan.prefix_sizes_x[chosen], plan.prefix_sizes_y[chosen]
    maximizers = np.sort(codes)  # np.unique is slower
    maximizers = maximizers[np.append(True, maximizers[1:] != maximizers[:-1])]
    best = np.append(codes[chosen], maximizers[:: -(-len(maximizers) // MOST_MAXIMIZERS)])
    starts = signed_directions(directions, best)
    # The ascent copies its rows to float64. To save memory, it gets only the rows of the regions of
    # the chosen levels.
    inner_x, inner_y = x[: sizes[0][-1]], y[: sizes[1][-1]]
    # The number of ascents is proportional to the number of sampled directions, within limits.
    n_ascents = min(regions._MOST_ASCENTS, max(regions._FEWEST_ASCENTS, len(directions) // 12))
    return ascent(inner_x, inner_y, sizes, starts, n_ascents, steps, regions._SLACK, resources)


def chosen_levels(plan: LevelPlan, gaps: np.ndarray) -> np.ndarray:
    """Return the indices of at most eight levels at which the ascent starts.

    These are all levels of `plan` if there are at most eight. Otherwise they are up to seven levels
    that are evenly spaced by cumulative weight, and the level with the maximum of the `gaps` (L,).
    """
    n_levels = len(plan.shares)
    if n_levels <= MOST_LEVELS:
        return np.arange(n_levels)
    # A level occupies an interval of cumulative weight. The chosen level is the first level whose
    # midpoint is at least `wanted`.
    midpoints = np.cumsum(plan.shares) - 0.5 * plan.shares
    wanted = (np.arange(MOST_LEVELS - 1) + 0.5) / (MOST_LEVELS - 1)
    spread = midpoints.searchsorted(wanted).tolist()
    # For a few numbers, sets are faster than functions of NumPy.
    return np.array(sorted({*(min(i, n_levels - 1) for i in spread), int(gaps.argmax())}))


def ascent(
    x: np.ndarray,
    y: np.ndarray,
    prefix_sizes: tuple[np.ndarray, np.ndarray],
    starts: np.ndarray,
    n_ascents: int,
    steps: int,
    slack: float,
    resources: Resources = ALONE,
) -> np.ndarray:
    """Find unit vectors with large differences of the support functions of two regions, by ascent.

    The function that is maximized at a level is h_x(u) - h_y(u), for unit vectors u and the support
    functions h_x and h_y of the regions of both samples.

    Parameters
    ----------
    x, y, prefix_sizes : as in `level_gaps`
    starts : ndarray of shape (C, d)
        Unit vectors from which an ascent may start. The unit vectors between the means of both
        regions of each level, and the opposites of all vectors, are added.
    n_ascents : int
        Maximum number of ascents, which start from the vectors with the largest differences at each
        level.
    steps : int
        Maximum number of steps of an ascent, each of which projects a sample once.
    slack : float
        Relative tolerance. An ascent stops if further steps would increase the difference by a
        smaller fraction.
    resources : Resources

    Returns
    -------
    vectors : ndarray of shape (J, d), with J <= n_ascents
        Unit vectors at which the ascents ended.
    """
    first, second, starts = (np.ascontiguousarray(a, dtype=np.float64) for a in (x, y, starts))
    sizes = np.stack(prefix_sizes)
    return _core.ascent(first, second, sizes, starts, n_ascents, steps, slack, resources.n_threads)


def raise_gaps(
    first: np.ndarray,
    second: np.ndarray,
    prefix_sizes: np.ndarray,
    gaps: np.ndarray,
    slack: float,
    limit: float,
    resources: Resources = ALONE,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Increase gaps towards the exact gaps by a search of vertices, at a limited cost.

    The exact gap of a level is the Hausdorff distance between the convex hulls of two regions. It
    is attained at a vertex of one of the hulls.

    Parameters
    ----------
    first, second, prefix_sizes
        As in `exact_gaps`.
    gaps : ndarray of shape (L,)
        Lower bounds on the exact gaps, each attained along a direction.
    slack : float
        Relative tolerance: the search of a level ends if an upper bound exceeds its gap by at most
        this fraction of the gap.
    limit : float
        Maximum number of point coordinates that are read. Levels are searched from the innermost
        one outwards. If the maximum is reached, the remaining levels are not searched.
    resources : Resources

    Returns
    -------
    raised : int ndarray of shape (J,)
        Indices of the levels at which a larger gap was found.
    gaps : ndarray of shape (J,)
        Larger gaps of these levels.
    directions : ndarray of shape (J, d)
        Unit vectors that attain the larger gaps.
    """
    frame = common_frame(first[: prefix_sizes[0, -1]], second[: prefix_sizes[1, -1]])
    attained = np.ldexp(gaps, -frame.exponent)
    lower, _, inner, sides = _core.hull_levels(
        frame.first, frame.second, prefix_sizes, attained, slack, limit, resources.n_threads
    )
    raised = np.flatnonzero(sides >= 0)
    return raised, frame.lengths(lower[raised]), frame.directions(inner[raised])
