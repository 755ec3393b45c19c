"""Evidence over time: as defined, a martingale, and no more false alarms than promised."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twins import naive_alarms as naive

from isodepth import InvalidOptionError
from isodepth.monitor import evidence as module
from isodepth.monitor.evidence import (
    MOST_PATIENCE,
    N_BETS,
    N_CUTOFFS,
    AlarmPolicy,
    ExceedanceEvidence,
    RankEvidence,
    batch_uniform,
    conformal_pvalue,
    cutoffs,
    log_bets,
    log_ratio,
)

P_VALUES = st.floats(1e-12, 1.0)
#: Sums of a few dozen positive terms, each the product of a few dozen factors.
ROUNDING = 1e-12
SIZES = (40, 20, 7)
RANKS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 7)), min_size=1, max_size=9)


def enough(evidence: Any, threshold: float = 20.0) -> bool:
    return evidence.log_evidence >= math.log(threshold)


# -- ranks among all scores so far ----------------------------------------------------------------


@settings(deadline=None)
@given(st.lists(P_VALUES, min_size=1, max_size=7), st.integers(1, 4), st.booleans())
def test_the_recursion_is_the_sum_over_starts(
    pvalues: list[float], patience: int, restarting: bool
) -> None:
    evidence = RankEvidence(restarting, patience)
    for count, p in enumerate(pvalues, 1):
        found = evidence.step(p)
        expected = naive.evidence(
            pvalues[:count], module._BETS, module._POWERS.tolist(), patience, restarting
        )
        assert found == pytest.approx(naive.log(expected), abs=ROUNDING)


@settings(deadline=None)
@given(st.lists(st.integers(0, 4), max_size=12), st.integers(0, 4), st.floats(1e-9, 1.0))
def test_pvalues_are_smoothed_ranks(earlier: list[int], score: int, uniform: float) -> None:
    found = conformal_pvalue(float(score), np.array(earlier, dtype=float), uniform)
    assert found == pytest.approx(naive.rank_pvalue(score, earlier, uniform), rel=1e-15)


def test_every_bet_is_fair_and_never_increases() -> None:
    # Midpoints between all jumps and many more: step functions are integrated without error.
    edges = np.unique(np.concatenate([np.linspace(0, 1, 20_001), module._SHARES]))
    middles, widths = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    values = np.exp([log_bets(float(p)) for p in middles])
    n_steps = len(module._BETS)
    assert widths @ values[:, :n_steps] == pytest.approx(np.ones(n_steps), abs=1e-12)
    assert (np.diff(values, axis=0) <= 0).all()
    # The powers e p^(e - 1) are the derivatives of p^e.
    for j, power in enumerate(module._POWERS):
        slope = ((0.3 + 1e-6) ** power - (0.3 - 1e-6) ** power) / 2e-6
        assert math.exp(log_bets(0.3)[n_steps + j]) == pytest.approx(slope, rel=1e-8)
    assert values.shape[1] == N_BETS


def test_nothing_overflows_or_vanishes() -> None:
    for p, restarting in itertools.product((1e-300, 1.0), (False, True)):
        evidence = RankEvidence(restarting, patience=2)
        for _ in range(3000):
            evidence.step(p)
        assert math.isfinite(evidence.log_evidence)
        assert enough(evidence) == (p < 1)


@settings(deadline=None, max_examples=50)
@given(st.lists(P_VALUES, min_size=2, max_size=30), st.data())
def test_patience_sets_any_batch_aside(pvalues: list[float], data: st.DataObject) -> None:
    """What is left with patience 2 is never more than without any single batch at all."""
    corrupt = data.draw(st.integers(0, len(pvalues) - 1))
    patient = RankEvidence(patience=2)
    without = np.full(N_BETS, -np.inf)
    for count, p in enumerate(pvalues):
        patient.step(1e-300 if count == corrupt else p)
        start = -math.log((count + 1) * (count + 2))
        without = np.logaddexp(without, start) + (0 if count == corrupt else log_bets(p))
    left = np.logaddexp(np.logaddexp.reduce(without) - math.log(N_BETS), -math.log(count + 2))
    assert patient.log_evidence <= left + ROUNDING


@pytest.mark.parametrize("patience", [2, 3, 4])
@pytest.mark.parametrize("restarting", [False, True])
@pytest.mark.parametrize("kind", ["ranks", "exceedances"])
def test_fewer_corrupt_batches_than_patience(kind: str, restarting: bool, patience: int) -> None:
    """They never raise an alarm, neither at once nor after batches that say nothing."""
    if kind == "ranks":
        evidence, corrupt, quiet = RankEvidence(restarting, patience), (1e-300,), (0.7,)
    else:
        evidence = ExceedanceEvidence((200,), restarting, patience)
        corrupt, quiet = (0, 0), (0, 120)
    for step in [corrupt] * (patience - 1) + [quiet] * 15:
        evidence.step(*step)
        assert not enough(evidence)
    for _ in range(20):
        evidence.step(*corrupt)
    assert enough(evidence)
    evidence.restart()
    assert evidence.count == 0
    assert evidence.log_evidence == (-math.inf if restarting else 0.0)


def test_uniform_numbers_depend_on_seed_and_count_alone() -> None:
    drawn = np.array([[batch_uniform(seed, count) for count in range(400)] for seed in (0, 1)])
    assert drawn[0].tolist() == [batch_uniform(0, count) for count in range(400)]
    assert len(np.unique(drawn)) == 800
    assert ((drawn > 0) & (drawn <= 1)).all()
    # Mean and variance of 800 uniform numbers, within four standard errors.
    assert abs(drawn.mean() - 0.5) < 4 * math.sqrt(1 / 12 / 800)
    assert abs(drawn.var() - 1 / 12) < 4 * math.sqrt(1 / 180 / 800)


def test_policies() -> None:
    assert AlarmPolicy.checked().threshold == 100
    assert AlarmPolicy.checked(arl=500).threshold == 500
    assert isinstance(AlarmPolicy.checked(tolerance=0.1).evidence((5,)), ExceedanceEvidence)
    with pytest.raises(InvalidOptionError, match=f"at most {MOST_PATIENCE}, got 30000000"):
        AlarmPolicy.checked(patience=30_000_000)


# -- exceedances of a fixed calibration -----------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(RANKS, st.integers(1, 3), st.booleans())
def test_it_is_the_ratio_of_two_urns(
    batches: list[tuple[int, int]], patience: int, restarting: bool
) -> None:
    evidence = ExceedanceEvidence(SIZES, restarting, patience)
    for stratum, rank in batches:
        found = evidence.step(stratum, rank)
    # Strata with fewer cutoffs repeat their last one.
    columns = [cutoffs(n) + [cutoffs(n)[-1]] * (N_CUTOFFS - len(cutoffs(n))) for n in SIZES]
    expected = naive.exceedance_evidence(batches, SIZES, columns, patience, restarting)
    # Differences of log-gammas of numbers below 60, each known to about 1e-14.
    assert found == pytest.approx(math.log(expected), abs=1e-11)


@pytest.mark.parametrize("n", [1, 2, 5, 19, 50, 200, 1000])
def test_the_ratio_grows_with_every_exceedance(n: int) -> None:
    for k, b in cutoffs(n):
        ratios = log_ratio(np.arange(31), np.full(31, 30), n, k, b)
        assert (np.diff(ratios) >= -1e-11).all()
    assert len(cutoffs(n)) <= N_CUTOFFS


@settings(deadline=None, max_examples=60)
@given(RANKS, st.integers(1, 2), st.data())
def test_lower_scores_never_raise_the_evidence(
    batches: list[tuple[int, int]], patience: int, data: st.DataObject
) -> None:
    """Lower scores have larger ranks, whenever they come."""
    first, second = (ExceedanceEvidence(SIZES, False, patience) for _ in range(2))
    for stratum, rank in batches:
        first.step(stratum, rank)
        second.step(stratum, rank + data.draw(st.integers(0, 3)))
    assert second.log_evidence <= first.log_evidence + 1e-11


# -- statistics -----------------------------------------------------------------------------------


def first_alarm(evidence: Any, steps: list[tuple], threshold: float = 20.0) -> float:
    for count, step in enumerate(steps, 1):
        evidence.step(*step)
        if enough(evidence, threshold):
            return count
    return math.inf


def rank_steps(scores: np.ndarray, n_before: int, rng: np.random.Generator) -> list[tuple[float]]:
    """Smoothed ranks of the scores after the first `n_before` among all before them."""
    uniform = 1.0 - rng.random(len(scores))
    return [
        (conformal_pvalue(scores[i], scores[:i], uniform[i]),) for i in range(n_before, len(scores))
    ]


def exceedance_steps(scores: np.ndarray, calibration: np.ndarray) -> list[tuple[int, int]]:
    return [(0, int((calibration >= score).sum())) for score in scores]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["ranks", "tied ranks", "exceedances 20", "exceedances 150"])
def test_false_alarms_are_as_rare_as_promised(kind: str) -> None:
    """Ever reaching 20 has probability at most 5%, also with many ties."""
    rng = np.random.default_rng(5)
    times, runs = [], 800
    for _ in range(runs):
        scores = rng.normal(size=130).round(1 if kind == "tied ranks" else 12)
        if "ranks" in kind:
            times.append(first_alarm(RankEvidence(), rank_steps(scores, 30, rng)))
        else:
            calibration = rng.normal(size=int(kind.split()[1]))
            evidence = ExceedanceEvidence((len(calibration),))
            times.append(first_alarm(evidence, exceedance_steps(scores[:100], calibration)))
    assert np.isfinite(times).mean() <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / runs)


@pytest.mark.slow
def test_the_mean_time_between_false_alarms_is_kept() -> None:
    steps = 1.0 - np.random.default_rng(6).random((400, 600, 1))
    times = np.array([first_alarm(RankEvidence(restarting=True), s, 50.0) for s in steps])
    # Cutting off at 601 can only make the mean smaller.
    times = np.minimum(times, 601)
    assert times.mean() - 2 * times.std() / 20 >= 50


@pytest.mark.slow
@pytest.mark.parametrize(("change", "limit"), [(100, 5), (1500, 8)])
def test_changes_are_seen_soon(change: int, limit: int) -> None:
    rng = np.random.default_rng(7)
    delays: dict[str, list[float]] = {"ranks": [], "exceedances": []}
    for _ in range(9):
        scores = rng.normal(size=200 + change + 20)
        scores[200 + change :] += 6.0
        steps = {
            "ranks": rank_steps(scores, 200, rng),
            "exceedances": exceedance_steps(scores[200:], scores[:200]),
        }
        for kind, given_steps in steps.items():
            evidence = RankEvidence() if kind == "ranks" else ExceedanceEvidence((200,))
            for step in given_steps[:change]:
                # False alarms before the change are the matter of another test.
                if kind == "ranks":
                    evidence.step(*step)
                else:
                    evidence.ranks = [*evidence.ranks, step]
            delays[kind].append(first_alarm(evidence, given_steps[change:]))
    assert all(np.median(found) <= limit for found in delays.values())
