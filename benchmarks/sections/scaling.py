"""Speedup by threads, up to the number of cores."""

from __future__ import annotations

import math
from typing import Any

import joblib

from benchmarks.harness import machine
from benchmarks.harness.contenders import load_all, ours
from benchmarks.harness.data import pair
from benchmarks.harness.timing import Box, alternate

DEPTHS = ("halfspace", "projection", "irw")
SIZES = ((1000, 5), (10_000, 10), (100_000, 10))
_TURNS = Box(seconds=1.5, least=3, most=200, slow=9.0)
_QUICK = Box(seconds=0.0, least=1, most=1)


def measure(quick: bool) -> dict[str, Any]:
    """Measure the time of one distance for every number of threads.

    The distance has float32 samples, refine=0 and K = 1000.
    """
    load_all()
    K = 100 if quick else 1000
    sizes = SIZES[:2] if quick else SIZES
    return {
        "machine": machine.describe(),
        "rows": [row(n, d, K, depth, thread_counts(), quick) for n, d in sizes for depth in DEPTHS],
    }


def thread_counts() -> list[int]:
    """Return 1, 2, 4, ... and the number of cores."""
    cores = joblib.cpu_count()
    return sorted({2**k for k in range(int(math.log2(cores)) + 1)} | {cores})


def row(n: int, d: int, K: int, depth: str, counts: list[int], quick: bool) -> dict[str, Any]:
    """Return the seconds of one distance for each number of threads in `counts`."""
    X, Y = pair(n, d, "float32")
    whole = alternate(
        {str(t): ours(X, Y, depth, K, threads=t) for t in counts}, _QUICK if quick else _TURNS
    )
    seconds = {t: timing.seconds for t, timing in whole.items()}
    return {
        "n": n, "d": d, "K": K, "depth": depth, "dtype": "float32",
        "seconds": seconds,
        "speedup": {t: seconds["1"] / s for t, s in seconds.items()},
        "same": len({float(timing.value).hex() for timing in whole.values()}) == 1,
    }  # fmt: skip


def markdown(result: dict[str, Any]) -> str:
    """Return the speedups of each number of threads over one thread as a Markdown table."""
    rows = result["rows"]
    counts = list(rows[0]["speedup"])
    name = result["machine"]
    lines = [
        f"{name['cpu']}, {name['cores']} core(s), {name['system']}, Python {name['python']}. "
        f"Milliseconds of one distance, K = {rows[0]['K']}, float32, refine=0; in brackets, how "
        "many times faster than one thread.",
        "",
        "| n = m | d | depth | " + " | ".join(f"{t} thread(s)" for t in counts) + " |",
        "|---|---|---|" + "---|" * len(counts),
    ]
    for r in rows:
        cells = [f"{1e3 * r['seconds'][t]:.1f} ({r['speedup'][t]:.1f})" for t in counts]
        lines.append(f"| {r['n']} | {r['d']} | {r['depth']} | " + " | ".join(cells) + " |")
    same = sum(r["same"] for r in rows)
    lines += [
        "",
        "![Times faster than one thread, for each number of threads](figures/scaling.png)",
        "",
        f"Same bits with any of these numbers of threads: {same} of {len(rows)} settings.",
    ]
    return "\n".join(lines)
