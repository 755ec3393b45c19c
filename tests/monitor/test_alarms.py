"""Evidence over time: equal to the sums that define it, a martingale, and never too eager."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twins import naive_alarms as naive

from isodepth.inference import alarms
from isodepth.inference.alarms import (
    N_BETS,
    RankEvidence,
    batch_uniform,
    conformal_pvalue,
    log_bets,
)

PVALUES = st.floats(1e-12, 1.0)
#: Sums of a few dozen positive terms, each the product of a few dozen factors.
ROUNDING = 1e-12


@settings(deadline=None)
@given(st.lists(PVALUES, min_size=1, max_size=7), st.integers(1, 4), st.booleans())
def test_the_recursion_is_the_sum_over_starts(
    pvalues: list[float], patience: int, restarting: bool
) -> None:
    evidence = RankEvidence(20.0, restarting, patience)
    for count, p in enumerate(pvalues, 1):
        found = evidence.step(p)
        expected = naive.evidence(
            pvalues[:count], alarms._BETS, alarms._POWERS.tolist(), patience, restarting
        )
        assert found == pytest.approx(naive.log(expected), abs=ROUNDING)


@settings(deadline=None)
@given(st.lists(st.integers(0, 4), max_size=12), st.integers(0, 4), st.floats(1e-9, 1.0))
def test_pvalues_are_smoothed_ranks(earlier: list[int], score: int, uniform: float) -> None:
    found = conformal_pvalue(float(score), np.array(earlier, dtype=float), uniform)
    assert found == pytest.approx(naive.rank_pvalue(score, earlier, uniform), rel=1e-15)
    assert 0 < found <= 1


def test_every_bet_is_fair_and_never_rises() -> None:
    # Midpoints between all jumps and many more: step functions are integrated without error.
    edges = np.unique(np.concatenate([np.linspace(0, 1, 20_001), alarms._SHARES]))
    middles, widths = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    values = np.exp([log_bets(float(p)) for p in middles])
    n_steps = len(alarms._BETS)
    assert widths @ values[:, :n_steps] == pytest.approx(np.ones(n_steps), abs=1e-12)
    assert (np.diff(values, axis=0) <= 0).all()
    # The powers e p^(e - 1) are the derivatives of p^e.
    for j, power in enumerate(alarms._POWERS):
        step = 1e-6
        slope = ((0.3 + step) ** power - (0.3 - step) ** power) / (2 * step)
        assert math.exp(log_bets(0.3)[n_steps + j]) == pytest.approx(slope, rel=1e-8)
    assert values.shape[1] == N_BETS


def test_with_certain_pvalues_the_evidence_only_falls() -> None:
    evidence = RankEvidence(20.0)
    found = [evidence.log_evidence] + [evidence.step(1.0) for _ in range(5)]
    assert found[0] == 0.0
    assert all(later < before for before, later in itertools.pairwise(found))


def test_nothing_overflows_or_vanishes() -> None:
    for p in (1e-300, 1.0):
        for restarting in (False, True):
            evidence = RankEvidence(20.0, restarting, patience=2)
            for _ in range(3000):
                evidence.step(p)
            assert math.isfinite(evidence.log_evidence)
            assert evidence.enough == (p < 1)


@settings(deadline=None, max_examples=50)
@given(st.lists(PVALUES, min_size=2, max_size=30), st.data())
def test_patience_sets_any_batch_aside(pvalues: list[float], data: st.DataObject) -> None:
    """What is left with patience 2 is never more than without any single batch at all."""
    corrupt = data.draw(st.integers(0, len(pvalues) - 1))
    patient = RankEvidence(20.0, patience=2)
    without = np.full(N_BETS, -np.inf)
    for count, p in enumerate(pvalues):
        patient.step(1e-300 if count == corrupt else p)
        start = -math.log((count + 1) * (count + 2))
        without = np.logaddexp(without, start) + (0 if count == corrupt else log_bets(p))
    left = np.logaddexp(np.logaddexp.reduce(without) - math.log(N_BETS), -math.log(count + 2))
    assert patient.log_evidence <= left + ROUNDING


@pytest.mark.parametrize("patience", [2, 3, 4])
@pytest.mark.parametrize("restarting", [False, True])
def test_fewer_corrupt_batches_than_patience_never_ring(patience: int, restarting: bool) -> None:
    evidence = RankEvidence(20.0, restarting, patience)
    for _ in range(patience - 1):
        evidence.step(1e-300)
        assert not evidence.enough
    # Batches right in the middle say nothing, and change nothing.
    for _ in range(15):
        evidence.step(0.7)
        assert not evidence.enough
    impatient = RankEvidence(20.0, restarting)
    impatient.step(1e-300)
    assert impatient.enough
    for _ in range(20):
        evidence.step(1e-300)
    assert evidence.enough


def test_it_continues_where_it_stopped() -> None:
    rng = np.random.default_rng(0)
    pvalues = 1.0 - rng.random(60)
    whole, first = RankEvidence(20.0, patience=2), RankEvidence(20.0, patience=2)
    for p in pvalues[:25]:
        first.step(p)
    second = RankEvidence(20.0, patience=2, logs=first.logs.copy(), count=first.count)
    for p in pvalues:
        whole.step(p)
    for p in pvalues[25:]:
        second.step(p)
    assert whole.log_evidence == second.log_evidence
    assert (whole.logs == second.logs).all()
    whole.restart()
    assert (whole.count, whole.log_evidence) == (0, 0.0)


def test_uniform_numbers_depend_on_seed_and_count_alone() -> None:
    drawn = [[batch_uniform(seed, count) for count in range(400)] for seed in (0, 1)]
    assert drawn[0] == [batch_uniform(0, count) for count in range(400)]
    flat = np.array(drawn).ravel()
    assert len(np.unique(flat)) == 800
    assert ((flat > 0) & (flat <= 1)).all()
    # Mean and variance of 800 uniform numbers, within four standard errors.
    assert abs(flat.mean() - 0.5) < 4 * math.sqrt(1 / 12 / 800)
    assert abs(flat.var() - 1 / 12) < 4 * math.sqrt(1 / 180 / 800)


# -- statistics -----------------------------------------------------------------------------------


def alarm_times(pvalues: np.ndarray, **options: object) -> np.ndarray:
    """When each of the streams (N, T) rings, T + 1 for never."""
    times = np.full(len(pvalues), pvalues.shape[1] + 1)
    for i, stream in enumerate(pvalues):
        evidence = RankEvidence(**options)  # type: ignore[arg-type]
        for count, p in enumerate(stream, 1):
            evidence.step(p)
            if evidence.enough:
                times[i] = count
                break
    return times


def ranks_of(scores: np.ndarray, n_before: int, rng: np.random.Generator) -> np.ndarray:
    """Smoothed ranks of the scores (N, T) after the first `n_before` among all before them."""
    uniform = 1.0 - rng.random(scores.shape)
    return np.stack(
        [
            [conformal_pvalue(row[i], row[:i], uniform[j, i]) for i in range(n_before, len(row))]
            for j, row in enumerate(scores)
        ]
    )


@pytest.mark.slow
@pytest.mark.parametrize("digits", [None, 1])
def test_false_alarms_are_as_rare_as_promised(digits: int | None) -> None:
    """Scores in a row, also with many ties; ever ringing at 20 has probability at most 5%."""
    rng = np.random.default_rng(5)
    scores = rng.normal(size=(1500, 130))
    if digits is not None:
        scores = scores.round(digits)
    pvalues = ranks_of(scores, 30, rng)
    share = (alarm_times(pvalues, threshold=20.0) <= 100).mean()
    assert share <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 1500)
    # Independent and uniform: means of neighbors' products within four standard errors.
    assert abs((pvalues[:, 1:] * pvalues[:, :-1]).mean() - 0.25) < 4 * math.sqrt(
        (1 / 9 - 1 / 16) / pvalues[:, 1:].size * 3
    )
    assert abs(pvalues.mean() - 0.5) < 4 * math.sqrt(1 / 12 / pvalues.size)


@pytest.mark.slow
def test_the_mean_time_between_false_alarms_is_kept() -> None:
    pvalues = 1.0 - np.random.default_rng(6).random((400, 600))
    times = alarm_times(pvalues, threshold=50.0, restarting=True)
    # Cutting off at 601 can only make the mean smaller.
    assert times.mean() - 2 * times.std() / 20 >= 50


@pytest.mark.slow
@pytest.mark.parametrize(("change", "limit"), [(100, 5), (1500, 8)])
def test_changes_are_seen_soon(change: int, limit: int) -> None:
    rng = np.random.default_rng(7)
    scores = rng.normal(size=(25, 100 + change + 20))
    scores[:, 100 + change :] += 6.0
    pvalues = ranks_of(scores, 100, rng)
    delays = alarm_times(pvalues, threshold=20.0) - change
    assert np.median(delays) <= limit
