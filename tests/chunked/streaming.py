"""Helpers that process small samples in chunks, with limits so small that all code runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np

from isodepth import Metric, scan
from isodepth.metric.chunked import reading, region_tables
from isodepth.metric.chunked.preparation import Rows
from isodepth.metric.chunked.region_tables import stream_table

KINDS = ["normal", "lattice", "constant", "duplicates", "heavy", "two", "line", "sorted"]


@contextmanager
def small_scale(few: int = 16, pilots: int = 24) -> Iterator[None]:
    """Process samples of a few dozen rows as if they did not fit into memory.

    Samples with more than `few` distinct rows are processed by passes, with a pilot of `pilots`
    rows.
    """
    usual = reading.Limits.of

    def limits(*arguments: Any) -> Any:
        return usual(*arguments)._replace(pilots=pilots, numbers=1, rows_in_memory=0)

    with (
        mock.patch.object(region_tables, "FEW_DISTINCT", few),
        mock.patch.object(reading.Limits, "of", limits),
    ):
        yield


def streamed_values(metric: Metric, chunks: Any, **options: Any) -> np.ndarray:
    """Return the support values (L, 2K) of chunks, computed by passes instead of in memory."""
    return stream_table(metric, scan(chunks, **options), in_memory=False).table.values


def cut(points: np.ndarray, size: int) -> list[np.ndarray]:
    """Cut rows into chunks of `size` rows."""
    return [points[i : i + size] for i in range(0, len(points), size)]


def rows_of(points: np.ndarray, masses: np.ndarray | None, start: int = 0) -> Rows:
    """Return `points` and `masses` as the `Rows` of a chunk, whose first row has number `start`."""
    return Rows(points, None, masses, start, np.zeros(3 + points.shape[1], dtype=np.uint64))


def fold_of(points: np.ndarray, masses: np.ndarray | None, size: int) -> Callable[[Any], Any]:
    """Return a function that runs a pass over the points in chunks of `size` rows.

    Chunks alternate between two states of the pass, which are merged at the end.
    """

    def fold(work: Any) -> Any:
        states = [work.start(), work.start()]
        for i, at in enumerate(range(0, len(points), size)):
            own = None if masses is None else masses[at : at + size]
            work.step(states[i % 2], rows_of(points[at : at + size], own, at), 1 + i % 2)
        work.merge(*states)
        return states[0]

    return fold


def points_of(kind: str, n: int, d: int, seed: int, dtype: str = "float64") -> np.ndarray:
    """Return random rows (n, d) of the given `kind`, one of KINDS."""
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
