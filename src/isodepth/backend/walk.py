"""Compiled: walk two samples in depth order and keep the largest gap of their supports."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def extend(projections, start, stop, top, low):
    """Take rows start..stop of `projections` (R, B) into the running maxima and minima (B,)."""
    width = top.shape[0]
    for i in range(start, stop):
        for k in range(width):
            x = projections[i, k]
            top[k] = x if x > top[k] else top[k]
            low[k] = x if x < low[k] else low[k]


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def _fill_gaps(top_x, low_x, top_y, low_y, gaps):
    """The larger of the gaps at u and at -u for each direction (B,)."""
    for k in range(top_x.shape[0]):
        a = abs(top_x[k] - top_y[k])
        b = abs(low_x[k] - low_y[k])
        gaps[k] = a if a > b else b


@njit(nogil=True, inline="always")
def _largest(bits):
    """The largest of non-negative floats, read as integers of their size.

    Their order is the same, and unlike a maximum of floats it is compiled to vector instructions.
    """
    largest = bits[0]
    for k in range(bits.shape[0]):
        largest = bits[k] if bits[k] > largest else largest
    return largest


@njit(cache=True, nogil=True)
def walk(px, py, stops_x, stops_y, top_x, low_x, top_y, low_y, room, bits, first, gaps, where):
    """Move both supports on by one chunk of rows and compare them at the levels it completes.

    Parameters
    ----------
    px, py : (R, B) and (S, B) projections of the next rows of both samples, deepest first
    stops_x, stops_y : int64 (L,) rows of `px` and `py` that belong to each level
    top_x, low_x, top_y, low_y : (B,) running maxima and minima, updated in place
    room, bits : (B + 1,) scratch space, and the same memory as integers of the same size
    first : index of the first of the B directions
    gaps : float64 (L,), raised in place to the largest gap
    where : int64 (L,), the direction that gives it: k for u_k, -1 - k for -u_k
    """
    row_x = np.int64(0)
    row_y = np.int64(0)
    for level in range(stops_x.shape[0]):
        extend(px, row_x, stops_x[level], top_x, low_x)
        extend(py, row_y, stops_y[level], top_y, low_y)
        row_x = stops_x[level]
        row_y = stops_y[level]
        _fill_gaps(top_x, low_x, top_y, low_y, room)
        # The last place of the room turns the winning integer back into its float.
        bits[-1] = _largest(bits[:-1])
        largest = np.float64(room[-1])
        if largest < gaps[level]:
            continue
        k = 0
        while bits[k] != bits[-1]:
            k += 1
        found = first + k
        if abs(top_x[k] - top_y[k]) != room[k]:
            found = -1 - found
        # Of equal gaps the first direction is named, whichever thread saw it first.
        place = found if found >= 0 else -1 - found
        known = where[level] if where[level] >= 0 else -1 - where[level]
        if largest > gaps[level] or place < known:
            gaps[level] = largest
            where[level] = found
    extend(px, row_x, px.shape[0], top_x, low_x)
    extend(py, row_y, py.shape[0], top_y, low_y)
