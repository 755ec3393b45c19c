"""Tests between metrics, choice of the default settings, and verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from experiments.framework.verdict import Verdict, outcome
from experiments.texts.corpus import CHOOSING, REPORTING
from experiments.texts.correlations import Agreement, hundredfold
from experiments.texts.human_correlation import permutation_test, williams_test
from experiments.texts.scoring import Scored

#: Settings among which the defaults of DepthScore were chosen, on one half of the texts.
CANDIDATES = (
    "DR",
    "DR, q = 2",
    "DR, random directions",
    "DR, dual depth",
    "DR, AI-IRW shrunk",
)
CONTROLS = ("DR, random trimming", "DR, no trimming")


def against(
    scored: Mapping[str, Scored], human: np.ndarray, others: Sequence[str], n_permutations: int
) -> str:
    """Compare DR with the metrics `others` by their absolute Pearson correlations with ratings.

    Return a Markdown table of the differences and their one-sided p-values.
    """
    lines = [
        "| DR against | system level | Williams p | permutation p | text level | permutation p |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    dr = scored["DR"].runs[0]
    for name in others:
        if name not in scored:
            continue
        other = scored[name].runs[0]
        williams = williams_test(dr, other, human)
        system, text = (
            permutation_test(dr, other, human, level, n_permutations)
            for level in ("system", "text")
        )
        lines.append(
            f"| {name} | {100 * system.statistic:+.1f} | {williams:.2f} | {system.pvalue:.2f} | "
            f"{100 * text.statistic:+.1f} | {text.pvalue:.3f} |"
        )
    return "\n".join(lines)


def halves(scored: Mapping[str, Scored], human: np.ndarray) -> str:
    """Return Pearson correlations of the metrics on two halves of the texts, as Markdown.

    The first half was used to choose the default settings, the second half was not. A cell has the
    mean over seeds and the range.
    """
    lines = [
        "| | choosing: system | text | reporting: system | text |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name in (*CANDIDATES, *CONTROLS):
        if name not in scored:
            continue
        cells = [name]
        for half in (CHOOSING, REPORTING):
            for level in ("system", "text"):
                runs = [
                    hundredfold(run[half], human[half], level, "pearson")
                    for run in scored[name].runs
                ]
                text = f"{np.mean(runs):.1f}"
                if len(runs) > 1:
                    text += f" ({min(runs):.1f} to {max(runs):.1f})"
                cells.append(text)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def controls(here: Mapping[str, Agreement], where: str = "") -> list[Verdict]:
    """Return a verdict on whether DR agrees better with ratings than its control metrics.

    Controls trim random tokens, or no tokens, instead of those of lowest depth. `where` starts the
    statement of the verdict.
    """
    there = [name for name in CONTROLS if name in here]
    if not there:
        return []
    return [
        Verdict(
            f"{where}trimming by depth is worth more than trimming at random, or not at all (r)",
            ", ".join(f"{name}: {here[name].means[0]:.1f}" for name in ("DR", *there)),
            outcome(here["DR"].means[0] > here[name].means[0] for name in there),
            "isodepth",
        )
    ]
