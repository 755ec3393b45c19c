"""Projection depth."""

from __future__ import annotations

import numpy as np

from isodepth.core.sample import Sample
from isodepth.depth.base import standardize
from isodepth.depth.direction_search import search_directions
from isodepth.depth.minimized import MinimizedDepth
from isodepth.engine.depth_passes import largest_outlyingness
from isodepth.engine.resources import Resources
from isodepth.errors import InvalidOptionError


class ProjectionDepth(MinimizedDepth):
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
        falls towards the exact one as directions are added. `exact` (in one or two dimensions, for
        some hundred points) finds it by combinatorics.
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

    name = "projection"
    tie_tolerance = 1e-12

    def along_directions(
        self,
        sample: Sample,
        queries: np.ndarray | None,
        directions: np.ndarray,
        resources: Resources,
    ) -> np.ndarray:
        points, weights = sample.points, sample.masses
        if self.refine:

            def judge(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
                largest, where = largest_outlyingness(
                    points, rows, weights=weights, queries=queries, locate=True, resources=resources
                )
                assert where is not None
                return largest, where

            searched = standardize(sample, points if queries is None else queries)
            directions = search_directions(searched, directions, self.refine, judge)
        largest, _ = largest_outlyingness(
            points, directions, weights=weights, queries=queries, resources=resources
        )
        return 1.0 / (1.0 + largest.astype(np.float64, copy=False))

    def exactly(self, sample: Sample, queries: np.ndarray, resources: Resources) -> np.ndarray:
        from isodepth.depth.exact.projection import exact_projection_depth_2d

        if sample.n_features > 2:
            raise InvalidOptionError(
                f"method='exact' of the projection depth needs data of one or two dimensions, got "
                f"{sample.n_features}; use method='directions' with refine"
            )
        points, asked = sample.points.astype(np.float64), queries.astype(np.float64)
        if sample.n_features == 1:
            # A line is a plane whose second coordinate is always zero.
            points, asked = (np.column_stack([rows, 0 * rows]) for rows in (points, asked))
        return exact_projection_depth_2d(points, sample.unit_masses, asked, n_jobs=resources.n_jobs)

    def tied_depth(self, sample: Sample) -> np.ndarray:
        # Projections of the corners of a simplex can be made anything. Sending one point away from
        # the others makes its outlyingness as large as one likes, unless it holds half of the mass
        # (then it is as far from the median as half of the mass is), or more (then it is the
        # median).
        masses = sample.unit_masses
        heaviest = int(masses.argmax())
        rest = sample.total - int(masses[heaviest])
        depths = np.where(2 * masses == sample.total, 0.5, 0.0)
        if 2 * rest < sample.total:
            # The MAD is zero whatever the direction, and what counts is the median deviation of
            # the rest. Half of that mass: at most twice as far away as the mean with the nearest.
            depths = np.where(2 * masses > rest, 1 / 2, np.where(2 * masses == rest, 1 / 3, 0.0))
            depths[heaviest] = 1.0
        return depths
