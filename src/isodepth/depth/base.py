"""What every depth shares: settings, and the ties of samples too small to be ordered."""

from __future__ import annotations

import inspect
import warnings
from typing import Any, ClassVar

import numpy as np

from isodepth import _core
from isodepth.core.sample import Sample
from isodepth.data.validation import check_integer, check_n_jobs
from isodepth.engine.resources import Resources
from isodepth.errors import DegenerateDepthWarning


class Depth:
    """Base of the depths.

    A subclass computes the depths of the points of a sample (`of_sample`) and of any other points
    (`of_points`) along given directions. Faster implementations (in chunks, on a device) are
    chosen by `name`, so a subclass that computes something else needs a name of its own.

    The classes here know nothing of scikit-learn, whose import takes longer than a distance; see
    `isodepth.depth.estimators` for the estimators.

    Parameters
    ----------
    n_directions : int, default 1000
        How many unit vectors to project on; each counts with both signs.
    directions : str or array of shape (K, d), default "uniform"
        As in :func:`isodepth.unit_vectors`.
    random_state : None, int or numpy.random.Generator
    n_jobs : int or None
        Threads; None for all cores. The result does not depend on it.
    """

    name: ClassVar[str]
    affine_invariant: ClassVar[bool] = True
    #: Depths closer than this count as equal: a bound for rounding.
    tie_tolerance: ClassVar[float] = 0.0

    def __init__(
        self,
        *,
        n_directions: int = 1000,
        directions: Any = "uniform",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_directions = n_directions
        self.directions = directions
        self.random_state = random_state
        self.n_jobs = n_jobs

    # -- what a depth defines ---------------------------------------------------------------

    def of_sample(self, sample: Sample, directions: np.ndarray, resources: Resources) -> np.ndarray:
        """Depth of each distinct point of `sample`, of shape (u,)."""
        raise NotImplementedError

    def of_points(
        self, sample: Sample, points: np.ndarray, directions: np.ndarray, resources: Resources
    ) -> np.ndarray:
        """Depth of each of `points` (m, d) with respect to `sample`, of shape (m,)."""
        raise NotImplementedError

    def tied_depth(self, sample: Sample) -> np.ndarray:
        """The exact depths (u,) of a sample whose points are the corners of a simplex."""
        raise NotImplementedError

    def check_options(self) -> None:
        """Raise if a setting makes no sense, before any work starts."""
        check_integer(self.n_directions, "n_directions", 1)
        check_n_jobs(self.n_jobs)

    # -- settings ---------------------------------------------------------------------------

    def settings(self) -> dict[str, Any]:
        """The settings by name: the arguments of the class."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def changed_settings(self) -> dict[str, Any]:
        """The settings that are not at their defaults."""
        defaults = type(self)().settings()
        # Directions may be an array.
        return {
            name: value
            for name, value in self.settings().items()
            if not np.array_equal(value, defaults[name])
        }

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in self.changed_settings().items())
        return f"{type(self).__name__}({inside})"

    # -- shared by the estimator and the metric ---------------------------------------------

    def is_uninformative(self, sample: Sample) -> bool:
        """Whether affine invariance alone makes the depths of all points equal."""
        return self.affine_invariant and sample.is_simplex

    def warn_if_uninformative(self, *samples: Sample) -> None:
        """Warn once, with alternatives, if the depth cannot order the points of a sample."""
        for sample in samples:
            # Of one or two points no depth could make more.
            if sample.n_points > 2 and self.is_uninformative(sample):
                warnings.warn(
                    f"the {self.name} depth cannot order {sample.n_points} points in general "
                    f"position in {sample.n_features} dimensions: it is affine invariant, and n "
                    "<= d + 1 points are a simplex, which is an affine image of any other. All its "
                    "points get one depth and every region is the whole sample. Use depth='irw' or "
                    "AIIRWDepth(covariance='ledoit-wolf'), which do tell them apart",
                    DegenerateDepthWarning,
                    stacklevel=4,
                )
                return

    def sample_depth(
        self, sample: Sample, directions: np.ndarray, resources: Resources
    ) -> np.ndarray:
        """Like `of_sample`, with the exact value where the points are a simplex."""
        if self.is_uninformative(sample):
            return self.tied_depth(sample)
        return self.of_sample(sample, directions, resources)

    def point_depth(
        self, sample: Sample, points: np.ndarray, directions: np.ndarray, resources: Resources
    ) -> np.ndarray:
        """Like `of_points`, in agreement with `sample_depth` on the sample's own points."""
        result = self.of_points(sample, points, directions, resources)
        if self.is_uninformative(sample):
            tied = dict(zip(map(bytes, sample.points), self.tied_depth(sample), strict=True))
            rows = np.ascontiguousarray(points + points.dtype.type(0))
            for i, row in enumerate(rows):
                result[i] = tied.get(bytes(row), result[i])
        return result

    def all_depths(
        self,
        sample: Sample,
        points: np.ndarray,
        weights: np.ndarray | None,
        directions: np.ndarray,
        resources: Resources,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Depths of the distinct points (u,), and of the caller's rows `points` (n, d)."""
        distinct = self.sample_depth(sample, directions, resources)
        # Rows of weight zero are at -1, and get theirs below.
        depths = distinct[sample.inverse]
        if weights is not None:
            weightless = sample.inverse < 0
            if weightless.any():
                asked = points[weightless]
                depths[weightless] = self.point_depth(sample, asked, directions, resources)
        return distinct, depths


def center_and_exponent(sample: Sample) -> tuple[np.ndarray, int]:
    """A center (d,) of the sample, and the power of two next to the typical distance from it.

    Depths do not change when the data are moved and scaled; rounding and overflow do. Both are
    rough estimates from evenly spaced rows of the sample.
    """
    return _core.center_and_exponent(sample.points)


def middle_of(rows: np.ndarray) -> np.ndarray:
    """The lower median (d,) of each column of rows (n, d)."""
    return np.sort(rows, axis=0)[(len(rows) - 1) // 2]


def standardize(sample: Sample, points: np.ndarray) -> np.ndarray:
    """`points` (m, d) moved and scaled so that the sample sits around zero with size one."""
    return moved_by(points, *center_and_exponent(sample))


def moved_by(points: np.ndarray, center: np.ndarray, exponent: int) -> np.ndarray:
    """(points - center) / 2**exponent, for points (m, d) and a center (d,)."""
    # The power of two itself may be out of range.
    return np.ldexp(points - center, -exponent)
