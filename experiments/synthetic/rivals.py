"""Relative error against the share of outliers, for DR and robust transport of 2022 and 2025.

The samples are those of `robustness`. The rivals are the robust Wasserstein distance W_2^eps of
Nietert et al. (2022), which leaves a share eps of the mass of each sample unmatched, with the same
eps as DR, and sliced unbalanced transport (Bonet et al. 2025). Both are those of POT. Unbalanced
transport has no eps: its penalty is the squared length of the clean displacement, like the
parameter of ROBOT.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from experiments import baselines
from experiments.framework import Experiment, Part, Results, Streams, Verdict, run_experiment
from experiments.framework.verdict import outcome
from experiments.synthetic.robustness import (
    DATA,
    DR,
    EPS,
    ROBOT_LAM,
    SIDES,
    contaminated_pair,
    relative_errors,
)
from isodepth import Metric

PARTIAL = tuple(f"W^eps eps={eps}" for eps in EPS)
SLICED = "Sliced unbalanced"


@dataclass(frozen=True)
class Settings:
    """Settings of the experiment: runs, clean points n, directions K, and shares of outliers.

    `slices` is the number of directions of sliced unbalanced transport.
    """

    runs: int
    n: int = 500
    K: int = 1000
    slices: int = 100
    shares: tuple[float, ...] = (0.05, 0.1, 0.2)


def parts(settings: Settings) -> list[Part]:
    def measure(condition: Any, streams: Streams) -> dict[str, list[float]]:
        data = condition["data"]
        same = Streams(streams.seed, "robustness", streams.run)
        X, Y = contaminated_pair(data, settings.n, condition["share"], condition["sides"], same)
        seed = same.integer("directions")
        distances = {
            name: Metric(eps=eps, n_directions=settings.K, random_state=seed).distance(X, Y)
            for name, eps in zip(DR, EPS, strict=True)
        }
        for name, eps in zip(PARTIAL, EPS, strict=True):
            distances[name] = baselines.partial_wasserstein(X, Y, eps)
        directions = baselines.random_directions(2, settings.slices, seed)
        distances[SLICED] = baselines.sliced_unbalanced(X, Y, ROBOT_LAM[data], directions)
        return {name: [value] for name, value in distances.items()}

    conditions: list[dict[str, Any]] = []
    for data in DATA:
        conditions.append({"data": data, "share": 0.0, "sides": "none"})
        conditions += [
            {"data": data, "share": share, "sides": sides}
            for share in settings.shares
            for sides in SIDES
        ]
    names = (*DR, *PARTIAL, SLICED)
    return [Part("rivals", settings.runs, conditions, "method", names, ("distance",), measure)]


def judge(results: Results) -> list[Verdict]:
    errors = relative_errors(results.tables["rivals"])
    last = errors.distinct("share")[-1]
    verdicts = []
    for data in DATA:
        rows = errors.where(data=data)

        def error(name: str, share: float, sides: str, rows: Any = rows) -> float:
            return float(rows.where(method=name, share=share, sides=sides)["error"].mean())

        cases = [(share, sides) for share in errors.distinct("share") for sides in SIDES]
        better = [
            error(ours, *case) < error(theirs, *case)
            for ours, theirs in zip(DR, PARTIAL, strict=True)
            for case in cases
        ]
        at_last = "; ".join(
            f"outliers in {sides}: "
            + ", ".join(
                f"{name} {error(name, last, sides):.1%}" for name in (*DR, *PARTIAL, SLICED)
            )
            for sides in SIDES
        )
        verdicts.append(
            Verdict(
                f"{data}: DR has a smaller relative error than W_2^eps with the same eps.",
                f"in {sum(better)} of {len(better)} cases (share, eps, outliers in one sample or "
                f"both). Mean errors at {last:.0%}, {at_last}.",
                outcome(better),
                source="isodepth",
            )
        )
    return verdicts


def draw(results: Results) -> dict[str, Any]:
    from experiments.framework.figure import as_percent, curve, legend_below, panels

    errors = relative_errors(results.tables["rivals"])
    figure, grid = panels(len(DATA), len(SIDES), sharey="row")
    for row, data in enumerate(DATA):
        for column, sides in enumerate(SIDES):
            axes = grid[row, column]
            here = errors.where(data=data, sides=sides)
            for number, (ours, theirs) in enumerate(zip(DR, PARTIAL, strict=True)):
                color = f"C{number}"
                curve(axes, here.where(method=ours), "share", "error", ours, color=color)
                curve(
                    axes, here.where(method=theirs), "share", "error", theirs, color=color, ls="--"
                )
            curve(axes, here.where(method=SLICED), "share", "error", SLICED, color="k", ls=":")
            axes.set_title(f"{data}, outliers in {sides}")
            axes.set_xlabel("share of outliers")
            as_percent(axes)
    legend_below(figure, grid[0, 0], 4)
    return {"rivals": figure}


EXPERIMENT = Experiment(
    name="rivals",
    title="relative error of robust transport against the share of outliers",
    sizes={
        "full": Settings(runs=20),
        "reduced": Settings(runs=3, n=200),
        "quick": Settings(runs=2, n=60, K=100, slices=20, shares=(0.05, 0.2)),
    },
    parts=parts,
    judge=judge,
    draw=draw,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run with command-line arguments, by default `sys.argv[1:]`, and return the exit code."""
    return run_experiment(EXPERIMENT, arguments)
