"""Coordinates in which hulls are compared, and samples in the order in which their points enter.

The coordinates are centered, of size one, in the span of the points.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from isodepth.data.validation import check_points, check_same_width
from isodepth.errors import InvalidInputError


@dataclass(frozen=True)
class Frame:
    """Two sets of points in coordinates that keep every distance up to a power of two.

    Attributes
    ----------
    first, second : float64 ndarrays of shape (n, r) and (m, r), C-contiguous
    exponent : int
        Lengths of the caller are lengths here times ``2 ** exponent``: nothing is rounded, and
        squares neither overflow nor underflow.
    basis : ndarray of shape (d, r) with orthonormal columns, or None for the caller's own axes
    """

    first: np.ndarray
    second: np.ndarray
    exponent: int
    basis: np.ndarray | None

    @property
    def dimension(self) -> int:
        """Columns of the caller's points."""
        return self.first.shape[1] if self.basis is None else self.basis.shape[0]

    def lengths(self, values: np.ndarray) -> np.ndarray:
        """Lengths of the caller."""
        return np.ldexp(values, self.exponent)

    def directions(self, vectors: np.ndarray) -> np.ndarray:
        """Unit vectors of the caller, from unit vectors (L, r) of this frame."""
        if self.basis is None:
            return vectors + 0.0  # no -0
        turned = vectors @ self.basis.T
        return turned / np.linalg.norm(turned, axis=1, keepdims=True)

    def covectors(self, directions: np.ndarray) -> np.ndarray:
        """Vectors (K, r) whose products with the points are those of the directions (K, d)."""
        return directions if self.basis is None else directions @ self.basis


def common_frame(first: ArrayLike, second: ArrayLike) -> Frame:
    """Bring two samples to one frame.

    N points in more than N dimensions only differ along their span, so they are turned into it: the
    triangle of a QR factorization holds their coordinates, each as precise as its own length.

    Parameters
    ----------
    first, second : array-like of shape (n, d) and (m, d)
    """
    a = as_points(first, "the first set of points")
    b = as_points(second, "the second set of points")
    check_same_width(a.shape[1], b.shape[1], "the first set of points", "the second")
    exponent = int(np.frexp(max(np.abs(a).max(), np.abs(b).max()))[1])
    a, b = np.ldexp(a, -exponent), np.ldexp(b, -exponent)
    # Adding zero turns -0 into 0, so that equal points are equal bit by bit.
    points = np.ascontiguousarray(np.concatenate([a, b]) - a[0] + 0.0)
    basis = None
    if points.shape[1] >= len(points):
        # One column for equal points: equal points must stay equal, for a distance of exactly 0.
        distinct, place = np.unique(points, axis=0, return_inverse=True)
        coordinates, basis = span_basis(distinct)
        points = np.ascontiguousarray(coordinates[place.ravel()])
    return Frame(points[: len(a)], points[len(a) :], exponent, basis)


def as_points(points: ArrayLike, name: str) -> np.ndarray:
    """Return a finite, non-empty (n, d) float64 array, of numbers of any size."""
    return check_points(points, name, "float64", any_size=True)[0]


def coordinates_in_span(vectors: np.ndarray) -> np.ndarray:
    """Coordinates (k, r) of vectors (k, d) along orthonormal axes of their span, r = min(k, d).

    Every length and angle is kept, each coordinate as precise as the length of its own vector. The
    axes themselves, most of the work, are not made: see :func:`span_basis`.
    """
    return np.asarray(np.linalg.qr(vectors.T, mode="r")).T


def span_basis(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same coordinates (k, r), and the axes: orthonormal columns (d, r)."""
    basis, triangle = np.linalg.qr(vectors.T)
    return triangle.T, basis


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
