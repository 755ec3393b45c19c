"""Triton kernels for the gaps between the regions of two samples, at all levels.

The rows of both samples are sorted by depth, so the region of a level consists of the first rows.
Chunks of levels are processed in parallel. A first kernel computes the minimum and maximum
projections of the rows of each chunk. A scan converts them to the extremes of all rows before each
chunk. With these extremes, a chunk is processed independently of the others. For each level and
each tile (block) of directions only the maximum gap is stored.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from isodepth.engine.tensors.kernels.multiply import products
from isodepth.engine.tensors.products import blocks

# Number of directions in a tile, the block of directions that one warp processes.
_TILE = 128
# Target number of rows of a sample per chunk of levels. It is also the maximum number of rows
# between two levels. For small samples it is reduced, to at least _LEAST_ROWS, so that there are
# about _CHUNKS chunks, enough for all processors of the device.
_CHUNK_ROWS = 512
_LEAST_ROWS = 128
_CHUNKS = 1600
_SCANNED = 16


def search_gaps(
    x: torch.Tensor,
    y: torch.Tensor,
    prefix_sizes_x: torch.Tensor,
    prefix_sizes_y: torch.Tensor,
    directions: torch.Tensor,
    budget: int,
    locate: bool = False,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Compute the maximum difference of the support functions of two samples at each level.

    The parameters and results are those of `tensors.gaps.search_gaps`.
    """
    ends = torch.stack([prefix_sizes_x[-1], prefix_sizes_y[-1]]).tolist()
    rows = [x[: ends[0]], y[: ends[1]]]
    chunk = max(min(_LEAST_ROWS, _CHUNK_ROWS), min(_CHUNK_ROWS, sum(ends) // (2 * _CHUNKS)))
    fine_x, fine_y, real = _finer_prefix_sizes(prefix_sizes_x, prefix_sizes_y, chunk)
    levels = len(fine_x)
    cuts = _cut_levels(fine_x + fine_y, sum(ends), 2 * chunk)
    n_chunks = len(cuts) - 1
    gaps = x.new_full((levels,), -1.0)
    best_codes = torch.zeros_like(fine_x) if locate else None
    size = x.element_size()
    each = (len(rows[0]) + len(rows[1]) + 8 * n_chunks) * size
    each += levels * (size + (4 if locate else 0)) * 4 // _TILE + 64
    for which in blocks(len(directions), each, budget):
        width = which.stop - which.start
        units = directions[which]
        tiles = triton.cdiv(width, _TILE)
        projections, before = [], []
        for side, prefix_sizes in zip(rows, (fine_x, fine_y), strict=True):
            projections.append(products(side, units))
            extremes = x.new_empty(2, n_chunks + 1, width)
            _chunk_extremes[(n_chunks, tiles)](
                projections[-1], prefix_sizes, cuts, extremes, width, extremes[0].numel(),
                TILE=_TILE, num_warps=1,
            )  # fmt: skip
            _scan_extremes[(2, tiles)](
                extremes, width, n_chunks, TILE=_TILE, ROWS=_SCANNED, num_warps=4
            )
            before.append(extremes)
        largest = x.new_empty(tiles, levels)
        codes = torch.empty(
            (tiles, levels) if locate else (1, 1), dtype=torch.int32, device=x.device
        )
        _walk[(n_chunks, tiles)](
            *projections, fine_x, fine_y, cuts, *before, largest, codes,
            width, levels, before[0][0].numel(),
            LOCATE=locate, TILE=_TILE, num_warps=1,
        )  # fmt: skip
        widest = largest.amax(dim=0)
        better = widest > gaps
        if best_codes is not None:
            # If several directions have the same gap, the first direction is required. Tiles are in
            # the order of directions, so it is in the first tile that attains the maximum.
            tile = torch.where(
                largest == widest, torch.arange(tiles, device=x.device)[:, None], tiles
            ).amin(dim=0)
            code = codes.gather(0, tile[None])[0].long()
            moved = torch.where(code >= 0, code + which.start, code - which.start)
            best_codes = torch.where(better, moved, best_codes)
        gaps = torch.where(better, widest, gaps)
        # Free the memory of this block of directions before the next block is allocated.
        del projections, before, largest, codes
    gaps = gaps[real] if real is not None else gaps
    if best_codes is not None and real is not None:
        best_codes = best_codes[real]
    return gaps.double(), best_codes


def _finer_prefix_sizes(
    prefix_sizes_x: torch.Tensor, prefix_sizes_y: torch.Tensor, most: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:
    """Insert levels, so that at most `most` rows of each sample lie between two levels.

    The prefix size of a level is the number of rows in its region. Return three tensors: the prefix
    sizes of x at the new levels, those of y, and the indices of the original levels among the new
    levels. The third result is None if no level was inserted.
    """
    steps = [
        prefix_sizes.diff(prepend=prefix_sizes.new_zeros(1))
        for prefix_sizes in (prefix_sizes_x, prefix_sizes_y)
    ]
    parts = (torch.maximum(*steps) + most - 1) // most
    parts.clamp_(min=1)
    if bool((parts == 1).all()):
        return prefix_sizes_x, prefix_sizes_y, None
    level = torch.repeat_interleave(parts)
    last = parts.cumsum(0)
    part = torch.arange(len(level), device=level.device) - (last - parts)[level] + 1
    fine = [
        (prefix_sizes - step)[level] + step[level] * part // parts[level]
        for prefix_sizes, step in zip((prefix_sizes_x, prefix_sizes_y), steps, strict=True)
    ]
    return fine[0], fine[1], last - 1


def _cut_levels(walked: torch.Tensor, total: int, each: int) -> torch.Tensor:
    """Return the boundaries of chunks of levels with about `each` rows per chunk.

    `walked` is the number of rows of both samples up to each level. A chunk may be empty. The
    number of chunks depends only on `total` and `each`, so the host does not wait for the device.
    """
    marks = torch.arange(each, total + each, each, device=walked.device)
    ends = torch.searchsorted(walked, marks, right=True)
    return torch.cat([ends.new_zeros(1), ends])


@triton.jit
def _chunk_extremes(P, prefix_sizes, cuts, ends, width, opposite, TILE: tl.constexpr):
    """Compute the maximum and minimum projections of the rows of one chunk of levels.

    They are stored in `ends` at the index of the next chunk. After the scan, each index then has
    the extremes of all rows before its chunk.
    """
    chunk = tl.program_id(0)
    cols = tl.program_id(1) * TILE + tl.arange(0, TILE)
    ok = cols < width
    first_level = tl.load(cuts + chunk)
    last_level = tl.load(cuts + chunk + 1)
    row = tl.load(prefix_sizes + first_level - 1, mask=first_level > 0, other=0)
    stop = tl.load(prefix_sizes + last_level - 1, mask=last_level > 0, other=0)
    top = tl.full([TILE], float("-inf"), P.dtype.element_ty)
    low = tl.full([TILE], float("inf"), P.dtype.element_ty)
    at = P + row * width + cols
    while row + 4 <= stop:
        a = tl.load(at, mask=ok, other=0.0)
        b = tl.load(at + width, mask=ok, other=0.0)
        c = tl.load(at + 2 * width, mask=ok, other=0.0)
        e = tl.load(at + 3 * width, mask=ok, other=0.0)
        top = tl.maximum(top, tl.maximum(tl.maximum(a, b), tl.maximum(c, e)))
        low = tl.minimum(low, tl.minimum(tl.minimum(a, b), tl.minimum(c, e)))
        at += 4 * width
        row += 4
    while row < stop:
        a = tl.load(at, mask=ok, other=0.0)
        top = tl.maximum(top, a)
        low = tl.minimum(low, a)
        at += width
        row += 1
    out = ends + (chunk + 1).to(tl.int64) * width + cols
    tl.store(out, top, mask=ok)
    # The minimum is stored with the opposite sign, so that one scan of maxima computes the running
    # maxima and the running minima.
    tl.store(out + opposite, -low, mask=ok)


@triton.jit
def _larger(a, b):
    return tl.maximum(a, b)


@triton.jit
def _scan_extremes(ends, width, n_chunks, TILE: tl.constexpr, ROWS: tl.constexpr):
    """Replace the extreme projections of each chunk, in place, with running extremes.

    The running extremes of a chunk are those of all rows up to its end.
    """
    cols = tl.program_id(1) * TILE + tl.arange(0, TILE)
    rows = tl.arange(0, ROWS)
    base = ends + tl.program_id(0).to(tl.int64) * (n_chunks + 1) * width
    tl.store(base + cols, tl.full([TILE], float("-inf"), ends.dtype.element_ty), mask=cols < width)
    carry = tl.full([TILE], float("-inf"), ends.dtype.element_ty)
    for start in range(1, n_chunks + 1, ROWS):
        at = base + (start + rows)[:, None].to(tl.int64) * width + cols[None, :]
        ok = ((start + rows) <= n_chunks)[:, None] & (cols < width)[None, :]
        tile = tl.load(at, mask=ok, other=float("-inf"))
        tile = tl.associative_scan(tile, 0, _larger)
        tile = tl.maximum(tile, carry[None, :])
        tl.store(at, tile, mask=ok)
        carry = tl.max(tile, axis=0)


@triton.jit
def _walk(
    Px, Py, prefix_sizes_x, prefix_sizes_y, cuts, before_x, before_y, largest, codes,
    width, levels, opposite,
    LOCATE: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Store the maximum gap over one tile of directions, for each level in one chunk of levels.

    If LOCATE, also store the code of the maximizing direction: k for direction k of the block, and
    -1 - k for its opposite.
    """
    chunk = tl.program_id(0)
    tile = tl.program_id(1)
    cols = tile * TILE + tl.arange(0, TILE)
    ok = cols < width
    first_level = tl.load(cuts + chunk)
    last_level = tl.load(cuts + chunk + 1)
    row_x = tl.load(prefix_sizes_x + first_level - 1, mask=first_level > 0, other=0)
    row_y = tl.load(prefix_sizes_y + first_level - 1, mask=first_level > 0, other=0)
    prefix = chunk.to(tl.int64) * width + cols
    # Columns beyond the last direction are loaded as zero. Their gap of zero does not change the
    # maximum.
    top_x = tl.load(before_x + prefix, mask=ok, other=0.0)
    low_x = -tl.load(before_x + prefix + opposite, mask=ok, other=0.0)
    top_y = tl.load(before_y + prefix, mask=ok, other=0.0)
    low_y = -tl.load(before_y + prefix + opposite, mask=ok, other=0.0)
    at_x = Px + row_x * width + cols
    at_y = Py + row_y * width + cols
    for level in range(first_level, last_level):
        stop_x = tl.load(prefix_sizes_x + level)
        stop_y = tl.load(prefix_sizes_y + level)
        while row_x < stop_x:
            v = tl.load(at_x, mask=ok, other=0.0)
            top_x = tl.maximum(top_x, v)
            low_x = tl.minimum(low_x, v)
            at_x += width
            row_x += 1
        while row_y < stop_y:
            w = tl.load(at_y, mask=ok, other=0.0)
            top_y = tl.maximum(top_y, w)
            low_y = tl.minimum(low_y, w)
            at_y += width
            row_y += 1
        above = tl.abs(top_x - top_y)
        gap = tl.maximum(above, tl.abs(low_x - low_y))
        widest = tl.max(gap, axis=0)
        out = tile.to(tl.int64) * levels + level
        tl.store(largest + out, widest)
        if LOCATE:
            place = tl.min(tl.where(gap == widest, cols, 2147483647), axis=0)
            upward = tl.max(tl.where((cols == place) & (above == widest), 1, 0), axis=0)
            tl.store(codes + out, tl.where(upward > 0, place, -1 - place))
