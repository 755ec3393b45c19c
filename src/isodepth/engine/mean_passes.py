"""The mean pass: the mean of powers of the gaps over given directions, at all levels."""

from __future__ import annotations

import math
import threading

import numpy as np

from isodepth.engine.gap_passes import chunk_ends
from isodepth.engine.threads import Resources, fold_blocks, worker_count, workers_within

# Two chunks of rows and what is noted of them stay in the second-level cache.
_CHUNK_BYTES = 1 << 16
_FEWEST_ROWS = 64
_MOST_ROWS = 1024
# Sums are taken block by block, and blocks are added in their order: where they end must not depend
# on the number of threads.
_TILES = 4
_MOST_BLOCKS = 32
_WORTH_A_CALL = 1 << 13


def mean_gaps(
    x: np.ndarray,
    y: np.ndarray,
    stops_x: np.ndarray,
    stops_y: np.ndarray,
    directions: np.ndarray,
    q: float,
    resources: Resources,
) -> tuple[np.ndarray, np.ndarray]:
    """Power mean of the gaps of each level over u and -u for the given directions.

    Parameters
    ----------
    x, y : ndarrays of shape (n, d) and (m, d), deepest rows first
    stops_x, stops_y : int64 ndarrays of shape (L,), rising
        How many rows of each sample belong to each level.
    directions : ndarray of shape (K, d)
    q : float in [1, inf)

    Returns
    -------
    gaps : float64 ndarray of shape (L,)
        (mean of |h_x(u) - h_y(u)|**q over the 2K directions) ** (1/q). The bits do not depend on
        the number of threads, nor on which sample comes first.
    where : int64 ndarray of shape (L,)
        The direction with the largest gap: codes as in `engine.signed`.
    """
    from isodepth.engine.compiled.mean_walk import mean_walk
    from isodepth.engine.compiled.tiles import tiles_of
    from isodepth.engine.compiled.walk import walk_workspace

    stop_x, stop_y = int(stops_x[-1]), int(stops_y[-1])
    walked = stop_x + stop_y
    rows = max(_FEWEST_ROWS, min(_MOST_ROWS, _CHUNK_BYTES // (x.itemsize * x.shape[1])))
    ends = chunk_ends(stops_x, stops_y, rows)
    tiles = tiles_of(np.ascontiguousarray(directions, dtype=x.dtype))
    lanes = _new_lanes(tiles.starts, tiles.values.shape[2], len(directions))
    x, y = np.ascontiguousarray(x), np.ascontiguousarray(y)
    n_levels, n_tiles = len(stops_x), len(tiles.starts)
    size = max(_TILES, -(-n_tiles // _MOST_BLOCKS), min(n_tiles, _WORTH_A_CALL // walked))
    sums = SumsOfPowers(n_levels, q)
    places = min(rows, max(stop_x, stop_y))

    def step(workspace: tuple, block: int) -> None:
        part = slice(block * size, (block + 1) * size)
        largest, total = np.zeros((2, n_levels))
        where = np.zeros(n_levels, dtype=np.int64)
        mean_walk(
            x, y, stops_x, stops_y, ends, tiles.values[part], tiles.starts[part], lanes[part],
            workspace, float(q), largest, total, where,
        )  # fmt: skip
        sums.add(block, largest, total, where)

    n_blocks = -(-n_tiles // size)
    workers = worker_count(resources.n_jobs, n_blocks, walked * len(directions))
    # What is noted of two chunks, and sums that wait for their turn.
    held = 4 * (places + 2) * 64 + 6 * 8 * n_levels
    workers = workers_within(workers, held, resources.memory_mb)
    fold_blocks(range(n_blocks), lambda: walk_workspace(places, size, x.dtype), step, workers)
    return sums.mean(2 * len(directions)), sums.where


class SumsOfPowers:
    """Sums of powers of all blocks so far, added in the order of the blocks whoever is first."""

    def __init__(self, n_levels: int, q: float) -> None:
        self._q = q
        self._largest, self._total = np.zeros((2, n_levels))
        self.where = np.zeros(n_levels, dtype=np.int64)
        self._lock = threading.Lock()
        self._waiting: dict[int, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}
        self._next = 0

    def add(self, block: int, largest: np.ndarray, total: np.ndarray, where: np.ndarray) -> None:
        """Add what block number `block` gave: largest gaps, sums in units of them, and places."""
        with self._lock:
            self._waiting[block] = largest, total, where
            while self._next in self._waiting:
                self._merge(*self._waiting.pop(self._next))
                self._next += 1

    def _merge(self, largest: np.ndarray, total: np.ndarray, where: np.ndarray) -> None:
        if self._next == 0:
            self._largest, self._total, self.where = largest, total, where
            return
        higher = largest > self._largest
        unit = np.where(higher, largest, self._largest)
        unit[unit == 0] = 1.0
        if self._q < math.inf:
            self._total *= (self._largest / unit) ** self._q
            self._total += total * (largest / unit) ** self._q
        self._largest = np.where(higher, largest, self._largest)
        self.where = np.where(higher, where, self.where)

    @property
    def largest(self) -> np.ndarray:
        """The largest gap of each level, of shape (L,)."""
        return self._largest

    def mean(self, count: int) -> np.ndarray:
        """The mean of order q of `count` gaps, of shape (L,)."""
        return self._largest * (self._total / count) ** (1.0 / self._q)


def _new_lanes(starts: np.ndarray, width: int, count: int) -> np.ndarray:
    """The lanes (T, 2), from and to, of each tile with directions that no tile before it has."""
    first = np.arange(len(starts)) * width - starts
    return np.stack([first, np.minimum(width, count - starts)], axis=1)
