"""Agreement of scores with human ratings, by the definitions of the paper, SciPy and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from experiments.texts.human_correlation import (
    as_table,
    correlation,
    permutation_test,
    williams_test,
)

COEFFICIENTS = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(0)
    human = rng.integers(0, 6, size=(30, 8)) + np.linspace(0, 3, 8)
    return human + rng.normal(size=human.shape), human


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_levels_are_those_of_the_paper(tables, name):
    scores, human = tables
    by_text = [COEFFICIENTS[name](a, b)[0] for a, b in zip(scores, human, strict=True)]
    assert correlation(scores, human, "text", name) == pytest.approx(np.mean(by_text), abs=1e-12)
    means = scores.mean(axis=0), human.mean(axis=0)
    expected = COEFFICIENTS[name](*means)[0]
    assert correlation(scores, human, "system", name) == pytest.approx(expected, abs=1e-12)


def test_missing_entries_and_constant_texts_are_left_out(tables):
    scores, human = (table.copy() for table in tables)
    scores[0, 0] = np.nan
    human[1] = 3.0
    by_text = [stats.pearsonr(scores[0, 1:], human[0, 1:])[0]]
    by_text += [stats.pearsonr(a, b)[0] for a, b in zip(scores[2:], human[2:], strict=True)]
    assert correlation(scores, human, "text") == pytest.approx(np.mean(by_text), abs=1e-12)
    means = scores.mean(axis=0), human.mean(axis=0)
    means[0][0], means[1][0] = scores[1:, 0].mean(), human[1:, 0].mean()
    expected = stats.pearsonr(*means)[0]
    assert correlation(scores, human, "system") == pytest.approx(expected, abs=1e-12)


def test_williams_against_a_worked_example():
    # r = 0.9 and 0.5 with the human scores, 0.6 with each other, 20 systems: scores are constructed
    # with exactly these correlations.
    correlations = np.array([[1, 0.6, 0.9], [0.6, 1, 0.5], [0.9, 0.5, 1]])
    white = np.linalg.qr(np.random.default_rng(4).normal(size=(20, 4)))[0]
    basis = np.linalg.qr(white - white.mean(axis=0))[0][:, :3]
    first, second, human = (basis @ np.linalg.cholesky(correlations).T).T
    rest = 1 - 0.81 - 0.25 - 0.36 + 2 * 0.9 * 0.5 * 0.6
    scale = 2 * rest * 19 / 17 + 0.7**2 * 0.4**3
    expected = stats.t.sf(0.4 * np.sqrt(19 * 1.6 / scale), 17)
    for sign in (1, -1):
        pvalue = williams_test(sign * first[None], second[None], human[None])
        assert pvalue == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("level", ["text", "system"])
def test_permutation_finds_the_better_metric(level):
    rng = np.random.default_rng(5)
    human = np.linspace(-1, 1, 12) + rng.normal(size=(60, 12))
    good, poor = human + rng.normal(size=human.shape), rng.normal(size=human.shape)
    better = permutation_test(-good, poor, human, level, 300)
    assert better.pvalue < 0.02
    expected = abs(correlation(good, human, level)) - abs(correlation(poor, human, level))
    assert better.statistic == pytest.approx(expected, abs=1e-12)
    assert permutation_test(poor, -good, human, level, 300).pvalue > 0.9
    same = permutation_test(good, good, human, level, 300)
    assert (same.statistic, same.pvalue) == (0, 1)


def test_bad_tables_are_refused(tables):
    scores, human = tables
    with pytest.raises(ValueError, match="one shape"):
        correlation(scores[:3], human, "text")
    with pytest.raises(ValueError, match="two systems"):
        correlation(scores[:, :1], human[:, :1], "text")
    with pytest.raises(ValueError, match="at least 4 systems"):
        williams_test(scores[:, :3], scores[:, :3], human[:, :3])


def test_as_table_places_values():
    table = as_table([7, 3, 7], ["b", "a", "a"], [1.0, 2.0, 3.0])
    assert np.array_equal(table, [[2.0, np.nan], [3.0, 1.0]], equal_nan=True)
