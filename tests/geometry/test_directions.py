"""Families of directions: unit length, reproducibility and uniformity."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import betaln
from twins import naive_means

import isodepth
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.geometry.directions import (
    FAMILIES,
    check_direction_rows,
    mean_of_direction,
    unit_vectors,
    vectors_of,
)

RANDOM_FAMILIES = [family for family in FAMILIES if family != "equispaced"]


@pytest.mark.parametrize("family", RANDOM_FAMILIES)
@pytest.mark.parametrize("d", [2, 3, 7, 40])
@pytest.mark.parametrize("n_directions", [1, 5, 64, 100])
def test_unit_length_and_shape(family: str, d: int, n_directions: int) -> None:
    rows = unit_vectors(d, n_directions, directions=family, random_state=np.random.default_rng(0))
    assert rows.shape == (n_directions, d)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-14)


@pytest.mark.parametrize("family", FAMILIES)
def test_one_dimension_needs_one_direction(family: str) -> None:
    np.testing.assert_array_equal(unit_vectors(1, 1000, directions=family), [[1.0]])


def test_orthogonal_blocks_are_orthonormal() -> None:
    rows = unit_vectors(6, 15, directions="orthogonal", random_state=np.random.default_rng(0))
    for block in (rows[:6], rows[6:12], rows[12:]):
        np.testing.assert_allclose(block @ block.T, np.eye(len(block)), atol=1e-14)


def test_equispaced_is_for_the_plane() -> None:
    with pytest.raises(InvalidOptionError, match=r"equispaced.*3"):
        unit_vectors(3, 10, directions="equispaced")


@pytest.mark.parametrize("family", RANDOM_FAMILIES)
def test_uniform_on_the_sphere(family: str) -> None:
    """Check that the mean of the matrices u u' over the directions u is I / d."""
    d, n = 5, 4000
    rows = unit_vectors(d, n, directions=family, random_state=np.random.default_rng(0))
    error = np.abs(rows.T @ rows / n - np.eye(d) / d)
    # For independent rows u_i u_j has variance 1/(d (d + 2)), and u_i^2 has 3/(d (d + 2)) - 1/d^2.
    deviation = np.where(np.eye(d) == 1, 3 / (d * (d + 2)) - 1 / d**2, 1 / (d * (d + 2))) ** 0.5
    assert (error < 4.5 * deviation / np.sqrt(n)).all()


def test_equispaced_reaches_the_exact_distance_in_the_plane() -> None:
    """Check that 1000 equispaced directions have a relative error below 1e-4.

    A gap is |<u, v>| for the difference v of two support points. The angle between the best
    direction and the nearest of K directions is at most pi / 2K. The error is at most this angle
    times the length of the part of v that is orthogonal to the direction. The samples are shifted
    by 7 in each coordinate.
    """
    rng = np.random.default_rng(0)
    for _ in range(5):
        X, Y = rng.standard_normal((1000, 2)), rng.standard_normal((1000, 2)) + 7
        options = {"n_directions": 1000, "directions": "equispaced", "eps": 0.3}
        exact = isodepth.distance(X, Y, gap="exact", **options)
        found = isodepth.distance(X, Y, refine=0, **options)
        assert exact * (1 - 1e-4) <= found <= exact * (1 + 1e-12)


@pytest.mark.parametrize("family", ["uniform", "sobol", "orthogonal"])
@pytest.mark.parametrize(("d", "n_directions"), [(3, 10), (2, 7), (40, 600)])
def test_seeded_vectors_are_those_of_the_generator(family: str, d: int, n_directions: int) -> None:
    expected = unit_vectors(d, n_directions, directions=family, random_state=5)
    first = vectors_of(d, n_directions, family, 5)
    np.testing.assert_array_equal(first, expected)
    np.testing.assert_array_equal(vectors_of(d, n_directions, family, 5), expected)
    assert not np.array_equal(vectors_of(d, n_directions, family, 6), expected)


def test_cached_directions_are_read_only() -> None:
    rows = vectors_of(3, 4, "uniform", 0)
    with pytest.raises(ValueError, match="read-only"):
        rows[0, 0] = 7.0


def test_explicit_directions_are_scaled_and_not_kept() -> None:
    given = [[3.0, 4.0], [0.0, 2.0]]
    for seed in (0, 1):
        np.testing.assert_allclose(
            vectors_of(2, 99, given, seed), [[0.6, 0.8], [0.0, 1.0]], rtol=1e-15
        )
    with pytest.raises(InvalidInputError, match="3"):
        unit_vectors(3, 99, directions=given)


@pytest.mark.parametrize("family", ["sobol", "orthogonal"])
def test_in_the_plane_angles_are_equispaced_from_a_random_start(family: str) -> None:
    rows = unit_vectors(2, 6, directions=family, random_state=np.random.default_rng(0))
    angles = np.arctan2(rows[:, 1], rows[:, 0])
    np.testing.assert_allclose(np.diff(angles), np.pi / 6, rtol=1e-13)
    assert 0 < angles[0] < np.pi / 6


@pytest.mark.parametrize("n_directions", [1, 2, 3])
def test_in_the_plane_the_axes_are_free_of_rounding(n_directions: int) -> None:
    rows = unit_vectors(2, 2 * n_directions, directions="equispaced")
    assert rows[0].tolist() == [1.0, 0.0]
    assert rows[n_directions].tolist() == [0.0, 1.0]
    # Only entries along the axes are rounded to zero.
    assert (rows == 0).sum() == 2
    np.testing.assert_allclose(
        np.diff(np.arctan2(rows[:, 1], rows[:, 0])), np.pi / (2 * n_directions), rtol=1e-13
    )


def test_sobol_points_are_balanced() -> None:
    """Check that half of 2^k points have a positive coordinate, for every axis."""
    rows = unit_vectors(4, 256, directions="sobol", random_state=np.random.default_rng(3))
    assert (rows > 0).sum(axis=0).tolist() == [128] * 4
    uniform = unit_vectors(4, 256, directions="uniform", random_state=np.random.default_rng(3))
    assert (uniform > 0).sum(axis=0).tolist() != [128] * 4


def test_sobol_is_finite_and_has_a_maximum_dimension() -> None:
    rows = unit_vectors(3, 5000, directions="sobol", random_state=np.random.default_rng(0))
    assert np.isfinite(rows).all()
    with pytest.raises(InvalidOptionError, match=r"21201.*21202.*orthogonal"):
        unit_vectors(21202, 1, directions="sobol", random_state=np.random.default_rng(0))


def test_orthogonal_blocks_have_no_preferred_half() -> None:
    """Check that the coordinates of the first vector are positive in about half of 400 draws."""
    firsts = np.array(
        [
            unit_vectors(3, 1, directions="orthogonal", random_state=np.random.default_rng(seed))[0]
            for seed in range(400)
        ]
    )
    # A binomial count with n = 400 and p = 1/2: 4.5 standard deviations of 10 each.
    assert (np.abs((firsts > 0).sum(axis=0) - 200) < 45).all()


def test_without_a_generator_directions_are_fresh() -> None:
    assert not np.array_equal(unit_vectors(3, 4), unit_vectors(3, 4))


@pytest.mark.parametrize("n_directions", [0, -1, 2.5])
def test_there_is_at_least_one_direction(n_directions: float) -> None:
    with pytest.raises(InvalidOptionError, match="n_directions"):
        unit_vectors(3, n_directions)  # type: ignore[arg-type]


@pytest.mark.parametrize("n_features", [0, -1, 2.5])
def test_there_is_at_least_one_dimension(n_features: float) -> None:
    with pytest.raises(InvalidOptionError, match="n_features must be an integer >= 1"):
        unit_vectors(n_features, 5)


@pytest.mark.parametrize("d", [1, 2, 3, 7, 50])
def test_mean_of_a_coordinate_of_a_direction(d: int) -> None:
    for q in (1.0, 1.5, 2.0, 40.0):
        # The error of the rectangle rule is 2e-9 if the integrand has a kink.
        mean = naive_means.moment(d, q, 20_000) ** (1 / q)
        assert mean_of_direction(d, q) == pytest.approx(mean, rel=1e-7)
    # E|u_1|^q tends to a constant times q^((1 - d) / 2).
    for q in (1e9 * d, 1.1e8 * d, 1e12):
        log = math.lgamma(d / 2) - 0.5 * math.log(math.pi) + 0.5 * (1 - d) * math.log(q / 2)
        assert mean_of_direction(d, q) == pytest.approx(math.exp(log / q), rel=1e-13)
    assert mean_of_direction(d, 1e307) == mean_of_direction(d, math.inf) == 1.0


def test_mean_of_a_coordinate_in_many_dimensions() -> None:
    log = betaln((1e9 + 1) / 2, (1e5 - 1) / 2) - betaln(1 / 2, (1e5 - 1) / 2)
    assert mean_of_direction(10**5, 1e9) == pytest.approx(math.exp(log / 1e9), rel=1e-13)


def test_unit_rows_are_unchanged() -> None:
    rows = np.random.default_rng(0).standard_normal((200, 7))
    once = check_direction_rows(rows, 7)
    np.testing.assert_allclose(np.linalg.norm(once, axis=1), 1, rtol=1e-15)
    np.testing.assert_array_equal(check_direction_rows(once), once)
    # A relative error of 1e-6 in the length is corrected, and one of 1e-12 is kept.
    np.testing.assert_allclose(check_direction_rows(once * (1 + 1e-6)), once, rtol=1e-15)
    np.testing.assert_allclose(check_direction_rows(once * (1 + 1e-12)), once, rtol=2e-15)


@pytest.mark.parametrize("scale", [5e-324, 1e-200, 1e300])
def test_directions_of_any_size(scale: float) -> None:
    rows = check_direction_rows([[scale, 0.0], [scale, -scale]], 2)
    np.testing.assert_allclose(rows, [[1, 0], [math.sqrt(0.5), -math.sqrt(0.5)]], rtol=1e-15)


def test_zero_directions_are_counted() -> None:
    with pytest.raises(InvalidInputError, match="zero rows, got 2, the first at row 1"):
        check_direction_rows([[1, 0], [0, 0], [0, 0]])
    with pytest.raises(InvalidInputError, match=r"as many columns as the data \(3\), got 2"):
        check_direction_rows([[1, 0]], 3)
