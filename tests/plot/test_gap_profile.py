"""The pictures show what the comparison says, and need no window system."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import isodepth
from isodepth.errors import MissingExtraError
from isodepth.plot.gap_profile import gap_profile

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(0)
    return rng.standard_normal((60, 2)), 3 * rng.standard_normal((70, 2)) + [4, 0]


def compare(samples, **options):
    return isodepth.compare(*samples, n_directions=30, random_state=0, **options)


def texts(ax):
    return "\n".join(text.get_text() for text in ax.texts)


def test_exact_profile_is_the_step_curve_of_the_gaps(samples):
    comparison = compare(samples)
    curve = gap_profile(comparison).patches[0]
    values, edges, _ = curve.get_data()
    np.testing.assert_array_equal(values, comparison.gaps)
    np.testing.assert_array_equal(edges[:-1], comparison.levels[:, 0])
    np.testing.assert_array_equal(edges[1:], comparison.levels[:, 1])


@pytest.mark.parametrize("levels", [{"levels": 8}, {"levels": "monte-carlo", "n_levels": 8}])
def test_grid_profile_goes_through_the_gaps_in_order(samples, levels):
    comparison = compare(samples, **levels)
    curve = gap_profile(comparison).lines[0]
    order = np.argsort(comparison.levels)
    np.testing.assert_array_equal(curve.get_xdata(), comparison.levels[order])
    np.testing.assert_array_equal(curve.get_ydata(), comparison.gaps[order])


def test_largest_gap_and_distance_are_marked(samples):
    comparison = compare(samples)
    ax = gap_profile(comparison)
    worst = comparison.largest_gap
    marks = [
        line for line in ax.lines if np.array_equal(line.get_xydata(), [[worst.level, worst.gap]])
    ]
    assert len(marks) == 1
    assert worst.gap == comparison.gaps.max()
    assert f"largest gap {worst.gap:.4g}" in texts(ax)
    assert worst.columns[0][0] in texts(ax)
    assert f"distance {comparison.distance:.4g}" in texts(ax)


def test_axes_are_labelled_and_hold_the_curve(samples):
    comparison = compare(samples)
    ax = gap_profile(comparison)
    assert ax.get_xlabel()
    assert ax.get_ylabel()
    assert ax.get_title(loc="left")
    assert ax.get_ylim()[0] == 0
    assert ax.get_ylim()[1] > comparison.gaps.max()
    assert ax.get_xlim() == pytest.approx((0, 0.9))  # eps is 0.1


@pytest.mark.parametrize("options", [{"eps": 1}, {"eps": 0.999}, {"p": np.inf}, {"levels": 1}])
def test_corner_settings_are_drawn(samples, options, tmp_path):
    path = tmp_path / "profile.png"
    gap_profile(compare(samples, **options)).figure.savefig(path)
    assert path.read_bytes().startswith(b"\x89PNG")


def test_equal_samples_are_drawn(samples):
    X, _ = samples
    ax = gap_profile(compare((X, X)))
    assert "distance 0" in texts(ax)
    assert ax.get_ylim() == (0, 1)


def test_given_axes_are_used(samples):
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    assert gap_profile(compare(samples), ax=ax) is ax


def test_no_figure_is_left_open(samples):
    import matplotlib.pyplot as plt

    before = plt.get_fignums()
    gap_profile(compare(samples))
    assert plt.get_fignums() == before


def test_without_matplotlib_the_message_says_what_to_install(samples, monkeypatch):
    comparison = compare(samples)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'isodepth\[plot\]'"):
        gap_profile(comparison)


def test_more_steps_than_can_be_seen_are_averaged():
    rng = np.random.default_rng(0)
    comparison = isodepth.compare(
        rng.normal(size=(1500, 1)),
        2 * rng.normal(size=(1501, 1)),
        depth="halfspace",
        random_state=0,
    )
    assert len(comparison.gaps) > 1000
    values, edges, _ = gap_profile(comparison).patches[0].get_data()
    assert len(values) == 800
    np.testing.assert_allclose(edges[[0, -1]], [0.0, 0.9])
    # The area is that of the gaps.
    widths = np.diff(comparison.levels, axis=1)[:, 0]
    np.testing.assert_allclose(values @ np.diff(edges), comparison.gaps @ widths, rtol=1e-12)
    assert values.max() <= comparison.gaps.max()
