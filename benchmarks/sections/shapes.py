"""Data with other distributions, which affect bucket sorts and selection."""

from __future__ import annotations

from typing import Any

from benchmarks.harness.contenders import load_all, ours
from benchmarks.harness.data import SHAPES, shaped_pair
from benchmarks.harness.timing import FULL, QUICK, Box, alternate, thread_counts

DEPTHS = ("halfspace", "projection")


def measure(quick: bool) -> list[dict[str, Any]]:
    """Return the time on each distribution relative to a Gaussian sample of the same size."""
    load_all()
    return compare_shapes(10000, 10, 100 if quick else 1000, QUICK if quick else FULL)


def compare_shapes(n: int, d: int, K: int, box: Box) -> list[dict[str, Any]]:
    """Time all distributions and depths in turns."""
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
    """Return a table of times relative to the Gaussian."""
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
