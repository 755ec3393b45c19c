"""Windows of the last 1, 2, 4, 8, ... batches, their tests, and the levels of these tests.

A window of 2^j batches is tested whenever it ends at a multiple of 2^(j - 1), counted from the
first batch of the stream. A restart removes the windows that began before it. `docs/monitoring.md`
proves the guarantees. Each test is Fisher's exact test for all functions at once: of n reference
rows `a` have a property, of m new rows `b`, and `b` given a + b is hypergeometric.
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
# Values of log(x!) - x log x + x for x = 0, ..., 15.
_SMALL = np.array([0.0, *(math.lgamma(x + 1.0) - x * math.log(x) + x for x in range(1, 16))])
# Maximum number of terms of tail probabilities that are computed at once.
_BLOCK = 1 << 19


@dataclass(frozen=True)
class AlarmPolicy:
    """Options that decide when an alarm is raised; see `Monitor`."""

    alpha: float | None = None
    arl: float | None = None
    tolerance: float = 0.0
    patience: int = 1

    def __post_init__(self) -> None:
        checked: dict[str, float] = {}
        if self.arl is None:
            alpha = _ALPHA if self.alpha is None else self.alpha
            checked["alpha"] = check_number(alpha, "alpha", 0, 1, low_open=True, high_open=True)
        elif self.alpha is not None:
            raise InvalidOptionError(
                f"alpha and arl exclude each other, got {self.alpha!r} and {self.arl!r}; remove one"
            )
        else:
            checked["arl"] = check_number(self.arl, "arl", 1, low_open=True, high_open=True)
        checked["tolerance"] = check_number(self.tolerance, "tolerance", 0, 0.5, high_open=True)
        checked["patience"] = check_integer(self.patience, "patience", 1)
        check_number(self.patience, "patience", 1, _MOST_PATIENCE)
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def level(self) -> float:
        """Level for the whole stream: an alarm is raised if 1 / evidence is at most this."""
        return 1.0 / self.arl if self.arl is not None else float(self.alpha or _ALPHA)

    def window_level(self, scale: int, end: int, n_groups: int = 1) -> float:
        """Return the level of the test of the last 2**scale batches after `end` batches.

        The false alarm probability is divided among the window lengths with weights that sum to 1,
        and among the windows of one length in proportion to 1 / (k log(k)^2), k = 2, 3, .... The
        sum of these terms is 2.1097, so that the factor 0.47 makes it at most 1.
        """
        weight, step = 1.0 / ((scale + 1) * (scale + 2)), max(1, 2**scale // 2)
        if self.arl is not None:
            share = weight * step / 2.0
        else:
            k = (end - 2**scale) // step + 2
            share = weight * (0.47 / (k * math.log(k) ** 2)) / n_groups
        return min(1.0, self.patience * self.level * share)


def pvalue_of(log: float) -> float:
    """Return exp(log), limited to (0, 1]."""
    return max(math.exp(min(0.0, log)), _TINY)


class DyadicSums(NamedTuple):
    """Counts of the latest block of 1, 2, 4, ... batches.

    A block of 2**j batches ends with a batch whose number is a multiple of 2**j.
    """

    end: int = 0  # batches so far
    blocks: tuple[Counts | None, ...] = ()  # None if batches of the block precede a restart

    def restarted(self) -> DyadicSums:
        """Return sums without any batch; the numbering of the batches continues."""
        return DyadicSums(self.end, (None,) * len(self.blocks))

    def add(self, batch: Counts) -> tuple[DyadicSums, list[Counts]]:
        """Add a batch, and return the counts of the last 1, 2, 4, ... batches."""
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
    """p-value of a batch alone, and the result for the strongest window that ends with it."""

    pvalue: float
    window: int  # number of batches
    counts: Counts
    logs: np.ndarray  # (H,), logarithms of the p-values of all functions
    log_pvalue: float  # adjusted for all functions
    level: float
    extreme: bool = False
    score: float | None = None
    exact: bool = True


def strongest_window(
    policy: AlarmPolicy, reference: Counts, sums: DyadicSums, batch: Counts, n_groups: int
) -> tuple[Evidence, DyadicSums]:
    """Test the windows of 1, 2, 4, ... batches that end with a new batch.

    Return the result for the window with the smallest ratio of p-value to level, and the sums after
    the batch.
    """
    sums, windows = sums.add(batch)
    count, tests = len(reference.ones), []
    for scale, window in enumerate(windows):
        dirty = contaminated_rows(policy.tolerance, window.n_rows)
        logs = log_pvalues(reference, window, dirty, 1.0 / count)
        adjusted = min(0.0, float(logs.min()) + math.log(count))
        level = policy.window_level(scale, sums.end, n_groups)
        tests.append(Evidence(0.0, 2**scale, window, logs, adjusted, level))
    strongest = min(tests, key=lambda test: test.log_pvalue - math.log(test.level))
    return strongest._replace(pvalue=pvalue_of(tests[0].log_pvalue)), sums


# -- Fisher's exact test --------------------------------------------------------------------------


def log_pvalues(reference: Counts, window: Counts, dirty: int = 0, cap: float = 1.0) -> np.ndarray:
    """Return the log two-sided p-value (H,) of Fisher's exact test for each function.

    A p-value is twice the smaller tail probability, and at most 1. If it is at least `cap`, it is
    returned as 1, which saves summing the tail to the end.

    If `dirty` of the m rows of the window may be arbitrary, the p-value is the maximum over all
    counts that the other rows may have. The p-value has a single local maximum near the expected
    count, so steps to larger values find it.
    """
    (n, a, *_), (m, b, *_) = reference, window
    clean = m - dirty
    low, high = np.maximum(b - dirty, 0), np.minimum(b, clean)
    at = np.clip(np.rint(a * (clean / n)).astype(np.int64), low, high)
    logs = _clean_log_pvalues(a, n, at, clean, cap)
    for step in (1, -1) if dirty else ():
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
    # If the count is below its expectation, count the rows with value 0 instead of 1. The lower
    # tail then becomes an upper tail. The opposite tail is at least 1/2, because the median is less
    # than 1 away from the mean, so that twice this tail is the two-sided p-value or above 1.
    lower = b * n < a * m
    a, b = np.where(lower, n - a, a), np.where(lower, m - b, b)
    log_pmf = _log_pmf(a, n, b, m)
    with np.errstate(over="ignore", divide="ignore"):
        enough = np.exp(math.log(cap / 2.0) - log_pmf) if cap < 1.0 else np.full(len(a), np.inf)
        ratio = _tail_ratio(a, n, b, m, enough)
        tail = log_pmf + np.log(ratio)
    tail = np.where(np.isfinite(ratio), tail + math.log(2.0), 0.0)
    return np.where(tail >= math.log(cap), 0.0, tail)


def _log_pmf(a: np.ndarray, n: int, b: np.ndarray, m: int) -> np.ndarray:
    """Return the log probability of the count b of m rows, given a + b of n + m rows.

    The distribution is hypergeometric.

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
    logs = _correction(m) + _correction(n) - _correction(total)
    logs = logs + _correction(margins[0]) + _correction(margins[1])
    for parts in zip(expected * deviance, _correction(cells), strict=True):
        logs = logs - parts[0] - parts[1]
    return np.minimum(logs, 0.0)


def _correction(count: Any) -> np.ndarray:
    """Return log(x!) - x log x + x, the error of Stirling's formula; 0 for x = 0."""
    x = np.maximum(np.asarray(count, np.float64), 1.0)
    y = 1.0 / (x * x)
    series = (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y / 1188)))) / x
    small = _SMALL[np.minimum(count, len(_SMALL) - 1)]
    return np.where(count < len(_SMALL), small, series + 0.5 * np.log(2.0 * math.pi * x))


def _tail_ratio(a: np.ndarray, n: int, b: np.ndarray, m: int, enough: np.ndarray) -> np.ndarray:
    """Return the upper tail P(>= b) divided by P(b); inf if the ratio reaches `enough`.

    The sum ends when the remaining terms are negligible. A geometric series bounds them, because
    the ratio of consecutive terms decreases.
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
        rest = np.where(last < 1.0, term[active] * last / np.maximum(1.0 - last, 1e-300), np.inf)
        reached = total[active] >= enough[active]
        total[active[reached]] = np.inf
        active = active[~reached & (rest > 1e-14 * total[active])]
        done += size
        size = max(32, min(2 * size, _BLOCK // max(1, len(active))))
    return total
