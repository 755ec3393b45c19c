"""Computation of region tables and column units by passes over the chunks of a source.

A region table has the support values of depth regions on a grid of levels and directions. The unit
of a column is a robust standard deviation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from isodepth import _core
from isodepth.base.compiled import Resources
from isodepth.base.export import EqualFields
from isodepth.base.fold import Fold
from isodepth.base.options import option_error
from isodepth.geometry.regions import Sample, write_supports
from isodepth.geometry.scaling import (
    CLIPPED,
    aligned_scale,
    clipped_unit,
    fence_ranks,
    normalized_mad,
)
from isodepth.metric.chunked.depths import (
    ProjectionModel,
    RankModel,
    rank_numbers,
    whitened_numbers,
)
from isodepth.metric.chunked.preparation import Rows
from isodepth.metric.chunked.reading import CheckedSource, selection_of
from isodepth.metric.chunked.selection import RowValues, Selection
from isodepth.metric.fitted import FittedMetric
from isodepth.metric.region_table import RegionTable
from isodepth.metric.settings import check_for_tables
from isodepth.stream.passes import Runner
from isodepth.stream.source import Source
from isodepth.table.missing import MissingReport

#: A sample of any length is processed in memory if it has at most this number of distinct rows.
FEW_DISTINCT = 4096


@dataclass(frozen=True, eq=False)
class SourceRegions(EqualFields):
    """Support values of the depth regions of a source, with its number of rows and error bounds.

    Attributes
    ----------
    table : RegionTable
    n_rows : int
        Number of rows of positive weight.
    missing : MissingReport or None
    bounds : pair of ndarrays of shape (L, 2K), or None if the table is exact
        Lower and upper bounds on the support values that exact depths would give, for L levels, K
        directions and their opposites. A lower bound is -inf if no row is certainly in the region.
    depth_bound : float
        Maximum error of a depth; 0 if the depths equal those of the computation in memory.
    """

    table: RegionTable
    n_rows: int
    missing: MissingReport | None = None
    bounds: tuple[np.ndarray, np.ndarray] | None = None
    depth_bound: float = 0.0

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.table.n_features


def stream_table(
    metric: Any,
    source: Source,
    table_dtype: str = "float64",
    *,
    runner: Runner | None = None,
    in_memory: bool = True,
) -> SourceRegions:
    """Compute the support values of the regions of a source, like `Metric.region_table` for arrays.

    Parameters
    ----------
    metric : Metric
    source : Source
    table_dtype : {"float64", "float32"}
        Precision of the stored support values.
    runner : Runner or None
        Object that runs the passes; None to run them in this process.
    in_memory : bool
        Whether to load a sample that fits into memory, instead of reading it in several passes.
    """
    check_for_tables(metric)
    metric = replace(metric, scale=aligned_scale(metric._units, source.columns))
    fitted = metric.with_directions(source.n_features)
    shape = fitted._table_shape  # checks the memory before the source is read
    checked = CheckedSource.of(runner or Runner(), source, fitted, in_memory)
    n_rows, sample = checked.summary.n_rows, None
    errors: dict[str, Any] = {}
    points, weights = checked.summary.drawn()
    if n_rows <= checked.summary.whole:
        used = weights if source.weighted else None
        sample = Sample.of(points, used, resources=fitted._resources)
    else:
        selection = selection_of(checked)
        drawn = _core.distinct_rows(points, None, checked.how.n_threads)[0]
        if len(drawn) <= FEW_DISTINCT:
            (distinct,) = selection.fold(DistinctPass(FEW_DISTINCT))
            sample = None if distinct is None else Sample._merge(*distinct)
    if sample is None:
        values, errors = _by_passes(checked, selection, fitted, drawn)
    else:
        fitted._source._warn_if_uninformative(sample)
        values = np.empty(shape)
        fitted._write_table(fitted._nest(sample), values)
    settings = fitted._table_settings(checked.how.dtype)
    columns, scale = source.columns, metric._units
    table = RegionTable(
        values=values.astype(table_dtype),
        settings=settings,
        n_features=source.n_features,
        columns=columns,
        scale=scale,
    )
    return SourceRegions(table, n_rows, checked.missing, **errors)


def _by_passes(
    checked: CheckedSource, selection: Selection, fitted: FittedMetric, drawn: np.ndarray
) -> tuple[np.ndarray, dict[str, Any]]:
    """Compute the support values of the regions of a source by passes over its chunks.

    `checked` is the source after the first pass, and `selection` computes order statistics by
    further passes. `fitted` has the depth, directions and levels. `drawn` (m, d) are the distinct
    rows of a random subset.

    Return the support values (L, 2K) for L levels and both signs of K directions, and a dictionary
    with the values of `SourceRegions.bounds` and `depth_bound`. The dictionary is empty if the
    support values are exact.
    """
    depth, memory_mb = fitted._source, fitted._resources.memory_mb
    if depth._primitive is None:
        raise option_error(
            "{source} has {count} rows, which do not fit into {--memory_mb=}, and this depth needs "
            "them all at once; give more memory, or use {--depth='projection'}, 'halfspace', "
            "'irw', or 'ai_irw' with the empirical covariance", "depth",
            source=checked.source._label, count=selection.n_rows, memory_mb=memory_mb,
        )  # fmt: skip
    assert fitted._betas is not None
    directions, summary, tolerance = fitted.directions, checked.summary, 0.0
    model: ProjectionModel | RankModel
    pairs: tuple[tuple[int, int], ...] = ((0, 0),)
    by_ranks = depth._primitive != "outlyingness"
    if by_ranks:
        if depth._whitens(drawn.shape[1]):
            numbers = whitened_numbers(selection.fold, summary, drawn, directions)
        else:
            numbers = rank_numbers(summary, drawn, directions)
        smallest = depth._primitive == "smallest_masses"
        model = RankModel.fit(selection, numbers, memory_mb * 2**18, smallest)
        # Each pair has the index of a depth and the index of a threshold: 0 for the midpoint of the
        # bounds on the depth, 1 for the lower bound, 2 for the upper bound. If the lower bound of a
        # row is at least the threshold of the upper bounds, the row is in the exact region. For
        # every row of the exact region, the upper bound is at least the threshold of the lower
        # bounds.
        pairs = ((0, 0), (1, 2), (2, 1))
    else:
        model = ProjectionModel.fit(selection, drawn, directions)
        tolerance = depth._tie_tolerance if drawn.dtype == np.float64 else 0.0
    thresholds = selection.depth_thresholds(model, fitted._betas, tolerance)
    state = selection.fold(SupportPass(model, thresholds, pairs, directions))
    values, *bounds = state["supports"]
    errors = {"bounds": tuple(bounds), "depth_bound": 0.5 * state["width"]} if by_ranks else {}
    return values, errors


def column_spreads(sources: Sequence[Source], metric: Any, runner: Runner) -> np.ndarray:
    """Compute the units (d,) of the columns from the pooled rows of all sources.

    `metric` has the options `eps`, `dtype` and `nan_policy`. `runner` runs the passes.

    The result is that of `isodepth.geometry.scaling.units_of_samples` with one exception:
    non-integer weights are rounded differently. If the cumulative mass at a value equals the order
    of a quantile up to rounding, the quantile may be a neighboring value.
    """
    width = sources[0].n_features
    fitted = replace(metric, scale=None).with_directions(width)
    selection = selection_of(*(CheckedSource.of(runner, source, fitted) for source in sources))
    # Projections on the coordinate axes are the values of the columns themselves.
    columns = RowValues(
        (np.zeros(width), 0), np.eye(width), of=lambda rows, _: rows.astype(np.float64)
    )
    if metric.eps > CLIPPED:
        _, mads, scales = selection.spreads(columns, typical=-1.0, negligible=0.0)
        return normalized_mad(np.where(mads > 0, mads, scales))
    at_median = selection.mass_at(columns, selection.medians(columns))
    ranks = np.array([fence_ranks(selection.mass, selection.mass - int(at)) for at in at_median])
    low, high = (
        (0.5 * selection.order_statistics(columns, ranks[:, end])).sum(axis=1) for end in (0, 1)
    )
    mean, mean_square = selection.fold(ClippedPass(low, high)) / selection.mass
    return clipped_unit(high - low, np.maximum(mean_square - np.square(mean), 0.0))


# -- passes ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DistinctPass(Fold):
    """Fold over the data that collects the distinct rows and their masses.

    The state is [(rows, masses)], or [None] if there are more than `most` distinct rows.
    """

    most: int

    def start(self) -> list[Any]:
        return []

    def step(self, state: list[Any], rows: Rows, n_threads: int) -> None:
        ones = np.ones(len(rows.points), dtype=np.int64)
        self.merge(state, [(rows.points, ones if rows.masses is None else rows.masses)])

    def merge(self, state: list[Any], other: list[Any]) -> None:
        if state == [None] or other == [None]:
            state[:] = [None]
        elif other:
            points, masses = (np.concatenate(both) for both in zip(*state, *other, strict=True))
            distinct, inverse, _ = _core.distinct_rows(points, None, 1)
            total = np.zeros(len(distinct), dtype=np.int64)
            np.add.at(total, inverse, masses)
            state[:] = [(distinct, total) if len(distinct) <= self.most else None]


@dataclass(frozen=True)
class ClippedPass(Fold):
    """Fold over the data that sums the clipped values of each column, and their squares.

    Clipping to [low, high] and division convert a value x to (x - low) / (high - low), between 0
    and 1. The sums are weighted by mass. The state (2, d) has the sums of these values, then those
    of their squares.
    """

    low: np.ndarray
    high: np.ndarray

    def start(self) -> np.ndarray:
        return np.zeros((2, len(self.low)))

    def step(self, state: np.ndarray, rows: Rows, n_threads: int) -> None:
        width = np.where(self.high > self.low, self.high - self.low, 1.0)
        values = (np.clip(rows.points, self.low, self.high) - self.low) / width
        masses = np.ones(len(values)) if rows.masses is None else rows.masses.astype(np.float64)
        state += masses @ values, masses @ np.square(values)


@dataclass(frozen=True)
class SupportPass(Fold):
    """Fold over the data that computes the support values of the regions {depth >= threshold}.

    The support value of a region along a direction is the maximum projection of its rows. The
    results of two chunks are therefore merged by their maximum.

    Attributes
    ----------
    model : ProjectionModel or RankModel
        Its method `depths` returns C depths per point, such as an estimate and two bounds.
    thresholds : ndarray of shape (C, L), decreasing along the levels
    pairs : sequence of P pairs of int
        The pair (i, j) defines the regions of all rows whose i-th depth is at least a threshold in
        the j-th row of `thresholds`.
    directions : ndarray of shape (K, d)
    """

    model: Any
    thresholds: np.ndarray
    pairs: tuple[tuple[int, int], ...]
    directions: np.ndarray

    def start(self) -> dict[str, Any]:
        shape = (len(self.pairs), self.thresholds.shape[1], 2 * len(self.directions))
        return {"supports": np.full(shape, -np.inf), "width": 0.0}

    def step(self, state: dict[str, Any], rows: Rows, n_threads: int) -> None:
        depths = self.model.depths(rows.points, n_threads)
        n_levels = self.thresholds.shape[1]
        if depths.shape[1] == 3:
            state["width"] = max(state["width"], float((depths[:, 2] - depths[:, 1]).max()))
        for supports, (depth, threshold) in zip(state["supports"], self.pairs, strict=True):
            levels = np.searchsorted(-self.thresholds[threshold], -depths[:, depth])
            sizes = np.cumsum(np.bincount(levels, minlength=n_levels + 1)[:n_levels])
            if sizes[-1]:
                # Convert level indices to 8-bit or 16-bit integers, if possible. NumPy sorts them
                # much faster, with a radix sort.
                short = levels.astype(np.min_scalar_type(n_levels))
                order = np.argsort(short, kind="stable")[: sizes[-1]]
                first = int(np.flatnonzero(sizes)[0])
                out = np.empty_like(supports[first:])
                points = rows.points[order]
                write_supports(points, sizes[first:], self.directions, out, Resources(n_threads))
                np.maximum(supports[first:], out, out=supports[first:])

    def merge(self, state: dict[str, Any], other: dict[str, Any]) -> None:
        np.maximum(state["supports"], other["supports"], out=state["supports"])
        state["width"] = max(state["width"], other["width"])
