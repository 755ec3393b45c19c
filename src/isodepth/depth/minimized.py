"""Depths that are a minimum over directions: projection depth and halfspace (Tukey) depth.

The minimum is taken over given directions, over those that a local search adds, or exactly.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from isodepth.core.sample import Sample
from isodepth.data.validation import check_choice, check_integer
from isodepth.depth.base import Depth, standardize
from isodepth.depth.direction_search import search_directions
from isodepth.engine.depth_passes import largest_outlyingness, smallest_halfspace
from isodepth.engine.resources import Resources
from isodepth.errors import InvalidOptionError

METHODS = ("directions", "exact")


class Minimized(Depth):
    """A depth that is the smallest of one-dimensional depths over all directions.

    Parameters
    ----------
    method : {"directions", "exact"}
    refine : int
        Steps of local search; only with ``method="directions"``.
    n_directions, directions, random_state, n_jobs
        As for every depth, see :class:`isodepth.depth.base.Depth`.
    """

    def __init__(
        self,
        *,
        method: str = "directions",
        refine: int = 0,
        n_directions: int = 1000,
        directions: Any = "uniform",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            n_directions=n_directions,
            directions=directions,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.method = method
        self.refine = refine

    def along_directions(
        self,
        sample: Sample,
        queries: np.ndarray | None,
        directions: np.ndarray,
        resources: Resources,
    ) -> np.ndarray:
        """Depth over directions of `queries` (m, d), or of the sample's own points if None."""
        raise NotImplementedError

    def exactly(self, sample: Sample, queries: np.ndarray, resources: Resources) -> np.ndarray:
        """Exact depth of `queries` (m, d)."""
        raise NotImplementedError

    def check_options(self) -> None:
        super().check_options()
        check_choice(self.method, "method", METHODS)
        check_integer(self.refine, "refine", 0)
        if self.method == "exact" and self.refine:
            raise InvalidOptionError(
                f"method='exact' leaves nothing to refine, got refine={self.refine}; drop one of "
                "the two"
            )

    def of_sample(self, sample: Sample, directions: np.ndarray, resources: Resources) -> np.ndarray:
        if self.method == "exact":
            return self.exactly(sample, sample.points, resources)
        return self.along_directions(sample, None, directions, resources)

    def of_points(
        self, sample: Sample, points: np.ndarray, directions: np.ndarray, resources: Resources
    ) -> np.ndarray:
        if self.method == "exact":
            return self.exactly(sample, points, resources)
        depths = self.along_directions(sample, points, directions, resources)
        if self.refine:
            # A search for other points may find better directions for the sample's own by chance;
            # one point must not have two depths.
            own = self.along_directions(sample, None, directions, resources)
            joint = sample.with_queries(points)
            own_index = np.full(joint.n_points, -1)
            own_index[joint.unit_masses > 0] = np.arange(sample.n_points)
            index = own_index[joint.inverse]
            depths = np.where(index >= 0, own[index], depths)
        return depths


class Projection(Minimized):
    """1 / (1 + the largest outlyingness over directions); see `isodepth.ProjectionDepth`."""

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

            def evaluate(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
                largest, index = largest_outlyingness(
                    points, rows, weights=weights, queries=queries, locate=True, resources=resources
                )
                assert index is not None
                return largest, index

            searched = standardize(sample, points if queries is None else queries)
            directions = search_directions(searched, directions, self.refine, evaluate)
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


class Halfspace(Minimized):
    """The smallest mass of a closed halfspace with the point; see `isodepth.HalfspaceDepth`."""

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

            def evaluate(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
                masses, index = smallest_halfspace(
                    points, rows, weights=weights, queries=asked, locate=True, resources=resources
                )
                assert index is not None
                return -masses, index

            searched = standardize(sample, points if asked is None else asked)
            directions = search_directions(searched, directions, self.refine, evaluate)
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
