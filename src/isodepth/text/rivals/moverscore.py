"""MoverScore: optimal transport between tokens that count the more the rarer they are."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from isodepth.baselines import wasserstein
from isodepth.data.validation import check_choice
from isodepth.errors import InvalidOptionError
from isodepth.text.clouds import embed
from isodepth.text.encoding.encoder import Encoder
from isodepth.text.references import REDUCTIONS, check_texts, score_groups


class MoverScore:
    """One minus the transport cost between candidate and reference (Zhao et al. 2019).

    Tokens are unigrams, their vectors have length one, and the cost is the Euclidean distance.
    Each token weighs log((M + 1) / (df + 1)), df the number of texts among the M candidates (for
    a candidate) or references (for a reference) that contain it: unlike the other metrics, a score
    depends on the collection. Where all weights of a text vanish its tokens weigh the same. A text
    without tokens scores 0.

    Parameters
    ----------
    encoder : Encoder, RememberingEncoder or None
        It must know the numbers of its tokens (a method `tokens`).
    multi_ref : {"best", "mean", "first"}
    """

    name = "MoverScore"
    higher_is_better = True

    def __init__(self, encoder: Any = None, *, multi_ref: str = "best") -> None:
        self.encoder = Encoder() if encoder is None else encoder
        if not hasattr(self.encoder, "tokens"):
            raise InvalidOptionError(
                "MoverScore weighs tokens by how rare they are, so its encoder needs a method "
                f"tokens(texts) that gives their numbers; {type(self.encoder).__name__} has none"
            )
        self.multi_ref = check_choice(multi_ref, "multi_ref", REDUCTIONS)

    def score(
        self, candidates: Sequence[str], references: Sequence[str | Sequence[str]]
    ) -> list[float]:
        """Similarity of each candidate to its reference(s), at most 1: higher is closer."""
        texts, groups = check_texts(candidates, references)
        whole = list(dict.fromkeys([*texts, *(text for group in groups for text in group)]))
        clouds = embed(self.encoder, whole)
        tokens = dict(zip(whole, self.encoder.tokens(whole), strict=True))
        rarity = inverse_frequencies(tokens[text] for text in texts)
        rarity_of_references = inverse_frequencies(
            tokens[text] for group in groups for text in group
        )

        def similarities(pairs: list[tuple[int, str]]) -> list[float]:
            return [
                _similarity(
                    clouds[texts[i]],
                    clouds[text],
                    [rarity[token] for token in tokens[texts[i]]],
                    [rarity_of_references[token] for token in tokens[text]],
                )
                for i, text in pairs
            ]

        return score_groups(groups, similarities, self.multi_ref, self.higher_is_better)


def inverse_frequencies(texts: Iterable[Sequence[int]]) -> dict[int, float]:
    """log((M + 1) / (df + 1)) of each token that occurs in df of M texts.

    Examples
    --------
    >>> from isodepth.text.rivals.moverscore import inverse_frequencies
    >>> weights = inverse_frequencies([[1, 2], [1, 3], [1]])
    >>> [round(weights[token], 3) for token in (1, 2)]
    [0.0, 0.693]
    """
    counted = [set(text) for text in texts]
    frequency = Counter(token for text in counted for token in text)
    return {token: math.log((len(counted) + 1) / (count + 1)) for token, count in frequency.items()}


def _similarity(x: Any, y: Any, a: Sequence[float], b: Sequence[float]) -> float:
    if not len(a) or not len(b):
        return 0.0
    weights = [w if any(w) else [1.0] * len(w) for w in (a, b)]
    return 1.0 - wasserstein(_unit(x), _unit(y), p=1, weights=weights)


def _unit(vectors: Any) -> np.ndarray:
    exact = np.asarray(vectors, dtype=np.float64)
    lengths = np.linalg.norm(exact, axis=1, keepdims=True)
    return np.divide(exact, lengths, out=exact.copy(), where=lengths > 0)
