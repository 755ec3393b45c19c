"""Bagplots: bag, outliers, hull, and degenerate samples."""

from __future__ import annotations

import numpy as np
import pytest

import isodepth
from isodepth.errors import InvalidInputError
from isodepth.plot import bagplot
from isodepth.show.bagplot import _hull, _outside

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def points():
    return np.random.default_rng(0).uniform(-1, 1, size=(150, 2))


def labeled(ax, start):
    pairs = zip(*ax.get_legend_handles_labels(), strict=True)
    return [handle for handle, label in pairs if label.startswith(start)]


def test_the_bag_is_the_hull_of_the_deepest_half(points) -> None:
    spatial = pytest.importorskip("scipy.spatial")
    estimator = isodepth.HalfspaceDepth(directions="equispaced", n_directions=720).fit(points)
    threshold = np.sort(estimator.depth_)[::-1][75]
    deepest_half = points[estimator.depth_ >= threshold]
    ax = bagplot(points)
    (bag,) = labeled(ax, "bag")
    area = spatial.ConvexHull(deepest_half).volume
    np.testing.assert_allclose(spatial.ConvexHull(bag.get_xy()).volume, area)
    (median,) = labeled(ax, "depth median")
    deepest = points[estimator.depth_ == estimator.depth_.max()]
    np.testing.assert_allclose(median.get_xydata()[0], deepest.mean(axis=0))


def test_rows_outside_the_bag_inflated_by_three_are_outliers() -> None:
    """Rows farther from the center than three times the radius of the bag are drawn as outliers.

    The bag of a dense disk of radius 1 is a disk of radius about sqrt(1/2).
    """
    rng = np.random.default_rng(1)
    angles, radii = rng.uniform(0, 2 * np.pi, 4000), np.sqrt(rng.uniform(size=4000))
    disk = np.stack([radii * np.cos(angles), radii * np.sin(angles)], axis=1)
    fence = 3 * np.sqrt(0.5)
    inside, outside = [0.9 * fence, 0.0], [[0.0, 1.1 * fence], [-2 * fence, 0.0]]
    assert not labeled(bagplot(np.vstack([disk, inside])), "1 outlier")
    rows = np.vstack([disk, [inside], outside])
    ax = bagplot(rows)
    (marks,) = labeled(ax, "2 outliers")
    np.testing.assert_array_equal(marks.get_xydata(), outside)
    (loop,) = labeled(ax, "loop")
    np.testing.assert_allclose(loop.get_xy()[:, 0].max(), 0.9 * fence, rtol=1e-6)
    assert loop.get_xy()[:, 1].max() < 1.1


def test_names_and_number_of_columns(points) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": points[:, 0], "b": points[:, 1], "c": 0.5 * points[:, 0]})
    assert bagplot(frame[["c", "b"]]).get_xlabel() == "c"
    with pytest.raises(InvalidInputError, match="two columns, got 3"):
        bagplot(frame)
    with pytest.raises(InvalidInputError, match="NaN"):
        bagplot([[0.0, np.nan], [1.0, 2.0]])


@pytest.mark.parametrize("n", [3, 4, 10, 300])
def test_hulls_and_rows_outside_agree_with_scipy(n) -> None:
    spatial = pytest.importorskip("scipy.spatial")
    rng = np.random.default_rng(n)
    rows = rng.normal(size=(n, 2)).round(1)
    hull = spatial.ConvexHull(rows)
    vertices = _hull(rows)
    assert {tuple(vertex) for vertex in vertices} == {tuple(rows[i]) for i in hull.vertices}
    queries = rng.normal(size=(500, 2))
    expected = (queries @ hull.equations[:, :2].T + hull.equations[:, 2] > 1e-9).any(axis=1)
    np.testing.assert_array_equal(_outside(queries, vertices), expected)
    assert not _outside(rows, vertices).any()


@pytest.mark.filterwarnings("ignore::isodepth.errors.DegenerateDepthWarning")
@pytest.mark.parametrize("rows", [[[0.0, 0.0]], [[1.0, 2.0]] * 5, [[k, k] for k in range(5)]])
def test_a_point_and_a_line_can_be_drawn(rows) -> None:
    ax = bagplot(rows)
    ax.figure.draw_without_rendering()
    assert not labeled(ax, "1 outlier")


def test_another_depth(points) -> None:
    by_ranks, by_spread = (bagplot(points, depth=name) for name in ("irw", "projection"))
    bags = [labeled(ax, "bag")[0].get_xy() for ax in (by_ranks, by_spread)]
    assert bags[0].shape != bags[1].shape or not np.allclose(*bags)
