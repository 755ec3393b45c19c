"""Scores of texts: a list of floats with the result methods of the library."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from isodepth.data.results import ResultMixin, plain


class Scores(list[float], ResultMixin):
    """List with one score per text, and the settings that it was computed with.

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

    # Not called `mean`: numpy.mean(scores) would try to call an attribute of that name.
    @property
    def average(self) -> float:
        """Mean of all scores; NaN if the list is empty or contains NaN."""
        return sum(self) / len(self) if self else math.nan

    def to_dict(self) -> dict[str, Any]:
        """Return the scores, their mean, `higher_is_better` and the signature."""
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
        better = "higher" if self.higher_is_better else "lower"
        return (
            f"Scores of texts: mean {self.average:.4g} over {len(self)}, {better} is closer\n"
            f"{self.signature}"
        )
