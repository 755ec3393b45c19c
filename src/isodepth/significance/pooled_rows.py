"""The rows of both samples together: their units and the directions along which they are seen.

Nothing here knows which row belongs to which sample.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from isodepth.core.directions import unit_vectors
from isodepth.core.scaling import check_scale_width, pooled_spread
from isodepth.data.validation import check_finite
from isodepth.errors import InvalidOptionError

# About so many directions, in whole frames of orthonormal vectors: more cost time in proportion
# and add little power.
_DIRECTIONS = 100


def units_of(x: np.ndarray, y: np.ndarray, scale: Any) -> np.ndarray | None:
    """What one unit of each column is, from both samples together."""
    if scale is None:
        return None
    if isinstance(scale, str):
        return pooled_spread(np.concatenate([x, y]))
    check_scale_width(scale, x.shape[1])
    return scale


def standardized(
    x: np.ndarray, y: np.ndarray, units: np.ndarray | None, names: tuple[str, ...]
) -> tuple[np.ndarray, float]:
    """All rows around zero with size about one, and the power of two they were divided by."""
    # Frames give columns that lie one after the other.
    points = np.ascontiguousarray(np.concatenate([x, y]), dtype=np.float64)
    points -= np.median(points, axis=0)
    size = 1.0
    if units is None:
        size = 2.0 ** math.frexp(float(pooled_spread(points).max()))[1]
        points /= size
    else:
        with np.errstate(over="ignore"):
            points /= units
    check_finite(points, "X or Y divided by scale", False, names)
    points += 0.0  # no negative zeros: equal numbers are equal bits
    return points, size


def directions_with_axes(d: int, n_directions: int | None, rng: np.random.Generator) -> np.ndarray:
    """The axes, followed by frames of random orthonormal vectors, of shape (K, d)."""
    if d == 1:
        return np.ones((1, 1))
    if n_directions is None:
        n_directions = d * max(2, math.ceil(_DIRECTIONS / d))
    if n_directions < d:
        raise InvalidOptionError(
            f"n_directions must be at least the number of columns, {d}, since the axes are among "
            f"them; got {n_directions}"
        )
    if n_directions == d:
        return np.eye(d)
    return np.concatenate([np.eye(d), unit_vectors(d, n_directions - d, "orthogonal", rng)])
