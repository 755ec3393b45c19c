"""Kind of change of each column: location, spread or shape, after alignment of the samples."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from isodepth.core.scaling import mad_spread
from isodepth.significance.pooled_sample import PooledSample, map_rows, rank_cosines

#: Number of cosines of the ranks of a single column.
COSINES = 6
# Columns with at most this number of distinct values are not aligned: alignment breaks ties.
_FEW_VALUES = 20
# Rows of each sample that determine the kinds.
_MAX_ROWS = 50_000
# Quantile of permuted statistics above which a difference remains after alignment.
_QUANTILE = 0.99
_LIMIT = float(np.finfo(np.float64).max) / 4


def column_kinds(
    rows: PooledSample, powers: np.ndarray, share: float = 0.0
) -> list[tuple[str, ...]]:
    """Determine the kinds of change of each column.

    A change of location is a difference that remains if only the spreads are aligned, and vanishes
    if the medians are aligned too. A change of spread is the reverse. A change of shape remains if
    both are aligned.

    Parameters
    ----------
    rows : PooledSample
    powers : ndarray of shape (6, d, B + 1)
        Squared contrasts of the cosines of the ranks of the columns, for all labelings.
    share : float
        Fraction of the rows of each sample that may be contaminated.

    Returns
    -------
    kinds : list of d tuples
        One or two of "location", "spread" and "shape", the main one first.
    """
    n_x, n = rows.permutations.n_x, len(rows.points)
    size = math.sqrt(n_x * (n - n_x) / n)
    parts = [part[:_MAX_ROWS] for part in (rows.points[:n_x], rows.points[n_x:])]
    # Contrasts grow with the root of the number of rows.
    enlarged = n / sum(map(len, parts))

    def kinds(j: int) -> tuple[str, ...]:
        # A quarter of the values: differences do not overflow.
        x, y = (0.25 * part[:, j] for part in parts)
        limit = float(np.quantile(powers[:, j].sum(axis=0), _QUANTILE))
        # Contaminated rows change the mean of a cosine by about their share.
        limit = (math.sqrt(limit) + share * size) ** 2
        location, spread, shape = _strengths(powers[:, j, 0])
        if len(np.unique(np.concatenate([x, y]))) <= _FEW_VALUES:
            return ("location",) if location >= spread else ("spread",)
        centers = np.median(x), np.median(y)
        x, y, shift = x - centers[0], y - centers[1], centers[1] - centers[0]
        units = mad_spread(x[:, None])[0], mad_spread(y[:, None])[0]
        # The shift is in units of the geometric mean of both spreads.
        common = math.sqrt(units[0]) * math.sqrt(units[1])
        a, b, shift = _divided(x, units[0]), _divided(y, units[1]), _divided(shift, common)
        neither, same_spread, same_location = (
            enlarged * _difference(*pair) for pair in ((a, b), (a, b + shift), (x, y))
        )
        total = powers[:, j, 0].sum()
        if neither > limit and neither > 0.5 * total:
            return ("shape",)
        named = [
            (strength, kind)
            for strength, kind, left in (
                (location, "location", same_spread), (spread, "spread", same_location),
            )
            if left - neither > limit
        ]  # fmt: skip
        if named:
            return tuple(kind for _, kind in sorted(named, reverse=True))
        ordered = sorted([(location, "location"), (spread, "spread"), (shape, "shape")])
        kind = ordered[-1][1]
        if kind == "shape" and neither <= limit:
            kind = ordered[-2][1]
        return (kind,)

    return map_rows(kinds, len(rows.names), n, rows.n_threads)


def _strengths(powers: np.ndarray) -> tuple[float, float, float]:
    """Return the powers that indicate location, spread and shape; rounding counts as 0."""
    rounded = np.where(powers > 1e-9 * powers.sum(), powers, 0.0)
    return rounded[0], rounded[1], rounded[2:].mean()


def _divided(values: Any, unit: float) -> Any:
    """Return values / unit, at most a quarter of the maximum float, so that sums are finite."""
    with np.errstate(over="ignore"):
        return np.clip(values / unit, -_LIMIT, _LIMIT)


def _difference(x: np.ndarray, y: np.ndarray) -> float:
    """Return the sum of squared contrasts of the cosines of the pooled ranks of two columns."""
    cosines = rank_cosines(np.concatenate([x, y])[None], COSINES)[:, 0]
    means = [part.mean(axis=1, dtype=np.float64) for part in np.split(cosines, [len(x)], axis=1)]
    return float(np.square(means[0] - means[1]).sum() * len(x) * len(y) / (len(x) + len(y)))
