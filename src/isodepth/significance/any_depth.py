"""The distance of the two parts for any depth: regions are fitted anew for every relabeling."""

from __future__ import annotations

from typing import Any

import numpy as np

from isodepth.core.levels import midpoint_levels
from isodepth.core.sphere import mean_of_direction
from isodepth.metric.base import BaseMetric
from isodepth.metric.fitted import FittedMetric
from isodepth.significance.relabelings import WORD
from isodepth.significance.split_statistics import Split, SplitStatistics


def depth_statistics(split: Split, depth: Any, eps: float, levels: int) -> SplitStatistics:
    """DR between the regions of the two parts, as `Metric` has it.

    Parameters
    ----------
    split : Split
    depth : str, estimator or callable
    eps : float
    levels : int
    """
    d = split.points.shape[1]
    metric = BaseMetric(
        depth=depth, q=split.q, p=split.p, eps=eps, levels=levels, directions=split.directions,
        refine=0, random_state=0, **split.resources._asdict(),
    )  # fmt: skip
    drawn = metric.fit(d)
    betas = midpoint_levels(levels, eps)
    out, axes = np.empty(split.count), np.empty((split.count, d))
    for first, words in split.rounds():
        for b in range(min(split.count - first, WORD * len(words))):
            mine = (words[b // WORD] >> (b % WORD)) & 1 != 0
            x, y = drawn.all_regions([split.points[mine], split.points[~mine]])
            out[first + b] = drawn.distance(x, y) * mean_of_direction(d, split.q)
            axes[first + b] = _axis_gaps(drawn, x, y, betas, split.q)
            split.advance(1)
    return SplitStatistics(float(out[0]), out[1:], axes[0], axes[1:])


def _axis_gaps(drawn: FittedMetric, x: Any, y: Any, betas: np.ndarray, q: float) -> np.ndarray:
    """The gap along each axis and its opposite alone, over all levels, of shape (d,)."""
    d = x.n_features
    signed = np.concatenate([np.eye(d), -np.eye(d)])
    apart = np.abs(x.support(signed, betas) - y.support(signed, betas))
    both = np.stack([apart[:, :d], apart[:, d:]])
    if np.isinf(q):
        gaps = both.max(axis=0)
    else:
        gaps = np.mean(both**q, axis=0) ** (1.0 / q)
    plan = drawn.plan(x, y)
    return np.array([drawn.mean(gaps[:, j], plan) for j in range(d)])
