"""Distance in one dimension, as a formula in the order statistics."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from isodepth.errors import InvalidInputError
from isodepth.table.validation import check_points
from isodepth.theory.radii import check_eps, check_p, kept_mass


def univariate_distance(
    x: Any, y: Any, p: float = 2, eps: float = 0.1, normalize: bool = True
) -> float:
    r"""Return the distance of two univariate samples with the halfspace depth, from sorted values.

    In one dimension the set {D >= k/n} of a sample is the interval [x_(k), x_(n+1-k)] between two
    order statistics. The gap of two regions is therefore the maximum of the gaps at their two ends.
    Without ties, the region of level beta has k = ceil(n (1 - beta) / 2). Its ends are the
    empirical quantiles of q = (1 - beta)/2 and 1 - q, and the distance is the formula of the paper,

    .. math::

        DR^p = \frac{2}{1-\varepsilon} \int_{\varepsilon/2}^{1/2} \max\{
        |F_x^{-1}(q) - F_y^{-1}(q)|, |F_x^{-1}(1-q) - F_y^{-1}(1-q)| \}^p \, dq,

    exactly, for any two sizes. With ties a region may contain more mass. The interval is then the
    smallest interval with mass > beta, as everywhere in isodepth.

    Parameters
    ----------
    x, y : array-like of shape (n,) and (m,), or (n, 1) and (m, 1)
    p : float in (0, inf], default 2
    eps : float in (0, 1], default 0.1
        Trimmed fraction; 1 gives the gap of the innermost regions.
    normalize : bool, default True
        Average over beta; False gives the integral.

    Returns
    -------
    distance : float

    Notes
    -----
    The paper adds that for eps -> 0 this is the Wasserstein distance if both distributions are
    symmetric. They must also have the same center. For example, N(0, 1) and N(3, 4) are symmetric.
    The distances between their quantiles of q and 1 - q are 3 - z and 3 + z, whose maximum is not
    their mean.

    Examples
    --------
    >>> from experiments.theory import univariate_distance
    >>> univariate_distance([0, 1, 2, 3], [5, 6, 7, 8])
    5.0
    >>> univariate_distance([0, 1, 2, 3], [0, 1, 2, 300], eps=0.5)
    0.0
    """
    p, eps = check_p(p), check_eps(eps)
    regions_x, regions_y = _Intervals(_sorted(x, "x")), _Intervals(_sorted(y, "y"))
    top = float(kept_mass(eps))
    inner = np.union1d(regions_x.masses, regions_y.masses)
    edges = np.concatenate([[0.0], inner[inner < top], [top]])
    low_x, high_x = regions_x.at(edges[:-1])
    low_y, high_y = regions_y.at(edges[:-1])
    gaps = np.maximum(np.abs(low_x - low_y), np.abs(high_x - high_y))
    largest = float(gaps.max())
    if largest == 0 or math.isinf(p) or top == 0:
        return largest
    mean = math.fsum(np.diff(edges) * (gaps / largest) ** p) / top
    return largest * mean ** (1 / p) * (1.0 if normalize else top ** (1 / p))


class _Intervals:
    """Nested intervals {D >= k/n} of a sorted sample, from the innermost outwards."""

    def __init__(self, values: np.ndarray) -> None:
        n = len(values)
        # With ties in the middle the depth exceeds 1/2, so k may run to n.
        low, high = values[::-1], values
        filled = low <= high
        self.low, self.high = low[filled], high[filled]
        counts = np.searchsorted(values, self.high, "right") - np.searchsorted(values, self.low)
        self.masses = counts / n

    def at(self, betas: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends of the smallest interval of mass > beta, for each of `betas`."""
        first = np.searchsorted(self.masses, betas, "right")
        return self.low[first], self.high[first]


def _sorted(values: Any, name: str) -> np.ndarray:
    array = np.asarray(values)
    column = array.reshape(-1, 1) if array.ndim == 1 else array
    points, _ = check_points(column, name, "float64")
    if points.shape[1] != 1:
        raise InvalidInputError(
            f"{name} must be numbers on a line, got {points.shape[1]} columns; use "
            "isodepth.distance for samples in more dimensions"
        )
    return np.sort(points[:, 0])
