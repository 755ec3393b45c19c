"""Windows of the last 1, 2, 4, 8, ... batches, their tests, and the rule for an alarm.

Each batch is tested. For j > 0, the last 2^j batches are tested if the number of batches is a
multiple of 2^(j - 1). A restart removes the windows that began before the restart.
`docs/guarantees.md` proves the guarantees.

For about a thousand functions of a row with values 0 and 1, the monitor counts the rows for which
they are 1, in the reference and in each window (`Counts`).

A further test of the window of one batch counts repeated rows. A row of the batch or of a sample of
the reference is repeated if it occurs more than once in both together. This does not depend on
which rows belong to the batch. If the rows are exchangeable, the number of repeated rows in the
batch therefore has a hypergeometric distribution. Rows are compared by their 64-bit hashes.

A row of the reference that occurs again in a batch is not a change. Therefore the statistic is the
number of rows that are repeated within the batch. It is at most the hypergeometric number, so that
the p-value remains valid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from isodepth.base.declared import MONITOR
from isodepth.base.options import option_error
from isodepth.functions.fisher import least_changed, log_adjusted_pvalues, log_pvalues
from isodepth.geometry.weights import contaminated_rows
from isodepth.monitor.functions import Counts, Functions

# Default of alpha, and maximum patience.
_ALPHA, _MOST_PATIENCE = 0.01, 100
#: Logarithm of the maximum adjusted p-value of a reported change.
LOG_NAMED = math.log(0.05)
# Probability that the lower bound on the share of changed rows exceeds the share.
_UNCOVERED = 0.05
# Maximum number of reference rows, which limits the size of saved monitors.
_MOST_ROWS = 4096
#: Fraction of the level of windows of one batch that is used for this test.
REPEATED_LEVEL = 1 / 64


def pvalue_of(log: float) -> float:
    """Return exp(log), but at least the minimum normal number 2**-1022, and at most 1."""
    return max(math.exp(min(0.0, log)), 2.0**-1022)


class DyadicSums(NamedTuple):
    """Sums of counts over runs of 1, 2, 4, ... batches.

    Batches are numbered from 1. For each j, the stored run of 2**j batches is the latest one whose
    last batch has a number that is a multiple of 2**j.
    """

    end: int = 0  # number of batches so far
    runs: tuple[Counts | None, ...] = ()  # None for a run with batches before a restart

    def restarted(self) -> DyadicSums:
        """Return a copy without counts; the number of batches is kept."""
        return DyadicSums(self.end, (None,) * len(self.runs))

    def add(self, batch: Counts) -> tuple[DyadicSums, list[Counts]]:
        """Return the sums with one more batch, and the counts of the windows that end with it."""
        end, runs, windows = self.end + 1, [*self.runs, None], [batch]
        for scale, before in enumerate(runs):
            runs[scale] = windows[-1]
            if before is None:
                break
            windows.append(before + windows[-1])
            if end % 2 ** (scale + 1):
                break
        return DyadicSums(end, tuple(runs[: end.bit_length()])), windows


# -- repeated rows --------------------------------------------------------------------------------


class RepeatedCounts(NamedTuple):
    """Shares of rows that are repeated within the reference and within a batch, and log p-value."""

    before: float  # expected share within `n_reference` random rows of the reference
    after: float  # share within the batch
    log_pvalue: float
    n_reference: int  # size of the batch, or of the reference if the batch is larger
    n_batch: int


class ReferenceHashes(NamedTuple):
    """Hashes of at most 4096 rows of the reference, and how often its rows occur in it."""

    distinct: np.ndarray  # (U,), int64, sorted
    counts: np.ndarray  # (U,), number of rows with each hash
    #: (2, K), numbers k in increasing order, and the number of rows of the whole reference that
    #: occur k times in it.
    multiplicities: np.ndarray

    @classmethod
    def of_rows(
        cls, hashes: np.ndarray, rng: np.random.Generator, all_hashes: np.ndarray
    ) -> ReferenceHashes:
        """Return hashes of at most 4096 random rows, given the hashes (n,) of counted rows.

        `all_hashes` are those of all rows of the reference.
        """
        if len(hashes) > _MOST_ROWS:
            hashes = hashes[rng.permutation(len(hashes))[:_MOST_ROWS]]
        multiplicities = _multiplicities(np.unique(all_hashes, return_counts=True)[1])
        return cls(*np.unique(_stored(hashes), return_counts=True), multiplicities)

    def test(self, hashes: np.ndarray) -> RepeatedCounts:
        """Test whether more rows are repeated in a batch than chance explains.

        `hashes` (m,) are the uint64 hashes of the rows of the batch.
        """
        distinct, counts = np.unique(_stored(hashes), return_counts=True)
        at = np.minimum(self.distinct.searchsorted(distinct), len(self.distinct) - 1)
        common = self.distinct[at] == distinct
        pooled = self.counts > 1
        pooled[at[common]] = True
        ones = int(self.counts[pooled].sum() + counts[common | (counts > 1)].sum())
        within, n, m = int(counts[counts > 1].sum()), int(self.counts.sum()), len(hashes)
        log = 0.0
        if within * (n + m) > ones * m:
            log = float(log_pvalues(np.array([ones - within]), n, np.array([within]), m)[0])
        before, n_reference = self.expected_within(m)
        return RepeatedCounts(before, within / m, log, n_reference, m)

    def expected_within(self, m: int) -> tuple[float, int]:
        """Return the expected share of repeated rows within m random rows of the reference, and m.

        If the reference has fewer than m rows, return the share within all of its rows, and their
        number.
        """
        from scipy.special import gammaln

        k, rows = self.multiplicities
        n = int(rows.sum())
        m = min(m, n)
        k, rows = k[k > 1], rows[k > 1]
        # Logarithm of the probability that m - 1 other rows have no copy of a row with k copies.
        log = gammaln(n - k + 1) - gammaln(np.maximum(n - k - m + 2, 1))
        log += gammaln(n - m + 1) - gammaln(n)
        shares = np.where(n - k - m + 2 > 0, -np.expm1(np.minimum(log, 0.0)), 1.0)
        return float((rows * shares).sum() / n), m


def _multiplicities(counts: np.ndarray) -> np.ndarray:
    """Return the array (2, K) of `ReferenceHashes`, given the number of rows with each hash."""
    k, times = np.unique(counts, return_counts=True)
    return np.array([k, k * times])


def _stored(hashes: np.ndarray) -> np.ndarray:
    """Return uint64 hashes as non-negative int64, without their last bit."""
    return (hashes >> np.uint64(1)).astype(np.int64)


# -- tests and alarms -----------------------------------------------------------------------------


class _WindowTest(NamedTuple):
    """Test of the window of the last 2**scale batches: its threshold and p-values.

    The threshold is that of the p-value of the window.
    """

    scale: int
    threshold: float
    logs: np.ndarray  # (H,), logarithm of the adjusted p-value of each function
    log_pvalue: float  # minimum over all functions and the test of repeated rows

    @property
    def log_ratio(self) -> float:
        """Logarithm of the ratio of the p-value to the threshold."""
        return self.log_pvalue - math.log(self.threshold)


class Evidence(NamedTuple):
    """Result of the tests after a batch: p-values of the selected window, and their threshold.

    The fields from `pvalue` on are those of :class:`Verdict` with the same names.
    """

    functions: Functions
    both: tuple[Counts, Counts]  # counts of the reference and of the strongest window
    logs: np.ndarray  # (H,), logarithm of the adjusted p-value of each function
    repeated: RepeatedCounts | None  # with an adjusted p-value; None if there is no such test
    pvalue: float
    n_window_batches: int
    window_pvalue: float
    threshold: float
    changed_share: float | None = None
    beyond_blocks: bool = False
    score: float | None = None
    exact: bool = True

    @property
    def is_significant(self) -> bool:
        """Whether a function, or the test of repeated rows, has an adjusted p-value up to 5%."""
        repeated = 0.0 if self.repeated is None else self.repeated.log_pvalue
        return bool(min(self.logs.min(), repeated) <= LOG_NAMED)


def confidence_error(scale: int) -> float:
    """Return 1 - confidence of the bound on the share of changed rows in a window.

    The window has 2**scale batches. A verdict has the bound of one window, which is selected among
    windows of all lengths. Therefore the results for scale = 0, 1, 2, ... sum to at most 5%, so
    that the bound has 95% confidence.
    """
    return _UNCOVERED / ((scale + 1) * (scale + 2))


@dataclass(frozen=True)
class AlarmPolicy:
    """Options that decide when an alarm is raised; see `Monitor`."""

    alpha: float | None = None
    arl: float | None = None
    tolerance: float | None = None
    patience: int = 1

    def __post_init__(self) -> None:
        checked: dict[str, float] = {}
        if self.tolerance is not None:
            checked["tolerance"] = MONITOR["tolerance"].check(self.tolerance)
        if self.arl is None:
            alpha = _ALPHA if self.alpha is None else self.alpha
            checked["alpha"] = MONITOR["alpha"].check(alpha)
        elif self.alpha is None:
            checked["arl"] = MONITOR["arl"].check(self.arl)
        else:
            raise option_error(
                "{--alpha} and {--arl} exclude each other, got {--alpha=} and {--arl=}; remove one",
                alpha=self.alpha, arl=self.arl,
            )  # fmt: skip
        checked["patience"] = MONITOR["patience"].check(self.patience)
        for name, value in checked.items():
            object.__setattr__(self, name, value)  # a frozen dataclass refuses assignments

    @property
    def level(self) -> float:
        """Significance level `alpha`, or 1 / `arl`, which determines all thresholds."""
        return self.alpha or 1.0 / (self.arl or 1.0)

    def evidence_level(self, n_groups: int) -> float:
        """Return the value of 1 / evidence up to which a group raises an alarm; only with blocks.

        Batches of different groups may depend on each other, such as those of one day at all sites.
        Therefore each group has its own evidence (`RankEvidence`), and the probabilities of false
        alarms are added. `docs/guarantees.md` explains the factor 2 for `arl`.
        """
        if self.arl is None:
            return self.level / n_groups
        return self.level / (2 if n_groups > 1 else 1)

    def window_level(self, scale: int, end: int, n_groups: int = 1) -> float:
        """Return the p-value threshold of the last 2**scale batches, after `end` batches.

        `alpha` is divided among the window lengths with weights that sum to 1, and among the
        windows of one length in proportion to 1 / (k log(k)^2), k = 2, 3, .... The sum of these
        terms is 2.1097, so that the factor 0.47 makes it at most 1. With `arl`, all windows of one
        length have equal thresholds.
        """
        weight, step = 1.0 / ((scale + 1) * (scale + 2)), max(1, 2**scale // 2)
        if self.arl is not None:
            fraction = weight * step / 2.0
        else:
            k = (end - 2**scale) // step + 2
            fraction = weight * (0.47 / (k * math.log(k) ** 2)) / n_groups
        return min(1.0, self.patience * self.level * fraction)

    def strongest(
        self,
        functions: Functions,
        reference: Counts,
        windows: list[Counts],
        end: int,
        n_groups: int,
        repeated: RepeatedCounts | None,
    ) -> Evidence:
        """Return the evidence of the window with the smallest ratio of p-value to threshold.

        `windows` are the counts of the last 1, 2, 4, ... batches after `end` batches of the group,
        and `repeated` is the test of repeated rows of the last batch. The threshold of the window
        of one batch is divided among its functions and this test.
        """
        n, ones, _ = reference
        tests: list[_WindowTest] = []
        tolerance = self.tolerance or 0.0
        if tolerance > 0:
            # A contaminated row can turn a clean row into a repeated one.
            repeated = None
        for scale, window in enumerate(windows):
            contaminated = contaminated_rows(tolerance, window.n_rows) if tolerance else 0
            logs = log_adjusted_pvalues(ones, n, window.ones, window.n_rows, contaminated)
            log_pvalue = float(logs.min())
            if repeated is not None and scale == 0:
                logs = np.minimum(logs - math.log1p(-REPEATED_LEVEL), 0.0)
                adjusted = min(repeated.log_pvalue - math.log(REPEATED_LEVEL), 0.0)
                repeated = repeated._replace(log_pvalue=adjusted)
                log_pvalue = min(float(logs.min()), adjusted)
            level = self.window_level(scale, end, n_groups)
            tests.append(_WindowTest(scale, level, logs, log_pvalue))
        best = min(tests, key=lambda test: test.log_ratio)
        pvalue, window = pvalue_of(best.log_pvalue), windows[best.scale]
        error, changed = confidence_error(best.scale), 0.0
        if pvalue <= error or tolerance > 0:
            changed = least_changed(ones, n, window.ones, window.n_rows, error) / window.n_rows
        return Evidence(
            functions, (reference, window), best.logs, repeated,
            pvalue=pvalue_of(tests[0].log_pvalue), n_window_batches=2**best.scale,
            window_pvalue=pvalue, threshold=best.threshold, changed_share=changed,
        )  # fmt: skip
