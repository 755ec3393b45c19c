"""Directions: unit vectors, reproducible, spread as they claim to be."""

from __future__ import annotations

import numpy as np
import pytest

import isodepth
from isodepth.core.directions import FAMILIES, unit_vectors
from isodepth.errors import InvalidOptionError

RANDOM_FAMILIES = [family for family in FAMILIES if family != "equispaced"]


@pytest.mark.parametrize("family", RANDOM_FAMILIES)
@pytest.mark.parametrize("d", [2, 3, 7, 40])
@pytest.mark.parametrize("n_directions", [1, 5, 64, 100])
def test_unit_length_and_shape(family: str, d: int, n_directions: int) -> None:
    rows = unit_vectors(d, n_directions, family, np.random.default_rng(0))
    assert rows.shape == (n_directions, d)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-14)


@pytest.mark.parametrize("family", FAMILIES)
def test_one_dimension_needs_one_direction(family: str) -> None:
    np.testing.assert_array_equal(unit_vectors(1, 1000, family), [[1.0]])


@pytest.mark.parametrize("family", RANDOM_FAMILIES)
@pytest.mark.parametrize("d", [2, 5])
def test_seed_decides(family: str, d: int) -> None:
    first, again, other = (
        unit_vectors(d, 20, family, np.random.default_rng(seed)) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_orthogonal_blocks_are_orthonormal() -> None:
    rows = unit_vectors(6, 15, "orthogonal", np.random.default_rng(0))
    for block in (rows[:6], rows[6:12], rows[12:]):
        np.testing.assert_allclose(block @ block.T, np.eye(len(block)), atol=1e-14)


def test_equispaced_angles_cover_half_a_turn() -> None:
    rows = unit_vectors(2, 8, "equispaced")
    angles = np.arctan2(rows[:, 1], rows[:, 0])
    np.testing.assert_allclose(np.diff(angles), np.pi / 8, rtol=1e-13)
    np.testing.assert_array_equal(rows[[0, 4]], np.eye(2))


def test_equispaced_is_for_the_plane() -> None:
    with pytest.raises(InvalidOptionError, match=r"equispaced.*3"):
        unit_vectors(3, 10, "equispaced")


@pytest.mark.parametrize("family", RANDOM_FAMILIES)
def test_uniform_on_the_sphere(family: str) -> None:
    """The mean of u u' is I/d."""
    d, n = 5, 4000
    rows = unit_vectors(d, n, family, np.random.default_rng(0))
    error = np.abs(rows.T @ rows / n - np.eye(d) / d)
    # For independent rows u_i u_j has variance 1/(d (d + 2)), and u_i^2 has 3/(d (d + 2)) - 1/d^2.
    deviation = np.where(np.eye(d) == 1, 3 / (d * (d + 2)) - 1 / d**2, 1 / (d * (d + 2))) ** 0.5
    assert (error < 4.5 * deviation / np.sqrt(n)).all()


def test_equispaced_reaches_the_exact_distance_in_the_plane() -> None:
    """Samples 7 apart in each coordinate: K = 1000 misses less than one part in ten thousand.

    The gap falls off from its peak by at most the angle missed, pi/2K, times the part of a - b
    across the direction, which for samples this far apart is a fraction of the gap.
    """
    rng = np.random.default_rng(0)
    for _ in range(5):
        X, Y = rng.standard_normal((1000, 2)), rng.standard_normal((1000, 2)) + 7
        options = {"n_directions": 1000, "directions": "equispaced", "eps": 0.3}
        exact = isodepth.distance(X, Y, gap="exact", **options)
        found = isodepth.distance(X, Y, refine=0, **options)
        assert exact * (1 - 1e-4) <= found <= exact * (1 + 1e-12)
