"""Triton kernel for float32 matrix products on the tensor cores of a GPU.

Tensor cores multiply bfloat16 numbers, which have 8 significant bits, and add in float32. A float32
number has 24 significant bits, so it is the sum of three bfloat16 numbers, its parts. Six of the
nine products of two parts are computed. The other three are smaller than the rounding error of a
float32 product. The result is at least as accurate as that of `@`, in less time if there are 16
columns or more. With fewer columns `@` is used.

The kernel multiplies directions and points. The points are first divided by a power of two near
their maximum absolute value, because the last parts of very small numbers would be zero.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

# With fewer columns the time is that of writing the result, and `@` is as fast.
_FEWEST_COLUMNS = 16
# Numbers of points, directions and columns in a block, and number of warps, tuned on an H200.
_POINTS = 128
_DIRECTIONS = 64
_DEPTH = 64
_WARPS = 4


def products(directions: torch.Tensor, points: torch.Tensor) -> torch.Tensor:
    """Compute directions @ points.T for tensors of shapes (K, d) and (n, d); the result is (K, n).

    The elements of the directions must be of moderate size, such as those of unit vectors.
    """
    if not worth_splitting(points):
        return directions @ points.T
    n, width = points.shape
    out = points.new_empty(len(directions), n)
    _multiply[(triton.cdiv(n, _POINTS),)](
        parts_of(directions), points.contiguous(), size_of(points), out, len(directions), n,
        WIDTH=width, DEPTH=depth_of(width), POINTS=_POINTS, DIRECTIONS=_DIRECTIONS,
        num_warps=_WARPS, num_stages=1,
    )  # fmt: skip
    return out


def worth_splitting(points: torch.Tensor) -> bool:
    """Return whether products with points (n, d) are computed from the parts of the numbers.

    They are for float32 points with at least 16 columns, for which tensor cores are faster.
    """
    return points.dtype == torch.float32 and points.shape[1] >= _FEWEST_COLUMNS


def parts_of(directions: torch.Tensor) -> torch.Tensor:
    """Return a bfloat16 tensor (3, K, d) whose sum over the first axis is `directions` (K, d).

    The sum is exact unless the directions have very small elements.
    """
    first = directions.bfloat16()
    rest = directions - first
    second = rest.bfloat16()
    return torch.stack([first, second, (rest - second).bfloat16()])


def size_of(points: torch.Tensor) -> torch.Tensor:
    """Return a power of two near the maximum absolute value of the points, as a tensor."""
    largest = torch.linalg.vector_norm(points, torch.inf)
    exponent = torch.frexp(largest).exponent.clamp_(-120, 120)
    return torch.ldexp(torch.ones_like(largest), exponent)


def depth_of(width: int) -> int:
    """Return the number of columns that a kernel processes at once, for points of `width` columns.

    It is a power of two.
    """
    return min(_DEPTH, triton.next_power_of_2(width))


@triton.jit
def _multiply(
    parts, points, size, out, count, n,
    WIDTH: tl.constexpr, DEPTH: tl.constexpr, POINTS: tl.constexpr, DIRECTIONS: tl.constexpr,
):  # fmt: skip
    """Store in `out` (count, n) the products of all directions and a block of POINTS points.

    `points` has shape (n, WIDTH), and `count` is the number of directions. `parts` is the result of
    `parts_of` for the directions, and `size` that of `size_of`. DIRECTIONS directions and DEPTH
    columns are processed at once.
    """
    i = tl.program_id(0) * POINTS + tl.arange(0, POINTS)
    factor = tl.load(size)
    columns = tl.arange(0, DEPTH)
    y1, y2, y3 = split_points(points, i[None, :], columns[:, None], n, factor, WIDTH)
    for first in range(0, count, DIRECTIONS):
        k = first + tl.arange(0, DIRECTIONS)
        total = tl.zeros([DIRECTIONS, POINTS], tl.float32)
        for start in range(0, WIDTH, DEPTH):
            j = start + columns
            if WIDTH > DEPTH:
                y1, y2, y3 = split_points(points, i[None, :], j[:, None], n, factor, WIDTH)
            x1, x2, x3 = load_parts(parts, k[:, None], j[None, :], count, WIDTH)
            total += add_products(x1, x2, x3, y1, y2, y3)
        place = k[:, None].to(tl.int64) * n + i[None, :]
        tl.store(out + place, total * factor, mask=(k < count)[:, None] & (i < n)[None, :])


@triton.jit
def split_points(points, i, j, n, factor, WIDTH: tl.constexpr):
    """Load elements (i, j) of points (n, WIDTH), divide them by `factor`, and return their parts.

    The parts of a number are three bfloat16 numbers whose sum is the number.
    """
    x = tl.load(points + i.to(tl.int64) * WIDTH + j, mask=(i < n) & (j < WIDTH), other=0.0)
    x /= factor
    first = x.to(tl.bfloat16)
    rest = x - first.to(tl.float32)
    second = rest.to(tl.bfloat16)
    return first, second, (rest - second.to(tl.float32)).to(tl.bfloat16)


@triton.jit
def load_parts(parts, k, j, count, WIDTH: tl.constexpr):
    """Load the three parts of elements j of directions k from `parts` (3, count, WIDTH)."""
    at = parts + k * WIDTH + j
    ok = (k < count) & (j < WIDTH)
    step = count.to(tl.int64) * WIDTH
    return (
        tl.load(at, mask=ok, other=0.0),
        tl.load(at + step, mask=ok, other=0.0),
        tl.load(at + 2 * step, mask=ok, other=0.0),
    )


@triton.jit
def add_products(x1, x2, x3, y1, y2, y3):
    """Return the matrix product of two blocks, x1 + x2 + x3 and y1 + y2 + y3.

    The blocks are given by their parts, the largest first. The products x2 @ y3, x3 @ y2 and
    x3 @ y3 are left out.
    """
    # The small terms are added first, to reduce rounding.
    small = tl.dot(x1, y3)
    small = tl.dot(x3, y1, small)
    small = tl.dot(x2, y2, small)
    small = tl.dot(x1, y2, small)
    small = tl.dot(x2, y1, small)
    return tl.dot(x1, y1, small)
