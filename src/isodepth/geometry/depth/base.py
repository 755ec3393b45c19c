"""Base classes of depths, and the depths defined as a minimum over directions.

The projection depth takes the minimum over given directions. The halfspace depth takes it over
given directions, or over all directions (exact).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from isodepth import _core
from isodepth.base.annotations import DirectionsLike, RandomStateLike
from isodepth.base.compiled import Resources
from isodepth.base.export import equal_values
from isodepth.base.messages import Message
from isodepth.base.options import (
    MOST,
    check_choice,
    check_class_options,
    check_integer,
    check_n_jobs,
)
from isodepth.errors import DegenerateDepthWarning, InvalidOptionError, warn_user
from isodepth.geometry.regions import Sample, TrimmedRegions

#: Values of the option `algorithm` of the halfspace depth.
ALGORITHMS = ("directions", "exact")
#: Settings of a depth estimator that have no effect on a metric, which has its own. The option
#: `depth` refuses values other than the defaults.
TAKEN_OVER = ("n_directions", "directions", "random_state", "n_jobs")
#: Points (m, d) whose depths are computed; None for the distinct points of the sample.
Queries = np.ndarray | None


class Projections(NamedTuple):
    """Directions on which samples are projected, and the threads and memory for projections.

    Attributes
    ----------
    directions : ndarray of shape (K, d)
        K unit vectors, unless a depth transforms them.
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
        """Call a function of the compiled core that projects a sample on the directions.

        Parameters
        ----------
        kernel : function of `isodepth._core`
            Its arguments are `points`, the directions, `weights`, `queries`, `options`, the number
            of threads and the memory.
        points : ndarray of shape (n, d), float32 or float64
            Sample with respect to which depths are computed.
        weights : int64 ndarray of shape (n,), or None for equal weights
        queries : ndarray of shape (m, d) or None
            Points whose depths are computed; None for the sample itself.
        *options
            Further arguments of the kernel.

        Returns
        -------
        The result of the kernel, such as depths.
        """
        points = np.ascontiguousarray(points)
        directions = np.ascontiguousarray(self.directions, dtype=points.dtype)
        if queries is not None:
            queries = np.ascontiguousarray(queries, dtype=points.dtype)
        limits = self.resources.n_threads, self.resources.memory_mb
        return kernel(points, directions, weights, queries, *options, *limits)


class DepthSource:
    """Base class of all objects from which a metric obtains depths."""

    #: Depths that are at most this much below the largest depth of their group count as equal,
    #: because they may be rounded; see `isodepth.geometry.regions.tie_ends`.
    _tie_tolerance: ClassVar[float] = 0.0

    def _text(self) -> str:
        """Return the depth as a string for signatures, see `depth_text`."""
        raise NotImplementedError

    def _warn_if_uninformative(self, *samples: Sample) -> None:
        """Warn if the depth cannot order the points of a sample; the base class does nothing."""

    def _all_depths(
        self, sample: Sample, points: np.ndarray, weights: np.ndarray | None, along: Projections
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the depths (u,) of the u distinct points of `sample`, and those (n,) of all rows.

        `points` (n, d) are all rows, including those of weight zero. `weights` (n,) are the weights
        of the rows; None if they are equal. `along` contains the directions.
        """
        raise NotImplementedError

    def _regions(
        self,
        sample: Sample,
        points: np.ndarray,
        weights: np.ndarray | None,
        along: Projections,
        **labels: Any,
    ) -> TrimmedRegions:
        """Compute the nested depth regions of validated points (n, d) with weights (n,) or None.

        `sample` has the distinct rows of the points. `labels` are the attributes `columns` and
        `origin` of the result.
        """
        distinct, depth = self._all_depths(sample, points, weights, along)
        tolerance = self._tie_tolerance if points.dtype == np.float64 else 0.0
        return TrimmedRegions._from_depths(
            sample, distinct, points, depth, weights, tolerance, resources=along.resources, **labels
        )


@check_class_options
@dataclass(eq=False, repr=False, kw_only=True)
class Depth(DepthSource):
    """Base class of the depths of this package.

    A subclass computes depths along given directions with the method `_evaluate`. The attribute
    `_name` selects the implementation for samples that are read in chunks and for tensors. A
    subclass with another definition of the depth therefore needs another name.

    The classes of this module are not estimators of scikit-learn, because importing it takes longer
    than computing a distance. The estimators are in `isodepth.geometry.depth.estimators`.

    Parameters
    ----------
    n_directions : int, default 1000
        Number of unit vectors; each is used with both signs.
    directions : str or array of shape (K, d), default "uniform"
        Family of directions, as in :func:`isodepth.unit_vectors`, or an array.
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState
        Seed of the random directions.
    n_jobs : int or None
        Number of threads; None or -1 for all available cores. The result does not depend on it.
    """

    _name: ClassVar[str]
    _affine_invariant: ClassVar[bool] = True

    n_directions: int = 1000
    directions: DirectionsLike = "uniform"
    random_state: RandomStateLike = None
    n_jobs: int | None = None

    # -- definition of a depth --------------------------------------------------------------

    def _evaluate(self, sample: Sample, queries: Queries, along: Projections) -> np.ndarray:
        """Return the depths (m,) of `queries` (m, d) with respect to a sample.

        If `queries` is None, return the depths (u,) of the u distinct points of the sample. `along`
        contains the directions.
        """
        raise NotImplementedError

    def _tied_depth(self, sample: Sample) -> np.ndarray:
        """Return the depths (u,) of the u points of a sample that are the vertices of a simplex.

        These depths depend only on the weights, because the depth function is affine invariant.
        """
        raise NotImplementedError

    def _check_options(self) -> None:
        """Raise an error if a setting of this depth is invalid."""
        check_integer(self.n_directions, "n_directions", 1, high=MOST)
        check_n_jobs(self.n_jobs)

    # -- settings ---------------------------------------------------------------------------

    def _settings(self) -> dict[str, Any]:
        """Return the values of the constructor arguments by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def _text(self) -> str:
        defaults = type(self)()._settings()
        settings = ",".join(
            f"{name}={value if isinstance(value, str | int | float) else custom_text(value)}"
            for name, value in self._settings().items()
            if name not in TAKEN_OVER and not np.array_equal(value, defaults[name])
        )
        return f"{self._name}({settings})" if settings else self._name

    # -- shared by the estimator and the metric ---------------------------------------------

    def _is_uninformative(self, sample: Sample) -> bool:
        """Return whether all sample points of equal weight have the same depth.

        This is the case if the depth is affine invariant and the points are the vertices of a
        simplex.
        """
        return self._affine_invariant and sample.is_simplex

    def _warn_if_uninformative(self, *samples: Sample) -> None:
        """Warn once if the depth cannot order the points of some sample with three or more points.

        The samples are those for which `_is_uninformative` is true.
        """
        for sample in samples:
            # Two points do not cause a warning: if their weights are equal, no depth function can
            # order them.
            if len(sample.points) > 2 and self._is_uninformative(sample):
                template = (
                    "the {depth} depth cannot order {n} points in general position in {d} "
                    "dimensions: it is affine invariant, and all simplices (n <= d + 1 points) are "
                    "affine images of each other. Points of equal weight get the same depth. Use "
                    "{--depth='irw'}, which does not have this property"
                )
                shape = {"n": sample.n_points, "d": sample.n_features}
                warn_user(Message(template, depth=self._name, **shape), DegenerateDepthWarning)
                return

    def _point_depth(self, sample: Sample, points: Queries, along: Projections) -> np.ndarray:
        """Return the depths of `points`, or of the distinct points of the sample if None.

        If the depth is affine invariant and the sample points are the vertices of a simplex, the
        depths of the vertices depend only on the weights (`_tied_depth`). All other depths are
        computed along the directions in `along`.
        """
        if not self._is_uninformative(sample):
            return self._evaluate(sample, points, along)
        tied = self._tied_depth(sample)
        if points is None:
            return tied
        index = sample.find(points)
        return np.where(index >= 0, tied[index], self._evaluate(sample, points, along))

    def _all_depths(
        self, sample: Sample, points: np.ndarray, weights: np.ndarray | None, along: Projections
    ) -> tuple[np.ndarray, np.ndarray]:
        distinct = self._point_depth(sample, None, along)
        # Rows of weight zero have index -1 and get the depth of the last point here. The correct
        # depths replace these entries below.
        depths = distinct[sample.inverse]
        if weights is not None:
            weightless = sample.inverse < 0
            if weightless.any():
                depths[weightless] = self._point_depth(sample, points[weightless], along)
        return distinct, depths


class MinimumDepth(Depth):
    """Base class of depths that are a minimum of one-dimensional depths over directions."""

    #: Function of the compiled core that returns an extremum over directions for each query point:
    #: the maximum outlyingness or the minimum mass of a halfspace.
    _kernel: ClassVar[Callable[..., np.ndarray]]

    def _to_depth(self, sample: Sample, extremes: np.ndarray) -> np.ndarray:
        """Convert extrema over directions (m,), such as maximum outlyingness, to depths (m,)."""
        raise NotImplementedError

    def _evaluate(self, sample: Sample, queries: Queries, along: Projections) -> np.ndarray:
        extremes = along.run(type(self)._kernel, sample.points, sample.masses, queries)
        return self._to_depth(sample, extremes)


class Projection(MinimumDepth):
    """Projection depth: 1 / (1 + the maximum outlyingness over directions).

    The outlyingness along a direction is the distance from the median of the projections, divided
    by their MAD; see `isodepth.ProjectionDepth`.
    """

    _name = "projection"
    _tie_tolerance = 1e-12
    _kernel = staticmethod(_core.largest_outlyingness)

    def _to_depth(self, sample: Sample, extremes: np.ndarray) -> np.ndarray:
        return 1.0 / (1.0 + extremes.astype(np.float64, copy=False))

    def _tied_depth(self, sample: Sample) -> np.ndarray:
        # The vertices of a simplex have arbitrary projections along suitable directions, up to a
        # common factor. A vertex with less than half of the mass can therefore be arbitrarily far
        # from the others: its outlyingness is unbounded, and its depth is 0. A vertex with exactly
        # half of the mass has a distance of one MAD from the median, so its depth is 1/2. A vertex
        # with more than half of the mass is the median, so its depth is 1.
        masses = sample.unit_masses
        heaviest = int(masses.argmax())
        rest = sample.total - int(masses[heaviest])
        depths = np.where(2 * masses == sample.total, 0.5, 0.0)
        if 2 * rest < sample.total:
            # If a vertex has more than half of the mass, the MAD is zero along every direction. The
            # MAD is replaced with the median deviation of the other vertices. Another vertex with
            # more than half of the remaining mass deviates by this median, so its depth is 1/2. A
            # vertex with exactly half of the remaining mass deviates by at most twice this median,
            # so its depth is 1/3.
            depths = np.where(2 * masses > rest, 1 / 2, np.where(2 * masses == rest, 1 / 3, 0.0))
            depths[heaviest] = 1.0
        return depths


@check_class_options
@dataclass(eq=False, repr=False, kw_only=True)
class Halfspace(MinimumDepth):
    """Halfspace depth: the minimum mass of a closed halfspace that contains a point.

    The mass is a fraction of the total mass. See `isodepth.HalfspaceDepth`.
    """

    _name = "halfspace"
    _kernel = staticmethod(_core.smallest_halfspace)

    algorithm: Literal["directions", "exact"] = "directions"

    def _check_options(self) -> None:
        super()._check_options()
        check_choice(self.algorithm, "algorithm", ALGORITHMS)
        if self.algorithm != "exact":
            return
        defaults = Halfspace()
        for name in ("n_directions", "directions"):
            if not equal_values(getattr(self, name), getattr(defaults, name)):
                raise InvalidOptionError(
                    f"{name} has no effect with algorithm='exact'; remove it, or use "
                    "algorithm='directions'",
                    option=name,
                )

    def _to_depth(self, sample: Sample, extremes: np.ndarray) -> np.ndarray:
        return extremes / sample.total

    def _evaluate(self, sample: Sample, queries: Queries, along: Projections) -> np.ndarray:
        if self.algorithm != "exact":
            return super()._evaluate(sample, queries, along)
        from isodepth.geometry.depth.exact import smallest_masses

        queries = (sample.points if queries is None else queries).astype(np.float64)
        return smallest_masses(sample, queries, along.resources) / sample.total

    def _tied_depth(self, sample: Sample) -> np.ndarray:
        # For each vertex of a simplex there is a halfspace that contains no other vertex. The depth
        # of the vertex is therefore its own fraction of the mass.
        return sample.shares


def center_and_exponent(sample: Sample) -> tuple[np.ndarray, int]:
    """Return a center (d,) of the sample, and an integer e for which the spread is about 2**e.

    Subtracting the center and dividing by 2**e does not change depths, except for rounding errors,
    which it reduces. It also prevents overflow. Center and spread are rough estimates from evenly
    spaced rows of the sample.
    """
    return _core.center_and_exponent(sample.points)


def standardize(sample: Sample, points: np.ndarray) -> np.ndarray:
    """Return `points` (m, d) minus the center of a sample, divided by a power of two.

    The center and the power of two are those of `center_and_exponent`.
    """
    return moved_by(points, *center_and_exponent(sample))


def moved_by(points: np.ndarray, center: np.ndarray, exponent: int) -> np.ndarray:
    """Return (points - center) / 2**exponent, for points (m, d) and a center (d,)."""
    # 2**exponent itself may overflow, so it is not computed.
    return np.ldexp(points - center, -exponent)


def exact_center(center: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return `center` (d,), with 0 in the columns from which its subtraction may not be exact.

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
    # The comparisons divide by two, which is exact except for subnormal numbers. A column with a
    # subnormal center is not centered.
    exact = one_sign & (near >= size / 2) & (far / 2 <= size) & (size > np.finfo(size.dtype).tiny)
    return np.where(exact, center, 0).astype(center.dtype)


def depth_text(depth: Any) -> str:
    """Return the option `depth` as a string: the name of the depth, and non-default settings.

    Directions, seed and number of threads (`TAKEN_OVER`) are left out: a metric has its own. For an
    estimator or function of the user, the string is that of `custom_text`.
    """
    if isinstance(depth, str):
        return depth
    return depth._text() if isinstance(depth, DepthSource) else custom_text(depth)


def custom_text(value: Any) -> str:
    """Return "custom:" followed by the result of `plain_name`."""
    return f"custom:{plain_name(value)}"


def plain_name(value: Any) -> str:
    """Return the name of a function or class, or of the class of another object.

    Characters other than letters, digits, underscores and dots are removed.
    """
    return re.sub(r"[^\w.]", "", getattr(value, "__name__", type(value).__name__))
