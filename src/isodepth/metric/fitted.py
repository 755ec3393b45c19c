"""FittedMetric: directions and levels sampled once, for regions of many samples and any pair."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from isodepth.core.directions import draws_at_random, seeded_vectors, unit_vectors
from isodepth.core.regions import (
    LevelPlan,
    Sample,
    TrimmedRegions,
    exact_plan,
    level_plan,
    midpoint_levels,
    power_mean,
)
from isodepth.core.scaling import scaled, units_of_samples
from isodepth.core.settings import Settings
from isodepth.data.arrays import column_labels
from isodepth.data.matching import in_order, labels_of
from isodepth.data.missing import MissingPair, MissingReport, omit_missing
from isodepth.data.seeds import rng_for
from isodepth.data.validation import (
    OMIT_HINT,
    check_points,
    check_same_columns,
    check_same_width,
    check_weights,
    split_weights,
)
from isodepth.depth.base import DepthSource, Projections
from isodepth.engine import Resources, thread_map, worker_count, write_supports
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.gap.gaps import Gaps, find_gaps
from isodepth.metric.comparison import Comparison
from isodepth.metric.signature import Origin, Signature


@dataclass(frozen=True, eq=False, repr=False)
class FittedMetric:
    """A metric with its directions and levels sampled: fit each sample once, compare any two.

    Made by :meth:`isodepth.Metric.with_directions`. Everything is compared along the same
    directions, also where the metric has no fixed seed, and nothing is sampled again: what many
    pairs, or the permutations of a test, have in common is done once.

    Attributes
    ----------
    settings : Settings
        Settings of the metric.
    origin : Origin
        The depth, and the directions of shape (K, d).
    directions : ndarray of shape (K, d)
        The directions, in the precision in which they are used.
    betas : ndarray of shape (L,), or None
        The levels; None for exact ones.

    Examples
    --------
    >>> import isodepth
    >>> fitted = isodepth.Metric(depth="halfspace").with_directions(n_features=1)
    >>> a, b, c = fitted.all_regions([[[0.0], [1.0]], [[3.0], [4.0]], [[0.0], [5.0]]])
    >>> fitted.distance(a, b), fitted.distance(a, c)
    (3.0, 4.0)
    """

    settings: Settings
    origin: Origin
    directions: np.ndarray
    betas: np.ndarray | None

    @property
    def source(self) -> DepthSource:
        """The depth."""
        return self.origin.source

    @cached_property
    def resources(self) -> Resources:
        """Threads and memory that may be used."""
        return Resources(Resources(self.settings.n_jobs).n_threads, self.settings.memory_mb)

    @property
    def along(self) -> Projections:
        """The directions, with threads and memory for depths along them."""
        return Projections(self.directions, self.resources)

    # -- one sample -------------------------------------------------------------------------

    def regions(self, X: Any, weights: Any = None) -> TrimmedRegions:
        """The nested regions of one sample.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
        weights : array-like of shape (n,) or None
        """
        return self.all_regions([X], [weights], names=["X"])[0]

    def all_regions(
        self,
        samples: Iterable[Any],
        weights: Sequence[Any] | None = None,
        names: Sequence[str] | None = None,
    ) -> list[TrimmedRegions]:
        """The nested regions of many samples, fitted in parallel.

        Parameters
        ----------
        samples : iterable of N array-likes or data frames of shape (n_i, d)
        weights : sequence of N arrays of shape (n_i,) or None, or None
        names : how to call the samples in messages; ``samples[i]`` if None

        Returns
        -------
        regions : list of N TrimmedRegions
        """
        given = list(samples)
        each = [None] * len(given) if weights is None else list(weights)
        if len(each) != len(given):
            raise InvalidInputError(
                f"weights must have one entry for each of {len(given)} samples, got {len(each)}"
            )
        called = names or [f"samples[{i}]" for i in range(len(given))]
        checked = [
            self._checked(X, w, name) for X, w, name in zip(given, each, called, strict=True)
        ]
        clouds = [Sample.of(points, w, resources=self.resources) for points, _, w in checked]
        self.source.warn_if_uninformative(*clouds)
        work = sum(len(points) for points, _, _ in checked) * len(self.directions)
        workers = worker_count(self.settings.n_jobs, len(given) // 2, work)
        # One sample a task; where there are too few of them, directions are shared out instead.
        inner = self if workers == 1 else replace(self, settings=replace(self.settings, n_jobs=1))

        def fit(i: int) -> TrimmedRegions:
            points, columns, w = checked[i]
            return inner.fit_regions(points, w, columns, clouds[i])

        return thread_map(fit, range(len(given)), workers)

    def fit_regions(
        self,
        points: np.ndarray,
        weights: np.ndarray | None,
        columns: tuple[str, ...] | None,
        sample: Sample,
    ) -> TrimmedRegions:
        """The regions of points (n, d) that have been checked and merged to `sample`."""
        return self.source.regions(
            sample, points, weights, self.along, columns=columns, origin=self.origin
        )

    # -- two samples ------------------------------------------------------------------------

    def distance(self, x: TrimmedRegions, y: TrimmedRegions) -> float:
        """DR_{p,eps} between the samples of two regions made along these directions."""
        gaps = self.gaps(x, y)
        return self.mean(gaps.values, gaps.plan)

    def compare(self, x: TrimmedRegions, y: TrimmedRegions) -> Comparison:
        """Like `distance`, with the levels and directions where the samples differ."""
        gaps = self.gaps(x, y)
        return Comparison(
            distance=self.mean(gaps.values, gaps.plan),
            regions=(x, y),
            signature=str(self.signature(str(x.ordered.dtype))),
            columns=check_same_columns(x.columns, y.columns),
            _gaps=gaps,
            _power=(self.settings.p, self.length),
            _q=self.settings.q,
            _resources=self.resources,
            _fitted=self,
        )

    def plan(self, x: TrimmedRegions, y: TrimmedRegions) -> LevelPlan:
        """The levels at which two regions are compared."""
        self.check(x, "x")
        self.check(y, "y")
        check_same_width(x.n_features, y.n_features)
        check_same_columns(x.columns, y.columns)
        if x.points.dtype != y.points.dtype:
            raise InvalidInputError(
                f"the regions of X were made in {x.points.dtype} and those of Y in "
                f"{y.points.dtype}; make both in one precision"
            )
        if self.betas is None:
            return exact_plan(x, y, self.settings.eps)
        return level_plan(x, y, self.betas)

    def gaps(self, x: TrimmedRegions, y: TrimmedRegions) -> Gaps:
        """How far apart two regions are at each level of their plan."""
        return find_gaps(x, y, self.plan(x, y), self.directions, self.settings, self.resources)

    def mean(self, gaps: np.ndarray, plan: LevelPlan) -> float:
        """The distance that gaps (L,) at the levels of a plan add up to."""
        return power_mean(gaps, plan.shares, self.settings.p, self.length)

    # -- tables -----------------------------------------------------------------------------

    @property
    def table_shape(self) -> tuple[int, int]:
        """Shape (L, 2K) of a table."""
        assert self.betas is not None
        return len(self.betas), 2 * len(self.directions)

    def table_signature(self, dtype: str) -> Signature:
        """The signature of tables of samples of that precision."""
        return replace(Signature.of(self.settings, dtype), refine=0)

    def write_table(self, regions: TrimmedRegions, out: np.ndarray) -> None:
        """Write the support values of regions to `out` (L, 2K)."""
        assert self.betas is not None
        sizes = regions.prefix_sizes(self.betas)
        write_supports(regions.ordered, sizes, self.directions, out, self.resources)

    # -- what follows from the settings -----------------------------------------------------

    def signature(self, dtype: str | None = None) -> Signature:
        """How numbers are made in that precision, said only where it is not the usual one."""
        return Signature.of(self.settings, dtype if dtype == "float32" else self.settings.dtype)

    def check(self, regions: Any, name: str) -> None:
        """Check that regions are of this metric's depth and directions, and say what differs."""
        if not isinstance(regions, TrimmedRegions) or not isinstance(regions.origin, Origin):
            raise InvalidInputError(
                f"{name} must be TrimmedRegions as Metric.regions makes them, got "
                f"{type(regions).__name__}"
            )
        if regions.origin is self.origin:
            return
        found = regions.origin.differences(self.origin)
        if found:
            raise InvalidInputError(
                f"the regions of {name} do not fit this metric: they differ in "
                f"{', '.join(found)}; make them with this metric (without an integer random_state "
                "directions are sampled anew each time: give one, or use Metric.with_directions)"
            )

    @property
    def length(self) -> float:
        """Factor of the mean over levels: 1, or the length of [0, 1 - eps] for the integral."""
        return 1.0 if self.settings.normalize else 1.0 - self.settings.eps

    def _checked(
        self, X: Any, weights: Any, name: str
    ) -> tuple[np.ndarray, tuple[str, ...] | None, np.ndarray | None]:
        points, columns, checked, *_ = prepare(X, weights, name, self.settings, self.origin.scale)
        check_same_width(points.shape[1], self.directions.shape[1], name, "the directions")
        if points.dtype != self.directions.dtype == np.float32:
            raise InvalidInputError(
                f"{name} is {points.dtype}, and the directions were sampled for data in "
                f"{self.directions.dtype}; leave out dtype in Metric.with_directions"
            )
        return points, columns, checked

    def __repr__(self) -> str:
        count, width = self.directions.shape
        return f"FittedMetric({count} directions in {width} dimension(s), {self.signature()})"


def fit_metric(
    settings: Settings,
    source: DepthSource,
    width: int,
    *,
    given: np.ndarray | None = None,
    dtype: str | None = None,
    scale: np.ndarray | None = None,
) -> FittedMetric:
    """Draw the directions, unless they are given, and the levels for data of `width` columns.

    Parameters
    ----------
    settings : Settings
    given : ndarray of shape (K, width) or None
    dtype : the precision of the samples to come, where it is known
    scale : ndarray of shape (width,) or None
        What columns are divided by, where that is no word.
    """
    levels, seed = settings.levels, settings.random_state
    family, count = settings.directions, settings.n_directions
    betas = None if isinstance(levels, str) else midpoint_levels(levels, settings.eps)
    if isinstance(seed, int) and levels != "monte-carlo":
        directions = seeded_vectors(width, count, family, seed)
    else:
        directions = unit_vectors(width, count, family, seed) if given is None else given
        if levels == "monte-carlo":
            betas = rng_for(seed, "levels").uniform(0.0, 1.0 - settings.eps, settings.n_levels)
    used = directions if dtype is None else directions.astype(dtype, copy=False)
    origin = Origin(source, directions, family, count, seed, scale)
    return FittedMetric(settings, origin, used, betas)


def fit_both(
    settings: Settings, source: DepthSource, X: Any, Y: Any, weights: Any
) -> tuple[FittedMetric, TrimmedRegions, TrimmedRegions, MissingPair | None]:
    """The regions of both sides of a comparison, and the metric they were made with."""
    if not (isinstance(X, np.ndarray) and isinstance(Y, np.ndarray)):
        X, Y = _with_matched_columns(X, Y)
    x, y, scale = _prepare_sides(settings, X, Y, weights)
    missing = None
    if settings.nan_policy == "omit":
        missing = MissingPair(x.missing, y.missing, kept=(x.kept, y.kept))
    made = {n: s for n, s in (("X", X), ("Y", Y)) if isinstance(s, TrimmedRegions)}
    family, count = settings.directions, settings.n_directions
    directions = None
    if made and draws_at_random(family) and not isinstance(settings.random_state, int):
        # Nothing says which directions this metric should have fitted: those of the regions are as
        # good as any, if it could have fitted them.
        origin = next(iter(made.values())).origin
        if origin.dirs == f"{family}:{count}":
            directions = origin.directions
    fitted = fit_metric(settings, source, x.points.shape[1], given=directions, scale=scale)
    for name, regions in made.items():
        fitted.check(regions, name)
    samples = [
        given.sample
        if isinstance(given, TrimmedRegions)
        else Sample.of(side.points, side.weights, resources=fitted.resources)
        for given, side in ((X, x), (Y, y))
    ]
    source.warn_if_uninformative(*samples)
    if not isinstance(X, TrimmedRegions):
        X = fitted.fit_regions(x.points, x.weights, x.columns, samples[0])
    if not isinstance(Y, TrimmedRegions):
        Y = fitted.fit_regions(y.points, y.weights, y.columns, samples[1])
    return fitted, X, Y, missing


# -- from the arguments of a call to checked points -----------------------------------------


class PreparedSample(NamedTuple):
    """One sample, ready for its depths.

    Attributes
    ----------
    points : ndarray of shape (n, d)
    columns : tuple of str or None
    weights : ndarray of shape (n,) or None
    missing : MissingReport or None, where rows were looked through
    kept : bool ndarray with an entry for each row as given, or None
    """

    points: np.ndarray
    columns: tuple[str, ...] | None
    weights: np.ndarray | None
    missing: Any = None
    kept: Any = None


def prepare(
    X: Any,
    weights: Any,
    name: str,
    settings: Settings,
    scale: np.ndarray | None,
    weights_name: str = "",
) -> PreparedSample:
    """Check one sample, treat missing values by the options of a metric, and apply a scale (d,)."""
    dtype = settings.dtype
    if settings.nan_policy == "omit":
        left = omit_missing(X, weights, name, dtype)
        points, columns = left.points, left.columns
        sample = PreparedSample(points, columns, left.weights, left.report, left.kept)
    else:
        points, columns = check_points(X, name, dtype, hint=OMIT_HINT)
        checked = check_weights(weights, len(points), weights_name or f"weights of {name}")
        sample = PreparedSample(points, columns, checked)
    if scale is None:
        return sample
    return sample._replace(points=scaled(points, scale, name, columns))


def _prepare_sides(
    settings: Settings, X: Any, Y: Any, weights: Any
) -> tuple[PreparedSample, PreparedSample, np.ndarray | None]:
    """Check two sides of a comparison, each of which may be regions; also the scale (d,) used."""
    scale, dtype = settings.scale, settings.dtype
    x, y = (
        _sample_of_regions(given, own, name)
        if isinstance(given, TrimmedRegions)
        else prepare(given, own, name, settings, None)
        for name, given, own in zip("XY", (X, Y), split_weights(weights), strict=True)
    )
    check_same_width(x.points.shape[1], y.points.shape[1])
    columns = check_same_columns(x.columns, y.columns)
    points = [x.points, y.points]
    for name, given, own, other in (("X", X, x, y), ("Y", Y, y, x)):
        wanted = np.dtype(dtype) if dtype else other.points.dtype
        if isinstance(given, TrimmedRegions) and own.points.dtype != wanted:
            raise InvalidInputError(
                f"the regions of {name} were made in {own.points.dtype}, and the comparison is in "
                f"{wanted}; make them again with dtype='{wanted}'"
            )
    if x.points.dtype != y.points.dtype:
        points = [own.astype(np.float64, copy=False) for own in points]
    if isinstance(scale, str):
        if isinstance(X, TrimmedRegions) or isinstance(Y, TrimmedRegions):
            raise InvalidOptionError(
                f"scale={scale!r} is learned from the rows of samples, got regions, which have "
                "taken in their scale already; give the samples themselves, or make the regions "
                "with scale=array"
            )
        count = 2 if scale == "pooled" else 1
        scale = units_of_samples(points[:count], [x.weights, y.weights][:count], settings.eps)
    if scale is not None:
        # Regions have taken in their scale already, which is checked where they are compared.
        points = [
            own if isinstance(given, TrimmedRegions) else scaled(own, scale, name, columns)
            for name, given, own in zip("XY", (X, Y), points, strict=True)
        ]
    x = x._replace(points=points[0], columns=columns)
    return x, y._replace(points=points[1], columns=columns), scale


def _sample_of_regions(regions: TrimmedRegions, weights: Any, name: str) -> PreparedSample:
    if weights is not None:
        raise InvalidInputError(
            f"{name} are regions, which already include their weights, got weights of "
            f"{name} as well; give None for them, or the sample itself"
        )
    labels = regions.columns or column_labels(regions.n_features)
    report = MissingReport(regions.n_points, 0, tuple((label, 0) for label in labels))
    kept = np.ones(regions.n_points, dtype=bool)
    return PreparedSample(regions.points, regions.columns, None, report, kept)


def _with_matched_columns(X: Any, Y: Any) -> tuple[Any, Any]:
    """Both sides with one order of columns: that of regions, which stay as they are, or of X."""
    if isinstance(X, TrimmedRegions) and isinstance(Y, TrimmedRegions):
        return X, Y
    if isinstance(Y, TrimmedRegions):
        return in_order(X, Y.columns, "X", "Y"), Y
    names = X.columns if isinstance(X, TrimmedRegions) else labels_of(X)
    return X, in_order(Y, names, "Y", "X")
