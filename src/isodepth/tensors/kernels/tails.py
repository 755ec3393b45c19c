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

from isodepth.tensors.kernels.middles import block_for, pilot_rows
from isodepth.tensors.kernels.multiply import products
from isodepth.tensors.products import blocks

# Sizes and warps were the fastest of a few on an H200.
_BLOCK = 1024
_WARPS = 4
_RANKED = 1024
# Of the pilot rows so many may be deeper than the tails; the rest is counted.
_DEEPER = 0.05
# Tails that hold more than this share on each side are not worth it: everything is sorted.
_MOST = 0.25
_FEW = 48
_CUTS = 32
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
    """The same as `tensors.rank.smallest_halfspace`, for float32 and unit masses."""
    assert masses is None
    n = len(points)
    pilot, depths = _pilot(points[pilot_rows(n, points.device)], directions, budget)
    size = pilot.shape[1]
    share, deepest = _shares(depths)
    if share > _MOST:
        return _by_sorting(points, directions, budget)
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
        projections = products(directions[which], points)
        found = _lower_by_tails(projections, low[which], high[which], cap, best)
        if found is None:
            return _by_sorting(points, directions, budget)
        fewest = min(fewest, found)
    # Outside a tail of that many at least one more is on either side.
    deep = (best > fewest + 1).nonzero()[:, 0]
    if len(deep) > n // _MANY:
        return _by_sorting(points, directions, budget)
    if len(deep):
        rest = best[deep]
        cuts = pilot[:, _places_of_cuts(share, deepest, size, points.device)]
        for which in cut:
            if len(cut) > 1:
                projections = None
                projections = products(directions[which], points)
            assert projections is not None
            rest = lower_by_counting(projections, cuts[which], deep, rest, budget)
        best[deep] = rest
    return best.long()


def _by_sorting(points: torch.Tensor, directions: torch.Tensor, budget: int) -> torch.Tensor:
    """The masses from a sort of everything along every direction."""
    n = len(points)
    best = torch.full((n,), n, dtype=torch.int32, device=points.device)
    # Projections, and what a sort of (value, place) holds.
    for which in blocks(len(directions), n * (4 + 3 * 12), budget):
        values, order = products(directions[which], points).sort(dim=1)
        parts = triton.cdiv(n, _RANKED)
        _lower_all[(parts * len(values),)](
            values, order, best, n, parts, BLOCK=_RANKED, num_warps=4
        )
        # Or the next block would be made while this one is still held.
        del values, order
    return best.long()


def _pilot(
    few: torch.Tensor, directions: torch.Tensor, budget: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Projections (K, s) of the pilot rows, sorted, and the depths (s,) of these rows, rising."""
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
    depths = masses.sort().values / size
    return ordered[0] if len(ordered) == 1 else torch.cat(ordered), depths


def _shares(depths: torch.Tensor) -> tuple[float, float]:
    """How much of the mass each tail should hold, and how deep the deepest point may be.

    Both from the depths of the pilot rows, rising.
    """
    size = len(depths)
    deepest, most = torch.stack([depths[-1], depths[int((1 - _DEEPER) * (size - 1))]]).tolist()
    # To sort a tail costs more than to count a few points.
    share = deepest if deepest < most + 0.05 else most
    return _at_least(share, size), _at_least(deepest, size)


def _at_least(share: float, size: int) -> float:
    """A share that is larger than the depth of some point, from its depth among `size` rows.

    Depths among the pilot rows are too low.
    """
    return 1.3 * share + 4 * math.sqrt(share / size) + 4 / size


def _places_of_cuts(share: float, deepest: float, size: int, device: torch.device) -> torch.Tensor:
    """Places of some of `size` pilot values, rising, from both tails to the deepest point."""
    low, high = share * size, min(0.5, max(share, deepest)) * size
    places = torch.linspace(low, high, _CUTS // 2, device=device).long().clamp_(max=(size - 1) // 2)
    return torch.cat([places, size - 1 - places.flip(0)])


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
            upto = counts_upto(rows, bounds)
            place = torch.searchsorted(bounds, values)
            # Place j: more than the cut before, no more than cut j itself.
            upto = torch.nn.functional.pad(upto, (1, 1))
            upto[:, -1] = n
            before, within = upto.gather(1, place), upto.gather(1, place + 1)
            best = torch.minimum(best, torch.minimum(within, n - before).amin(dim=0))
            open_ = torch.minimum(before, n - within) + 1 < best
            # As long as it is known on which side of the middle a value lies, one count will do.
            lower, upper = 2 * within <= n, 2 * before >= n
            unsure = (open_ & ~(lower | upper)).any()
            asked_for = open_.sum(dim=1)
            width, both = torch.stack([asked_for.max(), unsure.long()]).tolist()
            if width == 0:
                continue
            order = open_.sort(dim=1, descending=True, stable=True).indices[:, :width]
            values = values.gather(1, order)
            if not both:
                smaller = _sided_counts(rows, values, upper.gather(1, order), asked_for)
                best = best.scatter_reduce(0, order.flatten(), smaller.flatten(), "amin")
                continue
        upto, beyond = counts(rows, values.contiguous())
        smaller = torch.minimum(upto, beyond)
        best = best.scatter_reduce(0, order.flatten(), smaller.flatten(), "amin")
    return best


def _sided_counts(
    rows: torch.Tensor, values: torch.Tensor, upper: torch.Tensor, asked_for: torch.Tensor
) -> torch.Tensor:
    """How many of each row (B, n) are no larger than its values (B, C), no smaller where `upper`.

    Of the first values of each row, as many as are asked for (B,); for others the whole number.
    """
    n = rows.shape[1]
    # What is smaller than a number is no larger than the number before.
    previous = torch.nextafter(values, values.new_full((), -torch.inf))
    found = counts_upto(rows, torch.where(upper, previous, values), asked_for)
    asked = torch.arange(values.shape[1], device=values.device) < asked_for[:, None]
    return torch.where(asked, torch.where(upper, n - found, found), n)


def counts_upto(
    rows: torch.Tensor, values: torch.Tensor, asked_for: torch.Tensor | None = None
) -> torch.Tensor:
    """How many of each row (B, n) are no larger than each of its values (B, C).

    Where only the first ones (B,) are asked for, others are left out as far as that saves time.
    """
    return _counted(rows, values, asked_for, both=False)[0]


def counts(rows: torch.Tensor, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """How many of each row (B, n) are no larger, and no smaller, than each of its values (B, C)."""
    found = _counted(rows, values, None, both=True)
    return found[0], found[1]


def _counted(
    rows: torch.Tensor, values: torch.Tensor, asked_for: torch.Tensor | None, both: bool
) -> torch.Tensor:
    count, n = rows.shape
    width = values.shape[1]
    # Half of a group may be enough for the rest.
    size = _GROUP // 2 if 0 < width % _GROUP <= _GROUP // 2 else _GROUP
    groups = triton.cdiv(width, size)
    # Enough programs to fill a device, each with enough to do.
    parts = max(1, min(triton.cdiv(n, 16 * _COUNTED), 4096 // (count * groups)))
    # No half of a number may overflow.
    parts = max(parts, triton.cdiv(n, 2**14 * _COUNTED))
    per = triton.cdiv(triton.cdiv(n, parts), _COUNTED) * _COUNTED
    out = torch.zeros(1 + both, count, width, dtype=torch.int32, device=rows.device)
    _count[(count, groups, triton.cdiv(n, per))](
        rows, values, out if asked_for is None else asked_for, out, n, width, per, count * width,
        SOME=asked_for is not None, BOTH=both, GROUP=size, BLOCK=_COUNTED, num_warps=4,
    )  # fmt: skip
    return out


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
    P, values, asked_for, out, n, width, per, other,
    SOME: tl.constexpr, BOTH: tl.constexpr, GROUP: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Count part of one row against a group of values, both ways in the halves of one number."""
    k = tl.program_id(0).to(tl.int64)
    j = tl.program_id(1) * GROUP + tl.arange(0, GROUP)
    x = tl.load(values + k * width + j, mask=j < width, other=0.0)
    start = tl.program_id(2) * per
    stop = tl.minimum(start + per, n)
    if SOME:
        stop = tl.where(tl.program_id(1) * GROUP < tl.load(asked_for + k), stop, start)
    found = tl.zeros([BLOCK, GROUP], tl.int32)
    for first in range(start, stop, BLOCK):
        i = first + tl.arange(0, BLOCK)
        # Nothing is larger or smaller than NaN.
        v = tl.load(P + k * n + i, mask=i < n, other=float("nan"))[:, None]
        found += (v <= x[None, :]).to(tl.int32)
        if BOTH:
            found += (v >= x[None, :]).to(tl.int32) << 16
    at = out + k * width + j
    if BOTH:
        tl.atomic_add(at + other, tl.sum(found >> 16, axis=0), mask=j < width)
        found = found & 0xFFFF
    tl.atomic_add(at, tl.sum(found, axis=0), mask=j < width)
