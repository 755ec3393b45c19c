"""Compiled: the smallest mass of a closed halfspace at a point, by projections and planar sweeps.

Seen from the query, the points are vectors, and only the signs of ``<u, v>`` matter. Turn the
best u until it is orthogonal to some vector v: the vectors on the line of v then fall on the
better side of it, and the others can be projected along v, which leaves the same problem in one
dimension less (Dyckerhoff and Mozharovskyi 2016). In the plane, u turns once round and meets the
vectors in the order of their angles.

Each set of d - 2 vectors is tried in one order only. That is enough: a best u may be moved to a
face of its cell of the arrangement on which d - 2 facets meet, and at each step the facet of
smallest index can be taken first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from isodepth.depth.exact.elimination import (
    SLACK,
    TINY,
    component_sign,
    eliminate,
    elimination,
    exact_sign,
    look_from,
)
from isodepth.depth.exact.predicates import INNER, ROUNDOFF
from isodepth.engine.compiled.jit import njit

# Typed, since numba compiles a function again for each literal it is called with.
_FIRST = np.int64(0)
_SECOND = np.int64(1)


class Sweep(NamedTuple):
    """Scratch of a planar sweep, of length n each.

    The key of a line is minus the cotangent of its angle, which increases with angles in [0, pi).
    """

    lows: Any  # what the key of the line of each vector may be at least
    highs: Any  # and at most
    sides: Any  # 1 when the vector itself points to angles in [0, pi), -1 when its opposite does
    order: Any  # by increasing angle of the line
    other: Any
    tied: Any  # whether a place in the order has the same angle as the place before


class Search(NamedTuple):
    """Where the search through sets of d - 2 vectors stands, by level."""

    positions: Any  # (d,) the vector eliminated last
    skip: Any  # (d, n) points on a line already eliminated
    spent: Any  # (d,) mass already on the wrong side


def _sweep_scratch(n: int) -> Sweep:
    return Sweep(
        np.empty(n),
        np.empty(n),
        np.empty(n, dtype=np.int64),
        np.empty(n, dtype=np.int64),
        np.empty(n, dtype=np.int64),
        np.empty(n, dtype=np.bool_),
    )


@njit(**INNER)
def _set_key_exactly(state, level, j, sweep):
    """Bounds of the key of vector `j` where its coordinates are too uncertain for a quotient."""
    x, x_error = state.vectors[level, j, 0], state.errors[level, j, 0]
    y, y_error = state.vectors[level, j, 1], state.errors[level, j, 1]
    side = component_sign(state, level, j, _SECOND)
    low, high = -np.inf, np.inf
    if side == 0:
        side = component_sign(state, level, j, _FIRST)
        high = low
    elif abs(x) > x_error:
        # The line is all but horizontal; which way it leans is known from the exact sign.
        least = (abs(x) - x_error) / ((abs(y) + y_error) * SLACK)
        if (x > 0.0) == (side > 0):
            high = -least
        else:
            low = least
    sweep.sides[j] = side
    sweep.lows[j] = low
    sweep.highs[j] = high


@njit(**INNER)
def _set_keys(state, level, sweep):
    """Keys of the lines of all vectors, as bounds that hold the true ones."""
    # Arrays are taken out of their tuples once: doing it for each vector costs more than the rest.
    vectors, errors = state.vectors[level], state.errors[level]
    lows, highs, sides = sweep.lows, sweep.highs, sweep.sides
    lattice = state.lattice
    for j in range(state.counts[level]):
        x, y, y_error = vectors[j, 0], vectors[j, 1], errors[j, 1]
        if abs(y) > y_error:
            sides[j] = 1 if y > 0.0 else -1
            key = -x / y
            error = (errors[j, 0] + abs(key) * y_error) / (abs(y) - y_error) + ROUNDOFF * abs(key)
            error = error * SLACK + TINY
            if lattice:
                # Fractions of integers below 2**26 are equal or differ by more than a rounding.
                error = 0.0
            if error < np.inf:
                lows[j] = key - error
                highs[j] = key + error
                continue
        _set_key_exactly(state, level, j, sweep)


@njit(**INNER)
def _exact_order(exact, ids, size, j, k, sides):
    """-1 when line `j` has the smaller angle in [0, pi), 1 when line `k` has, 0 when equal."""
    exact.chosen[size - 2] = ids[j]
    exact.chosen[size - 1] = ids[k]
    return -exact_sign(exact, size) * sides[j] * sides[k]


@njit(**INNER)
def _sort_lines(state, level, sweep):
    """Set `order` and `tied` for the lines of all vectors, by merging with exact comparisons."""
    lows, highs, sides, lattice = sweep.lows, sweep.highs, sweep.sides, state.lattice
    exact, ids, count, size = state.exact, state.ids[level], state.counts[level], level + 2
    # Two columns in which the determinants turn the same way as the projected plane.
    flip = state.orders[level] < 0
    exact.pivots[level] = state.columns[level, 1 if flip else 0]
    exact.pivots[level + 1] = state.columns[level, 0 if flip else 1]
    source, target = sweep.order, sweep.other
    for j in range(count):
        source[j] = j
    width = 1
    while width < count:
        for start in range(0, count, 2 * width):
            i, middle = start, min(start + width, count)
            k, stop = middle, min(start + 2 * width, count)
            for place in range(start, stop):
                first = k >= stop
                if not first and i < middle:
                    a, b = source[i], source[k]
                    if highs[a] < lows[b] or lattice:
                        first = lows[a] <= lows[b]
                    elif lows[a] <= highs[b]:
                        first = _exact_order(exact, ids, size, a, b, sides) <= 0
                if first:
                    target[place] = source[i]
                    i += 1
                else:
                    target[place] = source[k]
                    k += 1
        source, target = target, source
        width *= 2
    for place in range(count):
        sweep.order[place] = source[place]
        sweep.tied[place] = False
        if place > 0:
            a, b = source[place - 1], source[place]
            if not highs[a] < lows[b]:
                sweep.tied[place] = lattice or _exact_order(exact, ids, size, a, b, sides) == 0


@njit(**INNER)
def _planar_sweep(state, level, sweep):
    """Smallest mass on one side of a line through the origin, the line turning by pi."""
    _set_keys(state, level, sweep)
    _sort_lines(state, level, sweep)
    count = state.counts[level]
    masses, ids = state.masses, state.ids[level]
    sides, order, tied = sweep.sides, sweep.order, sweep.tied
    left = np.int64(0)
    total = np.int64(0)
    for j in range(count):
        mass = masses[ids[j]]
        total += mass
        if sides[j] > 0:
            left += mass
    smallest = min(left, total - left)
    for place in range(count):
        # Lines of one angle change sides together.
        if not tied[place]:
            smallest = min(smallest, left, total - left)
        j = order[place]
        left -= sides[j] * masses[ids[j]]
    return smallest


@njit(**INNER)
def _search(state, sweep, at_query, search):
    """Smallest mass over all eliminations of d - 2 vectors of level 0, in increasing order."""
    positions, skip, spent = search.positions, search.skip, search.spent
    last = state.columns.shape[1] - 2
    if last == 0:
        return at_query + _planar_sweep(state, last, sweep)
    best = np.iinfo(np.int64).max
    level = np.int64(0)
    positions[0] = -1
    skip[0] = False
    spent[0] = at_query
    while level >= 0:
        positions[level] += 1
        row = positions[level]
        if row >= state.counts[level]:
            level -= 1
            continue
        point = state.ids[level, row]
        if skip[level, point] or (level > 0 and point < state.exact.chosen[level - 1]):
            continue
        spent[level + 1] = spent[level] + eliminate(state, level, row, skip[level])
        if state.exact.lengths[-1]:
            return best
        if spent[level + 1] >= best:
            continue
        if level + 1 == last:
            best = min(best, spent[last] + _planar_sweep(state, last, sweep))
            if best == at_query:
                return best
        else:
            level += 1
            positions[level] = -1
            skip[level] = False
    return best


@njit(cache=True, nogil=True)
def _search_all(state, sweep, search, queries, smallest):
    for q in range(queries.shape[0]):
        at_query = look_from(state, queries[q])
        smallest[q] = _search(state, sweep, at_query, search)
        if state.exact.lengths[-1]:
            smallest[q] = -1


def smallest_masses(
    points: np.ndarray, masses: np.ndarray, queries: np.ndarray, lattice: bool
) -> np.ndarray:
    """Smallest mass of a closed halfspace that contains each query.

    Parameters
    ----------
    points : float64 (n, d), distinct, not all in one hyperplane; d >= 2
    masses : int64 (n,)
    queries : float64 (m, d)
    lattice : whether no projection of these points and queries rounds

    Returns
    -------
    smallest : int64 (m,); -1 where an expansion grew too long
    """
    n, d = points.shape
    search = Search(
        np.empty(d, dtype=np.int64), np.empty((d, n), dtype=np.bool_), np.empty(d, dtype=np.int64)
    )
    smallest = np.empty(len(queries), dtype=np.int64)
    state = elimination(points, masses, bool(lattice))
    _search_all(state, _sweep_scratch(n), search, queries, smallest)
    return smallest
