"""Time of checking a batch, relative to the region table of the batch."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness.timing import FULL, QUICK, alternate
from isodepth import Metric, Monitor

ROWS, COLUMNS, K = 1000, 10, 200


def measure(quick: bool) -> list[dict[str, Any]]:
    """Measure the time of `Monitor.check`, and of a region table of the same batch.

    The batch has 1000 rows and 10 columns, and the table has 200 directions.
    """
    rng = np.random.default_rng(0)
    reference, batch = rng.normal(size=(30_000, COLUMNS)), rng.normal(size=(ROWS, COLUMNS))
    options: dict[str, Any] = {"random_state": 0}
    metric = Metric(
        q=2, n_directions=K, directions="orthogonal", levels=20, refine=0, random_state=0
    )
    with tempfile.TemporaryDirectory() as folder:
        monitors = {
            "check": Monitor(reference, **options),
            "check, saved each time": Monitor(reference, **options, path=Path(folder, "m.npz")),
            "check, tolerance 5%": Monitor(reference, **options, tolerance=0.05),
        }
        calls: dict[str, Any] = {"table": lambda: metric.region_table(batch)}
        calls |= {name: (lambda m=m: m.check(batch)) for name, m in monitors.items()}
        timings = alternate(calls, QUICK if quick else FULL)
    table = timings["table"].seconds
    return [
        {"call": name, "ms": 1000 * timing.seconds, "ratio": timing.seconds / table}
        for name, timing in timings.items()
    ]


def markdown(result: list[dict[str, Any]]) -> str:
    """Return the times of checking a batch and of its region table as a Markdown table."""
    lines = [
        f"{ROWS} x {COLUMNS} rows, {K} directions, 20 levels:",
        "",
        "| call | ms | times the table |",
        "|---|---|---|",
    ]
    lines += [f"| {r['call']} | {r['ms']:.2f} | {r['ratio']:.2f} |" for r in result]
    return "\n".join(lines)


if __name__ == "__main__":
    print(markdown(measure("--quick" in sys.argv)))
