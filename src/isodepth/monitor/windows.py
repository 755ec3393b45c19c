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
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from isodepth.data.validation import check_integer, check_number
from isodepth.errors import InvalidOptionError
from isodepth.monitor.fisher import tolerant_log_pvalues
from isodepth.monitor.functions import Counts

ALPHA = 0.01
MOST_PATIENCE = 100


@dataclass(frozen=True)
class AlarmPolicy:
    """Rule for alarms."""

    #: Upper bound on the probability of any false alarm.
    alpha: float | None
    #: Lower bound on the mean number of batches between false alarms, in place of `alpha`.
    arl: float | None
    #: Share of contaminated rows in a window that never raise an alarm.
    tolerance: float
    #: Number of crossings that make an alarm.
    patience: int

    @classmethod
    def checked(
        cls, alpha: Any = None, arl: Any = None, tolerance: Any = 0.0, patience: Any = 1
    ) -> AlarmPolicy:
        """Check the options of a monitor."""
        if arl is not None:
            if alpha is not None:
                raise InvalidOptionError(
                    "alpha bounds the probability of any false alarm, arl the mean time between "
                    f"false alarms; got alpha={alpha!r} and arl={arl!r}, give one of them"
                )
            arl = check_number(arl, "arl", 1, low_open=True, high_open=True)
        else:
            alpha = ALPHA if alpha is None else alpha
            alpha = check_number(alpha, "alpha", 0, 1, low_open=True, high_open=True)
        tolerance = check_number(tolerance, "tolerance", 0, 0.5, high_open=True)
        patience = check_integer(patience, "patience", 1)
        if patience > MOST_PATIENCE:
            raise InvalidOptionError(f"patience must be at most {MOST_PATIENCE}, got {patience}")
        return cls(alpha, arl, tolerance, patience)

    @property
    def level(self) -> float:
        """Level at which evidence of a whole stream becomes an alarm."""
        return 1.0 / self.arl if self.arl is not None else float(self.alpha or ALPHA)

    def window_level(self, scale: int, end: int, n_groups: int = 1) -> float:
        """Level of the test of the window of 2**scale batches that ends with batch `end`."""
        step = max(1, 2**scale // 2)
        if self.arl is not None:
            return min(1.0, self.patience * step * scale_weight(scale) / (2.0 * self.arl))
        number = (end - 2**scale) // step + 1
        share = scale_weight(scale) * test_weight(number) / n_groups
        return min(1.0, self.patience * float(self.alpha or ALPHA) * share)


def scale_weight(scale: int) -> float:
    """Fraction of the level for windows of 2**scale batches; the sum over all scales is 1."""
    return 1.0 / ((scale + 1) * (scale + 2))


def test_weight(number: int) -> float:
    """Fraction of the level of a scale for its test 1, 2, ...; the sum is below 1.

    The sum of 1 / (k log(k)^2) from k = 2 on is 2.1097, so that 0.47 is nearly the largest factor.
    """
    return 0.47 / ((number + 1) * math.log(number + 1.0) ** 2)


class WindowTest(NamedTuple):
    """Test of one window."""

    #: Number of batches.
    width: int
    counts: Counts
    #: Array of shape (H,). Logarithms of the p-values of all functions, 0 if adjusting makes
    #: them 1.
    logs: np.ndarray
    #: Logarithm of the smallest, times the number of functions.
    log_pvalue: float
    #: The window crosses if its p-value is at most this.
    level: float

    @property
    def excess(self) -> float:
        """Logarithm of the p-value less that of the level; at most 0 if the window crosses."""
        return self.log_pvalue - math.log(self.level)


@dataclass
class DyadicSums:
    """Sums of the latest blocks of 1, 2, 4, ... batches that end at multiples of their length."""

    #: Batches so far.
    end: int = 0
    #: The latest complete block of each length; None if a restart cut it.
    blocks: list[Counts | None] = field(default_factory=list)

    def restart(self) -> None:
        """Forget all batches, but not their number."""
        self.blocks = [None] * len(self.blocks)

    def add(self, batch: Counts) -> Iterator[tuple[int, Counts]]:
        """Add a batch, and iterate over the scales and sums of the windows that end with it."""
        self.end += 1
        yield 0, batch
        block: Counts = batch
        for scale in range(self.end.bit_length()):
            if scale == len(self.blocks):
                self.blocks.append(None)
            before, self.blocks[scale] = self.blocks[scale], block
            if before is None:
                return
            window = before + block
            yield scale + 1, window
            if self.end % 2 ** (scale + 1):
                return
            block = window


def window_tests(
    policy: AlarmPolicy, reference: Counts, sums: DyadicSums, batch: Counts, n_groups: int
) -> list[WindowTest]:
    """Add a batch, and test the windows that end with it, shortest first."""
    count = len(reference.ones)
    tests = []
    for scale, window in sums.add(batch):
        # 0.05 * 20 is a little more than 1 in floating point, 0.29 * 100 a little less than 29.
        dirty = math.floor(policy.tolerance * window.n_rows + 1e-9)
        logs = tolerant_log_pvalues(
            reference.ones, reference.n_rows, window.ones, window.n_rows, dirty, 1.0 / count
        )
        adjusted = min(0.0, float(logs.min()) + math.log(count))
        level = policy.window_level(scale, sums.end, n_groups)
        tests.append(WindowTest(2**scale, window, logs, adjusted, level))
    return tests
