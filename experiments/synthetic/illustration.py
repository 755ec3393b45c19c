"""Nested regions of two contaminated samples, with the points that attain the Hausdorff gaps.

AI-IRW depth (MCD) in the plane, as in the appendix of the paper. The experiment measures
the gap at several levels with and without the outliers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.framework import Experiment, Part, Results, Streams, Verdict, run_experiment
from experiments.framework.verdict import mean_and_error, outcome
from experiments.synthetic.distributions import SHARE, correlated_sample
from isodepth import AIIRWDepth, Metric, hull_distance
from isodepth.typing import HullDistance, TrimmedRegions

LEVELS = (0.2, 0.4, 0.6, 0.8, 0.95)
CENTRE = (7.0, 4.0)
#: Level that the outliers, a tenth of the rows, can reach.
CLEAN_UP_TO = 1 - SHARE
#: Maximum relative change of a gap that counts as unchanged.
UNMOVED = 0.1


@dataclass(frozen=True)
class Settings:
    """Settings of the experiment: number of runs, points n per sample, and directions K."""

    runs: int
    n: int = 300
    K: int = 1000


def regions_of(
    settings: Settings, streams: Streams
) -> tuple[list[TrimmedRegions], list[TrimmedRegions], list[np.ndarray]]:
    """Return the regions of both samples and of their clean points, and the masks of outliers."""
    seed = streams.integer("directions")
    metric = Metric(depth=AIIRWDepth(covariance="mcd"), n_directions=settings.K, random_state=seed)
    samples = [
        correlated_sample(settings.n, streams.rng("data", side), center)
        for side, center in (("X", (0.0, 0.0)), ("Y", CENTRE))
    ]
    everything = [metric.regions(points) for points, _ in samples]
    clean = [metric.regions(points[~wrong]) for points, wrong in samples]
    return everything, clean, [wrong for _, wrong in samples]


def gap_at(pair: list[TrimmedRegions], beta: float) -> HullDistance:
    """Return the exact Hausdorff distance of the two regions of level `beta`.

    `pair` has the regions of both samples.
    """
    first, second = (regions.points[regions.indices(beta)] for regions in pair)
    return hull_distance(first, second)


def parts(settings: Settings) -> list[Part]:
    def measure(condition: Any, streams: Streams) -> dict[float, list[float]]:
        everything, clean, wrong = regions_of(settings, streams)
        return {
            beta: [
                gap_at(everything, beta).distance,
                gap_at(clean, beta).distance,
                float(
                    np.mean([w[r.indices(beta)].sum() / w.sum()
                             for r, w in zip(everything, wrong, strict=True)])
                ),
            ]
            for beta in LEVELS
        }  # fmt: skip

    values = ("gap", "gap_without_outliers", "outliers_inside")
    return [
        Part("illustration", settings.runs, [{"share": SHARE}], "beta", LEVELS, values, measure)
    ]


def judge(results: Results) -> list[Verdict]:
    table = results.tables["illustration"]
    texts, checks = [], []
    for beta, rows in table.groups("beta"):
        moved = np.abs(rows["gap"] / rows["gap_without_outliers"] - 1)
        texts.append(
            f"beta={beta:g}: gap {mean_and_error(rows['gap'])}, without outliers "
            f"{mean_and_error(rows['gap_without_outliers'])}"
        )
        if beta < CLEAN_UP_TO:
            checks.append(bool(moved.mean() <= UNMOVED))
    return [
        Verdict(
            "The gaps between regions of equal mass tell the clean parts of the two samples apart, "
            "whatever the outliers.",
            f"{'; '.join(texts)}. With {SHARE:.0%} of outliers, levels below {CLEAN_UP_TO:g} must "
            f"move by less than {UNMOVED:.0%} in the mean; beyond, outliers are inside.",
            outcome(checks),
        )
    ]


def draw(results: Results) -> dict[str, Any]:
    from experiments.framework.figure import hull_outline, panels

    pair, _, wrong = regions_of(results.settings, Streams(results.seed, "illustration", 0))
    figure, grid = panels(1, 1, 8, 6)
    axes = grid[0, 0]
    for regions, outlying, color, name in zip(pair, wrong, ("C0", "C1"), "XY", strict=True):
        points = regions.points
        axes.plot(*points[~outlying].T, ".", color=color, ms=4, alpha=0.5, label=name)
        axes.plot(*points[outlying].T, "x", color=color, ms=4, label=f"outliers of {name}")
        for beta in LEVELS[:-1]:
            axes.plot(*hull_outline(points[regions.indices(beta)]).T, color=color, lw=1.2)
    greys = np.linspace(0.65, 0.0, len(LEVELS) - 1)
    for beta, grey in zip(LEVELS[:-1], greys, strict=True):
        segment = _segment(pair, beta)
        length = np.linalg.norm(segment[1] - segment[0])
        axes.plot(
            *segment.T, "o-", color=str(grey), ms=4, lw=1.3,
            label=f"gap at β = {beta:g}: {length:.2f}",
        )  # fmt: skip
    axes.set_aspect("equal")
    axes.set_xlabel("first coordinate")
    axes.set_ylabel("second coordinate")
    axes.set_title("Regions of mass 0.2, 0.4, 0.6, 0.8 (AI-IRW, MCD) and their Hausdorff gaps")
    axes.legend(loc="lower right", fontsize=8)
    return {"illustration": figure}


def _segment(pair: list[TrimmedRegions], beta: float) -> np.ndarray:
    """Return the two points (2, 2) between which the gap is attained at the level `beta`.

    They are a vertex of one region, and the nearest point of the other.
    """
    gap = gap_at(pair, beta)
    first, second = (regions.points[regions.indices(beta)] for regions in pair)
    outer = first if gap.sample == "X" else second
    corner = outer[(outer @ gap.direction).argmax()]
    return np.array([corner, corner - gap.distance * gap.direction])


EXPERIMENT = Experiment(
    name="illustration",
    title="nested regions of two contaminated samples and their gaps",
    sizes={
        "full": Settings(runs=100),
        "reduced": Settings(runs=10),
        "quick": Settings(runs=2, n=100, K=200),
    },
    parts=parts,
    judge=judge,
    draw=draw,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run with command-line arguments, by default `sys.argv[1:]`, and return the exit code."""
    return run_experiment(EXPERIMENT, arguments)
