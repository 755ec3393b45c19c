"""Means over trimmed levels of gaps between Gaussian distributions.

The region that holds the share beta of a Gaussian distribution is its ellipsoid of radius r(beta),
with r(beta)^2 the chi-squared quantile of beta in d degrees of freedom. A mean over beta in
[0, 1-eps] is therefore a mean over r in [0, r(1-eps)] under the density of the chi distribution.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from isodepth.base.options import Number

# Relative tolerance of means over radii.
_TOLERANCE = 1e-9


def check_p(p: Any) -> float:
    """Check that an exponent is in (0, inf], and return it."""
    return Number(0.0, low_open=True).check("p", p)


def check_eps(eps: Any) -> float:
    """Check that a trimmed fraction is in (0, 1], and return it."""
    return Number(0.0, 1.0, low_open=True).check("eps", eps)


def kept_mass(eps: float) -> Fraction:
    """Return 1 - eps as an exact fraction, such as 3/10 for eps = 0.7."""
    return 1 - Fraction(repr(eps))


def radius_of_mass(d: int, eps: float) -> float:
    """Return r with P(|Z| <= r) = 1 - eps for a standard Gaussian vector Z in R^d."""
    from scipy.special import gammainccinv, gammaincinv

    half_square = gammaincinv(d / 2, 1.0 - eps) if eps > 0.5 else gammainccinv(d / 2, eps)
    return math.sqrt(2.0 * float(half_square))


def radius_power_mean(d: int, eps: float, p: float) -> float:
    """Return (E[|Z|^p given |Z| <= r(1-eps)])^(1/p), in closed form.

    The form is Kummer's function, the sum of x^k / (b)_k, whose terms are all positive: there is no
    cancellation, and no underflow for large p.
    """
    from scipy.special import hyp1f1

    if math.isinf(p) or eps == 1:
        return radius_of_mass(d, eps)
    # Kummer's function would overflow for smaller masses, which do not occur in practice.
    radius = radius_of_mass(d, max(eps, 1e-290))
    x = radius**2 / 2
    ratio = hyp1f1(1.0, (d + p) / 2 + 1, x) / hyp1f1(1.0, d / 2 + 1, x)
    return radius * float(d / (d + p) * ratio) ** (1 / p)


def power_mean_over_radii(
    gap: Callable[[np.ndarray], np.ndarray], d: int, eps: float, p: float
) -> float:
    """Return (E[gap(|Z|)^p given |Z| <= r(1-eps)])^(1/p), with an error of about 1e-9.

    Parameters
    ----------
    gap : function of radii (n,) to gaps (n,)
        Convex, positive and non-decreasing; may have kinks.
    d : int
    eps : float in (0, 1]
    p : float in (0, inf]
    """
    from scipy.integrate import cubature
    from scipy.special import gammaln

    radius = radius_of_mass(d, eps)
    largest, before = gap(radius * np.array([1.0, 1.0 - 1e-3])).tolist()
    if math.isinf(p) or radius == 0:
        return largest
    log_scale = (1 - d / 2) * math.log(2.0) - float(gammaln(d / 2)) - math.log1p(-eps)

    def integrand(nodes: np.ndarray) -> np.ndarray:
        r = nodes[:, 0]
        powers = p * np.log(gap(r) / largest)
        density = np.exp(log_scale + (d - 1) * np.log(r) - r**2 / 2)
        # For small p the mean is close to 1, so its logarithm is used.
        return density * (np.expm1(powers) if p < 1 else np.exp(powers))

    # Panels that cover the mass in low and high dimension, and the peak at the end for large p.
    edges = [radius_of_mass(d, 1.0 - share * (1.0 - eps)) for share in (0.01, 0.3, 0.8)]
    decay = 1e3 * p * (1.0 - before / largest)
    if decay > 20:
        edges.append(radius * (1.0 - 20 / decay))
    tolerance = _TOLERANCE * max(p, 1.0)
    integral = cubature(
        integrand, [0.0], [radius], rule="gk15", rtol=tolerance, atol=0.0,
        points=[[edge] for edge in edges],
    )  # fmt: skip
    mean = float(integral.estimate)
    return largest * (math.exp(math.log1p(mean) / p) if p < 1 else mean ** (1 / p))
