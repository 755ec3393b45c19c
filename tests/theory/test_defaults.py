"""What is meant when nothing is said: p = 2, eps = 0.1, averages."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.theory import (
    breakdown_bound,
    gaussian_bounds,
    gaussian_distance,
    gaussian_gap,
    translation_bounds,
    univariate_distance,
)

LAWS = [0, 0], [[1, 0], [0, 2]], [1, 0], [[4, 0], [0, 1]]
X, Y = np.array([0.0, 1.0, 5.0, 9.0, 2.5] * 4), np.array([2.0, 3.0, -1.0])


def test_defaults_of_the_formulas() -> None:
    said = {"p": 2, "eps": 0.1, "normalize": True}
    assert gaussian_distance(*LAWS) == gaussian_distance(*LAWS, **said)
    assert univariate_distance(X, Y) == univariate_distance(X, Y, **said)
    assert gaussian_bounds(*LAWS) == gaussian_bounds(*LAWS, eps=0.1, sharp=False)
    assert translation_bounds(2.0, 1.0, 3.0) == translation_bounds(2.0, 1.0, 3.0, symmetric=False)
    assert breakdown_bound(X[:, None]) == breakdown_bound(X[:, None], eps=0.1)


def test_each_of_them_is_used() -> None:
    for change in ({"p": 1}, {"p": 3}, {"eps": 0.2}, {"normalize": False}):
        assert gaussian_distance(*LAWS) != gaussian_distance(*LAWS, **change)
        assert univariate_distance(X, Y) != univariate_distance(X, Y, **change)
    assert gaussian_bounds(*LAWS) != gaussian_bounds(*LAWS, eps=0.2)
    assert gaussian_bounds(*LAWS) != gaussian_bounds(*LAWS, sharp=True)
    bounds = translation_bounds(2.0, 1.0, 3.0)
    assert bounds != translation_bounds(2.0, 1.0, 3.0, symmetric=True)


def test_equal_laws_have_no_gap_and_still_a_direction() -> None:
    covariance = [[2.0, 0.3], [0.3, 1.0]]
    for radius in (0.0, 1.0, 7.0):
        gap, direction = gaussian_gap([1, 2], covariance, [1, 2], covariance, radius)
        assert gap == 0
        assert np.linalg.norm(direction) == pytest.approx(1, rel=1e-12)
