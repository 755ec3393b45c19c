"""Depth contours of a contaminated bivariate sample (appendix).

The depths are AI-IRW with the minimum covariance determinant (MCD) and with the empirical
covariance, halfspace and projection depth. A tenth of the points are a cluster of outliers. Robust
contours are close to those of the clean points alone. The experiment measures the Hausdorff
distance between the regions of the contaminated and of the clean sample, and the share of the
cluster inside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from experiments.framework import Experiment, Part, Results, Streams, Verdict, run_experiment
from experiments.framework.verdict import mean_and_error, outcome
from experiments.synthetic.distributions import SHARE, correlated_sample
from isodepth import AIIRWDepth, HalfspaceDepth, Metric, ProjectionDepth, hull_distance

MCD, PLAIN = "AI-IRW, MCD", "AI-IRW, plain covariance"
DEPTHS: dict[str, Any] = {
    MCD: AIIRWDepth(covariance="mcd"),
    PLAIN: AIIRWDepth(),
    "halfspace": HalfspaceDepth(),
    "projection": ProjectionDepth(),
}
LEVELS = (0.25, 0.5, 0.75)
#: Largest region that can be free of outliers, minus a margin for rounding.
OUTER = 0.85


@dataclass(frozen=True)
class Settings:
    """Settings of the experiment: number of runs, points n, directions K, grid points per axis."""

    runs: int
    n: int = 400
    K: int = 1000
    grid: int = 90


def parts(settings: Settings) -> list[Part]:
    def measure(condition: Any, streams: Streams) -> dict[str, list[float]]:
        points, wrong = correlated_sample(settings.n, streams.rng("data"))
        by_depth = {}
        for name, depth in DEPTHS.items():
            seed = streams.integer("directions")
            metric = Metric(depth=depth, n_directions=settings.K, random_state=seed)
            all_regions, clean = metric.regions(points), metric.regions(points[~wrong])
            gaps = [
                hull_distance(
                    points[all_regions.indices(beta)], points[~wrong][clean.indices(beta)]
                ).distance
                for beta in LEVELS
            ]
            inside = wrong[all_regions.indices(OUTER)].sum() / wrong.sum()
            by_depth[name] = [*gaps, float(inside)]
        return by_depth

    values = (*(f"gap_{beta}" for beta in LEVELS), "outliers_inside")
    conditions = [{"share": SHARE}]
    return [Part("contours", settings.runs, conditions, "depth", list(DEPTHS), values, measure)]


def judge(results: Results) -> list[Verdict]:
    table = results.tables["contours"]
    rows = {name: table.where(depth=name) for name in DEPTHS}
    gap = f"gap_{LEVELS[-1]}"

    def line(name: str) -> str:
        return (
            f"{name}: gap at beta={LEVELS[-1]} {mean_and_error(rows[name][gap])}, share of the "
            f"outliers inside beta={OUTER} {mean_and_error(rows[name]['outliers_inside'], '.2f')}"
        )

    return [
        Verdict(
            "AI-IRW contours with MCD are robust: they look as if the outliers were not there.",
            "; ".join(map(line, DEPTHS))
            + ". Robust: none of the outliers inside, and less than half the gap that the plain "
            "covariance leaves.",
            outcome(
                [
                    rows[MCD]["outliers_inside"].max() == 0,
                    rows[MCD][gap].mean() < rows[PLAIN][gap].mean() / 2,
                ]
            ),
        )
    ]


def draw(results: Results) -> dict[str, Any]:
    from experiments.framework.figure import panels

    settings = results.settings
    streams = Streams(results.seed, "contours", 0)
    points, wrong = correlated_sample(settings.n, streams.rng("data"))
    side = np.linspace(-5.5, 5.5, settings.grid)
    mesh = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    figure, grid = panels(2, 2, 4.6, 4.2)
    for axes, (name, estimator) in zip(grid.flat, DEPTHS.items(), strict=True):
        options = {"n_directions": settings.K, "random_state": streams.integer("directions")}
        depth = clone(estimator).set_params(**options).fit(points)
        values = depth.score_samples(mesh).reshape(settings.grid, settings.grid)
        # Levels of the regions with 10, 20, ..., 90% of the sample.
        levels = np.unique(np.quantile(depth.depth_, np.arange(1, 10) / 10))
        axes.contour(side, side, values, levels=levels, cmap="viridis", linewidths=1)
        axes.plot(*points[~wrong].T, ".", color="0.6", ms=3, zorder=1)
        axes.plot(*points[wrong].T, "x", color="C3", ms=4)
        axes.set_title(name)
        axes.set_aspect("equal")
        axes.set_xlabel("first coordinate")
        axes.set_ylabel("second coordinate")
    figure.suptitle("Contours that hold 10 to 90% of the sample; 10% outliers (crosses)")
    return {"contours": figure}


EXPERIMENT = Experiment(
    name="contours",
    title="depth contours of a contaminated bivariate sample",
    sizes={
        "full": Settings(runs=100),
        "reduced": Settings(runs=10),
        "quick": Settings(runs=2, n=100, K=200, grid=30),
    },
    parts=parts,
    judge=judge,
    draw=draw,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run with command-line arguments, by default `sys.argv[1:]`, and return the exit code."""
    return run_experiment(EXPERIMENT, arguments)
