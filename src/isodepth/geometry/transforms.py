"""Centering, scaling and whitening of samples before their depths are computed.

A sample is whitened by the inverse square root of a covariance estimate. If the estimate is
singular, the square root of its pseudo-inverse is used. Samples are
:class:`isodepth.geometry.regions.Sample`, whose module imports this one.
"""

from __future__ import annotations

import threading
import warnings
from typing import Any, NamedTuple

import numpy as np

from isodepth import _core
from isodepth.base.options import must
from isodepth.errors import InvalidInputError

COVARIANCES = ("empirical", "mcd", "ledoit-wolf")

# Maximum mean number of copies of a row. Covariance estimators do not support weights, so rows are
# repeated instead.
_MOST_REPEATS = 20

_WARNING_FILTERS = threading.Lock()


def check_covariance(covariance: Any) -> None:
    """Raise an error unless `covariance` is a known name or a covariance estimator."""
    known = hasattr(covariance, "fit") and hasattr(covariance, "get_params")
    if isinstance(covariance, str):
        known = covariance in COVARIANCES
    if not known:
        others = "a scikit-learn covariance estimator (with fit and covariance_)"
        raise must("covariance", f"be one of {', '.join(COVARIANCES)}, or {others}", covariance)


def shrinks(covariance: Any) -> bool:
    """Return whether a covariance estimator may shrink: then it is not affine equivariant.

    `covariance` is the option of `isodepth.AIIRWDepth`. The result is true for all estimators
    except "empirical" and "mcd".
    """
    return not (isinstance(covariance, str) and covariance in ("empirical", "mcd"))


class Whitening(NamedTuple):
    """Whitening transformation: division of columns by powers of two, then a matrix product.

    After the division, columns with very different units have entries of similar size. Without the
    division, the covariance could be numerically singular, and transformed directions could
    overflow in float32.

    Attributes
    ----------
    exponents : int ndarray of shape (d,)
        Column j is divided by 2**exponents[j].
    matrix : ndarray of shape (d, d)
        The covariance estimate of ``scale(X) @ matrix.T`` is the identity, or an orthogonal
        projection if the estimate for X is singular.
    """

    exponents: np.ndarray
    matrix: np.ndarray

    @classmethod
    def of(cls, sample: Any, covariance: Any) -> Whitening:
        """Return the whitening transformation of a sample.

        `covariance` is "empirical", "mcd", "ledoit-wolf" or a scikit-learn covariance estimator.
        """
        points = sample.points
        exponents = column_exponents(points.min(axis=0), points.max(axis=0))
        if sample.n_points == 1:
            return cls(exponents, np.zeros((sample.n_features, sample.n_features)))
        if shrinks(covariance):
            # Shrinkage depends on the units of the columns, so the covariance is estimated from
            # columns that are all divided by the same power of two.
            center, exponent = center_and_exponent(sample)
            moved = moved_by(points.astype(np.float64), center, exponent)
            root = inverse_root(_estimate(covariance, moved, sample))
            return cls(exponents, np.ldexp(root, exponents - exponent))
        span = _Span.of(sample, exponents)
        if isinstance(covariance, str) and covariance == "empirical":
            root = (span.axes / np.sqrt(span.variances)) @ span.axes.T
        else:
            # Estimate the covariance within the linear span of the centered data. The covariance of
            # all columns is singular if a column is constant.
            estimate = _estimate(covariance, span.centered @ span.axes, sample)
            root = span.axes @ inverse_root(estimate) @ span.axes.T
        return cls(exponents, root * span.stretch)

    def scale(self, points: np.ndarray) -> np.ndarray:
        """Divide the columns of `points` (m, d) by 2**exponents."""
        return scale_columns(points, self.exponents)

    def directions(self, directions: np.ndarray) -> np.ndarray:
        """Transform `directions` (K, d) for projections of scaled instead of whitened rows.

        Scaled rows are the result of `scale`. Their projections on a transformed direction have the
        same ranks as the projections of whitened rows on the direction. The length of a direction
        does not change ranks, so each result is scaled to a maximum absolute entry in [1/2, 1).
        """
        vectors = directions @ self.matrix
        largest = np.abs(vectors).max(axis=1, keepdims=True)
        return np.ldexp(vectors, -np.frexp(largest)[1])

    def of_unscaled(self) -> np.ndarray:
        """Return the matrix W (d, d) for which ``X @ W.T`` has the whitened rows of a sample X."""
        # Entries of the matrix may overflow if the range of a column is subnormal.
        with np.errstate(over="ignore"):
            return np.ldexp(self.matrix, -self.exponents)


def column_exponents(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the exponents (d,) of the smallest powers of two above the ranges of the columns.

    `low` and `high` (d,) are the minima and maxima of the columns. For a constant column, whose
    range is zero, the power of two also exceeds the ranges of all other columns and the absolute
    values of all constants.
    """
    low, high = low.astype(np.float64), high.astype(np.float64)
    exponents, constant = np.frexp(high - low)[1], low == high
    if constant.any():
        others = exponents[~constant].max(initial=np.frexp(np.abs(low[constant]).max())[1])
        exponents[constant] = others
    return exponents


def scale_columns(points: np.ndarray, exponents: np.ndarray) -> np.ndarray:
    """Divide the columns of `points` (m, d) by 2**exponents.

    Absolute values are clipped to 1/(8 d) of the largest float, so that projections cannot
    overflow. Only points far outside the range of the sample exceed this limit.
    """
    limit = np.finfo(points.dtype).max / (8 * points.shape[1])
    with np.errstate(over="ignore", under="ignore"):
        return np.clip(np.ldexp(points, -exponents), -limit, limit)


def outside_span(sample: Any, points: np.ndarray) -> np.ndarray:
    """Return a mask (m,) of the `points` (m, d) outside the affine hull of a sample.

    Rounding errors are tolerated.
    """
    exponents = column_exponents(sample.points.min(axis=0), sample.points.max(axis=0))
    span = _Span.of(sample, exponents)
    if span.axes.shape[1] == sample.n_features:
        return np.zeros(len(points), dtype=bool)
    eps = np.finfo(sample.points.dtype).eps
    constant, value = span.stretch == 0, sample.points[0]
    # If a column of the sample is constant, a point is outside if it differs from the constant by
    # more than a rounding error.
    off = (np.abs(points - value) > 4 * eps * np.abs(value))[:, constant].any(axis=1)
    scaled = (scale_columns(points.astype(np.float64), exponents) - span.center) * span.stretch
    rest = np.abs(scaled - scaled @ span.axes @ span.axes.T).max(axis=1)
    return off | (rest > 64 * sample.n_features * eps * np.maximum(np.abs(scaled).max(axis=1), 1.0))


class _Span(NamedTuple):
    """Affine hull of a sample whose columns were scaled by powers of two."""

    center: np.ndarray  # (d,) weighted mean of the scaled points
    stretch: np.ndarray  # (d,) 1 / maximum deviation of a column from its mean; 0 if constant
    centered: np.ndarray  # (u, d) scaled points minus `center`, multiplied by `stretch`
    axes: np.ndarray  # (d, r) orthonormal basis of the linear span of `centered`
    variances: np.ndarray  # (r,) variances of `centered` along `axes`

    @classmethod
    def of(cls, sample: Any, exponents: np.ndarray) -> _Span:
        points = scale_columns(sample.points.astype(np.float64), exponents)
        center = sample.shares @ points
        centered = points - center
        # Because of rounding, the mean of equal values may differ from these values. Constant
        # columns are therefore found by comparing values, not by deviations from the mean.
        constant = (points == points[0]).all(axis=0)
        stretch = stretch_of(np.abs(centered).max(axis=0), constant)
        centered *= stretch
        axes, variances = _principal_axes((centered.T * sample.shares) @ centered)
        return cls(center, stretch, centered, axes, variances)


def stretch_of(spread: np.ndarray, constant: np.ndarray) -> np.ndarray:
    """Return the factors (d,) that scale columns to maximum deviation 1; 0 for constant columns.

    `spread` (d,) is the maximum deviation of each column from its mean. `constant` (d,) is a mask
    of the constant columns.
    """
    return np.divide(1.0, spread, out=np.zeros_like(spread), where=~constant)


def inverse_root(matrix: np.ndarray) -> np.ndarray:
    """Return the symmetric inverse square root of a covariance matrix (d, d).

    If the matrix is singular, the square root of its pseudo-inverse is returned.
    """
    axes, variances = _principal_axes(matrix)
    return (axes / np.sqrt(variances)) @ axes.T


def _principal_axes(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the eigenvectors (d, r) and eigenvalues (r,) of a covariance matrix (d, d) of rank r.

    Eigenvalues that are zero up to rounding errors are excluded.
    """
    values, axes = np.linalg.eigh(matrix)
    positive = values > max(values[-1], 0.0) * len(values) * 8 * np.finfo(np.float64).eps
    return axes[:, positive], values[positive]


def _estimate(covariance: Any, points: np.ndarray, sample: Any) -> np.ndarray:
    rows = _repeated(points, sample)
    # Underflow and overflow are possible if the columns have very different sizes. NumPy warnings
    # about them are not useful.
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

    # The inverse of the estimate (store_precision) is not needed.
    if isinstance(covariance, str) and covariance == "mcd":
        estimator = MinCovDet(store_precision=False, random_state=0)
    elif isinstance(covariance, str):
        estimator = LedoitWolf(store_precision=False)
    else:
        estimator = clone(covariance)
    if not isinstance(estimator, MinCovDet):
        return estimator.fit(rows)
    # Ignore the warnings of MinCovDet about singular estimates, which `inverse_root` handles, and
    # about determinants that increase by rounding. Warning filters are global, so only one thread
    # at a time changes them.
    with _WARNING_FILTERS, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(rows)


def _repeated(points: np.ndarray, sample: Any) -> np.ndarray:
    """Return `points` with each row repeated in proportion to its mass in `sample`.

    The numbers of copies are the masses themselves if the mean mass is at most `_MOST_REPEATS`.
    Otherwise the mean number of copies is `_MOST_REPEATS`.
    """
    if sample.masses is None:
        return points
    limit = _MOST_REPEATS * len(points)
    if sample.total <= limit:
        return np.repeat(points, sample.masses, axis=0)
    # Round the cumulative numbers of copies, so that the total number of copies is exactly `limit`.
    ends = np.rint(np.cumsum(sample.shares) * limit).astype(np.int64)
    return np.repeat(points, np.diff(ends, prepend=0), axis=0)


# -- centering ----------------------------------------------------------------------------------


def center_and_exponent(sample: Any) -> tuple[np.ndarray, int]:
    """Return a center (d,) of the sample, and an integer e for which the spread is about 2**e.

    Subtracting the center and dividing by 2**e does not change depths, except for rounding errors,
    which it reduces. It also prevents overflow. Center and spread are rough estimates from evenly
    spaced rows of the sample.
    """
    return _core.center_and_exponent(sample.points)


def standardize(sample: Any, points: np.ndarray) -> np.ndarray:
    """Return `points` (m, d) minus the center of a sample, divided by a power of two.

    The center and the power of two are those of `center_and_exponent`.
    """
    return moved_by(points, *center_and_exponent(sample))


def moved_by(points: np.ndarray, center: np.ndarray, exponent: int) -> np.ndarray:
    """Return (points - center) / 2**exponent, for points (m, d) and a center (d,)."""
    # 2**exponent itself may overflow, so it is not computed.
    return np.ldexp(points - center, -exponent)


def exact_center(center: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return `center` (d,), with 0 in the columns from which its subtraction may not be exact.

    The subtraction is exact if the extremes `low` and `high` (d,) of a column are within a factor
    of two of the center (Sterbenz's lemma). Otherwise rounding could make different values equal.

    Examples
    --------
    >>> low, high = np.array([90.0, -1.0, 1.0, 4.0]), np.array([110.0, 3.0, 9.0, 11.0])
    >>> exact_center(np.array([100.0, 1.0, 5.0, 5.0]), low, high)
    array([100.,   0.,   0.,   0.])
    """
    near, far = np.minimum(np.abs(low), np.abs(high)), np.maximum(np.abs(low), np.abs(high))
    one_sign = np.sign(low) == np.sign(high)
    size = np.abs(center)
    # The comparisons divide by two, which is exact except for subnormal numbers. A column with a
    # subnormal center is not centered.
    exact = one_sign & (near >= size / 2) & (far / 2 <= size) & (size > np.finfo(size.dtype).tiny)
    return np.where(exact, center, 0).astype(center.dtype)
