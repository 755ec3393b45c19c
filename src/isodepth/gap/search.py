"""The largest gap over a given set of directions and their opposites."""

from __future__ import annotations

import numpy as np

from isodepth.backend.threads import Resources, fold_blocks, worker_count
from isodepth.integrate import LevelPlan

# A chunk of projections of both samples, rows by directions, stays in the second-level cache.
_BLOCK = 64
_CHUNK_ROWS = 512


def search_gaps(
    x: np.ndarray, y: np.ndarray, plan: LevelPlan, directions: np.ndarray, resources: Resources
) -> tuple[np.ndarray, np.ndarray]:
    """Largest gap of each level over u and -u for the given directions.

    Parameters
    ----------
    x, y : ndarrays of shape (n, d) and (m, d), deepest rows first
    plan : LevelPlan with L levels
    directions : ndarray of shape (K, d)

    Returns
    -------
    gaps : float64 ndarray of shape (L,)
    where : int64 ndarray of shape (L,)
        k where it is attained at u_k, -1 - k where at -u_k.
    """
    from isodepth.backend.walk import walk

    chunks = _chunks(plan.stops_x, plan.stops_y)
    blocks = range(0, len(directions), _BLOCK)
    columns = np.ascontiguousarray(directions.T, dtype=x.dtype)
    n_levels = len(plan.shares)

    def start() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        rows = np.empty((2, _CHUNK_ROWS, _BLOCK), dtype=x.dtype)
        return np.full(n_levels, -1.0), np.zeros(n_levels, dtype=np.int64), rows[0], rows[1]

    def step(state: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray], first: int) -> None:
        gaps, where, room_x, room_y = state
        block = np.ascontiguousarray(columns[:, first : first + _BLOCK])
        width = block.shape[1]
        top_x, top_y = np.full((2, width), -np.inf, dtype=x.dtype)
        low_x, low_y = np.full((2, width), np.inf, dtype=x.dtype)
        room = np.empty(width + 1, dtype=x.dtype)
        bits = room.view(np.int32 if x.dtype == np.float32 else np.int64)
        for rows_x, rows_y, levels, stops_x, stops_y in chunks:
            px = room_x.reshape(-1)[: (rows_x.stop - rows_x.start) * width].reshape(-1, width)
            py = room_y.reshape(-1)[: (rows_y.stop - rows_y.start) * width].reshape(-1, width)
            np.matmul(x[rows_x], block, out=px)
            np.matmul(y[rows_y], block, out=py)
            walk(
                px, py, stops_x, stops_y, top_x, low_x, top_y, low_y, room, bits,
                first, gaps[levels], where[levels],
            )  # fmt: skip

    projected = int(plan.stops_x[-1] + plan.stops_y[-1]) * len(directions)
    workers = worker_count(resources.n_jobs, len(blocks), projected)
    states = fold_blocks(blocks, start, step, workers)
    return _largest(states)


def signed_directions(directions: np.ndarray, where: np.ndarray) -> np.ndarray:
    """The unit vectors (L, d) that `search_gaps` points at."""
    place = np.where(where >= 0, where, -1 - where)
    return directions[place] * np.where(where >= 0, 1.0, -1.0)[:, None]


def _largest(states: list) -> tuple[np.ndarray, np.ndarray]:
    gaps, where = states[0][:2]
    for other_gaps, other_where, *_ in states[1:]:
        place = np.where(where >= 0, where, -1 - where)
        other_place = np.where(other_where >= 0, other_where, -1 - other_where)
        better = (other_gaps > gaps) | ((other_gaps == gaps) & (other_place < place))
        gaps = np.where(better, other_gaps, gaps)
        where = np.where(better, other_where, where)
    return gaps, where


def _chunks(
    stops_x: np.ndarray, stops_y: np.ndarray
) -> list[tuple[slice, slice, slice, np.ndarray, np.ndarray]]:
    """Cut the walk into chunks of at most `_CHUNK_ROWS` rows of each sample.

    Each chunk is (rows of x, rows of y, levels it completes, their stops within the chunk).
    """
    chunks = []
    row_x = row_y = level = 0
    while level < len(stops_x):
        end_x, end_y = row_x + _CHUNK_ROWS, row_y + _CHUNK_ROWS
        done = min(
            int(np.searchsorted(stops_x, end_x, side="right")),
            int(np.searchsorted(stops_y, end_y, side="right")),
        )
        if done > level:
            end_x, end_y = int(stops_x[done - 1]), int(stops_y[done - 1])
        else:
            # The next level alone is larger than a chunk: go part of the way.
            end_x, end_y = min(end_x, int(stops_x[level])), min(end_y, int(stops_y[level]))
        chunks.append(
            (
                slice(row_x, end_x),
                slice(row_y, end_y),
                slice(level, done),
                stops_x[level:done] - row_x,
                stops_y[level:done] - row_y,
            )
        )
        row_x, row_y, level = end_x, end_y, done
    return chunks
