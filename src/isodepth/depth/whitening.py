"""Whitening: the inverse square root of a covariance estimate, also of a singular one."""

from __future__ import annotations

import threading
import warnings
from typing import Any, NamedTuple

import numpy as np

from isodepth.core.regions import Sample
from isodepth.depth.base import standardize
from isodepth.errors import InvalidInputError, InvalidOptionError

COVARIANCES = ("empirical", "mcd", "ledoit-wolf")

# A column below this beside others of size one counts as constant: no double brings it to their
# scale, whatever the variance along an axis adds to it.
_SMALLEST_SPREAD = 2.0**-960

# Estimators that know no weights see each row repeated; this bounds how often, on average.
_MOST_REPEATS = 20

_WARNING_FILTERS = threading.Lock()


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
    """Whether the estimate is regularized, at the price of affine invariance."""
    return not (isinstance(covariance, str) and covariance in ("empirical", "mcd"))


def whitening_matrix(sample: Sample, moved: np.ndarray, covariance: Any) -> np.ndarray:
    """A (d, d) matrix W such that `moved @ W.T` is white.

    `moved` (u, d) are the standardized points of the sample.

    It is the symmetric (pseudo-)inverse root of the covariance, after the columns have been brought
    to one scale where the estimate is affine equivariant anyway: columns in metres and columns in
    nanometres must not make the matrix look singular.
    """
    if sample.n_points == 1:
        return np.zeros((sample.n_features, sample.n_features))
    if shrinks(covariance):
        return inverse_root(_estimate(covariance, moved.astype(np.float64), sample))
    span = _span(sample, moved)
    if isinstance(covariance, str) and covariance == "empirical":
        root = (span.axes / np.sqrt(span.variances)) @ span.axes.T
    else:
        # Inside the span of the data, so that constant columns do no harm.
        estimate = _estimate(covariance, span.centered @ span.axes, sample)
        root = span.axes @ inverse_root(estimate) @ span.axes.T
    return root * span.stretch


def outside_span(sample: Sample, points: np.ndarray) -> np.ndarray:
    """Whether each of `points` (m, d) lies off the smallest flat that holds the sample."""
    span = _span(sample, standardize(sample, sample.points))
    if span.axes.shape[1] == sample.n_features:
        return np.zeros(len(points), dtype=bool)
    away = standardize(sample, points).astype(np.float64) - span.center
    # A column in which the sample is constant has no scale of its own: take it as it is.
    scaled = away * np.where(span.stretch > 0, span.stretch, 1.0)
    rest = scaled - scaled @ span.axes @ span.axes.T
    rounding = 64 * sample.n_features * np.finfo(sample.points.dtype).eps
    return np.abs(rest).max(axis=1) > rounding * np.maximum(np.abs(scaled).max(axis=1), 1.0)


class _Span(NamedTuple):
    center: np.ndarray  # (d,) weighted mean of the standardized points
    stretch: np.ndarray  # (d,) brings the columns to one scale; 0 for constant columns
    centered: np.ndarray  # (u, d) standardized, centered and stretched points
    axes: np.ndarray  # (d, r) orthonormal, spanning them
    variances: np.ndarray  # (r,)


def _span(sample: Sample, moved: np.ndarray) -> _Span:
    points = moved.astype(np.float64)
    shares = sample.shares
    center = shares @ points
    centered = points - center
    # The mean of equal numbers is off by rounding, which must not be blown up to a spread.
    constant = (points == points[0]).all(axis=0)
    stretch = stretch_of(np.abs(centered).max(axis=0), constant)
    centered *= stretch
    return _Span(center, stretch, centered, *_principal_axes((centered.T * shares) @ centered))


def stretch_of(spread: np.ndarray, constant: np.ndarray) -> np.ndarray:
    """What brings columns of that spread (d,) to one scale; 0 for constant ones."""
    varies = (spread > _SMALLEST_SPREAD) & ~constant
    return np.divide(1.0, spread, out=np.zeros_like(spread), where=varies)


def inverse_root(matrix: np.ndarray) -> np.ndarray:
    """The symmetric (pseudo-)inverse root of a covariance (d, d)."""
    axes, variances = _principal_axes(matrix)
    return (axes / np.sqrt(variances)) @ axes.T


def _principal_axes(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The eigenvectors (d, r) of a covariance (d, d) with positive eigenvalues, and these (r,)."""
    values, axes = np.linalg.eigh(matrix)
    positive = values > max(values[-1], 0.0) * len(values) * 8 * np.finfo(np.float64).eps
    return axes[:, positive], values[positive]


def _estimate(covariance: Any, points: np.ndarray, sample: Sample) -> np.ndarray:
    rows = _repeated(points, sample)
    # Columns may vanish beside others, or reach the largest numbers.
    with np.errstate(all="ignore"):
        try:
            return np.atleast_2d(_fitted(covariance, rows).covariance_)
        except ValueError as error:
            raise InvalidInputError(
                f"covariance={covariance!r} cannot be estimated from these "
                f"{len(points)} distinct rows ({error}); use covariance='empirical' or "
                "'ledoit-wolf', or a depth that needs none"
            ) from error


def _fitted(covariance: Any, rows: np.ndarray) -> Any:
    from sklearn.base import clone
    from sklearn.covariance import LedoitWolf, MinCovDet

    # The inverse of the estimate is not needed.
    if isinstance(covariance, str) and covariance == "mcd":
        estimator = MinCovDet(store_precision=False, random_state=0)
    elif isinstance(covariance, str):
        estimator = LedoitWolf(store_precision=False)
    else:
        estimator = clone(covariance)
    if not isinstance(estimator, MinCovDet):
        return estimator.fit(rows)
    # It warns of singular estimates, which are handled here, and of determinants that grow by
    # rounding. The filters of `warnings` belong to the process: one thread at a time changes them.
    with _WARNING_FILTERS, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(rows)


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
