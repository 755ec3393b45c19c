"""How far apart the two parts of a pooled sample are, for many relabelings at once.

The pooled rows are projected once and sorted once along each direction; medians, spreads and
quantiles of both parts follow for every relabeling by counting. What is held is the projections of
all rows, a bit for each row and relabeling, and a few numbers for each relabeling and direction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from isodepth.core.scaling import pooled_spread
from isodepth.engine.threads import Resources, fold_blocks, worker_count
from isodepth.significance.relabelings import WORD, Relabelings

# Directions of one task: small enough for many threads, large enough to fill vector registers.
_DIRECTIONS = 8
# A little beyond the outermost levels that are compared, for a normal law: 2.4 times the MAD.
_REACH = 3.0
# Relabelings of one task, between which an interrupt is noticed.
_LABELINGS = 16


@dataclass(frozen=True)
class SplitStatistics:
    """What the labels that were given and the relabelings gave.

    Attributes
    ----------
    observed : float
    null : ndarray of shape (B,)
    observed_axes : ndarray of shape (d,)
        The gap along each axis alone.
    null_axes : ndarray of shape (B, d)
    """

    observed: float
    null: np.ndarray
    observed_axes: np.ndarray
    null_axes: np.ndarray


@dataclass(frozen=True)
class Split:
    """What both statistics work on.

    Attributes
    ----------
    points : float64 ndarray of shape (n, d), around zero with size about one
    directions : ndarray of shape (K, d), the d axes first
    relabelings : Relabelings
    n_permutations : int
    rng : numpy.random.Generator
        Where relabelings come from.
    q, p : float
        Powers of the means over directions and over levels; inf takes the largest. The mean over
        directions is a plain one: the factor that makes a translation by m have distance |m| is
        the caller's.
    resources : Resources
    advance : called with how much more is done
    """

    points: np.ndarray
    directions: np.ndarray
    relabelings: Relabelings
    n_permutations: int
    rng: np.random.Generator
    q: float
    p: float
    resources: Resources
    advance: Callable[[int], None]

    @property
    def count(self) -> int:
        """How many labelings there are, the one that was given among them."""
        return self.n_permutations + 1

    @property
    def zero(self) -> float:
        """A deviation along a direction that is no larger is rounding."""
        typical = float(np.median(np.abs(self.points).max(axis=1)))
        return 8 * float(np.finfo(np.float64).eps) * self.points.shape[1] * typical

    def rounds(self) -> Iterator[tuple[int, np.ndarray]]:
        """Relabelings whose bits are held together, nearly always all: the first, and their words.

        A bit a row and relabeling; only where billions of them exceed the budget is the order along
        each direction found again for the next round.
        """
        drawn = self.relabelings.words(self.count, self.rng)
        held = max(1, int(self.resources.memory_mb * 2**20) // (2 * 8 * len(self.points)))
        for first in range(0, self.count, held * WORD):
            last = min(first + held * WORD, self.count)
            words = np.stack([next(drawn) for _ in range(first, last, WORD)])
            yield first, words.view(np.int64)

    def fold_directions(
        self, start: Callable[[], Any], step: Callable[[Any, np.ndarray, slice], None]
    ) -> list[Any]:
        """Fold `step(state, projections, which)` over blocks of directions."""
        from isodepth.engine.compiled.tiles import multipliers, project, tiles_of

        tiles = tiles_of(self.points)
        n, count = len(self.points), len(self.directions)
        blocks = [slice(k, min(k + _DIRECTIONS, count)) for k in range(0, count, _DIRECTIONS)]

        def work(state: Any, which: slice) -> None:
            out = np.empty((which.stop - which.start, n))
            # The bits of a row's projection do not depend on where the row stands.
            project(tiles, multipliers(self.directions[which], np.float64), out)
            step(state, out, which)

        workers = worker_count(self.resources.n_jobs, len(blocks), n * count * WORD)
        return fold_blocks(blocks, start, work, workers)


def region_statistics(split: Split, betas: np.ndarray) -> SplitStatistics:
    """DR between the regions of the two parts, with the projection depth.

    Parameters
    ----------
    split : Split
    betas : ndarray of shape (L,), rising
    """
    n, d = split.points.shape
    projections = np.empty((n, len(split.directions)))
    out, axes = np.empty(split.count), np.empty((split.count, d))
    for first, words in split.rounds():
        size = min(split.count - first, WORD * len(words))
        centers, scales = _all_centers(split, words, size, projections)
        part, part_axes = out[first : first + size], axes[first : first + size]
        _all_distances(split, words, projections, (centers, scales), betas, part, part_axes)
    return SplitStatistics(float(out[0]), out[1:], axes[0], axes[1:])


def _all_centers(
    split: Split, words: np.ndarray, size: int, projections: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Medians and inverse scales (size, 2, K) of both parts; fills `projections` (n, K)."""
    from isodepth.engine.compiled.sorting import sort_workspace
    from isodepth.significance.center_loops import centers_along
    from isodepth.significance.label_bits import bit_room

    zero = split.zero
    centers = np.empty((size, 2, len(split.directions)))
    scales = np.empty_like(centers)

    def start() -> tuple[Any, ...]:
        n = len(split.points)
        rooms = sort_workspace(n, np.float64), bit_room(n), np.empty(n)
        return np.empty((size, 2)), np.empty((size, 2)), rooms

    def step(state: tuple[Any, ...], values: np.ndarray, which: slice) -> None:
        own_centers, own_scales, rooms = state
        projections[:, which] = values.T
        for row, k in zip(values, range(which.start, which.stop), strict=True):
            centers_along(row, words, size, zero, *rooms, own_centers, own_scales)
            centers[:, :, k], scales[:, :, k] = own_centers, own_scales

    split.fold_directions(start, step)
    return centers, scales


def _all_distances(
    split: Split,
    words: np.ndarray,
    projections: np.ndarray,
    coefficients: tuple[np.ndarray, np.ndarray],
    betas: np.ndarray,
    out: np.ndarray,
    axes: np.ndarray,
) -> None:
    """Fill `out` (size,) and `axes` (size, d), a few relabelings at a time."""
    from isodepth.significance.region_loops import split_distances, split_room

    n, count = projections.shape
    tasks = [slice(i, min(i + _LABELINGS, len(out))) for i in range(0, len(out), _LABELINGS)]

    def start() -> Any:
        return split_room(n, count, len(betas))

    def step(room: Any, which: slice) -> None:
        split_distances(
            projections, words, which.start, which.stop, *coefficients, betas,
            float(split.q), float(split.p), room, out, axes,
        )  # fmt: skip
        split.advance(which.stop - which.start)

    workers = worker_count(split.resources.n_jobs, len(tasks), n * count * len(out))
    fold_blocks(tasks, start, step, workers)


def envelope_statistics(split: Split, foreign: tuple[int, int], n_levels: int) -> SplitStatistics:
    """Gaps between quantiles that foreign rows cannot explain, beside plain gaps under relabeling.

    Quantiles are those of functions of a row that do not depend on the labels: its projections, and
    its outlyingness in the pooled sample, each in units of its own pooled spread and cut off at
    three of them. The quantiles of any such function are known up to what foreign rows can do.

    Parameters
    ----------
    split : Split
    foreign : pair of int
        How many rows of each sample may be anything.
    n_levels : int
        Levels 1 / (n_levels + 1) to n_levels / (n_levels + 1).
    """
    from isodepth.engine.compiled.sorting import sort_workspace
    from isodepth.significance.label_bits import bit_room
    from isodepth.significance.quantile_loops import quantile_gaps_along

    n, d = split.points.shape
    count, zero = split.count, split.zero
    # A row a function, a column a labeling; the last one is what foreign rows cannot explain.
    gaps = np.empty((len(split.directions) + 1, count + 1))
    allowed = np.array(foreign, np.int64)

    def round_of(first: int, words: np.ndarray) -> None:
        size = min(count - first, WORD * len(words))

        def measure(values: np.ndarray, row: int, found: np.ndarray, rooms: Any) -> None:
            within = _within_reach(values)
            quantile_gaps_along(within, words, size, allowed, float(split.p), *rooms, found)
            gaps[row, first : first + size] = found[:-1]
            if first == 0:
                gaps[row, count] = found[-1]

        def start() -> tuple[Any, ...]:
            rooms = sort_workspace(n, np.float64), bit_room(n), np.empty(n_levels)
            return np.zeros(n), np.empty(size + 1), rooms

        def step(state: tuple[Any, ...], values: np.ndarray, which: slice) -> None:
            outlying, found, rooms = state
            for row, k in zip(values, range(which.start, which.stop), strict=True):
                standard = _standard(row, zero)
                np.maximum(outlying, np.abs(standard), out=outlying)
                measure(standard, k, found, rooms)
            split.advance(which.stop - which.start)

        states = split.fold_directions(start, step)
        outlying = np.max([state[0] for state in states], axis=0)
        measure(_standard(outlying, zero), len(split.directions), *states[0][1:])

    for first, words in split.rounds():
        round_of(first, words)
    whole = _mean_over_functions(gaps, split.q)
    axes = gaps[:d]
    return SplitStatistics(float(whole[count]), whole[1:count], axes[:, count], axes[:, 1:count].T)


def _mean_over_functions(gaps: np.ndarray, q: float) -> np.ndarray:
    """The q-mean over the rows of gaps (F, B)."""
    if math.isinf(q):
        return gaps.max(axis=0)
    return np.power(np.mean(np.power(gaps, q), axis=0), 1.0 / q)


def _standard(values: np.ndarray, zero: float) -> np.ndarray:
    """Values (n,) around their median, in units of their spread; 1 where that is only rounding."""
    spread = float(pooled_spread(values[:, None])[0])
    return (values - np.median(values)) / (spread if spread > zero else 1.0)


def _within_reach(standard: np.ndarray) -> np.ndarray:
    """Standard values (n,) cut off where foreign rows would be.

    Otherwise the quantile of a level next to a share of far rows jumps back and forth between them
    and the others from one relabeling to the next, and drowns all other differences.
    """
    return standard.clip(-_REACH, _REACH)
