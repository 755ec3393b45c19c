"""Supports and gaps on tensors: of nested prefixes, largest or as a mean over directions."""

from __future__ import annotations

import torch

from isodepth.tensors.products import blocks


def search_gaps(
    x: torch.Tensor,
    y: torch.Tensor,
    prefix_sizes_x: torch.Tensor,
    prefix_sizes_y: torch.Tensor,
    directions: torch.Tensor,
    budget: int,
    locate: bool = False,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Largest gap of each level over u and -u for the given directions.

    Parameters
    ----------
    x, y : tensors of shape (n, d) and (m, d), deepest rows first
    prefix_sizes_x, prefix_sizes_y : int64 tensors of shape (L,), rising
        How many rows of each sample belong to each level.
    directions : tensor of shape (K, d)
    budget : int
        Bytes for blocks of directions.
    locate : bool
        Whether to say where gaps are attained.

    Returns
    -------
    gaps : float64 tensor of shape (L,)
    where : int64 tensor of shape (L,), or None
        Codes of directions and signs, as in `isodepth.engine`; of equal gaps the first direction.
    """
    rows = [x[: int(prefix_sizes_x[-1])], y[: int(prefix_sizes_y[-1])]]
    last_x, last_y = prefix_sizes_x - 1, prefix_sizes_y - 1
    gaps = x.new_full((len(prefix_sizes_x),), -1.0)
    where = torch.zeros_like(prefix_sizes_x) if locate else None
    for which in blocks(len(directions), _each(rows[0], rows[1], prefix_sizes_x), budget):
        projections = [side @ directions[which].T for side in rows]
        above, below = (
            (_running(projections[0], sign)[last_x] - _running(projections[1], sign)[last_y]).abs_()
            for sign in (1, -1)
        )
        gap = torch.maximum(above, below)
        widest = gap.amax(dim=1)
        better = widest > gaps
        if where is not None:
            # Where several are equal, `max` may name any of them.
            numbers = torch.arange(gap.shape[1], device=gap.device)
            place = torch.where(gap == widest[:, None], numbers, len(directions)).amin(dim=1)
            upward = above.gather(1, place[:, None])[:, 0] == widest
            named = place + which.start
            where = torch.where(better, torch.where(upward, named, -1 - named), where)
        gaps = torch.where(better, widest, gaps)
        # Or the next block would be made while this one is still held.
        del projections, above, below, gap
    return gaps.double(), where


def support_rows(
    rows: torch.Tensor,
    prefix_sizes: torch.Tensor,
    directions: torch.Tensor,
    place: torch.Tensor,
    sign: torch.Tensor,
    budget: int,
) -> torch.Tensor:
    """The first row (L,) that reaches farthest along its own direction, of the rows at each level.

    Parameters
    ----------
    rows : tensor of shape (n, d), deepest first
    prefix_sizes : int64 tensor of shape (L,), rising
    directions : tensor of shape (K, d)
    place, sign : int64 and float tensors of shape (L,), the direction of each level
    """
    found = torch.empty_like(prefix_sizes)
    asked, column = torch.unique(place * 2 + (sign < 0), return_inverse=True)
    inside = rows[: int(prefix_sizes[-1])]
    each = len(inside) * (3 * rows.element_size() + 4 * 8)
    for which in blocks(len(asked), each, budget):
        codes = asked[which]
        units = directions[codes // 2] * (1 - 2 * (codes % 2)).to(rows.dtype)[:, None]
        _, holders = _supports(inside @ units.T, prefix_sizes)
        mine = ((column >= which.start) & (column < which.stop)).nonzero()[:, 0]
        found[mine] = holders[mine, column[mine] - which.start]
    return found


def _running(values: torch.Tensor, sign: int) -> torch.Tensor:
    """The largest, or with sign -1 the smallest, of each column (n, B) up to every row."""
    return (values.cummax(dim=0) if sign > 0 else values.cummin(dim=0)).values


def _supports(
    projections: torch.Tensor, prefix_sizes: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The largest of each column (n, B) up to each prefix size (L,), and the first row with it."""
    tops = _running(projections, 1)
    fresh = torch.ones_like(tops, dtype=torch.bool)
    torch.gt(tops[1:], tops[:-1], out=fresh[1:])
    numbers = torch.arange(len(tops), device=tops.device)[:, None]
    holders = torch.where(fresh, numbers, 0).cummax(dim=0).values
    return tops[prefix_sizes - 1], holders[prefix_sizes - 1]


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
    """(mean of |h_x(u) - h_y(u)|**q over u and -u) ** (1/q) at each level, float64 (L,).

    Parameters
    ----------
    x, y, prefix_sizes_x, prefix_sizes_y, directions, budget : as in `search_gaps`
    q : float in [1, inf)
    largest : float64 tensor of shape (L,), the largest gaps, to keep powers from overflowing
    """
    total = torch.zeros_like(largest)
    scale = torch.where(largest > 0, largest, torch.ones_like(largest))[:, None]
    for which in blocks(len(directions), _each(x, y, prefix_sizes_x), budget):
        projections = [rows @ directions[which].T for rows in (x, y)]
        for sign in (1, -1):
            mine, other = (
                _running(along, sign)[ends - 1].double()
                for along, ends in zip(projections, (prefix_sizes_x, prefix_sizes_y), strict=True)
            )
            total += ((mine - other).abs() / scale).pow_(q).sum(dim=1)
    return largest * (total / (2 * len(directions))) ** (1.0 / q)


def _each(x: torch.Tensor, y: torch.Tensor, prefix_sizes: torch.Tensor) -> int:
    """Bytes for one direction: projections, running extremes with their rows, and supports."""
    return (len(x) + len(y)) * (3 * x.element_size() + 48) + len(prefix_sizes) * 96


def mean_pulls(
    rows: list[torch.Tensor],
    prefix_sizes: tuple[torch.Tensor, torch.Tensor],
    directions: torch.Tensor,
    q: float,
    means: torch.Tensor,
    slopes: torch.Tensor,
    budget: int,
) -> list[torch.Tensor]:
    """What pulls at each row of both samples, float64 (n, d) and (m, d).

    `slopes` (L,) are the derivatives of the distance by the `means` (L,) of `mean_gaps`.
    """
    pulls = [torch.zeros_like(own, dtype=torch.float64) for own in rows]
    positive = means > 0
    share = torch.where(positive, slopes / (2 * len(directions)), torch.zeros_like(slopes))[:, None]
    scale = torch.where(positive, means, torch.ones_like(means))[:, None]
    for which in blocks(len(directions), _each(rows[0], rows[1], prefix_sizes[0]), budget):
        vectors = directions[which].double()
        projections = [own @ directions[which].T for own in rows]
        for outward in (1.0, -1.0):
            pair = [
                _supports(outward * along, ends)
                for along, ends in zip(projections, prefix_sizes, strict=True)
            ]
            apart = pair[0][0].double() - pair[1][0].double()
            each = share * (apart.abs() / scale) ** (q - 1.0) * apart.sign()
            for (_, holders), pull, sign in zip(pair, pulls, (outward, -outward), strict=True):
                weight = pull.new_zeros(len(pull), len(vectors))
                weight.scatter_add_(0, holders, each)
                pull += sign * (weight @ vectors)
    return pulls
