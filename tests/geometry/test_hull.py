"""Distances to and between convex hulls, compared with slow references and closed forms.

A tolerance that is a multiple of the size of the data is for rounding: sums of a few dozen products
have an error of a few dozen units in the last place (2.2e-16) of the largest product.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.spatial import ConvexHull
from twins import naive_hull as naive
from twins.stepwise_refinement import raise_gaps

from isodepth.base.compiled import Resources
from isodepth.errors import InvalidInputError
from isodepth.geometry.hull import (
    common_frame,
    exact_gaps,
    hull_distance,
    project_to_hull,
)

ROUNDING = 1e-13


def repeated(normal: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return normal[rng.integers(0, max(1, len(normal) // 4), len(normal))]


#: Points in general and in degenerate position, made from normal points (n, dim).
FAMILIES = {
    "normal": lambda z, rng: z,
    "lattice": lambda z, rng: rng.integers(-2, 3, size=z.shape).astype(float),
    "cube corners": lambda z, rng: np.sign(z),
    "sphere": lambda z, rng: z / np.linalg.norm(z, axis=1, keepdims=True),
    "flat": lambda z, rng: z * np.where(np.arange(z.shape[1]) == 0, 1e-9, 1.0),
    "columns of many sizes": lambda z, rng: z * 10.0 ** -np.arange(0, 3 * z.shape[1], 3),
    "repeated": repeated,
    "almost repeated": lambda z, rng: repeated(z, rng) + 1e-12 * rng.normal(size=z.shape),
    "in a subspace": lambda z, rng: (
        z[:, : max(1, z.shape[1] // 2)] @ rng.normal(size=(max(1, z.shape[1] // 2), z.shape[1]))
    ),
    "collinear": lambda z, rng: z[:, :1] * rng.normal(size=z.shape[1]) + 1.0,
    "heavy tails": lambda z, rng: rng.standard_cauchy(size=z.shape) ** 3,
    "far away": lambda z, rng: z + 1e6,
    "short arc": lambda z, rng: (
        rng.uniform(0, 1e-4, size=(len(z), 1)) ** np.arange(1, z.shape[1] + 1)
    ),
}


def make_points(family: str, n: int, dim: int, rng: np.random.Generator) -> np.ndarray:
    return FAMILIES[family](rng.normal(size=(n, dim)), rng)


def random_pair(rng: np.random.Generator, most: int = 9) -> tuple[np.ndarray, np.ndarray]:
    """Return two small samples in 1 to 8 dimensions: distant, overlapping, nested or rounded.

    A sample has at most `most` points.
    """
    dim = int(rng.integers(1, 9))
    n, m = rng.integers(1, most, size=2)
    first = rng.normal(size=(n, dim)) * rng.choice([0.05, 1.0, 3.0])
    second = rng.normal(size=(m, dim)) + rng.choice([0.0, 0.0, 1.0, 5.0])
    if rng.random() < 0.3:
        first, second = np.round(first), np.round(second)
    return first, second


def size_of(*samples: np.ndarray) -> float:
    return max(float(np.abs(sample).max()) for sample in samples)


def levels_of(n: int, m: int) -> np.ndarray:
    """Return the prefix sizes (2, L) at the levels at which the region of either sample grows."""
    betas = np.unique(np.concatenate([np.arange(n) / n, np.arange(m) / m]))
    return np.stack([np.floor(betas * size + 1e-9).astype(int) + 1 for size in (n, m)])


def from_the_inside_out(points: np.ndarray) -> np.ndarray:
    return points[np.argsort(np.linalg.norm(points - np.median(points, axis=0), axis=1))]


@pytest.mark.parametrize("family", ["normal", "lattice", "repeated", "in a subspace", "collinear"])
def test_projection_agrees_with_every_simplex_tried(family):
    rng = np.random.default_rng(1)
    for _ in range(12):
        dim, n = int(rng.integers(1, 9)), int(rng.integers(1, 8))
        points, query = make_points(family, n, dim, rng), make_points(family, 1, dim, rng)[0]
        expected = naive.enumerated_distance(points, query)
        # The least squares of the reference lose digits if edges are nearly parallel.
        tolerance = 1e-10 * size_of(points, query)
        found = project_to_hull(points, query[None])
        assert found.distance == pytest.approx(expected, abs=tolerance)


@pytest.mark.parametrize("family", FAMILIES)
def test_projection_is_proven_optimal(family):
    """Check the distance to a hull by a halfspace that contains the hull: a lower bound."""
    rng = np.random.default_rng(2)
    for _ in range(20):
        dim, n = int(rng.integers(1, 12)), int(rng.choice([1, 2, 5, 20, 200]))
        points = make_points(family, n, dim, rng)
        corners = points[:4]
        queries = np.concatenate(
            [
                make_points(family, 8, dim, rng),
                3 * make_points(family, 4, dim, rng),
                corners,
                corners + 1e-7 * rng.normal(size=corners.shape) * size_of(points),
                rng.dirichlet(np.ones(n), size=4) @ points,
            ]
        )
        found = project_to_hull(points, queries)
        size = np.maximum(size_of(points), np.abs(queries).max(axis=1))
        assert (found.gap >= -ROUNDING * size).all()
        assert (found.gap <= 1e-12 * size).all()
        assert (found.weights >= 0).all()
        assert np.allclose(found.weights.sum(axis=1), 1, rtol=0, atol=1e-14)
        assert (np.count_nonzero(found.weights, axis=1) <= dim + 1).all()
        assert np.allclose(found.nearest, found.weights @ points, rtol=0, atol=1e-12 * size.max())
        reached = np.linalg.norm(found.nearest - queries, axis=1)
        assert (np.abs(reached - found.distance) <= 1e-12 * size).all()


def test_projection_agrees_with_least_squares_on_many_points():
    rng = np.random.default_rng(3)
    for dim in (2, 3, 8, 30, 100):
        points, queries = rng.normal(size=(150, dim)), 2 * rng.normal(size=(10, dim))
        expected = [naive.distance(points, query) for query in queries]
        assert project_to_hull(points, queries).distance == pytest.approx(expected, rel=1e-10)


def test_projection_inside_is_exactly_zero():
    rng = np.random.default_rng(4)
    for dim in (1, 2, 5, 20):
        points = rng.normal(size=(10 * dim + 10, dim))
        inside = rng.dirichlet(np.ones(len(points)), size=20) @ points
        found = project_to_hull(points, np.concatenate([inside, points]))
        assert (found.distance == 0).all()
        assert (found.gap == 0).all()


def test_hausdorff_agrees_with_a_general_optimizer():
    rng = np.random.default_rng(6)
    for _ in range(60):
        first, second = random_pair(rng)
        gap = hull_distance(first, second)
        assert gap.distance == pytest.approx(
            naive.searched_hausdorff(first, second), rel=1e-8, abs=1e-8 * size_of(first, second)
        )
        assert gap.distance == pytest.approx(
            naive.hausdorff(first, second), rel=1e-10, abs=ROUNDING * size_of(first, second)
        )


def test_direction_attains_the_distance_and_no_other_exceeds_it():
    rng = np.random.default_rng(7)
    for _ in range(100):
        first, second = random_pair(rng, most=40)
        gap = hull_distance(first, second)
        rounding = ROUNDING * size_of(first, second)
        assert np.linalg.norm(gap.direction) == pytest.approx(1, abs=1e-14)
        ahead = naive.gap_along(first, second, gap.direction)
        assert abs(ahead) == pytest.approx(gap.distance, abs=rounding)
        if gap.distance > rounding:
            assert (ahead > 0) == (gap.sample == "X")
        for u in naive.unit_vectors(rng, 50, first.shape[1]):
            assert abs(naive.gap_along(first, second, u)) <= gap.distance + rounding


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("dim", [1, 3, 6])
def test_hausdorff_of_points_in_bad_position(family, dim):
    rng = np.random.default_rng(8)
    for n, m in ((1, 1), (1, 30), (30, 25)):
        first, second = make_points(family, n, dim, rng), make_points(family, m, dim, rng)
        gap = hull_distance(first, second)
        size = size_of(first, second)
        assert gap.distance == pytest.approx(naive.hausdorff(first, second), abs=1e-12 * size)
        assert np.linalg.norm(gap.direction) == pytest.approx(1, abs=1e-14)


@pytest.mark.parametrize("dim", [1, 2, 3, 7, 60])
def test_identical_hulls_are_at_distance_zero(dim):
    rng = np.random.default_rng(9)
    points = rng.normal(size=(20, dim))
    inside = rng.dirichlet(np.ones(20), size=5) @ points
    for other in (points, points[::-1], np.concatenate([points[5:], points, inside])):
        gap = hull_distance(points, other)
        # In 60 dimensions the points are represented in their span, so that convex combinations
        # are inside the hull only up to rounding.
        assert gap.distance <= (1e-14 if dim == 60 and len(other) > 20 else 0.0)
        assert np.linalg.norm(gap.direction) == pytest.approx(1, abs=1e-14)


def test_closed_forms():
    for dim in (1, 2, 3, 6):
        corners = np.array(np.meshgrid(*[[-1.0, 1.0]] * dim)).reshape(dim, -1).T
        # A cube in a cube of twice its size: the distance is that between two corners.
        assert hull_distance(corners, 2 * corners).distance == pytest.approx(
            np.sqrt(dim), rel=1e-14
        )
        assert hull_distance(corners, 2 * corners).sample == "Y"
        # The cross-polytope inscribed in a ball, and the cube circumscribed about the ball.
        cross = np.concatenate([np.eye(dim), -np.eye(dim)])
        expected = np.sqrt(dim) - 1 / np.sqrt(dim)
        assert hull_distance(corners, cross).distance == pytest.approx(
            expected, rel=1e-14, abs=1e-15
        )
    step = np.array([3.0, -4.0, 12.0])
    points = np.random.default_rng(10).normal(size=(40, 3))
    assert hull_distance(points, points + step).distance == pytest.approx(13, rel=1e-14)
    assert (
        float(hull_distance(points, points + step)) == hull_distance(points, points + step).distance
    )
    one, other = np.array([[1.0, 2.0]]), np.array([[4.0, 6.0]])
    gap = hull_distance(one, other)
    assert gap.distance == 5
    assert gap.direction == pytest.approx([0.6, 0.8]) or gap.direction == pytest.approx(
        [-0.6, -0.8]
    )


def test_subnormal_numbers_are_scaled_exactly() -> None:
    first, second = np.random.default_rng(4).integers(0, 1000, (2, 30, 3)).astype(float)
    gap = hull_distance(first, second)
    scaled = hull_distance(np.ldexp(first, -1074), np.ldexp(second, -1074))
    assert scaled.distance == np.ldexp(gap.distance, -1074) > 0
    assert (scaled.direction == gap.direction).all()


@pytest.mark.parametrize("dim", [2, 5, 50])
def test_power_of_two_scales_every_digit_and_any_scale_works(dim):
    rng = np.random.default_rng(11)
    first, second = rng.normal(size=(20, dim)), rng.normal(size=(15, dim)) + 1
    gap = hull_distance(first, second)
    for power in (-1000, -500, 500, 1000):
        scaled = hull_distance(np.ldexp(first, power), np.ldexp(second, power))
        assert scaled.distance == np.ldexp(gap.distance, power)
        assert (scaled.direction == gap.direction).all()
    for factor in (1e-150, 1e150):
        scaled = hull_distance(first * factor, second * factor)
        assert scaled.distance / factor == pytest.approx(gap.distance, rel=1e-12)


@pytest.mark.parametrize("dim", [1, 2, 3, 4, 12, 60])
@pytest.mark.parametrize("family", ["normal", "lattice", "heavy tails"])
def test_every_level_is_that_of_its_own_points(dim, family):
    rng = np.random.default_rng(13)
    first = from_the_inside_out(make_points(family, 17, dim, rng))
    second = from_the_inside_out(0.8 * make_points(family, 22, dim, rng) + 0.3)
    stops = levels_of(17, 22)
    gaps, directions, _ = exact_gaps(first, second, stops)
    assert directions.shape == (len(gaps), dim)
    for gap, direction, i, j in zip(gaps, directions, *stops, strict=True):
        a, b = first[:i], second[:j]
        size = size_of(a, b)
        assert gap == pytest.approx(naive.hausdorff(a, b), rel=1e-10, abs=ROUNDING * size)
        assert abs(naive.gap_along(a, b, direction)) == pytest.approx(gap, abs=10 * ROUNDING * size)


@pytest.mark.parametrize("dim", [2, 3])
def test_levels_of_many_points(dim):
    rng = np.random.default_rng(14)
    first = from_the_inside_out(rng.normal(size=(900, dim)))
    second = from_the_inside_out(rng.standard_cauchy(size=(700, dim)))
    stops = levels_of(900, 700)
    gaps, directions, _ = exact_gaps(first, second, stops)
    for level in (40, 333, 800, len(gaps) - 1):
        a, b = first[: stops[0][level]], second[: stops[1][level]]
        # The reference uses vertices only, because interior points are never the farthest.
        outer_a, outer_b = a[ConvexHull(a).vertices], b[ConvexHull(b).vertices]
        assert gaps[level] == pytest.approx(naive.hausdorff(outer_a, outer_b), rel=1e-10)
        assert abs(naive.gap_along(a, b, directions[level])) == pytest.approx(
            gaps[level], abs=10 * ROUNDING * size_of(a, b)
        )


def test_text_like_levels_in_the_span_of_the_points():
    rng = np.random.default_rng(16)
    first = from_the_inside_out(rng.normal(size=(20, 768)))
    second = from_the_inside_out(rng.normal(size=(25, 768)) + 0.05)
    stops = levels_of(20, 25)
    gaps, directions, _ = exact_gaps(first, second, stops)
    for gap, direction, i, j in zip(gaps, directions, *stops, strict=True):
        assert gap == pytest.approx(naive.hausdorff(first[:i], second[:j]), rel=1e-10)
        assert abs(naive.gap_along(first[:i], second[:j], direction)) == pytest.approx(
            gap, rel=1e-12
        )
    # In the span of the points, the general optimizer has 44 unknowns instead of 768.
    basis = np.linalg.qr(np.concatenate([first, second]).T - first[:1].T)[0]
    for level in (0, 12, len(gaps) - 1):
        a, b = first[: stops[0][level]] @ basis, second[: stops[1][level]] @ basis
        assert gaps[level] == pytest.approx(naive.searched_hausdorff(a, b), rel=1e-6)


def test_frame_keeps_every_distance():
    rng = np.random.default_rng(25)
    for dim in (3, 11, 500):
        first, second = rng.normal(size=(6, dim)), rng.normal(size=(5, dim)) + 7
        frame = common_frame(first, second)
        assert frame.first.shape[1] == min(dim, 11)
        expected = np.linalg.norm(first[:, None] - second, axis=2)
        found = frame.lengths(np.linalg.norm(frame.first[:, None] - frame.second, axis=2))
        assert found == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ([[0.0]], [[0.0, 1.0]], "same number of columns, got 1 in .* and 2 in"),
        ([], [[0.0]], "shape"),
        ([0.0, 1.0], [[0.0]], "shape"),
        ([[np.nan]], [[0.0]], "1 NaN value"),
    ],
)
def test_bad_input_is_named(first, second, message):
    with pytest.raises(InvalidInputError, match=message):
        hull_distance(first, second)


@pytest.mark.parametrize("dim", [1, 2, 3, 5])
def test_levels_are_those_of_single_hulls_and_name_the_hull_that_reaches_further(dim):
    rng = np.random.default_rng(dim)
    first = from_the_inside_out(rng.normal(size=(250, dim)))
    second = from_the_inside_out(rng.normal(size=(180, dim)) + rng.normal(size=dim))
    stops = np.stack([np.sort(rng.integers(1, n + 1, size=25)) for n in (250, 180)])
    gaps, directions, from_first = exact_gaps(first, second, stops)
    single = [hull_distance(first[:i], second[:j]).distance for i, j in zip(*stops, strict=True)]
    assert gaps == pytest.approx(single, rel=1e-10)
    for gap, u, ahead, i, j in zip(gaps, directions, from_first, *stops, strict=True):
        assert gap == 0 or (naive.gap_along(first[:i], second[:j], u) > 0) == ahead


@pytest.mark.parametrize("dim", [2, 5])
def test_a_limit_leaves_the_outermost_levels_as_they_were(dim):
    rng = np.random.default_rng(dim)
    first, second = (from_the_inside_out(rng.normal(size=(200, dim)) + s) for s in (0, 1))
    stops = np.arange(5, 201, 5)
    sizes = np.stack([stops, stops])
    exact, *_ = exact_gaps(first, second, sizes)
    gaps = 0.5 * exact
    counts = []
    for limit in (0.0, 2000.0, np.inf):
        raised, values, directions = raise_gaps(
            first, second, sizes, gaps, slack=1e-10, limit=limit
        )
        assert (gaps == 0.5 * exact).all()
        assert (values >= gaps[raised]).all()
        assert (values <= exact[raised] * (1 + 1e-10)).all()
        for level, value, u in zip(raised, values, directions, strict=True):
            i = stops[level]
            assert abs(naive.gap_along(first[:i], second[:i], u)) >= value * (1 - 1e-10)
        counts.append(len(raised))
    assert 1 <= counts[0] <= counts[1] < counts[2] == np.count_nonzero(exact > 0)
    assert values == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("share", [0.5, 0.9, 0.999])
@pytest.mark.parametrize("limit", [3e5, np.inf])
def test_raised_gaps_do_not_depend_on_the_number_of_threads(share, limit):
    rng = np.random.default_rng(8)
    first, second = (from_the_inside_out(rng.normal(size=(600, 4)) + s) for s in (0, 1))
    stops = np.sort(rng.integers(1, 601, (2, 500)), axis=1)
    exact, *_ = exact_gaps(first, second, stops)
    found = [
        raise_gaps(first, second, stops, share * exact, 1e-3, limit, Resources.of(n_jobs))
        for n_jobs in (1, 2, 8)
    ]
    for raised, values, directions in found:
        assert np.array_equal(raised, found[0][0])
        assert np.array_equal(values, found[0][1])
        assert np.array_equal(directions, found[0][2])
    assert limit < np.inf or found[0][1] == pytest.approx(exact[found[0][0]], rel=2e-3)


@settings(derandomize=True, max_examples=100, deadline=None)
@given(
    st.integers(1, 4).flatmap(
        lambda dim: hnp.arrays(
            np.float64,
            st.tuples(st.integers(2, 7), st.just(dim)),
            elements=st.integers(-3, 3).map(float) | st.floats(-1e3, 1e3),
        )
    )
)
def test_projection_of_the_last_point_on_the_hull_of_the_others(rows):
    """Check projections for repeated, collinear and coplanar points of very different sizes."""
    found = project_to_hull(rows[:-1], rows[-1:])
    size = max(1e-300, size_of(rows))
    # The twin's own least squares lose digits where edges are nearly parallel.
    expected = naive.enumerated_distance(rows[:-1], rows[-1])
    assert found.distance - found.gap <= expected + ROUNDING * size
    assert found.distance >= found.gap - ROUNDING * size
    assert found.distance <= expected + 1e-12 * size
