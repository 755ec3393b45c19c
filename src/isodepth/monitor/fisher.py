"""Fisher's exact test for many counts at once, in logarithms.

Of n reference rows `a` have a property, of m new rows `b`. If all rows are exchangeable, `b` given
a + b is hypergeometric. The logarithm of its probability comes from Loader's decomposition: the
deviance of the 2 x 2 table and Stirling corrections, which neither overflow nor cancel. The tail
follows by the recurrence of the probabilities. Absolute errors of the logarithm stay below 1e-10
for up to 1e9 rows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

# log(x!) - x log x + x for small x.
_SMALL = np.array([0.0, *(math.lgamma(x + 1.0) - x * math.log(x) + x for x in range(1, 16))])
# Terms of a tail are summed in blocks that grow up to this number of numbers.
_BLOCK = 1 << 19
# With a cap of 0.01 or less, p-values of counts within sqrt(log(1 / cap)) standard deviations are
# set to 1 without a sum. Normal p-values of such counts are above the cap; an error would make a
# p-value too large, never too small.
_UNREACHED = 0.01


def log_pvalues(a: np.ndarray, n: int, b: np.ndarray, m: int, cap: float = 1.0) -> np.ndarray:
    """Return logarithms of two-sided p-values, twice the smaller tail and at most 1.

    Parameters
    ----------
    a, b : integer ndarrays of shape (H,)
        Rows with a property, of n and of m rows.
    n, m : int
    cap : float in (0, 1]
        p-values of at least `cap` are returned as 1. Their tails need not be summed to the end.

    Returns
    -------
    logs : ndarray of shape (H,)

    Examples
    --------
    >>> import numpy as np
    >>> np.exp(log_pvalues(np.array([1, 50]), 100, np.array([8, 6]), 12)).round(12)
    array([1.8098e-08, 1.0000e+00])
    """
    a, b = np.asarray(a, np.int64), np.asarray(b, np.int64)
    if cap <= _UNREACHED:
        unusual = np.flatnonzero(_squared_deviation(a, n, b, m) > -math.log(cap))
        logs = np.zeros(len(a))
        if len(unusual):
            logs[unusual] = _all_log_pvalues(a[unusual], n, b[unusual], m, cap)
        return logs
    return _all_log_pvalues(a, n, b, m, cap)


def _all_log_pvalues(a: np.ndarray, n: int, b: np.ndarray, m: int, cap: float) -> np.ndarray:
    # Counting the rows without the property turns a lower tail into an upper one.
    lower = b * n < a * m
    a, b = np.where(lower, n - a, a), np.where(lower, m - b, b)
    log_pmf = _log_pmf(a, n, b, m)
    total = _tail_ratio(a, n, b, m, log_pmf, cap)
    with np.errstate(over="ignore", divide="ignore"):
        logs = log_pmf + np.log(total)
        # The other tail is smaller only if both are near 1/2.
        other = 1.0 - np.exp(logs) + np.exp(log_pmf)
        logs = np.where(other < np.exp(logs), np.log(np.maximum(other, 1e-300)), logs)
    logs = np.where(np.isfinite(total), logs + math.log(2.0), 0.0)
    return np.where(logs >= math.log(cap), 0.0, logs)


def tolerant_log_pvalues(
    a: np.ndarray, n: int, b: np.ndarray, m: int, dirty: int, cap: float = 1.0
) -> np.ndarray:
    """Return logarithms of the largest p-values if `dirty` of the m new rows may be anything.

    The other m - dirty rows have the property between max(b - dirty, 0) and min(b, m - dirty)
    times. One more row with the property lowers the upper tail and raises the lower one: the
    hypergeometric count grows by at most 1. So the p-value has one maximum over these counts, near
    the expected count, and steps uphill reach it.
    """
    if dirty == 0:
        return log_pvalues(a, n, b, m, cap)
    a, b, clean = np.asarray(a, np.int64), np.asarray(b, np.int64), m - dirty
    low, high = np.maximum(b - dirty, 0), np.minimum(b, clean)
    at = np.clip(np.rint(a * (clean / n)).astype(np.int64), low, high)
    logs = log_pvalues(a, n, at, clean, cap)
    for step in (1, -1):
        active = np.flatnonzero(logs < 0)
        while len(active):
            further = at[active] + step
            active = active[(further >= low[active]) & (further <= high[active])]
            tried = log_pvalues(a[active], n, at[active] + step, clean, cap)
            better = tried > logs[active]
            active = active[better]
            at[active] += step
            logs[active] = tried[better]
    return logs


def _squared_deviation(a: np.ndarray, n: int, b: np.ndarray, m: int) -> np.ndarray:
    """Squared difference of b from its expected value, in variances."""
    total = float(n + m)
    both = (a + b).astype(np.float64)
    variance = both * (total - both) * (n / total) * (m / total) / max(total - 1.0, 1.0)
    apart = (b * float(n) - a * float(m)) / total
    return np.divide(apart**2, variance, out=np.zeros(len(a)), where=variance > 0)


def _log_pmf(a: np.ndarray, n: int, b: np.ndarray, m: int) -> np.ndarray:
    """Logarithm of the hypergeometric probability of b, given a + b."""
    total = n + m
    both = a + b
    # Observed less expected count: the same in all four cells, but for its sign.
    apart = (b * n - a * m) / total
    logs = _correction(np.float64(m)) + _correction(np.float64(n)) - _correction(np.float64(total))
    logs = logs + _correction(both) + _correction(total - both)
    for cell, rows, margin, sign in (
        (b, m, both, 1), (m - b, m, total - both, -1),
        (a, n, both, -1), (n - a, n, total - both, 1),
    ):  # fmt: skip
        expected = margin * (rows / total)
        share = np.divide(sign * apart, expected, out=np.zeros(len(a)), where=expected > 0)
        grown = np.maximum(share, -1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            own = np.where(cell > 0, (1.0 + grown) * np.log1p(grown), 0.0) - grown
        logs = logs - expected * own - _correction(cell)
    return np.minimum(logs, 0.0)


def _correction(count: Any) -> np.ndarray:
    """log(x!) - x log x + x, and 0 for x = 0."""
    x = np.maximum(np.asarray(count, np.float64), 1.0)
    inverse = 1.0 / (x * x)
    series = (
        1 / 12 - inverse * (1 / 360 - inverse * (1 / 1260 - inverse * (1 / 1680 - inverse / 1188)))
    ) / x
    large = series + 0.5 * np.log(2.0 * math.pi * x)
    small = _SMALL[np.minimum(count, len(_SMALL) - 1).astype(np.int64)]
    return np.where(np.asarray(count) < len(_SMALL), small, large)


def _tail_ratio(
    a: np.ndarray, n: int, b: np.ndarray, m: int, log_pmf: np.ndarray, cap: float
) -> np.ndarray:
    """Upper tail from b on, divided by the probability of b; inf if twice the tail reaches `cap`.

    The ratio of two neighboring probabilities falls along the tail, so that the rest of a sum is at
    most a geometric series. Both tails near 1/2 count as the cap of 1.
    """
    total = np.ones(len(a))
    # Twice a tail of 1/2 or more is a p-value of 1, whichever tail is the smaller one.
    with np.errstate(over="ignore"):
        enough = np.exp(math.log(cap / 2.0) - log_pmf) if cap < 1.0 else np.full(len(a), np.inf)
    active, term, done, size = np.arange(len(a)), np.ones(len(a)), 0, 32
    while len(active):
        steps = np.arange(done, done + size, dtype=np.float64)
        up, left = a[active, None] - steps, (m - b[active])[:, None] - steps
        # No term follows the last possible count.
        top = np.maximum(up, 0.0) * np.maximum(left, 0.0)
        bottom = (b[active, None] + steps + 1.0) * ((n - a[active])[:, None] + steps + 1.0)
        ratio = top / bottom
        terms = term[active, None] * np.cumprod(ratio, axis=1)
        total[active] += terms.sum(axis=1)
        term[active], last = terms[:, -1], ratio[:, -1]
        rest = np.where(last < 1.0, term[active] * last / np.maximum(1.0 - last, 1e-300), np.inf)
        reached = total[active] >= enough[active]
        total[active[reached]] = np.inf
        active = active[~reached & (rest > 1e-14 * total[active])]
        done += size
        size = max(32, min(2 * size, _BLOCK // max(1, len(active))))
    return total
