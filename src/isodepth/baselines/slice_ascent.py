"""Climb W_p^p(<u, X>, <u, Y>) over the sphere, from the best of many directions."""

from __future__ import annotations

import math

import numpy as np

from isodepth.baselines.line import line_coupling
from isodepth.baselines.pair import Pair

# The surface has several hills; a few starts find the highest nearly always.
_STARTS = 8
# Shrinking below this share of the full step no longer moves a direction noticeably.
_SMALLEST_REACH = 1e-7


def climb_slices(
    pair: Pair, directions: np.ndarray, costs: np.ndarray, p: float, steps: int
) -> float:
    """The largest W_p^p found within `steps` steps from the best of the directions (K, d)."""
    starts = np.argsort(-costs, kind="stable")[:_STARTS]
    return max(_climb(pair, directions[start], p, steps) for start in starts)


def _climb(pair: Pair, u: np.ndarray, p: float, steps: int) -> float:
    value, slope = _cost_and_slope(pair, u, p)
    reach = 1.0
    for _ in range(steps):
        trial = _towards(u, slope, reach)
        if trial is None:
            break
        trial_value, trial_slope = _cost_and_slope(pair, trial, p)
        if trial_value > value:
            u, value, slope = trial, trial_value, trial_slope
            reach = min(1.0, 2 * reach)
        else:
            reach *= 0.5
            if reach < _SMALLEST_REACH:
                break
    return value


def _towards(u: np.ndarray, slope: np.ndarray, reach: float) -> np.ndarray | None:
    """Go a share of the way along the great circle from `u` to where the slope points.

    The full way is one step of a power iteration: right at once when one coupling is optimal all
    along, as for a shift.
    """
    along = float(slope @ u)
    across = slope - along * u
    length = float(np.linalg.norm(across))
    if length <= 1e-14 * abs(along) or length == 0:
        return None
    angle = reach * math.atan2(length, along)
    moved = math.cos(angle) * u + (math.sin(angle) / length) * across
    return moved / np.linalg.norm(moved)


def _cost_and_slope(pair: Pair, u: np.ndarray, p: float) -> tuple[float, np.ndarray]:
    """W_p^p along `u`, and its gradient there with the coupling held fixed, up to the factor p."""
    xs, ys = pair.x @ u, pair.y @ u
    i_of, j_of, mass = line_coupling(pair, xs, ys)
    gaps = xs[i_of] - ys[j_of]
    force = mass * np.sign(gaps) * np.abs(gaps) ** (p - 1)
    return float(force @ gaps), force @ (pair.x[i_of] - pair.y[j_of])
