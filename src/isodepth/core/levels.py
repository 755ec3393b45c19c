"""The integral over beta: the levels at which regions are compared, and the mean over them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isodepth import _core as core
from isodepth.core.regions import TrimmedRegions

SLIVER = 1e-14
#: Below this power a direct sum of powers is not right to 1e-13.
SMALL_POWER = 1e-3


@dataclass(frozen=True, eq=False)
class LevelPlan:
    """The levels at which two samples are compared.

    Attributes
    ----------
    levels : ndarray of shape (L, 2) or (L,)
        The pieces [start, stop) of [0, 1 - eps] on which nothing changes, or single levels.
    shares : ndarray of shape (L,)
        The share of the interval that each represents; they add up to 1.
    prefix_sizes_x, prefix_sizes_y : int64 ndarrays of shape (L,)
        How many of the ordered points of each sample lie inside.
    """

    levels: np.ndarray
    shares: np.ndarray
    prefix_sizes_x: np.ndarray
    prefix_sizes_y: np.ndarray

    @property
    def prefix_sizes(self) -> tuple[np.ndarray, np.ndarray]:
        """The prefix sizes of both samples."""
        return self.prefix_sizes_x, self.prefix_sizes_y


def exact_plan(x: TrimmedRegions, y: TrimmedRegions, eps: float) -> LevelPlan:
    """All pieces of [0, 1 - eps] on which both regions stay the same."""
    end = 1.0 - eps
    # In floats 1 - 0.3 lies past 7/10: a breakpoint that close is the end, not one more piece.
    last = end * (1.0 - SLIVER)
    return LevelPlan(*core.merge_levels(x.masses, x.counts, y.masses, y.counts, end, last))


def level_plan(x: TrimmedRegions, y: TrimmedRegions, betas: np.ndarray) -> LevelPlan:
    """Given levels (L,), each of the same share."""
    betas = np.sort(betas)
    shares = np.full(len(betas), 1.0 / len(betas))
    return LevelPlan(betas, shares, x.prefix_sizes(betas), y.prefix_sizes(betas))


def midpoint_levels(n_levels: int, eps: float) -> np.ndarray:
    """Midpoints of `n_levels` equal parts of [0, 1 - eps]."""
    return (np.arange(n_levels) + 0.5) / n_levels * (1.0 - eps)


def power_mean(gaps: np.ndarray, shares: np.ndarray, p: float, length: float = 1.0) -> float:
    """(length * sum of shares * gaps**p) ** (1/p); the largest gap for p = inf.

    Gaps are divided by the largest first, so that no power overflows or vanishes. As p falls to 0
    the mean tends to the geometric one: 0 where a gap is 0, and with a length below 1.

    Examples
    --------
    >>> import numpy as np
    >>> power_mean(np.array([3.0, 4.0]), np.array([0.5, 0.5]), p=1)
    3.5
    """
    values, weights = (np.ascontiguousarray(a, dtype=np.float64) for a in (gaps, shares))
    return core.power_mean(values, weights, p, length)
