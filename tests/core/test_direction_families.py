"""What sets the families of directions apart, and what seeds keep."""

from __future__ import annotations

import numpy as np
import pytest

from isodepth.core.directions import seeded_vectors, unit_vectors
from isodepth.errors import InvalidInputError, InvalidOptionError


@pytest.mark.parametrize("family", ["uniform", "sobol", "orthogonal"])
@pytest.mark.parametrize(("d", "n_directions"), [(3, 10), (2, 7), (40, 600)])
def test_seeded_vectors_are_those_of_the_generator(family: str, d: int, n_directions: int) -> None:
    expected = unit_vectors(d, n_directions, family, np.random.default_rng(5))
    first = seeded_vectors(d, n_directions, family, 5)
    np.testing.assert_array_equal(first, expected)
    np.testing.assert_array_equal(seeded_vectors(d, n_directions, family, 5), expected)
    assert not np.array_equal(seeded_vectors(d, n_directions, family, 6), expected)


def test_what_is_kept_cannot_be_spoilt() -> None:
    rows = seeded_vectors(3, 4, "uniform", 0)
    with pytest.raises(ValueError, match="read-only"):
        rows[0, 0] = 7.0


def test_explicit_directions_are_scaled_and_not_kept() -> None:
    given = [[3.0, 4.0], [0.0, 2.0]]
    for seed in (0, 1):
        np.testing.assert_allclose(
            seeded_vectors(2, 99, given, seed), [[0.6, 0.8], [0.0, 1.0]], rtol=1e-15
        )
    with pytest.raises(InvalidInputError, match="3"):
        unit_vectors(3, 99, given)


@pytest.mark.parametrize("family", ["sobol", "orthogonal"])
def test_in_the_plane_angles_are_equispaced_from_a_random_start(family: str) -> None:
    rows = unit_vectors(2, 6, family, np.random.default_rng(0))
    angles = np.arctan2(rows[:, 1], rows[:, 0])
    np.testing.assert_allclose(np.diff(angles), np.pi / 6, rtol=1e-13)
    assert 0 < angles[0] < np.pi / 6


@pytest.mark.parametrize("n_directions", [1, 2, 3])
def test_in_the_plane_the_axes_are_free_of_rounding(n_directions: int) -> None:
    rows = unit_vectors(2, 2 * n_directions, "equispaced")
    assert rows[0].tolist() == [1.0, 0.0]
    assert rows[n_directions].tolist() == [0.0, 1.0]
    # And nothing but the axes is rounded to zero.
    assert (rows == 0).sum() == 2


def test_sobol_points_are_balanced() -> None:
    """Of 2^k points every half of every axis holds exactly half: random ones would not."""
    rows = unit_vectors(4, 256, "sobol", np.random.default_rng(3))
    assert (rows > 0).sum(axis=0).tolist() == [128] * 4
    uniform = unit_vectors(4, 256, "uniform", np.random.default_rng(3))
    assert (uniform > 0).sum(axis=0).tolist() != [128] * 4


def test_sobol_is_finite_and_ends_where_its_tables_end() -> None:
    rows = unit_vectors(3, 5000, "sobol", np.random.default_rng(0))
    assert np.isfinite(rows).all()
    with pytest.raises(InvalidOptionError, match=r"21201.*21202.*orthogonal"):
        unit_vectors(21202, 1, "sobol", np.random.default_rng(0))


def test_orthogonal_blocks_have_no_preferred_half() -> None:
    """Without the signs of R the first vector of a block would nearly always point one way."""
    firsts = np.array(
        [unit_vectors(3, 1, "orthogonal", np.random.default_rng(seed))[0] for seed in range(400)]
    )
    # A fair coin thrown 400 times: 4.5 standard deviations of 10 each.
    assert (np.abs((firsts > 0).sum(axis=0) - 200) < 45).all()


def test_without_a_generator_directions_are_fresh() -> None:
    assert not np.array_equal(unit_vectors(3, 4), unit_vectors(3, 4))


@pytest.mark.parametrize("n_directions", [0, -1, 2.5])
def test_there_is_at_least_one_direction(n_directions: float) -> None:
    with pytest.raises(InvalidOptionError, match="n_directions"):
        unit_vectors(3, n_directions)  # type: ignore[arg-type]
