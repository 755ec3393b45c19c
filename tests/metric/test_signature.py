"""Every metric can be written as a line of text and read back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.covariance import OAS
from strategies import eps_values, pvalues

import isodepth
from isodepth import AIIRWDepth, HalfspaceDepth, Metric, ProjectionDepth
from isodepth.errors import InvalidInputError, SignatureError
from isodepth.metric.signature import Signature

LEVELS = st.one_of(
    st.just({"levels": "exact"}),
    st.integers(1, 64).map(lambda count: {"levels": count}),
    st.integers(1, 64).map(lambda count: {"levels": "monte-carlo", "n_levels": count}),
)


def fields(metric: Metric) -> dict[str, str]:
    return dict(part.split("=", 1) for part in metric.signature.split("|")[1:])


@settings(max_examples=300, derandomize=True, deadline=None)
@given(
    levels=LEVELS,
    options=st.fixed_dictionaries(
        {
            "depth": st.sampled_from(["ai_irw", "halfspace", "irw", "projection"]),
            "directions": st.sampled_from(["uniform", "sobol", "orthogonal", "equispaced"]),
            "p": pvalues(),
            "eps": eps_values(),
            "n_directions": st.integers(1, 10**6),
            "random_state": st.one_of(st.none(), st.integers(0, 2**32 - 1)),
            "normalize": st.booleans(),
            "refine": st.sampled_from([None, 0, 1, 50]),
            "gap": st.sampled_from(["search", "exact"]),
            "dtype": st.sampled_from([None, "float32", "float64"]),
        }
    ),
)
def test_any_metric_is_read_back(levels: dict, options: dict) -> None:
    """No digit may be lost: the numbers come back to the last bit."""
    metric = Metric(**options, **levels)
    again = Metric.from_signature(metric.signature)
    assert again == metric
    assert again.signature == metric.signature
    assert (again.p, again.eps) == (options["p"], options["eps"])


@pytest.mark.parametrize("n_alpha", [1, 20])
def test_the_metric_of_the_paper(n_alpha: int) -> None:
    metric = Metric.paper(n_alpha, 100, random_state=1)
    assert (metric.levels, metric.n_levels) == ("monte-carlo", n_alpha)
    assert (metric.directions, metric.n_directions, metric.refine) == ("uniform", 100, 0)
    assert Metric.from_signature(metric.signature) == metric


def test_the_rebuilt_metric_gives_the_same_result() -> None:
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((30, 3)), rng.standard_normal((20, 3)) + 1
    for options in ({}, {"levels": "monte-carlo", "n_levels": 7}, {"directions": "sobol"}):
        result = Metric(random_state=4, n_directions=50, **options).compare(X, Y)
        again = Metric.from_signature(result.signature).compare(X, Y)
        assert again.distance == result.distance
        assert again.signature == result.signature


GOOD = Metric(random_state=0).signature


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
        GOOD.replace(f"v={isodepth.__version__}", "v=9.9.9"),
        GOOD.replace(f"v={isodepth.__version__}", "v=0.1000.0"),
        GOOD.replace(f"v={isodepth.__version__}", "v=newest"),
        GOOD.replace(f"v={isodepth.__version__}", "v="),
        GOOD.replace(f"v={isodepth.__version__}", "v=1"),
        GOOD + "|normalize=maybe",
        GOOD + "|normalize=",
        GOOD + "|gap=wide",
        GOOD + "|region=plane",
        GOOD + "|dtype=float16",
        GOOD.replace("refine=20", "refine=-1"),
        GOOD.replace("levels=exact", "levels=exact:3"),
        GOOD.replace("levels=exact", "levels=0"),
        GOOD.replace("levels=exact", "levels=monte-carlo"),
        GOOD.replace("uniform:1000", "uniform"),
        GOOD.replace("uniform:1000", "uniform:0"),
        GOOD.replace("seed=0", "seed=zero"),
        GOOD.replace("seed=0", "seed=-1"),
        GOOD.replace("depth=projection", "depth=ai_irw(n_directions=7)"),
        GOOD.replace("depth=projection", "depth=ai_irw(random_state=7)"),
        GOOD.replace("depth=projection", "depth=ai_irw(covariance)"),
        GOOD.replace("depth=projection", "depth=halfspace(refine=some)"),
    ],
)
def test_unreadable_signatures(text: str) -> None:
    assert text != GOOD
    with pytest.raises(SignatureError) as caught:
        Metric.from_signature(text)
    assert len(str(caught.value)) > 20


@pytest.mark.parametrize("text", [None, 7, b"DR|depth=irw", ["DR"]], ids=repr)
def test_a_signature_is_text(text: object) -> None:
    with pytest.raises(SignatureError):
        Metric.from_signature(text)


def test_directions_given_as_an_array_cannot_be_rebuilt() -> None:
    """Their numbers are not in the text: reading it back must say so, not guess."""
    metric = Metric(directions=np.eye(3))
    with pytest.raises(SignatureError, match="directions"):
        Metric.from_signature(metric.signature)


def test_defaults_are_omitted() -> None:
    assert fields(Metric(random_state=0)).keys().isdisjoint({"gap", "region", "normalize", "dtype"})


@pytest.mark.parametrize(
    ("options", "name", "text"),
    [
        ({"gap": "exact"}, "gap", "exact"),
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
def test_settings_are_written_and_parsed(options, name: str, text: str) -> None:
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
        (ProjectionDepth(refine=3), ["projection", "refine=3"]),
        (AIIRWDepth(covariance="ledoit-wolf"), ["ai_irw", "covariance=ledoit-wolf"]),
    ],
)
def test_settings_of_a_depth_are_written_and_parsed(depth, said: list[str]) -> None:
    metric = Metric(depth=depth, random_state=0)
    for words in said:
        assert words in fields(metric)["depth"]
    again = Metric.from_signature(metric.signature)
    assert again == metric
    assert again.depth.settings() == depth.settings()
    assert metric != Metric(depth=type(depth)(), random_state=0)


@pytest.mark.parametrize("depth", [HalfspaceDepth(), ProjectionDepth(), AIIRWDepth()])
def test_a_depth_as_it_comes_is_its_name(depth) -> None:
    metric = Metric(depth=depth, random_state=0)
    assert fields(metric)["depth"] == depth.name
    # The directions and the seed are the metric's own.
    other = type(depth)(n_directions=5, random_state=9)
    assert fields(Metric(depth=other, random_state=0))["depth"] == depth.name


def test_objects_cannot_be_parsed() -> None:
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


@pytest.mark.parametrize("width", [1, 2, 3])
def test_the_shape_of_a_table_is_known_before_it_is_made(width: int) -> None:
    points = np.random.default_rng(0).normal(size=(20, width))
    for directions in ("uniform", np.vstack([np.eye(width), np.ones((4, width))])):
        metric = Metric(levels=7, random_state=0, directions=directions)
        found = Signature.parse(metric.signature).table_shape(width)
        assert found == metric.table(points).values.shape
    assert Signature.parse(Metric(random_state=0).signature).table_shape(width) == (0, 0)
