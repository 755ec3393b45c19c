"""Projection depth."""

from __future__ import annotations

import numpy as np

from isodepth.core.sample import Sample
from isodepth.depth.base import standardise
from isodepth.depth.direction_search import search_directions
from isodepth.depth.minimised import MinimisedDepth
from isodepth.engine.spread_passes import largest_outlyingness
from isodepth.engine.threads import Resources
from isodepth.errors import InvalidOptionError


class ProjectionDepth(MinimisedDepth):
    """Projection depth: 1 / (1 + the largest |<u,x> - med| / MAD over directions u).

    Median and median absolute deviation are the usual sample ones, without a consistency factor. In
    a direction where the MAD is zero, a point off the median has depth 0 and a point on it is not
    outlying.

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
        points = standardise(sample, sample.points)
        asked = None if queries is None else standardise(sample, queries)
        if self.refine:

            def judge(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
                return largest_outlyingness(
                    points, sample.masses, sample.total, asked, rows, resources, locate=True
                )

            searched = points if asked is None else asked
            directions = search_directions(searched, directions, self.refine, judge)
        largest, _ = largest_outlyingness(
            points, sample.masses, sample.total, asked, directions, resources
        )
        return 1.0 / (1.0 + largest.astype(np.float64))

    def exactly(self, sample: Sample, queries: np.ndarray) -> np.ndarray:
        from isodepth.depth.exact.projection import exact_projection_depth_2d

        if sample.width > 2:
            raise InvalidOptionError(
                f"method='exact' of the projection depth needs data of one or two dimensions, got "
                f"{sample.width}; use method='directions' with refine"
            )
        points, asked = sample.points.astype(np.float64), queries.astype(np.float64)
        if sample.width == 1:
            # A line is a plane whose second coordinate is always zero.
            points, asked = (np.column_stack([rows, 0 * rows]) for rows in (points, asked))
        return exact_projection_depth_2d(points, sample.unit_masses, asked)

    def tied_depth(self, sample: Sample) -> np.ndarray:
        # Projections of the corners of a simplex can be made anything. Letting all but one
        # coincide gives a zero MAD, unless that one holds half of the mass or more.
        if sample.n_points <= 2 and sample.masses is None:
            return np.full(sample.n_points, 1.0 / sample.n_points)
        twice = 2 * sample.unit_masses
        return np.where(twice > sample.total, 1.0, np.where(twice == sample.total, 0.5, 0.0))
