"""Primitives of a distance, which each backend implements.

A distance is computed from rows that are projected on directions. The steps from the rows to the
distance (scale, directions, depth, regions, gaps, mean over levels, gradient) are written once.
They call the primitives of a sample: spread, ranks, order statistics, support values and gaps.
There are three backends: `isodepth.geometry.regions.Sample` for rows in memory, with the compiled
core; `isodepth.device.samples.DeviceSample` for tensors on another device, with torch; and samples
that are read in chunks, in `isodepth.metric.chunked`.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from isodepth.base.compiled import Resources

#: Points (m, d) whose depths are computed; None for the distinct points of the sample.
Queries = np.ndarray | None


class Backend:
    """Sample with u distinct points in d dimensions, on which primitives are computed.

    Arrays are those of the backend: arrays of NumPy or tensors. Directions are arrays of NumPy of
    shape (K, d). If the argument `queries` (m, d) is None, results are those of the u points.

    Attributes
    ----------
    points : array of shape (u, d)
        Distinct rows of positive weight.
    masses : array of shape (u,) or None
        Integer masses of the points, proportional to the weights of the rows that equal each
        point. None if all masses are 1.
    total : int
        Sum of the masses.
    """

    points: Any
    masses: Any
    total: int

    #: Package with the functions `where`, `sign`, `bincount` and `zeros_like` for the arrays.
    xp: ClassVar[Any]

    @property
    def is_double(self) -> bool:
        """Whether the points have double precision."""
        raise NotImplementedError

    def outlyingness(self, directions: np.ndarray, queries: Queries = None) -> Any:
        """Return the maximum outlyingness (u,) of each point over directions (spread).

        Along a direction it is the distance from the median of the projections, divided by their
        MAD. A MAD of 0 is replaced by the median of the nonzero distances.
        """
        raise NotImplementedError

    def smallest_masses(self, directions: np.ndarray, queries: Queries = None) -> Any:
        """Return the minimum mass (u,) of a closed halfspace whose boundary has each point (ranks).

        The minimum is over the directions and their opposites, orthogonal to the boundary.
        """
        raise NotImplementedError

    def rank_weights(
        self, directions: np.ndarray, queries: Queries = None, white: Any = None
    ) -> Any:
        """Return the mean of min(F, 1 - F) over directions for each point (ranks), of shape (u,).

        F is the mid-rank of a projection as a fraction of the mass. The sample is first whitened by
        `white`, a result of `whitening`, unless it is None.
        """
        raise NotImplementedError

    def whitening(self, covariance: Any) -> Any:
        """Return the whitening of the sample by a covariance estimate."""
        raise NotImplementedError

    def descending(self, depths: Any) -> tuple[Any, np.ndarray]:
        """Return the indices (u,) that sort depths (u,) from the largest on, and the sorted depths.

        The sort is stable. The sorted depths are an array of NumPy (order statistics).
        """
        raise NotImplementedError

    def cumulated_masses(self, order: Any) -> np.ndarray | None:
        """Return the cumulative masses (u,) of the points in an order; None if all masses are 1."""
        raise NotImplementedError

    def ordered(self, order: Any) -> Any:
        """Return the points (u, d) in an order."""
        raise NotImplementedError

    def level_gaps(
        self, x: Any, y: Any, plan: Any, directions: np.ndarray, q: float, resources: Resources
    ) -> tuple[np.ndarray, np.ndarray]:
        """Compute the gap between the regions of two samples at each level (support values, gaps).

        `x` (n, d) and `y` (m, d) are the points of both samples, deepest first, and `plan` is a
        `LevelPlan` with L levels. The gap is the mean of order q of |h_x(u) - h_y(u)| over the
        directions u and their opposites. The support functions h_x(u) and h_y(u) are the maximum
        projections of both regions on u.

        Returns
        -------
        gaps : float64 ndarray of shape (L,)
        codes : int64 ndarray of shape (L,)
            Direction with the largest difference: k for direction k, and -1 - k for its opposite.
            If several directions are tied, it is the first of them. A backend may return zeros for
            a finite q.
        """
        raise NotImplementedError

    # -- arrays -------------------------------------------------------------------------------

    def index_of_rows(self) -> Any:
        """Return the index (n,) of each row in `points`; -1 for rows of weight zero."""
        raise NotImplementedError

    def from_host(self, array: np.ndarray) -> Any:
        """Convert an array of NumPy to an array of the backend."""
        raise NotImplementedError

    def to_host(self, array: Any) -> np.ndarray:
        """Convert an array of the backend to an array of NumPy."""
        raise NotImplementedError

    def block_size(self, n_numbers: int) -> int:
        """Return the number of directions of a block if one direction needs `n_numbers` numbers."""
        raise NotImplementedError

    def scattered(self, values: Any, rows: Any, n: int) -> Any:
        """Return the sums (n, B) of `values` (L, B) at the row indices `rows` (L, B)."""
        raise NotImplementedError

    def support_rows(self, points: Any, prefix_sizes: np.ndarray, directions: np.ndarray) -> Any:
        """Return the extreme projections of nested regions, and the rows that attain them.

        See `isodepth.geometry.regions.SupportRows`. The region of level l has the first
        ``prefix_sizes[l]`` rows of `points`.
        """
        raise NotImplementedError
