"""Metric that compares arrays, which `two_sample_test` uses."""

from __future__ import annotations

from typing import Any

from isodepth.metric.comparison import Comparison
from isodepth.metric.fitted import FittedMetric, compare_arrays, fit_for_one_sample
from isodepth.metric.settings import MetricSettings


class BaseMetric(MetricSettings):
    """Settings of the distance, with a method that compares arrays."""

    def compare(self, X: Any, Y: Any) -> Comparison:
        """Compare two samples in memory."""
        return compare_arrays(self, X, Y)

    def with_directions(self, n_features: int, dtype: str | None = None) -> FittedMetric:
        """Sample the directions and levels once, to compare many samples."""
        return fit_for_one_sample(self, n_features, dtype)
