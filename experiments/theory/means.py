"""Means of gaps: over directions at one radius, and over trimmed levels.

The region that holds the share beta of a Gaussian distribution is its ellipsoid of radius r(beta),
with r(beta)^2 the chi-squared quantile of beta in d degrees of freedom. A mean over beta in
[0, 1-eps] is therefore a mean over r in [0, r(1-eps)] under the density of the chi distribution.

The ellipsoid of radius r of N(m, S) has the support function <u, m> + r sqrt(u'Su). So the L_q gap
at radius r is the norm, in L_q of the sphere, of <u, m1 - m2> + r (sqrt(u'S1u) - sqrt(u'S2u)),
divided by (E|u_1|^q)^(1/q). The first term is odd in u and the second even: the gap is a convex,
even function of r, and for q = 2 the two terms are orthogonal.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from isodepth.base.options import check_number
from isodepth.errors import InvalidOptionError
from isodepth.geometry.directions import mean_of_direction

Gap = Callable[[np.ndarray], np.ndarray]

# Relative tolerance of means over radii.
_TOLERANCE = 1e-9
# Number of angles on half a circle; with kinks in the integrand the error is about 1e-9.
_ANGLES = 1 << 15
# The trapezoidal rule over logarithms converges like exp(-20 / step).
_STEP = 0.55
_LEAST_LOG = -72.0


def check_p(p: Any) -> float:
    """Check that an exponent is in (0, inf], and return it."""
    return check_number(p, "p", 0.0, low_open=True)


def check_eps(eps: Any) -> float:
    """Check that a trimmed fraction is in (0, 1], and return it."""
    return check_number(eps, "eps", 0.0, 1.0, low_open=True)


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


def mean_gap(shift: np.ndarray, first: np.ndarray, second: np.ndarray, q: float) -> Gap:
    """Return the L_q gap as a function of the radius, see `power_mean_over_radii`.

    Parameters
    ----------
    shift : ndarray of shape (d,)
    first, second : ndarrays of shape (d, d), symmetric, positive semi-definite
    q : float in [1, inf)
        In more than two dimensions only q = 2.
    """
    if q == 2:
        constant, growth = float(shift @ shift), mean_square_of_shapes(first, second)
        return lambda radii: np.sqrt(constant + growth * radii**2)
    if len(shift) > 2:
        raise InvalidOptionError(
            f"with different covariances the distance is known for q=inf and q=2, and in one or "
            f"two dimensions for every q; got q={q:g} in {len(shift)} dimensions"
        )
    directions = circle(_ANGLES) if len(shift) == 2 else np.ones((1, 1))
    offsets, growths = directions @ shift, _difference(directions, first, second)
    unit = mean_of_direction(len(shift), q)

    def gap(radius: float) -> float:
        sizes = np.abs([offsets + radius * growths, offsets - radius * growths])
        largest = sizes.max()
        return largest * np.mean((sizes / largest) ** q) ** (1 / q) / unit if largest > 0 else 0.0

    return lambda radii: np.array([gap(radius) for radius in radii])


def mean_square_of_shapes(first: np.ndarray, second: np.ndarray) -> float:
    """Return d times the mean over the sphere of (sqrt(u'S1u) - sqrt(u'S2u))^2.

    Up to two dimensions the mean is a sum along the circle. In more dimensions, let a = u'S1u and b
    = u'S2u. d E sqrt(ab) equals E sqrt(ab) for a standard Gaussian vector in place of u, because
    both are squares of lengths, and |z|^2 has the mean d. a^(1/2) is the integral of a exp(-sa) /
    sqrt(pi s) over s > 0. With the same integral for b the inner mean is known, and two integrals
    of a smooth, positive function remain. The result is a difference of squares, with an error of
    about 1e-10 of the traces.
    """
    d = len(first)
    if d <= 2:
        directions = circle(_ANGLES) if d == 2 else np.ones((1, 1))
        return d * float(np.mean(_difference(directions, first, second) ** 2))
    largest = max(float(np.trace(first)), float(np.trace(second)))
    if largest == 0:
        return 0.0
    first, second = first / largest, second / largest
    square = float(np.trace(first) + np.trace(second)) - 2 * _mean_product(first, second)
    return largest * max(square, 0.0)


def circle(count: int) -> np.ndarray:
    """Return unit vectors (count, 2) at the midpoints of equal arcs of a half circle."""
    angles = (np.arange(count) + 0.5) * (math.pi / count)
    return np.column_stack([np.cos(angles), np.sin(angles)])


def _difference(directions: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return sqrt(u'S1u) - sqrt(u'S2u) for each row u, of shape (n,)."""
    squares = [
        np.einsum("ni,ij,nj->n", directions, matrix, directions).clip(min=0.0)
        for matrix in (first, second)
    ]
    change = np.einsum("ni,ij,nj->n", directions, first - second, directions)
    total = np.sqrt(squares[0]) + np.sqrt(squares[1])
    # The difference of the squares does not cancel if both almost agree.
    return np.divide(change, total, out=np.zeros_like(total), where=total > 0)


def _mean_product(first: np.ndarray, second: np.ndarray) -> float:
    """Return E sqrt(z'S1z z'S2z) for a standard Gaussian vector z.

    This is 1/pi times the integral of E[ab exp(-sa - tb)] / sqrt(st) over s, t > 0, where a = z'S1z
    and b = z'S2z. If C is the inverse of I + 2 s S1 + 2 t S2, the mean is det(C)^(1/2) (tr(S1 C)
    tr(S2 C) + 2 tr(S1 C S2 C)). The variables are log(s t) and log(t / s): for each ratio one
    decomposition makes all C diagonal.
    """
    logs = np.arange(_LEAST_LOG, -_LEAST_LOG + _STEP, _STEP)
    total = 0.0
    for log_ratio in logs:
        # s and t are exp(x -+ log_ratio / 2): their product does not depend on the ratio.
        half = math.exp(log_ratio / 2)
        values, axes = np.linalg.eigh(first / half + second * half)
        values = values.clip(min=0.0)
        a, b = axes.T @ first @ axes, axes.T @ second @ axes
        size = np.exp(logs)[:, None]
        shrunk = 1.0 / (1.0 + 2.0 * size * values)
        crossed = np.einsum("ni,ij,nj->n", shrunk, a * b, shrunk)
        means = (shrunk @ np.diag(a)) * (shrunk @ np.diag(b)) + 2.0 * crossed
        # ds dt / sqrt(st) = exp(x) dx d(log_ratio), the Jacobian of these logarithms being one.
        total += float(np.sum(means * np.exp(0.5 * np.log(shrunk).sum(axis=1) + logs)))
    return total * _STEP**2 / math.pi
