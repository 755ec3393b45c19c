"""Windows of the last 1, 2, 4, 8, ... batches, their tests, and the levels of these tests.

A window of 2^j batches is tested whenever it ends at a multiple of 2^(j - 1), counted from the
first batch of the stream. A restart removes the windows that began before it. `docs/monitoring.md`
proves the guarantees.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from isodepth.core.weights import contaminated_rows
from isodepth.data.validation import check_integer, check_number
from isodepth.errors import InvalidOptionError
from isodepth.monitor.functions import Counts
from isodepth.significance.fisher import log_pvalues

_ALPHA, _MOST_PATIENCE = 0.01, 100
_TINY = float(np.finfo(np.float64).tiny)


def pvalue_of(log: float) -> float:
    """Return exp(log), limited to (0, 1]."""
    return max(math.exp(min(0.0, log)), _TINY)


class DyadicSums(NamedTuple):
    """Counts of the latest blocks of 2**j batches that end at a multiple of 2**j, j = 0, 1, ...."""

    end: int = 0  # batches so far
    blocks: tuple[Counts | None, ...] = ()  # None if batches of the block precede a restart

    def restarted(self) -> DyadicSums:
        """Return sums without any batch; the numbering of the batches continues."""
        return DyadicSums(self.end, (None,) * len(self.blocks))

    def add(self, batch: Counts) -> tuple[DyadicSums, list[Counts]]:
        """Add a batch, and return the counts of the last 1, 2, 4, ... batches."""
        end, blocks, windows = self.end + 1, [*self.blocks, None], [batch]
        for scale, before in enumerate(blocks):
            blocks[scale] = windows[-1]
            if before is None:
                break
            windows.append(before + windows[-1])
            if end % 2 ** (scale + 1):
                break
        return DyadicSums(end, tuple(blocks[: end.bit_length()])), windows


class Evidence(NamedTuple):
    """Result of the tests of a batch; the names are those of `Verdict`."""

    counts: Counts  # of the strongest window
    logs: np.ndarray  # (H,), logarithms of the p-values of all functions
    pvalue: float
    window: int
    window_pvalue: float
    threshold: float
    extreme: bool = False
    score: float | None = None
    exact: bool = True


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
        elif self.alpha is None:
            checked["arl"] = check_number(self.arl, "arl", 1, low_open=True, high_open=True)
        else:
            raise InvalidOptionError(
                f"alpha and arl exclude each other, got {self.alpha!r} and {self.arl!r}; remove one"
            )
        checked["tolerance"] = check_number(self.tolerance, "tolerance", 0, 0.5, high_open=True)
        checked["patience"] = check_integer(self.patience, "patience", 1)
        check_number(self.patience, "patience", 1, _MOST_PATIENCE)
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def level(self) -> float:
        """Level for the whole stream: an alarm is raised if 1 / evidence is at most this."""
        return self.alpha or 1.0 / (self.arl or 1.0)

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

    def strongest(
        self, reference: Counts, windows: list[Counts], end: int, n_groups: int
    ) -> Evidence:
        """Return the window with the smallest ratio of p-value to level, after `end` batches."""
        (n, a, *_), count, tests = reference, len(reference.ones), []
        for scale, window in enumerate(windows):
            dirty = contaminated_rows(self.tolerance, window.n_rows)
            logs = log_pvalues(a, n, window.ones, window.n_rows, dirty, 1.0 / count)
            adjusted = min(0.0, float(logs.min()) + math.log(count))
            level = self.window_level(scale, end, n_groups)
            tests.append((adjusted - math.log(level), scale, logs, pvalue_of(adjusted), level))
        _, scale, logs, pvalue, level = min(tests, key=lambda test: test[0])
        return Evidence(windows[scale], logs, tests[0][3], 2**scale, pvalue, level)
