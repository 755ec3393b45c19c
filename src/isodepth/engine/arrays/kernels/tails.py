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
from isodepth.engine.arrays.kernels.middles import block_for, pilot_rows
from isodepth.engine.arrays.products import blocks

# Sizes and warps were the fastest of a few on an H200.
_BLOCK = 1024
_WARPS = 4
_RANKED = 1024
# Of the pilot rows so many may be deeper than the tails; the rest is counted.
_DEEPER = 0.02
# Tails that hold more than this share on each side are not worth it: everything is sorted.
_MOST = 0.25
_FEW = 48
_CUTS = 64
_GROUP = 16
_COUNTED = 512
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
    pilot, depths = _pilot(points[pilot_rows(n, points.device)], directions, budget)
    size = pilot.shape[1]
    share = _share_of_tails(depths)
    if share > _MOST:
        return rank.smallest_halfspace(points, None, total, directions, budget)
    at = min(size - 1, max(0, int(share * size)))
    low, high = pilot[:, at].contiguous(), pilot[:, -1 - at].contiguous()
    cap = min(n, int(n * (share + 6 * math.sqrt(share / size))) + 256)
    # A sort of (value, place) holds both twice.
    each = n * 4 + 2 * cap * (4 + 4 + 2 * 12) + 256
    cut = blocks(len(directions), each, max(budget - pilot.nbytes, budget // 4))
    best = torch.full((n,), total, dtype=torch.int32, device=points.device)
    fewest = total
    projections = None
    for which in cut:
        # The block before is given back first.
        projections = None
        projections = directions[which] @ points.T
        found = _lower_by_tails(projections, low[which], high[which], cap, best)
        if found is None:
            return rank.smallest_halfspace(points, None, total, directions, budget)
        fewest = min(fewest, found)
    # Outside a tail of that many at least one more is on either side.
    deep = (best > fewest + 1).nonzero()[:, 0]
    if len(deep) > n // _MANY:
        return rank.smallest_halfspace(points, None, total, directions, budget)
    if len(deep):
        rest = best[deep]
        places = torch.linspace(0, size - 1, _CUTS + 2, device=points.device)[1:-1].long()
        cuts = pilot[:, places]
        for which in cut:
            if len(cut) > 1:
                projections = None
                projections = directions[which] @ points.T
            assert projections is not None
            rest = lower_by_counting(projections, cuts[which], deep, rest, budget)
        best[deep] = rest
    return best.long()


def _pilot(
    few: torch.Tensor, directions: torch.Tensor, budget: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Projections (K, s) of the pilot rows, each direction sorted, and their depths (s,), rising.

    The depths only have to be about right: ties are broken by chance.
    """
    size = len(few)
    ordered = few.new_empty(len(directions), size)
    masses = torch.arange(1, size + 1, device=few.device)
    masses = torch.minimum(masses, size + 1 - masses)
    depths = torch.full((size,), size, device=few.device)
    for which in blocks(len(directions), size * 40, budget // 2):
        ordered[which], index = (directions[which] @ few.T).sort(dim=1)
        depths.scatter_reduce_(0, index.flatten(), masses.expand_as(index).flatten(), "amin")
    return ordered, depths.sort().values / size


def _share_of_tails(depths: torch.Tensor) -> float:
    """How much of the mass each tail should hold, from the depths of the pilot rows, rising."""
    size = len(depths)
    deepest, most = depths[[-1, int((1 - _DEEPER) * (size - 1))]].tolist()
    # To sort a tail costs more than to count a few points; depths of the pilot rows are too low.
    share = deepest if deepest < most + 0.05 else most
    return 1.3 * share + 4 * math.sqrt(share / size) + 4 / size


def _lower_by_tails(
    projections: torch.Tensor,
    low: torch.Tensor,
    high: torch.Tensor,
    cap: int,
    best: torch.Tensor,
) -> int | None:
    """Lower `best` (n,) along rows of projections (B, n); how many the smallest tail holds.

    Tails are what is below `low` (B,) and above `high` (B,). None where one of them holds more than
    there is room for.
    """
    count, n = projections.shape
    counted = torch.zeros(count, dtype=torch.int64, device=projections.device)
    values = projections.new_full((2 * count, cap), torch.inf)
    rows = torch.empty(2 * count, cap, dtype=torch.int32, device=projections.device)
    block = block_for(n, _BLOCK)
    _tails[(count, triton.cdiv(n, block))](
        projections, low, high, counted, values, rows, n, cap, count,
        BLOCK=block, num_warps=_WARPS,
    )  # fmt: skip
    found = torch.cat([counted & 0xFFFFFFFF, counted >> 32])
    fewest, most = int(found.min()), int(found.max())
    if most > cap:
        return None
    values, order = values[:, :most].sort(dim=1)
    _lower[(triton.cdiv(most, _RANKED), 2 * count)](
        values, order, rows, found, best, most, cap, BLOCK=_RANKED, num_warps=4
    )
    return fewest


def lower_by_counting(
    projections: torch.Tensor,
    cuts: torch.Tensor,
    deep: torch.Tensor,
    best: torch.Tensor,
    budget: int,
) -> torch.Tensor:
    """Lower `best` (r,), the masses of a few points, along rows of projections (B, n).

    Where there are more than a few, the counts at `cuts` (B, C), some rising values of every
    direction, bound their masses from both sides, and exact ones are only counted where they may be
    the smallest.
    """
    n, asked = projections.shape[1], len(deep)
    for which in blocks(len(projections), asked * 96, budget // 4):
        rows = projections[which]
        values = rows[:, deep]
        order = torch.arange(asked, device=deep.device).expand_as(values)
        if asked > _FEW:
            bounds = cuts[which].contiguous()
            upto, beyond = counts(rows, bounds)
            place = torch.searchsorted(bounds, values)
            edge = upto.new_zeros(len(rows), 1)
            # Place j: more than the cut before, no more than cut j itself.
            before = torch.cat([edge, upto], dim=1).gather(1, place)
            after = torch.cat([beyond, edge], dim=1).gather(1, place)
            least = torch.minimum(before + 1, after.clamp(min=1))
            within = torch.cat([upto, edge + n], dim=1).gather(1, place)
            most = torch.minimum(within, n - before)
            best = torch.minimum(best, most.amin(dim=0))
            open_ = least < best
            width = int(open_.sum(dim=1).max())
            if width == 0:
                continue
            order = open_.sort(dim=1, descending=True, stable=True).indices[:, :width]
            values = values.gather(1, order)
        upto, beyond = counts(rows, values.contiguous())
        smaller = torch.minimum(upto, beyond)
        best = best.scatter_reduce(0, order.flatten(), smaller.flatten(), "amin")
    return best


def counts(rows: torch.Tensor, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """How many of each row (B, n) are no larger, and no smaller, than each of its values (B, C)."""
    count, n = rows.shape
    width = values.shape[1]
    groups = triton.cdiv(width, _GROUP)
    # Enough programs to fill a device, each with enough to do.
    parts = max(1, min(triton.cdiv(n, 16 * _COUNTED), 4096 // (count * groups)))
    # No half of a number may overflow.
    parts = max(parts, triton.cdiv(n, 2**14 * _COUNTED))
    per = triton.cdiv(triton.cdiv(n, parts), _COUNTED) * _COUNTED
    out = torch.zeros(2, count, width, dtype=torch.int32, device=rows.device)
    _count[(count, groups, triton.cdiv(n, per))](
        rows, values, out[0], out[1], n, width, per, GROUP=_GROUP, BLOCK=_COUNTED, num_warps=4
    )
    return out[0], out[1]


@triton.jit
def _tails(P, low, high, counted, values, rows, n, cap, count, BLOCK: tl.constexpr):
    """Copy out what is below `low`, and the opposite of what is above `high`, with its rows.

    Both counts share one number, as in `middles`.
    """
    k = tl.program_id(0)
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    ok = i < n
    v = tl.load(P + k.to(tl.int64) * n + i, mask=ok, other=0.0)
    under = (v < tl.load(low + k)) & ok
    over = (v > tl.load(high + k)) & ok
    places = tl.cumsum(under.to(tl.int32) + (over.to(tl.int32) << 16), axis=0)
    both = tl.max(places, axis=0)
    added = ((both >> 16).to(tl.int64) << 32) + (both & 0xFFFF).to(tl.int64)
    base = tl.atomic_add(counted + k, added)
    here = (base & 0xFFFFFFFF) + (places & 0xFFFF) - 1
    there = (base >> 32) + (places >> 16) - 1
    chosen = under | over
    at = tl.where(under, here, there)
    line = tl.where(under, k, k + count).to(tl.int64)
    stored = chosen & (at < cap)
    tl.store(values + line * cap + at, tl.where(under, v, -v), mask=stored)
    tl.store(rows + line * cap + at, i, mask=stored)


@triton.jit
def _lower(values, order, rows, found, best, width, cap, BLOCK: tl.constexpr):
    """Lower the masses of a block of one sorted tail; equal values count together."""
    line = tl.program_id(1).to(tl.int64)
    j = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    size = tl.load(found + line).to(tl.int32)
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
def _count(
    P, values, upto, beyond, n, width, per, GROUP: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """Count part of one row against a group of values, both ways in the halves of one number."""
    k = tl.program_id(0).to(tl.int64)
    j = tl.program_id(1) * GROUP + tl.arange(0, GROUP)
    x = tl.load(values + k * width + j, mask=j < width, other=0.0)
    start = tl.program_id(2) * per
    found = tl.zeros([BLOCK, GROUP], tl.int32)
    for first in range(start, tl.minimum(start + per, n), BLOCK):
        i = first + tl.arange(0, BLOCK)
        # Nothing is larger or smaller than NaN.
        v = tl.load(P + k * n + i, mask=i < n, other=float("nan"))[:, None]
        found += (v <= x[None, :]).to(tl.int32) + ((v >= x[None, :]).to(tl.int32) << 16)
    at = k * width + j
    tl.atomic_add(upto + at, tl.sum(found & 0xFFFF, axis=0), mask=j < width)
    tl.atomic_add(beyond + at, tl.sum(found >> 16, axis=0), mask=j < width)
