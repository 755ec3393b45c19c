"""Exact medians of all directions at once, in a few passes.

A pilot of the rows tells about where a number is; a pass counts how many lie in equal parts of
that interval, and another picks out those in the one part that matters. Where the pilot misleads,
or too many numbers lie too close, their digits are looked at from the first to the last.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from isodepth.chunked.passes import (
    FlatPass,
    Fold,
    Outlyingness,
    ProjectionPass,
    count,
    digits,
    gather,
)
from isodepth.chunked.rows import BLOCK_ROWS, Frame
from isodepth.chunked.sampling import Pilot
from isodepth.chunked.summaries import PARTS, Counts, Intervals, values_of
from isodepth.engine.spread_passes import zero_of

# A pilot misses a number by more than this many standard errors about once in 150,000 times.
_ERRORS = 4.5
# Projections of the pilot that are held at a time.
_HELD_NUMBERS = 1 << 21
#: Numbers in an interval, at most, in units of what the pilot says.
MARGIN = 1.1


def brackets(
    pilot: Pilot, values: np.ndarray, shares: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where the numbers of rows lie that have given shares of the mass below them.

    Parameters
    ----------
    values : ndarray of shape (B, m), or (1, m) for one set of numbers
    shares : ndarray of shape (B,), in [0, 1]

    Returns
    -------
    low, high : ndarrays of shape (B,)
    content : float64 ndarray of shape (B,)
        The share of the mass between them, about.
    """
    margin = _ERRORS * np.sqrt(shares * (1 - shares) / pilot.size) + 2 / pilot.size
    rows, last = np.arange(len(values)), values.shape[1] - 1
    wanted = [(shares + sign * margin).clip(0, 1) for sign in (-1, 1)]
    if (pilot.masses == pilot.masses[0]).all():
        places = [(share * last).astype(np.intp) for share in wanted]
        places[1] = np.minimum(places[1] + 1, last)
        # Without masses to carry along a few places are found without sorting all.
        rising = np.partition(values, np.unique(places), axis=1)
        if len(rising) == 1:
            rows = np.zeros(len(shares), dtype=np.intp)
    else:
        if len(values) == 1:
            values = np.broadcast_to(values, (len(shares), values.shape[1]))
        order = np.argsort(values, axis=1)
        rising = np.take_along_axis(values, order, axis=1)
        upto = np.cumsum(pilot.masses[order], axis=1)
        rows = np.arange(len(values))
        places = [
            (upto < (share * upto[:, -1])[:, None]).sum(axis=1).clip(0, last) for share in wanted
        ]
    return rising[rows, places[0]], rising[rows, places[1]], 2 * margin


def median_ranks(total: int) -> tuple[int, int]:
    """Mass ranks, from 1 on, of the two numbers in the middle."""
    return (total + 1) // 2, total // 2 + 1


class Sizes(NamedTuple):
    """How large standardized rows are: the largest, and a function that finds a typical one."""

    largest: Any
    typical: Callable[[], Any]


def fit_outlyingness(
    fold: Fold, frame: Frame, pilot: Pilot, sizes: Sizes, total: int, n_rows: int, workspace: int
) -> Outlyingness:
    """Medians and MADs along all directions, exactly, in two or three passes.

    Parameters
    ----------
    sizes : how large standardized rows are
    total : the mass of all rows
    n_rows : how many there are
    workspace : how many numbers may be held for each direction
    """
    moved = frame.moved(pilot.points)
    count_of = len(frame.directions)
    first, last = (np.full(count_of, rank) for rank in median_ranks(total))
    low, high, content = _guess(moved, frame, pilot, None)
    # A gather that succeeds saves a pass; it holds a share of all numbers, and some more by chance.
    if MARGIN * content.max() * n_rows < workspace:
        (found,) = fold(_pass(frame, gather(Intervals(low, high), workspace), workspace=workspace))
        middles = _middle_of(fold, frame, None, found.ranked(first, last), first, last)
        low, high, _ = _guess(moved, frame, pilot, middles)
        del found  # as much is gathered again
    else:
        # Of a mass of so many units there is about one number.
        unit = total / n_rows

        def counting(intervals: Intervals) -> Counts:
            return fold(ProjectionPass(frame, (count(intervals, PARTS),)))[0]

        room = unit * workspace
        closer_low, closer_high, _ = closer(counting, Intervals(low, high), first, last, room)
        hit = closer_low <= closer_high
        half = low.dtype.type(0.5)
        about = np.where(hit, half * closer_low + half * closer_high, half * low + half * high)
        away_low, away_high, _ = _guess(moved, frame, pilot, about)
        found, counted = fold(
            _pass(
                frame,
                gather(Intervals(closer_low, closer_high), workspace),
                count(Intervals(away_low, away_high, about), PARTS),
                workspace=workspace,
            )
        )
        middles = _middle_of(fold, frame, None, found.ranked(first, last), first, last)
        low, high, mass = counted.narrowed(first, last)
        del found, counted
        # Distances from the median differ from those counted by as much as it does, and rounding.
        eps = np.finfo(low.dtype).eps
        slack = np.abs(middles - about) * (1 + 8 * eps) + 8 * eps * (np.abs(about) + np.abs(high))
        miss = ~(hit & (low <= high))
        low, high = (low - slack).clip(0), high + slack
        if miss.any():
            guess_low, guess_high, _ = _guess(moved, frame.along(miss), pilot, middles[miss])
            low[miss], high[miss] = guess_low, guess_high
        if (mass[~miss] > room).any():
            again = closer(counting, Intervals(low, high, middles), first, last, room)
            low, high = again[:2]
    intervals = Intervals(low, high, middles)
    (found,) = fold(_pass(frame, gather(intervals, workspace), workspace=workspace))
    mads = _middle_of(fold, frame, middles, found.ranked(first, last), first, last)
    return _with_flat_directions(fold, frame, middles, mads, sizes)


def closer(
    counting: Callable[[Intervals], Counts],
    intervals: Intervals,
    first: np.ndarray,
    last: np.ndarray,
    room: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Narrow intervals around the numbers of given mass ranks until no more than `room` is inside.

    As `Counts.narrowed`. It ends where parts are no longer any lighter: there are ties.
    """
    before = np.inf
    while True:
        low, high, mass = counting(intervals).narrowed(first, last)
        most = mass[low <= high].max(initial=0)
        if most <= room or most > before / 2:
            return low, high, mass
        intervals, before = Intervals(low, high, intervals.centers), most


def block(workspace: int) -> int:
    """How many rows to look at before there is room for as many numbers again."""
    return max(1, min(BLOCK_ROWS, workspace // 2))


def _pass(frame: Frame, *makers: Any, workspace: int) -> ProjectionPass:
    return ProjectionPass(frame, makers, block(workspace))


def _guess(
    moved: np.ndarray, frame: Frame, pilot: Pilot, centers: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Intervals (K,) in which the pilot sees the medians, or those of distances from centers."""
    from isodepth.engine.compiled.tiles import multipliers, project, tiles_of

    units, tiles = multipliers(frame.directions, moved.dtype), tiles_of(moved)
    parts = []
    step = max(1, min(16, _HELD_NUMBERS // len(moved)))
    for k in range(0, len(units), step):
        values = np.empty((len(units[k : k + step]), len(moved)), dtype=moved.dtype)
        project(tiles, units[k : k + step], values)
        if centers is not None:
            values -= centers[k : k + step, None]
            np.abs(values, out=values)
        parts.append(brackets(pilot, values, np.full(len(values), 0.5)))
    low, high, content = (np.concatenate(part) for part in zip(*parts, strict=True))
    return low, high, content


def _middle_of(
    fold: Fold,
    frame: Frame,
    centers: np.ndarray | None,
    found: tuple[np.ndarray, np.ndarray],
    first: np.ndarray,
    last: np.ndarray,
) -> np.ndarray:
    """The mean of the two numbers found, looked for digit by digit where they were not."""
    lower, upper = found
    lost = np.flatnonzero(np.isnan(lower))
    if len(lost):
        both = np.concatenate([lost, lost])
        ranks = np.concatenate([first[lost], last[lost]])
        values = by_digits(
            fold, frame.along(both), None if centers is None else centers[both], ranks
        )
        lower[lost], upper[lost] = values[: len(lost)], values[len(lost) :]
    half = lower.dtype.type(0.5)
    # Halving first: symmetric under a change of sign, and the sum cannot overflow.
    return half * lower + half * upper


def by_digits(
    fold: Fold, frame: Frame, centers: np.ndarray | None, ranks: np.ndarray
) -> np.ndarray:
    """The projections, or their distances from centers, that have given mass ranks (E,)."""

    def counts(prefixes: np.ndarray, shift: int) -> np.ndarray:
        (state,) = fold(ProjectionPass(frame, (digits(prefixes, shift, centers),)))
        return state.counts

    return digit_search(counts, frame.directions.dtype, ranks)


def digit_search(counts: Any, dtype: np.dtype, ranks: np.ndarray | None, n: int = 0) -> np.ndarray:
    """The floats of given mass ranks, or the two in the middle of each of `n` sets, by their keys.

    Parameters
    ----------
    counts : gives the masses (E, 256) of the next eight bits of keys that begin as `prefixes` (E,)
    ranks : int64 ndarray of shape (E,), or None for the middles of E / 2 sets and again
    """
    word: Any = np.uint32 if dtype.itemsize == 4 else np.uint64
    size = 2 * n if ranks is None else len(ranks)
    prefixes = np.zeros(size, dtype=word)
    for shift in range(8 * dtype.itemsize - 8, -1, -8):
        rising = np.cumsum(counts(prefixes, shift), axis=1)
        if ranks is None:
            totals = rising[:n, -1]
            ranks = np.concatenate([(totals + 1) // 2, totals // 2 + 1])
        digit = (rising < ranks[:, None]).sum(axis=1)
        digit = digit.clip(0, 255)
        before = np.where(digit > 0, rising[np.arange(size), digit - 1], 0)
        ranks = ranks - before
        prefixes |= digit.astype(word) << word(shift)
    return values_of(prefixes)


def _with_flat_directions(
    fold: Fold, frame: Frame, middles: np.ndarray, mads: np.ndarray, sizes: Sizes
) -> Outlyingness:
    """Where the MAD is zero, the median of the deviations that are not takes its place."""
    typical = sizes.largest
    if not (mads > zero_of(frame.directions, typical)).all():
        # Only now it matters which size is typical.
        typical = sizes.typical()
    flat = np.flatnonzero(~(mads > zero_of(frame.directions, typical)))
    scales = np.full(len(mads), np.nan, dtype=mads.dtype)
    if len(flat):
        both = np.concatenate([flat, flat])
        along = frame.along(both)
        empty = np.zeros(len(flat), dtype=bool)

        def counts(prefixes: np.ndarray, shift: int) -> np.ndarray:
            found = fold(FlatPass(along, middles[both], typical, prefixes, shift)).counts
            if shift == 8 * mads.itemsize - 8:
                empty[:] = found[: len(flat)].sum(axis=1) == 0
            return found

        ends = digit_search(counts, mads.dtype, None, len(flat))
        half = mads.dtype.type(0.5)
        scales[flat] = half * ends[: len(flat)] + half * ends[len(flat) :]
        scales[flat[empty]] = 0
        mads = mads.copy()
        mads[flat] = np.nan
    return Outlyingness(frame, middles, mads, scales, typical)
