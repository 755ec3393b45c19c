"""The mean over directions of |h_X(u) - h_Y(u)|^q, for all levels at once."""

from __future__ import annotations

import numpy as np

from isodepth.core.levels import LevelPlan
from isodepth.core.sphere import mean_of_direction
from isodepth.engine.mean_passes import mean_gaps
from isodepth.engine.threads import Resources
from isodepth.gap.supremum import Gaps


def find_mean_gaps(
    x: np.ndarray,
    y: np.ndarray,
    plan: LevelPlan,
    directions: np.ndarray,
    q: float,
    resources: Resources,
) -> Gaps:
    """The L_q gap of each level: a mean over the directions in place of their supremum.

    It is divided by what a direction sees on average of a translation of length one. That is the
    average over the sphere, not over the directions at hand: so the gap is an unbiased estimate of
    the L_q metric (to the power q), and the same for all samples. A translation by m has the gap
    |m| up to the scatter of the directions, of relative size c / sqrt(K), c^2 = (E|u_1|^(2q) /
    (E|u_1|^q)^2 - 1) / q^2, and exactly where they integrate the power: for q = 2 every orthonormal
    basis does ("orthogonal" directions, a multiple of d of them), and in the plane K equispaced
    ones do for even q < 2K.

    Parameters
    ----------
    x, y : ndarrays of shape (n, d) and (m, d), deepest rows first
    plan : LevelPlan with L levels
    directions : ndarray of shape (K, d)
    q : float in [1, inf)

    Returns
    -------
    gaps : Gaps
        The direction of each is the one in which the supports differ most.
    """
    means, where = mean_gaps(x, y, plan.stops_x, plan.stops_y, directions, q, resources)
    return Gaps(plan, means / mean_of_direction(x.shape[1], q), directions, where)
