"""Which depth each level ends at: the mass distribution of depths, by selection."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from isodepth.chunked.passes import DepthPass, Fold, count, digits, gather
from isodepth.chunked.rows import Frame, Rows
from isodepth.chunked.sampling import Pilot
from isodepth.chunked.selection import MARGIN, block, brackets, closer, digit_search
from isodepth.chunked.summaries import Gathered, Intervals
from isodepth.core.regions import tie_ends
from isodepth.engine.spread_passes import largest_entries

_PARTS = 1024
# Depths this close around a level are looked at for ties, in units of the tolerance.
_AROUND = 64.0


def level_ranks(betas: np.ndarray, total: int) -> np.ndarray:
    """The smallest masses (L,), int64, that are a larger share of `total` than each level."""
    ranks = []
    for beta in betas.tolist():
        # The shares are floats, as they are in memory: rounded, and never falling.
        low, high = 0, total
        while high - low > 1:
            middle = (low + high) // 2
            if np.float64(middle) / np.float64(total) > beta:
                high = middle
            else:
                low = middle
        ranks.append(high)
    return np.array(ranks, dtype=np.int64)


def find_thresholds(
    fold: Fold,
    depths: Callable[[Rows], np.ndarray],
    pilot: Pilot,
    pilot_depths: np.ndarray,
    betas: np.ndarray,
    total: int,
    n_rows: int,
    tolerance: float,
    workspace: int,
) -> np.ndarray:
    """The smallest depth (L,) in the region of each level, ties within `tolerance` included."""
    ranks = level_ranks(betas, total)
    return -ranked(fold, depths, pilot, pilot_depths, ranks, total, n_rows, tolerance, workspace)


def ranked(
    fold: Fold,
    depths: Callable[[Rows], np.ndarray],
    pilot: Pilot,
    pilot_depths: np.ndarray,
    ranks: np.ndarray,
    total: int,
    n_rows: int,
    tolerance: float,
    workspace: int,
) -> np.ndarray:
    """The negated depths (L,) of given mass ranks from the deepest, or the end of their tie."""
    low, high, content = brackets(pilot, -pilot_depths[None], ranks / total)
    if MARGIN * content.max() * n_rows >= workspace:
        low, high, _ = closer(
            lambda intervals: fold(DepthPass(depths, count(intervals, _PARTS))),
            Intervals(low, high),
            ranks,
            ranks,
            workspace * total / n_rows,
        )
    around = _AROUND * tolerance
    miss = low > high
    low, high = low - around, high + around
    low[miss], high[miss] = 1, -1
    gathered = fold(DepthPass(depths, gather(Intervals(low, high), workspace), block(workspace)))
    found = _ends_of_groups(gathered, low, high, ranks, tolerance)
    lost = np.flatnonzero(np.isnan(found))
    if len(lost):
        found[lost] = _by_digits(fold, depths, ranks[lost], tolerance, workspace)
    return found


@dataclass(frozen=True)
class NegatedSizes:
    """The largest entries of standardized rows, negated: the smallest come first."""

    frame: Frame

    def __call__(self, rows: Rows) -> np.ndarray:
        return -largest_entries(self.frame.moved(rows.points)).astype(np.float64)


def _ends_of_groups(
    gathered: Gathered, low: np.ndarray, high: np.ndarray, ranks: np.ndarray, tolerance: float
) -> np.ndarray:
    """The last of the numbers that enter with that of a given rank; NaN where that is not known."""
    found = np.full(len(ranks), np.nan)
    for level, rank in enumerate(ranks.tolist()):
        values, masses = gathered.numbers(level)
        if gathered.too_many[level] or not len(values):
            continue
        upto = gathered.below[level] + np.cumsum(masses)
        if not gathered.below[level] < rank <= upto[-1]:
            continue
        place = int(np.searchsorted(upto, rank))
        if tolerance == 0:
            found[level] = values[place]
            continue
        # A run of small steps stands by itself where what is around it is known to be far away.
        steps = np.diff(values, prepend=low[level], append=high[level]) > tolerance
        starts = np.flatnonzero(steps[: place + 1])
        stops = np.flatnonzero(steps[place + 1 :])
        if len(starts) and len(stops):
            run = slice(int(starts[-1]), place + int(stops[0]) + 1)
            ends = tie_ends(-values[run], tolerance)
            end = ends[np.searchsorted(ends, place - run.start, side="right")]
            found[level] = values[run.start + int(end) - 1]
    return found


def _by_digits(
    fold: Fold, depths: Any, ranks: np.ndarray, tolerance: float, workspace: int
) -> np.ndarray:
    """The same, digit by digit and then with what is around."""

    def counts(prefixes: np.ndarray, shift: int) -> np.ndarray:
        state: Any = fold(DepthPass(depths, digits(prefixes, shift, None)))
        return state.counts

    values = digit_search(counts, np.dtype(np.float64), ranks)
    if tolerance == 0:
        return values
    found = np.full(len(ranks), np.nan)
    around = 4 * tolerance
    while True:
        low, high = values - around, values + around
        gathered = fold(
            DepthPass(depths, gather(Intervals(low, high), workspace), block(workspace))
        )
        found = _ends_of_groups(gathered, low, high, ranks, tolerance)
        if not np.isnan(found).any():
            return found
        # Whatever the run of ties, it ends where depths do.
        around, workspace = 16 * around, 4 * workspace
