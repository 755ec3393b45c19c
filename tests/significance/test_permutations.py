"""Permuted labels, of rows and of blocks; invalid blocks."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special
from combined import compare_and_test

import isodepth
from isodepth.base.seeds import rng_for
from isodepth.errors import InvalidInputError
from isodepth.significance import null_profile as null_profiles
from isodepth.significance.null_profile import null_profile
from isodepth.significance.permutations import (
    Permutations,
    neg_log_p,
    neg_log_p_of_largest,
    permutation_pvalue,
)
from isodepth.significance.samples import check_blocks


def drawn(n_x: int, n_y: int, blocks: np.ndarray | None, count: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return Permutations.draw(n_x, n_y, count - 1, rng, blocks).labels(dtype=bool).T


def test_blocks_are_permuted_as_a_whole() -> None:
    blocks = np.array([0, 0, 0, 1, 2, 2, 3, 3, 3, 3, 4])
    found = drawn(4, 7, blocks, 100, 5)
    assert found[0].tolist() == [True] * 4 + [False] * 7
    for labels in found:
        in_x = [set(labels[blocks == block]) for block in range(5)]
        assert all(len(values) == 1 for values in in_x)
        assert sum(values == {True} for values in in_x) == 2


@pytest.mark.parametrize(("n_x", "n_y"), [(1, 1), (1, 999), (999, 1), (500, 500), (333, 667)])
def test_sizes_of_samples_stay_the_same(n_x: int, n_y: int) -> None:
    permutations = Permutations.draw(n_x, n_y, 130, np.random.default_rng(0))
    assert (permutations.labels().sum(axis=0) == n_x).all()
    assert (permutations.sizes == [[n_x], [n_y]]).all()


def test_restriction_keeps_labels_and_avoids_empty_samples() -> None:
    permutations = Permutations.draw(3, 30, 200, np.random.default_rng(0))
    rows = np.array([0, 1, 2, 10, 11, 12])
    part = permutations.restricted(rows, np.random.default_rng(1))
    labels = permutations.labels()[rows]
    valid = np.minimum(labels.sum(axis=0), 6 - labels.sum(axis=0)) >= 2
    assert valid[0]
    assert not valid.all()
    assert np.array_equal(part.labels()[:, valid], labels[:, valid])
    assert part.sizes.min() >= 2
    assert part.n_x == 3


def test_every_split_is_equally_likely() -> None:
    labels = drawn(2, 3, None, 20_001, 1)[1:]
    _, counts = np.unique(labels, axis=0, return_counts=True)
    assert len(counts) == 10
    # Chi-square with 9 degrees of freedom: above 33.7 once in ten thousand.
    assert ((counts - 2000) ** 2 / 2000).sum() < 33.7


def test_labels_of_any_kind_are_numbered_in_the_order_of_x_and_y() -> None:
    found = check_blocks(["b", "b", "a", "d", "c", "d"], 3, 3)
    assert found.tolist() == [0, 0, 1, 2, 3, 2]
    days = np.array(["2013-06-01", "2013-06-02", "2013-07-01", "2013-07-01"], "datetime64[D]")
    pair = check_blocks((days[:2], days[2:]), 2, 2)
    assert pair.tolist() == [0, 1, 2, 2]


def test_what_cannot_be_blocks_is_refused() -> None:
    for blocks, message in (
        ([1, 2, 3], r"5 rows of X and Y.*got"),
        (([1, 2], [3, 4]), r"blocks\[0\] must hold one label for each of the 3 rows of X"),
        (([1, 2, 3], [4]), r"blocks\[1\] must hold one label for each of the 2 rows of Y"),
        ([1, 1, 2, 2, 3], "rows in both for 1 of 3 blocks, the first 2"),
        ([1, 1, 1, 2, 2], "one block in each"),
        ([1, 1, 1, 1, 1], "rows in both"),
        ([1.0, 2.0, np.nan, 3.0, 4.0], "1 missing of 5 labels"),
        (["a", None, "b", "c", None], "2 missing of 5 labels"),
        (np.array(["2013", "NaT", "2014", "2015", "2016"], "M8[D]"), "1 missing of 5 labels"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            check_blocks(blocks, 3, 2)


def test_large_statistics_do_not_overflow() -> None:
    values = np.array([9.0, *np.linspace(1, 3, 99)])
    np.testing.assert_allclose(neg_log_p(values * 1e307), neg_log_p(values), rtol=1e-9)


def test_a_statistic_that_is_zero_for_all_other_labelings_is_finite() -> None:
    """-log p is finite if the statistic is 0 for all labelings except one.

    If it were infinite, the given labels would have the smallest p-value instead of a tie.
    """
    strengths = neg_log_p(np.array([[5.0, 0.0, 0.0, 0.0], [0.0, 5.0, 0.0, 0.0]]))
    assert np.isfinite(strengths).all()
    largest = strengths.max(axis=0)
    assert np.isfinite(neg_log_p_of_largest(largest)).all()
    assert permutation_pvalue(largest[0], largest[1:]) == 0.5


def test_calls_are_short_for_many_permutations(monkeypatch: pytest.MonkeyPatch) -> None:
    """The function `neg_log_p` processes each long row of statistics by a separate call of SciPy.

    Ctrl-C is noticed only between calls.
    """
    values = np.random.default_rng(0).gamma(2.0, size=(2, 3, 500))
    expected = neg_log_p(values)
    sizes = []
    log_ndtr = scipy.special.log_ndtr
    monkeypatch.setattr("isodepth.significance.permutations._LONG_ROW", 499)
    monkeypatch.setattr(scipy.special, "log_ndtr", lambda x: sizes.append(x.size) or log_ndtr(x))
    np.testing.assert_array_equal(neg_log_p(values), expected)
    assert sizes == [500] * 6


@pytest.mark.parametrize("blocks", [None, np.arange(150) // 5])
def test_the_number_of_splits_is_honored_with_a_test(blocks: np.ndarray | None) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(80, 2)), rng.normal(size=(70, 2)) + 3
    options = {"n_directions": 9, "random_state": 0, "n_permutations": 29}
    tested = compare_and_test(x, y, blocks=blocks, **options)
    for n_splits in (1, 19, 29, 60):
        level = tested.chance_level(n_splits)
        assert level.n_splits == n_splits
        assert level.interval[1] < tested.distance
    assert tested.chance_level().n_splits == 19


@pytest.mark.parametrize("n_permutations", [19, 299])
def test_random_splits_do_not_depend_on_the_test(n_permutations: int) -> None:
    x, y = np.random.default_rng(0).normal(size=(2, 60, 2))
    alone = isodepth.compare(x, y, random_state=0)
    tested = compare_and_test(x, y, random_state=0, n_permutations=n_permutations)
    assert tested.chance_level() == alone.chance_level()


def test_the_text_about_random_splits_says_if_there_are_few() -> None:
    """The two parts of equal size may be exchanged, and blocks are not divided."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(20, 2)), rng.normal(size=(20, 2)) + 10
    blocks = np.arange(40) // 5
    for n, m, of_blocks, remark in (
        (1, 1, None, "2 rows have only 1 different split, too few to judge the distance"),
        (5, 5, None, "10 rows have only 126 different splits, too few to judge the distance"),
        (4, 6, None, "10 rows have only 210 different splits, too few to judge the distance"),
        (20, 20, blocks, "8 blocks have only 35 different splits, too few to judge the distance"),
        (7, 7, None, ""),
    ):
        options = {} if of_blocks is None else {"blocks": of_blocks, "n_permutations": 19}
        compared = isodepth.compare if of_blocks is None else compare_and_test
        level = compared(x[:n], y[:m], random_state=0, **options).chance_level()
        assert str(level).endswith(f" ({remark})" if remark else f"{level.interval[1]:.3g}")


@pytest.mark.parametrize("blocks", [None, np.arange(150) // 5])
def test_null_profile_is_that_of_permuted_labels(
    blocks: np.ndarray | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The gaps of `null_profile` equal those of `Metric.compare` of the permuted samples.

    The directions are the same.
    """
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(80, 3)), 2 * rng.normal(size=(70, 3)) + [3, 0, 0]
    options = {"n_directions": 30, "random_state": 0, "n_permutations": 49, "scale": "pooled"}
    tested = compare_and_test(x, y, blocks=blocks, **options)
    null = tested._null_profile
    assert null.gaps.shape == (49, 20)
    x, y = (regions.points for regions in tested.regions)
    points = np.concatenate([x, y])
    rng = rng_for(0, "permutations")
    labels = Permutations.draw(len(x), len(y), 49, rng, blocks).labels(dtype=bool).T[1:]
    metric = isodepth.Metric(
        directions=tested._fitted.directions, levels=20, refine=20, random_state=0
    )
    for b in range(3):
        again = metric.compare(points[labels[b]], points[~labels[b]])
        np.testing.assert_allclose(null.gaps[b], again.gaps, rtol=1e-9)
        np.testing.assert_allclose(null.distances[b], again.distance, rtol=1e-9)
        np.testing.assert_allclose(null.levels, again.levels)
    for affordable, most, count in ((25.5, 49, 25), (0, 200, 19), (25, 22, 22), (120, 200, 99)):
        monkeypatch.setattr(null_profiles, "_WORK", int(affordable * 150 * 30))
        null = null_profile(tested, None, most)
        assert len(null.gaps) == len(null.distances) == count
        if count == 19:
            assert np.array_equal(null.band, [null.gaps.min(axis=0), null.gaps.max(axis=0)])
