"""The exact distance lies between the lower and the upper bound on the supremum."""

from __future__ import annotations

import numpy as np
import pytest

import isodepth
from isodepth.errors import InvalidInputError


@pytest.mark.filterwarnings("ignore::isodepth.errors.DegenerateDepthWarning")
@pytest.mark.parametrize("seed", range(12))
def test_the_exact_distance_lies_between_the_bounds(seed) -> None:
    rng = np.random.default_rng(seed)
    d, (n, m) = int(rng.integers(1, 12)), rng.integers(2, 120, size=2)
    x, y = rng.normal(size=(n, d)), rng.normal(size=(m, d)) * rng.uniform(0.5, 2) + 0.5
    if seed % 3 == 0:  # ties, and vertices that coincide
        x, y = x.round(), y.round()
    options = {
        "depth": ("projection", "halfspace", "irw")[seed % 3], "p": (1, 2, np.inf)[seed % 3],
        "n_directions": 20, "scale": None, "random_state": 0,
    }  # fmt: skip
    searched = isodepth.compare(x, y, refine=5 * (seed % 2), **options)
    exact = isodepth.compare(x, y, gap="exact", **options)
    low, high = searched.supremum_bounds()
    assert low == searched.distance
    # The relative rounding error of exact gaps is about 1e-10.
    assert low <= exact.distance * (1 + 1e-9)
    assert exact.distance <= high * (1 + 1e-9)
    assert high <= 1.0201 * exact.distance + 1e-9
    assert exact.supremum_bounds() == (exact.distance, exact.distance)


def test_equal_samples_have_a_distance_of_zero() -> None:
    x = np.random.default_rng(0).normal(size=(40, 3))
    assert isodepth.compare(x, x, random_state=0).supremum_bounds() == (0.0, 0.0)


def test_means_over_directions_and_chunks_have_no_bounds() -> None:
    x, y = np.random.default_rng(0).normal(size=(2, 40, 3))
    with pytest.raises(InvalidInputError, match="this comparison has q=2"):
        isodepth.compare(x, y, q=2, random_state=0).supremum_bounds()
    chunks = isodepth.compare(
        isodepth.scan(x), isodepth.scan(y), levels=10, refine=0, n_directions=20, random_state=0
    )
    with pytest.raises(InvalidInputError, match="need the rows"):
        chunks.supremum_bounds()
