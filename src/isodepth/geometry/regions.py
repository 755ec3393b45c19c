"""Canonical form of a sample, its nested regions, and the levels of a comparison.

The canonical form has the distinct rows in lexicographic order, each with an integer mass.
Computations on samples in memory use it, except those on tensors. Results therefore do not depend
on the order of the rows, w equal rows have the same effect as one row of weight w, and equal rows
have equal depths in spite of rounding.

The region of level beta is the smallest set of the deepest points with more than a fraction beta of
the total mass.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from isodepth import _core
from isodepth.base.compiled import ALONE, Resources, write_supports
from isodepth.base.export import ReadOnlyFields, equal_values
from isodepth.errors import InvalidInputError
from isodepth.geometry.directions import check_direction_rows
from isodepth.geometry.weights import exact_masses
from isodepth.table.validation import check_weights, to_array

#: Relative difference up to which a level counts as equal to 1 - eps, the upper end of all levels.
#: eps is the fraction of the mass that the distance trims.
SLIVER = 1e-14
#: A power mean with an exponent p below this value has a relative error above 1e-13 if it is
#: computed as a sum of powers.
SMALL_POWER = 1e-3


@dataclass(frozen=True, eq=False)
class Sample:
    """Distinct points of a sample, with integer masses that are proportional to their weights.

    A sample of n rows with d columns has u distinct points. Rows of weight zero are not among them.

    Attributes
    ----------
    points : ndarray of shape (u, d)
        Distinct rows in lexicographic order.
    masses : int64 ndarray of shape (u,), or None
        Mass of each distinct point, proportional to the total weight of the rows that equal the
        point. None if all masses are equal; each is then 1.
    total : int
        Sum of the masses.
    inverse : intp ndarray of shape (n,)
        Index in `points` of each input row; -1 for rows of weight zero.
    """

    points: np.ndarray
    masses: np.ndarray | None
    total: int
    inverse: np.ndarray

    @classmethod
    def of(
        cls,
        points: np.ndarray,
        weights: Any = None,
        name: str = "weights",
        resources: Resources = ALONE,
    ) -> Sample:
        """Create the sample of validated rows `points` (n, d) with weights (n,).

        If `weights` is None, each row has weight 1. `name` is the name of the weights in messages.
        """
        checked = check_weights(weights, len(points), name)
        if checked is None:
            return cls._merge(points, None, resources)
        present = checked > 0
        if present.all():
            return cls._merge(points, exact_masses(checked), resources)
        merged = cls._merge(points[present], exact_masses(checked[present]), resources)
        inverse = np.full(len(points), -1, dtype=np.intp)
        inverse[present] = merged.inverse
        return cls(merged.points, merged.masses, merged.total, inverse)

    def with_queries(self, queries: np.ndarray) -> Sample:
        """Return the sample with `queries` (m, d) as additional points of mass zero.

        A query that equals a sample point is merged with it, so that both have the same depth. The
        attribute `inverse` of the result is the index of each query in `points`, of shape (m,). The
        rows of the sample have no entry.
        """
        masses = np.zeros(len(self.points) + len(queries), dtype=np.int64)
        masses[: len(self.points)] = 1 if self.masses is None else self.masses
        joint = self._merge(np.concatenate([self.points, queries]), masses)
        return Sample(joint.points, joint.masses, joint.total, joint.inverse[len(self.points) :])

    def find(self, queries: np.ndarray) -> np.ndarray:
        """Return for each of `queries` (m, d) the index of the equal sample point, as ints (m,).

        The index is -1 if no sample point equals the query.
        """
        joint = self.with_queries(queries)
        index = np.full(joint.n_points, -1)
        index[joint.unit_masses > 0] = np.arange(self.n_points)
        return index[joint.inverse]

    @classmethod
    def _merge(
        cls, points: np.ndarray, masses: np.ndarray | None, resources: Resources = ALONE
    ) -> Sample:
        rows, inverse, merged = _core.distinct_rows(
            np.ascontiguousarray(points), masses, resources.n_threads
        )
        total = len(rows) if merged is None else int(merged.sum())
        return cls(rows, merged, total, inverse)

    @property
    def n_points(self) -> int:
        """Number of distinct points."""
        return len(self.points)

    @property
    def n_features(self) -> int:
        """Number of columns of the points."""
        return self.points.shape[1]

    @cached_property
    def is_simplex(self) -> bool:
        """Whether the points are the vertices of a simplex: affinely independent, up to rounding.

        A single point is a simplex.
        """
        u, d = self.points.shape
        if u == 1 or u > d + 1:
            return u == 1
        edges = self.points[1:].astype(np.float64) - self.points[0]
        # Edges are differences from the first point. Scale each edge to length about 1, so that a
        # distant point does not make the other edges negligible.
        edges /= np.abs(edges).max(axis=1, keepdims=True)
        singular = np.linalg.svd(edges, compute_uv=False)
        return bool(singular[-1] > singular[0] * d * np.finfo(self.points.dtype).eps)

    @property
    def unit_masses(self) -> np.ndarray:
        """Masses as an int64 array of shape (u,); all ones if `masses` is None."""
        if self.masses is None:
            return np.ones(self.n_points, dtype=np.int64)
        return self.masses

    @property
    def shares(self) -> np.ndarray:
        """Masses as float64 fractions of the total, of shape (u,)."""
        return self.unit_masses / self.total


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TrimmedRegions(ReadOnlyFields):
    """Nested depth-trimmed regions of one sample.

    The region of level beta is the smallest set of deepest points with more than a fraction beta of
    the mass. Points of equal depth are in the same regions. A region is represented by its support
    function h(u), the maximum of <x, u> over the sample points x in the region. Regions are created
    by :meth:`isodepth.Metric.regions`.

    Attributes
    ----------
    points : ndarray of shape (n, d)
        Rows of the sample after validation and scaling.
    weights : ndarray of shape (n,) or None
        Weight of each row; None if no weights were given.
    depths : ndarray of shape (n,)
        Depth of each row of `points`, including rows of weight zero.
    columns : tuple of str or None
        Names of the columns; None if the columns have no names.
    distinct_depths : ndarray of shape (g,)
        The g distinct depths of the rows of positive weight, in decreasing order. Depths that
        differ by rounding errors only count as one, their minimum.
    masses : ndarray of shape (g,)
        For each entry of `distinct_depths`, the fraction of the total mass that belongs to points
        of at least this depth. The fractions increase to 1.

    Examples
    --------
    >>> import isodepth
    >>> regions = isodepth.Metric(depth="halfspace").regions([[1.0], [2.0], [4.0], [8.0], [16.0]])
    >>> regions.min_depth(0.5), regions.indices(0.5)
    (0.4, array([1, 2, 3]))
    >>> regions.support([[1.0], [-1.0]], 0.5)
    array([ 8., -2.])
    """

    points: np.ndarray
    weights: np.ndarray | None
    depths: np.ndarray
    columns: tuple[str, ...] | None
    distinct_depths: np.ndarray
    masses: np.ndarray
    # Distinct points with integer masses, and their indices (u,) from the deepest on.
    _sample: Sample
    _order: np.ndarray
    # Number (g,) of distinct points whose depth is at least the entry of `distinct_depths`.
    _counts: np.ndarray
    # Distinct points (u, d), deepest first: a region consists of the first rows of this array.
    _ordered: np.ndarray
    # Depth function, directions and scale. A metric accepts only regions with an equal origin.
    _origin: Any

    @classmethod
    def _from_depths(
        cls,
        sample: Sample,
        distinct_depth: np.ndarray,
        points: np.ndarray,
        depths: np.ndarray,
        weights: np.ndarray | None = None,
        tie_tolerance: float = 0.0,
        *,
        columns: tuple[str, ...] | None = None,
        origin: Any = None,
        resources: Resources = ALONE,
    ) -> TrimmedRegions:
        """Create the regions of a sample from the depths of its points.

        `distinct_depth` (u,) are the depths of the distinct points, and `depths` (n,) those of the
        rows `points` (n, d) with `weights` (n,). Depths that are at most `tie_tolerance` below the
        largest depth of their group count as equal, see `tie_ends`. `columns` and `origin` are
        attributes of the result.
        """
        order = _core.order(-distinct_depth, resources.n_threads)
        falling = distinct_depth[order]
        ends = tie_ends(falling, tie_tolerance)
        distinct_depths = falling if len(ends) == len(falling) else falling[ends - 1]
        cumulated = ends if sample.masses is None else np.cumsum(sample.masses[order])[ends - 1]
        masses = cumulated / sample.total
        ordered = _core.take_rows(sample.points, order, resources.n_threads)
        return cls(
            points=points, weights=weights, depths=depths, columns=columns,
            distinct_depths=distinct_depths, masses=masses, _sample=sample, _order=order,
            _counts=ends, _ordered=ordered, _origin=origin,
        )  # fmt: skip

    @property
    def n_rows(self) -> int:
        """Number of rows of the sample."""
        return len(self.points)

    @property
    def n_features(self) -> int:
        """Number of columns of the sample."""
        return self.points.shape[1]

    def _group(self, level: Any) -> np.ndarray:
        """Return the index in `distinct_depths` of the minimum depth in the region of a level.

        `level` is a number or an array in [0, 1), and the result has the same shape.
        """
        return self.masses.searchsorted(check_levels(level), side="right")

    def _prefix_sizes(self, betas: np.ndarray) -> np.ndarray:
        """Return the number of distinct points (L,) in the region of each level `betas` (L,).

        The attribute `_ordered` has the distinct points, deepest first, and the region consists of
        this number of its first points. The levels are not checked.
        """
        return self._counts[self.masses.searchsorted(betas, side="right")]

    def min_depth(self, level: Any) -> Any:
        """Return the minimum depth in the region of a level.

        This is the maximum depth g for which the points of depth at least g have more than a
        fraction `level` of the mass.

        Parameters
        ----------
        level : float or array of shape (L,), in [0, 1)

        Returns
        -------
        min_depth : float or ndarray of shape (L,)
        """
        result = self.distinct_depths[self._group(level)]
        return float(result) if np.ndim(level) == 0 else result

    def indices(self, level: float) -> np.ndarray:
        """Return the indices, in increasing order, of the rows in the region of a level.

        Rows of weight zero do not belong to any region.
        """
        rank = np.empty(self._sample.n_points, dtype=np.intp)
        rank[self._order] = np.arange(self._sample.n_points)
        present = self._sample.inverse >= 0
        within = rank[self._sample.inverse] < self._counts[self._group(level)]
        return np.flatnonzero(present & within)

    def support(self, directions: Any, level: Any) -> np.ndarray:
        """Compute the support function of the region of a level.

        The support function h(u) is the maximum of <x, u> over the sample points x in the region.

        Parameters
        ----------
        directions : array of shape (d,) or (K, d)
            Vectors, which are scaled to length one.
        level : float or array of shape (L,), in [0, 1)

        Returns
        -------
        support : float64 ndarray
            Shape (L, K). The first axis is absent if `level` is a number, and the second if
            `directions` is a single vector.
        """
        vectors = np.atleast_2d(np.asarray(directions, dtype=float))
        rows = check_direction_rows(vectors, self.n_features)
        sizes, place = np.unique(self._counts[self._group(level)], return_inverse=True)
        ordered = self._ordered.astype(np.float64, copy=False)
        both = np.empty((len(sizes), 2 * len(rows)))
        write_supports(ordered, sizes, rows, both, ALONE)
        result = both[np.atleast_1d(place), : len(rows)]
        if np.ndim(directions) == 1:
            result = result[:, 0]
        return result[0] if np.ndim(level) == 0 else result

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TrimmedRegions):
            return NotImplemented
        names = ("points", "weights", "depths", "columns", "distinct_depths")
        return all(equal_values(getattr(self, name), getattr(other, name)) for name in names)

    def __repr__(self) -> str:
        return (
            f"TrimmedRegions(n={self.n_rows}, d={self.n_features}, regions={len(self._counts)}, "
            f"depth from {self.distinct_depths[-1]:.4g} to {self.distinct_depths[0]:.4g})"
        )


def tie_ends(falling: np.ndarray, tolerance: float) -> np.ndarray:
    """Divide decreasing depths (u,) into groups of ties, and return the end index of each group.

    A group has all depths that are at most `tolerance` below its first depth. The end index of a
    group is the index of the first depth of the next group, or u for the last group.
    """
    return _core.tie_ends(np.ascontiguousarray(falling, dtype=np.float64), tolerance)


@dataclass(frozen=True, eq=False)
class LevelPlan(ReadOnlyFields):
    """Levels at which the regions of two samples x and y are compared.

    The region of a level is the smallest set of deepest points with more than this fraction of the
    mass.

    Attributes
    ----------
    levels : ndarray of shape (L, 2) or (L,)
        Intervals [start, stop) of levels on which the regions of both samples are constant, of
        shape (L, 2), or single levels, of shape (L,).
    shares : ndarray of shape (L,)
        Weights of the intervals, proportional to their lengths, or equal weights of single levels.
        Their sum is 1.
    prefix_sizes_x, prefix_sizes_y : int64 ndarrays of shape (L,)
        Number of distinct points of x and of y in the region of each level.
    """

    levels: np.ndarray
    shares: np.ndarray
    prefix_sizes_x: np.ndarray
    prefix_sizes_y: np.ndarray

    @property
    def prefix_sizes(self) -> tuple[np.ndarray, np.ndarray]:
        """The pair of `prefix_sizes_x` and `prefix_sizes_y`."""
        return self.prefix_sizes_x, self.prefix_sizes_y


def exact_plan(x: TrimmedRegions, y: TrimmedRegions, eps: float) -> LevelPlan:
    """Divide the levels into the longest intervals on which the regions of x and y are constant.

    The intervals cover [0, 1 - eps).
    """
    end = 1.0 - eps
    # A region may change at the level 1 - eps, which rounding can make slightly smaller. A level
    # from `last` on counts as the end, which avoids an additional interval of length about 1e-16.
    last = end * (1.0 - SLIVER)
    return LevelPlan(*_core.merge_levels(x.masses, x._counts, y.masses, y._counts, end, last))


def level_plan(x: TrimmedRegions, y: TrimmedRegions, betas: np.ndarray) -> LevelPlan:
    """Return the plan that compares two samples at the levels `betas` (L,) with equal weights.

    The levels are sorted, and not checked.
    """
    betas = np.sort(betas)
    shares = np.full(len(betas), 1.0 / len(betas))
    return LevelPlan(betas, shares, x._prefix_sizes(betas), y._prefix_sizes(betas))


def power_mean(gaps: np.ndarray, shares: np.ndarray, p: float, length: float = 1.0) -> float:
    """Compute (length * sum(shares * gaps**p)) ** (1 / p), or the maximum gap for p = inf.

    `gaps` (L,) are distances between regions at each level, and `shares` (L,) are the weights of
    the levels, with sum 1. `length` is 1 for a mean over levels, or the length of the range of
    levels for an integral. Gaps are divided by their maximum first, so that powers do not overflow.
    As p tends to 0, the result tends to the weighted geometric mean of the gaps, or to 0 if a gap
    is 0 or length < 1.

    Examples
    --------
    >>> import numpy as np
    >>> power_mean(np.array([3.0, 4.0]), np.array([0.5, 0.5]), p=1)
    3.5
    """
    values, weights = (np.ascontiguousarray(a, dtype=np.float64) for a in (gaps, shares))
    return _core.power_mean(values, weights, p, length)


def check_levels(betas: Any, name: str = "level") -> np.ndarray:
    """Check that all levels `betas` are in [0, 1), and return them as a float64 array."""
    array = to_array(betas, name)
    if array.dtype.kind not in "biuf" or not ((array >= 0) & (array < 1)).all():
        raise InvalidInputError(
            f"{name} must be a number or an array of numbers in [0, 1), got {betas!r:.80}"
        )
    return array.astype(np.float64)
