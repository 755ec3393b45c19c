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
def _largest_gap(top_x, low_x, top_y, low_y):
    largest = top_x.dtype.type(0)
    for k in range(top_x.shape[0]):
        a = abs(top_x[k] - top_y[k])
        b = abs(low_x[k] - low_y[k])
        a = a if a > b else b
        largest = a if a > largest else largest
    return largest


@njit(cache=True, nogil=True)
def walk(px, py, stops_x, stops_y, top_x, low_x, top_y, low_y, first, gaps, where):
    """Move both supports on by one chunk of rows and compare them at the levels it completes.

    Parameters
    ----------
    px, py : (R, B) and (S, B) projections of the next rows of both samples, deepest first
    stops_x, stops_y : int64 (L,) rows of `px` and `py` that belong to each level
    top_x, low_x, top_y, low_y : (B,) running maxima and minima, updated in place
    first : index of the first of the B directions
    gaps : float64 (L,), raised in place to the largest gap
    where : int64 (L,), the direction that gives it: k for u_k, -1 - k for -u_k
    """
    row_x = 0
    row_y = 0
    for level in range(stops_x.shape[0]):
        extend(px, row_x, stops_x[level], top_x, low_x)
        extend(py, row_y, stops_y[level], top_y, low_y)
        row_x = stops_x[level]
        row_y = stops_y[level]
        largest = np.float64(_largest_gap(top_x, low_x, top_y, low_y))
        if largest < gaps[level]:
            continue
        found = first
        for k in range(top_x.shape[0]):
            if np.float64(abs(top_x[k] - top_y[k])) == largest:
                found = first + k
                break
            if np.float64(abs(low_x[k] - low_y[k])) == largest:
                found = -1 - (first + k)
                break
        # Of equal gaps the first direction is named, whichever thread saw it first.
        place = found if found >= 0 else -1 - found
        known = where[level] if where[level] >= 0 else -1 - where[level]
        if largest > gaps[level] or place < known:
            gaps[level] = largest
            where[level] = found
    extend(px, row_x, px.shape[0], top_x, low_x)
    extend(py, row_y, py.shape[0], top_y, low_y)
