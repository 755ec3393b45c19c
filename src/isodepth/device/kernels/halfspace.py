"""Triton kernels for halfspace masses, with histograms of projections instead of full sorts.

The halfspace mass of a point along a direction is the smaller of two counts: the projections that
are at most that of the point, and the projections that are at least that of the point. The kernels
compute the minimum over all directions. A histogram of the projections gives a lower and an upper
bound on the mass. A direction can attain the minimum only if its lower bound is below the minimum
of the upper bounds of all directions, which few directions satisfy. Along these directions the bin
of the point is opened: the values in it are sorted and ranked. The result is exact for any choice
of bins.

Arguments of the kernels, which are called for a block of B directions:

* P (B, n): the projections of n points on the directions;
* edges (B, 4): the parameters of the histogram bins, see `_edges`;
* HALF: half of the number of bins, and index of the middle bin;
* k, i: a direction, and the indices of points;
* BLOCK: number of values that a program processes at once;
* parts: number of blocks into which the values on a direction are divided;
* count: number of directions B.
"""

from __future__ import annotations

import math

import torch
import triton
import triton.language as tl

from isodepth.device import ranks
from isodepth.device.kernels.middles import pilot_rows
from isodepth.device.kernels.multiply import products
from isodepth.device.products import blocks

# Sizes of blocks of values, and target number of programs of a kernel, tuned on an H200.
_BLOCK = 1024
_RANKED = 1024
_SCANNED = 4096
_PROGRAMS = 4096
# Number of directions of which one is used to bound the mass of a point, and number of successive
# bins that have a common lower bound.
_TRIED = 4
_MERGED = 64
# Target number of values per bin of the histogram, and maximum number of bins.
_PER_BIN = 16
_MOST_BINS = 1 << 16
# Number of pilot rows, which are random rows whose projections determine the bins.
_PILOT = 2048
# The maximum depth of all points is assumed to be at most this multiple of the maximum depth of the
# pilot rows. If this assumption is false, the computation is repeated with bins that divide all
# values, not only the tails.
_DEEPER = 4.0
# Maximum number of cells of the grid in `_neighbors_together`, by which the points are sorted.
_CELLS = 1024


def smallest_halfspace(
    points: torch.Tensor,
    masses: torch.Tensor | None,
    total: int,
    directions: torch.Tensor,
    budget: int,
) -> torch.Tensor:
    """Compute for each point the minimum mass of a closed halfspace with the point on its boundary.

    The parameters and the result are those of `tensors.ranks.smallest_halfspace`. The points must
    be float32 with equal masses.
    """
    assert masses is None
    pilot = points[pilot_rows(total, points.device)[:_PILOT]]
    deepest = float(ranks.smallest_halfspace(pilot, None, len(pilot), directions, budget).max())
    tail = (_DEEPER * deepest + 8 * math.sqrt(deepest) + 8) / len(pilot)
    order = _neighbors_together(points, pilot)
    points = points[order]
    masses_in_order = _by_bins(points, directions, pilot, tail, budget) if tail < 0.4 else None
    if masses_in_order is None:
        masses_in_order = _by_bins(points, directions, pilot, 0.5, budget)
    assert masses_in_order is not None
    return torch.empty_like(order).scatter_(0, order, masses_in_order.long())


def _neighbors_together(points: torch.Tensor, pilot: torch.Tensor) -> torch.Tensor:
    """Return a permutation (n,) that sorts the points (n, d) by the cells of a grid.

    The grid divides each column at quantiles of the points `pilot` (s, d). Successive points then
    have similar projections along every direction, so their bins are close to each other in memory.
    """
    d = points.shape[1]
    side = int(_CELLS ** (1 / d) + 1e-9)
    if side < 2:
        return torch.arange(len(points), device=points.device)
    cuts = torch.arange(1, side, device=points.device) * len(pilot) // side
    edges = pilot.T.sort(dim=1).values[:, cuts].contiguous()
    cells = torch.searchsorted(edges, points.T.contiguous())
    powers = side ** torch.arange(d, device=points.device)
    return (cells * powers[:, None]).sum(dim=0).argsort()


def _edges(directions: torch.Tensor, pilot: torch.Tensor, tail: float) -> torch.Tensor:
    """Return the parameters (K, 4) of the histogram bins of the projections on K directions.

    The bins divide the lower and the upper tail of the projections, and a middle bin contains all
    values between the tails. Each tail contains a fraction `tail` of the projections of the pilot
    rows `pilot` (s, d), which are random points. The unit of a tail is a length: half of the pilot
    rows in the tail are within one unit of the middle bin. The four parameters of a direction are

    * the lower edge of the middle bin,
    * 1 / the unit of the lower tail, or 0 if this unit is zero,
    * the upper edge of the middle bin,
    * 1 / the unit of the upper tail, or 0 if this unit is zero.
    """
    ordered = (directions @ pilot.T).sort(dim=1).values
    at, last = int(tail * (len(pilot) - 1)), len(pilot) - 1
    sides = []
    for inner, outer, end in ((at, at // 2, 0), (last - at, last - at // 2, last)):
        edge = ordered[:, inner]
        unit = (ordered[:, outer] - edge).abs()
        unit = torch.where(unit > 0, unit, (ordered[:, end] - edge).abs())
        sides += [edge, torch.where(unit > 0, 1 / unit, 0)]
    return torch.stack(sides, dim=1).clamp_(max=torch.finfo(pilot.dtype).max)


def _by_bins(
    points: torch.Tensor, directions: torch.Tensor, pilot: torch.Tensor, tail: float, budget: int
) -> torch.Tensor | None:
    """Compute the minimum halfspace mass of each point, as an int32 tensor (n,), by histograms.

    The bins divide the two tails of the projections, each with about a fraction `tail` of the
    points. The points between the tails are in one middle bin, which is too large to sort. Return
    None if a point may attain its minimum in a middle bin. `pilot` (s, d) are random points, and
    `budget` is the memory in bytes.
    """
    n = len(points)
    edges = _edges(directions, pilot, tail)
    # The two int32 tables of the bins of all directions use about a quarter of the memory budget.
    n_bins = min(n // _PER_BIN, budget // (64 * len(directions)), _MOST_BINS) * 2 * tail
    half = triton.next_power_of_2(max(int(n_bins), 4)) // 2
    # A direction needs n * 4 bytes for projections and half * 34 bytes for tables of bins. A third
    # of the memory budget is reserved for sorting.
    cut = blocks(len(directions), n * 4 + half * 34, budget - budget // 3)
    best = torch.full((n,), n, dtype=torch.int32, device=points.device)
    tables = []
    projections = None
    for which in cut:
        # Free the memory of the previous block of directions before the next block is allocated.
        projections = None
        projections = products(directions[which], points)
        tables.append(_bound(projections, edges[which], half, best))
    outside = torch.cat([torch.minimum(t[:, half - 1], n - t[:, half]) for t, _ in tables]).amin()
    if tail < 0.5 and bool(best.amax() > outside + 1):
        return None
    for which, (upto, least) in zip(cut, tables, strict=True):
        if len(cut) > 1:
            projections = None
            projections = products(directions[which], points)
        assert projections is not None
        _open(projections, edges[which], upto, least, best, budget // 3)
    return best


def _bound(
    projections: torch.Tensor, edges: torch.Tensor, half: int, best: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Lower the upper bounds `best` (n,) on the halfspace masses of n points by counts of bins.

    The mass of a point along a direction is at most the number of projections up to the end of its
    bin. It is also at most the number of projections from the start of its bin. `projections`
    (B, n) are those on B directions. `edges` (B, 4) are the parameters of the bins; see `_edges`.
    There are 2 * `half` bins per direction.

    Return two int32 tensors (B, bins): the number of projections up to the end of each bin, and a
    lower bound on the halfspace mass of the values in each bin.
    """
    count, n = projections.shape
    upto = torch.zeros(count, 2 * half, dtype=torch.int32, device=projections.device)
    parts = triton.cdiv(n, _BLOCK)
    _histogram[(parts * count,)](
        projections, edges, upto, n, parts, HALF=half, BLOCK=_BLOCK, num_warps=4
    )
    most, least = torch.empty_like(upto), torch.empty_like(upto)
    scanned = min(_SCANNED, 2 * half)
    _cumulate[(count,)](upto, most, least, n, HALF=half, BLOCK=scanned, num_warps=8)
    per = triton.cdiv(count, max(1, _PROGRAMS // parts))
    _lower_to_bounds[(parts * triton.cdiv(count, per),)](
        projections, edges, most, best, n, count, parts, per,
        TRIED=_TRIED, HALF=half, BLOCK=_BLOCK, num_warps=4,
    )  # fmt: skip
    return upto, least


def _open(
    projections: torch.Tensor,
    edges: torch.Tensor,
    upto: torch.Tensor,
    least: torch.Tensor,
    best: torch.Tensor,
    budget: int,
) -> None:
    """Lower the upper bounds `best` (n,) on halfspace masses to exact masses along B directions.

    `projections` (B, n) are those of n points. `upto` and `least` (B, bins) are the tables that
    `_bound` returns. Only bins that may contain a point with a mass below its bound are opened:
    their values are sorted and ranked. `budget` is the memory in bytes.
    """
    count, n = projections.shape
    bins = upto.shape[1]
    parts = triton.cdiv(n, _BLOCK)
    opened = torch.zeros(count, bins, dtype=torch.int8, device=best.device)
    # The bounds of the bins first increase and then decrease. So the minimum of successive bins is
    # that of the first or of the last of them.
    merged = min(_MERGED, bins)
    coarse = torch.minimum(least[:, ::merged], least[:, merged - 1 :: merged])
    _mark[(parts * count,)](
        projections, edges, least, coarse, best, opened, n, parts,
        MERGED=merged, HALF=bins // 2, BLOCK=_BLOCK, num_warps=4,
    )  # fmt: skip
    # Only opened bins are sorted. `closed` is the number of values in unopened bins, up to the end
    # of each bin. The rank of a value is `closed` plus its rank among the values of opened bins.
    closed = torch.empty_like(upto)
    _count_closed[(count,)](
        upto, opened, closed, HALF=bins // 2, BLOCK=min(_SCANNED, bins), num_warps=8
    )
    n_open = n - closed[:, -1]
    most = int(n_open.max())
    if most == 0:
        return
    # Bytes per value: a float32 value, an int32 index, and two copies of the value and its int64
    # index for the sort.
    for which in blocks(count, most * (4 + 4 + 2 * 12), budget):
        rows = len(n_open[which])
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
            values, order, index, edges[which], closed[which], n_open[which], best, n, most, ranked,
            HALF=bins // 2, BLOCK=_RANKED, num_warps=4,
        )  # fmt: skip
        # Free the memory of this block of directions before the next block is allocated.
        del values, order, index


@triton.jit
def _bin(v, edges, k, HALF: tl.constexpr):
    """Return the indices of the histogram bins of projections v on direction k.

    There are 2 HALF bins, and outer bins are wider. Correctly rounded operations are monotone, so a
    larger value never has a smaller index.
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
    """Return the projections of points i on direction k, and the indices of their histogram bins.

    An index refers to the flattened array of the bins of all directions, which has 2 HALF bins per
    direction.
    """
    v = tl.load(P + k * n + i, mask=i < n, other=0.0)
    return v, k * 2 * HALF + _bin(v, edges, k, HALF)


@triton.jit
def _histogram(P, edges, counted, n, parts, HALF: tl.constexpr, BLOCK: tl.constexpr):
    """Add the numbers of projections in each bin to `counted`, except in the middle bin.

    A program processes BLOCK of the n projections on one direction. The middle bin usually has
    most projections, and many atomic updates of one counter would be slow.
    """
    k = (tl.program_id(0) // parts).to(tl.int64)
    i = (tl.program_id(0) % parts) * BLOCK + tl.arange(0, BLOCK)
    _, at = _load(P, edges, k, i, n, HALF)
    tl.atomic_add(counted + at, 1, mask=(i < n) & (at != (2 * k + 1) * HALF), sem="relaxed")


@triton.jit
def _cumulate(counted, most, least, n, HALF: tl.constexpr, BLOCK: tl.constexpr):
    """Replace the counts of bins, in place, with the numbers of values up to the end of each bin.

    A program processes the bins of one direction. The middle bin has all values that were not
    counted. Also store an upper bound in `most` and a lower bound in `least` on the halfspace mass
    of the values in each bin.
    """
    base = tl.program_id(0).to(tl.int64) * 2 * HALF
    sums = tl.zeros([BLOCK], tl.int32)
    for start in range(0, 2 * HALF, BLOCK):
        sums += tl.load(counted + base + start + tl.arange(0, BLOCK))
    middle = n - tl.sum(sums, axis=0)
    carry = tl.zeros([], tl.int32)
    for start in range(0, 2 * HALF, BLOCK):
        at = start + tl.arange(0, BLOCK)
        own = tl.load(counted + base + at) + tl.where(at == HALF, middle, 0)
        upto = carry + tl.cumsum(own, axis=0)
        before = upto - own
        tl.store(counted + base + at, upto)
        tl.store(most + base + at, tl.minimum(upto, n - before))
        tl.store(least + base + at, tl.minimum(before, n - upto) + 1)
        carry += tl.sum(own, axis=0)


@triton.jit
def _count_closed(upto, opened, closed, HALF: tl.constexpr, BLOCK: tl.constexpr):
    """Store in `closed`, for each bin, the number of values in unopened bins up to its end.

    `upto` has the numbers of values in all bins up to the end of each bin. `opened` is 1 for the
    bins whose values will be sorted. A program processes one direction.
    """
    base = tl.program_id(0).to(tl.int64) * 2 * HALF
    carry = tl.zeros([], tl.int32)
    for start in range(0, 2 * HALF, BLOCK):
        at = start + tl.arange(0, BLOCK)
        own = tl.load(upto + base + at) - tl.load(upto + base + at - 1, mask=at > 0, other=0)
        own = tl.where(tl.load(opened + base + at) == 0, own, 0)
        tl.store(closed + base + at, carry + tl.cumsum(own, axis=0))
        carry += tl.sum(own, axis=0)


@triton.jit
def _lower_to_bounds(
    P, edges, most, best, n, count, parts, per,
    TRIED: tl.constexpr, HALF: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Lower the upper bounds `best` on the halfspace masses of a block of points.

    `most` contains an upper bound for each bin of each direction. Reading these bounds for all
    directions would be slow. Among TRIED successive directions, only the bound of the direction is
    read along which the bin of the point is nearest to the first or the last bin. A program
    processes a block of points and `per` directions.
    """
    first = (tl.program_id(0) // parts).to(tl.int64) * per
    i = (tl.program_id(0) % parts) * BLOCK + tl.arange(0, BLOCK)
    lowest = tl.full([BLOCK], 2147483647, tl.int32)
    last = tl.minimum(first + per, count)
    for start in range(first, last, TRIED):
        nearest = tl.full([BLOCK], 2147483647, tl.int32)
        outermost = tl.zeros([BLOCK], tl.int64)
        for k in range(start, tl.minimum(start + TRIED, last)):
            _, at = _load(P, edges, k, i, n, HALF)
            place = (at - k * 2 * HALF).to(tl.int32)
            steps = tl.minimum(place, 2 * HALF - 1 - place)
            outermost = tl.where(steps < nearest, at, outermost)
            nearest = tl.minimum(nearest, steps)
        lowest = tl.minimum(lowest, tl.load(most + outermost))
    tl.atomic_min(best + i, lowest, mask=i < n, sem="relaxed")


@triton.jit
def _mark(
    P, edges, least, coarse, best, opened, n, parts,
    MERGED: tl.constexpr, HALF: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Mark in `opened` the bins that contain a point whose mass may be below its bound in `best`.

    The mass is the halfspace mass along one direction. `least` has a lower bound on the mass of the
    points in each bin, and `coarse` a lower bound for each MERGED successive bins. `coarse` is
    compared first, because it remains in the cache.
    """
    k = (tl.program_id(0) // parts).to(tl.int64)
    i = (tl.program_id(0) % parts) * BLOCK + tl.arange(0, BLOCK)
    _, at = _load(P, edges, k, i, n, HALF)
    bound = tl.load(best + i, mask=i < n, other=0)
    smaller = tl.load(coarse + at // MERGED) < bound
    smaller = smaller & (tl.load(least + at, mask=smaller, other=0) < bound)
    tl.store(opened + at, tl.full([BLOCK], 1, tl.int8), mask=smaller)


@triton.jit
def _collect(
    P, edges, opened, filled, values, index, n, parts, most,
    HALF: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Copy the projections in opened bins to `values`, and the indices of their points to `index`.

    Both have rows of `most` entries, one row per direction. `filled` counts the entries of each row
    that have been written. A program processes BLOCK of the n projections on one direction.
    """
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
    values, order, index, edges, closed, n_open, best, n, most, parts,
    HALF: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Lower the bounds `best` to the exact halfspace masses of points in bins that were sorted.

    Each row of `values` has the sorted projections on one direction, `n_open` in number. The point
    of `values[k, j]` has the index `index[k, order[k, j]]`: `order` has the columns before sorting.
    `closed` is the result of `_count_closed`. A program processes a block of a row. The mass of a
    point includes all projections that are equal to its own.
    """
    k = (tl.program_id(0) // parts).to(tl.int64)
    j = (tl.program_id(0) % parts) * BLOCK + tl.arange(0, BLOCK)
    size = tl.load(n_open + k)
    ok = j < size
    base = values + k * most
    v = tl.load(base + j, mask=ok, other=0.0)
    before = j + tl.load(closed + k * 2 * HALF + _bin(v, edges, k, HALF), mask=ok, other=0)
    upto = before + 1 + _count_ties(base, v, j, ok, size, 1)
    beyond = n - before + _count_ties(base, v, j, ok, size, -1)
    mass = tl.minimum(upto, beyond)
    row = tl.load(index + k * most + tl.load(order + k * most + j, mask=ok, other=0), mask=ok)
    # Most masses do not lower the bound `best`. To compare first is cheaper than an atomic minimum.
    lower = ok & (mass < tl.load(best + row, mask=ok, other=0))
    tl.atomic_min(best + row, mass, mask=lower, sem="relaxed")


@triton.jit
def _count_ties(base, v, j, ok, size, STEP: tl.constexpr):
    """Count the values that equal v after index j of a sorted row, or before j if STEP is -1.

    The row has `size` values from `base` on, and `ok` is the mask of valid indices j. The count is
    nearly always 0 or 1. Larger counts are found by doubling and bisection.
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
