"""The integral over beta: which levels to look at, and how to average what is found there."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from isodepth.core.regions import TrimmedRegions
from isodepth.engine.powers import GEOMETRIC_POWER, SMALL_POWER, TINIEST

SLIVER = 1e-14


@dataclass(frozen=True, eq=False)
class LevelPlan:
    """The levels at which two samples are compared.

    Attributes
    ----------
    levels : ndarray of shape (L, 2) or (L,)
        The pieces [start, stop) of [0, 1 - eps] on which nothing changes, or single levels.
    shares : ndarray of shape (L,)
        How much of the interval each stands for; they add up to 1.
    stops_x, stops_y : ndarrays of shape (L,)
        How many of the ordered points of each sample lie inside.
    """

    levels: np.ndarray
    shares: np.ndarray
    stops_x: np.ndarray
    stops_y: np.ndarray


def exact_plan(x: TrimmedRegions, y: TrimmedRegions, eps: float) -> LevelPlan:
    """All pieces of [0, 1 - eps] on which both regions stay the same."""
    from isodepth.engine.compiled.level_merge import merge_levels

    end = 1.0 - eps
    # In floats 1 - 0.3 lies past 7/10: a breakpoint that close is the end, not one more piece.
    last = end * (1.0 - SLIVER)
    # Masses are positive, so 0 is never among them: it is where the first piece begins.
    most = 1 + int(x.masses.searchsorted(last)) + int(y.masses.searchsorted(last))
    levels, shares = np.empty((most, 2)), np.empty(most)
    stops = np.empty((2, most), dtype=np.int64)
    count = merge_levels(
        x.masses, x.counts, y.masses, y.counts, end, last, levels, shares, stops[0], stops[1]
    )
    return LevelPlan(levels[:count], shares[:count], stops[0, :count], stops[1, :count])


def level_plan(x: TrimmedRegions, y: TrimmedRegions, betas: np.ndarray) -> LevelPlan:
    """Given levels (L,), each standing for an equal share."""
    betas = np.sort(betas)
    shares = np.full(len(betas), 1.0 / len(betas))
    return LevelPlan(betas, shares, x.stops(betas), y.stops(betas))


def midpoint_levels(n_levels: int, eps: float) -> np.ndarray:
    """Midpoints of `n_levels` equal parts of [0, 1 - eps]."""
    return (np.arange(n_levels) + 0.5) / n_levels * (1.0 - eps)


def power_mean(gaps: np.ndarray, shares: np.ndarray, p: float, length: float = 1.0) -> float:
    """(length * sum of shares * gaps**p) ** (1/p); the largest gap for p = inf.

    Gaps are divided by the largest first, so that no power overflows or vanishes. As p falls to 0
    the mean tends to the geometric one: 0 where a gap is 0, and with a length below 1.
    """
    largest = float(gaps.max())
    if largest == 0 or math.isinf(p):
        return largest
    ratios = gaps / largest
    if p < SMALL_POWER:
        return largest * _small_power_mean(gaps, ratios, shares, p, length)
    return largest * (length * float(shares @ ratios**p)) ** (1.0 / p)


def _small_power_mean(
    gaps: np.ndarray, ratios: np.ndarray, shares: np.ndarray, p: float, length: float
) -> float:
    """(length * sum of shares * ratios**p) ** (1/p) for p so small that the powers are near 1.

    The root magnifies what rounding does to their sum by 1/p, so that only its distance from 1 is
    added up, and the root is taken of logarithms.
    """
    if length == 0:
        return 0.0
    with np.errstate(divide="ignore"):
        # A quotient may vanish though the gap does not.
        apart = np.log(gaps.astype(np.float64)) - math.log(gaps.max())
        logs = np.where(ratios < TINIEST, apart, np.log(ratios.astype(np.float64)))
    if p < GEOMETRIC_POWER:
        mean = float(shares @ logs)
        return math.exp(mean) if length == 1 else 0.0
    below = float(shares @ np.expm1(p * logs))
    # Where half of the mass has no gap, nothing is close to 1 and nothing cancels.
    log_sum = math.log1p(below) if below > -0.5 else math.log(float(shares @ np.exp(p * logs)))
    return math.exp((log_sum + math.log(length)) / p)
