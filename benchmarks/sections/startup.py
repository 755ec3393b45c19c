"""What the first distance of a fresh process costs, with and without compiled code at hand."""

from __future__ import annotations

import os
import tempfile
from contextlib import ExitStack
from typing import Any

from benchmarks.harness.child import run_python
from benchmarks.harness.timing import Box, alternate

IMPORTS = "import numpy, scipy, numba"
IMPORT_ISODEPTH = "import isodepth"
DISTANCE = """
import numpy as np
import isodepth
X = np.random.default_rng(0).standard_normal((50, 3))
isodepth.distance(X, X + 1, random_state=0)
"""
UNREFINED = DISTANCE.replace("random_state=0", "refine=0")


def measure(quick: bool) -> dict[str, Any]:
    """Fresh processes in turns; a cold one finds an empty numba cache, and fills it."""
    with ExitStack() as stack:
        caches: list[str] = []

        def cold(code: str) -> float:
            caches.append(stack.enter_context(tempfile.TemporaryDirectory()))
            return _processor_seconds(code, caches[-1])

        compiling = {"cold": lambda: cold(DISTANCE)}
        if not quick:
            # First, so that the last cache is one that knows everything a distance needs.
            compiling = {"cold_unrefined": lambda: cold(UNREFINED)} | compiling
        compiles = 1 if quick else 2
        first = alternate(compiling, Box(least=compiles, most=compiles))
        turns = 3 if quick else 10
        later = alternate(
            {
                "imports": lambda: _processor_seconds(IMPORTS, caches[-1]),
                "import isodepth": lambda: _processor_seconds(IMPORT_ISODEPTH, caches[-1]),
                "warm": lambda: _processor_seconds(DISTANCE, caches[-1]),
            },
            Box(least=turns, most=turns),
        )
    timings = later | first
    seconds = {name: t.seconds for name, t in timings.items()}
    extra = {f"{name}_extra": seconds[name] - seconds["imports"] for name in ("warm", *compiling)}
    return {
        "seconds": seconds,
        "processor_seconds": {name: t.value for name, t in timings.items()},
    } | extra


def _processor_seconds(code: str, cache: str) -> float:
    """Run `code` in a fresh process; what it cost the processor, other people's work aside."""
    before = os.times()
    run_python("-c", code, NUMBA_CACHE_DIR=cache)
    after = os.times()
    user = after.children_user - before.children_user
    return user + after.children_system - before.children_system


def markdown(result: dict[str, Any]) -> str:
    """Seconds of whole processes, and over the bare imports."""
    names = {
        f"`{IMPORTS}`": "imports",
        f"`{IMPORT_ISODEPTH}`": "import isodepth",
        "one distance, warm numba cache": "warm",
        "one distance, cold numba cache": "cold",
        "one distance, cold numba cache, refine=0": "cold_unrefined",
    }
    lines = [
        "Whole processes, 50 points, default settings.",
        "",
        "| process | seconds | more than the imports | processor time, s |",
        "|---|---|---|---|",
    ]
    for label, name in names.items():
        if name not in result["seconds"]:
            continue
        extra = f"{result[name + '_extra']:.2f}" if name + "_extra" in result else ""
        lines.append(
            f"| {label} | {result['seconds'][name]:.2f} | {extra} | "
            f"{result['processor_seconds'][name]:.2f} |"
        )
    return "\n".join(lines)
