"""From settings and samples to regions: directions drawn, samples checked, both sides fitted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from isodepth.core.directions import seeded_vectors, unit_vectors
from isodepth.core.levels import midpoint_levels
from isodepth.core.regions import TrimmedRegions
from isodepth.core.sample import Sample
from isodepth.data.missing import MissingPair
from isodepth.depth.resolve import DepthSource
from isodepth.errors import InvalidInputError
from isodepth.metric.drawn import DrawnMetric
from isodepth.metric.origin import Origin
from isodepth.metric.preparation import prepare_sides
from isodepth.metric.settings import draws_at_random
from isodepth.metric.signature_texts import seed_text

Pair = tuple[DrawnMetric, TrimmedRegions, TrimmedRegions, MissingPair | None]


def draw_metric(
    settings: Mapping[str, Any],
    source: DepthSource,
    width: int,
    *,
    given: np.ndarray | None = None,
    dtype: str | None = None,
    scale: np.ndarray | None = None,
) -> DrawnMetric:
    """Draw the directions, unless they are given, and the levels for data of `width` columns.

    Parameters
    ----------
    settings : the fields of a metric
    given : ndarray of shape (K, width) or None
    dtype : the precision of the samples to come, where it is known
    scale : ndarray of shape (width,) or None
        What columns are divided by, where that is no word.
    """
    if settings["region"] == "exact" and width > 2:
        raise InvalidInputError(
            f"region='exact' is for data of one or two columns, got {width}; use region='sample'"
        )
    directions, betas = _draw(settings, width, given)
    used = directions if dtype is None else directions.astype(dtype, copy=False)
    seed = seed_text(settings["random_state"])
    family, count = settings["directions"], settings["n_directions"]
    origin = Origin(source, directions, family, count, seed, scale)
    return DrawnMetric(settings, origin, used, betas)


def fit_pair(
    settings: Mapping[str, Any], source: DepthSource, X: Any, Y: Any, weights: Any
) -> Pair:
    """The regions of both sides of a comparison, and what they were drawn with."""
    (x, y, columns, wx, wy), scale, missing = prepare_sides(
        X,
        Y,
        weights,
        dtype=settings["dtype"],
        nan_policy=settings["nan_policy"],
        scale=settings["scale"],
    )
    drawn = _fitting(settings, source, x.shape[1], X, Y, scale)
    if not isinstance(X, TrimmedRegions) and not isinstance(Y, TrimmedRegions):
        sample_x, sample_y = drawn.merged_pair((x, wx), (y, wy))
        source.warn_if_uninformative(sample_x, sample_y)
        X, Y = drawn.fit_pair((x, wx, columns, sample_x), (y, wy, columns, sample_y))
        return drawn, X, Y, missing
    sample_x = X.sample if isinstance(X, TrimmedRegions) else Sample.of(x, wx)
    sample_y = Y.sample if isinstance(Y, TrimmedRegions) else Sample.of(y, wy)
    source.warn_if_uninformative(sample_x, sample_y)
    if not isinstance(X, TrimmedRegions):
        X = drawn.fit(x, wx, columns, sample_x)
    if not isinstance(Y, TrimmedRegions):
        Y = drawn.fit(y, wy, columns, sample_y)
    return drawn, X, Y, missing


def _draw(
    settings: Mapping[str, Any], width: int, given: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray | None]:
    """Directions (K, width), and the levels, None for exact ones."""
    levels, seed = settings["levels"], settings["random_state"]
    family, count = settings["directions"], settings["n_directions"]
    grid = None if isinstance(levels, str) else midpoint_levels(levels, settings["eps"])
    if isinstance(seed, int) and levels != "monte-carlo":
        return seeded_vectors(width, count, family, seed), grid
    rng = np.random.default_rng(seed)
    if given is None:
        given = unit_vectors(width, count, family, rng)
    if levels == "monte-carlo":
        return given, rng.uniform(0.0, 1.0 - settings["eps"], settings["n_levels"])
    return given, grid


def _fitting(
    settings: Mapping[str, Any],
    source: DepthSource,
    width: int,
    X: Any,
    Y: Any,
    scale: np.ndarray | None,
) -> DrawnMetric:
    """The metric drawn so that it fits the regions among the two sides, or an error."""
    named = [(n, s) for n, s in (("X", X), ("Y", Y)) if isinstance(s, TrimmedRegions)]
    family, count = settings["directions"], settings["n_directions"]
    fixed = isinstance(settings["random_state"], int) or not draws_at_random(family)
    directions = None
    if named and not fixed:
        # Nothing says which directions this metric should have drawn: those of the regions are as
        # good as any, if it could have drawn them.
        origin = named[0][1].origin
        if origin.dirs == f"{family}:{count}":
            directions = origin.directions
    drawn = draw_metric(settings, source, width, given=directions, scale=scale)
    for name, regions in named:
        drawn.check(regions, name)
    return drawn
