"""Numerical checks of every proposition of the paper, and counterexamples.

Each row of the CSV is one random case: a value and the limits that the statement sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.framework import Experiment, Part, Results, Streams, Table, Verdict, run_experiment
from experiments.framework.verdict import outcome
from experiments.synthetic.breakdown import EPS, breaking_numbers, clean_sample, far_points
from experiments.synthetic.proposition_checks import CHECKS, Case, Check, at_most
from isodepth import HalfspaceDepth
from isodepth.theory import breakdown_bound

#: Relative rounding error of a computation.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Settings:
    """Settings of the experiment: number of random cases per statement, and points n per sample."""

    runs: int
    n: int = 60


def breakdown(rng: np.random.Generator, n: int) -> Case:
    X = clean_sample("gaussian d=2", n, rng)
    depth = HalfspaceDepth(algorithm="exact").fit(X).depth_
    eps = float(rng.choice(EPS))
    broken = breaking_numbers(X, far_points(2, 4, rng))[eps]
    bound = breakdown_bound(X, eps, depth=depth, statement="paper")
    return at_most(bound, broken / (n + broken))


ALL = {
    check.name: check
    for check in (
        *CHECKS,
        Check(
            "breakdown",
            "The breakdown point is at least the stated share (Gaussian samples, d=2).",
            breakdown,
        ),
    )
}


def parts(settings: Settings) -> list[Part]:
    def measure(condition: Any, streams: Streams) -> dict[str, list[float]]:
        name = condition["check"]
        return {"case": list(map(float, ALL[name].draw(streams.rng(name), settings.n)))}

    conditions = [{"check": name} for name in ALL]
    values = ("value", "low", "high")
    return [Part("propositions", settings.runs, conditions, "kind", ("case",), values, measure)]


def violations(rows: Table) -> np.ndarray:
    """Return by how much each value is outside its limits, as a relative number; 0 if inside."""
    value, low, high = rows["value"], rows["low"], rows["high"]
    outside = np.maximum(np.maximum(low - value, value - high), 0.0)
    limits = np.where(np.isfinite(high), np.abs(high), np.abs(low))
    return outside / np.maximum(np.maximum(np.abs(value), limits), 1.0)


def judge(results: Results) -> list[Verdict]:
    table = results.tables["propositions"]
    verdicts = []
    for name, check in ALL.items():
        rows = table.where(check=name)
        wrong = violations(rows)
        kept = wrong <= ROUNDING
        text = f"held in {int(kept.sum())} of {len(kept)} cases"
        if not kept.all():
            worst = int(wrong.argmax())
            text += (
                f"; mean violation {wrong.mean():.2g}, largest {wrong[worst]:.2g} relative: "
                f"{rows['value'][worst]:.4g} where {_limits(rows, worst)} was stated"
            )
        else:
            text += f"; largest deviation {wrong.max():.1g} relative"
        verdicts.append(
            Verdict(f"{name}: {check.statement}", f"{text}.", outcome([bool(kept.all())]))
        )
    return verdicts


def _limits(rows: Table, at: int) -> str:
    low, high = float(rows["low"][at]), float(rows["high"][at])
    if low == high:
        return f"{low:.4g}"
    texts = {f"at least {low:.4g}": low, f"at most {high:.4g}": high}
    return " and ".join(text for text, limit in texts.items() if np.isfinite(limit))


def draw(results: Results) -> dict[str, Any]:
    from experiments.framework.figure import panels

    table = results.tables["propositions"]
    figure, grid = panels(1, 1, 8.5, 5.5)
    axes = grid[0, 0]
    rng = np.random.default_rng(0)
    for place, name in enumerate(ALL):
        wrong = violations(table.where(check=name))
        positive = np.maximum(wrong, 1e-17)
        heights = place + rng.uniform(-0.25, 0.25, len(positive))
        color = "C0" if (wrong <= ROUNDING).all() else "C3"
        axes.plot(positive, heights, ".", color=color, ms=5)
    axes.axvline(ROUNDING, color="k", ls="--", lw=1)
    axes.set_yticks(range(len(ALL)), list(ALL))
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlim(3e-18, 10)
    axes.set_xlabel("relative violation of each random case (10$^{-17}$: none; dashed: rounding)")
    axes.set_title("Propositions, and statements that do not hold as printed (red)")
    return {"propositions": figure}


EXPERIMENT = Experiment(
    name="propositions",
    title="every proposition of the paper, checked numerically",
    sizes={
        "full": Settings(runs=200),
        "reduced": Settings(runs=50),
        "quick": Settings(runs=2, n=30),
    },
    parts=parts,
    judge=judge,
    draw=draw,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run with command-line arguments, by default `sys.argv[1:]`, and return the exit code."""
    return run_experiment(EXPERIMENT, arguments)
