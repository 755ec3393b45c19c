"""Windows of the last 1, 2, 4, 8, ... batches, and the level of each of their tests.

A window of 2^j batches is tested whenever it ends at a multiple of 2^(j - 1), counted from the
first batch of the stream. The tests of all windows are one fixed family: a restart only removes
windows that began before it. The levels of the family sum to `alpha`, so that the probability of
any false alarm is at most `alpha`, also if windows restart at times that depend on the data. With
patience k an alarm takes k windows without common batches that cross their levels. By Markov's
inequality the levels may then sum to k times `alpha`.

With `arl` the levels of the tests up to batch T sum to at most T / (2 arl). So P(alarm by T) is at
most T / (2 arl), and the mean time until the first alarm is at least the sum of 1 - T / (2 arl)
over T < 2 arl, which exceeds arl.

Each test is Fisher's exact test for all functions at once. Of n reference rows `a` have a property,
of m new rows `b`. If all rows are exchangeable, `b` given a + b is hypergeometric. The logarithm of
its probability comes from Loader's decomposition: the deviance of the 2 x 2 table and Stirling
corrections, which neither overflow nor cancel. The tail follows by the recurrence of the
probabilities. Absolute errors of the logarithm stay below 1e-10 for up to 1e9 rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from isodepth.core.weights import contaminated_rows
from isodepth.data.validation import check_integer, check_number
from isodepth.errors import InvalidOptionError
from isodepth.monitor.functions import Counts

_ALPHA = 0.01
_MOST_PATIENCE = 100
_TINY = float(np.finfo(np.float64).tiny)
# log(x!) - x log x + x for small x.
_SMALL = np.array([0.0, *(math.lgamma(x + 1.0) - x * math.log(x) + x for x in range(1, 16))])
# Terms of a tail are summed in blocks that grow up to this number of numbers.
_BLOCK = 1 << 19
# With a cap of 0.01 or less, p-values of counts within sqrt(log(1 / cap)) standard deviations are
# set to 1 without a sum. Normal p-values of such counts are above the cap; an error would make a
# p-value too large, never too small.
_UNREACHED = 0.01


@dataclass(frozen=True)
class AlarmPolicy:
    """Rule for alarms; see `Monitor` for the options."""

    alpha: float | None
    arl: float | None
    tolerance: float
    patience: int

    @classmethod
    def checked(
        cls, alpha: Any = None, arl: Any = None, tolerance: Any = 0.0, patience: Any = 1
    ) -> AlarmPolicy:
        """Check the options of a monitor."""
        if arl is None:
            alpha = _ALPHA if alpha is None else alpha
            alpha = check_number(alpha, "alpha", 0, 1, low_open=True, high_open=True)
        elif alpha is not None:
            raise InvalidOptionError(
                "alpha bounds the probability of any false alarm, arl the mean time between false "
                f"alarms; got alpha={alpha!r} and arl={arl!r}, give one of them"
            )
        else:
            arl = check_number(arl, "arl", 1, low_open=True, high_open=True)
        tolerance = check_number(tolerance, "tolerance", 0, 0.5, high_open=True)
        patience = check_integer(patience, "patience", 1)
        if patience > _MOST_PATIENCE:
            raise InvalidOptionError(f"patience must be at most {_MOST_PATIENCE}, got {patience}")
        return cls(alpha, arl, tolerance, patience)

    @property
    def level(self) -> float:
        """Level at which evidence of a whole stream becomes an alarm."""
        return 1.0 / self.arl if self.arl is not None else float(self.alpha or _ALPHA)

    def window_level(self, scale: int, end: int, n_groups: int = 1) -> float:
        """Level of the test of the window of 2**scale batches that ends with batch `end`."""
        step = max(1, 2**scale // 2)
        share = scale_weight(scale) * test_weight((end - 2**scale) // step + 1) / n_groups
        if self.arl is not None:
            share = scale_weight(scale) * step / 2.0
        return min(1.0, self.patience * self.level * share)


def scale_weight(scale: int) -> float:
    """Fraction of the level for windows of 2**scale batches; the sum over all scales is 1."""
    return 1.0 / ((scale + 1) * (scale + 2))


def test_weight(number: int) -> float:
    """Fraction of the level of a scale for its test 1, 2, ...; the sum is below 1.

    The sum of 1 / (k log(k)^2) from k = 2 on is 2.1097, so that 0.47 is nearly the largest factor.
    """
    return 0.47 / ((number + 1) * math.log(number + 1.0) ** 2)


def pvalue_of(log: float) -> float:
    """Return the p-value of a logarithm: at most 1, and never 0."""
    return max(math.exp(min(0.0, log)), _TINY)


class DyadicSums(NamedTuple):
    """Sums of the latest blocks of 1, 2, 4, ... batches that end at multiples of their length."""

    #: Batches so far.
    end: int = 0
    #: The latest complete block of each length; None if a restart cut it.
    blocks: tuple[Counts | None, ...] = ()

    def restarted(self) -> DyadicSums:
        """Forget all batches, but not their number."""
        return DyadicSums(self.end, (None,) * len(self.blocks))

    def add(self, batch: Counts) -> tuple[DyadicSums, list[Counts]]:
        """Add a batch; return also the sums of the windows of 1, 2, 4, ... that end with it."""
        end, blocks, windows = self.end + 1, list(self.blocks), [batch]
        for scale in range(end.bit_length()):
            if scale == len(blocks):
                blocks.append(None)
            before, blocks[scale] = blocks[scale], windows[-1]
            if before is None:
                break
            windows.append(before + windows[-1])
            if end % 2 ** (scale + 1):
                break
        return DyadicSums(end, tuple(blocks)), windows


class Evidence(NamedTuple):
    """Evidence after a batch."""

    #: p-value of the batch alone.
    pvalue: float
    #: Strongest window: number of batches, counts, logarithms of the p-values of all functions
    #: (H,), logarithm of the adjusted p-value, and the level at which this p-value crosses.
    window: int
    counts: Counts
    logs: np.ndarray
    log_pvalue: float
    level: float
    #: Only with blocks; see `Verdict`.
    extreme: bool = False
    score: float | None = None
    exact: bool = True


def strongest_window(
    policy: AlarmPolicy, reference: Counts, windows: list[Counts], end: int, n_groups: int
) -> Evidence:
    """Test the windows of 1, 2, 4, ... batches that end with batch `end`."""
    count, tests = len(reference.ones), []
    for scale, window in enumerate(windows):
        dirty = contaminated_rows(policy.tolerance, window.n_rows)
        logs = log_pvalues(
            reference.ones, reference.n_rows, window.ones, window.n_rows, dirty, 1.0 / count
        )
        adjusted = min(0.0, float(logs.min()) + math.log(count))
        level = policy.window_level(scale, end, n_groups)
        tests.append(Evidence(0.0, 2**scale, window, logs, adjusted, level))
    strongest = min(tests, key=lambda test: test.log_pvalue - math.log(test.level))
    return strongest._replace(pvalue=pvalue_of(tests[0].log_pvalue))


# -- Fisher's exact test --------------------------------------------------------------------------


def log_pvalues(
    a: np.ndarray, n: int, b: np.ndarray, m: int, dirty: int = 0, cap: float = 1.0
) -> np.ndarray:
    """Return logarithms of two-sided p-values, twice the smaller tail and at most 1.

    If `dirty` of the m new rows may be anything, the p-value is the maximum over all counts that
    the other rows may have: max(b - dirty, 0) to min(b, m - dirty). One more row with the property
    lowers the upper tail and raises the lower one, because the hypergeometric count grows by at
    most 1. So there is one maximum, near the expected count, and steps uphill reach it.

    Parameters
    ----------
    a, b : int64 ndarrays of shape (H,)
        Rows with a property, of n and of m rows.
    n, m, dirty : int
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
    if dirty == 0:
        return _clean_log_pvalues(a, n, b, m, cap)
    clean = m - dirty
    low, high = np.maximum(b - dirty, 0), np.minimum(b, clean)
    at = np.clip(np.rint(a * (clean / n)).astype(np.int64), low, high)
    logs = _clean_log_pvalues(a, n, at, clean, cap)
    for step in (1, -1):
        active = np.flatnonzero(logs < 0)
        while len(active):
            further = at[active] + step
            active = active[(further >= low[active]) & (further <= high[active])]
            tried = _clean_log_pvalues(a[active], n, at[active] + step, clean, cap)
            better = tried > logs[active]
            active = active[better]
            at[active] += step
            logs[active] = tried[better]
    return logs


def _clean_log_pvalues(a: np.ndarray, n: int, b: np.ndarray, m: int, cap: float) -> np.ndarray:
    logs = np.zeros(len(a))
    used: Any = slice(None)
    if cap <= _UNREACHED:
        used = np.flatnonzero(_squared_deviation(a, n, b, m) > -math.log(cap))
        a, b = a[used], b[used]
    # Counting the rows without the property turns a lower tail into an upper one.
    lower = b * n < a * m
    a, b = np.where(lower, n - a, a), np.where(lower, m - b, b)
    log_pmf = _log_pmf(a, n, b, m)
    ratio = _tail_ratio(a, n, b, m, log_pmf, cap)
    with np.errstate(over="ignore", divide="ignore"):
        tail = log_pmf + np.log(ratio)
        # The other tail is smaller only if both are near 1/2.
        other = 1.0 - np.exp(tail) + np.exp(log_pmf)
        tail = np.where(other < np.exp(tail), np.log(np.maximum(other, 1e-300)), tail)
    tail = np.where(np.isfinite(ratio), tail + math.log(2.0), 0.0)
    logs[used] = np.where(tail >= math.log(cap), 0.0, tail)
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
    total, both = n + m, a + b
    # Observed less expected count: the same in all four cells, but for its sign.
    apart = (b * n - a * m) / total
    logs = _correction(np.float64(m)) + _correction(np.float64(n)) - _correction(np.float64(total))
    logs = logs + _correction(both) + _correction(total - both)
    for cell, rows, margin, sign in (
        (b, m, both, 1), (m - b, m, total - both, -1),
        (a, n, both, -1), (n - a, n, total - both, 1),
    ):  # fmt: skip
        expected = margin * (rows / total)
        excess = np.divide(sign * apart, expected, out=np.zeros(len(a)), where=expected > 0)
        excess = np.maximum(excess, -1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            deviance = np.where(cell > 0, (1.0 + excess) * np.log1p(excess), 0.0) - excess
        logs = logs - expected * deviance - _correction(cell)
    return np.minimum(logs, 0.0)


def _correction(count: Any) -> np.ndarray:
    """log(x!) - x log x + x, and 0 for x = 0."""
    x = np.maximum(np.asarray(count, np.float64), 1.0)
    y = 1.0 / (x * x)
    series = (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y / 1188)))) / x
    small = _SMALL[np.minimum(count, len(_SMALL) - 1).astype(np.int64)]
    return np.where(count < len(_SMALL), small, series + 0.5 * np.log(2.0 * math.pi * x))


def _tail_ratio(
    a: np.ndarray, n: int, b: np.ndarray, m: int, log_pmf: np.ndarray, cap: float
) -> np.ndarray:
    """Upper tail from b on, divided by the probability of b; inf if twice the tail reaches `cap`.

    The ratio of two neighboring probabilities falls along the tail, so that the rest of a sum is at
    most a geometric series.
    """
    total = np.ones(len(a))
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
