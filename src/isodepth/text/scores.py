"""Scores: what a text metric says about many texts, as the list it always was and as a result."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from isodepth.data.results import ResultMixin, plain


class Scores(list[float], ResultMixin):
    """One score a text: a list of floats that knows how they were made.

    Attributes
    ----------
    signature : str
    higher_is_better : bool

    Examples
    --------
    >>> from isodepth.text.scores import Scores
    >>> scores = Scores([0.5, 0.25], "DepthScore|...", False)
    >>> scores[1], scores.average
    (0.25, 0.375)
    >>> scores.to_dict()["scores"]
    [0.5, 0.25]
    """

    def __init__(
        self, values: Iterable[float] = (), signature: str = "", higher_is_better: bool = False
    ) -> None:
        super().__init__(values)
        self.signature = signature
        self.higher_is_better = higher_is_better

    @property
    def average(self) -> float:
        """The mean of all scores; NaN where there are none, or one is.

        Not `mean`: NumPy would take that for a method of arrays.
        """
        return sum(self) / len(self) if self else math.nan

    def to_dict(self) -> dict[str, Any]:
        """Scores, their mean, which way they go, and the signature."""
        return plain(
            {
                "scores": list(self),
                "mean": self.average,
                "higher_is_better": self.higher_is_better,
                "signature": self.signature,
            }
        )

    def _rows(self) -> dict[str, list[Any]]:
        return {"text": list(range(len(self))), "score": list(self)}

    def _heading(self) -> str:
        way = "higher" if self.higher_is_better else "lower"
        head = f"Scores of {len(self)} text(s): mean {self.average:.4g}, {way} is closer"
        return f"{head}\n{self.signature}"
