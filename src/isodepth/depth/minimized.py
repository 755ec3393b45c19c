"""Depths that are a minimum over directions: by trying some, by searching on, or exactly."""

from __future__ import annotations

from typing import Any

import numpy as np

from isodepth.core.sample import Sample
from isodepth.data.validation import check_choice, check_integer
from isodepth.depth.base import Depth
from isodepth.engine.resources import Resources
from isodepth.errors import InvalidOptionError

METHODS = ("directions", "exact")


class MinimizedDepth(Depth):
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
            place = np.full(joint.n_points, -1)
            place[joint.unit_masses > 0] = np.arange(sample.n_points)
            at = place[joint.inverse]
            depths = np.where(at >= 0, own[at], depths)
        return depths
