"""Breakdown bound of the paper, compared with the share of outliers that breaks DR.

Outliers are added at one very distant point, in each of many directions. The depth is the exact
halfspace depth. DR of the samples with and without outliers breaks at the minimum number of
outliers for which an outlier is in a region of mass up to 1 - eps: DR then increases without limit
with the distance of the outliers. This number is an upper bound of the breakdown point, because
only one kind of contamination is used. If it is below the paper's lower bound, the bound does not
hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.framework import Experiment, Part, Results, Streams, Verdict, run_experiment
from experiments.framework.verdict import outcome
from isodepth import HalfspaceDepth, Metric
from isodepth.theory import breakdown_bound

EPS = (0.05, 0.1, 0.2, 0.3, 0.5)
#: The line, the plane, and a core with slightly more than 0.8 of the mass inside a wide ring.
DATA = ("gaussian d=1", "gaussian d=2", "core and ring d=2")
FAR = 1e6
#: Threshold of DR for breakdown, for outliers at FAR and data of size one.
BROKEN = 1e3


@dataclass(frozen=True)
class Settings:
    """Settings of the experiment: number of runs, points n, and directions of the outliers."""

    runs: int
    n: int = 100
    directions: int = 12


def clean_sample(data: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return a sample (n, d) without outliers, of the distribution with the name `data`."""
    if data.startswith("core"):
        ring = round(0.18 * n)
        angles = 2 * np.pi * (np.arange(ring) + rng.random()) / ring
        core = 0.1 * rng.standard_normal((n - ring, 2))
        return np.concatenate([core, np.column_stack([np.cos(angles), np.sin(angles)])])
    return rng.standard_normal((n, int(data[-1])))


def far_points(d: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return far points (k, d) in all directions."""
    if d == 1:
        return np.array([[FAR], [-FAR]])
    angles = 2 * np.pi * (np.arange(count) + rng.random()) / count
    return FAR * np.column_stack([np.cos(angles), np.sin(angles)])


def first_level(X: np.ndarray, z: np.ndarray, outliers: int) -> float:
    """Return the level from which the regions of X with `outliers` copies of z contain z."""
    joint = np.concatenate([X, np.tile(z, (outliers, 1))])
    depth = HalfspaceDepth(algorithm="exact").fit(joint).depth_
    return float(np.mean(depth > depth[-1]))


def breaking_numbers(X: np.ndarray, points: np.ndarray) -> dict[float, int]:
    """Return, for each eps, the minimum number of copies of one of `points` that breaks DR."""
    numbers: dict[float, int] = {}
    for outliers in range(1, len(X) + 1):
        level = min(first_level(X, z, outliers) for z in points)
        for eps in EPS:
            if eps not in numbers and level < 1 - eps:
                numbers[eps] = outliers
        if len(numbers) == len(EPS):
            break
    return {eps: numbers.get(eps, len(X) + 1) for eps in EPS}


def worst_distance(X: np.ndarray, points: np.ndarray, outliers: int, eps: float) -> float:
    """Return the maximum DR between X and X with `outliers` copies of one of `points`."""
    metric = Metric(
        depth=HalfspaceDepth(algorithm="exact"), eps=eps, n_directions=64, directions="equispaced"
    )
    fitted = metric.with_directions(X.shape[1])
    clean = fitted.regions(X)
    joints = (np.concatenate([X, np.tile(z, (outliers, 1))]) for z in points)
    return max(fitted.distance(fitted.regions(joint), clean) for joint in joints)


def parts(settings: Settings) -> list[Part]:
    def measure(condition: Any, streams: Streams) -> dict[float, list[float]]:
        data = condition["data"]
        X = clean_sample(data, settings.n, streams.rng("data", data))
        points = far_points(X.shape[1], settings.directions, streams.rng("far", data))
        depth = HalfspaceDepth(algorithm="exact").fit(X).depth_
        numbers = breaking_numbers(X, points)
        by_eps = {}
        for eps, outliers in numbers.items():
            bounds = [
                breakdown_bound(X, eps, depth=depth, statement=statement)
                for statement in ("paper", "proved")
            ]
            distances = [worst_distance(X, points, o, eps) for o in (outliers - 1, outliers) if o]
            by_eps[eps] = [
                *bounds,
                outliers / (len(X) + outliers),
                distances[0] if outliers > 1 else 0.0,
                distances[-1],
            ]
        return by_eps

    values = ("paper", "proved", "broken", "distance_before", "distance_broken")
    conditions = [{"data": data} for data in DATA]
    return [Part("breakdown", settings.runs, conditions, "eps", EPS, values, measure)]


def judge(results: Results) -> list[Verdict]:
    table = results.tables["breakdown"]

    def line(data: str) -> str:
        rows = table.where(data=data)
        return f"{data}: " + ", ".join(
            f"eps={eps:g} {r['paper'].mean():.3f} against {r['broken'].mean():.3f}"
            for eps, r in rows.groups("eps")
        )

    below = {data: table.where(data=data) for data in DATA}
    counts = {
        data: (int((rows["broken"] < rows["paper"] - 1e-12).sum()), len(rows))
        for data, rows in below.items()
    }
    sound = table["broken"] >= table["proved"] - 1e-12
    honest = (table["distance_before"] < BROKEN) & (table["distance_broken"] > BROKEN)
    return [
        Verdict(
            "Proposition: DR with the halfspace depth withstands at least the stated share of "
            "outliers.",
            "bound against the share that breaks it, means: "
            + "; ".join(map(line, DATA))
            + ". Broken below the bound: "
            + ", ".join(
                f"{data} in {n_broken} of {all_}" for data, (n_broken, all_) in counts.items()
            )
            + " cases (sample and eps).",
            outcome(n_broken == 0 for n_broken, _ in counts.values()),
        ),
        Verdict(
            "The bound of isodepth.theory is never undercut.",
            f"held in {int(sound.sum())} of {len(sound)} cases; DR was below {BROKEN:g} with one "
            f"outlier less and above it with the breaking number in {int(honest.sum())} of "
            f"{len(honest)}.",
            outcome([bool(sound.all()), bool(honest.all())]),
            source="isodepth",
        ),
    ]


def draw(results: Results) -> dict[str, Any]:
    from experiments.framework.figure import curve, legend_below, panels

    table = results.tables["breakdown"]
    figure, grid = panels(1, 3, 4.4, 4.0, sharey=True)
    labels = {
        "broken": "breaks (outliers at one far point)",
        "paper": "bound of the paper",
        "proved": "bound of isodepth.theory",
    }
    for axes, data in zip(grid[0], DATA, strict=True):
        for name, style in zip(labels, ("o", "s", "^"), strict=True):
            curve(axes, table.where(data=data), "eps", name, labels[name], marker=style)
        axes.set_title(f"{data}, n = {results.settings.n}")
        axes.set_xlabel("eps")
        axes.set_ylabel("share of outliers")
        axes.set_ylim(0)
        axes.tick_params(labelleft=True)
    legend_below(figure, grid[0, 0], 3)
    return {"breakdown": figure}


EXPERIMENT = Experiment(
    name="breakdown",
    title="the breakdown bound against what really breaks the distance",
    sizes={
        "full": Settings(runs=50),
        "reduced": Settings(runs=5),
        "quick": Settings(runs=1, n=40, directions=4),
    },
    parts=parts,
    judge=judge,
    draw=draw,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run with command-line arguments, by default `sys.argv[1:]`, and return the exit code."""
    return run_experiment(EXPERIMENT, arguments)
