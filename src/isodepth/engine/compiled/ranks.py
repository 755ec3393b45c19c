"""Compiled: what the ranks of a block of projections say about depth."""

from __future__ import annotations

import numpy as np

from isodepth.engine.compiled.halfspace_bounds import WORTH_BOUNDS, lower_by_bounds
from isodepth.engine.compiled.lite.loop import loop
from isodepth.engine.compiled.sorting import (
    STRETCH,
    divide,
    sort_stretch,
    sort_with_index,
    stretch_bits,
)
from isodepth.engine.compiled.tiles import project_next
from isodepth.engine.compiled.turns import take_part


@loop
def all_distinct(keys):
    """Whether no two neighbors of sorted `keys` (n,) are equal."""
    # As wide as float32, for vector instructions.
    tied = np.int32(0)
    for i in range(1, keys.shape[0]):
        tied = np.int32(tied + (keys[i] == keys[i - 1]))
    return tied == 0


@loop
def halfspace_block(projections, masses, total, workspace, bounds, best, first, where):
    """Lower `best` (n,) to the smallest closed-halfspace mass seen at each point.

    Parameters
    ----------
    projections : (B, n) array, one row a direction; each counts with both signs
    masses : int64 (n,), or empty for unit masses
    total : int, the sum of the masses
    workspace, bounds : from `sort_workspace` and `bounds_workspace`
    best : integer (n,), updated in place
    first : index of the first of these directions
    where : int64 (n,), the direction that gave the smallest mass, or empty
    """
    n = projections.shape[1]
    keys, index = workspace.keys, workspace.index
    plain = masses.shape[0] == 0 and where.shape[0] == 0
    bounded = plain and n >= WORTH_BOUNDS
    for row in range(projections.shape[0]):
        if bounded and lower_by_bounds(projections[row], bounds, best):
            continue
        sort_with_index(projections[row], workspace)
        if plain and all_distinct(keys):
            for i in range(n // 2 + 1):
                smaller = i + 1
                if smaller < best[index[i]]:
                    best[index[i]] = smaller
                if smaller < best[index[n - 1 - i]]:
                    best[index[n - 1 - i]] = smaller
            continue
        below = total - total
        start = 0
        while start < n:
            stop = start + 1
            while stop < n and keys[stop] == keys[start]:
                stop += 1
            upto = below + (stop - start)
            if masses.shape[0] > 0:
                upto = below
                for i in range(start, stop):
                    upto += masses[index[i]]
            smaller = min(upto, total - below)
            for i in range(start, stop):
                if smaller < best[index[i]]:
                    best[index[i]] = smaller
                    if where.shape[0] > 0:
                        where[index[i]] = first + row
            below = upto
            start = stop


@loop
def _tell(best, known):
    """Lower `best` (n,) and what workers share, `known` (n,), to the smaller of both.

    What others write at the same time may be lost, or come a little later: `known` is not needed
    to be the smallest, only true.
    """
    for i in range(best.shape[0]):
        mine = best[i]
        theirs = known[i]
        if theirs < mine:
            best[i] = theirs
        elif mine < theirs:
            known[i] = mine


@loop
def halfspace_directions(slab, turn, masses, total, workspace, bounds, best, known, where):
    """`halfspace_block` for all projections of a slab whose turn it is.

    The smaller the masses found so far, the fewer points a direction can matter to. So workers tell
    each other theirs in `known` (n,), ever less often, unless that is empty. In its first turn a
    worker fills `best` with what is larger than any mass.
    """
    if turn.left[1] == 0:
        for i in range(best.shape[0]):
            best[i] = total + 1
    first, stop = take_part(turn)
    while first < stop:
        while first < stop:
            count = project_next(slab, first, stop)
            halfspace_block(slab.room[:count], masses, total, workspace, bounds, best, first, where)
            first += count
        # After 1, 2, 4, ... parts.
        if known.shape[0] > 0 and turn.left[1] & (turn.left[1] - 1) == 0:
            _tell(best, known)
        first, stop = take_part(turn)


@loop
def _weight(twice, total, shift):
    """min(F, 1 - F) in units of 2**shift / (2 total), where F is `twice` / (2 total)."""
    return min(twice, 2 * total - twice) >> shift


@loop
def _add_weights(keys, index, first, total, shift, out):
    """Add the weights of sorted `keys` (n,), of unit mass and with `first` values below them.

    That of keys[i] is added to out[index[i]].
    """
    n = keys.shape[0]
    for i in range(n):
        out[index[i]] += _weight(2 * (first + i) + 1, total, shift)
    # Few numbers are equal, most often: these get what they share instead.
    i = 1
    while i < n:
        if keys[i] == keys[i - 1]:
            start = i - 1
            while i < n and keys[i] == keys[start]:
                i += 1
            shared = _weight(2 * first + start + i, total, shift)
            for j in range(start, i):
                out[index[j]] += shared - _weight(2 * (first + j) + 1, total, shift)
        i += 1


@loop
def _add_weights_by_stretches(values, workspace, shift, acc):
    """Like `rank_weight_block` for one direction, unit masses and many values.

    Weights are written next to each other within a stretch and read back in the order in which the
    values were divided, so nothing is looked up at a random place of a large array.
    """
    n = values.shape[0]
    bits = stretch_bits(n)
    stretches = divide(values, workspace)
    starts = workspace.starts
    weights = workspace.spare_index
    for s in range(stretches):
        first, last = np.int64(starts[s]), np.int64(starts[s + 1])
        size = last - first
        # The same places, stretch after stretch: they stay in the cache. Of `count` a stretch needs
        # the front, and at least n places are left behind that.
        keys, index = workspace.keys[:size], workspace.index[:size]
        found = workspace.count[workspace.count.shape[0] - n :]
        sort_stretch(workspace, s, first, last, keys, index)
        for i in range(size):
            found[i] = 0
        _add_weights(keys, index, first, n, shift, found)
        for i in range(size):
            weights[first + i] = found[i]
    for i in range(n):
        s = workspace.bucket[i] >> bits
        place = starts[s]
        starts[s] = place + 1
        acc[i] += weights[place]


@loop
def rank_weight_block(projections, masses, total, shift, workspace, acc):
    """Add min(F, 1 - F), in units of 2**shift / (2 total), to `acc` (n,) for each projection.

    F is the mid-rank distribution function (P(<) + P(<=)) / 2. Integers keep the sum exact, so that
    it does not depend on the order in which blocks arrive; the caller chooses an integer type that
    can hold it. `workspace` is from `sort_workspace`; the rest is as in `halfspace_block`.
    """
    n = projections.shape[1]
    keys, index = workspace.keys, workspace.index
    for row in range(projections.shape[0]):
        if masses.shape[0] == 0 and n > STRETCH:
            _add_weights_by_stretches(projections[row], workspace, shift, acc)
            continue
        sort_with_index(projections[row], workspace)
        if masses.shape[0] == 0:
            _add_weights(keys, index, 0, total, shift, acc)
            continue
        below = total - total
        start = 0
        while start < n:
            upto = below
            stop = start
            while stop < n and keys[stop] == keys[start]:
                upto += masses[index[stop]]
                stop += 1
            weight = _weight(below + upto, total, shift)
            for i in range(start, stop):
                acc[index[i]] += weight
            below = upto
            start = stop


@loop
def rank_weight_directions(slab, turn, masses, total, shift, workspace, acc):
    """`rank_weight_block` for all projections of a slab whose turn it is."""
    first, stop = take_part(turn)
    while first < stop:
        while first < stop:
            count = project_next(slab, first, stop)
            rank_weight_block(slab.room[:count], masses, total, shift, workspace, acc)
            first += count
        first, stop = take_part(turn)
