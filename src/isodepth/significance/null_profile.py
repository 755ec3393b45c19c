"""NullProfile: gaps of a comparison at each level under permuted labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from isodepth.core.directions import rng_for
from isodepth.core.regions import Sample, TrimmedRegions, midpoint_levels
from isodepth.data.results import ResultMixin, plain
from isodepth.metric.comparison import Comparison
from isodepth.metric.fitted import FittedMetric
from isodepth.significance.pooled_sample import Permutations

_LEVELS = 20
# The quantiles 0.05 and 0.95 of 19 numbers are their minimum and maximum. More than 99 permutations
# hardly change the band.
_FEWEST, _MOST = 19, 99
# Projections of all permutations together: a few seconds.
_WORK = 1 << 27


@dataclass(frozen=True, eq=False)
class NullProfile(ResultMixin):
    """Gaps of the same rows under permuted labels, with the settings of a comparison.

    Attributes
    ----------
    levels : ndarray of shape (L,)
    gaps : ndarray of shape (B, L)
        One row per permutation.
    distances : ndarray of shape (B,)
        Distance of each permutation.
    """

    levels: np.ndarray
    gaps: np.ndarray
    distances: np.ndarray

    @property
    def expected(self) -> float:
        """Mean distance under permuted labels."""
        return float(self.distances.mean())

    @property
    def band(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper limits (L,), (L,) of the central 90% of the gaps at each level."""
        low, high = np.quantile(self.gaps, [0.05, 0.95], axis=0, method="weibull")
        return low, high

    def to_dict(self) -> dict[str, Any]:
        """Levels, band, and the expected distance."""
        low, high = self.band
        return plain(
            {"levels": self.levels, "low": low, "high": high, "expected": self.expected,
             "n_permutations": len(self.distances)}
        )  # fmt: skip

    def _rows(self) -> dict[str, list[Any]]:
        low, high = self.band
        return {"level": self.levels.tolist(), "low": low.tolist(), "high": high.tolist()}

    def __str__(self) -> str:
        return (
            f"NullProfile: distance {self.expected:.4g} on average over {len(self.distances)} "
            f"permutations, {len(self.levels)} levels"
        )


def null_profile(
    comparison: Comparison, blocks: np.ndarray | None = None, most: int = _MOST
) -> NullProfile:
    """Compare the rows of a comparison again under permuted labels, with the same settings.

    Levels are a fixed grid. The number of permutations, 19 to 99 and at most `most`, is chosen to
    take a few seconds. Each call uses the same permutations.

    Parameters
    ----------
    comparison : Comparison, without weights
    blocks : int64 ndarray of shape (n + m,) or None
        Indices of the blocks that are permuted as a whole.
    most : int
        Maximum number of permutations.
    """
    x, y = (regions.points for regions in comparison.regions)
    drawn: FittedMetric = comparison._fitted
    drawn = replace(drawn, betas=midpoint_levels(_LEVELS, drawn.settings.eps))
    points = np.concatenate([x, y])
    affordable = _WORK // (len(points) * len(drawn.directions))
    count = min(most, max(_FEWEST, min(_MOST, affordable)))
    drawn_labels = Permutations(len(x), len(y), count, rng_for(0, "permutations"), blocks)
    gaps, distances = np.empty((count, _LEVELS)), np.empty(count)
    for b, first in enumerate(drawn_labels.labels(dtype=bool).T[1:]):
        found = drawn.gaps(_fit(drawn, points[first]), _fit(drawn, points[~first]))
        gaps[b] = found.values
        distances[b] = drawn.mean(found.values, found.plan)
    return NullProfile(drawn.betas, gaps, distances)  # type: ignore[arg-type]


def _fit(drawn: FittedMetric, points: np.ndarray) -> TrimmedRegions:
    return drawn.fit_regions(points, None, None, Sample.of(points, None, resources=drawn.resources))
