"""Halfspace (Tukey) depth."""

from __future__ import annotations

import numpy as np

from isodepth.core.sample import Sample
from isodepth.depth.base import standardize
from isodepth.depth.direction_search import search_directions
from isodepth.depth.minimized import MinimizedDepth
from isodepth.engine.depth_passes import smallest_halfspace
from isodepth.engine.resources import Resources


class HalfspaceDepth(MinimizedDepth):
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

    name = "halfspace"

    def along_directions(
        self,
        sample: Sample,
        queries: np.ndarray | None,
        directions: np.ndarray,
        resources: Resources,
    ) -> np.ndarray:
        points, weights = sample.points, sample.masses
        if self.refine:
            # The sample's own points propose directions, too.
            asked = None if queries is None else sample.with_queries(queries).points

            def judge(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
                masses, where = smallest_halfspace(
                    points, rows, weights=weights, queries=asked, locate=True, resources=resources
                )
                assert where is not None
                return -masses, where

            searched = standardize(sample, points if asked is None else asked)
            directions = search_directions(searched, directions, self.refine, judge)
        masses, _ = smallest_halfspace(
            points, directions, weights=weights, queries=queries, resources=resources
        )
        return masses / sample.total

    def exactly(self, sample: Sample, queries: np.ndarray, resources: Resources) -> np.ndarray:
        from isodepth.depth.exact.halfspace import exact_halfspace_depth

        points, asked = sample.points.astype(np.float64), queries.astype(np.float64)
        masses = exact_halfspace_depth(points, sample.unit_masses, asked, n_jobs=resources.n_jobs)
        return masses / sample.total

    def tied_depth(self, sample: Sample) -> np.ndarray:
        # Each corner of a simplex can be cut off alone.
        return sample.shares
