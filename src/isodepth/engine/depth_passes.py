"""The passes behind the depths: points along directions, one compiled call each.

The points are moved and scaled first, roughly to zero and one, which changes nothing but rounding:
queries along with them, so that one that equals a point gets what the point gets.
"""

from __future__ import annotations

import numpy as np

from isodepth import _core
from isodepth.engine.resources import Resources

ALONE = Resources(n_jobs=1)


def largest_outlyingness(
    points: np.ndarray,
    directions: np.ndarray,
    *,
    weights: np.ndarray | None = None,
    queries: np.ndarray | None = None,
    locate: bool = False,
    resources: Resources = ALONE,
) -> tuple[np.ndarray, np.ndarray | None]:
    """Largest |<u,x> - med| / MAD over directions, of the points or of `queries`.

    Where half of the weight coincides along a direction there is no MAD, and the scale is the
    median of the deviations that are not zero. Points on the median are not outlying then; where
    all of the sample is, any other point is infinitely far out.

    Parameters
    ----------
    points : ndarray of shape (n, d), float32 or float64
        Those that give median and MAD.
    directions : ndarray of shape (K, d)
    weights : int64 ndarray of shape (n,), positive, or None for equal ones
    queries : ndarray of shape (m, d), or None for the points
    locate : bool
        Whether to say which direction gave it, the first of several.

    Returns
    -------
    largest : ndarray of shape (m,) or (n,), of the dtype of the points
    where : int64 ndarray of that shape, or None

    Examples
    --------
    >>> import numpy as np
    >>> from isodepth.engine.depth_passes import largest_outlyingness
    >>> points = np.array([[1.0], [2.0], [4.0], [8.0], [16.0]])
    >>> largest_outlyingness(points, np.ones((1, 1)))[0].round(3)
    array([1.   , 0.667, 0.   , 1.333, 4.   ])
    """
    points, directions, queries = _of_one_type(points, directions, queries)
    return _core.largest_outlyingness(
        points, directions, weights, queries, locate, resources.n_threads, resources.memory_mb
    )


def smallest_halfspace(
    points: np.ndarray,
    directions: np.ndarray,
    *,
    weights: np.ndarray | None = None,
    queries: np.ndarray | None = None,
    locate: bool = False,
    resources: Resources = ALONE,
) -> tuple[np.ndarray, np.ndarray | None]:
    """Smallest weight of a closed halfspace with the point on its boundary, over u and -u.

    Parameters
    ----------
    points, directions, weights, queries, locate : as in `largest_outlyingness`

    Returns
    -------
    smallest : int64 ndarray of shape (m,) or (n,)
    where : int64 ndarray of that shape, or None

    Examples
    --------
    >>> import numpy as np
    >>> from isodepth.engine.depth_passes import smallest_halfspace
    >>> points = np.array([[1.0], [2.0], [4.0], [8.0], [16.0]])
    >>> smallest_halfspace(points, np.ones((1, 1)), queries=np.array([[3.0], [99.0]]))[0].tolist()
    [2, 0]
    """
    points, directions, queries = _of_one_type(points, directions, queries)
    return _core.smallest_halfspace(
        points, directions, weights, queries, locate, resources.n_threads, resources.memory_mb
    )


def mean_rank_weight(
    points: np.ndarray,
    directions: np.ndarray,
    *,
    weights: np.ndarray | None = None,
    queries: np.ndarray | None = None,
    resources: Resources = ALONE,
) -> np.ndarray:
    """The mean over directions of min(F, 1 - F), with F = (P(<) + P(<=)) / 2.

    Parameters
    ----------
    points, directions, weights, queries : as in `largest_outlyingness`

    Returns
    -------
    weight : float64 ndarray of shape (m,) or (n,), in [0, 1/2]

    Examples
    --------
    >>> import numpy as np
    >>> from isodepth.engine.depth_passes import mean_rank_weight
    >>> mean_rank_weight(np.array([[1.0], [2.0], [4.0]]), np.ones((1, 1))).round(3)
    array([0.167, 0.5  , 0.167])
    """
    points, directions, queries = _of_one_type(points, directions, queries)
    return _core.mean_rank_weight(
        points, directions, weights, queries, resources.n_threads, resources.memory_mb
    )


def order_of(values: np.ndarray, resources: Resources = ALONE) -> np.ndarray:
    """Indices (n,) that sort finite `values` (n,), equal ones in the order in which they stand."""
    return _core.order(np.ascontiguousarray(values), resources.n_threads)


def take_rows(table: np.ndarray, indices: np.ndarray, resources: Resources = ALONE) -> np.ndarray:
    """The rows of `table` (n, d) with given indices (m,), int64."""
    return _core.take_rows(table, indices, resources.n_threads)


def _of_one_type(
    points: np.ndarray, directions: np.ndarray, queries: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Contiguous arrays of the type of the points."""
    points = np.ascontiguousarray(points)
    directions = np.ascontiguousarray(directions, dtype=points.dtype)
    if queries is not None:
        queries = np.ascontiguousarray(queries, dtype=points.dtype)
    return points, directions, queries
