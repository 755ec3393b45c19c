"""Correlations of all metrics as Markdown tables, with published values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from experiments.texts.correlations import Agreement, by_metric


def correlation_table(
    found: Sequence[Agreement],
    level: str,
    published: Mapping[str, Mapping[str, Sequence[float]]] | None,
) -> str:
    """Return the correlations at one level as a Markdown table with one line per metric.

    A line has r, tau and rho for each judgment, with published values in brackets. r is followed by
    its interval over texts and, for random metrics, half the range over seeds. `level` is "text" or
    "system".

    Parameters
    ----------
    found : all agreements; those of other levels are left out
    published : the paper's cells by judgment and metric, or None
    """
    here = [one for one in found if one.level == level]
    judgments = list(dict.fromkeys(one.judgment for one in here))
    head = ["metric"]
    for judgment in judgments:
        head += [f"{judgment.replace('_', ' ')}: r", "tau", "rho"]
    lines = [_row(head), _row(["---"] * len(head))]
    for name in dict.fromkeys(one.metric for one in here):
        cells = [name]
        for judgment in judgments:
            paper = published[judgment].get(paper_name(name)) if published else None
            cells += _cells(by_metric(here, judgment, level)[name], paper)
        lines.append(_row(cells))
    return "\n".join(lines)


def paper_name(name: str) -> str:
    """Return the name of a metric in the table of the paper, or None if it is not in the table."""
    return "MMD" if name == "MMD, width 0.05" else name


def _cells(one: Agreement, paper: Sequence[float] | None) -> list[str]:
    texts = [f"{value:.1f}" for value in one.means]
    texts[0] += f" ({one.interval[0]:.0f} to {one.interval[1]:.0f})"
    if len(one.runs[0]) > 1:
        texts[0] += f" ± {one.spread / 2:.1f}"
    if paper is not None:
        texts = [f"{text} [{cell:.1f}]" for text, cell in zip(texts, paper, strict=True)]
    return texts


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
