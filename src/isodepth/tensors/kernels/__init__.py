"""Passes over tensors: operations of torch, or Triton kernels with the same results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from isodepth.tensors import gaps, ranks, spread

#: Number of points from which kernels are faster than a full sort.
WORTH_KERNELS = 20_000


class Passes(NamedTuple):
    """Functions of `ranks`, `spread` and `gaps`, or kernels with the same results."""

    smallest_halfspace: Callable[..., torch.Tensor]
    largest_outlyingness: Callable[..., torch.Tensor]
    search_gaps: Callable[..., tuple[torch.Tensor, Any]]


PLAIN = Passes(ranks.smallest_halfspace, spread.largest_outlyingness, gaps.search_gaps)


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
    if masses is None and points.dtype == torch.float32 and len(points) >= WORTH_KERNELS:
        return Passes(halfspace.smallest_halfspace, middles.largest_outlyingness, walk.search_gaps)
    return PLAIN._replace(search_gaps=walk.search_gaps)
