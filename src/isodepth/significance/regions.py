"""DR between the regions of the two parts of a pooled sample, for every labeling."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from isodepth.core.levels import midpoint_levels
from isodepth.core.sphere import mean_of_direction
from isodepth.metric.base import BaseMetric
from isodepth.significance.aggregated import Rows

if TYPE_CHECKING:
    from isodepth.significance.settings import Settings

_DIRECTIONS, _LABELINGS = 8, 16


def region_statistics(
    rows: Rows, given: Settings, advance: Callable[[int], None]
) -> np.ndarray:
    """DR with the projection depth for all labelings (B + 1,).

    The mean over directions is a plain one: the factor that makes a translation by m have distance
    |m| is the caller's.
    """
    from isodepth.engine.compiled.sorting import sort_workspace
    from isodepth.engine.threads import fold_blocks, worker_count
    from isodepth.significance.center_loops import centers_along
    from isodepth.significance.label_bits import bit_room
    from isodepth.significance.region_loops import split_distances, split_room

    points, directions = rows.points, rows.directions
    n, k = len(points), len(directions)
    count = rows.permutations.count
    words = rows.permutations.words.view(np.int64)
    betas = midpoint_levels(given.levels, given.eps)
    typical = float(np.median(np.abs(points).max(axis=1)))
    zero = 8 * float(np.finfo(np.float64).eps) * points.shape[1] * typical
    projections = np.empty((n, k))
    centers, scales = np.empty((count, 2, k)), np.empty((count, 2, k))
    blocks = [slice(i, min(i + _DIRECTIONS, k)) for i in range(0, k, _DIRECTIONS)]

    def start() -> Any:
        return (sort_workspace(n, np.float64), bit_room(n), np.empty(n), np.empty((count, 2)),
                np.empty((count, 2)))  # fmt: skip

    def step(state: Any, which: slice) -> None:
        *workspace, center, scale = state
        values = rows.along(directions[which])
        projections[:, which] = values.T
        for row, at in zip(values, range(which.start, which.stop), strict=True):
            centers_along(row, words, count, zero, *workspace, center, scale)
            centers[:, :, at] = center
            scales[:, :, at] = scale

    fold_blocks(blocks, start, step, worker_count(given.n_jobs, len(blocks), n * k * 64))
    out, axes = np.empty(count), np.empty((count, points.shape[1]))
    tasks = [slice(i, min(i + _LABELINGS, count)) for i in range(0, count, _LABELINGS)]

    def measure(room: Any, which: slice) -> None:
        split_distances(
            projections, words, which.start, which.stop, centers, scales, betas, float(given.q),
            float(given.p), room, out, axes,
        )  # fmt: skip
        advance(which.stop - which.start)

    fold_blocks(tasks, lambda: split_room(n, k, len(betas)), measure,
                worker_count(given.n_jobs, len(tasks), n * k * count))  # fmt: skip
    return out


def depth_statistics(rows: Rows, given: Settings, advance: Callable[[int], None]) -> np.ndarray:
    """DR with any depth for all labelings (B + 1,): regions are fitted anew for every one."""
    metric = BaseMetric(
        depth=given.depth, q=given.q, p=given.p, eps=given.eps, levels=given.levels,
        directions=rows.directions, refine=0, random_state=0, n_jobs=given.n_jobs,
    )  # fmt: skip
    d = rows.points.shape[1]
    drawn = metric.fit(d)
    out = np.empty(rows.permutations.count)
    for labelings, labels in rows.permutations.blocks_of_labelings(bool):
        for b, mine in zip(range(labelings.start, labelings.stop), labels.T, strict=True):
            x, y = drawn.all_regions([rows.points[mine], rows.points[~mine]])
            out[b] = drawn.distance(x, y) * mean_of_direction(d, given.q)
            advance(1)
    return out
