"""Figures of two compared samples show the numbers of the result."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from combined import compare_and_test

import isodepth
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.functions.changes import Change
from isodepth.plot import contributions, gap_profile, nested_regions, null_distribution
from isodepth.rows.rows import TwoSamples
from isodepth.show.columns import change_figure, column_figure
from isodepth.show.style import loose_figure
from isodepth.significance.result import null_profile
from isodepth.typing import RandomLevels

pytest.importorskip("matplotlib")


def compared(**options):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(80, 3)), 2 * rng.normal(size=(70, 3)) + [3, 0, 0]
    compare = compare_and_test if "n_permutations" in options else isodepth.compare
    return compare(x, y, n_directions=30, random_state=0, **options)


@pytest.fixture(scope="module")
def tested():
    return compared(n_permutations=49, scale="pooled")


def texts(ax) -> str:
    return "\n".join(text.get_text() for text in ax.texts)


# -- gaps -----------------------------------------------------------------------------------------


def test_the_curve_is_that_of_the_gaps() -> None:
    comparison = compared()
    ax = gap_profile(comparison)
    values, edges, _ = ax.patches[0].get_data()
    np.testing.assert_array_equal(values, comparison.gaps)
    np.testing.assert_array_equal(edges[:-1], comparison.level_intervals[:, 0])
    assert ax.get_xlim() == pytest.approx((0, 0.9))  # eps is 0.1
    assert ax.get_ylim()[1] > comparison.gaps.max()
    for levels in ({"levels": 8}, {"levels": RandomLevels(8)}):
        comparison = compared(**levels)
        values, edges, _ = gap_profile(comparison).patches[0].get_data()
        order = np.argsort(comparison.levels)
        assert (comparison.levels[order] >= edges[:-1]).all()
        assert (comparison.levels[order] <= edges[1:]).all()
        np.testing.assert_array_equal(values, comparison.gaps[order])


def test_the_legend_says_how_the_distance_follows_from_the_curve() -> None:
    for options, words in (({"p": 1}, "mean of"), ({"normalize": False}, "integral of order 2 of")):
        _, labels = gap_profile(compared(levels=8, **options)).get_legend_handles_labels()
        assert [label for label in labels if f": {words} the curve over levels" in label]


def test_distance_and_largest_gap_are_in_a_legend_below(tested) -> None:
    ax = gap_profile(tested)
    largest = tested.largest_gap
    labels = dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
    first = largest.contributions[0]
    (text,) = [label for label in labels if label.startswith("largest gap")]
    assert (
        f"{largest.gap:.4g} at level {largest.level:.3g}: {first.column} {first.fraction:.0%}"
        in text
    )
    assert labels[text].get_xydata().tolist() == [[largest.level, largest.gap]]
    text = f"distance {tested.distance:.4g}: mean of order 2 of the curve over levels"
    assert labels[text].get_ydata()[0] == tested.distance
    low, high = tested._null_profile.band
    (band,) = ax.collections
    heights = band.get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == (low.min(), high.max())
    ax.figure.draw_without_rendering()
    assert ax.get_legend().get_window_extent().y1 < ax.xaxis.get_tightbbox().y0


def test_corner_settings_are_drawn() -> None:
    for options in ({"eps": 1}, {"eps": 0.999}, {"p": np.inf}, {"levels": 1}):
        gap_profile(compared(**options)).figure.draw_without_rendering()


def test_equal_samples_are_drawn() -> None:
    x = np.arange(12.0).reshape(6, 2)
    ax = gap_profile(isodepth.compare(x, x, random_state=0))
    assert ax.get_ylim() == (0, 1)
    constant = isodepth.two_sample_test(x * 0, x * 0, n_permutations=19, scale=None, random_state=0)
    null_distribution(constant).figure.draw_without_rendering()


@pytest.mark.parametrize("value", [0.0, 2.5, -1e-12, 3e18])
def test_equal_statistics_of_all_permutations_are_drawn(value: float, tested) -> None:
    test = dataclasses.replace(tested.test, null_distribution=np.full(19, value))
    bars = null_distribution(test).patches
    assert sum(bar.get_height() for bar in bars) == 19


def test_more_steps_than_can_be_seen_are_averaged() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(1500, 1)), 2 * rng.normal(size=(1501, 1))
    comparison = isodepth.compare(x, y, depth="halfspace", random_state=0)
    assert len(comparison.gaps) > 1000
    values, edges, _ = gap_profile(comparison).patches[0].get_data()
    assert len(values) == 800
    # The area is that of the gaps.
    widths = np.diff(comparison.level_intervals, axis=1)[:, 0]
    np.testing.assert_allclose(values @ np.diff(edges), comparison.gaps @ widths, rtol=1e-12)


# -- contributions and null distribution ----------------------------------------------------------


def test_bars_are_contributions_and_hollow_if_not_significant(tested) -> None:
    ax = contributions(tested)
    shares = [each.fraction for each in tested.contributions]
    assert [bar.get_width() for bar in ax.patches] == shares
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == [each.column for each in tested.contributions]
    pvalues = {column.column: column.pvalue for column in tested.test.column_tests}
    hollow = [bar.get_facecolor()[3] == 0 for bar in ax.patches]
    assert hollow == [pvalues[name] > 0.05 for name in names]
    for alpha in (0.5, 0.01):
        at_level = tested._with(test=tested.test._with(alpha=alpha))
        ax = contributions(at_level)
        hollow = [bar.get_facecolor()[3] == 0 for bar in ax.patches]
        assert hollow == [pvalues[name] > alpha for name in names]
        assert ax.get_xlabel().endswith(f"(hollow: p above {alpha})")
        legend = null_distribution(at_level.test).get_legend_handles_labels()[1]
        assert f"{100 * (1 - alpha):g}% quantile of the permutations" in legend
    of_test = contributions(tested.test)
    differences = [column.difference for column in tested.test.column_tests]
    assert [bar.get_width() for bar in of_test.patches] == differences
    wide = np.random.default_rng(0).normal(size=(20, 17))
    ax = contributions(isodepth.compare(wide, wide + 1, refine=0, random_state=0))
    assert len(ax.patches) == 15
    assert "and 2 more columns" in texts(ax)


def test_a_distance_of_zero_has_no_bars() -> None:
    x = np.random.default_rng(0).normal(size=(20, 2))
    result = isodepth.compare(x, x, random_state=0)
    assert len(result.plot("contributions").patches) == 0
    labels = gap_profile(result).get_legend_handles_labels()[1]
    largest = next(label for label in labels if label.startswith("largest gap"))
    assert largest == f"largest gap 0 at level {result.largest_gap.level:.3g}"


def test_a_constant_column_has_a_hollow_bar_without_a_pvalue() -> None:
    x, y = np.random.default_rng(0).normal(size=(2, 60, 2)) * [1, 0] + [0, 7]
    result = compare_and_test(x, y + [3, 0], n_permutations=19, random_state=0)
    ax = result.plot("contributions")
    assert [bar.get_facecolor()[3] == 0 for bar in ax.patches] == [False, True]
    assert texts(ax) == "100%   p = 0.05\n0%   not tested"
    assert result.to_frame()["pvalue"].isna().tolist() == [False, True]


def test_a_test_of_categories_alone_has_no_figure_of_gaps() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"c": ["a", "b"] * 20})
    result = isodepth.two_sample_test(frame, frame, n_permutations=19, random_state=0)
    with pytest.raises(isodepth.errors.InvalidInputError, match="categories alone has no regions"):
        result.plot("gap_profile")


def test_null_distribution_shows_all_permutations_and_the_observed(tested) -> None:
    test = tested.test
    ax = null_distribution(test)
    assert sum(bar.get_height() for bar in ax.patches) == len(test.null_distribution)
    at = [float(np.mean(line.get_xdata())) for line in ax.lines]
    np.testing.assert_allclose(at, [np.quantile(test.null_distribution, 0.95), test.statistic])
    assert f"p = {test.pvalue:.3g}" in texts(ax)


def test_a_median_within_a_category_is_drawn_from_its_rows() -> None:
    x, y = np.arange(40.0)[:, None], np.arange(100.0, 140.0)[:, None]
    kinds = [["a"] * 10 + ["b"] * 30] * 2
    medians = {"quantity": "median", "before": 4.5, "after": 104.5, "pvalue": 0.01}
    change = Change(kind="dependence", columns=("size", "kind"), value="a", **medians)
    figure = loose_figure(2, 1)
    text = change_figure(change, TwoSamples((x, y), ("size",), {"kind": kinds}), figure)
    low, high = map(float, text.split(" to "))
    assert (low < 1, high) == (True, pytest.approx(109, abs=1))
    # Values far out are counted, and drawn at the ends.
    x[0] = -9999.0
    change = Change(kind="location", columns=("size",), **medians)
    text = change_figure(change, TwoSamples((x, y), ("size",), {}), loose_figure(2, 1))
    assert text.endswith("; 1 row further out, drawn at the ends")
    # If there are two distinct values, the rarer one is not extreme.
    rare = (np.arange(40.0)[:, None] == 0).astype(float)
    text = change_figure(change, TwoSamples((rare, rare), ("size",), {}), loose_figure(2, 1))
    assert text == "-0.5 to 1.5"


@pytest.mark.parametrize(("value", "low", "high"), [("(missing)", 0, 9), ("(rare values)", 0, 39)])
def test_a_median_within_missing_or_rare_categories_is_drawn(value, low, high) -> None:
    x = np.arange(40.0)[:, None]
    kinds = [[None] * 10 + ["b"] * 28 + ["c", "d"]] * 2
    change = Change(
        kind="dependence", columns=("size", "kind"), value=value, quantity="median", before=4.5,
        after=104.5, pvalue=0.01,
    )  # fmt: skip
    samples = TwoSamples((x, x), ("size",), {"kind": kinds})
    drawn = change_figure(change, samples, loose_figure(2, 1)).split(" to ")
    assert [float(end) for end in drawn] == pytest.approx([low, high], abs=1)


def test_blocks_of_a_test_reach_its_profile() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(20, 1)), rng.normal(size=(20, 1))
    blocks = (np.repeat(np.arange(5), 4), np.repeat(np.arange(5, 10), 4))
    result = compare_and_test(x, y, n_permutations=19, blocks=blocks, random_state=0)
    again = null_profile(result, np.repeat(np.arange(10), 4), 19)
    np.testing.assert_array_equal(result._null_profile.gaps, again.gaps)


def test_a_joint_change_is_drawn_from_its_first_two_columns() -> None:
    x, y = np.arange(60.0).reshape(20, 3), np.arange(100.0, 160.0).reshape(20, 3)
    fields = {"quantity": "median", "before": 0.0, "after": 1.0, "pvalue": 0.01}
    joint = Change(kind="joint", columns=("c", "a", "b"), description="joint shift", **fields)
    figure = loose_figure(2, 1)
    text = change_figure(joint, TwoSamples((x, y), ("a", "b", "c"), {}), figure)
    assert text == "c from left to right, a upwards"
    for ax, rows in zip(figure.axes, (x, y), strict=True):
        (line,) = ax.lines
        np.testing.assert_array_equal(np.transpose(line.get_data()), rows[:, [2, 0]])
    # No row has a value of both columns: the first column is drawn alone.
    for rows in (x, y):
        rows[::2, 0], rows[1::2, 2] = np.nan, np.nan
    text = change_figure(joint, TwoSamples((x, y), ("a", "b", "c"), {}), loose_figure(2, 1))
    assert " to " in text


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [1e-310, 5e-324, 1.0, 1e300])
def test_histograms_of_denormal_and_huge_values(size: float) -> None:
    rng = np.random.default_rng(3)
    parts = [rng.normal(size=(100, 2)) * size for _ in range(2)]
    # In the second column few different values remain, with one bin each.
    parts = [np.column_stack([p[:, 0], np.round(p[:, 1] / size) * size]) for p in parts]
    samples = TwoSamples.read(*parts)
    for column in samples.columns:
        figure = loose_figure(3.0, 1.0)
        column_figure(column, samples, figure)
        heights = figure.axes[0].patches[0].get_data().values
        assert np.isfinite(heights).all()
        assert heights.max() > 0
        figure.draw_without_rendering()


@pytest.mark.parametrize("function", [gap_profile, nested_regions, null_distribution])
def test_functions_draw_comparisons_and_tests(function, tested) -> None:
    """A figure of a test shows the comparison of the test, and the other way round."""
    for result in (tested, tested.test):
        part = result._comparison if result is tested.test else tested
        expected = function(tested.test if function is null_distribution else part)
        drawn = function(result)
        assert drawn.get_xlim() == expected.get_xlim()
        assert drawn.get_ylim() == expected.get_ylim()
    with pytest.raises(InvalidInputError, match="needs the result of"):
        function(3)


def test_a_comparison_without_a_test_has_no_null_distribution() -> None:
    with pytest.raises(InvalidOptionError, match="no test; pass the result of"):
        null_distribution(compared())


def test_ticks_of_percentages_are_even_and_the_title_names_the_bars() -> None:
    X = np.random.default_rng(0).normal(size=(500, 3))
    Y = X + [0.2, 0.1, 0.0]
    test = isodepth.two_sample_test(X, Y, n_permutations=19, random_state=0)
    for result, title in ((test, "Differences"), (isodepth.compare(X, Y), "Contributions")):
        ax = contributions(result)
        ax.figure.canvas.draw()
        assert ax.get_title(loc="left") == f"{title} of the columns"
        ticks = [label.get_text() for label in ax.get_xticklabels()]
        steps = np.diff([float(each.removesuffix("%")) for each in ticks])
        np.testing.assert_allclose(steps, steps[0])
        assert not any("." in each for each in ticks)
