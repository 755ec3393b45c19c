"""Halfspace masses from tails: only what lies far out along a direction is sorted.

A point outside the tails of every direction is deeper than all of them, so whatever mass a tail
gives is final once it is smaller than every tail. The tails are made to hold more than the depth of
the deepest of a random part of the rows. The few points that are deeper still are counted; where
they are many, and in few dimensions, where depths reach up to one half, everything is sorted.
"""

from __future__ import annotations

import math
from typing import Any

import torch
import triton
import triton.language as tl

from isodepth.tensors.kernels.middles import block_for, pilot_rows
from isodepth.tensors.products import blocks

# Sizes and warps were the fastest of a few on an H200.
_BLOCK = 1024
_WARPS = 4
_RANKED = 1024
# Tails that hold more than this share on each side are not worth it: everything is sorted.
_MOST = 0.25
# Counting more points than these takes longer than to sort all.
_FEW = 512
_GROUP = 16
_COUNTED = 512


def smallest_halfspace(
    points: torch.Tensor,
    masses: torch.Tensor | None,
    total: int,
    directions: torch.Tensor,
    budget: int,
) -> torch.Tensor:
    """The same as `tensors.ranks.smallest_halfspace`, for float32 and unit masses."""
    assert masses is None
    n = len(points)
    pilot, deepest = _pilot(points[pilot_rows(n, points.device)], directions, budget)
    size = pilot.shape[1]
    # Depths among the pilot rows are too low.
    share = 1.3 * deepest + 4 * math.sqrt(deepest / size) + 4 / size
    if share > _MOST:
        return _by_sorting(points, directions, budget)
    low, high = (
        pilot[:, int(share * size)].contiguous(),
        pilot[:, -1 - int(share * size)].contiguous(),
    )
    cap = min(n, int(n * (share + 6 * math.sqrt(share / size))) + 256)
    # A sort of (value, place) holds both twice.
    each = n * 4 + 2 * cap * (4 + 4 + 2 * 12) + 256
    best = torch.full((n,), total, dtype=torch.int32, device=points.device)
    fewest = total
    cut = blocks(len(directions), each, max(budget - pilot.nbytes, budget // 4))
    projections = None
    for which in cut:
        projections = None  # or the next block would be made while this one is still held
        projections = directions[which] @ points.T
        found = _lower_by_tails(projections, low[which], high[which], cap, best)
        if found is None:
            return _by_sorting(points, directions, budget)
        fewest = min(fewest, found)
    # Outside a tail of that many at least one more is on either side.
    deep = (best > fewest + 1).nonzero()[:, 0]
    if len(deep) > _FEW:
        return _by_sorting(points, directions, budget)
    for which in cut if len(deep) else ():
        if len(cut) > 1:
            projections = None
            projections = directions[which] @ points.T
        best[deep] = torch.minimum(best[deep], _counted(projections, deep))
    return best.long()


def _by_sorting(points: torch.Tensor, directions: torch.Tensor, budget: int) -> torch.Tensor:
    """The masses from a sort of everything along every direction."""
    n = len(points)
    best = torch.full((n,), n, dtype=torch.int32, device=points.device)
    # Projections, and what a sort of (value, place) holds.
    for which in blocks(len(directions), n * (4 + 3 * 12), budget):
        values, order = (directions[which] @ points.T).sort(dim=1)
        parts = triton.cdiv(n, _RANKED)
        _lower_all[(parts * len(values),)](
            values, order, best, n, parts, BLOCK=_RANKED, num_warps=4
        )
        # Or the next block would be made while this one is still held.
        del values, order
    return best.long()


def _pilot(few: torch.Tensor, directions: torch.Tensor, budget: int) -> tuple[torch.Tensor, float]:
    """Projections (K, s) of the pilot rows, sorted, and the largest depth among these rows."""
    size = len(few)
    parts = triton.cdiv(size, _RANKED)
    masses = torch.full((size,), size, dtype=torch.int32, device=few.device)
    ordered = []
    for which in blocks(len(directions), size * 40, budget // 2):
        values, index = (directions[which] @ few.T).sort(dim=1)
        _lower_all[(parts * len(values),)](
            values, index, masses, size, parts, BLOCK=_RANKED, num_warps=4
        )
        ordered.append(values)
    return torch.cat(ordered), int(masses.max()) / size


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
    fewest, most = torch.stack(torch.aminmax(found)).tolist()
    if most > cap:
        return None
    values, order = values[:, :most].sort(dim=1)
    _lower[(triton.cdiv(most, _RANKED), 2 * count)](
        values, order, rows, found, best, most, cap, BLOCK=_RANKED, num_warps=4
    )
    return fewest


def _counted(projections: Any, deep: torch.Tensor) -> torch.Tensor:
    """The smallest masses (r,) of a few points along rows of projections (B, n)."""
    count, n = projections.shape
    values = projections[:, deep]
    groups = triton.cdiv(len(deep), _GROUP)
    # Enough programs to fill a device, each with enough to do; no half of a number may overflow.
    parts = max(1, min(triton.cdiv(n, 16 * _COUNTED), 4096 // (count * groups)))
    parts = max(parts, triton.cdiv(n, 2**14 * _COUNTED))
    per = triton.cdiv(triton.cdiv(n, parts), _COUNTED) * _COUNTED
    found = torch.zeros(2, *values.shape, dtype=torch.int32, device=values.device)
    _count[(count, groups, triton.cdiv(n, per))](
        projections, values, found, n, len(deep), per, values.numel(),
        GROUP=_GROUP, BLOCK=_COUNTED, num_warps=4,
    )  # fmt: skip
    return found.amin(dim=(0, 1))


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
def _equal_to_come(base, v, j, ok, size, STEP: tl.constexpr):
    """How many of the places after j (or before, with STEP -1) of a sorted row hold the same value.

    Nearly always none, or one; where many do, their end is closed in on.
    """
    at = j + STEP
    there = ok & (at >= 0) & (at < size)
    going = there & (tl.load(base + at, mask=there, other=float("nan")) == v)
    known = going.to(tl.int32)
    while tl.max(going.to(tl.int32), axis=0) > 0:
        at = j + STEP * 2 * known
        there = going & (at >= 0) & (at < size)
        going = there & (tl.load(base + at, mask=there, other=float("nan")) == v)
        known = tl.where(going, 2 * known, known)
    beyond = tl.where(known > 0, 2 * known, 1)
    while tl.max(beyond - known, axis=0) > 1:
        half = (known + beyond) // 2
        at = j + STEP * half
        there = (beyond - known > 1) & (at >= 0) & (at < size)
        same = there & (tl.load(base + at, mask=there, other=float("nan")) == v)
        wide = beyond - known > 1
        known = tl.where(wide & same, half, known)
        beyond = tl.where(wide & ~same, half, beyond)
    return known


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
    mass = j + 1 + _equal_to_come(base, v, j, ok, size, 1)
    # Most directions lower nothing, and to look is cheaper than to try.
    lower = ok & (mass < tl.load(best + row, mask=ok, other=0))
    tl.atomic_min(best + row, mass, mask=lower)


@triton.jit
def _lower_all(values, order, best, n, parts, BLOCK: tl.constexpr):
    """Lower the masses of a block of one direction, sorted, from both of its ends."""
    line = (tl.program_id(0) // parts).to(tl.int64)
    j = (tl.program_id(0) % parts) * BLOCK + tl.arange(0, BLOCK)
    ok = j < n
    base = values + line * n
    v = tl.load(base + j, mask=ok, other=0.0)
    row = tl.load(order + line * n + j, mask=ok, other=0)
    upto = j + 1 + _equal_to_come(base, v, j, ok, n, 1)
    mass = tl.minimum(upto, n - j + _equal_to_come(base, v, j, ok, n, -1))
    lower = ok & (mass < tl.load(best + row, mask=ok, other=0))
    tl.atomic_min(best + row, mass, mask=lower)


@triton.jit
def _count(
    P, values, out, n, width, per, opposite, GROUP: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """How many of part of one row are no larger, and no smaller, than each of a group of values.

    Both counts share one number, as in `middles`.
    """
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
    at = out + k * width + j
    tl.atomic_add(at, tl.sum(found & 0xFFFF, axis=0), mask=j < width)
    tl.atomic_add(at + opposite, tl.sum(found >> 16, axis=0), mask=j < width)
