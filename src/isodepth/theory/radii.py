"""Averages over the radius of a standard Gaussian vector, cut off at a share of its mass.

The region that holds the share beta of a Gaussian law is its ellipsoid of radius r(beta), with
r(beta)^2 the chi-squared quantile of beta in d degrees of freedom. A mean over beta in [0, 1-eps]
is therefore a mean over r in [0, r(1-eps)] under the density of the chi law.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

Lines = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]

_TOLERANCE = 1e-9
_MAX_ROUNDS = 60


def radius_of_mass(d: int, eps: float) -> float:
    """r with P(|Z| <= r) = 1 - eps for a standard Gaussian vector Z in R^d."""
    from scipy.special import gammainccinv, gammaincinv

    half_square = gammaincinv(d / 2, 1.0 - eps) if eps > 0.5 else gammainccinv(d / 2, eps)
    return math.sqrt(2.0 * float(half_square))


def radius_power_mean(d: int, eps: float, p: float) -> float:
    """(E[|Z|^p given |Z| <= r(1-eps)])^(1/p), in closed form.

    Written with Kummer's function, sum of x^k / (b)_k, whose terms are all positive: nothing
    cancels, and nothing underflows for large p.
    """
    from scipy.special import hyp1f1

    if math.isinf(p) or eps == 1:
        return radius_of_mass(d, eps)
    # Less mass than this is never seen, but Kummer's function would overflow.
    radius = radius_of_mass(d, max(eps, 1e-290))
    x = radius**2 / 2
    ratio = hyp1f1(1.0, (d + p) / 2 + 1, x) / hyp1f1(1.0, d / 2 + 1, x)
    return radius * float(d / (d + p) * ratio) ** (1 / p)


def power_mean_over_radii(lines: Lines, d: int, eps: float, p: float) -> float:
    """(E[gap(|Z|)^p given |Z| <= r(1-eps)])^(1/p), to about 1e-9.

    Parameters
    ----------
    lines : function of radii (n,) to intercepts (n,) and slopes (n,)
        The lines that support the gap, a convex, positive function that does not decrease and may
        have kinks: gap(r) = intercept + r * slope, and the line lies below the gap elsewhere.
    d : int
    eps : float in (0, 1]
    p : float in (0, inf]
    """
    radius = radius_of_mass(d, eps)
    intercept, slope = (float(part[0]) for part in lines(np.array([radius])))
    largest = intercept + radius * slope
    if math.isinf(p) or radius == 0:
        return largest
    log_scale = _log_density_scale(d, eps)

    def integrand(r: np.ndarray, gaps: np.ndarray) -> np.ndarray:
        powers = p * np.log(gaps / largest)
        density = np.exp(log_scale + (d - 1) * np.log(r) - r**2 / 2)
        # For small p the mean is close to 1 and its logarithm is what counts.
        return density * (np.expm1(powers) if p < 1 else np.exp(powers))

    # Panels that hold the mass in low and high dimension, and the peak at the end for large p.
    inner = [radius_of_mass(d, 1.0 - share * (1.0 - eps)) for share in (0.01, 0.3, 0.8)]
    if slope * radius * p > 20 * largest:
        inner.append(radius - 20 * largest / (slope * p))
    edges = np.unique([0.0, *inner, radius])
    if p < 1:
        mean = _integrate(integrand, lines, edges, lambda total: _TOLERANCE * p * (1.0 + total))
        return largest * math.exp(math.log1p(mean) / p)
    mean = _integrate(integrand, lines, edges, lambda total: _TOLERANCE * p * total)
    return largest * mean ** (1 / p)


def _log_density_scale(d: int, eps: float) -> float:
    from scipy.special import gammaln

    return (1 - d / 2) * math.log(2.0) - float(gammaln(d / 2)) - math.log1p(-eps)


def _integrate(
    integrand: Callable[[np.ndarray, np.ndarray], np.ndarray],
    lines: Lines,
    edges: np.ndarray,
    tolerance: Callable[[float], float],
) -> float:
    """Adaptive Gauss-Kronrod: the panels that are not yet good enough are split, all at once."""
    low, high = edges[:-1], edges[1:]
    done, done_error = 0.0, 0.0
    for _ in range(_MAX_ROUNDS):
        half = (high - low) / 2
        nodes = (low + high)[:, None] / 2 + half[:, None] * _NODES
        intercepts, slopes = (part.reshape(nodes.shape) for part in lines(nodes.ravel()))
        values = integrand(nodes, intercepts + nodes * slopes)
        fine = half * (values @ _KRONROD)
        errors = np.abs(fine - half * (values[:, 1::2] @ _GAUSS))
        total = done + float(fine.sum())
        allowed = tolerance(total) - done_error
        if errors.sum() <= allowed:
            break
        # Only the worst panels are split; the others may use up half of the error that is left.
        order = np.argsort(errors)
        good = order[np.cumsum(errors[order]) <= allowed / 2]
        done += float(fine[good].sum())
        done_error += float(errors[good].sum())
        bad = np.setdiff1d(order, good)
        cuts = _cuts(low[bad], high[bad], intercepts[bad], slopes[bad])
        low, high = np.concatenate([low[bad], cuts]), np.concatenate([cuts, high[bad]])
    return total


def _cuts(
    low: np.ndarray, high: np.ndarray, intercepts: np.ndarray, slopes: np.ndarray
) -> np.ndarray:
    """Where the lines that support the gap at the two ends of a panel meet.

    That is near the middle if the gap is smooth, and near the kink if it has one.
    """
    rise = slopes[:, -1] - slopes[:, 0]
    bent = rise > 1e-12 * slopes[:, -1]
    middle = (low + high) / 2
    meet = np.divide(intercepts[:, 0] - intercepts[:, -1], rise, out=middle.copy(), where=bent)
    margin = 1e-3 * (high - low)
    return np.clip(meet, low + margin, high - margin)


# The 15-point Kronrod rule; every second node is one of the 7-point Gauss rule.
_POSITIVE_NODES = [
    0.991455371120812639206854697526329,
    0.949107912342758524526189684047851,
    0.864864423359769072789712788640926,
    0.741531185599394439863864773280788,
    0.586087235467691130294144691693013,
    0.405845151377397166906606412076961,
    0.207784955007898467600689403773245,
]
_POSITIVE_KRONROD = [
    0.022935322010529224963732008058970,
    0.063092092629978553290700663189204,
    0.104790010322250183839876322541518,
    0.140653259715525918745189590510238,
    0.169004726639267902826583426598550,
    0.190350578064785409913256402421014,
    0.204432940075298892414161999234649,
]
_POSITIVE_GAUSS = [
    0.129484966168869693270611432679082,
    0.279705391489276667901467771423780,
    0.381830050505118944950369775488975,
]
_NODES = np.array([-x for x in _POSITIVE_NODES] + [0.0] + _POSITIVE_NODES[::-1])
_KRONROD = np.array(
    _POSITIVE_KRONROD + [0.209482141084727828012999174891714] + _POSITIVE_KRONROD[::-1]
)
_GAUSS = np.array(_POSITIVE_GAUSS + [0.417959183673469387755102040816327] + _POSITIVE_GAUSS[::-1])
