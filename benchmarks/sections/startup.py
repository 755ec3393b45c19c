"""Start-up time of a process: imports, and one distance."""

from __future__ import annotations

import os
from typing import Any

from benchmarks.harness.child import run_python
from benchmarks.harness.timing import Box, alternate

CODE = {
    "`import numpy`": "import numpy",
    "`import isodepth`": "import isodepth",
    "one distance": """
import numpy as np
import isodepth
X = np.random.default_rng(0).standard_normal((300, 4))
isodepth.distance(X, X + 1, random_state=0)
""",
}


def measure(quick: bool) -> dict[str, Any]:
    """Measure the wall-clock and processor time of new processes, in turns."""
    turns = 3 if quick else 10
    timings = alternate(
        {name: lambda code=code: _processor_seconds(code) for name, code in CODE.items()},
        Box(least=turns, most=turns),
    )
    return {
        "seconds": {name: timing.seconds for name, timing in timings.items()},
        "processor_seconds": {name: timing.value for name, timing in timings.items()},
        "distance_seconds": timings["one distance"].seconds,
    }


def _processor_seconds(code: str) -> float:
    """Run Python code in a new process, and return its processor time in seconds."""
    before = os.times()
    run_python("-c", code)
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])


def markdown(result: dict[str, Any]) -> str:
    """Return the times of new processes as a Markdown table, with one row per process."""
    lines = [
        "Whole processes, 300 points in 4 dimensions, default settings.",
        "",
        "| process | seconds | processor time, s |",
        "|---|---|---|",
    ]
    for name, seconds in result["seconds"].items():
        lines.append(f"| {name} | {seconds:.2f} | {result['processor_seconds'][name]:.2f} |")
    return "\n".join(lines)
