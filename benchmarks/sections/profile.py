"""Where the time of one distance goes, step by step, beside the floor of each step.

What is done with the products for depths is timed by making these with and without it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.harness.contenders import DEFAULT_REFINE, compile_all, ours
from benchmarks.harness.data import pair
from benchmarks.harness.floors import Floors, measure_floors
from benchmarks.harness.timing import Box, Timing, alternate, blas_threads
from isodepth.core.directions import unit_vectors
from isodepth.core.levels import exact_plan
from isodepth.core.regions import TrimmedRegions
from isodepth.core.sample import Sample
from isodepth.data.validation import check_pair
from isodepth.depth import BY_NAME
from isodepth.depth.base import standardize
from isodepth.engine.blocks import fold_projections
from isodepth.engine.gap_passes import level_gaps
from isodepth.engine.threads import Resources

DEPTHS = ("halfspace", "projection")
_ONE_THREAD = Resources(n_jobs=1)
_EPS = 0.1


def measure(quick: bool) -> list[dict[str, Any]]:
    """n = m = 10000, d = 10, K = 1000, float32, one thread."""
    compile_all()
    box = Box(seconds=0.3, least=2, most=3) if quick else Box(seconds=3.0, least=5, most=60)
    return [profile(depth, 10000, 10, 100 if quick else 1000, box) for depth in DEPTHS]


def profile(depth: str, n: int, d: int, K: int, box: Box) -> dict[str, Any]:
    """The steps of one distance: seconds, ns for each projected number, and floors."""
    X, Y = pair(n, d, "float32")
    steps, n_levels = _steps(depth, X, Y, K)
    with blas_threads(1):
        timings = alternate(steps, box)
        floors = measure_floors(X, K, box)
    rows = _rows(depth, timings, floors, n, d, K, n_levels)
    projected = 2 * n * K
    for row in rows:
        row["ns"] = 1e9 * row["seconds"] / projected
        floor = row["floor_seconds"]
        row["floor_ns"] = None if floor is None else 1e9 * floor / projected
        row["over_floor"] = None if floor is None else row["seconds"] / floor
    return {
        "depth": depth, "n": n, "d": d, "K": K, "dtype": "float32", "threads": 1,
        "levels": n_levels, "floors": floors.rates(), "steps": rows,
        "total_seconds": timings["everything"].seconds,
    }  # fmt: skip


def _steps(
    depth: str, X: np.ndarray, Y: np.ndarray, K: int
) -> tuple[dict[str, Callable[[], object]], int]:
    """Every step of `Metric.compare` on its own, with what it needs made beforehand."""
    U = unit_vectors(X.shape[1], K, "uniform", np.random.default_rng(0))
    source = BY_NAME[depth]()
    samples = Sample.of(X), Sample.of(Y)
    moved = [standardize(s, s.points) for s in samples]
    depths = [source.of_sample(s, U, _ONE_THREAD) for s in samples]

    def order() -> list[TrimmedRegions]:
        regions = [
            TrimmedRegions.from_depths(s.points, None, None, s, D, D, 0.0)
            for s, D in zip(samples, depths, strict=True)
        ]
        for r in regions:
            _ = r.ordered
        exact_plan(regions[0], regions[1], _EPS)
        return regions

    x, y = order()
    plan = exact_plan(x, y, _EPS)

    def search() -> object:
        return level_gaps(x.ordered, y.ordered, plan.prefix_sizes, U, _ONE_THREAD)

    steps: dict[str, Callable[[], object]] = {
        "check": lambda: check_pair(X, Y, None),
        "canonical": lambda: (Sample.of(X), Sample.of(Y)),
        "directions": lambda: unit_vectors(X.shape[1], K, "uniform", np.random.default_rng(0)),
        "depths": lambda: [source.of_sample(s, U, _ONE_THREAD) for s in samples],
        "depth products": lambda: [
            fold_projections(points, U, lambda: None, lambda *_: None, _ONE_THREAD)
            for points in moved
        ],
        "order": order,
        "search": search,
        "everything": ours(X, Y, depth, K, threads=1),
        "refined": ours(X, Y, depth, K, threads=1, refine=DEFAULT_REFINE),
    }
    return steps, len(plan.shares)


def _rows(
    depth: str,
    timings: dict[str, Timing],
    floors: Floors,
    n: int,
    d: int,
    K: int,
    n_levels: int,
) -> list[dict[str, Any]]:
    t = {name: timing.seconds for name, timing in timings.items()}
    projected = 2 * n * K
    # Levels stop at 1 - eps, so the points beyond are neither projected nor walked again.
    walked = projected * (1 - _EPS)
    product = f"{2 * d} flops for each number at the speed of a large float32 product"
    if depth == "halfspace":
        judged = (
            "ranks: buckets, bounds, a few points sorted",
            4 * projected * floors.sweep,
            "4 sweeps: bucket, count, compare, collect",
        )
    else:
        judged = (
            "median, MAD, outlyingness",
            3 * projected * floors.sweep,
            "3 sweeps: a count for each median, outlyingness",
        )
    rows: list[tuple[str, float, float | None, str]] = [
        ("check the input", t["check"], None, ""),
        ("canonical form", t["canonical"], 2 * n * floors.sort_column, "np.sort of one column"),
        ("draw directions", t["directions"], None, ""),
        ("products for depths", t["depth products"], projected * d * floors.product, product),
        (judged[0], t["depths"] - t["depth products"], judged[1], judged[2]),
        ("order by depth, levels", t["order"], 2 * n * floors.sort_column, "np.sort of the depths"),
        (
            "walk over both samples, products included",
            t["search"],
            walked * d * floors.product + 2 * walked * floors.sweep,
            "the products, and two comparisons of each",
        ),
    ]
    rest = t["everything"] - sum(seconds for _, seconds, *_ in rows)
    rows.append(("Python and the rest", rest, None, ""))
    everything = sum(floor for *_, floor, _ in rows if floor is not None)
    rows.append(("together, refine=0", t["everything"], everything, "sum of the floors"))
    rows.append((f"refinement (refine={DEFAULT_REFINE})", t["refined"] - t["everything"], None, ""))
    names = ("step", "seconds", "floor_seconds", "floor")
    return [dict(zip(names, row, strict=True)) for row in rows]


def markdown(profiles: list[dict[str, Any]]) -> str:
    """One table a depth, in nanoseconds for each projected number."""
    return "\n\n".join(_table(p) for p in profiles)


def _table(p: dict[str, Any]) -> str:
    rates = p["floors"]
    lines = [
        f"**{p['depth']}**, n = m = {p['n']}, d = {p['d']}, K = {p['K']}, {p['dtype']}, one "
        f"thread, {p['levels']} levels: {1e3 * p['total_seconds']:.1f} ms. Nanoseconds for each of "
        "the "
        f"2 n K = {2 * p['n'] * p['K']:.2g} projected numbers. Rates of this machine: "
        f"{rates['product_gflops']:.1f} GFLOP/s, {rates['sort_ns']:.2f} ns to sort a number, "
        f"{rates['sweep_ns']:.3f} ns to read one in cache ({rates['sweep_gb_per_s']:.1f} "
        "GB/s).",
        "",
        "| step | ns | floor, ns | times the floor | share | the floor is |",
        "|---|---|---|---|---|---|",
    ]
    for row in p["steps"]:
        floor = "" if row["floor_ns"] is None else f"{row['floor_ns']:.3f}"
        over = "" if row["over_floor"] is None else f"{row['over_floor']:.1f}"
        share = f"{100 * row['seconds'] / p['total_seconds']:.0f} %"
        lines.append(
            f"| {row['step']} | {row['ns']:.3f} | {floor} | {over} | {share} | {row['floor']} |"
        )
    return "\n".join(lines)
