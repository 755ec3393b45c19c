"""Where sources come in: `distance`, `compare` and `table` of a metric, for samples in chunks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from isodepth.chunked.comparison import SourceComparison, compare_regions
from isodepth.chunked.dask import DaskRunner, DelayedPart, delayed_tables
from isodepth.chunked.runner import Runner
from isodepth.chunked.scan import as_source, scan
from isodepth.chunked.sources import Source
from isodepth.chunked.table import column_spreads, fit_to_width, stream_table
from isodepth.core.regions import TrimmedRegions
from isodepth.data.validation import (
    check_same_columns,
    check_same_width,
    check_weights,
    read_points,
    split_weights,
)
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.metric.base import BaseMetric
from isodepth.metric.inputs import refuse_learned_scale
from isodepth.metric.settings import draws_at_random
from isodepth.metric.table import RegionTable

#: Levels of a comparison in chunks where none are asked for: it needs a grid.
LEVELS = 20


def table(
    metric: BaseMetric, X: Any, weights: Any, storage: str, runner: Runner | None = None
) -> RegionTable:
    """`Metric.table` of a source or a Dask collection."""
    refuse_learned_scale(metric.scale)
    source = _source(X, weights, "X")
    run = runner or _runner_of(source)
    return stream_table(metric, source, storage, runner=run, scale=metric.scale).table


def compare(
    metric: BaseMetric, X: Any, Y: Any, weights: Any, runner: Runner | None = None
) -> SourceComparison:
    """`Metric.compare` where a side is a source or a Dask collection."""
    wx, wy = split_weights(weights)
    x, y = _source(X, wx, "X"), _source(Y, wy, "Y")
    check_same_width(x.n_features, y.n_features)
    y = y.aligned(x.columns)
    check_same_columns(x.columns, y.columns)
    used = grid_metric(metric)
    if used.dtype is None and x.dtype != y.dtype:
        x, y = replace(x, dtype="float64"), replace(y, dtype="float64")
    used.check_for_tables()
    run = runner or _runner_of(x, y)
    scale = used.scale
    if isinstance(scale, str):
        scale = column_spreads([x, y] if scale == "pooled" else [x], used, run)
        # From here on it is what the columns are divided by, as for tables.
        used = replace(used, scale=scale)
    mine, theirs = (stream_table(used, side, runner=run, scale=scale) for side in (x, y))
    return compare_regions(mine, theirs, fit_to_width(used, x.n_features, scale))


def shared_scale(metric: BaseMetric, samples: Any, weights: Any, name: str) -> np.ndarray:
    """The spread (d,) of the columns in many samples together, some of which are sources."""
    if any(_is_delayed(sample) for sample in samples):
        raise InvalidOptionError(
            f"scale={metric.scale!r} of delayed samples is not known before they are made; give "
            "one number for each column (scale=array)"
        )
    sources = [
        _source(sample, own, f"{name}[{i}]")
        for i, (sample, own) in enumerate(zip(samples, weights, strict=True))
    ]
    for i, source in enumerate(sources):
        check_same_width(sources[0].n_features, source.n_features, f"{name}[0]", f"{name}[{i}]")
    return column_spreads(sources, metric, _runner_of(*sources))


def _is_delayed(sample: Any) -> bool:
    return type(sample).__module__.startswith(("dask.delayed", "dask.bag"))


def tables_of_delayed(
    metric: BaseMetric, samples: Any, weights: Any, storage: str
) -> list[RegionTable] | None:
    """The tables of a `dask.bag` of samples, or of delayed samples; None for anything else."""
    bag = len(samples) == 1 and type(samples[0]).__module__.startswith("dask.bag")
    if not bag and not all(type(sample).__module__ == "dask.delayed" for sample in samples):
        return None
    if any(own is not None for own in weights):
        raise InvalidInputError("delayed samples have no weights here; leave them out")
    return delayed_tables(metric, samples[0] if bag else samples, storage)


def grid_metric(metric: BaseMetric) -> BaseMetric:
    """The metric with what chunks need: a grid of levels, no ascent, directions that stay."""
    changes: dict[str, Any] = {}
    if metric.levels == "exact":
        changes["levels"] = LEVELS
    elif metric.levels == "monte-carlo":
        raise InvalidOptionError(
            "samples in chunks are compared on a grid of levels, got levels='monte-carlo'; give "
            "their number, such as levels=20"
        )
    if metric.refine:
        raise InvalidOptionError(
            f"refine needs the rows of both samples, and these are read in chunks, got "
            f"refine={metric.refine!r}; leave it out, and give more directions instead"
        )
    if metric._options()["refine"]:
        changes["refine"] = 0
    if draws_at_random(metric.directions) and not isinstance(metric.random_state, int):
        rng = np.random.default_rng(metric.random_state)
        changes["random_state"] = int(rng.integers(2**31))
    return replace(metric, **changes) if changes else metric


def _runner_of(*sources: Source) -> Runner:
    """Where the passes run: with Dask where any source is one of its collections."""
    delayed = any(isinstance(part, DelayedPart) for source in sources for part in source.parts)
    return DaskRunner() if delayed else Runner()


def _source(X: Any, weights: Any, name: str) -> Source:
    if isinstance(X, TrimmedRegions):
        raise InvalidInputError(
            f"{name} are regions, and the other side is read in chunks; give the sample of {name} "
            "itself, or compare tables (Metric.table)"
        )
    if weights is None:
        return as_source(X)
    if isinstance(X, Source) or hasattr(X, "__dask_graph__"):
        raise InvalidInputError(
            f"{name} is read in chunks and its weights with it, got weights of {name} as well; "
            "name their column, as in scan(..., weights='weight')"
        )
    points, columns = read_points(X, name, None)
    checked = check_weights(weights, len(points), f"weights of {name}")
    assert checked is not None
    joined = scan(np.column_stack([points.astype(np.float64), checked]), weights=points.shape[1])
    return replace(joined, dtype=str(points.dtype), columns=columns)
