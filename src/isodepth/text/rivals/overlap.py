"""Overlap of strings: BLEU, chrF, TER (sacrebleu) and ROUGE (rouge-score)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from isodepth.data.extras import load_extra
from isodepth.data.validation import check_choice
from isodepth.text.references import check_texts

VARIANTS = ("rouge1", "rouge2", "rougeL")


class _Overlap:
    """Scores one candidate at a time against all its references."""

    name: str
    higher_is_better = True

    def score(
        self, candidates: Sequence[str], references: Sequence[str | Sequence[str]]
    ) -> list[float]:
        """Score of each candidate against its reference(s)."""
        texts, groups = check_texts(candidates, references)
        return [float(self._one(text, group)) for text, group in zip(texts, groups, strict=True)]

    def _one(self, candidate: str, references: list[str]) -> float:
        raise NotImplementedError


class BLEU(_Overlap):
    """Sentence BLEU of sacrebleu, 0 to 100, with n-grams no longer than the candidate."""

    name = "BLEU"

    def _one(self, candidate: str, references: list[str]) -> float:
        return _module("sacrebleu").sentence_bleu(candidate, references).score


class ChrF(_Overlap):
    """Character n-gram F-score of sacrebleu, 0 to 100."""

    name = "chrF"

    def _one(self, candidate: str, references: list[str]) -> float:
        return _module("sacrebleu").sentence_chrf(candidate, references).score


class TER(_Overlap):
    """Translation edit rate of sacrebleu, in percent: lower is closer."""

    name = "TER"
    higher_is_better = False

    def _one(self, candidate: str, references: list[str]) -> float:
        return _module("sacrebleu").sentence_ter(candidate, references).score


class ROUGE(_Overlap):
    """F-measure of rouge-score with stemming, 0 to 1; of several references the best.

    Parameters
    ----------
    variant : {"rouge1", "rouge2", "rougeL"}
    """

    def __init__(self, variant: str = "rouge1") -> None:
        self.variant = check_choice(variant, "variant", VARIANTS)
        self.name = f"ROUGE-{variant[-1]}"
        self._scorer: Any = None

    def _one(self, candidate: str, references: list[str]) -> float:
        if self._scorer is None:
            scorer = _module("rouge_score.rouge_scorer")
            self._scorer = scorer.RougeScorer([self.variant], use_stemmer=True)
        return self._scorer.score_multi(references, candidate)[self.variant].fmeasure


def _module(name: str) -> Any:
    return load_extra(name, "text", "this metric")
