"""The support pass on tensors: h(u) and h(-u) of nested prefixes of the rows."""

from __future__ import annotations

import torch

from isodepth.engine.arrays.products import blocks


def supports(
    ordered: torch.Tensor, stops: torch.Tensor, directions: torch.Tensor, budget: int
) -> torch.Tensor:
    """h(u) and h(-u) of the prefixes of `ordered` (n, d) that end at `stops` (L,), rising.

    Returns
    -------
    supports : tensor of shape (L, 2K): those of the directions (K, d), then of their opposites
    """
    inside = ordered[: int(stops[-1])]
    count = len(directions)
    out = ordered.new_empty(len(stops), 2 * count)
    # Extremes between one stop and the next, then of all up to each: L of them are accumulated.
    piece = torch.searchsorted(stops, torch.arange(len(inside), device=stops.device), right=True)
    each = len(inside) * (ordered.element_size() + 8) + len(stops) * 6 * ordered.element_size()
    for which in blocks(count, each, budget):
        projections = inside @ directions[which].T
        index = piece[:, None].expand_as(projections)
        for sign, first in ((1.0, which.start), (-1.0, count + which.start)):
            tops = projections.new_full((len(stops), projections.shape[1]), -torch.inf)
            tops.scatter_reduce_(0, index, sign * projections, "amax")
            out[:, first : first + projections.shape[1]] = tops.cummax(dim=0).values
    return out
