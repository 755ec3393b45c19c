"""Entry points for samples that are read in chunks: region tables and comparisons.

A source is a sample that is read in chunks. A comparison needs only the support values of the
nested regions of both samples, on a grid of levels and directions: their region tables.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from isodepth.base.annotations import KindsLike
from isodepth.errors import (
    ApproximationWarning,
    InvalidInputError,
    InvalidOptionError,
    warn_user,
)
from isodepth.geometry.directions import draws_at_random, integer_seed, mean_of_direction
from isodepth.geometry.regions import Gaps, LevelPlan
from isodepth.geometry.scaling import aligned_scale
from isodepth.metric.chunked.region_tables import SourceRegions, column_spreads, stream_table
from isodepth.metric.comparison import Comparison, ComparisonDetails
from isodepth.metric.fitted import FittedMetric
from isodepth.metric.region_table import RegionTable, distances_between
from isodepth.metric.settings import check_for_tables
from isodepth.metric.signature import array_text
from isodepth.rows.kept import RowsOfSources
from isodepth.stream.passes import Runner, runner_of
from isodepth.stream.scan import as_source
from isodepth.stream.source import Source
from isodepth.stream.subsets import common_columns, numeric_pair, stored_kinds
from isodepth.table.kinds import numeric_kinds, unmatched_kinds
from isodepth.table.missing import MissingPair
from isodepth.table.validation import check_same_columns, check_same_width, split_weights

#: Number of levels if the option `levels` is None and samples are read in chunks.
LEVELS = 20


def region_table(metric: Any, X: Any, weights: Any, table_dtype: str) -> RegionTable:
    """Compute the region table of a source or Dask collection, for `Metric.region_table`.

    A region table has the support values of the depth regions on a grid of levels and directions.
    `table_dtype` is the dtype of these values.
    """
    source = _source(X, weights, "X")
    return stream_table(metric, source, table_dtype, runner=runner_of(source)).table


def compare(
    metric: Any,
    X: Any,
    Y: Any,
    weights: Any,
    runner: Runner | None = None,
    kinds: KindsLike | None = None,
) -> Comparison:
    """Compare two samples, at least one of which is a source or a Dask collection.

    `runner` is the object that runs computations over the chunks. If it is None, they run with Dask
    if a sample is a Dask collection, and in this process otherwise. `kinds` is the option of
    :func:`isodepth.compare`.
    """
    wx, wy = split_weights(weights)
    whole = _source(X, wx, "X"), _source(Y, wy, "Y")
    x, y, only = common_columns(*whole)
    types = [stored_kinds(each, names) for each, names in zip(whole, only, strict=True)]
    kinds, unmatched = unmatched_kinds(kinds, types)
    metric = grid_metric(metric)
    runner = runner or runner_of(x, y)
    columns = numeric_kinds(x.columns)
    numbered = x._may_number_rows and y._may_number_rows
    if kinds or numbered or not (x._is_numeric and y._is_numeric):
        x, y, columns = numeric_pair(x, y, kinds, runner)
    if metric.dtype is None and x.dtype != y.dtype:
        x, y = replace(x, dtype="float64"), replace(y, dtype="float64")
    check_for_tables(metric)
    metric = replace(metric, scale=aligned_scale(metric._units, x.columns))
    scale = array_text(metric.scale)
    if isinstance(metric.scale, str):
        sides = [x, y] if metric.scale == "pooled" else [x]
        metric = replace(metric, scale=column_spreads(sides, metric, runner))
    first, second = (stream_table(metric, side, runner=runner) for side in (x, y))
    compared = _compared(first, second, metric.with_directions(x.n_features))
    kept = RowsOfSources(X, Y, kinds)
    settings = compared.settings | {"scale": scale}
    return compared._with(settings=settings, kinds=(*columns, *unmatched), _kept=kept)


def replaced_defaults(metric: Any, compared: Comparison) -> str:
    """Return a clause about the defaults that were replaced in a comparison; "" if there are none.

    These are the defaults of `levels` and `refine` for q = inf. `metric` has the options before
    their replacement, and `compared` is the comparison.
    """
    # In one dimension both directions are evaluated, so that refinement has no effect.
    refined = metric.refine is None and compared._fitted.directions.shape[1] > 1
    if math.isinf(metric.q) and (refined or metric.levels is None):
        return (
            f"samples that are read in chunks are compared at {compared.settings['levels']} levels "
            "without refinement: the distance is "
            f"{'usually smaller than' if refined else 'slightly different from'} that of the same "
            "rows in memory"
        )
    return ""


def warn_of_replaced_defaults(metric: Any, compared: Comparison) -> None:
    """Warn of defaults that are not available for samples that are read in chunks.

    `metric` has the options before their replacement, and `compared` is the comparison.
    """
    clause = replaced_defaults(metric, compared)
    if clause:
        warn_user(
            f"{clause}. levels={compared.settings['levels']}, refine=0 selects this explicitly, "
            "without a warning. If the samples fit into memory, read them first (np.load, "
            "pandas.read_parquet)",
            ApproximationWarning,
        )


def shared_scale(metric: Any, samples: Any, weights: Any, names: Sequence[str]) -> np.ndarray:
    """Compute the unit (d,) of each column, a robust standard deviation, from all samples together.

    Samples may be arrays or sources. `weights` has one entry per sample, which must be None.
    `names` are the names of the samples in messages.
    """
    each = zip(samples, weights, names, strict=False)
    sources = [_source(sample, w, name) for sample, w, name in each]
    for source, name in zip(sources, names, strict=False):
        check_same_width(sources[0].n_features, source.n_features, names[0], name)
    return column_spreads(sources, metric, runner_of(*sources))


def grid_metric(metric: Any) -> Any:
    """Return a copy of the metric with options that are available for samples read in chunks.

    If the option `levels` is None, it is replaced with a grid of levels. Random directions get an
    integer seed, so that all computations use the same directions. The option `refine`, a local
    search for better directions, is set to 0. The value "exact" of `levels` and positive values of
    `refine` are errors.
    """
    changes: dict[str, Any] = {"refine": 0}
    if metric.levels is None:
        changes["levels"] = LEVELS
    if metric.levels == "exact":
        raise InvalidOptionError(
            "levels='exact' needs all rows in memory, got samples that are read in chunks; use an "
            f"integer, such as levels={LEVELS}, or read the samples first (np.load, "
            "pandas.read_parquet)",
            option="levels",
        )
    if metric.refine:
        raise InvalidOptionError(
            f"refine={metric.refine!r} is not available for samples read in chunks; use refine=0 "
            "with more directions, or read the samples first (np.load, pandas.read_parquet)",
            option="refine",
        )
    if draws_at_random(metric.directions) and not isinstance(metric.random_state, int):
        changes["random_state"] = integer_seed(metric.random_state)
    return replace(metric, **changes)


def _source(X: Any, weights: Any, name: str) -> Source:
    if weights is not None:
        raise InvalidInputError(
            f"weights of {name} must be a column of samples that are read in chunks; name the "
            "column, as in scan(..., weights='weight')"
        )
    return as_source(X)


def _compared(x: SourceRegions, y: SourceRegions, fitted: FittedMetric) -> Comparison:
    """Compare two sources by the support values of their regions.

    `fitted` is the metric with which the regions of both sources were computed.
    """
    assert fitted._betas is not None
    settings, betas, count = fitted.metric, fitted._betas, len(fitted.directions)
    apart = np.abs(x.table.values - y.table.values)
    at, gaps = apart.argmax(axis=1), apart.max(axis=1)
    if settings.q < math.inf:
        units = np.maximum(gaps, np.finfo(np.float64).tiny)
        means = ((apart / units[:, None]) ** settings.q).mean(axis=1) ** (1 / settings.q)
        gaps = units * means / mean_of_direction(x.n_features, settings.q)
    no_sizes = np.zeros(len(betas), dtype=np.int64)
    plan = LevelPlan(betas, np.full(len(betas), 1.0 / len(betas)), no_sizes, no_sizes)
    codes = np.where(at < count, at, count - 1 - at)
    distance, missing = x.table.distance_to(y.table), None
    if x.missing is not None and y.missing is not None:
        missing = MissingPair(x.missing, y.missing)
    columns = check_same_columns(x.table.columns, y.table.columns)
    found = Gaps(plan, gaps, fitted.directions, codes)
    bounds = _bounds(x, y, distance)
    return Comparison(
        distance=distance,
        settings=fitted._settings_for(x.table.settings["dtype"]),
        columns=columns,
        missing=missing,
        distance_bounds=bounds,
    )._with(_details=ComparisonDetails(found, fitted, (x, y)))


def _bounds(x: SourceRegions, y: SourceRegions, distance: float) -> tuple[float, float]:
    """Return lower and upper bounds on the distance between x and y that exact depths would give.

    The exact depths are those along the same directions. `distance` is the computed distance.
    """
    if x.bounds is None and y.bounds is None:
        return distance, distance
    sides = [side.bounds or (side.table.values, side.table.values) for side in (x, y)]
    (x_low, x_high), (y_low, y_high) = sides
    with np.errstate(invalid="ignore"):
        least = np.fmax(0.0, np.fmax(x_low - y_high, y_low - x_high))
        most = np.maximum(x_high - y_low, y_high - x_low)
    low, high = (
        float(distances_between(x.table, apart[None], np.zeros((1, *apart.shape)))[0, 0])
        if np.isfinite(apart).all()
        else math.inf
        for apart in (least, most)
    )
    return min(low, distance), max(high, distance)
