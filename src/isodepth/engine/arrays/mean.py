"""The mean pass on tensors: a mean of powers of the gaps over directions, and what it pulls at."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from isodepth.engine.arrays.products import blocks


def mean_gaps(
    x: torch.Tensor,
    y: torch.Tensor,
    stops_x: torch.Tensor,
    stops_y: torch.Tensor,
    directions: torch.Tensor,
    q: float,
    largest: torch.Tensor,
    budget: int,
) -> torch.Tensor:
    """(mean of |h_x(u) - h_y(u)|**q over u and -u) ** (1/q) at each level, float64 (L,).

    Parameters
    ----------
    x, y, stops_x, stops_y, directions, budget : as in `gap.search_gaps`
    q : float in [1, inf)
    largest : float64 tensor of shape (L,), the largest gaps, to keep powers from overflowing
    """
    total = torch.zeros_like(largest)
    scale = torch.where(largest > 0, largest, torch.ones_like(largest))[:, None]
    for _, sides in _supports((x, y), (stops_x, stops_y), directions, budget):
        for mine, other in zip(*sides, strict=True):
            total += ((mine.values - other.values).abs() / scale).pow_(q).sum(dim=1)
    return largest * (total / (2 * len(directions))) ** (1.0 / q)


def mean_pulls(
    rows: list[torch.Tensor],
    stops: tuple[torch.Tensor, torch.Tensor],
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
    for which, sides in _supports((rows[0], rows[1]), stops, directions, budget):
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

    def __init__(self, projections: torch.Tensor, stops: torch.Tensor) -> None:
        tops = projections.cummax(dim=0).values
        fresh = torch.ones_like(tops, dtype=torch.bool)
        torch.gt(tops[1:], tops[:-1], out=fresh[1:])
        numbers = torch.arange(len(tops), device=tops.device)[:, None]
        holders = torch.where(fresh, numbers, 0).cummax(dim=0).values
        self.values = tops[stops - 1].double()
        self.rows = holders[stops - 1]


def _supports(
    rows: tuple[torch.Tensor, torch.Tensor],
    stops: tuple[torch.Tensor, torch.Tensor],
    directions: torch.Tensor,
    budget: int,
) -> Iterator[tuple[slice, list[list[_Found]]]]:
    """For blocks of directions and each sample: the supports of u and of -u."""
    size = rows[0].element_size()
    each = (len(rows[0]) + len(rows[1])) * (3 * size + 48) + len(stops[0]) * 96
    for which in blocks(len(directions), each, budget):
        sides = []
        for own, stop in zip(rows, stops, strict=True):
            projections = own @ directions[which].T
            sides.append([_Found(projections, stop), _Found(-projections, stop)])
        yield which, sides
