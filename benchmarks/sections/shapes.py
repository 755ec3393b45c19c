"""Data with other distributions, which affect bucket sorts and selection."""

from __future__ import annotations

from typing import Any

from benchmarks.harness.contenders import load_all, ours
from benchmarks.harness.data import SHAPES, shaped_pair
from benchmarks.harness.timing import FULL, QUICK, Box, alternate, thread_counts

DEPTHS = ("halfspace", "projection")


def measure(quick: bool) -> list[dict[str, Any]]:
    """Measure the time of a distance for each distribution, relative to a Gaussian sample."""
    load_all()
    return compare_shapes(10000, 10, 100 if quick else 1000, QUICK if quick else FULL)


def compare_shapes(n: int, d: int, K: int, box: Box) -> list[dict[str, Any]]:
    """Measure one distance for all distributions of the samples and all depths, in turns.

    Return one dictionary per distribution and depth, with the time relative to the Gaussian.
    """
    threads = thread_counts()[-1]
    running = {}
    for shape in SHAPES:
        X, Y = shaped_pair(shape, n, d, "float32")
        for depth in DEPTHS:
            running[f"{depth} {shape}"] = ours(X, Y, depth, K, threads=threads)
    timings = alternate(running, box)
    rows = []
    for depth in DEPTHS:
        bell = timings[f"{depth} gaussian"].seconds
        for shape in SHAPES:
            seconds = timings[f"{depth} {shape}"].seconds
            rows.append(
                {
                    "n": n, "d": d, "K": K, "threads": threads, "dtype": "float32", "depth": depth,
                    "shape": shape, "seconds": seconds, "over_gaussian": seconds / bell,
                }
            )  # fmt: skip
    return rows


def markdown(rows: list[dict[str, Any]]) -> str:
    """Return the times relative to a Gaussian sample as a Markdown table."""
    shapes = list(dict.fromkeys(r["shape"] for r in rows))
    first = rows[0]
    lines = [
        f"n = m = {first['n']}, d = {first['d']}, K = {first['K']}, float32: time over the time on "
        "Gaussian data.",
        "",
        "| depth | " + " | ".join(shapes) + " |",
        "|---|" + "---|" * len(shapes),
    ]
    for depth in dict.fromkeys(r["depth"] for r in rows):
        times = {r["shape"]: r["over_gaussian"] for r in rows if r["depth"] == depth}
        lines.append(f"| {depth} | " + " | ".join(f"{times[s]:.2f}" for s in shapes) + " |")
    return "\n".join(lines)
