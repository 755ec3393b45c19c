"""False alarms of monitors on streams without drift, and delays on streams with drift.

False alarms: every stream has its own reference, and none of its batches drifts. In the second
part, 5% of the rows of every batch are contaminated (far away, near, in the center or with a large
variance), and the monitor has a tolerance of 5%. Other rules are applied to -log p of single
batches of a monitor without tolerance: a test at 1% for every batch, three standard deviations
around the mean of the scores of clean batches, and ADWIN (river).

Delays: there is a shift or a change of scale at batch 100, or at batch 1500.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from experiments.framework import Experiment, Part, Results, Streams, Verdict, run_experiment
from experiments.framework.verdict import outcome
from isodepth import Monitor

CONTAMINATION = 0.05
#: ADWIN needs the package river, and is left out without it.
RULES = ("evidence", "1% each batch", "three sd", *(["ADWIN"] if find_spec("river") else []))
KINDS = ("far", "near", "center", "wide")
CHANGES = ("shift 0.5", "scale 1.3")


@dataclass(frozen=True)
class Settings:
    """Settings of the experiment.

    `runs`, `delay_runs` and `late_runs` are numbers of streams: without drift, with a change at
    batch `change`, and with a change at batch `late`. Streams without drift have `batches` batches.
    A batch has `rows` rows. Streams with a change end `patience` batches after the change.
    """

    runs: int
    delay_runs: int
    late_runs: int
    batches: int = 200
    rows: int = 200
    columns: int = 5
    reference: int = 26_000
    alpha: float = 0.05
    change: int = 100
    late: int = 1500
    #: Number of batches after a change that are checked.
    patience: int = 60


def contaminated_rows(kind: str, count: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Return contaminated rows (count, d) for a standard Gaussian sample.

    `kind` is the kind of contamination: far away, near, in the center, or with a large variance.
    """
    noise = rng.standard_normal((count, d))
    if kind == "wide":
        return 5 * noise
    away = {"far": 8.0, "near": 2.5, "center": 0.0}[kind]
    return 0.1 * noise + away * np.eye(d)[0]


def batch(settings: Settings, rng: np.random.Generator, kind: str | None = None) -> np.ndarray:
    """Return a batch, with a share of contaminated rows if `kind` is not None."""
    rows = rng.standard_normal((settings.rows, settings.columns))
    if kind is not None:
        count = round(CONTAMINATION * settings.rows)
        rows[:count] = contaminated_rows(kind, count, settings.columns, rng)
    return rows


def fresh_monitor(settings: Settings, tolerance: float, streams: Streams) -> Monitor:
    """Return a monitor with a new reference."""
    reference = streams.rng("reference").standard_normal((settings.reference, settings.columns))
    return Monitor(
        reference,
        alpha=settings.alpha,
        tolerance=tolerance,
        random_state=streams.integer("monitor"),
    )


# -- rules on scores ------------------------------------------------------------------------------


def first(alarms: Sequence[bool] | np.ndarray) -> float:
    """Return the number of the first batch with an alarm, from 1; inf without an alarm.

    `alarms` has one boolean per batch.
    """
    batches = np.flatnonzero(alarms)
    return float(batches[0] + 1) if len(batches) else math.inf


def three_deviations(clean: np.ndarray, scores: np.ndarray) -> float:
    """Return the first alarm of a limit of 3 standard deviations from the mean of clean scores."""
    return first(np.abs(scores - clean.mean()) > 3 * clean.std())


def one_percent(clean: np.ndarray, scores: np.ndarray) -> float:
    """Return the first alarm of a test at 1% for every score, by its rank among clean scores."""
    above = (clean[None, :] >= scores[:, None]).sum(axis=1)
    return first((1 + above) / (len(clean) + 1) <= max(0.01, 1 / (len(clean) + 1)))


def adaptive_window(clean: np.ndarray, scores: np.ndarray) -> float:
    """Return the first alarm of ADWIN, which is updated with the clean scores first."""
    from river.drift import ADWIN

    detector = ADWIN()
    for score in clean:
        detector.update(score)
    alarms = []
    for score in scores:
        detector.update(score)
        alarms.append(detector.drift_detected)
    return first(alarms)


# -- measurements -----------------------------------------------------------------------------


def false_alarms(
    settings: Settings, tolerance: float, streams: Streams
) -> Mapping[str, list[float]]:
    """Return for each rule the first batch with an alarm in a stream without drift, see `first`."""
    monitor = fresh_monitor(settings, tolerance, streams)
    untolerant = fresh_monitor(settings, 0.0, streams)
    kind = KINDS[streams.run % len(KINDS)] if tolerance else None

    def scores(name: str, kind: str | None) -> np.ndarray:
        rng = streams.rng(name)
        batches = (batch(settings, rng, kind) for _ in range(settings.batches))
        return np.array([-math.log(untolerant.check(rows).pvalue) for rows in batches])

    rng = streams.rng("batches")
    alarms = [monitor.check(batch(settings, rng, kind)).alarm for _ in range(settings.batches)]
    clean, tested = scores("clean batches", None), scores("batches", kind)
    others = {
        "1% each batch": one_percent,
        "three sd": three_deviations,
        "ADWIN": adaptive_window,
    }
    return {"evidence": [first(alarms)]} | {
        rule: [others[rule](clean, tested)] for rule in RULES[1:]
    }


def drifted(change: str, rows: np.ndarray) -> np.ndarray:
    """Return the rows of a batch after the change with the name `change`."""
    if change.startswith("shift"):
        return rows + 0.5 * np.eye(rows.shape[1])[0]
    return 1.3 * rows


def delay(settings: Settings, condition: Any, at: int, streams: Streams) -> dict[str, list[float]]:
    """Check one stream, and return the number of batches from its change to the first alarm.

    The stream changes after batch `at`. The number is negative or 0 for a false alarm, and inf
    without an alarm. `condition` has the tolerance of the monitor and the name of the change. The
    result has the single key "evidence".
    """
    tolerance = condition["tolerance"]
    monitor = fresh_monitor(settings, tolerance, streams)
    rng = streams.rng("batches")
    kind = KINDS[streams.run % len(KINDS)] if tolerance else None
    for number in range(1, at + settings.patience + 1):
        rows = batch(settings, rng)
        if number > at:
            rows = drifted(condition["change"], rows)
        if kind is not None:
            count = round(CONTAMINATION * settings.rows)
            rows[:count] = contaminated_rows(kind, count, settings.columns, rng)
        if monitor.check(rows).alarm:
            return {"evidence": [number - at]}
    return {"evidence": [math.inf]}


def parts(settings: Settings) -> list[Part]:
    def quiet(tolerance: float) -> Callable[[Any, Streams], Mapping[str, list[float]]]:
        return lambda condition, streams: false_alarms(settings, tolerance, streams)

    def changing(at: int) -> Callable[[Any, Streams], Mapping[str, list[float]]]:
        return lambda condition, streams: delay(settings, condition, at, streams)

    cases = [{"change": c, "tolerance": t} for c in CHANGES for t in (0.0, CONTAMINATION)]
    clean, contaminated = [{"contamination": 0.0}], [{"contamination": CONTAMINATION}]
    soon, late = changing(settings.change), changing(settings.late)
    return [
        Part("quiet_clean", settings.runs, clean, "rule", RULES, ("first",), quiet(0.0)),
        Part(
            "quiet_contaminated", settings.runs, contaminated, "rule", RULES, ("first",),
            quiet(CONTAMINATION),
        ),
        Part("delays", settings.delay_runs, cases, "rule", RULES[:1], ("delay",), soon),
        Part("late_delays", settings.late_runs, cases, "rule", RULES[:1], ("delay",), late),
    ]  # fmt: skip


def judge(results: Results) -> list[Verdict]:
    settings = results.settings
    verdicts = []
    for name, what in (
        ("quiet_clean", "clean streams"),
        ("quiet_contaminated", "5% contaminated rows"),
    ):
        table = results.tables[name]
        shares = {rule: np.isfinite(rows["first"]).mean() for rule, rows in table.groups("rule")}
        runs = len(table) // len(RULES)
        limit = settings.alpha + 2 * math.sqrt(settings.alpha * (1 - settings.alpha) / runs)
        verdicts.append(
            Verdict(
                f"Of {what} without drift at most {settings.alpha:.0%} ever raise an alarm.",
                f"{runs} streams of {settings.batches} batches: "
                + ", ".join(f"{rule} {share:.1%}" for rule, share in shares.items()),
                outcome([shares["evidence"] <= limit]),
                source="isodepth",
            )
        )
    for name, at, limit in (("delays", settings.change, 5), ("late_delays", settings.late, 8)):
        medians = {}
        for change, rows in results.tables[name].groups("change"):
            for tolerance, part in rows.groups("tolerance"):
                after = part["delay"][part["delay"] > 0]
                medians[change, tolerance] = float(np.median(after))
        verdicts.append(
            Verdict(
                f"A change at batch {at} is seen within {limit} batches (median).",
                ", ".join(f"{c} with tolerance {t}: {m:g}" for (c, t), m in medians.items()),
                outcome(median <= limit for median in medians.values()),
                source="isodepth",
            )
        )
    return verdicts


def draw(results: Results) -> dict[str, Any]:
    """Draw the share of streams without drift with an alarm up to each batch."""
    from experiments.framework.figure import as_percent, panels

    settings = results.settings
    figure, grid = panels(1, 2, sharey=True)
    at = np.arange(1, settings.batches + 1)
    titles = {"quiet_clean": "no contamination", "quiet_contaminated": "5% contaminated rows"}
    for axes, (name, title) in zip(grid[0], titles.items(), strict=True):
        for rule, rows in results.tables[name].groups("rule"):
            share = (rows["first"][:, None] <= at).mean(axis=0)
            label = "monitor" if rule == "evidence" else rule
            axes.plot(at, share, label=label, linewidth=2.5 if rule == "evidence" else 1.5)
        axes.axhline(settings.alpha, color="0.4", linestyle="--", linewidth=1)
        axes.set_title(title)
        axes.set_xlabel("batch")
        axes.set_ylim(0, 1.02)
        as_percent(axes)
    grid[0, 0].set_ylabel("streams with a false alarm")
    grid[0, 0].legend(frameon=False)
    return {"monitoring": figure}


EXPERIMENT = Experiment(
    name="monitoring",
    title="false alarms of monitors, and their delays after a change",
    sizes={
        "full": Settings(runs=2000, delay_runs=100, late_runs=20),
        "reduced": Settings(runs=50, delay_runs=10, late_runs=2, late=400),
        "quick": Settings(
            runs=2, delay_runs=1, late_runs=1, batches=10, reference=26_000, change=10, late=20
        ),
    },
    parts=parts,
    judge=judge,
    draw=draw,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run with command-line arguments, by default `sys.argv[1:]`, and return the exit code."""
    return run_experiment(EXPERIMENT, arguments)
