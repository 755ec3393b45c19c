"""Outlyingness, which defines the projection depth, computed with torch operations."""

from __future__ import annotations

import torch

from isodepth.device.products import blocks

_SIZED_ROWS = 255


def largest_outlyingness(
    points: torch.Tensor,
    masses: torch.Tensor | None,
    total: int,
    directions: torch.Tensor,
    budget: int,
) -> torch.Tensor:
    """Compute the outlyingness of each point x: the maximum of |<u, x> - median| / MAD.

    The maximum is over the directions u. The median and the median absolute deviation (MAD) are
    those of the projections of all points on u. If more than half of the projections are equal, the
    MAD is zero. It is then replaced with the median of the nonzero deviations.

    Parameters
    ----------
    points : tensor of shape (u, d)
        Points, centered and scaled to a spread of about one.
    masses : int64 tensor of shape (u,), or None if all are 1
    total : int
        The sum of the masses.
    directions : tensor of shape (K, d)
    budget : int
        Bytes for blocks of directions.

    Returns
    -------
    outlyingness : tensor of shape (u,)
    """
    typical, rounding = typical_sizes(points), rounding_unit(points)
    out = points.new_zeros(len(points))
    # Bytes per direction for projections, deviations, sorted copies with indices, and the buffer of
    # the sort.
    each = len(points) * (4 * points.element_size() + 4 * 8)
    for which in blocks(len(directions), each, budget):
        projections = directions[which] @ points.T
        middle = medians(projections, masses, total)
        deviations = (projections - middle[:, None]).abs_()
        mad = medians(deviations, masses, total)
        usual = mad > rounding * (directions[which].abs() @ typical)
        if bool(usual.all()):
            scaled = deviations.mul_((1.0 / mad)[:, None])
        else:
            update_flat_directions(
                deviations[~usual], masses, points, directions[which][~usual], out
            )
            scaled = deviations[usual].mul_((1.0 / mad[usual])[:, None])
        if len(scaled):
            torch.maximum(out, scaled.amax(dim=0), out=out)
        # Free the memory of this block of directions before the next block is allocated.
        del projections, deviations, scaled
    return out


def medians(values: torch.Tensor, masses: torch.Tensor | None, total: int) -> torch.Tensor:
    """Compute the median (B,) of each row of `values` (B, n), with the masses (n,) of its columns.

    `total` is the sum of the masses. If `masses` is None, all masses are 1.
    """
    ordered, index = values.sort(dim=1)
    if masses is None:
        n = values.shape[1]
        lower, upper = ordered[:, (n - 1) // 2], ordered[:, n // 2]
    else:
        twice = 2 * masses[index].cumsum(dim=1)
        half = torch.full((len(values), 1), total, device=values.device)
        lower = ordered.gather(1, torch.searchsorted(twice, half))[:, 0]
        upper = ordered.gather(1, torch.searchsorted(twice, half, right=True))[:, 0]
    return 0.5 * lower + 0.5 * upper


def typical_sizes(points: torch.Tensor) -> torch.Tensor:
    """Return the upper median (d,) of the absolute values of each column of points (u, d).

    At most 255 evenly spaced rows are used, because only the order of magnitude matters.
    """
    subset = points[:: -(-len(points) // _SIZED_ROWS)].abs()
    return subset.sort(dim=0).values[len(subset) // 2]


def rounding_unit(points: torch.Tensor) -> float:
    """Return an upper bound on the relative rounding error of a projection of points (u, d)."""
    return torch.finfo(points.dtype).eps * 8.0 * points.shape[1] ** 0.5


def update_flat_directions(
    deviations: torch.Tensor,
    masses: torch.Tensor | None,
    points: torch.Tensor,
    directions: torch.Tensor,
    out: torch.Tensor,
) -> None:
    """Update the maximum outlyingness `out` (u,) in place by directions whose MAD is zero.

    `deviations` (B, u) are the absolute differences between the projections of the u points on
    `directions` (B, d) and the medians of the projections. The median absolute deviation (MAD) is
    zero along each of these directions, so the outlyingness of a point is its deviation divided by
    the median of the nonzero deviations. A deviation below the rounding error of projections
    counts as zero. Points at the median have outlyingness zero.
    """
    rounding, typical = rounding_unit(points), typical_sizes(points)
    for away, direction in zip(deviations, directions.abs(), strict=True):
        off = away > rounding * (points.abs() @ direction + typical @ direction)
        if not bool(off.any()):
            continue
        nonzero_masses = None if masses is None else masses[off]
        total = int(off.sum()) if nonzero_masses is None else int(nonzero_masses.sum())
        scale = medians(away[off][None], nonzero_masses, total)[0]
        torch.maximum(out, torch.where(off, away, 0.0) / scale, out=out)
