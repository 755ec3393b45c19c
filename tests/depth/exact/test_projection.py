"""Exact projection depth in the plane against all directions where anything changes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from twins import naive_geometry as naive

from isodepth.depth.exact.projection import exact_projection_depth_2d
from isodepth.errors import InvalidInputError, InvalidOptionError

#: Angles are known to a few units of 2**-53. On lattices of the size used here the MAD in a
#: direction u where anything changes is at least about 1/50 of the size of the data times |u|, so
#: ratios are known to some hundreds of such units.
LATTICE = {"rel": 1e-12, "abs": 0}


@pytest.mark.parametrize("seed", range(4))
def test_agrees_with_all_directions_on_gaussian_points(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(6 + seed % 2, 2)) * [1.0, 50.0] + [100.0, 0.0]
    masses = np.ones(len(points), dtype=int) if seed < 2 else rng.integers(1, 5, size=len(points))
    queries = np.concatenate([points, points.mean(axis=0) + rng.normal(size=(3, 2))])
    expected = [float(x) for x in naive.projection_depths(points, masses, queries)]
    # Moving 100 to the center costs two digits, a small MAD another few.
    found = exact_projection_depth_2d(points, masses, queries)
    assert found == pytest.approx(expected, rel=1e-9, abs=0)


@st.composite
def small_cases(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    n = draw(st.integers(1, 6))
    points = draw(hnp.arrays(np.float64, (n, 2), elements=st.integers(-2, 2).map(float)))
    masses = draw(hnp.arrays(np.int64, n, elements=st.integers(0, 3)).filter(np.any))
    return points, masses


@settings(derandomize=True, max_examples=80, deadline=None)
@given(small_cases())
def test_small_lattices(case: tuple[np.ndarray, np.ndarray]) -> None:
    points, masses = case
    queries = np.concatenate([points, points + [0.5, 0.0], points + [0.0, 1.0], [[0.25, 9.0]]])
    expected = [float(x) for x in naive.projection_depths(points, masses, queries)]
    assert exact_projection_depth_2d(points, masses, queries) == pytest.approx(expected, **LATTICE)


def test_no_direction_gives_less_and_some_come_close() -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(80, 2))
    exact = exact_projection_depth_2d(points, np.ones(80, dtype=int), points)
    angles = np.arange(200_000) * np.pi / 200_000
    worst = np.zeros(80)
    for block in np.array_split(angles, 40):
        projections = points @ [np.cos(block), np.sin(block)]
        deviations = np.abs(projections - np.median(projections, axis=0))
        worst = np.maximum(worst, (deviations / np.median(deviations, axis=0)).max(axis=1))
    # The outlyingness changes by at most a factor of some 1e-5 times (size of the data / MAD)^2,
    # below 100 here, from one of these directions to the next.
    assert (exact <= 1 / (1 + worst) + 1e-12).all()
    assert exact == pytest.approx(1 / (1 + worst), rel=1e-3)


@pytest.mark.parametrize("kind", ["gaussian", "lattice", "heavy point", "heavy line"])
def test_any_number_of_threads(kind: str) -> None:
    rng = np.random.default_rng(3)
    points, masses = rng.normal(size=(90, 2)), rng.integers(1, 4, size=90)
    if kind == "lattice":
        points = np.round(2 * points)
    if kind == "heavy point":
        masses[5] = 400
    if kind == "heavy line":
        points[:60, 1] = points[:60, 0]
    expected = exact_projection_depth_2d(points, masses, points, n_jobs=1)
    for n_jobs in (2, 7):
        found = exact_projection_depth_2d(points, masses, points, n_jobs=n_jobs)
        assert (found == expected).all()


def test_affine_maps_change_nothing() -> None:
    rng = np.random.default_rng(1)
    points = rng.normal(size=(40, 2))
    masses = rng.integers(1, 4, size=40)
    expected = exact_projection_depth_2d(points, masses, points)
    sheared = points @ [[2.0, 1.0], [-1.0, 3.0]] + 5.0
    for moved in (sheared, points * [1e150, 1e-150], (points + 9) * 2.0**1020):
        found = exact_projection_depth_2d(moved, masses, moved)
        assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("direction", [(1.0, 0.0), (1.0, 2.0), (0.1, 0.3), (np.pi, -np.e)])
def test_points_on_a_line_have_their_depth_on_the_line(direction: tuple[float, float]) -> None:
    # median 2, deviations 2, 1, 1, 5, MAD 3/2
    places = np.array([0.0, 1.0, 3.0, 7.0])
    points = places[:, None] * direction
    found = exact_projection_depth_2d(points, np.ones(4, dtype=int), points)
    assert found == pytest.approx([3 / 7, 3 / 5, 3 / 5, 3 / 13], rel=1e-12)
    off = points + [0.0, 1e-6]
    assert (exact_projection_depth_2d(points, np.ones(4, dtype=int), off) == 0).all()


def test_a_line_with_more_than_half_of_the_mass() -> None:
    points = np.array([[-2.0, 0], [-1, 0], [0, 0], [1, 0], [3, 0], [0, 5], [4, -7]])
    masses = np.ones(7, dtype=int)
    queries = np.array([[0.0, 0.0], [0.5, 0.0], [0.5, 1e-9], [0.0, 5.0]])
    found = exact_projection_depth_2d(points, masses, queries)
    expected = [float(x) for x in naive.projection_depths(points, masses, queries)]
    assert expected[2:] == [0, 0]
    assert expected[0] > 0
    assert found == pytest.approx(expected, **LATTICE)


def test_a_far_point_does_not_put_the_others_on_a_line() -> None:
    rng = np.random.default_rng(5)
    points = rng.integers(-3, 4, size=(7, 2)).astype(float)
    for far in (1e3, 1e7):
        points[0] = [far, 1.5 * far]
        masses = np.ones(7, dtype=int)
        expected = [float(x) for x in naive.projection_depths(points, masses, points)]
        found = exact_projection_depth_2d(points, masses, points)
        # Angles are known to 1e-16, so the far point is known to far * 1e-16.
        assert found == pytest.approx(expected, rel=far * 1e-14, abs=0)
        assert max(expected) > 0.1


@pytest.mark.parametrize("units", [[3, 1, 1], [4, 2, 1], [5, 1, 2], [2, 1, 1], [9, 0, 1]])
def test_a_point_with_half_of_the_mass_or_more(units: list[int]) -> None:
    points = np.array([[0.0, 0.0], [1.0, 2.0], [3.0, 1.0]])
    queries = [[0.0, 0.0], [1.0, 2.0], [3.0, 1.0], [6.0, 2.0], [1.0, -1.0], [2.0**-30, 0.0]]
    found = exact_projection_depth_2d(points, units, queries)
    expected = [float(x) for x in naive.projection_depths(points, units, queries)]
    assert found[0] == (0.5 if 2 * units[0] == sum(units) else 1)
    assert found == pytest.approx(expected, **LATTICE)


@pytest.mark.parametrize("seed", range(6))
def test_a_heavy_point_among_others(seed: int) -> None:
    """The MAD is zero everywhere; in every third case most of the others lie on a line with it."""
    rng = np.random.default_rng([seed, 31])
    points = rng.integers(-3, 4, size=(6, 2)).astype(float)
    masses = rng.integers(1, 4, size=6)
    if seed % 3 == 0:
        points[1:5] = points[0] + rng.integers(1, 4, size=(4, 1)) * [1.0, -2.0]
    masses[0] = masses[1:].sum() + 1
    queries = np.concatenate([points, (points[1:] + points[:-1]) / 2, [[0.25, 9.0]]])
    expected = [float(x) for x in naive.projection_depths(points, masses, queries)]
    found = exact_projection_depth_2d(points, masses, queries)
    assert found == pytest.approx(expected, **LATTICE)
    assert found[0] == 1
    if seed % 3:
        assert (found > 0).any()


def test_what_cannot_be_done_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="plane"):
        exact_projection_depth_2d(np.eye(3), [1, 1, 1], np.eye(3))
    with pytest.raises(InvalidInputError, match="total mass 0"):
        exact_projection_depth_2d(np.eye(2), [0, 0], np.eye(2))
    points = np.random.default_rng(0).normal(size=(50, 2))
    with pytest.raises(InvalidOptionError, match="max_work"):
        exact_projection_depth_2d(points, np.ones(50, dtype=int), points, max_work=1e4)
