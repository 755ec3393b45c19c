"""Speedup by threads, and equality of the bits of the results."""

from __future__ import annotations

from typing import Any

import joblib

from benchmarks.harness.contenders import DEFAULT_REFINE, load_all, ours
from benchmarks.harness.data import DEPTHS, DTYPES, pair
from benchmarks.harness.timing import FULL, QUICK, Box, alternate


def measure(quick: bool) -> dict[str, Any]:
    """Measure the speedup at n = 10000, K = 1000, and compare the bits for 1, 2 and 8 threads."""
    load_all()
    box = QUICK if quick else FULL
    return {
        "scaling": scaling(10000, 10, 100 if quick else 1000, box),
        "bits": same_bits(2000 if quick else 10000, 10, 256),
    }


def scaling(n: int, d: int, K: int, box: Box) -> list[dict[str, Any]]:
    """Measure one distance with 1, 2, 4, ... threads, up to the number of cores, in turns."""
    counts = [t for t in (1, 2, 4, 8, 16, 32) if t <= joblib.cpu_count()]
    rows = []
    for dtype in DTYPES:
        X, Y = pair(n, d, dtype)
        running = {
            f"{depth} {t}": ours(X, Y, depth, K, threads=t) for depth in DEPTHS for t in counts
        }
        timings = alternate(running, box)
        for depth in DEPTHS:
            seconds = {t: timings[f"{depth} {t}"].seconds for t in counts}
            rows.append(
                {
                    "n": n, "d": d, "K": K, "depth": depth, "dtype": dtype,
                    "seconds": {str(t): s for t, s in seconds.items()},
                    "speedup": {str(t): seconds[1] / s for t, s in seconds.items()},
                }
            )  # fmt: skip
    return rows


def same_bits(n: int, d: int, K: int) -> list[dict[str, Any]]:
    """Return the distances with 1, 2 and 8 threads as hexadecimal floats."""
    rows = []
    for dtype in DTYPES:
        X, Y = pair(n, d, dtype)
        for depth in DEPTHS:
            for refine in (0, DEFAULT_REFINE):
                values = [
                    float(ours(X, Y, depth, K, threads=t, refine=refine)()).hex() for t in (1, 2, 8)
                ]
                rows.append(
                    {
                        "n": n, "d": d, "K": K, "depth": depth, "dtype": dtype, "refine": refine,
                        "distances": values, "same": len(set(values)) == 1,
                    }
                )  # fmt: skip
    return rows


def markdown(result: dict[str, Any]) -> str:
    """Return the speedups over one thread, and whether bits are equal, as Markdown."""
    rows = result["scaling"]
    counts = list(rows[0]["speedup"])
    lines = [
        f"n = m = {rows[0]['n']}, d = {rows[0]['d']}, K = {rows[0]['K']}, refine=0: seconds, and "
        "times faster than one thread.",
        "",
        "| depth | dtype | " + " | ".join(f"{t} thread(s)" for t in counts) + " |",
        "|---|---|" + "---|" * len(counts),
    ]
    for row in rows:
        cells = [f"{row['seconds'][t]:.4f} ({row['speedup'][t]:.2f})" for t in counts]
        lines.append(f"| {row['depth']} | {row['dtype']} | " + " | ".join(cells) + " |")
    same = sum(r["same"] for r in result["bits"])
    lines += ["", f"Same bits with 1, 2 and 8 threads: {same} of {len(result['bits'])} settings."]
    return "\n".join(lines)
