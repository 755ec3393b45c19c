"""Evidence that a stream has drifted, and when there is enough of it to raise an alarm.

*Ranks among all scores so far* (no tolerance). As long as scores are exchangeable, the ranks of new
scores among all earlier ones, smoothed by a uniform number, are independent and uniform p-values
(Vovk). Bets on small p-values make a test martingale: starting from 1 it ever reaches 1/alpha with
probability at most alpha (Ville). The stake is spread equally over betting functions, and over the
batch at which betting starts with weights 1/(t (t + 1)); what has not started yet is kept,
1/(t + 1) of it after t batches. The form that starts again after each alarm (Shiryaev and Roberts;
an e-detector of Shin, Ramdas and Rinaldo) stakes 1 at every batch: its value less the number of
batches is a martingale, so that the mean time until it reaches `arl` is at least `arl`. Sums over
starting times are recursive: memory and time do not grow with the stream.

*Exceedances of the calibration* (with a tolerance). The score of a batch is then a lower bound of
the score that it would have had without contaminated rows. It can be compared with calibration
scores, but ranks among earlier lower bounds would be too small. Of n calibration scores let the
k-th largest be the cutoff. The probability that an undrifted score reaches it is the same for all
batches and unknown: Beta(k, n + 1 - k). So K of L batches reach it with the probability of a
beta-binomial distribution, and the ratio of another such distribution (with a larger probability)
to this one is a test martingale. It grows with every exceedance, so that lower bounds only make it
smaller. For each batch at which a change may start there is one such martingale, each with a
filtration of its own, so that they cannot be averaged: a start at batch t needs the threshold times
t (t + 1), and the union bound gives the same probability of a false alarm.

Everything is kept as logarithms, which neither overflow nor vanish.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from isodepth.data.seeds import rng_for
from isodepth.data.validation import check_integer, check_number
from isodepth.errors import InvalidOptionError

ALPHA = 0.01
#: An alarm may take so many batches at most.
MOST_PATIENCE = 100

# A bet keeps 1 - stake and puts the rest on p <= share, at the fair odds of 1 to share. Small
# shares win fast against large changes, once there are enough scores to rank among; large ones
# find small changes in the long run.
_BETS = (
    (0.001, 0.9), (0.002, 0.9), (0.005, 0.9), (0.01, 0.9), (0.02, 0.9), (0.05, 0.9), (0.1, 0.9),
    (0.2, 0.9), (0.1, 0.5), (0.3, 0.5), (0.5, 0.5),
)  # fmt: skip
_SHARES, _STAKES = np.transpose(_BETS)
_LOG_LOST = np.log1p(-_STAKES)
_LOG_WON = np.log(1.0 - _STAKES + _STAKES / _SHARES)
# e p^(e - 1): decreases without a jump, for changes that none of the shares fits.
_POWERS = np.array([0.2, 0.5])

N_BETS = len(_BETS) + len(_POWERS)

# The cutoffs, as shares of the calibration scores above them; the largest score is always one.
_CUTOFF_SHARES = (0.0, 0.02, 0.05, 0.1, 0.2)
N_CUTOFFS = 2 * len(_CUTOFF_SHARES) - 1


@dataclass(frozen=True)
class AlarmPolicy:
    """When a monitor raises an alarm, and what that promises.

    Attributes
    ----------
    alpha : float or None
        Probability that an undrifted stream ever raises an alarm.
    arl : float or None
        Mean number of batches between false alarms, where there is no `alpha`.
    tolerance : float
        Share of the rows of a batch that may be contaminated.
    patience : int
        How many batches an alarm takes.

    Examples
    --------
    >>> AlarmPolicy.checked(alpha=0.05).threshold
    20.0
    """

    alpha: float | None
    arl: float | None
    tolerance: float
    patience: int

    @classmethod
    def checked(
        cls, alpha: Any = None, arl: Any = None, tolerance: Any = 0.0, patience: Any = 1
    ) -> AlarmPolicy:
        """The policy that the options of a monitor ask for."""
        if arl is not None:
            if alpha is not None:
                raise InvalidOptionError(
                    "alpha bounds the probability of a false alarm at any time and arl the mean "
                    f"time between false alarms, got alpha={alpha!r} and arl={arl!r}; give one of "
                    "them"
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
    def threshold(self) -> float:
        """The evidence at which an alarm is raised."""
        return self.arl if self.arl is not None else 1.0 / (self.alpha or ALPHA)

    def evidence(self, sizes: tuple[int, ...]) -> RankEvidence | ExceedanceEvidence:
        """The evidence before the first batch; `sizes` as in :class:`ExceedanceEvidence`."""
        how = (self.arl is not None, self.patience)
        return ExceedanceEvidence(sizes, *how) if self.tolerance > 0 else RankEvidence(*how)


def conformal_pvalue(score: float, earlier: np.ndarray, uniform: float) -> float:
    """The smoothed rank of a score among itself and all earlier ones, small for large scores.

    Parameters
    ----------
    score : float
    earlier : ndarray of shape (n,)
        Scores that are exchangeable with it unless something changed.
    uniform : float in (0, 1]
        Breaks ties, that of the score with itself among them.

    Examples
    --------
    >>> import numpy as np
    >>> conformal_pvalue(5.0, np.array([1.0, 2.0, 3.0]), 1.0)
    0.25
    >>> conformal_pvalue(2.0, np.array([1.0, 2.0, 3.0]), 0.5)
    0.5
    """
    above = np.count_nonzero(earlier > score)
    level = np.count_nonzero(earlier == score) + 1
    return float((above + uniform * level) / (len(earlier) + 1))


def batch_uniform(seed: int, count: int) -> float:
    """The uniform number in (0, 1] of one batch: it depends on the seed and its count alone."""
    return 1.0 - float(rng_for(seed, "batches", count).random())


def log_bets(pvalue: float) -> np.ndarray:
    """Logarithm of what each bet of 1 becomes, of shape (N_BETS,).

    Every bet is a function of p that never increases and has integral 1 over [0, 1].
    """
    steps = np.where(pvalue <= _SHARES, _LOG_WON, _LOG_LOST)
    powers = np.log(_POWERS) + (_POWERS - 1.0) * math.log(pvalue)
    return np.concatenate([steps, powers])


@dataclass
class RankEvidence:
    """The evidence of a stream of p-values against their being independent and uniform.

    Parameters
    ----------
    restarting : bool
        False: the probability of ever reaching a threshold is at most 1/threshold. True: the mean
        time until it is reached is at least the threshold, and it starts again each time.
    patience : int
        How many batches an alarm takes: the evidence is what is left without the patience - 1
        batches that speak most for a change.

    Attributes
    ----------
    logs : ndarray of shape (patience, N_BETS)
    count : int
        Batches since the start.

    Examples
    --------
    >>> evidence = RankEvidence()
    >>> [round(evidence.step(p), 2) for p in (0.4, 0.001, 0.002)]
    [-0.4, 3.44, 8.33]
    """

    restarting: bool = False
    patience: int = 1

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Start again with the next batch."""
        self.logs = np.full((self.patience, N_BETS), -np.inf)
        self.count = 0

    def step(self, pvalue: float) -> float:
        """Add the p-value of one more batch, and return the logarithm of the evidence."""
        self.count += 1
        start = 0.0 if self.restarting else -math.log(self.count * (self.count + 1.0))
        staked = np.logaddexp(self.logs, start)
        grown = staked + log_bets(pvalue)
        # Row r is the least that is left when any r batches are set aside: this one (and r - 1
        # before it) or not. Both ways grow with what was there, so the least stays the least.
        grown[1:] = np.minimum(grown[1:], staked[:-1])
        self.logs = grown
        return self.log_evidence

    @property
    def log_evidence(self) -> float:
        """The logarithm of the evidence; that of 1 before the first batch, of 0 when restarting."""
        invested = float(np.logaddexp.reduce(self.logs[-1])) - math.log(N_BETS)
        if self.restarting:
            return invested
        return float(np.logaddexp(invested, -math.log(self.count + 1.0)))


@dataclass
class ExceedanceEvidence:
    """The evidence of a stream of ranks among fixed calibration scores.

    Parameters
    ----------
    sizes : tuple of int
        How many calibration scores each stratum (a size of batches, a group) has.
    restarting, patience
        As in :class:`RankEvidence`. When restarting, the mean time is that of the first alarm, over
        calibrations as well.

    Attributes
    ----------
    ranks : list of (int, int)
        Stratum, and how many of its calibration scores are at least as large, of each batch since
        the start.

    Examples
    --------
    >>> evidence = ExceedanceEvidence((100,))
    >>> [round(evidence.step(0, rank), 2) for rank in (40, 0, 0, 0)]
    [-3.36, -0.05, 3.46, 6.71]
    """

    sizes: tuple[int, ...]
    restarting: bool = False
    patience: int = 1
    ranks: list[tuple[int, int]] = field(default_factory=list)

    def restart(self) -> None:
        """Start again with the next batch."""
        self.ranks = []

    @property
    def count(self) -> int:
        """Batches since the start."""
        return len(self.ranks)

    def step(self, stratum: int, rank: int) -> float:
        """Add the rank of one more batch, and return the logarithm of the evidence."""
        # A new list: a copy of the evidence keeps the one it has.
        self.ranks = [*self.ranks, (stratum, rank)]
        return self.log_evidence

    @property
    def log_evidence(self) -> float:
        """The logarithm of the evidence, in the units of the threshold."""
        count = len(self.ranks)
        if count == 0:
            return -math.inf if self.restarting else 0.0
        strata, ranks = np.array(self.ranks).T
        total = np.zeros((N_CUTOFFS, count))
        for stratum in np.unique(strata):
            n = self.sizes[stratum]
            known = cutoffs(n)
            # Where two cutoffs are the same, one of them is counted again.
            known += known[-1:] * (N_CUTOFFS - len(known))
            k, b = np.array(known).T[:, :, None]
            here = strata == stratum
            total += self._least(_since(here & (ranks < k)), _since(here), n, k, b)
        starts = np.arange(1, count + 1, dtype=float)
        # When restarting, P(T <= t) <= t / (2 arl), so that E T >= arl.
        weights = -math.log(2.0) if self.restarting else -np.log(starts * (starts + 1.0))
        return float((total + weights).max()) - math.log(N_CUTOFFS)

    def _least(
        self, reached: np.ndarray, length: np.ndarray, n: int, k: np.ndarray, b: np.ndarray
    ) -> np.ndarray:
        """What is left without the patience - 1 batches that speak most for a change."""
        least = log_ratio(reached, length, n, k, b)
        for aside in range(1, min(self.patience, int(reached.max()) + 1)):
            fewer = np.minimum(aside, reached)
            least = np.minimum(least, log_ratio(reached - fewer, length - fewer, n, k, b))
        return least


def cutoffs(n: int) -> list[tuple[int, int]]:
    """Pairs (k, b): the k-th largest of n scores is reached with a probability of Beta(k, b).

    b = 1 bets that nearly all batches reach it, b = k that half of them do; b stays below
    n + 1 - k, so that the ratio of the two distributions grows with every exceedance.
    """
    found = []
    for share in _CUTOFF_SHARES:
        k = max(1, math.ceil(share * n))
        found += [(k, b) for b in (1, k) if b <= n + 1 - k]
    return sorted(set(found))


def log_ratio(reached: Any, length: Any, n: Any, k: Any, b: Any) -> np.ndarray:
    """Logarithm of the martingale after `reached` of `length` batches reached the cutoff.

    All are integers or arrays of integers that broadcast.
    """
    missed = length - reached
    logs = _log_factorials(1 << int(np.max(n + length)).bit_length())
    # Beta(k + K, b + M) / Beta(k, b), once for the probability with b misses and once for
    # n + 1 - k; what depends on k + K alone is the same in both.
    changed = logs[b + missed - 1] - logs[k + b + length - 1] - logs[b - 1] + logs[k + b - 1]
    as_before = logs[n - k + missed] - logs[n + length] - logs[n - k] + logs[n]
    return changed - as_before


@lru_cache(maxsize=8)
def _log_factorials(size: int) -> np.ndarray:
    """log 0!, ..., log (size - 1)!."""
    return np.array([math.lgamma(i + 1.0) for i in range(size)])


def _since(events: np.ndarray) -> np.ndarray:
    """How many events there are from each batch to the last."""
    return np.cumsum(events[..., ::-1], axis=-1)[..., ::-1]
