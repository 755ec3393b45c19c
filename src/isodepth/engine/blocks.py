"""Project points on directions, a block of directions at a time."""

from __future__ import annotations

import itertools
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
# So many projected numbers are a matter of a tenth of a second: an interrupt waits no longer.
_AT_MOST_AT_A_TIME = 1 << 24
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
#: Up to this many points are looked at along several directions at once.
FEW = 64


class BlockPlan(NamedTuple):
    """How a pass over directions is cut up; the result depends on neither number."""

    size: int  # directions in a block
    workers: int


def are_few(points: np.ndarray, directions: np.ndarray, resources: Resources) -> bool:
    """Whether there are so few points that loops of their own take all of them at once."""
    return len(points) <= FEW and is_little(points, directions, resources)


def is_little(points: np.ndarray, directions: np.ndarray, resources: Resources) -> bool:
    """Whether all projections at once, by one worker, stay within any budget: nothing to plan."""
    return len(points) * len(directions) <= _LITTLE and resources.memory_mb >= _LITTLE_MB


def whole_slab(points: np.ndarray, directions: np.ndarray) -> Any:
    """A few points (n, d) with directions (K, d), and room for all projections at once."""
    from isodepth.engine.compiled.tiles import multipliers, slab_of, tiles_of

    room = np.empty((len(directions), len(points)), points.dtype)
    return slab_of(tiles_of(points), multipliers(directions, points.dtype), room)


def plan_blocks(
    n: int,
    n_directions: int,
    itemsize: int,
    held: int,
    beside: int,
    resources: Resources,
    compiled: bool = False,
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
    compiled : bool
        Whether a worker goes from block to block without the interpreter.
    """
    row = n * itemsize
    each = row + beside
    budget = resources.memory_mb * 2**20
    wanted = worker_count(resources.n_jobs, n_directions, n * n_directions)
    # One worker with one direction is the least there is, whatever the budget says.
    workers = workers_within(wanted, held + each, resources.memory_mb)
    larger = 2 if workers >= _MANY_WORKERS and not compiled else 1
    fitting = max(_FEWEST_DIRECTIONS, min(_MOST_DIRECTIONS, larger * _CACHE_BYTES // row))
    size = max(1, int(min(fitting, (budget / workers - held) // each)))
    if compiled:
        return BlockPlan(min(size, -(-n_directions // workers)), workers)
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


def fold_directions(
    points: np.ndarray,
    directions: np.ndarray,
    start: Callable[[int], State],
    step: Callable[[State, Any, Any], None],
    resources: Resources,
    beside: int = 0,
) -> list[State]:
    """Fold `step(state, slab, turn)` over directions that the step projects on itself.

    A slab has all directions, and room for as many projections as stay in the cache; a turn says
    which of them to take, see `engine.compiled.turns`. So workers need the interpreter, which
    serves one at a time, hardly more than once each.

    Parameters
    ----------
    points, directions, resources, beside : as in `fold_projections`
    start : makes the state of a worker, given for how many directions a slab has room
    step : receives a `Slab` and a `Turn`
    """
    from isodepth.engine.compiled.tiles import multipliers, slab_of
    from isodepth.engine.compiled.turns import Parts

    n, count = len(points), len(directions)
    if is_little(points, directions, resources):
        size, workers = min(count, _MOST_DIRECTIONS), 1
    else:
        # One state is made before the others, to see how large they are.
        held = bytes_of(start(1))
        size, workers = plan_blocks(
            n, count, points.itemsize, held, beside, resources, compiled=True
        )
    most = max(size, _AT_MOST_AT_A_TIME // n)
    cuts = growing_cuts(count, size, workers, most)
    largest = max(stop - first for first, stop in itertools.pairwise(cuts))
    parts = Parts(cuts, max(1, most // largest), workers)
    tiles = _tiles_of_many(points, resources)
    rows = multipliers(directions, points.dtype)

    def begin() -> tuple[State, np.ndarray, np.ndarray]:
        return start(size), np.empty((size, n), points.dtype), np.zeros(2, np.int64)

    def take(state: tuple[State, np.ndarray, np.ndarray], number: int) -> None:
        step(state[0], slab_of(tiles, rows, state[1]), parts.turn(number, state[2]))

    states = fold_blocks(range(parts.calls), begin, take, workers)
    # Whoever came too late for any part has nothing to say.
    return [state for state, _, left in states if left[1] > 0]


def growing_cuts(count: int, size: int, workers: int, most: int) -> list[int]:
    """Where to cut up 0..count for workers that come for the next part one by one.

    The first parts are of one `size`, so that what is found there is soon known to all; then they
    double; and towards the end they are halved, so that all workers end together.

    Examples
    --------
    >>> growing_cuts(100, 4, 2, 50)
    [0, 4, 8, 16, 24, 40, 56, 67, 78, 83, 88, 92, 96, 100]
    """
    if workers == 1:
        return [*range(0, count, most), count]
    cuts, wanted = [0], size
    while cuts[-1] < count:
        fair = (count - cuts[-1]) // (2 * workers)
        now = max(size, min(wanted, fair, most))
        for _ in range(workers):
            if cuts[-1] < count:
                cuts.append(min(cuts[-1] + now, count))
        wanted *= 2
    return cuts


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
