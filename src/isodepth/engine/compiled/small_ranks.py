"""Compiled: the ranks of a few points by counting, which beats any sort of so few numbers.

How many values are no larger is a sum of comparisons: several at a time, and nothing depends on the
outcome of any. Masses of one unit only.
"""

from __future__ import annotations

import numpy as np

from isodepth.engine.compiled.lite.loop import loop
from isodepth.engine.compiled.tiles import project_next


@loop
def _count(row, upto, from_):
    """Write how many values are no larger and no smaller than each of `row` (n,)."""
    n = row.shape[0]
    all_ = np.int64(0)
    for i in range(n):
        value = row[i]
        # As wide as float32, for vector instructions.
        count = np.int32(0)
        for j in range(n):
            count = np.int32(count + (row[j] <= value))
        upto[i] = count
        # As long as no two are equal, which the sum of all counts says.
        from_[i] = n + 1 - count
        all_ = np.int64(all_ + count)
    if 2 * all_ == n * (n + 1):
        return
    # Some are equal: then both have to be counted.
    for i in range(n):
        value = row[i]
        count = np.int32(0)
        for j in range(n):
            count = np.int32(count + (row[j] >= value))
        from_[i] = count


@loop
def small_halfspace(slab, counts, best):
    """Lower `best` (n,) to the smallest closed-halfspace mass in a slab with room for all.

    `counts`, int32 (2, n), is scratch space.
    """
    projections = slab.room
    n = projections.shape[1]
    upto, from_ = counts[0], counts[1]
    for row in range(project_next(slab, 0, slab.rows.shape[0])):
        _count(projections[row], upto, from_)
        for i in range(n):
            smaller = upto[i] if upto[i] < from_[i] else from_[i]
            best[i] = smaller if smaller < best[i] else best[i]


@loop
def small_rank_weight(slab, counts, sums):
    """Add min(F, 1 - F), in units of 1 / (2 n), to `sums` (n,) for each projection of a slab.

    The slab has room for all; `counts`, int32 (2, n), is scratch space.
    """
    projections = slab.room
    n = projections.shape[1]
    upto, from_ = counts[0], counts[1]
    for row in range(project_next(slab, 0, slab.rows.shape[0])):
        _count(projections[row], upto, from_)
        for i in range(n):
            # Twice the mid-rank, less than or equal and less than; the other way round likewise.
            below = n + upto[i] - from_[i]
            above = n + from_[i] - upto[i]
            sums[i] += below if below < above else above
