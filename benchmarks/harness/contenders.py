"""Functions that are timed: isodepth and the algorithm of the authors of the paper."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.harness.data import DEPTHS, DTYPES, pair
from benchmarks.peers import authors
from isodepth import Metric

#: Default of `refine`.
DEFAULT_REFINE = 20


def ours(
    X: np.ndarray,
    Y: np.ndarray,
    depth: str,
    K: int,
    *,
    threads: int | None = None,
    refine: int = 0,
) -> Callable[[], float]:
    """Return a function that computes one distance of isodepth, with exact levels.

    K is the number of directions. The dtype is that of the samples.
    """
    metric = Metric(depth=depth, n_directions=K, refine=refine, n_jobs=threads, random_state=0)
    return lambda: metric.distance(X, Y)


def the_authors(X: np.ndarray, Y: np.ndarray, depth: str, K: int) -> Callable[[], float]:
    """Return a function that computes one distance by the algorithm of the paper.

    It uses K random directions, 20 random levels and float64.
    """
    return lambda: authors.distance(X, Y, depth, K=K, rng=np.random.default_rng(0))


def load_all() -> None:
    """Call every function once, because first calls are slower; `startup` measures first calls."""
    for dtype in DTYPES:
        X, Y = pair(50, 2, dtype)
        for depth in DEPTHS:
            ours(X, Y, depth, 20, refine=DEFAULT_REFINE)()
