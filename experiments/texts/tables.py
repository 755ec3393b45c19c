"""Correlations of all contenders as Markdown tables, measured beside published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from experiments.texts.scoring import Scored
from isodepth.text.correlation import bootstrap_interval, correlation

#: In the order of the paper.
COEFFICIENTS = ("pearson", "kendall", "spearman")


def absolute(run: np.ndarray, human: np.ndarray, level: str, coefficient: str) -> float:
    """An absolute correlation, times 100."""
    return 100 * abs(correlation(run, human, level, coefficient))


def means(scored: Scored, human: np.ndarray, level: str) -> list[float]:
    """The three coefficients, averaged over seeds."""
    return [
        float(np.mean([absolute(run, human, level, c) for run in scored.runs]))
        for c in COEFFICIENTS
    ]


def spread(scored: Scored, human: np.ndarray, level: str, coefficient: str = "pearson") -> float:
    """The largest less the smallest over seeds."""
    found = [absolute(run, human, level, coefficient) for run in scored.runs]
    return max(found) - min(found)


def interval(
    scored: Scored, human: np.ndarray, level: str, n_resamples: int, coefficient: str = "pearson"
) -> tuple[float, float]:
    """Bootstrap interval over texts of the first run, as absolute values, times 100."""
    low, high = bootstrap_interval(
        scored.runs[0], human, level, coefficient, n_resamples=n_resamples
    )
    ends = sorted((100 * abs(low), 100 * abs(high)))
    return (ends[0], ends[1]) if low * high > 0 else (0.0, ends[1])


def correlation_table(
    scored: Mapping[str, Scored],
    humans: Mapping[str, np.ndarray],
    level: str,
    published: Mapping[str, Sequence[Sequence[float]]] | None,
    n_resamples: int,
) -> str:
    """A line for each contender: r, tau and rho for each judgement, published ones in brackets.

    Behind r stand the interval over texts and, of random metrics, the spread over seeds.
    """
    head = ["metric"]
    for criterion in humans:
        head += [f"{criterion.replace('_', ' ')}: r", "tau", "rho"]
    lines = [_row(head), _row(["---"] * len(head))]
    for name, result in scored.items():
        cells = [name]
        for place, human in enumerate(humans.values()):
            paper = (published or {}).get(paper_name(name))
            for at, value in enumerate(means(result, human, level)):
                text = f"{value:.1f}"
                if at == 0:
                    low, high = interval(result, human, level, n_resamples)
                    text += f" ({low:.0f} to {high:.0f})"
                    if len(result.runs) > 1:
                        text += f" ± {spread(result, human, level) / 2:.1f}"
                if paper is not None:
                    text += f" [{paper[place][at]:.1f}]"
                cells.append(text)
        lines.append(_row(cells))
    return "\n".join(lines)


def paper_name(name: str) -> str | None:
    """What a contender is called in the paper's table."""
    if name.startswith("DR,"):
        return None
    return "MMD" if name.startswith("MMD, width 0.05") else name


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
