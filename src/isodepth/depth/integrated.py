"""Depths that are means over directions: integrated rank-weighted and integrated dual depth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from isodepth import _core
from isodepth.core.directions import rng_for
from isodepth.core.regions import Sample
from isodepth.depth.base import Depth, Projections, Queries, standardize
from isodepth.depth.whitening import Whitening, check_covariance, outside_span, shrinks
from isodepth.engine import Resources

#: Maximum number of points for which `SteadyIRW` uses its control variate, because the time is
#: proportional to the cube of the number of points. For larger samples the depth is plain IRW.
MOST_POINTS = 256

# Regression slope of |v| on v**2 for v uniform on [-1, 1]. The residual variance is a sixteenth of
# the variance of |v|. Here v = 2 F - 1, which is about uniform along a random direction.
_SLOPE = 0.9375
# Upper bounds on a sum of squared ranks and on the total mass, so that the integers of the compiled
# core (64 and 32 bits) do not overflow.
_LARGEST_SUM = 1 << 62
_LARGEST_TOTAL = 1 << 26


class IRW(Depth):
    """Mean over directions of min(F, 1 - F); see `isodepth.IRWDepth`."""

    name = "irw"
    affine_invariant = False

    def evaluate(self, sample: Sample, queries: Queries, along: Projections) -> np.ndarray:
        return along.run(_core.mean_rank_weight, sample.points, sample.masses, queries)


@dataclass(eq=False, repr=False, kw_only=True)
class AIIRW(Depth):
    """IRW depth in the whitened sample; see `isodepth.AIIRWDepth`."""

    name = "ai_irw"

    covariance: Any = "empirical"

    def check_options(self) -> None:
        super().check_options()
        check_covariance(self.covariance)

    def is_uninformative(self, sample: Sample) -> bool:
        return not shrinks(self.covariance) and super().is_uninformative(sample)

    def evaluate(self, sample: Sample, queries: Queries, along: Projections) -> np.ndarray:
        points, scaled = sample.points, queries
        # In one dimension whitening does not change ranks.
        if sample.n_features > 1:
            # Whitened rows have the same ranks along a direction as the rows themselves along a
            # transformed direction, so the rows are not whitened.
            white = self._whitening(sample)
            along = along._replace(directions=white.directions(along.directions))
            points, scaled = white.scale(points), None if queries is None else white.scale(queries)
        depths = along.run(_core.mean_rank_weight, points, sample.masses, scaled)
        if queries is not None and not shrinks(self.covariance):
            # Points off the affine hull of the sample have depth zero.
            depths[outside_span(sample, queries)] = 0.0
        return depths

    def tied_depth(self, sample: Sample) -> np.ndarray:
        # The projections of the whitened vertices on a random direction are g / sqrt(shares), with
        # g uniform on the unit vectors orthogonal to sqrt(shares). Depths therefore depend on the
        # weights only. With equal weights every depth is the mean of min(F, 1 - F) over all ranks.
        if sample.masses is None:
            ranks = 2 * np.arange(sample.n_points) + 1
            mean = np.minimum(ranks, 2 * sample.n_points - ranks).mean() / (2 * sample.n_points)
            return np.full(sample.n_points, mean)
        roots = np.sqrt(sample.shares)
        corners = np.diag(1 / roots) - roots
        rng = rng_for(0, "tied depths")
        along = Projections(rng.standard_normal((4096, sample.n_points)), Resources(n_jobs=1))
        depths = along.run(_core.mean_rank_weight, corners, sample.masses, None)
        # Points of equal weight have equal depths. Averaging over them reduces the Monte-Carlo
        # error.
        _, group = np.unique(sample.masses, return_inverse=True)
        return (np.bincount(group, depths) / np.bincount(group))[group]

    def _whitening(self, sample: Sample) -> Whitening:
        # Robust covariance estimates are slow, so the whitening of the last sample is cached.
        known = getattr(self, "_known", None)
        if known is None or known[0] is not sample:
            known = self._known = (sample, Whitening.of(sample, self.covariance))
        return known[1]


class SteadyIRW(IRW):
    """IRW with a control variate, for few points in many columns.

    IRW is the mean over directions of min(F, 1 - F) = (1 - |2 F - 1|) / 2. The mean of (2 F - 1)**2
    over *all* directions is known in closed form, and (2 F - 1)**2 is correlated with |2 F - 1|.
    The mean of |2 F - 1| over the sampled directions is therefore corrected in proportion to the
    error of their mean of (2 F - 1)**2. If each direction is uniform on the sphere, the result is
    an unbiased estimate of the same depth with about a sixteenth of the variance.

    If the points span fewer dimensions than they have columns, they are represented by coordinates
    in their span. Uniform directions of the span then replace those of the whole space.
    """

    name = "steady_irw"

    def evaluate(self, sample: Sample, queries: Queries, along: Projections) -> np.ndarray:
        if queries is not None:
            joint = sample.with_queries(queries)
            return self.evaluate(joint, None, along)[joint.inverse]
        total, count = sample.total, len(along.directions)
        # With a larger total mass or more directions, the integer sums of squared ranks could
        # overflow. Plain IRW is used then.
        exact = total < _LARGEST_TOTAL and total * total * count < _LARGEST_SUM
        if sample.n_points > MOST_POINTS or not exact:
            return super().evaluate(sample, None, along)
        points = span_of_sample(sample)
        kind = sample.points.dtype
        sizes, squares = _core.centered_rank_sums(
            np.ascontiguousarray(points, dtype=kind),
            np.ascontiguousarray(along.directions[:, : points.shape[1]], dtype=kind),
            sample.unit_masses,
        )
        size, square = sizes / (count * total), squares / (count * total**2)
        all_squares = _mean_square(points, sample.shares, along.resources)
        steadied = size - _SLOPE * (square - all_squares)
        return ((1.0 - steadied) / 2.0).clip(0.0, 0.5)


class Dual(Depth):
    """Integrated dual depth: the mean over *all* directions of 2 F (1 - F), in closed form.

    It is the mean over directions of the univariate simplicial depth (Cuevas and Fraiman 2009). It
    orders points almost as IRW does. It does not sample directions and therefore needs no seed. The
    time is proportional to the cube of the number of points.
    """

    name = "dual"
    affine_invariant = False

    def evaluate(self, sample: Sample, queries: Queries, along: Projections) -> np.ndarray:
        if queries is not None:
            joint = sample.with_queries(queries)
            return self.evaluate(joint, None, along)[joint.inverse]
        square = _mean_square(span_of_sample(sample), sample.shares, along.resources)
        # Clip rounding errors, which are large if one point is extremely far from the others.
        return ((1.0 - square) / 2.0).clip(0.0, 0.5)


def span_of_sample(sample: Sample) -> np.ndarray:
    """Return coordinates (u, r) of the points in an orthonormal basis of their affine span.

    If there are more points than columns, or only one point, their own coordinates are used. Points
    are shifted and scaled, which does not change ratios of their distances.
    """
    points = standardize(sample, sample.points).astype(np.float64)
    if len(points) > points.shape[1] or len(points) == 1:
        return points
    # The triangular factor contains the coordinates of the differences from the first point. The
    # orthonormal basis itself, which would take most of the time, is not computed.
    edges = np.asarray(np.linalg.qr((points[1:] - points[0]).T, mode="r")).T
    return np.concatenate([np.zeros((1, edges.shape[1])), edges])


def _mean_square(points: np.ndarray, shares: np.ndarray, resources: Resources) -> np.ndarray:
    from scipy.spatial.distance import cdist

    # The result depends on angles only. Points are scaled to avoid overflow of squared distances.
    scaled = np.ldexp(points, -np.frexp(np.abs(points).max())[1])
    distances = cdist(scaled, scaled, "sqeuclidean")
    return _core.mean_squared_rank(distances, shares, resources.n_threads)
