"""The spread pass on tensors: how far out each point lies along every direction."""

from __future__ import annotations

import torch

from isodepth.tensors.products import blocks


def largest_outlyingness(
    points: torch.Tensor,
    masses: torch.Tensor | None,
    total: int,
    directions: torch.Tensor,
    budget: int,
) -> torch.Tensor:
    """Largest |<u,x> - med| / MAD of the points, of shape (u,) and their dtype.

    Where half of the mass coincides along a direction there is no MAD, and the scale is the median
    of the deviations that are not zero.

    Parameters
    ----------
    points : tensor of shape (u, d), around zero with size about one
    masses : int64 tensor of shape (u,), or None where each is one unit
    total : int
        The sum of the masses.
    directions : tensor of shape (K, d)
    budget : int
        Bytes for blocks of directions.
    """
    zero, rounding_bound = rounding_of(points)
    out = points.new_zeros(len(points))
    # Projections, deviations, their sorted copies with indices, and scratch of the sort.
    each = len(points) * (4 * points.element_size() + 4 * 8)
    for which in blocks(len(directions), each, budget):
        projections = directions[which] @ points.T
        middle = medians(projections, masses, total)
        deviations = (projections - middle[:, None]).abs_()
        mad = medians(deviations, masses, total)
        usual = mad > zero
        if bool(usual.all()):
            scaled = deviations.mul_((1.0 / mad)[:, None])
        else:
            raise_where_flat(deviations[~usual], masses, rounding_bound, out)
            scaled = deviations[usual].mul_((1.0 / mad[usual])[:, None])
        if len(scaled):
            torch.maximum(out, scaled.amax(dim=0), out=out)
        # Or the next block would be made while this one is still held.
        del projections, deviations, scaled
    return out


def medians(values: torch.Tensor, masses: torch.Tensor | None, total: int) -> torch.Tensor:
    """The medians (B,) of rows of `values` (B, n) repeated `masses` (n,) times."""
    ordered, index = values.sort(dim=1)
    if masses is None:
        n = values.shape[1]
        lower, upper = ordered[:, (n - 1) // 2], ordered[:, n // 2]
    else:
        twice = 2 * masses[index].cumsum(dim=1)
        wanted = torch.full((len(values), 1), total, device=values.device)
        lower = ordered.gather(1, torch.searchsorted(twice, wanted))[:, 0]
        upper = ordered.gather(1, torch.searchsorted(twice, wanted, right=True))[:, 0]
    return 0.5 * lower + 0.5 * upper


def rounding_of(points: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """What rounding may make of a typical projection, and of the projections of each row (u,)."""
    sizes = points.abs().amax(dim=1)
    typical = sizes.sort().values[len(sizes) // 2]
    rounding = torch.finfo(points.dtype).eps * (8 * points.shape[1])
    return rounding * typical, rounding * (sizes + typical)


def raise_where_flat(
    deviations: torch.Tensor,
    masses: torch.Tensor | None,
    rounding_bound: torch.Tensor,
    out: torch.Tensor,
) -> None:
    """Raise `out` (u,) along directions in which the MAD is zero, by deviations (B, u).

    Points on the median are not outlying; the others are measured by the median of the deviations
    that are not zero. Rare, so one direction after the other.
    """
    for away in deviations:
        off = away > rounding_bound
        found = torch.where(off, away, torch.zeros_like(away))
        if not bool(off.any()):
            continue
        own = None if masses is None else masses[off]
        total = int(off.sum()) if own is None else int(own.sum())
        scale = medians(away[off][None], own, total)[0]
        torch.maximum(out, found / scale, out=out)
