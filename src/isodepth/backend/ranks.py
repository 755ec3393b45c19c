"""Compiled: what the ranks of a block of projections say about depth."""

from __future__ import annotations

from numba import njit

from isodepth.backend.sorting import sort_room, sort_with_index


@njit(cache=True, nogil=True)
def all_distinct(keys):
    """Whether no two neighbours of sorted `keys` (n,) are equal."""
    tied = 0
    for i in range(1, keys.shape[0]):
        tied += keys[i] == keys[i - 1]
    return tied == 0


@njit(cache=True, nogil=True)
def halfspace_block(projections, masses, total, best, first, where):
    """Lower `best` (n,) to the smallest closed-halfspace mass seen at each point.

    Parameters
    ----------
    projections : (B, n) array, one row a direction; each counts with both signs
    masses : int64 (n,), or empty for unit masses
    total : int, the sum of the masses
    best : integer (n,), updated in place
    first : index of the first of these directions
    where : int64 (n,), the direction that gave the smallest mass, or empty
    """
    n = projections.shape[1]
    room = sort_room(projections[0])
    keys, index = room.keys, room.index
    for row in range(projections.shape[0]):
        sort_with_index(projections[row], room)
        if masses.shape[0] == 0 and where.shape[0] == 0 and all_distinct(keys):
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


@njit(cache=True, nogil=True)
def rank_weight_block(projections, masses, total, shift, acc):
    """Add min(F, 1 - F), in units of 2**shift / (2 total), to `acc` (n,) for each projection.

    F is the mid-rank distribution function (P(<) + P(<=)) / 2. Integers keep the sum exact, so that
    it does not depend on the order in which blocks arrive. Parameters as in `halfspace_block`.
    """
    n = projections.shape[1]
    room = sort_room(projections[0])
    keys, index = room.keys, room.index
    for row in range(projections.shape[0]):
        sort_with_index(projections[row], room)
        if masses.shape[0] == 0 and all_distinct(keys):
            for i in range(n):
                twice = 2 * i + 1
                acc[index[i]] += min(twice, 2 * n - twice) >> shift
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
            twice = below + upto
            weight = min(twice, 2 * total - twice) >> shift
            for i in range(start, stop):
                acc[index[i]] += weight
            below = upto
            start = stop
