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

#: Maximum number of points for the control variate, whose time grows with the cube of their number.
#: Larger samples use plain IRW.
MOST_POINTS = 256

# Regression slope of |v| on v**2 for v uniform on [-1, 1], which leaves a sixteenth of the variance
# of |v|. Ranks along a random direction are about uniform.
_SLOPE = 0.9375
# Unit masses are counted in 32 bits; sums of squares must stay below 2**63.
_LARGEST_SUM = 1 << 62
_LARGEST_TOTAL = 1 << 26


class IRW(Depth):
    """The mean over directions of min(F, 1 - F); see `isodepth.IRWDepth`."""

    name = "irw"
    affine_invariant = False

    def evaluate(self, sample: Sample, queries: Queries, along: Projections) -> np.ndarray:
        return along.run(_core.mean_rank_weight, sample.points, sample.masses, queries)


@dataclass(eq=False, repr=False, kw_only=True)
class AIIRW(Depth):
    """IRW of the whitened sample; see `isodepth.AIIRWDepth`."""

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
            # Ranks of whitened rows along a direction are ranks of the rows along another one.
            white = self._whitening(sample)
            along = along._replace(directions=white.directions(along.directions))
            points, scaled = white.scale(points), None if queries is None else white.scale(queries)
        depths = along.run(_core.mean_rank_weight, points, sample.masses, scaled)
        if queries is not None and not shrinks(self.covariance):
            # Points off the affine hull of the sample have depth zero.
            depths[outside_span(sample, queries)] = 0.0
        return depths

    def tied_depth(self, sample: Sample) -> np.ndarray:
        # Projections of the whitened corners of a simplex are g / sqrt(share), with a uniformly
        # random direction g orthogonal to sqrt(share): only the weights distinguish points.
        if sample.masses is None:
            ranks = 2 * np.arange(sample.n_points) + 1
            mean = np.minimum(ranks, 2 * sample.n_points - ranks).mean() / (2 * sample.n_points)
            return np.full(sample.n_points, mean)
        roots = np.sqrt(sample.shares)
        corners = np.diag(1 / roots) - roots
        rng = rng_for(0, "tied depths")
        along = Projections(rng.standard_normal((4096, sample.n_points)), Resources(n_jobs=1))
        depths = along.run(_core.mean_rank_weight, corners, sample.masses, None)
        # Points of equal weight have equal depths; the mean over them reduces Monte-Carlo noise.
        _, group = np.unique(sample.masses, return_inverse=True)
        return (np.bincount(group, depths) / np.bincount(group))[group]

    def _whitening(self, sample: Sample) -> Whitening:
        # Robust estimates are costly: keep the one of the last sample.
        known = getattr(self, "_known", None)
        if known is None or known[0] is not sample:
            known = self._known = (sample, Whitening.of(sample, self.covariance))
        return known[1]


class SteadyIRW(IRW):
    """IRW with a control variate, for few points in many columns.

    IRW is the mean over directions of min(F, 1 - F) = (1 - |2 F - 1|) / 2. The mean of the square
    (2 F - 1)**2 over *all* directions is known in closed form, and is correlated with |2 F - 1|. If
    the mean square over the sampled directions is too large, the mean of |2 F - 1| is corrected in
    proportion. The result estimates the same depth without bias for directions that are uniform
    one by one, with about a sixteenth of the variance.

    Points that span fewer dimensions than they have columns are projected on their span, in which
    the projection of a uniform direction is again uniform.
    """

    name = "steady_irw"

    def evaluate(self, sample: Sample, queries: Queries, along: Projections) -> np.ndarray:
        if queries is not None:
            joint = sample.with_queries(queries)
            return self.evaluate(joint, None, along)[joint.inverse]
        total, count = sample.total, len(along.directions)
        # Above these limits the sums of squared ranks over all directions would overflow.
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

    The univariate simplicial depth averaged over directions (Cuevas and Fraiman 2009). It orders
    points almost as IRW does. It needs no directions, and so no seed. The time grows with the cube
    of the number of points.
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
    """Return float64 coordinates (u, r) of the points in their span, with the same distances."""
    points = standardize(sample, sample.points).astype(np.float64)
    if len(points) > points.shape[1] or len(points) == 1:
        return points
    # Coordinates of the edges from the first point, in an orthonormal basis of their span. The
    # basis itself, which is most of the work, is not computed.
    edges = np.asarray(np.linalg.qr((points[1:] - points[0]).T, mode="r")).T
    return np.concatenate([np.zeros((1, edges.shape[1])), edges])


def _mean_square(points: np.ndarray, shares: np.ndarray, resources: Resources) -> np.ndarray:
    from scipy.spatial.distance import cdist

    # Angles do not depend on the scale, and squared distances must not overflow.
    scaled = np.ldexp(points, -np.frexp(np.abs(points).max())[1])
    distances = cdist(scaled, scaled, "sqeuclidean")
    return _core.mean_squared_rank(distances, shares, resources.n_threads)
