"""Agreement with human judgment: definitions of the paper, against SciPy and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from isodepth import InvalidInputError, InvalidOptionError
from isodepth.text.judging.coefficients import coefficient_function
from isodepth.text.judging.correlation import (
    as_table,
    bootstrap_interval,
    correlation,
    permutation_test,
    system_level,
    text_level,
    williams_test,
)

SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(0)
    human = rng.integers(0, 6, size=(30, 8)).astype(float)
    quality = np.linspace(0, 3, 8)
    human += quality
    return human + rng.normal(size=human.shape), human


@pytest.mark.parametrize("name", SCIPY)
def test_coefficients_are_those_of_scipy(name):
    rng = np.random.default_rng(1)
    x, y = rng.integers(0, 5, size=(2, 20, 9)).astype(float)
    found = coefficient_function(name)(x, y)
    expected = [SCIPY[name](a, b)[0] for a, b in zip(x, y, strict=True)]
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", SCIPY)
def test_levels_are_those_of_the_paper(tables, name):
    scores, human = tables
    by_text = [SCIPY[name](a, b)[0] for a, b in zip(scores, human, strict=True)]
    assert text_level(scores, human, name) == pytest.approx(np.mean(by_text), abs=1e-12)
    means = scores.mean(axis=0), human.mean(axis=0)
    assert system_level(scores, human, name) == pytest.approx(SCIPY[name](*means)[0], abs=1e-12)
    assert correlation(scores, human, "text", name) == text_level(scores, human, name)
    assert correlation(scores, human, "system", name) == system_level(scores, human, name)


def test_missing_entries_and_constant_texts_are_left_out(tables):
    scores, human = (table.copy() for table in tables)
    scores[0, 0] = np.nan
    human[1] = 3.0
    by_text = [stats.pearsonr(scores[0, 1:], human[0, 1:])[0]]
    by_text += [stats.pearsonr(a, b)[0] for a, b in zip(scores[2:], human[2:], strict=True)]
    assert text_level(scores, human) == pytest.approx(np.mean(by_text), abs=1e-12)
    means = scores.mean(axis=0), human.mean(axis=0)
    means[0][0], means[1][0] = scores[1:, 0].mean(), human[1:, 0].mean()
    assert system_level(scores, human) == pytest.approx(stats.pearsonr(*means)[0], abs=1e-12)


def test_a_perfect_metric():
    human = np.random.default_rng(2).normal(size=(10, 5))
    for level in ("text", "system"):
        for name in SCIPY:
            assert correlation(human, human, level, name) == pytest.approx(1)
            assert correlation(-human, human, level, name) == pytest.approx(-1)
            assert bootstrap_interval(human, human, level, name) == pytest.approx((1, 1))


@pytest.mark.parametrize("level", ["text", "system"])
def test_interval_covers_the_truth_about_as_often_as_promised(level):
    rng = np.random.default_rng(3)
    quality = np.linspace(-1, 1, 10)
    # What the metric gets wrong about systems, so that its correlation is far from 1.
    wrong = np.tile([0.7, -0.7], 5)

    def draw(n):
        human = quality + rng.normal(size=(n, 10))
        return human + wrong + rng.normal(size=(n, 10)), human

    truth = correlation(*draw(200_000), level)
    covered = 0
    for _ in range(100):
        low, high = bootstrap_interval(*draw(60), level, n_resamples=200, confidence=0.9)
        covered += low <= truth <= high
    # Percentile intervals of a skewed statistic fall somewhat short of 90; a binomial count of 100
    # at a true 80% lies above 66 with probability 0.9995.
    assert covered > 66


def test_williams_against_a_worked_example():
    # r = 0.9 and 0.5 with the human scores, 0.6 with each other, 20 systems: scores are made to
    # have exactly these correlations.
    wanted = np.array([[1, 0.6, 0.9], [0.6, 1, 0.5], [0.9, 0.5, 1]])
    white = np.linalg.qr(np.random.default_rng(4).normal(size=(20, 4)))[0]
    basis = np.linalg.qr(white - white.mean(axis=0))[0][:, :3]
    first, second, human = (basis @ np.linalg.cholesky(wanted).T).T
    rest = 1 - 0.81 - 0.25 - 0.36 + 2 * 0.9 * 0.5 * 0.6
    scale = 2 * rest * 19 / 17 + 0.7**2 * 0.4**3
    statistic = 0.4 * np.sqrt(19 * 1.6 / scale)
    found = williams_test(first[None], second[None], human[None])
    assert found.difference == pytest.approx(0.4, abs=1e-9)
    assert found.statistic == pytest.approx(statistic, rel=1e-9)
    assert found.p_value == pytest.approx(stats.t.sf(statistic, 17), rel=1e-9)
    mirrored = williams_test(-first[None], second[None], human[None])
    assert mirrored.p_value == pytest.approx(found.p_value, rel=1e-9)


@pytest.mark.parametrize("level", ["text", "system"])
@pytest.mark.parametrize("name", SCIPY)
def test_permutation_finds_the_better_metric(level, name):
    rng = np.random.default_rng(5)
    human = np.linspace(-1, 1, 12) + rng.normal(size=(60, 12))
    good, poor = human + rng.normal(size=human.shape), rng.normal(size=human.shape)
    better = permutation_test(-good, poor, human, level, name, n_permutations=300)
    worse = permutation_test(poor, -good, human, level, name, n_permutations=300)
    assert better.p_value < 0.02
    assert better.difference > 0
    assert worse.p_value > 0.9
    same = permutation_test(good, good, human, level, name, n_permutations=300)
    assert (same.difference, same.p_value) == (0, 1)


def test_permutation_is_calibrated_under_the_null():
    rng = np.random.default_rng(6)
    p_values = []
    for _ in range(120):
        human = np.linspace(-1, 1, 8) + rng.normal(size=(40, 8))
        x, y = (human + rng.normal(size=human.shape) for _ in range(2))
        p_values.append(permutation_test(x, y, human, "text", n_permutations=199).p_value)
    # Uniform on multiples of 1/200: the Kolmogorov-Smirnov distance of 120 draws exceeds
    # 1.95 / sqrt(120) + 1/200 with probability 0.001.
    distance = stats.kstest(p_values, "uniform").statistic
    assert distance < 1.95 / np.sqrt(120) + 1 / 200


def test_bad_tables_are_refused(tables):
    scores, human = tables
    with pytest.raises(InvalidInputError, match="one shape"):
        text_level(scores[:3], human)
    with pytest.raises(InvalidInputError, match="two systems"):
        text_level(scores[:, :1], human[:, :1])
    with pytest.raises(InvalidInputError, match="infinite"):
        text_level(np.where(scores > 3, np.inf, scores), human)
    with pytest.raises(InvalidOptionError, match="coefficient"):
        text_level(scores, human, "cosine")
    with pytest.raises(InvalidOptionError, match="level"):
        correlation(scores, human, "word")
    with pytest.raises(InvalidInputError, match="at least 4 systems"):
        williams_test(scores[:, :3], scores[:, :3], human[:, :3])


def test_as_table_places_values():
    table, texts, systems = as_table([7, 3, 7], ["b", "a", "a"], [1.0, 2.0, 3.0])
    assert texts == [3, 7]
    assert systems == ["a", "b"]
    assert np.array_equal(table, [[2.0, np.nan], [3.0, 1.0]], equal_nan=True)
