"""Growth of time with the numbers of points, directions and dimensions."""

from __future__ import annotations

from typing import Any

from benchmarks.harness.contenders import load_all, ours
from benchmarks.harness.data import pair
from benchmarks.harness.timing import (
    FULL,
    QUICK,
    Box,
    alternate,
    blas_threads,
    slope,
    thread_counts,
)

CENTRE = {"n": 10000, "d": 10, "K": 1000}
FULL_SIZES = {
    "n": [10_000, 31_623, 100_000, 316_228, 1_000_000],
    "K": [250, 500, 1000, 2000, 4000],
    "d": [2, 5, 10, 20, 50, 100, 200],
}
QUICK_CENTRE = {"n": 10000, "d": 10, "K": 64}
QUICK_SIZES = {"n": [10_000, 31_623, 100_000], "K": [64, 128, 256], "d": [5, 10, 50]}
DEPTHS = ("halfspace", "projection", "irw")


def measure(quick: bool) -> list[dict[str, Any]]:
    """Measure the time of a distance as one size grows; return one curve per size and depth.

    The other sizes have their central values.
    """
    load_all()
    center, sizes = (QUICK_CENTRE, QUICK_SIZES) if quick else (CENTRE, FULL_SIZES)
    depths = DEPTHS[:2] if quick else DEPTHS
    box = QUICK if quick else FULL
    curves = []
    for along in sizes:
        curves += grow(along, sizes[along], center, depths, box)
    return curves


def grow(
    along: str, sizes: list[int], center: dict[str, int], depths: tuple[str, ...], box: Box
) -> list[dict[str, Any]]:
    """Measure the time of a distance as n, K or d, named by `along`, takes the values `sizes`.

    The other two sizes are those in `center`. Return one dictionary per depth. All sizes and depths
    are timed in turns.
    """
    threads = thread_counts()[-1]
    running = {}
    for size in sizes:
        at = center | {along: size}
        X, Y = pair(at["n"], at["d"], "float32")
        for depth in depths:
            running[f"{depth} {size}"] = ours(X, Y, depth, at["K"], threads=threads)
    with blas_threads(threads):
        timings = alternate(running, box)
    curves = []
    for depth in depths:
        seconds = [timings[f"{depth} {size}"].seconds for size in sizes]
        curves.append(
            {
                "along": along,
                "depth": depth,
                "dtype": "float32",
                "threads": threads,
                "center": center,
                "sizes": sizes,
                "seconds": seconds,
                "slope": slope(sizes, seconds),
                "slope_of_ends": slope([sizes[0], sizes[-1]], [seconds[0], seconds[-1]]),
            }
        )
    return curves


def markdown(curves: list[dict[str, Any]]) -> str:
    """Return the times and their exponents of growth as a Markdown table."""
    first = curves[0]
    fixed = ", ".join(f"{k} = {v}" for k, v in first["center"].items())
    lines = [
        f"float32, {first['threads']} thread(s), refine=0; the other sizes are {fixed}.",
        "",
        "| grows | depth | slope (all sizes) | slope (first to last) | seconds |",
        "|---|---|---|---|---|",
    ]
    for curve in curves:
        pairs = zip(curve["sizes"], curve["seconds"], strict=True)
        times = ", ".join(f"{size}: {s:.3f}" for size, s in pairs)
        lines.append(
            f"| {curve['along']} | {curve['depth']} | {curve['slope']:.2f} | "
            f"{curve['slope_of_ends']:.2f} | {times} |"
        )
    return "\n".join(lines)
