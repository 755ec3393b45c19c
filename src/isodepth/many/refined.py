"""Refined distances between many samples, which need the rows of all samples.

The maximum over sampled directions is refined by local ascent towards the supremum over all
directions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from isodepth.base.compiled import Resources, thread_map, worker_count
from isodepth.base.progress import progress_bar
from isodepth.geometry.regions import Nested
from isodepth.many.collections import SampleGroup
from isodepth.metric.fitted import FittedMetric
from isodepth.metric.metric import Metric
from isodepth.table.validation import check_same_width


def fit_regions(
    groups: Sequence[SampleGroup], metric: Metric, progress: bool = False
) -> tuple[FittedMetric, list[list[Nested]]]:
    """Compute the nested regions of each sample of some groups, which must be in memory.

    Return the metric with the sampled directions, and one list of regions per group. If `progress`,
    a progress bar is shown.
    """
    first, *others = groups
    for group in others:
        check_same_width(first.width, group.width, first.names[0], group.names[0])
    fitted = metric.with_directions(first.width)
    found = []
    total = sum(len(group.samples) for group in groups)
    with progress_bar(progress, total, "regions", "sample") as advance:
        for group in groups:
            nested = fitted._map(
                lambda _, sample: fitted._nest(sample), group.samples, group.names, advance
            )
            fitted._source._warn_if_uninformative(*(each.sample for each in nested))
            found.append(nested)
    return fitted, found


def fill_refined_distances(
    fitted: FittedMetric,
    rows: Sequence[Nested],
    columns: Sequence[Nested] | None,
    out: np.ndarray,
    progress: bool = False,
) -> None:
    """Write the distances between all regions of `rows` and `columns` to `out` (N, M).

    If `columns` is None, write the distances between all pairs of `rows` to `out` (N, N). If
    `progress`, a progress bar is shown.
    """
    against = rows if columns is None else columns
    pairs = [
        (i, j)
        for i in range(len(rows))
        for j in range(i + 1 if columns is None else 0, len(against))
    ]
    if columns is None:
        np.fill_diagonal(out, 0.0)
    n_points = sum(len(each.points) for each in rows) // len(rows)
    operations = len(pairs) * n_points * len(fitted.directions)
    workers = worker_count(fitted.metric.n_jobs, len(pairs) // 2, operations)
    # Threads process pairs in parallel, so each pair is processed by one thread. If there are few
    # pairs, the threads process the directions of one pair instead.
    inner = fitted
    if workers > 1:
        inner = replace(fitted, _resources=Resources(1, fitted._resources.memory_mb / workers))
    with progress_bar(progress, len(pairs), "distances", "pair") as advance:

        def fill(pair: tuple[int, int]) -> None:
            i, j = pair
            out[i, j] = inner._distance(rows[i], against[j])
            if columns is None:
                out[j, i] = out[i, j]
            advance(1)

        thread_map(fill, pairs, workers)
    if isinstance(out, np.memmap):
        out.flush()
