"""Time of all pairs of many samples, and memory of many region tables."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import numpy as np

from benchmarks.harness.child import run_python
from benchmarks.harness.timing import thread_counts
from benchmarks.peers import authors

K, LEVELS, EPS = 100, 20, 0.1


def measure(quick: bool) -> dict[str, Any]:
    """Measure the time of all pairs of 1000 samples, and the memory of 20,000 region tables.

    A sample has about 390 x 3 points. The tables are compared with 100 of them.
    """
    pairs = all_pairs(60, 20) if quick else all_pairs(1000, 200)
    count = 2000 if quick else 20_000
    memory = json.loads(run_python("-m", "benchmarks.sections.many_samples", str(count)))
    return {"all_pairs": pairs, "memory": memory}


def make_bags(count: int) -> list[np.ndarray]:
    """Return bags that resemble the pixels of small images: (column, row, intensity)."""
    rng = np.random.default_rng(0)
    bags = []
    for _ in range(count):
        places = rng.choice(784, int(rng.integers(330, 450)), replace=False)
        columns, rows = np.divmod(places, 28)
        bags.append(np.column_stack([columns, rows, rng.integers(1, 256, len(places)) / 255.0]))
    return bags


def all_pairs(count: int, timed_pairs: int) -> list[dict[str, Any]]:
    """Return the seconds for all pairs of `count` samples, of isodepth and of the authors.

    The algorithm of the authors is timed for `timed_pairs` pairs and extrapolated.
    """
    from isodepth import pairwise

    bags = make_bags(count)
    options: dict[str, Any] = {"n_directions": K, "levels": LEVELS, "eps": EPS, "random_state": 0}
    pairwise(bags[:4], **options)
    rng = np.random.default_rng(1)
    chosen = rng.integers(0, count, (timed_pairs, 2))
    rows = []
    for threads in thread_counts():
        # The authors are timed before and after, so that disturbances affect both methods.
        before = _authors(bags, chosen[: timed_pairs // 2])
        start = time.perf_counter()
        matrix = pairwise(bags, n_jobs=threads, **options).values
        ours = time.perf_counter() - start
        after = _authors(bags, chosen[timed_pairs // 2 :])
        a_pair = (before + after) / timed_pairs
        theirs = a_pair * count * (count - 1) / 2
        rows.append(
            {
                "bags": count, "threads": threads, "seconds": ours,
                "authors_ms_a_pair": 1000 * a_pair, "authors_seconds": theirs,
                "ratio": theirs / ours, "symmetric": bool((matrix == matrix.T).all()),
            }
        )  # fmt: skip
    return rows


def _authors(bags: list[np.ndarray], pairs: np.ndarray) -> float:
    rng = np.random.default_rng(2)
    start = time.perf_counter()
    for i, j in pairs:
        authors.distance(bags[i], bags[j], "projection", K=K, n_alpha=LEVELS, eps=EPS, rng=rng)
    return time.perf_counter() - start


def many_tables(count: int) -> dict[str, Any]:
    """Return peak memory and time of `count` region tables (20 x 200 float32) against 100."""
    from benchmarks.sections.memory import MB, forget_peak, peak, resident
    from isodepth import Metric, RegionTable, pairwise

    metric = Metric(n_directions=K, levels=LEVELS, random_state=0)
    settings = metric.region_table(np.zeros((1, 3))).settings
    rng = np.random.default_rng(0)
    values = (rng.standard_normal((LEVELS, 2 * K), dtype=np.float32) for _ in range(count))
    tables = [RegionTable(values=each, settings=settings, n_features=3) for each in values]
    pairwise(tables[:2])
    forget_peak()
    before = resident()
    start = time.perf_counter()
    matrix = pairwise(tables, tables[:100], progress=True).values
    seconds = time.perf_counter() - start
    return {
        "tables": count, "tables_mb": count * tables[0].values.nbytes / MB,
        "result_mb": matrix.nbytes / MB, "added_mb": (peak() - before) / MB, "seconds": seconds,
    }  # fmt: skip


def markdown(result: dict[str, Any]) -> str:
    """Return the time of all pairs and the memory of region tables as Markdown."""
    lines = [
        f"`pairwise` on bags of about 390 x 3 points, projection depth, K = {K}, {LEVELS} levels, "
        "and Algorithm 1 of the paper (NumPy) pair by pair (extrapolated from some pairs):",
        "",
        "| bags | threads | isodepth | the authors | times faster |",
        "|---|---|---|---|---|",
    ]
    for r in result["all_pairs"]:
        lines.append(
            f"| {r['bags']} | {r['threads']} | {r['seconds']:.2f} s | {r['authors_seconds']:.0f} s "
            f"({r['authors_ms_a_pair']:.1f} ms a pair) | {r['ratio']:.0f} |"
        )
    m = result["memory"]
    lines += [
        "",
        f"{m['tables']} tables of {LEVELS} x {2 * K} float32 ({m['tables_mb']:.0f} MB) against 100 "
        f"of them: {m['seconds']:.2f} s, {m['added_mb']:.0f} MB more than before the call, of "
        f"which the result is {m['result_mb']:.0f} MB.",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(many_tables(int(sys.argv[1]))))
    else:
        print(markdown(measure(quick=False)))
