"""Two samples in the order in which their points enter."""

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
    prefix_sizes_first: np.ndarray
    prefix_sizes_second: np.ndarray

    def rounding(self) -> np.ndarray:
        """Bound of what rounding may change a distance by at each level, (L,).

        Products of d numbers carry an error of at most about d ulps of the largest of them, and
        the points inside are at most as large as the radius here.
        """
        radius = np.maximum(
            _radius(self.frame.first)[self.prefix_sizes_first - 1],
            _radius(self.frame.second)[self.prefix_sizes_second - 1],
        )
        return (64 + self.frame.first.shape[1]) * np.finfo(np.float64).eps * radius


def nested_pair(
    first: ArrayLike,
    second: ArrayLike,
    prefix_sizes_first: ArrayLike,
    prefix_sizes_second: ArrayLike,
) -> NestedPair:
    """Check the arguments of the functions on levels; rows that never enter are left out."""
    a, b = as_points(first, "the first sample"), as_points(second, "the second sample")
    sizes_a = _as_prefix_sizes(prefix_sizes_first, len(a), "prefix_sizes_first")
    sizes_b = _as_prefix_sizes(prefix_sizes_second, len(b), "prefix_sizes_second")
    if len(sizes_a) != len(sizes_b):
        raise InvalidInputError(
            f"both samples need one prefix size for each level, got {len(sizes_a)} and "
            f"{len(sizes_b)}"
        )
    return NestedPair(common_frame(a[: sizes_a[-1]], b[: sizes_b[-1]]), sizes_a, sizes_b)


def _radius(points: np.ndarray) -> np.ndarray:
    return np.maximum.accumulate(np.linalg.norm(points, axis=1))


def _as_prefix_sizes(sizes: ArrayLike, n: int, name: str) -> np.ndarray:
    array = np.asarray(sizes)
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
