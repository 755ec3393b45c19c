"""Gaps between the nested regions of two samples, computed on tensors.

The rows of each sample are sorted by depth, deepest first, so the region of a level consists of the
first rows.
The gap of a level is the maximum or the mean over directions u of |h_x(u) - h_y(u)|. The support
function h(u) of a region is the maximum projection of its rows on u.
"""

from __future__ import annotations

import torch

from isodepth.device.products import blocks


def search_gaps(
    x: torch.Tensor,
    y: torch.Tensor,
    prefix_sizes_x: torch.Tensor,
    prefix_sizes_y: torch.Tensor,
    directions: torch.Tensor,
    budget: int,
    locate: bool = False,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Compute the gap between two regions at each level: the maximum of |h_x(u) - h_y(u)|.

    The maximum is over the directions u and their negatives. The support function h_x(u) is the
    maximum projection on u of the rows in the region of x, and h_y(u) is that of y.

    Parameters
    ----------
    x, y : tensors of shape (n, d) and (m, d), deepest rows first
    prefix_sizes_x, prefix_sizes_y : int64 tensors of shape (L,), non-decreasing
        Number of rows of each sample in the region of each level.
    directions : tensor of shape (K, d)
    budget : int
        Bytes for blocks of directions.
    locate : bool
        Whether to return the maximizing directions.

    Returns
    -------
    gaps : float64 tensor of shape (L,)
    codes : int64 tensor of shape (L,), or None if `locate` is false
        Maximizing direction of each level: k for direction k, and -1 - k for its negative. If gaps
        tie, k is the smallest index.
    """
    rows = [x[: int(prefix_sizes_x[-1])], y[: int(prefix_sizes_y[-1])]]
    last_x, last_y = prefix_sizes_x - 1, prefix_sizes_y - 1
    gaps = x.new_full((len(prefix_sizes_x),), -1.0)
    codes = torch.zeros_like(prefix_sizes_x) if locate else None
    for which in blocks(len(directions), _each(rows[0], rows[1], prefix_sizes_x), budget):
        projections = [side @ directions[which].T for side in rows]
        above, below = (
            (_running(projections[0], sign)[last_x] - _running(projections[1], sign)[last_y]).abs_()
            for sign in (1, -1)
        )
        gap = torch.maximum(above, below)
        widest = gap.amax(dim=1)
        better = widest > gaps
        if codes is not None:
            # If several directions have the same gap, the first direction is required, but
            # `torch.max` may return the index of any of them.
            numbers = torch.arange(gap.shape[1], device=gap.device)
            place = torch.where(gap == widest[:, None], numbers, len(directions)).amin(dim=1)
            upward = above.gather(1, place[:, None])[:, 0] == widest
            index = place + which.start
            codes = torch.where(better, torch.where(upward, index, -1 - index), codes)
        gaps = torch.where(better, widest, gaps)
        # Free the memory of this block of directions before the next block is allocated.
        del projections, above, below, gap
    return gaps.double(), codes


def _running(values: torch.Tensor, sign: int) -> torch.Tensor:
    """Return the running maximum of each column, or the running minimum if `sign` is -1."""
    return (values.cummax(dim=0) if sign > 0 else values.cummin(dim=0)).values


def supports(
    projections: torch.Tensor, prefix_sizes: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the support values of L regions along B directions, and rows that attain them.

    `projections` (n, B) are those of n rows, deepest first, and the region of level l consists of
    the first `prefix_sizes[l]` rows. Both results have shape (L, B): the maximum projections, and
    the indices of the first rows that attain them.
    """
    maxima = _running(projections, 1)
    increased = torch.ones_like(maxima, dtype=torch.bool)
    torch.gt(maxima[1:], maxima[:-1], out=increased[1:])
    numbers = torch.arange(len(maxima), device=maxima.device)[:, None]
    holders = torch.where(increased, numbers, 0).cummax(dim=0).values
    return maxima[prefix_sizes - 1], holders[prefix_sizes - 1]


def mean_gaps(
    x: torch.Tensor,
    y: torch.Tensor,
    prefix_sizes_x: torch.Tensor,
    prefix_sizes_y: torch.Tensor,
    directions: torch.Tensor,
    q: float,
    largest: torch.Tensor,
    budget: int,
) -> torch.Tensor:
    """Compute the gap between two regions at each level, as a mean of order q over directions.

    The gap is (mean of |h_x(u) - h_y(u)|**q) ** (1/q) over the directions u and their negatives.
    The support functions h_x(u) and h_y(u) are the maximum projections of both regions on u.

    Parameters
    ----------
    x, y, prefix_sizes_x, prefix_sizes_y, directions, budget : as in `search_gaps`
    q : float in [1, inf)
    largest : float64 tensor of shape (L,)
        Maximum of |h_x(u) - h_y(u)| at each level. Differences are divided by this maximum, so that
        their powers do not overflow.

    Returns
    -------
    gaps : float64 tensor of shape (L,)
    """
    total = torch.zeros_like(largest)
    scale = torch.where(largest > 0, largest, torch.ones_like(largest))[:, None]
    for which in blocks(len(directions), _each(x, y, prefix_sizes_x), budget):
        projections = [rows @ directions[which].T for rows in (x, y)]
        for sign in (1, -1):
            first, second = (
                _running(along, sign)[ends - 1].double()
                for along, ends in zip(projections, (prefix_sizes_x, prefix_sizes_y), strict=True)
            )
            total += ((first - second).abs() / scale).pow_(q).sum(dim=1)
    return largest * (total / (2 * len(directions))) ** (1.0 / q)


def _each(x: torch.Tensor, y: torch.Tensor, prefix_sizes: torch.Tensor) -> int:
    """Return the bytes of working memory that one direction needs in the functions of this module.

    `x` and `y` are the rows of both samples. `prefix_sizes` has one entry per level.
    """
    return (len(x) + len(y)) * (3 * x.element_size() + 48) + len(prefix_sizes) * 96
