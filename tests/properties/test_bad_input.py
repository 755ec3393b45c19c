"""Invalid input: the class of the error, and the parts of its message."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np
import pytest
from strategies import ESTIMATORS

import isodepth
from isodepth.errors import InvalidInputError, InvalidOptionError, IsodepthError

X = np.random.default_rng(0).standard_normal((8, 3))
Y = np.random.default_rng(1).standard_normal((6, 3))

#: A message must contain one of these words, which introduce a remedy or the allowed values.
ADVICE = re.compile(
    r"\b(must|should|use|pass|give|drop|remove|impute|fill|replace|choose|choices|one of|valid|"
    r"expected|reshape|convert|need|needs|at least|set|check|clean|known|try|such as|lacks)\b",
    re.IGNORECASE,
)


def assert_refused(call: Callable[[], object], error: type[Exception], *mentions: str) -> None:
    """Check that `call` raises `error`, and that its message matches all patterns `mentions`."""
    with pytest.raises(error) as caught:
        call()
    assert isinstance(caught.value, IsodepthError)
    assert isinstance(caught.value, ValueError)
    message = str(caught.value)
    for pattern in mentions:
        assert re.search(pattern, message), f"{pattern!r} not in: {message}"
    assert ADVICE.search(message), f"no way out in: {message}"


# ---------------------------------------------------------------------------------------------
# points
# ---------------------------------------------------------------------------------------------


def spoiled(points: np.ndarray, value: float) -> np.ndarray:
    """Return the points with two entries replaced by `value`, the first at row 3, column 1."""
    bad = points.copy()
    bad[3, 1] = bad[5, 0] = value
    return bad


@pytest.mark.parametrize(
    ("value", "what"), [(np.nan, "NaN"), (np.inf, "infinite"), (-np.inf, "infinite")]
)
def test_not_finite(value: float, what: str) -> None:
    for name, both in (("X", (spoiled(X, value), Y)), ("Y", (X, spoiled(Y, value)))):
        with pytest.raises(InvalidInputError, match=f"{name} contains 2 {what}.*row 3, column 1"):
            isodepth.distance(*both)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_too_large_to_be_projected(dtype: str) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.uniform(-1, 1, (2, 30, 3))
    limit = np.finfo(dtype).max / (4 * np.sqrt(3))
    x[4], y[7] = 1.0, -1.0
    for refine in (0, 20):
        near = [(0.99 * limit * z).astype(dtype) for z in (x, y)]
        assert np.isfinite(isodepth.distance(*near, refine=refine, random_state=0))


@pytest.mark.parametrize("estimator", ESTIMATORS.values())
def test_estimators_check_their_points(estimator: type) -> None:
    assert_refused(
        lambda: estimator().fit(spoiled(X, np.nan)), InvalidInputError, r"\bX\b", "(?i)nan"
    )
    assert_refused(lambda: estimator().fit(np.empty((0, 3))), InvalidInputError, r"\bX\b")
    fitted = estimator(n_directions=5).fit(X)
    assert_refused(
        lambda: fitted.score_samples(spoiled(Y, np.nan)), InvalidInputError, "(?i)nan", r"\b2\b"
    )
    # The message of scikit-learn.
    with pytest.raises(ValueError, match=r"\b2 features.*\b3 features"):
        fitted.score_samples(Y[:, :2])


@pytest.mark.parametrize(
    ("points", "shown"),
    [
        (np.empty((0, 3)), r"\(0, 3\)"),
        ([], "0"),
        (np.float64(3.0), "float64"),
        (np.ones(5), r"\(5,\).*reshape\(-1, 1\)"),
        ([[1.0, 2.0], [3.0]], "array"),
        (X[:, :2], r"\b2\b"),
        (np.asfortranarray(np.where(X > 0, np.nan, X).astype(np.float32)), "(?i)nan"),
        (X.astype(str).astype(object), "object"),
        (np.zeros((4, 3), dtype="datetime64[s]"), "datetime64"),
    ],
)
def test_invalid_samples(points: object, shown: str) -> None:
    assert_refused(lambda: isodepth.distance(points, Y), InvalidInputError, r"\bX\b", shown)
    assert_refused(lambda: isodepth.distance(X, points), InvalidInputError, r"\bY\b", shown)


# ---------------------------------------------------------------------------------------------
# weights
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weights", "mentions"),
    [
        (np.ones(7), (r"\b7\b", r"\b8\b")),
        (np.ones((8, 1)), (r"\(8, 1\)",)),
        (np.r_[np.ones(7), -0.5], (r"-0\.5|\b1\b", "(?i)negative|non-negative")),
        (np.zeros(8), ("(?i)zero",)),
        (np.ones(8, dtype=complex), ("complex",)),
    ],
    ids=["length", "shape", "negative", "zero", "complex"],
)
def test_bad_weights(weights: np.ndarray, mentions: tuple[str, ...]) -> None:
    metric = isodepth.Metric(n_directions=5)
    for call, name in (
        (lambda: metric.distance(X, Y, weights=(weights, None)), r"(?i)\bw(eights|x)"),
        (lambda: metric.regions(X, weights=weights), r"(?i)\bw(eights|x)"),
        (lambda: isodepth.distance(Y, X, weights=(None, weights)), r"(?i)\bw(eights|y)"),
        (lambda: isodepth.IRWDepth(n_directions=5).fit(X, sample_weight=weights), "weight"),
    ):
        assert_refused(call, InvalidInputError, name, *mentions)
    assert_refused(lambda: isodepth.distance(X, Y, weights=weights), InvalidInputError, "a pair")


# ---------------------------------------------------------------------------------------------
# settings: refused when the Metric is made, before any data
# ---------------------------------------------------------------------------------------------


BAD_OPTIONS = {
    "eps": (0, -0.1, 1.0001, np.nan, np.inf, "a", None),
    "p": (0, -2, np.nan, -np.inf, "two", None),
    "n_directions": (0, -3, 2.5, "many"),
    "directions": ("spiral",),
    "levels": (0, -4, "coarse", 2.5),
    "refine": (-1,),
    "gap": ("guess",),
    "depth": ("tukey", 3),
    "dtype": ("int8",),
}


@pytest.mark.parametrize(
    ("option", "value"), [(name, value) for name, bad in BAD_OPTIONS.items() for value in bad]
)
def test_bad_option(option: str, value: object) -> None:
    options = {option: value}
    for call in (lambda: isodepth.Metric(**options), lambda: isodepth.distance(X, Y, **options)):
        assert_refused(call, InvalidOptionError, rf"\b{option}\b", re.escape(str(value)))


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: isodepth.Metric(depth="tukey"), list(ESTIMATORS)),
        (lambda: isodepth.Metric(directions="spiral"), ["uniform", "sobol", "orthogonal"]),
    ],
)
def test_the_valid_names_are_listed(call: Callable[[], object], names: list[str]) -> None:
    assert_refused(call, InvalidOptionError, *names)


@pytest.mark.parametrize("estimator", ESTIMATORS.values())
@pytest.mark.parametrize("option", ["n_directions", "n_jobs"])
@pytest.mark.parametrize("value", [0, -2, 1.5])
def test_estimators_check_their_numbers(estimator: type, option: str, value: float) -> None:
    invalid = estimator(**{option: value})
    assert_refused(lambda: invalid.fit(X), InvalidOptionError, option, re.escape(str(value)))
    assert estimator(**{option: 1}).fit(X).depth_.shape == (len(X),)


def test_options_have_known_names_and_are_keyword_only() -> None:
    with pytest.raises((TypeError, InvalidOptionError), match="epsilon"):
        isodepth.Metric(epsilon=0.1)
    with pytest.raises(TypeError):
        isodepth.Metric("projection")
    with pytest.raises(TypeError):
        isodepth.distance(X, Y, None)


def test_results_and_their_parts_are_frozen() -> None:
    """Check that all data classes are frozen, except for estimators, states and kept rows.

    Kept rows store the results that were computed from them.
    """
    changing = {
        "Depth", "AIIRW", "_BagTransformer", "DistanceTransformer", "ReadResult",
        "Halfspace", "Bracket", "Suspects", "ColumnProfile", "Reservoir",
        "RepeatedCall", "KeptRows", "RowNumbers", "StringCounts", "RowsInMemory",
        "RowsOfRegions", "RowsOfSources", "TestedRows",
    }  # fmt: skip
    found = set()
    packages = ("base", "table", "stream", "geometry", "functions", "rows", "metric",
                "many", "significance", "monitor")  # fmt: skip
    for package in packages:
        home = importlib.import_module(f"isodepth.{package}")
        for module in pkgutil.walk_packages(home.__path__, f"{home.__name__}."):
            if module.name == "isodepth.metric.tensors" and find_spec("torch") is None:
                continue
            classes = vars(importlib.import_module(module.name)).values()
            found |= {each for each in classes if isinstance(each, type)}
    own = {each.__name__: vars(each).get("__dataclass_params__") for each in found}
    assert {name for name, made in own.items() if made and not made.frozen} == changing


# ---------------------------------------------------------------------------------------------
# arrays of directions
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("directions", "mentions"),
    [
        (np.eye(2), (r"\b2\b", r"\b3\b")),
        (np.vstack([np.eye(3), np.zeros(3)]), ("(?i)zero", r"\b3\b|\b1\b")),
        (np.empty((0, 3)), (r"\(0, 3\)|(?i:empty)|at least",)),
        (np.ones(3), (r"\(3,\)",)),
        (np.full((2, 3), np.nan), ("(?i)nan|finite",)),
        (np.eye(3).astype(complex), ("complex",)),
    ],
    ids=["width", "zero_row", "no_rows", "one_dimension", "nan", "complex"],
)
def test_bad_directions(directions: np.ndarray, mentions: tuple[str, ...]) -> None:
    for call in (
        lambda: isodepth.Metric(directions=directions).distance(X, Y),
        lambda: isodepth.distance(X, Y, directions=directions),
        lambda: isodepth.Metric(directions=directions).regions(X),
        lambda: isodepth.HalfspaceDepth(directions=directions).fit(X),
    ):
        assert_refused(call, ValueError, "directions", *mentions)


def test_bad_directions_for_a_support() -> None:
    regions = isodepth.Metric(n_directions=5).regions(X)
    with pytest.raises(ValueError, match=r"\b2\b"):
        regions.support(np.ones(2), 0.5)
