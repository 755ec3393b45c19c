"""A column of which only counts and quartiles are known, as in a monitor, for the describer.

The numbers of values up to some cut points are known in both samples, and the numbers of some
single values. Values between two cut points are evenly spaced. Values beyond the last cut points
are those of the other sample, shifted and scaled to the quartiles.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from isodepth.functions.changes import Change
from isodepth.functions.explanations import (
    ColumnPair,
    Explanation,
    deviance_of_counts,
)
from isodepth.functions.families import Member, is_multiple

# Maximum number of values that represent a sample.
_MOST_VALUES = 10_000
# Standard errors of the median of n normal values, relative to the interquartile range divided by
# sqrt(n), and of the logarithm of this range, relative to 1 / sqrt(n). The part of the range that
# is added to both errors because values between cut points are not known.
_MEDIAN_ERROR, _RANGE_ERROR, _BETWEEN = 0.93, 1.17, 0.02
# Standard error of the logarithm of a factor above which it is rounded to one digit.
_ONE_DIGIT = 0.05
# Minimum share of rounded values of a sample that was rounded.
_ROUNDED = 0.9
# Maximum deviance of a median or spread, so that sums do not overflow.
_MOST = 1e9


class Counts(NamedTuple):
    """Numbers of values of a column in one sample.

    Attributes
    ----------
    n : int
        Number of values that are not missing.
    up_to : ndarray of shape (K,)
        Number of values up to each of K cut points.
    single : ndarray of shape (S,)
        Number of values that equal each of S numbers.
    median, spread : float
        Median and interquartile range.
    """

    n: int
    up_to: np.ndarray
    single: np.ndarray
    median: float
    spread: float


class CountedPair(ColumnPair):
    """Column of which only counts and quartiles in X and Y are known.

    Parameters
    ----------
    name : str
    cuts : ndarray of shape (K,)
        Cut points in increasing order, at least one.
    singles : ndarray of shape (S,)
        Numbers whose frequencies are known, in increasing order.
    before, after : Counts
        Counts in X and in Y.
    discrete : bool
        Whether the cut points are all values that X has.
    scalable : bool
        Whether values can be multiplied. Dates and ranks cannot.
    shares : sequence of (Member, Change)
        See `ColumnPair`.
    """

    has_values = False

    def __init__(
        self,
        name: str,
        cuts: np.ndarray,
        singles: np.ndarray,
        before: Counts,
        after: Counts,
        *,
        discrete: bool,
        scalable: bool,
        shares: Sequence[tuple[Member, Change]] = (),
    ) -> None:
        self._cuts, self._counts, self._scalable = cuts, (before, after), scalable
        x = _values(cuts, singles, before, discrete, cuts[[0, -1]])
        with np.errstate(over="ignore", invalid="ignore"):
            ratio = after.spread / before.spread if before.spread else 1.0
            moved = after.median + (x - before.median) * ratio
        y = _values(cuts, singles, after, discrete, np.nan_to_num(moved))
        super().__init__(name, x, y, shares)
        self.medians = before.median, after.median
        # X is mapped, and the bins end at the cut points, where the counts of Y are known. A single
        # value whose share changed has a bin of its own.
        values = np.array([each.value for each, _ in shares if each.event == "value"])
        ends = np.concatenate([cuts, values])
        self._from_y = True
        self._edges = np.unique(np.concatenate([np.nextafter(ends, np.inf), values]))
        self.deviance = self._after(1.0, 0.0) + self._after_precision(1.0, 0.0)

    @cached_property
    def locations(self) -> list[tuple[str, tuple[float, float]]]:
        return [("median", self.medians)]

    @cached_property
    def spreads(self) -> list[tuple[str, tuple[float, float]]]:
        before, after = self._counts
        return [("interquartile range", (before.spread, after.spread))]

    def distribution_functions(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        before, after = (each.up_to / each.n for each in self._counts)
        return self._cuts, before, after

    def named_constant(self) -> float | None:
        return None

    def approximate(self, factor: float) -> float:
        """Return an estimated factor as it is stated, with one digit if its error is large."""
        error = math.hypot(
            *(_MEDIAN_ERROR * e.spread / max(abs(e.median), 1e-300) / math.sqrt(e.n)
              for e in self._counts)
        )  # fmt: skip
        stated = super().approximate(factor)
        return stated if error <= _ONE_DIGIT else float(f"{stated:.1g}")

    @property
    def _named_factor(self) -> float | None:  # type: ignore[override]
        return None

    def _decided(self) -> Iterator[Explanation]:
        yield from ()

    def _units(self) -> Iterator[Explanation]:
        yield from super()._units() if self._scalable else ()

    def _coarsest(self, member: Member, change: Change) -> tuple[Member, Change]:
        return member, change

    def _keeps_values(self, factor: float) -> bool:
        return True

    def _keeps_whole_numbers(self, factor: float) -> bool:
        return True

    def _after(self, factor: float, shift: float) -> float:
        """Return the deviance between counts, plus that between medians and spreads."""
        deviance = super()._after(factor, shift)
        before, after = self._counts
        with np.errstate(over="ignore", invalid="ignore"):
            median, spread = factor * before.median + shift, abs(factor) * before.spread
            error = _BETWEEN * after.spread + _MEDIAN_ERROR * math.hypot(
                spread / math.sqrt(before.n), after.spread / math.sqrt(after.n)
            )
            if error > 0:
                deviance += min(((after.median - median) / error) ** 2, _MOST)
        if min(spread, after.spread) > 0:
            error = _BETWEEN + _RANGE_ERROR * math.hypot(before.n**-0.5, after.n**-0.5)
            deviance += min((math.log(after.spread / spread) / error) ** 2, _MOST)
        return deviance

    def _after_precision(self, factor: float, shift: float) -> float:
        """Return the deviance between the known shares of rounded values.

        It is 0 if it is not known how many values the map rounds: if it multiplies them by a factor
        of at least 2, or if fewer values of Y are rounded and the map moves values between the
        multiples of the unit.
        """
        if self._precision is None:
            return 0.0
        member, change = self._precision
        if not 0.5 < abs(factor) < 2.0:
            return 0.0
        moves = factor != 1.0 or not is_multiple(np.array([shift]), member.value)[0]
        if moves and change.after < change.before:
            return 0.0
        return self._deviance_of_precision(self._a, self._b)

    def _after_rounding(self) -> float:
        """Return the deviance that remains if values moved by at most half of the unit.

        Values of Y may have moved only if nearly all of them are rounded.
        """
        assert self._precision is not None
        member, change = self._precision
        if change.after < _ROUNDED:
            return super()._after_rounding()
        half = 0.5 * member.value
        a, b = self._a, self._b
        low = np.searchsorted(a, self._edges - half) / len(a)
        high = np.searchsorted(a, self._edges + half, side="right") / len(a)
        up_to = np.searchsorted(b, self._edges)
        expected = len(a) * np.clip(up_to / len(b), low, high)
        counts = [
            np.diff(each, prepend=0, append=len(v)) for each, v in ((expected, a), (up_to, b))
        ]
        return deviance_of_counts(counts[0], counts[1])

    def is_rather_a_shift(self) -> bool:
        before, after = self._counts
        moved, widened = after.median - before.median, after.spread - before.spread
        return abs(moved) >= 0.5 * abs(widened)

    def _deviance_of_precision(
        self, a: np.ndarray, b: np.ndarray, removed: Member | None = None
    ) -> float:
        if self._precision is None:
            return 0.0
        member, change = self._precision
        n_removed = [
            len(all_values) - len(part) for all_values, part in ((self._a, a), (self._b, b))
        ]
        ones = [change.before * len(self._a), change.after * len(self._b)]
        if removed is not None and removed.event == "value":
            of_unit = is_multiple(np.array([removed.value]), member.value)[0]
            ones = [k - m * of_unit for k, m in zip(ones, n_removed, strict=True)]
        elif removed is not None and len(a):
            # It is not known how many of the removed values are rounded.
            expected = ones[0] / len(self._a) * len(b)
            ones = [
                ones[0] / len(self._a) * len(a),
                np.clip(expected, ones[1] - n_removed[1], ones[1]),
            ]
        rows = [
            np.array([k, len(part) - k])
            for k, part in (
                (min(max(k, 0.0), len(part)), part) for k, part in zip(ones, (a, b), strict=True)
            )
        ]
        return deviance_of_counts(rows[0], rows[1])


def _values(
    cuts: np.ndarray, singles: np.ndarray, counts: Counts, discrete: bool, beyond: np.ndarray
) -> np.ndarray:
    """Return at most 10,000 values with the given counts, in increasing order.

    Values between two cut points are evenly spaced, or equal to the upper one if `discrete`.
    Values outside of the cut points have the ranks of sorted values `beyond`.
    """
    size = min(counts.n, _MOST_VALUES)
    scale = size / counts.n
    single = np.repeat(singles, np.rint(counts.single * scale).astype(np.int64))[:size]
    # Numbers of the other values up to each cut point.
    of_singles = np.array([counts.single[singles <= cut].sum() for cut in cuts])
    up_to = np.maximum.accumulate(np.maximum(counts.up_to - of_singles, 0))
    total = max(counts.n - int(counts.single.sum()), int(up_to[-1]))
    n_others = size - len(single)
    ranks = (np.arange(n_others) + 0.5) / max(n_others, 1) * total
    at = np.searchsorted(up_to, ranks)
    if discrete:
        others = cuts[np.minimum(at, len(cuts) - 1)]
    else:
        others = np.interp(ranks, up_to, cuts)
    ordered = np.sort(beyond)
    moved = ordered[(ranks / max(total, 1) * len(ordered)).astype(np.int64)]
    others = np.where(at == 0, np.minimum(moved, cuts[0]), others)
    above = np.nextafter(cuts[-1], np.inf)
    others = np.where(at == len(cuts), np.maximum(moved, np.nextafter(above, np.inf)), others)
    return np.sort(np.concatenate([single, others]))
