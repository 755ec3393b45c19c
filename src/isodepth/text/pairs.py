"""Distances of many pairs of small clouds: each cloud becomes regions once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from isodepth.api import Metric
from isodepth.core.regions import LevelPlan, TrimmedRegions
from isodepth.engine import Resources, thread_map
from isodepth.hull import coordinates_in_span, hausdorff_levels
from isodepth.metric.fitted import FittedMetric

_BLOCK = 16


def pair_distances(
    clouds: Sequence[Any], pairs: Sequence[tuple[int, int]], metric: Metric, device: str = "cpu"
) -> np.ndarray:
    """DR between the clouds of each pair.

    The same numbers as from `metric.distance` for each pair, in less time: directions are sampled
    once and every cloud is fitted once. A number does not depend on the other pairs.

    Parameters
    ----------
    clouds : sequence of N float32 or float64 arrays of shape (n, d)
    pairs : sequence of P pairs of indices into `clouds`
    metric : Metric
        With an integer `random_state`.
    device : str
        Where the depths of clouds of a few points are computed, such as "cuda".

    Returns
    -------
    distances : float64 ndarray of shape (P,)

    Examples
    --------
    >>> import numpy as np
    >>> from isodepth import Metric
    >>> from isodepth.text.pairs import pair_distances
    >>> X = np.random.default_rng(0).normal(size=(10, 50))
    >>> metric = Metric(depth="irw", gap="exact", random_state=0)
    >>> pair_distances([X, X + 1.0], [(0, 0), (0, 1)], metric).round(6)
    array([0.      , 7.071068])
    """
    distinct = sorted({(min(pair), max(pair)) for pair in pairs})
    if not distinct:
        return np.empty(0)
    wanted = sorted({i for pair in distinct for i in pair})
    chosen = [clouds[i] for i in wanted]
    drawn = metric.fit(chosen[0].shape[1], metric.dtype or str(chosen[0].dtype))
    if device.startswith("cpu"):
        fitted = drawn.all_regions(chosen)
    else:
        from isodepth.text.on_device import regions_on_device

        fitted = regions_on_device(drawn, chosen, device)
    regions = dict(zip(wanted, fitted, strict=True))
    # One core a pair: threads inside would cost more than they save on a few dozen points.
    alone = replace(drawn, options={**drawn.options, "n_jobs": 1})

    def distances_of(some: list[tuple[int, int]]) -> list[float]:
        return [0.0 if i == j else _distance(regions[i], regions[j], alone) for i, j in some]

    blocks = [distinct[at : at + _BLOCK] for at in range(0, len(distinct), _BLOCK)]
    threads = min(Resources(metric.n_jobs).n_threads, len(blocks))
    found = np.concatenate(thread_map(distances_of, blocks, threads))
    where = {pair: at for at, pair in enumerate(distinct)}
    return found[[where[min(pair), max(pair)] for pair in pairs]]


def _distance(x: TrimmedRegions, y: TrimmedRegions, drawn: FittedMetric) -> float:
    if drawn.options["gap"] != "exact":
        return drawn.distance(x, y)
    plan = drawn.plan(x, y)
    return drawn.mean(_hull_gaps(x, y, plan), plan)


def _hull_gaps(x: TrimmedRegions, y: TrimmedRegions, plan: LevelPlan) -> np.ndarray:
    """Exact gaps, in the few coordinates that the points of both span."""
    first, second, sizes = x.ordered, y.ordered, (plan.prefix_sizes_x, plan.prefix_sizes_y)
    # Rounding differs between (x, y) and (y, x): always take them in one order.
    if first.tobytes() > second.tobytes():
        first, second, sizes = second, first, sizes[::-1]
    a, b = span_coordinates(first, second)
    return hausdorff_levels(a, b, *sizes)[0]


def span_coordinates(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both sets of points in one frame of their own, with all distances kept.

    N points span at most N - 1 dimensions. The triangle of a QR factorization holds their
    coordinates; its orthonormal factor, most of the work, is not needed.

    Parameters
    ----------
    first, second : arrays of shape (n, d) and (m, d)

    Returns
    -------
    arrays of shape (n, r) and (m, r), r <= n + m - 1; equal points have equal coordinates
    """
    points = np.concatenate([first, second]).astype(np.float64)
    if points.shape[1] < len(points):
        return points[: len(first)], points[len(first) :]
    distinct, place = np.unique(points, axis=0, return_inverse=True)
    coordinates = np.zeros((len(distinct), max(1, len(distinct) - 1)))
    if len(distinct) > 1:
        # The first point is the origin of the frame.
        coordinates[1:] = coordinates_in_span(distinct[1:] - distinct[0])
    coordinates = coordinates[place.ravel()]
    return coordinates[: len(first)], coordinates[len(first) :]
