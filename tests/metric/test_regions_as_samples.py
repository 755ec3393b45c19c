"""Regions that were made before stand for their samples; and what a metric is by default."""

from __future__ import annotations

import numpy as np
import pytest

import isodepth
from isodepth import InvalidInputError, Metric

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((40, 3)), RNG.standard_normal((35, 3)) + 0.5


@pytest.mark.parametrize("depth", ["projection", "halfspace", "irw"])
def test_regions_give_the_distance_of_their_samples(depth: str) -> None:
    metric = Metric(depth=depth, n_directions=50, random_state=0)
    x, y = metric.regions(X), metric.regions(Y)
    expected = metric.distance(X, Y)
    assert expected > 0
    assert metric.distance(x, Y) == expected
    assert metric.distance(X, y) == expected
    assert metric.distance(x, y) == expected
    assert metric.compare(x, y).regions[0] is x


def test_regions_of_another_precision_are_refused() -> None:
    metric = Metric(n_directions=50, random_state=0)
    single = metric.regions(X.astype(np.float32))
    for pair in ((single, Y), (Y, single)):
        with pytest.raises(InvalidInputError, match="float32"):
            metric.distance(*pair)
    assert metric.distance(single, Y.astype(np.float32)) == metric.distance(
        X.astype(np.float32), Y.astype(np.float32)
    )


def test_defaults_of_a_metric() -> None:
    metric = Metric()
    expected = {
        "depth": "projection",
        "p": 2,
        "eps": 0.1,
        "n_directions": 1000,
        "directions": "uniform",
        "levels": "exact",
        "n_levels": None,
        "normalize": True,
        "refine": None,
        "gap": "search",
        "region": "sample",
        "dtype": None,
        "random_state": None,
        "n_jobs": None,
    }
    assert {name: getattr(metric, name) for name in expected} == expected
    seeded = isodepth.distance(X, Y, random_state=3)
    assert seeded == Metric(**{**expected, "refine": 20, "random_state": 3}).distance(X, Y)
