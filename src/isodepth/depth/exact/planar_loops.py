"""Compiled: turn a line round a planar sample so that one mass always lies on or behind it."""

from __future__ import annotations

import numpy as np

from isodepth.depth.exact.predicates import INNER, orientation, quick_orientation
from isodepth.engine.compiled.jit import njit


@njit(**INNER)
def _is_along(points, a, b, forward_x, forward_y):
    """Whether point `b` lies ahead of point `a` on a line they share, of the given heading."""
    if forward_x != 0:
        return (points[b, 0] > points[a, 0]) == (forward_x > 0)
    return (points[b, 1] > points[a, 1]) == (forward_y > 0)


@njit(**INNER)
def _order_on_line(points, line, count, forward_x, forward_y):
    """Sort the first `count` points of `line`, which lie on one line, by its heading."""
    for start in range(1, count):
        moved = line[start]
        place = start
        while place > 0 and _is_along(points, moved, line[place - 1], forward_x, forward_y):
            line[place] = line[place - 1]
            place -= 1
        line[place] = moved


@njit(cache=True, nogil=True)
def turn_line(points, masses, rank, terms, lengths):
    """Borders of the halfplanes of mass at least `rank`, in every direction where they change.

    For a direction u, the halfplane ``<u, x> <= q(u)`` is the smallest one of mass >= `rank`. Its
    border goes through one point, until the turning border meets another; it then passes on to the
    point on it that has the right rank afterwards. Each such meeting is recorded.

    Parameters
    ----------
    points : float64 (n, 2), distinct, in lexicographic order, not all on one line
    masses : int64 (n,)
    rank : int64, from 1 to the total mass
    terms, lengths : from :func:`isodepth.depth.exact.predicates.minor_workspace` for 2 rows

    Returns
    -------
    ends : int64 (k, 2)
        Border lines in the order in which u turns left, by their first and last point; u points to
        the right of the way from first to last.
    failed : bool
        Whether a sign could not be told.
    """
    n = points.shape[0]
    rows = np.empty(2, dtype=np.int64)
    sides = np.empty(n, dtype=np.int64)
    line = np.empty(n, dtype=np.int64)
    ends = np.empty((2 * n, 2), dtype=np.int64)
    count = np.int64(0)

    # The order along u = (1, 0), turned left by next to nothing, is the lexicographic one.
    at = np.int64(0)
    below = np.int64(0)
    while below + masses[at] < rank:
        below += masses[at]
        at += 1
    for j in range(n):
        sides[j] = 1 if j < at else -1
    sides[at] = 0

    while True:
        # The next point met: the vectors to all others, turned to the left of the border, in the
        # order of their angles from it. Those on the border itself come last.
        best = np.int64(-1)
        on_line = np.int64(0)
        ax, ay = points[at, 0], points[at, 1]
        bx, by = ax, ay
        for j in range(n):
            if sides[j] == 0:
                continue
            turn = np.int64(-1)
            if best >= 0:
                turn = quick_orientation(ax, ay, bx, by, points[j, 0], points[j, 1])
                if turn == 0:
                    turn = orientation(points, at, best, j, rows, terms, lengths)
                turn *= sides[best] * sides[j]
            if turn < 0:
                best = np.int64(j)
                bx, by = points[j, 0], points[j, 1]
                on_line = np.int64(0)
            if turn <= 0:
                line[on_line] = j
                on_line += 1
        if lengths[-1]:
            return ends[:0], True
        forward_x = sides[best] * np.sign(points[best, 0] - points[at, 0])
        forward_y = sides[best] * np.sign(points[best, 1] - points[at, 1])
        line[on_line] = at
        on_line += 1
        _order_on_line(points, line, on_line, forward_x, forward_y)

        # Before the meeting the points ahead on the line were below; afterwards those behind are.
        for place in range(on_line - 1, -1, -1):
            if line[place] == at:
                break
            below -= masses[line[place]]
        place = 0
        while below + masses[line[place]] < rank:
            below += masses[line[place]]
            place += 1
        at = line[place]

        if count > 0 and ends[0, 0] == line[0] and ends[0, 1] == line[on_line - 1]:
            return ends[:count], False
        if count == ends.shape[0]:
            longer = np.empty((2 * count, 2), dtype=np.int64)
            longer[:count] = ends
            ends = longer
        ends[count, 0] = line[0]
        ends[count, 1] = line[on_line - 1]
        count += 1

        first, last = line[0], line[on_line - 1]
        ax, ay = points[first, 0], points[first, 1]
        bx, by = points[last, 0], points[last, 1]
        for j in range(n):
            sides[j] = quick_orientation(ax, ay, bx, by, points[j, 0], points[j, 1])
            if sides[j] == 0:
                sides[j] = orientation(points, first, last, j, rows, terms, lengths)
