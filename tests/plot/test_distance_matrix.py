"""Heat maps of distance matrices."""

from __future__ import annotations

import numpy as np
import pytest

import isodepth
from isodepth.errors import InvalidInputError

pytest.importorskip("matplotlib")


def labels_of(ax, axis: str) -> list[str]:
    return [label.get_text() for label in getattr(ax, f"get_{axis}ticklabels")()]


def matrix_of(places) -> np.ndarray:
    places = np.asarray(places, dtype=float)
    return np.abs(places[:, None] - places)


def test_similar_samples_are_neighbors() -> None:
    places = [0, 10, 0.5, 11, 1.2]
    matrix = isodepth.DistanceMatrix.from_array(matrix_of(places), "abcde")
    ax = matrix.plot()
    order = "".join(labels_of(ax, "x"))
    assert labels_of(ax, "y") == list(order)
    assert order in ("acebd", "acedb", "ecabd", "dbeca", "bdeca", "dbace")
    index = ["abcde".index(label) for label in order]
    drawn = ax.images[0].get_array()
    np.testing.assert_array_equal(drawn, matrix.values[np.ix_(index, index)])
    numbers = [float(text.get_text()) for text in ax.texts]
    np.testing.assert_allclose(numbers, drawn.ravel(), rtol=0.05)


def test_the_dendrogram_has_the_heights_of_average_linkage() -> None:
    hierarchy = pytest.importorskip("scipy.cluster.hierarchy")
    from scipy.spatial.distance import squareform

    values = matrix_of([0, 10, 0.5, 11, 1.2])
    (above,) = isodepth.DistanceMatrix.from_array(values).plot().child_axes
    heights = sorted(line.get_ydata().max() for line in above.lines)
    np.testing.assert_allclose(heights, hierarchy.average(squareform(values))[:, 2])
    assert above.get_xlim() == (-0.5, 4.5)


def test_a_rectangular_matrix_keeps_its_order() -> None:
    values = np.array([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0]])
    ax = isodepth.DistanceMatrix.from_array(values, "ab", "cde").plot()
    np.testing.assert_array_equal(ax.images[0].get_array(), values)
    assert labels_of(ax, "y") == ["a", "b"]
    assert labels_of(ax, "x") == ["c", "d", "e"]
    assert ax.child_axes == []


def test_many_samples_have_at_most_forty_labels_and_no_numbers() -> None:
    ax = isodepth.DistanceMatrix.from_array(matrix_of(np.arange(90))).plot()
    assert len(labels_of(ax, "x")) == 30
    assert not ax.texts


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("n", [1, 2, 4])
def test_equal_samples_can_be_drawn(n) -> None:
    ax = isodepth.DistanceMatrix.from_array(np.zeros((n, n))).plot()
    ax.figure.draw_without_rendering()


def test_distances_must_be_finite() -> None:
    with pytest.raises(InvalidInputError, match="finite distances"):
        isodepth.DistanceMatrix.from_array([[0, np.inf], [np.inf, 0]]).plot()
