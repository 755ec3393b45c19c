"""Triton kernels for medians and MADs of projections, without a full sort.

Two order statistics of the pilot rows, a random subset of the rows, bracket the median with high
probability. One pass over the projections counts the values below the bracket and copies the
values inside it, which are a few percent of all values. The exact median is selected among the
copied values. Directions along which the bracket does not contain the median are processed by
`tensors.spread`. MAD is the median absolute deviation from the median.

Arguments of the kernels, which are called for a block of B directions:

* P (B, n): the projections of n rows on the directions;
* pilot (B, size): the projections of the pilot rows;
* center (B,): the medians of the projections; used only if FOLDED;
* FOLDED: whether the values are distances of projections from the center, not projections;
* bracket (2, B): the lower and upper ends of the brackets;
* between (B, cap): the values inside the brackets;
* counted (B,): the numbers of values below and inside a bracket, see `_collect`;
* count: number of directions B;
* BLOCK: number of values that a program processes at once.
"""

from __future__ import annotations

import math

import torch
import triton
import triton.language as tl

from isodepth.device import spread
from isodepth.device.kernels.multiply import products
from isodepth.device.products import blocks

# The median of all rows is searched in a bracket around the median of the pilot rows. This is the
# half width of the bracket, in standard errors of the median of the pilot rows.
_SURE = 4.5
# Block sizes, numbers of warps and number of programs of the kernels, tuned on an H200.
_BLOCK = 1024
_WARPS = 2
_BRACKETED = 2048
_BRACKETING_WARPS = 8
_SELECTED = 4096
_SELECTING_WARPS = 32
_ROWS = 512
_PROGRAMS = 1024


def largest_outlyingness(
    points: torch.Tensor,
    masses: torch.Tensor | None,
    total: int,
    directions: torch.Tensor,
    budget: int,
) -> torch.Tensor:
    """Compute the maximum outlyingness of each point over all directions.

    The parameters and the result are those of `tensors.spread.largest_outlyingness`. The points
    must be float32 with equal masses.
    """
    assert masses is None
    n = len(points)
    typical, rounding = spread.typical_sizes(points), spread.rounding_unit(points)
    out = points.new_zeros(n)
    pilot_points = points[pilot_rows(n, points.device)]
    # Capacity of the buffer for the values in a bracket around the median. More values are very
    # unlikely.
    cap = min(n, int(1.4 * n * _SURE / math.sqrt(len(pilot_points))) + 256)
    each = (n + len(pilot_points) + cap) * points.element_size() + 256
    groups = max(1, _PROGRAMS // triton.cdiv(n, _ROWS))
    for which in blocks(len(directions), each, budget):
        units = directions[which]
        projections, pilot = products(units, points), units @ pilot_points.T
        middle = middles(projections, pilot, None, cap)
        mad = middles(projections, pilot, middle, cap)
        # The MAD is NaN if a bracket did not contain the median. The comparison is then false, and
        # the direction is processed by `spread` below.
        usual = mad > rounding * (units.abs() @ typical)
        scale = torch.where(usual, 1.0 / mad, 0.0)
        count = len(units)
        per = triton.cdiv(count, min(groups, count))
        parts = triton.cdiv(count, per)
        far = points.new_empty(parts, n)
        _farthest[(triton.cdiv(n, _ROWS), parts)](
            projections, middle, scale, far, n, count, per, BLOCK=_ROWS, num_warps=4
        )
        torch.maximum(out, far.amax(dim=0) if parts > 1 else far[0], out=out)
        # Free the memory of this block of directions before it is needed again.
        del projections, far
        if not bool(usual.all()):
            rest = spread.largest_outlyingness(points, None, total, units[~usual], budget)
            torch.maximum(out, rest, out=out)
    return out


def pilot_rows(n: int, device: torch.device) -> torch.Tensor:
    """Return the indices of random rows out of n, drawn with replacement and with a fixed seed.

    The number of indices is 1.6 n**(2/3), rounded to a power of two. It is at least 1024, but at
    most n.
    """
    size = 1 << max(10, round(math.log2(1.6 * n ** (2 / 3))))
    generator = torch.Generator(device).manual_seed(0)
    return torch.randint(n, (min(size, n),), generator=generator, device=device)


def middles(
    projections: torch.Tensor, pilot: torch.Tensor, center: torch.Tensor | None, cap: int
) -> torch.Tensor:
    """Compute the medians (B,) of projections (B, n), or of their distances from `center` (B,).

    The median is searched in a bracket, which is estimated from the projections `pilot` (B, s) of s
    random rows. The result is NaN if the bracket does not contain the median, or if the bracket
    contains more than `cap` values.
    """
    count, n = projections.shape
    size = pilot.shape[1]
    reach = _SURE * 0.5 * math.sqrt(size)
    first, last = (
        int(min(size - 1, max(0, rank))) for rank in (size / 2 - reach - 1, size / 2 + reach + 1)
    )
    folded = center is not None
    bracket = projections.new_empty(2, count)
    # Without a center the kernels do not read the argument `around`, but they need a valid pointer.
    around = bracket if center is None else center
    _bracket[(count, 2)](
        pilot, size, first, last, around, bracket, count,
        FOLDED=folded, BLOCK=_BRACKETED, num_warps=_BRACKETING_WARPS,
    )  # fmt: skip
    counted = torch.zeros(count, dtype=torch.int64, device=pilot.device)
    between = projections.new_empty(count, cap)
    # Directions are the first axis of the CUDA grid, so that concurrent programs update different
    # counters. CUDA allows at most 65535 blocks along the second axis.
    block = max(_BLOCK, triton.next_power_of_2(triton.cdiv(n, 65535)))
    _collect[(count, triton.cdiv(n, block))](
        projections, around, bracket, counted, between, n, cap, count,
        FOLDED=folded, BLOCK=block, num_warps=_WARPS,
    )  # fmt: skip
    middle = projections.new_empty(count)
    _middle[(count,)](between, cap, counted, middle, n, BLOCK=_SELECTED, num_warps=_SELECTING_WARPS)
    return middle


@triton.jit
def _collect(
    P, center, bracket, counted, between, n, cap, count, FOLDED: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """Count the values below the bracket of the median, and copy the values inside to `between`.

    A program processes a block of projections on one direction. The number of values below the
    bracket is in the upper half of an integer in `counted`, and the number of values inside in the
    lower half. One scan and one atomic addition therefore update both numbers.
    """
    k = tl.program_id(0)
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(P + k.to(tl.int64) * n + i, mask=i < n, other=float("inf"))
    if FOLDED:
        v = tl.abs(v - tl.load(center + k))
    lo = tl.load(bracket + k)
    inside = (v >= lo) & (v <= tl.load(bracket + count + k))
    places = tl.cumsum(inside.to(tl.int32) + ((v < lo).to(tl.int32) << 16), axis=0)
    both = tl.max(places, axis=0)
    added = ((both >> 16).to(tl.int64) << 32) + (both & 0xFFFF).to(tl.int64)
    base = tl.atomic_add(counted + k, added) & 0xFFFFFFFF
    at = base + (places & 0xFFFF) - 1
    tl.store(between + k.to(tl.int64) * cap + at, v, mask=inside & (at < cap))


@triton.jit
def _key(v):
    """Convert floats to integer keys that have the same order; `_value` is the inverse."""
    bits = v.to(tl.int32, bitcast=True)
    return tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits)


@triton.jit
def _value(key):
    bits = tl.where(key < 0, key ^ 0x7FFFFFFF, key)
    return bits.to(tl.float32, bitcast=True)


@triton.jit
def _keys(base, start, size, middle, FOLDED: tl.constexpr, BLOCK: tl.constexpr):
    """Load BLOCK of the `size` values at `base`, from index `start` on.

    Return their integer keys, see `_key`, and the mask of the indices below `size`. If FOLDED, the
    keys are those of the distances of the values from `middle`.
    """
    i = start + tl.arange(0, BLOCK)
    v = tl.load(base + i, mask=i < size, other=0.0)
    if FOLDED:
        v = tl.abs(v - middle)
    return _key(v), i < size


@triton.jit
def _ends(base, size, low, high, middle, FOLDED: tl.constexpr, BLOCK: tl.constexpr):
    """Return the minimum key that is at least `low`, and the maximum key that is at most `high`.

    Keys are integers with the same order as the `size` values at `base`; see `_key`. If FOLDED, the
    keys are those of the distances of the values from `middle`, which is not used otherwise. BLOCK
    is the number of values that are loaded at once.
    """
    smallest = tl.full([BLOCK], 2147483647, tl.int32)
    largest = tl.full([BLOCK], -2147483648, tl.int32)
    for start in range(0, size, BLOCK):
        key, ok = _keys(base, start, size, middle, FOLDED, BLOCK)
        smallest = tl.minimum(smallest, tl.where(ok & (key >= low), key, 2147483647))
        largest = tl.maximum(largest, tl.where(ok & (key <= high), key, -2147483648))
    return tl.min(smallest, axis=0), tl.max(largest, axis=0)


@triton.jit
def _search(base, size, rank, middle, FOLDED: tl.constexpr, BLOCK: tl.constexpr):
    """Return the key of the value with a given rank, counted from 0, among the values at `base`.

    There are `size` values at `base`. If FOLDED, the keys are those of the distances of the values
    from `middle`. BLOCK is the number of values that are loaded at once. Each step counts the keys
    up to two thresholds, which divide the interval of possible keys into three. It continues in the
    interval that contains the key with the rank. The thresholds enclose the key that linear
    interpolation predicts. Every third step bisects the interval, which limits the number of steps.
    """
    low, high = _ends(base, size, -2147483648, 2147483647, middle, FOLDED, BLOCK)
    before = 0
    upto = size
    turn = 0
    while (low < high) & (before < rank) & (rank + 1 < upto):
        held = (upto - before).to(tl.float32)
        start_value = _value(low)
        length = _value(high) - start_value
        aim = (rank - before).to(tl.float32) + 0.5
        slack = 0.75 * tl.sqrt(held)
        one = _key(start_value + length * ((aim - slack) / held))
        two = _key(start_value + length * ((aim + slack) / held))
        half = (low & high) + ((low ^ high) >> 1)
        turn += 1
        one = tl.where(turn % 3 == 0, half, one)
        two = tl.where(turn % 3 == 0, half, two)
        one = tl.minimum(tl.maximum(one, low), high - 1)
        two = tl.minimum(tl.maximum(two, one), high - 1)
        upto_one = tl.zeros([BLOCK], tl.int32)
        upto_two = tl.zeros([BLOCK], tl.int32)
        for start in range(0, size, BLOCK):
            key, ok = _keys(base, start, size, middle, FOLDED, BLOCK)
            upto_one += (ok & (key <= one)).to(tl.int32)
            upto_two += (ok & (key <= two)).to(tl.int32)
        count_one = tl.sum(upto_one, axis=0)
        count_two = tl.sum(upto_two, axis=0)
        in_one = count_one > rank
        in_two = count_two > rank
        low = tl.where(in_one, low, tl.where(in_two, one + 1, two + 1))
        before = tl.where(in_one, before, tl.where(in_two, count_one, count_two))
        high = tl.where(in_one, one, tl.where(in_two, two, high))
        upto = tl.where(in_one, count_one, tl.where(in_two, count_two, upto))
    smallest, largest = _ends(base, size, low, high, middle, FOLDED, BLOCK)
    # The loop ends if the value with the given rank is the smallest or the largest of the remaining
    # keys, or if all remaining keys are equal.
    return tl.where(rank == before, smallest, largest)


@triton.jit
def _bracket(
    pilot, size, first, last, center, bracket, count, FOLDED: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """Store one end of the bracket of the median of the projections on one direction.

    The end is the value of rank `first` or `last` among the values of the `size` pilot rows. If
    FOLDED, the values are distances from the center instead of projections.
    """
    k = tl.program_id(0)
    side = tl.program_id(1)
    base = pilot + k.to(tl.int64) * size
    middle = 0.0
    if FOLDED:
        middle = tl.load(center + k)
    rank = tl.where(side == 0, first, last)
    key = _search(base, size, rank, middle, FOLDED, BLOCK)
    tl.store(bracket + side * count + k, _value(key))


@triton.jit
def _middle(between, cap, counted, out, n, BLOCK: tl.constexpr):
    """Store in `out` the median of n values, which is selected among the values in the bracket.

    A program processes one direction. Store NaN if the bracket does not contain the median or
    contains more than `cap` values.
    """
    k = tl.program_id(0)
    both = tl.load(counted + k)
    below = (both >> 32).to(tl.int32)
    size = (both & 0xFFFFFFFF).to(tl.int32)
    rank = (n - 1) // 2 - below
    then = n // 2 - below
    if (rank >= 0) & (then < size) & (size <= cap):
        base = between + k.to(tl.int64) * cap
        lower = _search(base, size, rank, 0.0, False, BLOCK)
        value = _value(lower)
        if then > rank:
            upto = tl.zeros([BLOCK], tl.int32)
            beyond = tl.full([BLOCK], 2147483647, tl.int32)
            for start in range(0, size, BLOCK):
                key, ok = _keys(base, start, size, 0.0, False, BLOCK)
                upto += (ok & (key <= lower)).to(tl.int32)
                beyond = tl.minimum(beyond, tl.where(ok & (key > lower), key, 2147483647))
            following = tl.where(tl.sum(upto, axis=0) > then, lower, tl.min(beyond, axis=0))
            value = 0.5 * value + 0.5 * _value(following)
        tl.store(out + k, value)
    else:
        tl.store(out + k, float("nan"))


@triton.jit
def _farthest(P, middle, scale, far, n, count, per, BLOCK: tl.constexpr):
    """Store in `far` the maximum outlyingness of a block of points over `per` directions.

    The outlyingness along a direction is |projection - median| / MAD. `middle` has the medians, and
    `scale` the values 1 / MAD, or 0 for directions that are processed elsewhere.
    """
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
