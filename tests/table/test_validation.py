"""Checks of input at their limits: the last allowed value and the first refused value."""

from __future__ import annotations

import inspect
import math
import pickle
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import isodepth
from isodepth import Metric, compare, distance, pairwise, scan
from isodepth.base.options import Integer, Number
from isodepth.errors import ColumnWarning, InvalidInputError, InvalidOptionError
from isodepth.table.validation import check_points, check_weights, read_pair, split_weights


@pytest.mark.parametrize(
    ("options", "inside", "outside"),
    [
        ({}, [0.0, 1.0, 0.5], [-1e-300, math.nextafter(1, 2)]),
        ({"low_open": True}, [5e-324, 1.0], [0.0, -0.0]),
        ({"high_open": True}, [0.0, math.nextafter(1, 0)], [1.0]),
        ({"low_open": True, "high_open": True}, [0.5], [0.0, 1.0]),
    ],
)
def test_numbers_at_the_ends_of_an_interval(options, inside, outside) -> None:
    for value in inside:
        assert Number(0.0, 1.0, **options).check("eps", value) == value
    for value in [*outside, math.nan, math.inf, -math.inf]:
        with pytest.raises(InvalidOptionError, match="eps must lie in"):
            Number(0.0, 1.0, **options).check("eps", value)


@pytest.mark.parametrize("path", ["june.csv", Path("june.csv")])
def test_paths_are_refused(path) -> None:
    with pytest.raises(InvalidInputError, match=r"got the path .*june\.csv.*; read the file"):
        isodepth.distance(path, [[1.0]])


@pytest.mark.parametrize("value", [True, np.True_, "1", None, 1j, [1.0]])
def test_other_objects_are_refused(value) -> None:
    with pytest.raises(InvalidOptionError, match="must be a number"):
        Number().check("eps", value)
    with pytest.raises(InvalidOptionError, match="must be an integer"):
        Integer(0).check("k", value)


def test_integers_from_the_lowest_on() -> None:
    assert Integer(3).check("k", 3) == 3
    assert type(Integer(3).check("k", np.int32(7))) is int
    for value in (2, 3.0, -3):
        with pytest.raises(InvalidOptionError, match=r"k must be an integer >= 3, got .* or fewer"):
            Integer(3).check("k", value, " or fewer")


# ---------------------------------------------------------------------------------------------
# points
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sample", "reason"),
    [
        (np.zeros((0, 2)), "empty: got 0 sample"),
        (np.zeros((2, 0)), "empty: got 0 feature"),
        (np.zeros(3), "got 1 dimension .*reshape"),
        (np.zeros((2, 2, 2)), r"got 3 .*; use X.reshape\(len\(X\), -1\) for one row per entry"),
        (None, r"X must be a table of shape \(n .*got None; pass a sample$"),
        ({"a": [1]}, "X must be a table .*got a dict; pass a data frame: pandas"),
        (3, "X must be a table .*an int"),
        (np.ones((2, 2), complex), "real numbers"),
        (np.array([["a", "b"]]), "real numbers"),
        (np.array([[1, 2], [3, 4], [5, None]]), "real numbers, .*None at row 2, column 1"),
        (csr_array(np.eye(2)), r"X is sparse \(csr_array\); pass X.toarray"),
        (np.ma.masked_array(np.ones((2, 2)), [[0, 1], [0, 0]]), "1 masked entries"),
        # NaN is named before a number that is too large.
        ([[1e308, 0.0], [math.nan, 0.0]], r"contains 1 NaN .* row 1, column 0"),
    ],
)
def test_other_samples_are_refused(sample: Any, reason: str) -> None:
    with pytest.raises(InvalidInputError, match=reason) as caught:
        check_points(sample)
    assert ("reshape" in str(caught.value)) == (np.ndim(sample) in (1, 3))


@pytest.mark.parametrize(
    ("sample", "received"),
    [(None, "None; pass a sample"), ({"a": [1]}, "a dict; pass a data frame"), (3, "an int")],
)
def test_samples_with_missing_values_are_refused_by_the_same_words(
    sample: Any, received: str
) -> None:
    for nan_policy in ("raise", "keep"):
        with pytest.raises(InvalidInputError, match=f"X must be a table .*, got {received}"):
            isodepth.two_sample_test(sample, np.eye(3), nan_policy=nan_policy)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("d", [1, 4, 9])
def test_the_largest_numbers_whose_projections_do_not_overflow(dtype: str, d: int) -> None:
    """Numbers up to the maximum / (4 sqrt(d)) are allowed: gaps of larger numbers may overflow."""
    most = float(np.finfo(dtype).max) / (4 * math.sqrt(d))
    allowed = np.full((3, d), most * (1 - 1e-6), dtype=dtype)
    refused = np.full((3, d), most * (1 + 1e-6), dtype=dtype)
    assert check_points(allowed)[0] is allowed
    assert check_points(-allowed)[0].dtype == dtype
    for bad in (refused, -refused):
        with pytest.raises(InvalidInputError, match="overflow") as caught:
            check_points(bad)
        assert ("use float64" in str(caught.value)) is (dtype == "float32")
        with pytest.raises(InvalidInputError, match=r"Y contains values .* overflow"):
            read_pair(allowed, bad)
    assert check_points(refused, any_size=True)[0] is refused


@pytest.mark.parametrize("row", [0, 349_525, 349_530, 599_998])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_the_first_bad_value_is_named_wherever_it_is(row: int, value: float) -> None:
    points = np.zeros((600_000, 3))
    points[row, 1] = value
    kind, advice = "infinite", "infinite values are not missing values"
    if math.isnan(value):
        kind, advice = "NaN", "drop or impute"
    for where, words in (
        ((row, 1), f"1 {kind} value, at"),
        ((-1, 2), f"2 {kind} values: column 1 (1), column 2 (1), the first at"),
    ):
        points[where] = value
        words = f"X contains {words} row {row}, column 1; {advice}"
        with pytest.raises(InvalidInputError, match=re.escape(words)):
            check_points(points)


def test_dtypes() -> None:
    for given, expected in [
        (np.ones((2, 2), "int8"), "float64"),
        (np.ones((2, 2), "float16"), "float64"),
        (np.ones((2, 2), "float32"), "float32"),
        (np.ones((2, 2), ">f8"), "float64"),
        (np.ones((2, 2), bool), "float64"),
    ]:
        points, columns = check_points(given)
        assert points.dtype == np.dtype(expected)
        assert points.dtype.isnative
        assert columns is None
    assert check_points(np.ones((2, 2)), dtype="float32")[0].dtype == np.float32
    assert check_points(np.ma.masked_array(np.ones((2, 2))))[0].tolist() == [[1, 1], [1, 1]]


def test_a_pair_has_one_dtype_and_one_width() -> None:
    x, y = read_pair(np.ones((2, 3), "float32"), np.ones((4, 3)))
    assert x.points.dtype == y.points.dtype == np.float64
    x, y = read_pair(np.ones((2, 3), "float32"), np.ones((4, 3), "float32"))
    assert x.points.dtype == y.points.dtype == np.float32
    with pytest.raises(InvalidInputError, match="got 3 in X and 2 in Y"):
        read_pair(np.ones((2, 3)), np.ones((2, 2)))


# ---------------------------------------------------------------------------------------------
# weights
# ---------------------------------------------------------------------------------------------


def test_weights() -> None:
    assert check_weights(None, 3) is None
    checked = check_weights([0, 2, 1], 3)
    assert checked.dtype == np.float64
    assert checked.tolist() == [0.0, 2.0, 1.0]
    for bad, words in [
        ([1, 2], "each of the 3 rows"),
        ([[1], [2], [3]], "each of the 3 rows"),
        ([1, math.nan, math.inf], r"2 other values, the first nan at position 1"),
        ([1, 2, -1e-300], "not negative.* the first -1e-300 at position 2"),
        ([0, 0, 0], "all zero"),
        (["1", "2", "3"], "real numbers"),
        ([1j, 0, 0], "real numbers"),
        ([[1], [1, 2], 3], "numbers"),
    ]:
        with pytest.raises(InvalidInputError, match=words):
            check_weights(bad, 3)
    assert check_weights([0, 0, 5e-324], 3) is not None


def test_pairs_of_weights() -> None:
    assert split_weights(None) == (None, None)
    assert split_weights((None, [1, 2])) == (None, [1, 2])
    assert split_weights([[1, 2], None]) == ([1, 2], None)
    for bad in (np.ones((2, 2)), 3.0, "uniform", (1, 2), ([1],), ([1], [2], [3])):
        with pytest.raises(InvalidInputError, match="weights must be a pair"):
            split_weights(bad)
    # Another check refuses a single number as weights of X.
    assert split_weights((1, [2, 3])) == (1, [2, 3])


def test_integers_that_floats_round() -> None:
    big = np.array([[2**53 + 1], [5]])
    for sample in (big, pd.DataFrame({"id": big[:, 0], "v": [0.5, 1]})):
        with pytest.warns(ColumnWarning, match=r"integers up to 9007199254740993"):
            check_points(sample)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_points(big - 1)


def test_errors_of_options_have_the_option() -> None:
    with pytest.raises(InvalidOptionError, match="eps must lie in") as caught:
        Number(0, 1).check("eps", 2)
    assert caught.value.option == "eps"
    assert pickle.loads(pickle.dumps(caught.value)).option == "eps"


def test_unknown_options_get_a_suggestion() -> None:
    rows = np.random.default_rng(0).normal(size=(8, 2))
    for call in (isodepth.distance, isodepth.compare):
        with pytest.raises(InvalidOptionError, match="'esp'; did you mean 'eps'") as caught:
            call(rows, rows, esp=0.1)
        assert caught.value.option == "esp"


@pytest.mark.parametrize(
    ("make", "similar"),
    [
        (lambda: isodepth.Metric(esp=0.1), "Metric: .*'eps'"),
        (lambda: isodepth.Metric.paper(n_levels=3, n_directions=4, esp=0.1), "Metric: .*'eps'"),
        (lambda: isodepth.Monitor(np.eye(9), alhpa=1), "Monitor: .*'alpha'"),
        (lambda: isodepth.ProjectionDepth(n_direction=3), "ProjectionDepth: .*'n_directions'"),
        (lambda: isodepth.AIIRWDepth(covarianc="mcd"), "AIIRWDepth: .*'covariance'"),
        (lambda: isodepth.DistanceTransformer(level=3), "DistanceTransformer: .*'levels'"),
        (lambda: isodepth.text.DepthScore(esp=0.1), "DepthScore: .*'eps'"),
        (lambda: isodepth.distance([[0.0]], [[1.0]], esp=0.1), "'eps'"),
    ],
)
def test_an_unknown_option_is_one_error_for_functions_and_classes(
    make: Callable[[], Any], similar: str
) -> None:
    for kind in (TypeError, InvalidOptionError):
        with pytest.raises(kind, match=similar):
            make()


def test_the_error_for_an_unknown_option_lists_all_options() -> None:
    rows = np.random.default_rng(0).normal(size=(8, 2))
    calls = {
        isodepth.distance: (rows, rows),
        isodepth.compare: (rows, rows),
        isodepth.two_sample_test: (rows, rows),
        isodepth.pairwise: ([rows, rows],),
        isodepth.region_tables: ([rows, rows],),
    }
    for call, samples in calls.items():
        parameters = inspect.signature(call).parameters.values()
        names = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]
        assert "random_state" in names
        with pytest.raises(InvalidOptionError, match=rf"\(options are {', '.join(names)}\)$"):
            call(*samples, permutations=9)


@pytest.mark.parametrize("value", [10**400, -(10**400)], ids=["positive", "negative"])
def test_integers_beyond_float64_are_infinite(value: int) -> None:
    objects = np.array([[1, 2], [3, value]], dtype=object)
    with pytest.raises(InvalidInputError, match=r"1 infinite value, at row 1, column 1"):
        isodepth.distance(objects, np.eye(2))
    frame = pd.DataFrame(objects, columns=["a", "b"])
    with pytest.raises(InvalidInputError, match="1 infinite value, at row 1, column 'b'"):
        isodepth.two_sample_test(frame, frame.astype(object))


def test_the_message_states_float32() -> None:
    with pytest.raises(InvalidInputError, match="X contains 1 infinite value in float32, at row 0"):
        check_points(np.array([[1e300, 1.0], [0.0, 1.0]]), dtype="float32")


def test_nan_and_infinite_values_together() -> None:
    with pytest.raises(InvalidInputError, match="X contains 2 NaN or infinite values"):
        check_points(np.array([[0.0, math.nan], [math.inf, 0.0]]))


@pytest.mark.parametrize("name", ["n_permutations", "tolerance", "alpha", "blocks", "method"])
def test_options_of_tests_are_not_options_of_a_distance(name: str) -> None:
    rows = np.zeros((8, 2))
    functions = ("two_sample_test", "Monitor")
    having = [
        each for each in functions if name in inspect.signature(getattr(isodepth, each)).parameters
    ]
    words = f"'{name}' is an option of {' and '.join(having)}; here the options are .*depth, p"
    for call in (lambda **o: isodepth.distance(rows, rows, **o),
                 lambda **o: isodepth.pairwise([rows, rows], **o)):  # fmt: skip
        with pytest.raises(InvalidOptionError, match=words):
            call(**{name: 9})


def test_errors_of_the_constructor_name_the_public_class() -> None:
    with pytest.raises(TypeError, match=r"Metric\.__init__\(\)"):
        isodepth.Metric("projection")  # type: ignore[misc]
    with pytest.raises(TypeError, match="Metric: unknown option 'esp'"):
        isodepth.Metric(esp=0.1)  # type: ignore[call-arg]


def test_directions_as_an_array_have_their_own_number() -> None:
    with pytest.raises(InvalidOptionError, match="n_directions has no effect with an array of 2"):
        isodepth.Metric(directions=np.eye(2), n_directions=50)
    metric = isodepth.Metric(directions=np.eye(2))
    assert metric.n_directions == 2


# -- precisions -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.dtype("float32"), np.dtype(">f4"), "float32"])
def test_dtypes_are_names_types_or_dtypes(dtype: Any) -> None:
    """The option `dtype` accepts names, types and dtype objects of NumPy, with equal results."""
    X, Y = np.random.default_rng(0).normal(size=(2, 50, 2))
    options = {"n_directions": 20, "levels": 5, "refine": 0, "random_state": 0}
    metric = Metric(dtype=dtype, **options)
    assert metric.dtype == "float32"
    assert isinstance(metric.dtype, str)
    assert metric == Metric(dtype="float32", **options)
    assert distance(X, Y, dtype=dtype, **options) == distance(X, Y, dtype="float32", **options)
    assert compare(X, Y, dtype=dtype, **options).settings["dtype"] == "float32"
    assert scan(X, dtype=dtype).dtype == "float32"
    table = Metric(**options).region_table(X, table_dtype=dtype)
    assert table == Metric(**options).region_table(X, table_dtype="float32")
    assert pairwise([X, Y], table_dtype=dtype, **options)[0, 1] == pytest.approx(
        pairwise([X, Y], table_dtype="float32", **options)[0, 1], rel=0
    )


@pytest.mark.parametrize("dtype", [np.float16, int, np.dtype("int64"), "single", 32, [1]])
def test_other_dtypes_are_refused(dtype: Any) -> None:
    with pytest.raises(InvalidOptionError, match="dtype must be one of float32, float64, got"):
        Metric(dtype=dtype)


def test_dtypes_of_torch_are_accepted() -> None:
    torch = pytest.importorskip("torch")
    assert Metric(dtype=torch.float32).dtype == "float32"


@pytest.mark.parametrize(
    "call", [distance, isodepth.two_sample_test, lambda x, y: pairwise([y, x]), isodepth.Monitor]
)
def test_records_are_refused_with_the_remedy(call: Callable[..., Any]) -> None:
    records = [{"a": 1.0}, {"a": 2.0}]
    samples = (records,) if call is isodepth.Monitor else (records, np.ones((3, 1)))
    with pytest.raises(InvalidInputError, match=r"a list of dictionaries; .*pandas\.DataFrame"):
        call(*samples)


def test_an_array_in_place_of_an_option_is_described() -> None:
    points = np.random.default_rng(0).normal(size=(20, 2))
    shape = r"got an array of shape \(20, 2\) and dtype float64"
    with pytest.raises(InvalidOptionError, match=f"n_features must be .*{shape}; it is the number"):
        Metric().with_directions(points)
    with pytest.raises(InvalidOptionError, match=f"eps must be .*{shape}$"):
        Metric(eps=points)
    with pytest.raises(InvalidInputError, match="got a pair of arrays or None; pass one array"):
        Metric().regions(points, weights=(np.ones(20), None))
