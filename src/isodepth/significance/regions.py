"""Distances between the trimmed regions of two samples, under permutation of the labels."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from isodepth.errors import DegenerateDepthWarning
from isodepth.geometry.directions import mean_of_direction
from isodepth.metric.comparison import Comparison
from isodepth.metric.metric import Metric
from isodepth.significance.samples import PooledSample, Samples, filled_columns
from isodepth.table.frames import NamedArray

Advance = Callable[[int], None]


def depth_distances(pool: PooledSample, metric: Metric, advance: Advance) -> np.ndarray:
    """Return the distances DR (B + 1,) between the trimmed regions, by the depth of `metric`.

    The regions are computed for each labeling separately.
    """
    d = pool.points.shape[1]
    settings = replace(
        metric, directions=pool.directions, scale=None, nan_policy="raise", random_state=0
    )
    fitted = settings.with_directions(d)
    # Columns are divided by their units, but not centered at their medians: rounding in the
    # subtraction could change the order of the values of a column.
    points = np.ascontiguousarray(filled_columns(pool.columns).T / pool.divisors)
    out = np.empty(pool.permutations.count)
    for b, first in enumerate(pool.permutations.labels(dtype=bool).T):
        with warnings.catch_warnings():
            if b > 0:  # a warning about a permuted sample would not help the user
                warnings.simplefilter("ignore", DegenerateDepthWarning)
            x, y = fitted.all_regions([points[first], points[~first]])
        out[b] = fitted.distance(x, y) * mean_of_direction(d, metric.q)
        advance(1)
    return out


def compare_regions(samples: Samples, metric: Metric) -> Comparison:
    """Compare the samples by the distance between their trimmed regions.

    `metric` has the directions and the divisors of the columns. Distances need complete rows:
    missing values are replaced by medians.
    """
    columns = filled_columns(samples.numbers.T[samples.compared])
    names = tuple(samples.names[j] for j in samples.compared)
    x, y = (NamedArray(part, names) for part in np.split(columns.T, [samples.n_x]))
    return metric._compare_arrays(x, y)
