"""Kernels in Triton beside the plain operations: the same numbers in a fraction of the time."""

from __future__ import annotations

from typing import Any

import torch

from isodepth.tensors.kernels.middles import largest_outlyingness
from isodepth.tensors.kernels.tails import smallest_halfspace
from isodepth.tensors.kernels.walk import search_gaps

#: Below this many points a sort of everything takes no longer than what avoids it.
WORTH_KERNELS = 20_000


def passes(points: torch.Tensor, masses: torch.Tensor | None, plain: Any) -> Any:
    """The passes for points (u, d) of those masses: kernels where there are any, else plain ones.

    Selections and tails are for single precision and unit masses.
    """
    chosen = plain._replace(search_gaps=search_gaps)
    if masses is None and points.dtype == torch.float32 and len(points) >= WORTH_KERNELS:
        chosen = chosen._replace(
            smallest_halfspace=smallest_halfspace, largest_outlyingness=largest_outlyingness
        )
    return chosen
