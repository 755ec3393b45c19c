"""DepthLoss: the distance as a module for training."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Unpack

import torch

from isodepth.base.declared import DISTANCE
from isodepth.base.options import UNLIMITED, Boolean, Integer, takes
from isodepth.base.seeds import rng_for
from isodepth.geometry.directions import integer_seed
from isodepth.metric.metric import Metric
from isodepth.metric.settings import LossOptions
from isodepth.metric.tensors import distance, with_gradient


@takes(DISTANCE.without("weights", "kinds", "refine"))
class DepthLoss(torch.nn.Module):
    """Distance DR_{p,eps} between the depth-trimmed regions of two samples, as a loss function.

    Parameters
    ----------
    resample : bool, default False
        Sample new directions at each call in training mode, so that training as a whole uses more
        directions than a single call. The loss of the same inputs then varies between calls. In
        evaluation mode the directions are always those of `random_state`.
    random_state : int, default 0
        Seed of the directions. With `resample` the directions of the k-th call in training mode
        depend on the seed and on k. `state_dict` contains the number of calls, so that a resumed
        training continues with the same directions.
    q : float in [1, inf], default inf
        Order of the mean over directions. With inf only the direction of the maximum gap at each
        level contributes to the gradient, which is sparse. With 2 every direction contributes,
        which is often better for training.
    gap : {"search", "exact"}, default "search"
        How to compute the gap of a level for q = inf. "search" takes the maximum over the
        directions, without refinement, which has no gradient. "exact" computes the Hausdorff
        distance of the convex hulls, for few points or few dimensions.
    {options}

    Examples
    --------
    >>> import torch
    >>> from isodepth.torch import DepthLoss
    >>> X = torch.randn(200, 3, generator=torch.Generator().manual_seed(0)).requires_grad_()
    >>> loss = DepthLoss(q=2, depth="halfspace", eps=0.2, n_directions=100)
    >>> loss(X, X.detach() + 1.0).backward()
    >>> X.grad.sum(dim=0).norm().item() > 0.9
    True
    """

    def __init__(
        self, *, resample: bool = False, random_state: int = 0, **options: Unpack[LossOptions]
    ) -> None:
        super().__init__()
        self.resample = Boolean().check("resample", resample)
        self.random_state = Integer(0, UNLIMITED).check("random_state", random_state)
        self.metric = with_gradient(Metric(**options, random_state=self.random_state))
        self.draws = 0

    @property
    def signature(self) -> str:
        """Settings of the distance as a string, with the seed `random_state`."""
        return self.metric.signature

    def forward(self, X: torch.Tensor, Y: torch.Tensor, *, weights: Any = None) -> torch.Tensor:
        """Return the distance of X (n, d) and Y (m, d) as a zero-dimensional tensor.

        `weights` is a pair with the weights of X and of Y, or None.
        """
        metric = self.metric
        if self.resample and self.training:
            metric = replace(metric, random_state=self._seed_of(self.draws))
            self.draws += 1
        return distance(metric, X, Y, weights)

    def _seed_of(self, draw: int) -> int:
        """Return the seed of call number `draw` in training mode; call 0 uses `random_state`."""
        if draw == 0:
            return self.random_state
        return integer_seed(rng_for(self.random_state, "resampling", draw))

    def get_extra_state(self) -> dict[str, int]:
        """Return the number of calls that sampled new directions, for `state_dict`."""
        return {"draws": self.draws}

    def set_extra_state(self, state: dict[str, int]) -> None:
        """Restore the number of calls that sampled new directions from `state_dict`."""
        self.draws = state["draws"]

    def extra_repr(self) -> str:
        """Return the settings as the string in the parentheses of `repr`."""
        return self.signature + (f", resample=True, draws={self.draws}" if self.resample else "")
