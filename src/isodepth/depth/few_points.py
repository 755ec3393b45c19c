"""Depths for few points in many dimensions, with little Monte-Carlo error or none."""

from __future__ import annotations

from typing import Any

import numpy as np

from isodepth import _core
from isodepth.core.sample import Sample
from isodepth.depth.base import Depth, standardize
from isodepth.depth.irw import IRWDepth
from isodepth.engine.resources import Resources
from isodepth.hull.frame import coordinates_in_span

#: Comparing all points with all grows with the square of their number, the mean of squares with
#: the cube: beyond this many, plain IRW is used.
MOST_POINTS = 256

# Of all multiples of v**2 this one explains most of |v| for v uniform on [-1, 1], and leaves a
# sixteenth of its variance. Ranks along a random direction are about uniform.
_SLOPE = 0.9375
# Unit masses are counted in 32 bits; sums of squares must stay below 2**63.
_ROOM = 1 << 62


class SteadyIRWDepth(IRWDepth):
    """Integrated rank-weighted depth, as exact as sixteen times as many directions would make it.

    IRW is the mean over directions of min(F, 1 - F) = (1 - |2 F - 1|) / 2. The mean of the square
    (2 F - 1)**2 over *all* directions is known in closed form, and it moves with |2 F - 1|: where
    the directions drawn give too large a mean square, their mean size is too large as well, and is
    corrected in proportion (a control variate). The result estimates the same depth, without bias,
    for directions that are uniform one by one (every family but an array of one's own).

    Points that span fewer dimensions than they have are looked at in their span, where a uniform
    direction of space is seen as a uniform direction.

    The tokens of a text lie at nearly equal distances from each other, so their depths differ
    little, and the noise of a thousand plain directions is enough to shuffle them.

    Parameters
    ----------
    n_directions, directions, random_state, n_jobs
        As for every depth, see :class:`isodepth.depth.base.Depth`.

    Examples
    --------
    >>> import numpy as np
    >>> from isodepth import IRWDepth
    >>> from isodepth.text import SteadyIRWDepth
    >>> X = np.random.default_rng(0).normal(size=(20, 50))
    >>> truth = IRWDepth(n_directions=200_000, random_state=0).fit(X).depth_
    >>> plain = IRWDepth(n_directions=500, random_state=1).fit(X).depth_
    >>> steady = SteadyIRWDepth(n_directions=500, random_state=1).fit(X).depth_
    >>> bool(np.std(steady - truth) < np.std(plain - truth) / 2)
    True
    """

    name = "steady_irw"

    def of_sample(self, sample: Sample, directions: np.ndarray, resources: Resources) -> np.ndarray:
        n, total, count = sample.n_points, sample.total, len(directions)
        if n > MOST_POINTS or not counts_fit(total, count):
            return super().of_sample(sample, directions, resources)
        points = span_of_sample(sample)
        kind = sample.points.dtype
        sizes, squares = _core.centered_rank_sums(
            np.ascontiguousarray(points, dtype=kind),
            np.ascontiguousarray(directions[:, : points.shape[1]], dtype=kind),
            sample.unit_masses,
            resources.n_threads,
        )
        size, square = sizes / (count * total), squares / (count * total**2)
        return steady_depth(size, square, _mean_square(points, sample.shares, resources))

    def of_points(
        self, sample: Sample, points: np.ndarray, directions: np.ndarray, resources: Resources
    ) -> np.ndarray:
        joint = sample.with_queries(points)
        return self.of_sample(joint, directions, resources)[joint.inverse]


class DualDepth(Depth):
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
    >>> from isodepth.text import DualDepth
    >>> DualDepth().fit([[1.0], [2.0], [4.0], [8.0], [16.0]]).depth_.round(6)
    array([0.18, 0.42, 0.5 , 0.42, 0.18])
    """

    name = "dual"
    affine_invariant = False

    def of_sample(self, sample: Sample, directions: np.ndarray, resources: Resources) -> np.ndarray:
        return (1.0 - _mean_square(span_of_sample(sample), sample.shares, resources)) / 2.0

    def of_points(
        self, sample: Sample, points: np.ndarray, directions: np.ndarray, resources: Resources
    ) -> np.ndarray:
        joint = sample.with_queries(points)
        return self.of_sample(joint, directions, resources)[joint.inverse]


def counts_fit(total: int, count: int) -> bool:
    """Whether the sums of squares over that many directions are exact."""
    return total * total * count < _ROOM


def steady_depth(size: Any, square: Any, mean_square: Any) -> Any:
    """The depths from means of |2 F - 1| and its square along some directions, and along all."""
    steadied = size - _SLOPE * (square - mean_square)
    return ((1.0 - steadied) / 2.0).clip(0.0, 0.5)


def span_of_sample(sample: Sample) -> np.ndarray:
    """The points (u, r) of a sample with distances kept, r as small as is easily had, float64."""
    points = standardize(sample, sample.points).astype(np.float64)
    if len(points) > points.shape[1] or len(points) == 1:
        return points
    # Edges from the first point span what there is: the triangle of their factorization holds it.
    edges = coordinates_in_span(points[1:] - points[0])
    return np.concatenate([np.zeros((1, edges.shape[1])), edges])


def _mean_square(points: np.ndarray, shares: np.ndarray, resources: Resources) -> np.ndarray:
    from scipy.spatial.distance import cdist

    return _core.mean_squared_rank(
        cdist(points, points, "sqeuclidean"), shares, resources.n_threads
    )
