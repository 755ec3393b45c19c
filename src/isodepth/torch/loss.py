"""DepthLoss: the distance as a module, for training."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from isodepth.data.seeds import integer_seed, rng_for
from isodepth.data.validation import check_boolean, check_integer
from isodepth.errors import InvalidOptionError
from isodepth.metric.base import BaseMetric
from isodepth.metric.docstrings import with_metric_options
from isodepth.torch.distance import distance, with_gradient


@with_metric_options(("refine", "random_state"))
class DepthLoss(torch.nn.Module):
    """The distance DR_{p,eps} of two samples as a loss.

    Parameters
    ----------
    resample : bool, default False
        Draw new directions at each call in training, so that many steps see more directions than
        one; the value of the loss is then comparable over many steps only. In evaluation the
        directions are always those of `seed`.
    seed : int, default 0
        Where directions come from. Those of the k-th call follow from `seed` and k alone; k is part
        of the state that `state_dict` holds, so that a training that is resumed goes on as it would
        have.
    q : float in [1, inf], default 2
        Power of the mean over directions. With 2 every direction pulls at rows of the samples; with
        inf only the largest gap of each level does, and few rows move.
    {options of Metric}

    Examples
    --------
    >>> import torch
    >>> from isodepth.torch import DepthLoss
    >>> X = torch.randn(200, 3, generator=torch.Generator().manual_seed(0)).requires_grad_()
    >>> loss = DepthLoss(depth="halfspace", eps=0.2, n_directions=100)
    >>> loss(X, X.detach() + 1.0).backward()
    >>> round(X.grad.sum(dim=0).norm().item(), 1)
    1.0
    """

    def __init__(self, *, resample: bool = False, seed: int = 0, **options: Any) -> None:
        super().__init__()
        self.resample = check_boolean(resample, "resample")
        self.seed = check_integer(seed, "seed", 0)
        if "random_state" in options:
            raise InvalidOptionError(
                f"the directions of a loss come from seed, got random_state="
                f"{options['random_state']!r}; give seed instead"
            )
        settings = {"q": 2, **options, "random_state": self.seed}
        self.metric = with_gradient(BaseMetric.from_options(settings))
        self.draws = 0

    @property
    def signature(self) -> str:
        """How its numbers are made; with `resample` the seed is that of the first call."""
        return self.metric.signature

    def forward(self, X: torch.Tensor, Y: torch.Tensor, weights: Any = None) -> torch.Tensor:
        """The distance of X (n, d) and Y (m, d), a tensor without dimensions."""
        metric = self.metric
        if self.resample and self.training:
            metric = replace(metric, random_state=self._seed_of(self.draws))
            self.draws += 1
        return distance(metric, X, Y, weights)

    def _seed_of(self, draw: int) -> int:
        """A seed for the directions of that call; those of the first are the fixed ones."""
        if draw == 0:
            return self.seed
        return integer_seed(rng_for(self.seed, "resampling", draw))

    def get_extra_state(self) -> dict[str, int]:
        """What `state_dict` keeps: how many times directions have been drawn."""
        return {"draws": self.draws}

    def set_extra_state(self, state: dict[str, int]) -> None:
        """Go on from there."""
        self.draws = state["draws"]

    def extra_repr(self) -> str:
        """What is shown between the parentheses."""
        return self.signature + (f", resample=True, draws={self.draws}" if self.resample else "")
