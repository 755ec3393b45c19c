"""The gap pass on tensors: the largest gap over directions and their opposites, at all levels."""

from __future__ import annotations

import torch

from isodepth.engine.arrays.products import blocks


def search_gaps(
    x: torch.Tensor,
    y: torch.Tensor,
    stops_x: torch.Tensor,
    stops_y: torch.Tensor,
    directions: torch.Tensor,
    budget: int,
    locate: bool = False,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Largest gap of each level over u and -u for the given directions.

    Parameters
    ----------
    x, y : tensors of shape (n, d) and (m, d), deepest rows first
    stops_x, stops_y : int64 tensors of shape (L,), rising
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
        Codes of directions and signs, as in `engine.signed`; of equal gaps the first direction.
    """
    rows = [x[: int(stops_x[-1])], y[: int(stops_y[-1])]]
    last_x, last_y = stops_x - 1, stops_y - 1
    gaps = x.new_full((len(stops_x),), -1.0)
    where = torch.zeros_like(stops_x) if locate else None
    # Projections, running extremes with their indices, and four supports at each level.
    size = x.element_size()
    each = (len(rows[0]) + len(rows[1])) * (2 * size + 8) + len(stops_x) * 6 * size
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
    stops: torch.Tensor,
    directions: torch.Tensor,
    place: torch.Tensor,
    sign: torch.Tensor,
    budget: int,
) -> torch.Tensor:
    """The first row (L,) that reaches farthest along its own direction, of the rows at each level.

    Parameters
    ----------
    rows : tensor of shape (n, d), deepest first
    stops : int64 tensor of shape (L,), rising
    directions : tensor of shape (K, d)
    place, sign : int64 and float tensors of shape (L,), the direction of each level
    """
    found = torch.empty_like(stops)
    asked, column = torch.unique(place * 2 + (sign < 0), return_inverse=True)
    inside = rows[: int(stops[-1])]
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
        found[mine] = holder[column[mine] - which.start, stops[mine] - 1]
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
