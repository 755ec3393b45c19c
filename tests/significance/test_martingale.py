"""The test martingale of ranks agrees with its definition."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twins import naive_alarms as naive

from isodepth.significance import martingale as module
from isodepth.significance.martingale import N_BETS, RankEvidence, conformal_pvalue, log_bets

P_VALUES = st.floats(1e-12, 1.0)
#: Rounding error of sums of a few dozen positive terms, each a product of a few dozen factors.
ROUNDING = 1e-12
BETS = tuple(zip(module._SHARES.tolist(), module._STAKES.tolist(), strict=True))


@settings(deadline=None)
@given(st.lists(P_VALUES, min_size=1, max_size=7), st.integers(1, 4), st.booleans())
def test_the_recursion_is_the_sum_over_starts(
    pvalues: list[float], patience: int, restarting: bool
) -> None:
    evidence = RankEvidence.start(restarting, patience)
    for count, p in enumerate(pvalues, 1):
        evidence = evidence.after(p)
        powers = module._POWERS.tolist()
        expected = naive.evidence(pvalues[:count], BETS, powers, patience, restarting)
        assert evidence.log_evidence == pytest.approx(naive.log(expected), abs=ROUNDING)


@settings(deadline=None)
@given(st.lists(st.integers(0, 4), max_size=12), st.integers(0, 4), st.floats(1e-9, 1.0))
def test_pvalues_are_smoothed_ranks(earlier: list[int], score: int, uniform: float) -> None:
    found = conformal_pvalue(float(score), np.array(earlier, dtype=float), uniform)
    assert found == pytest.approx(naive.rank_pvalue(score, earlier, uniform), rel=1e-15)


def test_every_bet_is_fair_and_never_increases() -> None:
    # The grid contains all jumps of the step functions, whose integrals are therefore exact.
    edges = np.unique(np.concatenate([np.linspace(0, 1, 20_001), module._SHARES]))
    middles, widths = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    values = np.exp([log_bets(float(p)) for p in middles])
    n_steps = len(BETS)
    assert widths @ values[:, :n_steps] == pytest.approx(np.ones(n_steps), abs=1e-12)
    assert (np.diff(values, axis=0) <= 0).all()
    # The powers e p^(e - 1) are the derivatives of p^e.
    for j, power in enumerate(module._POWERS):
        slope = ((0.3 + 1e-6) ** power - (0.3 - 1e-6) ** power) / 2e-6
        assert math.exp(log_bets(0.3)[n_steps + j]) == pytest.approx(slope, rel=1e-8)
    assert values.shape[1] == N_BETS


def test_nothing_overflows_or_vanishes() -> None:
    for p, restarting in itertools.product((1e-300, 1.0), (False, True)):
        evidence = RankEvidence.start(restarting, patience=2)
        for _ in range(3000):
            evidence = evidence.after(p)
        assert math.isfinite(evidence.log_evidence)
        assert (evidence.log_evidence >= math.log(20)) == (p < 1)


@pytest.mark.parametrize("patience", [2, 3, 4])
@pytest.mark.parametrize("restarting", [False, True])
def test_fewer_corrupt_batches_than_patience(restarting: bool, patience: int) -> None:
    evidence = RankEvidence.start(restarting, patience)
    for p in [1e-300] * (patience - 1) + [0.7] * 15:
        evidence = evidence.after(p)
        assert evidence.log_evidence < math.log(20)
    for _ in range(20):
        evidence = evidence.after(1e-300)
    assert evidence.log_evidence >= math.log(20)
    start = RankEvidence.start(restarting, patience)
    assert start.log_evidence == (-math.inf if restarting else 0.0)


@pytest.mark.parametrize("rule", ["every 5", "random", "low", "after alarms", "every batch"])
def test_restarts_do_not_raise_the_level(rule: str) -> None:
    """At most 10% of the streams have an alarm, also if restarts depend on earlier p-values."""
    rng, alarms, again = np.random.default_rng(6), 0, 0
    for _ in range(100):
        evidence, rung, peak = RankEvidence.start(False, 1), 0, 0.0
        for count, p in enumerate(1.0 - rng.random(100), 1):
            evidence = evidence.after(p)
            level, peak = evidence.log_evidence, max(peak, evidence.log_evidence)
            if level >= math.log(10):
                rung += 1
                evidence = evidence.restarted()
            elif (
                (rule == "every 5" and count % 5 == 0)
                or (rule == "random" and rng.random() < 0.2)
                or (rule == "low" and level < peak - 1)
                or rule == "every batch"
            ):
                evidence, peak = evidence.restarted(), 0.0
        alarms, again = alarms + (rung > 0), again + max(0, rung - 1)
    # Three standard errors above 10%. Further alarms after a restart are rarer still.
    assert alarms <= 100 * 0.1 + 3 * math.sqrt(100 * 0.1 * 0.9)
    assert again <= alarms


@settings(deadline=None)
@given(st.lists(P_VALUES, min_size=1, max_size=6), st.lists(P_VALUES, min_size=1, max_size=4))
def test_a_restart_leaves_the_stakes_of_later_starts(
    before: list[float], after: list[float]
) -> None:
    evidence = RankEvidence.start(False, 1)
    for p in before:
        evidence = evidence.after(p)
    evidence = evidence.restarted()
    for p in after:
        evidence = evidence.after(p)
    expected = 1.0 / (len(before) + len(after) + 1)
    for start in range(len(after)):
        number = len(before) + start + 1
        wealth = np.exp(sum(log_bets(p) for p in after[start:])).mean()
        expected += wealth / (number * (number + 1))
    assert evidence.log_evidence == pytest.approx(math.log(expected), abs=1e-9)
    assert evidence.n_batches - evidence.n_restart == len(after)
