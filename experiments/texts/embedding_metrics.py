"""Metrics on token vectors: Wasserstein, sliced Wasserstein, MMD, MoverScore and BERTScore.

They are used like the metrics of `overlap_metrics`. An `encoder` maps texts to arrays of token
vectors of shape (tokens, width), such as :class:`isodepth.text.Encoder`.
"""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from sklearn.preprocessing import normalize

from experiments.baselines import mmd, random_directions, sliced_wasserstein, wasserstein
from isodepth.text import Encoder


class EmbeddingDistance:
    """Mean distance of the normalized token vectors of a candidate from those of its references.

    A text without tokens is represented by one zero vector.

    Parameters
    ----------
    encoder : callable
    distance : function of two arrays of shape (n, d) and (m, d)
    """

    higher_is_better = False

    def __init__(self, encoder: Any, distance: Callable[[np.ndarray, np.ndarray], float]) -> None:
        self.encoder, self.distance = encoder, distance

    def score(self, candidates: Sequence[str], references: Sequence[list[str]]) -> list[float]:
        """Return the distance of each candidate from its references. Lower is closer."""
        vectors = unit_vectors_of(self.encoder, candidates, references)
        return [
            float(np.mean([self.distance(vectors[text], vectors[other]) for other in group]))
            for text, group in zip(candidates, references, strict=True)
        ]


def wasserstein_score(encoder: Any) -> EmbeddingDistance:
    """Return the metric W_1."""
    return EmbeddingDistance(encoder, lambda x, y: wasserstein(x, y, p=1))


def sliced_wasserstein_score(
    encoder: Any, n_directions: int = 1000, random_state: int = 0
) -> EmbeddingDistance:
    """Return the metric sliced W_2, along directions common to all pairs."""

    def distance(x: np.ndarray, y: np.ndarray) -> float:
        width = x.shape[1]
        if width not in directions:
            directions[width] = random_directions(width, n_directions, random_state)
        return sliced_wasserstein(x, y, directions[width])

    directions: dict[int, np.ndarray] = {}
    return EmbeddingDistance(encoder, distance)


def mmd_score(encoder: Any, bandwidth: float) -> EmbeddingDistance:
    """Return the metric MMD with a Gaussian kernel of the given bandwidth.

    Distances between unit vectors are between 0 and 2.
    """
    return EmbeddingDistance(encoder, lambda x, y: mmd(x, y, bandwidth=bandwidth))


class MoverScore:
    """One minus W_1 between the weighted tokens of candidate and reference (Zhao et al. 2019).

    Tokens are unigrams, and their vectors have length one. The weight of a token is log((M + 1) /
    (df + 1)), where df is the number of texts that contain the token among the M candidates (for a
    candidate) or references (for a reference). If all weights of a text are zero, its tokens have
    equal weights. A text without tokens has the score 0. The nearest of several references is used.

    Parameters
    ----------
    encoder : callable with a method `token_ids` that returns the token numbers of each text
    """

    higher_is_better = True

    def __init__(self, encoder: Any) -> None:
        self.encoder = encoder

    def score(self, candidates: Sequence[str], references: Sequence[list[str]]) -> list[float]:
        """Return the similarity of each candidate to its nearest reference, at most 1."""
        vectors = unit_vectors_of(self.encoder, candidates, references)
        tokens = dict(zip(vectors, self.encoder.token_ids(list(vectors)), strict=True))
        rarity = inverse_frequencies(tokens[text] for text in candidates)
        rarity_of_references = inverse_frequencies(
            tokens[text] for group in references for text in group
        )

        def similarity(text: str, other: str) -> float:
            if not tokens[text] or not tokens[other]:
                return 0.0
            weights = (
                [rarity[token] for token in tokens[text]],
                [rarity_of_references[token] for token in tokens[other]],
            )
            masses = [w if any(w) else [1.0] * len(w) for w in weights]
            return 1.0 - wasserstein(vectors[text], vectors[other], p=1, weights=masses)

        return [
            max(similarity(text, other) for other in group)
            for text, group in zip(candidates, references, strict=True)
        ]


class BERTScore:
    """F1 of the authors' package (Zhang et al. 2020), without idf weights or rescaling.

    The best of several references is used. A pair with an empty text has the score 0.

    Parameters
    ----------
    model : str or None
        Name or folder, as in :class:`isodepth.text.Encoder`.
    layer : int or None
    """

    higher_is_better = True

    def __init__(self, model: str | None = None, layer: int | None = None) -> None:
        self.encoder = Encoder(model, layer)

    def score(self, candidates: Sequence[str], references: Sequence[list[str]]) -> list[float]:
        """Return the similarity of each candidate to its references. Higher is closer."""
        from bert_score import BERTScorer

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scorer = BERTScorer(
                model_type=self.encoder.path,
                num_layers=self.encoder._resolved_layer(),
                device=self.encoder._resolved_device(),
            )
            # The package fails on empty texts with current versions of transformers.
            scores = np.zeros(len(candidates))
            groups = [[text for text in group if text.strip()] for group in references]
            whole = [i for i, text in enumerate(candidates) if text.strip() and groups[i]]
            if whole:
                pairs = [candidates[i] for i in whole], [groups[i] for i in whole]
                scores[whole] = scorer.score(*pairs)[2].numpy()
        return scores.tolist()


def unit_vectors_of(
    encoder: Any, candidates: Sequence[str], references: Sequence[list[str]]
) -> dict[str, np.ndarray]:
    """Return the normalized token vectors of each distinct text."""
    texts = list(dict.fromkeys([*candidates, *(text for group in references for text in group)]))
    clouds = [np.asarray(vectors, dtype=np.float64) for vectors in encoder(texts)]
    width = max((vectors.shape[1] for vectors in clouds if vectors.size), default=1)
    zero = np.zeros((1, width))
    return {
        text: normalize(vectors) if vectors.size else zero
        for text, vectors in zip(texts, clouds, strict=True)
    }


def inverse_frequencies(texts: Iterable[Sequence[int]]) -> dict[int, float]:
    """Return log((M + 1) / (df + 1)) for each token, which occurs in df of M texts.

    Examples
    --------
    >>> weights = inverse_frequencies([[1, 2], [1, 3], [1]])
    >>> [round(weights[token], 3) for token in (1, 2)]
    [0.0, 0.693]
    """
    distinct = [set(text) for text in texts]
    frequency = Counter(token for text in distinct for token in text)
    return {
        token: math.log((len(distinct) + 1) / (count + 1)) for token, count in frequency.items()
    }
