"""Depths from ranks of projections, on tensors."""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch

from isodepth.tensors.products import blocks

# The same series as on the host: Abramowitz and Stegun 4.4.46.
ASIN = (
    1.5707963050, -0.2145988016, 0.0889789874, -0.0501743046,
    0.0308918810, -0.0170881256, 0.0066700901, -0.0012624911,
)  # fmt: skip


def smallest_halfspace(
    points: torch.Tensor,
    masses: torch.Tensor | None,
    total: int,
    directions: torch.Tensor,
    budget: int,
) -> torch.Tensor:
    """Compute the minimum closed-halfspace mass at each point, over u and -u, in units of 1/total.

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
    """Compute the mean over directions of min(F, 1 - F), F with mid-ranks; float64 (u,).

    Sums of integers are exact, as on the host, so the result does not depend on the blocks.
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
    """Yield sorted indices (B, u) per block of directions, and the masses before and up to each."""
    n = len(points)
    # Projections, their sorted copy, the buffer of the sort, and integers.
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
        # Free this block before the next one is allocated.
        del index, first, last


def centered_ranks(
    points: torch.Tensor, masses: torch.Tensor, directions: torch.Tensor, budget: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Sum |2 F - 1| times the total mass, and its square, over the directions.

    Parameters
    ----------
    points : tensor of shape (B, n, r), B samples
    masses : int64 tensor of shape (B, n), zero for padding
    directions : tensor of shape (K, r)
    budget : int
        Bytes for blocks of directions.

    Returns
    -------
    sizes, squares : int64 tensors of shape (B, n)
    """
    sizes, squares = torch.zeros_like(masses), torch.zeros_like(masses)
    each = masses.numel() * (3 * points.element_size() + 3 * 8)
    for which in blocks(len(directions), each, budget):
        projections = points @ directions[which].T
        balance = torch.zeros_like(projections, dtype=torch.int64)
        for j in range(points.shape[1]):
            # The mass below less the mass above: ties count half on each side.
            side = torch.sign(projections - projections[:, j : j + 1])
            balance.addcmul_(side.long(), masses[:, j, None, None])
        sizes += balance.abs().sum(dim=2)
        squares += balance.square_().sum(dim=2)
    return sizes, squares


def mean_squared_ranks(points: torch.Tensor, shares: torch.Tensor, budget: int) -> torch.Tensor:
    """Compute the mean of (2 F - 1)**2 over all directions of the space, float64 (B, n).

    Parameters
    ----------
    points : float64 tensor of shape (B, n, r), distinct except for padding
    shares : float64 tensor of shape (B, n), masses with sum one; zero for padding
    budget : int
        Bytes for blocks of points with all of their angles.
    """
    exact = "donot_use_mm_for_euclid_dist"
    distances = torch.cdist(points, points, compute_mode=exact).square_()
    n = points.shape[1]
    out = torch.empty_like(shares)
    squares = shares * shares
    for which in blocks(n, len(points) * n * n * 6 * 8, budget):
        away = distances[:, which]
        others = (shares[:, None, :] > 0) & (away > 0)
        weight = torch.where(others, shares[:, None, :], 0.0)
        lengths = torch.where(others, away, 1.0).sqrt_()
        cosines = away[:, :, :, None] + away[:, :, None, :] - distances[:, None]
        cosines /= 2.0 * lengths[:, :, :, None] * lengths[:, :, None, :]
        angles = _arcsine(cosines)
        # The angle of a pair with itself is known, and does not depend on rounding.
        angles.diagonal(dim1=2, dim2=3).zero_()
        cross_terms = torch.einsum("bij,bijk,bik->bi", weight, angles, weight)
        same_terms = torch.where(others, squares[:, None, :], 0.0).sum(dim=2)
        out[:, which] = same_terms + 2.0 / math.pi * cross_terms
    return out


def _arcsine(x: torch.Tensor) -> torch.Tensor:
    """Approximate arcsin, with the series of `ASIN`."""
    size = x.abs().clamp_(max=1.0)
    series = torch.full_like(size, ASIN[-1])
    for coefficient in reversed(ASIN[:-1]):
        series.mul_(size).add_(coefficient)
    angle = 0.5 * math.pi - (1.0 - size).sqrt_() * series
    return torch.where(x > 0, angle, -angle)
