"""Compiled: quantiles of projections at many levels, from one sort a direction."""

from __future__ import annotations

import numpy as np

from isodepth.engine.compiled.jit import njit
from isodepth.engine.compiled.sorting import sort_with_index


@njit(cache=True, nogil=True)
def quantile_block(projections, masses, tails, workspace, upper, lower):
    """Quantiles along some directions and along their opposites.

    Parameters
    ----------
    projections : (B, n), one row a direction
    masses : int64 (n,), or (0,) where each is one unit
    tails : int64 (L,) the mass at or above each quantile, from 1 to the total
    workspace : from `sort_workspace`
    upper, lower : (B, L), filled: the largest value with that mass at or above it, and minus the
        smallest value with that mass at or below it
    """
    count, n = projections.shape
    n_levels = tails.shape[0]
    reached = np.empty(masses.shape[0], np.int64)
    for row in range(count):
        sort_with_index(projections[row], workspace)
        keys, index = workspace.keys, workspace.index
        if masses.shape[0] == 0:
            for level in range(n_levels):
                upper[row, level] = keys[n - tails[level]]
                lower[row, level] = -keys[tails[level] - 1]
            continue
        total = np.int64(0)
        for i in range(n):
            total += masses[index[i]]
            reached[i] = total
        for level in range(n_levels):
            upper[row, level] = keys[np.searchsorted(reached, total - tails[level], "right")]
            lower[row, level] = -keys[np.searchsorted(reached, tails[level])]
