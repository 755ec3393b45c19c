"""Exact order statistics of values that are read in chunks.

Order statistics, such as medians, are computed for E numbers per row, such as projections on E
directions. A bracket is an interval that contains an order statistic with high probability. The
first bracket is estimated from a random subset of the rows. One pass over the chunks counts the
values below the bracket and collects the values inside. If the values inside do not fit into
memory, a random subset of them gives a narrower bracket for the next pass. If the order statistic
is not in the bracket, the counts show whether it is below or above.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from isodepth import _core
from isodepth.base.fold import Fold
from isodepth.geometry.transforms import moved_by
from isodepth.metric.chunked.preparation import Rows
from isodepth.stream.passes import RunFold, row_keys

# Margin of error of a relative frequency in a random subset, in standard deviations. The ends of a
# bracket for a quantile of order p are the quantiles of orders p - margin and p + margin of the
# subset.
_DEVIATIONS = 4.5
# A bracket (an interval of values) is narrowed with a random subset of its values only if the
# margin of error of relative frequencies in the subset is below this number.
_LARGEST_MARGIN = 0.25
# Minimum number of values that can be collected from a bracket (an interval of values), and safety
# factor on the expected number of values in a bracket.
_LEAST_NUMBERS, _RESERVE = 1 << 10, 1.2
_HELD_NUMBERS = 1 << 22


def margin_of(size: float) -> float:
    """Return the margin of error of a relative frequency estimated from `size` random values.

    The margin is 4.5 times the maximum standard deviation, 0.5 / sqrt(size).
    """
    return float(_DEVIATIONS * 0.5 / np.sqrt(size))


@dataclass(frozen=True)
class RowValues:
    """Description of E numbers that are computed for each row, whose medians are searched.

    An example is the projection of a row on each of E directions. With `centers`, a number is the
    distance of the projection from a center: the median of these distances is the MAD. All rows are
    moved by the same shift and scale before they are projected.

    Attributes
    ----------
    frame : pair of an ndarray of shape (c,) and an int
        Center that is subtracted from the points before projection, and exponent of the power of
        two by which the centered points are divided.
    directions : ndarray of shape (E, c)
    centers : ndarray of shape (E,) or None
        If given, the values are the distances of the projections from these centers. If None, the
        values are the projections themselves.
    typical : float or None
        Typical absolute value of an entry of the scaled points, which determines the size of
        rounding errors. Distances that are at most rounding errors are replaced with -1. If
        `typical` is negative, only distances of zero are replaced. If None, none is replaced.
    of : callable or None
        Function of rows (n, d) and a number of threads that returns the points (n, c) to project.
        None to project the rows themselves, with c = d.
    """

    frame: tuple[np.ndarray, int]
    directions: np.ndarray
    centers: np.ndarray | None = None
    typical: float | None = None
    of: Any = None

    def take(self, which: np.ndarray) -> RowValues:
        """Return the description of the values in `which`, an index array or a mask."""
        centers = None if self.centers is None else self.centers[which]
        return replace(self, directions=self.directions[which], centers=centers)

    def chunk(self, rows: np.ndarray, masses: np.ndarray | None, n_threads: int) -> Any:
        """Return an object of the compiled core that computes these values for rows (n, d).

        `masses` (n,) are the weights of the rows, or None.
        """
        points = rows if self.of is None else self.of(rows, n_threads)
        chunk_class: Any = _core.Chunk32 if points.dtype == np.float32 else _core.Chunk64
        return chunk_class(
            points, *self.frame, np.ascontiguousarray(self.directions), masses, n_threads
        )

    @property
    def options(self) -> dict[str, Any]:
        """Keyword arguments `centers` and `typical` for functions of the compiled core."""
        return {"centers": self.centers, "typical": self.typical}

    def along(self, points: np.ndarray, n_threads: int) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield projections of points (m, d), for one block of directions at a time.

        Each item is the slice of B directions, and the projections (B, m) on them.
        """
        moved = moved_by(points if self.of is None else self.of(points, 1), *self.frame)
        step = max(1, _HELD_NUMBERS // len(moved))
        for k in range(0, len(self.directions), step):
            block = np.ascontiguousarray(self.directions[k : k + step])
            yield slice(k, k + step), _core.project(moved, block, n_threads)


class BracketState(NamedTuple):
    """State of `BracketPass`: masses below and inside E brackets, and the values inside.

    A bracket is an interval of values.

    Attributes
    ----------
    counts : int64 ndarray of shape (3, E)
        Mass below each bracket, mass inside, and number of collected values. The number of
        collected values exceeds `BracketPass.most` if there were too many values.
    pieces : list of (values, masses, ends), one per chunk
        Values of one chunk that were collected in all brackets, and their masses. The values of
        bracket k are ``values[ends[k]:ends[k + 1]]``. The masses are empty if all are 1.
    """

    counts: np.ndarray
    pieces: list[tuple[np.ndarray, np.ndarray, np.ndarray]]

    def ordered(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the sorted collected values (m,) of bracket k, and the cumulative masses (m,)."""
        cuts = [(v, masses, slice(ends[k], ends[k + 1])) for v, masses, ends in self.pieces]
        values = np.concatenate([values[cut] for values, _, cut in cuts])
        masses = np.concatenate([masses[cut] for _, masses, cut in cuts])
        if not len(masses):
            return np.sort(values), np.arange(1, len(values) + 1)
        order = np.argsort(values)
        return values[order], np.cumsum(masses[order])

    def narrowed(self, k: int, low: Any, high: Any, shares: np.ndarray, margin: float) -> Any:
        """Return the ends of a smaller interval inside bracket k, the interval [low, high).

        With high probability the smaller interval contains R quantiles of the values in bracket k.
        `shares` (R,) are the orders of the quantiles, increasing. `margin` is the margin of error
        of relative frequencies that are estimated from the collected values.
        """
        values, upto = self.ordered(k)
        orders = np.array([shares[0] - margin, shares[0], shares[-1] + margin])
        indices = np.searchsorted(upto, orders * upto[-1], side="right").clip(max=len(values) - 1)
        first, middle, _ = values[indices]
        after, after_last = np.nextafter(values[indices[1:]], np.inf)
        smaller = first if orders[0] >= 0 else low, after_last if orders[2] < 1 else high
        # If the interval is not smaller because of ties, return an interval that contains only the
        # tied value.
        return smaller if smaller != (low, high) else (middle, after)


@dataclass(frozen=True)
class BracketPass(Fold):
    """Fold over the data that counts the mass below E brackets, and collects the values inside.

    A bracket is an interval of values. Bracket k is [low[k], high[k]).

    Attributes
    ----------
    numbers : RowValues
        Description of the E values of a row.
    low, high : ndarrays of shape (E,)
    most : int
        Maximum number of values that are collected per bracket.
    share : float or None
        Probability of collecting the values of a row of mass 1. The probability is proportional to
        the mass, up to 1. A collected row represents a mass of at least 1 / share. None to collect
        the values of all rows.
    seed : int
        Seed of the random choice of rows.
    """

    numbers: RowValues
    low: np.ndarray
    high: np.ndarray
    most: int
    share: float | None = None
    seed: int = 0

    def start(self) -> BracketState:
        return BracketState(np.zeros((3, len(self.low)), dtype=np.int64), [])

    def step(self, state: BracketState, rows: Rows, n_threads: int) -> None:
        (points, _, masses, start, _), share = rows, self.share
        most = np.maximum(self.most - state.counts[2], 0)

        def inside(points: np.ndarray, masses: np.ndarray | None, most: np.ndarray) -> Any:
            chunk = self.numbers.chunk(points, masses, n_threads)
            return chunk.numbers_inside(self.low, self.high, most, **self.numbers.options)

        counts, *held = inside(points, masses, most if share is None else np.zeros_like(most))
        if share is not None:
            counts[2] = 0
            drawn = row_keys(self.seed, start, len(points)) < share * (
                1 if masses is None else masses
            )
            if drawn.any():
                if masses is not None:
                    masses = np.maximum(masses[drawn], int(1 / share))
                sampled, *held = inside(points[drawn], masses, most)
                counts[2] = sampled[2]
        state.counts[:] += np.where(counts < 0, self.most + 1, counts)
        ends = np.concatenate([[0], np.cumsum(counts[2].clip(0))])
        if ends[-1]:
            state.pieces.append((*held, ends))

    def merge(self, state: BracketState, other: BracketState) -> None:
        state.counts[:] += other.counts
        state.pieces.extend(other.pieces)


@dataclass
class Bracket:
    """Interval [low, high) of values in which R order statistics are searched.

    Attributes
    ----------
    low, high : float
        Ends of the interval. Each pass over the data finds the order statistics, or moves the ends.
    ranks : int64 ndarray of shape (R,)
        Ranks of the order statistics among all values, counted from 0 in units of mass. They are
        equal or consecutive, in increasing order.
    found : ndarray of shape (R,)
        The order statistics; NaN if not yet found.
    expected : float
        Expected mass of the values in the interval.
    crowded : bool
        Whether a pass could not collect all values in the interval, because they are too many.
    """

    low: Any
    high: Any
    ranks: np.ndarray
    found: np.ndarray
    expected: float
    crowded: bool = False

    @property
    def unknown(self) -> np.ndarray:
        """Mask (R,) of the order statistics that are not yet found."""
        return np.isnan(self.found)

    def update(self, state: BracketState, at: int, work: BracketPass, total: int) -> None:
        """Store the order statistics that a pass found, or move the ends for the next pass.

        Parameters
        ----------
        state : BracketState
            Result of the pass `work`, in which this bracket has the index `at`.
        total : int
            Mass of all values.
        """
        below, mass, held = state.counts[:, at].tolist()
        inner = self.ranks - below
        within = (inner >= 0) & (inner < mass)
        if np.nextafter(self.low, np.inf) >= self.high:  # the interval contains one number
            self.found[within] = self.low
        elif within.any() and held <= work.most and work.share is None:
            values, upto = state.ordered(at)
            self.found[within] = values[np.searchsorted(upto, inner[within], side="right")]
        inner = inner[self.unknown]
        if not len(inner):
            return
        infinity = self.found.dtype.type(np.inf)
        if inner[0] < 0:
            self.low, self.high, self.expected = -infinity, self.low, below
        elif inner[0] >= mass:
            self.low, self.high, self.expected = self.high, infinity, total - below - mass
        else:
            self._narrow(state, at, work, inner / mass, mass)

    def _narrow(
        self, state: BracketState, at: int, work: BracketPass, orders: np.ndarray, mass: int
    ) -> None:
        """Move the ends of the interval closer together, around the order statistics.

        `state` is the result of the pass `work`, in which this bracket has the index `at`. `orders`
        (R,) are the relative ranks of the order statistics among the values in the interval,
        between 0 and 1, and `mass` is the mass of these values. Quantiles of these orders are
        estimated from the random subset that the pass collected. The ends remain if the subset is
        too small, or if there is none. In the latter case the next pass collects a random subset.
        """
        margin = _LARGEST_MARGIN if work.share is None else margin_of(work.share * mass)
        self.expected, self.crowded = mass, work.share is None
        if state.counts[2, at] <= work.most and margin < _LARGEST_MARGIN:
            self.low, self.high = state.narrowed(at, self.low, self.high, orders, margin)
            self.expected = 2 * margin * mass


@dataclass(frozen=True)
class Selection:
    """Object that computes order statistics of a sample by passes over its chunks.

    Attributes
    ----------
    fold : function that runs a pass over the sample
    pilot : Rows
        Random rows of equal mass, from which first estimates of order statistics are computed.
    margin : float
        Margin of error of a relative frequency that is estimated from the pilot.
    mass, n_rows : int
        Total mass and number of rows of the sample.
    most_numbers : int
        Maximum number of values that a pass collects, for all order statistics together.
    n_threads : int
    """

    fold: RunFold
    pilot: Rows
    margin: float
    mass: int
    n_rows: int
    most_numbers: int
    n_threads: int

    def order_statistics(self, numbers: RowValues, ranks: np.ndarray) -> np.ndarray:
        """Return R order statistics over the rows for each of the E values of a row.

        `numbers` computes the E values. `ranks` (E, R) are the ranks of the order statistics,
        counted from 0 in units of mass. The R ranks in a row of this array are equal or
        consecutive, in increasing order. The result has shape (E, R).
        """
        brackets = [
            Bracket(
                low, high, own, np.full(len(own), np.nan, low.dtype), 2 * self.margin * self.mass
            )
            for low, high, own in zip(*self.guess(numbers, ranks / self.mass), ranks, strict=True)
        ]
        seed = 0
        while len(left := [k for k, bracket in enumerate(brackets) if bracket.unknown.any()]):
            seed += 1
            work = self._bracket_pass(
                numbers.take(np.array(left)), [brackets[k] for k in left], seed
            )
            state = self.fold(work)
            for at, k in enumerate(left):
                brackets[k].update(state, at, work, self.mass)
        return np.array([bracket.found for bracket in brackets])

    def _bracket_pass(self, numbers: RowValues, brackets: list[Bracket], seed: int) -> BracketPass:
        """Return the next pass over brackets: it collects all values inside, or a random subset.

        It collects a random subset if not all values are expected to fit into `most_numbers`.
        `numbers` computes one value of a row for each bracket, and `seed` is that of the random
        subset.
        """
        low, high = (np.array([getattr(b, end) for b in brackets]) for end in ("low", "high"))
        most = max(_LEAST_NUMBERS, self.most_numbers // len(brackets))
        largest = _RESERVE * max(bracket.expected for bracket in brackets)
        fits = largest / self.mass * self.n_rows <= most
        if any(bracket.crowded for bracket in brackets):
            fits = False
        share = None if fits else most / largest
        return BracketPass(numbers, low, high, most, share, seed)

    def guess(self, numbers: RowValues, orders: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Estimate for each of E functions of a row an interval that contains R quantiles.

        `numbers` computes the E values of a row. `orders` (E, R) has the orders of the quantiles of
        each value, between 0 and 1, increasing. The intervals [low, high) are estimated from the
        random rows `pilot`. They contain the quantiles with high probability. Return the arrays
        `low` and `high` (E,).
        """
        n = len(self.pilot.points)
        low, high = np.full((2, len(orders)), [[-np.inf], [np.inf]], numbers.directions.dtype)
        for block in np.array_split(np.arange(len(low)), -(-n * len(low) // _HELD_NUMBERS)):
            work = BracketPass(numbers.take(block), low[block], high[block], n)
            state = work.start()
            work.step(state, self.pilot, self.n_threads)
            for at, k in enumerate(block):
                low[k], high[k] = state.narrowed(at, -np.inf, np.inf, orders[k], self.margin)
        return low, high

    def medians(self, numbers: RowValues, skipped: np.ndarray | None = None) -> np.ndarray:
        """Return the median (E,) over the rows of each of the E values that `numbers` computes.

        The median is the mean of the lower and the upper median. `skipped` (E,) is the mass of the
        smallest values, which are excluded: the distances that `numbers` replaced with -1.
        """
        before = np.zeros(len(numbers.directions), np.int64) if skipped is None else skipped
        left = self.mass - before
        ranks = before[:, None] + np.stack([(left - 1) // 2, left // 2], axis=1)
        values = self.order_statistics(numbers, ranks)
        half = values.dtype.type(0.5)
        # Halve the lower and the upper median before adding them, so that the sum cannot overflow.
        return half * values[:, 0] + half * values[:, 1]

    def mass_at(self, numbers: RowValues, centers: np.ndarray, typical: float = -1.0) -> np.ndarray:
        """Return the mass (E,) of the rows whose value k equals ``centers[k]``, for k < E.

        `numbers` describes the E values of a row, such as projections on E directions; its own
        `centers` are replaced. If `typical` is negative, only equal values count. Otherwise it is a
        typical absolute value of the entries of the scaled points, and values within the rounding
        errors of projections of such points count as equal.
        """
        away = replace(numbers, centers=centers, typical=typical)
        start = np.zeros(len(centers), dtype=centers.dtype)
        return self.fold(BracketPass(away, start, start, 0)).counts[0]

    def spreads(
        self, numbers: RowValues, typical: float, negligible: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the medians, the MADs, and scales that replace small MADs, each of shape (E,).

        `numbers` computes E numbers per row, such as projections. Median and MAD (median absolute
        deviation) of each number are computed over all rows. A MAD of at most `negligible`, a
        number or an array (E,), is replaced by the scale: the median of the deviations that exceed
        rounding errors. The scale is 0 if all deviations are rounding errors, or if the MAD is not
        replaced. `typical` is the typical absolute value of an entry of the rows, which determines
        the rounding errors.
        """
        middles = self.medians(numbers)
        away = replace(numbers, centers=middles)
        mads = self.medians(away)
        scales = np.zeros_like(mads)
        flat = np.flatnonzero(~(mads > negligible))
        if len(flat):
            off = replace(away.take(flat), typical=typical)
            skipped = self.mass_at(off, middles[flat], typical)
            varied = skipped < self.mass
            if varied.any():
                scales[flat[varied]] = self.medians(off.take(varied), skipped[varied])
        return middles, mads, scales

    def depth_thresholds(self, model: Any, betas: np.ndarray, tolerance: float) -> np.ndarray:
        """Return the depth thresholds (C, L) of the regions of levels `betas` (L,).

        The region of level beta has the deepest rows, with more than a fraction beta of the mass.
        `model.depths` returns C depths per row, such as an estimate and two bounds. Each of these
        depths has its own thresholds. A threshold is the minimum depth in the region minus
        `tolerance`, so that rounding does not separate tied rows.
        """
        kinds, levels = model.depths(self.pilot.points[:1], 1).shape[1], len(betas)
        units = np.repeat(np.eye(kinds), levels, axis=0)
        numbers = RowValues((np.zeros(kinds), 0), units, of=partial(_negated_depths, model))
        ranks = np.tile(level_ranks(betas, self.mass), kinds)
        values = self.order_statistics(numbers, ranks[:, None])
        return -values.reshape(kinds, levels) - tolerance


def _negated_depths(model: Any, points: np.ndarray, n_threads: int) -> np.ndarray:
    """Return the negative depths (n, C) of points (n, d): the deepest point has the minimum.

    The method `model.depths` returns C depths per point.
    """
    return -model.depths(points, n_threads)


def level_ranks(betas: np.ndarray, total: int) -> np.ndarray:
    """Return, for each level, the first rank at which the cumulative mass exceeds the level.

    Levels `betas` (L,) are fractions of the total mass `total`. The ranks (L,) are counted from 0
    in units of mass.
    """
    # Levels are compared with the same rounded quotients mass / total as for samples in memory, so
    # that samples in chunks have the same regions. The quotients increase with the mass, as
    # bisection requires.
    return np.array(
        [
            bisect.bisect_right(range(1, total), beta, key=lambda mass: float(mass) / float(total))
            for beta in betas.tolist()
        ],
        dtype=np.int64,
    )
