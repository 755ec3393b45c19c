"""Compiled: quantiles of projections at many levels, from one sort a direction."""

from __future__ import annotations

from isodepth.engine.compiled.lite.loop import loop
from isodepth.engine.compiled.sorting import sort_with_index


@loop
def _first_with(reached, mass):
    """The first place of rising `reached` (n,) that is at least `mass`."""
    low = 0
    high = reached.shape[0]
    while low < high:
        middle = (low + high) // 2
        if reached[middle] < mass:
            low = middle + 1
        else:
            high = middle
    return low


@loop
def quantile_block(projections, masses, tails, workspace, reached, upper, lower):
    """Quantiles along some directions and along their opposites.

    Parameters
    ----------
    projections : (B, n), one row a direction
    masses : int64 (n,), or (0,) where each is one unit
    tails : int64 (L,) the mass at or above each quantile, from 1 to the total
    workspace : from `sort_workspace`
    reached : int64 of the shape of `masses`, overwritten
    upper, lower : (B, L), filled: the largest value with that mass at or above it, and minus the
        smallest value with that mass at or below it
    """
    n = projections.shape[1]
    n_levels = tails.shape[0]
    keys, index = workspace.keys, workspace.index
    for row in range(projections.shape[0]):
        sort_with_index(projections[row], workspace)
        if masses.shape[0] == 0:
            for level in range(n_levels):
                upper[row, level] = keys[n - tails[level]]
                lower[row, level] = -keys[tails[level] - 1]
            continue
        total = 0
        for i in range(n):
            total += masses[index[i]]
            reached[i] = total
        for level in range(n_levels):
            upper[row, level] = keys[_first_with(reached, total - tails[level] + 1)]
            lower[row, level] = -keys[_first_with(reached, tails[level])]
