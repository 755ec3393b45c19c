"""Accuracy of the supremum over directions in 2 to 200 dimensions.

Two Gaussian or two elliptical Cauchy samples of 1000 points, one shifted by 7 in every
coordinate: the distance of the distributions is |7_d| for both. Projection depth, eps = 0.3, p = 2.
Errors are relative to |7_d|. Also: the effect of the family of directions for d = 3..10, the
agreement of refined and exact suprema on random cases, and the cost of refinement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.baselines import max_sliced_wasserstein, random_directions
from experiments.framework import Experiment, Part, Results, Streams, Table, Verdict, run_experiment
from experiments.framework.verdict import mean_and_error, outcome, percent, spread
from experiments.synthetic.accuracy_parts import (
    DISTRIBUTIONS,
    EPS,
    FAMILIES,
    SHIFT,
    cases_part,
    cost_part,
    families_part,
    plane_part,
    shifted_pair,
)
from isodepth import Metric

PAPER, REFINED, EXACT, SLICED = "paper", "refined", "exact", "max-SW"
NAMES = (PAPER, *FAMILIES, REFINED, EXACT, SLICED)
ALLOWED = {"gaussian": 0.03, "cauchy": 0.05}
#: Maximum mean error that counts as stable quality.
STABLE = 0.05


@dataclass(frozen=True)
class Settings:
    """Settings of the experiment: numbers of runs, points n, dimensions d and directions K.

    Names that start with `family` are those of the comparison of families of directions.
    """

    runs: int
    n: int = 1000
    d: tuple[int, ...] = (2, 5, 10, 20, 50, 100, 200)
    K: tuple[int, ...] = (100, 1000)
    family_runs: int = 50
    family_d: tuple[int, ...] = (3, 4, 5, 6, 7, 8, 9, 10)
    cost_runs: int = 15
    cases: int = 200


def errors_part(settings: Settings) -> Part:
    def measure(condition: Any, streams: Streams) -> dict[str, list[float]]:
        distribution, d, K = condition["distribution"], condition["d"], condition["K"]
        X, Y = shifted_pair(distribution, settings.n, d, streams.rng("data", distribution, d))
        common: dict[str, Any] = {"eps": EPS, "random_state": streams.integer("directions", d, K)}
        plain = {
            family: Metric(n_directions=K, directions=family, refine=0, **common)
            for family in FAMILIES
        }
        # The same directions for the depth, so that these three differ only in the supremum.
        pair = plain["uniform"].regions(X), plain["uniform"].regions(Y)
        distances = {
            PAPER: Metric.paper(n_levels=20, n_directions=K, **common)
            .with_directions(d)
            .distance(*pair)
        }
        for family, metric in plain.items():
            distances[family] = metric.distance(X, Y)
        for name, options in ((REFINED, {}), (EXACT, {"gap": "exact"})):
            metric = Metric(n_directions=K, **options, **common)
            distances[name] = metric.with_directions(d).distance(*pair)
        distances[SLICED] = max_sliced_wasserstein(
            X, Y, random_directions(d, K, common["random_state"])
        )
        return {name: [value / (SHIFT * d**0.5) - 1] for name, value in distances.items()}

    conditions = [
        {"distribution": distribution, "d": d, "K": K}
        for distribution in DISTRIBUTIONS
        for d in settings.d
        for K in settings.K
    ]
    return Part("accuracy", settings.runs, conditions, "method", NAMES, ("error",), measure)


def parts(settings: Settings) -> list[Part]:
    most = max(settings.K)
    return [
        errors_part(settings),
        families_part(settings.family_runs, settings.n, settings.family_d, settings.K),
        plane_part(settings.family_runs, settings.n, most),
        cases_part(settings.cases),
        cost_part(settings.cost_runs, settings.n, [d for d in settings.d if d >= 10], settings.K),
    ]


def judge(results: Results) -> list[Verdict]:
    tables = results.tables
    return [
        *(_refined_verdict(tables["accuracy"], distribution) for distribution in DISTRIBUTIONS),
        _paper_verdict(tables["accuracy"]),
        _cost_verdict(tables["accuracy_cost"]),
        _cases_verdict(tables["accuracy_cases"]),
        _families_verdict(tables["accuracy_families"]),
        _plane_verdict(tables["accuracy_plane"]),
    ]


def _refined_verdict(table: Table, distribution: str) -> Verdict:
    means = {
        (int(d), int(K)): rows.where(method=REFINED)["error"]
        for d, at_d in table.where(distribution=distribution).groups("d")
        for K, rows in at_d.groups("K")
    }
    worst = max(means, key=lambda key: abs(means[key].mean()))
    exact = table.where(distribution=distribution, d=worst[0], K=worst[1], method=EXACT)["error"]
    return Verdict(
        f"{distribution.capitalize()}: the refined distance is within {ALLOWED[distribution]:.0%} "
        "of |7_d| at every d and K.",
        f"mean error of {len(means[worst])} seeds from "
        f"{percent(min(e.mean() for e in means.values()))} to "
        f"{percent(max(e.mean() for e in means.values()))}. Worst at d={worst[0]}, K={worst[1]}: "
        f"{spread(means[worst])}, where the exact supremum has {spread(exact)}.",
        outcome(abs(error.mean()) <= ALLOWED[distribution] for error in means.values()),
        source="isodepth",
    )


def _paper_verdict(table: Table) -> Verdict:
    most = max(table.distinct("K"))
    rows = table.where(distribution="gaussian", K=most, method=PAPER)
    return Verdict(
        "Approximation by random directions allows for stable estimation quality.",
        f"relative error of the paper's algorithm with K={most:g}, two Gaussians: "
        + "; ".join(f"d={d:g}: {spread(r['error'])}" for d, r in rows.groups("d"))
        + f" (called stable up to {STABLE:.0%}).",
        outcome(abs(r["error"].mean()) <= STABLE for _, r in rows.groups("d")),
    )


def cost_ratios(table: Table) -> dict[tuple[int, int], float]:
    """Return the relative time that refinement adds, by dimension d and number of directions K.

    Times are the minima over the runs.
    """
    ratios = {}
    for d, at_d in table.groups("d"):
        for K, rows in at_d.groups("K"):
            plain, refined = (
                rows.where(method=name)["seconds"].min() for name in ("unrefined", REFINED)
            )
            ratios[int(d), int(K)] = float((refined - plain) / plain)
    return ratios


def _cost_verdict(table: Table) -> Verdict:
    ratios = cost_ratios(table)
    return Verdict(
        "Refinement costs at most 1.0 times the unrefined distance at d >= 10.",
        "added time over unrefined time, minima, in turns, one thread: "
        + "; ".join(f"d={d}, K={K}: {ratio:.2f}" for (d, K), ratio in ratios.items())
        + ".",
        outcome(ratio <= 1.0 for ratio in ratios.values()),
        source="isodepth",
    )


def _cases_verdict(table: Table) -> Verdict:
    ratio = table["refined"] / table["exact"]
    near = float(np.mean(ratio >= 0.99))
    return Verdict(
        "Refined is within 1% of exact on 95% of random cases with d <= 20.",
        f"within 1% on {near:.1%} of {len(ratio)} cases; smallest ratio {ratio.min():.4f}, mean "
        f"{ratio.mean():.5f}, largest {ratio.max():.12g}.",
        outcome([near >= 0.95]),
        source="isodepth",
    )


def _families_verdict(table: Table) -> Verdict:
    texts, checks = [], []
    for K, at_K in table.groups("K"):
        dimensions = at_K.distinct("d")
        # Shortfall from the exact supremum, minus that of uniform directions on the same data.
        ahead = {
            family: np.array([
                at_K.where(d=d, family="uniform")["shortfall"]
                - at_K.where(d=d, family=family)["shortfall"]
                for d in dimensions
            ])
            for family in ("sobol", "orthogonal")
        }  # fmt: skip
        better = {family: (gain.mean(axis=1) > 0) for family, gain in ahead.items()}
        checks += list(better["sobol"] | better["orthogonal"])
        texts += [
            f"K={K:g}, {family}: better in {better[family].sum()} of {len(dimensions)} d, on "
            f"average by {mean_and_error(100 * gain.ravel(), '.2f')} points"
            for family, gain in ahead.items()
        ]
    return Verdict(
        "Sobol or orthogonal directions fall less short of the exact supremum than uniform ones at "
        "the same K, in d = 3..10.",
        f"{len(set(table['run']))} seeds; {'; '.join(texts)}; one of the two is better in "
        f"{sum(checks)} of {len(checks)} cases (d and K).",
        outcome(map(bool, checks)),
        source="isodepth",
    )


def _plane_verdict(table: Table) -> Verdict:
    equispaced = table.where(family="equispaced")["shortfall"]
    uniform = table.where(family="uniform")["shortfall"]
    return Verdict(
        "In d = 2, K = 1000 equispaced directions are within 0.01% of exact.",
        f"K={table['K'][0]:g}: mean shortfall {equispaced.mean():.6%}, largest "
        f"{equispaced.max():.6%}; uniform directions {mean_and_error(100 * uniform)}%.",
        outcome([bool(equispaced.max() <= 1e-4)]),
        source="isodepth",
    )


def draw(results: Results) -> dict[str, Any]:
    from experiments.synthetic.accuracy_figure import draw_errors, draw_families

    return {
        "accuracy": draw_errors(results.tables["accuracy"], NAMES),
        "accuracy_families": draw_families(results.tables["accuracy_families"]),
    }


EXPERIMENT = Experiment(
    name="accuracy",
    title="relative error of the supremum over directions, from 2 to 200 dimensions",
    sizes={
        "full": Settings(runs=20),
        "reduced": Settings(runs=4, family_runs=8, cost_runs=5, cases=40),
        "quick": Settings(
            runs=1, n=150, d=(2, 10), K=(50,), family_runs=2, family_d=(3, 5), cost_runs=1, cases=5
        ),
    },
    parts=parts,
    judge=judge,
    draw=draw,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run with command-line arguments, by default `sys.argv[1:]`, and return the exit code."""
    return run_experiment(EXPERIMENT, arguments)
