"""How far a batch is from a reference: DR between their tables, and the columns that carry it.

The regions of few rows are smaller than those of many of the same law: a maximum over fewer points.
Compared with the table of a large reference, every batch is too small, and one that has grown looks
better than one that has not. So where the sizes of batches are known, the reference is the mean
table of many samples of that size, and what is left of the distance is noise, and change.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from isodepth.api import Metric
from isodepth.data.frames import Table
from isodepth.inference.envelope_gauge import column_shares
from isodepth.metric.attribution import shares_of_directions
from isodepth.metric.table import RegionTable

#: Samples whose mean table has little noise beside that of a batch; more are taken where there are.
FEW_SAMPLES = 20
_MOST_SAMPLES = 100


class TableGauge:
    """The tables of a reference, and how far batches are from them.

    Attributes
    ----------
    metric : Metric
    tables : list of RegionTable
        One for each of `sizes`.
    sizes : list of int, rising
        Rows of the samples that the tables are means of.
    """

    def __init__(self, metric: Metric, tables: list[RegionTable], sizes: list[int]) -> None:
        self.metric = metric
        self.tables = tables
        self.sizes = sizes

    @classmethod
    def fit(
        cls,
        points: np.ndarray,
        columns: tuple[str, ...] | None,
        metric: Metric,
        weights: np.ndarray | None = None,
    ) -> TableGauge:
        """The gauge of a reference (n, d) for batches of any size."""
        return cls(metric, [metric.table(Table(points, columns), weights)], [len(points)])

    @classmethod
    def fit_samples(
        cls,
        samples: Sequence[Sequence[np.ndarray]],
        sizes: Sequence[int],
        columns: tuple[str, ...] | None,
        metric: Metric,
    ) -> TableGauge:
        """The gauge of samples (n, d) of each size."""
        tables = [_mean_table(of_size, columns, metric) for of_size in samples]
        return cls(metric, tables, list(sizes))

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
        """What an undrifted batch of so many rows looks like, noise apart."""
        sizes = self.sizes
        if n_rows <= sizes[0] or len(sizes) == 1:
            return self.tables[0]
        if n_rows >= sizes[-1]:
            return self.tables[-1]
        at = int(np.searchsorted(sizes, n_rows))
        if sizes[at] == n_rows:
            return self.tables[at]
        share = between(sizes[at - 1], n_rows, sizes[at])
        smaller, larger = self.tables[at - 1], self.tables[at]
        values = (1 - share) * smaller.values + share * larger.values
        return replace(larger, values=values.astype(larger.values.dtype))

    def measure(self, batch: Any, n_rows: int, weights: Any = None) -> float:
        """The distance of a batch (n, d) that had `n_rows` rows, some perhaps left out since."""
        return self.table_of(n_rows).distance_to(self.metric.table(batch, weights))

    def plain(self, points: np.ndarray, n_rows: int) -> float:
        """The distance of a batch (n, d) of undrifted rows: without a tolerance the same."""
        return self.measure(points, n_rows)

    def score(self, points: np.ndarray, n_rows: int) -> tuple[float, np.ndarray]:
        """The distance of a batch (n, d), and how much each column has to do with it (d,)."""
        table, usual = self.metric.table(points), self.table_of(n_rows)
        score = usual.distance_to(table)
        gaps = np.abs(table.values.astype(np.float64) - usual.values)
        directions = np.asarray(self.metric.fit(self.n_features).directions, dtype=np.float64)
        return score, _column_shares(gaps, directions, self.metric.q)


def _column_shares(gaps: np.ndarray, directions: np.ndarray, q: float) -> np.ndarray:
    """How much each column has to do with gaps (L, 2K) along directions (K, d) and back, (d,)."""
    count = len(directions)
    there, back = gaps[:, :count], gaps[:, count:]
    if q == math.inf:
        # Both signs of a direction have the same squared entries.
        return column_shares(np.maximum(there, back), directions)
    # In units of the largest gap: no power overflows.
    top = gaps.max()
    means = top * np.mean((gaps / (top or 1.0)) ** q, axis=1) ** (1 / q)
    done = 0

    def along(block: np.ndarray) -> np.ndarray:
        nonlocal done
        first, done = done, done + len(block)
        return np.hstack([there[:, first:done], back[:, first:done]])

    equal = np.full(len(gaps), 1.0 / len(gaps))
    return shares_of_directions(along, equal, directions, means, q)


def between(smaller: int, size: int, larger: int) -> float:
    """Where a size lies between two others, 0 to 1, by the noise of a mean of so many rows."""
    low, here, high = (rows**-0.5 for rows in (smaller, size, larger))
    return (low - here) / (low - high)


def samples_of(n: int, size: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Places of `size` of n rows each: apart from each other where there are many, else drawn."""
    if size >= n:
        return [np.arange(n)]
    if n // size >= FEW_SAMPLES:
        count = min(n // size, _MOST_SAMPLES)
        return list(rng.permutation(n)[: count * size].reshape(count, size))
    return [rng.permutation(n)[:size] for _ in range(FEW_SAMPLES)]


def _mean_table(
    samples: Sequence[np.ndarray], columns: tuple[str, ...] | None, metric: Metric
) -> RegionTable:
    total: np.ndarray | None = None
    for points in samples:
        table = metric.table(Table(points, columns))
        total = table.values.astype(np.float64) if total is None else total + table.values
    assert total is not None
    return replace(table, values=(total / len(samples)).astype(table.values.dtype))
