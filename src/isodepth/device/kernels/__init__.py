"""Choice between torch operations and Triton kernels, whose results are equal up to rounding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from isodepth.device import gaps, ranks, spread

#: Number of points from which the Triton kernels are faster than a full sort by torch.
WORTH_KERNELS = 20_000


class Passes(NamedTuple):
    """Functions for the slowest steps of a distance, with torch operations or with Triton kernels.

    The parameters and results are documented in the modules `ranks`, `spread` and `gaps` of
    `isodepth.device`, in which the functions of the same names use torch operations.
    """

    smallest_halfspace: Callable[..., torch.Tensor]
    largest_outlyingness: Callable[..., torch.Tensor]
    search_gaps: Callable[..., tuple[torch.Tensor, Any]]


PLAIN = Passes(ranks.smallest_halfspace, spread.largest_outlyingness, gaps.search_gaps)


def passes_for(points: torch.Tensor, masses: torch.Tensor | None) -> Passes:
    """Choose the implementations for points (u, d) with `masses` (u,).

    `masses` is None if all are equal. Triton kernels need a CUDA device. The kernels for depths
    support only float32 and equal masses, and are used for at least `WORTH_KERNELS` points.
    """
    if points.device.type != "cuda":
        return PLAIN
    try:
        from isodepth.device.kernels import halfspace, middles, walk
    except ImportError:  # Triton is not installed
        return PLAIN
    if masses is None and points.dtype == torch.float32 and len(points) >= WORTH_KERNELS:
        return Passes(halfspace.smallest_halfspace, middles.largest_outlyingness, walk.search_gaps)
    return PLAIN._replace(search_gaps=walk.search_gaps)
