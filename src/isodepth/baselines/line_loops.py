"""Compiled: optimal transport on the line, where the sorted masses meet one after the other."""

from __future__ import annotations

import numpy as np

from isodepth.engine.compiled.jit import njit
from isodepth.engine.compiled.sorting import sort_with_index


@njit(cache=True, nogil=True)
def couple(wx, x_order, wy, y_order, i_of, j_of, mass):
    """Couple masses `wx` (n,) and `wy` (m,) of one total, the smallest point with the smallest.

    `x_order` and `y_order` are the points in rising order. Piece k of the coupling moves `mass[k]`
    from point `i_of[k]` to point `j_of[k]`; the three have room for n + m - 1 pieces.

    Returns
    -------
    count : how many pieces there are
    """
    i = 0
    j = 0
    left_x = wx[x_order[0]]
    left_y = wy[y_order[0]]
    count = 0
    while True:
        moved = min(left_x, left_y)
        i_of[count] = x_order[i]
        j_of[count] = y_order[j]
        mass[count] = moved
        count += 1
        left_x -= moved
        left_y -= moved
        # Totals that round differently leave crumbs at the end, which are dropped.
        x_done = left_x <= 0
        y_done = left_y <= 0
        if (x_done and i == x_order.shape[0] - 1) or (y_done and j == y_order.shape[0] - 1):
            return count
        if x_done:
            i += 1
            left_x = wx[x_order[i]]
        if y_done:
            j += 1
            left_y = wy[y_order[j]]


@njit(cache=True, nogil=True)
def _power(gap, p):
    if p == 2.0:
        return gap * gap
    gap = abs(gap)
    return gap if p == 1.0 else gap**p


@njit(cache=True, nogil=True)
def costs_of_rows(projections, wx, wy, paired, p, x_workspace, y_workspace, out):
    """The least sum of mass times |x - y|^p on each line, written to `out` (B,).

    Parameters
    ----------
    projections : (B, n + m), the n points of X first
    wx, wy : (n,) and (m,) masses of one total
    paired : whether n = m and all masses are one
    x_workspace, y_workspace : from `sort_workspace`, for n and m points
    """
    n = wx.shape[0]
    n_pieces = 0 if paired else projections.shape[1] - 1
    i_of = np.empty(n_pieces, np.int32)
    j_of = np.empty(n_pieces, np.int32)
    mass = np.empty(n_pieces)
    for row in range(projections.shape[0]):
        xs = projections[row, :n]
        ys = projections[row, n:]
        sort_with_index(xs, x_workspace)
        sort_with_index(ys, y_workspace)
        total = 0.0
        if paired:
            for k in range(n):
                total += _power(x_workspace.keys[k] - y_workspace.keys[k], p)
        else:
            count = couple(wx, x_workspace.index, wy, y_workspace.index, i_of, j_of, mass)
            for k in range(count):
                total += mass[k] * _power(xs[i_of[k]] - ys[j_of[k]], p)
        out[row] = total
