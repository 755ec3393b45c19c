"""How far more threads help, up to the cores there are, and which step stops them."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.harness import machine
from benchmarks.harness.contenders import compile_all, ours
from benchmarks.harness.data import pair
from benchmarks.harness.timing import Box, alternate
from isodepth import Metric
from isodepth.core.levels import exact_plan, power_mean
from isodepth.core.regions import TrimmedRegions
from isodepth.core.sample import Sample
from isodepth.data.validation import check_pair
from isodepth.depth import BY_NAME
from isodepth.engine.gap_passes import merge_walks, search_gaps
from isodepth.engine.threads import Resources, available_cores, side_by_side

DEPTHS = ("halfspace", "projection", "irw")
SIZES = ((1000, 5), (10_000, 10), (100_000, 10))
#: What is asked of 16 cores: how many times faster than one thread at least.
ASKED = {10_000: 6.0, 100_000: 9.0}
_EPS = 0.1
_TURNS = Box(seconds=1.5, least=3, most=200, slow=9.0)
_STEP_TURNS = Box(seconds=0.25, least=2, most=50, slow=2.0)
_QUICK = Box(seconds=0.0, least=1, most=1)


def measure(quick: bool) -> dict[str, Any]:
    """Float32, refine=0, K = 1000: one distance, and its steps, for every number of threads."""
    compile_all()
    K = 100 if quick else 1000
    sizes = SIZES[:2] if quick else SIZES
    return {
        "machine": machine.describe(),
        "rows": [row(n, d, K, depth, thread_counts(), quick) for n, d in sizes for depth in DEPTHS],
    }


def thread_counts() -> list[int]:
    """1, 2, 4, ... and as many as there are cores."""
    cores = available_cores()
    return sorted({2**k for k in range(int(math.log2(cores)) + 1)} | {cores})


def row(n: int, d: int, K: int, depth: str, counts: list[int], quick: bool) -> dict[str, Any]:
    """One size and depth: seconds of everything and of each step, by number of threads."""
    X, Y = pair(n, d, "float32")
    whole = alternate(
        {str(t): ours(X, Y, depth, K, threads=t) for t in counts}, _QUICK if quick else _TURNS
    )
    seconds = {t: timing.seconds for t, timing in whole.items()}
    steps = {str(t): steps_of(X, Y, depth, K, t) for t in counts}
    timed = alternate(
        {f"{t}|{name}": run for t, each in steps.items() for name, run in each.items()},
        _QUICK if quick else _STEP_TURNS,
    )
    by_step: dict[str, dict[str, float]] = {}
    for key, timing in timed.items():
        t, _, name = key.partition("|")
        by_step.setdefault(name, {})[t] = timing.seconds
    return {
        "n": n, "d": d, "K": K, "depth": depth, "dtype": "float32",
        "seconds": seconds,
        "speedup": {t: seconds["1"] / s for t, s in seconds.items()},
        "steps": by_step,
        "same": len({float(timing.value).hex() for timing in whole.values()}) == 1,
    }  # fmt: skip


def steps_of(
    X: np.ndarray, Y: np.ndarray, depth: str, K: int, threads: int
) -> dict[str, Callable[[], object]]:
    """Every step of a distance on its own, with what it needs made beforehand."""
    metric = Metric(depth=depth, n_directions=K, refine=0, n_jobs=threads, random_state=0)
    drawn = metric.fit(X.shape[1])
    source = BY_NAME[depth]()
    samples = drawn.merged_pair((X, None), (Y, None))
    at_once = threads if threads > 1 else 1
    # As `FittedMetric.fit_pair` shares them out for two samples of one size.
    each = Resources(min(threads, -(-threads // 2) + (threads < 4)), 128.0)

    def depth_of(sample: Sample) -> np.ndarray:
        return source.of_sample(sample, drawn.directions, each)

    def regions_of(sample: Sample, depths: np.ndarray) -> TrimmedRegions:
        regions = TrimmedRegions.from_depths(
            sample.points, None, None, sample, depths, depths, 0.0, resources=each
        )
        regions.put_in_order(each)
        return regions

    def depths() -> list[np.ndarray]:
        return side_by_side([partial(depth_of, s) for s in samples], at_once)

    found = depths()

    def order() -> list[TrimmedRegions]:
        tasks = [partial(regions_of, s, D) for s, D in zip(samples, found, strict=True)]
        return side_by_side(tasks, at_once)

    x, y = order()
    resources = Resources(threads)
    plan = exact_plan(x, y, _EPS)
    walked = (x.ordered, y.ordered, plan.stops_x, plan.stops_y, drawn.directions, resources)
    gaps, where = search_gaps(*walked)
    all_gaps, all_where = (np.repeat(found[None], threads, axis=0) for found in (gaps, where))
    steps: dict[str, Callable[[], object]] = {
        "check the input": lambda: check_pair(X, Y, None),
        "canonical form": lambda: drawn.merged_pair((X, None), (Y, None)),
        "depths": depths,
        "order by depth": order,
        "levels": lambda: exact_plan(x, y, _EPS),
        "walk": lambda: search_gaps(*walked),
        "of which merging": lambda: merge_walks(all_gaps, all_where, resources),
        "mean": lambda: power_mean(gaps, plan.shares, 2.0),
    }
    if threads == 1:
        # One thread has nothing to merge.
        steps["of which merging"] = lambda: None
    return steps


def markdown(result: dict[str, Any]) -> str:
    """Speed-ups over one thread, and where the time of most threads goes."""
    rows = result["rows"]
    counts = list(rows[0]["speedup"])
    most = counts[-1]
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
    if not rows[0]["steps"]:
        return "\n".join(lines)
    lines += [
        "",
        f"The steps on their own, in milliseconds with 1 and with {most} thread(s):",
        "",
        "| n = m | depth | " + " | ".join(rows[0]["steps"]) + " |",
        "|---|---|" + "---|" * len(rows[0]["steps"]),
    ]
    for r in rows:
        cells = [f"{1e3 * s['1']:.2f}, {1e3 * s[most]:.2f}" for s in r["steps"].values()]
        lines.append(f"| {r['n']} | {r['depth']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)
