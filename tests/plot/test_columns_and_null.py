"""Bars, null distributions and the band of the null: the numbers of the result, as drawn."""

from __future__ import annotations

import numpy as np
import pytest

import isodepth
from isodepth.plot import column_shares, gap_profile, null_distribution
from isodepth.significance.null_profile import null_profile

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def tested():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(80, 3)), rng.normal(size=(70, 3)) + [2, 0, 0]
    return isodepth.compare(x, y, n_permutations=49, n_directions=30, scale="pooled", random_state=0)


def texts(ax) -> str:
    return "\n".join(text.get_text() for text in ax.texts)


def test_bars_are_the_shares(tested) -> None:
    ax = column_shares(tested)
    shares = [share for _, share in tested.column_shares]
    assert [bar.get_width() for bar in ax.patches] == shares
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == [name for name, _ in tested.column_shares]
    assert f"{shares[0]:.0%}" in texts(ax)


def test_columns_that_are_not_significant_are_hollow(tested) -> None:
    ax = column_shares(tested)
    pvalues = {column.column: column.pvalue for column in tested.test.columns}
    hollow = [bar.get_facecolor()[3] == 0 for bar in ax.patches]
    assert hollow == [pvalues[name] > 0.05 for name, _ in tested.column_shares]
    assert hollow[0] is False
    assert True in hollow


def test_bars_of_a_test_are_its_gaps(tested) -> None:
    ax = column_shares(tested.test)
    assert [bar.get_width() for bar in ax.patches] == [c.gap for c in tested.test.columns]


def test_only_so_many_columns_are_drawn(tested) -> None:
    ax = column_shares(tested, most=2)
    assert len(ax.patches) == 2
    assert "and 1 more column(s)" in texts(ax)


def test_null_distribution_shows_all_relabelings_and_the_observed(tested) -> None:
    test = tested.test
    ax = null_distribution(test)
    assert sum(bar.get_height() for bar in ax.patches) == len(test.null_distribution)
    at = [float(np.mean(line.get_xdata())) for line in ax.lines]
    np.testing.assert_allclose(at, [np.quantile(test.null_distribution, 0.95), test.statistic])
    assert f"p = {test.pvalue:.3g}" in texts(ax)
    assert ax.get_xlim()[1] > test.statistic


def test_constant_statistics_can_be_drawn() -> None:
    x = np.zeros((10, 1))
    test = isodepth.two_sample_test(x, x, n_permutations=19, scale=None, random_state=0)
    null_distribution(test).figure.canvas.draw()


def test_band_of_the_null_is_drawn_where_there_was_a_test(tested) -> None:
    ax = gap_profile(tested)
    low, high = tested.null_profile.band
    (band,) = ax.collections
    heights = band.get_paths()[0].vertices[:, 1]
    assert heights.min() == low.min()
    assert heights.max() == high.max()
    assert f"{tested.null_profile.expected:.4g} expected of equal laws" in texts(ax)
    untested = gap_profile(isodepth.compare([[0.0], [1.0]], [[2.0], [4.0]], depth="halfspace"))
    assert not untested.collections


# -- the band itself ------------------------------------------------------------------------------


def test_null_profile_is_that_of_relabeled_rows(tested) -> None:
    """Each relabeling, compared by the public metric along the same directions."""
    null = tested.null_profile
    x, y = (regions.points for regions in tested.regions)
    points = np.concatenate([x, y])
    rng = np.random.default_rng(0)
    metric = isodepth.Metric(
        directions=tested._drawn.directions, levels=20, refine=20, random_state=0
    )
    for b in range(3):
        first = np.zeros(len(points), dtype=bool)
        first[rng.permutation(len(points))[: len(x)]] = True
        again = metric.compare(points[first], points[~first])
        np.testing.assert_allclose(null.gaps[b], again.gaps, rtol=1e-9)
        np.testing.assert_allclose(null.distances[b], again.distance, rtol=1e-9)
        np.testing.assert_allclose(null.levels, again.levels)


def test_no_more_relabelings_than_those_of_the_test(tested) -> None:
    assert len(tested.null_profile.distances) == 49
    low, high = tested.null_profile.band
    assert (low <= high).all()
    assert tested.null_profile.gaps.max() >= high.max()


def test_blocks_change_sides_together() -> None:
    """Rows of one block are one point: relabelings see their whole blocks only."""
    centers = np.repeat([0.0, 10.0, 20.0, 30.0], 5)[:, None]
    x, y = centers[:10], centers[10:]
    plain = isodepth.compare(x, y, depth="halfspace", random_state=0)
    null = null_profile(plain, np.repeat([0, 1, 2, 3], 5), 19)
    # Two blocks of four on each side: the pairs {0, 1}, {0, 2} and {0, 3}, as far apart as here.
    possible = {
        round(isodepth.distance(a, b, depth="halfspace", levels=20, random_state=0), 6)
        for a, b in (
            (centers[[0, 5]], centers[[10, 15]]),
            (centers[[0, 10]], centers[[5, 15]]),
            (centers[[0, 15]], centers[[5, 10]]),
        )
    }
    assert {round(float(value), 6) for value in null.distances} == possible


def test_blocks_of_a_test_reach_its_profile() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(20, 1)), rng.normal(size=(20, 1))
    blocks = (np.repeat(np.arange(5), 4), np.repeat(np.arange(5, 10), 4))
    result = isodepth.compare(x, y, n_permutations=19, blocks=blocks, random_state=0)
    again = null_profile(result, np.repeat(np.arange(10), 4), 19)
    np.testing.assert_array_equal(result.null_profile.gaps, again.gaps)
