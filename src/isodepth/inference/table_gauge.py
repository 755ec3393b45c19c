"""How far a batch is from a reference: DR between their tables, and the columns that carry it."""

from __future__ import annotations

from typing import Any

import numpy as np

from isodepth.data.frames import Table
from isodepth.inference.envelope_gauge import column_shares
from isodepth.metric.metric import Metric
from isodepth.metric.table import RegionTable


class TableGauge:
    """The table of a reference, and how far batches are from it.

    Attributes
    ----------
    metric : Metric
    reference : RegionTable
    """

    def __init__(self, metric: Metric, reference: RegionTable) -> None:
        self.metric = metric
        self.reference = reference

    @classmethod
    def fit(
        cls,
        points: np.ndarray,
        columns: tuple[str, ...] | None,
        metric: Metric,
        weights: np.ndarray | None = None,
    ) -> TableGauge:
        """The gauge of a reference (n, d)."""
        return cls(metric, metric.table(Table(points, columns), weights))

    @property
    def n_features(self) -> int:
        """Columns of the data."""
        return self.reference.n_features

    @property
    def signature(self) -> str:
        """How scores are made."""
        return self.reference.signature

    def measure(self, batch: Any, weights: Any = None) -> float:
        """The distance of a batch (n, d)."""
        return self.reference.distance_to(self.metric.table(batch, weights))

    def plain(self, points: np.ndarray) -> float:
        """The distance of a batch (n, d) of undrifted rows: without a tolerance the same."""
        return self.measure(points)

    def score(self, points: np.ndarray) -> tuple[float, np.ndarray]:
        """The distance of a batch (n, d), and how much each column has to do with it (d,)."""
        table = self.metric.table(points)
        score = self.reference.distance_to(table)
        gaps = np.abs(table.values.astype(np.float64) - self.reference.values)
        count = gaps.shape[1] // 2
        # Both signs of a direction have the same squared entries.
        either = np.maximum(gaps[:, :count], gaps[:, count:])
        directions = self.metric.drawn(self.reference.n_features).directions
        return score, column_shares(either, np.asarray(directions, dtype=np.float64))
