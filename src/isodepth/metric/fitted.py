"""FittedMetric: a metric with sampled directions and levels, for any number of samples.

The region of level beta of a sample is the smallest set of its deepest rows with more than a
fraction beta of the total weight. The gap of a level is the distance between the regions of two
samples. It is computed along directions, which are unit vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from isodepth import _core as core
from isodepth.base.compiled import Resources, thread_map, worker_count
from isodepth.base.export import ReadOnlyFields
from isodepth.errors import InvalidInputError
from isodepth.geometry.backend import Backend
from isodepth.geometry.depth.base import Depth, DepthSource
from isodepth.geometry.depth.resolve import same_depth
from isodepth.geometry.regions import (
    Gaps,
    LevelPlan,
    Nested,
    Sample,
    exact_plan,
    find_gaps,
    level_plan,
    power_mean,
    write_supports,
)
from isodepth.geometry.scaling import aligned_scale, scaled
from isodepth.geometry.trimmed import TrimmedRegions
from isodepth.metric.comparison import Comparison, ComparisonDetails, RowsOfRegions
from isodepth.metric.settings import (
    check_level_memory,
    settings_of_data,
    used_settings,
)
from isodepth.metric.signature import signature_text
from isodepth.table.missing import MissingPair
from isodepth.table.validation import (
    SampleRows,
    check_same_columns,
    check_same_width,
    copy_of_sample,
)

if TYPE_CHECKING:
    from isodepth.base.annotations import TableLike, VectorLike

Result = TypeVar("Result")


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

    metric: Any  # a Metric, whose module imports this one
    _origin: Origin  # depth, directions and scale of the regions that this metric computes
    directions: np.ndarray
    # (L,), levels at which regions are compared; None if the distance integrates over all levels.
    _betas: np.ndarray | None
    _resources: Resources

    def __post_init__(self) -> None:
        self.directions.setflags(write=False)

    @property
    def _source(self) -> DepthSource:
        """Depth function that orders the points."""
        return self._origin.source

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
        each = zip(inputs, weights, names, strict=True)
        rows = [self._read(X, w, name) for X, w, name in each]

        def fit(i: int, sample: Sample) -> TrimmedRegions:
            return self._fit_regions(sample, rows[i].columns)

        found = self._map(fit, rows, names)
        self._source._warn_if_uninformative(*(regions._nested.sample for regions in found))
        return found

    def _map(
        self,
        function: Callable[[int, Sample], Result],
        rows: Sequence[SampleRows],
        names: Sequence[str],
        advance: Callable[[int], None] = lambda _: None,
    ) -> list[Result]:
        """Apply a function of the index and the sample to many validated samples in parallel.

        The columns of the samples are divided by the scale of the metric first. `names` are the
        names of the samples in messages, and `advance` is called with 1 after each sample.
        """
        work = sum(len(each.points) for each in rows) * len(self.directions)
        # Threads process samples in parallel, so each sample is processed by one thread. If there
        # are few samples, the threads process the directions of one sample instead.
        workers, resources = self._workers(len(rows) // 2, work), self._resources
        if workers > 1:
            resources = Resources(1, resources.memory_mb / workers)

        def apply(i: int) -> Result:
            points, columns, weights, *_ = rows[i]
            if self._origin.scale is not None:
                scale = aligned_scale(self._origin.scale, columns)
                points = scaled(points, scale, names[i], columns)
            result = function(i, Sample.of(points, weights, resources=resources))
            advance(1)
            return result

        indices = range(len(rows))
        return [*map(apply, indices)] if workers == 1 else thread_map(apply, indices, workers)

    def _workers(self, n_tasks: int, operations: int) -> int:
        """Return the number of threads that process samples in parallel, see `worker_count`.

        A depth function of the user may not be thread-safe, so it is not called in parallel.
        """
        small = operations < 2 * core.WORTH_A_THREAD
        if small or not isinstance(self.metric._source, Depth):
            return 1
        return worker_count(self._resources.n_threads, n_tasks, operations)

    def _nest(self, sample: Backend, columns: Any = None) -> Nested:
        """Compute the nested regions of a sample, without the depths of its rows."""
        return self._source._nested(sample, self._source._depths(sample, self.directions))

    def _fit_regions(self, sample: Sample, columns: tuple[str, ...] | None) -> TrimmedRegions:
        """Compute the nested regions of a sample in memory with the column names `columns`."""
        distinct, depths = self._source._all_depths(sample, self.directions)
        nested = self._source._nested(sample, distinct)
        return TrimmedRegions.of(nested, depths, columns, self._origin)

    def _nest_rows(self, points: np.ndarray) -> Nested:
        """Compute the nested regions of validated points (n, d) without weights or column names."""
        return self._nest(Sample.of(points, None, resources=self._resources))

    # -- methods for two samples ------------------------------------------------------------

    def distance(self, x: TrimmedRegions, y: TrimmedRegions) -> float:
        """Compute DR_{p,eps} between two samples, given by regions that this metric computed."""
        self._check_pair(x, y)
        return self._distance(x._nested, y._nested)

    def _distance(self, x: Nested, y: Nested) -> float:
        """Compute the distance between two samples from their nested regions."""
        gaps = self._gaps(x, y)
        return self._mean(gaps.values, gaps.plan)

    def compare(self, x: TrimmedRegions, y: TrimmedRegions) -> Comparison:
        """Compare two samples, given by the regions that this metric computed.

        The result has the distance, and the gap between both regions at each level with its
        maximizing direction. Its settings describe the weights of the regions.
        """
        self._check_pair(x, y)
        gaps = self._gaps(x._nested, y._nested)
        distance = self._mean(gaps.values, gaps.plan)
        columns = check_same_columns(x.columns, y.columns)
        return Comparison(
            distance=distance,
            settings=self._settings_for(str(x.points.dtype))
            | settings_of_data(None, (x.weights, y.weights)),
            columns=columns,
        )._with(
            _details=ComparisonDetails(gaps, self, (x, y)),
            _kept=RowsOfRegions((x, y), columns),
        )

    def _check_pair(self, x: TrimmedRegions, y: TrimmedRegions) -> None:
        """Check that the regions of two samples are comparable."""
        self._check(x, "x")
        self._check(y, "y")
        check_same_width(x.points.shape[1], y.points.shape[1])
        check_same_columns(x.columns, y.columns)
        if x.points.dtype != y.points.dtype:
            raise InvalidInputError(
                f"the regions of X have dtype {x.points.dtype} and those of Y {y.points.dtype}; "
                "compute both with the same dtype"
            )

    def _gaps(self, x: Nested, y: Nested) -> Gaps:
        """Compute the gap between the regions of two samples at each level."""
        if self._betas is None:
            plan = exact_plan(x, y, self.metric.eps)
        else:
            plan = level_plan(x, y, self._betas)
        way, q, steps = self.metric.gap, self.metric.q, self.metric._steps
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

    def _write_table(
        self, regions: Nested, out: np.ndarray, resources: Resources | None = None
    ) -> None:
        """Write the support values of the regions of a sample to `out` (L, 2K).

        Rows of `out` are the L levels. Columns are the K directions, then their opposites.
        """
        assert self._betas is not None
        sizes = regions.prefix_sizes(self._betas)
        write_supports(regions.points, sizes, self.directions, out, resources or self._resources)

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

    def _read(self, X: Any, weights: Any, name: str) -> SampleRows:
        """Validate a sample; the name is that of the sample in messages."""
        rows = self.metric._read(X, weights, name, None)
        check_same_width(rows.points.shape[1], self.directions.shape[1], name, "the directions")
        if rows.points.dtype != self.directions.dtype == np.float32:
            raise InvalidInputError(
                f"{name} has dtype {rows.points.dtype}, and the directions were sampled for "
                f"{self.directions.dtype}; remove dtype in Metric.with_directions"
            )
        return rows

    def __repr__(self) -> str:
        count, width = self.directions.shape
        return f"FittedMetric({count} directions, {width} columns, {self.signature})"


class FittedPair(NamedTuple):
    """Regions of two samples, with the metric and the directions that define them.

    Attributes
    ----------
    fitted : FittedMetric
    x, y : TrimmedRegions or Nested
    missing : MissingPair or None
        Counts of rows that were dropped for missing values; None unless `nan_policy` is "omit".
    """

    fitted: FittedMetric
    x: Any
    y: Any
    missing: MissingPair | None


def fit_both(fitted: FittedMetric, sides: Sequence[SampleRows], way: str) -> list[Any]:
    """Compute the regions of two samples, the entries of `sides`.

    `way` is the method of `fitted` that computes them: "_nest" or "_fit_regions". The samples are
    processed in parallel, because some steps for one sample do not use all threads.
    """
    sizes = [len(side.points) for side in sides]
    resources = fitted._resources
    workers = 1
    if resources.n_threads > 1:
        workers = fitted._workers(2, sum(sizes) * len(fitted.directions))

    def fit(side: int) -> Any:
        rows, own = sides[side], resources
        if workers == 2:
            share = -(-resources.n_threads * sizes[side] // sum(sizes))
            own = Resources(share, resources.memory_mb / 2)
        sample = Sample.of(rows.points, rows.weights, resources=own)
        return getattr(fitted, way)(sample, rows.columns)

    return [fit(0), fit(1)] if workers == 1 else thread_map(fit, (0, 1), workers)
