"""Experiment on streams: alarm rules on scores, contaminated rows and changes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from experiments.answers import units
from experiments.monitoring import delays, online
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


def test_tests_of_batches_are_those_of_scipy() -> None:
    from scipy.stats import chi2_contingency, ks_2samp

    rng = np.random.default_rng(61)
    reference = rng.normal(size=(2000, 2))
    level = 0.01 / (2 * (delays.CLEAN + delays.WATCHED))
    edges = np.quantile(reference, np.arange(1, 10) / 10, axis=0)
    checks = delays.kolmogorov_smirnov(reference, 0, 0), delays.chi_square(reference, 0, 0)
    alarms = []
    for shift in np.linspace(0.2, 0.7, 40):
        rows = rng.normal(size=(100, 2)) + [shift, 0]
        pvalues = np.ones((2, 2))
        for j in range(2):
            pvalues[0, j] = ks_2samp(reference[:, j], rows[:, j], method="asymp").pvalue
            counts = [
                np.bincount(np.searchsorted(edges[:, j], sample[:, j]), minlength=10)
                for sample in (reference, rows)
            ]
            pvalues[1, j] = chi2_contingency(counts).pvalue
        alarms.append([check(rows) for check in checks])
        assert alarms[-1] == list(pvalues.min(axis=1) <= level)
    # Both decisions occur.
    assert np.all((np.mean(alarms, axis=0) > 0.1) & (np.mean(alarms, axis=0) < 0.9))


def test_factors_of_units() -> None:
    values = np.random.default_rng(62).normal(size=(400, 1))
    removed, some, more = units.factors(values, lambda rows: rows.std(axis=0), 0)
    assert 1 < removed < 1.1
    # A standard deviation with a share s of values at -9999 is about 9999 sqrt(s (1 - s)).
    np.testing.assert_allclose(
        [some, more], 9999 * np.sqrt([0.08 * 0.92, 0.15 * 0.85]) / values.std(), rtol=0.01
    )


def test_run_lengths_of_the_monitor() -> None:
    rng = np.random.default_rng(41)
    run_length = online.monitor(rng.standard_normal((online.REFERENCE, online.COLUMNS)))
    assert run_length(online.stream("shift 0.6", 0)[:500]) in (100, 200)
    assert run_length(np.zeros((99, online.COLUMNS))) == math.inf  # less than one batch
    clean, raised = online.stream("0/1 clean", 0), online.stream("0/1 probability + 0.1", 0)
    assert set(np.unique(clean)) == {0.0, 1.0}
    changed = (clean != raised).any(axis=0)
    assert changed[0]
    assert not changed[1:].any()
