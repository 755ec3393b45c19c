"""The depths as scikit-learn estimators.

Imported when first used, because scikit-learn takes seconds to import: a distance needs none of it.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from isodepth.core.directions import unit_vectors
from isodepth.core.regions import Sample
from isodepth.data.validation import check_points, check_same_width
from isodepth.depth.base import Along, Depth, Halfspace, Projection
from isodepth.depth.integrated import AIIRW, IRW, Dual, SteadyIRW
from isodepth.engine import Resources
from isodepth.errors import InvalidInputError


class NotFittedDepthError(InvalidInputError, NotFittedError):
    """`score_samples` was called before `fit`."""


class DepthEstimator(BaseEstimator, Depth):
    """`fit` and `score_samples` for a depth; the settings are those of the depth."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Compute the depths of a sample.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : ignored
        sample_weight : array-like of shape (n,) or None

        Returns
        -------
        self, with `depth_` of shape (n,), the depth of each row of `X`.
        """
        self.check_options()
        points, columns = check_points(X)
        self.__dict__.pop("feature_names_in_", None)
        if columns is not None:
            self.feature_names_in_ = np.asarray(columns, dtype=object)
        self.n_features_in_ = points.shape[1]
        self._sample = Sample.of(points, sample_weight, "sample_weight")
        self.warn_if_uninformative(self._sample)
        self._directions = unit_vectors(
            points.shape[1], self.n_directions, self.directions, self.random_state
        )
        along = Along(self._directions, Resources(self.n_jobs))
        _, self.depth_ = self.all_depths(self._sample, points, sample_weight, along)
        return self

    def score_samples(self, Z: Any) -> np.ndarray:
        """Depth of any points with respect to the fitted sample.

        Parameters
        ----------
        Z : array-like of shape (m, d)

        Returns
        -------
        depths : float64 ndarray of shape (m,), in [0, 1]
        """
        if not hasattr(self, "_sample"):
            raise NotFittedDepthError(
                f"this {type(self).__name__} is not fitted; call fit(X) first"
            )
        points, _ = check_points(Z, "Z", str(self._sample.points.dtype))
        check_same_width(points.shape[1], self.n_features_in_, "Z", "the fitted sample")
        along = Along(self._directions, Resources(self.n_jobs))
        return self.point_depth(self._sample, points, along)


class ProjectionDepth(DepthEstimator, Projection):
    """Projection depth: 1 / (1 + the largest |<u,x> - med| / MAD over directions u).

    Median and median absolute deviation are the usual sample ones, without a consistency factor.
    Where the MAD is zero (more than half of the rows coincide along a direction) the scale is the
    median of the deviations that are positive: the rows on the median are not outlying, the others
    are ordered among themselves, and an outlier comes last. Where all rows coincide, none of them
    is outlying and a point off them has depth 0.

    Parameters
    ----------
    method : {"directions", "exact"}
        `directions` takes the maximum over the given directions: the depth is an upper bound that
        falls towards the exact one as directions are added. `exact` is not available.
    refine : int
        Steps of local search from the best direction of each point, which tighten the bound in
        more than a few dimensions; only with ``method="directions"``.
    n_directions, directions, random_state, n_jobs
        As for every depth, see :class:`isodepth.depth.base.Depth`.

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
    """Halfspace depth: the smallest mass of a closed halfspace that contains the point.

    Ties count: a halfspace contains its boundary.

    Parameters
    ----------
    method : {"directions", "exact"}
        `directions` takes the minimum over the given directions and their opposites: an upper bound
        of the depth that falls towards it as directions are added. `exact` finds it by
        combinatorics: O(n log n) a point in the plane, and about a factor n more for each further
        dimension.
    refine : int
        Steps of local search from the best direction of each point, which tighten the bound in
        more than a few dimensions; only with ``method="directions"``.
    n_directions, directions, random_state, n_jobs
        As for every depth, see :class:`isodepth.depth.base.Depth`.

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
    >>> HalfspaceDepth(method="exact").fit(square).score_samples([[1, 1], [1, 0], [3, 3]])
    array([0.5 , 0.25, 0.  ])
    """


class IRWDepth(DepthEstimator, IRW):
    """Integrated rank-weighted depth: the mean over directions of min(F, 1 - F).

    F is the mid-rank distribution function (P(<) + P(<=)) / 2 of the projected sample. An average
    needs far fewer directions than a minimum, and it tells points apart also where there are fewer
    points than dimensions; it is not affine invariant.

    Parameters
    ----------
    n_directions, directions, random_state, n_jobs
        As for every depth, see :class:`isodepth.depth.base.Depth`.

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
    """Affine-invariant integrated rank-weighted depth: IRW of the whitened sample.

    Parameters
    ----------
    covariance : {"empirical", "mcd", "ledoit-wolf"} or scikit-learn covariance estimator
        What to whiten with. "mcd" (minimum covariance determinant) is robust to outliers;
        "ledoit-wolf" shrinks towards a multiple of the identity and so stays informative with fewer
        points than dimensions, at the price of exact affine invariance.
    n_directions, directions, random_state, n_jobs
        As for every depth, see :class:`isodepth.depth.base.Depth`.

    Attributes
    ----------
    depth_ : ndarray of shape (n,)
        Depth of each row of the fitted sample.
    whitening_ : ndarray of shape (d, d)
        The depth is the IRW depth of ``X @ whitening_.T``.

    Examples
    --------
    >>> from isodepth import AIIRWDepth
    >>> AIIRWDepth().fit([[1.0], [2.0], [4.0], [8.0], [16.0]]).depth_
    array([0.1, 0.3, 0.5, 0.3, 0.1])
    """

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """As for every depth; sets `whitening_` as well."""
        super().fit(X, sample_weight=sample_weight)
        self.whitening_ = self._matrix(self._sample)
        return self


class SteadyIRWDepth(DepthEstimator, SteadyIRW):
    """IRW depth with a control variate: as accurate as with sixteen times as many directions.

    IRW is the mean over directions of min(F, 1 - F) = (1 - |2 F - 1|) / 2. The mean of the square
    (2 F - 1)**2 over *all* directions is known in closed form, and is correlated with |2 F - 1|:
    where the mean square over the sampled directions is too large, the mean of |2 F - 1| is
    corrected in proportion. The result estimates the same depth, without bias, for every family of
    directions that are uniform one by one (all but a given array).

    Points that span fewer dimensions than they have columns are projected on their span, where the
    projection of a uniform direction is again uniform.

    The tokens of a text lie at nearly equal distances from each other, so their depths differ
    little, and with a thousand directions their order under plain IRW is mostly random.

    Parameters
    ----------
    n_directions, directions, random_state, n_jobs
        As for every depth, see :class:`isodepth.depth.base.Depth`.

    Examples
    --------
    >>> import numpy as np
    >>> from isodepth import IRWDepth
    >>> from isodepth import SteadyIRWDepth
    >>> X = np.random.default_rng(0).normal(size=(20, 50))
    >>> truth = IRWDepth(n_directions=200_000, random_state=0).fit(X).depth_
    >>> plain = IRWDepth(n_directions=500, random_state=1).fit(X).depth_
    >>> steady = SteadyIRWDepth(n_directions=500, random_state=1).fit(X).depth_
    >>> bool(np.std(steady - truth) < np.std(plain - truth) / 2)
    True
    """


class DualDepth(DepthEstimator, Dual):
    """Integrated dual depth: the mean over *all* directions of 2 F (1 - F), in closed form.

    The univariate simplicial depth averaged over directions (Cuevas and Fraiman 2009). It orders
    points almost as IRW does (the mean of F (1 - F) in place of min(F, 1 - F)), and no directions
    are drawn, so no seed matters. The time grows with the cube of the number of points.

    Parameters
    ----------
    n_directions, directions, random_state, n_jobs
        Accepted like those of every depth, and not used.

    Examples
    --------
    >>> from isodepth import DualDepth
    >>> DualDepth().fit([[1.0], [2.0], [4.0], [8.0], [16.0]]).depth_.round(6)
    array([0.18, 0.42, 0.5 , 0.42, 0.18])
    """


#: The estimators by the names of their depths.
ESTIMATORS: dict[str, type[DepthEstimator]] = {
    depth.name: depth
    for depth in (HalfspaceDepth, ProjectionDepth, IRWDepth, AIIRWDepth, SteadyIRWDepth, DualDepth)
}
