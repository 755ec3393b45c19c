"""Verdicts on the statements of the paper about Table 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from experiments.framework import Results, Table, Verdict
from experiments.framework.verdict import mean_and_error, outcome
from experiments.images.spectral import GRAPHS, NEIGHBORS

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
#: The same for the table of all methods, whose published scores differ by 0.01 to 0.08.
SAME_TABLE = 0.04
#: Scores of DR on clean images from an independent prototype.
EXPECTED = {"nmi": (0.58, 0.63), "ari": (0.38, 0.45)}


def values(
    table: Table, score: str, method: str, affinity: str = NEIGHBORS, **where: Any
) -> np.ndarray:
    """Return the values of one score, such as "nmi", of one method: one value per run.

    `where` selects rows of the table by the values of other columns.
    """
    return table.where(method=method, **where)[f"{score}_{affinity}"]


def judge(results: Results) -> list[Verdict]:
    """Return verdicts on the statements of the paper about Table 1, and on those of isodepth."""
    seeds, blocks = results.tables["clustering_seeds"], results.tables["clustering_blocks"]
    others = [method for method, scores in PUBLISHED.items() if scores and method != "DR"]
    clean = [(method, 0) for method in ("DR", *others)]
    inside = [
        low <= _mean(seeds, "DR", 0, score, NEIGHBORS) <= high
        for score, (low, high) in EXPECTED.items()
    ]
    return [
        _reached(
            seeds,
            "Spectral clustering with DR reaches an NMI of 0.58 and an ARI of 0.43.",
            [("DR", 0)],
            SAME,
        ),
        _reached(
            seeds,
            "With patches on 50 images it reaches an NMI of 0.55 and an ARI of 0.42.",
            [("DR", 5), ("DR", 10)],
            SAME,
        ),
        _reached(
            seeds,
            "The five methods have the published scores without contamination.",
            clean,
            SAME_TABLE,
            " With bags of all 784 pixels W is L1, and has "
            + "; ".join(
                f"{_mean(seeds, 'L1', 0, 'nmi', affinity):.3f} / "
                f"{_mean(seeds, 'L1', 0, 'ari', affinity):.3f} ({graph})"
                for affinity, graph in GRAPHS.items()
            )
            + ".",
        ),
        _outperforms(blocks, others, 0, "DR outperforms the other metrics without contamination."),
        _outperforms(blocks, others, 10, "DR outperforms the other metrics with contamination."),
        _loses_least(blocks, others),
        Verdict(
            "On nonzero pixels DR has an NMI of 0.58 to 0.63 and an ARI of 0.38 to 0.45.",
            "; ".join(
                f"{score.upper()}: "
                + mean_and_error(values(seeds, score, "DR", pixels="nonzero", patch=0), ".3f")
                for score in SCORES
            )
            + " (neighbor graph).",
            outcome(inside),
            source="isodepth",
        ),
    ]


def _mean(seeds: Table, method: str, patch: int, score: str, affinity: str) -> float:
    runs = values(seeds, score, method, affinity, pixels="nonzero", patch=patch)
    return float(runs.mean())


def _reached(
    seeds: Table, statement: str, rows: list[tuple[str, int]], tolerance: float, note: str = ""
) -> Verdict:
    """Compare mean scores with published ones, for both graphs.

    `rows` has pairs of a method and the size of the patch. `note` ends the measured values.
    """
    texts, near = [], []
    for affinity, graph in GRAPHS.items():
        cells = []
        for method, patch in rows:
            published = PUBLISHED[method]
            assert published is not None
            means = [_mean(seeds, method, patch, score, affinity) for score in SCORES]
            near += [
                abs(mean - target) <= tolerance
                for mean, target in zip(means, published[patch > 0], strict=True)
            ]
            name = method + (f", patch {patch}" if patch else "")
            cells.append(f"{name} {means[0]:.3f} / {means[1]:.3f}")
        texts.append(f"{graph}: {', '.join(cells)}")
    return Verdict(
        statement,
        f"NMI / ARI, mean over seeds: {'; '.join(texts)}. Within {tolerance} in {sum(near)} of "
        f"{len(near)}.{note}",
        outcome(near),
    )


def _differences(
    others: list[str], difference: Callable[[str, str, str], np.ndarray]
) -> tuple[str, list[bool]]:
    """Compare DR with the methods `others` by differences of their scores over runs.

    `difference` returns the differences of a method, a score and an affinity. Return a string with
    the mean differences, and whether each is significant: larger than two standard errors.
    """
    texts, clear = [], []
    for affinity, graph in GRAPHS.items():
        cells = []
        for other in others:
            scores = []
            for score in SCORES:
                runs = difference(other, score, affinity)
                error = np.std(runs, ddof=1) / len(runs) ** 0.5 if len(runs) > 1 else np.inf
                scores.append(f"{score.upper()} {runs.mean():+.3f} ± {error:.3f}")
                clear.append(bool(runs.mean() > 2 * error))
            cells.append(f"{other} {', '.join(scores)}")
        texts.append(f"{graph}: {'; '.join(cells)}")
    return ". ".join(texts), clear


def _outperforms(blocks: Table, others: list[str], patch: int, statement: str) -> Verdict:
    def difference(other: str, score: str, affinity: str) -> np.ndarray:
        ours, theirs = (
            values(blocks, score, method, affinity, pixels="nonzero", patch=patch)
            for method in ("DR", other)
        )
        return ours - theirs

    text, clear = _differences(others, difference)
    return Verdict(
        statement,
        f"DR minus the other, mean ± standard error over blocks. {text}. It is ahead by more than "
        f"two standard errors in {sum(clear)} of {len(clear)}.",
        outcome(clear),
    )


def _loses_least(blocks: Table, others: list[str]) -> Verdict:
    def lost(method: str, score: str, affinity: str) -> np.ndarray:
        clean, patched = (
            values(blocks, score, method, affinity, pixels="nonzero", patch=patch)
            for patch in (0, 10)
        )
        return clean - patched

    text, clear = _differences(
        others,
        lambda other, score, affinity: lost(other, score, affinity) - lost("DR", score, affinity),
    )
    losses = "; ".join(
        f"{graph}: "
        + ", ".join(f"{score.upper()} {lost('DR', score, a).mean():.3f}" for score in SCORES)
        for a, graph in GRAPHS.items()
    )
    return Verdict(
        "Contamination affects DR less than the others.",
        f"DR loses by a patch of 10: {losses}. Additional loss of the others, mean ± standard "
        f"error over blocks. {text}. It is more by two standard errors in {sum(clear)} of "
        f"{len(clear)}.",
        outcome(clear),
    )
