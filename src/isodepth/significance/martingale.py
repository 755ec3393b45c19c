"""Sequential test of exchangeable scores by betting on their ranks.

If scores are exchangeable, the ranks of new scores among all earlier ones, smoothed by a uniform
number, are independent and uniform p-values (Vovk). Bets on small p-values form a test martingale.
The probability that it ever reaches 1/alpha is at most alpha (Ville). The initial capital is
divided among several betting functions, and among the possible starts of a change t = 1, 2, ...,
with weights 1/(t (t + 1)). The wealth of a bet is its present capital. The evidence is the sum of
all capital.

If the user chooses a mean time between false alarms (`arl`) instead of alpha, a new bet of 1 starts
at every batch. An alarm is raised if the sum of all bets reaches `arl` (Shiryaev, Roberts).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

# A bet pays 1 - stake, and stake / share in addition if p <= share. Bets with a small share detect
# large changes fast, once there are enough scores for small p-values. Bets with a large share
# detect small changes in the long run.
_SHARES = np.array([0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.1, 0.3, 0.5])
_STAKES = np.array([0.9] * 8 + [0.5] * 3)
# Exponents e of further bets, which pay e p^(e - 1): they detect changes of any size.
_POWERS = np.array([0.2, 0.5])
N_BETS = len(_SHARES) + len(_POWERS)


def conformal_pvalue(score: float, earlier: np.ndarray, uniform: float) -> float:
    """Return the conformal p-value of a score, in (0, 1].

    It is the rank of the score among the `earlier` scores and itself, divided by the number of
    these scores. The largest score has the smallest rank. Ties are broken by `uniform`, a random
    number in (0, 1].
    """
    above = np.count_nonzero(earlier > score)
    tied = np.count_nonzero(earlier == score) + 1
    return float((above + uniform * tied) / (len(earlier) + 1))


def log_bets(pvalue: float) -> np.ndarray:
    """Return the log payoffs (N_BETS,) of all betting functions for a p-value.

    The payoff is the factor by which the wealth of a bet changes. Its mean is 1 if the p-value is
    uniform.
    """
    won = np.log(1.0 - _STAKES + _STAKES / _SHARES)
    steps = np.where(pvalue <= _SHARES, won, np.log1p(-_STAKES))
    powers = np.log(_POWERS) + (_POWERS - 1.0) * math.log(pvalue)
    return np.concatenate([steps, powers])


class RankEvidence(NamedTuple):
    """Evidence against the hypothesis that p-values are independent and uniform.

    Under this hypothesis, the probability that the evidence ever reaches a threshold is at most
    1/threshold. If `restarting`, the threshold is instead a lower bound on the mean number of
    batches until the evidence reaches it. The wealth of each bet is the minimum over all ways to
    ignore at most `patience` - 1 batches, so that this number of outlying batches has little
    effect.
    """

    restarting: bool
    # Log wealth of each bet, of shape (patience, N_BETS). Row r has the minimum over all choices of
    # at most r batches that are ignored.
    logs: np.ndarray
    n_batches: int = 0  # number of batches since `start`
    n_restart: int = 0  # number of batches before the last restart

    @classmethod
    def start(cls, restarting: bool, patience: int) -> RankEvidence:
        """Return the evidence before the first batch; see the class for the arguments."""
        return cls(restarting, np.full((patience, N_BETS), -np.inf))

    def restarted(self) -> RankEvidence:
        """Return the evidence after all wealth is set to 0.

        Only the capital that is reserved for changes that start later remains. A restart never adds
        capital, so the bounds hold even if the past determines the times of restarts.
        """
        return RankEvidence.start(self.restarting, len(self.logs))._replace(
            n_batches=self.n_batches, n_restart=self.n_batches
        )

    def after(self, pvalue: float) -> RankEvidence:
        """Return the evidence after one more batch with this p-value."""
        n_batches = self.n_batches + 1
        stake = 0.0 if self.restarting else -math.log(n_batches * (n_batches + 1.0))
        staked = np.logaddexp(self.logs, stake)
        logs = staked + log_bets(pvalue)
        # The r ignored batches are this batch and r - 1 earlier ones, or r earlier ones. In both
        # cases the wealth increases with the earlier wealth, so the earlier minimum gives the new
        # minimum.
        logs[1:] = np.minimum(logs[1:], staked[:-1])
        return self._replace(logs=logs, n_batches=n_batches)

    @property
    def log_evidence(self) -> float:
        """Logarithm of the evidence, which starts at 1, or at 0 if `restarting`."""
        invested = float(np.logaddexp.reduce(self.logs[-1])) - math.log(N_BETS)
        if self.restarting:
            return invested
        return float(np.logaddexp(invested, -math.log(self.n_batches + 1.0)))
