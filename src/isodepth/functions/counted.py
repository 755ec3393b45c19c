"""A column of which only counts and quartiles are known, as in a monitor, for the describer.

The numbers of values up to some cut points are known in both samples, and the numbers of some
single values. Values between two cut points are evenly spaced. Values beyond the last cut points
are those of the other sample, shifted and scaled to the quartiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from isodepth.functions.changes import Change
from isodepth.functions.explanations import ColumnPair
from isodepth.functions.families import Member

# Maximum number of values that represent a sample.
_MOST_VALUES = 10_000
# Standard errors of the median of n normal values, relative to the interquartile range divided by
# sqrt(n), and of the logarithm of this range, relative to 1 / sqrt(n). The part of the range that
# is added to both errors because values between cut points are not known.
_MEDIAN_ERROR, _RANGE_ERROR, _BETWEEN = 0.93, 1.17, 0.02
# Standard error of the logarithm of a factor above which it is rounded to one digit.
_ONE_DIGIT = 0.05


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
        self.cuts, self.before, self.after = cuts, before, after
        self.discrete, self.scalable = discrete, scalable
        x = _values(cuts, singles, before, discrete, None)
        y = _values(cuts, singles, after, discrete, _moved_to(x, before, after))
        super().__init__(name, x, y, shares)
        self.medians = before.median, after.median
        # X is mapped, and the bins end at the cut points, where the counts of Y are known.
        self._from_y, self._edges = True, np.nextafter(cuts, np.inf)
        self.deviance = self._after(1.0, 0.0) + self._after_precision(1.0, 0.0)
