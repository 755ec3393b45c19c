"""Metrics on strings: BLEU, chrF, TER (sacrebleu), ROUGE (rouge-score), METEOR (nltk), JS-2.

Every metric has `higher_is_better` and scores texts with ``score(candidates, references)``, where
`references` holds a list of references for each candidate; the result is a list of floats.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from scipy.spatial.distance import jensenshannon

Score = Callable[[str, list[str]], float]


class OverlapMetric:
    """Metric that scores one candidate at a time against its references."""

    def __init__(self, compare: Score, higher_is_better: bool = True) -> None:
        self.compare = compare
        self.higher_is_better = higher_is_better

    def score(self, candidates: Sequence[str], references: Sequence[list[str]]) -> list[float]:
        """Return the score of each candidate against its references."""
        return [float(self.compare(*pair)) for pair in zip(candidates, references, strict=True)]


def bleu() -> OverlapMetric:
    """Return sentence BLEU of sacrebleu, 0 to 100, with n-grams no longer than the candidate."""
    import sacrebleu

    return OverlapMetric(lambda *pair: sacrebleu.sentence_bleu(*pair).score)


def chrf() -> OverlapMetric:
    """Return the character n-gram F-score of sacrebleu, 0 to 100."""
    import sacrebleu

    return OverlapMetric(lambda *pair: sacrebleu.sentence_chrf(*pair).score)


def ter() -> OverlapMetric:
    """Return the translation edit rate of sacrebleu, in percent; smaller is better."""
    import sacrebleu

    return OverlapMetric(lambda *pair: sacrebleu.sentence_ter(*pair).score, higher_is_better=False)


def rouge(variant: str) -> OverlapMetric:
    """Return the F-measure of rouge-score with stemming, 0 to 1, of a variant such as "rougeL"."""
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer([variant], use_stemmer=True)
    return OverlapMetric(
        lambda candidate, group: scorer.score_multi(group, candidate)[variant].fmeasure
    )


def meteor(synonyms: bool = True) -> OverlapMetric:
    """Return METEOR of nltk, 0 to 1: words match if they, their stems or synonyms are equal."""
    from nltk.corpus import wordnet
    from nltk.tokenize import wordpunct_tokenize
    from nltk.translate.meteor_score import meteor_score

    known: Any = wordnet
    if synonyms:
        try:
            wordnet.ensure_loaded()
        except LookupError:
            synonyms = False
            warnings.warn(
                "METEOR goes without synonyms: there is no WordNet; nltk.download('wordnet') "
                "brings it",
                UserWarning,
                stacklevel=2,
            )
    if not synonyms:
        known = _NoSynonyms()

    def compare(candidate: str, group: list[str]) -> float:
        tokens = [wordpunct_tokenize(reference) for reference in group]
        return meteor_score(tokens, wordpunct_tokenize(candidate), wordnet=known)

    return OverlapMetric(compare)


class _NoSynonyms:
    """Replacement of WordNet without synonyms."""

    def synsets(self, word: str) -> list[Any]:
        return []


def js2() -> OverlapMetric:
    """Return the Jensen-Shannon divergence of bigrams from the nearest reference (Lin et al. 2006).

    The divergence is in bits. Texts are lower-cased, and words and punctuation marks are tokens. A
    text of fewer than two tokens has no bigrams, and its divergence from texts with bigrams is 1.

    Examples
    --------
    >>> scores = js2().score(["a b c", "a b c"], [["A b c", "x y"], ["b c d"]])
    >>> [round(score, 12) for score in scores]
    [0.0, 0.5]
    """
    return OverlapMetric(
        lambda candidate, group: min(_divergence(candidate, text) for text in group),
        higher_is_better=False,
    )


def _divergence(candidate: str, reference: str) -> float:
    first, second = (
        Counter(pairwise(re.findall(r"\w+|[^\w\s]", text.lower())))
        for text in (candidate, reference)
    )
    if not first or not second:
        return float(bool(first) != bool(second))
    bigrams = first.keys() | second.keys()
    counts = [[side[bigram] for bigram in bigrams] for side in (first, second)]
    return float(jensenshannon(*counts, base=2)) ** 2
