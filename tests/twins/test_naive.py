"""The reference implementations, compared with cases that were computed by hand."""

from __future__ import annotations

import math
from fractions import Fraction as Q

import pytest
from twins import naive

LINE = [[0.0], [1.0], [3.0], [7.0]]
AXIS = [[1.0]]
PLUS = [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0], [0.0, 0.0]]
AXES = [[1.0, 0.0], [0.0, 1.0]]


def test_halfspace_counts_from_the_nearer_end_with_the_border() -> None:
    assert naive.halfspace_depth(LINE, AXIS) == [Q(1, 4), Q(1, 2), Q(1, 2), Q(1, 4)]
    outside, inside = [[-1.0], [8.0]], [[2.0], [7.0]]
    assert naive.halfspace_depth(LINE, AXIS, Z=outside + inside) == [0, 0, Q(1, 2), Q(1, 4)]
    # In direction e1, (0, 1) has (-1, 0) and the three points on the axis x=0 on one side: 4/5.
    # In direction -e2 only itself is as far up: 1/5. The center has 4/5 on every side.
    assert naive.halfspace_depth(PLUS, AXES) == [Q(1, 5)] * 4 + [Q(4, 5)]


def test_projection_on_a_line() -> None:
    # median 2, deviations 2, 1, 1, 5, MAD 3/2
    expected = [3 / 7, 3 / 5, 3 / 5, 3 / 13]
    assert naive.projection_depth(LINE, AXIS) == pytest.approx(expected, rel=1e-15)
    assert naive.projection_depth(LINE, AXIS, Z=[[2.0], [8.0]]) == pytest.approx([1, 1 / 5])


def test_projection_with_a_mad_of_zero() -> None:
    X = [[0.0], [0.0], [0.0], [1.0]]
    assert naive.projection_depth(X, AXIS) == [1, 1, 1, 1 / 2]
    assert naive.projection_depth(X, AXIS, Z=[[0.0], [-3.0]]) == [1, 1 / 4]
    # Positive deviations 1, 2 and 6 with weights 1, 1 and 2: median (2 + 6) / 2.
    X, weights = [[0.0], [1.0], [-2.0], [6.0]], [5, 1, 1, 2]
    found = naive.projection_depth(X, AXIS, weights)
    assert found == pytest.approx([1, 4 / 5, 2 / 3, 2 / 5], rel=1e-15)


def test_projection_of_equal_rows() -> None:
    X = [[2.0], [2.0], [2.0]]
    assert naive.projection_depth(X, AXIS) == [1, 1, 1]
    assert naive.projection_depth(X, AXIS, Z=[[2.0], [2.5]]) == [1, 0]


def test_irw_on_a_line_with_ties_and_as_the_mean_of_both_axes() -> None:
    assert naive.irw_depth(LINE, AXIS) == [Q(1, 8), Q(3, 8), Q(3, 8), Q(1, 8)]
    # F at 0 is (0 + 2/3)/2 = 1/3, at 5 it is (2/3 + 1)/2 = 5/6
    assert naive.irw_depth([[0.0], [0.0], [5.0]], AXIS) == [Q(1, 3), Q(1, 3), Q(1, 6)]
    # Along an axis the values are -1, 0, 0, 0, 1 with min(F, 1-F) = 1/10, 1/2, 1/2, 1/2, 1/10.
    assert naive.irw_depth(PLUS, AXES) == [Q(3, 10)] * 4 + [Q(1, 2)]


def test_irw_does_not_depend_on_the_signs_of_the_directions() -> None:
    flipped = [[-c for c in u] for u in AXES]
    X = [[0.0, 1.0], [2.0, 1.0], [3.0, 0.0], [3.0, 5.0]]
    assert naive.irw_depth(X, AXES) == naive.irw_depth(X, flipped)


def test_ai_irw_is_irw_of_the_transformed_points() -> None:
    # The map (x, y) -> y keeps one coordinate of PLUS: values 0, 0, 1, -1, 0.
    expected = [Q(1, 2), Q(1, 2), Q(1, 10), Q(1, 10), Q(1, 2)]
    assert naive.ai_irw_depth(PLUS, [[0.0, 1.0]], AXIS) == expected


@pytest.mark.parametrize("depth", sorted(naive.DEPTHS))
def test_integer_weights_are_repeated_rows(depth: str) -> None:
    X, w = [[0.0], [1.0], [3.0]], [1, 2, 3]
    repeated = [[0.0], [1.0], [1.0], [3.0], [3.0], [3.0]]
    long = naive.DEPTHS[depth](repeated, AXIS)
    assert naive.DEPTHS[depth](X, AXIS, w) == [long[0], long[1], long[3]]


def test_weighted_median() -> None:
    assert naive.weighted_median([3.0, 0.0, 1.0], naive.masses(3, [3, 1, 2])) == 2.0
    assert naive.weighted_median([3.0, 0.0, 1.0], naive.masses(3, [4, 1, 2])) == 3.0
    assert naive.weighted_median([5.0, 9.0], naive.masses(2, [1, 0])) == 5.0


def test_ties_are_merged_from_the_head_of_each_group() -> None:
    mass = naive.masses(4)
    depths = [0.5, 0.5 - 8e-13, 0.5 - 16e-13, 0.2]
    assert naive.merge_ties(depths, mass, 1e-12) == [0.5, 0.5, 0.5 - 16e-13, 0.2]
    assert naive.merge_ties(depths, mass, 0.0) == depths


def test_regions_on_a_line() -> None:
    line = naive.depth_regions("halfspace", LINE, AXIS)
    assert line.breakpoints() == [Q(1, 2), 1]
    assert (line.alpha(0), line.alpha(Q(1, 2))) == (Q(1, 2), Q(1, 4))
    assert line.inside(0) == line.inside(Q(49, 100)) == {1, 2}
    assert line.inside(Q(1, 2)) == line.inside(0.99) == {0, 1, 2, 3}
    assert (line.support([1.0], 0), line.support([-1.0], 0)) == (3, -1)
    assert (line.support([1.0], 0.5), line.support([-1.0], 0.5)) == (7, 0)


def test_rows_of_weight_zero_are_in_no_region() -> None:
    line = naive.depth_regions("halfspace", [*LINE, [2.0]], AXIS, [1, 1, 1, 1, 0])
    assert line.depth == [Q(1, 4), Q(1, 2), Q(1, 2), Q(1, 4), Q(1, 2)]
    assert line.inside(0) == {1, 2}
    assert line.inside(0.75) == {0, 1, 2, 3}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        # The gap is 0 on [0, 1/2) and 2 on [1/2, 1): over [0, 3/4] a third of the length has it.
        ({"eps": 0.25, "p": 1}, 2 / 3),
        ({"eps": 0.25, "p": 2}, math.sqrt(4 / 3)),
        ({"eps": 0.25, "p": 0.5}, 2 / 9),
        ({"eps": 0.25, "p": math.inf}, 2.0),
        ({"eps": 0.25, "p": 1, "normalize": False}, 1 / 2),
        ({"eps": 0.25, "p": 2, "normalize": False}, 1.0),
        ({"eps": 0.5, "p": math.inf}, 0.0),
        ({"eps": 1, "p": 2}, 0.0),
        ({"eps": 0.25, "p": 1, "levels": 3}, 2 / 3),  # levels 1/8, 3/8, 5/8
        ({"eps": 0.25, "p": 1, "levels": 1}, 0.0),  # level 3/8
        ({"eps": 0.25, "p": 1, "levels": [0.1, 0.6]}, 1.0),
    ],
)
def test_distance_on_a_line(options: dict, expected: float) -> None:
    x = naive.depth_regions("halfspace", LINE, AXIS)
    y = naive.depth_regions("halfspace", [[0.0], [1.0], [3.0], [9.0]], AXIS)
    assert naive.distance(x, y, AXIS, **options) == pytest.approx(expected, rel=1e-15)


def test_pieces_merge_the_breakpoints_of_both_samples() -> None:
    x = naive.depth_regions("halfspace", LINE, AXIS)
    y = naive.depth_regions("halfspace", [[0.0], [1.0], [5.0]], AXIS)
    assert naive.pieces(x, y, 0.1) == [
        (0, Q(1, 3)),
        (Q(1, 3), Q(1, 2)),
        (Q(1, 2), Q(9, 10)),
    ]
    # [0, 1/3): {1, 3} against {1}; [1/3, 1/2): {1, 3} against all; then all against all.
    assert [naive.gap(x, y, AXIS, b) for b, _ in naive.pieces(x, y, 0.1)] == [2, 2, 2]


@pytest.mark.parametrize("eps", [0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.9])
def test_the_last_piece_is_not_due_to_rounding(eps: float) -> None:
    x = naive.depth_regions("halfspace", [[float(i)] for i in range(10)], AXIS)
    assert all(stop - start >= Q(1, 10) for start, stop in naive.pieces(x, x, eps))


def test_a_shift_is_the_distance_at_every_setting() -> None:
    x = naive.depth_regions("projection", PLUS, AXES)
    moved = [[a + 4.0, b] for a, b in PLUS]
    y = naive.depth_regions("projection", moved, AXES)
    for p in (0.5, 1, 2, 7, math.inf):
        for eps in (0.01, 0.5, 1.0):
            assert naive.distance(x, y, AXES, p, eps) == pytest.approx(4.0, rel=1e-15)


def test_power_mean_does_not_overflow() -> None:
    assert naive.power_mean([1e300, 1e300], [Q(1, 2), Q(1, 2)], 3) == 1e300
