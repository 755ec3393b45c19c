"""The support pass: h(u) and h(-u) of nested prefixes of the rows."""

from __future__ import annotations

import numpy as np

from isodepth.engine.threads import Resources, fold_blocks, worker_count, workers_within

# A chunk of projections, rows by directions, stays in the second-level cache.
_BLOCK = 64
_CHUNK_ROWS = 512
_LOCATED_ROWS = 4096


def write_supports(
    ordered: np.ndarray,
    stops: np.ndarray,
    directions: np.ndarray,
    out: np.ndarray,
    resources: Resources,
) -> None:
    """Write h(u) and h(-u) of the prefixes of `ordered` (n, d) that end at `stops` (L,).

    Parameters
    ----------
    directions : ndarray of shape (K, d)
    out : ndarray of shape (L, 2K)
    """
    from isodepth.engine.compiled.supports import write_block
    from isodepth.engine.compiled.tiles import tiles_of

    n_directions, last = len(directions), int(stops[-1])
    ordered = np.ascontiguousarray(ordered)
    units = np.ascontiguousarray(directions, dtype=ordered.dtype)

    nowhere, unlocated = np.empty((2, 0), dtype=np.int64), np.empty((2, 0, 0))

    def step(_: None, k: int) -> None:
        end = min(k + _BLOCK, n_directions)
        tiles = tiles_of(units[k:end])
        count, width = end - k, tiles.values.shape[2]
        # Of fewer directions than a tile has lanes the last is there several times.
        room = max(count, width)
        workspace = np.empty((min(_CHUNK_ROWS, last), room), dtype=ordered.dtype)
        top = np.full(room, -np.inf, dtype=ordered.dtype)
        low = np.full(room, np.inf, dtype=ordered.dtype)
        upper, lower = out[:, k:end], out[:, n_directions + k : n_directions + end]
        if room > count:
            upper, lower = np.empty((2, len(stops), room), dtype=out.dtype)
        write_block(
            tiles.values, tiles.starts, ordered, stops, workspace, top, low, nowhere, upper, lower,
            unlocated,
        )  # fmt: skip
        if room > count:
            out[:, k:end] = upper[:, :count]
            out[:, n_directions + k : n_directions + end] = lower[:, :count]

    blocks = range(0, n_directions, _BLOCK)
    workers = worker_count(resources.n_jobs, len(blocks), last * n_directions)
    # A chunk of projections, their extremes, and the directions as tiles.
    held = _BLOCK * (min(_CHUNK_ROWS, last) + 2 + ordered.shape[1]) * ordered.itemsize
    workers = workers_within(workers, held, resources.memory_mb)
    fold_blocks(blocks, lambda: None, step, workers)


def support_points(rows: np.ndarray, stops: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Extremes of projections and the rows that give them, at each level.

    Parameters
    ----------
    rows : ndarray of shape (n, d), deepest first
    stops : int64 ndarray of shape (S,), rising
    directions : ndarray of shape (D, d)

    Returns
    -------
    supports : float64 ndarray of shape (4, S, D)
        Largest and smallest projection, row of the largest, row of the smallest.
    """
    from isodepth.engine.compiled.supports import note_supports

    columns = np.ascontiguousarray(directions.T, dtype=rows.dtype)
    width = columns.shape[1]
    top = np.full(width, -np.inf, dtype=rows.dtype)
    low = np.full(width, np.inf, dtype=rows.dtype)
    at = np.zeros((2, width), dtype=np.int64)
    out = np.empty((4, len(stops), width))
    done = 0
    last = int(stops[-1])
    for first in range(0, last, _LOCATED_ROWS):
        projections = rows[first : min(first + _LOCATED_ROWS, last)] @ columns
        done = note_supports(projections, first, stops, done, top, low, at, out[0], out[1], out[2:])
    # The smallest projection is -h(-u).
    np.negative(out[1], out=out[1])
    return out
