"""Settings are what they say: refused where they make no sense, and nobody else's to change."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, replace
from fractions import Fraction

import numpy as np
import pytest

import isodepth
from isodepth import AIIRWDepth, InvalidOptionError, IRWDepth, Metric

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(30, 2)), RNG.normal(size=(25, 2)) + 1.0


@pytest.mark.parametrize("value", ["no", "yes", 0, 1, None, 0.0])
def test_normalize_is_a_bool(value: object) -> None:
    with pytest.raises(InvalidOptionError, match="normalize must be True or False"):
        Metric(normalize=value)


@pytest.mark.parametrize(
    "value",
    [10**400, -(10**400), 10**5000, Fraction(10**400)],
    ids=["large", "low", "unprintable", "fraction"],
)
def test_numbers_too_large_for_a_float(value: object) -> None:
    for name in ("p", "eps", "memory_mb"):
        with pytest.raises(
            InvalidOptionError, match=f"{name} must lie in .* too large for a float"
        ):
            Metric(**{name: value})


@pytest.mark.parametrize("value", [np.inf, np.nan, 0, -1])
def test_memory_is_finite(value: float) -> None:
    with pytest.raises(InvalidOptionError, match=r"memory_mb must lie in \(0, inf\)"):
        Metric(memory_mb=value)


def test_a_metric_does_not_share_the_depth_of_its_caller() -> None:
    depth = AIIRWDepth(covariance="ledoit-wolf")
    metric = Metric(depth=depth, random_state=0)
    before = (metric.signature, metric.distance(X, Y))
    depth.set_params(covariance="mcd")
    assert (metric.signature, metric.distance(X, Y)) == before
    assert replace(metric, p=1).depth.covariance == "ledoit-wolf"


def test_nor_an_estimator_inside_it_or_one_of_its_own() -> None:
    from sklearn.covariance import ShrunkCovariance
    from sklearn.neighbors import KernelDensity

    covariance, density = ShrunkCovariance(shrinkage=0.5), KernelDensity(bandwidth=1.0)
    for inner, change, depth in (
        (covariance, {"shrinkage": 0.9}, AIIRWDepth(covariance=covariance)),
        (density, {"bandwidth": 0.01}, density),
    ):
        metric = Metric(depth=depth, random_state=0, refine=0)
        before = metric.distance(X, Y)
        inner.set_params(**change)
        assert metric.distance(X, Y) == before
        assert pickle.loads(pickle.dumps(metric)).distance(X, Y) == before


def test_functions_are_not_copied() -> None:
    def depth(points: np.ndarray) -> np.ndarray:
        return -np.abs(points).sum(axis=1)

    assert Metric(depth=depth).depth is depth


def test_a_class_of_depths_is_its_default() -> None:
    assert "depth=irw|" in Metric(depth=IRWDepth).signature


def test_estimators_that_cannot_be_copied_are_refused_at_once() -> None:
    from sklearn.neighbors import KernelDensity

    class Stubborn:
        def fit(self, points: np.ndarray) -> Stubborn:
            return self

        def score_samples(self, points: np.ndarray) -> np.ndarray:
            return points[:, 0]

    for depth in (Stubborn(), KernelDensity):
        with pytest.raises(InvalidOptionError, match="scikit-learn can clone"):
            Metric(depth=depth)


@pytest.mark.parametrize(("n_levels", "reason"), [(0, "integer >= 1, got 0$"), (9, "levels=9 for")])
def test_a_number_of_levels_needs_random_levels(n_levels: int, reason: str) -> None:
    with pytest.raises(InvalidOptionError, match=reason):
        Metric(n_levels=n_levels)


def test_a_metric_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        Metric().p = 3  # type: ignore[misc]


def test_defaults_of_a_metric() -> None:
    metric = Metric()
    expected = {
        "depth": "projection", "p": 2, "eps": 0.1, "n_directions": 1000, "directions": "uniform",
        "levels": "exact", "normalize": True, "gap": "search",
        **dict.fromkeys(["n_levels", "refine", "dtype", "random_state", "n_jobs"]),
    }  # fmt: skip
    assert {name: getattr(metric, name) for name in expected} == expected
    seeded = isodepth.distance(X, Y, random_state=3)
    assert seeded == Metric(**{**expected, "refine": 20, "random_state": 3}).distance(X, Y)
