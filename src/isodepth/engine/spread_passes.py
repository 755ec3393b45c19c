"""What rounding may do to projections, and outlyingness without a MAD, for samples in chunks."""

from __future__ import annotations

from typing import Any

import numpy as np

# np.finfo takes longer than what it is needed for.
_EPSILON = {code: float(np.finfo(code).eps) for code in "fd"}


def zero_of(points: np.ndarray, typical: Any) -> Any:
    """A deviation of at most this is rounding, where rows are of that size."""
    return points.dtype.type(_rounding(points) * typical)


def _rounding(points: np.ndarray) -> float:
    """Rounding of a projection of size one; a deviation no larger says nothing."""
    return _EPSILON[points.dtype.char] * (8 * points.shape[1])


def reach_of(points: np.ndarray, sizes: np.ndarray, typical: Any) -> np.ndarray:
    """What rounding alone may do to the projections of rows of those sizes."""
    return (_rounding(points) * (sizes + typical)).astype(points.dtype)


def flat_outlyingness(
    projections: np.ndarray, reach: np.ndarray, middle: Any, scale: Any
) -> np.ndarray:
    """Outlyingness (n,) along a direction whose deviations that are not zero have that median."""
    found = np.abs(projections - middle)
    found[found <= reach] = 0
    # Far points of float32 may overflow to the infinity that they nearly are.
    with np.errstate(over="ignore", divide="ignore"):
        np.divide(found, scale, out=found, where=found > 0)
    return found


def largest_entries(points: np.ndarray) -> np.ndarray:
    """The largest absolute value in each row of (n, d)."""
    # Along the long axis a maximum is taken for several rows at once.
    return np.abs(np.ascontiguousarray(points.T)).max(axis=0)
