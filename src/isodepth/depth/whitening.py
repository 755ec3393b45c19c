"""Whitening: the inverse square root of a covariance estimate, which may be singular."""

from __future__ import annotations

import threading
import warnings
from typing import Any, NamedTuple

import numpy as np

from isodepth.core.regions import Sample
from isodepth.depth.base import center_and_exponent, moved_by
from isodepth.errors import InvalidInputError, InvalidOptionError

COVARIANCES = ("empirical", "mcd", "ledoit-wolf")

# Mean number of copies of a row for estimators that do not support weights.
_MOST_REPEATS = 20

_WARNING_FILTERS = threading.Lock()


def check_covariance(covariance: Any) -> None:
    """Raise unless `covariance` is a known name or a covariance estimator."""
    known = hasattr(covariance, "fit") and hasattr(covariance, "get_params")
    if isinstance(covariance, str):
        known = covariance in COVARIANCES
    if not known:
        raise InvalidOptionError(
            f"covariance must be one of {', '.join(COVARIANCES)}, or a scikit-learn covariance "
            f"estimator (with fit and covariance_), got {covariance!r}"
        )


def shrinks(covariance: Any) -> bool:
    """Whether the estimate is regularized, at the price of affine invariance."""
    return not (isinstance(covariance, str) and covariance in ("empirical", "mcd"))


class Whitening(NamedTuple):
    """Whitening of rows whose columns are first scaled by powers of two.

    Columns in meters and columns in nanometers have entries of one size after the scaling. So the
    covariance does not look singular, and whitened directions do not overflow in float32.

    Attributes
    ----------
    exponents : int ndarray of shape (d,)
        Column j is divided by 2**exponents[j].
    matrix : ndarray of shape (d, d)
        ``scale(X) @ matrix.T`` is white.
    """

    exponents: np.ndarray
    matrix: np.ndarray

    @classmethod
    def of(cls, sample: Sample, covariance: Any) -> Whitening:
        """Whiten a sample by a covariance estimate (a name or an estimator)."""
        points = sample.points
        exponents = column_exponents(points.min(axis=0), points.max(axis=0))
        if sample.n_points == 1:
            return cls(exponents, np.zeros((sample.n_features, sample.n_features)))
        if shrinks(covariance):
            # Shrinkage depends on the units of the columns, so all columns get the same scale.
            center, exponent = center_and_exponent(sample)
            moved = moved_by(points.astype(np.float64), center, exponent)
            root = inverse_root(_estimate(covariance, moved, sample))
            return cls(exponents, np.ldexp(root, exponents - exponent))
        span = _Span.of(sample, exponents)
        if isinstance(covariance, str) and covariance == "empirical":
            root = (span.axes / np.sqrt(span.variances)) @ span.axes.T
        else:
            # Estimated inside the span of the data, so that constant columns do no harm.
            estimate = _estimate(covariance, span.centered @ span.axes, sample)
            root = span.axes @ inverse_root(estimate) @ span.axes.T
        return cls(exponents, root * span.stretch)

    def scale(self, points: np.ndarray) -> np.ndarray:
        """Divide the columns of `points` (m, d) by their powers of two."""
        return scale_columns(points, self.exponents)

    def directions(self, directions: np.ndarray) -> np.ndarray:
        """Return directions (K, d) that rank scaled rows as `directions` rank whitened rows.

        The length of a direction does not matter for ranks. Its largest entry is in [1/2, 1).
        """
        vectors = directions @ self.matrix
        largest = np.abs(vectors).max(axis=1, keepdims=True)
        return np.ldexp(vectors, -np.frexp(largest)[1])

    def of_unscaled(self) -> np.ndarray:
        """Return the whitening matrix (d, d) of rows in the units of the data."""
        with np.errstate(over="ignore"):  # for columns of subnormal numbers
            return np.ldexp(self.matrix, -self.exponents)


def column_exponents(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the power of two next to the range of each column (d,), from its extremes.

    Constant columns have no range: they get the largest exponent, which is at least their own.
    """
    low, high = low.astype(np.float64), high.astype(np.float64)
    exponents, constant = np.frexp(high - low)[1], low == high
    if constant.any():
        others = exponents[~constant].max(initial=np.frexp(np.abs(low[constant]).max())[1])
        exponents[constant] = others
    return exponents


def scale_columns(points: np.ndarray, exponents: np.ndarray) -> np.ndarray:
    """Divide the columns of `points` (m, d) by 2**exponents.

    Points outside the range of the sample are clipped such that projections cannot overflow.
    """
    limit = np.finfo(points.dtype).max / (8 * points.shape[1])
    with np.errstate(over="ignore", under="ignore"):
        return np.clip(np.ldexp(points, -exponents), -limit, limit)


def outside_span(sample: Sample, points: np.ndarray) -> np.ndarray:
    """Check for each of `points` (m, d) if it lies off the affine hull of the sample."""
    exponents = column_exponents(sample.points.min(axis=0), sample.points.max(axis=0))
    span = _Span.of(sample, exponents)
    if span.axes.shape[1] == sample.n_features:
        return np.zeros(len(points), dtype=bool)
    eps = np.finfo(sample.points.dtype).eps
    constant, value = span.stretch == 0, sample.points[0]
    # A constant column has no range: its deviations are relative to its value.
    off = (np.abs(points - value) > 4 * eps * np.abs(value))[:, constant].any(axis=1)
    scaled = (scale_columns(points.astype(np.float64), exponents) - span.center) * span.stretch
    rest = np.abs(scaled - scaled @ span.axes @ span.axes.T).max(axis=1)
    return off | (rest > 64 * sample.n_features * eps * np.maximum(np.abs(scaled).max(axis=1), 1.0))


class _Span(NamedTuple):
    """Affine hull of a sample whose columns were scaled by powers of two."""

    center: np.ndarray  # (d,) weighted mean of the scaled points
    stretch: np.ndarray  # (d,) inverse of the largest deviation; 0 for constant columns
    centered: np.ndarray  # (u, d) scaled, centered and stretched points
    axes: np.ndarray  # (d, r) orthonormal basis of their span
    variances: np.ndarray  # (r,)

    @classmethod
    def of(cls, sample: Sample, exponents: np.ndarray) -> _Span:
        points = scale_columns(sample.points.astype(np.float64), exponents)
        center = sample.shares @ points
        centered = points - center
        # The rounded mean of equal numbers may differ from them, but their spread is zero.
        constant = (points == points[0]).all(axis=0)
        stretch = stretch_of(np.abs(centered).max(axis=0), constant)
        centered *= stretch
        axes, variances = _principal_axes((centered.T * sample.shares) @ centered)
        return cls(center, stretch, centered, axes, variances)


def stretch_of(spread: np.ndarray, constant: np.ndarray) -> np.ndarray:
    """Return the factors (d,) that bring columns to one spread; 0 for constant columns."""
    return np.divide(1.0, spread, out=np.zeros_like(spread), where=~constant)


def inverse_root(matrix: np.ndarray) -> np.ndarray:
    """Return the symmetric inverse square root of a covariance (d, d).

    The pseudo-inverse if the covariance is singular.
    """
    axes, variances = _principal_axes(matrix)
    return (axes / np.sqrt(variances)) @ axes.T


def _principal_axes(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return eigenvectors (d, r) and positive eigenvalues (r,) of a covariance (d, d)."""
    values, axes = np.linalg.eigh(matrix)
    positive = values > max(values[-1], 0.0) * len(values) * 8 * np.finfo(np.float64).eps
    return axes[:, positive], values[positive]


def _estimate(covariance: Any, points: np.ndarray, sample: Sample) -> np.ndarray:
    rows = _repeated(points, sample)
    # Columns of very different sizes may cause underflow or overflow.
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
    # MinCovDet warns of singular estimates, which are handled here, and of determinants that
    # increase by rounding. Warning filters are global: one thread at a time changes them.
    with _WARNING_FILTERS, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(rows)


def _repeated(points: np.ndarray, sample: Sample) -> np.ndarray:
    """Repeat rows in proportion to their masses, exactly if the total is small enough."""
    if sample.masses is None:
        return points
    limit = _MOST_REPEATS * len(points)
    if sample.total <= limit:
        return np.repeat(points, sample.masses, axis=0)
    # Rounding of cumulative shares keeps the total number of copies at `limit`.
    ends = np.rint(np.cumsum(sample.shares) * limit).astype(np.int64)
    return np.repeat(points, np.diff(ends, prepend=0), axis=0)
