"""Bagplots and contours of one sample."""

from __future__ import annotations

import numpy as np
import pytest

import isodepth
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.plot import bagplot, depth_contours

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def points():
    return np.random.default_rng(0).uniform(-1, 1, size=(150, 2))


def labeled(ax, start):
    pairs = zip(*ax.get_legend_handles_labels(), strict=True)
    return [handle for handle, label in pairs if label.startswith(start)]


def test_the_bag_is_the_deepest_half(points) -> None:
    metric = isodepth.Metric(depth="halfspace", directions="equispaced", n_directions=360, refine=0)
    regions = metric.regions(points)
    inside = points[regions.inside(0.5)]
    ax = bagplot(points)
    (bag,) = labeled(ax, "bag")
    corners = bag.get_xy()
    np.testing.assert_allclose(corners.max(axis=0), inside.max(axis=0), atol=1e-6)
    np.testing.assert_allclose(corners.min(axis=0), inside.min(axis=0), atol=1e-6)
    (deepest,) = labeled(ax, "deepest")
    center = points[regions.inside(0.0)].mean(axis=0)
    np.testing.assert_allclose(deepest.get_xydata()[0], center)


def test_outliers_are_outside_the_fence(points) -> None:
    assert not labeled(bagplot(points), "outliers")
    spoilt = np.vstack([points, [[8.0, 8.0], [-9.0, 0.0]]])
    ax = bagplot(spoilt)
    (marks,) = labeled(ax, "outliers: 2")
    np.testing.assert_array_equal(marks.get_xydata(), spoilt[-2:])
    (loop,) = labeled(ax, "loop")
    assert np.abs(loop.get_xy()).max() < 1.1
    assert len(bagplot(spoilt, factor=100.0).get_legend_handles_labels()[1]) == 3


def test_contours_are_at_the_depths_of_the_regions(points) -> None:
    ax = depth_contours(points, depth="halfspace")
    metric = isodepth.Metric(depth="halfspace", directions="equispaced", n_directions=360, refine=0)
    regions = metric.regions(points)
    expected = sorted({regions.alpha(mass) for mass in (0.25, 0.5, 0.75, 0.9)})
    lines = [c for c in ax.collections if not getattr(c, "filled", True)]
    assert [float(line.levels[0]) for line in lines] == expected
    # Rows inside the contour of half of the mass are half of the rows.
    path = lines[expected.index(regions.alpha(0.5))].get_paths()[0]
    share = path.contains_points(points).mean()
    assert abs(share - 0.5) < 0.05


def test_columns_are_chosen_by_name_and_place(points) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": points[:, 0], "b": points[:, 1], "c": 0.5 * points[:, 0]})
    assert bagplot(frame, columns=("c", "b")).get_xlabel() == "c"
    assert depth_contours(frame, columns=(1, 2)).get_ylabel() == "c"
    with pytest.raises(InvalidInputError, match="the sample has 3"):
        bagplot(frame)
    with pytest.raises(InvalidOptionError, match="no column 'd'"):
        bagplot(frame, columns=("a", "d"))
    with pytest.raises(InvalidOptionError, match="two names"):
        depth_contours(frame, columns="ab")


def test_contours_need_a_depth_of_places(points) -> None:
    with pytest.raises(InvalidOptionError, match="contours need the depth"):
        depth_contours(points, depth=lambda rows: -np.abs(rows).sum(axis=1))


@pytest.mark.parametrize("draw", [bagplot, depth_contours])
def test_a_sample_on_a_line_can_be_drawn(draw) -> None:
    ax = draw([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0], [4.0, 4.0]])
    ax.figure.draw_without_rendering()
