"""Triton kernels for the gaps between the regions of two samples, at all levels.

The rows of both samples are sorted by depth, so the region of a level consists of the first rows.
A first kernel computes the minimum and maximum projections of groups of successive rows, and a scan
converts them to the extremes of all rows before each group. They give bounds on the gap along each
direction, for all levels of a chunk of successive levels. A direction can attain the maximum gap of
a level only if its upper bound is at least the maximum of the lower bounds of all directions. Only
along these directions, which are usually a few of a thousand, the rows of the chunk are projected
again, and processed one after another.

Arguments of the kernels, which are called for a block of directions:

* x, y: the rows of both samples that belong to a region, deepest first;
* prefix_sizes_x, prefix_sizes_y (L,): the numbers of rows in the region of each level;
* cuts: the levels at which chunks start and end, see `_cut_levels`;
* extremes_x, extremes_y (2, groups + 1, count): the results of `_running_extremes`;
* opposite_x, opposite_y: offset from a maximum to the negative minimum in these arrays;
* chosen (chunks, count), n_chosen (chunks,): indices and number of directions, see `_choose`;
* count: number of directions;
* GROUP, WIDTH, DEPTH: numbers of rows in a group, of columns, and of columns processed at once.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from isodepth.device.kernels.multiply import (
    add_products,
    depth_of,
    load_parts,
    parts_of,
    size_of,
    split_points,
    worth_splitting,
)
from isodepth.device.products import blocks

# Number of rows in a group, and number of directions that are processed at once for a group.
_GROUP = 128
_DIRECTIONS = 64
# Number of directions in a tile, the block of directions that one warp processes.
_TILE = 32
# Target number of rows of a sample per chunk of levels. It is also the maximum number of rows
# between two levels.
_CHUNK_ROWS = 128
# Numbers of groups and of directions in a block of the scan, and of directions in a block of the
# choice of directions.
_SCANNED = 64
_SCANNED_DIRECTIONS = 32
_CHOSEN = 1024


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
    rows = [side[:end].contiguous() for side, end in zip((x, y), ends, strict=True)]
    fine_x, fine_y, real = _finer_prefix_sizes(prefix_sizes_x, prefix_sizes_y, _CHUNK_ROWS)
    levels, width = len(fine_x), x.shape[1]
    cuts = _cut_levels(fine_x + fine_y, sum(ends), 2 * _CHUNK_ROWS)
    n_chunks = len(cuts) - 1
    gaps = x.new_full((levels,), -1.0)
    best_codes = torch.zeros_like(fine_x) if locate else None
    size = x.element_size()
    # Bytes per direction for extremes of groups, chosen directions, and results of tiles.
    each = 2 * size * (sum(ends) // _GROUP + 4) + 4 * n_chunks
    each += levels * (size + (4 if locate else 0)) * 2 // _TILE + 64
    for which in blocks(len(directions), each, budget):
        units = directions[which]
        count = len(units)
        across = units.T.contiguous()
        extremes = [_running_extremes(side, units, across) for side in rows]
        chosen = torch.empty(n_chunks, count, dtype=torch.int32, device=x.device)
        n_chosen = torch.empty(n_chunks, dtype=torch.int32, device=x.device)
        _choose[(n_chunks,)](
            fine_x, fine_y, cuts, *extremes, chosen, n_chosen, count,
            extremes[0][0].numel(), extremes[1][0].numel(),
            GROUP=_GROUP, BLOCK=min(_CHOSEN, triton.next_power_of_2(count)), num_warps=4,
        )  # fmt: skip
        tiles = triton.cdiv(count, _TILE)
        largest = x.new_full((tiles, levels), -1.0)
        codes = torch.empty(
            (tiles, levels) if locate else (1, 1), dtype=torch.int32, device=x.device
        )
        _walk[(n_chunks, tiles)](
            *rows, fine_x, fine_y, cuts, *extremes, across, chosen, n_chosen, largest, codes,
            count, levels, extremes[0][0].numel(), extremes[1][0].numel(),
            GROUP=_GROUP, WIDTH=width, DEPTH=depth_of(width), LOCATE=locate, TILE=_TILE,
            num_warps=1,
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
        del extremes, chosen, largest, codes
    gaps = gaps[real] if real is not None else gaps
    if best_codes is not None and real is not None:
        best_codes = best_codes[real]
    return gaps.double(), best_codes


def _running_extremes(
    rows: torch.Tensor, units: torch.Tensor, across: torch.Tensor
) -> torch.Tensor:
    """Compute the extremes of the projections of the rows before each group of rows.

    `units` (K, d) are directions, and `across` (d, K) is their transpose. The result has shape
    (2, groups + 1, K): the maxima, and the negative minima. Entry g of the second axis is over all
    rows before group g, and the last entry is over all rows. There are no rows before the first
    group: its entry is the projection of the first row, which belongs to every region.
    """
    n, width = rows.shape
    count = len(units)
    groups = triton.cdiv(n, _GROUP)
    extremes = rows.new_empty(2, groups + 1, count)
    torch.mv(units, rows[0], out=extremes[0, 0])
    torch.neg(extremes[0, 0], out=extremes[1, 0])
    split = worth_splitting(rows)
    _group_extremes[(groups,)](
        rows, parts_of(units) if split else across, size_of(rows) if split else across,
        extremes, n, count, extremes[0].numel(),
        SPLIT=split, GROUP=_GROUP, WIDTH=width, DEPTH=depth_of(width),
        DIRECTIONS=_DIRECTIONS, num_warps=4, num_stages=1,
    )  # fmt: skip
    _scan_extremes[(2, triton.cdiv(count, _SCANNED_DIRECTIONS))](
        extremes, count, groups, TILE=_SCANNED_DIRECTIONS, ROWS=_SCANNED, num_warps=4
    )
    return extremes


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

    `walked` (L,) is the number of rows of both samples in the regions of each level, and `total` is
    its maximum. Chunk c has the levels from entry c of the result up to, but without, entry c + 1.
    A chunk may be empty. The number of chunks depends only on `total` and `each`, so the host does
    not wait for the device.
    """
    marks = torch.arange(each, total + each, each, device=walked.device)
    ends = torch.searchsorted(walked, marks, right=True)
    return torch.cat([ends.new_zeros(1), ends])


@triton.jit
def _group_extremes(
    rows, units, size, extremes, n, count, opposite,
    SPLIT: tl.constexpr, GROUP: tl.constexpr, WIDTH: tl.constexpr, DEPTH: tl.constexpr,
    DIRECTIONS: tl.constexpr,
):  # fmt: skip
    """Compute the maximum and minimum projections of a group of rows on all `count` directions.

    A group has GROUP successive rows. The results are stored in `extremes` at the index of the next
    group: after the kernel `_scan_extremes`, each index has the extremes of all rows before its
    group. If SPLIT, `units` are the parts of the directions (3, count, WIDTH), `size` is that of
    `size_of`, and products are computed as in `multiply`. Otherwise `units` has shape (WIDTH,
    count). DIRECTIONS directions are processed at once.
    """
    group = tl.program_id(0)
    i = group * GROUP + tl.arange(0, GROUP)
    kind = rows.dtype.element_ty
    below = tl.where(i < n, 0.0, float("-inf")).to(kind)
    out = extremes + (group + 1).to(tl.int64) * count
    columns = tl.arange(0, DEPTH)
    if SPLIT:
        factor = tl.load(size)
        x1, x2, x3 = split_points(rows, i[:, None], columns[None, :], n, factor, WIDTH)
    for first in range(0, count, DIRECTIONS):
        k = first + tl.arange(0, DIRECTIONS)
        total = tl.zeros([GROUP, DIRECTIONS], kind)
        if SPLIT:
            for start in range(0, WIDTH, DEPTH):
                j = start + columns
                if WIDTH > DEPTH:
                    x1, x2, x3 = split_points(rows, i[:, None], j[None, :], n, factor, WIDTH)
                y1, y2, y3 = load_parts(units, k[None, :], j[:, None], count, WIDTH)
                total += add_products(x1, x2, x3, y1, y2, y3)
            total *= factor
        else:
            for j in range(WIDTH):
                x = tl.load(rows + i.to(tl.int64) * WIDTH + j, mask=i < n, other=0.0)
                u = tl.load(units + j * count + k, mask=k < count, other=0.0)
                total += x[:, None] * u[None, :]
        tl.store(out + k, tl.max(total + below[:, None], axis=0), mask=k < count)
        # The minimum is stored with the opposite sign, so that one scan of maxima computes the
        # running maxima and the running minima.
        tl.store(out + opposite + k, tl.max(below[:, None] - total, axis=0), mask=k < count)


@triton.jit
def _larger(a, b):
    return tl.maximum(a, b)


@triton.jit
def _scan_extremes(extremes, count, groups, TILE: tl.constexpr, ROWS: tl.constexpr):
    """Replace the extreme projections of each group, in place, with running extremes.

    The running extremes of a group are those of all rows up to its end. A program processes TILE
    directions, and ROWS groups at once.
    """
    k = tl.program_id(1) * TILE + tl.arange(0, TILE)
    rows = tl.arange(0, ROWS)
    base = extremes + tl.program_id(0).to(tl.int64) * (groups + 1) * count
    carry = tl.full([TILE], float("-inf"), extremes.dtype.element_ty)
    for start in range(1, groups + 1, ROWS):
        at = base + (start + rows)[:, None].to(tl.int64) * count + k[None, :]
        ok = ((start + rows) <= groups)[:, None] & (k < count)[None, :]
        tile = tl.load(at, mask=ok, other=float("-inf"))
        tile = tl.associative_scan(tile, 0, _larger)
        tile = tl.maximum(tile, carry[None, :])
        tl.store(at, tile, mask=ok)
        carry = tl.max(tile, axis=0)


@triton.jit
def _rows_of_chunk(prefix_sizes, cuts, chunk):
    """Return the start and the end of the range of rows that enter at the levels of a chunk."""
    first_level = tl.load(cuts + chunk)
    last_level = tl.load(cuts + chunk + 1)
    start = tl.load(prefix_sizes + first_level - 1, mask=first_level > 0, other=0)
    stop = tl.load(prefix_sizes + last_level - 1, mask=last_level > 0, other=0)
    return start, stop


@triton.jit
def _gap_bounds(before_x, after_x, before_y, after_y, k, ok, opposite_x, opposite_y):
    """Return a lower and an upper bound on the gap along directions k, at all levels of a chunk.

    `before_x` and `after_x` point at the extremes of x over the rows before the chunk and up to its
    end; `before_y` and `after_y` at those of y. `ok` is the mask of valid directions.
    """
    least_x = tl.load(before_x + k, mask=ok, other=0.0)
    most_x = tl.load(after_x + k, mask=ok, other=0.0)
    least_y = tl.load(before_y + k, mask=ok, other=0.0)
    most_y = tl.load(after_y + k, mask=ok, other=0.0)
    lower = tl.maximum(least_x - most_y, least_y - most_x)
    upper = tl.maximum(most_x - least_y, most_y - least_x)
    least_x = tl.load(before_x + opposite_x + k, mask=ok, other=0.0)
    most_x = tl.load(after_x + opposite_x + k, mask=ok, other=0.0)
    least_y = tl.load(before_y + opposite_y + k, mask=ok, other=0.0)
    most_y = tl.load(after_y + opposite_y + k, mask=ok, other=0.0)
    lower = tl.maximum(lower, tl.maximum(least_x - most_y, least_y - most_x))
    upper = tl.maximum(upper, tl.maximum(most_x - least_y, most_y - least_x))
    return tl.where(ok, lower, float("-inf")), tl.where(ok, upper, float("-inf"))


@triton.jit
def _choose(
    prefix_sizes_x, prefix_sizes_y, cuts, extremes_x, extremes_y, chosen, n_chosen, count,
    opposite_x, opposite_y, GROUP: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """List the directions that may attain the maximum gap at a level of one chunk of levels.

    They are listed in increasing order in `chosen`, and their number is stored in `n_chosen`.
    """
    chunk = tl.program_id(0)
    start_x, stop_x = _rows_of_chunk(prefix_sizes_x, cuts, chunk)
    start_y, stop_y = _rows_of_chunk(prefix_sizes_y, cuts, chunk)
    before_x = extremes_x + (start_x // GROUP) * count
    after_x = extremes_x + ((stop_x + GROUP - 1) // GROUP) * count
    before_y = extremes_y + (start_y // GROUP) * count
    after_y = extremes_y + ((stop_y + GROUP - 1) // GROUP) * count
    attained = tl.full([BLOCK], float("-inf"), extremes_x.dtype.element_ty)
    for first in range(0, count, BLOCK):
        k = first + tl.arange(0, BLOCK)
        lower, _ = _gap_bounds(
            before_x, after_x, before_y, after_y, k, k < count, opposite_x, opposite_y
        )
        attained = tl.maximum(attained, lower)
    threshold = tl.max(attained, axis=0)
    total = 0
    for first in range(0, count, BLOCK):
        k = first + tl.arange(0, BLOCK)
        _, upper = _gap_bounds(
            before_x, after_x, before_y, after_y, k, k < count, opposite_x, opposite_y
        )
        taken = (k < count) & (upper >= threshold)
        place = total + tl.cumsum(taken.to(tl.int32), axis=0) - 1
        tl.store(chosen + chunk.to(tl.int64) * count + place, k, mask=taken)
        total += tl.sum(taken.to(tl.int32), axis=0)
    tl.store(n_chosen + chunk, total)


@triton.jit
def _project(rows, i, units, k, u, count, WIDTH: tl.constexpr, DEPTH: tl.constexpr):
    """Return the projections of row i on directions k, which are columns of `units` (WIDTH, count).

    `u` has the first DEPTH elements of these directions.
    """
    j = tl.arange(0, DEPTH)
    x = tl.load(rows + i * WIDTH + j, mask=j < WIDTH, other=0.0)
    total = tl.sum(x[:, None] * u, axis=0)
    for start in range(DEPTH, WIDTH, DEPTH):
        x = tl.load(rows + i * WIDTH + start + j, mask=start + j < WIDTH, other=0.0)
        at = units + (start + j)[:, None] * count + k[None, :]
        u = tl.load(at, mask=(start + j < WIDTH)[:, None], other=0.0)
        total += tl.sum(x[:, None] * u, axis=0)
    return total


@triton.jit
def _walk(
    x, y, prefix_sizes_x, prefix_sizes_y, cuts, extremes_x, extremes_y, units, chosen, n_chosen,
    largest, codes, count, levels, opposite_x, opposite_y,
    GROUP: tl.constexpr, WIDTH: tl.constexpr, DEPTH: tl.constexpr, LOCATE: tl.constexpr,
    TILE: tl.constexpr,
):  # fmt: skip
    """Store in `largest` the maximum gap over one tile of directions, for each level of a chunk.

    A tile has TILE of the directions that `_choose` lists for the chunk. `units` (WIDTH, count) are
    the directions. `largest` and `codes` have shape (tiles, levels). If LOCATE, also store the code
    of the maximizing direction in `codes`: k for direction k of the block, and -1 - k for its
    opposite.
    """
    chunk = tl.program_id(0)
    tile = tl.program_id(1)
    total = tl.load(n_chosen + chunk)
    if tile * TILE < total:
        # The last chosen direction fills the tile. Repeated directions do not change the maximum.
        place = tl.minimum(tile * TILE + tl.arange(0, TILE), total - 1)
        k = tl.load(chosen + chunk.to(tl.int64) * count + place)
        j = tl.arange(0, DEPTH)
        u = tl.load(units + j[:, None] * count + k[None, :], mask=(j < WIDTH)[:, None], other=0.0)
        start_x, _ = _rows_of_chunk(prefix_sizes_x, cuts, chunk)
        start_y, _ = _rows_of_chunk(prefix_sizes_y, cuts, chunk)
        # The running extremes are those at the start of a group.
        row_x = start_x // GROUP * GROUP
        row_y = start_y // GROUP * GROUP
        at_x = extremes_x + (start_x // GROUP) * count + k
        at_y = extremes_y + (start_y // GROUP) * count + k
        top_x = tl.load(at_x)
        low_x = -tl.load(at_x + opposite_x)
        top_y = tl.load(at_y)
        low_y = -tl.load(at_y + opposite_y)
        for level in range(tl.load(cuts + chunk), tl.load(cuts + chunk + 1)):
            stop_x = tl.load(prefix_sizes_x + level)
            stop_y = tl.load(prefix_sizes_y + level)
            while row_x < stop_x:
                v = _project(x, row_x, units, k, u, count, WIDTH, DEPTH)
                top_x = tl.maximum(top_x, v)
                low_x = tl.minimum(low_x, v)
                row_x += 1
            while row_y < stop_y:
                w = _project(y, row_y, units, k, u, count, WIDTH, DEPTH)
                top_y = tl.maximum(top_y, w)
                low_y = tl.minimum(low_y, w)
                row_y += 1
            above = tl.abs(top_x - top_y)
            gap = tl.maximum(above, tl.abs(low_x - low_y))
            widest = tl.max(gap, axis=0)
            out = tile.to(tl.int64) * levels + level
            tl.store(largest + out, widest)
            if LOCATE:
                first = tl.min(tl.where(gap == widest, k, 2147483647), axis=0)
                upward = tl.max(tl.where((k == first) & (above == widest), 1, 0), axis=0)
                tl.store(codes + out, tl.where(upward > 0, first, -1 - first))
