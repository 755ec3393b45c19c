"""All distances between two collections of tables, a block at a time."""

from __future__ import annotations

import numpy as np

from isodepth.many.stack import TableList, TableStack
from isodepth.metric.table import distances_between
from isodepth.progress import progress_bar

# Tables that are not yet in one array are stacked so many bytes at a time.
_BLOCK_BYTES = 1 << 26


def fill_distances(
    rows: TableStack | TableList,
    columns: TableStack | TableList | None,
    out: np.ndarray,
    n_jobs: int | None = None,
    progress: bool = False,
) -> None:
    """Write all distances to `out` (N, M), or (N, N) and symmetric where `columns` is None."""
    against = rows if columns is None else columns
    # Few enough for a bar that moves.
    size = min(max(16, _BLOCK_BYTES // rows[0].values.nbytes), 512)
    blocks = [
        (slice(i, i + size), slice(j, j + size))
        for i in range(0, len(rows), size)
        for j in range(i if columns is None else 0, len(against), size)
    ]
    with progress_bar(progress, len(blocks), "distances", "block") as advance:
        for some, others in blocks:
            itself = columns is None and some == others
            facing = None if itself else against.block(others)
            found = distances_between(rows[0], rows.block(some), facing, n_jobs)
            out[some, others] = found
            if columns is None and not itself:
                out[others, some] = found.T
            advance(1)
    if isinstance(out, np.memmap):
        out.flush()
