"""Two weighted samples that are to be compared, checked once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from isodepth.data.validation import (
    check_integer,
    check_number,
    check_pair,
    check_weights,
    split_weights,
)


class Pair(NamedTuple):
    """Two samples with the mass of each point.

    Attributes
    ----------
    x, y : float64 ndarrays of shape (n, d) and (m, d)
    a, b : float64 ndarrays of shape (n,) and (m,), positive, each with sum one
    equal_weights : bool
        Whether the points of each sample all have one mass.
    rng : numpy.random.Generator
    """

    x: np.ndarray
    y: np.ndarray
    a: np.ndarray
    b: np.ndarray
    equal_weights: bool
    rng: np.random.Generator


def read_pair(X: Any, Y: Any, weights: Any, random_state: Any) -> Pair:
    """Check what the user calls two samples; rows of weight zero are left out."""
    x, y, _ = check_pair(X, Y, "float64")
    wx, wy = split_weights(weights)
    x, a = _with_masses(x, check_weights(wx, len(x), "weights of X"))
    y, b = _with_masses(y, check_weights(wy, len(y), "weights of Y"))
    equal = bool((a == a[0]).all() and (b == b[0]).all())
    return Pair(x, y, a, b, equal, _generator(random_state))


def check_power(p: Any) -> float:
    """Check the power of a transport cost |x - y|^p."""
    return check_number(p, "p", 1, high_open=True)


def check_positive(value: Any, name: str) -> float:
    """Check a setting that must be a positive number."""
    return check_number(value, name, 0, low_open=True, high_open=True)


def _with_masses(points: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    if weights is None:
        return points, np.full(len(points), 1.0 / len(points))
    present = weights > 0
    # Dividing by the largest first keeps the sum from overflowing.
    kept = weights[present] / weights.max()
    return points[present], kept / kept.sum()


def _generator(random_state: Any) -> np.random.Generator:
    if not (random_state is None or isinstance(random_state, np.random.Generator)):
        check_integer(random_state, "random_state", 0, "; or None, or a numpy.random.Generator")
    return np.random.default_rng(random_state)
