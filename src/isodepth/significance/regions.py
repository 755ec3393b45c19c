"""DR between the regions of the two parts of a pooled sample, for every labeling."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from isodepth import _core
from isodepth.core.directions import mean_of_direction
from isodepth.core.levels import midpoint_levels
from isodepth.metric.base import BaseMetric
from isodepth.significance.aggregated import Rows
from isodepth.significance.permutations import WORD

if TYPE_CHECKING:
    from isodepth.significance.settings import Settings

# Labelings of one call, between which progress is shown: whole words of labels.
_LABELINGS = 4 * WORD


def region_statistics(rows: Rows, given: Settings, advance: Callable[[int], None]) -> np.ndarray:
    """DR with the projection depth for all labelings (B + 1,).

    The mean over directions is a plain one: the factor that makes a translation by m have distance
    |m| is the caller's.
    """
    count, words = rows.permutations.count, rows.permutations.words
    betas = midpoint_levels(given.levels, given.eps)
    out = np.empty(count)
    for first in range(0, count, _LABELINGS):
        last = min(first + _LABELINGS, count)
        out[first:last] = _core.label_distances(
            rows.points, rows.directions, words[first // WORD :], last - first, betas, given.q,
            given.p, rows.n_threads,
        )  # fmt: skip
        advance(last - first)
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
