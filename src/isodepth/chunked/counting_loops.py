"""Compiled: where many numbers fall along each direction, counted or picked out.

Most numbers lie outside of the intervals asked for, so that a tile of them is passed over unless
one of its numbers is about as near the middle of the interval as its ends are.
"""

from __future__ import annotations

import numpy as np

from isodepth.engine.compiled.jit import njit
from isodepth.engine.compiled.lanes import TILE_BYTES, nearest, nearest_folded
from isodepth.engine.compiled.spread import raise_outlyingness

_EPS = (float(np.finfo(np.float32).eps), float(np.finfo(np.float64).eps))


@njit(cache=True, nogil=True)
def mass_below(values, center, folded, low, masses):
    """The mass of the numbers below `low`."""
    if masses.shape[0] > 0:
        mass = np.int64(0)
        for i in range(values.shape[0]):
            x = abs(values[i] - center) if folded else values[i]
            if x < low:
                mass += masses[i]
        return mass
    # 32 bits, like float32: counters as wide as the numbers are what vector instructions need.
    below = np.int32(0)
    if folded:
        for i in range(values.shape[0]):
            below = np.int32(below + (abs(values[i] - center) < low))
    else:
        for i in range(values.shape[0]):
            below = np.int32(below + (values[i] < low))
    return np.int64(below)


@njit(nogil=True, inline="always")
def _is_near(values, start, stop, center, folded, target, reach):
    """Whether a number of a tile may lie within `reach` of the target."""
    if stop - start < TILE_BYTES // values.itemsize:
        return True
    if folded:
        return nearest_folded(values, start, center, target) <= reach
    return nearest(values, start, center, target) <= reach


@njit(nogil=True, inline="always")
def _half_length(low, high, eps):
    """Half of the length of an interval, and what rounding may add to it."""
    return (high - low) / 2 + 4 * eps * (abs(low) + abs(high))


@njit(cache=True, nogil=True)
def pick_between(values, center, folded, low, high, masses, found, found_masses, kept):
    """Append the numbers in [low, high] and their masses to `found`; return how many there are."""
    n = values.shape[0]
    half = values.dtype.type(0.5)
    width = TILE_BYTES // values.itemsize
    weighted = masses.shape[0] > 0
    target = half * low + half * high
    reach = _half_length(low, high, _EPS[values.itemsize // 8])
    for start in range(0, n, width):
        stop = min(start + width, n)
        if _is_near(values, start, stop, center, folded, target, reach):
            for i in range(start, stop):
                x = abs(values[i] - center) if folded else values[i]
                # Few are: the branch is foreseen, which costs less than to write all of them.
                if x >= low and x <= high:
                    found[kept] = x
                    found_masses[kept] = masses[i] if weighted else 1
                    kept += 1
    return kept


@njit(cache=True, nogil=True)
def bin_rows(projections, centers, folded, low, high, scale, masses, counts):
    """Count the numbers along each direction in equal parts of an interval.

    Parameters
    ----------
    projections : (B, n)
    centers, folded : the numbers are the projections, or if `folded`, |projections - centers[row]|
    low, high : (B,) the intervals, ends included
    scale : (B,) parts of an interval by its length
    masses : int64 (n,), or empty for unit masses
    counts : int64 (B, parts + 1), the mass below the interval, and in each of its parts; added to
    """
    parts = counts.shape[1] - 1
    n = projections.shape[1]
    width = TILE_BYTES // projections.itemsize
    half = projections.dtype.type(0.5)
    weighted = masses.shape[0] > 0
    for row in range(projections.shape[0]):
        values = projections[row]
        center = centers[row]
        a = low[row]
        b = high[row]
        counts[row, 0] += mass_below(values, center, folded, a, masses)
        target = half * a + half * b
        reach = _half_length(a, b, _EPS[projections.itemsize // 8])
        for start in range(0, n, width):
            stop = min(start + width, n)
            if _is_near(values, start, stop, center, folded, target, reach):
                for i in range(start, stop):
                    x = abs(values[i] - center) if folded else values[i]
                    if x >= a and x <= b:
                        part = np.int64((x - a) * scale[row])
                        if part >= parts:
                            part = np.int64(parts - 1)
                        counts[row, 1 + part] += masses[i] if weighted else 1


@njit(cache=True, nogil=True)
def gather_rows(projections, centers, folded, low, high, masses, below, found, found_masses, kept):
    """Pick the numbers along each direction that lie in an interval.

    As in `bin_rows`; `below` (B,) is what lies below, `found` and `found_masses` (B, room) are what
    is picked, of which `kept` (B,) are there already: n must be free.
    """
    for row in range(projections.shape[0]):
        values = projections[row]
        below[row] += mass_below(values, centers[row], folded, low[row], masses)
        kept[row] = pick_between(
            values, centers[row], folded, low[row], high[row], masses,
            found[row], found_masses[row], kept[row],
        )  # fmt: skip


@njit(cache=True, nogil=True)
def raise_rows(projections, middles, mads, out, nowhere):
    """Raise `out` (n,) to |projection - middle| / mad along directions (B,) that have a MAD."""
    for row in range(projections.shape[0]):
        if mads[row] > 0:
            raise_outlyingness(projections[row], middles[row], mads[row], out, 0, nowhere)


@njit(nogil=True, inline="always")
def _cell(value, middle, scale, bits, most):
    """The cell of a number among 2 * most: equal steps from 0 to 1, twice as wide from 1 to 3, ...

    Distances from the middle are counted in units of 1 / scale. All roundings on the way keep the
    order of numbers, so that cells do.
    """
    away = (value - middle) * scale
    place = np.int64(np.float32(1 + abs(away)).view(np.int32) >> (23 - bits))
    place -= np.int64(127) << bits
    if place >= most:
        place = np.int64(most - 1)
    return most + place if away >= 0 else most - 1 - place


@njit(cache=True, nogil=True)
def cell_rows(projections, middles, scales, bits, masses, counts):
    """Add masses (n,), or ones where they are empty, to the cells of projections (B, n).

    `counts` is int64 (B, cells).
    """
    most = counts.shape[1] // 2
    for row in range(projections.shape[0]):
        for i in range(projections.shape[1]):
            cell = _cell(projections[row, i], middles[row], scales[row], bits, most)
            counts[row, cell] += masses[i] if masses.shape[0] > 0 else 1


@njit(cache=True, nogil=True)
def bound_rows(projections, middles, scales, bits, low, high, smallest, out):
    """Bounds of the depths of n points from those of the cells along directions.

    Parameters
    ----------
    projections : (B, n)
    low, high : int64 (B, cells), bounds of what a point in each cell has along each direction
    smallest : whether depths are the smallest of these, or their sum
    out : int64 (n, 2), updated in place
    """
    most = low.shape[1] // 2
    for row in range(projections.shape[0]):
        for i in range(projections.shape[1]):
            cell = _cell(projections[row, i], middles[row], scales[row], bits, most)
            if smallest:
                out[i, 0] = min(out[i, 0], low[row, cell])
                out[i, 1] = min(out[i, 1], high[row, cell])
            else:
                out[i, 0] += low[row, cell]
                out[i, 1] += high[row, cell]
