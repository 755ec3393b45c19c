"""All distances between two collections of tables, a tile at a time."""

from __future__ import annotations

import numpy as np

from isodepth.engine.threads import fold_blocks, worker_count
from isodepth.many.stack import TableList, TableStack
from isodepth.metric.signature import Signature
from isodepth.progress import progress_bar

# Tables compared in one task: enough to be worth it, few enough to be interrupted soon.
_TILE_BYTES = (1 << 23, 1 << 22)


def fill_distances(
    rows: TableStack | TableList,
    columns: TableStack | TableList | None,
    out: np.ndarray,
    n_jobs: int | None = None,
    progress: bool = False,
) -> None:
    """Write all distances to `out` (N, M), or (N, N) and symmetric where `columns` is None."""
    from isodepth.metric.table_loops import tile_distances

    signature = Signature.parse(rows[0].signature)
    q, unit = signature.mean_over_directions(rows[0].n_features)
    symmetric = columns is None
    against = rows if columns is None else columns
    height, width = _tile_shape(rows[0].values.nbytes)
    tiles = [
        (i, min(i + height, len(rows)), j, min(j + width, len(against)))
        for i in range(0, len(rows), height)
        for j in range(i if symmetric else 0, len(against), width)
    ]
    pairs = sum((stop - start) * (end - first) for start, stop, first, end in tiles)
    with progress_bar(progress, pairs, "distances", "pair") as advance:

        def step(_: None, tile: tuple[int, int, int, int]) -> None:
            start, stop, first, end = tile
            block = np.empty((stop - start, end - first))
            turned = np.ascontiguousarray(np.moveaxis(against.block(first, end), 0, 2))
            tile_distances(
                rows.block(start, stop), turned, signature.p, q, unit, signature.length, block
            )
            out[start:stop, first:end] = block
            if symmetric:
                out[first:end, start:stop] = block.T
            advance(block.size)

        workers = worker_count(n_jobs, len(tiles), pairs * rows[0].values.size)
        fold_blocks(tiles, lambda: None, step, workers)
    if isinstance(out, np.memmap):
        out.flush()


def _tile_shape(table_bytes: int) -> tuple[int, int]:
    rows, columns = (size // table_bytes for size in _TILE_BYTES)
    return min(max(rows, 8), 128), min(max(columns, 8), 64)
