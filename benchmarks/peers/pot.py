"""Alternatives to isodepth, and a lower bound for the time of any rank-based distance."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np

Contender = Callable[[], object]

#: Maximum size of a stored projection matrix; beyond it the same rows are sorted repeatedly.
_LARGEST_MATRIX = 64 << 20


def transport_peers(
    X: np.ndarray, Y: np.ndarray, X32: np.ndarray, Y32: np.ndarray, K: int
) -> dict[str, Contender]:
    """Return sliced and max-sliced W of POT with K projections, and exact W if it is feasible."""
    try:
        import ot
    except ImportError:
        return {}
    peers: dict[str, Contender] = {
        "POT max-sliced W": lambda: ot.sliced.max_sliced_wasserstein_distance(
            X, Y, n_projections=K, seed=0
        ),
        "POT max-sliced W, float32": lambda: ot.sliced.max_sliced_wasserstein_distance(
            X32, Y32, n_projections=K, seed=0
        ),
        "POT sliced W": lambda: ot.sliced.sliced_wasserstein_distance(
            X, Y, n_projections=K, seed=0
        ),
    }
    if len(X) <= 2000:
        peers["POT exact W"] = lambda: np.sqrt(
            ot.emd2([], [], ot.dist(X, Y), numItermax=10_000_000)
        )
    return peers


def mmd(X: np.ndarray, Y: np.ndarray, rows: int = 1000) -> float:
    """Return the MMD with scikit-learn's Gaussian kernel and its default bandwidth.

    Kernels are summed by blocks of rows, so that 10000 points fit into memory.
    """
    from sklearn.metrics.pairwise import rbf_kernel

    def mean(A: np.ndarray, B: np.ndarray) -> float:
        total = sum(rbf_kernel(A[i : i + rows], B).sum() for i in range(0, len(A), rows))
        return total / (len(A) * len(B))

    return float(np.sqrt(max(0.0, mean(X, X) + mean(Y, Y) - 2 * mean(X, Y))))


def sort_floor(X: np.ndarray, Y: np.ndarray, U: np.ndarray, threads: int) -> Contender:
    """Return a function that sorts both float32 projection matrices (K, n) with several threads."""
    K = len(U)
    directions = U.astype(np.float32)
    parts: list[tuple[np.ndarray, int]] = []
    for points in (X, Y):
        held = min(K, max(1, _LARGEST_MATRIX // (4 * len(points))))
        matrix = directions[:held] @ np.ascontiguousarray(points.T, dtype=np.float32)
        parts.append((matrix, K))

    def sort_share(share: int) -> None:
        for matrix, rows in parts:
            left = rows * (share + 1) // threads - rows * share // threads
            start = len(matrix) * share // threads
            while left > 0:
                block = matrix[start : start + left]
                np.sort(block, axis=1)
                left -= len(block)
                start = 0

    def run() -> None:
        helpers = [threading.Thread(target=sort_share, args=(i,)) for i in range(1, threads)]
        for helper in helpers:
            helper.start()
        sort_share(0)
        for helper in helpers:
            helper.join()

    return run
