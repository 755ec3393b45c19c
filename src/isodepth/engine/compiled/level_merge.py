"""Compiled: the levels at which either of two nested families of regions changes."""

from __future__ import annotations

from isodepth.engine.compiled.lite.loop import loop


@loop
def merge_levels(
    masses_x, counts_x, masses_y, counts_y, end, last, levels, shares, stops_x, stops_y
):
    """Write the pieces of [0, end] on which both sides stay the same, and return how many.

    Parameters
    ----------
    masses_x, masses_y : (g,) and (h,), rising to 1: where each side changes
    counts_x, counts_y : int64, of the same shapes: how many points lie inside up to there
    end : float
    last : float < 1, not above `end`: breakpoints from there on are the end
    levels : (L, 2), becomes where the pieces start and stop
    shares : (L,), becomes their shares of [0, end]; 1 where that is a point
    stops_x, stops_y : int64 (L,), become how many points lie inside
    """
    at_x = 0
    at_y = 0
    count = 0
    start = 0.0
    more = True
    while more:
        while masses_x[at_x] <= start:
            at_x += 1
        while masses_y[at_y] <= start:
            at_y += 1
        levels[count, 0] = start
        stops_x[count] = counts_x[at_x]
        stops_y[count] = counts_y[at_y]
        stop = min(masses_x[at_x], masses_y[at_y])
        more = stop < last
        if not more:
            stop = end
        levels[count, 1] = stop
        shares[count] = (stop - start) / end if end > 0 else 1.0
        start = stop
        count += 1
    return count
