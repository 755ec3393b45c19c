"""Matrix products in single precision on tensor cores.

Tensor cores multiply bfloat16 numbers, with 8 significant bits, and sum in single precision. A
number with 24 bits is the sum of three such parts. Of the nine products of parts, the three
smallest are below the rounding error of an ordinary product and are skipped. The other six give at
least single precision, in about two thirds of the time.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

# With fewer columns the product is limited by memory, and `@` is as fast.
_FEWEST_COLUMNS = 16
# Block sizes and number of warps tuned on an H200: of the longer side, and of the shorter one.
_LONG = 128
_SHORT = 64
_DEEP = 64
_WARPS = 4


def products(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Compute left @ right.T for tensors (a, d) and (b, d)."""
    width = left.shape[1]
    if left.dtype != torch.float32 or width < _FEWEST_COLUMNS:
        return left @ right.T
    left, right = left.contiguous(), right.contiguous()
    out = left.new_empty(len(left), len(right))
    sizes = (_SHORT, _LONG) if len(left) <= len(right) else (_LONG, _SHORT)
    tiles = triton.cdiv(len(left), sizes[0]), triton.cdiv(len(right), sizes[1])
    _multiply[(tiles[0] * tiles[1],)](
        left, right, out, len(left), len(right), *tiles,
        # The shorter side varies first: the longer one is then read once.
        LEFT_FIRST=len(left) <= len(right), ROWS=sizes[0], COLS=sizes[1], WIDTH=width,
        DEEP=min(_DEEP, triton.next_power_of_2(width)), num_warps=_WARPS, num_stages=1,
    )  # fmt: skip
    return out


@triton.jit
def _multiply(
    left, right, out, a, b, tiles_left, tiles_right,
    LEFT_FIRST: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr,
    WIDTH: tl.constexpr, DEEP: tl.constexpr,
):  # fmt: skip
    program = tl.program_id(0)
    if LEFT_FIRST:
        i, j = program % tiles_left, program // tiles_left
    else:
        i, j = program // tiles_right, program % tiles_right
    rows = i * ROWS + tl.arange(0, ROWS)
    cols = j * COLS + tl.arange(0, COLS)
    at_left = left + rows[:, None].to(tl.int64) * WIDTH
    at_right = right + cols[None, :].to(tl.int64) * WIDTH
    total = tl.zeros([ROWS, COLS], tl.float32)
    for start in range(0, WIDTH, DEEP):
        deep = start + tl.arange(0, DEEP)
        if WIDTH % DEEP == 0:
            x = tl.load(at_left + deep[None, :], mask=(rows < a)[:, None], other=0.0)
            y = tl.load(at_right + deep[:, None], mask=(cols < b)[None, :], other=0.0)
        else:
            ok = deep < WIDTH
            x = tl.load(at_left + deep[None, :], mask=(rows < a)[:, None] & ok[None, :], other=0.0)
            y = tl.load(at_right + deep[:, None], mask=ok[:, None] & (cols < b)[None, :], other=0.0)
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
    tl.store(out + place, total, mask=(rows < a)[:, None] & (cols < b)[None, :])


@triton.jit
def _parts(x):
    """Split a number of 24 bits into three numbers of 8 bits."""
    first = x.to(tl.bfloat16)
    rest = x - first.to(tl.float32)
    second = rest.to(tl.bfloat16)
    return first, second, (rest - second.to(tl.float32)).to(tl.bfloat16)
