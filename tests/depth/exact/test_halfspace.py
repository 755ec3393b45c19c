"""Exact halfspace depth against the enumeration of all hyperplanes."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from twins import naive_geometry as naive

from isodepth.depth.exact.halfspace import exact_halfspace_depth
from isodepth.depth.exact.rational import as_integers, lowest_bit, smallest_mass
from isodepth.errors import InvalidInputError, InvalidOptionError

KINDS = ["gaussian", "lattice", "decimal", "duplicated", "collinear", "coplanar", "line_of_floats"]


def make_points(kind: str, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Return n points; `decimal` and `line_of_floats` are degenerate but for rounding."""
    if kind == "gaussian":
        return rng.normal(size=(n, d))
    if kind == "lattice":
        return rng.integers(-2, 3, size=(n, d)).astype(float)
    if kind == "decimal":
        return rng.integers(-2, 3, size=(n, d)) * 0.1 + 0.7
    if kind == "duplicated":
        return rng.normal(size=(n, d))[rng.integers(0, max(2, n // 2), size=n)]
    if kind == "collinear":
        return rng.integers(-5, 6, size=(n, 1)) * rng.integers(-3, 4, size=d).astype(float) + 1.0
    if kind == "coplanar":
        basis = rng.integers(-2, 3, size=(d - 1, d)).astype(float)
        return rng.integers(-2, 3, size=(n, d - 1)) @ basis + 0.5
    return rng.normal(size=(n, 1)) * rng.normal(size=d)


def make_queries(points: np.ndarray, rng: np.random.Generator, n_queries: int) -> np.ndarray:
    """Return sample points, midpoints of them, and points off the sample."""
    n = len(points)
    own = points[rng.integers(0, n, size=n_queries)]
    between = (points[rng.integers(0, n, size=n_queries)] + own) / 2
    return np.concatenate([own, between, rng.normal(size=(2, points.shape[1]))])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("d", "n", "n_queries"), [(1, 9, 8), (2, 12, 8), (2, 40, 3), (3, 9, 4), (3, 16, 2), (4, 9, 2)]
)
def test_agrees_with_all_hyperplanes(kind: str, d: int, n: int, n_queries: int) -> None:
    rng = np.random.default_rng([KINDS.index(kind), d, n])
    points = make_points(kind, n, d, rng) if d > 1 or kind != "coplanar" else np.ones((n, 1))
    queries = make_queries(points, rng, n_queries)
    for masses in (np.ones(n, dtype=int), rng.integers(0, 4, size=n)):
        expected = naive.halfspace_masses(points, masses, queries)
        assert exact_halfspace_depth(points, masses, queries).tolist() == expected


@pytest.mark.parametrize("kind", ["gaussian", "lattice", "duplicated"])
def test_agrees_with_all_hyperplanes_for_25_points_in_four_dimensions(kind: str) -> None:
    rng = np.random.default_rng(KINDS.index(kind))
    points = make_points(kind, 25, 4, rng)
    queries = np.concatenate([points[:1], points.mean(axis=0, keepdims=True)])
    masses = np.ones(25, dtype=int)
    expected = naive.halfspace_masses(points, masses, queries)
    assert exact_halfspace_depth(points, masses, queries).tolist() == expected


@pytest.mark.parametrize("d", [5, 6])
def test_more_dimensions(d: int) -> None:
    rng = np.random.default_rng(d)
    for points in (rng.integers(0, 2, size=(9, d)).astype(float), rng.normal(size=(9, d))):
        queries = np.concatenate([points[:2], points.mean(axis=0, keepdims=True)])
        masses = rng.integers(1, 4, size=9)
        expected = naive.halfspace_masses(points, masses, queries)
        assert exact_halfspace_depth(points, masses, queries).tolist() == expected


@st.composite
def small_cases(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    d = draw(st.integers(1, 4))
    n = draw(st.integers(1, 8 if d < 4 else 7))
    step = draw(st.sampled_from([1.0, 0.1, 1e-3, 2.0**-40]))
    integers = hnp.arrays(np.int64, (n + 3, d), elements=st.integers(-2, 2))
    rows = draw(integers) * step + draw(st.sampled_from([0.0, 1.0, 1e6]))
    masses = draw(hnp.arrays(np.int64, n, elements=st.integers(0, 3)))
    return rows[:n], masses, rows[n - 1 :]


@settings(derandomize=True, max_examples=150, deadline=None)
@given(small_cases())
def test_small_lattices(case: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    expected = naive.halfspace_masses(*case)
    assert exact_halfspace_depth(*case).tolist() == expected


@settings(derandomize=True, max_examples=100, deadline=None)
@given(
    st.integers(1, 3).flatmap(
        lambda d: hnp.arrays(
            np.float64,
            st.tuples(st.integers(2, 7), st.just(d)),
            elements=st.floats(allow_nan=False, allow_infinity=False),
        )
    )
)
def test_any_floats_from_the_smallest_to_the_largest(points: np.ndarray) -> None:
    masses = np.arange(1, len(points) + 1)
    expected = naive.halfspace_masses(points, masses, points)
    assert exact_halfspace_depth(points, masses, points).tolist() == expected


def test_points_a_rounding_apart_are_told_apart() -> None:
    # The middle point is one unit in the last place above, on, or below the line of the others.
    for step, expected in [(-1, 1), (0, 2), (1, 1)]:
        middle = 0.3 + step * math.ulp(0.3)
        points = np.array([[0.0, 0.3], [0.7, 0.3], [0.31, middle], [0.4, 0.1], [0.4, 0.5]])
        query = points[2:3]
        without = np.array([1, 1, 0, 0, 0])
        on_line = exact_halfspace_depth(points, without, query)[0]
        assert on_line == (1 if step == 0 else 0)
        with_itself = exact_halfspace_depth(points, np.array([1, 1, 1, 0, 0]), query)[0]
        assert with_itself == expected


@pytest.mark.parametrize("d", [2, 3])
def test_moving_scaling_and_shearing_lattices_changes_nothing(d: int) -> None:
    rng = np.random.default_rng(d)
    points = rng.integers(-4, 5, size=(60, d)).astype(float)
    masses = rng.integers(1, 5, size=60)
    expected = exact_halfspace_depth(points, masses, points)
    shear = np.eye(d) + np.diag(np.full(d - 1, 3.0), 1)
    # Large numbers leave the path on which nothing rounds; the depths are the same.
    for scale, shift in [(1.0, 0.0), (3.0 * 2.0**30, 12345.0), (2.0**-600, 0.0)]:
        moved = points @ shear * scale + shift
        assert (exact_halfspace_depth(moved, masses, moved) == expected).all()


@pytest.mark.parametrize("d", [2, 3, 4])
def test_compiled_and_integer_paths_agree(d: int) -> None:
    rng = np.random.default_rng(d)
    n = {2: 60, 3: 20, 4: 12}[d]
    points = rng.integers(0, 10, size=(n, d)) * 0.1
    masses = rng.integers(1, 4, size=n)
    queries = points[:6]
    exponent = lowest_bit(points, queries)
    whole = as_integers(points, exponent)
    for query, found in zip(
        as_integers(queries, exponent), exact_halfspace_depth(points, masses, queries), strict=True
    ):
        seen = [[x - q for x, q in zip(p, query, strict=True)] for p in whole]
        assert found == smallest_mass(list(zip(seen, masses.tolist(), strict=True)))


def test_corners_of_a_simplex_are_cut_off_alone() -> None:
    for d in (1, 2, 3, 4, 5, 6, 13):
        points = np.concatenate([np.zeros((1, d)), np.eye(d)])
        masses = np.arange(1, d + 2)
        assert exact_halfspace_depth(points, masses, points).tolist() == masses.tolist()
        center = points.mean(axis=0, keepdims=True)
        assert exact_halfspace_depth(points, masses, center).tolist() == [1]


def test_a_query_off_the_flat_of_the_sample_has_depth_zero() -> None:
    points = np.array([[0.0, 0.0, 1.0], [1.0, 1.0, 1.0], [2.0, 2.0, 1.0]])
    queries = [[1, 1, 1], [1, 1, 1.0000001], [0.5, 0.5, 1], [1, 0, 1], [3, 3, 1]]
    assert exact_halfspace_depth(points, [1, 1, 1], queries).tolist() == [2, 0, 1, 0, 0]
    assert exact_halfspace_depth(points[:1], [7], points).tolist() == [7, 0, 0]
    assert exact_halfspace_depth(points, [1, 1, 1], [[0, 0, 0]]).tolist() == [0]


def test_two_thousand_points_in_the_plane_take_a_few_seconds() -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(2000, 2))
    masses = np.ones(2000, dtype=int)
    exact_halfspace_depth(points, masses, points[:1])  # compiles
    start = time.process_time()
    depths = exact_halfspace_depth(points, masses, points)
    assert time.process_time() - start < 5
    # By Helly's theorem some point of the plane has depth n / 3 or more; of a Gaussian sample the
    # deepest point comes near n / 2, and the corners of the hull have depth 1.
    assert depths.min() == 1
    assert 0.4 * 2000 < depths.max() <= 1000


def test_too_much_work_is_refused() -> None:
    points = np.random.default_rng(0).normal(size=(30, 4))
    with pytest.raises(InvalidOptionError, match="max_work"):
        exact_halfspace_depth(points, np.ones(30, dtype=int), points, max_work=1000)
    with pytest.raises(InvalidOptionError, match="max_work"):
        exact_halfspace_depth(points, np.ones(30, dtype=int), points[:1], max_work=100)


@pytest.mark.parametrize(
    ("masses", "message"),
    [([1.0, 1.0], "integer"), ([1, -1], "negative"), ([1], "one integer for each of the 2")],
)
def test_bad_masses_are_named(masses: list, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        exact_halfspace_depth(np.eye(2), masses, np.eye(2))


def test_bad_queries_are_named() -> None:
    with pytest.raises(InvalidInputError, match="queries"):
        exact_halfspace_depth(np.eye(2), [1, 1], np.eye(3))
    with pytest.raises(InvalidInputError, match="queries"):
        exact_halfspace_depth(np.eye(2), [1, 1], [[np.nan, 0]])


def test_nothing_has_depth_in_a_sample_without_mass() -> None:
    assert exact_halfspace_depth(np.eye(2), [0, 0], np.eye(2)).tolist() == [0, 0]
