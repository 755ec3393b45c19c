"""Scores within groups, values that only one sample repeats, and contradictory categories."""

from __future__ import annotations

import numpy as np
import pytest

from isodepth.rows.suspicious.contradictions import _determined, find_contradictions
from isodepth.rows.suspicious.groups import _within, find_groups
from isodepth.rows.suspicious.repeated import find_sentinels
from isodepth.rows.suspicious.tails import quantiles, spreads


@pytest.mark.parametrize("seed", range(5))
def test_medians_and_variances_within_groups(seed: int) -> None:
    rng = np.random.default_rng([30, seed])
    values, group = rng.normal(size=(3, 60)).round(1), rng.integers(-1, 8, 60)
    values[0, group == 5] = 0.0
    values[1, rng.random(60) < 0.3] = np.nan
    values[2, np.flatnonzero(group == 6)[1:]] = 4.0  # constant after clipping
    found = _within(values, np.argsort(values, axis=1, kind="stable"), group, 10)
    for column, counts, medians, variances in zip(values, *found, strict=True):
        for g in range(10):
            part = column[(group == g) & ~np.isnan(column)]
            assert counts[g] == len(part)
            if len(part) == 0:
                assert np.isnan([medians[g], variances[g]]).all()
                continue
            clipped = np.clip(part, *np.quantile(part, [0.1, 0.9]))
            assert medians[g] == pytest.approx(np.median(part))
            assert variances[g] == pytest.approx(clipped.var() or part.var())


def test_only_categories_that_explain_a_column_are_used() -> None:
    rng = np.random.default_rng(31)
    codes = rng.integers(0, 3, (300, 2))
    standard = np.column_stack([rng.normal(size=300), codes[:, 1] + rng.normal(size=300) / 5])
    standard = (standard - np.median(standard, axis=0)) / spreads(standard)
    found = find_groups(standard, standard, np.zeros(2, bool), codes)
    assert [(each.category, each.column, each.logarithm) for each in found] == [(1, 1, False)]


@pytest.mark.parametrize("logarithm", [True, False])
def test_groups_have_the_scale_with_the_shorter_tails(logarithm: bool) -> None:
    rng = np.random.default_rng(31)
    codes = rng.integers(0, 3, (900, 1))
    values = 10.0 + 8 * codes + rng.normal(size=(900, 1))
    if logarithm:
        values = np.exp(values / 8)
    both = [(each - np.median(each)) / spreads(each) for each in (values, np.log(values))]
    (groups,) = find_groups(*both, np.ones(1, bool), codes)
    assert groups.logarithm == logarithm


def test_unknown_groups_and_missing_values_have_no_deviation() -> None:
    rng = np.random.default_rng(32)
    codes = rng.integers(0, 3, (300, 1))
    standard = (5.0 * codes) + rng.normal(size=(300, 1))
    (groups,) = find_groups(standard, standard, np.zeros(1, bool), codes)
    rows = np.array([0.0, 0.0, np.nan, 0.0])
    found = groups.deviations(rows, np.array([[7], [-1], [0], [1]]))
    assert np.isnan(found[:3]).all()
    assert found[3] < -3


def test_isolated_values_need_enough_rows_and_one_sample() -> None:
    rng = np.random.default_rng(33)
    x, y = rng.normal(size=(2, 300, 3))
    y[:20, 0] = 0.25  # in Y only
    x[:10, 1] = y[:10, 1] = 0.5  # in both samples
    y[:4, 2] = 0.75  # too few
    (found,) = find_sentinels((x, y))
    assert found[:4] == (1, 0, 0.25, (20, 0))
    assert found.score > 1


def test_random_labels_rarely_yield_a_repeated_value() -> None:
    """With random labels, the probability that any repeated value is found is at most 1%.

    This is also true for columns with ties.
    """
    n_found = 0
    for seed in range(150):
        rng = np.random.default_rng([34, seed])
        pooled = np.exp(rng.normal(4, 1, (200, 4))).round(1)
        pooled[rng.random((200, 4)) < 0.05] = 60.0
        n_found += bool(find_sentinels((pooled[:100], pooled[100:])))
    assert n_found <= 5  # a binomial variable with n = 150 and p = 1% exceeds 5 with p = 0.4%


def test_contradictions_need_a_usual_value_in_the_other_sample() -> None:
    a = np.repeat(np.arange(20), 6)
    other = np.column_stack([a, a % 2])
    codes = np.array([[3, 0], [3, 1], [25, 0], [-1, 0], [4, -1]])
    (found,) = find_contradictions(codes, other)
    assert found[:4] == (0, 1, 0, 1)


def test_a_repeated_value_is_found_among_unequal_numbers_of_neighbors() -> None:
    """A repeated value is found if the nearby values are, by chance, mostly in one sample."""
    n_found = 0
    for seed in range(20):
        x, y = np.random.default_rng(seed).uniform(0, 1000, size=(2, 500, 1))
        y[:15] = 500.0
        n_found += bool(find_sentinels((x, y)))
    assert n_found >= 18


def test_values_of_few_rows_do_not_reduce_the_chance_to_find_others() -> None:
    """Values that too few rows have do not count in the correction for multiple testing."""
    rng = np.random.default_rng(3)
    x, y = rng.uniform(0, 1000, size=(2, 500, 8))
    for j in range(1, 8):
        for value in range(10, 90, 10):
            rows = rng.permutation(1000)[:8]
            for side, part in enumerate((x, y)):
                part[rows[rows // 500 == side] % 500, j] = value
    y[:14, 0] = 500.0
    (found,) = find_sentinels((x, y))
    assert (found.side, found.column, found.value) == (1, 0, 500.0)


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_quantiles_are_those_of_numpy(share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(35)
    values = rng.normal(size=(301, 9)).round(rng.integers(0, 4))
    values[rng.random(values.shape) < share] = np.nan
    values[0, 1], values[1:, 1], values[:, 2] = 1.0, np.nan, 7.0
    levels = (0.01, 0.1, 0.25, 0.5, 0.995)
    wanted = np.nanquantile(values, levels, axis=0)
    for block in (1, 700, 1 << 20):
        monkeypatch.setattr("isodepth.rows.suspicious.tails._BLOCK_NUMBERS", block)
        assert np.array_equal(quantiles(values, levels), wanted)
    values[:, 5] = np.nan
    assert (quantiles(values, levels)[:, 5] == 0).all()


def test_numbers_of_pairs_of_values() -> None:
    rng = np.random.default_rng(36)
    first = rng.integers(-1, 12, 600)
    codes = np.column_stack([first, np.where(first < 0, 2, first % 4), np.full(600, -1)])
    codes[rng.random(600) < 0.1, 1] = -1
    ((given, column, table, _),) = _determined(codes)
    assert (given, column) == (0, 1)
    for a in range(12):
        for b in range(4):
            assert table[a, b] == ((codes[:, 0] == a) & (codes[:, 1] == b)).sum()
