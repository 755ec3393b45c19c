"""Evidence against a fixed calibration: the ratio of two urns, and safe for lower bounds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twins import naive_alarms as naive

from isodepth.inference.exceedances import N_MARKS, ExceedanceEvidence, log_ratio, marks

SIZES = (40, 20, 7)
RANKS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 7)), min_size=1, max_size=9)


@settings(deadline=None, max_examples=60)
@given(RANKS, st.integers(1, 3), st.booleans())
def test_it_is_the_ratio_of_two_urns(
    batches: list[tuple[int, int]], patience: int, restarting: bool
) -> None:
    evidence = ExceedanceEvidence(SIZES, 20.0, restarting, patience)
    for stratum, rank in batches:
        found = evidence.step(stratum, rank)
    # Strata with fewer marks repeat their last one.
    columns = [marks(n) + [marks(n)[-1]] * (N_MARKS - len(marks(n))) for n in SIZES]
    expected = naive.exceedance_evidence(batches, SIZES, columns, patience, restarting)
    # Differences of log-gammas of numbers below 60, each known to about 1e-14.
    assert found == pytest.approx(math.log(expected), abs=1e-11)


@pytest.mark.parametrize("n", [1, 2, 5, 19, 50, 200, 1000])
def test_the_ratio_grows_with_every_passing(n: int) -> None:
    for k, b in marks(n):
        length = np.full(31, 30)
        ratios = log_ratio(np.arange(31), length, n, k, b)
        assert (np.diff(ratios) >= -1e-11).all()
    assert len(marks(n)) <= N_MARKS


@settings(deadline=None, max_examples=60)
@given(RANKS, st.integers(1, 2), st.data())
def test_lower_scores_never_raise_the_evidence(
    batches: list[tuple[int, int]], patience: int, data: st.DataObject
) -> None:
    """Lower scores have larger ranks, whenever they come."""
    lower = [(stratum, rank + data.draw(st.integers(0, 3))) for stratum, rank in batches]
    first = ExceedanceEvidence(SIZES, 20.0, False, patience, list(batches))
    second = ExceedanceEvidence(SIZES, 20.0, False, patience, lower)
    assert second.log_evidence <= first.log_evidence + 1e-11


@pytest.mark.parametrize("patience", [2, 3])
@pytest.mark.parametrize("restarting", [False, True])
def test_fewer_corrupt_batches_than_patience_never_ring(patience: int, restarting: bool) -> None:
    evidence = ExceedanceEvidence((200,), 20.0, restarting, patience)
    for _ in range(patience - 1):
        evidence.step(0, 0)
        assert not evidence.enough
    for _ in range(20):
        evidence.step(0, 120)
        assert not evidence.enough
    for _ in range(10):
        evidence.step(0, 0)
    assert evidence.enough
    evidence.restart()
    assert evidence.count == 0
    assert not evidence.enough


def test_the_start() -> None:
    assert ExceedanceEvidence((5,), 20.0).log_evidence == 0.0
    assert ExceedanceEvidence((5,), 20.0, restarting=True).log_evidence == -math.inf


def first_alarm(scores: np.ndarray, calibration: np.ndarray, **options: object) -> float:
    evidence = ExceedanceEvidence((len(calibration),), **options)  # type: ignore[arg-type]
    for count, score in enumerate(scores, 1):
        evidence.step(0, int((calibration >= score).sum()))
        if evidence.enough:
            return count
    return math.inf


@pytest.mark.slow
@pytest.mark.parametrize("n", [20, 150])
def test_false_alarms_are_as_rare_as_promised(n: int) -> None:
    rng = np.random.default_rng(8)
    runs = 600
    times = [
        first_alarm(rng.normal(size=100), rng.normal(size=n), threshold=20.0) for _ in range(runs)
    ]
    share = np.isfinite(times).mean()
    assert share <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / runs)


@pytest.mark.slow
@pytest.mark.parametrize(("change", "limit"), [(100, 5), (1500, 8)])
def test_changes_are_seen_soon(change: int, limit: int) -> None:
    rng = np.random.default_rng(9)
    delays = []
    for _ in range(9):
        calibration, scores = rng.normal(size=200), rng.normal(size=change + 20)
        scores[change:] += 6.0
        # Only the last hundred batches before the change are watched one by one: ringing before
        # is the matter of another test, and earlier starts count all the same.
        ranks = [(0, int((calibration >= score).sum())) for score in scores]
        evidence = ExceedanceEvidence((200,), 20.0, ranks=ranks[: change - 100])
        when = math.inf
        for count in range(change - 100, len(ranks)):
            evidence.step(*ranks[count])
            if count >= change and evidence.enough:
                when = count + 1 - change
                break
        delays.append(when)
    assert np.median(delays) <= limit
