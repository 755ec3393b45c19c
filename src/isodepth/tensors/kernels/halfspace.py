"""Halfspace masses from histograms: along a direction only what may decide a depth is sorted.

The counts of a histogram bound the mass that a direction gives to a point from both sides. The
smallest upper bound over all directions rules out nearly all of them; the bins of the others are
opened: their values are sorted and ranked. Whatever the bins are, the result is exact.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from isodepth.tensors.kernels.middles import pilot_rows
from isodepth.tensors.kernels.multiply import products
from isodepth.tensors.products import blocks

# Sizes and warps were the fastest of a few on an H200.
_BLOCK = 1024
_RANKED = 1024
_PROGRAMS = 4096
# So many values a bin, about, and no more bins than that.
_PER_BIN = 8
_MOST_BINS = 1 << 16
# Rows that say where the bins are.
_PILOT = 1024


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
    # The table of all directions takes an eighth of the budget at most.
    wanted = min(n // _PER_BIN, budget // (32 * len(directions)), _MOST_BINS)
    half = triton.next_power_of_2(max(wanted, 4)) // 2
    center, scale = _place_bins(directions, points[pilot_rows(n, points.device)[:_PILOT]])
    # Projections, and beside the table what is made of it; as much again is left for sorting.
    cut = blocks(len(directions), n * 4 + half * 64, budget - budget // 3)
    best = torch.full((n,), n, dtype=torch.int32, device=points.device)
    tables = []
    projections = None
    for which in cut:
        # The block before is given back first.
        projections = None
        projections = products(directions[which], points)
        tables.append(_count(projections, center[which], scale[which], half))
        _bound(projections, center[which], scale[which], tables[-1], best)
    for which, upto in zip(cut, tables, strict=True):
        if len(cut) > 1:
            projections = None
            projections = products(directions[which], points)
        _open(projections, center[which], scale[which], upto, best, budget // 3)
    return best.long()


def _place_bins(directions: torch.Tensor, few: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The median along each direction, and one over half the distance of the quartiles.

    Of the range where the quartiles are equal, and zero where that is nothing either.
    """
    ordered = (directions @ few.T).sort(dim=1).values
    lower, center, upper = (ordered[:, int(q * (len(few) - 1))] for q in (0.25, 0.5, 0.75))
    spread = torch.where(upper > lower, upper - lower, ordered[:, -1] - ordered[:, 0]) / 2
    scale = torch.where(spread > 0, 1 / spread, 0).clamp_(max=torch.finfo(few.dtype).max)
    return center.contiguous(), scale.contiguous()


def _count(
    projections: torch.Tensor, center: torch.Tensor, scale: torch.Tensor, half: int
) -> torch.Tensor:
    """How many of each row of projections (B, n) lie in each bin or before it, int32 (B, bins)."""
    count, n = projections.shape
    counted = torch.zeros(count, 2 * half, dtype=torch.int32, device=projections.device)
    parts = triton.cdiv(n, _BLOCK)
    _histogram[(parts * count,)](
        projections, center, scale, counted, n, parts, HALF=half, BLOCK=_BLOCK, num_warps=4
    )
    return torch.cumsum(counted, dim=1, dtype=torch.int32)


def _bound(
    projections: torch.Tensor,
    center: torch.Tensor,
    scale: torch.Tensor,
    upto: torch.Tensor,
    best: torch.Tensor,
) -> None:
    """Lower `best` (n,) to the most that a point's bins allow."""
    count, n = projections.shape
    parts = triton.cdiv(n, _BLOCK)
    per = triton.cdiv(count, max(1, _PROGRAMS // parts))
    _lower_bounds[(parts * triton.cdiv(count, per),)](
        projections, center, scale, upto, best, n, count, parts, per,
        HALF=upto.shape[1] // 2, BLOCK=_BLOCK, num_warps=4,
    )  # fmt: skip


def _open(
    projections: torch.Tensor,
    center: torch.Tensor,
    scale: torch.Tensor,
    upto: torch.Tensor,
    best: torch.Tensor,
    budget: int,
) -> None:
    """Lower `best` (n,) to the masses along rows of projections (B, n), where they are smaller."""
    count, n = projections.shape
    bins = upto.shape[1]
    parts = triton.cdiv(n, _BLOCK)
    opened = torch.zeros(count, bins, dtype=torch.int8, device=best.device)
    _mark[(parts * count,)](
        projections, center, scale, upto, best, opened, n, parts,
        HALF=bins // 2, BLOCK=_BLOCK, num_warps=4,
    )  # fmt: skip
    inside = torch.diff(upto, dim=1, prepend=upto.new_zeros(count, 1)).mul_(opened == 0)
    # What lies before a value in closed bins, and how many values are in open ones.
    closed = torch.cumsum(inside, dim=1, dtype=torch.int32)
    found = n - closed[:, -1]
    most = int(found.max())
    if most == 0:
        return
    # A sort of (value, place) holds both twice.
    for which in blocks(count, most * (4 + 4 + 2 * 12), budget):
        rows = len(found[which])
        values = projections.new_full((rows, most), torch.inf)
        index = torch.empty(rows, most, dtype=torch.int32, device=best.device)
        filled = torch.zeros(rows, dtype=torch.int32, device=best.device)
        where = center[which], scale[which]
        _collect[(parts * rows,)](
            projections[which], *where, opened[which], filled, values, index, n, parts, most,
            HALF=bins // 2, BLOCK=_BLOCK, num_warps=4,
        )  # fmt: skip
        values, order = values.sort(dim=1)
        ranked = triton.cdiv(most, _RANKED)
        _lower[(ranked * rows,)](
            values, order, index, *where, closed[which], found[which], best, n, most, ranked,
            HALF=bins // 2, BLOCK=_RANKED, num_warps=4,
        )  # fmt: skip
        # Or the next block would be made while this one is still held.
        del values, order, index


@triton.jit
def _bin(v, center, scale, HALF: tl.constexpr):
    """The bin of a value: narrow in the middle, wide far out, and never lower for a larger value.

    Each step is rounded correctly, and so it never turns the order of two values round.
    """
    t = (v - center) * scale
    steps = (HALF * tl.div_rn(tl.full(v.shape, 1.0, tl.float32), 1.0 + tl.abs(t))).to(tl.int32)
    steps = tl.minimum(steps, HALF - 1)
    return tl.where(t < 0, steps, 2 * HALF - 1 - steps)


@triton.jit
def _load(P, center, scale, k, i, n, HALF: tl.constexpr):
    """The projections of points i along direction k, and their bins."""
    v = tl.load(P + k * n + i, mask=i < n, other=0.0)
    return v, _bin(v, tl.load(center + k), tl.load(scale + k), HALF)


@triton.jit
def _around(upto, k, b, ok, HALF: tl.constexpr):
    """How many values lie before bin b of direction k, and before its end."""
    at = upto + k * 2 * HALF + b
    return tl.load(at - 1, mask=ok & (b > 0), other=0), tl.load(at, mask=ok, other=0)


@triton.jit
def _histogram(P, center, scale, counted, n, parts, HALF: tl.constexpr, BLOCK: tl.constexpr):
    k = (tl.program_id(0) // parts).to(tl.int64)
    i = (tl.program_id(0) % parts) * BLOCK + tl.arange(0, BLOCK)
    _, b = _load(P, center, scale, k, i, n, HALF)
    tl.atomic_add(counted + k * 2 * HALF + b, 1, mask=i < n, sem="relaxed")


@triton.jit
def _lower_bounds(
    P, center, scale, upto, best, n, count, parts, per, HALF: tl.constexpr, BLOCK: tl.constexpr
):
    """Lower the masses of a block of points to what some directions leave possible."""
    first = (tl.program_id(0) // parts).to(tl.int64) * per
    i = (tl.program_id(0) % parts) * BLOCK + tl.arange(0, BLOCK)
    ok = i < n
    lowest = tl.full([BLOCK], 2147483647, tl.int32)
    for k in range(first, tl.minimum(first + per, count)):
        _, b = _load(P, center, scale, k, i, n, HALF)
        before, within = _around(upto, k, b, ok, HALF)
        lowest = tl.minimum(lowest, tl.minimum(within, n - before))
    tl.atomic_min(best + i, lowest, mask=ok, sem="relaxed")


@triton.jit
def _mark(P, center, scale, upto, best, opened, n, parts, HALF: tl.constexpr, BLOCK: tl.constexpr):
    """Open the bins of one direction that may hold a smaller mass than is known."""
    k = (tl.program_id(0) // parts).to(tl.int64)
    i = (tl.program_id(0) % parts) * BLOCK + tl.arange(0, BLOCK)
    ok = i < n
    _, b = _load(P, center, scale, k, i, n, HALF)
    before, within = _around(upto, k, b, ok, HALF)
    # A value itself counts on both of its sides.
    smaller = tl.minimum(before, n - within) + 1 < tl.load(best + i, mask=ok, other=0)
    tl.store(opened + k * 2 * HALF + b, tl.full([BLOCK], 1, tl.int8), mask=ok & smaller)


@triton.jit
def _collect(
    P, center, scale, opened, filled, values, index, n, parts, most,
    HALF: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Copy out what is in open bins, with its place."""
    k = (tl.program_id(0) // parts).to(tl.int64)
    i = (tl.program_id(0) % parts) * BLOCK + tl.arange(0, BLOCK)
    ok = i < n
    v, b = _load(P, center, scale, k, i, n, HALF)
    chosen = ok & (tl.load(opened + k * 2 * HALF + b, mask=ok, other=0) != 0)
    place = tl.cumsum(chosen.to(tl.int32), axis=0)
    base = tl.atomic_add(filled + k, tl.max(place, axis=0), sem="relaxed")
    at = k * most + base + place - 1
    tl.store(values + at, v, mask=chosen)
    tl.store(index + at, i, mask=chosen)


@triton.jit
def _lower(
    values, order, index, center, scale, closed, found, best, n, most, parts,
    HALF: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Lower the masses of a block of the values of open bins, sorted; equal ones count together."""
    k = (tl.program_id(0) // parts).to(tl.int64)
    j = (tl.program_id(0) % parts) * BLOCK + tl.arange(0, BLOCK)
    size = tl.load(found + k)
    ok = j < size
    v = tl.load(values + k * most + j, mask=ok, other=0.0)
    b = _bin(v, tl.load(center + k), tl.load(scale + k), HALF)
    before = j + tl.load(closed + k * 2 * HALF + b, mask=ok, other=0)
    upto = before + 1 + _equal_to_come(values + k * most, v, j, ok, size, 1)
    beyond = n - before + _equal_to_come(values + k * most, v, j, ok, size, -1)
    mass = tl.minimum(upto, beyond)
    row = tl.load(index + k * most + tl.load(order + k * most + j, mask=ok, other=0), mask=ok)
    # Most directions lower nothing, and to look is cheaper than to try.
    lower = ok & (mass < tl.load(best + row, mask=ok, other=0))
    tl.atomic_min(best + row, mass, mask=lower, sem="relaxed")


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
