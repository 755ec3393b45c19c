"""Windows of the last 1, 2, 4, 8, ... batches, their tests, and the rule for an alarm.

Each batch is tested. For j > 0, the last 2^j batches are tested if the number of batches is a
multiple of 2^(j - 1). A restart removes the windows that began before the restart.
`docs/guarantees.md` proves the guarantees.

For about a thousand functions of a row with values 0 and 1, the monitor counts the rows for which
they are 1, in the reference and in each window (`Counts`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from isodepth.base.declared import MONITOR
from isodepth.base.options import option_error
from isodepth.functions.fisher import least_changed, log_adjusted_pvalues
from isodepth.geometry.weights import contaminated_rows
from isodepth.monitor.functions import Counts, Functions
from isodepth.monitor.repeated import REPEATED_LEVEL, RepeatedCounts

# Default of alpha, and maximum patience.
_ALPHA, _MOST_PATIENCE = 0.01, 100
# Probability that the lower bound on the share of changed rows exceeds the share.
_UNCOVERED = 0.05


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
            contaminated = contaminated_rows(tolerance, window.n_rows)
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
