"""Depths as scikit-learn estimators: its estimator checks, and its import at first use."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError

import isodepth
from isodepth import AIIRWDepth, HalfspaceDepth, IRWDepth, Metric, ProjectionDepth
from isodepth.errors import InvalidInputError
from isodepth.geometry.depth.estimators import DepthEstimator

DEPTHS = [HalfspaceDepth, ProjectionDepth, IRWDepth, AIIRWDepth]


def run_fresh(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_all_checks_of_scikit_learn() -> None:
    """The depth estimators pass all checks of scikit-learn.

    They run in a new process: one of them needs the variable SCIPY_ARRAY_API before any import.
    """
    code = (
        "import warnings; warnings.simplefilter('ignore')\n"
        "import isodepth\n"
        "from sklearn.utils.estimator_checks import check_estimator\n"
        f"for name in {[depth.__name__ for depth in DEPTHS]!r}:\n"
        "    found = check_estimator(getattr(isodepth, name)(n_directions=50), on_fail='raise')\n"
        "    print(name, len(found) > 40, {check['status'] for check in found})\n"
    )
    lines = run_fresh(code, SCIPY_ARRAY_API="1").splitlines()
    assert lines == [f"{depth.__name__} True {{'passed'}}" for depth in DEPTHS]


def test_a_distance_does_not_import_scikit_learn() -> None:
    code = (
        "import sys, isodepth\n"
        "metric = isodepth.Metric()\n"
        "found = metric.distance([[0.0], [1.0], [3.0]], [[1.0], [2.0]])\n"
        "print(found > 0, 'sklearn' in sys.modules)\n"
    )
    assert run_fresh(code) == "True False\n"
    assert Metric().signature == Metric(depth=ProjectionDepth()).signature


@pytest.mark.parametrize("depth", DEPTHS)
def test_they_are_of_the_family(depth: type[DepthEstimator]) -> None:
    made = depth(n_directions=9)
    assert isinstance(made, BaseEstimator)
    assert clone(made).get_params() == made.get_params()
    assert made._repr_html_().startswith("<style>")
    assert callable(made.set_fit_request)
    assert made.__sklearn_tags__().estimator_type is None
    restored = pickle.loads(pickle.dumps(made.fit(np.arange(10.0).reshape(5, 2) ** 2)))
    assert restored.depth_.tolist() == made.depth_.tolist()


@pytest.mark.parametrize("depth", DEPTHS)
def test_score_samples_needs_fit(depth: type[DepthEstimator]) -> None:
    for error in (NotFittedError, InvalidInputError, isodepth.errors.NotFittedError):
        with pytest.raises(error, match=rf"this {depth.__name__} is not fitted"):
            depth().score_samples([[0.0]])


def test_names_of_columns_are_those_of_the_last_fit() -> None:
    pandas = pytest.importorskip("pandas")
    depth = IRWDepth(n_directions=5).fit(pandas.DataFrame({"a": [1.0, 2.0], "b": [0.0, 1.0]}))
    assert depth.feature_names_in_.tolist() == ["a", "b"]
    assert not hasattr(depth.fit([[1.0, 2.0], [0.0, 1.0]]), "feature_names_in_")


@pytest.mark.parametrize("depth", DEPTHS)
def test_other_columns_than_those_of_fit_are_refused(depth: type[DepthEstimator]) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(np.random.default_rng(0).normal(size=(20, 2)), columns=["a", "b"])
    fitted = depth(n_directions=20, random_state=0).fit(frame)
    assert fitted.score_samples(frame).tolist() == fitted.depth_.tolist()
    for other in (frame[["b", "a"]], frame.rename(columns={"b": "c"}), frame[["a"]]):
        with pytest.raises(InvalidInputError, match="eature"):
            fitted.score_samples(other)


def test_a_function_cannot_change_the_rows_of_the_caller() -> None:
    def careless(points: np.ndarray) -> np.ndarray:
        points -= points.mean(axis=0)
        return -np.abs(points).max(axis=1)

    x = np.random.default_rng(0).normal(size=(20, 2)) + 5.0
    before = x.copy()
    with pytest.raises(ValueError, match="read-only"):
        Metric(depth=careless).distance(x, x + 1.0)
    assert x.tolist() == before.tolist()


def test_objects_that_are_numbers_are_numbers() -> None:
    X = np.random.default_rng(0).normal(size=(8, 2))
    expected = HalfspaceDepth(random_state=0).fit(X).depth_
    mixed = X.astype(object)
    assert HalfspaceDepth(random_state=0).fit(mixed).depth_.tolist() == expected.tolist()
    for wrong in ("1.5", None, 2j, {"a": 1}):
        mixed[3, 1] = wrong
        with pytest.raises(TypeError, match="row 3, column 1") as caught:
            HalfspaceDepth().fit(mixed)
        assert isinstance(caught.value, InvalidInputError)
