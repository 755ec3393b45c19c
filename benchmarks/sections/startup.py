"""What the first distances of a fresh process cost, and each of the loops compiled for them."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import ExitStack
from typing import Any

from benchmarks.harness.child import run_python
from benchmarks.harness.timing import Box, alternate

IMPORTS = "import numpy"
IMPORT_ISODEPTH = "import isodepth"
WARM = """
import numpy as np
import isodepth
X = np.random.default_rng(0).standard_normal((300, 4))
isodepth.distance(X, X + 1, random_state=0)
"""
#: A default distance and another precision and depth after it, with what each compiles.
COLD = """
import json, time
import numpy as np
start = time.perf_counter()
import isodepth
from isodepth.engine.compiled.lite.entries import journal
X = np.random.default_rng(0).standard_normal((300, 4))
calls = []
for options in ({}, {"depth": "halfspace", "dtype": "float32"}):
    before = len(journal)
    isodepth.distance(X, X + 1, random_state=0, **options)
    loops = [one._asdict() for one in journal[before:]]
    calls.append({"seconds": time.perf_counter() - start, "loops": loops})
    start = time.perf_counter()
print(json.dumps(calls))
"""
CALLS = {"first": "default, float64", "second": "halfspace, float32, after it"}


def measure(quick: bool) -> dict[str, Any]:
    """Fresh processes in turns; a cold one finds an empty cache, and fills it."""
    with ExitStack() as stack:
        caches: list[str] = []
        runs: list[list[dict[str, Any]]] = []

        def cold() -> float:
            caches.append(stack.enter_context(tempfile.TemporaryDirectory()))
            before = _processor_time()
            runs.append(json.loads(run_python("-c", COLD, NUMBA_CACHE_DIR=caches[-1])))
            return _processor_time() - before

        compiles = 1 if quick else 3
        first = alternate({"cold": cold}, Box(least=compiles, most=compiles))
        turns = 3 if quick else 10
        later = alternate(
            {
                name: lambda code=code: _processor_seconds(code, caches[-1])
                for name, code in (
                    ("imports", IMPORTS), ("import isodepth", IMPORT_ISODEPTH), ("warm", WARM),
                )
            },
            Box(least=turns, most=turns),
        )  # fmt: skip
    timings = later | first
    calls = {
        name: min((run[place] for run in runs), key=lambda call: call["seconds"])
        for place, name in enumerate(CALLS)
    }
    return {
        "seconds": {name: timing.seconds for name, timing in timings.items()},
        "processor_seconds": {name: timing.value for name, timing in timings.items()},
        "warm_seconds": timings["warm"].seconds,
        "first_seconds": calls["first"]["seconds"],
        "second_seconds": calls["second"]["seconds"],
        "loops": {name: call["loops"] for name, call in calls.items()},
    }


def _processor_time() -> float:
    times = os.times()
    return times.children_user + times.children_system


def _processor_seconds(code: str, cache: str) -> float:
    """Run `code` in a fresh process; what it cost the processor, other people's work aside."""
    before = _processor_time()
    run_python("-c", code, NUMBA_CACHE_DIR=cache)
    return _processor_time() - before


def markdown(result: dict[str, Any]) -> str:
    """Whole processes, the two first calls, and every loop that they compile."""
    names = {
        f"`{IMPORTS}`": "imports",
        f"`{IMPORT_ISODEPTH}`": "import isodepth",
        "one distance, compiled code at hand": "warm",
        "two distances, nothing compiled": "cold",
    }
    lines = [
        "Whole processes, 300 points in 4 dimensions, default settings.",
        "",
        "| process | seconds | processor time, s |",
        "|---|---|---|",
    ]
    for label, name in names.items():
        seconds, processor = result["seconds"][name], result["processor_seconds"][name]
        lines.append(f"| {label} | {seconds:.2f} | {processor:.2f} |")
    lines += ["", "The calls in the last of these, and the loops compiled for them, with all that "]
    lines[-1] += "they call (processor time)."
    lines += [
        "",
        "| call | loop | functions | translated, s | optimized, s |",
        "|---|---|---|---|---|",
    ]
    for name, label in CALLS.items():
        lines.append(f"| {label} | all of it: {result[name + '_seconds']:.2f} s |  |  |  |")
        for one in sorted(result["loops"][name], key=lambda one: -one["optimizing"]):
            loop = one["name"].removeprefix("isodepth.")
            times = f"{one['translating']:.3f} | {one['optimizing']:.3f}"
            lines.append(f"|  | `{loop}` | {one['functions']} | {times} |")
    return "\n".join(lines)
