"""Which depth each level ends at: order statistics of the depths, ties included."""

from __future__ import annotations

import bisect
from dataclasses import dataclass
from typing import Any

import numpy as np

from isodepth.chunked.passes import Fold
from isodepth.chunked.rows import Rows
from isodepth.chunked.selection import (
    BracketPass,
    Frame,
    Inside,
    Numbers,
    Pilot,
    Room,
    order_statistics,
)
from isodepth.core.regions import tie_ends

# Depths this close around a level are looked at for ties, in units of the tolerance.
_AROUND = 64.0


@dataclass(frozen=True)
class NegatedDepths:
    """The depths (n, C) of rows, negated: the deepest come first."""

    model: Any

    def __call__(self, rows: Rows, n_threads: int) -> np.ndarray:
        return -self.model.depths(rows.points, n_threads)


def level_ranks(betas: np.ndarray, total: int) -> np.ndarray:
    """Mass ranks (L,), from 0 on, at which the share of the mass first exceeds each level."""
    # The shares are floats, as they are in memory: rounded, and never falling.
    return np.array(
        [
            bisect.bisect_right(range(1, total), beta, key=lambda mass: float(mass) / float(total))
            for beta in betas.tolist()
        ],
        dtype=np.int64,
    )


def find_thresholds(
    fold: Fold, model: Any, pilot: Pilot, betas: np.ndarray, tolerance: float, room: Room
) -> np.ndarray:
    """The smallest depth (C, L) in the region of each level, for the C depths of a model.

    Depths within `tolerance` of each other enter together.
    """
    depths = Pilot(-model.depths(pilot.points, room.n_threads), pilot.masses)
    kinds, levels = depths.points.shape[1], len(betas)
    numbers = Numbers(
        Frame(np.zeros(kinds), 0), np.repeat(np.eye(kinds), levels, axis=0), of=NegatedDepths(model)
    )
    ranks = np.tile(level_ranks(betas, room.mass), kinds)
    low, high = numbers.guess(depths, ranks / room.mass, room.n_threads)
    expected = 2 * pilot.margin
    if tolerance == 0:
        found = order_statistics(fold, numbers, ranks[:, None], low, high, expected, room)[:, 0]
        return -found.reshape(kinds, levels)
    found = np.full(len(ranks), np.nan)
    around, each = _AROUND * tolerance, max(1, room.numbers // len(ranks))
    if 1.2 * expected * room.n_rows <= each:
        low, high = low - around, high + around
        inside = fold(BracketPass(numbers, low, high, np.full(len(ranks), each)))
        found = _ends_of_ties(inside, low, high, ranks, tolerance)
    lost = np.flatnonzero(np.isnan(found))
    if len(lost):
        found[lost] = _ends_around(
            fold, numbers.take(lost), ranks[lost], low[lost], high[lost], tolerance, room
        )
    return -found.reshape(kinds, levels)


def _ends_around(
    fold: Fold,
    numbers: Numbers,
    ranks: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    tolerance: float,
    room: Room,
) -> np.ndarray:
    """The same for brackets that missed or were too full: the numbers first, then their ties."""
    values = order_statistics(fold, numbers, ranks[:, None], low, high, np.inf, room)[:, 0]
    around, most = 4 * tolerance, max(1, room.numbers // len(ranks))
    while True:
        low, high = values - around, values + around
        inside = fold(BracketPass(numbers, low, high, np.full(len(ranks), most)))
        found = _ends_of_ties(inside, low, high, ranks, tolerance)
        if not np.isnan(found).any():
            return found
        # Whatever the run of ties, it ends where depths do.
        around, most = 16 * around, 4 * most


def _ends_of_ties(
    inside: Inside, low: np.ndarray, high: np.ndarray, ranks: np.ndarray, tolerance: float
) -> np.ndarray:
    """The last of the numbers tied with that of a given rank; NaN where that is not known."""
    found = np.full(len(ranks), np.nan)
    for level, rank in enumerate(ranks.tolist()):
        below, mass = inside.below[level], inside.mass[level]
        if inside.full[level] or not below <= rank < below + mass:
            continue
        values, upto = inside.numbers(level)
        place = int(np.searchsorted(upto, rank, side="right"))
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
