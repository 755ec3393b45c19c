"""Streaming on a small scale: pilots and brackets so small that tests reach every branch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np

from isodepth import Metric, scan
from isodepth.chunked import reading, table
from isodepth.chunked.table import stream_table

KINDS = ["normal", "lattice", "constant", "duplicates", "heavy", "two", "line", "sorted"]


@contextmanager
def small_scale(few: int = 16, pilots: int = 24) -> Iterator[None]:
    """Let samples of some dozen rows be too large for memory."""
    usual = reading.Limits.of

    def limits(*given: Any) -> Any:
        return usual(*given)._replace(pilots=pilots, numbers=1, rows_in_memory=0)

    with (
        mock.patch.object(table, "FEW_DISTINCT", few),
        mock.patch.object(reading.Limits, "of", limits),
    ):
        yield


def streamed_values(metric: Metric, chunks: Any, **options: Any) -> np.ndarray:
    """The table of chunks by passes, whatever would fit."""
    return stream_table(metric, scan(chunks, **options), in_memory=False).table.values


def cut(points: np.ndarray, size: int) -> list[np.ndarray]:
    """Chunks of so many rows."""
    return [points[i : i + size] for i in range(0, len(points), size)]


def points_of(kind: str, n: int, d: int, seed: int, dtype: str = "float64") -> np.ndarray:
    """Rows (n, d) of a kind."""
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((n, d))
    if kind == "lattice":
        points = rng.integers(0, 3, (n, d)) * 1.0
    elif kind == "constant":
        points[:, 0] = 7.25
        points[: n * 2 // 3] = points[0]
    elif kind == "duplicates":
        points = points[rng.integers(0, max(1, n // 3), n)]
    elif kind == "heavy":
        points = rng.standard_t(0.5, (n, d)).clip(-1e6, 1e6)
    elif kind == "two":
        points = np.where(rng.random((n, 1)) < 0.5, -1e3, 1e3) + points
    elif kind == "line":
        points = points[:, :1] * np.arange(1, d + 1) + 1.0
    elif kind == "sorted":
        points = np.sort(points, axis=0)
    return points.astype(dtype)
