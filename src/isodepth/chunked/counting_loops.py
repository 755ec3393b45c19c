"""Compiled: where many numbers fall along each direction, counted or picked out.

Most numbers lie outside of the intervals asked for, so that they are passed over many at a time.
"""

from __future__ import annotations

import numpy as np

from isodepth.engine.compiled.lite.loop import loop
from isodepth.engine.compiled.spread import raise_outlyingness
from isodepth.engine.compiled.tiles import project_next

# So many numbers are passed over at a time where none of them lies inside.
_BLOCK = 32


@loop
def _passed(values, start, stop, center, folded, low, high):
    """How many of some numbers are below `low`, and how many are not above `high`."""
    # 32 bits, like float32: counters as wide as the numbers are what vector instructions need.
    below = np.int32(0)
    upto = np.int32(0)
    if folded:
        for i in range(start, stop):
            x = abs(values[i] - center)
            below = np.int32(below + (x < low))
            upto = np.int32(upto + (x <= high))
    else:
        for i in range(start, stop):
            below = np.int32(below + (values[i] < low))
            upto = np.int32(upto + (values[i] <= high))
    return np.int64(below), np.int64(upto)


@loop
def mass_below(values, start, stop, center, folded, low, masses):
    """The mass of some numbers below `low`."""
    mass = np.int64(0)
    for i in range(start, stop):
        x = abs(values[i] - center) if folded else values[i]
        if x < low:
            mass += masses[i]
    return mass


@loop
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

    Where there is one row of projections all intervals are along it.
    """
    parts = counts.shape[1] - 1
    n = projections.shape[1]
    weighted = masses.shape[0] > 0
    rise = 1 if projections.shape[0] > 1 else 0
    for row in range(low.shape[0]):
        values = projections[rise * row]
        center = centers[row]
        a = low[row]
        b = high[row]
        start = 0
        while start < n:
            stop = min(start + _BLOCK, n)
            below, upto = _passed(values, start, stop, center, folded, a, b)
            if weighted:
                counts[row, 0] += mass_below(values, start, stop, center, folded, a, masses)
            else:
                counts[row, 0] += below
            if upto > below:
                for i in range(start, stop):
                    x = abs(values[i] - center) if folded else values[i]
                    if x >= a and x <= b:
                        part = np.int64((x - a) * scale[row])
                        part = part if part < parts else parts - 1
                        counts[row, 1 + part] += masses[i] if weighted else 1
            start = stop


@loop
def gather_rows(projections, centers, folded, low, high, masses, below, found, found_masses, kept):
    """Pick the numbers along each direction that lie in an interval.

    As in `bin_rows`; `below` (B,) is what lies below, `found` and, where there are masses,
    `found_masses` (B, room) are what is picked, of which `kept` (B,) are there already: n must be
    free.
    """
    n = projections.shape[1]
    weighted = masses.shape[0] > 0
    rise = 1 if projections.shape[0] > 1 else 0
    for row in range(low.shape[0]):
        values = projections[rise * row]
        center = centers[row]
        a = low[row]
        b = high[row]
        here = kept[row]
        start = 0
        while start < n:
            stop = min(start + _BLOCK, n)
            less, upto = _passed(values, start, stop, center, folded, a, b)
            if weighted:
                below[row] += mass_below(values, start, stop, center, folded, a, masses)
            else:
                below[row] += less
            if upto > less:
                for i in range(start, stop):
                    x = abs(values[i] - center) if folded else values[i]
                    # Written wherever it lies, and kept if the next is written behind it.
                    found[row, here] = x
                    if weighted:
                        found_masses[row, here] = masses[i]
                    here += (x >= a) & (x <= b)
            start = stop
        kept[row] = here


@loop
def raise_rows(projections, middles, mads, out, nowhere):
    """Raise `out` (n,) to |projection - middle| / mad along directions (B,) that have a MAD."""
    for row in range(projections.shape[0]):
        if mads[row] > 0:
            raise_outlyingness(projections[row], middles[row], mads[row], out, 0, nowhere)


@loop
def bin_products(slab, centers, folded, low, high, scale, masses, counts):
    """`bin_rows` of the projections in a slab."""
    first = 0
    while first < slab.rows.shape[0]:
        count = project_next(slab, first, slab.rows.shape[0])
        end = first + count
        bin_rows(
            slab.room[:count], centers[first:end], folded, low[first:end], high[first:end],
            scale[first:end], masses, counts[first:end],
        )  # fmt: skip
        first = end


@loop
def gather_products(slab, centers, folded, low, high, masses, below, found, found_masses, kept):
    """`gather_rows` of the projections in a slab."""
    first = 0
    while first < slab.rows.shape[0]:
        count = project_next(slab, first, slab.rows.shape[0])
        end = first + count
        gather_rows(
            slab.room[:count], centers[first:end], folded, low[first:end], high[first:end], masses,
            below[first:end], found[first:end], found_masses[first:end], kept[first:end],
        )  # fmt: skip
        first = end


@loop
def raise_products(slab, middles, mads, out, nowhere):
    """`raise_rows` of the projections in a slab."""
    first = 0
    while first < slab.rows.shape[0]:
        count = project_next(slab, first, slab.rows.shape[0])
        end = first + count
        raise_rows(slab.room[:count], middles[first:end], mads[first:end], out, nowhere)
        first = end


@loop
def _place_in_cells(values, middle, scale, bits, most, sizes, places):
    """Write to `places` (n,) the cells of numbers (n,) among 2 * most.

    Cells are equal steps from 0 to 1, twice as wide from 1 to 3, ... Distances from the middle are
    counted in units of 1 / scale. All roundings on the way keep the order of numbers, so that cells
    do. `sizes`, float32, and `places`, int32, are one piece of memory: the first bits of a float
    are its place.
    """
    one = values.dtype.type(1)
    for i in range(values.shape[0]):
        sizes[i] = np.float32(one + abs((values[i] - middle) * scale))
    first = 127 << bits
    shift = 23 - bits
    last = most - 1
    for i in range(values.shape[0]):
        place = (places[i] >> shift) - first
        place = place if place < last else last
        places[i] = np.int32(most + place if values[i] >= middle else most - 1 - place)


@loop
def cell_rows(projections, middles, scales, bits, masses, counts, sizes, places):
    """Add masses (n,), or ones where they are empty, to the cells of projections (B, n).

    `counts` is int64 (B, cells); `sizes` and `places` (n,) are one piece of memory.
    """
    most = counts.shape[1] // 2
    weighted = masses.shape[0] > 0
    for row in range(projections.shape[0]):
        _place_in_cells(projections[row], middles[row], scales[row], bits, most, sizes, places)
        for i in range(projections.shape[1]):
            counts[row, places[i]] += masses[i] if weighted else 1


@loop
def bound_rows(projections, middles, scales, bits, low, high, smallest, out, sizes, places):
    """Bounds of the depths of n points from those of the cells along directions.

    Parameters
    ----------
    projections : (B, n)
    low, high : int64 (B, cells), bounds of what a point in each cell has along each direction
    smallest : whether depths are the smallest of these, or their sum
    out : int64 (n, 2), updated in place
    sizes, places : (n,), one piece of memory
    """
    most = low.shape[1] // 2
    for row in range(projections.shape[0]):
        _place_in_cells(projections[row], middles[row], scales[row], bits, most, sizes, places)
        for i in range(projections.shape[1]):
            cell = places[i]
            if smallest:
                out[i, 0] = min(out[i, 0], low[row, cell])
                out[i, 1] = min(out[i, 1], high[row, cell])
            else:
                out[i, 0] += low[row, cell]
                out[i, 1] += high[row, cell]
