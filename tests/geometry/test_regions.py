"""TrimmedRegions: ties, support functions, rows inside, and `repr`."""

from __future__ import annotations

import math

import numpy as np
import pytest

import isodepth
from isodepth import Metric
from isodepth.errors import InvalidInputError
from isodepth.geometry.regions import tie_ends
from isodepth.geometry.trimmed import TrimmedRegions, check_levels


def naive_tie_ends(falling: list[float], tolerance: float) -> list[int]:
    """Return the end of each group of ties in decreasing depths.

    A group has the depths at most `tolerance` below its first depth.
    """
    ends: list[int] = []
    head = falling[0]
    for at, depth in enumerate(falling):
        if head - depth > tolerance:
            ends.append(at)
            head = depth
    return [*ends, len(falling)]


@pytest.mark.parametrize(
    ("falling", "tolerance", "ends"),
    [
        ([5.0, 4.0, 4.0, 1.0], 0.0, [1, 3, 4]),
        ([5.0, 4.0, 4.0, 1.0], 0.5, [1, 3, 4]),
        ([5.0, 4.0, 4.0, 1.0], 1.0, [3, 4]),
        ([4.0, 3.0, 2.0, 1.0, 0.0], 2.0, [3, 5]),  # small steps that add up
        ([9.0, 8.0, 7.0, 6.0, 2.0, 1.0, 0.0], 1.0, [2, 4, 6, 7]),
        ([1.0, 1.0, 1.0], 0.0, [3]),
        ([1.0], 0.5, [1]),
        ([3.0, 2.0], 0.5, [1, 2]),
    ],
)
def test_groups_are_within_the_tolerance_of_their_first_depth(
    falling: list[float], tolerance: float, ends: list[int]
) -> None:
    assert tie_ends(np.array(falling), tolerance).tolist() == ends
    assert naive_tie_ends(falling, tolerance) == ends


def test_groups_are_those_of_the_plain_loop() -> None:
    rng = np.random.default_rng(0)
    for _ in range(60):
        falling = np.sort(rng.integers(0, 25, int(rng.integers(1, 40))).astype(float))[::-1]
        tolerance = float(rng.integers(0, 6))
        expected = naive_tie_ends(falling.tolist(), tolerance)
        assert tie_ends(falling, tolerance).tolist() == expected


@pytest.fixture(scope="module")
def regions() -> TrimmedRegions:
    """Return the regions of 40 points in three dimensions: two are equal, some have weight 0."""
    rng = np.random.default_rng(0)
    points = rng.standard_normal((40, 3))
    points[5] = points[11]
    weights = rng.integers(0, 4, 40)
    return isodepth.Metric(depth="irw", random_state=0).regions(points, weights=weights)


BETAS = [0.0, 0.3, 0.62, 0.99]


def naive_inside(regions: TrimmedRegions, beta: float) -> list[int]:
    weights = np.asarray(regions.weights)
    for alpha in sorted(set(regions.depths[weights > 0]), reverse=True):
        held = (regions.depths >= alpha) & (weights > 0)
        if weights[held].sum() > beta * weights.sum():
            return np.flatnonzero(held).tolist()
    raise AssertionError("beta must be below 1")


@pytest.mark.parametrize("beta", BETAS)
def test_inside_is_the_smallest_level_set_of_more_mass(
    regions: TrimmedRegions, beta: float
) -> None:
    inside = naive_inside(regions, beta)
    assert regions.indices(beta).tolist() == inside
    assert regions.min_depth(beta) == regions.depths[inside].min()
    assert isinstance(regions.min_depth(beta), float)


def test_zero_weight_is_outside_of_the_outermost_region(regions: TrimmedRegions) -> None:
    present = np.flatnonzero(np.asarray(regions.weights) > 0)
    assert len(present) < 40
    assert regions.indices(0.9999).tolist() == present.tolist()


@pytest.mark.parametrize("n_directions", [1, 15, 16, 17, 40])
def test_supports_are_maxima_over_the_points_inside(
    regions: TrimmedRegions, n_directions: int
) -> None:
    u = np.random.default_rng(1).standard_normal((n_directions, 3))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    expected = np.array(
        [(regions.points[naive_inside(regions, beta)] @ u.T).max(axis=0) for beta in BETAS]
    )
    # Dot products of three terms in different orders.
    np.testing.assert_allclose(regions.support(u, BETAS), expected, rtol=0, atol=1e-14)
    np.testing.assert_allclose(regions.support(5 * u, BETAS[1]), expected[1], rtol=0, atol=1e-14)
    np.testing.assert_allclose(regions.support(u[0], BETAS), expected[:, 0], rtol=0, atol=1e-14)
    assert regions.support(u[0], 0.3) == pytest.approx(expected[1, 0], abs=1e-14)
    assert np.ndim(regions.support(u[0], 0.3)) == 0


LINE = [[1.0], [2.0], [4.0], [8.0], [16.0]]
REGIONS = Metric(depth="halfspace").regions(LINE)


def test_repr_goes_from_the_least_deep_to_the_deepest() -> None:
    assert repr(REGIONS) == "TrimmedRegions(n=5, d=1, regions=3, depth from 0.2 to 0.6)"


@pytest.mark.parametrize(
    "beta", ["a", "0.5", None, [0.1, "b"], 1j, [[0.1], [0.2, 0.3]], object], ids=repr
)
def test_levels_are_numbers(beta: object) -> None:
    for ask in (REGIONS.min_depth, REGIONS.indices, lambda b: REGIONS.support([[1.0]], b)):
        with pytest.raises(InvalidInputError, match=r"level must"):
            ask(beta)


@pytest.mark.parametrize("beta", [1, 1.0, -1e-9, np.nan, np.inf, [0.5, 1.0]])
def test_levels_lie_below_one(beta: object) -> None:
    with pytest.raises(InvalidInputError, match=r"numbers in \[0, 1\)"):
        REGIONS.min_depth(beta)


def test_levels_of_any_kind_of_number() -> None:
    assert REGIONS.min_depth(0) == REGIONS.min_depth(0.0) == REGIONS.min_depth(np.float32(0)) == 0.6
    assert REGIONS.min_depth([0, 0.2, 0.999]).tolist() == [0.6, 0.4, 0.2]
    assert REGIONS.min_depth(np.array([False])).tolist() == [0.6]


@pytest.mark.parametrize(
    "betas",
    [-1e-300, 1.0, math.nan, [0.5, 1.0], [0.5, -0.1], "a", None, object(), [0.1, "b"], 10**400]
    + [[[0.1], [0.1, 0.2]]],
)
def test_levels_lie_in_the_half_open_unit_interval(betas) -> None:
    levels = [0.0, 0.5, math.nextafter(1, 0)]
    assert check_levels(levels).tolist() == levels
    with pytest.raises(InvalidInputError, match="level"):
        check_levels(betas)
