"""Compiled: project vectors along one of them, step by step, with signs that are never wrong.

Projecting along a vector is one step of Gaussian elimination. It runs in doubles with a bound of
the error carried along; a sign that is not certain from that is taken from a determinant without
rounding. When all coordinates are small integers (`lattice`), nothing rounds and no bound is
needed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from isodepth.depth.exact.predicates import INNER, ROUNDOFF, minor_sign, minor_workspace
from isodepth.engine.compiled.jit import njit

# Bounds are computed in doubles too: a little is added for that, and for what may underflow.
SLACK = 1.0 + 2.0**-40
TINY = 1e-290


class Exact(NamedTuple):
    """What a determinant without rounding is made of: see :func:`minor_sign`."""

    points: Any  # (n, d) the sample; it spans the space
    origin: Any  # (d,) the query
    chosen: Any  # (d,) points eliminated so far, then room for two more
    pivots: Any  # (d,) their pivot columns, then room for two more
    terms: Any
    lengths: Any


class Elimination(NamedTuple):
    """The vectors seen from one query after each elimination step: see :func:`elimination`."""

    exact: Any  # Exact
    masses: Any  # (n,)
    vectors: Any  # (d - 1, n, d) after `level` steps, in the coordinates not yet eliminated
    errors: Any  # (d - 1, n, d) bounds of their errors; 0 throughout on a lattice
    ids: Any  # (d - 1, n) which points they are, increasing
    counts: Any  # (d - 1,)
    columns: Any  # (d - 1, d) which coordinates are left
    divisors: Any  # (d - 1,) by which the vectors of the next level are divided
    orders: Any  # (d - 1,) sign of the product of the pivots of the true Schur complements
    scales: Any  # (d - 1,) sign of the factor between vectors and true Schur complements
    lattice: Any  # whether no operation rounds


def elimination(points: np.ndarray, masses: np.ndarray, lattice: bool) -> Elimination:
    """Allocate for a sample of n points in d >= 2 dimensions."""
    n, d = points.shape
    terms, lengths = minor_workspace(d)
    exact = Exact(
        points,
        np.empty(d),
        np.empty(d, dtype=np.int64),
        np.empty(d, dtype=np.int64),
        terms,
        lengths,
    )
    return Elimination(
        exact,
        masses,
        np.empty((d - 1, n, d)),
        np.zeros((d - 1, n, d)),
        np.empty((d - 1, n), dtype=np.int64),
        np.empty(d - 1, dtype=np.int64),
        np.empty((d - 1, d), dtype=np.int64),
        np.ones(d - 1),
        np.ones(d - 1, dtype=np.int64),
        np.ones(d - 1, dtype=np.int64),
        lattice,
    )


@njit(**INNER)
def exact_sign(exact, size):
    """Sign of the determinant of the chosen points in the pivot columns, `size` of each."""
    return minor_sign(
        exact.points, exact.origin, exact.chosen, exact.pivots, size, exact.terms, exact.lengths
    )


@njit(**INNER)
def component_sign(state, level, row, k):
    """Sign of coordinate `k` of vector `row` after `level` steps."""
    value = state.vectors[level, row, k]
    error = state.errors[level, row, k]
    if value > error:
        return 1
    if -value > error:
        return -1
    if error == 0.0:
        return 0
    exact = state.exact
    exact.chosen[level] = state.ids[level, row]
    exact.pivots[level] = state.columns[level, k]
    return state.orders[level] * state.scales[level] * exact_sign(exact, level + 1)


@njit(**INNER)
def _is_zero(state, level, row):
    for k in range(state.columns.shape[1] - level):
        if component_sign(state, level, row, k) != 0:
            return False
    return True


@njit(**INNER)
def look_from(state, query):
    """Fill level 0 with the vectors from `query` to the points; the mass found at the query."""
    points, vectors, errors = state.exact.points, state.vectors[0], state.errors[0]
    n, d = points.shape
    lattice = state.lattice
    at_query = np.int64(0)
    count = np.int64(0)
    for i in range(n):
        distinct = False
        for k in range(d):
            # The rounded difference of two doubles is zero only when they are equal.
            value = points[i, k] - query[k]
            vectors[count, k] = value
            if not lattice:
                errors[count, k] = ROUNDOFF * abs(value)
            distinct = distinct or value != 0.0
        state.ids[0, count] = i
        if distinct:
            count += 1
        else:
            at_query += state.masses[i]
    for k in range(d):
        state.exact.origin[k] = query[k]
        state.columns[0, k] = k
    state.counts[0] = count
    state.exact.lengths[-1] = 0
    return at_query


@njit(**INNER)
def eliminate(state, level, row, skip):
    """Project along vector `row` of `level`, into the next level.

    Returns the mass that the better side of its line costs. `skip` is set for the points on it,
    which need no elimination of their own.
    """
    width = state.columns.shape[1] - level
    vectors, errors = state.vectors[level], state.errors[level]
    chosen, pivots = state.exact.chosen, state.exact.pivots
    pivot, size = np.int64(-1), 0.0
    for k in range(width):
        if abs(vectors[row, k]) - errors[row, k] > size:
            pivot, size = np.int64(k), abs(vectors[row, k]) - errors[row, k]
    divisor = vectors[row, pivot] if pivot >= 0 else 1.0
    sign = 0
    if pivot >= 0:
        sign = 1 if vectors[row, pivot] > 0.0 else -1
    else:
        for k in range(width):
            sign = component_sign(state, level, row, k)
            if sign != 0:
                pivot = np.int64(k)
                break
        if sign == 0:
            # The vector is not zero, so this sign could not be held, and the query is given up.
            return np.int64(0)
    following = 0
    for k in range(width):
        if k != pivot:
            state.columns[level + 1, following] = state.columns[level, k]
            following += 1

    # The next vectors are (a * p - b * c) / divisor, as in Bareiss' method: p the pivot, b the
    # coordinate to vanish. The divisor is the pivot of the step before, which keeps integers
    # integer; as it is common to all vectors, its own error does not matter.
    by = state.divisors[level]
    state.divisors[level + 1] = divisor
    of_schur = sign * state.scales[level]
    state.orders[level + 1] = state.orders[level] * of_schur
    state.scales[level + 1] = of_schur if by > 0.0 else -of_schur
    chosen[level] = state.ids[level, row]
    pivots[level] = state.columns[level, pivot]
    lattice = state.lattice
    ids, next_ids = state.ids[level], state.ids[level + 1]
    next_vectors, next_errors = state.vectors[level + 1], state.errors[level + 1]
    p, p_error = vectors[row, pivot], errors[row, pivot]
    ahead = np.int64(0)
    behind = np.int64(0)
    count = np.int64(0)
    for j in range(state.counts[level]):
        b, b_error = vectors[j, pivot], errors[j, pivot]
        certain = False
        following = 0
        for k in range(width):
            if k == pivot:
                continue
            a, c = vectors[j, k], vectors[row, k]
            value = (a * p - b * c) / by
            next_vectors[count, following] = value
            if lattice:
                certain = certain or value != 0.0
            else:
                a_error, c_error = errors[j, k], errors[row, k]
                error = abs(a) * p_error + (abs(p) + p_error) * a_error
                error += abs(b) * c_error + (abs(c) + c_error) * b_error
                error += 2.0 * ROUNDOFF * (abs(a * p) + abs(b * c))
                error = ((error + TINY) / abs(by) + ROUNDOFF * abs(value)) * SLACK + TINY
                next_errors[count, following] = error
                certain = certain or abs(value) > error
            following += 1
        point = ids[j]
        next_ids[count] = point
        if certain or not (lattice or _is_zero(state, level + 1, count)):
            count += 1
            continue
        skip[point] = True
        if component_sign(state, level, j, pivot) == sign:
            ahead += state.masses[point]
        else:
            behind += state.masses[point]
        # The sign just taken may have used these places.
        chosen[level] = ids[row]
        pivots[level] = state.columns[level, pivot]
    state.counts[level + 1] = count
    return min(ahead, behind)
