"""Fisher's exact test of many 2 x 2 tables at once.

In a table, `a` of the n rows of one sample and `b` of the m rows of another sample have a property.
If the rows of both samples are exchangeable, b given a + b has a hypergeometric distribution. A
function gets H tables, one per property, as count arrays `a` and `b` of shape (H,).
"""

from __future__ import annotations

import math

import numpy as np

# Values of log(x!) - x log x + x for x = 0, ..., 15.
_SMALL = np.array([0.0, *(math.lgamma(x + 1.0) - x * math.log(x) + x for x in range(1, 16))])
# Maximum number of terms of tail probabilities that are computed at once.
_BLOCK = 1 << 19
# Two logarithms of p-values for N rows count as equal, because of rounding, if they differ by at
# most this multiple of 1 + log N!.
_ROUNDING = 1e-14


def log_pvalues(
    a: np.ndarray, n: int, b: np.ndarray, m: int, dirty: int = 0, cap: float = 1.0
) -> np.ndarray:
    """Return the log p-values (H,) of Fisher's two-sided exact test for H tables.

    In table h, a[h] of n rows of the first sample and b[h] of m rows of the second sample have a
    property. A p-value is twice the smaller tail probability, and at most 1. A p-value of at least
    `cap` is replaced by 1, so that its tail need not be summed to the end.

    If `dirty` of the m rows may be contaminated, b is unknown for the other m - dirty rows. The
    p-value is then the maximum over the possible values of b. It is attained at the possible value
    nearest to the expected value of b. If the expected value is itself possible, the p-value is set
    to 1.

    Examples
    --------
    >>> np.exp(log_pvalues(np.array([500, 500]), 1000, np.array([10, 16]), 20)).round(3)
    array([1.   , 0.013])
    """
    if not dirty:
        return _clean_log_pvalues(a, n, b, m, cap)
    clean = m - dirty
    low, high = np.maximum(b - dirty, 0), np.minimum(b, clean)
    expected = a * (clean / n)
    logs = _clean_log_pvalues(a, n, np.where(expected < low, low, high), clean, cap)
    return np.where((low <= expected) & (expected <= high), 0.0, logs)


def log_adjusted_pvalues(
    a: np.ndarray, n: int, b: np.ndarray, m: int, dirty: int = 0
) -> np.ndarray:
    """Return the log p-values (H,) of H 2 x 2 tables, adjusted for H as in Tarone (1990).

    In table h, a[h] of n rows of the first sample and b[h] of m rows of the second sample have a
    property. Up to `dirty` of the m rows may be contaminated, see `log_pvalues`.

    Given a + b, the p-value of a table has a minimum. A p-value p is multiplied by the number of
    tables whose minimum is at most p, instead of H, because the p-values of all other tables exceed
    p.

    Examples
    --------
    >>> a, b = np.array([500, 0, 1]), np.array([16, 1, 0])
    >>> np.exp(log_adjusted_pvalues(a, 1000, b, 20)).round(3)
    array([0.013, 0.118, 1.   ])
    """
    lowest = _lowest_log_pvalues(a, n, b, m, dirty)
    ordered = np.sort(lowest)
    # If K minima are at most 1/K, then p-values of at least 1/K are adjusted to 1.
    cap = 1.0 / np.count_nonzero(ordered <= -np.log(np.arange(1, len(ordered) + 1)))
    rounding = _ROUNDING * (1.0 + math.lgamma(n + m + 1.0))
    reaching, adjusted = lowest <= math.log(cap) + rounding, np.zeros(len(a))
    logs = log_pvalues(a[reaching], n, b[reaching], m, dirty, cap)
    factors = ordered.searchsorted(logs + rounding, side="right")
    adjusted[reaching] = np.minimum(logs + np.log(factors), 0.0)
    return adjusted


def _lowest_log_pvalues(a: np.ndarray, n: int, b: np.ndarray, m: int, dirty: int) -> np.ndarray:
    """Return a lower bound (H,) on the results of `log_pvalues` for all tables with the sums a + b.

    It is the log p-value of the most extreme table with the same sum a + b and the same n and m.

    If `dirty` of the m rows may be contaminated, only the other m - dirty rows count, and the sum
    lies in an interval. As a function of the sum, the bound has its only local minima at n and at
    m - dirty. So its minimum over the interval is at an end of the interval or at one of these.
    """
    from scipy.special import gammaln

    clean, logs = m - dirty, np.zeros(len(a))
    low, high, total = a + np.maximum(b - dirty, 0), a + np.minimum(b, clean), n + clean + 1.0
    for ones in [low, high, np.clip(n, low, high), np.clip(clean, low, high)] if dirty else [low]:
        # All ones, or as many as fit, are in the smaller sample if they are at most half of all
        # rows. Else all zeros, or as many as fit, are in the smaller sample.
        size = np.where(2 * ones < total, min(n, clean), max(n, clean))
        log = gammaln(np.maximum(ones, size) + 1.0) - gammaln(np.abs(ones - size) + 1.0)
        log += gammaln(total - np.minimum(ones, size)) - math.lgamma(total)
        logs = np.minimum(logs, log + math.log(2.0))
    return logs


def least_changed(a: np.ndarray, n: int, b: np.ndarray, m: int, level: float) -> int:
    """Return the minimum number of changed rows that explains all H pairs of counts (H,).

    If d of the m rows of the second sample were changed, their original count differs from `b` by
    at most d. The p-value of a pair is the maximum over these counts. It does not decrease in d, so
    bisection finds the minimum d for which no p-value is below level / H, with the significance
    level `level`.

    Examples
    --------
    >>> least_changed(np.array([500]), 1000, np.array([90]), 100, 0.05)
    30
    """
    cap, low, high, side = level / len(a), -1, m, np.where(b * n > a * m, 1, -1)
    while high - low > 1:
        changed = (low + high) // 2 if low >= 0 else 0
        original = b - changed * side
        below = (original * n - a * m) * side > 0
        below[below] = log_pvalues(a[below], n, original[below], m, cap=cap) < 0.0
        if below.any():
            low, a, b, side = changed, a[below], b[below], side[below]
        else:
            high = changed
    return high


def _clean_log_pvalues(a: np.ndarray, n: int, b: np.ndarray, m: int, cap: float) -> np.ndarray:
    # If the count is below its expectation, the rows without the property are counted. The lower
    # tail then becomes an upper tail. The opposite tail is at least 1/2, because the median is less
    # than 1 away from the mean. Twice the upper tail is therefore the p-value, or above 1. It is at
    # least twice the probability of the count.
    logs = np.zeros(len(a))
    relevant = np.flatnonzero(_log_pmf_bound(a, n, b, m) + math.log(2.0) < math.log(cap))
    a, b = a[relevant], b[relevant]
    lower = b * n < a * m
    a, b = np.where(lower, n - a, a), np.where(lower, m - b, b)
    log_pmf = _log_pmf(a, n, b, m)
    with np.errstate(over="ignore", divide="ignore"):
        enough = np.exp(math.log(cap / 2.0) - log_pmf) if cap < 1.0 else np.full(len(a), np.inf)
        ratio = _tail_ratio(a, n, b, m, enough)
        tail = log_pmf + np.log(ratio)
    tail = np.where(np.isfinite(ratio), tail + math.log(2.0), 0.0)
    logs[relevant] = np.where(tail >= math.log(cap), 0.0, tail)
    return logs


def _log_pmf_bound(a: np.ndarray, n: int, b: np.ndarray, m: int) -> np.ndarray:
    """Return a lower bound (H,) of the results of `_log_pmf`, which is faster to compute.

    The deviance of the 2 x 2 table is at most its chi-squared statistic, and Stirling's formula
    bounds the factorials.
    """
    total, both = float(n + m), (a + b).astype(np.float64)
    margins = m * n * np.maximum(both, 1.0) * np.maximum(total - both, 1.0)
    cells = (
        np.maximum(b, 1.0) * np.maximum(m - b, 1.0) * np.maximum(a, 1.0) * np.maximum(n - a, 1.0)
    )
    apart = b - both * (m / total)
    chi_squared = apart * apart * (total**3 / margins)
    return 0.5 * np.log(margins / (2.0 * math.pi * total * cells)) - 5.0 / 12.0 - chi_squared


def _log_pmf(a: np.ndarray, n: int, b: np.ndarray, m: int) -> np.ndarray:
    """Return the log hypergeometric probabilities (H,) of the counts `b`, given the sums a + b.

    The event is that b of the m rows of the second sample have a property, given that a + b of all
    n + m rows have it.

    Loader's decomposition into the deviance of the 2 x 2 table and Stirling corrections avoids
    overflow and cancellation. Its absolute error is below 1e-10 for up to 1e9 rows.
    """
    total, both = n + m, a + b
    cells = np.array([b, m - b, a, n - a])
    margins = np.array([both, total - both] * 2)
    expected = margins * (np.array([[m], [m], [n], [n]]) / total)
    # Observed minus expected count. Its absolute value is the same in all four cells.
    apart = (b * n - a * m) / total * np.array([[1], [-1], [-1], [1]])
    excess = np.divide(apart, expected, out=np.zeros(cells.shape), where=expected > 0)
    excess = np.maximum(excess, -1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        deviance = np.where(cells > 0, (1.0 + excess) * np.log1p(excess), 0.0) - excess
    fixed = _correction(np.array([m, n, total]))
    first, second, *corrections = _correction(np.concatenate([margins[:2], cells]))
    logs = fixed[0] + fixed[1] - fixed[2] + first + second
    for parts in zip(expected * deviance, corrections, strict=True):
        logs = logs - parts[0] - parts[1]
    return np.minimum(logs, 0.0)


def _correction(count: np.ndarray) -> np.ndarray:
    """Return log(x!) - (x log x - x) for each x in `count`; 0 for x = 0."""
    x = np.maximum(count, 1.0)
    y = 1.0 / (x * x)
    series = (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y / 1188)))) / x
    small = _SMALL[np.minimum(count, len(_SMALL) - 1)]
    return np.where(count < len(_SMALL), small, series + 0.5 * np.log(2.0 * math.pi * x))


def _tail_ratio(a: np.ndarray, n: int, b: np.ndarray, m: int, enough: np.ndarray) -> np.ndarray:
    """Return P(count >= b) / P(count = b) for each of H tables; inf if it reaches `enough` (H,).

    The random count has the hypergeometric distribution of b given a + b. Its tail probability is
    summed until the remaining terms are negligible. A geometric series bounds them, because the
    ratio of consecutive terms decreases.
    """
    total, term = np.where(enough > 1.0, 1.0, np.inf), np.ones(len(a))
    active, done, size = np.flatnonzero(enough > 1.0), 0, 32
    while len(active):
        steps = np.arange(done, done + size, dtype=np.float64)
        x, y = a[active, None], b[active, None]
        # Terms beyond the last possible count are 0.
        top = np.maximum(x - steps, 0.0) * np.maximum(m - y - steps, 0.0)
        ratio = top / ((y + steps + 1.0) * (n - x + steps + 1.0))
        terms = term[active, None] * np.cumprod(ratio, axis=1)
        total[active] += terms.sum(axis=1)
        term[active], last = terms[:, -1], ratio[:, -1]
        rest = term[active] * last / np.maximum(1.0 - last, 0.0)
        reached = total[active] >= enough[active]
        total[active[reached]] = np.inf
        active = active[~reached & (rest > 1e-14 * total[active])]
        done += size
        size = max(32, min(2 * size, _BLOCK // max(1, len(active))))
    return total
