"""Results are keyword-only, frozen, and independent of the arrays of the caller."""

from __future__ import annotations

import copy
import inspect
import pickle
import re
import warnings
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields, is_dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from combined import compare_and_test
from text_extra import needs

import isodepth
from isodepth.base.export import ResultMixin
from isodepth.text import Scores

X = np.random.default_rng(0).normal(size=(60, 2))
Y = np.random.default_rng(1).normal(size=(50, 2)) + [1, 0]
OPTIONS: dict[str, Any] = {"n_directions": 20, "random_state": 0}
TEST: dict[str, Any] = {"n_permutations": 99, "random_state": 0}


def frame(points: np.ndarray) -> pd.DataFrame:
    """Return a data frame of numbers, with a category "new" where the first number exceeds 2."""
    kind = np.where(points[:, 0] > 2, "new", "old")
    return pd.DataFrame({"a": points[:, 0], "b": points[:, 1], "kind": kind})


VALUES: dict[str, Callable[[], Any]] = {
    "matrix": lambda: isodepth.pairwise([X, Y], **OPTIONS),
    "table": lambda: isodepth.region_tables([X, Y], **OPTIONS)[0],
    "scores": lambda: Scores(values=[0.5, 0.25], signature="DepthScore|..."),
}


@pytest.mark.parametrize("name", VALUES)
def test_values_of_copies_are_read_only(name: str) -> None:
    """Arrays of pickled and deep-copied results are read-only.

    NumPy makes them writable when it copies them.
    """
    result = VALUES[name]()
    copies = (pickle.loads(pickle.dumps(result)), copy.copy(result), copy.deepcopy(result))
    for each in (result, *copies):
        assert each == result
        with pytest.raises(ValueError, match="read-only"):
            each.values[...] = 1.0
        assert not replace(each).values.flags.writeable


RESULTS: dict[str, Callable[[], Any]] = {
    "comparison": lambda: isodepth.compare(X, Y, **OPTIONS),
    "missing": lambda: isodepth.compare(
        pd.DataFrame({"a": [0.0, 1, np.nan, 5], "b": ["x", "y", "y", "x"]}),
        pd.DataFrame({"a": [0.0, np.nan, 3], "b": ["x", "y", "y"]}),
        nan_policy="omit",
        **OPTIONS,
    ),
    "chance": lambda: isodepth.compare(X, Y, **OPTIONS).chance_level(5),
    "largest gap": lambda: isodepth.compare(X, Y, **OPTIONS).largest_gap,
    "matrix": lambda: isodepth.pairwise({"a": X, "b": Y}, **OPTIONS),
    "regions": lambda: isodepth.compare(X, Y, **OPTIONS).regions[0],
    "test": lambda: isodepth.two_sample_test(frame(X), frame(Y), **TEST),
    "tested": lambda: compare_and_test(X, Y, n_permutations=19, **OPTIONS),
    "pairs": lambda: isodepth.pairwise_test({"a": X, "b": Y}, **TEST),
    "suspicious": lambda: isodepth.compare(X, Y, **OPTIONS).suspicious_rows(),
    "typical": lambda: isodepth.compare(X, Y, **OPTIONS).typical_rows(),
    "verdict": lambda: isodepth.Monitor(frame(X), random_state=0).check(frame(Y)),
    "scores": lambda: Scores(values=[0.5, np.nan], signature="DepthScore|..."),
    "change": lambda: RESULTS["test"]().changes[0],
    "check": lambda: RESULTS["test"]().checks[0],
    "chunks": lambda: isodepth.compare(*map(isodepth.scan, (X, Y)), levels=5, refine=0, **OPTIONS),
    "chunks tested": lambda: isodepth.two_sample_test(*map(isodepth.scan, (X, Y)), **TEST),
}


@pytest.mark.parametrize("name", RESULTS)
def test_results_can_be_copied_and_compared(name: str) -> None:
    result, again = RESULTS[name](), RESULTS[name]()
    assert result == again
    for other in (pickle.loads(pickle.dumps(result)), copy.copy(result), copy.deepcopy(result)):
        assert other == result
        assert repr(other) == repr(result)
    if hasattr(result, "to_dict"):
        assert copy.deepcopy(result).to_dict() == result.to_dict()
    assert result != 1
    with pytest.raises(FrozenInstanceError):
        setattr(result, fields(result)[0].name, None)


@pytest.mark.parametrize("name", [*RESULTS, "q"])
def test_attributes_raise_only_attribute_errors(name: str) -> None:
    """`hasattr` works for all public attributes of results: they raise no error of another class.

    Some attributes need details that a result created from its public fields does not have.
    """
    extra = {"q": lambda: isodepth.compare(X, Y, q=2, **OPTIONS)}
    result = (RESULTS | extra)[name]()
    results = [result, replace(result)] if is_dataclass(result) else [result]
    results += [result.without_rows()] if hasattr(result, "without_rows") else []
    for each in results:
        for attribute in dir(type(each)):
            if not attribute.startswith("_"):
                hasattr(each, attribute)


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("comparison", "use result.distance"),
        ("chunks", "use result.distance"),
        ("test", "use result.significant"),
        ("pairs", "use result.significant"),
        ("verdict", "use verdict.alarm"),
    ],
)
def test_results_have_no_truth_value(name: str, remedy: str) -> None:
    """Check the error of `if result:`, which would be true for every result."""
    with pytest.raises(TypeError, match=f"has no truth value; {remedy}"):
        bool(RESULTS[name]())


def test_different_results_are_not_equal() -> None:
    result = RESULTS["comparison"]()
    assert result != isodepth.compare(X, Y, n_directions=20, random_state=1)
    assert result != isodepth.compare(X + 1, Y + 1, **OPTIONS)
    assert result != replace(result, distance=result.distance + 1)
    assert result != replace(result, columns=("a", "b"))
    matrix = RESULTS["matrix"]()
    assert matrix != isodepth.pairwise({"a": X, "c": Y}, **OPTIONS)
    assert matrix != isodepth.pairwise({"a": X, "b": Y + 1}, **OPTIONS)


def result_classes() -> list[type]:
    """Return all classes of results of isodepth that are data classes."""

    found, todo = [], [ResultMixin]
    while todo:
        kind = todo.pop()
        todo += kind.__subclasses__()
        found += [kind] if is_dataclass(kind) else []
    return sorted({*found}, key=lambda kind: kind.__name__)


def test_all_classes_of_results_are_tested() -> None:
    classes = {*result_classes()}
    assert len(classes) >= 9
    assert classes <= {type(make()) for make in RESULTS.values()}


@pytest.mark.parametrize("kind", result_classes(), ids=lambda kind: kind.__name__)
def test_constructors_have_public_keyword_arguments(kind: type) -> None:
    parameters = inspect.signature(kind).parameters.values()
    assert {each.kind for each in parameters} == {inspect.Parameter.KEYWORD_ONLY}
    assert not [each.name for each in parameters if each.name.startswith("_")]
    assert not [each.name for each in fields(kind) if each.name.startswith("_") and each.repr]
    assert kind.__dataclass_params__.frozen  # type: ignore[attr-defined]


def test_a_result_made_from_its_public_fields_has_no_rows() -> None:
    result, test = RESULTS["comparison"](), RESULTS["test"]()
    for made in (replace(result, distance=1.0), replace(test, pvalue=0.5)):
        with pytest.raises(
            isodepth.errors.InvalidInputError, match="created from its public fields"
        ):
            made.to_dict()
    assert not hasattr(result, "missing_name")
    labels = pd.DataFrame({"c": ["a", "b"] * 20})
    tested = isodepth.two_sample_test(labels, labels, **TEST)
    with pytest.raises(isodepth.errors.InvalidInputError, match="categories alone has no regions"):
        _ = tested._comparison


@pytest.mark.parametrize(
    "make", [np.array, pd.DataFrame, np.ndarray.tolist, np.asfortranarray], ids=lambda f: f.__name__
)
def test_results_do_not_change_with_the_arrays_of_the_caller(make: Any) -> None:
    wrong = Y.copy()
    wrong[7, 1] = -9999
    x, y = make(X.copy()), make(wrong.copy())
    result = compare_and_test(x, y, n_permutations=19, **OPTIONS)
    for sample in (x, y):
        if isinstance(sample, list):
            sample[:] = [[1e6, 1e6]] * len(sample)
        else:
            sample[:] = 1e6
    expected = compare_and_test(X, wrong, n_permutations=19, **OPTIONS)

    assert result.suspicious_rows().indices("Y").tolist() == [7]
    np.testing.assert_array_equal(result.regions[1].points, wrong)
    assert result.contributions == expected.contributions
    assert result.test.suspicious_rows().indices("Y").tolist() == [7]
    assert result.chance_level(3) == expected.chance_level(3)


@needs("torch")
def test_results_do_not_change_with_the_tensors_of_the_caller() -> None:
    import torch

    wrong = torch.tensor(Y)
    wrong[7, 1] = -9999
    result = isodepth.compare(torch.tensor(X), wrong, **OPTIONS)
    wrong[:] = 0
    assert result.suspicious_rows().indices("Y").tolist() == [7]
    assert result.regions[1].points[7, 1] == -9999


def test_read_only_arrays_are_not_copied() -> None:
    x, y = X.copy(), Y.copy()
    x.setflags(write=False)
    result = isodepth.compare(x, y, **OPTIONS)
    assert np.shares_memory(result.regions[0].points, x)
    assert not np.shares_memory(result.regions[1].points, y)


def test_regions_do_not_change_with_the_array_of_the_caller() -> None:
    fitted = isodepth.Metric(**OPTIONS).with_directions(2)
    for compute in (fitted.metric.regions, fitted.regions):
        x = X.copy()
        regions = compute(x)
        x[:] = 0
        np.testing.assert_array_equal(regions.points, X)


# -- distance matrices ----------------------------------------------------------------------------


def test_a_matrix_is_an_array_with_labels() -> None:
    plain = isodepth.pairwise([X, Y, X + 1], **OPTIONS)
    named = isodepth.pairwise({"a": X, "b": Y, "c": X + 1}, **OPTIONS)
    assert plain.shape == named.shape == (3, 3)
    assert plain.labels == ("0", "1", "2")
    assert named.labels == named.other_labels == ("a", "b", "c")
    np.testing.assert_array_equal(plain, named)
    assert plain[0, 1] == plain[0][1] == plain.values[0, 1] > 0
    np.testing.assert_array_equal(plain[:, 1], np.asarray(plain)[:, 1])
    assert np.array(plain, dtype="float32").dtype == np.float32
    across = isodepth.pairwise([X, Y], {"c": X}, **OPTIONS)
    assert across.shape == (2, 1)
    assert across.labels == ("0", "1")
    assert across.other_labels == ("c",)
    with pytest.raises(ValueError, match="read-only"):
        plain.values[0, 0] = 1


def test_a_matrix_of_the_caller_is_copied() -> None:
    values = np.array([[0.0, 1.5], [1.5, 0.0]])
    matrix = isodepth.DistanceMatrix.from_array(values)
    values[:] = 7
    assert matrix[0, 1] == 1.5


def test_the_output_array_is_used() -> None:
    out = np.empty((2, 2), dtype=np.float32)
    matrix = isodepth.pairwise([X, Y], out=out, **OPTIONS)
    assert np.shares_memory(matrix.values, out)
    assert out[0, 1] == matrix[0, 1] > 0
    out[0, 1] = 3  # the array of the caller stays writable


# -- bugs -----------------------------------------------------------------------------------------


def test_repeated_rows_are_not_weights() -> None:
    rows = np.repeat(X[:20], 2, axis=0)
    assert isodepth.compare(rows, Y, **OPTIONS).chance_level(3).n_splits == 3
    for weights in ([2.0, 0.0, 1.0], [1.0, 1.0, 1.0]):
        result = isodepth.compare(X[:3], Y, weights=(weights, None), depth="irw", **OPTIONS)
        with pytest.raises(
            isodepth.errors.InvalidInputError, match="rows with weights cannot be split"
        ):
            result.chance_level(3)


@pytest.mark.parametrize("n_splits", [0, -1, 2.5, True])
def test_a_chance_level_needs_splits(n_splits: Any) -> None:
    with pytest.raises(
        isodepth.errors.InvalidOptionError, match="n_splits must be an integer >= 1"
    ):
        isodepth.compare(X, Y, **OPTIONS).chance_level(n_splits)


# -- results without rows -------------------------------------------------------------------------


def embeddings() -> list[np.ndarray]:
    """Return two samples with 60 unnamed columns, some of which have different means."""
    x, y = np.random.default_rng(3).normal(size=(2, 80, 60))
    y[:, :20] += 1
    return [x, y]


@pytest.mark.parametrize(
    "name", ["comparison", "tested", "missing", "test", "q", "embeddings", "chunks"]
)
def test_a_result_without_rows_has_the_same_content(name: str, tmp_path: Any) -> None:
    extra = {
        "q": lambda: isodepth.compare(X, Y, q=2, **OPTIONS),
        "embeddings": lambda: isodepth.two_sample_test(*embeddings(), **TEST),
    }
    result = (RESULTS | extra)[name]()
    small = result.without_rows()
    assert small.to_dict() == result.to_dict()
    assert repr(small).splitlines()[0] == repr(result).splitlines()[0]
    assert pickle.loads(pickle.dumps(small)).to_dict() == result.to_dict()
    assert small._repr_html_()
    small.report(tmp_path / "report.html")
    for refused in (small.suspicious_rows, lambda: small._two_samples):
        with pytest.raises(isodepth.errors.InvalidInputError, match="without_rows"):
            refused()
    if small._result_type == "comparison":
        reason = "returned by without_rows" if result._keeps_rows else "read in chunks"
        for method in (small.gradient, small.chance_level, lambda: small.plot("nested_regions")):
            with pytest.raises(isodepth.errors.InvalidInputError, match=reason):
                method()
        assert small.n_used_rows == result.n_used_rows
        assert not hasattr(small, "regions")
        reason = "without_rows" if result._keeps_rows else "the rows were read in chunks"
        with pytest.raises(
            isodepth.errors.UnavailableError, match=f"has no regions, because {reason}"
        ):
            _ = small.regions
    else:
        with pytest.raises(isodepth.errors.InvalidInputError, match="without_rows"):
            _ = small._comparison


def test_a_result_without_rows_is_small() -> None:
    x, y = np.random.default_rng(0).normal(size=(2, 3000, 20))
    result = compare_and_test(x, y, n_permutations=19, levels=20, **OPTIONS)
    for each in (result, result.test):
        assert len(pickle.dumps(each)) > x.nbytes
        assert len(pickle.dumps(each.without_rows())) < 0.1 * x.nbytes


def test_a_comparison_and_its_test_share_rows_and_answers() -> None:
    for result in (RESULTS["tested"](), RESULTS["chunks tested"]()._comparison):
        assert result.suspicious_rows() is result.test.suspicious_rows()
        assert result._has_all_rows == result.test._has_all_rows


@pytest.mark.parametrize("name", ["comparison", "missing", "test", "tested", "pairs"])
def test_the_headline_is_the_first_printed_line(name: str) -> None:
    result = RESULTS[name]()
    assert str(result).splitlines()[0] == result.headline == result.to_dict()["headline"]
    assert re.search(r"[^.]\.$", result.headline)


def test_the_headline_names_columns_of_doubtful_kind() -> None:
    mixed = frame(X).assign(code=["a", "b", *map(str, range(len(X) - 2))])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", isodepth.errors.ColumnWarning)
        compared = isodepth.compare(mixed, mixed, nan_policy="omit", **OPTIONS)
        for result in (compared, isodepth.two_sample_test(mixed, mixed, **TEST)):
            assert result.headline.endswith("; check column 'code'.")
            assert str(result).splitlines()[0] == result.headline


def test_the_typical_rows_of_the_headline_are_kept() -> None:
    result = isodepth.two_sample_test(*embeddings(), **TEST)
    small = result.without_rows().without_rows()
    assert small.headline == result.headline
    assert small.typical_rows() == result.typical_rows()
    with pytest.raises(isodepth.errors.InvalidInputError, match="without_rows"):
        small.typical_rows(3)
