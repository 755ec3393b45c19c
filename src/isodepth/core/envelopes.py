"""Directional quantile envelopes: regions of equal depth, known by their quantiles.

The envelope of depth t of a distribution is the set of all points x with <x, u> <= Q_u(1 - t) for
every direction u, Q_u being the quantiles along u: the halfspace region of depth t (Kong and
Mizera). It is represented by the function h(u) = Q_u(1 - t), which is at least the support function
of that set.

The envelope of level beta has depth t = (1 - beta) / 2: between the quantiles of the two tails lies
a share beta of the mass, along every direction. On a line this is the halfspace region of depth t,
and so, for distinct points of equal weight, the halfspace region of level beta.
"""

from __future__ import annotations

import numpy as np

from isodepth.core.regions import LevelPlan, Sample
from isodepth.errors import InvalidInputError

# A level within rounding of a step belongs to the smaller tail.
_ROUNDING = 1e-12
#: The largest total mass, in units, for which every step of the quantiles is evaluated.
MOST_UNITS = 1_000_000


def tail_units(betas: np.ndarray, total: int) -> np.ndarray:
    """How many of `total` units of mass lie at or above the quantile of each level (L,)."""
    tails = np.ceil((1.0 - betas) / 2.0 * total * (1.0 - _ROUNDING))
    return np.clip(tails, 1, total).astype(np.int64)


def envelope_plan(x: Sample, y: Sample, eps: float, betas: np.ndarray | None) -> LevelPlan:
    """The levels at which envelopes are compared; its prefix sizes are units of mass in the tails.

    Parameters
    ----------
    x, y : Sample
    eps : float in (0, 1]
    betas : ndarray of shape (L,), or None for all pieces of [0, 1 - eps] on which nothing changes
    """
    if betas is not None:
        levels = starts = np.sort(betas)
        shares = np.full(len(betas), 1.0 / len(betas))
    else:
        end = 1.0 - eps
        steps = np.concatenate([_steps(sample.total, end) for sample in (x, y)])
        edges = np.concatenate([[0.0], np.unique(steps), [end]])
        starts = edges[:-1]
        levels = np.stack([starts, edges[1:]], axis=1)
        shares = (edges[1:] - starts) / end if end > 0 else np.ones(1)
    return LevelPlan(levels, shares, tail_units(starts, x.total), tail_units(starts, y.total))


def _steps(total: int, end: float) -> np.ndarray:
    """The levels in (0, end) at which a quantile of `total` units of mass may move."""
    if total > MOST_UNITS:
        raise InvalidInputError(
            f"levels='exact' evaluates every step of the quantiles, and these weights have "
            f"{total} units of mass, more than {MOST_UNITS}; give a number of levels, such as "
            "levels=100"
        )
    steps = (total - 2.0 * np.arange(total // 2, -1, -1)) / total
    return steps[(steps > 0) & (steps < end * (1.0 - 1e-14))]
