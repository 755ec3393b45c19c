"""Every metric can be written as a line of text and read back."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import eps_values, p_values

import isodepth
from isodepth.errors import SignatureError

DEPTHS = ["ai_irw", "halfspace", "irw", "projection"]
FAMILIES = ["uniform", "sobol", "orthogonal", "equispaced"]
LEVELS = [
    {"levels": "exact"},
    {"levels": 1},
    {"levels": 64},
    {"levels": "monte-carlo", "n_levels": 30},
]
SEEDS = [None, 0, 12345]


@pytest.mark.parametrize(
    ("depth", "family", "levels", "seed"),
    list(itertools.product(DEPTHS, FAMILIES, LEVELS, SEEDS)),
)
def test_round_trip(depth: str, family: str, levels: dict, seed: int | None) -> None:
    metric = isodepth.Metric(depth=depth, directions=family, random_state=seed, **levels)
    again = isodepth.Metric.from_signature(metric.signature)
    assert again == metric
    assert again.signature == metric.signature


@pytest.mark.parametrize(
    "options",
    [
        {"p": math.inf},
        {"p": 0.1},
        {"p": 1 / 3},
        {"eps": 1.0},
        {"eps": 1e-9},
        {"eps": 0.1 + 0.2},
        {"n_directions": 1},
        {"n_directions": 123456},
        {"normalize": False},
        {"refine": 0},
        {"refine": 1},
        {"refine": 50},
        {"gap": "exact"},
        {"dtype": "float32"},
        {"dtype": "float64"},
    ],
    ids=str,
)
def test_round_trip_of_each_option(options: dict) -> None:
    metric = isodepth.Metric(**options)
    assert isodepth.Metric.from_signature(metric.signature) == metric
    default = isodepth.Metric()
    if metric != default:
        assert metric.signature != default.signature


@settings(max_examples=100, derandomize=True, deadline=None)
@given(
    p=p_values(),
    eps=eps_values(),
    n_directions=st.integers(1, 10**6),
    seed=st.one_of(st.none(), st.integers(0, 2**32 - 1)),
    normalize=st.booleans(),
)
def test_round_trip_of_any_numbers(
    p: float, eps: float, n_directions: int, seed: int | None, normalize: bool
) -> None:
    """No digit may be lost: the numbers come back to the last bit."""
    metric = isodepth.Metric(
        p=p, eps=eps, n_directions=n_directions, random_state=seed, normalize=normalize
    )
    again = isodepth.Metric.from_signature(metric.signature)
    assert again == metric
    assert (again.p, again.eps) == (p, eps)


@pytest.mark.parametrize("n_alpha", [1, 20])
def test_the_metric_of_the_paper(n_alpha: int) -> None:
    metric = isodepth.Metric.paper(n_alpha, 100, random_state=1)
    assert (metric.levels, metric.n_levels) == ("monte-carlo", n_alpha)
    assert (metric.directions, metric.n_directions, metric.refine) == ("uniform", 100, 0)
    assert isodepth.Metric.from_signature(metric.signature) == metric


def test_the_rebuilt_metric_gives_the_same_result() -> None:
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((30, 3)), rng.standard_normal((20, 3)) + 1
    for options in ({}, {"levels": "monte-carlo", "n_levels": 7}, {"directions": "sobol"}):
        result = isodepth.Metric(random_state=4, n_directions=50, **options).compare(X, Y)
        again = isodepth.Metric.from_signature(result.signature).compare(X, Y)
        assert again.distance == result.distance
        assert again.signature == result.signature


def test_a_signature_is_short_and_readable() -> None:
    signature = isodepth.Metric(depth="irw", eps=0.25, random_state=3).signature
    assert signature.startswith("DR|")
    assert "\n" not in signature
    assert len(signature) < 200
    for field in ("depth=irw", "eps=0.25", "seed=3", f"v={isodepth.__version__}"):
        assert field in signature.split("|")


def test_results_carry_and_show_the_signature() -> None:
    rng = np.random.default_rng(0)
    metric = isodepth.Metric(n_directions=20, random_state=0)
    result = metric.compare(rng.standard_normal((9, 2)), rng.standard_normal((9, 2)))
    assert result.signature == metric.signature
    assert result.signature in repr(result)


GOOD = isodepth.Metric().signature


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "hello",
        "DR",
        "DR|",
        "W|" + GOOD[3:],
        GOOD[3:],
        GOOD.replace("depth=", "deep="),
        GOOD.replace("depth=projection", "depth=tukey"),
        GOOD.replace("depth=projection", "depth"),
        GOOD.replace("|p=2", "|p=two"),
        GOOD.replace("|p=2", "|p=-2"),
        GOOD.replace("|p=2", "|p="),
        GOOD.replace("eps=0.1", "eps=7"),
        GOOD.replace("levels=exact", "levels=many"),
        GOOD.replace("uniform:1000", "uniform:none"),
        GOOD.replace("uniform:1000", "spiral:1000"),
        GOOD + "|color=red",
        GOOD + "|p=3",
        GOOD + "|",
        GOOD.replace("|", ","),
    ],
)
def test_unreadable_signatures(text: str) -> None:
    assert text != GOOD
    with pytest.raises(SignatureError) as caught:
        isodepth.Metric.from_signature(text)
    assert len(str(caught.value)) > 20


@pytest.mark.parametrize("text", [None, 7, b"DR|depth=irw", ["DR"]], ids=repr)
def test_a_signature_is_text(text: object) -> None:
    with pytest.raises(SignatureError):
        isodepth.Metric.from_signature(text)


def test_directions_given_as_an_array_cannot_be_rebuilt() -> None:
    """Their numbers are not in the text: reading it back must say so, not guess."""
    metric = isodepth.Metric(directions=np.eye(3))
    with pytest.raises(SignatureError, match="directions"):
        isodepth.Metric.from_signature(metric.signature)
