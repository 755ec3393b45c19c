"""Figures of nested regions: plane of projection, outlines of the regions, and drawn rows."""

from __future__ import annotations

import numpy as np
import pytest

import isodepth
from isodepth.errors import InvalidInputError
from isodepth.show.regions import (
    difference_plane,
    drawn_levels,
    mean_squared_gaps,
    nested_regions,
    outline,
    plane_directions,
)
from isodepth.show.style import loose_axes, new_axes
from isodepth.table.frames import NamedArray

pytest.importorskip("matplotlib")


def pair(d: int, seed: int = 0, n: int = 150):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(size=(n + 20, d))


def twin_mean_squared_gap(comparison, u) -> float:
    """Return the mean squared gap along direction `u`, computed from its definition."""
    total = 0.0
    x, y = comparison.regions
    for share, beta in zip(comparison.level_widths, comparison.levels, strict=True):
        inside_x, inside_y = x.points[x.indices(beta)], y.points[y.indices(beta)]
        for sign in (1, -1):
            apart = (sign * inside_x @ u).max() - (sign * inside_y @ u).max()
            total += share * apart**2 / 2
    return total


@pytest.mark.parametrize("options", [{"levels": 7}, {"levels": 5, "q": 2}, {}])
def test_mean_squared_gaps_agree_with_their_definition(options) -> None:
    x, y = pair(3, n=25)
    comparison = isodepth.compare(
        x, y + [1, 0, 0], n_directions=20, scale=None, random_state=0, **options
    )
    directions = np.random.default_rng(1).normal(size=(4, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    expected = [twin_mean_squared_gap(comparison, u) for u in directions]
    np.testing.assert_allclose(mean_squared_gaps(comparison, directions), expected, rtol=1e-10)


def test_a_hundred_levels_approximate_all() -> None:
    x, y = pair(3, n=120)
    comparison = isodepth.compare(x, y * 2, n_directions=20, scale=None, random_state=0)
    assert len(comparison.gaps) > 150
    found = mean_squared_gaps(comparison, np.eye(3))
    expected = [twin_mean_squared_gap(comparison, u) for u in np.eye(3)]
    # A step function with 200 steps, evaluated at 100 positions.
    np.testing.assert_allclose(found, expected, rtol=0.05)


@pytest.mark.parametrize("q", [np.inf, 2])
def test_the_plane_contains_a_translation(q) -> None:
    x, _ = pair(6)
    shift = np.array([0.0, 3.0, 0.0, -4.0, 0.0, 0.0])
    comparison = isodepth.compare(
        x, x + shift, q=q, n_directions=300, levels=10, scale=None, random_state=0
    )
    basis = difference_plane(comparison)
    np.testing.assert_allclose(basis.T @ basis, np.eye(2), atol=1e-12)
    # For a translation by m the squared gap along u is <m, u>^2, so that the first axis is m.
    assert abs(basis[:, 0] @ shift) / 5 > 0.999
    np.testing.assert_allclose(mean_squared_gaps(comparison, basis.T)[0], 25, rtol=2e-3)


def test_the_plane_is_as_good_as_a_fine_search() -> None:
    x, y = pair(3, seed=3)
    comparison = isodepth.compare(
        x, y * [1, 2.5, 1] + [0, 0, 1], levels=8, scale=None, random_state=0
    )
    basis = difference_plane(comparison)
    gaps = mean_squared_gaps(comparison, basis.T)
    fine = np.random.default_rng(5).normal(size=(20000, 3))
    fine /= np.linalg.norm(fine, axis=1)[:, None]
    best = mean_squared_gaps(comparison, fine).max()
    # The squared gap is Lipschitz on the sphere: a distance of 0.015 costs a few percent at most.
    assert gaps[0] >= 0.97 * best
    around = fine - np.outer(fine @ basis[:, 0], basis[:, 0])
    around /= np.linalg.norm(around, axis=1)[:, None]
    assert gaps[1] >= 0.97 * mean_squared_gaps(comparison, around).max()


def test_the_plane_is_deterministic_and_exists_for_equal_samples() -> None:
    x, y = pair(4)
    options = {"n_directions": 50, "scale": None, "random_state": 0}
    comparison = isodepth.compare(x, y, **options)
    np.testing.assert_array_equal(difference_plane(comparison), difference_plane(comparison))
    basis = difference_plane(isodepth.compare(x, x, **options))
    np.testing.assert_allclose(basis.T @ basis, np.eye(2), atol=1e-12)


def test_outline_is_the_hull() -> None:
    from scipy.spatial import ConvexHull

    points = np.random.default_rng(0).normal(size=(60, 2))
    directions = plane_directions()
    corners = outline((points @ directions.T).max(axis=0), directions)
    hull = points[ConvexHull(points).vertices]
    assert ((corners @ directions.T).max(axis=0) <= (hull @ directions.T).max(axis=0) + 1e-9).all()
    for corner in hull:
        assert np.linalg.norm(corners - corner, axis=1).min() < 0.05


@pytest.mark.parametrize("points", [[[1.0, 2.0]], [[0.0, 0.0], [3.0, 1.0]]])
def test_outlines_of_points_and_segments(points) -> None:
    points = np.array(points)
    directions = plane_directions()
    corners = outline((points @ directions.T).max(axis=0), directions)
    assert len(corners)
    assert (corners >= points.min(axis=0) - 0.05).all()
    assert (corners <= points.max(axis=0) + 0.05).all()


@pytest.mark.parametrize("options", [{}, {"levels": 6}, {"q": 2}])
def test_outlines_are_the_regions_of_the_samples(options) -> None:
    x, y = pair(2)
    comparison = isodepth.compare(
        x, y + [3, 0], n_directions=60, scale=None, random_state=0, **options
    )
    ax = nested_regions(comparison, names=("June", "July"))
    outlines = [line.get_xydata() for line in ax.lines if line.get_marker() == "None"]
    assert len(outlines) == 2 * len(drawn_levels(comparison))
    assert ax.get_xlabel() == "column 0"
    last = float(drawn_levels(comparison)[-1])
    inside = comparison.regions[0].points[comparison.regions[0].indices(last)]
    np.testing.assert_allclose(outlines[3].max(axis=0), inside.max(axis=0), atol=1e-6)
    np.testing.assert_allclose(outlines[3].min(axis=0), inside.min(axis=0), atol=1e-6)


def test_every_row_is_drawn_once_or_counted() -> None:
    x, y = pair(3)
    y[:5] = 1e6
    comparison = isodepth.compare(x, y, n_directions=60, scale=None, random_state=0)
    ax = nested_regions(comparison)
    drawn = [line for line in ax.lines if line.get_marker() in ("o", "x", "^", "+")]
    assert [line.get_marker() for line in drawn] == ["o", "x", "^", "+"]
    assert len(drawn[0].get_xdata()) + len(drawn[1].get_xdata()) == len(x)
    assert len(drawn[2].get_xdata()) + len(drawn[3].get_xdata()) == len(y)
    labels = ax.get_legend_handles_labels()[1]
    assert labels[2] == "Y (170 rows, 5 outside the frame)"
    # The frame does not extend to outliers.
    assert ax.get_xlim()[1] < 100


@pytest.mark.parametrize("size", [(5.6, 5.2), (10.0, 8.0)])
def test_the_legend_is_below_the_axes(size) -> None:
    x, y = pair(4, n=2000)
    comparison = isodepth.compare(x, y + 1, n_directions=30, scale=None, random_state=0)
    ax = nested_regions(comparison, ax=loose_axes(*size), names=("June", "July"))
    ax.figure.draw_without_rendering()
    box = ax.get_legend().get_window_extent()
    assert box.y1 <= ax.xaxis.get_tightbbox().y0
    assert box.y0 >= 0
    assert ax.get_legend().get_title().get_text().startswith("regions of the deepest 22%")


def test_one_column_is_refused() -> None:
    comparison = isodepth.compare(*pair(1), scale=None, random_state=0)
    with pytest.raises(InvalidInputError, match="one column"):
        nested_regions(comparison)


def test_names_of_columns_are_not_formulas() -> None:
    x, y = pair(2)
    names = ("$x_1", "b$ $")
    comparison = isodepth.compare(
        NamedArray(x, names), NamedArray(y, names), n_directions=30, scale=None, random_state=0
    )
    ax = new_axes()
    assert nested_regions(comparison, ax=ax) is ax
    assert ax.get_xlabel() == r"\$x_1"
    ax.figure.draw_without_rendering()  # an unbalanced formula would fail here
