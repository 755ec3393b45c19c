"""What the exact depths rest on: floats as integers, spans, inputs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from isodepth.depth.exact.halfspace import _restrict, _steps
from isodepth.depth.exact.inputs import merge_points, merge_queries, scale_columns
from isodepth.depth.exact.rational import (
    AffineSpan,
    as_integers,
    lowest_bit,
    products_are_exact,
)
from isodepth.errors import InvalidInputError


@pytest.mark.parametrize(
    ("values", "bit"),
    [
        ([[1.0, 3.0]], 0),
        ([[4.0, 12.0]], 2),
        ([[0.75, -8.0]], -2),
        ([[0.0, 0.0]], 0),
        ([[0.0, 2.0**40]], 40),
        ([[5e-324]], -1074),
        ([[2.0**60 + 2.0**8]], 8),
    ],
)
def test_the_lowest_bit_divides_all_and_no_higher_one_does(values, bit: int) -> None:
    array = np.array(values)
    assert lowest_bit(array) == bit
    assert lowest_bit(np.zeros((1, 1)), array) == bit
    for row, whole in zip(values, list(as_integers(array, bit)), strict=True):
        assert [Fraction(n) * Fraction(2) ** bit for n in whole] == [Fraction(x) for x in row]


def test_products_are_exact_up_to_one_and_down_to_the_smallest_float() -> None:
    assert products_are_exact(2, np.array([[1.0, 2.0**-511]]))
    assert not products_are_exact(2, np.array([[1.0, 2.0**-512]]))
    assert not products_are_exact(2, np.array([[1.0 + 2**-52]]))
    assert not products_are_exact(2, np.array([[0.5]]), np.array([[1.5]]))
    assert products_are_exact(3, np.array([[0.5, 2.0**-340]]))
    assert not products_are_exact(3, np.array([[0.5, 2.0**-341]]))


def test_spans_of_points_lines_and_planes() -> None:
    point = AffineSpan.of([[1, 2, 3], [1, 2, 3]])
    assert point.columns == []
    assert point.contains([1, 2, 3])
    assert not point.contains([1, 2, 4])
    line = AffineSpan.of([[0, 0, 0], [0, 2, 4], [0, 1, 2]])
    assert line.columns == [1]
    assert line.contains([0, -7, -14])
    assert not line.contains([0, -7, 14])
    plane = AffineSpan.of([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, -1]])
    assert len(plane.columns) == 2
    assert plane.contains([5, -3, -1])
    assert not plane.contains([5, -3, 1])
    assert len(AffineSpan.of([[0, 0], [1, 0], [0, 1], [5, 5]]).columns) == 2


def test_queries_off_the_flat_of_a_sample_are_found() -> None:
    rows = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [0.0, 2.0, 1.0], [3.0, 3.0, 1.0]])
    columns, inside = _restrict(rows, np.array([[9.0, 9.0, 1.0], [0.0, 0.0, 1.0 + 2**-52]]))
    assert columns == [0, 1]
    assert inside.tolist() == [True, False]
    columns, inside = _restrict(rows + np.eye(4, 3), np.array([[9.0, 9.0, 1.0]]))
    assert columns == [0, 1, 2]
    assert inside.tolist() == [True]


def test_equal_points_are_put_together_and_those_without_mass_left_out() -> None:
    points = [[1.0, 0.0], [0.0, 0.0], [1.0, -0.0], [5.0, 5.0], [-0.0, 0.0]]
    sample = merge_points(np.array(points), np.array([1, 2, 3, 0, 4]))
    assert sample.points.tolist() == [[0.0, 0.0], [1.0, 0.0]]
    assert sample.masses.tolist() == [6, 4]
    assert sample.total == 10
    for masses, words in [
        (np.array([1, 2]), "one integer for each"),
        (np.array([1.0] * 5), "one integer for each"),
        (np.array([1, 1, -1, 1, 1]), "negative, got -1 at position 2"),
    ]:
        with pytest.raises(InvalidInputError, match=words):
            merge_points(np.array(points), masses)
    distinct, inverse = merge_queries(np.array(points), 2)
    assert distinct[inverse].tolist() == (np.array(points) + 0.0).tolist()
    assert len(distinct) == 3
    with pytest.raises(InvalidInputError, match="queries and points"):
        merge_queries(np.array(points), 3)


def test_columns_are_scaled_by_powers_of_two_unless_digits_would_be_lost() -> None:
    first, second = np.array([[3.0, 1e-5]]), np.array([[-100.0, 0.0]])
    scaled = scale_columns(first, second)
    assert max(np.abs(table).max() for table in scaled) <= 1
    assert (np.abs(np.concatenate(scaled)).max(axis=0) >= 0.5).all()
    powers = np.array([-100.0, 1e-5]) / [scaled[1][0, 0], scaled[0][0, 1]]
    assert (np.frexp(powers)[0] == 0.5).all()
    for new, old in zip(scaled, (first, second), strict=True):
        assert (new * powers == old).all()
    (kept,) = scale_columns(np.array([[1e300, 1.0], [5e-324, 1.0]]))
    assert kept.tolist() == [[1e300, 1.0], [5e-324, 1.0]]


def test_steps_are_those_of_the_documentation() -> None:
    assert _steps(16, 1) == _steps(16, 2) == 16 * 4
    assert _steps(16, 4) == (16 * 15 / 2) * 16 * 4
