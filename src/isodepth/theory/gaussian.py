"""Two Gaussian laws: the gap of their regions and their distance, without sampling."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from isodepth.data.validation import check_number, check_points, check_same_width
from isodepth.errors import InvalidInputError
from isodepth.theory.ellipsoids import hausdorff, norm
from isodepth.theory.levels import check_eps, check_p, kept_mass
from isodepth.theory.means import mean_lines
from isodepth.theory.radii import power_mean_over_radii, radius_power_mean

# How far from symmetric or from positive semi-definite rounding may leave a covariance.
_COVARIANCE_ROUNDING = 1e-8


@dataclass(frozen=True, eq=False)
class GaussianPair:
    """Two checked Gaussian laws, in units of their own size.

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
        """Check means and covariances."""
        mean1, mean2 = _check_mean(m1, "m1"), _check_mean(m2, "m2")
        check_same_width(len(mean1), len(mean2), "m1", "m2")
        first, second = (_check_covariance(S, n, len(mean1)) for S, n in ((S1, "S1"), (S2, "S2")))
        shift = mean1 - mean2
        deviations = np.sqrt([np.abs(first).max(), np.abs(second).max()])
        unit = max(float(np.abs(shift).max()), float(deviations.max())) or 1.0
        return cls(shift / unit, first / unit / unit, second / unit / unit, unit)

    @property
    def d(self) -> int:
        """The dimension."""
        return len(self.shift)

    @property
    def distance_of_means(self) -> float:
        """|m1 - m2|."""
        return self.unit * norm(self.shift)

    def supporting_lines(self, radii: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Intercepts (n,) and slopes (n,) of the lines that touch the gap at each radius.

        Each is what one fixed direction makes of the gap as the radius varies.
        """
        gaps, directions = hausdorff(self.shift, self.first, self.second, radii)
        intercepts = np.abs(directions @ self.shift)
        slopes = np.divide(gaps - intercepts, radii, out=np.zeros_like(gaps), where=radii > 0)
        return intercepts, slopes

    def distance_of_shapes(self) -> float:
        """sup over unit u of |sqrt(u' S1 u) - sqrt(u' S2 u)|."""
        gaps, _ = hausdorff(np.zeros(self.d), self.first, self.second, np.ones(1))
        return self.unit * float(gaps[0])


def gaussian_gap(m1: Any, S1: Any, m2: Any, S2: Any, radius: float) -> tuple[float, np.ndarray]:
    """Hausdorff distance of the ellipsoids of one radius of two Gaussian laws, and its direction.

    The ellipsoid of radius r of N(m, S) has the support function <u, m> + r sqrt(u'Su), so the gap
    is the supremum over unit vectors u of ``|<u, m1 - m2> + r (sqrt(u'S1u) - sqrt(u'S2u))|``. That
    problem may have several local solutions; it is solved globally, see
    `isodepth.theory.ellipsoids`. As a function of r the gap is convex and does not decrease.

    Parameters
    ----------
    m1, m2 : array-like of shape (d,), or numbers when d = 1
    S1, S2 : array-like of shape (d, d), or variances when d = 1
        Covariances, possibly singular.
    radius : float >= 0
        The region that holds the share beta of the mass has radius sqrt(chi2.ppf(beta, d)).

    Returns
    -------
    gap : float
    direction : ndarray of shape (d,)
        A unit vector where it is attained.

    Examples
    --------
    >>> import numpy as np
    >>> from isodepth.theory import gaussian_gap
    >>> gap, direction = gaussian_gap([0, 0], np.diag([1, 4]), [0, 0], np.eye(2), radius=3.0)
    >>> round(gap, 12), np.abs(direction).round(6).tolist()
    (3.0, [0.0, 1.0])
    """
    pair = GaussianPair.of(m1, S1, m2, S2)
    radius = check_number(radius, "radius", 0.0, high_open=True)
    # Both bodies shrink or grow together, so only the shift counts in units of a large radius.
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
    q: float = math.inf,
) -> float:
    """Distance of the laws N(m1, S1) and N(m2, S2) themselves, for any affine-invariant depth.

    The regions of a Gaussian law are its ellipsoids, whatever the affine-invariant depth, and the
    one of mass beta has radius r(beta) = sqrt(chi2.ppf(beta, d)). The distance is the L_p mean of
    their gaps (see `gaussian_gap`) over beta in [0, 1-eps]. It is ``|m1 - m2|`` when S1 = S2.

    Parameters
    ----------
    m1, m2 : array-like of shape (d,), or numbers when d = 1
    S1, S2 : array-like of shape (d, d), or variances when d = 1
        Covariances. A singular one stands for the limit of regular ones: its regions are the flat
        ellipsoids of the same radii, so that the distance is continuous.
    p : float in (0, inf], default 2
    eps : float in (0, 1], default 0.1
    normalize : bool, default True
        Average over beta; False gives the plain integral.
    q : float in [1, inf], default inf
        Power of the mean over directions, as in :class:`isodepth.Metric`. A finite q other than 2
        needs equal covariances or at most two dimensions.

    Returns
    -------
    float
        With a relative error of about 1e-9; for a finite q and different covariances about 1e-9 of
        the standard deviations.

    Examples
    --------
    >>> from isodepth.theory import gaussian_distance
    >>> gaussian_distance([0, 0], [[2, 1], [1, 3]], [3, 4], [[2, 1], [1, 3]])
    5.0
    >>> round(gaussian_distance(0, 1, 1, 4, p=1, eps=0.05), 6)
    1.716836
    >>> round(gaussian_distance([0, 0, 0], [[1, 0, 0], [0, 4, 0], [0, 0, 9]], [1, 0, 0],
    ...                         [[4, 0, 0], [0, 4, 0], [0, 0, 4]], q=2), 6)
    1.696445
    """
    pair = GaussianPair.of(m1, S1, m2, S2)
    p, eps, q = check_p(p), check_eps(eps), check_number(q, "q", 1)
    kept = float(kept_mass(eps))
    if kept == 0 or np.array_equal(pair.first, pair.second):
        mean = pair.distance_of_means
    elif q < math.inf:
        lines = mean_lines(pair.shift, pair.first, pair.second, q)
        mean = pair.unit * power_mean_over_radii(lines, pair.d, eps, p)
    elif not pair.shift.any():
        mean = pair.distance_of_shapes() * radius_power_mean(pair.d, eps, p)
    else:
        mean = pair.unit * power_mean_over_radii(pair.supporting_lines, pair.d, eps, p)
    if normalize or kept == 0 or math.isinf(p):
        return mean
    return mean * kept ** (1 / p)


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
