"""Streaming on a small scale: pilots and intervals so small that tests reach every branch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np

from isodepth import Metric, scan
from isodepth.chunked import limits
from isodepth.chunked.table import stream_table
from isodepth.engine import middle_rows


@contextmanager
def small_scale(few: int = 16, pilots: int = 24, workspace: int = 64) -> Iterator[None]:
    """Let samples of some dozen rows be too large for memory, here and in memory alike."""
    with (
        mock.patch.object(middle_rows, "FEW_ROWS", few),
        mock.patch.object(limits, "LEAST_PILOTS", pilots),
        mock.patch.object(limits, "MOST_PILOTS", pilots),
        mock.patch.object(limits, "MOST_HELD_ROWS", pilots),
        mock.patch.object(limits, "MOST_WORKSPACE", workspace),
        mock.patch.object(limits, "LEAST_WORKSPACE", 1),
    ):
        yield


def streamed_values(metric: Metric, chunks: Any, **options: Any) -> np.ndarray:
    """The table of chunks by passes, whatever would fit."""
    return stream_table(metric, scan(chunks, **options), in_memory=False).table.values


def cut(points: np.ndarray, size: int) -> list[np.ndarray]:
    """Chunks of so many rows."""
    return [points[i : i + size] for i in range(0, len(points), size)]
