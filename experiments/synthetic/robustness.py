"""Relative error against the share of outliers, for DR and other distances (Figure 3).

There are 500 clean points per sample. Outliers are added up to the given share, in the first sample
only or in both. The relative error is |with - without| / without, on the same clean points.

The settings were chosen in advance. DR has the projection depth, p = 2, K = 1000 and exact levels.
SRW has k = 1 (k = 2 is W in the plane). RUOT has the rho for which 20% of the mass can be dropped,
like the middle eps of DR. ROBOT has lam = the squared length of the clean displacement, so a row is
not moved if its cost exceeds twice that of a clean row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments import baselines
from experiments.framework import Experiment, Part, Results, Streams, Table, Verdict, run_experiment
from experiments.framework.verdict import outcome
from isodepth import Metric

DATA = ("hypercube", "gaussian")
SIDES = ("one", "both")
EPS = (0.1, 0.2, 0.3)
DR = tuple(f"DR eps={eps}" for eps in EPS)
OTHERS = ("W", "Sliced-W", "SRW", "ROBOT", "RUOT")
ROBOT_LAM = {"hypercube": 8.0, "gaussian": 200.0}
DROPPED = 0.2
RUOT_RHO = DROPPED / (2 * (1 - DROPPED))
#: Maximum mean relative error that counts as robust.
ROBUST = 0.1


@dataclass(frozen=True)
class Settings:
    """Settings of the experiment: number of runs, clean points n, directions K, outlier shares."""

    runs: int
    n: int = 500
    K: int = 1000
    shares: tuple[float, ...] = (0.025, 0.05, 0.075, 0.1, 0.125, 0.15, 0.175, 0.2)


def clean_pair(data: str, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return two samples of n points each without outliers, of the data set `data`."""
    if data == "hypercube":
        X, Y = rng.uniform(-1, 1, (n, 2)), rng.uniform(-1, 1, (n, 2))
        return X, Y + 2 * np.sign(Y)
    return rng.standard_normal((n, 2)), rng.standard_normal((n, 2)) + 10


def outliers(data: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return n outliers (n, 2), uniform on the square that belongs to the data set `data`."""
    low, high = {"hypercube": (-4, 4), "gaussian": (-10, 20)}[data]
    return rng.uniform(low, high, (n, 2))


def contaminated_pair(
    data: str, n: int, share: float, sides: str, streams: Streams
) -> tuple[np.ndarray, np.ndarray]:
    """Return the two samples with the given share of outliers, in the first or in both (`sides`).

    The outliers of a smaller share are among those of a larger share. A curve of errors by share
    therefore belongs to one sample.
    """
    X, Y = clean_pair(data, n, streams.rng("clean", data))
    added = round(share / (1 - share) * n)
    most = n // 2
    if added:
        X = np.concatenate([X, outliers(data, most, streams.rng("out of X", data))[:added]])
    if added and sides == "both":
        Y = np.concatenate([Y, outliers(data, most, streams.rng("out of Y", data))[:added]])
    return X, Y


def parts(settings: Settings) -> list[Part]:
    def measure(condition: Any, streams: Streams) -> dict[str, list[float]]:
        data = condition["data"]
        X, Y = contaminated_pair(data, settings.n, condition["share"], condition["sides"], streams)
        K, seed = settings.K, streams.integer("directions")
        distances = {
            name: Metric(eps=eps, n_directions=K, random_state=seed).distance(X, Y)
            for name, eps in zip(DR, EPS, strict=True)
        }
        distances["W"] = baselines.wasserstein(X, Y)
        directions = baselines.random_directions(2, K, seed)
        distances["Sliced-W"] = baselines.sliced_wasserstein(X, Y, directions)
        distances["SRW"] = baselines.subspace_robust_wasserstein(X, Y, k=1)
        distances["ROBOT"] = baselines.robot(X, Y, lam=ROBOT_LAM[data])
        distances["RUOT"] = baselines.ruot(X, Y, rho=RUOT_RHO)
        return {name: [value] for name, value in distances.items()}

    conditions: list[dict[str, Any]] = []
    for data in DATA:
        conditions.append({"data": data, "share": 0.0, "sides": "none"})
        conditions += [
            {"data": data, "share": share, "sides": sides}
            for share in settings.shares
            for sides in SIDES
        ]
    names = (*DR, *OTHERS)
    return [Part("robustness", settings.runs, conditions, "method", names, ("distance",), measure)]


def relative_errors(table: Table) -> Table:
    """Return the rows of contaminated samples, with their relative errors as a column `error`.

    Errors are relative to the distance of the same samples without outliers.
    """
    pieces = []
    for data in DATA:
        for method in table.distinct("method"):
            rows = table.where(data=data, method=method)
            untouched = rows.where(sides="none")
            clean = dict(zip(untouched["run"], untouched["distance"], strict=True))
            base = np.array([clean[run] for run in rows["run"]])
            errors = np.abs(rows["distance"] - base) / base
            pieces.append({**rows.columns, "error": errors})
    joined = {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}
    kept = joined["sides"] != "none"
    return Table({name: column[kept] for name, column in joined.items()})


def judge(results: Results) -> list[Verdict]:
    errors = relative_errors(results.tables["robustness"])
    shares = errors.distinct("share")
    last = shares[-1]

    def mean(method: str, **where: Any) -> float:
        return float(errors.where(method=method, **where)["error"].mean())

    verdicts = []
    for data in DATA:
        wins, texts = [], []
        for sides in SIDES:
            for share in shares:
                where = {"data": data, "sides": sides, "share": share}
                best = min(mean(other, **where) for other in OTHERS)
                wins += [mean(method, **where) < best for method in DR]
            at_last = {"data": data, "sides": sides, "share": last}
            texts.append(
                f"outliers in {sides}: "
                + ", ".join(f"{m} {mean(m, **at_last):.1%}" for m in (*DR, *OTHERS))
            )
        verdicts.append(
            Verdict(
                f"{data.capitalize()}: from about 2.5% of outliers on, DR has a smaller relative "
                "error than W, Sliced-W, SRW, ROBOT and RUOT.",
                f"DR (three eps) beats the best of the others in {sum(wins)} of {len(wins)} cases "
                f"(share, eps, outliers in one sample or both). Mean errors at {last:.0%}, "
                + "; ".join(texts)
                + ".",
                outcome(wins),
            )
        )
    mean_errors = {
        (data, sides): errors.where(data=data, sides=sides, share=last, method=DR[0])["error"]
        for data in DATA
        for sides in SIDES
    }
    verdicts.append(
        Verdict(
            "DR with eps = 0.1 is robust to at least 20% of outliers.",
            f"relative error of DR eps=0.1 at {last:.0%}: "
            + "; ".join(
                f"{data}, outliers in {sides}: {e.mean():.1%} (25-75%: {np.quantile(e, 0.25):.1%} "
                f"to {np.quantile(e, 0.75):.1%})"
                for (data, sides), e in mean_errors.items()
            )
            + f" (called robust up to {ROBUST:.0%}).",
            outcome(e.mean() <= ROBUST for e in mean_errors.values()),
        )
    )
    return verdicts


def draw(results: Results) -> dict[str, Any]:
    from experiments.framework.figure import as_percent, curve, legend_below, panels

    errors = relative_errors(results.tables["robustness"])
    figure, grid = panels(2, 2)
    for row, sides in zip(grid, SIDES, strict=True):
        for axes, data in zip(row, DATA, strict=True):
            for method in errors.distinct("method"):
                rows = errors.where(data=data, sides=sides, method=method)
                style = "-" if method in DR else "--"
                curve(axes, rows, "share", "error", method, ls=style, band=method in DR)
            axes.set_title(f"{data}, outliers in {sides} of the samples")
            axes.set_xlabel("share of outliers")
            axes.xaxis.set_major_formatter("{x:.3g}")
            axes.set_ylabel("relative error")
            axes.set_yscale("log")
            as_percent(axes, 1)
    legend_below(figure, grid[0, 0], 4)
    return {"robustness": figure, "robustness_data": _draw_data(results)}


def _draw_data(results: Results) -> Any:
    from experiments.framework.figure import legend_below, panels

    streams = Streams(results.seed, "robustness", 0)
    n = results.settings.n
    figure, grid = panels(1, 2)
    for axes, data in zip(grid[0], DATA, strict=True):
        X, Y = contaminated_pair(data, n, 0.2, "both", streams)
        for points, color, name in ((X, "C0", "source"), (Y, "C1", "target")):
            axes.plot(*points[:n].T, ".", color=color, ms=4, label=name)
            axes.plot(*points[n:].T, "x", color=color, ms=4, label=f"outliers of the {name}, 20%")
        axes.set_title(data)
        axes.set_aspect("equal")
        axes.set_xlabel("first coordinate")
        axes.set_ylabel("second coordinate")
    legend_below(figure, grid[0, 0], 4)
    return figure


EXPERIMENT = Experiment(
    name="robustness",
    title="relative error against the share of outliers, DR and other distances",
    sizes={
        "full": Settings(runs=100),
        "reduced": Settings(runs=2, n=200, shares=(0.05, 0.1, 0.2)),
        "quick": Settings(runs=2, n=60, K=100, shares=(0.05, 0.2)),
    },
    parts=parts,
    judge=judge,
    draw=draw,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run with command-line arguments, by default `sys.argv[1:]`, and return the exit code."""
    return run_experiment(EXPERIMENT, arguments)
