"""The integral over beta: which levels to look at, and how to average what is found there."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from isodepth.core.regions import TrimmedRegions
from isodepth.engine.powers import GEOMETRIC_POWER, SMALL_POWER, TINIEST
from isodepth.engine.threads import Resources, fold_blocks, worker_count

SLIVER = 1e-14
# So many breakpoints stay in the cache.
_MERGED_TOGETHER = 1 << 13
# Merging one takes about as long as projecting so many numbers.
_MERGING = 16
_ALONE = Resources(n_jobs=1)
_ZERO = np.zeros(1)


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


def exact_plan(
    x: TrimmedRegions, y: TrimmedRegions, eps: float, resources: Resources = _ALONE
) -> LevelPlan:
    """All pieces of [0, 1 - eps] on which both regions stay the same."""
    end = 1.0 - eps
    # In floats 1 - 0.3 lies past 7/10: a breakpoint that close is the end, not one more piece.
    last = end * (1.0 - SLIVER)
    stop_x, stop_y = int(x.masses.searchsorted(last)), int(y.masses.searchsorted(last))
    n_parts = (stop_x + stop_y) // _MERGED_TOGETHER
    if n_parts < 2:
        starts, stops_x, stops_y = _merged(x, y, slice(0, stop_x), slice(0, stop_y))
    else:
        parts = _merged_in_parts(x, y, stop_x, stop_y, n_parts, resources)
        starts, stops_x, stops_y = (np.concatenate(each) for each in zip(*parts, strict=True))
    ends = np.append(starts[1:], end)
    # With eps = 1 the interval is the single level 0, where the average is the value.
    shares = (ends - starts) / end if end > 0 else np.ones(1)
    return LevelPlan(np.stack([starts, ends], axis=1), shares, stops_x, stops_y)


_Merged: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]


def _merged(x: TrimmedRegions, y: TrimmedRegions, of_x: slice, of_y: slice) -> _Merged:
    """Some breakpoints of both sides, rising, each once, and how many points lie inside there."""
    masses_x, masses_y = x.masses[of_x], y.masses[of_y]
    # Masses are positive, so 0 is never among them: it is where the first piece begins.
    inner = np.concatenate([_ZERO[of_x.start + of_y.start :], masses_x, masses_y])
    # Two rising lists one after the other, which this kind of sort only has to merge.
    inner.sort(kind="stable")
    fresh = np.ones(len(inner), dtype=bool)
    np.not_equal(inner[1:], inner[:-1], out=fresh[1:])
    starts = inner[fresh]
    inside_x = x.counts[of_x.start :][masses_x.searchsorted(starts, side="right")]
    inside_y = y.counts[of_y.start :][masses_y.searchsorted(starts, side="right")]
    return starts, inside_x, inside_y


def _merged_in_parts(
    x: TrimmedRegions,
    y: TrimmedRegions,
    stop_x: int,
    stop_y: int,
    n_parts: int,
    resources: Resources,
) -> list[_Merged]:
    """The same for all breakpoints up to the given ones, cut up by their values."""
    longer = x.masses[:stop_x] if stop_x >= stop_y else y.masses[:stop_y]
    # Equal breakpoints are in one part.
    cuts = longer[[i * len(longer) // n_parts for i in range(1, n_parts)]]
    from_x = [0, *x.masses.searchsorted(cuts).tolist(), stop_x]
    from_y = [0, *y.masses.searchsorted(cuts).tolist(), stop_y]
    parts: list[Any] = [None] * n_parts

    def merge(_: None, i: int) -> None:
        parts[i] = _merged(x, y, slice(from_x[i], from_x[i + 1]), slice(from_y[i], from_y[i + 1]))

    workers = worker_count(resources.n_jobs, n_parts, _MERGING * (stop_x + stop_y))
    fold_blocks(range(n_parts), lambda: None, merge, workers)
    return parts


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
