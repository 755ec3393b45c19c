"""Local search for directions along which points are more outlying.

The minimum over random directions is a loose bound in more than a few dimensions. For elliptical
data the best direction at a point x is S^-1 (x - c). The search starts there and adds random tilts
of decreasing size to the best direction of each point (the refined random search of Dyckerhoff,
Mozharovskyi and Nagy 2021). Each point proposes one direction per step, and every proposal is
evaluated at all points.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from isodepth.core.directions import rng_for

#: Function of directions (J, d) that returns the outlyingness (n,) of each point and the index (n,)
#: of its direction.
Evaluate = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]

_FIRST_TILT = 0.6
_SHRINK = 0.75
# Maximum number of proposals per step: of more points, each step uses a different subset.
_MOST_PROPOSALS = 2000


def search_directions(
    points: np.ndarray, directions: np.ndarray, steps: int, evaluate: Evaluate
) -> np.ndarray:
    """Return directions (K + J, d): the given ones, and those of a local search of `steps` steps.

    `points` (n, d) should be of size about one around zero.
    """
    rng = rng_for(0, "local search")
    outlyingness, index = evaluate(directions)
    best = directions[index]
    tried = [directions]
    tilt = _FIRST_TILT
    for step in range(steps + 1):
        proposers = _proposer_rows(len(points), step)
        if step == 0:
            proposals = _elliptical(points, outlyingness)[proposers]
        else:
            # A normal vector has length about sqrt(d): the tilt is an angle in any dimension.
            noise = rng.standard_normal((len(proposers), best.shape[1])) / np.sqrt(best.shape[1])
            proposals = best[proposers] + tilt * noise
            tilt *= _SHRINK
        lengths = np.linalg.norm(proposals, axis=1)
        proposals = proposals[lengths > 0] / lengths[lengths > 0, None]
        if not len(proposals):
            continue
        tried.append(proposals)
        reached, index = evaluate(proposals)
        better = reached > outlyingness
        outlyingness = np.where(better, reached, outlyingness)
        best = np.where(better[:, None], proposals[index], best)
    return np.concatenate(tried)


def _proposer_rows(n: int, step: int) -> np.ndarray:
    """Return the indices of the points that propose a direction at a step."""
    if n <= _MOST_PROPOSALS:
        return np.arange(n)
    return (np.arange(_MOST_PROPOSALS) * n // _MOST_PROPOSALS + step) % n


def _elliptical(points: np.ndarray, outlyingness: np.ndarray) -> np.ndarray:
    """Return S^+ (x - c) for each point, with center and scatter of the deeper half."""
    deeper = points[outlyingness <= np.median(outlyingness)].astype(np.float64)
    center = deeper.mean(axis=0)
    scatter = np.atleast_2d(np.cov(deeper.T)) if len(deeper) > 1 else np.eye(points.shape[1])
    away = points - center
    away /= np.abs(away).max(axis=1, keepdims=True).clip(min=np.finfo(np.float64).tiny)
    return away @ np.linalg.pinv(scatter, hermitian=True)
