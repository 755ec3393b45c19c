"""Two samples in the order in which their points enter, and where each level stops."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from isodepth.errors import InvalidInputError
from isodepth.hull.frame import Frame, as_points, common_frame


@dataclass(frozen=True)
class NestedPair:
    """The points of two samples in one frame, and the number of them inside at each of L levels."""

    frame: Frame
    stops_first: np.ndarray
    stops_second: np.ndarray

    def rounding(self) -> np.ndarray:
        """Bound of what rounding may change a distance by at each level, (L,).

        Products of d numbers carry an error of at most about d ulps of the largest of them, and
        the points inside are at most as large as the radius here.
        """
        radius = np.maximum(
            _radius(self.frame.first)[self.stops_first - 1],
            _radius(self.frame.second)[self.stops_second - 1],
        )
        return (64 + self.frame.first.shape[1]) * np.finfo(np.float64).eps * radius


def nested_pair(
    first: ArrayLike, second: ArrayLike, stops_first: ArrayLike, stops_second: ArrayLike
) -> NestedPair:
    """Check what the functions on levels are given; rows that never enter are left out."""
    a, b = as_points(first, "the first sample"), as_points(second, "the second sample")
    stops_a = _as_stops(stops_first, len(a), "stops_first")
    stops_b = _as_stops(stops_second, len(b), "stops_second")
    if len(stops_a) != len(stops_b):
        raise InvalidInputError(
            f"both samples need a stop for every level, got {len(stops_a)} and {len(stops_b)} stops"
        )
    return NestedPair(common_frame(a[: stops_a[-1]], b[: stops_b[-1]]), stops_a, stops_b)


def _radius(points: np.ndarray) -> np.ndarray:
    return np.maximum.accumulate(np.linalg.norm(points, axis=1))


def _as_stops(stops: ArrayLike, n: int, name: str) -> np.ndarray:
    array = np.asarray(stops)
    if array.ndim != 1 or not len(array) or array.dtype.kind not in "iu":
        raise InvalidInputError(
            f"{name} must be a list of at least one whole number, got shape {array.shape} and "
            f"type {array.dtype}"
        )
    array = np.ascontiguousarray(array, dtype=np.int64)
    if array[0] < 1 or array[-1] > n or (np.diff(array) < 0).any():
        raise InvalidInputError(
            f"{name} must not decrease and lie in 1..{n}, got values from {array.min()} to "
            f"{array.max()}"
        )
    return array
