"""Distributions of the samples, and distances between the distributions."""

from __future__ import annotations

import numpy as np

from isodepth.theory import gaussian_gap

#: Degrees of freedom of the elliptical Student distributions; the Gaussian is the limit.
DEGREES = {"cauchy": 1.0, "t2": 2.0, "gaussian": np.inf}
#: Share of outliers in the contaminated samples of the figures.
SHARE = 0.1
_ROOT = np.array([[1.0, 0.0], [0.8, 0.6]])


def elliptical(
    distribution: str, n: int, d: int, rng: np.random.Generator, root: np.ndarray | None = None
) -> np.ndarray:
    """Return a sample (n, d) of an elliptical distribution centered at 0.

    Parameters
    ----------
    distribution : a name in `DEGREES`
    root : ndarray of shape (d, d) or None
        The scatter matrix is root root'; None for the identity.
    """
    points = rng.standard_normal((n, d))
    degrees = DEGREES[distribution]
    if np.isfinite(degrees):
        # One divisor per point makes the distribution elliptical instead of a product.
        points /= np.sqrt(rng.chisquare(degrees, (n, 1)) / degrees)
    return points if root is None else points @ root.T


def radius(distribution: str, d: int, mass: np.ndarray) -> np.ndarray:
    """Return the radius of the ball with the given mass under the spherical distribution."""
    from scipy import stats

    if distribution == "gaussian":
        return np.sqrt(stats.chi2.ppf(mass, d))
    return np.sqrt(d * stats.f.ppf(mass, d, DEGREES[distribution]))


def distance_of_distributions(
    first: str,
    second: str,
    shift: np.ndarray,
    *,
    p: float,
    eps: float,
    scatter: np.ndarray | None = None,
    levels: int = 400,
) -> float:
    """Return DR_{p,eps} of elliptical distributions with one scatter matrix, shifted by `shift`.

    Their regions are ellipsoids of one shape whose radii differ by delta(beta). The gap is
    therefore the maximum of <u, shift> + |delta| sqrt(u' scatter u). It is integrated on a midpoint
    grid of levels.
    """
    betas = (np.arange(levels) + 0.5) * (1 - eps) / levels
    d = len(shift)
    delta = np.abs(radius(first, d, betas) - radius(second, d, betas))
    if scatter is None:
        gaps = np.linalg.norm(shift) + delta
    else:
        nothing = np.zeros((d, d)), np.zeros(d)
        gaps = np.array([gaussian_gap(shift, scatter, *nothing[::-1], r)[0] for r in delta])
    return float(np.mean(gaps**p) ** (1 / p))


def correlated_sample(
    n: int, rng: np.random.Generator, center: tuple[float, float] = (0.0, 0.0)
) -> tuple[np.ndarray, np.ndarray]:
    """Return n points of which a tenth are a cluster of outliers, and the mask (n,) of outliers.

    The other points are Gaussian with correlation 0.8. The cluster is on their minor axis.
    """
    points = rng.standard_normal((n, 2)) @ _ROOT.T
    wrong = np.arange(n) >= n - round(SHARE * n)
    points[wrong] = 0.4 * rng.standard_normal((wrong.sum(), 2)) + [4.0, -4.0]
    return points + center, wrong
