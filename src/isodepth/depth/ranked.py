"""Depths that only look at ranks along directions: their shared pass over the projections."""

from __future__ import annotations

import numpy as np

from isodepth.backend.projecting import fold_projections
from isodepth.backend.threads import Resources
from isodepth.sample import Sample

_UNIT_MASSES = np.empty(0, dtype=np.int64)


def smallest_halfspace(
    sample: Sample,
    points: np.ndarray,
    directions: np.ndarray,
    resources: Resources,
    locate: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """Smallest closed-halfspace mass at each point, over u and -u, in units of 1/total.

    Parameters
    ----------
    points : ndarray of shape (u, d)
        The sample's own, moved or scaled at will.
    locate : bool
        Whether to say which direction gave it.

    Returns
    -------
    smallest : integer ndarray of shape (u,)
    where : int64 ndarray of shape (u,), or empty
    """
    from isodepth.backend.halfspace_bounds import bounds_room
    from isodepth.backend.ranks import halfspace_block
    from isodepth.backend.sorting import sort_room

    masses, total = _masses(sample)
    dtype = np.int32 if sample.masses is None else np.int64
    n_located = len(points) if locate else 0

    def start() -> tuple[np.ndarray, np.ndarray, tuple, tuple]:
        # One more than any mass, so that the first direction is always an improvement.
        best = np.full(len(points), sample.total + 1, dtype=dtype)
        room = sort_room(len(points), points.dtype)
        bounds = bounds_room(len(points), points.dtype)
        return best, np.zeros(n_located, dtype=np.int64), room, bounds

    def step(
        state: tuple[np.ndarray, np.ndarray, tuple, tuple], projections: np.ndarray, which: slice
    ) -> None:
        best, where, room, bounds = state
        halfspace_block(projections, masses, total, room, bounds, best, which.start, where)

    states = fold_projections(points, directions, start, step, resources)
    return best_of_workers([state[:2] for state in states], np.less)


def best_of_workers(
    states: list[tuple[np.ndarray, np.ndarray]], better: np.ufunc
) -> tuple[np.ndarray, np.ndarray]:
    """Combine (values, where) of all workers; of equal values the first direction is named."""
    values, where = states[0]
    for other, other_where in states[1:]:
        take = better(other, values)
        if len(where):
            tied = (other == values) & (other_where < where)
            where = np.where(take | tied, other_where, where)
        values = np.where(take, other, values)
    return values, where


def mean_rank_weight(
    sample: Sample, points: np.ndarray, directions: np.ndarray, resources: Resources
) -> np.ndarray:
    """Mean over the directions of min(F, 1 - F) at each point, F with mid-ranks."""
    from isodepth.backend.ranks import rank_weight_block
    from isodepth.backend.sorting import sort_room

    masses, total = _masses(sample)
    # What is dropped, at most 2**shift / total a direction, is below the rounding of a double.
    bits = (2 * sample.total * len(directions)).bit_length()
    shift = np.int64(max(0, bits - 63))

    # No weight is above half of 2 total; half as wide is half as much to read and write.
    narrow = sample.masses is None and sample.total * len(directions) < 2**32

    def start() -> tuple[np.ndarray, tuple]:
        sums = np.zeros(len(points), dtype=np.uint32 if narrow else np.int64)
        return sums, sort_room(len(points), points.dtype)

    def step(state: tuple[np.ndarray, tuple], projections: np.ndarray, _: slice) -> None:
        sums, room = state
        rank_weight_block(projections, masses, total, shift, room, sums)

    states = fold_projections(points, directions, start, step, resources)
    sums = np.add.reduce([sums for sums, _ in states], dtype=np.int64)
    return np.ldexp(sums.astype(np.float64), int(shift)) / (2.0 * sample.total * len(directions))


def _masses(sample: Sample) -> tuple[np.ndarray, np.int64]:
    masses = _UNIT_MASSES if sample.masses is None else sample.masses
    return masses, np.int64(sample.total)
