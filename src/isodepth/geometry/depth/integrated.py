"""Depths that are means over directions: integrated rank-weighted and integrated dual depth."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from isodepth import _core
from isodepth.base.annotations import CovarianceLike
from isodepth.base.compiled import ALONE, Resources
from isodepth.base.options import takes
from isodepth.base.seeds import rng_for
from isodepth.geometry.backend import Queries
from isodepth.geometry.depth.base import Depth
from isodepth.geometry.regions import Sample
from isodepth.geometry.transforms import (
    check_covariance,
    outside_span,
    shrinks,
    standardize,
)

#: Maximum number of points for which `CorrectedIRW` uses its control variate, because the time is
#: proportional to the cube of the number of points. For more points `CorrectedIRW` equals IRW.
MOST_POINTS = 256

# Regression slope of |v| on v**2 for v uniform on [-1, 1]. The residual variance is a sixteenth of
# the variance of |v|. `CorrectedIRW` uses v = 2 F - 1, where F is the mid-rank of a projection as a
# fraction of the mass. v is about uniform along a random direction.
_SLOPE = 0.9375
# Upper bounds on a sum of squared ranks and on the total mass, so that the integers of the compiled
# core (64 and 32 bits) do not overflow.
_LARGEST_SUM = 1 << 62
_LARGEST_TOTAL = 1 << 26


class IRW(Depth):
    """Integrated rank-weighted (IRW) depth: the mean over directions of min(F, 1 - F).

    F is the mid-rank of a projection as a fraction of the mass; see `isodepth.IRWDepth`.
    """

    _name = "irw"
    _affine_invariant = False

    @property
    def _primitive(self) -> str | None:
        return "rank_weights"


@takes()
@dataclass(eq=False, repr=False, kw_only=True)
class AIIRW(Depth):
    """Affine-invariant IRW depth: the IRW depth of the whitened sample; see `isodepth.AIIRWDepth`.

    The attribute `covariance` is the option of this name.
    """

    _name = "ai_irw"

    covariance: CovarianceLike = "empirical"

    def _check_options(self) -> None:
        super()._check_options()
        check_covariance(self.covariance)

    def _is_uninformative(self, sample: Sample) -> bool:
        return not shrinks(self.covariance) and super()._is_uninformative(sample)

    @property
    def _primitive(self) -> str | None:
        by_moments = isinstance(self.covariance, str) and self.covariance == "empirical"
        return "rank_weights" if by_moments else None

    def _whitens(self, n_features: int) -> bool:
        # In one dimension whitening is not needed, because it does not change ranks.
        return n_features > 1

    def _evaluate(self, sample: Any, queries: Queries, directions: np.ndarray) -> Any:
        white = self._whitening(sample) if self._whitens(sample.points.shape[1]) else None
        depths = sample.rank_weights(directions, queries, white)
        if queries is not None and not shrinks(self.covariance):
            # Query points that are not in the affine hull of the sample have depth zero.
            depths[outside_span(sample, queries)] = 0.0
        return depths

    def _tied_depth(self, sample: Sample) -> np.ndarray:
        # The points are affinely independent: they are the vertices of a simplex. Let s_i be the
        # fraction of the mass of vertex i. The projections of the whitened vertices on a random
        # direction are proportional to g_i / sqrt(s_i), where g is a uniform unit vector orthogonal
        # to sqrt(s). Depths therefore depend on the weights only. With equal weights every depth is
        # the mean of min(F, 1 - F) over all mid-ranks F.
        if sample.masses is None:
            ranks = 2 * np.arange(sample.n_points) + 1
            mean = np.minimum(ranks, 2 * sample.n_points - ranks).mean() / (2 * sample.n_points)
            return np.full(sample.n_points, mean)
        roots = np.sqrt(sample.shares)
        corners = np.diag(1 / roots) - roots
        rng = rng_for(0, "tied depths")
        vertices = replace(sample, points=corners, resources=ALONE)
        depths = vertices.rank_weights(rng.standard_normal((4096, sample.n_points)))
        # Vertices of equal weight have equal exact depths. Averaging their estimated depths reduces
        # the Monte-Carlo error.
        _, group = np.unique(sample.masses, return_inverse=True)
        return (np.bincount(group, depths) / np.bincount(group))[group]

    def _whitening(self, sample: Any) -> Any:
        # Robust covariance estimates are slow, so the whitening of the last sample is cached.
        known = getattr(self, "_known", None)
        if known is None or known[0] is not sample:
            known = self._known = (sample, sample.whitening(self.covariance))
        return known[1]


class CorrectedIRW(IRW):
    """Integrated rank-weighted (IRW) depth with a control variate, for few points in many columns.

    IRW is the mean over directions of min(F, 1 - F) = (1 - |2 F - 1|) / 2, where F is the mid-rank
    of a projection as a fraction of the mass. The mean of (2 F - 1)**2 over *all* directions is
    known in closed form. The error of its mean over the sampled directions is therefore known, and
    the mean of |2 F - 1|, which is correlated with it, is corrected in proportion to this error. If
    each direction is uniform on the sphere, the result (before clipping to [0, 1/2]) is unbiased
    and has about a sixteenth of the variance.

    If there are at most as many points as columns, the points are represented by coordinates in
    their span, see `span_of_sample`. The first entries of the directions are then the directions in
    the span.

    Samples of more than `MOST_POINTS` points, or of a very large total mass, have the IRW depth
    without the control variate.
    """

    _name = "irw_corrected"

    @property
    def _primitive(self) -> str | None:
        return None

    def _evaluate(self, sample: Sample, queries: Queries, directions: np.ndarray) -> Any:
        if queries is not None:
            joint = sample.with_queries(queries)
            return self._evaluate(joint, None, directions)[joint.inverse]
        total, count = sample.total, len(directions)
        # If the total mass or the number of directions is too large, integer sums of squared ranks
        # could overflow. IRW without the control variate is used instead.
        exact = total < _LARGEST_TOTAL and total * total * count < _LARGEST_SUM
        if sample.n_points > MOST_POINTS or not exact:
            return sample.rank_weights(directions)
        points = span_of_sample(sample)
        kind = sample.points.dtype
        sizes, squares = _core.centered_rank_sums(
            np.ascontiguousarray(points, dtype=kind),
            np.ascontiguousarray(directions[:, : points.shape[1]], dtype=kind),
            sample.unit_masses,
        )
        size, square = sizes / (count * total), squares / (count * total**2)
        all_squares = _mean_square(points, sample.shares, sample.resources)
        steadied = size - _SLOPE * (square - all_squares)
        return ((1.0 - steadied) / 2.0).clip(0.0, 0.5)


class Dual(Depth):
    """Integrated dual depth: the mean over *all* directions of 2 F (1 - F), in closed form.

    F is the mid-rank of a projection as a fraction of the mass. 2 F (1 - F) is the univariate
    simplicial depth (Cuevas and Fraiman 2009). The order of points is almost the same as that of
    the IRW depth. Directions are not sampled, so no seed is needed. The time is proportional to the
    cube of the number of points.
    """

    _name = "dual"
    _affine_invariant = False

    def _evaluate(self, sample: Sample, queries: Queries, directions: np.ndarray) -> Any:
        if queries is not None:
            joint = sample.with_queries(queries)
            return self._evaluate(joint, None, directions)[joint.inverse]
        square = _mean_square(span_of_sample(sample), sample.shares, sample.resources)
        # Clip the depths to their range, because rounding errors are large if one point is
        # extremely far from the others.
        return ((1.0 - square) / 2.0).clip(0.0, 0.5)


def span_of_sample(sample: Sample) -> np.ndarray:
    """Return coordinates (u, r) of the u points in an orthonormal basis of their affine span.

    If there are more points than columns, or only one point, the original columns are used as
    coordinates. Otherwise r = u - 1. Points are shifted and scaled, which does not change ratios of
    their distances.
    """
    points = standardize(sample, sample.points).astype(np.float64)
    if len(points) > points.shape[1] or len(points) == 1:
        return points
    # The triangular factor of a QR decomposition contains the coordinates of the differences from
    # the first point. The orthonormal basis itself, which would take most of the time, is not
    # computed.
    edges = np.asarray(np.linalg.qr((points[1:] - points[0]).T, mode="r")).T
    return np.concatenate([np.zeros((1, edges.shape[1])), edges])


def _mean_square(points: np.ndarray, shares: np.ndarray, resources: Resources) -> np.ndarray:
    from scipy.spatial.distance import cdist

    # The result depends only on angles between differences of points. Points are scaled by a power
    # of two, so that squared distances do not overflow.
    scaled = np.ldexp(points, -np.frexp(np.abs(points).max())[1])
    distances = cdist(scaled, scaled, "sqeuclidean")
    return _core.mean_squared_rank(distances, shares, resources.n_threads)
