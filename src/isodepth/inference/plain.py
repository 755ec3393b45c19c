"""A monitor that only scores: without batches to learn from it cannot say what is usual."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from isodepth.api import Metric
from isodepth.core.scaling import spread_of_samples
from isodepth.errors import InvalidOptionError
from isodepth.inference.table_gauge import TableGauge
from isodepth.many.pairwise import table_metric
from isodepth.metric.inputs import is_chunked, prepare


def plain_gauge(reference: Any, weights: Any, options: dict[str, Any]) -> TableGauge:
    """The gauge of a monitor that only scores."""
    metric = table_metric(options)
    if is_chunked(reference):
        return _gauge_of_source(reference, weights, metric)
    given = prepare(
        reference, weights, "reference",
        dtype=metric.dtype, nan_policy=metric.nan_policy, scale=None,
    )  # fmt: skip
    # Whatever a batch comes in, it is computed in the precision of the reference.
    metric = replace(metric, dtype=str(given.points.dtype))
    if isinstance(metric.scale, str):
        _refuse_pooled(metric.scale)
        scale = spread_of_samples([given.points], [given.weights])
        metric = replace(metric, scale=scale)
    return TableGauge.fit(given.points, given.columns, metric, given.weights)


def _gauge_of_source(reference: Any, weights: Any, metric: Metric) -> TableGauge:
    """The same of a reference that is read in chunks, whatever its size."""
    from isodepth.chunked.entry import shared_scale
    from isodepth.chunked.sources import as_source

    source = as_source(reference)
    metric = replace(metric, dtype=metric.dtype or source.dtype)
    if isinstance(metric.scale, str):
        _refuse_pooled(metric.scale)
        scale = shared_scale(metric, [source], [weights], "reference")
        metric = replace(metric, scale=scale)
    # One table serves batches of every size, so that its own does not matter.
    return TableGauge(metric, [metric.table(source, weights)], [source.n_rows or 1])


def _refuse_pooled(word: str) -> None:
    if word == "pooled":
        raise InvalidOptionError(
            "scale='pooled' needs both samples, and a monitor knows its reference alone; use "
            "scale='reference', the spread of the reference"
        )


def refuse_without_batches(**options: Any) -> None:
    """Options of a monitor that judges batches are an error in one that does not."""
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise InvalidOptionError(
            f"{', '.join(given)} only go(es) with a monitor that judges batches: give batch_size, "
            "the rows of a batch, or blocks, a label for each row of the reference"
        )
