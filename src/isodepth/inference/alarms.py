"""Evidence that grows while a stream is watched, and when it is enough to ring.

Every new score is ranked among all scores so far. As long as the scores are exchangeable, these
ranks, smoothed by a uniform number, are independent and uniform p-values (Vovk). Bets on small
p-values make a fortune that is a martingale: starting from 1 it ever reaches 1/alpha with
probability at most alpha (Ville). Nobody knows when a change will come and how large it will be, so
the fortune is spread over betting functions, equally, and over the batch at which betting starts,
with weights 1/(t (t + 1)); what has not started yet stays as cash, 1/(t + 1) of it after t batches.

The form for those who reset and go on (Shiryaev and Roberts; an e-detector of Shin, Ramdas and
Rinaldo) stakes 1 anew at every batch: its value less the number of batches is a martingale, so that
the mean time until it reaches `arl` is at least `arl`.

All sums over starting times are recursive: memory and time do not grow with the stream. Everything
is kept as logarithms, which neither overflow nor vanish.
"""

from __future__ import annotations

import math

import numpy as np

# A bet keeps 1 - stake and puts the rest on p <= share, at the fair odds of 1 to share. Small
# shares win fast against large changes, once there are enough scores to rank among; large ones are
# patient against small changes.
_BETS = (
    (0.001, 0.9), (0.002, 0.9), (0.005, 0.9), (0.01, 0.9), (0.02, 0.9), (0.05, 0.9), (0.1, 0.9),
    (0.2, 0.9), (0.1, 0.5), (0.3, 0.5), (0.5, 0.5),
)  # fmt: skip
_SHARES = np.array([share for share, _ in _BETS])
_STAKES = np.array([stake for _, stake in _BETS])
_LOG_LOST = np.log1p(-_STAKES)
_LOG_WON = np.log(1.0 - _STAKES + _STAKES / _SHARES)
# e p^(e - 1): falls without a jump, for changes that none of the shares fits.
_POWERS = np.array([0.2, 0.5])

N_BETS = len(_BETS) + len(_POWERS)


def conformal_pvalue(score: float, earlier: np.ndarray, uniform: float) -> float:
    """The smoothed rank of a score among itself and all earlier ones.

    Parameters
    ----------
    score : float
    earlier : ndarray of shape (n,)
        Scores that are exchangeable with it unless something changed.
    uniform : float in (0, 1]
        Breaks ties, that of the score with itself among them.

    Returns
    -------
    pvalue : float in (0, 1]
        Small where the score is large.

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
    return 1.0 - float(np.random.default_rng([seed, count]).random())


def log_bets(pvalue: float) -> np.ndarray:
    """Logarithm of what each bet of 1 becomes, of shape (N_BETS,).

    Every bet is a function of p that never rises and has integral 1 over [0, 1].
    """
    steps = np.where(pvalue <= _SHARES, _LOG_WON, _LOG_LOST)
    powers = np.log(_POWERS) + (_POWERS - 1.0) * math.log(pvalue)
    return np.concatenate([steps, powers])


class RankEvidence:
    """The evidence of a stream of p-values against their being independent and uniform.

    Parameters
    ----------
    threshold : float > 1
        1/alpha, or the promised mean time between false alarms.
    restarting : bool
        False: from the first batch on, the chance of ever reaching the threshold is at most
        1/threshold. True: the mean time until it is reached is at least `threshold`, and it begins
        anew each time.
    patience : int
        How many batches it takes to ring: the evidence is what is left without the patience - 1
        batches that speak most for a change.
    logs : ndarray of shape (patience, N_BETS), or None
        Where an earlier stream stopped, with `count`.
    count : int

    Examples
    --------
    >>> evidence = RankEvidence(threshold=20.0)
    >>> [round(evidence.step(p), 2) for p in (0.4, 0.001, 0.002)]
    [-0.4, 3.44, 8.33]
    >>> evidence.enough
    True
    """

    def __init__(
        self,
        threshold: float,
        restarting: bool = False,
        patience: int = 1,
        logs: np.ndarray | None = None,
        count: int = 0,
    ) -> None:
        self.threshold = threshold
        self.restarting = restarting
        self.logs = np.full((patience, N_BETS), -np.inf) if logs is None else logs
        self.count = count

    def step(self, pvalue: float) -> float:
        """Take in the p-value of one more batch, and return the logarithm of the evidence."""
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

    @property
    def enough(self) -> bool:
        """Whether the evidence is enough to ring."""
        return self.log_evidence >= math.log(self.threshold)

    def restart(self) -> None:
        """Begin anew with the next batch."""
        self.logs = np.full_like(self.logs, -np.inf)
        self.count = 0
