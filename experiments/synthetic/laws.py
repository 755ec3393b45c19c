"""The laws that samples are drawn from, and distances between the laws themselves."""

from __future__ import annotations

import numpy as np

from isodepth.theory import gaussian_gap

#: Degrees of freedom of the elliptical Student laws; the Gaussian is the limit.
DEGREES = {"cauchy": 1.0, "t2": 2.0, "gaussian": np.inf}


def elliptical(
    law: str, n: int, d: int, rng: np.random.Generator, root: np.ndarray | None = None
) -> np.ndarray:
    """A sample (n, d) of an elliptically symmetric law about 0.

    Parameters
    ----------
    law : a name in `DEGREES`
    root : ndarray of shape (d, d) or None
        The scatter matrix is root root'; None for the identity.
    """
    points = rng.standard_normal((n, d))
    degrees = DEGREES[law]
    if np.isfinite(degrees):
        # One divisor for all coordinates of a point: the law is elliptical, not a product.
        points /= np.sqrt(rng.chisquare(degrees, (n, 1)) / degrees)
    return points if root is None else points @ root.T


def radius(law: str, d: int, mass: np.ndarray) -> np.ndarray:
    """The radius of the ball that holds that mass of the spherical law."""
    from scipy import stats

    if law == "gaussian":
        return np.sqrt(stats.chi2.ppf(mass, d))
    return np.sqrt(d * stats.f.ppf(mass, d, DEGREES[law]))


def distance_of_laws(
    law_x: str,
    law_y: str,
    shift: np.ndarray,
    *,
    p: float,
    eps: float,
    scatter: np.ndarray | None = None,
    levels: int = 400,
) -> float:
    """DR_{p,eps} between two elliptical laws of one scatter matrix, moved apart by `shift`.

    Their regions are ellipsoids of one shape whose radii differ by delta(beta), so that the gap is
    the largest <u, shift> + |delta| sqrt(u' scatter u). Integrated on a midpoint grid of levels.
    """
    betas = (np.arange(levels) + 0.5) * (1 - eps) / levels
    d = len(shift)
    delta = np.abs(radius(law_x, d, betas) - radius(law_y, d, betas))
    if scatter is None:
        gaps = np.linalg.norm(shift) + delta
    else:
        nothing = np.zeros((d, d)), np.zeros(d)
        gaps = np.array([gaussian_gap(shift, scatter, *nothing[::-1], r)[0] for r in delta])
    return float(np.mean(gaps**p) ** (1 / p))
