"""The rank pass: where each point stands among the others along every direction."""

from __future__ import annotations

from typing import Any

import numpy as np

from isodepth.engine.blocks import are_few, fold_directions, whole_slab
from isodepth.engine.copies import first_copies, repeated_rows
from isodepth.engine.threads import Resources, best_of_workers

_UNIT_MASSES = np.empty(0, dtype=np.int64)
_NOWHERE = np.empty(0, dtype=np.int64)
# How much longer a row takes with a mass than without: smallest halfspaces are bounded, and mostly
# not sorted, where there is none; mean ranks always are.
_HALFSPACE_MASS_COST = 2.0
_MEAN_MASS_COST = 1.1


def smallest_halfspace(
    points: np.ndarray,
    masses: np.ndarray | None,
    total: int,
    directions: np.ndarray,
    resources: Resources,
    locate: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """Smallest closed-halfspace mass at each point, over u and -u, in units of 1/total.

    Parameters
    ----------
    points : ndarray of shape (u, d)
    masses : int64 ndarray of shape (u,), or None where each is one unit
    total : int
        The sum of the masses.
    locate : bool
        Whether to say which direction gave it.

    Returns
    -------
    smallest : integer ndarray of shape (u,)
    where : int64 ndarray of shape (u,), or empty
    """
    rows = repeated_rows(masses, total, _HALFSPACE_MASS_COST)
    if masses is not None and rows is not None:
        found = smallest_halfspace(points[rows], None, total, directions, resources, locate)
        first = first_copies(masses)
        return found[0][first], found[1][first] if locate else _NOWHERE
    if masses is None and not locate and are_few(points, directions, resources):
        from isodepth.engine.compiled.small_ranks import small_halfspace

        fewest = np.full(len(points), total, dtype=np.int32)
        small_halfspace(
            whole_slab(points, directions), np.empty((2, len(points)), dtype=np.int32), fewest
        )
        return fewest, _NOWHERE
    from isodepth.engine.compiled.halfspace_bounds import bounds_workspace
    from isodepth.engine.compiled.ranks import halfspace_directions
    from isodepth.engine.compiled.sorting import sort_workspace

    units = _UNIT_MASSES if masses is None else masses
    dtype = np.int32 if masses is None else np.int64
    n_located = len(points) if locate else 0

    # More than any mass; what is said which direction gave it must not be somebody else's finding.
    known = np.full(0 if locate else len(points), total + 1, dtype=dtype)

    def start(_: int) -> tuple[np.ndarray, np.ndarray, tuple, tuple]:
        # The loop fills it: memory is first written to by whoever works with it.
        best = np.empty(len(points), dtype=dtype)
        workspace = sort_workspace(len(points), points.dtype)
        bounds = bounds_workspace(len(points), points.dtype)
        return best, np.zeros(n_located, dtype=np.int64), workspace, bounds

    def step(state: tuple[np.ndarray, np.ndarray, tuple, tuple], slab: Any, turn: Any) -> None:
        best, where, workspace, bounds = state
        halfspace_directions(
            slab, turn, units, np.int64(total), workspace, bounds, best, known, where
        )

    states = fold_directions(points, directions, start, step, resources)
    return best_of_workers([state[:2] for state in states], np.less)


def mean_rank_weight(
    points: np.ndarray,
    masses: np.ndarray | None,
    total: int,
    directions: np.ndarray,
    resources: Resources,
) -> np.ndarray:
    """Mean over the directions of min(F, 1 - F) at each point, F with mid-ranks.

    Points, masses and their total as in `smallest_halfspace`; the result is float64 (u,).
    """
    rows = repeated_rows(masses, total, _MEAN_MASS_COST)
    if masses is not None and rows is not None:
        found = mean_rank_weight(points[rows], None, total, directions, resources)
        return found[first_copies(masses)]
    if masses is None and are_few(points, directions, resources):
        from isodepth.engine.compiled.small_ranks import small_rank_weight

        weights = np.zeros(len(points), dtype=np.int64)
        small_rank_weight(
            whole_slab(points, directions), np.empty((2, len(points)), dtype=np.int32), weights
        )
        return weights / (2.0 * total * len(directions))
    from isodepth.engine.compiled.ranks import rank_weight_directions
    from isodepth.engine.compiled.sorting import sort_workspace

    units = _UNIT_MASSES if masses is None else masses
    # What is dropped, at most 2**shift / total a direction, is below the rounding of a double.
    bits = (2 * total * len(directions)).bit_length()
    shift = np.int64(max(0, bits - 63))

    # No weight is above half of 2 total; half as wide is half as much to read and write.
    narrow = masses is None and total * len(directions) < 2**32

    def start(_: int) -> tuple[np.ndarray, tuple]:
        sums = np.zeros(len(points), dtype=np.uint32 if narrow else np.int64)
        return sums, sort_workspace(len(points), points.dtype)

    def step(state: tuple[np.ndarray, tuple], slab: Any, turn: Any) -> None:
        sums, workspace = state
        rank_weight_directions(slab, turn, units, np.int64(total), shift, workspace, sums)

    states = fold_directions(points, directions, start, step, resources)
    sums = states[0][0]
    # A type that can hold the sum over some of the directions can hold that over all.
    for other, _ in states[1:]:
        sums += other
    return np.ldexp(sums.astype(np.float64), int(shift)) / (2.0 * total * len(directions))
