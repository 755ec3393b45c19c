"""Error against the sample size n for two standard Gaussian samples in the plane (appendix).

The distance of the distributions is 0, so the distance of the samples is the error. The paper does
not give eps: three values are used. The code of the authors has fixed percentiles of the depth in
place of the random levels of the paper. With its default, the first of them is the whole sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.framework import Experiment, Part, Results, Streams, Table, Verdict, run_experiment
from experiments.framework.verdict import outcome
from experiments.synthetic.distributions import elliptical
from isodepth import Metric, unit_vectors

EPS = (0.01, 0.1, 0.3)
#: The eps of the figure.
SHOWN = 0.1
N_ALPHA = (5, 20, 100)
EXACT = "exact"
DEPTHS = ("projection", "halfspace")
#: First percentile, as a fraction, and number of percentiles of the authors' grid.
EPS_MIN = (0.0, 0.1)
N_PERCENTILES = 20
PUBLISHED = -0.25
#: Maximum difference from the published slope that counts as equal, plus two standard errors.
SAME = 0.05


@dataclass(frozen=True)
class Settings:
    """Settings of the experiment: number of runs, directions K, and sample sizes n."""

    runs: int
    K: int = 10000
    n: tuple[int, ...] = (100, 200, 500, 1000, 2000, 5000, 10000)


def parts(settings: Settings) -> list[Part]:
    def measure(condition: Any, streams: Streams) -> dict[Any, list[float]]:
        n, depth = condition["n"], condition["depth"]
        rng = streams.rng("data", n)
        X, Y = elliptical("gaussian", n, 2, rng), elliptical("gaussian", n, 2, rng)
        K, seed = settings.K, streams.integer("directions", n)
        common: dict[str, Any] = {"depth": depth, "random_state": seed}
        # The regions do not depend on levels and eps, so they are computed once.
        maker = Metric(n_directions=K, **common)
        pair = maker.regions(X), maker.regions(Y)

        def distance(metric: Metric) -> float:
            return metric.with_directions(2).distance(*pair)

        errors: dict[Any, list[float]] = {
            n_alpha: [
                distance(Metric.paper(n_levels=n_alpha, n_directions=K, eps=e, **common))
                for e in EPS
            ]
            for n_alpha in N_ALPHA
        }
        errors[EXACT] = [distance(Metric(n_directions=K, eps=e, refine=0, **common)) for e in EPS]
        return errors

    def measure_percentiles(condition: Any, streams: Streams) -> dict[Any, list[float]]:
        n, depth = condition["n"], condition["depth"]
        rng = streams.rng("data", n)
        seed = streams.integer("directions", n)
        metric = Metric(depth=depth, n_directions=settings.K, random_state=seed)
        U = unit_vectors(2, settings.K, random_state=seed)
        # A level just below 1 is the whole sample, and level 0 the deepest point.
        levels = {e: 1 - np.linspace(max(e, 1e-9), 1.0, N_PERCENTILES) for e in EPS_MIN}
        X, Y = (metric.regions(elliptical("gaussian", n, 2, rng)) for _ in range(2))
        return {
            e: [
                float(
                    np.sqrt(
                        np.mean(np.abs(X.support(U, betas) - Y.support(U, betas)).max(axis=1) ** 2)
                    )
                )
            ]
            for e, betas in levels.items()
        }

    conditions = [{"depth": depth, "n": n} for depth in DEPTHS for n in settings.n]
    names = (*N_ALPHA, EXACT)
    values = [column(eps) for eps in EPS]
    return [
        Part("rates", settings.runs, conditions, "n_alpha", names, values, measure),
        Part(
            "rates_percentiles", settings.runs, conditions, "eps_min", EPS_MIN, ["distance"],
            measure_percentiles,
        ),
    ]  # fmt: skip


def column(eps: float) -> str:
    """Return the name of the column of distances with the given eps in the table of results."""
    return f"distance_{eps}"


def slope(rows: Table, name: str) -> tuple[float, float]:
    """Return the slope of log mean error in log n, with its bootstrap standard error over runs.

    `name` is the name of the column of errors.
    """
    sizes = rows.distinct("n")
    errors = np.array([rows.where(n=n)[name] for n in sizes])
    rng = np.random.default_rng(0)

    def fit(chosen: np.ndarray) -> float:
        return float(np.polyfit(np.log(sizes), np.log(chosen.mean(axis=1)), 1)[0])

    # Runs of different n are independent.
    again = [fit(np.array([rng.choice(row, len(row)) for row in errors])) for _ in range(400)]
    return fit(errors), float(np.std(again))


def judge(results: Results) -> list[Verdict]:
    table = results.tables["rates"]
    fits = {
        (eps, depth, levels): slope(table.where(depth=depth, n_alpha=levels), column(eps))
        for eps in EPS
        for depth in DEPTHS
        for levels in table.distinct("n_alpha")
    }
    fixed = results.tables["rates_percentiles"]
    grid = {
        (e, depth): slope(fixed.where(depth=depth, eps_min=e), "distance")
        for e in EPS_MIN
        for depth in DEPTHS
    }
    random_levels = [key for key in fits if key[2] != EXACT]
    sizes = table.distinct("n")

    def line(eps: float, depth: str) -> str:
        slopes = (fits[eps, depth, str(n_alpha)] for n_alpha in N_ALPHA)
        return f"eps={eps:g}, {depth}: " + ", ".join(f"{v:.2f} ± {e:.2f}" for v, e in slopes)

    def near(key: tuple[float, str, str], target: float, error: float = 0.0) -> bool:
        value, standard_error = fits[key]
        return bool(abs(value - target) <= max(SAME, 2 * float(np.hypot(standard_error, error))))

    def percentiles(eps_min: float) -> str:
        return ", ".join(
            f"{depth} {grid[eps_min, depth][0]:.2f} ± {grid[eps_min, depth][1]:.2f}"
            for depth in DEPTHS
        )

    return [
        Verdict(
            "The error falls like n^(-1/4).",
            f"slope in log-log scale, n from {sizes[0]:g} to {sizes[-1]:g}. Percentiles of the "
            f"authors' code, n_alpha = {N_PERCENTILES}: {percentiles(0.0)} with the whole hull "
            f"(eps_min = 0), {percentiles(0.1)} with eps_min = 0.1. Random levels of Algorithm 1, "
            f"n_alpha = {', '.join(map(str, N_ALPHA))}: "
            + "; ".join(line(eps, depth) for eps in EPS for depth in DEPTHS)
            + f". It holds only with the whole hull (called the same up to {SAME}).",
            outcome(
                [
                    *(abs(value - PUBLISHED) <= SAME for value, _ in grid.values()),
                    *(near(key, PUBLISHED) for key in random_levels),
                ]
            ),
        ),
        Verdict(
            "With exact levels the error falls as fast as with 100 random ones.",
            f"eps={SHOWN:g}, exact levels: "
            + "; ".join(
                "{}: {:.2f} ± {:.2f}, error at n={:g} {:.3f} against {:.3f} with 100".format(
                    depth,
                    *fits[SHOWN, depth, EXACT],
                    sizes[-1],
                    *(
                        table.where(depth=depth, n=sizes[-1], n_alpha=a)[column(SHOWN)].mean()
                        for a in (EXACT, 100)
                    ),
                )
                for depth in DEPTHS
            )
            + ".",
            outcome(
                near((eps, depth, EXACT), *fits[eps, depth, "100"])
                for eps in EPS
                for depth in DEPTHS
            ),
            source="isodepth",
        ),
    ]


def draw(results: Results) -> dict[str, Any]:
    from experiments.framework.figure import curve, legend_below, panels, ticks

    table = results.tables["rates"]
    figure, grid = panels(1, 2, sharey=True)
    for axes, depth in zip(grid[0], DEPTHS, strict=True):
        for levels in table.distinct("n_alpha"):
            rows = table.where(depth=depth, n_alpha=levels)
            name = "exact levels" if levels == EXACT else f"$n_\\alpha$ = {levels}"
            style: dict[str, Any] = {"color": "k", "ls": "--"} if levels == EXACT else {}
            curve(axes, rows, "n", column(SHOWN), name, **style)
        fixed = results.tables["rates_percentiles"]
        for e in EPS_MIN:
            rows = fixed.where(depth=depth, eps_min=e)
            curve(axes, rows, "n", "distance", f"percentiles from {e:g}", ls="--", marker="s")
        sizes = np.array(table.distinct("n"))
        start = table.where(depth=depth, n=sizes[0], n_alpha=EXACT)[column(SHOWN)].mean()
        for power, dashes in ((0.25, ":"), (0.5, "-.")):
            axes.plot(
                sizes, start * (sizes / sizes[0]) ** -power, color="0.5", ls=dashes,
                label=f"$n^{{-{power:g}}}$",
            )  # fmt: skip
        axes.set_yscale("log")
        ticks(axes, sizes.tolist())
        axes.set_title(f"{depth} depth, d = 2, eps = {SHOWN:g}")
        axes.set_xlabel("points in each sample n")
        axes.set_ylabel("distance of the samples (true value 0)")
        axes.tick_params(axis="y", which="both", labelleft=True)
    legend_below(figure, grid[0, 0], 6)
    return {"rates": figure}


EXPERIMENT = Experiment(
    name="rates",
    title="error against the sample size for two samples of the same distribution",
    sizes={
        "full": Settings(runs=10),
        "reduced": Settings(runs=10, K=2000, n=(100, 300, 1000, 3000)),
        "quick": Settings(runs=3, K=200, n=(50, 100, 200)),
    },
    parts=parts,
    judge=judge,
    draw=draw,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run with command-line arguments, by default `sys.argv[1:]`, and return the exit code."""
    return run_experiment(EXPERIMENT, arguments)
