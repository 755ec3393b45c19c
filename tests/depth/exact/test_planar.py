"""Planar regions of the halfspace depth against all crossings of lines through two points."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from twins import naive_geometry as naive

from isodepth.depth.exact.halfspace import exact_halfspace_depth
from isodepth.depth.exact.planar import halfspace_region_vertices, mass_of_level
from isodepth.errors import InvalidInputError, InvalidOptionError


def assert_all_regions_agree(points: np.ndarray, masses: np.ndarray) -> None:
    total = int(masses.sum())
    for mass in range(1, total + 1):
        expected = naive.halfspace_region(points, masses, mass)
        found = halfspace_region_vertices(points, masses, mass / total)
        # Corners are rounded once to the nearest float; some may then be equal.
        rounded = list(dict.fromkeys(tuple(float(x) for x in corner) for corner in expected))
        first = rounded.index(min(rounded)) if rounded else 0
        assert list(map(tuple, found.tolist())) == rounded[first:] + rounded[:first]
        if not expected:
            break


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["gaussian", "lattice", "decimal", "collinear"])
def test_agrees_with_all_crossings(kind: str, seed: int) -> None:
    rng = np.random.default_rng([seed, len(kind)])
    n = 4 + seed % 4
    points = {
        "gaussian": rng.normal(size=(n, 2)),
        "lattice": rng.integers(-2, 3, size=(n, 2)).astype(float),
        "decimal": rng.integers(-2, 3, size=(n, 2)) * 0.1,
        "collinear": rng.integers(-3, 4, size=(n, 1)) * [3.0, -2.0] + 0.5,
    }[kind]
    masses = np.ones(n, dtype=int) if seed < 3 else rng.integers(0, 3, size=n) + (np.arange(n) == 0)
    assert_all_regions_agree(points, masses)


@st.composite
def small_cases(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Lattices, moved by one or two units in the last place or not."""
    n = draw(st.integers(1, 5))
    points = draw(hnp.arrays(np.float64, (n, 2), elements=st.integers(-2, 2).map(float))) * 0.3
    if draw(st.booleans()):
        ulps = draw(hnp.arrays(np.int64, (n, 2), elements=st.integers(-2, 2)))
        points = points + ulps * 2.0**-54
    return points, draw(hnp.arrays(np.int64, n, elements=st.integers(1, 2)))


@settings(derandomize=True, max_examples=50, deadline=None)
@given(small_cases())
def test_small_cases(case: tuple[np.ndarray, np.ndarray]) -> None:
    assert_all_regions_agree(*case)


@pytest.mark.parametrize("kind", ["gaussian", "lattice"])
def test_corners_are_deep_and_the_outside_is_not(kind: str) -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(300, 2))
    if kind == "lattice":
        points = np.round(4 * points)
    masses = rng.integers(1, 4, size=300)
    total = int(masses.sum())
    for alpha in (0.02, 0.1, 0.3, 0.4):
        vertices = halfspace_region_vertices(points, masses, alpha)
        center = vertices.mean(axis=0)
        # Corners are rounded, so their depths are judged a little inside and a little outside.
        for factor, deep in [(1 - 1e-9, True), (1 + 1e-9, False)]:
            moved = center + factor * (vertices - center)
            depths = exact_halfspace_depth(points, masses, moved) / total
            assert ((depths >= alpha) == deep).all()


def test_the_hull_is_the_region_of_the_smallest_mass() -> None:
    rng = np.random.default_rng(2)
    points = rng.normal(size=(500, 2))
    vertices = halfspace_region_vertices(points, np.ones(500, dtype=int), 1e-9)
    hull = naive.convex_hull(tuple(map(float, p)) for p in points)
    assert vertices.tolist() == [list(corner) for corner in hull]


def test_points_segments_and_nothing() -> None:
    square = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]])
    ones = np.ones(4, dtype=int)
    assert halfspace_region_vertices(square, ones, 0.25).tolist() == square.tolist()
    assert halfspace_region_vertices(square, ones, 0.5).tolist() == [[1, 1]]
    assert halfspace_region_vertices(square, ones, 0.51).shape == (0, 2)
    line = np.array([[0.0, 0.0], [1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])
    assert halfspace_region_vertices(line, ones, 0.5).tolist() == [[1, 2], [2, 4]]
    assert halfspace_region_vertices(line, ones, 0.25).tolist() == [[0, 0], [3, 6]]
    assert halfspace_region_vertices(line, ones, 0.6).shape == (0, 2)
    assert halfspace_region_vertices(line[:1], [3], 1.0).tolist() == [[0, 0]]
    # A segment among points that are not on a line.
    both = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 0.0], [4.0, 0.0], [2.0, 1.0], [2.0, -1.0]])
    found = halfspace_region_vertices(both, np.ones(6, dtype=int), 1 / 3)
    assert found.tolist() == [[1, 0], [3, 0]]


def test_moves_with_the_points() -> None:
    rng = np.random.default_rng(3)
    points = rng.integers(-9, 10, size=(80, 2)).astype(float)
    masses = np.ones(80, dtype=int)
    expected = halfspace_region_vertices(points, masses, 0.2)
    found = halfspace_region_vertices(points * [2.0**300, 2.0**-300], masses, 0.2)
    assert (found == expected * [2.0**300, 2.0**-300]).all()


def test_levels_are_compared_as_depths_are() -> None:
    for total in (3, 7, 49, 1000, 2**61 - 1):
        for mass in (1, total // 3, total // 2, total):
            if mass:
                # Neighboring large masses may be one float.
                level = mass_of_level(np.int64(mass) / total, total)
                assert level <= mass
                assert np.int64(level) / total == np.int64(mass) / total
                assert level == 1 or np.int64(level - 1) / total < np.int64(mass) / total


@pytest.mark.parametrize("alpha", [0.0, -0.1, 1.5, float("nan"), "half"])
def test_levels_outside_are_refused(alpha: object) -> None:
    with pytest.raises(InvalidOptionError, match="alpha"):
        halfspace_region_vertices(np.eye(2), [1, 1], alpha)


def test_what_cannot_be_done_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="plane"):
        halfspace_region_vertices(np.eye(3), [1, 1, 1], 0.3)
    with pytest.raises(InvalidInputError, match="total mass 0"):
        halfspace_region_vertices(np.eye(2), [0, 0], 0.3)
    with pytest.raises(InvalidInputError, match="orders of magnitude"):
        halfspace_region_vertices([[1e200, 1.0], [1e-200, 0.0], [0.0, 3.0]], [1, 1, 1], 0.3)
