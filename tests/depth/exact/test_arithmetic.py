"""What the exact depths rest on: floats as integers, spans, masses of levels, limits of work."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from isodepth.depth.exact.halfspace import (
    _is_small_lattice,
    _restrict,

    _steps,
    exact_halfspace_depth,
)
from isodepth.depth.exact.inputs import check_work, merge_points, merge_queries, scale_columns
from isodepth.depth.exact.planar import mass_of_level
from isodepth.depth.exact.projection import exact_projection_depth_2d
from isodepth.depth.exact.rational import (
    AffineSpan,
    as_integers,
    lowest_bit,
    products_are_exact,
    smallest_mass,
)
from isodepth.errors import InvalidInputError, InvalidOptionError

# ---------------------------------------------------------------------------------------------
# floats as integers
# ---------------------------------------------------------------------------------------------


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


def test_the_lowest_bit_is_that_of_all_arrays() -> None:
    assert lowest_bit(np.array([[0.25]]), np.array([[4.0]])) == -2
    assert lowest_bit(np.array([[4.0]]), np.array([[0.25]])) == -2
    assert lowest_bit(np.array([[4.0]]), np.array([[8.0]])) == 2


def test_integers_in_smaller_units() -> None:
    assert as_integers(np.array([[1.5, -3.0, 0.0]]), -4) == [[24, -48, 0]]
    assert as_integers(np.array([[2.0**60, -(2.0**60)]]), 0) == [[2**60, -(2**60)]]


def test_products_are_exact_up_to_one_and_down_to_the_smallest_float() -> None:
    assert products_are_exact(2, np.array([[1.0, 2.0**-511]]))
    assert not products_are_exact(2, np.array([[1.0, 2.0**-512]]))
    assert not products_are_exact(2, np.array([[1.0 + 2**-52]]))
    assert not products_are_exact(2, np.array([[0.5]]), np.array([[1.5]]))
    assert products_are_exact(3, np.array([[0.5, 2.0**-340]]))
    assert not products_are_exact(3, np.array([[0.5, 2.0**-341]]))


# ---------------------------------------------------------------------------------------------
# spans
# ---------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_a_few_rows_show_that_a_sample_spans_everything(d: int) -> None:
    rng = np.random.default_rng(d)
    rows = rng.standard_normal((d + 4, d))
    assert _span_everything(rows)
    assert _span_everything(rows[: d + 1])
    assert not _span_everything(rows[:d])
    assert not _span_everything(np.repeat(rows[:1], 3, axis=0))
    wide = np.column_stack([rows, rows.sum(axis=1) * 0.0])
    assert not _span_everything(wide)


def test_queries_off_the_flat_of_a_sample_are_found() -> None:
    rows = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [0.0, 2.0, 1.0], [3.0, 3.0, 1.0]])
    columns, inside = _restrict(rows, np.array([[9.0, 9.0, 1.0], [0.0, 0.0, 1.0 + 2**-52]]))
    assert columns == [0, 1]
    assert inside.tolist() == [True, False]
    columns, inside = _restrict(rows + np.eye(4, 3), np.array([[9.0, 9.0, 1.0]]))
    assert columns == [0, 1, 2]
    assert inside.tolist() == [True]


# ---------------------------------------------------------------------------------------------
# the smallest mass, by integers
# ---------------------------------------------------------------------------------------------


def brute_force(vectors: list[list[int]], masses: list[int]) -> int:
    """Normals of all hyperplanes through d - 1 vectors, each tilted a little to every side."""
    d = len(vectors[0])
    array = np.array(vectors)
    best = sum(masses)
    scale = 10 ** (3 * d)
    tilts = [np.array(t) for t in itertools.product((-1, 0, 1), repeat=len(vectors)) if any(t)]
    for chosen in itertools.combinations(range(len(vectors)), d - 1):
        rows = array[list(chosen)]
        normal = np.array(
            [
                (-1) ** k * round(np.linalg.det(np.delete(rows, k, axis=1).astype(float)))
                for k in range(d)
            ]
        )
        if not normal.any():
            continue
        for sign, tilt in itertools.product((1, -1), tilts):
            u = sign * scale * normal + (tilt[:, None] * array).sum(axis=0)
            ahead = array @ u
            best = min(best, sum(m for m, a in zip(masses, ahead, strict=True) if a >= 0))
    return best


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_the_smallest_mass_is_that_of_brute_force(d: int, seed: int) -> None:
    rng = np.random.default_rng([d, seed])
    vectors = rng.integers(-3, 4, (6, d))
    vectors = vectors[vectors.any(axis=1)]
    if np.linalg.matrix_rank(vectors) < d:
        vectors = np.concatenate([vectors, np.eye(d, dtype=int)])[:7]
    masses = rng.integers(1, 5, len(vectors)).tolist()
    expected = brute_force(vectors.tolist(), masses)
    pairs = list(zip(vectors.tolist(), masses, strict=True))
    assert smallest_mass(pairs) == expected
    # What lies at the query is in every halfspace.
    assert smallest_mass([*pairs, ([0] * d, 9)]) == expected + 9
    # And compiled code, which sees the same vectors as points around a query at zero.
    found = exact_halfspace_depth(vectors.astype(float), np.array(masses), np.zeros((1, d)))
    assert found.tolist() == [expected]


@pytest.mark.parametrize("d", [3, 4])
@pytest.mark.parametrize("seed", range(12))
def test_opposite_vectors_are_counted_on_their_sides(d: int, seed: int) -> None:
    """Integers against compiled code, on vectors that come in opposite and parallel pairs."""
    rng = np.random.default_rng([d, seed])
    some = rng.integers(-2, 3, (d + 1, d))
    vectors = np.concatenate([some, -some, 2 * some[:2], np.eye(d, dtype=int)])
    vectors = rng.permutation(vectors[vectors.any(axis=1)])
    masses = rng.integers(1, 6, len(vectors))
    found = exact_halfspace_depth(vectors.astype(float), masses, np.zeros((1, d)))
    pairs = list(zip(vectors.tolist(), masses.tolist(), strict=True))
    assert smallest_mass(pairs) == found[0]


def test_on_a_line_and_at_a_point() -> None:
    assert smallest_mass([([3], 2), ([-1], 5), ([1], 1)]) == 3
    assert smallest_mass([([0, 0], 4)]) == 4


# ---------------------------------------------------------------------------------------------
# what goes in
# ---------------------------------------------------------------------------------------------


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
    scaled, exponents = scale_columns(first, second)
    assert max(np.abs(table).max() for table in scaled) <= 1
    assert (np.abs(np.concatenate(scaled)).max(axis=0) >= 0.5).all()
    for new, old in zip(scaled, (first, second), strict=True):
        assert (np.ldexp(new, exponents) == old).all()
    kept, exponents = scale_columns(np.array([[1e300, 1.0], [5e-324, 1.0]]))
    assert exponents.tolist() == [0, 0]
    assert kept[0].tolist() == [[1e300, 1.0], [5e-324, 1.0]]


def test_work_up_to_the_limit() -> None:
    check_work(100.0, 100.0, "this")
    with pytest.raises(InvalidOptionError, match="this takes about 1e\\+02 steps"):
        check_work(100.1, 100.0, "this")
    for limit in (0.0, -1.0, math.nan):
        with pytest.raises(InvalidOptionError, match="max_work must lie in"):
            check_work(1.0, limit, "this")


def test_the_exact_projection_depth_takes_the_cube_of_the_number_of_points() -> None:
    points, masses = np.random.default_rng(0).normal(size=(20, 2)), np.ones(20, dtype=int)
    assert exact_projection_depth_2d(points, masses, points[:1], max_work=8000).shape == (1,)
    with pytest.raises(InvalidOptionError, match="max_work"):
        exact_projection_depth_2d(points, masses, points[:1], max_work=7999)


def test_steps_are_those_of_the_documentation() -> None:
    assert _steps(16, 1) == _steps(16, 2) == 16 * 4
    assert _steps(16, 3) == 16 * 16 * 4
    assert _steps(16, 4) == (16 * 15 / 2) * 16 * 4
    assert _steps(1, 2) == 1


@pytest.mark.parametrize("total", [1, 2, 3, 7, 10, 97])
def test_the_mass_of_a_level_is_the_first_that_reaches_it(total: int) -> None:
    for alpha in [*(k / total for k in range(1, total + 1)), 0.05, 0.3, 1 / 3, 0.999, 1.0, 1e-9]:
        expected = next(k for k in range(1, total + 1) if k / total >= alpha)
        assert mass_of_level(alpha, total) == expected


def test_small_lattices_are_known_as_such() -> None:
    def lattice(side: float, d: int, exponent: int = 0) -> bool:
        rows = np.zeros((2, d))
        rows[1] = side
        return _is_small_lattice(rows, rows[:1], exponent)

    # In the plane coordinates stay as they are, up to 2**26; in space minors are 2 * side**2.
    assert lattice(2.0**26, 2)
    assert not lattice(2.0**26 + 1, 2)
    assert lattice(5792.0, 3)  # 2 * 5792**2 = 67094528 <= 2**26
    assert not lattice(5793.0, 3)
    assert lattice(2.0**20, 2, -6)
    assert not lattice(2.0**20, 2, -7)
    assert not lattice(2.0**60, 2)


# ---------------------------------------------------------------------------------------------
# far away
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shift", [[2.0**30, 0.0], [-(2.0**40), 2.0**35], [3.0, -5.0]])
def test_a_cloud_far_away_has_the_depths_it_has_at_home(shift: list[float]) -> None:
    """Integers, so that moving them is exact: only what is done with them may round."""
    rng = np.random.default_rng(0)
    points = rng.integers(-40, 40, (15, 2)).astype(float)
    masses = rng.integers(1, 4, 15)
    queries = np.concatenate([points[:5], [[0.0, 0.0], [60.0, -3.0]]])
    home = exact_projection_depth_2d(points, masses, queries)
    away = exact_projection_depth_2d(points + shift, masses, queries + shift)
    assert away == pytest.approx(home, rel=1e-12)
    assert (
        exact_halfspace_depth(points + shift, masses, queries + shift).tolist()
        == exact_halfspace_depth(points, masses, queries).tolist()
    )


@pytest.mark.parametrize("scale", [[1e-200, 1e200], [1e150, 1e150], [1e308, 1.0]])
def test_units_do_not_matter(scale: list[float]) -> None:
    rng = np.random.default_rng(1)
    points = rng.uniform(-1, 1, (11, 2))
    masses = np.ones(11, dtype=int)
    plain = exact_projection_depth_2d(points, masses, points)
    scaled = exact_projection_depth_2d(points * scale, masses, points * scale)
    # Multiplying rounds each coordinate once.
    assert scaled == pytest.approx(plain, rel=1e-12)
