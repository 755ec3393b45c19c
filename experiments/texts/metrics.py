"""All metrics of the experiments, by their names in the tables."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.texts import overlap_metrics as overlap
from experiments.texts.embedding_metrics import (
    BERTScore,
    MoverScore,
    mmd_score,
    sliced_wasserstein_score,
    wasserstein_score,
)
from isodepth import AIIRWDepth
from isodepth.text import DepthScore

#: Bandwidth that the tables of the paper suggest; the paper does not state it.
NARROW = 0.05
#: Number of directions of the variants of DR and of Sliced-W.
FEW = 1000


@dataclass(frozen=True)
class Contender:
    """Metric of one table row, created anew for each seed.

    Attributes
    ----------
    name : str
    make : function of a seed
    random : bool
        Whether the metric depends on the seed and is run several times.
    """

    name: str
    make: Callable[[int], Any]
    random: bool = False


def contenders(encoder: Any, model: str | None, layer: int | None) -> list[Contender]:
    """Return the metrics of the tables: DR, its variants and controls, and other metrics.

    All use the same encoder.
    """

    def dr(**settings: Any) -> Callable[[int], DepthScore]:
        return lambda seed: DepthScore(
            encoder, multi_ref="mean", random_state=seed, **{"n_jobs": None, **settings}
        )

    shrunk = AIIRWDepth(covariance="ledoit-wolf")
    return [
        Contender("DR", dr(), random=True),
        Contender("DR, q = 2", dr(q=2), random=True),
        Contender("DR, random directions", dr(gap="search", n_directions=FEW), random=True),
        Contender("DR, dual depth", dr(depth="dual")),
        Contender("DR, AI-IRW shrunk", dr(depth=shrunk, n_directions=FEW)),
        Contender("DR, random trimming", _randomly_trimmed(encoder), random=True),
        Contender("DR, no trimming", dr(depth=untrimmed)),
        Contender("W", lambda _: wasserstein_score(encoder)),
        Contender(
            "Sliced-W", lambda seed: sliced_wasserstein_score(encoder, FEW, seed), random=True
        ),
        Contender(f"MMD, width {NARROW}", lambda _: mmd_score(encoder, NARROW)),
        Contender("MMD, width 0.7", lambda _: mmd_score(encoder, 0.7)),
        Contender("BERTScore", lambda _: BERTScore(model, layer)),
        Contender("MoverScore", lambda _: MoverScore(encoder)),
        Contender("BLEU", lambda _: overlap.bleu()),
        Contender("chrF", lambda _: overlap.chrf()),
        Contender("TER", lambda _: overlap.ter()),
        Contender("ROUGE-1", lambda _: overlap.rouge("rouge1")),
        Contender("ROUGE-2", lambda _: overlap.rouge("rouge2")),
        Contender("ROUGE-L", lambda _: overlap.rouge("rougeL")),
        Contender("METEOR", lambda _: overlap.meteor()),
        Contender("JS-2", lambda _: overlap.js2()),
    ]


def untrimmed(points: np.ndarray) -> np.ndarray:
    """Return the depth 1 for every point, so that every region is the whole text."""
    return np.ones(len(points))


def _randomly_trimmed(encoder: Any) -> Callable[[int], DepthScore]:
    """Return a function of a seed that creates a control metric, which trims random tokens."""

    def make(seed: int) -> DepthScore:
        def lottery(points: np.ndarray) -> np.ndarray:
            # The seed depends only on the text, so a score does not depend on other texts.
            rng = np.random.default_rng([seed, zlib.crc32(points.tobytes())])
            return rng.random(len(points))

        return DepthScore(encoder, multi_ref="mean", depth=lottery)

    return make
