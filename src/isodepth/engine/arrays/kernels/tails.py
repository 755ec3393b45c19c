"""Halfspace masses from tails: only what lies far out along a direction is sorted.

A point outside the tails of every direction is deeper than all of them, so whatever mass a tail
gives is final once it is smaller than every tail. The few points that are deeper than that are
counted one by one.
"""

from __future__ import annotations

import math

import torch
import triton
import triton.language as tl

from isodepth.engine.arrays import rank
from isodepth.engine.arrays.kernels.middles import pilot_rows
from isodepth.engine.arrays.products import blocks

_BLOCK = 4096
_RANKED = 1024
# Of the pilot rows so many may be deeper than the tails; the rest is counted.
_DEEPER = 0.02
# Tails that hold more than this share on each side are not worth it: everything is sorted.
_MOST = 0.25
_FEW = 32
# Counting more than one in so many points takes longer than to sort all.
_MANY = 25


def smallest_halfspace(
    points: torch.Tensor,
    masses: torch.Tensor | None,
    total: int,
    directions: torch.Tensor,
    budget: int,
) -> torch.Tensor:
    """The same as `engine.arrays.rank.smallest_halfspace`, for float32 and unit masses."""
    assert masses is None
    n = len(points)
    few = points[pilot_rows(n, points.device)]
    share = _share_of_tails(few, directions, budget)
    if share > _MOST:
        return rank.smallest_halfspace(points, None, total, directions, budget)
    cap = min(n, int(n * (share + 6 * math.sqrt(share / len(few)))) + 256)
    # A sort of (value, place) holds both twice.
    each = (n + len(few)) * 4 + 2 * cap * (4 + 4 + 2 * 12) + 256
    cut = blocks(len(directions), each, budget)
    best = torch.full((n,), total, dtype=torch.int32, device=points.device)
    fewest = total
    projections = None
    for which in cut:
        units = directions[which]
        projections = units @ points.T
        found = _lower_by_tails(projections, units @ few.T, share, cap, best)
        if found is None:
            return rank.smallest_halfspace(points, None, total, directions, budget)
        fewest = min(fewest, found)
    # Outside a tail of that many at least one more is on either side.
    deep = (best > fewest + 1).nonzero()[:, 0]
    if len(deep) > n // _MANY:
        return rank.smallest_halfspace(points, None, total, directions, budget)
    if len(deep):
        rest = best[deep]
        for which in cut:
            if len(cut) > 1:
                projections = directions[which] @ points.T
            assert projections is not None
            rest = torch.minimum(rest, _counted(projections, deep, budget))
        best[deep] = rest
    return best.long()


def _share_of_tails(few: torch.Tensor, directions: torch.Tensor, budget: int) -> float:
    """How much of the mass each tail should hold, from the depths of the pilot rows."""
    size = len(few)
    depths = rank.smallest_halfspace(few, None, size, directions, budget).sort().values
    deepest = int(depths[-1]) / size
    most = int(depths[int((1 - _DEEPER) * (size - 1))]) / size
    # To sort a tail costs more than to count a few points; depths of the pilot rows are too low.
    share = deepest if deepest < most + 0.05 else most
    return 1.3 * share + 4 * math.sqrt(share / size) + 4 / size


def _lower_by_tails(
    projections: torch.Tensor,
    pilot: torch.Tensor,
    share: float,
    cap: int,
    best: torch.Tensor,
) -> int | None:
    """Lower `best` (n,) along rows of projections (B, n); how many the smallest tail holds.

    None where a tail holds more than there is room for.
    """
    count, n = projections.shape
    ordered = pilot.sort(dim=1).values
    at = min(pilot.shape[1] - 1, max(0, int(share * pilot.shape[1])))
    low, high = ordered[:, at].contiguous(), ordered[:, -1 - at].contiguous()
    found = torch.zeros(2 * count, dtype=torch.int32, device=projections.device)
    values = projections.new_full((2 * count, cap), torch.inf)
    rows = torch.empty(2 * count, cap, dtype=torch.int32, device=projections.device)
    _tails[(triton.cdiv(n, _BLOCK), count)](
        projections, low, high, found, values, rows, n, cap, count, BLOCK=_BLOCK, num_warps=8
    )
    fewest, most = int(found.min()), int(found.max())
    if most > cap:
        return None
    values, order = values[:, :most].sort(dim=1)
    _lower[(triton.cdiv(most, _RANKED), 2 * count)](
        values, order, rows, found, best, most, cap, BLOCK=_RANKED, num_warps=4
    )
    return fewest


def _counted(projections: torch.Tensor, deep: torch.Tensor, budget: int) -> torch.Tensor:
    """The smallest masses (r,) of a few points along rows of projections (B, n), by counting."""
    asked, n = len(deep), projections.shape[1]
    result = torch.full((asked,), n, dtype=torch.int32, device=deep.device)
    for which in blocks(len(projections), asked * 64, budget // 4):
        rows = projections[which]
        values, order = rows[:, deep].sort(dim=1)
        upto = torch.zeros(len(rows), asked + 1, dtype=torch.int32, device=deep.device)
        equal = torch.zeros_like(upto)
        kernel = _count_few if asked <= _FEW else _count_many
        kernel[(triton.cdiv(n, _BLOCK), len(rows))](
            rows, values, upto, equal, n, asked,
            STEPS=asked.bit_length(), BLOCK=_BLOCK, num_warps=8,
        )  # fmt: skip
        if asked > _FEW:
            # Counted at the first value that is not below; all after it are not below either.
            upto = upto.cumsum(dim=1, dtype=torch.int32)
            equal = equal.gather(1, torch.searchsorted(values, values))
        upto, equal = upto[:, :asked], equal[:, :asked]
        smaller = torch.minimum(upto, n - upto + equal)
        result.scatter_reduce_(0, order.flatten(), smaller.flatten(), "amin")
    return result


@triton.jit
def _tails(P, low, high, found, values, rows, n, cap, count, BLOCK: tl.constexpr):
    """Copy out what is below `low`, and the opposite of what is above `high`, with its rows."""
    k = tl.program_id(1)
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(P + k.to(tl.int64) * n + i, mask=i < n, other=0.0)
    for side in tl.static_range(2):
        if side == 0:
            chosen = (v < tl.load(low + k)) & (i < n)
            key = v
        else:
            chosen = (v > tl.load(high + k)) & (i < n)
            key = -v
        flags = chosen.to(tl.int32)
        line = side * count + k
        base = tl.atomic_add(found + line, tl.sum(flags, axis=0))
        at = base + tl.cumsum(flags, axis=0) - 1
        place = line.to(tl.int64) * cap + at
        tl.store(values + place, key, mask=chosen & (at < cap))
        tl.store(rows + place, i, mask=chosen & (at < cap))


@triton.jit
def _lower(values, order, rows, found, best, width, cap, BLOCK: tl.constexpr):
    """Lower the masses of a block of one sorted tail; equal values count together."""
    line = tl.program_id(1).to(tl.int64)
    j = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    size = tl.load(found + line)
    ok = j < size
    base = values + line * width
    v = tl.load(base + j, mask=ok, other=0.0)
    row = tl.load(rows + line * cap + tl.load(order + line * width + j, mask=ok, other=0), mask=ok)
    last = j
    beyond = tl.load(base + last + 1, mask=ok & (last + 1 < size), other=float("inf"))
    tied = ok & (beyond == v)
    while tl.sum(tied.to(tl.int32), axis=0) > 0:
        last += tied.to(tl.int32)
        beyond = tl.load(base + last + 1, mask=tied & (last + 1 < size), other=float("inf"))
        tied = tied & (beyond == v)
    tl.atomic_min(best + row, last + 1, mask=ok)


@triton.jit
def _count_few(
    P, values, upto, equal, n, asked, STEPS: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """How many are no larger than each of a few values, and how many are equal."""
    k = tl.program_id(1).to(tl.int64)
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(P + k * n + i, mask=i < n, other=float("inf"))
    for j in range(asked):
        x = tl.load(values + k * asked + j)
        tl.atomic_add(upto + k * (asked + 1) + j, tl.sum((v <= x).to(tl.int32), axis=0))
        tl.atomic_add(equal + k * (asked + 1) + j, tl.sum((v == x).to(tl.int32), axis=0))


@triton.jit
def _count_many(
    P, values, upto, equal, n, asked, STEPS: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """Count each number at the first of many sorted values that is not below it."""
    k = tl.program_id(1).to(tl.int64)
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(P + k * n + i, mask=i < n, other=float("inf"))
    first = tl.zeros([BLOCK], tl.int32)
    stop = tl.zeros([BLOCK], tl.int32) + asked
    for _ in range(STEPS):
        middle = (first + stop) // 2
        x = tl.load(values + k * asked + middle, mask=middle < asked, other=float("inf"))
        ahead = (first < stop) & (x < v)
        first = tl.where(ahead, middle + 1, first)
        stop = tl.where(ahead, stop, tl.minimum(stop, middle))
    tl.atomic_add(upto + k * (asked + 1) + first, 1, mask=i < n)
    x = tl.load(values + k * asked + first, mask=first < asked, other=float("inf"))
    tl.atomic_add(equal + k * (asked + 1) + first, 1, mask=(i < n) & (x == v))
