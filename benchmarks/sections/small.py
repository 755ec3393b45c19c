"""Overhead of the distance for small samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import isodepth
from benchmarks.harness.contenders import DEFAULT_REFINE, load_all, ours
from benchmarks.harness.data import DEPTHS, DTYPES, pair
from benchmarks.harness.timing import Box, alternate, blas_threads
from isodepth.geometry.directions import unit_vectors

N, D, K = 50, 3, 100


def measure(quick: bool) -> list[dict[str, Any]]:
    """Measure a distance of small samples for every depth, and minimal NumPy operations.

    The sizes are n = m = 50, d = 3 and K = 100.
    """
    load_all()
    box = Box(seconds=0.1, least=5, most=200) if quick else Box(seconds=2.0, least=50, most=3000)
    return [row for dtype in DTYPES for row in against_bare_calls(dtype, box)]


def against_bare_calls(dtype: str, box: Box) -> list[dict[str, Any]]:
    """Measure a distance for all depths, and NumPy operations with two memory layouts, in turns."""
    X, Y = pair(N, D, dtype)
    U = unit_vectors(D, K).astype(dtype)
    running: dict[str, Callable[[], object]] = {
        "bare, a row a direction": lambda: (bare_rows(X, U), bare_rows(Y, U)),
        "bare, a row a point": lambda: (bare_columns(X, U), bare_columns(Y, U)),
    }
    for depth in DEPTHS:
        for refine in (0, DEFAULT_REFINE):
            running[f"{depth} {refine}"] = ours(X, Y, depth, K, refine=refine)
    running["function"] = lambda: isodepth.distance(
        X, Y, depth="projection", n_directions=K, refine=0, random_state=0
    )
    with blas_threads(1):
        timings = alternate(running, box)
    bare = min(t.seconds for name, t in timings.items() if name.startswith("bare"))
    rows = []
    for name, timing in timings.items():
        if name.startswith("bare"):
            continue
        depth, _, steps = name.partition(" ")
        rows.append(
            {
                "n": N, "d": D, "K": K, "dtype": dtype,
                "call": "isodepth.distance" if depth == "function" else "Metric.distance",
                "depth": "projection" if depth == "function" else depth,
                "refine": int(steps or 0),
                "seconds": timing.seconds, "bare_seconds": bare, "ratio": timing.seconds / bare,
            }
        )  # fmt: skip
    return rows


def bare_rows(points: np.ndarray, U: np.ndarray) -> np.ndarray:
    """Run the minimal operations of a distance on projections (K, n), as a lower bound of the time.

    They are one product, one sort, one reordering and one running maximum.
    """
    projections = U @ points.T
    np.sort(projections, axis=1)
    return np.maximum.accumulate(projections[:, ORDER], axis=1)


def bare_columns(points: np.ndarray, U: np.ndarray) -> np.ndarray:
    """Run the operations of `bare_rows` on projections in the other layout, (n, K)."""
    projections = points @ U.T
    np.sort(projections, axis=0)
    return np.maximum.accumulate(projections[ORDER], axis=0)


#: Arbitrary order of the rows; the cost does not depend on it.
ORDER = np.random.default_rng(0).permutation(N)


def markdown(rows: list[dict[str, Any]]) -> str:
    """Return the microseconds, and ratios to the NumPy operations, as a Markdown table."""
    lines = [
        f"n = m = {N}, d = {D}, K = {K}. The bare calls: for each sample one product, one sort, "
        "one reordering and one running maximum, in the faster of two memory layouts.",
        "",
        "| call | depth | dtype | refine | microseconds | bare calls | ratio |",
        "|---|---|---|---|---|---|---|",
    ]
    for r in rows:
        lines.append(
            f"| {r['call']} | {r['depth']} | {r['dtype']} | {r['refine']} | "
            f"{1e6 * r['seconds']:.0f} | {1e6 * r['bare_seconds']:.0f} | {r['ratio']:.2f} |"
        )
    return "\n".join(lines)
