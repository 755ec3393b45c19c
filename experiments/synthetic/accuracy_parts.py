"""Additional parts of `accuracy`: families of directions, random cases, cost of refinement."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from experiments.framework import Part, Streams
from experiments.synthetic.distributions import elliptical
from isodepth import Metric

SHIFT, EPS = 7.0, 0.3
DISTRIBUTIONS = ("gaussian", "cauchy")
FAMILIES = ("uniform", "sobol", "orthogonal")


def shifted_pair(
    distribution: str, n: int, d: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return two samples (n, d) of the same distribution, one shifted by 7 in every coordinate."""
    return elliptical(distribution, n, d, rng), elliptical(distribution, n, d, rng) + SHIFT


def shortfall(X: np.ndarray, Y: np.ndarray, family: str, K: int, seed: int) -> list[float]:
    """Return the relative shortfall of the distance along K directions from the exact supremum.

    The second number is the relative error from the distance of the distributions.
    """
    settings: dict[str, Any] = {
        "eps": EPS,
        "n_directions": K,
        "directions": family,
        "random_state": seed,
    }
    metric = Metric(refine=0, **settings)
    pair = metric.regions(X), metric.regions(Y)
    d = X.shape[1]
    distance = metric.with_directions(d).distance(*pair)
    exact = Metric(gap="exact", **settings).with_directions(d).distance(*pair)
    return [1 - distance / exact, distance / (SHIFT * X.shape[1] ** 0.5) - 1]


def families_part(runs: int, n: int, dimensions: Sequence[int], counts: Sequence[int]) -> Part:
    """Return the part of the experiment that compares families of directions of equal number K."""

    def measure(condition: Any, streams: Streams) -> dict[str, list[float]]:
        d, K = condition["d"], condition["K"]
        X, Y = shifted_pair("gaussian", n, d, streams.rng("data", d))
        seed = streams.integer("directions", d, K)
        return {family: shortfall(X, Y, family, K, seed) for family in FAMILIES}

    conditions = [{"d": d, "K": K} for d in dimensions for K in counts]
    values = ("shortfall", "error")
    return Part("accuracy_families", runs, conditions, "family", FAMILIES, values, measure)


def plane_part(runs: int, n: int, K: int) -> Part:
    """Return the part of the experiment on equispaced directions in the plane."""

    def measure(condition: Any, streams: Streams) -> dict[str, list[float]]:
        X, Y = shifted_pair("gaussian", n, 2, streams.rng("data"))
        seed = streams.integer("directions")
        return {family: shortfall(X, Y, family, K, seed) for family in ("equispaced", "uniform")}

    values = ("shortfall", "error")
    names = ("equispaced", "uniform")
    return Part("accuracy_plane", runs, [{"d": 2, "K": K}], "family", names, values, measure)


def random_case(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """Return two random samples of up to 20 columns, and random settings of a metric."""
    d = int(rng.integers(1, 21))
    distribution = str(rng.choice(["gaussian", "t2", "cauchy"]))
    pair = []
    for _ in range(2):
        root = rng.standard_normal((d, d)) / d**0.5
        points = elliptical(distribution, int(rng.integers(50, 400)), d, rng, root)
        pair.append(points + rng.normal(size=d) * rng.choice([0.0, 1.0, 5.0]))
    settings: dict[str, Any] = {
        "depth": str(rng.choice(["halfspace", "projection", "irw", "ai_irw"])),
        "eps": float(rng.choice([0.05, 0.1, 0.3])),
        "n_directions": int(rng.choice([100, 500])),
        "random_state": int(rng.integers(2**31)),
    }
    return pair[0], pair[1], settings


def cases_part(cases: int) -> Part:
    """Return the part of the experiment that compares refined and exact suprema in random cases."""

    def measure(condition: Any, streams: Streams) -> dict[str, list[float]]:
        X, Y, settings = random_case(streams.rng("case"))
        metric = Metric(**settings)
        pair = metric.regions(X), metric.regions(Y)
        d = X.shape[1]
        exact = Metric(gap="exact", **settings).with_directions(d).distance(*pair)
        return {"case": [metric.with_directions(d).distance(*pair), exact, d]}

    values = ("refined", "exact", "d")
    conditions = [{"kind": "random"}]
    return Part("accuracy_cases", cases, conditions, "row", ("case",), values, measure)


@cache
def warm_up() -> None:
    """Load and compile everything once, before the timing."""
    rng = np.random.default_rng(0)
    Metric(n_directions=10).distance(rng.normal(size=(50, 3)), rng.normal(size=(50, 3)))


def cost_part(runs: int, n: int, dimensions: Sequence[int], counts: Sequence[int]) -> Part:
    """Return the part of the experiment on the time of refinement, on one thread."""

    def measure(condition: Any, streams: Streams) -> dict[str, list[float]]:
        from benchmarks.harness.timing import blas_threads, no_collection

        warm_up()
        d, K = condition["d"], condition["K"]
        X, Y = shifted_pair("gaussian", n, d, streams.rng("data", d))
        common: dict[str, Any] = {"eps": EPS, "n_directions": K, "random_state": 0, "n_jobs": 1}
        metrics = {"unrefined": Metric(refine=0, **common), "refined": Metric(**common)}
        best = dict.fromkeys(metrics, np.inf)
        with blas_threads(1), no_collection():
            for _ in range(3):
                for name, metric in metrics.items():
                    start = time.perf_counter()
                    metric.distance(X, Y)
                    best[name] = min(best[name], time.perf_counter() - start)
        return {name: [seconds] for name, seconds in best.items()}

    conditions = [{"d": d, "K": K} for d in dimensions for K in counts]
    names = ("unrefined", "refined")
    return Part(
        "accuracy_cost", runs, conditions, "method", names, ("seconds",), measure, repeatable=False
    )
