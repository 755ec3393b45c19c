"""FittedMetric: a metric with sampled directions and levels, for any number of samples.

The region of level beta of a sample is the smallest set of its deepest rows with more than a
fraction beta of the total weight. The gap of a level is the distance between the regions of two
samples. It is computed along directions, which are unit vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from isodepth.base.compiled import Resources, thread_map, worker_count, write_supports
from isodepth.base.export import ReadOnlyFields
from isodepth.base.messages import Message
from isodepth.base.options import check_dtype, check_integer
from isodepth.base.seeds import rng_for
from isodepth.errors import ColumnWarning, InvalidInputError, InvalidOptionError, warn_user
from isodepth.geometry.depth.base import Depth, DepthSource, Projections
from isodepth.geometry.depth.resolve import same_depth
from isodepth.geometry.directions import seeded_vectors, unit_vectors
from isodepth.geometry.hull import Gaps, find_gaps
from isodepth.geometry.regions import (
    LevelPlan,
    Sample,
    TrimmedRegions,
    exact_plan,
    level_plan,
    power_mean,
)
from isodepth.geometry.scaling import (
    NamedScale,
    aligned_scale,
    check_scale_width,
    scaled,
    units_of_samples,
)
from isodepth.metric.comparison import Comparison, ComparisonDetails, RowsOfRegions
from isodepth.metric.settings import (
    LEVEL_BYTES,
    MEMORY_MB,
    MetricSettings,
    RandomLevels,
    check_level_memory,
    midpoint_levels,
    settings_of_data,
    used_settings,
)
from isodepth.metric.signature import signature_text
from isodepth.table.frames import in_order, labels_of
from isodepth.table.missing import MissingPair
from isodepth.table.validation import (
    SampleRows,
    as_pair,
    check_same_columns,
    check_same_width,
    copy_of_sample,
    read_sample,
    split_weights,
)

if TYPE_CHECKING:
    from isodepth.api import Metric
    from isodepth.base.annotations import Precision, TableLike, VectorLike


@dataclass(frozen=True, eq=False)
class Origin:
    """Settings on which the nested regions of a sample depend.

    Regions do not depend on the other settings, such as p, eps, levels and gap. Regions of two
    samples can be compared if their origins are equal.

    Attributes
    ----------
    source : DepthSource
        Depth function.
    directions : ndarray of shape (K, d)
    scale : ndarray of shape (d,) or None
        Divisors of the columns.
    """

    source: DepthSource
    directions: np.ndarray
    scale: np.ndarray | None = None

    def differences(self, other: Origin) -> list[str]:
        """Return the names of the settings that differ from those of `other`.

        The list is empty if regions with these origins can be compared.
        """
        same = {
            "depth": same_depth(self.source, other.source),
            "directions": np.array_equal(self.directions, other.directions),
            "scale": np.array_equal(self.scale, other.scale),  # type: ignore[arg-type]
        }
        return [name for name, equal in same.items() if not equal]


@dataclass(frozen=True, eq=False)
class FittedMetric(ReadOnlyFields):
    """Metric with sampled directions and levels, to compare many samples.

    It is created by :meth:`isodepth.Metric.with_directions`. All samples are compared along the
    same directions, even if the metric has no fixed seed. The regions of a sample are computed once
    and used for all comparisons with this sample.

    Attributes
    ----------
    metric : Metric
    directions : ndarray of shape (K, d)
        Directions, in the precision of the samples if it is known.

    Examples
    --------
    >>> import isodepth
    >>> fitted = isodepth.Metric(depth="halfspace").with_directions(n_features=1)
    >>> a, b, c = fitted.all_regions([[[0.0], [1.0]], [[3.0], [4.0]], [[0.0], [5.0]]])
    >>> fitted.distance(a, b), fitted.distance(a, c)
    (3.0, 4.0)
    """

    metric: Metric
    _origin: Origin  # depth, directions and scale of the regions that this metric computes
    directions: np.ndarray
    # (L,), levels at which regions are compared; None if the distance integrates over all levels.
    _betas: np.ndarray | None
    _resources: Resources

    @property
    def _source(self) -> DepthSource:
        """Depth function that orders the points."""
        return self._origin.source

    @property
    def _along(self) -> Projections:
        """Directions of the metric, with the threads and the memory for projections on them."""
        return Projections(self.directions, self._resources)

    # -- methods for one sample -------------------------------------------------------------

    def regions(self, X: TableLike, *, weights: VectorLike | None = None) -> TrimmedRegions:
        """Compute the nested regions of one sample.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
        weights : array-like of shape (n,) or None
        """
        return self.all_regions([X], weights=[weights], names=["X"])[0]

    def all_regions(
        self,
        samples: Iterable[TableLike],
        *,
        weights: Sequence[VectorLike | None] | None = None,
        names: Sequence[str] | None = None,
    ) -> list[TrimmedRegions]:
        """Compute the nested regions of many samples in parallel.

        Parameters
        ----------
        samples : iterable of N array-likes or data frames of shape (n_i, d)
        weights : sequence of N entries, each an array of shape (n_i,) or None; or None
        names : sequence of N str or None
            Names of the samples in messages; ``samples[i]`` if None.

        Returns
        -------
        regions : list of N TrimmedRegions
        """
        inputs = [copy_of_sample(X) for X in samples]
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
        return self._fit_samples(checked)

    def _fit_samples(
        self,
        checked: Sequence[tuple[np.ndarray, tuple[str, ...] | None, np.ndarray | None]],
        advance: Callable[[int], None] = lambda _: None,
    ) -> list[TrimmedRegions]:
        """Compute the nested regions of validated and scaled samples.

        Each sample is a triple of its points, the names of the columns or None, and the weights of
        the points or None. `advance` is called with 1 after each sample.
        """
        merged = [Sample.of(points, w, resources=self._resources) for points, _, w in checked]
        self._source._warn_if_uninformative(*merged)
        work = sum(len(points) for points, _, _ in checked) * len(self.directions)
        workers = self._workers(len(checked) // 2, work)
        # Threads process samples in parallel, so each sample is processed by one thread. If there
        # are few samples, the threads process the directions of one sample instead.
        inner = self
        if workers > 1:
            inner = replace(self, _resources=Resources(1, self._resources.memory_mb / workers))

        def fit(i: int) -> TrimmedRegions:
            points, columns, w = checked[i]
            regions = inner._fit_regions(points, w, columns, merged[i])
            advance(1)
            return regions

        return thread_map(fit, range(len(checked)), workers)

    def _workers(self, n_tasks: int, operations: int) -> int:
        """Return the number of threads that process samples in parallel, see `worker_count`.

        A depth function of the user may not be thread-safe, so it is not called in parallel.
        """
        if not isinstance(self.metric._source, Depth):
            return 1
        return worker_count(self._resources.n_threads, n_tasks, operations)

    def _fit_regions(
        self,
        points: np.ndarray,
        weights: np.ndarray | None,
        columns: tuple[str, ...] | None,
        sample: Sample,
    ) -> TrimmedRegions:
        """Compute the nested regions of validated and scaled points (n, d).

        `weights` (n,) are the weights of the points, or None, and `columns` the names of the
        columns. `sample` contains the distinct points with their masses.
        """
        return self._source._regions(
            sample, points, weights, self._along, columns=columns, origin=self._origin
        )

    def _regions_of_rows(self, points: np.ndarray) -> TrimmedRegions:
        """Compute the nested regions of validated points (n, d) without weights or column names."""
        sample = Sample.of(points, None, resources=self._resources)
        return self._fit_regions(points, None, None, sample)

    # -- methods for two samples ------------------------------------------------------------

    def distance(self, x: TrimmedRegions, y: TrimmedRegions) -> float:
        """Compute DR_{p,eps} between two samples, given by regions that this metric computed."""
        gaps = self._gaps(x, y)
        return self._mean(gaps.values, gaps.plan)

    def compare(self, x: TrimmedRegions, y: TrimmedRegions) -> Comparison:
        """Compare two samples, given by the regions that this metric computed.

        The result has the distance, and the gap between both regions at each level with its
        maximizing direction. Its settings describe the weights of the regions.
        """
        gaps = self._gaps(x, y)
        distance = self._mean(gaps.values, gaps.plan)
        columns = check_same_columns(x.columns, y.columns)
        return Comparison(
            distance=distance,
            settings=self._settings_for(str(x._ordered.dtype))
            | settings_of_data(None, (x.weights, y.weights)),
            columns=columns,
        )._with(
            _details=ComparisonDetails(gaps, self, (x, y)),
            _kept=RowsOfRegions((x, y), columns),
        )

    def _plan(self, x: TrimmedRegions, y: TrimmedRegions) -> LevelPlan:
        """Check that the regions of two samples are comparable, and choose the compared levels."""
        self._check(x, "x")
        self._check(y, "y")
        check_same_width(x.n_features, y.n_features)
        check_same_columns(x.columns, y.columns)
        if x.points.dtype != y.points.dtype:
            raise InvalidInputError(
                f"the regions of X have dtype {x.points.dtype} and those of Y {y.points.dtype}; "
                "compute both with the same dtype"
            )
        if self._betas is None:
            return exact_plan(x, y, self.metric.eps)
        return level_plan(x, y, self._betas)

    def _gaps(self, x: TrimmedRegions, y: TrimmedRegions) -> Gaps:
        """Compute the gap between the regions of two samples at each level."""
        settings = self.metric
        way, q, steps = settings.gap, settings.q, settings._steps
        plan = self._plan(x, y)
        return find_gaps(x, y, plan, self.directions, way, q, steps, self._resources)

    def _mean(self, gaps: np.ndarray, plan: LevelPlan) -> float:
        """Return the distance: the mean of order p of the gaps (L,), with the weights in `plan`."""
        return power_mean(gaps, plan.shares, self.metric.p, self.metric._length)

    # -- methods for region tables ----------------------------------------------------------

    @property
    def _table_shape(self) -> tuple[int, int]:
        """Shape (L, 2K) of a region table, for L levels and K directions with both signs.

        Raise an error if a table does not fit into the memory.
        """
        assert self._betas is not None
        shape = len(self._betas), 2 * len(self.directions)
        check_level_memory(shape[0], 8 * shape[1], self.metric.memory_mb)
        return shape

    def _table_settings(self, dtype: str) -> dict[str, Any]:
        """Return the settings of region tables of samples with this dtype."""
        return used_settings(self.metric, dtype, 0)

    def _write_table(self, regions: TrimmedRegions, out: np.ndarray) -> None:
        """Write the support values of the regions of a sample to `out` (L, 2K).

        Rows of `out` are the L levels. Columns are the K directions, then their opposites.
        """
        assert self._betas is not None
        sizes = regions._prefix_sizes(self._betas)
        write_supports(regions._ordered, sizes, self.directions, out, self._resources)

    @property
    def signature(self) -> str:
        """Settings that determine the distance, as a short string."""
        return signature_text(self._settings_for(str(self.directions.dtype)))

    def _settings_for(self, dtype: str) -> dict[str, Any]:
        """Return the settings of distances between samples with this dtype.

        They contain the dtype only if it is float32, or if the option `dtype` is set.
        """
        precision = dtype if dtype == "float32" else self.metric._dtype
        return used_settings(self.metric, precision, self.metric._steps)

    def _check(self, regions: Any, name: str) -> None:
        """Check that regions have the depth, the directions and the scale of this metric.

        `name` is the name of the regions in messages.
        """
        if not isinstance(regions, TrimmedRegions) or not isinstance(regions._origin, Origin):
            raise InvalidInputError(
                f"{name} must be TrimmedRegions of Metric.regions, got {type(regions).__name__}"
            )
        if regions._origin is self._origin:
            return
        differences = regions._origin.differences(self._origin)
        if differences:
            raise InvalidInputError(
                f"the regions of {name} do not fit this metric: they differ in "
                f"{', '.join(differences)}; compute them with this metric (without an integer "
                "random_state every call samples other directions: use an integer, or "
                "Metric.with_directions)"
            )

    def _checked(
        self, X: Any, weights: Any, name: str
    ) -> tuple[np.ndarray, tuple[str, ...] | None, np.ndarray | None]:
        points, columns, checked, *_ = prepare(X, weights, name, self.metric, self._origin.scale)
        check_same_width(points.shape[1], self.directions.shape[1], name, "the directions")
        if points.dtype != self.directions.dtype == np.float32:
            raise InvalidInputError(
                f"{name} has dtype {points.dtype}, and the directions were sampled for "
                f"{self.directions.dtype}; remove dtype in Metric.with_directions"
            )
        return points, columns, checked

    def __repr__(self) -> str:
        count, width = self.directions.shape
        return f"FittedMetric({count} directions, {width} columns, {self.signature})"


def fit_metric(
    settings: MetricSettings,
    width: int,
    *,
    dtype: str | None = None,
    scale: np.ndarray | None = None,
) -> FittedMetric:
    """Sample the directions and the levels for data with `width` columns.

    Parameters
    ----------
    settings : MetricSettings
    width : int
    dtype : str or None
        Dtype of the samples, if it is known. The directions are then converted to it.
    scale : ndarray of shape (width,) or None
        Divisors of the columns.
    """
    levels, seed = settings.levels, settings.random_state
    n_levels = levels.n_levels if isinstance(levels, RandomLevels) else levels
    if isinstance(n_levels, int):
        check_level_memory(n_levels, LEVEL_BYTES, settings.memory_mb)
    betas = midpoint_levels(levels, settings.eps) if isinstance(levels, int) else None
    family, count = settings.directions, settings.n_directions
    if isinstance(seed, int):
        directions = seeded_vectors(width, count, family, seed)
    else:
        directions = unit_vectors(width, count, directions=family, random_state=seed)
    if isinstance(levels, RandomLevels):
        betas = rng_for(seed, "levels").uniform(0.0, 1.0 - settings.eps, levels.n_levels)
    used = np.asarray(directions, dtype)
    resources = Resources(Resources(settings.n_jobs).n_threads, settings.memory_mb or MEMORY_MB)
    origin = Origin(settings._source, directions, scale)
    return FittedMetric(cast("Metric", settings), origin, used, betas, resources)


def fit_both(
    settings: MetricSettings, X: Any, Y: Any, weights: Any
) -> tuple[FittedMetric, TrimmedRegions, TrimmedRegions, MissingPair | None]:
    """Sample directions and compute the regions of two samples.

    `weights` is a pair with the weights of the rows of X and of Y, or None. Return the metric with
    its directions, the regions of X, those of Y, and the counts of rows that were dropped for
    missing values. The last result is None unless `nan_policy` is "omit".
    """
    if not (isinstance(X, np.ndarray) and isinstance(Y, np.ndarray)):
        Y = in_order(Y, labels_of(X), "Y", "X")
    weights_x, weights_y = split_weights(weights)
    x, y = (prepare(*side, settings, None) for side in ((X, weights_x, "X"), (Y, weights_y, "Y")))
    (x, y), scale = _scaled_pair(as_pair(x, y), settings)
    missing = None
    if x.missing is not None and y.missing is not None:
        missing = MissingPair(x.missing, y.missing, kept=(x.kept, y.kept))
        if missing._many_dropped:
            advice = (
                "{dropped}; leave out these columns, or use {two_sample_test()}, which drops no row"
            )
            warn_user(Message(advice, dropped=missing._many_dropped), ColumnWarning)
    fitted = fit_metric(settings, x.points.shape[1], scale=scale)
    regions = _regions_of_both(fitted, (x, y))
    settings._source._warn_if_uninformative(*(each._sample for each in regions))
    return fitted, regions[0], regions[1], missing


def _scaled_pair(
    sides: Sequence[SampleRows], settings: MetricSettings
) -> tuple[Sequence[SampleRows], np.ndarray | None]:
    """Divide the columns of both samples by the same divisors, which the option `scale` defines.

    `sides` has X and Y. Return the divided samples and the divisors (d,). If the option is None,
    return the samples unchanged, and None.
    """
    scale = settings._units
    if isinstance(scale, str):
        used = sides if scale == "pooled" else sides[:1]
        points, row_weights = [side.points for side in used], [side.weights for side in used]
        scale = units_of_samples(points, row_weights, settings.eps)
    if scale is None:
        return sides, None
    scale = aligned_scale(scale, sides[0].columns)
    divided = [
        side._replace(points=scaled(side.points, scale, name, side.columns))
        for name, side in zip("XY", sides, strict=True)
    ]
    return divided, scale


def _regions_of_both(fitted: FittedMetric, sides: Sequence[SampleRows]) -> list[TrimmedRegions]:
    """Compute the regions of two samples, the entries of `sides`.

    The samples are processed in parallel, because some steps for one sample do not use all threads.
    """
    sizes = [len(side.points) for side in sides]
    threads, memory_mb = fitted._resources.n_threads, fitted._resources.memory_mb
    workers = fitted._workers(2, sum(sizes) * len(fitted.directions))

    def fit(side: int) -> TrimmedRegions:
        rows, inner = sides[side], fitted
        if workers == 2:
            share = -(-threads * sizes[side] // sum(sizes))
            inner = replace(fitted, _resources=Resources(share, memory_mb / 2))
        sample = Sample.of(rows.points, rows.weights, resources=inner._resources)
        return inner._fit_regions(rows.points, rows.weights, rows.columns, sample)

    return thread_map(fit, (0, 1), workers)


def compare_arrays(settings: MetricSettings, X: Any, Y: Any, weights: Any = None) -> Comparison:
    """Compare two samples in memory, which may be arrays or data frames."""
    fitted, x, y, missing = fit_both(settings, X, Y, weights)
    comparison = fitted.compare(x, y)
    return comparison if missing is None else comparison._with(missing=missing)


def fit_for_one_sample(
    settings: MetricSettings, n_features: int, dtype: Precision | None = None
) -> FittedMetric:
    """Sample the directions and the levels, for samples that are read one by one.

    The option `scale` must be None or an array with one number for each of the `n_features`
    columns. `dtype` is the dtype of the samples, if it is known.
    """
    check_integer(n_features, "n_features", 1, "; it is the number of columns of the samples")
    precision = None if dtype is None else check_dtype(dtype, "dtype")
    refuse_learned_scale(settings.scale)
    # Named divisors are matched with the columns of each sample.
    if settings.scale is not None and not isinstance(settings.scale, NamedScale):
        check_scale_width(settings._units, n_features)
    return fit_metric(settings, n_features, dtype=precision, scale=settings._units)


def refuse_learned_scale(scale: Any) -> None:
    """Raise an error if the scale is "pooled" or "reference", which are estimated from samples."""
    if isinstance(scale, str):
        raise InvalidOptionError(
            f"scale={scale!r} is estimated from the samples of a comparison, got a single sample; "
            "use an array with one number per column, or compute the tables of all samples with "
            "isodepth.region_tables(..., scale='pooled')",
            option="scale",
        )


# -- validation of samples ------------------------------------------------------------------


def prepare(
    X: Any,
    weights: Any,
    name: str,
    settings: MetricSettings,
    scale: np.ndarray | None,
    weights_name: str = "",
) -> SampleRows:
    """Validate one sample and divide its columns by `scale` (d,), unless it is None.

    Rows with missing values are dropped if `nan_policy` is "omit". `name` and `weights_name` are
    the names of `X` and `weights` in messages.
    """
    policy = settings.nan_policy
    sample = read_sample(X, weights, name, settings._dtype, policy, weights_name=weights_name)
    if scale is None:
        return sample
    scale = aligned_scale(scale, sample.columns)
    return sample._replace(points=scaled(sample.points, scale, name, sample.columns))
