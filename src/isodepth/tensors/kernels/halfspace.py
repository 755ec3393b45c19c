"""Halfspace masses from histograms: along a direction only what may decide a depth is sorted.

The counts of a histogram bound the mass that a direction gives to a point from both sides. The
smallest upper bound over all directions rules out nearly all of them; the bins of the others are
opened: their values are sorted and ranked. Whatever the bins are, the result is exact.
"""

from __future__ import annotations

import math

import torch
import triton
import triton.language as tl

from isodepth.tensors import ranks
from isodepth.tensors.kernels.middles import pilot_rows
from isodepth.tensors.kernels.multiply import products
from isodepth.tensors.products import blocks

# Sizes were the fastest of a few on an H200.
_BLOCK = 1024
_RANKED = 1024
_PROGRAMS = 4096
# So many values a bin, about, and no more bins than that.
_PER_BIN = 16
_MOST_BINS = 1 << 16
# Rows that say where the bins are.
_PILOT = 2048
# The deepest point is no more than so many times as deep as the deepest of these, all but surely.
_DEEPER = 4.0
# So many cells of a grid.
_CELLS = 1024


def smallest_halfspace(
    points: torch.Tensor,
    masses: torch.Tensor | None,
    total: int,
    directions: torch.Tensor,
    budget: int,
) -> torch.Tensor:
    """The same as `tensors.ranks.smallest_halfspace`, for float32 and unit masses."""
    assert masses is None
    few = points[pilot_rows(total, points.device)[:_PILOT]]
    deepest = float(ranks.smallest_halfspace(few, None, len(few), directions, budget).max())
    share = (_DEEPER * deepest + 8 * math.sqrt(deepest) + 8) / len(few)
    order = _neighbors_together(points, few)
    points = points[order]
    found = _by_bins(points, directions, few, share, budget) if share < 0.4 else None
    if found is None:
        found = _by_bins(points, directions, few, 0.5, budget)
    assert found is not None
    return torch.empty_like(order).scatter_(0, order, found.long())


def _neighbors_together(points: torch.Tensor, few: torch.Tensor) -> torch.Tensor:
    """An order (n,) in which the points of a cell of a grid follow each other.

    Along every direction their bins are then close to each other in memory, too.
    """
    d = points.shape[1]
    side = int(_CELLS ** (1 / d) + 1e-9)
    if side < 2:
        return torch.arange(len(points), device=points.device)
    cuts = torch.arange(1, side, device=points.device) * len(few) // side
    edges = few.T.sort(dim=1).values[:, cuts].contiguous()
    cells = torch.searchsorted(edges, points.T.contiguous())
    powers = side ** torch.arange(d, device=points.device)
    return (cells * powers[:, None]).sum(dim=0).argsort()


def _edges(directions: torch.Tensor, few: torch.Tensor, share: float) -> torch.Tensor:
    """Where the middle bin of each direction begins and ends, and the scales of the tails, (K, 4).

    Each tail holds that share of the few rows. Half of it is within one unit of the middle bin.
    """
    ordered = (directions @ few.T).sort(dim=1).values
    at, last = int(share * (len(few) - 1)), len(few) - 1
    sides = []
    for inner, outer, end in ((at, at // 2, 0), (last - at, last - at // 2, last)):
        edge = ordered[:, inner]
        unit = (ordered[:, outer] - edge).abs()
        unit = torch.where(unit > 0, unit, (ordered[:, end] - edge).abs())
        sides += [edge, torch.where(unit > 0, 1 / unit, 0)]
    return torch.stack(sides, dim=1).clamp_(max=torch.finfo(few.dtype).max)


def _by_bins(
    points: torch.Tensor, directions: torch.Tensor, few: torch.Tensor, share: float, budget: int
) -> torch.Tensor | None:
    """The masses, int32 (n,), with tails that hold about that share of the points.

    None where a point may be deeper than all tails: middle bins hold too much to be opened.
    """
    n = len(points)
    edges = _edges(directions, few, share)
    # The table of all directions takes an eighth of the budget at most.
    wanted = min(n // _PER_BIN, budget // (32 * len(directions)), _MOST_BINS) * 2 * share
    half = triton.next_power_of_2(max(int(wanted), 4)) // 2
    # Projections, and beside the table what is made of it; as much as is left is for sorting.
    cut = blocks(len(directions), n * 4 + half * 64, budget - budget // 3)
    best = torch.full((n,), n, dtype=torch.int32, device=points.device)
    tables = []
    projections = None
    for which in cut:
        # The block before is given back first.
        projections = None
        projections = products(directions[which], points)
        tables.append(_count(projections, edges[which], half))
        _bound(projections, edges[which], tables[-1], best)
    outside = torch.cat([torch.minimum(t[:, half - 1], n - t[:, half]) for t in tables]).amin()
    if share < 0.5 and bool(best.amax() > outside + 1):
        return None
    for which, upto in zip(cut, tables, strict=True):
        if len(cut) > 1:
            projections = None
            projections = products(directions[which], points)
        assert projections is not None
        _open(projections, edges[which], upto, best, budget // 3)
    return best


def _before(upto: torch.Tensor) -> torch.Tensor:
    """How many lie before each bin, from how many lie in it or before it, (B, bins)."""
    return torch.nn.functional.pad(upto[:, :-1], (1, 0))


def _least(upto: torch.Tensor) -> torch.Tensor:
    """A mass that no value of a bin is below: a value itself counts on both of its sides."""
    return torch.minimum(_before(upto), upto[:, -1:] - upto) + 1


def _count(projections: torch.Tensor, edges: torch.Tensor, half: int) -> torch.Tensor:
    """How many of each row of projections (B, n) lie in each bin or before it, int32 (B, bins)."""
    count, n = projections.shape
    counted = torch.zeros(count, 2 * half, dtype=torch.int32, device=projections.device)
    parts = triton.cdiv(n, _BLOCK)
    _histogram[(parts * count,)](
        projections, edges, counted, n, parts, HALF=half, BLOCK=_BLOCK, num_warps=4
    )
    # The middle one is not counted, as all programs would count there at the same time.
    counted[:, half] = n - counted.sum(dim=1, dtype=torch.int32)
    return torch.cumsum(counted, dim=1, dtype=torch.int32)


def _bound(
    projections: torch.Tensor, edges: torch.Tensor, upto: torch.Tensor, best: torch.Tensor
) -> None:
    """Lower `best` (n,) to the most that a point's bins allow."""
    count, n = projections.shape
    most = torch.minimum(upto, n - _before(upto))
    parts = triton.cdiv(n, _BLOCK)
    per = triton.cdiv(count, max(1, _PROGRAMS // parts))
    _lower_to_bounds[(parts * triton.cdiv(count, per),)](
        projections, edges, most, best, n, count, parts, per,
        HALF=upto.shape[1] // 2, BLOCK=_BLOCK, num_warps=4,
    )  # fmt: skip


def _open(
    projections: torch.Tensor,
    edges: torch.Tensor,
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
        projections, edges, _least(upto), best, opened, n, parts,
        HALF=bins // 2, BLOCK=_BLOCK, num_warps=4,
    )  # fmt: skip
    # How many values of closed bins lie before the end of each bin.
    closed = torch.cumsum((upto - _before(upto)).mul_(opened == 0), dim=1, dtype=torch.int32)
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
        _collect[(parts * rows,)](
            projections[which], edges[which], opened[which], filled, values, index, n, parts, most,
            HALF=bins // 2, BLOCK=_BLOCK, num_warps=4,
        )  # fmt: skip
        values, order = values.sort(dim=1)
        ranked = triton.cdiv(most, _RANKED)
        _lower[(ranked * rows,)](
            values, order, index, edges[which], closed[which], found[which], best, n, most, ranked,
            HALF=bins // 2, BLOCK=_RANKED, num_warps=4,
        )  # fmt: skip
        # Or the next block would be made while this one is still held.
        del values, order, index


@triton.jit
def _bin(v, edges, k, HALF: tl.constexpr):
    """The bin of a value along direction k: wider farther out, never lower for a larger value.

    Each step is rounded correctly, and so it never turns the order of two values round.
    """
    low, high = tl.load(edges + 4 * k), tl.load(edges + 4 * k + 2)
    below = (v - low) * tl.load(edges + 4 * k + 1)
    above = (v - high) * tl.load(edges + 4 * k + 3)
    t = tl.where(v < low, below, tl.where(v > high, above, 0.0))
    steps = (HALF * tl.div_rn(tl.full(v.shape, 1.0, tl.float32), 1.0 + tl.abs(t))).to(tl.int32)
    steps = tl.minimum(steps, HALF - 1)
    upper = tl.minimum(2 * HALF - steps, 2 * HALF - 1)
    return tl.where(t < 0, steps, tl.where(t > 0, upper, HALF))


@triton.jit
def _load(P, edges, k, i, n, HALF: tl.constexpr):
    """The projections of points i along direction k, and the places of their bins in a table."""
    v = tl.load(P + k * n + i, mask=i < n, other=0.0)
    return v, k * 2 * HALF + _bin(v, edges, k, HALF)


@triton.jit
def _histogram(P, edges, counted, n, parts, HALF: tl.constexpr, BLOCK: tl.constexpr):
    """Count a block of values of one direction, but for the middle bin."""
    k = (tl.program_id(0) // parts).to(tl.int64)
    i = (tl.program_id(0) % parts) * BLOCK + tl.arange(0, BLOCK)
    _, at = _load(P, edges, k, i, n, HALF)
    tl.atomic_add(counted + at, 1, mask=(i < n) & (at != (2 * k + 1) * HALF), sem="relaxed")


@triton.jit
def _lower_to_bounds(
    P, edges, most, best, n, count, parts, per, HALF: tl.constexpr, BLOCK: tl.constexpr
):
    """Lower the masses of a block of points to the most that some directions allow."""
    first = (tl.program_id(0) // parts).to(tl.int64) * per
    i = (tl.program_id(0) % parts) * BLOCK + tl.arange(0, BLOCK)
    lowest = tl.full([BLOCK], 2147483647, tl.int32)
    for k in range(first, tl.minimum(first + per, count)):
        _, at = _load(P, edges, k, i, n, HALF)
        lowest = tl.minimum(lowest, tl.load(most + at))
    tl.atomic_min(best + i, lowest, mask=i < n, sem="relaxed")


@triton.jit
def _mark(P, edges, least, best, opened, n, parts, HALF: tl.constexpr, BLOCK: tl.constexpr):
    """Open the bins of one direction that may hold a smaller mass than is known."""
    k = (tl.program_id(0) // parts).to(tl.int64)
    i = (tl.program_id(0) % parts) * BLOCK + tl.arange(0, BLOCK)
    _, at = _load(P, edges, k, i, n, HALF)
    smaller = tl.load(least + at) < tl.load(best + i, mask=i < n, other=0)
    tl.store(opened + at, tl.full([BLOCK], 1, tl.int8), mask=smaller)


@triton.jit
def _collect(
    P, edges, opened, filled, values, index, n, parts, most,
    HALF: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Copy out what is in open bins, with its place."""
    k = (tl.program_id(0) // parts).to(tl.int64)
    i = (tl.program_id(0) % parts) * BLOCK + tl.arange(0, BLOCK)
    v, at = _load(P, edges, k, i, n, HALF)
    chosen = (i < n) & (tl.load(opened + at) != 0)
    place = tl.cumsum(chosen.to(tl.int32), axis=0)
    base = tl.atomic_add(filled + k, tl.max(place, axis=0), sem="relaxed")
    to = k * most + base + place - 1
    tl.store(values + to, v, mask=chosen)
    tl.store(index + to, i, mask=chosen)


@triton.jit
def _lower(
    values, order, index, edges, closed, found, best, n, most, parts,
    HALF: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Lower the masses of a block of the values of open bins, sorted; equal ones count together."""
    k = (tl.program_id(0) // parts).to(tl.int64)
    j = (tl.program_id(0) % parts) * BLOCK + tl.arange(0, BLOCK)
    size = tl.load(found + k)
    ok = j < size
    base = values + k * most
    v = tl.load(base + j, mask=ok, other=0.0)
    before = j + tl.load(closed + k * 2 * HALF + _bin(v, edges, k, HALF), mask=ok, other=0)
    upto = before + 1 + _equal_to_come(base, v, j, ok, size, 1)
    beyond = n - before + _equal_to_come(base, v, j, ok, size, -1)
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
