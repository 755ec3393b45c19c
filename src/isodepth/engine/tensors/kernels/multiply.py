"""Triton kernel for float32 matrix products on the tensor cores of a GPU.

Tensor cores multiply bfloat16 numbers, which have 8 significant bits, and add in float32. A float32
number has 24 significant bits, so it is the sum of three bfloat16 numbers, its parts. Six of the
nine products of two parts are computed. The other three are smaller than the rounding error of a
float32 product. The result is at least as accurate as that of `@`, in two thirds of the time.
The longer side is divided by a power of two near its maximum, because the last parts of very small
numbers would be zero.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

# With fewer columns the time is that of writing the result, and `@` is as fast.
_FEWEST_COLUMNS = 16
# Block sizes of the longer and the shorter side and of the columns, and number of warps, tuned on
# an H200.
_LONG = 128
_SHORT = 64
_DEPTH = 64
_WARPS = 4


def products(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Compute left @ right.T for tensors of shapes (a, d) and (b, d); the result is (a, b)."""
    width = left.shape[1]
    if left.dtype != torch.float32 or width < _FEWEST_COLUMNS:
        return left @ right.T
    left, right = left.contiguous(), right.contiguous()
    out = left.new_empty(len(left), len(right))
    left_is_short = len(left) <= len(right)
    largest = torch.linalg.vector_norm(right if left_is_short else left, torch.inf)
    exponent = torch.frexp(largest).exponent.clamp_(-120, 120)
    scale = torch.ldexp(torch.ones_like(largest), exponent)
    sizes = (_SHORT, _LONG) if left_is_short else (_LONG, _SHORT)
    tiles = triton.cdiv(len(left), sizes[0]), triton.cdiv(len(right), sizes[1])
    _multiply[(tiles[0] * tiles[1],)](
        left, right, out, scale, len(left), len(right), *tiles,
        LEFT_FIRST=left_is_short, ROWS=sizes[0], COLS=sizes[1], WIDTH=width,
        DEPTH=min(_DEPTH, triton.next_power_of_2(width)), num_warps=_WARPS, num_stages=1,
    )  # fmt: skip
    return out


@triton.jit
def _multiply(
    left, right, out, scale, a, b, tiles_left, tiles_right,
    LEFT_FIRST: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr,
    WIDTH: tl.constexpr, DEPTH: tl.constexpr,
):  # fmt: skip
    """Compute one tile of the product.

    If LEFT_FIRST, successive programs process successive tiles of `left`, so that each tile of
    `right`, the longer side, is read from memory once.
    """
    program = tl.program_id(0)
    if LEFT_FIRST:
        i, j = program % tiles_left, program // tiles_left
    else:
        i, j = program // tiles_right, program % tiles_right
    rows = i * ROWS + tl.arange(0, ROWS)
    cols = j * COLS + tl.arange(0, COLS)
    at_left = left + rows[:, None].to(tl.int64) * WIDTH
    at_right = right + cols[None, :].to(tl.int64) * WIDTH
    factor = tl.load(scale)
    total = tl.zeros([ROWS, COLS], tl.float32)
    for start in range(0, WIDTH, DEPTH):
        k = start + tl.arange(0, DEPTH)
        in_left, in_right = (rows < a)[:, None], (cols < b)[None, :]
        # Without a mask for the columns the loads are wider.
        if WIDTH % DEPTH != 0:
            in_left, in_right = in_left & (k < WIDTH)[None, :], in_right & (k < WIDTH)[:, None]
        x = tl.load(at_left + k[None, :], mask=in_left, other=0.0)
        y = tl.load(at_right + k[:, None], mask=in_right, other=0.0)
        if LEFT_FIRST:
            y /= factor
        else:
            x /= factor
        x1, x2, x3 = _parts(x)
        y1, y2, y3 = _parts(y)
        # The small terms are added first, to reduce rounding.
        small = tl.dot(x1, y3)
        small = tl.dot(x3, y1, small)
        small = tl.dot(x2, y2, small)
        small = tl.dot(x1, y2, small)
        small = tl.dot(x2, y1, small)
        total += tl.dot(x1, y1, small)
    place = rows[:, None].to(tl.int64) * b + cols[None, :]
    tl.store(out + place, total * factor, mask=(rows < a)[:, None] & (cols < b)[None, :])


@triton.jit
def _parts(x):
    """Split float32 numbers into three bfloat16 numbers whose sum they are."""
    first = x.to(tl.bfloat16)
    rest = x - first.to(tl.float32)
    second = rest.to(tl.bfloat16)
    return first, second, (rest - second.to(tl.float32)).to(tl.bfloat16)
