"""BERTScore, through the package of its authors."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from isodepth.data.extras import load_extra
from isodepth.data.validation import check_choice
from isodepth.text.encoding.encoder import Encoder
from isodepth.text.references import REDUCTIONS, check_texts, score_groups

PARTS = ("precision", "recall", "f1")


class BERTScore:
    """Each token matched with the most similar one of the other text (Zhang et al. 2020).

    Parameters
    ----------
    model : str or None
        Name or folder, as in :class:`isodepth.text.Encoder`.
    layer : int or None
    part : {"f1", "precision", "recall"}
    multi_ref : {"best", "mean", "first"}
    batch_size : int
    device : str or None

    Notes
    -----
    No idf weights and no rescaling. A pair with an empty text scores 0, as in the package.
    """

    name = "BERTScore"
    higher_is_better = True

    def __init__(
        self,
        model: str | None = None,
        layer: int | None = None,
        *,
        part: str = "f1",
        multi_ref: str = "best",
        batch_size: int = 32,
        device: str | None = None,
    ) -> None:
        self.encoder = Encoder(model, layer, batch_size=batch_size, device=device)
        self.part = check_choice(part, "part", PARTS)
        self.multi_ref = check_choice(multi_ref, "multi_ref", REDUCTIONS)
        self._scorer: Any = None

    def score(
        self, candidates: Sequence[str], references: Sequence[str | Sequence[str]]
    ) -> list[float]:
        """Similarity of each candidate to its reference(s): higher is closer."""
        texts, groups = check_texts(candidates, references)

        def similarities(pairs: list[tuple[int, str]]) -> np.ndarray:
            found = np.zeros(len(pairs))
            whole = [at for at, (i, text) in enumerate(pairs) if texts[i].strip() and text.strip()]
            if whole:
                parts = self._loaded().score(
                    [texts[pairs[at][0]] for at in whole], [pairs[at][1] for at in whole],
                    batch_size=self.encoder.batch_size,
                )  # fmt: skip
                found[whole] = parts[PARTS.index(self.part)].numpy()
            return found

        return score_groups(groups, similarities, self.multi_ref, self.higher_is_better)

    def _loaded(self) -> Any:
        if self._scorer is None:
            bert_score = load_extra("bert_score", "text", "BERTScore")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._scorer = bert_score.BERTScorer(
                    model_type=self.encoder.path,
                    num_layers=self.encoder.checked_layer(),
                    device=self.encoder.place(),
                )
        return self._scorer
