"""Better depth by search: for each point, look for directions that make it look shallower.

Random directions find a loose minimum in more than a few dimensions. For elliptical data the best
direction at a point x is the one of S^-1 (x - c); from the best direction known, random tilts that
grow smaller go on from there (the refined random search of Dyckerhoff, Mozharovskyi and Nagy 2021).
Each point proposes a direction at each step, and every proposal is tried on all points, so the
result can only improve.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from isodepth.data.seeds import rng_for

#: Gives, for directions (J, d), the outlyingness (n,) of each point and the index (n,) of the
#: direction that attains it.
Evaluate = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]

_FIRST_TILT = 0.6
_SHRINK = 0.75
# Proposals a step: with more points than this, a different part of them each time.
_MOST_PROPOSALS = 2000


def search_directions(
    points: np.ndarray, directions: np.ndarray, steps: int, evaluate: Evaluate
) -> np.ndarray:
    """Directions (K + J, d): the given ones, and those a local search of `steps` steps adds.

    `points` (n, d) should be of size about one around zero.
    """
    rng = rng_for(0, "local search")
    outlyingness, index = evaluate(directions)
    best = directions[index]
    tried = [directions]
    tilt = _FIRST_TILT
    for step in range(steps + 1):
        proposing = _proposing(len(points), step)
        if step == 0:
            proposals = _elliptical(points, outlyingness)[proposing]
        else:
            # A normal vector has length about sqrt(d): the tilt is an angle in any dimension.
            noise = rng.standard_normal((len(proposing), best.shape[1])) / np.sqrt(best.shape[1])
            proposals = best[proposing] + tilt * noise
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


def _proposing(n: int, step: int) -> np.ndarray:
    if n <= _MOST_PROPOSALS:
        return np.arange(n)
    return (np.arange(_MOST_PROPOSALS) * n // _MOST_PROPOSALS + step) % n


def _elliptical(points: np.ndarray, outlyingness: np.ndarray) -> np.ndarray:
    """S^+ (x - c) for each point, center and scatter taken from the deeper half."""
    deeper = points[outlyingness <= np.median(outlyingness)].astype(np.float64)
    center = deeper.mean(axis=0)
    scatter = np.atleast_2d(np.cov(deeper.T)) if len(deeper) > 1 else np.eye(points.shape[1])
    away = points - center
    away /= np.abs(away).max(axis=1, keepdims=True).clip(min=np.finfo(np.float64).tiny)
    return away @ np.linalg.pinv(scatter, hermitian=True)
