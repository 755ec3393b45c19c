"""Public class of the nested depth-trimmed regions of one sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from isodepth.base.compiled import ALONE
from isodepth.base.export import ReadOnlyFields, equal_values
from isodepth.errors import InvalidInputError
from isodepth.geometry.directions import check_direction_rows
from isodepth.geometry.regions import Nested, write_supports
from isodepth.table.validation import to_array


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
    # Distinct points in the order of their depths.
    _nested: Nested
    # Depth function, directions and scale. A metric accepts only regions with an equal origin.
    _origin: Any

    @classmethod
    def of(
        cls,
        nested: Nested,
        depths: np.ndarray,
        columns: tuple[str, ...] | None = None,
        origin: Any = None,
    ) -> TrimmedRegions:
        """Create the regions of a sample from its points in the order of their depths.

        `depths` (n,) are the depths of all rows. `columns` and `origin` are attributes of the
        result.
        """
        return cls(
            points=nested.sample.rows, weights=nested.sample.weights, depths=depths,
            columns=columns, distinct_depths=nested.distinct_depths, masses=nested.masses,
            _nested=nested, _origin=origin,
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
        order, inverse = self._nested.order, self._nested.sample.inverse
        rank = np.empty(len(order), dtype=np.intp)
        rank[order] = np.arange(len(order))
        present = inverse >= 0
        within = rank[inverse] < self._nested.counts[self._group(level)]
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
        sizes, place = np.unique(self._nested.counts[self._group(level)], return_inverse=True)
        ordered = self._nested.points.astype(np.float64, copy=False)
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
            f"TrimmedRegions(n={self.n_rows}, d={self.n_features}, regions={len(self.masses)}, "
            f"depth from {self.distinct_depths[-1]:.4g} to {self.distinct_depths[0]:.4g})"
        )


def check_levels(betas: Any, name: str = "level") -> np.ndarray:
    """Check that all levels `betas` are in [0, 1), and return them as a float64 array."""
    array = to_array(betas, name)
    if array.dtype.kind not in "biuf" or not ((array >= 0) & (array < 1)).all():
        raise InvalidInputError(
            f"{name} must be a number or an array of numbers in [0, 1), got {betas!r:.80}"
        )
    return array.astype(np.float64)
