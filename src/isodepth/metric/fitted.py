"""FittedMetric: a metric with sampled directions and levels, for any number of samples.

The region of level beta of a sample is the smallest set of its deepest rows with more than a
fraction beta of the total weight. The gap of a level is the distance between the regions of two
samples. It is computed along directions, which are unit vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from isodepth.base.compiled import Resources, thread_map, worker_count, write_supports
from isodepth.base.export import ReadOnlyFields
from isodepth.errors import InvalidInputError
from isodepth.geometry.depth.base import Depth, DepthSource, Projections
from isodepth.geometry.depth.resolve import same_depth
from isodepth.geometry.hull import Gaps, find_gaps
from isodepth.geometry.regions import (
    LevelPlan,
    Sample,
    TrimmedRegions,
    exact_plan,
    level_plan,
    power_mean,
)
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
        points, columns, checked, *_ = self.metric._read(X, weights, name, self._origin.scale)
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


class FittedPair(NamedTuple):
    """Regions of two samples, with the metric and the directions that define them.

    Attributes
    ----------
    fitted : FittedMetric
    x, y : TrimmedRegions
    missing : MissingPair or None
        Counts of rows that were dropped for missing values; None unless `nan_policy` is "omit".
    """

    fitted: FittedMetric
    x: TrimmedRegions
    y: TrimmedRegions
    missing: MissingPair | None


def regions_of_both(fitted: FittedMetric, sides: Sequence[SampleRows]) -> list[TrimmedRegions]:
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
