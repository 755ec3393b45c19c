"""Two samples in the order in which their points enter, and which of them span the hulls."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from isodepth.errors import InvalidInputError
from isodepth.hull.frame import Frame, as_points, common_frame

# Beyond this, facets are too many to be worth it.
_MAX_DIMENSION = 3
_FEW = 12
_FLAT = 8 * float(np.finfo(np.float64).eps)
# Rows that are new before the hull is looked at again.
_FRESH_ROWS = 64


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


def inside_from(rows: np.ndarray, prefix_sizes: np.ndarray) -> np.ndarray:
    """Level from which each row is known to be inside the hull of others, to rounding, (n,).

    A row inside the hull stays inside as it grows. It is looked for once the rows that are new
    outnumber those kept, which costs little per row. Above three dimensions nearly all rows are
    vertices, and none is looked for: the result is then L, the number of levels.
    """
    levels = np.full(len(rows), len(prefix_sizes), dtype=np.int64)
    if rows.shape[1] > _MAX_DIMENSION:
        return levels
    kept = np.arange(prefix_sizes[0])
    level = 0
    while level < len(prefix_sizes):
        extreme = kept[extreme_rows(rows[kept])]
        levels[kept] = level
        levels[extreme] = len(prefix_sizes)
        enough = prefix_sizes[level] + max(_FRESH_ROWS, len(extreme))
        following = int(np.searchsorted(prefix_sizes, enough, side="right"))
        if following < len(prefix_sizes):
            kept = np.concatenate(
                [extreme, np.arange(prefix_sizes[level], prefix_sizes[following])]
            )
        level = following
    return levels


def extreme_rows(points: np.ndarray) -> np.ndarray:
    """Return the sorted numbers of rows whose hull is the hull of all, to rounding.

    Parameters
    ----------
    points : ndarray of shape (n, d), d <= 3

    Returns
    -------
    int64 ndarray: all vertices of the hull, with as few other rows as is easily had

    Examples
    --------
    >>> import numpy as np
    >>> from isodepth.hull.nested import extreme_rows
    >>> extreme_rows(np.array([[3.0], [1.0], [2.0], [5.0]])).tolist()
    [1, 3]
    """
    n = len(points)
    if points.shape[1] > 1 and n <= _FEW:
        return np.arange(n, dtype=np.int64)
    rounded = _rounded_out(points)
    if rounded.shape[1] == 0:
        return np.zeros(1, dtype=np.int64)
    if rounded.shape[1] == 1:
        return np.unique([rounded.argmin(), rounded.argmax()]).astype(np.int64)

    from scipy.spatial import ConvexHull, QhullError

    try:
        return np.sort(ConvexHull(rounded).vertices).astype(np.int64)
    except QhullError:
        return np.arange(n, dtype=np.int64)


def _rounded_out(points: np.ndarray) -> np.ndarray:
    """Stretch the points to be as wide along every axis; leave out axes of no width.

    Vertices stay vertices under affine maps, and Qhull, which merges the facets of narrow sets,
    loses none of them in a set that is not narrow.
    """
    centered = points - points[0]
    if points.shape[1] > 1:
        centered = centered @ np.linalg.svd(centered, full_matrices=False)[2].T
    widths = np.ptp(centered, axis=0)
    wide = widths > _FLAT * widths.max()
    return centered[:, wide] / widths[wide]
