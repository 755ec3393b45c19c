"""Fields of a signature that are only there when they say something."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.covariance import OAS

from isodepth import AIIRWDepth, HalfspaceDepth, Metric, ProjectionDepth
from isodepth.errors import InvalidInputError, SignatureError


def fields(metric: Metric) -> dict[str, str]:
    return dict(part.split("=", 1) for part in metric.signature.split("|")[1:])


def test_defaults_say_nothing() -> None:
    assert fields(Metric(random_state=0)).keys().isdisjoint({"gap", "region", "normalize", "dtype"})


@pytest.mark.parametrize(
    ("options", "name", "text"),
    [
        ({"gap": "exact"}, "gap", "exact"),
        ({"region": "exact", "depth": "halfspace"}, "region", "exact"),
        ({"normalize": False}, "normalize", "no"),
        ({"dtype": "float32"}, "dtype", "float32"),
        ({"p": 1}, "p", "1"),
        ({"p": 1.5}, "p", "1.5"),
        ({"eps": 0.25}, "eps", "0.25"),
        ({"levels": 7}, "levels", "7"),
        ({"levels": "monte-carlo", "n_levels": 9}, "levels", "monte-carlo:9"),
        ({"n_directions": 12, "directions": "sobol"}, "dirs", "sobol:12"),
        ({"refine": 3}, "refine", "3"),
        ({"random_state": None}, "seed", "none"),
        ({"random_state": 5}, "seed", "5"),
    ],
)
def test_what_is_set_is_said_and_read_back(options, name: str, text: str) -> None:
    metric = Metric(**{"random_state": 0, **options})
    assert fields(metric)[name] == text
    assert Metric.from_signature(metric.signature) == metric
    others = fields(Metric(random_state=0))
    assert {k for k, v in fields(metric).items() if others.get(k) != v} <= {name, "depth"}


@pytest.mark.parametrize(
    ("depth", "said"),
    [
        (HalfspaceDepth(method="exact"), ["halfspace", "method=exact"]),
        (HalfspaceDepth(refine=7), ["halfspace", "refine=7"]),
        (ProjectionDepth(method="exact"), ["projection", "method=exact"]),
        (AIIRWDepth(covariance="ledoit-wolf"), ["ai_irw", "covariance=ledoit-wolf"]),
    ],
)
def test_settings_of_a_depth_are_said_and_read_back(depth, said: list[str]) -> None:
    metric = Metric(depth=depth, random_state=0)
    for words in said:
        assert words in fields(metric)["depth"]
    again = Metric.from_signature(metric.signature)
    assert again == metric
    assert again.signature == metric.signature
    assert metric != Metric(depth=type(depth)(), random_state=0)


@pytest.mark.parametrize("depth", [HalfspaceDepth(), ProjectionDepth(), AIIRWDepth()])
def test_a_depth_as_it_comes_is_its_name(depth) -> None:
    metric = Metric(depth=depth, random_state=0)
    assert fields(metric)["depth"] == depth.name
    # The directions and the seed are the metric's own.
    other = type(depth)(n_directions=5, random_state=9)
    assert fields(Metric(depth=other, random_state=0))["depth"] == depth.name


def test_what_a_signature_cannot_hold_is_not_read_back() -> None:
    for depth in (AIIRWDepth(covariance=OAS()), lambda X: X[:, 0]):
        metric = Metric(depth=depth, random_state=0)
        assert "custom:" in metric.signature
        with pytest.raises(SignatureError):
            Metric.from_signature(metric.signature)


def test_fields_that_differ_are_named_also_beside_a_depth_with_settings() -> None:
    X = np.random.default_rng(0).standard_normal((10, 2))
    depth = HalfspaceDepth(refine=2)
    first, second = (Metric(depth=depth, levels=3, random_state=seed).table(X) for seed in (0, 1))
    with pytest.raises(InvalidInputError, match="differ in seed "):
        first.distance_to(second)
    other = Metric(depth=HalfspaceDepth(refine=3), levels=3, random_state=0).table(X)
    with pytest.raises(InvalidInputError, match="differ in depth "):
        first.distance_to(other)
