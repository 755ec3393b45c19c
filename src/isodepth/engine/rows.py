"""What is done to every row of a table by itself, on several threads at a time."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from isodepth.engine.resources import Resources, fold_blocks, worker_count

# Moving a number to another place takes about as long as projecting so many.
_COST = 2
_FEWEST = 4096
_ALIGNED = 64
# Threads come one after the other, each when so many numbers could have been moved.
_ARRIVAL = 80_000


def over_rows(
    n: int, width: int, do: Callable[[slice], None], resources: Resources, cost: int = _COST
) -> None:
    """Call `do` for slices that make up n rows of `width` numbers; what it does fits any cut."""
    if n < 2 * _FEWEST:
        do(slice(0, n))
        return
    workers = worker_count(resources.n_jobs, n // _FEWEST, cost * n * width)
    # The last of w comes after w arrivals, and all of them share the rest: most is won where both
    # are equal.
    workers = max(1, min(workers, math.isqrt(n * width // _ARRIVAL)))
    # Tiles begin where slices do.
    size = -(-n // (workers * _ALIGNED)) * _ALIGNED
    blocks = [slice(k, min(k + size, n)) for k in range(0, n, size)]
    fold_blocks(blocks, lambda: None, lambda _, block: do(block), workers)


def take_rows(table: np.ndarray, order: np.ndarray, resources: Resources) -> np.ndarray:
    """The rows of `table` (n, d) in an order (m,) of valid indices."""
    rows = np.empty((len(order), table.shape[1]), dtype=table.dtype)

    def take(some: slice) -> None:
        # Indices are valid: clipping them is what lets NumPy write to the right place at once.
        table.take(order[some], axis=0, out=rows[some], mode="clip")

    over_rows(len(order), table.shape[1], take, resources)
    return rows
