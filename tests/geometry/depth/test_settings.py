"""Settings of the depths, and functions of the user as depths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from isodepth import AIIRWDepth, HalfspaceDepth, IRWDepth, Metric, ProjectionDepth
from isodepth.errors import InvalidInputError, InvalidOptionError, UnknownOptionError

X = np.random.default_rng(0).standard_normal((9, 2))


@pytest.mark.parametrize("estimator", [HalfspaceDepth, ProjectionDepth, IRWDepth, AIIRWDepth])
def test_defaults(estimator: type) -> None:
    found = estimator().get_params()
    expected = {"n_directions": 1000, "directions": "uniform", "random_state": None, "n_jobs": None}
    if estimator is HalfspaceDepth:
        expected |= {"algorithm": "directions"}
    if estimator is AIIRWDepth:
        expected |= {"covariance": "empirical"}
    assert found == expected
    assert len({estimator(), estimator()}) == 2  # hashable, and equal only to itself


def test_invalid_algorithm() -> None:
    with pytest.raises(InvalidOptionError, match="algorithm"):
        HalfspaceDepth(algorithm="best").fit(X)
    with pytest.raises(TypeError, match="algorithm"):
        ProjectionDepth(algorithm="directions")


def test_weights_are_passed_on_if_there_are_any() -> None:
    calls: list[tuple[np.ndarray, ...]] = []

    def central(*arguments: np.ndarray) -> np.ndarray:
        calls.append(arguments)
        return -np.abs(arguments[0]).sum(axis=1)

    metric = Metric(depth=central, random_state=0)
    plain = metric.regions(X)
    assert [len(arguments) for arguments in calls] == [1]
    np.testing.assert_array_equal(plain.depths, -np.abs(X).sum(axis=1))
    weights = np.arange(1.0, 10.0)
    metric.regions(X, weights=weights)
    rows, given = calls[-1]
    np.testing.assert_array_equal(rows, X)
    np.testing.assert_array_equal(given, weights)


def test_a_function_is_not_mistaken_for_a_depth_of_its_name() -> None:
    def projection(rows: np.ndarray) -> np.ndarray:
        return -np.abs(rows).sum(axis=1)

    assert Metric(depth=projection) != Metric(depth="projection")
    assert "custom:projection" in Metric(depth=projection).signature


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        (np.zeros(8), "one number for each of 9 rows"),
        (np.zeros((9, 1)), "one number for each of 9 rows"),
        (np.array(["a"] * 9), "one number for each of 9 rows"),
        (np.where(np.arange(9) > 6, np.nan, 0), "NaN or infinity for 2 of 9 rows, first for row 7"),
    ],
)
def test_invalid_depths_of_a_function(scores: np.ndarray, words: str) -> None:
    with pytest.raises(InvalidInputError, match=words):
        Metric(depth=lambda X: scores, random_state=0).regions(X)


def test_equal_rows_have_the_larger_of_their_scores() -> None:
    rows = np.array([[0.0], [1.0], [1.0], [2.0]])
    scores = np.array([0.1, 0.2, 0.9, 0.3])
    regions = Metric(depth=lambda X: scores, random_state=0).regions(rows)
    assert regions.depths.tolist() == [0.1, 0.9, 0.9, 0.3]
    assert regions.indices(0.0).tolist() == [1, 2]


@pytest.mark.parametrize("depth", [HalfspaceDepth, ProjectionDepth, int])
def test_a_class_is_not_a_depth(depth: type) -> None:
    message = f"depth must be an instance, got the class {depth.__name__}; pass {depth.__name__}"
    with pytest.raises(InvalidOptionError, match=message):
        Metric(depth=depth)


@pytest.mark.parametrize("levels", ["Exact", "all"])
def test_other_levels_name_both_choices(levels: str) -> None:
    with pytest.raises(InvalidOptionError, match=f"must be 'exact' or an integer, got '{levels}'"):
        Metric(levels=levels)


@pytest.mark.parametrize("option", [{"refine": 2}, {"levels": 5}, {"directions": "sobol"}])
def test_options_that_the_paper_determines(option: dict[str, Any]) -> None:
    (name,) = option
    with pytest.raises(UnknownOptionError, match=f"{name} is not an option of Metric.paper"):
        Metric.paper(n_levels=5, n_directions=9, **option)


@pytest.mark.parametrize("option", [{"n_directions": 5}, {"directions": np.eye(2)}])
def test_exact_depths_have_no_directions(option: dict[str, Any]) -> None:
    depth = HalfspaceDepth(algorithm="exact", **option)
    with pytest.raises(InvalidOptionError, match=f"{next(iter(option))} has no effect with"):
        depth.fit([[0.0, 1.0], [1.0, 0.0], [1.0, 3.0]])
