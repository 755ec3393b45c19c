"""Which passes a tensor gets: plain operations anywhere, kernels where they stand beside them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import torch

from isodepth.tensors import gaps, ranks, spread


class Passes(NamedTuple):
    """The passes of `ranks`, `spread` and `gaps`, or others that give the same numbers."""

    smallest_halfspace: Callable[..., torch.Tensor]
    mean_rank_weight: Callable[..., torch.Tensor]
    largest_outlyingness: Callable[..., torch.Tensor]
    search_gaps: Callable[..., tuple[torch.Tensor, Any]]


PLAIN = Passes(
    ranks.smallest_halfspace,
    ranks.mean_rank_weight,
    spread.largest_outlyingness,
    gaps.search_gaps,
)


def passes_for(points: torch.Tensor, masses: torch.Tensor | None) -> Passes:
    """The passes for points (u, d) with those masses, chosen by their device."""
    if points.device.type != "cuda" or not _has_kernels():
        return PLAIN
    from isodepth.tensors import kernels

    return kernels.passes(points, masses, PLAIN)


@cache
def _has_kernels() -> bool:
    try:
        import triton  # noqa: F401
    except ImportError:
        return False
    return True
