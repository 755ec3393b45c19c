"""The gap pass: the largest gap over given directions and their opposites, at all levels."""

from __future__ import annotations

import numpy as np

from isodepth.engine.signed import place_of
from isodepth.engine.threads import (
    Resources,
    best_of_workers,
    bytes_of,
    fold_blocks,
    worker_count,
    workers_within,
)

# A chunk of both samples and what is noted of them stays in the second-level cache.
_TILES = 4
# With less than this to do for each tile, more of them are taken together.
_WORTH_A_CALL = 1 << 13
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
    from isodepth.engine.compiled.walk import walk, walk_workspace

    stop_x, stop_y = int(stops_x[-1]), int(stops_y[-1])
    walked = stop_x + stop_y
    rows = max(_FEWEST_ROWS, min(_MOST_ROWS, _CHUNK_BYTES // (x.itemsize * x.shape[1])))
    ends = _chunk_ends(stops_x, stops_y, rows)
    tiles = tiles_of(np.ascontiguousarray(directions, dtype=x.dtype))
    x, y = np.ascontiguousarray(x), np.ascontiguousarray(y)
    n_levels = len(stops_x)
    size = max(_TILES, min(len(tiles.starts), _WORTH_A_CALL // walked))
    blocks = [slice(k, k + size) for k in range(0, len(tiles.starts), size)]

    def start() -> tuple[np.ndarray, np.ndarray, tuple]:
        workspace = walk_workspace(min(rows, max(stop_x, stop_y)), size, x.dtype)
        return np.full(n_levels, -1.0), np.zeros(n_levels, dtype=np.int64), workspace

    def step(state: tuple[np.ndarray, np.ndarray, tuple], block: slice) -> None:
        gaps, where, workspace = state
        walk(
            x, y, stops_x, stops_y, ends, tiles.values[block], tiles.starts[block],
            workspace, gaps, where,
        )  # fmt: skip

    workers = worker_count(resources.n_jobs, len(blocks), walked * len(directions))
    if workers > 1:
        workers = workers_within(workers, bytes_of(start()), resources.memory_mb)
    states = fold_blocks(blocks, start, step, workers)
    return best_of_workers([state[:2] for state in states], np.greater, place_of)


def _chunk_ends(stops_x: np.ndarray, stops_y: np.ndarray, rows: int) -> np.ndarray:
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
