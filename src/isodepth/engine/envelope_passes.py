"""The envelope pass: directional quantiles, and their gaps at all levels."""

from __future__ import annotations

import math

import numpy as np

from isodepth.engine.blocks import fold_projections
from isodepth.engine.mean_passes import SumsOfPowers
from isodepth.engine.threads import Resources

# Numbers of two tables that are held at a time. Where blocks end does not depend on the threads.
_BLOCK_NUMBERS = 1 << 20


def write_quantiles(
    points: np.ndarray,
    masses: np.ndarray | None,
    tails: np.ndarray,
    directions: np.ndarray,
    out: np.ndarray,
    resources: Resources,
) -> None:
    """Write the quantiles along u and along -u that leave given masses at or above them.

    The quantile along u is the largest projection of a point with at least that mass at or above
    it: an upper quantile, the one that ends the halfspace region of that depth on a line.

    Parameters
    ----------
    points : ndarray of shape (n, d)
    masses : int64 ndarray of shape (n,), or None where each is one unit
    tails : int64 ndarray of shape (L,), from 1 to the total
    directions : ndarray of shape (K, d)
    out : ndarray of shape (L, 2K)
    """
    n, count = len(points), len(directions)

    def step(_: None, projections: np.ndarray, which: slice) -> None:
        opposite = slice(count + which.start, count + which.stop)
        if masses is None:
            projections.sort(axis=1)
            out[:, which] = projections[:, n - tails].T
            out[:, opposite] = -projections[:, tails - 1].T
            return
        order = projections.argsort(axis=1, kind="stable")
        for row, k in enumerate(range(which.start, which.stop)):
            along = projections[row, order[row]]
            reached = np.cumsum(masses[order[row]])
            out[:, k] = along[np.searchsorted(reached, reached[-1] - tails, side="right")]
            out[:, count + k] = -along[np.searchsorted(reached, tails)]

    beside = 0 if masses is None else 3 * 8 * n
    fold_projections(points, directions, lambda: None, step, resources, beside)


def envelope_gaps(
    x: tuple[np.ndarray, np.ndarray | None],
    y: tuple[np.ndarray, np.ndarray | None],
    tails_x: np.ndarray,
    tails_y: np.ndarray,
    directions: np.ndarray,
    q: float,
    resources: Resources,
) -> tuple[np.ndarray, np.ndarray]:
    """Gap of each level between the quantiles of two samples, over u and -u.

    Parameters
    ----------
    x, y : points (n, d) and masses (n,) or None, of each sample
    tails_x, tails_y : int64 ndarrays of shape (L,)
    directions : ndarray of shape (K, d)
    q : float in [1, inf]

    Returns
    -------
    gaps : float64 ndarray of shape (L,), the largest, or the mean of order q
    where : int64 ndarray of shape (L,), codes of the largest as in `engine.signed`
    """
    n_levels, count = len(tails_x), len(directions)
    size = max(1, min(count, _BLOCK_NUMBERS // (4 * n_levels)))
    sums = SumsOfPowers(n_levels, q)
    for block, start in enumerate(range(0, count, size)):
        few = directions[start : start + size]
        apart = np.empty((2, n_levels, 2 * len(few)))
        write_quantiles(*x, tails_x, few, apart[0], resources)
        write_quantiles(*y, tails_y, few, apart[1], resources)
        gaps = np.abs(apart[0] - apart[1])
        each = np.maximum(gaps[:, : len(few)], gaps[:, len(few) :])
        # Of equal gaps the first direction is named, and u before -u.
        lane = each.argmax(axis=1)
        largest = each[np.arange(n_levels), lane]
        ahead = gaps[np.arange(n_levels), lane] == largest
        where = np.where(ahead, start + lane, -1 - (start + lane))
        total = np.zeros(n_levels)
        if not math.isinf(q):
            unit = np.where(largest > 0, largest, 1.0)
            total = ((gaps / unit[:, None]) ** q).sum(axis=1)
        sums.add(block, largest, total, where)
    return (sums.largest if math.isinf(q) else sums.mean(2 * count)), sums.where
