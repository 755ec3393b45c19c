"""How far a batch is from a reference, and the columns that contribute to it.

`RegionScorer`: DR between tables. The regions of few rows are smaller than those of many rows of
the same distribution, since they are maxima over fewer points. So where the sizes of batches are
known, the reference is the mean table of many samples of that size.

`ShareScorer`, with a tolerance c: a row is looked at through fixed functions f (columns, their sum,
directions, distance from the center, outlyingness), all chosen from the reference alone. For a set
{f <= t} let G be the share of the batch less that of the reference. Replacing k of m rows of a
batch, whatever they become, changes each share by at most k / m. So the largest |G| - k / m is at
most the largest |G| that the batch had before: a lower bound of a score that is exchangeable with
those of held-out batches. The reference only fixes functions, cut points and shares, so that its
own contaminated rows in this part do no harm; those in held-out batches do.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from isodepth._version import __version__
from isodepth.api import Metric
from isodepth.core.directions import unit_vectors
from isodepth.core.scaling import mad_spread, scaled
from isodepth.data.frames import Table
from isodepth.data.validation import check_direction_rows
from isodepth.metric.attribution import shares_of_directions
from isodepth.metric.table import RegionTable
from isodepth.monitor.calibration import position_between

#: Quantiles of the reference at which shares are compared, just below and just above each.
LEVELS = 50
#: Samples whose mean table has little noise beside that of a batch; more are taken where possible.
FEW_SAMPLES = 20
_MOST_SAMPLES = 100
# Directions at a time: the values of many rows along all of them take much memory.
_BLOCK = 16
# Columns count up to so many spreads in the distance from the center.
_FAR = 6.0
# Equal values may differ by rounding when they are computed again.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class RegionScorer:
    """The tables of a reference, and how far batches are from them.

    Attributes
    ----------
    metric : Metric
    tables : list of RegionTable
        One for each of `sizes`.
    sizes : list of int, increasing
        Rows of the samples that the tables are means of.
    """

    metric: Metric
    tables: list[RegionTable]
    sizes: list[int]

    @property
    def reference(self) -> RegionTable:
        """The table of the largest size."""
        return self.tables[-1]

    @property
    def scale(self) -> np.ndarray | None:
        """What the columns are divided by first, of shape (d,)."""
        return self.metric.scale

    @property
    def n_features(self) -> int:
        """Columns of the data."""
        return self.reference.n_features

    @property
    def signature(self) -> str:
        """How scores are made."""
        return self.reference.signature

    def table_of(self, n_rows: int) -> RegionTable:
        """The expected table of an undrifted batch of so many rows."""
        at = int(np.searchsorted(self.sizes, n_rows))
        if at == 0 or at == len(self.sizes):
            return self.tables[max(0, at - 1)]
        if self.sizes[at] == n_rows:
            return self.tables[at]
        share = position_between(self.sizes[at - 1], n_rows, self.sizes[at])
        smaller, larger = self.tables[at - 1], self.tables[at]
        values = (1 - share) * smaller.values + share * larger.values
        return replace(larger, values=values.astype(larger.values.dtype))

    def score(self, batch: Any, n_rows: int, weights: Any = None) -> float:
        """The distance of a batch (m, d) that had `n_rows` rows before some were left out."""
        return self.table_of(n_rows).distance_to(self.metric.table(batch, weights))

    #: Undrifted rows are scored like any others.
    null_score = score

    def score_and_columns(self, points: np.ndarray, n_rows: int) -> tuple[float, np.ndarray]:
        """The distance of a batch (m, d), and the contributions of the columns (d,)."""
        table, expected = self.metric.table(points), self.table_of(n_rows)
        gaps = np.abs(table.values.astype(np.float64) - expected.values)
        directions = np.asarray(
            self.metric.with_directions(self.n_features).directions, dtype=np.float64
        )
        return expected.distance_to(table), _contributions(gaps, directions, self.metric.q)


def _contributions(gaps: np.ndarray, directions: np.ndarray, q: float) -> np.ndarray:
    """Contributions (d,) to gaps (L, 2K) along directions (K, d) and their opposites."""
    count = len(directions)
    there, back = gaps[:, :count], gaps[:, count:]
    if q == math.inf:
        # Both signs of a direction have the same squared entries.
        return largest_gap_shares(np.maximum(there, back), directions)
    # In units of the largest gap: no power overflows.
    top = gaps.max()
    means = top * np.mean((gaps / (top or 1.0)) ** q, axis=1) ** (1 / q)

    def along(some: slice) -> np.ndarray:
        return np.hstack([there[:, some], back[:, some]])

    equal = np.full(len(gaps), 1.0 / len(gaps))
    return shares_of_directions(along, equal, directions, means, q)


def largest_gap_shares(gaps: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Contributions (d,) of the columns to gaps (L, K) along directions (K, d).

    Squared entries of the direction of the largest gap of each level, averaged with the squares of
    these gaps as weights: a single level is unstable, their mean is not.
    """
    where = gaps.argmax(axis=1)
    largest = np.take_along_axis(gaps, where[:, None], axis=1)[:, 0]
    top = largest.max()
    # Gaps in units of the largest: squares neither overflow nor vanish together.
    weights = np.square(largest / top) if top > 0 else np.ones(len(largest))
    return (weights / weights.sum()) @ np.square(directions[where])


def mean_table(
    samples: Sequence[np.ndarray], columns: tuple[str, ...] | None, metric: Metric
) -> RegionTable:
    """The mean of the tables of samples (n, d)."""
    tables = (metric.table(Table(points, columns)) for points in samples)
    first = next(tables)
    total = first.values.astype(np.float64)
    for table in tables:
        total = total + table.values
    return replace(first, values=(total / len(samples)).astype(first.values.dtype))


def samples_of(n: int, size: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Indices of `size` of n rows each: disjoint where there are many, else drawn."""
    if size >= n:
        return [np.arange(n)]
    if n // size >= FEW_SAMPLES:
        count = min(n // size, _MOST_SAMPLES)
        return list(rng.permutation(n)[: count * size].reshape(count, size))
    return [rng.permutation(n)[:size] for _ in range(FEW_SAMPLES)]


# -- with a tolerance -----------------------------------------------------------------------------


def contaminated_rows(n: int, tolerance: float) -> int:
    """How many of n rows may be contaminated."""
    # 0.05 * 20 is a little more than 1 in some products of floats, and a little less in others.
    return math.floor(tolerance * n + 1e-9)


def share_directions(width: int, further: Any, count: int, seed: int) -> np.ndarray:
    """Directions (K, d): the columns, their sum, and further ones, drawn or given."""
    axes = np.eye(width)
    if further is not None and not isinstance(further, str):
        return np.vstack([axes, check_direction_rows(further, width)])
    if width < 2:
        return axes
    drawn = unit_vectors(width, count, further or "orthogonal", seed)
    return np.vstack([axes, np.full((1, width), width**-0.5), drawn])


@dataclass(frozen=True)
class ShareScorer:
    """Shares of a reference up to cut points of functions of a row, and how far batches are off.

    Attributes
    ----------
    directions : ndarray of shape (K, d)
        The columns first. Functions are the K projections, the distance from the center and the
        outlyingness.
    tolerance : float in (0, 0.5)
    scale : ndarray of shape (d,) or None
        What the columns are divided by first.
    centers, widths : ndarrays of shape (K,)
        Median and robust spread of the reference along each direction.
    cuts : ndarray of shape (2 L, K + 2), increasing down the columns
    shares : ndarray of shape (2 L, K + 2)
        Share of the reference up to each cut point.
    """

    directions: np.ndarray
    tolerance: float
    scale: np.ndarray | None
    centers: np.ndarray
    widths: np.ndarray
    cuts: np.ndarray
    shares: np.ndarray

    @classmethod
    def fit(
        cls,
        points: np.ndarray,
        directions: np.ndarray,
        tolerance: float,
        levels: int = LEVELS,
        scale: np.ndarray | None = None,
    ) -> ShareScorer:
        """The scorer of a reference (n, d)."""
        count = len(directions)
        centers, widths = np.empty(count), np.empty(count)
        cuts, shares = np.empty((2, 2 * levels, count + 2))
        scorer = cls(directions, tolerance, scale, centers, widths, cuts, shares)
        units = scorer._in_units(points)
        for part in _blocks(count):
            values = directions[part] @ units.T
            centers[part], widths[part] = np.median(values, axis=1), mad_spread(values.T)
        at = np.arange(1, levels + 1) / (levels + 1)
        for functions, values in scorer._ordered_values(points):
            quantiles = np.quantile(values, at, axis=1)
            rounding = _ROUNDING * (np.abs(quantiles) + np.ptp(quantiles, axis=0))
            around = np.concatenate([quantiles - rounding, quantiles + rounding])
            cuts[:, functions] = np.sort(around, axis=0)
            shares[:, functions] = _shares(values, cuts[:, functions])
        return scorer

    @property
    def n_features(self) -> int:
        """Columns of the data."""
        return self.directions.shape[1]

    @property
    def signature(self) -> str:
        """How scores are made."""
        count, width = self.directions.shape
        return (
            f"shares|tolerance={self.tolerance:g}|cuts={len(self.cuts)}|dirs={count}x{width}"
            f"|scale={'none' if self.scale is None else 'given'}|v={__version__}"
        )

    def null_score(self, points: np.ndarray, n_rows: int) -> float:
        """The largest difference of shares of rows (m, d) that are not contaminated."""
        return float(self._gaps(points).max())

    def score_and_columns(self, points: np.ndarray, n_rows: int) -> tuple[float, np.ndarray]:
        """The largest difference of shares that contaminated rows cannot explain.

        Parameters
        ----------
        points : ndarray of shape (m, d)
        n_rows : int
            How many rows the batch had before those with missing values were left out. The share
            of contaminated ones is one of these, and any of them may be left.

        Returns
        -------
        score : float
        contributions : ndarray of shape (d,)
            Of the columns; where nothing is left of the differences, to all of them.
        """
        gaps = self._gaps(points)
        left = np.maximum(gaps - contaminated_rows(n_rows, self.tolerance) / len(points), 0.0)
        count = len(self.directions)
        along = left[:, :count] if left[:, :count].any() else gaps[:, :count]
        return float(left.max()), largest_gap_shares(along, self.directions)

    def _gaps(self, points: np.ndarray) -> np.ndarray:
        """Differences of shares at the cut points of all functions (2 L, K + 2)."""
        gaps = np.empty_like(self.shares)
        for functions, values in self._ordered_values(points):
            gaps[:, functions] = _shares(values, self.cuts[:, functions])
        return np.abs(gaps - self.shares)

    def _in_units(self, points: np.ndarray) -> np.ndarray:
        units = points if self.scale is None else scaled(points, self.scale, "batch")
        return units.astype(np.float64, copy=False)

    def _ordered_values(self, points: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """A few functions at a time, and their values (F, m) in increasing order."""
        units, count = self._in_units(points), len(self.directions)
        radius, outlyingness = np.zeros((2, len(points)))
        for part in _blocks(count):
            values = self.directions[part] @ units.T
            away = np.abs(values - self.centers[part, None]) / self.widths[part, None]
            np.maximum(outlyingness, away.max(axis=0), out=outlyingness)
            columns = away[: max(0, self.n_features - part.start)]
            radius += np.square(np.minimum(columns, _FAR)).sum(axis=0)
            values.sort(axis=1)
            yield part, values
        yield slice(count, count + 2), np.sort([np.sqrt(radius), outlyingness], axis=1)


def _blocks(count: int) -> list[slice]:
    return [slice(start, min(start + _BLOCK, count)) for start in range(0, count, _BLOCK)]


def _shares(ordered: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    """Share of ordered values (F, m) up to cut points (C, F), of shape (C, F)."""
    counts = [row.searchsorted(own, side="right") for row, own in zip(ordered, cuts.T, strict=True)]
    return np.transpose(counts) / ordered.shape[1]


NumberScorer = RegionScorer | ShareScorer
