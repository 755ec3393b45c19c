"""A monitor that only scores: without batches to learn from it cannot say what is usual."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from isodepth.core.scaling import spread_of_samples
from isodepth.errors import InvalidOptionError
from isodepth.inference.table_gauge import TableGauge
from isodepth.many.pairwise import table_metric
from isodepth.metric.preparation import Prepared, prepare


def plain_gauge(reference: Any, weights: Any, options: dict[str, Any]) -> TableGauge:
    """The gauge of a monitor that only scores."""
    metric = table_metric(options)
    given = prepare(
        reference, weights, "reference",
        dtype=metric.dtype, nan_policy=metric.nan_policy, scale=None,
    )  # fmt: skip
    # Whatever a batch comes in, it is computed in the precision of the reference.
    metric = replace(metric, dtype=str(given.points.dtype))
    if isinstance(metric.scale, str):
        metric = replace(metric, scale=_reference_scale(metric.scale, given))
    return TableGauge.fit(given.points, given.columns, metric, given.weights)


def _reference_scale(word: str, given: Prepared) -> np.ndarray:
    """The spread (d,) of the columns of the reference, where `word` asks for it."""
    if word == "pooled":
        raise InvalidOptionError(
            "scale='pooled' needs both samples, and a monitor knows its reference alone; use "
            "scale='reference', the spread of the reference"
        )
    return spread_of_samples([given.points], [given.weights])


def refuse_without_batches(**options: Any) -> None:
    """Options of a monitor that judges batches are an error in one that does not."""
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise InvalidOptionError(
            f"{', '.join(given)} only go(es) with a monitor that judges batches: give batch_size, "
            "the rows of a batch, or blocks, a label for each row of the reference"
        )
