"""Distances between the trimmed regions of two samples, under permutation of the labels."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from isodepth import _core
from isodepth.errors import DegenerateDepthWarning
from isodepth.geometry.directions import mean_of_direction
from isodepth.metric.comparison import Comparison
from isodepth.metric.metric import Metric
from isodepth.metric.settings import check_level_memory, midpoint_levels
from isodepth.significance.permutations import WORD
from isodepth.significance.samples import PooledSample, Samples, filled_columns
from isodepth.table.frames import NamedArray

# Number of permutations of the labels per call of the compiled code, a multiple of WORD. The
# progress bar is updated after each call.
_LABELINGS = 4 * WORD

Advance = Callable[[int], None]


def region_distances(
    pool: PooledSample, metric: Metric, advance: Advance, *, only_regions: bool
) -> np.ndarray:
    """Return the distances DR (B + 1,) between the trimmed regions of X and Y, for all labelings.

    The constant divisor `mean_of_direction` of DR, by which the distance of two samples that differ
    by a translation m is |m|, is omitted. `advance` is called with the number of labelings that
    were completed since the last call. `only_regions` is whether the distance is the only statistic
    of the test: then any permuted sample must have valid regions.
    """
    fast = metric.depth == "projection" and not (only_regions and _may_be_simplex(pool))
    return (projection_distances if fast else depth_distances)(pool, metric, advance)


def projection_distances(pool: PooledSample, metric: Metric, advance: Advance) -> np.ndarray:
    """Return the distances DR (B + 1,) of `region_distances` for the projection depth."""
    count, words = pool.permutations.count, pool.permutations.words
    assert isinstance(metric.levels, int)
    # Support values of both samples at each level, per thread.
    check_level_memory(metric.levels, 32 * len(pool.directions), metric.memory_mb)
    betas = midpoint_levels(metric.levels, metric.eps)
    out = np.empty(count)
    for first in range(0, count, _LABELINGS):
        last = min(first + _LABELINGS, count)
        block = words[first // WORD : -(-last // WORD)]
        out[first:last] = _core.label_distances(
            pool.points, pool.directions, block, last - first, betas, metric.q, metric.p,
            pool.n_threads,
        )  # fmt: skip
        advance(last - first)
    return out


def _may_be_simplex(pool: PooledSample) -> bool:
    """Return whether permuted labels can give a sample with at most d + 1 distinct rows.

    All rows of such a sample may have equal projection depth. `projection_distances` is not valid
    in this case. The result depends on the pooled rows only, not on their labels.
    """
    counts = np.unique(pool.points, axis=0, return_counts=True)[1]
    largest = np.sort(counts)[-pool.points.shape[1] - 1 :].sum()
    return bool(largest >= pool.permutations.sizes.min())


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
