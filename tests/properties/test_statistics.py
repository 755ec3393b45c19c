"""Distances of large samples are close to the distances of their Gaussian distributions.

Relative errors of 2% and 3% are allowed: the statistical error of a support value of 20000 points,
at levels up to 0.9, is a few hundredths of a standard deviation.
"""

from __future__ import annotations

import numpy as np
import pytest

import isodepth
from isodepth import theory

pytestmark = pytest.mark.slow

N = 20_000
DEPTHS = ["ai_irw", "halfspace", "irw", "projection"]
MEAN_X, MEAN_Y = np.array([0.0, 0.0]), np.array([3.0, -2.0])
ROUND = np.eye(2)
LONG = np.array([[2.0, 0.9], [0.9, 1.0]])


def draw(mean: np.ndarray, covariance: np.ndarray, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).multivariate_normal(mean, covariance, N)


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("covariance", [ROUND, LONG], ids=["round", "long"])
@pytest.mark.parametrize("p", [1, 2])
def test_gaussians_of_one_covariance(depth: str, covariance: np.ndarray, p: float) -> None:
    X, Y = draw(MEAN_X, covariance, 0), draw(MEAN_Y, covariance, 1)
    found = isodepth.distance(X, Y, depth=depth, p=p, eps=0.1, random_state=0)
    assert found == pytest.approx(np.linalg.norm(MEAN_X - MEAN_Y), rel=0.02)


@pytest.mark.parametrize("depth", ["ai_irw", "halfspace", "projection"])
@pytest.mark.parametrize(("shift", "p", "seed"), [(1, 1, 2), (1, 2, 2), (0, 2, 4)])
def test_gaussians_of_different_covariances(depth: str, shift: int, p: float, seed: int) -> None:
    """The distance of two large Gaussian samples is close to that of the distributions.

    Their covariances differ, and their means may differ.
    """
    mean, covariance = (MEAN_Y, LONG) if shift else (MEAN_X, 4 * LONG)
    X, Y = draw(MEAN_X, ROUND, seed), draw(mean, covariance, seed + 1)
    found = isodepth.distance(X, Y, depth=depth, p=p, eps=0.1, random_state=0)
    expected = theory.gaussian_distance(MEAN_X, ROUND, mean, covariance, p=p, eps=0.1)
    assert found == pytest.approx(expected, rel=0.03)
