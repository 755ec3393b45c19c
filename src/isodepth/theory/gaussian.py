"""Gaps, distance and bounds of two Gaussian distributions, without sampling."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from isodepth.base.options import Number
from isodepth.errors import InvalidInputError
from isodepth.table.validation import check_points, check_same_width
from isodepth.theory.ellipsoids import hausdorff, norm
from isodepth.theory.radii import (
    check_eps,
    check_p,
    kept_mass,
    power_mean_over_radii,
    radius_power_mean,
)

# Tolerance of the checks that a covariance is symmetric and positive semi-definite.
_COVARIANCE_ROUNDING = 1e-8


@dataclass(frozen=True, eq=False)
class GaussianPair:
    """Two validated Gaussian distributions, scaled to unit size.

    Attributes
    ----------
    shift : ndarray of shape (d,)
        (m1 - m2) / unit.
    first, second : ndarrays of shape (d, d)
        S1 / unit^2 and S2 / unit^2.
    unit : float
        The largest entry of the shift and of the standard deviations.
    """

    shift: np.ndarray
    first: np.ndarray
    second: np.ndarray
    unit: float

    @classmethod
    def of(cls, m1: Any, S1: Any, m2: Any, S2: Any) -> GaussianPair:
        """Return the pair of two distributions, after checks of means and covariances."""
        mean1, mean2 = _check_mean(m1, "m1"), _check_mean(m2, "m2")
        check_same_width(len(mean1), len(mean2), "m1", "m2")
        first, second = (_check_covariance(S, n, len(mean1)) for S, n in ((S1, "S1"), (S2, "S2")))
        shift = mean1 - mean2
        deviations = np.sqrt([np.abs(first).max(), np.abs(second).max()])
        unit = max(float(np.abs(shift).max()), float(deviations.max())) or 1.0
        return cls(shift / unit, first / unit / unit, second / unit / unit, unit)

    @property
    def d(self) -> int:
        """Dimension."""
        return len(self.shift)

    @property
    def distance_of_means(self) -> float:
        """|m1 - m2|."""
        return self.unit * norm(self.shift)

    def gaps(self, radii: np.ndarray) -> np.ndarray:
        """Return the Hausdorff distances of the ellipsoids of each of `radii` (n,), in units."""
        return hausdorff(self.shift, self.first, self.second, radii)[0]

    def distance_of_shapes(self) -> float:
        """Supremum over unit vectors u of |sqrt(u' S1 u) - sqrt(u' S2 u)|."""
        gaps, _ = hausdorff(np.zeros(self.d), self.first, self.second, np.ones(1))
        return self.unit * float(gaps[0])


def gaussian_gap(m1: Any, S1: Any, m2: Any, S2: Any, radius: float) -> tuple[float, np.ndarray]:
    """Return the Hausdorff distance of the ellipsoids of one radius of two Gaussians.

    The ellipsoid of radius r of N(m, S) has the support function <u, m> + r sqrt(u'Su). The gap is
    therefore the supremum over unit vectors u of ``|<u, m1 - m2> + r (sqrt(u'S1u) -
    sqrt(u'S2u))|``. This problem may have several local solutions. It is solved globally, see
    the module `ellipsoids`. As a function of r the gap is convex and does not decrease.

    Parameters
    ----------
    m1, m2 : array-like of shape (d,), or numbers if d = 1
    S1, S2 : array-like of shape (d, d), or variances if d = 1
        Covariances, possibly singular.
    radius : float >= 0
        The region that contains the fraction beta of the mass has radius sqrt(chi2.ppf(beta, d)).

    Returns
    -------
    gap : float
    direction : ndarray of shape (d,)
        Unit vector that attains the supremum.

    Examples
    --------
    >>> import numpy as np
    >>> from isodepth.theory import gaussian_gap
    >>> gap, direction = gaussian_gap([0, 0], np.diag([1, 4]), [0, 0], np.eye(2), radius=3.0)
    >>> round(gap, 12), np.abs(direction).round(6).tolist()
    (3.0, [0.0, 1.0])
    """
    pair = GaussianPair.of(m1, S1, m2, S2)
    radius = Number(0.0, high_open=True).check("radius", radius)
    # Both bodies scale with the radius, so for a large radius only the shift matters.
    scale = max(radius, 1.0)
    gaps, directions = hausdorff(
        pair.shift / scale, pair.first, pair.second, np.array([radius / scale])
    )
    return pair.unit * scale * float(gaps[0]), directions[0]


def gaussian_distance(
    m1: Any,
    S1: Any,
    m2: Any,
    S2: Any,
    p: float = 2,
    eps: float = 0.1,
    normalize: bool = True,
) -> float:
    """Return the distance of N(m1, S1) and N(m2, S2), for any affine-invariant depth.

    For every affine-invariant depth, the regions of a Gaussian distribution are its ellipsoids. The
    region of mass beta has the radius r(beta) = sqrt(chi2.ppf(beta, d)). The distance is the L_p
    mean of the gaps (see `gaussian_gap`) over beta in [0, 1-eps]. It is ``|m1 - m2|`` if S1 = S2.

    Parameters
    ----------
    m1, m2 : array-like of shape (d,), or numbers if d = 1
    S1, S2 : array-like of shape (d, d), or variances if d = 1
        Covariances. A singular covariance is the limit of regular covariances: its regions are the
        flat ellipsoids of the same radii, so that the distance is continuous.
    p : float in (0, inf], default 2
    eps : float in (0, 1], default 0.1
    normalize : bool, default True
        Average over beta; False gives the integral.

    Returns
    -------
    distance : float
        The relative error is about 1e-9.

    Examples
    --------
    >>> from isodepth.theory import gaussian_distance
    >>> gaussian_distance([0, 0], [[2, 1], [1, 3]], [3, 4], [[2, 1], [1, 3]])
    5.0
    >>> round(gaussian_distance(0, 1, 1, 4, p=1, eps=0.05), 6)
    1.716836
    """
    pair = GaussianPair.of(m1, S1, m2, S2)
    p, eps = check_p(p), check_eps(eps)
    kept = float(kept_mass(eps))
    if kept == 0 or np.array_equal(pair.first, pair.second):
        mean = pair.distance_of_means
    elif not pair.shift.any():
        mean = pair.distance_of_shapes() * radius_power_mean(pair.d, eps, p)
    else:
        mean = pair.unit * power_mean_over_radii(pair.gaps, pair.d, eps, p)
    if normalize or kept == 0 or math.isinf(p):
        return mean
    return mean * kept ** (1 / p)


def gaussian_bounds(
    m1: Any, S1: Any, m2: Any, S2: Any, eps: float = 0.1, sharp: bool = False
) -> tuple[float, float]:
    """Return bounds of DR_{1,eps} for two Gaussians, from their means and the gap of their shapes.

    The paper shows that DR_{1,eps} differs from ``|m1 - m2|`` by at most C_eps times the supremum
    over unit vectors u of ``|c(u)|``, where ``c(u) = sqrt(u'S1u) - sqrt(u'S2u)``.

    Parameters
    ----------
    m1, m2 : array-like of shape (d,), or numbers if d = 1
    S1, S2 : array-like of shape (d, d), or variances if d = 1
    eps : float in (0, 1], default 0.1
    sharp : bool, default False
        Use the symmetry of Gaussian regions, which gives a larger lower bound.

    Returns
    -------
    lower, upper : float
        A negative lower bound of the paper is replaced with 0.

    Notes
    -----
    The constant is an integral of Phi^{-1}(1 - alpha(beta)). The halfspace depth at the radius r of
    a Gaussian in R^d is Phi(-r), so the integrand is r(beta) = sqrt(chi2.ppf(beta, d)). It
    increases with d, and is Phi^{-1}((1+beta)/2) only for d = 1. Like the distance, it must be
    averaged: C_eps is 1/(1-eps) times the integral over [0, 1-eps], which is the mean of r. The
    paper prints integrals without 1/(1-eps), for which the statement does not hold: with equal
    covariances they give the distance ``(1-eps) |m1 - m2|`` instead of ``|m1 - m2|``.

    With `sharp`: both u and -u are used, and c is even, so the supremum of ``|<u, m1-m2> + r
    c(u)|`` is that of ``|<u, m1-m2>| + r |c(u)|``. The distance is therefore at least ``|m1 -
    m2|``, and at least C_eps times the supremum of ``|c|``. The lower bound is the maximum of these
    two.

    Examples
    --------
    >>> from isodepth.theory import gaussian_bounds, gaussian_distance
    >>> pair = [0, 0], [[1, 0], [0, 2]], [5, 0], [[4, 0], [0, 1]]
    >>> lower, upper = gaussian_bounds(*pair)
    >>> lower <= gaussian_distance(*pair, p=1) <= upper
    True
    """
    pair = GaussianPair.of(m1, S1, m2, S2)
    spread = radius_power_mean(pair.d, check_eps(eps), 1.0) * pair.distance_of_shapes()
    middle = pair.distance_of_means
    lower = max(middle, spread) if sharp else max(middle - spread, 0.0)
    return lower, middle + spread


def translation_bounds(
    centered_2: float, centered_1: float, shift: float, symmetric: bool = False
) -> tuple[float, float]:
    """Return bounds of DR_{2,eps}^2, from the distances of the centered distributions.

    Let mu* and nu* be mu and nu translated by -m1 and -m2. The paper shows that DR_2(mu, nu)^2
    differs from ``DR_2(mu*, nu*)^2 + |m1 - m2|^2`` by at most ``2 DR_1(mu*, nu*) |m1 - m2|``.

    Parameters
    ----------
    centered_2 : float >= 0
        DR_{2,eps}(mu*, nu*).
    centered_1 : float >= 0
        DR_{1,eps}(mu*, nu*), with the same depth and eps; at most `centered_2`.
    shift : float >= 0
        ``|m1 - m2|``.
    symmetric : bool, default False
        Whether mu* and nu* are both symmetric about 0. The distance is then at least `shift` and at
        least `centered_2`, which gives a larger lower bound.

    Returns
    -------
    lower, upper : float
        Bounds of the *square* of DR_{2,eps}(mu, nu).

    Notes
    -----
    The statement holds for every depth whose regions are translated with the data, not only for the
    halfspace depth. m1 and m2 may be any two points, not only the means. The distances must be
    averages over beta (``normalize=True``). Without the factor 1/(1-eps), the paper's statement
    needs ``(1-eps) |m1 - m2|^2`` in place of ``|m1 - m2|^2``.

    Examples
    --------
    >>> from isodepth.theory import translation_bounds
    >>> translation_bounds(centered_2=2.0, centered_1=1.5, shift=3.0)
    (4.0, 22.0)
    """
    centered_2 = Number(0.0, high_open=True).check("centered_2", centered_2)
    centered_1 = Number(0.0, high_open=True).check("centered_1", centered_1)
    shift = Number(0.0, high_open=True).check("shift", shift)
    middle = centered_2**2 + shift**2
    width = 2 * centered_1 * shift
    lower = max(centered_2, shift) ** 2 if symmetric else max(middle - width, 0.0)
    return lower, middle + width


def _check_mean(mean: Any, name: str) -> np.ndarray:
    array = np.asarray(mean)
    if array.ndim > 1:
        raise InvalidInputError(
            f"{name} must be one mean vector of shape (d,), got shape {array.shape}"
        )
    return check_points(np.atleast_2d(array), name, "float64")[0][0]


def _check_covariance(covariance: Any, name: str, d: int) -> np.ndarray:
    array = np.asarray(covariance)
    matrix, _ = check_points(array.reshape(1, 1) if array.ndim == 0 else array, name, "float64")
    if matrix.shape != (d, d):
        raise InvalidInputError(
            f"{name} must be a covariance matrix of shape ({d}, {d}) to go with means of length "
            f"{d}, got shape {matrix.shape}"
        )
    size = float(np.abs(matrix).max())
    if size == 0:
        return matrix
    scaled = matrix / size
    if np.abs(scaled - scaled.T).max() > _COVARIANCE_ROUNDING:
        raise InvalidInputError(
            f"{name} must be symmetric, but differs from its transpose by up to "
            f"{np.abs(matrix - matrix.T).max():g}"
        )
    symmetric = (scaled + scaled.T) / 2
    smallest = float(np.linalg.eigvalsh(symmetric)[0])
    if smallest < -_COVARIANCE_ROUNDING:
        raise InvalidInputError(
            f"{name} must be positive semi-definite, but has the eigenvalue {smallest * size:g}"
        )
    return symmetric * size
