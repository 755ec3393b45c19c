"""Compiled: signs of determinants of differences of points, without any rounding error.

A number is held as a list of doubles that do not overlap and whose sum it is (an *expansion*,
after Shewchuk 1997). Adding a double to one, and multiplying one by a double, are exact as long
as nothing overflows or underflows, which the callers see to. So the sign of a determinant is the
sign of the largest term of its expansion.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from isodepth.engine.compiled.jit import njit

#: For functions that are only called by compiled ones: no wrapper for Python needs compiling.
INNER: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}

#: Half of the distance from 1 to the next double: the largest relative error of one operation.
ROUNDOFF = 2.0**-53

# Expansions of the data at hand have a handful of terms; a longer one is reported, not truncated.
_MAX_TERMS = 64
_SPLITTER = 2.0**27 + 1.0
_BOTH_COLUMNS = np.arange(2)
# Shewchuk's bound of the error of a 2 x 2 determinant of differences.
_ORIENTATION_BOUND = (3.0 + 16.0 * ROUNDOFF) * ROUNDOFF


@njit(**INNER)
def _two_sum(a, b):
    """The rounded sum of two doubles, and its error."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


@njit(**INNER)
def _two_product(a, b):
    """The rounded product of two doubles, and its error."""
    p = a * b
    t = _SPLITTER * a
    a_high = t - (t - a)
    a_low = a - a_high
    t = _SPLITTER * b
    b_high = t - (t - b)
    b_low = b - b_high
    return p, a_low * b_low - (((p - a_high * b_high) - a_low * b_high) - a_high * b_low)


@njit(**INNER)
def _grow(terms, length, x):
    """Add the double `x` to an expansion in place; its new length, 0 for the number zero."""
    kept = 0
    for i in range(length):
        x, error = _two_sum(x, terms[i])
        if error != 0.0:
            terms[kept] = error
            kept += 1
    if x != 0.0:
        terms[kept] = x
        kept += 1
    return kept


@njit(**INNER)
def _quick_plane_sign(points, origin, j, k, c, e):
    """Sign of the 2 x 2 determinant of rows j, k in columns c, e in about twice the precision.

    Returns 2 when even that does not settle it.
    """
    jc, jc_tail = _two_sum(points[j, c], -origin[c])
    je, je_tail = _two_sum(points[j, e], -origin[e])
    kc, kc_tail = _two_sum(points[k, c], -origin[c])
    ke, ke_tail = _two_sum(points[k, e], -origin[e])
    left, left_error = _two_product(jc, ke)
    right, right_error = _two_product(je, kc)
    main, tail = _two_sum(left, -right)
    p, q, r, s = jc * ke_tail, jc_tail * ke, je * kc_tail, je_tail * kc
    size = abs(tail) + abs(left_error) + abs(right_error) + abs(p) + abs(q) + abs(r) + abs(s)
    value = main + (tail + (left_error - right_error) + ((p + q) - (r + s)))
    # Twelve roundings of the small terms and of the sum, and the products of two tails, left out.
    bound = 16.0 * ROUNDOFF * size + 4.0 * ROUNDOFF**2 * (abs(left) + abs(right))
    bound += ROUNDOFF * abs(value)
    if value > bound:
        return 1
    if -value > bound:
        return -1
    exact = jc_tail == 0.0 and je_tail == 0.0 and kc_tail == 0.0 and ke_tail == 0.0
    if exact and main == 0.0 and left_error == right_error:
        return 0
    return 2


def minor_workspace(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Scratch for determinants of up to `size` rows.

    Returns
    -------
    terms : float64 (2**size, ...), the expansions of the minors
    lengths : int64 (2**size + 1,), how many terms they have; the last entry counts the expansions
        that grew too long to be held, so that their sign is unknown
    """
    return np.empty((1 << size, _MAX_TERMS + 4)), np.zeros((1 << size) + 1, dtype=np.int64)


@njit(**INNER)
def minor_sign(points, origin, rows, columns, size, terms, lengths):
    """Sign of the determinant of ``points[rows] - origin`` in `columns`, without rounding.

    Parameters
    ----------
    points : float64 (n, d)
    origin : float64 (d,)
    rows, columns : int64 arrays; their first `size` entries are used, in the order given
    terms, lengths : from :func:`minor_workspace`

    Returns
    -------
    sign : -1, 0 or 1; 0 as well when an expansion grew too long, which ``lengths[-1]`` then counts
    """
    if size == 2:
        sign = _quick_plane_sign(points, origin, rows[0], rows[1], columns[0], columns[1])
        if sign != 2:
            return sign
    # Minors of the first rows, one for each set of columns (a bit mask), by Laplace expansion
    # along the last of these rows. A smaller set is a smaller number, so it is ready in time.
    terms[0, 0] = 1.0
    lengths[0] = 1
    for mask in range(1, 1 << size):
        members = 0
        for c in range(size):
            members += (mask >> c) & 1
        row = rows[members - 1]
        length = 0
        factor = 1.0
        for c in range(size - 1, -1, -1):
            if not (mask >> c) & 1:
                continue
            column = columns[c]
            entry, tail = _two_sum(points[row, column], -origin[column])
            smaller = mask ^ (1 << c)
            for i in range(lengths[smaller]):
                for part in (entry, tail):
                    if part != 0.0:
                        product, error = _two_product(factor * part, terms[smaller, i])
                        length = _grow(terms[mask], length, error)
                        length = _grow(terms[mask], length, product)
                        if length > _MAX_TERMS:
                            lengths[-1] += 1
                            return 0
            factor = -factor
        lengths[mask] = length
    length = lengths[(1 << size) - 1]
    if length == 0:
        return 0
    return 1 if terms[(1 << size) - 1, length - 1] > 0.0 else -1


@njit(**INNER)
def quick_orientation(ax, ay, bx, by, cx, cy):
    """Which way the path a, b, c turns: 1 left, -1 right; 0 when rounding may decide."""
    left = (bx - ax) * (cy - ay)
    right = (by - ay) * (cx - ax)
    bound = _ORIENTATION_BOUND * (abs(left) + abs(right))
    if left - right > bound:
        return 1
    if right - left > bound:
        return -1
    return 0


@njit(**INNER)
def orientation(points, a, b, c, rows, terms, lengths):
    """Which way the path over rows a, b, c of `points` (n, 2) turns: 1 left, -1 right, 0 straight.

    `rows` is int64 scratch of length 2, the rest as in :func:`minor_sign`.
    """
    rows[0] = b
    rows[1] = c
    return minor_sign(points, points[a], rows, _BOTH_COLUMNS, 2, terms, lengths)
