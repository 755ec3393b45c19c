"""The experiment on streams: rules on scores, contaminated rows and changes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from experiments.synthetic import monitoring

RNG = np.random.default_rng(60)
USUAL = np.arange(1.0, 201.0)


def test_the_first_alarm() -> None:
    assert monitoring.first([False, False, True, True]) == 3
    assert monitoring.first([False]) == math.inf


def test_rules() -> None:
    # Two of 201 places are 1%.
    assert monitoring.one_percent(USUAL, np.array([199.0, 199.5, 5.0])) == 2
    assert monitoring.one_percent(USUAL, np.array([100.0])) == math.inf
    mean, deviation = USUAL.mean(), USUAL.std()
    scores = np.array([mean, mean + 2.9 * deviation, mean - 3.1 * deviation])
    assert monitoring.three_deviations(USUAL, scores) == 3
    assert monitoring.three_deviations(USUAL, scores[:2]) == math.inf


@pytest.mark.parametrize("kind", monitoring.KINDS)
def test_a_twentieth_of_the_rows_is_contaminated(kind: str) -> None:
    settings = monitoring.Settings(runs=1, delay_runs=1, late_runs=1)
    rows = monitoring.batch(settings, np.random.default_rng(0), kind)
    clean = monitoring.batch(settings, np.random.default_rng(0))
    assert (rows != clean).any(axis=1).sum() == 10
    assert rows.shape == (200, 5)


def test_changes() -> None:
    rows = RNG.normal(size=(50, 5))
    assert (monitoring.drifted("shift 0.5", rows) - rows).mean(axis=0) == pytest.approx(
        [0.5, 0, 0, 0, 0]
    )
    assert monitoring.drifted("scale 1.3", rows) == pytest.approx(1.3 * rows)
