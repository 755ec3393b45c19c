"""Fields of a signature that are only there when they say something."""

from __future__ import annotations

import pytest

from isodepth import Metric


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
