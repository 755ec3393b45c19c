"""Contributions of columns to the distance between two samples.

The region of level beta of a sample is the smallest set of its deepest rows with more than a
fraction beta of the total weight. The gap of a level is the distance between the regions of both
samples. It is computed along directions, which are unit vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from isodepth.base.export import ResultMixin
from isodepth.functions.changes import Contribution
from isodepth.geometry.regions import Gaps

# Target number of support values that are in memory at a time.
_BLOCK_NUMBERS = 1 << 20
# Columns are listed until their contributions sum to 60%, but at most three columns.
_NAMED_SUM, _MAX_NAMED = 0.6, 3


@dataclass(frozen=True, eq=False, kw_only=True)
class LargestGap(ResultMixin):
    """Largest gap between the regions of two samples over all levels.

    The gap of a level is the distance between the regions of both samples at this level.

    Attributes
    ----------
    level : float
        Level beta with the largest gap. If an interval of levels has this gap, its midpoint.
    gap : float
        Size of the gap, in the units of the distance.
    direction : ndarray of shape (d,)
        Unit vector along which the gap is attained. With a finite ``q``, the gap is a mean over
        directions; this is then the direction with the largest difference of the support functions.
    contributions : tuple of Contribution
        Squared entry of `direction` in each column, largest first; () if the gap is 0.
    """

    _result_type = "largest_gap"

    level: float
    gap: float
    direction: np.ndarray
    contributions: tuple[Contribution, ...]

    def _rows(self) -> dict[str, list[Any]]:
        return contribution_rows(self.contributions)


def largest_contributions(contributions: Sequence[Contribution]) -> str:
    """Return a string with the first columns and their contributions.

    `contributions` are sorted, largest first. Columns are listed until their contributions sum to
    60%, at most three.

    Examples
    --------
    >>> fractions = {"dewp": 0.35, "temp": 0.33, "wind": 0.32}
    >>> largest_contributions([Contribution(*each) for each in fractions.items()])
    'dewp 35%, temp 33%'
    """
    named = named_contributions(contributions)
    return ", ".join(f"{each.column} {each.fraction:.0%}" for each in named)


def named_contributions(contributions: Sequence[Contribution]) -> list[Contribution]:
    """Return the first contributions, until their sum is 60%, at most three."""
    named: list[Contribution] = []
    for each in contributions[:_MAX_NAMED]:
        named.append(each)
        if sum(other.fraction for other in named) >= _NAMED_SUM:
            break
    return named


def shares_of_levels(gaps: Gaps) -> np.ndarray | None:
    """Return the contributions (d,) of the columns to a distance with q=inf.

    With q=inf the gap of a level is the maximum over directions. The contributions are the squared
    entries of the maximizing directions, averaged over levels. The weight of a level is its width
    times its squared gap. A single level is not enough, because its maximizing direction depends
    strongly on chance. Return None if all gaps are 0.
    """
    weights = level_weights(gaps.values, gaps.plan.shares)
    return None if weights is None else weights @ gaps.directions() ** 2


def level_weights(gaps: np.ndarray, shares: np.ndarray) -> np.ndarray | None:
    """Return weights (L,) of L levels, proportional to shares * gaps**2; None if all gaps are 0.

    `shares` (L,) are the widths of the levels, and `gaps` (L,) the distances between the regions of
    two samples. The sum of the weights is 1.
    """
    largest = gaps.max()
    if largest == 0:
        return None
    weights = shares * (gaps / largest) ** 2
    return weights / weights.sum()


def shares_of_directions(
    apart_along: Callable[[slice], np.ndarray],
    shares: np.ndarray,
    directions: np.ndarray,
    gaps: np.ndarray,
    q: float,
) -> np.ndarray | None:
    """Return the contributions (d,) of the columns if gaps are means of order q over directions.

    First the squared entries of all directions are averaged. The weight of a direction within a
    level is the q-th power of the absolute difference of the two support functions along it. Levels
    have the weights of `level_weights`. All directions contribute, so for a translation along one
    axis the expected mean squared entry of this axis is (1 + q) / (d + q), not 1. The contribution
    s of a column therefore solves: mean squared entry = (1 + q s) / (d + q). Negative solutions are
    set to 0, and the sum is scaled to 1. For a translation by m the contributions are then
    approximately m_j^2 / |m|^2, as for q=inf. Return None if all gaps are 0.

    Parameters
    ----------
    apart_along : function of a slice of B directions
        Returns the differences (L, 2B) of the two support functions at each of L levels, along the
        B directions and their opposites.
    shares, gaps : ndarrays of shape (L,)
        Weight and gap of each level.
    directions : ndarray of shape (K, d)
    q : float in [1, inf)
    """
    d = directions.shape[1]
    weights = level_weights(gaps, shares)
    if weights is None or d == 1:
        return None if weights is None else np.ones(1)
    positive = gaps > 0
    size = max(1, _BLOCK_NUMBERS // (4 * len(gaps)))
    squares = np.zeros(d)
    for start in range(0, len(directions), size):
        some = slice(start, start + size)
        # Differences are divided by the gap of their level, so that powers do not overflow.
        ratios = np.abs(apart_along(some)[positive]) / gaps[positive, None]
        each = (weights[positive] @ ratios**q).reshape(2, -1).sum(axis=0)
        squares += each @ directions[some].astype(np.float64) ** 2
    entries = squares / squares.sum()
    found = np.maximum(((d + q) * entries - 1.0) / q, 0.0)
    return found / found.sum()


def contribution_rows(contributions: Sequence[Contribution]) -> dict[str, list[Any]]:
    """Return a table of contributions: a dictionary of the lists "column" and "fraction"."""
    return {
        "column": [each.column for each in contributions],
        "fraction": [each.fraction for each in contributions],
    }
