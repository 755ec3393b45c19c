"""Ranks of a few points along many directions on tensors, for many small samples at once.

The twins of `engine.compiled.few_ranks`: the same integers, and the same series for arcsines.
"""

from __future__ import annotations

import math

import torch

from isodepth.engine.arrays.products import blocks

# As in `engine.compiled.few_ranks`: Abramowitz and Stegun 4.4.46.
ASIN = (
    1.5707963050, -0.2145988016, 0.0889789874, -0.0501743046,
    0.0308918810, -0.0170881256, 0.0066700901, -0.0012624911,
)  # fmt: skip


def centered_ranks(
    points: torch.Tensor, masses: torch.Tensor, directions: torch.Tensor, budget: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """|2 F - 1| times the whole mass, and the square of that, summed over the directions.

    Parameters
    ----------
    points : tensor of shape (B, n, r), B samples
    masses : int64 tensor of shape (B, n), zero where a sample has fewer points
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
    """The mean of (2 F - 1)**2 over all directions of space, float64 (B, n).

    Parameters
    ----------
    points : float64 tensor of shape (B, n, r), distinct where they have a share
    shares : float64 tensor of shape (B, n), with sum one; zero where a sample has fewer points
    budget : int
        Bytes for all angles at some of the points.
    """
    exact = "donot_use_mm_for_euclid_dist"
    distances = torch.cdist(points, points, compute_mode=exact).square_()
    n = points.shape[1]
    out = torch.empty_like(shares)
    own = shares * shares
    for which in blocks(n, len(points) * n * n * 6 * 8, budget):
        away = distances[:, which]
        others = (shares[:, None, :] > 0) & (away > 0)
        weight = torch.where(others, shares[:, None, :], 0.0)
        lengths = torch.where(others, away, 1.0).sqrt_()
        cosines = away[:, :, :, None] + away[:, :, None, :] - distances[:, None]
        cosines /= 2.0 * lengths[:, :, :, None] * lengths[:, :, None, :]
        angles = _arcsine(cosines)
        # A point beside itself is on one side for sure, and no matter of rounding.
        angles.diagonal(dim1=2, dim2=3).zero_()
        pulled = torch.einsum("bij,bijk,bik->bi", weight, angles, weight)
        alike = torch.where(others, own[:, None, :], 0.0).sum(dim=2)
        out[:, which] = alike + 2.0 / math.pi * pulled
    return out


def _arcsine(x: torch.Tensor) -> torch.Tensor:
    size = x.abs().clamp_(max=1.0)
    series = torch.full_like(size, ASIN[-1])
    for coefficient in reversed(ASIN[:-1]):
        series.mul_(size).add_(coefficient)
    angle = 0.5 * math.pi - (1.0 - size).sqrt_() * series
    return torch.where(x > 0, angle, -angle)


def coordinates_in_span(vectors: torch.Tensor) -> torch.Tensor:
    """Coordinates (B, k, r) of vectors (B, k, d) along axes of their span, r = min(k, d).

    As `hull.span.coordinates_in_span`; vectors of zeros at the end change nothing before them.
    """
    return torch.linalg.qr(vectors.mT, mode="r").R.mT
