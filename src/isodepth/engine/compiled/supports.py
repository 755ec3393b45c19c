"""Compiled: support values of nested regions, from running extremes of projections."""

from __future__ import annotations

from isodepth.engine.compiled.jit import njit


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def extend(projections, start, stop, top, low):
    """Take rows start..stop of `projections` (R, B) into the running maxima and minima (B,)."""
    width = top.shape[0]
    for i in range(start, stop):
        for k in range(width):
            x = projections[i, k]
            top[k] = x if x > top[k] else top[k]
            low[k] = x if x < low[k] else low[k]


@njit(cache=True, nogil=True)
def note_supports(projections, first, stops, done, top, low, upper, lower):
    """Move running extremes on by one chunk of rows, and note them at the levels it completes.

    Parameters
    ----------
    projections : (R, B) projections of the next rows, deepest first
    first : index of the first of these rows
    stops : int64 (L,) how many rows belong to each level
    done : how many levels are already complete
    top, low : (B,) running maxima and minima, updated in place
    upper, lower : (L, B) support values h(u) and h(-u), filled in place

    Returns
    -------
    done : how many levels are complete now
    """
    rows = projections.shape[0]
    row = 0
    while done < stops.shape[0] and stops[done] <= first + rows:
        extend(projections, row, stops[done] - first, top, low)
        row = stops[done] - first
        for k in range(top.shape[0]):
            upper[done, k] = top[k]
            lower[done, k] = -low[k]
        done += 1
    extend(projections, row, rows, top, low)
    return done


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def supports(projections, first, stops, done, top, low, at_top, at_low, out):
    """Move running extremes (D,) on by one chunk of rows, and note them at the levels it completes.

    Parameters
    ----------
    projections : (R, D) projections of the next rows
    first : index of the first of these rows
    stops : int64 (S,) how many rows belong to each level
    done : how many levels are already complete
    top, low : (D,) running maxima and minima; at_top, at_low : int64 (D,) their rows
    out : float64 (4, S, D): top, low, at_top, at_low at each level

    Returns
    -------
    done : how many levels are complete now
    """
    width = top.shape[0]
    row = 0
    while True:
        last = projections.shape[0]
        if done < stops.shape[0]:
            last = min(last, stops[done] - first)
        for i in range(row, last):
            for k in range(width):
                x = projections[i, k]
                if x > top[k]:
                    top[k] = x
                    at_top[k] = first + i
                if x < low[k]:
                    low[k] = x
                    at_low[k] = first + i
        row = max(row, last)
        if done == stops.shape[0] or stops[done] > first + projections.shape[0]:
            return done
        for k in range(width):
            out[0, done, k] = top[k]
            out[1, done, k] = low[k]
            out[2, done, k] = at_top[k]
            out[3, done, k] = at_low[k]
        done += 1
