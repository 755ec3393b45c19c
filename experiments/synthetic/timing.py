"""Time against the number of directions K, for DR and max-sliced Wasserstein (Figure 2).

Everything on one thread, in float64, Gaussian samples. The authors' algorithm is that of the
paper as a NumPy script (benchmarks/authors.py, 20 levels); ours is the default metric, with exact
levels and refinement.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from benchmarks.peers import authors
from experiments.baselines import max_sliced_wasserstein, random_directions
from experiments.framework import Experiment, Part, Results, Streams, Table, Verdict, run_experiment
from experiments.framework.verdict import outcome
from experiments.synthetic.distributions import elliptical
from isodepth import Metric

POT_SLICED, SORTED_SLICED = "max-SW, POT", "max-SW, NumPy"
DEPTHS = ("halfspace", "projection")
SIZES = ((100, 5), (1000, 50))


def author(depth: str) -> str:
    return f"DR {depth}, authors"


def ours(depth: str) -> str:
    return f"DR {depth}, ours"


NAMES = (*map(author, DEPTHS), *map(ours, DEPTHS), POT_SLICED, SORTED_SLICED)


@dataclass(frozen=True)
class Settings:
    """Settings of the experiment: number of runs, and numbers of directions K."""

    runs: int
    K: tuple[int, ...] = (10, 30, 100, 300, 1000)


def contenders(X: np.ndarray, Y: np.ndarray, K: int, seed: int) -> dict[str, Callable[[], float]]:
    """Return the functions to be timed, by name; each computes the distance of X and Y."""

    def the_authors(depth: str) -> Callable[[], float]:
        rng = np.random.default_rng(seed)
        return lambda: authors.distance(X, Y, depth, K=K, n_alpha=20, eps=0.3, rng=rng)

    def the_metric(depth: str) -> Callable[[], float]:
        metric = Metric(depth=depth, n_directions=K, eps=0.3, random_state=seed, n_jobs=1)
        return lambda: metric.distance(X, Y)

    timed = {author(depth): the_authors(depth) for depth in DEPTHS}
    timed |= {ours(depth): the_metric(depth) for depth in DEPTHS}
    d = X.shape[1]
    timed[POT_SLICED] = lambda: max_sliced_wasserstein(X, Y, random_directions(d, K, seed))
    timed[SORTED_SLICED] = lambda: sorted_max_sliced(X, Y, random_directions(d, K, seed))
    return timed


def sorted_max_sliced(X: np.ndarray, Y: np.ndarray, directions: np.ndarray) -> float:
    """Return max-SW of two samples of equal size, by sorted projections."""
    gaps = np.sort(directions @ X.T, axis=1) - np.sort(directions @ Y.T, axis=1)
    return float(np.sqrt(np.square(gaps).mean(axis=1).max()))


@cache
def warm_up() -> None:
    """Import everything before timing."""
    rng = np.random.default_rng(0)
    for call in contenders(rng.normal(size=(50, 2)), rng.normal(size=(50, 2)), 10, 0).values():
        call()


def parts(settings: Settings) -> list[Part]:
    def measure(condition: Any, streams: Streams) -> dict[str, list[float]]:
        from benchmarks.harness.timing import blas_threads, no_collection

        warm_up()
        n, d, K = condition["n"], condition["d"], condition["K"]
        rng = streams.rng("data", n, d)
        X, Y = elliptical("gaussian", n, d, rng), elliptical("gaussian", n, d, rng) + 7.0
        seconds = {}
        with blas_threads(1), no_collection():
            for name, call in contenders(X, Y, K, streams.integer("seed")).items():
                start = time.perf_counter()
                call()
                seconds[name] = [time.perf_counter() - start]
        return seconds

    conditions = [{"n": n, "d": d, "K": K} for n, d in SIZES for K in settings.K]
    return [
        Part(
            "time", settings.runs, conditions, "method", NAMES, ("seconds",), measure,
            repeatable=False,
        )
    ]  # fmt: skip


def fastest(table: Table, n: float, K: float, method: str) -> float:
    """Return the minimum time over runs for n points, K directions and a method.

    Other work on the machine disturbs the minimum least.
    """
    return float(table.where(n=n, K=K, method=method)["seconds"].min())


def judge(results: Results) -> list[Verdict]:
    table = results.tables["time"]
    verdicts = []
    for top, bottom, statement, source in (
        (POT_SLICED, author, "DR takes a constant multiple less time than max-SW.", "paper"),
        (SORTED_SLICED, ours, "The same with fast implementations of both.", "paper"),
        (POT_SLICED, ours, "Our DR is faster than POT's max-SW.", "isodepth"),
    ):
        ratios, texts = [], []
        for n, d in SIZES:
            for depth in DEPTHS:
                crossings = [
                    fastest(table, n, K, top) / fastest(table, n, K, bottom(depth))
                    for K in table.distinct("K")
                ]
                ratios += crossings
                # Smallest K from which it is faster for all larger K.
                slower = [K for K, r in zip(table.distinct("K"), crossings, strict=True) if r <= 1]
                since = [K for K in table.distinct("K") if max(slower, default=0) < K]
                faster = f"above 1 from K={since[0]:g} on" if since else "not above 1 at the last K"
                texts.append(
                    f"n={n}, d={d}, {depth}: {min(crossings):.2f} to {max(crossings):.2f}, {faster}"
                )
        verdicts.append(
            Verdict(
                statement,
                f"time of {top} over time of {bottom(DEPTHS[0]).replace(DEPTHS[0] + ', ', '')}, "
                f"over all K, one thread, minima of {results.settings.runs} runs: "
                + "; ".join(texts)
                + ".",
                outcome(ratio > 1 for ratio in ratios),
                source,
            )
        )
    return verdicts


def draw(results: Results) -> dict[str, Any]:
    from experiments.framework.figure import legend_below, panels, ticks

    table = results.tables["time"]
    styles = dict(zip(NAMES, ("C0:", "C1:", "C0-", "C1-", "C2:", "C2-"), strict=True))
    figure, grid = panels(1, 2)
    for axes, (n, d) in zip(grid[0], SIZES, strict=True):
        places = table.distinct("K")
        for method, style in styles.items():
            times = [fastest(table, n, K, method) for K in places]
            axes.plot(places, times, style, marker="o", ms=4, label=method)
        ticks(axes, places)
        axes.set_yscale("log")
        axes.set_title(f"n = {n}, d = {d}, one thread")
        axes.set_xlabel("directions K")
        axes.set_ylabel("seconds, fastest run")
    legend_below(figure, grid[0, 0], 3)
    return {"time": figure}


EXPERIMENT = Experiment(
    name="time",
    title="time against the number of directions K, DR and max-SW",
    sizes={
        "full": Settings(runs=100),
        "reduced": Settings(runs=5),
        "quick": Settings(runs=2, K=(10, 100)),
    },
    parts=parts,
    judge=judge,
    draw=draw,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run with command-line arguments, by default `sys.argv[1:]`, and return the exit code."""
    return run_experiment(EXPERIMENT, arguments)
