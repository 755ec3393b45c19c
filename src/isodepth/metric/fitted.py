"""FittedMetric: a metric with sampled directions and levels, for any number of samples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from isodepth.core.directions import draws_at_random, rng_for, seeded_vectors, unit_vectors
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
from isodepth.data.arrays import column_labels
from isodepth.data.frames import in_order, labels_of
from isodepth.data.missing import MissingPair
from isodepth.data.validation import (
    MissingReport,
    SampleRows,
    as_pair,
    check_same_columns,
    check_same_width,
    read_sample,
    split_weights,
)
from isodepth.depth.base import Depth, DepthSource, Projections
from isodepth.engine import Resources, thread_map, worker_count, write_supports
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.hull import Gaps, find_gaps
from isodepth.metric.comparison import Comparison
from isodepth.metric.signature import Origin, Settings, Signature


@dataclass(frozen=True, eq=False, repr=False)
class FittedMetric:
    """Metric with sampled directions and levels, to compare many samples.

    Created by :meth:`isodepth.Metric.with_directions`. All samples are compared along the same
    directions, even if the metric has no fixed seed. The regions of a sample are computed once and
    serve for all its comparisons.

    Attributes
    ----------
    settings : Settings
        Settings of the metric.
    origin : Origin
        Depth and directions that regions of this metric store.
    directions : ndarray of shape (K, d)
        Directions, in the precision of the samples if it is known.
    betas : ndarray of shape (L,), or None
        Levels; None for the exact integral.

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
        """Depth of the points."""
        return self.origin.source

    @cached_property
    def resources(self) -> Resources:
        """Number of threads, and working memory."""
        return Resources(Resources(self.settings.n_jobs).n_threads, self.settings.memory_mb)

    @property
    def along(self) -> Projections:
        """Directions with the resources for projecting on them."""
        return Projections(self.directions, self.resources)

    # -- one sample -------------------------------------------------------------------------

    def regions(self, X: Any, weights: Any = None) -> TrimmedRegions:
        """Compute the nested regions of one sample.

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
        """Compute the nested regions of many samples in parallel.

        Parameters
        ----------
        samples : iterable of N array-likes or data frames of shape (n_i, d)
        weights : sequence of N arrays of shape (n_i,) or None, or None
        names : sequence of N str or None
            Names of the samples in messages; ``samples[i]`` if None.

        Returns
        -------
        regions : list of N TrimmedRegions
        """
        inputs = list(samples)
        weights = [None] * len(inputs) if weights is None else list(weights)
        if len(weights) != len(inputs):
            raise InvalidInputError(
                f"weights must have one entry per sample, got {len(weights)} entries for "
                f"{len(inputs)} samples"
            )
        names = names or [f"samples[{i}]" for i in range(len(inputs))]
        checked = [
            self._checked(X, w, name) for X, w, name in zip(inputs, weights, names, strict=True)
        ]
        merged = [Sample.of(points, w, resources=self.resources) for points, _, w in checked]
        self.source.warn_if_uninformative(*merged)
        work = sum(len(points) for points, _, _ in checked) * len(self.directions)
        workers = worker_count(self.settings.n_jobs, len(inputs) // 2, work)
        # Threads over samples, or over the directions of each sample if there are few samples.
        inner = self if workers == 1 else replace(self, settings=replace(self.settings, n_jobs=1))

        def fit(i: int) -> TrimmedRegions:
            points, columns, w = checked[i]
            return inner.fit_regions(points, w, columns, merged[i])

        return thread_map(fit, range(len(inputs)), workers)

    def fit_regions(
        self,
        points: np.ndarray,
        weights: np.ndarray | None,
        columns: tuple[str, ...] | None,
        sample: Sample,
    ) -> TrimmedRegions:
        """Compute the regions of checked points (n, d) with canonical form `sample`."""
        return self.source.regions(
            sample, points, weights, self.along, columns=columns, origin=self.origin
        )

    # -- two samples ------------------------------------------------------------------------

    def distance(self, x: TrimmedRegions, y: TrimmedRegions) -> float:
        """Compute DR_{p,eps} between two samples, given by their regions along these directions."""
        gaps = self.gaps(x, y)
        return self.mean(gaps.values, gaps.plan)

    def compare(self, x: TrimmedRegions, y: TrimmedRegions) -> Comparison:
        """Compute the distance with its levels and maximizing directions."""
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
        """Return the levels at which two regions are compared."""
        self.check(x, "x")
        self.check(y, "y")
        check_same_width(x.n_features, y.n_features)
        check_same_columns(x.columns, y.columns)
        if x.points.dtype != y.points.dtype:
            raise InvalidInputError(
                f"the regions of X have dtype {x.points.dtype} and those of Y {y.points.dtype}; "
                "compute both with the same dtype"
            )
        if self.betas is None:
            return exact_plan(x, y, self.settings.eps)
        return level_plan(x, y, self.betas)

    def gaps(self, x: TrimmedRegions, y: TrimmedRegions) -> Gaps:
        """Compute the distance of two regions at each level."""
        settings = self.settings
        way, q, refine = settings.gap, settings.q, settings.refine
        plan = self.plan(x, y)
        return find_gaps(x, y, plan, self.directions, way, q, refine, self.resources)

    def mean(self, gaps: np.ndarray, plan: LevelPlan) -> float:
        """Compute the mean of order p of gaps (L,) at the levels of a plan."""
        return power_mean(gaps, plan.shares, self.settings.p, self.length)

    # -- tables -----------------------------------------------------------------------------

    @property
    def table_shape(self) -> tuple[int, int]:
        """Shape (L, 2K) of a table."""
        assert self.betas is not None
        return len(self.betas), 2 * len(self.directions)

    def table_signature(self, dtype: str) -> Signature:
        """Return the signature of tables of samples with this dtype."""
        return replace(Signature.of(self.settings, dtype), refine=0)

    def write_table(self, regions: TrimmedRegions, out: np.ndarray) -> None:
        """Write the support values of regions to `out` (L, 2K)."""
        assert self.betas is not None
        sizes = regions.prefix_sizes(self.betas)
        write_supports(regions.ordered, sizes, self.directions, out, self.resources)

    def signature(self, dtype: str | None = None) -> Signature:
        """Return the signature for samples with this dtype, which is omitted unless float32."""
        return Signature.of(self.settings, dtype if dtype == "float32" else self.settings.dtype)

    def check(self, regions: Any, name: str) -> None:
        """Check that regions have the depth, the directions and the scale of this metric."""
        if not isinstance(regions, TrimmedRegions) or not isinstance(regions.origin, Origin):
            raise InvalidInputError(
                f"{name} must be TrimmedRegions of Metric.regions, got {type(regions).__name__}"
            )
        if regions.origin is self.origin:
            return
        differences = regions.origin.differences(self.origin)
        if differences:
            raise InvalidInputError(
                f"the regions of {name} do not fit this metric: they differ in "
                f"{', '.join(differences)}; compute them with this metric (without an integer "
                "random_state every call samples other directions: use an integer, or "
                "Metric.with_directions)"
            )

    @property
    def length(self) -> float:
        """Factor of the mean over levels: 1, or 1 - eps for the integral."""
        return 1.0 if self.settings.normalize else 1.0 - self.settings.eps

    def _checked(
        self, X: Any, weights: Any, name: str
    ) -> tuple[np.ndarray, tuple[str, ...] | None, np.ndarray | None]:
        points, columns, checked, *_ = prepare(X, weights, name, self.settings, self.origin.scale)
        check_same_width(points.shape[1], self.directions.shape[1], name, "the directions")
        if points.dtype != self.directions.dtype == np.float32:
            raise InvalidInputError(
                f"{name} has dtype {points.dtype}, and the directions were sampled for "
                f"{self.directions.dtype}; remove dtype in Metric.with_directions"
            )
        return points, columns, checked

    def __repr__(self) -> str:
        count, width = self.directions.shape
        return f"FittedMetric({count} directions, {width} columns, {self.signature()})"


def fit_metric(
    settings: Settings,
    source: DepthSource,
    width: int,
    *,
    directions: np.ndarray | None = None,
    dtype: str | None = None,
    scale: np.ndarray | None = None,
) -> FittedMetric:
    """Sample the directions and the levels for data with `width` columns.

    Parameters
    ----------
    settings : Settings
    source : DepthSource
    width : int
    directions : ndarray of shape (K, width) or None
        Directions to use if the settings have no integer seed.
    dtype : str or None
        Precision of the samples, if it is known.
    scale : ndarray of shape (width,) or None
        Divisors of the columns.
    """
    levels, seed = settings.levels, settings.random_state
    family, count = settings.directions, settings.n_directions
    betas = None if isinstance(levels, str) else midpoint_levels(levels, settings.eps)
    if isinstance(seed, int) and levels != "monte-carlo":
        directions = seeded_vectors(width, count, family, seed)
    else:
        if directions is None:
            directions = unit_vectors(width, count, family, seed)
        if levels == "monte-carlo":
            betas = rng_for(seed, "levels").uniform(0.0, 1.0 - settings.eps, settings.n_levels)
    used = directions if dtype is None else directions.astype(dtype, copy=False)
    origin = Origin(source, directions, family, count, seed, scale)
    return FittedMetric(settings, origin, used, betas)


def fit_both(
    settings: Settings, source: DepthSource, X: Any, Y: Any, weights: Any
) -> tuple[FittedMetric, TrimmedRegions, TrimmedRegions, MissingPair | None]:
    """Return the metric with directions, the regions of both samples, and the dropped rows."""
    if not (isinstance(X, np.ndarray) and isinstance(Y, np.ndarray)):
        X, Y = _with_matched_columns(X, Y)
    x, y, scale = _prepare_sides(settings, X, Y, weights)
    missing = None
    if settings.nan_policy == "omit":
        missing = MissingPair(x.missing, y.missing, kept=(x.kept, y.kept))
    ready = {n: s for n, s in (("X", X), ("Y", Y)) if isinstance(s, TrimmedRegions)}
    family, count = settings.directions, settings.n_directions
    directions = None
    if ready and draws_at_random(family) and not isinstance(settings.random_state, int):
        # Without a seed any directions of the same family and number are valid samples.
        origin = next(iter(ready.values())).origin
        if origin.dirs == f"{family}:{count}":
            directions = origin.directions
    fitted = fit_metric(settings, source, x.points.shape[1], directions=directions, scale=scale)
    for name, regions in ready.items():
        fitted.check(regions, name)
    sizes = len(x.points), len(y.points)
    threads, memory_mb = fitted.resources.n_threads, settings.memory_mb
    # Both samples at once, because not every step of a sample uses all threads. A depth of the user
    # may not allow two calls at once.
    separate = ready or not isinstance(source, Depth)
    workers = 1 if separate else worker_count(threads, 2, sum(sizes) * len(fitted.directions))

    def fit(side: int) -> TrimmedRegions:
        known, rows = ((X, x), (Y, y))[side]
        if isinstance(known, TrimmedRegions):
            return known
        inner = fitted
        if workers == 2:
            share = -(-threads * sizes[side] // sum(sizes))
            inner = replace(
                fitted, settings=replace(settings, n_jobs=share, memory_mb=memory_mb / 2)
            )
        sample = Sample.of(rows.points, rows.weights, resources=inner.resources)
        return inner.fit_regions(rows.points, rows.weights, rows.columns, sample)

    X, Y = thread_map(fit, (0, 1), workers)
    source.warn_if_uninformative(X.sample, Y.sample)
    return fitted, X, Y, missing


# -- from the arguments of a call to checked points -----------------------------------------


def prepare(
    X: Any,
    weights: Any,
    name: str,
    settings: Settings,
    scale: np.ndarray | None,
    weights_name: str = "",
) -> SampleRows:
    """Check one sample, drop rows with missing values if requested, and apply a scale (d,)."""
    policy = settings.nan_policy
    sample = read_sample(X, weights, name, settings.dtype, policy, weights_name=weights_name)
    if scale is None:
        return sample
    return sample._replace(points=scaled(sample.points, scale, name, sample.columns))


def _prepare_sides(
    settings: Settings, X: Any, Y: Any, weights: Any
) -> tuple[SampleRows, SampleRows, np.ndarray | None]:
    """Check two samples or regions, and return them with the scale (d,) of their columns."""
    weights_x, weights_y = split_weights(weights)
    x, y = _prepare_side(X, weights_x, "X", settings), _prepare_side(Y, weights_y, "Y", settings)
    are_regions = isinstance(X, TrimmedRegions), isinstance(Y, TrimmedRegions)
    scale = settings.scale
    if any(are_regions):
        common = np.dtype(settings.dtype or (y if are_regions[0] else x).points.dtype)
        for name, side, ready in zip("XY", (x, y), are_regions, strict=True):
            if ready and side.points.dtype != common:
                raise InvalidInputError(
                    f"the regions of {name} have dtype {side.points.dtype}, and the comparison is "
                    f"in {common}; compute them with dtype='{common}'"
                )
    x, y = as_pair(x, y)
    if isinstance(scale, str):
        if any(are_regions):
            raise InvalidOptionError(
                f"scale={scale!r} is estimated from the rows of both samples, got regions, whose "
                "columns are already scaled; pass the samples, or compute the regions with "
                "scale=array",
                option="scale",
            )
        sides = [x, y] if scale == "pooled" else [x]
        points, row_weights = [side.points for side in sides], [side.weights for side in sides]
        scale = units_of_samples(points, row_weights, settings.eps)
    if scale is not None:
        # Regions are scaled already; `FittedMetric.check` compares their scale.
        x, y = (
            side if ready else side._replace(points=scaled(side.points, scale, name, side.columns))
            for name, side, ready in zip("XY", (x, y), are_regions, strict=True)
        )
    return x, y, scale


def _prepare_side(side: Any, weights: Any, name: str, settings: Settings) -> SampleRows:
    """Check a sample; regions are returned with their points, and a report without missing rows."""
    if not isinstance(side, TrimmedRegions):
        return prepare(side, weights, name, settings, None)
    if weights is not None:
        raise InvalidInputError(
            f"{name} is TrimmedRegions, which include their weights, got weights of {name} as "
            "well; use None for them, or pass the sample"
        )
    labels = side.columns or column_labels(side.n_features)
    report = MissingReport(side.n_points, 0, tuple((label, 0) for label in labels))
    kept = np.ones(side.n_points, dtype=bool)
    return SampleRows(side.points, side.columns, None, report, kept)


def _with_matched_columns(X: Any, Y: Any) -> tuple[Any, Any]:
    """Return both samples with one order of columns: that of regions, otherwise that of X."""
    if isinstance(X, TrimmedRegions) and isinstance(Y, TrimmedRegions):
        return X, Y
    if isinstance(Y, TrimmedRegions):
        return in_order(X, Y.columns, "X", "Y"), Y
    names = X.columns if isinstance(X, TrimmedRegions) else labels_of(X)
    return X, in_order(Y, names, "Y", "X")
