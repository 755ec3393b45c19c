"""Error against eps for three shares of anomalies (appendix), and the position of its elbow.

The samples are two standard Gaussian samples in the plane. In a share of X, the first coordinate is
replaced by 30 + 50 Z, and in a share of Y the second coordinate by -30 - 50 Z, for Z uniform. The
error is the difference between the distances of the abnormal and of the normal samples. One
comparison gives the distance for all eps, because without refinement the gap at a level does not
depend on eps. The paper does not give the number of directions; here it is 1000.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.framework import Experiment, Part, Results, Streams, Table, Verdict, run_experiment
from experiments.framework.verdict import outcome
from experiments.synthetic.distributions import elliptical
from isodepth import Metric
from isodepth.typing import Comparison

DEPTHS = ("projection", "halfspace")
SHARES = (0.01, 0.1, 0.2)
EPS = (
    0.0025, 0.005, 0.0075, 0.01, 0.0125, 0.015, 0.02, 0.03, 0.05, 0.075, 0.09, 0.1, 0.11, 0.125,
    0.15, 0.175, 0.19, 0.2, 0.21, 0.225, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6,
)  # fmt: skip
#: Standard deviations of the normal distribution: anomalies lie at 30 to 80.
SPOILT = 1.0


@dataclass(frozen=True)
class Settings:
    """Settings of the experiment: number of runs, points n per sample, and directions K."""

    runs: int
    n: int = 10000
    K: int = 1000


def with_anomalies(
    points: np.ndarray, share: float, column: int, rng: np.random.Generator
) -> np.ndarray:
    """Return the sample with far values in one column for a share of the points."""
    count = round(share * len(points))
    far = 30 + 50 * rng.uniform(size=count)
    spoilt = points.copy()
    spoilt[:count, column] = far if column == 0 else -far
    return spoilt


def distances(comparison: Comparison, p: float = 2) -> dict[float, float]:
    """Return DR_{p,eps} for all of EPS from the gaps of one comparison with exact levels."""
    starts, stops = comparison.level_intervals.T
    by_eps = {}
    for eps in EPS:
        lengths = np.clip(np.minimum(stops, 1 - eps) - starts, 0.0, None)
        by_eps[eps] = float((lengths @ comparison.gaps**p / (1 - eps)) ** (1 / p))
    return by_eps


def parts(settings: Settings) -> list[Part]:
    def measure(condition: Any, streams: Streams) -> dict[float, list[float]]:
        rng = streams.rng("data")
        X, Y = (elliptical("gaussian", settings.n, 2, rng) for _ in "XY")
        share = condition["share"]
        rng = streams.rng("anomalies", share)
        X, Y = with_anomalies(X, share, 0, rng), with_anomalies(Y, share, 1, rng)
        metric = Metric(
            depth=condition["depth"], eps=min(EPS), n_directions=settings.K, refine=0,
            random_state=streams.integer("directions"),
        )  # fmt: skip
        return {eps: [value] for eps, value in distances(metric.compare(X, Y)).items()}

    conditions = [{"depth": depth, "share": s} for depth in DEPTHS for s in (0.0, *SHARES)]
    return [Part("epsilon", settings.runs, conditions, "eps", EPS, ("distance",), measure)]


def errors(table: Table, depth: str, share: float) -> np.ndarray:
    """Return the absolute differences |abnormal - normal| of the distances, of shape (runs, eps).

    They are those of the distances with and without anomalies, for one depth and share.
    """
    abnormal, normal = (
        table.where(depth=depth, share=s)["distance"].reshape(-1, len(EPS)) for s in (share, 0.0)
    )
    return np.abs(abnormal - normal)


def elbow(curve: np.ndarray) -> float | None:
    """Return the eps at which the curve is farthest below the line between its ends, or None."""
    eps = np.array(EPS)
    below = np.interp(eps, eps[[0, -1]], curve[[0, -1]]) - curve
    return float(eps[below.argmax()]) if below.max() > 0 else None


def judge(results: Results) -> list[Verdict]:
    table = results.tables["epsilon"]

    def describe(depth: str, share: float) -> tuple[str, bool]:
        run_errors = errors(table, depth, share)
        mean = run_errors.mean(axis=0)
        at = elbow(mean)
        below, above = EPS.index(share) - 1, EPS.index(share) + 1
        spread = np.quantile(run_errors[:, above], [0.25, 0.75])
        text = (
            f"{share:.0%}: {'no elbow' if at is None else f'elbow at eps={at:g}'}, error "
            f"{mean[below]:.3g} at eps={EPS[below]:g} and "
            f"{mean[above]:.3g} [{spread[0]:.2g}, {spread[1]:.2g}] at eps={EPS[above]:g}"
        )
        # Up to one step of the grid of eps.
        found_there = at is not None and abs(EPS.index(at) - EPS.index(share)) <= 1
        return text, bool(found_there and mean[above] < SPOILT)

    projection = [describe("projection", share) for share in SHARES]
    halfspace = [describe("halfspace", share) for share in SHARES]
    spoilt = {
        share: [
            eps
            for eps, error in zip(EPS, errors(table, "halfspace", share).mean(axis=0), strict=True)
            if error >= SPOILT
        ]
        for share in SHARES
    }
    return [
        Verdict(
            "Projection depth: the error has an elbow where eps reaches the share of anomalies.",
            "; ".join(text for text, _ in projection)
            + f" (an elbow counts within one step of the grid, with an error below {SPOILT:g} "
            "standard deviation after it).",
            outcome(there for _, there in projection),
        ),
        Verdict(
            "Halfspace depth: not robust once the share of anomalies is higher than 1%; no elbow.",
            "; ".join(text for text, _ in halfspace)
            + "; the error is above one standard deviation up to eps = "
            + ", ".join(
                f"{max(eps) if eps else 0:g} ({share:.0%})" for share, eps in spoilt.items()
            )
            + ".",
            outcome(
                (bool(spoilt[share]) and max(spoilt[share]) > 2 * share) == (share > 0.01)
                for share in SHARES
            ),
        ),
    ]


def draw(results: Results) -> dict[str, Any]:
    from experiments.framework.figure import panels, ticks

    table = results.tables["epsilon"]
    figure, grid = panels(1, 2, sharey=True)
    for axes, depth in zip(grid[0], DEPTHS, strict=True):
        for color, share in zip(("C0", "C1", "C2"), SHARES, strict=True):
            run_errors = errors(table, depth, share)
            low, high = np.quantile(run_errors, [0.25, 0.75], axis=0)
            axes.plot(EPS, run_errors.mean(axis=0), "o-", ms=3, color=color, label=f"{share:.0%}")
            axes.fill_between(EPS, low, high, color=color, alpha=0.15, linewidth=0)
            axes.axvline(share, color=color, ls=":", lw=1)
        ticks(axes, [0.0025, 0.01, 0.03, 0.1, 0.2, 0.5])
        axes.set_yscale("symlog", linthresh=0.1)
        axes.set_ylim(0, 100)
        axes.set_title(f"{depth} depth")
        axes.set_xlabel("eps (dotted: the share of anomalies)")
        axes.set_ylabel("error")
        axes.tick_params(labelleft=True)
        axes.legend(title="anomalies")
    return {"epsilon": figure}


EXPERIMENT = Experiment(
    name="epsilon",
    title="error against eps for 1, 10 and 20% of anomalies",
    sizes={
        "full": Settings(runs=10),
        "reduced": Settings(runs=5),
        "quick": Settings(runs=2, n=1000, K=100),
    },
    parts=parts,
    judge=judge,
    draw=draw,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run with command-line arguments, by default `sys.argv[1:]`, and return the exit code."""
    return run_experiment(EXPERIMENT, arguments)
