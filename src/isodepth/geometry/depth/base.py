"""Base classes of depths, and the depths that are a minimum over directions.

The projection depth takes the minimum over given directions. The halfspace depth takes it over
given directions, or over all directions (exact).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal

import numpy as np

from isodepth.base.annotations import DirectionsLike, RandomStateLike
from isodepth.base.declared import METRIC
from isodepth.base.export import equal_values
from isodepth.base.messages import Message
from isodepth.base.options import Choice, takes
from isodepth.errors import DegenerateDepthWarning, InvalidOptionError, warn_user
from isodepth.geometry.backend import Backend, Queries
from isodepth.geometry.depth.exact import smallest_masses
from isodepth.geometry.regions import Nested, Sample

#: Values of the option `algorithm` of the halfspace depth.
ALGORITHMS = ("directions", "exact")
#: Settings of a depth estimator that have no effect on a metric, which has its own. The option
#: `depth` refuses values other than the defaults.
TAKEN_OVER = ("n_directions", "directions", "random_state", "n_jobs")


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

    @property
    def _primitive(self) -> str | None:
        """Name of the method of `Backend` from which depths are computed, or None.

        Depths with None are available for samples in memory only.
        """
        return None

    def _whitens(self, n_features: int) -> bool:
        """Return whether samples of this width are whitened before their ranks are computed."""
        return False

    def _depths(self, sample: Backend, directions: np.ndarray) -> Any:
        """Return the depths (u,) of the u distinct points of a sample, along directions (K, d)."""
        raise NotImplementedError

    def _all_depths(self, sample: Sample, directions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the depths (u,) of the distinct points of a sample, and those (n,) of its rows.

        The rows include those of weight zero.
        """
        raise NotImplementedError

    def _nested(self, sample: Backend, depths: Any) -> Nested:
        """Return the nested regions of a sample, given the depths (u,) of its distinct points."""
        return Nested.of(sample, depths, self._tie_tolerance if sample.is_double else 0.0)


@takes()
@dataclass(eq=False, repr=False, kw_only=True)
class Depth(DepthSource):
    """Base class of the depths of this package.

    A subclass names a primitive of :class:`isodepth.geometry.backend.Backend` in `_primitive`, and
    is then available for all samples: in memory, in chunks and on other devices. Otherwise it
    overrides `_evaluate`, and is available for samples in memory.

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

    def _evaluate(self, sample: Any, queries: Queries, directions: np.ndarray) -> Any:
        """Return the depths (m,) of `queries` (m, d) with respect to a sample.

        If `queries` is None, return the depths (u,) of the u distinct points of the sample.
        """
        assert self._primitive is not None
        return self._to_depth(getattr(sample, self._primitive)(directions, queries), sample.total)

    def _to_depth(self, values: Any, total: int) -> Any:
        """Convert the results of the primitive, such as outlyingness, to depths.

        `total` is the total mass of the sample.
        """
        return values

    def _tied_depth(self, sample: Sample) -> np.ndarray:
        """Return the depths (u,) of the u points of a sample that are the vertices of a simplex.

        These depths depend only on the weights, because the depth function is affine invariant.
        """
        raise NotImplementedError

    def _check_options(self) -> None:
        """Raise an error if a setting of this depth is invalid."""
        METRIC.check({"n_directions": self.n_directions, "n_jobs": self.n_jobs})

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

    def _depths(self, sample: Any, directions: np.ndarray, points: Queries = None) -> Any:
        """Return the depths of `points`, or of the distinct points of the sample if None.

        If the depth is affine invariant and the sample points are the vertices of a simplex, the
        depths of the vertices depend only on the weights (`_tied_depth`). All other depths are
        computed along directions (K, d).
        """
        if not self._is_uninformative(sample):
            return self._evaluate(sample, points, directions)
        tied = self._tied_depth(sample)
        if points is None:
            return tied
        index = sample.find(points)
        return np.where(index >= 0, tied[index], self._evaluate(sample, points, directions))

    def _all_depths(self, sample: Sample, directions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        distinct = self._depths(sample, directions)
        # Rows of weight zero have index -1 and get the depth of the last point here. The correct
        # depths replace these entries below.
        depths = distinct[sample.inverse]
        if sample.weights is not None:
            weightless = sample.inverse < 0
            if weightless.any():
                depths[weightless] = self._depths(sample, directions, sample.rows[weightless])
        return distinct, depths


class Projection(Depth):
    """Projection depth: 1 / (1 + the maximum outlyingness over directions).

    The outlyingness along a direction is the distance from the median of the projections, divided
    by their MAD; see `isodepth.ProjectionDepth`.
    """

    _name = "projection"
    _tie_tolerance = 1e-12

    @property
    def _primitive(self) -> str | None:
        return "outlyingness"

    def _to_depth(self, values: Any, total: int) -> Any:
        return 1.0 / (1.0 + values)

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


@takes()
@dataclass(eq=False, repr=False, kw_only=True)
class Halfspace(Depth):
    """Halfspace depth: the minimum mass of a closed halfspace that contains a point.

    The mass is a fraction of the total mass. See `isodepth.HalfspaceDepth`.
    """

    _name = "halfspace"

    algorithm: Literal["directions", "exact"] = "directions"

    def _check_options(self) -> None:
        super()._check_options()
        Choice(ALGORITHMS).check("algorithm", self.algorithm)
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

    @property
    def _primitive(self) -> str | None:
        return None if self.algorithm == "exact" else "smallest_masses"

    def _to_depth(self, values: Any, total: int) -> Any:
        return values / total

    def _evaluate(self, sample: Any, queries: Queries, directions: np.ndarray) -> Any:
        if self.algorithm != "exact":
            return super()._evaluate(sample, queries, directions)
        queries = (sample.points if queries is None else queries).astype(np.float64)
        return smallest_masses(sample, queries, sample.resources) / sample.total

    def _tied_depth(self, sample: Sample) -> np.ndarray:
        # For each vertex of a simplex there is a halfspace that contains no other vertex. The depth
        # of the vertex is therefore its own fraction of the mass.
        return sample.shares


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
