"""A monitor that only scores: without batches to learn from there is no p-value and no alarm."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from isodepth.chunked.scan import as_source
from isodepth.data.frames import Table
from isodepth.data.validation import is_chunked
from isodepth.errors import InvalidOptionError
from isodepth.many.collections import with_shared_scale
from isodepth.many.pairwise import table_metric
from isodepth.metric.fitted import prepare
from isodepth.monitor.scorer import RegionScorer


def uncalibrated_scorer(reference: Any, weights: Any, options: dict[str, Any]) -> RegionScorer:
    """The scorer of a reference for batches of any size: one table, whatever its own size."""
    metric = table_metric(options)
    if metric.scale is not None and str(metric.scale) == "pooled":
        raise InvalidOptionError(
            "scale='pooled' needs both samples, and a monitor knows its reference alone; use "
            "scale='reference', the spread of the reference"
        )
    if is_chunked(reference):
        reference = as_source(reference)
        dtype = metric.dtype or reference.dtype
    else:
        points, columns, weights, *_ = prepare(
            reference, weights, "reference", metric._options(), None
        )
        reference, dtype = Table(points, columns), str(points.dtype)
    # Whatever a batch comes in, it is computed in the precision of the reference.
    metric = replace(metric, dtype=dtype)
    if isinstance(metric.scale, str):
        pooled = replace(metric, scale="pooled")  # of the reference alone
        metric = with_shared_scale(pooled, ([reference], [weights]), name="reference")
    return RegionScorer(metric, [metric.table(reference, weights)], [1])


def refuse_calibrated_options(**options: Any) -> None:
    """Options of a calibrated monitor are an error in one that is not."""
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise InvalidOptionError(
            f"{', '.join(given)} only go(es) with a calibrated monitor: give batch_size, "
            "the rows of a batch, or blocks, a label for each row of the reference"
        )
