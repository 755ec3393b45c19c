"""Bagplots of one sample."""

from __future__ import annotations

import numpy as np
import pytest

import isodepth
from isodepth.errors import InvalidInputError
from isodepth.plot import bagplot

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


def test_names_and_number_of_columns(points) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": points[:, 0], "b": points[:, 1], "c": 0.5 * points[:, 0]})
    assert bagplot(frame[["c", "b"]]).get_xlabel() == "c"
    with pytest.raises(InvalidInputError, match="two columns, got a sample of 3"):
        bagplot(frame)


def test_a_sample_on_a_line_can_be_drawn() -> None:
    ax = bagplot([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0], [4.0, 4.0]])
    ax.figure.draw_without_rendering()
