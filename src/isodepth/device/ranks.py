"""Depths that are defined by the ranks of projections, computed with torch operations."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from isodepth.device.products import blocks


def smallest_halfspace(
    points: torch.Tensor,
    masses: torch.Tensor | None,
    total: int,
    directions: torch.Tensor,
    budget: int,
) -> torch.Tensor:
    """Compute for each point the minimum mass of a closed halfspace with the point on its boundary.

    The minimum is over the halfspaces whose normal vectors are the directions or their negatives.

    Parameters
    ----------
    points : tensor of shape (u, d)
    masses : int64 tensor of shape (u,), or None if all are 1
    total : int
        The sum of the masses.
    directions : tensor of shape (K, d)
    budget : int
        Bytes for blocks of directions.

    Returns
    -------
    smallest : int64 tensor of shape (u,)
        The halfspace depth is this mass divided by `total`.
    """
    best = points.new_full((len(points),), total + 1, dtype=torch.int64)
    for index, below, upto in _ranks(points, masses, directions, budget):
        smaller = torch.minimum(upto, total - below)
        best.scatter_reduce_(0, index.flatten(), smaller.flatten(), "amin")
        del index, below, upto, smaller
    return best


def mean_rank_weight(
    points: torch.Tensor,
    masses: torch.Tensor | None,
    total: int,
    directions: torch.Tensor,
    budget: int,
) -> torch.Tensor:
    """Compute the mean of min(F, 1 - F) over directions for each point.

    F is the mid-rank of the projection of the point as a fraction of the mass: the fraction with a
    smaller projection, plus half of the fraction with the same projection. The parameters are those
    of `smallest_halfspace`, and the result is float64 of shape (u,). Ranks are summed as integers,
    so the result does not depend on the blocks of directions. The lowest bits of the ranks are
    dropped only if the sum of the ranks could overflow.
    """
    shift = max(0, (2 * total * len(directions)).bit_length() - 63)
    sums = points.new_zeros(len(points), dtype=torch.int64)
    for index, below, upto in _ranks(points, masses, directions, budget):
        twice = below + upto
        weight = torch.minimum(twice, 2 * total - twice) >> shift
        sums.scatter_add_(0, index.flatten(), weight.flatten())
        del index, below, upto, twice, weight
    return sums.double() * 2.0**shift / (2.0 * total * len(directions))


def _ranks(
    points: torch.Tensor, masses: torch.Tensor | None, directions: torch.Tensor, budget: int
) -> Iterator[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
    """Yield the order of the u points and their cumulative masses along blocks of B directions.

    Each item has three tensors of shape (B, u). Each row is in the order of the projections on one
    direction: the indices of the points, the mass of all points with a smaller projection, and the
    mass of all points with a smaller or equal projection.
    """
    n = len(points)
    # Bytes per direction for projections, their sorted copy, the buffer of the sort, and arrays of
    # integers.
    each = n * (3 * points.element_size() + 7 * 8)
    places = torch.arange(n, device=points.device)
    for which in blocks(len(directions), each, budget):
        values, index = (directions[which] @ points.T).sort(dim=1)
        tied = bool((values[:, 1:] == values[:, :-1]).any())
        if tied:
            first = torch.searchsorted(values, values)
            last = torch.searchsorted(values, values, right=True)
        else:
            first, last = places.expand_as(values), (places + 1).expand_as(values)
        del values
        if masses is not None:
            cumulated = torch.zeros(len(index), n + 1, dtype=torch.int64, device=points.device)
            torch.cumsum(masses[index], dim=1, out=cumulated[:, 1:])
            first, last = cumulated.gather(1, first), cumulated.gather(1, last)
            del cumulated
        yield index, first, last
        # Free the memory of this block of directions before the next block is allocated.
        del index, first, last
