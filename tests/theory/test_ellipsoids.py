"""The steps of the search for the point of one ellipsoid farthest from another, one by one."""

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
# nearest points, and the climb
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_nearest_points_are_orthogonal_feet(seed: int) -> None:
    """The foot lies on the inner ellipsoid, and the way from there to the point is a normal."""
    rng = np.random.default_rng(seed)
    d = 2 + seed % 4
    offset, outer, inner = 3 * rng.standard_normal(d), shape(rng, d), shape(rng, d)
    body = Protrusion(offset, outer, inner)
    w = rng.standard_normal((30, d))
    w /= np.linalg.norm(w, axis=1, keepdims=True)
    radii = rng.uniform(0.3, 2, 30)
    placed = body._place(w, radii)
    np.testing.assert_allclose(placed.distances, np.linalg.norm(placed.leaving, axis=1))
    axes = body._axes
    feet = (placed.points - placed.leaving) @ axes.T
    normals = placed.leaving @ axes.T
    levels = np.einsum("ni,ij,nj->n", feet, np.linalg.inv(inner), feet) / radii**2
    out = placed.distances > 0
    assert out.any()
    np.testing.assert_allclose(levels[out], 1, rtol=1e-10)
    assert (levels[~out] <= 1 + 1e-10).all()
    gradients = feet @ np.linalg.inv(inner)
    cosines = (gradients * normals).sum(1)[out]
    cosines /= np.linalg.norm(gradients[out], axis=1) * placed.distances[out]
    np.testing.assert_allclose(cosines, 1, rtol=1e-8)


def top_of(body: Protrusion, radius: float, d: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    starts = rng.standard_normal((40, d))
    starts /= np.linalg.norm(starts, axis=1, keepdims=True)
    climbers = body._climb(starts, np.full(40, radius))
    return climbers.w[climbers.distances.argmax()]


@pytest.mark.parametrize("seed", range(6))
def test_one_of_the_moves_is_newtons(seed: int) -> None:
    """Close to a top it squares the error: from 1e-3 to 1e-5 or less in a single step."""
    rng = np.random.default_rng(seed)
    d = 2 + seed % 3
    offset, outer, inner = rng.standard_normal(d), shape(rng, d, 1.5, 4), shape(rng, d, 0.1, 1)
    body = Protrusion(offset, outer, inner)
    radius = np.array([1.3])
    top = top_of(body, 1.3, d, seed)
    tangent = rng.standard_normal(d)
    tangent -= (tangent @ top) * top
    start = top + 1e-3 * tangent / np.linalg.norm(tangent)
    start /= np.linalg.norm(start)
    moves = body._moves(body._place(start[None], radius), radius)
    np.testing.assert_allclose(np.linalg.norm(np.concatenate(moves), axis=1), 1, rtol=1e-13)
    assert np.linalg.norm(moves[1][0] - top) < 3e-5
    # The damped one goes three tenths of the way.
    way = (moves[2][0] - start) @ (top - start) / ((top - start) @ (top - start))
    assert way == pytest.approx(0.3, abs=0.02)


@pytest.mark.parametrize("seed", range(6))
def test_the_pushed_move_never_loses_height(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d = 2 + seed % 4
    body = Protrusion(rng.standard_normal(d), shape(rng, d), shape(rng, d))
    w = rng.standard_normal((50, d))
    w /= np.linalg.norm(w, axis=1, keepdims=True)
    radii = rng.uniform(0.5, 2, 50)
    before = body._place(w, radii)
    after = body._place(body._moves(before, radii)[0], radii)
    assert (after.distances >= before.distances * (1 - 1e-12)).all()
    assert after.distances.sum() > before.distances.sum()


def test_the_table_of_multipliers_holds_those_of_all_tops() -> None:
    rng = np.random.default_rng(3)
    for case in range(20):
        d = 2 + case % 3
        scale = 10.0 ** rng.integers(-3, 3)
        body = Protrusion(scale * rng.standard_normal(d), shape(rng, d), shape(rng, d))
        radii = rng.uniform(0.1, 3, 4)
        table = body._multipliers(radii)
        assert (np.diff(table) > 0).all()
        # Eight in a decade at least, so that no branch falls between two of them.
        assert (table[1:] / table[:-1]).max() <= 10 ** (1 / 7)
        for radius in radii:
            top = top_of(body, radius, d, case)
            t = float(body._place(top[None], np.array([radius])).multipliers[0])
            assert t == 0 or table[0] < t < table[-1]


@pytest.mark.parametrize("seed", range(5))
def test_a_single_branch_is_climbed_once_from_close_to_its_top(seed: int) -> None:
    """Far apart there is one side that sticks out, and the table shows about where."""
    rng = np.random.default_rng(seed)
    radii = np.array([0.4, 1.0, 3.0])
    body = Protrusion(40 * rng.standard_normal(3), shape(rng, 3), shape(rng, 3))
    row, starts = body._starts(radii)
    assert row.tolist() == [0, 1, 2]
    for radius, start in zip(radii, starts, strict=True):
        assert start @ top_of(body, radius, 3, seed) > 0.9999


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
    """Two long axes, one a little longer: the lower top must not be the answer."""
    inner = 0.01 * np.eye(2)
    for longer in ((2.0, 2.001), (2.001, 2.0)):
        outer = np.diag(np.square(longer))
        gaps, directions = hausdorff(np.zeros(2), outer, inner, np.ones(1))
        assert gaps[0] == pytest.approx(2.001 - 0.1, rel=1e-12)
        assert np.abs(directions[0]).argmax() == np.argmax(longer)


class Counting(Protrusion):
    """Counts how often climbers look for a move."""

    looks = 0

    def _moves(self, climbers, radii):
        self.looks += 1
        return super()._moves(climbers, radii)


@pytest.mark.parametrize("seed", range(4))
def test_a_climb_is_over_in_a_few_steps(seed: int) -> None:
    """Newton's moves double the digits: from a start in the basin some ten steps are enough."""
    rng = np.random.default_rng(seed)
    body = Counting(rng.standard_normal(3), shape(rng, 3), shape(rng, 3))
    heights, directions = body.farthest(np.array([0.5, 1.0, 2.0]))
    assert body.looks <= 25
    np.testing.assert_allclose(np.linalg.norm(directions, axis=1), 1, rtol=1e-12)
    assert len(heights) == 3
