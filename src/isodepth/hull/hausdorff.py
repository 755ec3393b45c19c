"""The Hausdorff distance between two convex hulls."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from isodepth.hull.levels import level_bounds
from isodepth.hull.nested import nested_pair


class HullGap(NamedTuple):
    """How far apart two hulls are, and where.

    Attributes
    ----------
    distance : float
    direction : ndarray of shape (d,)
        Unit vector u with ``|h_first(u) - h_second(u)| == distance``; any if that is 0.
    from_first : bool
        Whether the first hull is the one that reaches further along it.
    """

    distance: float
    direction: np.ndarray
    from_first: bool


def hausdorff(first: ArrayLike, second: ArrayLike) -> HullGap:
    """Compute the Hausdorff distance between the convex hulls of two sets of points.

    It is the largest distance from a point of one set to the hull of the other, and the supremum
    of ``|h_first(u) - h_second(u)|`` over unit vectors u, h the support function of a hull.

    Parameters
    ----------
    first, second : array-like of shape (n, d) and (m, d)

    Returns
    -------
    HullGap

    Examples
    --------
    >>> from isodepth.hull import hausdorff
    >>> square = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    >>> gap = hausdorff(square, [[0.5, 0.5], [0.5, 3.0]])
    >>> round(gap.distance, 12), abs(gap.direction.round(12)).tolist(), gap.from_first
    (2.0, [0.0, 1.0], False)
    """
    from isodepth.hull.nearest_loops import EXACT

    pair = nested_pair(first, second, [np.shape(first)[0]], [np.shape(second)[0]])
    bounds = level_bounds(pair, EXACT)
    return HullGap(float(bounds.lower[0]), bounds.directions[0], bool(bounds.from_first[0]))
