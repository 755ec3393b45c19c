"""Project points on directions, a block of directions at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from isodepth.engine.rows import over_rows
from isodepth.engine.threads import (
    Resources,
    bytes_of,
    fold_blocks,
    worker_count,
    workers_within,
)

State = TypeVar("State")

# One block of projections should stay in a core's second-level cache. Every block needs the
# interpreter for a moment, which serves one worker at a time: where blocks are made in Python, many
# workers take larger ones, as far as machines with that many cores have the caches for it.
_CACHE_BYTES = 1 << 19
_MANY_WORKERS = 4
_MOST_DIRECTIONS = 256
_FEWEST_DIRECTIONS = 4
# Workers that begin late, or are slower, leave blocks to others: so there are some for each.
_BLOCKS_EACH = 2
# So few projected numbers take no thought: less than a second thread is worth, and with all that is
# held beside them less than a megabyte.
_LITTLE = 20_000
_LITTLE_MB = 4.0
# Fewer rows are laid out in tiles before another thread has woken up.
_MANY_ROWS = 1 << 15


class BlockPlan(NamedTuple):
    """How a pass over directions is cut up; the result depends on neither number."""

    size: int  # directions in a block
    workers: int


def is_little(points: np.ndarray, directions: np.ndarray, resources: Resources) -> bool:
    """Whether all projections at once, by one worker, stay within any budget: nothing to plan."""
    return len(points) * len(directions) <= _LITTLE and resources.memory_mb >= _LITTLE_MB


def plan_blocks(
    n: int,
    n_directions: int,
    itemsize: int,
    held: int,
    beside: int,
    resources: Resources,
) -> BlockPlan:
    """Blocks small enough for a cache, and no more workers than fit into `memory_mb` together.

    Parameters
    ----------
    n : int
        Projections on one direction.
    held : int
        Bytes that a worker holds apart from its block of projections.
    beside : int
        Further bytes that it takes for each direction of a block while it works on that.
    """
    row = n * itemsize
    each = row + beside
    budget = resources.memory_mb * 2**20
    wanted = worker_count(resources.n_jobs, n_directions, n * n_directions)
    # One worker with one direction is the least there is, whatever the budget says.
    workers = workers_within(wanted, held + each, resources.memory_mb)
    larger = 2 if workers >= _MANY_WORKERS else 1
    fitting = max(_FEWEST_DIRECTIONS, min(_MOST_DIRECTIONS, larger * _CACHE_BYTES // row))
    size = max(1, int(min(fitting, (budget / workers - held) // each)))
    # Of one size, and equally many for each worker: so that they end together.
    rounds = -(-n_directions // (size * workers))
    if workers > 1:
        rounds = max(rounds, _BLOCKS_EACH)
    size = -(-n_directions // (rounds * workers))
    return BlockPlan(size, min(workers, -(-n_directions // size)))


def fold_projections(
    points: np.ndarray,
    directions: np.ndarray,
    start: Callable[[], State],
    step: Callable[[State, np.ndarray, slice], None],
    resources: Resources,
    beside: int = 0,
) -> list[State]:
    """Fold `step(state, projections, which)` over blocks of directions.

    Parameters
    ----------
    points : ndarray of shape (n, d)
    directions : ndarray of shape (K, d)
    start : makes the state of a worker
    step : receives projections of shape (B, n), one contiguous row a direction; the next block is
        written over them
    beside : int
        Bytes that `step` allocates for each direction of a block.
    """
    from isodepth.engine.compiled.tiles import multipliers, project

    n = len(points)
    # The first state is made before the others, to see how large they are.
    ready = [start()]
    if is_little(points, directions, resources):
        size, workers = min(len(directions), _MOST_DIRECTIONS), 1
    else:
        held = bytes_of(ready[0])
        size, workers = plan_blocks(n, len(directions), points.itemsize, held, beside, resources)
    blocks = [slice(k, min(k + size, len(directions))) for k in range(0, len(directions), size)]
    tiles = _tiles_of_many(points, resources)
    rows = multipliers(directions, points.dtype)

    def begin() -> tuple[State, np.ndarray]:
        try:
            state = ready.pop()
        except IndexError:
            state = start()
        return state, np.empty(size * n, points.dtype)

    def project_block(state: tuple[State, np.ndarray], block: slice) -> None:
        projections = state[1][: (block.stop - block.start) * n].reshape(-1, n)
        project(tiles, rows[block], projections)
        step(state[0], projections, block)

    return [state for state, _ in fold_blocks(blocks, begin, project_block, workers)]


def _tiles_of_many(points: np.ndarray, resources: Resources) -> Any:
    """`tiles_of` points (n, d), laid out by several threads."""
    from isodepth.engine.compiled.tiles import Tiles, tiles_of

    n, d = points.shape
    if n < _MANY_ROWS:
        return tiles_of(points)
    width = tiles_of(points[:1]).values.shape[2]
    count = -(-n // width)
    tiles = Tiles(np.empty((count, d, width), points.dtype), np.empty(count, np.int64))

    def lay_out(some: slice) -> None:
        part = tiles_of(points[some])
        which = slice(some.start // width, some.start // width + len(part.starts))
        tiles.values[which] = part.values
        tiles.starts[which] = part.starts + some.start

    over_rows(n, d, lay_out, resources)
    return tiles
