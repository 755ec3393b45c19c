"""Base classes of depths, and the depths defined as a minimum over directions.

The minimum is over given directions, or exact.
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
    """Projection directions with the resources for using them.

    Attributes
    ----------
    directions : ndarray of shape (K, d)
    resources : Resources
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
        points : ndarray of shape (n, d), float32 or float64
        weights : int64 ndarray of shape (n,), positive, or None for equal ones
        queries : ndarray of shape (m, d), or None for the points
        """
        points = np.ascontiguousarray(points)
        directions = np.ascontiguousarray(self.directions, dtype=points.dtype)
        if queries is not None:
            queries = np.ascontiguousarray(queries, dtype=points.dtype)
        limits = self.resources.n_threads, self.resources.memory_mb
        return kernel(points, directions, weights, queries, *options, *limits)


class DepthSource:
    """Interface of depths for a metric."""

    #: Depths with a smaller difference count as equal, because of rounding.
    tie_tolerance: ClassVar[float] = 0.0

    def warn_if_uninformative(self, *samples: Sample) -> None:
        """Warn if the depth cannot order the points of a sample."""

    def all_depths(
        self, sample: Sample, points: np.ndarray, weights: np.ndarray | None, along: Projections
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the depths of the distinct points (u,), and of the rows `points` (n, d)."""
        raise NotImplementedError

    def regions(
        self,
        sample: Sample,
        points: np.ndarray,
        weights: np.ndarray | None,
        along: Projections,
        **labels: Any,
    ) -> TrimmedRegions:
        """Return the regions of checked points (n, d) whose distinct rows are `sample`."""
        distinct, depth = self.all_depths(sample, points, weights, along)
        tolerance = self.tie_tolerance if points.dtype == np.float64 else 0.0
        return TrimmedRegions.from_depths(
            sample, distinct, points, depth, weights, tolerance, resources=along.resources, **labels
        )


@dataclass(eq=False, repr=False, kw_only=True)
class Depth(DepthSource):
    """Base class of the depths.

    A subclass computes depths along given directions (`evaluate`). Implementations in chunks and on
    devices are selected by `name`, so a subclass with another definition needs another name.

    These classes do not import scikit-learn, which takes longer than a distance. The estimators are
    in `isodepth.depth.estimators`.

    Parameters
    ----------
    n_directions : int, default 1000
        Number of unit vectors; each is used with both signs.
    directions : str or array of shape (K, d), default "uniform"
        Family of directions, as in :func:`isodepth.unit_vectors`, or an array.
    random_state : None, int or numpy.random.Generator
    n_jobs : int or None
        Number of threads; None for all cores. The result does not depend on it.
    """

    name: ClassVar[str]
    affine_invariant: ClassVar[bool] = True

    n_directions: int = 1000
    directions: Any = "uniform"
    random_state: Any = None
    n_jobs: int | None = None

    # -- definition of a depth --------------------------------------------------------------

    def evaluate(self, sample: Sample, queries: Queries, along: Projections) -> np.ndarray:
        """Return the depths of `queries`."""
        raise NotImplementedError

    def tied_depth(self, sample: Sample) -> np.ndarray:
        """Return the exact depths (u,) of a sample whose points are the corners of a simplex."""
        raise NotImplementedError

    def check_options(self) -> None:
        """Raise if a setting is invalid."""
        check_integer(self.n_directions, "n_directions", 1)
        check_n_jobs(self.n_jobs)

    # -- settings ---------------------------------------------------------------------------

    def settings(self) -> dict[str, Any]:
        """Return the arguments of the class by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    # -- shared by the estimator and the metric ---------------------------------------------

    def is_uninformative(self, sample: Sample) -> bool:
        """Check if the depths of all points are equal because of affine invariance."""
        return self.affine_invariant and sample.is_simplex

    def warn_if_uninformative(self, *samples: Sample) -> None:
        """Warn once, with alternatives, if the depth cannot order the points of a sample."""
        for sample in samples:
            # Two points or fewer have equal depths under any depth function.
            if len(sample.points) > 2 and self.is_uninformative(sample):
                warnings.warn(
                    f"the {self.name} depth cannot order {sample.n_points} points in general "
                    f"position in {sample.n_features} dimensions: it is affine invariant, and all "
                    "simplices (n <= d + 1 points) are affine images of each other. All points get "
                    "the same depth, and every region is the whole sample. Use depth='irw', which "
                    "is not affine invariant",
                    DegenerateDepthWarning,
                    stacklevel=4,
                )
                return

    def point_depth(self, sample: Sample, points: Queries, along: Projections) -> np.ndarray:
        """Return depths as `evaluate` does, but the exact ones at the corners of a simplex."""
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
        # The index of rows of weight zero is -1; their depths follow below.
        depths = distinct[sample.inverse]
        if weights is not None:
            weightless = sample.inverse < 0
            if weightless.any():
                depths[weightless] = self.point_depth(sample, points[weightless], along)
        return distinct, depths


class MinimumDepth(Depth):
    """Depth that is the minimum of one-dimensional depths over directions."""

    #: Function of the core that returns the extreme values over directions.
    _kernel: ClassVar[Callable[..., np.ndarray]]

    def to_depth(self, sample: Sample, extremes: np.ndarray) -> np.ndarray:
        """Convert values of the kernel (m,) to depths (m,)."""
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
        # The projections of the corners of a simplex are arbitrary. Moving one point away from the
        # others makes its outlyingness arbitrarily large, unless it holds half of the mass (then it
        # is as far from the median as half of the mass is), or more (then it is the median).
        masses = sample.unit_masses
        heaviest = int(masses.argmax())
        rest = sample.total - int(masses[heaviest])
        depths = np.where(2 * masses == sample.total, 0.5, 0.0)
        if 2 * rest < sample.total:
            # The MAD is zero along every direction, and the scale is the median deviation of the
            # rest. A point with half of that mass is at most twice as far away as this scale.
            depths = np.where(2 * masses > rest, 1 / 2, np.where(2 * masses == rest, 1 / 3, 0.0))
            depths[heaviest] = 1.0
        return depths


@dataclass(eq=False, repr=False, kw_only=True)
class Halfspace(MinimumDepth):
    """Minimum mass of a closed halfspace with the point; see `isodepth.HalfspaceDepth`."""

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
        # For each corner of a simplex, a halfspace contains this corner alone.
        return sample.shares


def center_and_exponent(sample: Sample) -> tuple[np.ndarray, int]:
    """Return a center (d,) of the sample, and the exponent of the power of two near its size.

    Depths do not change if the data are moved and scaled; rounding and overflow do. Both are rough
    estimates from evenly spaced rows of the sample.
    """
    return _core.center_and_exponent(sample.points)


def standardize(sample: Sample, points: np.ndarray) -> np.ndarray:
    """Move and scale `points` (m, d) such that the sample is of size one."""
    return moved_by(points, *center_and_exponent(sample))


def moved_by(points: np.ndarray, center: np.ndarray, exponent: int) -> np.ndarray:
    """Return (points - center) / 2**exponent, for points (m, d) and a center (d,)."""
    # The power of two itself may be out of range.
    return np.ldexp(points - center, -exponent)


def exact_center(center: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return `center` (d,) in columns in which its subtraction is exact, and 0 in the others.

    The subtraction is exact if the extremes `low` and `high` (d,) of a column are within a factor
    of two of the center (Sterbenz's lemma). Otherwise it could make small values equal.

    Examples
    --------
    >>> low, high = np.array([90.0, -1.0, 1.0, 4.0]), np.array([110.0, 3.0, 9.0, 11.0])
    >>> exact_center(np.array([100.0, 1.0, 5.0, 5.0]), low, high)
    array([100.,   0.,   0.,   0.])
    """
    near, far = np.minimum(np.abs(low), np.abs(high)), np.maximum(np.abs(low), np.abs(high))
    one_sign = np.sign(low) == np.sign(high)
    size = np.abs(center)
    # Halves are exact except for subnormal numbers, which are not worth centering.
    exact = one_sign & (near >= size / 2) & (far / 2 <= size) & (size > np.finfo(size.dtype).tiny)
    return np.where(exact, center, 0).astype(center.dtype)
