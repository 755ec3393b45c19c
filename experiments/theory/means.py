"""Distance of Gaussian distributions with means of gaps over directions.

The ellipsoid of radius r of N(m, S) has the support function <u, m> + r sqrt(u'Su). So the L_q gap
at radius r is the norm, in L_q of the sphere, of <u, m1 - m2> + r (sqrt(u'S1u) - sqrt(u'S2u)),
divided by (E|u_1|^q)^(1/q). The first term is odd in u and the second even: the gap is a convex,
even function of r, and for q = 2 the two terms are orthogonal.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from isodepth.base.options import Number
from isodepth.errors import InvalidOptionError
from isodepth.geometry.directions import mean_of_direction
from isodepth.theory.gaussian import GaussianPair, gaussian_distance
from isodepth.theory.radii import check_eps, check_p, power_mean_over_radii

Gap = Callable[[np.ndarray], np.ndarray]

# Number of angles on half a circle; with kinks in the integrand the error is about 1e-9.
_ANGLES = 1 << 15
# The trapezoidal rule over logarithms converges like exp(-20 / step).
_STEP = 0.55
_LEAST_LOG = -72.0


def gaussian_mean_distance(
    m1: Any, S1: Any, m2: Any, S2: Any, q: float, p: float = 2, eps: float = 0.1
) -> float:
    """Return the distance of N(m1, S1) and N(m2, S2) with a mean of order q over directions.

    A finite q other than 2 needs equal covariances or at most two dimensions. The error is about
    1e-9 of the standard deviations. For q = inf see `isodepth.theory.gaussian_distance`, which
    describes the other parameters.
    """
    pair = GaussianPair.of(m1, S1, m2, S2)
    p, eps, q = check_p(p), check_eps(eps), Number(1).check("q", q)
    if math.isinf(q) or eps == 1 or np.array_equal(pair.first, pair.second):
        return gaussian_distance(m1, S1, m2, S2, p, eps)
    gap = mean_gap(pair.shift, pair.first, pair.second, q)
    return pair.unit * power_mean_over_radii(gap, pair.d, eps, p)


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
