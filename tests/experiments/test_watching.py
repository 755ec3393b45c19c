"""The experiment on streams: rules on scores, foreign rows and changes are what they say."""

from __future__ import annotations

import math

import numpy as np
import pytest

from experiments.synthetic import watching

RNG = np.random.default_rng(60)
USUAL = np.arange(1.0, 201.0)


def test_the_first_batch_that_rings() -> None:
    assert watching.first([False, False, True, True]) == 3
    assert watching.first([False]) == math.inf


def test_rules() -> None:
    # Two of 201 places are 1%.
    assert watching.one_percent(USUAL, np.array([199.0, 199.5, 5.0])) == 2
    assert watching.one_percent(USUAL, np.array([100.0])) == math.inf
    mean, deviation = USUAL.mean(), USUAL.std()
    scores = np.array([mean, mean + 2.9 * deviation, mean - 3.1 * deviation])
    assert watching.three_deviations(USUAL, scores) == 3
    assert watching.three_deviations(USUAL, scores[:2]) == math.inf


@pytest.mark.parametrize("kind", watching.KINDS)
def test_a_twentieth_of_the_rows_is_foreign(kind: str) -> None:
    settings = watching.Settings(runs=1, delay_runs=1, late_runs=1)
    rows = watching.batch(settings, np.random.default_rng(0), kind)
    clean = watching.batch(settings, np.random.default_rng(0))
    assert (rows != clean).any(axis=1).sum() == 10
    assert rows.shape == (200, 5)


def test_changes() -> None:
    rows = RNG.normal(size=(50, 5))
    assert (watching.drifted("shift 0.5", rows) - rows).mean(axis=0) == pytest.approx(
        [0.5, 0, 0, 0, 0]
    )
    assert watching.drifted("scale 1.3", rows) == pytest.approx(1.3 * rows)
