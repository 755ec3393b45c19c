"""Distances of many pairs of small samples, with the regions of each sample computed once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from isodepth.base.compiled import Resources, thread_count, thread_map
from isodepth.metric.metric import Metric
from isodepth.table.arrays import precision_of

# Number of pairs that a thread processes per task.
_BLOCK = 16


def pair_distances(
    clouds: Sequence[Any], pairs: Sequence[tuple[int, int]], metric: Metric
) -> np.ndarray:
    """Return the distance DR between the depth-trimmed regions of each pair of samples.

    The distances equal those of `metric.distance`, but are computed faster: directions are sampled
    once, and the regions of each sample are computed once. The distance of a pair does not depend
    on the other pairs.

    Parameters
    ----------
    clouds : sequence of N float32 or float64 arrays of shape (n, d)
    pairs : sequence of P pairs of indices into `clouds`
    metric : Metric
        Settings of the distance, with an integer `random_state`.

    Returns
    -------
    distances : float64 ndarray of shape (P,)

    Examples
    --------
    >>> import numpy as np
    >>> from isodepth import Metric
    >>> from isodepth.text.pairs import pair_distances
    >>> X = np.random.default_rng(7).normal(size=(10, 50))
    >>> metric = Metric(depth="irw", gap="exact", random_state=0)
    >>> pair_distances([X, X + 1.0], [(0, 0), (0, 1)], metric).round(6)
    array([0.      , 7.071068])
    """
    distinct = sorted({(min(pair), max(pair)) for pair in pairs})
    if not distinct:
        return np.empty(0)
    used = sorted({i for pair in distinct for i in pair})
    samples = [clouds[i] for i in used]
    dtype = metric.dtype or precision_of(samples[0])
    fitted = metric.with_directions(samples[0].shape[1], dtype=dtype)
    regions = dict(zip(used, fitted.all_regions(samples), strict=True))
    blocks = [distinct[start : start + _BLOCK] for start in range(0, len(distinct), _BLOCK)]
    threads = min(thread_count(metric.n_jobs), len(blocks))
    # Each distance is computed by one thread, because samples of a few dozen points are too small
    # for several threads.
    resources = Resources(1, fitted._resources.memory_mb / threads)
    single_threaded = replace(fitted, _resources=resources)

    def block_distances(block: list[tuple[int, int]]) -> list[float]:
        return [single_threaded.distance(regions[i], regions[j]) for i, j in block]

    distances = np.concatenate(thread_map(block_distances, blocks, threads))
    index = {pair: position for position, pair in enumerate(distinct)}
    return distances[[index[min(pair), max(pair)] for pair in pairs]]
