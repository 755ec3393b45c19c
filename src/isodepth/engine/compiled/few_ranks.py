"""Compiled: ranks of a few points along many directions, and their mean square along all."""

from __future__ import annotations

import math

import numpy as np

from isodepth.engine.compiled.jit import njit
from isodepth.engine.compiled.lite.loop import loop

# asin(x) = pi/2 - sqrt(1 - x) * polynomial(x) on [0, 1], to 2e-8 (Abramowitz and Stegun 4.4.46):
# a loop without calls, which processors do several of at a time.
_ASIN = (
    1.5707963050, -0.2145988016, 0.0889789874, -0.0501743046,
    0.0308918810, -0.0170881256, 0.0066700901, -0.0012624911,
)  # fmt: skip


@loop
def centered_rank_block(columns, masses, balance, sizes, squares):
    """Add |2 F - 1| times the whole mass, and the square of that, for each projection.

    Up to a few hundred points, comparing all with all is quicker than sorting: nothing branches,
    and neighboring directions are done together.

    Parameters
    ----------
    columns : (n, B) array of projections, one row a point
    masses : integer (n,)
    balance : (n, B) of the dtype of masses, zeros that are overwritten
    sizes, squares : int64 (n,), added to in place: integers, so that the order of blocks is free
    """
    n, width = columns.shape
    # The mass below less the mass above is 2 F - 1 of all: ties count half on each side.
    for i in range(n):
        here, mass = columns[i], masses[i]
        for j in range(i):
            there, other = columns[j], masses[j]
            for k in range(width):
                sign = masses.dtype.type(here[k] > there[k]) - masses.dtype.type(here[k] < there[k])
                balance[i, k] += sign * other
                balance[j, k] -= sign * mass
    for i in range(n):
        size = np.int64(0)
        square = np.int64(0)
        for k in range(width):
            x = np.int64(balance[i, k])
            size += abs(x)
            square += x * x
        sizes[i] += size
        squares[i] += square


# These two are left to numba: in which order sums are taken is free, and a matter of the compiler.
@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nnan", "ninf", "nsz"})
def _pulled(row, near, other, shares, first, stop):
    """Sum over k of shares_k asin(cosine of the angle at i between j and k), k in first..stop.

    `row` and `other` hold the squared distances from i and from j; `near` is that of i to j.
    """
    total = 0.0
    for k in range(first, stop):
        cosine = (near + row[k] - other[k]) / (2.0 * math.sqrt(near * row[k]))
        x = min(1.0, abs(cosine))
        series = _ASIN[7]
        series = series * x + _ASIN[6]
        series = series * x + _ASIN[5]
        series = series * x + _ASIN[4]
        series = series * x + _ASIN[3]
        series = series * x + _ASIN[2]
        series = series * x + _ASIN[1]
        series = series * x + _ASIN[0]
        angle = 0.5 * math.pi - math.sqrt(1.0 - x) * series
        total += shares[k] * (angle if cosine > 0.0 else -angle)
    return total


@njit(cache=True, nogil=True)
def mean_squared_rank(distances, shares, out):
    """Set `out` (n,) to the mean of (2 F - 1)**2 over all directions of space, to about 1e-8.

    Along a random direction point j lies below point i with probability 1/2, and points j and k
    lie on one side of i with probability 1/2 + asin(cosine of the angle j-i-k) / pi. Ranks are
    sums of such events, so the mean of their squares needs no projection.

    Parameters
    ----------
    distances : float64 (n, n), squared distances, zero on the diagonal only
    shares : float64 (n,), masses with sum one
    """
    n = distances.shape[0]
    for i in range(n):
        row = distances[i]
        total = 0.0
        for j in range(n):
            if j == i:
                continue
            # All k < j but i itself.
            pulled = _pulled(row, row[j], distances[j], shares, 0, min(i, j))
            pulled += _pulled(row, row[j], distances[j], shares, i + 1, j)
            total += shares[j] * (shares[j] + 4.0 / math.pi * pulled)
        out[i] = total
