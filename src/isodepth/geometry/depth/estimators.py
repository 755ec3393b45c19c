"""Depths as scikit-learn estimators.

This module is imported at its first use, because importing scikit-learn takes seconds and a
distance does not need it.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from isodepth.base.annotations import TableLike, VectorLike
from isodepth.base.compiled import Resources
from isodepth.errors import InvalidInputError, NotFittedError
from isodepth.geometry.depth.base import Depth, Halfspace, Projection
from isodepth.geometry.depth.integrated import AIIRW, IRW
from isodepth.geometry.directions import unit_vectors
from isodepth.geometry.regions import Sample
from isodepth.table.validation import check_points


class DepthEstimator(BaseEstimator, Depth):
    """Base class of depth estimators, with `fit` and `score_samples`."""

    def fit(self, X: TableLike, y: Any = None, sample_weight: VectorLike | None = None) -> Self:
        """Compute the depths of a sample.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
        y : ignored
        sample_weight : array-like of shape (n,) or None
            Weight of each row, not negative; None for equal weights.

        Returns
        -------
        self, with the attribute `depth_` of shape (n,), the depth of each row of `X`.
        """
        self._check_options()
        points, _ = check_points(X)
        validate_data(self, X, skip_check_array=True)
        self._sample = Sample.of(points, sample_weight, "sample_weight", Resources.of(self.n_jobs))
        self._warn_if_uninformative(self._sample)
        self._directions = unit_vectors(
            points.shape[1],
            self.n_directions,
            directions=self.directions,
            random_state=self.random_state,
        )
        _, self.depth_ = self._all_depths(self._sample, self._directions)
        return self

    def score_samples(self, X: TableLike) -> np.ndarray:
        """Compute the depths of the rows of `X` with respect to the fitted sample.

        Parameters
        ----------
        X : array-like or data frame of shape (m, d)

        Returns
        -------
        depths : float64 ndarray of shape (m,), in [0, 1]
        """
        if not hasattr(self, "_sample"):
            raise NotFittedError(f"this {type(self).__name__} is not fitted; call fit(X) first")
        try:
            validate_data(self, X, reset=False, skip_check_array=True)
        except ValueError as error:
            raise InvalidInputError(str(error)) from None
        points, _ = check_points(X, "X", str(self._sample.points.dtype))
        return self._depths(self._sample, self._directions, points)


class ProjectionDepth(DepthEstimator, Projection):
    """Projection depth: 1 / (1 + the maximum of |<u,x> - med| / MAD over directions u).

    med is the median and MAD the median absolute deviation of the projected sample, without a
    consistency factor. If more than half of the projections on a direction are equal, the MAD is
    zero and is replaced with the median of the positive deviations. If all projections are equal,
    points with the same projection have outlyingness 0 along the direction, and all other points
    have depth 0.

    The depth is affine invariant if the maximum is taken over all directions. It cannot order the
    vertices of a simplex: at most d + 1 points of equal weight in general position get the same
    depth.

    Parameters
    ----------
    n_directions : int, default 1000
        Number of unit vectors; each is used with both signs.
    directions : str or array of shape (K, d), default "uniform"
        Family of directions, as in :func:`isodepth.unit_vectors`, or an array.
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState
        Seed of the random directions.
    n_jobs : int or None
        Number of threads; None or -1 for all available cores. The result does not depend on it.

    Attributes
    ----------
    depth_ : ndarray of shape (n,)
        Depth of each row of the fitted sample.

    Examples
    --------
    >>> from isodepth import ProjectionDepth
    >>> ProjectionDepth().fit([[1.0], [2.0], [4.0], [8.0], [16.0]]).depth_
    array([0.5 , 0.6 , 1.  , 0.42857143, 0.2 ])
    """


class HalfspaceDepth(DepthEstimator, Halfspace):
    """Halfspace depth: the minimum fraction of the mass in a closed halfspace with the point.

    A closed halfspace contains its boundary, so all points on the boundary are counted. With
    ``algorithm="directions"`` these are the points with the same projection, up to rounding: on a
    lattice, projections that should be equal may differ by a rounding error. The depth can then be
    below the exact one.

    Parameters
    ----------
    algorithm : {"directions", "exact"}
        `directions` takes the minimum over the given directions and their opposites. Except for
        rounding, this minimum is an upper bound on the depth, and converges to the depth as random
        directions are added. `exact` computes the depth itself by a combinatorial algorithm, in at
        most 12 dimensions, and refuses `n_directions` and `directions`. For a sample of n points in
        the plane, the algorithm takes O(n log n) steps per point. Each further dimension multiplies
        the time by about n.
    n_directions : int, default 1000
        Number of unit vectors; each is used with both signs.
    directions : str or array of shape (K, d), default "uniform"
        Family of directions, as in :func:`isodepth.unit_vectors`, or an array.
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState
        Seed of the random directions.
    n_jobs : int or None
        Number of threads; None or -1 for all available cores. The result does not depend on it.

    Attributes
    ----------
    depth_ : ndarray of shape (n,)
        Depth of each row of the fitted sample.

    Examples
    --------
    >>> from isodepth import HalfspaceDepth
    >>> HalfspaceDepth().fit([[1.0], [2.0], [4.0], [8.0], [16.0]]).depth_
    array([0.2, 0.4, 0.6, 0.4, 0.2])
    >>> square = [[0, 0], [2, 0], [0, 2], [2, 2]]
    >>> HalfspaceDepth(algorithm="exact").fit(square).score_samples([[1, 1], [1, 0], [3, 3]])
    array([0.5 , 0.25, 0.  ])
    """


class IRWDepth(DepthEstimator, IRW):
    """Integrated rank-weighted depth: the mean over directions of min(F, 1 - F).

    Along a direction, F is the fraction of the sample whose projection is below that of the point,
    plus half of the fraction with the same projection. A mean over directions needs far fewer
    directions than a minimum. The depth is not affine invariant, and therefore orders the points
    even if there are fewer points than dimensions.

    Parameters
    ----------
    n_directions : int, default 1000
        Number of unit vectors; each is used with both signs.
    directions : str or array of shape (K, d), default "uniform"
        Family of directions, as in :func:`isodepth.unit_vectors`, or an array.
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState
        Seed of the random directions.
    n_jobs : int or None
        Number of threads; None or -1 for all available cores. The result does not depend on it.

    Attributes
    ----------
    depth_ : ndarray of shape (n,)
        Depth of each row of the fitted sample.

    Examples
    --------
    >>> from isodepth import IRWDepth
    >>> IRWDepth().fit([[1.0], [2.0], [4.0], [8.0], [16.0]]).depth_
    array([0.1, 0.3, 0.5, 0.3, 0.1])
    """


class AIIRWDepth(DepthEstimator, AIIRW):
    """Affine-invariant integrated rank-weighted depth: the IRW depth in the whitened sample.

    Parameters
    ----------
    covariance : {"empirical", "mcd", "ledoit-wolf"} or scikit-learn covariance estimator
        Covariance estimate. "mcd" (minimum covariance determinant) is robust to outliers.
        "ledoit-wolf" shrinks towards a multiple of the identity. The depth then also orders fewer
        points than dimensions, but it is not exactly affine invariant.
    n_directions : int, default 1000
        Number of unit vectors; each is used with both signs.
    directions : str or array of shape (K, d), default "uniform"
        Family of directions, as in :func:`isodepth.unit_vectors`, or an array.
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState
        Seed of the random directions.
    n_jobs : int or None
        Number of threads; None or -1 for all available cores. The result does not depend on it.

    Attributes
    ----------
    depth_ : ndarray of shape (n,)
        Depth of each row of the fitted sample.
    whitening_ : ndarray of shape (d, d)
        The depth is the IRW depth of ``X @ whitening_.T``, except if the points are the vertices of
        a simplex: their depths then depend on their weights only, unless `covariance` shrinks.

    Examples
    --------
    >>> from isodepth import AIIRWDepth
    >>> AIIRWDepth().fit([[1.0], [2.0], [4.0], [8.0], [16.0]]).depth_
    array([0.1, 0.3, 0.5, 0.3, 0.1])
    """

    def fit(self, X: TableLike, y: Any = None, sample_weight: VectorLike | None = None) -> Self:
        """Compute the depths `depth_` and the matrix `whitening_` of a sample.

        The parameters and the return value are those of :meth:`IRWDepth.fit`.
        """
        super().fit(X, sample_weight=sample_weight)
        self.whitening_ = self._whitening(self._sample).of_unscaled()
        return self


#: Estimator classes by the names that the option `depth` of a metric accepts.
ESTIMATORS: dict[str, type[DepthEstimator]] = {
    depth._name: depth for depth in (HalfspaceDepth, ProjectionDepth, IRWDepth, AIIRWDepth)
}
