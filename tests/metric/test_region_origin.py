"""Regions remember what decided their order; what does not fit a metric is refused."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from isodepth import AIIRWDepth, HalfspaceDepth, InvalidInputError, Metric
from isodepth.depth.resolve import depth_text

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(40, 3)), RNG.normal(size=(30, 3)) + 1.0
BASE = {"depth": "irw", "n_directions": 20, "random_state": 0}


@pytest.mark.parametrize(
    "other",
    [
        {"p": 1},
        {"eps": 0.4},
        {"levels": 5},
        {"levels": "monte-carlo", "n_levels": 4},
        {"refine": 0},
        {"gap": "exact"},
        {"normalize": False},
        {"n_jobs": 1},
    ],
    ids=str,
)
def test_settings_that_do_not_decide_the_order_may_differ(other: dict) -> None:
    metric = Metric(**{**BASE, **other})
    x, y = (Metric(**BASE).regions(rows) for rows in (X, Y))
    assert metric.distance(x, Y) == metric.distance(x, y) == metric.distance(X, Y) > 0
    assert metric.distance(Y, x) == metric.distance(Y, X)
    assert metric.compare(x, Y).signature == metric.compare(X, Y).signature
    assert metric.compare(x, y).regions[0] is x


@pytest.mark.parametrize(
    ("named", "other"),
    [
        (r"depth \(halfspace and irw\)", {"depth": "halfspace"}),
        (r"depth \(halfspace\(method=exact\) and irw\)", {"depth": HalfspaceDepth(method="exact")}),
        (
            r"depth \(custom:lambda and irw\)",
            {"depth": lambda points: -np.abs(points).sum(axis=1)},
        ),
        (r"directions \(uniform:21 with seed 0 and uniform:20 with seed 0\)", {"n_directions": 21}),
        (r"directions \(sobol:20 with seed 0 and", {"directions": "sobol"}),
        (
            r"directions \(given:3:\w+ with seed 0 and uniform:20",
            {"directions": np.eye(3), "n_directions": 3},
        ),
        (r"directions \(uniform:20 with seed 1 and uniform:20 with seed 0\)", {"random_state": 1}),
        (r"directions \(uniform:20 with seed none and", {"random_state": None}),
        (r"depth \(ai_irw and irw\), directions", {"depth": "ai_irw", "random_state": 1}),
    ],
)
def test_other_depths_and_directions_are_refused(named: str, other: dict) -> None:
    regions = Metric(**{**BASE, **other}).regions(X)
    metric = Metric(**BASE)
    for pair in ((regions, Y), (Y, regions)):
        for compare in (metric.distance, metric.compare):
            with pytest.raises(InvalidInputError, match=named):
                compare(*pair)


def test_estimators_inside_a_depth_count() -> None:
    from sklearn.covariance import ShrunkCovariance

    little, much = (
        Metric(**{**BASE, "depth": AIIRWDepth(covariance=ShrunkCovariance(shrinkage=shrinkage))})
        for shrinkage in (0.1, 0.9)
    )
    assert little != much
    assert little.distance(little.regions(X), Y) == little.distance(X, Y)
    with pytest.raises(InvalidInputError, match="differ in depth"):
        much.distance(little.regions(X), Y)


def test_the_same_directions_under_another_name_fit() -> None:
    drawn = Metric(**BASE).with_directions(3).directions
    regions = Metric(depth="irw", directions=drawn).regions(X)
    assert Metric(**BASE).distance(regions, Y) == Metric(**BASE).distance(X, Y)


@pytest.mark.parametrize("seed", [None, np.random.default_rng(3)], ids=["none", "generator"])
def test_a_metric_without_a_seed_takes_the_directions_of_the_regions(seed: object) -> None:
    metric = Metric(depth="irw", n_directions=5, refine=0, random_state=seed)
    regions = metric.regions(X)
    along = Metric(depth="irw", directions=regions.origin.directions, refine=0)
    assert metric.distance(regions, Y) == along.distance(X, Y)
    assert metric.distance(Y, regions) == along.distance(Y, X)
    with pytest.raises(InvalidInputError, match=r"Y do not fit .* directions .*with_directions"):
        metric.distance(regions, metric.regions(Y))
    fewer = Metric(depth="irw", n_directions=4, refine=0)
    with pytest.raises(InvalidInputError, match=r"uniform:5 with seed .* and uniform:4"):
        fewer.distance(regions, Y)


def test_weights_of_regions_are_refused_and_not_dropped() -> None:
    metric = Metric(**BASE)
    weights = RNG.integers(1, 4, 40)
    regions = metric.regions(X, weights)
    for pair, given in (((regions, Y), (weights, None)), ((Y, regions), (None, weights))):
        with pytest.raises(InvalidInputError, match="include their weights"):
            metric.distance(*pair, weights=given)
    theirs = RNG.integers(1, 4, 30)
    expected = metric.distance(X, Y, weights=(weights, theirs))
    assert metric.distance(regions, Y, weights=(None, theirs)) == expected


def test_columns_in_another_order() -> None:
    pd = pytest.importorskip("pandas")
    metric = Metric(**BASE)
    abc = metric.regions(pd.DataFrame(X, columns=list("abc")))
    swapped = pd.DataFrame(Y, columns=list("bac"))
    with pytest.raises(InvalidInputError, match="name their columns differently"):
        metric.distance(abc, metric.regions(swapped))
    # A frame follows the regions, whichever side they are on.
    expected = metric.distance(X, Y[:, [1, 0, 2]])
    assert metric.distance(abc, swapped) == expected
    assert metric.distance(swapped, abc) == metric.distance(Y[:, [1, 0, 2]], X)
    assert metric.compare(abc, Y).columns == ("a", "b", "c")
    assert metric.compare(metric.regions(X), pd.DataFrame(Y, columns=list("xyz"))).columns == (
        "x",
        "y",
        "z",
    )


def test_other_widths_and_precisions_are_refused() -> None:
    metric = Metric(**BASE)
    with pytest.raises(InvalidInputError, match="same number of columns"):
        metric.distance(metric.regions(X), Y[:, :2])
    single = metric.regions(X.astype(np.float32))
    with pytest.raises(InvalidInputError, match="float32, and the comparison is in float64"):
        metric.distance(single, Y)
    with pytest.raises(InvalidInputError, match="float32, and the comparison is in float64"):
        Metric(**BASE, dtype="float64").distance(single, single)
    assert metric.distance(single, Y.astype(np.float32)) > 0


def test_regions_travel_with_their_origin() -> None:
    metric = Metric(**BASE)
    travelled = pickle.loads(pickle.dumps(metric.regions(X)))
    assert metric.distance(travelled, Y) == metric.distance(X, Y)
    assert depth_text(travelled.origin.source) == "irw"
    assert travelled.origin.dirs == "uniform:20"
