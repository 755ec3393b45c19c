"""Algorithm of the paper as a plain NumPy script.

The script implements Algorithm 1 (the distance) and the approximation algorithms of the appendix
(halfspace, projection and AI-IRW depth) in float64. The whole (n, K) matrix of projections is in
memory, and every level computes a new maximum over the points inside.

The paper is ambiguous at two places:

* Algorithm 1 takes the points with D > alpha(beta). If alpha(beta) is the depth of a sample point,
  this excludes the points at the level itself, and all points if beta < 1/n. Here, as in isodepth,
  they are included: D >= alpha(beta). The cost is the same.
* The AI-IRW algorithm ends in a mean of ranks, which orders points along a line instead of from
  the center outwards. Here, as in the definition of this depth, the result is the mean of
  min{F(x), 1 - F(x)} with F(x) = rank / n.

isodepth uses every direction with both signs; the paper does not. If the directions are U and -U,
this module and `Metric.paper` agree up to rounding. An exception is IRW with an odd number of
points: the depth of the middle point of a projection is (n - 1)/2n here and 1/2 in isodepth.
"""

from __future__ import annotations

import numpy as np


def uniform_directions(d: int, K: int, rng: np.random.Generator) -> np.ndarray:
    """Return K independent uniform directions (K, d)."""
    vectors = rng.standard_normal((K, d))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def ranks(M: np.ndarray) -> np.ndarray:
    """Return the rank, from 1, of each row in every column of M (n, K)."""
    return M.argsort(axis=0).argsort(axis=0) + 1


def halfspace(X: np.ndarray, U: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return halfspace depths (n,) and projections (n, K)."""
    M = X @ U.T
    return ranks(M).min(axis=1) / len(X), M


def projection(X: np.ndarray, U: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return projection depths (n,) and projections (n, K)."""
    M = X @ U.T
    deviations = np.abs(M - np.median(M, axis=0))
    V = deviations / np.median(deviations, axis=0)
    return (1 / (1 + V)).min(axis=1), M


def irw(X: np.ndarray, U: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return IRW depths (n,) and projections (n, K)."""
    M = X @ U.T
    F = ranks(M) / len(X)
    return np.minimum(F, 1 - F).mean(axis=1), M


def ai_irw(X: np.ndarray, U: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return depths (n,) and projections (n, K) on the whitened directions, as in the paper."""
    covariance = np.cov(X.T) if len(X) > 1 else np.zeros((X.shape[1],) * 2)
    values, axes = np.linalg.eigh(covariance.reshape(X.shape[1], -1))
    # The root of a pseudo-inverse: a text has fewer tokens than dimensions.
    roots = np.zeros_like(values)
    kept = values > 1e-10 * values[-1]
    roots[kept] = 1.0 / np.sqrt(values[kept])
    V = U @ ((axes * roots) @ axes.T)
    return irw(X, V / np.maximum(np.linalg.norm(V, axis=1, keepdims=True), np.finfo(float).tiny))


DEPTHS = {"halfspace": halfspace, "projection": projection, "irw": irw, "ai_irw": ai_irw}


def inside(D: np.ndarray, beta: float) -> np.ndarray:
    """Return the mask (n,) of the region of level beta."""
    alpha = np.quantile(D, 1 - beta, method="inverted_cdf")
    return alpha <= D


def distance(
    X: np.ndarray,
    Y: np.ndarray,
    depth: str,
    *,
    K: int = 1000,
    n_alpha: int = 20,
    p: float = 2,
    eps: float = 0.1,
    rng: np.random.Generator | None = None,
    directions: np.ndarray | None = None,
    levels: np.ndarray | None = None,
) -> float:
    """Return the distance of two samples by Algorithm 1 of the paper.

    Parameters
    ----------
    X, Y : ndarrays of shape (n, d) and (m, d)
    depth : str
        Name in `DEPTHS`.
    K, n_alpha : int
        Numbers of random directions and of random levels.
    p, eps : float
    rng : numpy.random.Generator or None
    directions : ndarray of shape (K, d) or None
        Directions in place of random directions.
    levels : ndarray of shape (n_alpha,) or None
        Levels in place of random levels.
    """
    rng = np.random.default_rng() if rng is None else rng
    U = uniform_directions(X.shape[1], K, rng) if directions is None else directions
    betas = rng.uniform(0, 1 - eps, n_alpha) if levels is None else levels
    DX, MX = DEPTHS[depth](X, U)
    DY, MY = DEPTHS[depth](Y, U)
    H = 0.0
    for beta in betas:
        hX = MX[inside(DX, beta)].max(axis=0)
        hY = MY[inside(DY, beta)].max(axis=0)
        H += np.max(np.abs(hX - hY) ** p)
    return float((H / len(betas)) ** (1 / p))
