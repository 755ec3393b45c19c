"""Compiled: support values of nested regions, from running extremes of projections."""

from __future__ import annotations

from isodepth.engine.compiled.lite.loop import loop
from isodepth.engine.compiled.tiles import multiply


@loop(fastmath={"nnan", "nsz"})
def extend(projections, start, stop, top, low):
    """Take rows start..stop of `projections` (R, B) into the running maxima and minima (B,)."""
    width = top.shape[0]
    for i in range(start, stop):
        for k in range(width):
            x = projections[i, k]
            top[k] = x if x > top[k] else top[k]
            low[k] = x if x < low[k] else low[k]


@loop(fastmath={"nnan", "nsz"})
def extend_located(projections, start, stop, top, low, first, at_top, at_low):
    """The same, and note the rows (B,) of the extremes, counted from `first` on."""
    width = top.shape[0]
    for i in range(start, stop):
        for k in range(width):
            x = projections[i, k]
            if x > top[k]:
                top[k] = x
                at_top[k] = first + i
            if x < low[k]:
                low[k] = x
                at_low[k] = first + i


@loop
def note_supports(projections, first, stops, done, top, low, at, upper, lower, located):
    """Move running extremes on by one chunk of rows, and note them at the levels it completes.

    Parameters
    ----------
    projections : (R, B) projections of the next rows, deepest first
    first : index of the first of these rows
    stops : int64 (L,) how many rows belong to each level
    done : how many levels are already complete
    top, low : (B,) running maxima and minima, updated in place
    at : int64 (2, B) the rows that gave them, updated in place; or (2, 0), not to look for them
    upper, lower : (L, B) support values h(u) and h(-u), filled in place
    located : float64 (2, L, B) the rows that give these, filled in place; or (2, 0, 0)

    Returns
    -------
    done : how many levels are complete now
    """
    rows = projections.shape[0]
    locate = at.shape[1] > 0
    row = 0
    while True:
        complete = done < stops.shape[0] and stops[done] <= first + rows
        last = stops[done] - first if complete else rows
        if locate:
            extend_located(projections, row, last, top, low, first, at[0], at[1])
        else:
            extend(projections, row, last, top, low)
        row = last
        if not complete:
            return done
        for k in range(top.shape[0]):
            upper[done, k] = top[k]
            lower[done, k] = -low[k]
        for k in range(at.shape[1]):
            located[0, done, k] = at[0, k]
            located[1, done, k] = at[1, k]
        done += 1


@loop
def write_block(tiles, starts, ordered, stops, work, top, low, at, upper, lower, located):
    """The support values of all levels along a block of directions.

    Parameters
    ----------
    tiles, starts : the directions, laid out in tiles
    ordered : (n, d) rows, deepest first
    work : (R, B) room for the projections of some rows at a time
    others : as `note_supports` takes them
    """
    last = stops[stops.shape[0] - 1]
    done = 0
    first = 0
    while first < last:
        end = min(first + work.shape[0], last)
        projections = work[: end - first]
        multiply(tiles, starts, ordered[first:end], projections)
        done = note_supports(projections, first, stops, done, top, low, at, upper, lower, located)
        first = end
