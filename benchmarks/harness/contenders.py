"""isodepth and the authors' algorithm, ready to be timed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.harness.data import DTYPES
from benchmarks.peers import authors
from isodepth import Metric
from isodepth.depth import BY_NAME

DEFAULT_REFINE = Metric().refine


def ours(
    X: np.ndarray,
    Y: np.ndarray,
    depth: str,
    K: int,
    *,
    threads: int | None = None,
    refine: int = 0,
) -> Callable[[], float]:
    """One distance with exact levels, in the precision of the data."""
    metric = Metric(depth=depth, n_directions=K, refine=refine, n_jobs=threads, random_state=0)
    return lambda: metric.distance(X, Y)


def the_authors(X: np.ndarray, Y: np.ndarray, depth: str, K: int) -> Callable[[], float]:
    """One distance of the paper, with 20 levels, in float64."""
    return lambda: authors.distance(X, Y, depth, K=K, rng=np.random.default_rng(0))


def compile_all() -> None:
    """Have every compiled loop ready: first calls are the business of `startup`."""
    X = np.arange(20.0).reshape(10, 2)
    for depth in BY_NAME:
        for dtype in DTYPES:
            Metric(depth=depth, n_directions=4, dtype=dtype, random_state=0).distance(X, X + 1)
