"""Medians and MADs without a sort: a bracket from a few rows, counts, and what lies inside.

A random part of the rows says between which two values the median lies, all but surely. One pass
over the projections counts what is below and copies out what is between, a few percent; the exact
median is selected among these. Where the bracket misses, that direction is sorted.
"""

from __future__ import annotations

import math

import torch
import triton
import triton.language as tl

from isodepth.engine.arrays.products import blocks
from isodepth.engine.arrays.spread import medians, raise_where_flat, rounding_of

# How many standard errors of a median of the pilot rows a bracket reaches to both sides.
_SURE = 4.5
# Sizes and warps were the fastest of a few on an H200.
_BLOCK = 1024
_WARPS = 2
_SELECTED = 4096
_SELECTING_WARPS = 16
_ROWS = 512
_PROGRAMS = 1024


def largest_outlyingness(
    points: torch.Tensor,
    masses: torch.Tensor | None,
    total: int,
    directions: torch.Tensor,
    budget: int,
) -> torch.Tensor:
    """The same as `engine.arrays.spread.largest_outlyingness`, for float32 and unit masses."""
    assert masses is None
    n = len(points)
    zero, reach = rounding_of(points)
    out = points.new_zeros(n)
    few = points[pilot_rows(n, points.device)]
    cap = _capacity(n, len(few))
    each = (n + len(few) + cap) * points.element_size() + 256
    groups = max(1, _PROGRAMS // triton.cdiv(n, _ROWS))
    for which in blocks(len(directions), each, budget):
        units = directions[which]
        projections, pilot = units @ points.T, units @ few.T
        middle = _middles(projections, pilot, None, cap)
        mad = _middles(projections, pilot, middle, cap)
        usual = mad > zero
        scale = torch.where(usual, 1.0 / mad, torch.zeros_like(mad))
        count = len(units)
        per = triton.cdiv(count, min(groups, count))
        parts = triton.cdiv(count, per)
        far = points.new_empty(parts, n)
        _farthest[(triton.cdiv(n, _ROWS), parts)](
            projections, middle, scale, far, n, count, per, BLOCK=_ROWS, num_warps=4
        )
        torch.maximum(out, far.amax(dim=0) if parts > 1 else far[0], out=out)
        if not bool(usual.all()):
            flat = ~usual
            away = (projections[flat] - middle[flat][:, None]).abs_()
            raise_where_flat(away, None, reach, out)
        # Or the next block would be made while this one is still held.
        del projections, far
    return out


def pilot_rows(n: int, device: torch.device) -> torch.Tensor:
    """Some of n rows at random, always the same; the fewer of them, the wider the brackets."""
    size = 1 << max(10, round(math.log2(1.6 * n ** (2 / 3))))
    generator = torch.Generator(device).manual_seed(0)
    return torch.randint(n, (min(size, n),), generator=generator, device=device)


def block_for(n: int, block: int) -> int:
    """The size of blocks of n values: a grid has no more than 65535 of them along one axis."""
    while triton.cdiv(n, block) > 65535:
        block *= 2
    return block


def _capacity(n: int, pilot: int) -> int:
    """How many values a bracket holds at most, unless it is a freak."""
    return min(n, int(1.4 * n * _SURE / math.sqrt(pilot)) + 256)


def _middles(
    projections: torch.Tensor, pilot: torch.Tensor, center: torch.Tensor | None, cap: int
) -> torch.Tensor:
    """The medians (B,) of rows of projections (B, n), or of their distances from `center` (B,)."""
    count, n = projections.shape
    size = pilot.shape[1]
    reach = _SURE * 0.5 * math.sqrt(size)
    ranks = [
        torch.full((count,), int(min(size - 1, max(0, rank))), device=pilot.device)
        for rank in (size / 2 - reach - 1, size / 2 + reach + 1)
    ]
    sizes = torch.full_like(ranks[0], size)
    low, high = select(pilot, sizes, ranks[0], ranks[1], center)
    counted = torch.zeros(count, dtype=torch.int64, device=pilot.device)
    between = projections.new_empty(count, cap)
    # Directions first: programs that run at the same time then count in different places.
    block = block_for(n, _BLOCK)
    _collect[(count, triton.cdiv(n, block))](
        projections, low if center is None else center, low, high, counted, between, n, cap,
        FOLDED=center is not None, BLOCK=block, num_warps=_WARPS,
    )  # fmt: skip
    below, found = counted >> 32, counted & 0xFFFFFFFF
    first, second = (n - 1) // 2 - below, n // 2 - below
    lower, upper = select(between, found.clamp(max=cap), first, second, None)
    middle = 0.5 * lower + 0.5 * upper
    missed = (first < 0) | (second >= found) | (found > cap)
    if bool(missed.any()):
        rows = projections[missed]
        if center is not None:
            rows = (rows - center[missed][:, None]).abs_()
        middle[missed] = medians(rows, None, n)
    return middle


def select(
    values: torch.Tensor,
    sizes: torch.Tensor,
    first: torch.Tensor,
    second: torch.Tensor,
    center: torch.Tensor | None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Two order statistics of each row, by bisecting the bits of floats.

    Parameters
    ----------
    values : float32 tensor of shape (B, m), contiguous
    sizes : int64 tensor of shape (B,), how many of each row count
    first, second : int64 tensors of shape (B,), the ranks, from 0 on
    center : tensor of shape (B,), to look at the distances from it; or None

    Returns
    -------
    two tensors of shape (B,); of no meaning where a rank is beyond the row
    """
    out = values.new_empty(2, len(values))
    _select[(len(values),)](
        values, values.shape[1], sizes, first, second, sizes if center is None else center, out,
        len(values), FOLDED=center is not None, BLOCK=_SELECTED, num_warps=_SELECTING_WARPS,
    )  # fmt: skip
    return out[0], out[1]


@triton.jit
def _collect(
    P, center, low, high, counted, between, n, cap, FOLDED: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """Count what is below a bracket and copy out what is inside, for a block of one direction.

    Both counts share one number, those below in its upper half, so that one scan and one atomic
    addition do for both.
    """
    k = tl.program_id(0)
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(P + k.to(tl.int64) * n + i, mask=i < n, other=float("inf"))
    if FOLDED:
        v = tl.abs(v - tl.load(center + k))
    lo = tl.load(low + k)
    inside = (v >= lo) & (v <= tl.load(high + k))
    places = tl.cumsum(inside.to(tl.int32) + ((v < lo).to(tl.int32) << 16), axis=0)
    both = tl.max(places, axis=0)
    added = ((both >> 16).to(tl.int64) << 32) + (both & 0xFFFF).to(tl.int64)
    base = tl.atomic_add(counted + k, added) & 0xFFFFFFFF
    at = base + (places & 0xFFFF) - 1
    tl.store(between + k.to(tl.int64) * cap + at, v, mask=inside & (at < cap))


@triton.jit
def _key(v):
    """Floats as integers in the same order."""
    bits = v.to(tl.int32, bitcast=True)
    return tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits)


@triton.jit
def _select(
    values, stride, sizes, first, second, center, out, count,
    FOLDED: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    k = tl.program_id(0)
    size = tl.load(sizes + k).to(tl.int32)
    rank_a = tl.load(first + k).to(tl.int32)
    rank_b = tl.load(second + k).to(tl.int32)
    base = values + k.to(tl.int64) * stride
    lanes = tl.arange(0, BLOCK)
    smallest = tl.full([BLOCK], 2147483647, tl.int32)
    largest = tl.full([BLOCK], -2147483648, tl.int32)
    middle = 0.0
    if FOLDED:
        middle = tl.load(center + k)
    for start in range(0, size, BLOCK):
        ok = start + lanes < size
        v = tl.load(base + start + lanes, mask=ok, other=0.0)
        if FOLDED:
            v = tl.abs(v - middle)
        key = _key(v)
        smallest = tl.minimum(smallest, tl.where(ok, key, 2147483647))
        largest = tl.maximum(largest, tl.where(ok, key, -2147483648))
    low_a = tl.min(smallest, axis=0)
    high_a = tl.max(largest, axis=0)
    low_b = low_a
    high_b = high_a
    while (low_a < high_a) | (low_b < high_b):
        # Rounded down, without a sum that may overflow.
        mid_a = (low_a & high_a) + ((low_a ^ high_a) >> 1)
        mid_b = (low_b & high_b) + ((low_b ^ high_b) >> 1)
        upto_a = tl.zeros([BLOCK], tl.int32)
        upto_b = tl.zeros([BLOCK], tl.int32)
        for start in range(0, size, BLOCK):
            ok = start + lanes < size
            v = tl.load(base + start + lanes, mask=ok, other=0.0)
            if FOLDED:
                v = tl.abs(v - middle)
            key = _key(v)
            upto_a += (ok & (key <= mid_a)).to(tl.int32)
            upto_b += (ok & (key <= mid_b)).to(tl.int32)
        enough_a = tl.sum(upto_a, axis=0) > rank_a
        enough_b = tl.sum(upto_b, axis=0) > rank_b
        low_a = tl.where(enough_a | (low_a >= high_a), low_a, mid_a + 1)
        high_a = tl.where(enough_a & (low_a < high_a), mid_a, high_a)
        low_b = tl.where(enough_b | (low_b >= high_b), low_b, mid_b + 1)
        high_b = tl.where(enough_b & (low_b < high_b), mid_b, high_b)
    bits_a = tl.where(low_a < 0, low_a ^ 0x7FFFFFFF, low_a)
    bits_b = tl.where(low_b < 0, low_b ^ 0x7FFFFFFF, low_b)
    tl.store(out + k, bits_a.to(tl.float32, bitcast=True))
    tl.store(out + count + k, bits_b.to(tl.float32, bitcast=True))


@triton.jit
def _farthest(P, middle, scale, far, n, count, per, BLOCK: tl.constexpr):
    """The largest outlyingness of a block of points along some of the directions."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    part = tl.program_id(1)
    first = part * per
    last = tl.minimum(first + per, count)
    at = P + first.to(tl.int64) * n + i
    reach = tl.zeros([BLOCK], tl.float32)
    for k in range(first, last):
        v = tl.load(at, mask=i < n, other=0.0)
        reach = tl.maximum(reach, tl.abs(v - tl.load(middle + k)) * tl.load(scale + k))
        at += n
    tl.store(far + part.to(tl.int64) * n + i, reach, mask=i < n)
