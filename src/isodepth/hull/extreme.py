"""Which points span the hull, where that is cheap to know: at most three dimensions."""

from __future__ import annotations

import numpy as np

#: Beyond this, facets are too many to be worth it.
MAX_DIMENSION = 3
_FEW = 12
_FLAT = 8 * float(np.finfo(np.float64).eps)


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
    >>> from isodepth.hull.extreme import extreme_rows
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
    centerd = points - points[0]
    if points.shape[1] > 1:
        centerd = centerd @ np.linalg.svd(centerd, full_matrices=False)[2].T
    widths = np.ptp(centerd, axis=0)
    wide = widths > _FLAT * widths.max()
    return centerd[:, wide] / widths[wide]
