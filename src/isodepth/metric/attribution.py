"""Where two samples differ: contributions of columns, and rows outside the region of the other."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from isodepth.data.results import ResultMixin, named_shares, plain
from isodepth.gap.gaps import Gaps

# Numbers that are held together while directions are looked at a few at a time.
_BLOCK_NUMBERS = 1 << 20


@dataclass(frozen=True, eq=False)
class LargestGap(ResultMixin):
    """Where two samples differ most.

    Attributes
    ----------
    level : float
        The level beta of the largest gap (the middle of its piece).
    gap : float
    direction : ndarray of shape (d,)
        The unit vector along which the two regions differ by that much.
    columns : list of (str, float)
        The columns with their share of the direction (squared entries), largest first.
    """

    level: float
    gap: float
    direction: np.ndarray
    columns: list[tuple[str, float]]

    def to_dict(self) -> dict[str, Any]:
        """Everything as numbers, texts, lists and dictionaries that JSON knows."""
        return plain({**vars(self), "columns": named_shares(self.columns)})

    def _rows(self) -> dict[str, list[Any]]:
        return share_rows(self.columns)

    def _heading(self) -> str:
        return f"LargestGap: {self.gap:.6g} at level beta = {self.level:.3g}"


@dataclass(frozen=True, eq=False)
class RowsOutside(ResultMixin):
    """Rows of Y outside of X's outermost region, the most outlying first.

    Attributes
    ----------
    rows : int64 ndarray of shape (k,)
        Their indices in Y.
    distances : float64 ndarray of shape (k,), falling
        How far outside they lie at least, in the units of the comparison: along the direction in
        which they stick out most.
    directions : float64 ndarray of shape (k, d)
        These directions.
    """

    rows: np.ndarray
    distances: np.ndarray
    directions: np.ndarray

    def __len__(self) -> int:
        return len(self.rows)

    def only(self, kept: np.ndarray) -> RowsOutside:
        """Some of them, by a mask (k,)."""
        return RowsOutside(self.rows[kept], self.distances[kept], self.directions[kept])

    def to_dict(self) -> dict[str, Any]:
        """Everything as lists of numbers."""
        return plain(vars(self))

    def _rows(self) -> dict[str, list[Any]]:
        return {"row": self.rows.tolist(), "distance": self.distances.tolist()}

    def __str__(self) -> str:
        return f"RowsOutside: {len(self)} row(s) outside of the outermost region"


def shares_of_levels(gaps: Gaps) -> np.ndarray:
    """Squared entries (d,) of the directions of the gaps, averaged over levels.

    The weight of a level is its share of the interval times its squared gap: a single level, where
    the direction of the largest gap is mostly chance, decides nothing.
    """
    weights = level_weights(gaps.values, gaps.plan.shares)
    if weights is None:
        return np.full(gaps.vectors.shape[1], 1.0 / gaps.vectors.shape[1])
    return weights @ gaps.directions() ** 2


def level_weights(gaps: np.ndarray, shares: np.ndarray) -> np.ndarray | None:
    """Weights (L,) of levels in an average, adding up to 1; None where there is no gap at all."""
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
) -> np.ndarray:
    """Shares (d,) of the columns where gaps are means over directions.

    Within a level a direction counts in proportion to the gap along it to the power q; levels count
    as in `shares_of_levels`. Directions all over the sphere see a translation along one axis: among
    the squared entries of an average direction the axis has (1 + q) / (d + q) and not 1. So the
    shares s are those with squared entries (1 + q s) / (d + q), not below 0, adding up to 1:
    for a translation by m they are m_j^2 / |m|^2, as with the supremum.

    Parameters
    ----------
    apart_along : function of a slice of B directions
        Gives the differences of the two supports at each level, along u and along -u, (L, 2B).
    shares, gaps : ndarrays of shape (L,)
    directions : ndarray of shape (K, d)
    """
    d = directions.shape[1]
    weights = level_weights(gaps, shares)
    if weights is None or d == 1:
        return np.full(d, 1.0 / d)
    positive = gaps > 0
    size = max(1, _BLOCK_NUMBERS // (4 * len(gaps)))
    squares = np.zeros(d)
    for start in range(0, len(directions), size):
        some = slice(start, start + size)
        # In units of the mean of the level: no power overflows.
        ratios = np.abs(apart_along(some)[positive]) / gaps[positive, None]
        each = (weights[positive] @ ratios**q).reshape(2, -1).sum(axis=0)
        squares += each @ directions[some].astype(np.float64) ** 2
    entries = squares / squares.sum()
    found = np.maximum(((d + q) * entries - 1.0) / q, 0.0)
    return found / found.sum()


def rows_outside(points: np.ndarray, supports: np.ndarray, directions: np.ndarray) -> RowsOutside:
    """Rows of `points` (m, d) beyond the support values (2K,) of a region along u and -u.

    Parameters
    ----------
    supports : ndarray of shape (2K,), h(u) for the K directions, then h(-u)
    directions : ndarray of shape (K, d)
    """
    n_directions = len(directions)
    excess = np.full(len(points), -np.inf)
    where = np.zeros(len(points), dtype=np.int64)
    size = max(1, _BLOCK_NUMBERS // len(points))
    for start in range(0, n_directions, size):
        end = min(start + size, n_directions)
        projections = points @ directions[start:end].T
        for sign, first in ((1.0, start), (-1.0, n_directions + start)):
            beyond = sign * projections - supports[first : first + end - start]
            best = beyond.argmax(axis=1)
            value = beyond[np.arange(len(points)), best]
            further = value > excess
            excess[further] = value[further]
            where[further] = (first + best)[further]
    # A row that lies in the region may be rounded beyond it.
    d, eps = points.shape[1], float(np.finfo(points.dtype).eps)
    rounding = 4 * d * eps * math.sqrt(d) * np.abs(points).max(axis=1)
    outside = np.flatnonzero(excess > rounding)
    order = outside[np.argsort(-excess[outside], kind="stable")]
    signs = np.where(where[order] < n_directions, 1.0, -1.0)
    vectors = directions[where[order] % n_directions] * signs[:, None]
    return RowsOutside(order, excess[order], vectors)


def share_rows(shares: list[tuple[str, float]]) -> dict[str, list[Any]]:
    """Columns and their shares, as a table."""
    return {"column": [name for name, _ in shares], "share": [share for _, share in shares]}
