"""The point of a convex hull nearest to a query."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from isodepth import _core
from isodepth.engine import available_cores
from isodepth.hull.hausdorff import as_points, common_frame


class Projection(NamedTuple):
    """Nearest points of a hull to q queries.

    Attributes
    ----------
    distance : float or (q,) array
    nearest : (d,) or (q, d) array
        The point of the hull, ``weights @ points``.
    weights : (n,) or (q, n) array
        Non-negative, with sum 1, at most d + 1 of them positive.
    gap : float or (q,) array
        The distance to the hull is at least ``distance - gap``: proven by the half-space at
        `nearest`.
    """

    distance: np.ndarray
    nearest: np.ndarray
    weights: np.ndarray
    gap: np.ndarray


def project_to_hull(
    points: ArrayLike, query: ArrayLike, *, n_jobs: int | None = None
) -> Projection:
    """Find the point of the convex hull of `points` nearest to `query`.

    Parameters
    ----------
    points : array-like of shape (n, d)
        In any position: repeated, collinear, fewer than d.
    query : array-like of shape (d,), or (q, d) for many at once
    n_jobs : int or None
        Threads for many queries; None for all cores.

    Returns
    -------
    Projection
        ``(distance, nearest, weights, gap)``, with a leading axis of length q for many queries.

    Examples
    --------
    >>> from isodepth.hull import project_to_hull
    >>> distance, nearest, weights, gap = project_to_hull([[0.0, 0.0], [2.0, 0.0]], [1.0, 3.0])
    >>> round(float(distance), 12), nearest.round(12).tolist(), weights.round(12).tolist()
    (3.0, [1.0, 0.0], [0.5, 0.5])
    >>> bool(gap < 1e-12)
    True
    """
    rows = as_points(points, "points")
    asked = np.asarray(query, dtype=np.float64)
    frame = common_frame(rows, as_points(np.atleast_2d(asked), "query"))
    threads = available_cores() if n_jobs is None else n_jobs
    weights, distance, lower = _core.nearest_in_hull(frame.first, frame.second, threads)
    nearest = weights @ rows
    result = Projection(frame.lengths(distance), nearest, weights, frame.lengths(distance - lower))
    return result if asked.ndim == 2 else Projection(*(part[0] for part in result))
