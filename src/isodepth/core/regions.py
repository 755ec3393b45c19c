"""TrimmedRegions: a sample as nested regions, each the deepest share of its mass."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from isodepth import _core
from isodepth.core.sample import Sample
from isodepth.data.validation import check_direction_rows, check_levels_inside
from isodepth.engine.depth_passes import order_of, take_rows
from isodepth.engine.resources import Resources

_SINGLE_THREAD = Resources(n_jobs=1)


@dataclass(frozen=True, eq=False, repr=False)
class TrimmedRegions:
    """The nested depth-trimmed regions of one sample.

    The region of level beta is the smallest upper level set of the depth that holds more than a
    share beta of the mass; points of equal depth enter together. It is represented by its
    support function h(u) = max <x, u> over the sample points inside. Made by
    :meth:`isodepth.Metric.regions`.

    Attributes
    ----------
    points : ndarray of shape (n, d)
        The sample as it was given.
    weights : ndarray of shape (n,) or None
    depth : ndarray of shape (n,)
        Depth of each row of `points`.
    columns : tuple of str or None
    sample : Sample
        Distinct points with exact masses.
    order : ndarray of shape (u,)
        The distinct points from the deepest to the least deep.
    alphas : ndarray of shape (g,)
        The distinct depths, falling.
    counts : ndarray of shape (g,)
        How many distinct points have at least that depth.
    masses : ndarray of shape (g,)
        Their share of the mass, rising to 1.
    origin : Origin or None
        What decided the order: the depth with its settings, and the directions. A metric takes
        regions of its own depth and directions only, and none without an origin.

    Examples
    --------
    >>> import isodepth
    >>> regions = isodepth.Metric(depth="halfspace").regions([[1.0], [2.0], [4.0], [8.0], [16.0]])
    >>> regions.alpha(0.5), regions.inside(0.5)
    (0.4, array([1, 2, 3]))
    >>> regions.support([[1.0], [-1.0]], 0.5)
    array([ 8., -2.])
    """

    points: np.ndarray
    weights: np.ndarray | None
    depth: np.ndarray
    columns: tuple[str, ...] | None
    sample: Sample
    order: np.ndarray
    alphas: np.ndarray
    counts: np.ndarray
    masses: np.ndarray
    origin: Any = None

    @classmethod
    def from_depths(
        cls,
        sample: Sample,
        distinct_depth: np.ndarray,
        *,
        points: np.ndarray,
        depth: np.ndarray,
        weights: np.ndarray | None = None,
        columns: tuple[str, ...] | None = None,
        tie_tolerance: float = 0.0,
        origin: Any = None,
        resources: Resources = _SINGLE_THREAD,
    ) -> TrimmedRegions:
        """Order the distinct points (u, d) of `sample` by their depths (u,)."""
        order = order_of(-distinct_depth, resources)
        falling = distinct_depth[order]
        ends = tie_ends(falling, tie_tolerance)
        if sample.masses is None:
            cumulated = ends
        else:
            cumulated = np.cumsum(sample.masses[order])[ends - 1]
        return cls(
            points=points,
            weights=weights,
            depth=depth,
            columns=columns,
            sample=sample,
            order=order,
            alphas=falling if len(ends) == len(falling) else falling[ends - 1],
            counts=ends,
            masses=cumulated / sample.total,
            origin=origin,
        )

    @cached_property
    def ordered(self) -> np.ndarray:
        """The distinct points (u, d), deepest first: every region is a prefix."""
        return self.put_in_order(_SINGLE_THREAD)

    def put_in_order(self, resources: Resources) -> np.ndarray:
        """Like `ordered`, computed on several threads the first time."""
        known = self.__dict__.get("ordered")
        if known is None:
            known = self.__dict__["ordered"] = take_rows(self.sample.points, self.order, resources)
        return known

    @property
    def n_points(self) -> int:
        """Number of rows as given."""
        return len(self.points)

    @property
    def n_features(self) -> int:
        """The dimension of the space."""
        return self.points.shape[1]

    def group(self, beta: Any) -> np.ndarray:
        """Index into `alphas`, `counts` and `masses` of the region of level beta."""
        return self.masses.searchsorted(check_levels_inside(beta), side="right")

    def prefix_sizes(self, betas: np.ndarray) -> np.ndarray:
        """How many of the ordered points lie in the regions of valid levels (L,)."""
        return self.counts[self.masses.searchsorted(betas, side="right")]

    def alpha(self, beta: Any) -> Any:
        """Depth of the region of level beta: sup{g : mass(D >= g) > beta}.

        Parameters
        ----------
        beta : float or array of shape (L,), in [0, 1)

        Returns
        -------
        alpha : float or ndarray of shape (L,)
        """
        result = self.alphas[self.group(beta)]
        return float(result) if np.ndim(beta) == 0 else result

    def inside(self, beta: float) -> np.ndarray:
        """Indices of the rows of `points` that lie in the region of level beta, rising.

        Rows of weight zero do not belong to the sample and are never inside.
        """
        rank = np.empty(self.sample.n_points, dtype=np.intp)
        rank[self.order] = np.arange(self.sample.n_points)
        present = self.sample.inverse >= 0
        within = rank[self.sample.inverse] < self.counts[self.group(beta)]
        return np.flatnonzero(present & within)

    def support(self, u: Any, beta: Any) -> np.ndarray:
        """Support function h(u) of the region of level beta: max <x, u> over the points inside.

        Parameters
        ----------
        u : array of shape (d,) or (K, d)
            Directions; scaled to length one.
        beta : float or array of shape (L,), in [0, 1)

        Returns
        -------
        support : float64 ndarray
            Of shape (L, K), without the axes that were not given.
        """
        rows = check_direction_rows(np.atleast_2d(np.asarray(u, dtype=float)), self.n_features)
        sizes = self.counts[np.atleast_1d(self.group(beta))]
        result = np.empty((len(sizes), len(rows)))
        ordered = self.ordered[: sizes.max()].astype(np.float64, copy=False)
        # Sixteen directions at a time bound the memory for the projections.
        for k in range(0, len(rows), 16):
            running = np.maximum.accumulate(ordered @ rows[k : k + 16].T, axis=0)
            result[:, k : k + 16] = running[sizes - 1]
        if np.ndim(u) == 1:
            result = result[:, 0]
        return result[0] if np.ndim(beta) == 0 else result

    def __repr__(self) -> str:
        return (
            f"TrimmedRegions(n={self.n_points}, d={self.n_features}, regions={len(self.counts)}, "
            f"depth from {self.alphas[-1]:.4g} to {self.alphas[0]:.4g})"
        )


def tie_ends(falling: np.ndarray, tolerance: float) -> np.ndarray:
    """Where groups of equal depth end in `falling` (u,), as counts of points.

    A group holds everything within `tolerance` of its first member.
    """
    return _core.tie_ends(np.ascontiguousarray(falling, dtype=np.float64), tolerance)
