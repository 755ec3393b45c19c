"""Contaminated bivariate samples for the pictures of depth contours and of nested regions."""

from __future__ import annotations

import numpy as np

#: Of the points in a sample.
SHARE = 0.1
_ROOT = np.array([[1.0, 0.0], [0.8, 0.6]])


def correlated_sample(
    n: int, rng: np.random.Generator, center: tuple[float, float] = (0.0, 0.0)
) -> tuple[np.ndarray, np.ndarray]:
    """n points of which a tenth are a clump of outliers, and which of them are (n,).

    The others are Gaussian with correlation 0.8; the clump lies across their long axis.
    """
    points = rng.standard_normal((n, 2)) @ _ROOT.T
    wrong = np.arange(n) >= n - round(SHARE * n)
    points[wrong] = 0.4 * rng.standard_normal((wrong.sum(), 2)) + [4.0, -4.0]
    return points + center, wrong
