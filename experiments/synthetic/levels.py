"""Relative error against the number n_alpha of random levels, with exact levels as the limit.

X ~ N(0, S). Y is elliptical Cauchy, t_2 or Gaussian about (7, ..., 7) with the same scatter matrix
S, which is drawn from the Wishart distribution (d, I_d) in each run. n = 1000, K = 500 and eps =
0.1. The paper does not name the depth; here it is the halfspace depth, as in its Figure 1. Errors
are relative to |7_d|, as in the paper. `population` is the error of the distributions, which is 0
only for the Gaussian.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.framework import Experiment, Part, Results, Streams, Table, Verdict, run_experiment
from experiments.framework.verdict import REMARK, outcome, spread
from experiments.synthetic.distributions import distance_of_distributions, elliptical
from isodepth import Metric

SHIFT, EPS = 7.0, 0.1
DISTRIBUTIONS = ("cauchy", "t2", "gaussian")
N_ALPHA = (1, 2, 5, 10, 20, 50, 100, 200)
EXACT, REFINED, POPULATION = "exact", "exact, refined", "population"
#: Maximum mean difference from exact levels, relative to |7_d|, that counts as converged.
CONVERGED = 0.01
SMALL = 20


@dataclass(frozen=True)
class Settings:
    """Settings of the experiment: number of runs, points n, directions K, and dimensions d."""

    runs: int
    n: int = 1000
    K: int = 500
    d: tuple[int, ...] = (2, 3, 10)


def parts(settings: Settings) -> list[Part]:
    def measure(condition: Any, streams: Streams) -> dict[Any, list[float]]:
        distribution, d = condition["distribution"], condition["d"]
        rng = streams.rng("data", d)
        root = rng.standard_normal((d, d))
        X = elliptical("gaussian", settings.n, d, rng, root)
        Y = (
            elliptical(distribution, settings.n, d, streams.rng("data", d, distribution), root)
            + SHIFT
        )
        common: dict[str, Any] = {
            "depth": "halfspace", "eps": EPS, "random_state": streams.integer("directions", d),
        }  # fmt: skip
        exact = Metric(n_directions=settings.K, refine=0, **common)
        pair = exact.regions(X), exact.regions(Y)
        distances: dict[Any, float] = {
            n_alpha: Metric.paper(n_levels=n_alpha, n_directions=settings.K, **common)
            .with_directions(d)
            .distance(*pair)
            for n_alpha in N_ALPHA
        }
        refined = Metric(n_directions=settings.K, **common)
        for name, metric in ((EXACT, exact), (REFINED, refined)):
            distances[name] = metric.with_directions(d).distance(*pair)
        distances[POPULATION] = distance_of_distributions(
            "gaussian",
            distribution,
            np.full(d, SHIFT),
            p=2,
            eps=EPS,
            scatter=root @ root.T,
            levels=24,
        )
        return {name: [value / (SHIFT * d**0.5) - 1] for name, value in distances.items()}

    conditions = [
        {"distribution": distribution, "d": d} for distribution in DISTRIBUTIONS for d in settings.d
    ]
    names = (*N_ALPHA, EXACT, REFINED, POPULATION)
    return [Part("levels", settings.runs, conditions, "n_alpha", names, ("error",), measure)]


def scatter_of_levels(rows: Table, n_alpha: int) -> float:
    """Return the mean absolute difference between errors with random and with exact levels.

    `n_alpha` is the number of random levels. Errors are relative to |7_d|.
    """
    exact = rows.where(n_alpha=EXACT)["error"]
    return float(np.abs(rows.where(n_alpha=n_alpha)["error"] - exact).mean())


def converged_at(rows: Table) -> float:
    """Return the minimum number of random levels with errors close to those of exact levels."""
    far = [a for a in N_ALPHA if scatter_of_levels(rows, a) > CONVERGED]
    after = [a for a in N_ALPHA if not far or a > max(far)]
    return after[0] if after else np.inf


def judge(results: Results) -> list[Verdict]:
    table = results.tables["levels"]
    dimensions = [int(d) for d in table.distinct("d")]
    needed = {
        (distribution, d): converged_at(table.where(distribution=distribution, d=d))
        for distribution in DISTRIBUTIONS
        for d in dimensions
    }

    def line(distribution: str) -> str:
        return f"{distribution}: " + ", ".join(
            f"{needed[distribution, d]:g} (d={d})" if np.isfinite(needed[distribution, d])
            else f"more than {N_ALPHA[-1]} (d={d})"
            for d in dimensions
        )  # fmt: skip

    def at_small(distribution: str) -> str:
        return ", ".join(
            f"{scatter_of_levels(table.where(distribution=distribution, d=d), SMALL):.1%}"
            for d in dimensions
        )

    def value(distribution: str, d: int, name: str) -> str:
        return spread(table.where(distribution=distribution, d=d, n_alpha=name)["error"])

    last = dimensions[-1]
    return [
        Verdict(
            "DR converges slowly for the Cauchy distribution with growing n_alpha.",
            f"levels needed to be within {CONVERGED:.0%} of exact ones in the mean: "
            f"{line('cauchy')}, against {line('t2')}; {line('gaussian')}.",
            outcome(
                needed["cauchy", d] > max(needed["t2", d], needed["gaussian", d])
                for d in dimensions
            ),
        ),
        Verdict(
            "It converges with small n_alpha for the Gaussian and the t_2 distribution.",
            f"{line('gaussian')}; {line('t2')} (small: up to {SMALL}). With {SMALL} levels the "
            f"mean distance from exact ones is {at_small('gaussian')} (Gaussian) and "
            f"{at_small('t2')} (t_2), against {at_small('cauchy')} (Cauchy). What is left is not "
            f"the levels': with exact ones the error is {value('gaussian', last, EXACT)} for the "
            f"Gaussian in d={last}; with refined directions it is "
            f"{value('gaussian', last, REFINED)}.",
            outcome(
                needed[distribution, d] <= SMALL
                for distribution in ("gaussian", "t2")
                for d in dimensions
            ),
        ),
        Verdict(
            "The paper compares the Cauchy and the t_2 distribution with |7_d|, too.",
            "; ".join(
                f"{distribution}, d={d}: the distributions have "
                f"{value(distribution, d, POPULATION)}, exact refined samples "
                f"{value(distribution, d, REFINED)}"
                for distribution in ("cauchy", "t2")
                for d in dimensions
            )
            + ".",
            REMARK,
        ),
    ]


def draw(results: Results) -> dict[str, Any]:
    from experiments.framework.figure import as_percent, panels, ticks

    table = results.tables["levels"]
    figure, grid = panels(1, 3, 4.4, 4.2)
    for axes, distribution in zip(grid[0], DISTRIBUTIONS, strict=True):
        for number, (d, rows) in enumerate(table.where(distribution=distribution).groups("d")):
            color = f"C{number}"
            errors = {
                name: np.abs(rows.where(n_alpha=name)["error"]) for name in rows.distinct("n_alpha")
            }
            means = [errors[str(a)] for a in N_ALPHA]
            low, high = np.array([np.quantile(e, [0.25, 0.75]) for e in means]).T
            axes.plot(N_ALPHA, [e.mean() for e in means], "o-", ms=4, color=color, label=f"d={d:g}")
            axes.fill_between(N_ALPHA, low, high, color=color, alpha=0.15, linewidth=0)
            axes.axhline(errors[EXACT].mean(), color=color, ls="--", lw=1.2)
            axes.axhline(errors[REFINED].mean(), color=color, ls=":", lw=1.2)
        axes.set_yscale("log")
        ticks(axes, N_ALPHA)
        as_percent(axes, 1)
        axes.set_title({"t2": "Student $t_2$"}.get(distribution, distribution.capitalize()))
        axes.set_xlabel("random levels $n_\\alpha$")
        axes.set_ylabel("relative error, mean of absolute values")
        axes.legend(fontsize=8)
    figure.suptitle("dashed: exact levels; dotted: exact levels and refined directions")
    return {"levels": figure}


EXPERIMENT = Experiment(
    name="levels",
    title="relative error against the number of random levels",
    sizes={
        "full": Settings(runs=100),
        "reduced": Settings(runs=10),
        "quick": Settings(runs=3, n=200, K=100, d=(2, 3)),
    },
    parts=parts,
    judge=judge,
    draw=draw,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run with command-line arguments, by default `sys.argv[1:]`, and return the exit code."""
    return run_experiment(EXPERIMENT, arguments)
