"""DepthScore as a torchmetrics metric."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, Literal, TypedDict, Unpack

import torch
from torchmetrics import Metric
from torchmetrics.utilities import dim_zero_cat

from isodepth.base.options import Choice
from isodepth.text.score import DepthScore

__all__ = ["DepthScoreMetric"]


class ScoreMetricOptions(TypedDict, total=False):
    """Options of `DepthScore`, except `model` and `layer`, and of ``torchmetrics.Metric``."""

    depth: Any
    p: float
    q: float
    eps: float
    levels: Literal["exact"] | int
    n_directions: int | None
    gap: Literal["exact", "search"] | None
    refine: int
    multi_ref: Literal["mean", "min"]
    l2_normalize: bool
    empty: Literal["worst", "nan"]
    random_state: int
    n_jobs: int | None
    special_tokens: str
    max_length: int | None
    batch_size: int
    device: str | None
    dtype: str
    progress: bool | None
    compute_on_cpu: bool
    dist_sync_on_step: bool
    process_group: Any
    dist_sync_fn: Callable[..., Any] | None
    distributed_available_fn: Callable[..., Any] | None
    sync_on_compute: bool
    compute_with_cache: bool


class DepthScoreMetric(Metric):
    """DepthScore of texts, accumulated over batches and processes.

    This class needs ``pip install 'isodepth[torchmetrics]'``. The state is the list of all scores,
    which is concatenated across processes in the order of the processes. Up to rounding, the mean
    does not depend on the assignment of texts to processes.

    Parameters
    ----------
    model, layer
        As for :class:`isodepth.text.DepthScore`.
    reduction : {"mean", "none"}
        Return the mean of all scores, or all scores.
    **options
        Options of :class:`isodepth.text.DepthScore` and of ``torchmetrics.Metric``, such as
        ``dist_sync_on_step`` and ``sync_on_compute``.

    Examples
    --------
    >>> from isodepth.text.torchmetrics import DepthScoreMetric
    >>> def letters(texts):  # a toy encoder: each letter is a token in two dimensions
    ...     return [[[ord(c) % 7, ord(c) % 5] for c in text] for text in texts]
    >>> metric = DepthScoreMetric(letters, l2_normalize=False)
    >>> metric.update(["abc", "abd"], ["abc", "abd"])
    >>> metric.compute()
    tensor(0., dtype=torch.float64)
    """

    is_differentiable = False
    higher_is_better = False
    full_state_update = False
    plot_lower_bound = 0.0
    scores: list[torch.Tensor]

    def __init__(
        self,
        model: Any = None,
        layer: int | None = None,
        *,
        reduction: str = "mean",
        **options: Unpack[ScoreMetricOptions],
    ) -> None:
        score_options = {each.name for each in fields(DepthScore)}
        of_score = {name: value for name, value in options.items() if name in score_options}
        super().__init__(**{k: v for k, v in options.items() if k not in score_options})
        self.reduction = Choice(("mean", "none")).check("reduction", reduction)
        self.score = DepthScore(model, layer, **of_score)  # type: ignore[arg-type]
        self.add_state("scores", default=[], dist_reduce_fx="cat")

    def update(self, preds: Sequence[str], target: Sequence[str | Sequence[str]]) -> None:
        """Store the scores of the N texts `preds`.

        `target` has N entries, the reference or the list of references of each text.
        """
        scores = self.score.score(preds, target)
        self.scores.append(torch.tensor(scores.values, dtype=torch.float64, device=self.device))

    def compute(self) -> torch.Tensor:
        """Return the mean of all stored scores; all scores (N,) if ``reduction="none"``.

        A lower score means that a text is closer to its references.
        """
        scores = dim_zero_cat(self.scores)
        return scores.mean() if self.reduction == "mean" else scores
