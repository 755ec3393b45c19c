"""Correlations of all metrics with all judgments, for tables and figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments.framework.table import text_of
from experiments.texts.human_correlation import bootstrap_interval, correlation
from experiments.texts.scoring import Scored

#: In the order of the paper.
COEFFICIENTS = ("pearson", "kendall", "spearman")

_COLUMNS = ("metric", "seed", "judgment", "level", "coefficient", "correlation", "low", "high")


@dataclass(frozen=True)
class Agreement:
    """Correlation of one metric with one judgment at one level, times 100.

    Scores are oriented so that larger is better. The correlation is negative if the metric orders
    in the wrong direction.

    Attributes
    ----------
    metric, judgment, level : str
    runs : tuple
        For each of the three coefficients, a tuple of one float per seed.
    interval : tuple of two floats
        95% bootstrap interval over texts of the Pearson correlation of the first run.
    """

    metric: str
    judgment: str
    level: str
    runs: tuple[tuple[float, ...], ...]
    interval: tuple[float, float]

    @property
    def means(self) -> list[float]:
        """Correlations, averaged over seeds, one for each of the three coefficients."""
        return [float(np.mean(values)) for values in self.runs]

    @property
    def spread(self) -> float:
        """Range of the Pearson correlation over seeds."""
        return max(self.runs[0]) - min(self.runs[0])


def hundredfold(run: np.ndarray, human: np.ndarray, level: str, coefficient: str) -> float:
    """Return the correlation of the scores `run` with human ratings, times 100.

    `level` and `coefficient` are those of `correlation`.
    """
    return 100 * correlation(run, human, level, coefficient)


def agreement(
    scored: Scored, judgment: str, human: np.ndarray, level: str, n_resamples: int
) -> Agreement:
    """Return the correlations of one metric with one judgment, at the level "text" or "system".

    `human` are the ratings for this judgment, and `scored` has the scores of the metric.
    """
    runs = tuple(
        tuple(hundredfold(run, human, level, c) for run in scored.runs) for c in COEFFICIENTS
    )
    low, high = bootstrap_interval(scored.runs[0], human, level, n_resamples)
    return Agreement(scored.name, judgment, level, runs, (100 * low, 100 * high))


def agreements(
    scored: Mapping[str, Scored],
    humans: Mapping[str, np.ndarray],
    levels: Sequence[str],
    n_resamples: int,
) -> list[Agreement]:
    """Return the agreements of every metric with every judgment at every level.

    `scored` has the scores by metric, and `humans` the ratings by judgment.
    """
    return [
        agreement(result, judgment, human, level, n_resamples)
        for level in levels
        for result in scored.values()
        for judgment, human in humans.items()
    ]


def by_metric(
    all_agreements: Sequence[Agreement], judgment: str, level: str
) -> dict[str, Agreement]:
    """Return the agreements with one judgment at one level, by metric."""
    return {a.metric: a for a in all_agreements if (a.judgment, a.level) == (judgment, level)}


def write_csv(all_agreements: Sequence[Agreement], path: Path) -> None:
    """Write the correlations to a CSV file.

    It has one line per metric, seed, judgment, level and coefficient. The interval is in the line
    of its coefficient and seed.
    """
    lines = [text_of(_COLUMNS)]
    for one in all_agreements:
        for coefficient, values in zip(COEFFICIENTS, one.runs, strict=True):
            for seed, value in enumerate(values):
                first = coefficient == "pearson" and seed == 0
                ends = one.interval if first else ("", "")
                lines.append(
                    text_of([one.metric, seed, one.judgment, one.level, coefficient, value, *ends])
                )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines), encoding="utf-8")
