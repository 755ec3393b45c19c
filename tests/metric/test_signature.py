"""Signatures contain the settings that determine a distance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.covariance import OAS

import isodepth
from isodepth import AIIRWDepth, HalfspaceDepth, Metric, ProjectionDepth
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.typing import RandomLevels


def fields(**options: object) -> dict[str, str]:
    _, *parts = Metric(**{"random_state": 0, **options}).signature.split("|")
    return dict(part.split("=", 1) for part in parts)


@pytest.mark.parametrize(
    ("options", "name", "text"),
    [
        ({"gap": "exact"}, "gap", "exact"),
        ({"normalize": False}, "normalize", "no"),
        ({"dtype": "float32"}, "dtype", "float32"),
        ({"p": 1}, "p", "1"),
        ({"p": 1.5}, "p", "1.5"),
        ({"p": np.inf}, "p", "inf"),
        ({"q": np.inf, "eps": 0.25}, "eps", "0.25"),
        ({"eps": 1e-7}, "eps", "1e-07"),
        ({"levels": 7}, "levels", "7"),
        ({"levels": RandomLevels(9)}, "levels", "monte-carlo:9"),
        ({"n_directions": 12, "directions": "sobol"}, "dirs", "sobol:12"),
        ({"directions": np.eye(3)}, "dirs", "given:3:1332df68"),
        ({"refine": 3}, "refine", "3"),
        ({"random_state": None}, "seed", "none"),
        ({"random_state": 5}, "seed", "5"),
        ({"random_state": np.random.default_rng(0)}, "seed", "generator"),
        ({"scale": "pooled"}, "scale", "pooled"),
        ({"scale": [1, 2, 3]}, "scale", "given:3:a68de4b5"),
        ({"depth": "irw"}, "depth", "irw"),
        ({"depth": HalfspaceDepth(algorithm="exact")}, "depth", "halfspace(algorithm=exact)"),
        ({"depth": AIIRWDepth(covariance="mcd")}, "depth", "ai_irw(covariance=mcd)"),
        ({"depth": AIIRWDepth(covariance=OAS())}, "depth", "ai_irw(covariance=custom:OAS)"),
        ({"depth": lambda X: X[:, 0]}, "depth", "custom:lambda"),
    ],
)
def test_settings_are_written(options: dict, name: str, text: str) -> None:
    usual = fields()
    assert fields(**options)[name] == text
    assert {k for k, v in fields(**options).items() if usual.get(k) != v} <= {name}
    assert usual.keys().isdisjoint({"q", "scale", "gap", "normalize", "dtype"})


@pytest.mark.parametrize(
    "options",
    [{"n_directions": 5}, {"directions": "sobol"}, {"directions": np.eye(2)}, {"random_state": 0},
     {"random_state": np.random.default_rng(0)}, {"n_jobs": 2}],
)  # fmt: skip
def test_settings_of_a_depth_without_effect_are_refused(options: dict) -> None:
    X = np.random.default_rng(0).normal(size=(30, 2))
    (name,) = options
    words = f"^{name}=.* of the depth ProjectionDepth has no effect.*option of the distance"
    for call in (
        lambda depth: isodepth.distance(X, X, depth=depth),
        lambda depth: isodepth.pairwise([X, X], depth=depth),
        lambda depth: isodepth.RegionTransformer(depth=depth).fit([X, X]),
        lambda depth: isodepth.plot.bagplot(X, depth=depth),
        lambda depth: Metric(depth=depth),
    ):
        with pytest.raises(InvalidOptionError, match=words):
            call(ProjectionDepth(**options))
    with pytest.raises(InvalidOptionError, match=words):
        Metric(depth=clone(ProjectionDepth(**options)))


def test_refine_has_no_effect_on_the_exact_gap() -> None:
    X = np.random.default_rng(0).normal(size=(30, 3))
    options = {"gap": "exact", "random_state": 0}
    with pytest.raises(
        InvalidOptionError, match=r"refine has no effect with gap='exact'.* refine=5"
    ):
        isodepth.distance(X, X + 1, refine=5, **options)
    found = isodepth.compare(X, X + 1, **options)
    assert "refine" not in found.signature
    assert "refine" not in Metric(**options).signature
    assert (found.settings["refine"], found.settings["gap"]) == (0, "exact")
    assert isodepth.compare(X, X + 1, **found.settings) == found
    assert found.gradient().x.shape == X.shape


def test_a_fitted_depth_with_default_settings_is_accepted() -> None:
    X = np.random.default_rng(0).normal(size=(30, 2))
    fitted = AIIRWDepth(covariance="mcd").fit(X)
    assert Metric(depth=fitted) == Metric(depth=AIIRWDepth(covariance="mcd"))


def test_the_metric_of_the_paper() -> None:
    metric = Metric.paper(n_levels=20, n_directions=100, random_state=1)
    assert metric.levels == RandomLevels(20)
    assert replace(metric, random_state=2).levels == RandomLevels(20)
    assert (metric.directions, metric.n_directions, metric.refine) == ("uniform", 100, 0)


def test_random_levels_belong_to_the_metric_of_the_paper() -> None:
    X = np.random.default_rng(0).standard_normal((30, 2))
    with pytest.raises(InvalidOptionError, match=r"use Metric\.paper\(n_levels=20"):
        Metric(levels="monte-carlo")
    with pytest.raises(InvalidOptionError, match="n_levels must be an integer >= 1, got 0"):
        Metric.paper(n_levels=0, n_directions=10)
    result = Metric.paper(n_levels=5, n_directions=10, random_state=0).compare(X, X + 1)
    assert len(result.levels) == 5
    assert result.settings["levels"] == "monte-carlo:5"
    assert result.to_dict()["settings"]["levels"] == "monte-carlo:5"
    assert "n_levels" not in result.settings


def test_fields_that_differ_are_named_also_beside_a_depth_with_settings() -> None:
    X = np.random.default_rng(0).standard_normal((10, 2))
    exact = {"depth": HalfspaceDepth(algorithm="exact"), "levels": 3}
    first, second = (Metric(**exact, random_state=seed).region_table(X) for seed in (0, 1))
    with pytest.raises(InvalidInputError, match="differ in random_state "):
        first.distance_to(second)
    other = Metric(depth="halfspace", levels=3, random_state=0).region_table(X)
    with pytest.raises(InvalidInputError, match="differ in depth "):
        first.distance_to(other)


def test_metrics_are_equal_if_all_options_are() -> None:
    options: list[dict] = [
        {},
        {"eps": 0.2},
        {"n_jobs": 1},
        {"depth": "irw"},
        {"depth": AIIRWDepth(covariance="mcd")},
        {"depth": HalfspaceDepth(algorithm="exact")},
        {"scale": "pooled"},
        {"scale": [1.0, 2.0]},
        {"directions": np.eye(2)},
        {"levels": 7},
        {"levels": RandomLevels(7)},
    ]
    for i, mine in enumerate(options):
        for j, other in enumerate(options):
            assert (Metric(**mine) == Metric(**other)) == (i == j)
        assert hash(Metric(**mine)) == hash(Metric(**mine))
    assert Metric() != 2
    assert len({Metric(), Metric(), Metric(p=1)}) == 2


def test_depths_of_users_are_equal_if_they_are_identical() -> None:
    def depth(points: np.ndarray) -> np.ndarray:
        return -np.abs(points).sum(axis=1)

    assert Metric(depth=depth) == Metric(depth=depth)
    assert Metric(depth=depth) != Metric(depth=lambda points: depth(points))
