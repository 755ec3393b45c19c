"""Supports and gaps on tensors: of nested prefixes, largest or as a mean over directions."""

from __future__ import annotations

from collections.abc import Iterator

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
    # Projections, running extremes with their indices, and four supports at each level.
    size = x.element_size()
    each = (len(rows[0]) + len(rows[1])) * (2 * size + 8) + len(prefix_sizes_x) * 6 * size
    for which in blocks(len(directions), each, budget):
        units = directions[which].T
        projections = [side @ units for side in rows]
        above, below = (
            (extreme(projections[0])[last_x] - extreme(projections[1])[last_y]).abs_()
            for extreme in (_running_tops, _running_lows)
        )
        widest, place = torch.maximum(above, below).max(dim=1)
        better = widest > gaps
        if where is not None:
            # Where several are equal, `max` may name any of them.
            place = _first_of(torch.maximum(above, below) == widest[:, None])
            upward = above.gather(1, place[:, None])[:, 0] == widest
            named = place + which.start
            where = torch.where(better, torch.where(upward, named, -1 - named), where)
        gaps = torch.where(better, widest, gaps)
        # Or the next block would be made while this one is still held.
        del projections, above, below
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
    numbers = torch.arange(len(inside), device=rows.device)
    each = len(inside) * (3 * rows.element_size() + 4 * 8)
    for which in blocks(len(asked), each, budget):
        codes = asked[which]
        units = directions[codes // 2] * (1 - 2 * (codes % 2)).to(rows.dtype)[:, None]
        tops = _running_tops(units @ inside.T, dim=1)
        fresh = torch.ones_like(tops, dtype=torch.bool)
        torch.gt(tops[:, 1:], tops[:, :-1], out=fresh[:, 1:])
        holder = torch.where(fresh, numbers, 0).cummax(dim=1).values
        mine = (column >= which.start) & (column < which.stop)
        found[mine] = holder[column[mine] - which.start, prefix_sizes[mine] - 1]
    return found


def _first_of(chosen: torch.Tensor) -> torch.Tensor:
    """The first column (L,) that is true in each row of `chosen` (L, B)."""
    width = chosen.shape[1]
    numbers = torch.arange(width, device=chosen.device)
    return torch.where(chosen, numbers, width).amin(dim=1)


def _running_tops(values: torch.Tensor, dim: int = 0) -> torch.Tensor:
    return values.cummax(dim=dim).values


def _running_lows(values: torch.Tensor, dim: int = 0) -> torch.Tensor:
    return values.cummin(dim=dim).values


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
    x, y, prefix_sizes_x, prefix_sizes_y, directions, budget : as in `gap.search_gaps`
    q : float in [1, inf)
    largest : float64 tensor of shape (L,), the largest gaps, to keep powers from overflowing
    """
    total = torch.zeros_like(largest)
    scale = torch.where(largest > 0, largest, torch.ones_like(largest))[:, None]
    for _, sides in _supports((x, y), (prefix_sizes_x, prefix_sizes_y), directions, budget):
        for mine, other in zip(*sides, strict=True):
            total += ((mine.values - other.values).abs() / scale).pow_(q).sum(dim=1)
    return largest * (total / (2 * len(directions))) ** (1.0 / q)


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
    for which, sides in _supports((rows[0], rows[1]), prefix_sizes, directions, budget):
        vectors = directions[which].double()
        for outward, pair in zip((1.0, -1.0), zip(*sides, strict=True), strict=True):
            apart = pair[0].values - pair[1].values
            each = share * (apart.abs() / scale) ** (q - 1.0) * apart.sign()
            for found, pull, sign in zip(pair, pulls, (outward, -outward), strict=True):
                weight = pull.new_zeros(len(pull), len(vectors))
                weight.scatter_add_(0, found.rows, each)
                pull += sign * (weight @ vectors)
    return pulls


class _Found:
    """Supports (L, B) in float64 and the rows that give them, the first of equal ones."""

    def __init__(self, projections: torch.Tensor, prefix_sizes: torch.Tensor) -> None:
        tops = projections.cummax(dim=0).values
        fresh = torch.ones_like(tops, dtype=torch.bool)
        torch.gt(tops[1:], tops[:-1], out=fresh[1:])
        numbers = torch.arange(len(tops), device=tops.device)[:, None]
        holders = torch.where(fresh, numbers, 0).cummax(dim=0).values
        self.values = tops[prefix_sizes - 1].double()
        self.rows = holders[prefix_sizes - 1]


def _supports(
    rows: tuple[torch.Tensor, torch.Tensor],
    prefix_sizes: tuple[torch.Tensor, torch.Tensor],
    directions: torch.Tensor,
    budget: int,
) -> Iterator[tuple[slice, list[list[_Found]]]]:
    """For blocks of directions and each sample: the supports of u and of -u."""
    size = rows[0].element_size()
    each = (len(rows[0]) + len(rows[1])) * (3 * size + 48) + len(prefix_sizes[0]) * 96
    for which in blocks(len(directions), each, budget):
        sides = []
        for own, stop in zip(rows, prefix_sizes, strict=True):
            projections = own @ directions[which].T
            sides.append([_Found(projections, stop), _Found(-projections, stop)])
        yield which, sides


def supports(
    ordered: torch.Tensor, prefix_sizes: torch.Tensor, directions: torch.Tensor, budget: int
) -> torch.Tensor:
    """h(u) and h(-u) of the prefixes of `ordered` (n, d) that end at `prefix_sizes` (L,), rising.

    Returns
    -------
    supports : tensor of shape (L, 2K): those of the directions (K, d), then of their opposites
    """
    inside = ordered[: int(prefix_sizes[-1])]
    count = len(directions)
    out = ordered.new_empty(len(prefix_sizes), 2 * count)
    # Extremes between one stop and the next, then of all up to each: L of them are accumulated.
    piece = torch.searchsorted(
        prefix_sizes, torch.arange(len(inside), device=prefix_sizes.device), right=True
    )
    each = (
        len(inside) * (ordered.element_size() + 8) + len(prefix_sizes) * 6 * ordered.element_size()
    )
    for which in blocks(count, each, budget):
        projections = inside @ directions[which].T
        index = piece[:, None].expand_as(projections)
        for sign, first in ((1.0, which.start), (-1.0, count + which.start)):
            tops = projections.new_full((len(prefix_sizes), projections.shape[1]), -torch.inf)
            tops.scatter_reduce_(0, index, sign * projections, "amax")
            out[:, first : first + projections.shape[1]] = tops.cummax(dim=0).values
    return out
