"""Project points on directions, a block of directions at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from isodepth.engine.threads import Resources, fold_blocks, worker_count

State = TypeVar("State")

# One block of projections should stay in a core's second-level cache.
_CACHE_BYTES = 1 << 19
_MOST_DIRECTIONS = 256
_FEWEST_DIRECTIONS = 4


def directions_per_block(n: int, itemsize: int, memory_mb: float) -> int:
    """How many directions to take at once. It depends on the data alone, never on the threads."""
    row = n * itemsize
    fitting = max(_FEWEST_DIRECTIONS, min(_MOST_DIRECTIONS, _CACHE_BYTES // row))
    # Up to eight workers each hold one block and about four rows of scratch space.
    allowed = int(memory_mb * 2**20 / 8 / row) - 4
    return max(1, min(fitting, allowed))


def fold_projections(
    points: np.ndarray,
    directions: np.ndarray,
    start: Callable[[], State],
    step: Callable[[State, np.ndarray, slice], None],
    resources: Resources,
) -> list[State]:
    """Fold `step(state, projections, which)` over blocks of directions.

    Parameters
    ----------
    points : ndarray of shape (n, d)
    directions : ndarray of shape (K, d)
    start : makes the state of a worker
    step : receives projections of shape (B, n), one contiguous row a direction; the next block is
        written over them
    """
    from isodepth.engine.compiled.tiles import multipliers, project, tiles_of

    n = len(points)
    size = directions_per_block(n, points.itemsize, resources.memory_mb)
    # As many blocks, of one size: workers that get equally many of them end together.
    size = -(-len(directions) // -(-len(directions) // size))
    blocks = [slice(k, min(k + size, len(directions))) for k in range(0, len(directions), size)]
    tiles = tiles_of(points)
    rows = multipliers(directions, points.dtype)

    def begin() -> tuple[State, np.ndarray]:
        return start(), np.empty(size * n, points.dtype)

    def project_block(state: tuple[State, np.ndarray], block: slice) -> None:
        projections = state[1][: (block.stop - block.start) * n].reshape(-1, n)
        project(tiles, rows[block], projections)
        step(state[0], projections, block)

    workers = worker_count(resources.n_jobs, len(blocks), n * len(directions))
    return [state for state, _ in fold_blocks(blocks, begin, project_block, workers)]
