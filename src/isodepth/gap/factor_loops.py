"""Compiled: the nearest point of an affine span, kept up to date while rows enter and leave.

The active rows are held as a QR factorization of the columns ``(height, row - query)``, updated by
reorthogonalized Gram-Schmidt when a row enters and by Givens rotations when one leaves. The
weights ``w`` that minimize ``|sum w_i (row_i - query)|`` under ``sum w = 1`` are proportional to
``(C'C)^-1 1``; since ``1 = C' e_1 / height``, one triangular solve with the first coordinates of
the orthonormal basis gives them, and no normal equation squares the condition number.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from isodepth.engine.compiled.lite.loop import loop

EPSILON = float(np.finfo(np.float64).eps)
#: Rows kept from one look at all candidates to be tried before the next.
SHORTLIST = 24
#: Below this share of the distance to its rows, an offset is made orthogonal to them again.
SHORT = 1e-3


class Workspace(NamedTuple):
    """Scratch of one projection: see :func:`workspace`."""

    basis: Any  # (k, d + 1) orthonormal, a row per active row
    triangle: Any  # (k, k) upper: active column j = sum_i triangle[i, j] basis[i]
    affine: Any  # (k,) weights of the affine minimizer
    offset: Any  # (d,) present point minus query
    column: Any  # (d + 1,)
    slopes: Any  # (h,) per candidate
    shortlist: Any  # (s,) row numbers
    spent: Any  # (1,) coordinates of candidates looked at so far


def workspace(n_rows: int, dim: int) -> Workspace:
    """Allocate for hulls of at most `n_rows` rows."""
    k = min(n_rows, dim + 1)
    return Workspace(
        basis=np.empty((k, dim + 1)),
        triangle=np.zeros((k, k)),
        affine=np.empty(k),
        offset=np.empty(dim),
        column=np.empty(dim + 1),
        slopes=np.empty(n_rows),
        shortlist=np.empty(SHORTLIST, dtype=np.int64),
        spent=np.zeros(1, dtype=np.int64),
    )


@loop
def dot(x, y):
    """Four running sums, in an order fixed here: processors of any width agree to the bit."""
    a = b = c = d = 0.0
    stop = x.shape[0] - x.shape[0] % 4
    for k in range(0, stop, 4):
        a += x[k] * y[k]
        b += x[k + 1] * y[k + 1]
        c += x[k + 2] * y[k + 2]
        d += x[k + 3] * y[k + 3]
    for k in range(stop, x.shape[0]):
        a += x[k] * y[k]
    return (a + b) + (c + d)


@loop
def distance_between(x, y):
    total = 0.0
    for k in range(x.shape[0]):
        total += (x[k] - y[k]) ** 2
    return math.sqrt(total)


@loop
def append(work, count, row, query, height):
    """Add the column of `row` to the factorization; False when it depends on those present."""
    basis, triangle, column = work.basis, work.triangle, work.column
    column[0] = height
    for k in range(query.shape[0]):
        column[k + 1] = row[k] - query[k]
    size = math.sqrt(dot(column, column))
    for i in range(count):
        triangle[i, count] = 0.0
    for _ in range(2):
        for i in range(count):
            axis = basis[i]
            along = dot(axis, column)
            for k in range(column.shape[0]):
                column[k] -= along * axis[k]
            triangle[i, count] += along
    rest = math.sqrt(dot(column, column))
    if rest <= 4.0 * EPSILON * size:
        return False
    triangle[count, count] = rest
    for k in range(column.shape[0]):
        basis[count, k] = column[k] / rest
    return True


@loop
def factorize(work, rows, active, count, query):
    """Factorise a set of active rows anew; False when they are dependent or touch the query.

    Returns the height too. Between the distance to the hull and that to the nearest active row
    neither the first coordinate nor the others drown.
    """
    height = np.inf
    for i in range(count):
        distance = distance_between(rows[active[i]], query)
        if distance < height:
            height = distance
    if height == 0.0:
        return False, height
    for i in range(count):
        if not append(work, i, rows[active[i]], query, height):
            return False, height
    return True, height


@loop
def _drop(work, count, gone):
    """Take column `gone` out of a factorization of `count` columns."""
    basis, triangle = work.basis, work.triangle
    for j in range(gone, count - 1):
        for i in range(j + 2):
            triangle[i, j] = triangle[i, j + 1]
    for i in range(gone, count - 1):
        size = math.hypot(triangle[i, i], triangle[i + 1, i])
        c = triangle[i, i] / size
        s = triangle[i + 1, i] / size
        triangle[i, i] = size
        triangle[i + 1, i] = 0.0
        for j in range(i + 1, count - 1):
            upper, lower = triangle[i, j], triangle[i + 1, j]
            triangle[i, j] = c * upper + s * lower
            triangle[i + 1, j] = c * lower - s * upper
        for k in range(basis.shape[1]):
            upper, lower = basis[i, k], basis[i + 1, k]
            basis[i, k] = c * upper + s * lower
            basis[i + 1, k] = c * lower - s * upper


@loop
def _affine_weights(work, count):
    """Set the first `count` of `work.affine` to the weights of the affine minimizer."""
    basis, triangle, affine = work.basis, work.triangle, work.affine
    total = 0.0
    for i in range(count - 1, -1, -1):
        value = basis[i, 0]
        for j in range(i + 1, count):
            value -= triangle[i, j] * affine[j]
        affine[i] = value / triangle[i, i]
        total += affine[i]
    for i in range(count):
        affine[i] /= total


@loop
def descend(work, active, weights, count):
    """Go to the affine minimizer, dropping the rows whose weight would turn negative on the way.

    Returns how many rows remain, and False if the newest one was no use.
    """
    newest = active[count - 1]
    while True:
        _affine_weights(work, count)
        step, worst = 1.0, -1
        for i in range(count):
            # Written so that a weight that is not a number counts as negative.
            if not work.affine[i] > 0.0:
                slope = weights[i] - work.affine[i]
                reach = weights[i] / slope if slope > 0.0 else 0.0
                if worst < 0 or reach < step:
                    step, worst = reach, i
        if worst < 0:
            for i in range(count):
                weights[i] = work.affine[i]
            return count, True
        for i in range(count):
            if step > 0.0:
                weights[i] += step * (work.affine[i] - weights[i])
        weights[worst] = 0.0
        useful = True
        for i in range(count - 1, -1, -1):
            if weights[i] <= 0.0:
                useful = useful and (active[i] != newest or step > 0.0)
                _drop(work, count, i)
                for j in range(i, count - 1):
                    active[j] = active[j + 1]
                    weights[j] = weights[j + 1]
                count -= 1
        total = 0.0
        for i in range(count):
            total += weights[i]
        for i in range(count):
            weights[i] /= total
        if not useful:
            return count, False


@loop
def straighten(work, count):
    """Make `work.offset` orthogonal to the affine span of the factorised rows; return its length.

    Summed from rows much further away, a short offset keeps few correct digits and no longer
    proves how far the hull is. The directions of the span are the part of the factorised space
    that is orthogonal to the projection of (1, 0, ..., 0) on it.
    """
    basis, offset, column, along = work.basis, work.offset, work.column, work.affine
    dim = offset.shape[0]
    for _ in range(2):
        size = across = 0.0
        for i in range(count):
            axis = basis[i]
            along[i] = dot(axis[1:], offset)
            size += axis[0] * axis[0]
            across += axis[0] * along[i]
        for k in range(dim):
            column[k] = 0.0
        for i in range(count):
            axis = basis[i]
            part = along[i] - axis[0] * across / size
            for k in range(dim):
                column[k] += part * axis[k + 1]
        for k in range(dim):
            offset[k] -= column[k]
    return math.sqrt(dot(offset, offset))


@loop
def move_to(work, rows, active, weights, count, query):
    """Set `work.offset` to the combined active rows minus the query.

    Returns its length, and the largest distance from the query to an active row.
    """
    offset = work.offset
    for k in range(offset.shape[0]):
        offset[k] = 0.0
    reach = 0.0
    for i in range(count):
        row = rows[active[i]]
        square = 0.0
        for k in range(offset.shape[0]):
            difference = row[k] - query[k]
            square += difference * difference
            offset[k] += weights[i] * difference
        if square > reach:
            reach = square
    return math.sqrt(dot(offset, offset)), math.sqrt(reach)
