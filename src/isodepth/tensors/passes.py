"""Implementation of the passes over tensors: operations of torch, or Triton kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from isodepth.tensors import gaps, ranks, spread


class Passes(NamedTuple):
    """Functions of `ranks`, `spread` and `gaps`, or kernels with the same results."""

    smallest_halfspace: Callable[..., torch.Tensor]
    largest_outlyingness: Callable[..., torch.Tensor]
    search_gaps: Callable[..., tuple[torch.Tensor, Any]]


PLAIN = Passes(ranks.smallest_halfspace, spread.largest_outlyingness, gaps.search_gaps)


#: Number of points from which kernels are faster than a full sort.
WORTH_KERNELS = 20_000


def passes_for(points: torch.Tensor, masses: torch.Tensor | None) -> Passes:
    """Return the passes for points (u, d) with these masses, depending on their device.

    Kernels for depths support single precision and equal masses only.
    """
    if points.device.type != "cuda":
        return PLAIN
    try:
        from isodepth.tensors.kernels import halfspace, middles, walk
    except ImportError:  # Triton is not installed
        return PLAIN
    chosen = PLAIN._replace(search_gaps=walk.search_gaps)
    if masses is None and points.dtype == torch.float32 and len(points) >= WORTH_KERNELS:
        chosen = chosen._replace(
            smallest_halfspace=halfspace.smallest_halfspace,
            largest_outlyingness=middles.largest_outlyingness,
        )
    return chosen
