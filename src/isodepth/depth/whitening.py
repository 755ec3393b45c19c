"""Whitening: the inverse square root of a covariance estimate, also of a singular one."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from isodepth.depth.base import standardise
from isodepth.errors import InvalidOptionError
from isodepth.sample import Sample

COVARIANCES = ("empirical", "mcd", "ledoit-wolf")

# Estimators that know no weights see each row repeated; this bounds how often, on average.
_MOST_REPEATS = 20


def check_covariance(covariance: Any) -> None:
    """Raise unless `covariance` is a known name or a covariance estimator."""
    if isinstance(covariance, str):
        if covariance in COVARIANCES:
            return
    elif hasattr(covariance, "fit") and hasattr(covariance, "get_params"):
        return
    raise InvalidOptionError(
        f"covariance must be one of {', '.join(COVARIANCES)}, or a scikit-learn covariance "
        f"estimator (with fit and covariance_), got {covariance!r}"
    )


def shrinks(covariance: Any) -> bool:
    """Whether the estimate is kept from being singular, at the price of affine invariance."""
    return not (isinstance(covariance, str) and covariance in ("empirical", "mcd"))


def whitening_matrix(sample: Sample, covariance: Any) -> np.ndarray:
    """A (d, d) matrix W such that `standardise(sample, points) @ W.T` is white.

    It is the symmetric (pseudo-)inverse root of the covariance, after the columns have been brought
    to one scale where the estimate is affine equivariant anyway: columns in metres and columns in
    nanometres must not make the matrix look singular.
    """
    points = standardise(sample, sample.points).astype(np.float64)
    shares = sample.shares
    if shrinks(covariance):
        return _inverse_root(_estimate(covariance, points, sample))
    centred = points - shares @ points
    spread = np.abs(centred).max(axis=0)
    stretch = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
    centred *= stretch
    values, axes = np.linalg.eigh((centred.T * shares) @ centred)
    kept = values > max(values[-1], 0.0) * len(values) * 8 * np.finfo(np.float64).eps
    axes = axes[:, kept]
    if isinstance(covariance, str) and covariance == "empirical":
        root = (axes / np.sqrt(values[kept])) @ axes.T
    else:
        # Inside the span of the data, so that constant columns do no harm.
        root = axes @ _inverse_root(_estimate(covariance, centred @ axes, sample)) @ axes.T
    return root * stretch


def _inverse_root(matrix: np.ndarray) -> np.ndarray:
    values, axes = np.linalg.eigh(matrix)
    kept = values > max(values[-1], 0.0) * len(values) * 8 * np.finfo(np.float64).eps
    axes = axes[:, kept]
    return (axes / np.sqrt(values[kept])) @ axes.T


def _estimate(covariance: Any, points: np.ndarray, sample: Sample) -> np.ndarray:
    from sklearn.base import clone
    from sklearn.covariance import LedoitWolf, MinCovDet

    if isinstance(covariance, str):
        estimator = MinCovDet(random_state=0) if covariance == "mcd" else LedoitWolf()
    else:
        estimator = clone(covariance)
    with warnings.catch_warnings():
        # A determinant that does not fall at every step is MCD's own business.
        warnings.filterwarnings("ignore", category=RuntimeWarning)
        warnings.filterwarnings("ignore", message=".*covariance matrix associated.*")
        return np.atleast_2d(estimator.fit(_repeated(points, sample)).covariance_)


def _repeated(points: np.ndarray, sample: Sample) -> np.ndarray:
    """Rows repeated in proportion to their masses, exactly where the total is small enough."""
    if sample.masses is None:
        return points
    limit = _MOST_REPEATS * len(points)
    if sample.total <= limit:
        return np.repeat(points, sample.masses, axis=0)
    # Cumulative rounding spreads `limit` copies without drift.
    ends = np.rint(np.cumsum(sample.shares) * limit).astype(np.int64)
    return np.repeat(points, np.diff(ends, prepend=0), axis=0)
