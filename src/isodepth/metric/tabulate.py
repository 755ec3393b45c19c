"""From regions to support values on a grid, along the directions of a drawn metric."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from isodepth.core.envelopes import tail_units
from isodepth.core.regions import TrimmedRegions
from isodepth.engine.envelope_passes import write_quantiles
from isodepth.engine.support_passes import write_supports
from isodepth.metric.drawn import DrawnMetric
from isodepth.metric.signature import Signature


def table_shape(drawn: DrawnMetric) -> tuple[int, int]:
    """Shape (L, 2K) of a table."""
    assert drawn.betas is not None
    return len(drawn.betas), 2 * len(drawn.directions)


def table_signature(drawn: DrawnMetric, dtype: str) -> Signature:
    """The signature of tables of samples of that precision."""
    return replace(Signature.of(drawn.options, dtype), refine=0)


def write_table(drawn: DrawnMetric, regions: TrimmedRegions, out: np.ndarray) -> None:
    """Write the support values of regions to `out` (L, 2K)."""
    if drawn.options["region"] == "envelope":
        assert drawn.betas is not None
        sample = regions.sample
        tails = tail_units(drawn.betas, sample.total)
        write_quantiles(sample.points, sample.masses, tails, drawn.directions, out, drawn.resources)
        return
    stops = regions.counts[regions.group(drawn.betas)]
    write_supports(regions.ordered, stops, drawn.directions, out, drawn.resources)
