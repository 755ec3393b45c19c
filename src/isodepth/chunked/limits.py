"""What fits into the memory that was promised."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isodepth.engine.threads import available_cores
from isodepth.metric.fitted import FittedMetric

_PILOTS = 1 << 16
LEAST_PILOTS = 1 << 12
MOST_PILOTS = 1 << 20
MOST_HELD_ROWS = 1 << 23
_MOST_CHUNK_ROWS = 1 << 16
# Numbers projected between two looks at whether to stop.
_MOST_WORK = 1 << 25
LEAST_WORKSPACE = 512
MOST_WORKSPACE = 1 << 30
# Copies of a chunk, in several precisions and orders, that are there at one time.
_COPIES = 6
# What the passes in memory hold for each number of a sample.
COPIES_IN_MEMORY = 10


class Limits(NamedTuple):
    """What fits into the memory that was promised.

    Attributes
    ----------
    workers : int
    chunk_rows : int
        Rows that are read at a time.
    workspace : int
        Numbers that are held for each direction.
    pilots : int
        Rows that are drawn for a first guess.
    held_rows : int
        Rows that are held while some are looked for.
    rows_in_memory : int
        A sample of so many rows is worked on in memory.
    """

    workers: int
    chunk_rows: int
    workspace: int
    pilots: int
    held_rows: int
    rows_in_memory: int

    @classmethod
    def of(
        cls, drawn: FittedMetric, dtype: str, n_rows: int | None = None, weighted: bool = True
    ) -> Limits:
        """Those of a metric with its directions drawn, for so many rows of that precision."""
        budget = drawn.resources.memory_mb * 2**20
        count, width = drawn.directions.shape
        item = np.dtype(dtype).itemsize
        workers = drawn.resources.n_jobs or available_cores()
        row = width * 8
        chunk = int(budget / 4 / ((workers + 3) * _COPIES * row))
        chunk = min(_MOST_CHUNK_ROWS, chunk, _MOST_WORK // count)
        number = item + 8 if weighted else item
        held = max(count * number, len(drawn.betas) * 16)  # type: ignore[arg-type]
        # The pilot is found before numbers are gathered, and is copied a few times while it is.
        workspace = int(0.55 * budget / held)
        pilots = int(budget / 2 / (3 * (width * item + 16) * (workers + 1)))
        # By every worker, with their masses and random numbers.
        held_rows = int(0.45 * budget / ((width * item + 16) * workers))
        # More pilots save time in every pass, and take time once.
        pilots = min(pilots, _PILOTS if n_rows is None else max(_PILOTS // 4, n_rows >> 7))
        return cls(
            workers,
            max(64, chunk),
            max(LEAST_WORKSPACE, min(MOST_WORKSPACE, workspace)),
            max(LEAST_PILOTS, min(MOST_PILOTS, pilots)),
            max(LEAST_PILOTS, min(MOST_HELD_ROWS, held_rows)),
            int(budget / (COPIES_IN_MEMORY * width * item)),
        )
