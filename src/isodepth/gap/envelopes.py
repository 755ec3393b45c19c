"""The gaps between directional quantile envelopes, for all levels at once."""

from __future__ import annotations

import numpy as np

from isodepth.core.levels import LevelPlan
from isodepth.core.sample import Sample
from isodepth.core.sphere import mean_of_direction
from isodepth.engine.envelope_passes import envelope_gaps
from isodepth.engine.threads import Resources
from isodepth.gap.supremum import Gaps


def find_envelope_gaps(
    x: Sample,
    y: Sample,
    plan: LevelPlan,
    directions: np.ndarray,
    q: float,
    resources: Resources,
) -> Gaps:
    """Gap of each level of a plan, from `core.envelopes`, between the envelopes of two samples.

    The largest difference of their quantiles over the directions (K, d) and their opposites, or the
    mean of order q, divided by what a direction sees on average of a translation of length one.
    """
    values, where = envelope_gaps(
        (x.points, x.masses),
        (y.points, y.masses),
        plan.stops_x,
        plan.stops_y,
        directions,
        q,
        resources,
    )
    return Gaps(plan, values / mean_of_direction(x.n_features, q), directions, where)
