"""Base classes of depths, and the depths defined as a minimum over directions.

These are the projection depth, along given directions, and the halfspace depth, along given
directions or exact.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple

import numpy as np

from isodepth import _core
from isodepth.core.regions import Sample, TrimmedRegions
from isodepth.data.validation import check_choice, check_integer, check_n_jobs
from isodepth.engine import Resources
from isodepth.errors import DegenerateDepthWarning

#: Values of the option `method` of the halfspace depth.
METHODS = ("directions", "exact")
#: Points (m, d) whose depths are computed; None for the distinct points of the sample.
Queries = np.ndarray | None


class Projections(NamedTuple):
    """Projection directions, and the threads and memory for projecting on them.

    Attributes
    ----------
    directions : ndarray of shape (K, d)
    resources : Resources
        Number of threads, and working memory.
    """

    directions: np.ndarray
    resources: Resources

    def run(
        self,
        kernel: Callable[..., Any],
        points: np.ndarray,
        weights: np.ndarray | None,
        queries: Queries,
        *options: Any,
    ) -> Any:
        """Call a function of `isodepth._core` that computes a depth along these directions.

        Parameters
        ----------
        kernel : function of `isodepth._core`
        points : ndarray of shape (n, d), float32 or float64
            Sample with respect to which depths are computed.
        weights : int64 ndarray of shape (n,), positive, or None for equal weights
        queries : ndarray of shape (m, d) or None
            Points whose depths are computed; None for the sample itself.
        *options
            Further arguments of the kernel.
        """
        points = np.ascontiguousarray(points)
        directions = np.ascontiguousarray(self.directions, dtype=points.dtype)
        if queries is not None:
            queries = np.ascontiguousarray(queries, dtype=points.dtype)
        limits = self.resources.n_threads, self.resources.memory_mb
        return kernel(points, directions, weights, queries, *options, *limits)


class DepthSource:
    """Base class of all objects from which a metric obtains depths."""

    #: Depths that differ by at most this value count as equal, because of rounding.
    tie_tolerance: ClassVar[float] = 0.0

    def warn_if_uninformative(self, *samples: Sample) -> None:
        """Warn if the depth cannot order the points of a sample. By default do nothing."""

    def all_depths(
        self, sample: Sample, points: np.ndarray, weights: np.ndarray | None, along: Projections
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the depths (u,) of the distinct points of `sample`, and those (n,) of all rows.

        `points` (n, d) are the rows, including those of weight zero, and `weights` (n,) their
        weights or None. `along` contains the directions.
        """
        raise NotImplementedError

    def regions(
        self,
        sample: Sample,
        points: np.ndarray,
        weights: np.ndarray | None,
        along: Projections,
        **labels: Any,
    ) -> TrimmedRegions:
        """Compute the nested regions of validated points (n, d) whose distinct rows are `sample`.

        `labels` are the attributes `columns` and `origin` of the regions.
        """
        distinct, depth = self.all_depths(sample, points, weights, along)
        tolerance = self.tie_tolerance if points.dtype == np.float64 else 0.0
        return TrimmedRegions.from_depths(
            sample, distinct, points, depth, weights, tolerance, resources=along.resources, **labels
        )


@dataclass(eq=False, repr=False, kw_only=True)
class Depth(DepthSource):
    """Base class of the depths of this package.

    A subclass computes depths along given directions with the method `evaluate`. The attribute
    `name` selects the implementation for samples that are read in chunks and for tensors. A
    subclass with another definition therefore needs another name.

    This module does not import scikit-learn, because the import takes longer than computing a
    distance. The estimators are in `isodepth.depth.estimators`.

    Parameters
    ----------
    n_directions : int, default 1000
        Number of unit vectors; each is used with both signs.
    directions : str or array of shape (K, d), default "uniform"
        Family of directions, as in :func:`isodepth.unit_vectors`, or an array.
    random_state : None, int or numpy.random.Generator
        Seed of the random directions.
    n_jobs : int or None
        Number of threads; None for all available cores. The result does not depend on it.
    """

    name: ClassVar[str]
    affine_invariant: ClassVar[bool] = True

    n_directions: int = 1000
    directions: Any = "uniform"
    random_state: Any = None
    n_jobs: int | None = None

    # -- definition of a depth --------------------------------------------------------------

    def evaluate(self, sample: Sample, queries: Queries, along: Projections) -> np.ndarray:
        """Return the depths (m,) of `queries` (m, d) with respect to a sample.

        If `queries` is None, return the depths (u,) of the distinct points of the sample.
        """
        raise NotImplementedError

    def tied_depth(self, sample: Sample) -> np.ndarray:
        """Return the depths (u,) of the points of a sample that are the vertices of a simplex.

        They depend on the weights only, because the depth is affine invariant. No directions are
        needed.
        """
        raise NotImplementedError

    def check_options(self) -> None:
        """Raise an error if a setting of this depth is invalid."""
        check_integer(self.n_directions, "n_directions", 1)
        check_n_jobs(self.n_jobs)

    # -- settings ---------------------------------------------------------------------------

    def settings(self) -> dict[str, Any]:
        """Return the values of the constructor arguments by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    # -- shared by the estimator and the metric ---------------------------------------------

    def is_uninformative(self, sample: Sample) -> bool:
        """Check if the depth is affine invariant and the points are the vertices of a simplex.

        All points of equal weight then have the same depth.
        """
        return self.affine_invariant and sample.is_simplex

    def warn_if_uninformative(self, *samples: Sample) -> None:
        """Warn once if the depth cannot order the points of one or more of the samples."""
        for sample in samples:
            # Two points of equal weight have equal depths under any depth function.
            if len(sample.points) > 2 and self.is_uninformative(sample):
                warnings.warn(
                    f"the {self.name} depth cannot order {sample.n_points} points in general "
                    f"position in {sample.n_features} dimensions: it is affine invariant, and all "
                    "simplices (n <= d + 1 points) are affine images of each other. Points of "
                    "equal weight get the same depth. Use depth='irw', which does not have this "
                    "property",
                    DegenerateDepthWarning,
                    stacklevel=4,
                )
                return

    def point_depth(self, sample: Sample, points: Queries, along: Projections) -> np.ndarray:
        """Return the depths of `points`, or of the distinct points of the sample if None.

        If the depth is affine invariant and the sample is a simplex, the sample points have the
        depths of `tied_depth`. All other depths are those of `evaluate`.
        """
        if not self.is_uninformative(sample):
            return self.evaluate(sample, points, along)
        tied = self.tied_depth(sample)
        if points is None:
            return tied
        index = sample.find(points)
        return np.where(index >= 0, tied[index], self.evaluate(sample, points, along))

    def all_depths(
        self, sample: Sample, points: np.ndarray, weights: np.ndarray | None, along: Projections
    ) -> tuple[np.ndarray, np.ndarray]:
        distinct = self.point_depth(sample, None, along)
        # Rows of weight zero have index -1. Their entries are wrong here and overwritten below.
        depths = distinct[sample.inverse]
        if weights is not None:
            weightless = sample.inverse < 0
            if weightless.any():
                depths[weightless] = self.point_depth(sample, points[weightless], along)
        return distinct, depths


class MinimumDepth(Depth):
    """Depth that is the minimum of one-dimensional depths over directions."""

    #: Function of the compiled core that returns an extremum over directions for each query.
    _kernel: ClassVar[Callable[..., np.ndarray]]

    def to_depth(self, sample: Sample, extremes: np.ndarray) -> np.ndarray:
        """Convert the extrema (m,) that the kernel returns to depths (m,)."""
        raise NotImplementedError

    def evaluate(self, sample: Sample, queries: Queries, along: Projections) -> np.ndarray:
        extremes = along.run(type(self)._kernel, sample.points, sample.masses, queries)
        return self.to_depth(sample, extremes)


class Projection(MinimumDepth):
    """1 / (1 + the maximum outlyingness over directions); see `isodepth.ProjectionDepth`."""

    name = "projection"
    tie_tolerance = 1e-12
    _kernel = staticmethod(_core.largest_outlyingness)

    def to_depth(self, sample: Sample, extremes: np.ndarray) -> np.ndarray:
        return 1.0 / (1.0 + extremes.astype(np.float64, copy=False))

    def tied_depth(self, sample: Sample) -> np.ndarray:
        # For any given numbers there is a direction along which they are the projections of the
        # vertices. One vertex can therefore be arbitrarily far from the others, with unbounded
        # outlyingness, so its depth is 0. If it has exactly half of the mass, it is as far from the
        # median as the other half, and its depth is 1/2. If it has more, it is the median.
        masses = sample.unit_masses
        heaviest = int(masses.argmax())
        rest = sample.total - int(masses[heaviest])
        depths = np.where(2 * masses == sample.total, 0.5, 0.0)
        if 2 * rest < sample.total:
            # A point with more than half of the mass is the median, and the MAD is zero along every
            # direction. The scale is then the median deviation of the other points. One of them
            # with more than half of their mass deviates by this scale, so its depth is 1/2. With
            # exactly half of their mass it deviates by at most twice the scale: its depth is 1/3.
            depths = np.where(2 * masses > rest, 1 / 2, np.where(2 * masses == rest, 1 / 3, 0.0))
            depths[heaviest] = 1.0
        return depths


@dataclass(eq=False, repr=False, kw_only=True)
class Halfspace(MinimumDepth):
    """Minimum mass of a closed halfspace that contains a point; see `isodepth.HalfspaceDepth`."""

    name = "halfspace"
    _kernel = staticmethod(_core.smallest_halfspace)

    method: str = "directions"

    def check_options(self) -> None:
        super().check_options()
        check_choice(self.method, "method", METHODS)

    def to_depth(self, sample: Sample, extremes: np.ndarray) -> np.ndarray:
        return extremes / sample.total

    def evaluate(self, sample: Sample, queries: Queries, along: Projections) -> np.ndarray:
        if self.method != "exact":
            return super().evaluate(sample, queries, along)
        from isodepth.depth.exact import smallest_masses

        queries = (sample.points if queries is None else queries).astype(np.float64)
        return smallest_masses(sample, queries, along.resources) / sample.total

    def tied_depth(self, sample: Sample) -> np.ndarray:
        # For each vertex of a simplex there is a halfspace that contains only this vertex, so its
        # depth is its own share of the mass.
        return sample.shares


def center_and_exponent(sample: Sample) -> tuple[np.ndarray, int]:
    """Return a center (d,) of the sample, and the exponent of the power of two near its spread.

    Shifting and scaling a sample does not change its depths, but it reduces rounding errors and
    prevents overflow. Center and spread are rough estimates from evenly spaced rows of the sample.
    """
    return _core.center_and_exponent(sample.points)


def standardize(sample: Sample, points: np.ndarray) -> np.ndarray:
    """Subtract the center of a sample from `points` (m, d), and divide by a power of two.

    The power of two is near the spread of the sample.
    """
    return moved_by(points, *center_and_exponent(sample))


def moved_by(points: np.ndarray, center: np.ndarray, exponent: int) -> np.ndarray:
    """Return (points - center) / 2**exponent, for points (m, d) and a center (d,)."""
    # 2**exponent itself may overflow, so it is not computed.
    return np.ldexp(points - center, -exponent)


def exact_center(center: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return `center` (d,) in columns in which its subtraction is exact, and 0 in the others.

    The subtraction is exact if the extremes `low` and `high` (d,) of a column are within a factor
    of two of the center (Sterbenz's lemma). Otherwise rounding could make different values equal.

    Examples
    --------
    >>> low, high = np.array([90.0, -1.0, 1.0, 4.0]), np.array([110.0, 3.0, 9.0, 11.0])
    >>> exact_center(np.array([100.0, 1.0, 5.0, 5.0]), low, high)
    array([100.,   0.,   0.,   0.])
    """
    near, far = np.minimum(np.abs(low), np.abs(high)), np.maximum(np.abs(low), np.abs(high))
    one_sign = np.sign(low) == np.sign(high)
    size = np.abs(center)
    # Division by two is exact except for subnormal numbers, which need not be centered.
    exact = one_sign & (near >= size / 2) & (far / 2 <= size) & (size > np.finfo(size.dtype).tiny)
    return np.where(exact, center, 0).astype(center.dtype)
