"""How far apart the two parts of a pooled sample are, for many relabelings at once.

The pooled rows are projected once and sorted once along each direction; medians, spreads and
quantiles of both parts follow for every relabeling by counting. What is held is the projections of
all rows, a bit for each row and relabeling, and a few numbers for each relabeling and direction.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from isodepth.core.scaling import pooled_spread
from isodepth.engine.threads import Resources, fold_blocks, worker_count
from isodepth.inference.relabelings import WORD, Relabelings

# Directions of one task: small enough for many threads, large enough to fill vector registers.
_DIRECTIONS = 8
# A little beyond the outermost levels that are compared, for a normal law: 2.4 times the MAD.
_REACH = 3.0
# Relabelings of one task, between which an interrupt is noticed.
_LABELINGS = 16


@dataclass(frozen=True)
class SplitStatistics:
    """What the relabelings gave; relabeling 0 is the one that was given.

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


def region_statistics(
    points: np.ndarray,
    directions: np.ndarray,
    relabelings: Relabelings,
    n_resamples: int,
    rng: np.random.Generator,
    betas: np.ndarray,
    q: float,
    p: float,
    resources: Resources,
    advance: Callable[[int], None],
) -> SplitStatistics:
    """DR between the regions of the two parts, with the projection depth.

    Parameters
    ----------
    points : float64 ndarray of shape (n, d), around zero with size about one
    directions : ndarray of shape (K, d), the d axes first
    betas : ndarray of shape (L,), rising
    q, p : float
        Powers of the means over directions and over levels. The mean over directions is a plain
        one: the factor that makes a translation by m have distance \\|m\\| is the caller's.
    advance : called with the number of relabelings done
    """
    from isodepth.engine.compiled.sorting import sort_workspace
    from isodepth.inference.permutation_loops import centers_along, split_distances

    n, d = points.shape
    count = n_resamples + 1
    zero = _rounding(points)
    projections = np.empty((n, len(directions)))
    out, axes = np.empty(count), np.empty((count, d))
    drawn = relabelings.words(count, rng)
    tasks = _direction_blocks(len(directions))
    workers = worker_count(resources.n_jobs, len(tasks), n * len(directions) * 64)
    for first, last in _rounds(n, count, resources):
        words = np.stack([next(drawn) for _ in range(first, last, WORD)])
        size = last - first
        centers = np.empty((size, 2, len(directions)))
        scales = np.empty((size, 2, len(directions)))

        def start() -> tuple[np.ndarray, ...]:
            return (*_pair(size), sort_workspace(n, np.float64))  # noqa: B023

        def along(room: tuple, which: slice) -> None:
            own_centers, own_scales, workspace = room
            values = _projected(points, directions[which])
            projections[:, which] = values.T
            for row, k in zip(values, range(which.start, which.stop), strict=True):
                centers_along(row, words, size, zero, workspace, own_centers, own_scales)  # noqa: B023
                centers[:, :, k], scales[:, :, k] = own_centers, own_scales  # noqa: B023

        def distances(workspace: tuple, which: slice) -> None:
            split_distances(
                projections, words, which.start, which.stop, centers, scales,  # noqa: B023
                betas, float(q), float(p), workspace, part, part_axes,  # noqa: B023
            )  # fmt: skip
            advance(which.stop - which.start)

        fold_blocks(tasks, start, along, workers)
        part, part_axes = np.empty(size), np.empty((size, d))
        blocks = [slice(i, min(i + _LABELINGS, size)) for i in range(0, size, _LABELINGS)]
        fold_blocks(
            blocks,
            lambda: sort_workspace(n, np.float64),
            distances,
            worker_count(resources.n_jobs, len(blocks), n * len(directions) * size),
        )
        out[first:last], axes[first:last] = part, part_axes
    return SplitStatistics(float(out[0]), out[1:], axes[0], axes[1:])


def envelope_statistics(
    points: np.ndarray,
    directions: np.ndarray,
    relabelings: Relabelings,
    n_resamples: int,
    rng: np.random.Generator,
    foreign: tuple[int, int],
    n_levels: int,
    q: float,
    p: float,
    resources: Resources,
    advance: Callable[[int], None],
) -> SplitStatistics:
    """Gaps between quantiles that foreign rows cannot explain, beside plain gaps under relabeling.

    Quantiles are those of functions of a row that do not depend on the labels: its projections, and
    its outlyingness in the pooled sample, each in units of its own pooled spread and cut off at
    three of them. The quantiles of any such function are known up to what foreign rows can do.

    Parameters
    ----------
    points, directions : see `region_statistics`
    foreign : pair of int
        How many rows of each sample may be anything.
    n_levels : int
        Levels 1 / (n_levels + 1) to n_levels / (n_levels + 1).
    q, p : float
        Powers of the means over functions and over levels.
    advance : called with the number of functions done
    """
    from isodepth.engine.compiled.sorting import sort_workspace
    from isodepth.inference.quantile_loops import quantile_gaps_along

    n, d = points.shape
    count = n_resamples + 1
    zero = _rounding(points)
    gaps = np.empty((len(directions) + 1, count + 1))
    axes = np.empty((d, count + 1))
    allowed = np.array(foreign, np.int64)
    drawn = relabelings.words(count, rng)
    tasks = _direction_blocks(len(directions))
    workers = worker_count(resources.n_jobs, len(tasks), n * len(directions) * 64)
    outlying = np.zeros(n)
    for first, last in _rounds(n, count, resources):
        words = np.stack([next(drawn) for _ in range(first, last, WORD)])
        size = last - first

        def measure(values: np.ndarray, k: int, workspace: tuple, found: np.ndarray) -> None:
            quantile_gaps_along(
                values,
                words,
                size,
                allowed,
                n_levels,
                float(p),
                workspace,
                found,  # noqa: B023
            )
            gaps[k, first:last] = found[:-1]  # noqa: B023
            if first == 0:  # noqa: B023
                gaps[k, count] = found[-1]

        def start() -> tuple:
            return np.zeros(n), np.empty(size + 1), sort_workspace(n, np.float64)  # noqa: B023

        def along(room: tuple, which: slice) -> None:
            own, found, workspace = room
            for row, k in zip(
                _projected(points, directions[which]), range(which.start, which.stop), strict=True
            ):
                standard = _standard(row, zero)
                np.maximum(own, np.abs(standard), out=own)
                measure(_within_reach(standard), k, workspace, found)
            advance(which.stop - which.start)

        states = fold_blocks(tasks, start, along, workers)
        for own, _, _ in states:
            np.maximum(outlying, own, out=outlying)
        _, found, workspace = states[0]
        standard = _within_reach(_standard(outlying, zero))
        measure(standard, len(directions), workspace, found)
    axes = gaps[:d]
    whole = _mean_over_functions(gaps, q)
    return SplitStatistics(float(whole[count]), whole[1:count], axes[:, count], axes[:, 1:count].T)


def _mean_over_functions(gaps: np.ndarray, q: float) -> np.ndarray:
    """The q-mean over the rows of gaps (F, B)."""
    if math.isinf(q):
        return gaps.max(axis=0)
    return np.power(np.mean(np.power(gaps, q), axis=0), 1.0 / q)


def _projected(points: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Projections (k, n): the bits of a row's do not depend on where it stands."""
    from isodepth.engine.compiled.tiles import multipliers, project, tiles_of

    out = np.empty((len(directions), len(points)))
    project(tiles_of(points), multipliers(directions, np.float64), out)
    return out


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


def _rounding(points: np.ndarray) -> float:
    """A deviation along a direction that is no larger says nothing."""
    typical = float(np.median(np.abs(points).max(axis=1)))
    return 8 * float(np.finfo(np.float64).eps) * points.shape[1] * typical


def _pair(size: int) -> tuple[np.ndarray, np.ndarray]:
    return np.empty((size, 2)), np.empty((size, 2))


def _direction_blocks(count: int) -> list[slice]:
    return [slice(k, min(k + _DIRECTIONS, count)) for k in range(0, count, _DIRECTIONS)]


def _rounds(n: int, count: int, resources: Resources) -> list[tuple[int, int]]:
    """Relabelings whose bits are held together: nearly always all of them.

    A bit a row and relabeling; only where billions of them exceed the budget is the order along
    each direction found again for the next round.
    """
    words = max(1, int(resources.memory_mb * 2**20) // (2 * 8 * n))
    size = words * WORD
    return [(first, min(first + size, count)) for first in range(0, count, size)]
