"""The gap pass: the largest gap over given directions and their opposites, at all levels."""

from __future__ import annotations

import itertools

import numpy as np

from isodepth.engine.threads import (
    Resources,
    bytes_of,
    fold_blocks,
    worker_count,
    workers_within,
)

# A chunk of both samples and what is noted of them stays in the second-level cache.
_TILES = 4
# With less than this to do for each tile, more of them are taken together.
_WORTH_A_CALL = 1 << 13
# What calling a block takes, in projected numbers, and the share of a block by which workers that
# get equally many of them may be apart.
_CALL = 20_000
_APART = 0.25
# So many levels of all workers are merged at a time.
_MERGED = 1 << 13
# So many projected numbers are a matter of a tenth of a second: an interrupt waits no longer.
_AT_MOST_AT_A_TIME = 1 << 25
_CHUNK_BYTES = 1 << 16
_FEWEST_ROWS = 64
_MOST_ROWS = 1024


def search_gaps(
    x: np.ndarray,
    y: np.ndarray,
    stops_x: np.ndarray,
    stops_y: np.ndarray,
    directions: np.ndarray,
    resources: Resources,
) -> tuple[np.ndarray, np.ndarray]:
    """Largest gap of each level over u and -u for the given directions.

    Parameters
    ----------
    x, y : ndarrays of shape (n, d) and (m, d), deepest rows first
    stops_x, stops_y : int64 ndarrays of shape (L,), rising
        How many rows of each sample belong to each level.
    directions : ndarray of shape (K, d)

    Returns
    -------
    gaps : float64 ndarray of shape (L,)
    where : int64 ndarray of shape (L,)
        Where it is attained: codes of directions and signs, as in `engine.signed`.
    """
    from isodepth.engine.compiled.tiles import tiles_of
    from isodepth.engine.compiled.turns import Parts
    from isodepth.engine.compiled.walk import walk, walk_parts, walk_workspace

    stop_x, stop_y = int(stops_x[-1]), int(stops_y[-1])
    walked = stop_x + stop_y
    rows = max(_FEWEST_ROWS, min(_MOST_ROWS, _CHUNK_BYTES // (x.itemsize * x.shape[1])))
    ends = chunk_ends(stops_x, stops_y, rows)
    tiles = tiles_of(np.ascontiguousarray(directions, dtype=x.dtype))
    x, y = np.ascontiguousarray(x), np.ascontiguousarray(y)
    n_levels = len(stops_x)
    workers = worker_count(resources.n_jobs, len(tiles.starts), walked * len(directions))
    width = tiles.values.shape[2]
    size = _block_size(len(tiles.starts), walked, width, workers)
    cuts = [*range(0, len(tiles.starts), size), len(tiles.starts)]

    def room() -> tuple:
        return walk_workspace(min(rows, max(stop_x, stop_y)), size, x.dtype)

    if len(cuts) == 2:
        # All of it in one call: nobody else need know.
        gaps, where = np.full(n_levels, -1.0), np.zeros(n_levels, dtype=np.int64)
        walk(x, y, stops_x, stops_y, ends, tiles.values, tiles.starts, room(), gaps, where)
        return gaps, where
    if workers > 1:
        held = bytes_of(room()) + 16 * n_levels
        workers = workers_within(min(workers, len(cuts) - 1), held, resources.memory_mb)
    parts = Parts(cuts, max(1, _AT_MOST_AT_A_TIME // (walked * size * width)), workers)
    # One row a worker, first written to by that worker.
    gaps, where = np.empty((workers, n_levels)), np.empty((workers, n_levels), dtype=np.int64)
    number = itertools.count()

    def start() -> tuple[int, np.ndarray, tuple]:
        return next(number), np.zeros(2, np.int64), room()

    def step(state: tuple[int, np.ndarray, tuple], call: int) -> None:
        mine, left, workspace = state
        walk_parts(
            parts.turn(call, left), x, y, stops_x, stops_y, ends, tiles.values, tiles.starts,
            workspace, gaps[mine], where[mine],
        )  # fmt: skip

    states = fold_blocks(range(parts.calls), start, step, workers)
    # Whoever came too late for any part has nothing to say.
    used = [mine for mine, left, _ in states if left[1] > 0]
    if len(used) == 1:
        return gaps[used[0]], where[used[0]]
    if len(used) < workers:
        gaps, where = gaps[used], where[used]
    return merge_walks(gaps, where, resources)


def _block_size(n_tiles: int, walked: int, width: int, workers: int) -> int:
    """How many tiles make a block, so that the last worker ends soon."""
    if workers == 1:
        return max(_TILES, min(n_tiles, _WORTH_A_CALL // walked))
    call = _CALL / (walked * width)

    def needed(size: int) -> float:
        rounds = -(-n_tiles // (size * workers))
        return rounds * (size + call) + _APART * size

    return min(range(1, -(-n_tiles // workers) + 1), key=needed)


def merge_walks(
    gaps: np.ndarray, where: np.ndarray, resources: Resources
) -> tuple[np.ndarray, np.ndarray]:
    """The largest gap at each level among those of all workers, and its direction.

    Of equal gaps the first direction is named.

    Parameters
    ----------
    gaps, where : ndarrays of shape (workers, L), codes of directions as in `engine.signed`
    """
    from isodepth.engine.compiled.walk import merge_levels_of

    count, n_levels = gaps.shape
    largest, chosen = np.empty(n_levels), np.empty(n_levels, dtype=np.int64)

    def step(_: None, first: int) -> None:
        merge_levels_of(gaps, where, first, min(first + _MERGED, n_levels), largest, chosen)

    blocks = range(0, n_levels, _MERGED)
    workers = worker_count(resources.n_jobs, len(blocks), count * n_levels // 2)
    fold_blocks(blocks, lambda: None, step, workers)
    return largest, chosen


def chunk_ends(stops_x: np.ndarray, stops_y: np.ndarray, rows: int) -> np.ndarray:
    """Cut the walk into chunks of at most `rows` rows of each sample.

    Each chunk ends at (row of x, row of y, first level it does not complete).
    """
    if stops_x[-1] <= rows and stops_y[-1] <= rows:
        return np.array([[stops_x[-1], stops_y[-1], len(stops_x)]], dtype=np.int64)
    ends = []
    row_x = row_y = level = 0
    while level < len(stops_x):
        end_x, end_y = row_x + rows, row_y + rows
        done = min(
            int(np.searchsorted(stops_x, end_x, side="right")),
            int(np.searchsorted(stops_y, end_y, side="right")),
        )
        if done > level:
            end_x, end_y = int(stops_x[done - 1]), int(stops_y[done - 1])
        else:
            # The next level alone is larger than a chunk: go part of the way.
            end_x, end_y = min(end_x, int(stops_x[level])), min(end_y, int(stops_y[level]))
        ends.append((end_x, end_y, done))
        row_x, row_y, level = end_x, end_y, done
    return np.array(ends, dtype=np.int64)
