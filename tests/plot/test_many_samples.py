"""Figures of a matrix of distances."""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
import pytest

from isodepth import DistanceMatrix
from isodepth.plot import distance_matrix
from isodepth.plot.style import loose_axes

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def matrix():
    places = np.array([[0.0, 0.0], [9.0, 0.0], [1.0, 0.0], [9.0, 2.0]])
    values = np.linalg.norm(places[:, None] - places[None], axis=2)
    return DistanceMatrix.of(values, ["a", "b", "c", "d"])


def test_the_image_is_the_matrix_in_the_order_of_its_names(matrix) -> None:
    ax = distance_matrix(matrix)
    names = [label.get_text() for label in ax.get_xticklabels()]
    assert names == [label.get_text() for label in ax.get_yticklabels()]
    order = [matrix.labels.index(name) for name in names]
    shown = np.asarray(ax.images[0].get_array())
    np.testing.assert_array_equal(shown, matrix.values[np.ix_(order, order)])
    # Similar samples are side by side.
    assert {frozenset(names[:2]), frozenset(names[2:])} == {frozenset("ac"), frozenset("bd")}
    assert {text.get_text() for text in ax.texts} >= {"9", "2", "0", "1"}


def test_other_samples_keep_their_order() -> None:
    matrix = DistanceMatrix.of([[3.0, 1.0, 2.0]], ["x"], ["p", "q", "r"])
    ax = distance_matrix(matrix)
    np.testing.assert_array_equal(np.asarray(ax.images[0].get_array()), matrix.values)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["p", "q", "r"]


def test_equal_samples_are_drawn_without_warnings() -> None:
    same = DistanceMatrix.of(np.zeros((3, 3)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        distance_matrix(same)


@pytest.mark.parametrize("count", [8, 60])
def test_names_do_not_overlap_and_are_not_clipped(count) -> None:
    rng = np.random.default_rng(0)
    places = rng.normal(size=(count, 2)) * [3, 1]
    values = np.linalg.norm(places[:, None] - places[None], axis=2)
    matrix = DistanceMatrix.of(values, [f"sample {i:02d}" for i in range(count)])
    ax = distance_matrix(matrix, loose_axes(5.6, 5.4))
    ax.figure.draw_without_rendering()
    for axis, side in ((ax.xaxis, "x"), (ax.yaxis, "y")):
        ticks = [label.get_window_extent() for label in axis.get_ticklabels()]
        assert len(ticks) <= 40
        assert not any(a.overlaps(b) for a, b in pairwise(ticks)), side
        assert min(min(box.x0, box.y0) for box in ticks) >= 0


def test_of_very_many_samples_some_are_named() -> None:
    values = np.abs(np.subtract.outer(np.arange(130.0), np.arange(130.0)))
    ax = distance_matrix(values)
    assert 20 <= len(ax.get_xticklabels()) <= 40
    assert not ax.texts
