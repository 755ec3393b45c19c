"""Verdicts on the statements of the paper about Table 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from experiments.framework import Results, Table, Verdict
from experiments.framework.verdict import mean_and_error, outcome
from experiments.images.spectral import MAIN

#: NMI and ARI in Table 1, without and with patches (whose size is not given).
PUBLISHED: dict[str, tuple[tuple[float, float], tuple[float, float]] | None] = {
    "DR": ((0.58, 0.43), (0.55, 0.42)),
    "W": ((0.50, 0.35), (0.48, 0.30)),
    "Sliced-W": ((0.55, 0.39), (0.47, 0.33)),
    "MMD": ((0.54, 0.37), (0.50, 0.36)),
    "Euclidean": ((0.50, 0.32), (0.48, 0.30)),
    "L1": None,
}
SCORES = ("nmi", "ari")
#: Maximum difference from a published score that counts as equal. Published scores are rounded,
#: come from one run, and use a graph that the paper does not describe.
SAME = 0.03
#: Scores of DR on clean images from an independent prototype.
EXPECTED = {"nmi": (0.58, 0.63), "ari": (0.38, 0.45)}


def values(table: Table, score: str, method: str, affinity: str = MAIN, **where: Any) -> np.ndarray:
    """Return the values of one score, such as "nmi", of one method: one value per run.

    `where` selects rows of the table by the values of other columns.
    """
    return table.where(method=method, **where)[f"{score}_{affinity}"]


def judge(results: Results) -> list[Verdict]:
    """Return verdicts on the statements of the paper about Table 1, and on those of isodepth."""
    seeds, blocks = results.tables["clustering_seeds"], results.tables["clustering_blocks"]
    dr = {
        (score, patch): values(seeds, score, "DR", pixels="nonzero", patch=patch)
        for score in SCORES
        for patch in (0, 5, 10)
    }

    def near(score: str, patch: int) -> bool:
        published = PUBLISHED["DR"]
        assert published is not None
        return abs(dr[score, patch].mean() - published[patch > 0][SCORES.index(score)]) <= SAME

    def reached(patches: tuple[int, ...]) -> str:
        return "; ".join(
            f"{score.upper()}{f', patch {patch}' if patch else ''}: "
            + mean_and_error(dr[score, patch], ".3f")
            for patch in patches
            for score in SCORES
        )

    others = [method for method, scores in PUBLISHED.items() if scores and method != "DR"]
    inside = [low <= dr[score, 0].mean() <= high for score, (low, high) in EXPECTED.items()]
    return [
        Verdict(
            "Spectral clustering with DR reaches an NMI of 0.58 and an ARI of 0.43.",
            f"{reached((0,))} (over seeds; the same: within {SAME}).",
            outcome(near(score, 0) for score in SCORES),
        ),
        Verdict(
            "With patches on 50 images it reaches an NMI of 0.55 and an ARI of 0.42.",
            f"{reached((5, 10))}.",
            outcome(near(score, patch) for score in SCORES for patch in (5, 10)),
        ),
        _outperforms(blocks, others, 0, "DR outperforms the other metrics without contamination."),
        _outperforms(blocks, others, 10, "DR outperforms the other metrics with contamination."),
        _loses_least(blocks, others),
        Verdict(
            "On nonzero pixels DR has an NMI of 0.58 to 0.63 and an ARI of 0.38 to 0.45.",
            f"{reached((0,))}.",
            outcome(inside),
            source="isodepth",
        ),
    ]


def _differences(
    others: list[str], difference: Callable[[str, str], np.ndarray]
) -> tuple[str, list[bool]]:
    """Compare DR with the methods `others` by differences of their scores over runs.

    `difference` returns the differences of two methods. Return a string with the mean differences,
    and whether each is significant: larger than two standard errors.
    """
    texts, clear = [], []
    for other in others:
        scores = []
        for score in SCORES:
            runs = difference(other, score)
            error = np.std(runs, ddof=1) / len(runs) ** 0.5 if len(runs) > 1 else np.inf
            scores.append(f"{score.upper()} {runs.mean():+.3f} ± {error:.3f}")
            clear.append(bool(runs.mean() > 2 * error))
        texts.append(f"{other}: {', '.join(scores)}")
    return "; ".join(texts), clear


def _outperforms(blocks: Table, others: list[str], patch: int, statement: str) -> Verdict:
    def difference(other: str, score: str) -> np.ndarray:
        return values(blocks, score, "DR", pixels="nonzero", patch=patch) - values(
            blocks, score, other, pixels="nonzero", patch=patch
        )

    text, clear = _differences(others, difference)
    return Verdict(
        statement,
        f"DR less the other, mean ± standard error over blocks: {text}. It is ahead by more than "
        f"two standard errors in {sum(clear)} of {len(clear)}.",
        outcome(clear),
    )


def _loses_least(blocks: Table, others: list[str]) -> Verdict:
    def lost(method: str, score: str) -> np.ndarray:
        return values(blocks, score, method, pixels="nonzero", patch=0) - values(
            blocks, score, method, pixels="nonzero", patch=10
        )

    text, clear = _differences(others, lambda other, score: lost(other, score) - lost("DR", score))
    losses = ", ".join(f"{score.upper()} {lost('DR', score).mean():.3f}" for score in SCORES)
    return Verdict(
        "Contamination affects DR less than the others.",
        f"DR loses {losses} by a patch of 10; additional loss of the others, mean ± standard error "
        f"over blocks: {text}. It is more by two standard errors in {sum(clear)} of {len(clear)}.",
        outcome(clear),
    )
