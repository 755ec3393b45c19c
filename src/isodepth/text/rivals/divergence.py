"""JS-2: how different the bigrams of two texts are."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from isodepth.data.validation import check_choice
from isodepth.text.references import REDUCTIONS, check_texts, score_groups

_WORD = re.compile(r"\w+|[^\w\s]")


class JS2:
    """Jensen-Shannon divergence between the bigrams of two texts, in bits: 0 to 1, lower is closer.

    Texts are lower-cased; words and punctuation marks are tokens. A text of fewer than two tokens
    has no bigrams and is at 1 from all that have some (Lin et al. 2006).

    Parameters
    ----------
    multi_ref : {"best", "mean", "first"}

    Examples
    --------
    >>> from isodepth.text.rivals import JS2
    >>> JS2().score(["a b c", "a b c", "a b c"], ["A b c", "b c d", "x y"])
    [0.0, 0.5, 1.0]
    """

    name = "JS-2"
    higher_is_better = False

    def __init__(self, *, multi_ref: str = "best") -> None:
        self.multi_ref = check_choice(multi_ref, "multi_ref", REDUCTIONS)

    def score(
        self, candidates: Sequence[str], references: Sequence[str | Sequence[str]]
    ) -> list[float]:
        """Divergence of each candidate from its reference(s)."""
        texts, groups = check_texts(candidates, references)
        own = [_bigrams(text) for text in texts]

        def divergences(pairs: list[tuple[int, str]]) -> list[float]:
            return [_divergence(own[i], _bigrams(text)) for i, text in pairs]

        return score_groups(groups, divergences, self.multi_ref, self.higher_is_better)


def _bigrams(text: str) -> Counter[tuple[str, str]]:
    words = _WORD.findall(text.lower())
    return Counter(pairwise(words))


def _divergence(first: Counter[tuple[str, str]], second: Counter[tuple[str, str]]) -> float:
    if not first or not second:
        return float(bool(first) != bool(second))
    total = 0.0
    for counts in (first, second):
        whole = counts.total()
        for bigram, count in counts.items():
            share = count / whole
            middle = (first[bigram] / first.total() + second[bigram] / second.total()) / 2
            total += share * math.log2(share / middle) / 2
    return max(0.0, total)
