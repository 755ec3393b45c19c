"""Evidence against a fixed calibration, for scores that are lower bounds of what is ranked.

With a tolerance, the score of a batch is what a share of foreign rows cannot explain: never more
than the plain score that its clean rows would have had. It can be compared with the plain scores of
the calibration, which are of clean rows, but says nothing about the plain scores of later batches:
ranks among *all* scores so far would be too small. So batches are only compared with the
calibration, and the dependence that this brings is part of the calculation.

Of n calibration scores let the k-th largest be the mark. The chance that a clean plain score passes
it is one number for the whole stream, the same for all batches and unknown: Beta(k, n + 1 - k). So
K of L batches in a row pass it with the probability of a beta-binomial law, and the ratio of
another such law (with a larger chance) to this one is a test martingale. It grows with every
passing, so that scores which are lower bounds only make it smaller: the promise holds whatever the
foreign rows are.

A change may come at any batch: for each start there is one such martingale, and each has a
filtration of its own, so that their sum is of no use. Instead the threshold is shared out: a start
at batch t rings at threshold x t (t + 1), and the union bound gives the same promise.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

#: The marks, as shares of the calibration scores above them; the largest score is always one.
_MARK_SHARES = (0.0, 0.02, 0.05, 0.1, 0.2)


def marks(n: int) -> list[tuple[int, int]]:
    """Pairs (k, b): the k-th largest of n scores is passed with a chance that is Beta(k, b).

    b = 1 bets that nearly all batches pass, b = k that half of them do; b stays below n + 1 - k, so
    that the ratio of the two laws grows with every passing.
    """
    found = []
    for share in _MARK_SHARES:
        k = max(1, math.ceil(share * n))
        found += [(k, b) for b in (1, k) if b <= n + 1 - k]
    return sorted(set(found))


N_MARKS = 2 * len(_MARK_SHARES) - 1


def log_ratio(passed: Any, length: Any, n: Any, k: Any, b: Any) -> np.ndarray:
    """Logarithm of the martingale after `passed` of `length` batches passed the mark.

    All are integers or arrays of integers that broadcast.
    """
    missed = length - passed
    logs = _log_factorials(int(np.max(n + length)) + 1)
    # Beta(k + K, b + M) / Beta(k, b), once for the chance with b misses and once for n + 1 - k;
    # what depends on k + K alone is the same in both.
    changed = logs[b + missed - 1] - logs[k + b + length - 1] - logs[b - 1] + logs[k + b - 1]
    as_before = logs[n - k + missed] - logs[n + length] - logs[n - k] + logs[n]
    return changed - as_before


def _log_factorials(size: int) -> np.ndarray:
    """log 0!, ..., log (size - 1)! at least."""
    return _log_factorials_up_to(1 << (size - 1).bit_length())


@lru_cache(maxsize=8)
def _log_factorials_up_to(size: int) -> np.ndarray:
    return np.array([math.lgamma(i + 1.0) for i in range(size)])


class ExceedanceEvidence:
    """The evidence of a stream of ranks among fixed calibration scores.

    Parameters
    ----------
    sizes : tuple of int
        How many calibration scores each stratum (a size of batches, a group) has.
    threshold, restarting, patience
        As in :class:`isodepth.inference.alarms.RankEvidence`. When restarting, the mean time is
        that of the first alarm, over calibrations as well.
    ranks : list of (int, int)
        Stratum, and how many of its calibration scores are at least as large, of each batch since
        the start.

    Examples
    --------
    >>> evidence = ExceedanceEvidence((100,), threshold=20.0)
    >>> [round(evidence.step(0, rank), 2) for rank in (40, 0, 0, 0)]
    [-3.36, -0.05, 3.46, 6.71]
    >>> evidence.enough
    True
    """

    def __init__(
        self,
        sizes: tuple[int, ...],
        threshold: float,
        restarting: bool = False,
        patience: int = 1,
        ranks: list[tuple[int, int]] | None = None,
    ) -> None:
        self.sizes = sizes
        self.threshold = threshold
        self.restarting = restarting
        self.patience = patience
        self.ranks = [] if ranks is None else ranks

    @property
    def count(self) -> int:
        """Batches since the start."""
        return len(self.ranks)

    def step(self, stratum: int, rank: int) -> float:
        """Take in the rank of one more batch, and return the logarithm of the evidence."""
        self.ranks.append((stratum, rank))
        return self.log_evidence

    @property
    def log_evidence(self) -> float:
        """The logarithm of the evidence, in the units of the threshold."""
        count = len(self.ranks)
        if count == 0:
            return -math.inf if self.restarting else 0.0
        strata, ranks = np.array(self.ranks).T
        total = np.zeros((N_MARKS, count))
        for stratum in np.unique(strata):
            n = self.sizes[stratum]
            known = marks(n)
            # Where two marks are the same, one of them is counted again.
            known += known[-1:] * (N_MARKS - len(known))
            k, b = np.array(known).T[:, :, None]
            here = strata == stratum
            total += self._least(_since(here & (ranks < k)), _since(here), n, k, b)
        return float((total + self._log_weights(count)).max()) - math.log(N_MARKS)

    def _least(
        self, passed: np.ndarray, length: np.ndarray, n: int, k: np.ndarray, b: np.ndarray
    ) -> np.ndarray:
        """What is left without the patience - 1 batches that speak most for a change."""
        least = log_ratio(passed, length, n, k, b)
        for aside in range(1, self.patience):
            fewer = np.minimum(aside, passed)
            least = np.minimum(least, log_ratio(passed - fewer, length - fewer, n, k, b))
        return least

    def _log_weights(self, count: int) -> np.ndarray:
        starts = np.arange(1, count + 1, dtype=float)
        if self.restarting:
            # P(T <= t) <= t / (2 arl), so that E T >= arl.
            return np.full(count, -math.log(2.0))
        return -np.log(starts * (starts + 1.0))

    @property
    def enough(self) -> bool:
        """Whether the evidence is enough to ring."""
        return self.log_evidence >= math.log(self.threshold)

    def restart(self) -> None:
        """Begin anew with the next batch."""
        self.ranks = []


def _since(events: np.ndarray) -> np.ndarray:
    """How many events there are from each batch to the last."""
    return np.cumsum(events[..., ::-1], axis=-1)[..., ::-1]
