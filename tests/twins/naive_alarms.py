"""Evidence of a monitor by its definition: sums over all starts, bets and batches."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence


def rank_pvalue(score: float, earlier: Sequence[float], uniform: float) -> float:
    """Return (number of larger scores + u * number of equal scores) / number of scores.

    The scores are `earlier` and `score` itself, which counts as equal, and u is `uniform`.
    """
    larger = sum(other > score for other in earlier)
    equal = 1 + sum(other == score for other in earlier)
    return (larger + uniform * equal) / (len(earlier) + 1)


def bet(
    index: int, p: float, bets: Sequence[tuple[float, float]], powers: Sequence[float]
) -> float:
    """Return the factor by which the p-value p multiplies the wealth of bet number `index`.

    `bets` are pairs of a threshold and a stake: the stake is multiplied by 1 / threshold if p is at
    most the threshold, and lost otherwise. They are followed by bets with the factor a p^(a - 1)
    for the exponents a in `powers`.
    """
    if index < len(bets):
        share, stake = bets[index]
        return 1 - stake + (stake / share if p <= share else 0)
    power = powers[index - len(bets)]
    return power * p ** (power - 1)


def fortune(factors: Sequence[float], aside: Sequence[int], restarting: bool) -> float:
    """Return the sum over starts of a weight times the product of the factors from the start on.

    A start is the number of a batch, counted from 0. The factors of the batches in `aside` are left
    out. The weight of start k is 1 if `restarting`, and otherwise 1 / ((k + 1) (k + 2)).
    """
    total = 0.0
    for start in range(len(factors)):
        product = 1.0 if restarting else 1.0 / ((start + 1) * (start + 2))
        for batch in range(start, len(factors)):
            if batch not in aside:
                product *= factors[batch]
        total += product
    return total


def evidence(
    pvalues: Sequence[float],
    bets: Sequence[tuple[float, float]],
    powers: Sequence[float],
    patience: int,
    restarting: bool,
) -> float:
    """Return the mean over bets of the minimum `fortune`, plus the wealth that is not yet at stake.

    The minimum is over all sets of at most `patience - 1` batches that are left out. Without
    `restarting`, the wealth of later starts is not yet at stake.
    """
    n_bets, count = len(bets) + len(powers), len(pvalues)
    total = 0.0
    for index in range(n_bets):
        factors = [bet(index, p, bets, powers) for p in pvalues]
        total += min(
            fortune(factors, aside, restarting)
            for size in range(min(patience - 1, count) + 1)
            for aside in itertools.combinations(range(count), size)
        )
    cash = 0.0 if restarting else 1.0 - sum(1.0 / (t * (t + 1)) for t in range(1, count + 1))
    return total / n_bets + cash


def log(value: float) -> float:
    """Return the logarithm, which is -inf for 0."""
    return -math.inf if value == 0 else math.log(value)
