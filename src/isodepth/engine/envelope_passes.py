"""The envelope pass: directional quantiles, and their gaps at all levels."""

from __future__ import annotations

import math

import numpy as np

from isodepth.engine.blocks import fold_projections
from isodepth.engine.mean_passes import SumsOfPowers
from isodepth.engine.threads import (
    Resources,
    bytes_of,
    fold_blocks,
    worker_count,
    workers_within,
)

_UNIT_MASSES = np.empty(0, dtype=np.int64)
# Numbers that a worker holds at a time. Where blocks end does not depend on the threads.
_BLOCK_NUMBERS = 1 << 17
_MOST_DIRECTIONS = 256

#: Points (n, d), and their masses (n,) or None where each is one unit.
Weighted = tuple[np.ndarray, np.ndarray | None]


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
    from isodepth.engine.compiled.quantiles import quantile_block
    from isodepth.engine.compiled.sorting import sort_workspace

    count = len(directions)
    units = _UNIT_MASSES if masses is None else masses

    def start() -> tuple:
        return sort_workspace(len(points), points.dtype), np.empty_like(units)

    def step(rooms: tuple, projections: np.ndarray, which: slice) -> None:
        upper, lower = np.empty((2, len(projections), len(tails)), points.dtype)
        quantile_block(projections, units, tails, *rooms, upper, lower)
        out[:, which] = upper.T
        out[:, count + which.start : count + which.stop] = lower.T

    beside = 2 * len(tails) * points.itemsize
    fold_projections(points, directions, start, step, resources, beside)


def envelope_gaps(
    x: Weighted,
    y: Weighted,
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
    from isodepth.engine.compiled.quantiles import quantile_block
    from isodepth.engine.compiled.sorting import sort_workspace
    from isodepth.engine.compiled.tiles import multipliers, project, tiles_of

    dtype, n_levels, count = x[0].dtype, len(tails_x), len(directions)
    rows = multipliers(directions, dtype)
    sides = [
        (tiles_of(points), _UNIT_MASSES if masses is None else masses, tails, len(points))
        for (points, masses), tails in ((x, tails_x), (y, tails_y))
    ]
    largest_side = max(sides[0][3], sides[1][3])
    each = largest_side + 4 * n_levels
    size = max(1, min(_MOST_DIRECTIONS, count, _BLOCK_NUMBERS // each))
    sums = SumsOfPowers(n_levels, q)

    def start() -> tuple:
        rooms = tuple((sort_workspace(side[3], dtype), np.empty_like(side[1])) for side in sides)
        return rooms, np.empty(size * largest_side, dtype)

    def step(state: tuple, block: int) -> None:
        few = rows[block * size : (block + 1) * size]
        found = np.empty((2, 2, len(few), n_levels), dtype)
        for (tiles, units, tails, n), rooms, out in zip(sides, state[0], found, strict=True):
            projections = state[1][: len(few) * n].reshape(-1, n)
            project(tiles, few, projections)
            quantile_block(projections, units, tails, *rooms, out[0], out[1])
        gaps = np.abs(found[0] - found[1]).astype(np.float64, copy=False)
        sums.add(block, *_of_block(gaps, block * size, q))

    n_blocks = -(-count // size)
    workers = worker_count(resources.n_jobs, n_blocks, 2 * largest_side * count)
    if workers > 1:
        held = bytes_of(start()) + (8 * size + 6) * 8 * n_levels
        workers = workers_within(workers, held, resources.memory_mb)
    fold_blocks(range(n_blocks), start, step, workers)
    return (sums.largest if math.isinf(q) else sums.mean(2 * count)), sums.where


def _of_block(gaps: np.ndarray, first: int, q: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Largest gaps (L,), sums of powers in units of them, and codes, of gaps (2, B, L)."""
    farther = gaps.max(axis=0)
    # Of equal gaps the first direction is named, and u before -u.
    lane = farther.argmax(axis=0)
    levels = np.arange(gaps.shape[2])
    largest = farther[lane, levels]
    ahead = gaps[0, lane, levels] == largest
    where = np.where(ahead, first + lane, -1 - (first + lane))
    if math.isinf(q):
        return largest, np.zeros_like(largest), where
    powers = gaps / np.where(largest > 0, largest, 1.0)
    return largest, (powers**q).sum(axis=(0, 1)), where
