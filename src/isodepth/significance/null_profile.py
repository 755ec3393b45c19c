"""Distances between the trimmed regions of two samples with permuted labels."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from isodepth.base.seeds import rng_for
from isodepth.metric.comparison import Comparison
from isodepth.metric.fitted import FittedMetric
from isodepth.metric.settings import midpoint_levels
from isodepth.significance.permutations import Permutations

# Number of levels of the gaps.
_LEVELS = 20
# Minimum and maximum number of permutations in `null_profile`. The 0.05 and 0.95 quantiles of 19
# numbers are their minimum and maximum. More than 99 permutations hardly change these quantiles.
_FEWEST, _MOST = 19, 99
# Maximum number of projections of a row on a direction in `null_profile`, for all permutations
# together. It limits the time to a few seconds. If 19 permutations need more, 19 are used.
_WORK = 1 << 27


class NullProfile(NamedTuple):
    """Distances between the trimmed regions of two samples after permutation of the labels.

    Attributes
    ----------
    levels : ndarray of shape (L,)
        Levels of the compared regions.
    gaps : ndarray of shape (B, L)
        Gap of each of B permutations at each level: the distance between both regions.
    distances : ndarray of shape (B,)
        Distance DR of each permutation, the power mean of its gaps.
    """

    levels: np.ndarray
    gaps: np.ndarray
    distances: np.ndarray

    @property
    def band(self) -> tuple[np.ndarray, np.ndarray]:
        """The 0.05 and 0.95 quantiles of the gaps at each level, as two arrays of shape (L,)."""
        low, high = np.quantile(self.gaps, [0.05, 0.95], axis=0, method="weibull")
        return low, high


def null_profile(
    comparison: Comparison, blocks: np.ndarray | None, most: int, count: int | None = None
) -> NullProfile:
    """Compute the gaps between the regions of two samples after permutations of their labels.

    The settings are those of `comparison`, except that gaps are computed at 20 fixed levels. The
    number of permutations is `count`. If it is None, it is 19 to 99, chosen so that the computation
    takes a few seconds, but at most `most`. Each call uses the same permutations. The samples of n
    and m rows have no weights. `blocks` (n + m,) has the index of the block of each row; None if
    every row is a block.
    """
    x, y = (regions.points for regions in comparison.regions)
    points = np.concatenate([x, y])
    fitted: FittedMetric = comparison._fitted
    levels = midpoint_levels(_LEVELS, fitted.metric.eps)
    fitted = replace(fitted, _betas=levels)
    affordable = _WORK // (len(points) * len(fitted.directions))
    count = count or min(most, max(_FEWEST, min(_MOST, affordable)))
    rng = rng_for(0, "permutations")
    labels = Permutations.draw(len(x), len(y), count, rng, blocks).labels(dtype=bool)
    gaps, distances = np.empty((count, _LEVELS)), np.empty(count)
    for b, first in enumerate(labels.T[1:]):
        compared = fitted._gaps(*map(fitted._nest_rows, (points[first], points[~first])))
        gaps[b] = compared.values
        distances[b] = fitted._mean(compared.values, compared.plan)
    return NullProfile(levels, gaps, distances)
