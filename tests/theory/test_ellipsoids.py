"""Search for the point of an ellipsoid that is farthest from another ellipsoid, step by step."""

from __future__ import annotations

import numpy as np
import pytest

from isodepth.theory.ellipsoids import Protrusion, hausdorff, maximize_on_sphere, norm


def shape(rng: np.random.Generator, d: int, low: float = 0.2, high: float = 3.0) -> np.ndarray:
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    return (turn * rng.uniform(low, high, d)) @ turn.T


def circle(n: int) -> np.ndarray:
    turns = 2 * np.pi * np.arange(n) / n
    return np.column_stack([np.cos(turns), np.sin(turns)])


# ---------------------------------------------------------------------------------------------
# the length of a vector
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_lengths_of_any_size(scale: float) -> None:
    assert norm(scale * np.array([3.0, -4.0])) == pytest.approx(5 * scale, rel=1e-15)
    assert norm(np.zeros(3)) == 0.0


# ---------------------------------------------------------------------------------------------
# a quadratic function on the sphere
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_maximum_on_the_circle_is_that_of_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    curvatures = np.sort(rng.uniform(0, 2, 2)) * 10.0 ** rng.integers(-3, 3)
    slopes = rng.standard_normal(2) * 10.0 ** rng.integers(-4, 3)
    if seed % 4 == 3:
        slopes[seed % 2] = 0.0

    def value(w: np.ndarray) -> np.ndarray:
        return (curvatures * w**2 + 2 * slopes * w).sum(axis=-1)

    w = maximize_on_sphere(curvatures, slopes)
    assert np.linalg.norm(w) == pytest.approx(1, rel=1e-14)
    best = value(circle(200_000)).max()
    # Half a step of the grid, squared, times the curvature along the circle.
    curved = 2 * np.abs(slopes).sum() + 2 * curvatures[1]
    assert best <= value(w) + 1e-13 * curved
    assert value(w) <= best + curved * (np.pi / 200_000) ** 2


def test_without_slopes_it_is_the_top_axis() -> None:
    w = maximize_on_sphere(np.array([[0.5, 1.0, 2.0], [0.0, 0.0, 1e-3]]), np.zeros((2, 3)))
    np.testing.assert_allclose(np.abs(w), [[0, 0, 1], [0, 0, 1]], atol=1e-12)


def test_equal_curvatures_leave_the_direction_of_the_slopes() -> None:
    w = maximize_on_sphere(np.ones(3), np.array([1.0, -2.0, 2.0]))
    np.testing.assert_allclose(w, np.array([1, -2, 2]) / 3, atol=1e-13)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_slope_along_the_top_axis_decides_its_side(sign: float) -> None:
    w = maximize_on_sphere(np.array([0.0, 5.0]), np.array([0.0, sign * 1e-3]))
    np.testing.assert_allclose(w, [0, sign], atol=1e-12)


def test_many_at_once_are_as_one_by_one() -> None:
    rng = np.random.default_rng(0)
    curvatures = np.sort(rng.uniform(0, 3, (4, 5, 3)), axis=-1)
    slopes = rng.standard_normal((4, 5, 3)) * 10.0 ** rng.integers(-6, 2, (4, 5, 1))
    together = maximize_on_sphere(curvatures, slopes)
    for at in np.ndindex(4, 5):
        # The steps go on until the slowest is done, to 1e-12 of the multiplier.
        alone = maximize_on_sphere(curvatures[at], slopes[at])
        np.testing.assert_allclose(together[at], alone, atol=1e-9)


# ---------------------------------------------------------------------------------------------
# maxima of the dual function
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_at_a_maximum_of_the_dual_the_foot_is_orthogonal(seed: int) -> None:
    """The nearest point of the inner ellipsoid (the foot) is on its surface.

    The vector from the foot to the point of the outer ellipsoid is normal to the surface.
    """
    rng = np.random.default_rng(seed)
    d = 2 + seed % 4
    offset, outer, inner = 3 * rng.standard_normal(d), shape(rng, d, 1, 4), shape(rng, d)
    body = Protrusion(offset, outer, inner)
    radii = rng.uniform(0.3, 2, 5)
    row, multipliers = body._maxima(radii)
    w, slopes, leaving = body._best(multipliers, radii[row])
    found = np.abs(slopes) < 1e-9
    assert set(row[found]) == set(range(5))
    leaving = radii[row, None] * leaving
    points = body._offset + radii[row, None] * (w @ body._factor.T)
    feet, normals = ((part @ body._axes.T)[found] for part in (points - leaving, leaving))
    inverse = np.linalg.inv(inner)
    levels = np.einsum("ni,ij,nj->n", feet, inverse, feet) / radii[row][found] ** 2
    np.testing.assert_allclose(levels, 1, rtol=1e-8)
    gradients = feet @ inverse
    cosines = (gradients * normals).sum(1)
    cosines /= np.linalg.norm(gradients, axis=1) * np.linalg.norm(normals, axis=1)
    np.testing.assert_allclose(cosines, 1, rtol=1e-8)


def test_out_of_a_flat_ellipsoid_the_smallest_multipliers_are_next_to_zero() -> None:
    flat = Protrusion(np.zeros(2), np.eye(2), np.diag([1.0, 0.0]))
    full = Protrusion(np.zeros(2), np.eye(2), np.diag([1.0, 0.5]))
    radii = np.ones(1)
    assert flat._multipliers(radii)[0] < 1e-15
    assert (np.diff(flat._multipliers(radii)) > 0).all()
    assert full._multipliers(radii)[0] > 1e-4
    point = Protrusion(np.ones(2), np.eye(2), np.zeros((2, 2)))
    assert point._multipliers(radii).tolist() == [1.0]


# ---------------------------------------------------------------------------------------------
# the whole
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(10))
def test_gaps_of_many_radii_are_those_of_brute_force_in_the_plane(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shift = rng.standard_normal(2) * [0.0, 1e-3, 1.0, 30.0][seed % 4]
    first, second = shape(rng, 2), shape(rng, 2)
    radii = np.array([0.0, 1e-3, 0.4, 1.0, 2.5])
    gaps, directions = hausdorff(shift, first, second, radii)
    u = circle(20_000)
    widths = [np.sqrt(np.einsum("ni,ij,nj->n", u, S, u)) for S in (first, second)]
    for radius, gap, direction in zip(radii, gaps, directions, strict=True):
        brute = np.abs(u @ shift + radius * (widths[0] - widths[1])).max()
        assert brute <= gap * (1 + 1e-12)
        assert gap - brute <= (np.pi / 20_000) ** 2 * (np.abs(shift).sum() + 10 * radius)
        a, b = (np.sqrt(direction @ S @ direction) for S in (first, second))
        assert abs(direction @ shift + radius * (a - b)) == pytest.approx(gap, rel=1e-9)
    # Both at once are as each alone.
    for radius, gap in zip(radii, gaps, strict=True):
        alone, _ = hausdorff(shift, first, second, np.array([radius]))
        assert alone[0] == pytest.approx(gap, rel=1e-12)


def test_equal_shapes_leave_the_shift() -> None:
    gaps, directions = hausdorff(np.array([3.0, 4.0]), np.eye(2), np.eye(2), np.array([0.0, 5.0]))
    assert gaps.tolist() == [5.0, 5.0]
    np.testing.assert_allclose(directions, [[0.6, 0.8]] * 2, rtol=1e-15)
    gaps, directions = hausdorff(np.zeros(2), np.eye(2), np.eye(2), np.array([5.0]))
    assert gaps.tolist() == [0.0]
    assert directions.tolist() == [[1.0, 0.0]]


def test_two_rivals_of_nearly_one_height_are_both_climbed() -> None:
    """Of two local maxima, at axes of nearly equal length, the global one is returned."""
    inner = 0.01 * np.eye(2)
    for longer in ((2.0, 2.001), (2.001, 2.0)):
        outer = np.diag(np.square(longer))
        gaps, directions = hausdorff(np.zeros(2), outer, inner, np.ones(1))
        assert gaps[0] == pytest.approx(2.001 - 0.1, rel=1e-12)
        assert np.abs(directions[0]).argmax() == np.argmax(longer)
