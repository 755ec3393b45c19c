"""Which depth each level ends at: order statistics of the depths, ties included."""

from __future__ import annotations

import bisect
from dataclasses import dataclass
from typing import Any

import numpy as np

from isodepth.chunked.passes import Fold
from isodepth.chunked.rows import Rows
from isodepth.chunked.selection import Budget, Frame, Numbers, Pilot, order_statistics
from isodepth.core.regions import tie_ends


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
    fold: Fold, model: Any, pilot: Pilot, betas: np.ndarray, tolerance: float, budget: Budget
) -> np.ndarray:
    """The smallest depth (C, L) in the region of each level, for the C depths of a model.

    Depths within `tolerance` of each other enter together.
    """
    depths = Pilot(-model.depths(pilot.points, budget.n_threads), pilot.masses)
    kinds, levels = depths.points.shape[1], len(betas)
    numbers = Numbers(
        Frame(np.zeros(kinds), 0), np.repeat(np.eye(kinds), levels, axis=0), of=NegatedDepths(model)
    )
    ranks = np.tile(level_ranks(betas, budget.mass), kinds)
    low, high = numbers.guess(depths, ranks / budget.mass, budget.n_threads)
    found = order_statistics(fold, numbers, ranks[:, None], low, high, 2 * pilot.margin, budget)[
        :, 0
    ]
    if tolerance:
        found = _with_ties(fold, numbers, ranks, found, tolerance)
    return -found.reshape(kinds, levels)


def _with_ties(
    fold: Fold,
    numbers: Numbers,
    ranks: np.ndarray,
    values: np.ndarray,
    tolerance: float,
) -> np.ndarray:
    """The last of the numbers tied with `values` (E,), which have given mass ranks (E,)."""
    around, found = 4 * tolerance, np.full(len(ranks), np.nan)
    while np.isnan(found).any():
        low, high = values - around, values + around
        near = fold(_NearPass(numbers, low, high))
        found = _ends_of_ties(near, low, high, ranks, tolerance)
        # Whatever the run of ties, it ends where depths do.
        around *= 16
    return found


@dataclass(frozen=True)
class _NearPass:
    """The mass below brackets [low, high), and the distinct numbers inside with their masses."""

    numbers: Numbers
    low: np.ndarray
    high: np.ndarray

    def start(self) -> list[Any]:
        nothing = (np.empty(0), np.empty(0, dtype=np.int64))
        return [(0, nothing) for _ in self.low]

    def step(self, state: list[Any], rows: Rows, n_threads: int) -> None:
        depths = self.numbers.of(rows, n_threads)
        masses = np.ones(len(depths), dtype=np.int64) if rows.masses is None else rows.masses
        other = []
        for column, low, high in zip(
            self.numbers.directions.argmax(axis=1), self.low, self.high, strict=True
        ):
            values = depths[:, column]
            inside = (values >= low) & (values < high)
            other.append((int(masses[values < low].sum()), (values[inside], masses[inside])))
        self.merge(state, other)

    def merge(self, state: list[Any], other: list[Any]) -> None:
        for k, (mine, theirs) in enumerate(zip(state, other, strict=True)):
            both = zip(mine[1], theirs[1], strict=True)
            joined, masses = (np.concatenate(parts) for parts in both)
            values, inverse = np.unique(joined, return_inverse=True)
            total = np.zeros(len(values), dtype=np.int64)
            np.add.at(total, inverse, masses)
            state[k] = (mine[0] + theirs[0], (values, total))


def _ends_of_ties(
    near: list[Any], low: np.ndarray, high: np.ndarray, ranks: np.ndarray, tolerance: float
) -> np.ndarray:
    """The last of the numbers tied with that of a given rank; NaN where that is not known."""
    found = np.full(len(ranks), np.nan)
    for level, (rank, (below, (values, masses))) in enumerate(zip(ranks, near, strict=True)):
        place = int(np.searchsorted(below + np.cumsum(masses), rank, side="right"))
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
