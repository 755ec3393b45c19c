"""Data frames of pandas, polars and pyarrow are read like arrays; errors name the column."""

from __future__ import annotations

import decimal
import subprocess
import sys

import numpy as np
import pytest
from stream.tables import to_polars

import isodepth
from isodepth.errors import ColumnWarning, InvalidInputError, NotNumbersError
from isodepth.table.frames import NamedArray
from isodepth.table.validation import check_points, read_pair

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

MAKERS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


@pytest.fixture(params=list(MAKERS))
def make(request):
    return MAKERS[request.param]


# -- numbers --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        ({"a": [1.5, 2.0], "b": [0.5, -1.0]}, "float64"),
        ({"a": [1, 2], "b": [0.5, -1.0]}, "float64"),
        ({"a": [1, 2], "b": [3, 4]}, "float64"),
        ({"a": np.float32([1.5, 2]), "b": np.float32([1, 0.1])}, "float32"),
        ({"a": np.float32([1.5, 2]), "b": [0.1, 0.2]}, "float64"),
        # Rounded once, to the nearest double, and not by way of float32.
        ({"a": np.float32([1.5, 2]), "b": np.int16([1, 2])}, "float64"),
        ({"a": np.uint64([2**64 - 1, 2**63 + 1025])}, "float64"),
        ({"a": np.int64([2**62 + 1, -(2**53) - 1])}, "float64"),
        ({"a": [decimal.Decimal("1.25"), decimal.Decimal("2.50")]}, "float64"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*integers up to:isodepth.errors.ColumnWarning")
def test_numbers_are_those_of_plain_arrays(make, data, dtype):
    expected = np.column_stack([np.asarray(column, dtype) for column in data.values()])
    points, columns = check_points(make(data))
    assert points.dtype == dtype
    np.testing.assert_array_equal(points, expected)
    assert columns == tuple(data)


def test_a_frame_of_one_block_is_not_copied():
    block = np.ones((5, 3))
    points, _ = check_points(pd.DataFrame(block, columns=list("abc"), copy=False))
    assert np.shares_memory(points, block)


@pytest.mark.parametrize(
    "column",
    [
        pd.array([1, 2], dtype="Int64"),
        pd.array([1, 2], dtype="UInt8"),
        pd.array([1.0, 2.0], dtype="Float64"),
        pd.array([1, 2], dtype="int64[pyarrow]"),
        pd.array([1, 2], dtype="double[pyarrow]"),
        pd.arrays.SparseArray([1.0, 2.0]),
        np.array([1, 2], dtype=np.float16),
        np.array([1, 2], dtype=np.longdouble),
    ],
    ids=lambda column: str(column.dtype),
)
def test_dtypes_of_pandas(column):
    points, _ = check_points(pd.DataFrame({"a": column, "b": [0.5, 1.5]}))
    np.testing.assert_array_equal(points, [[1, 0.5], [2, 1.5]])


# -- refused columns are named --------------------------------------------------------------------


@pytest.mark.parametrize(
    "frame",
    [make({"b": [1.0, 2.0, 3.0], "gap": column}) for make in MAKERS.values()
     for column in ([1, None, 3], [1.5, None, 2.0])]
    + [pd.DataFrame({"gap": pd.array([1, None, 0], dtype=dtype)})
       for dtype in ("Int64", "Float32", "int64[pyarrow]")],
)  # fmt: skip
def test_a_missing_value_is_named_with_its_column(frame):
    with pytest.raises(InvalidInputError, match=r"1 NaN value.*, at row 1, column 'gap'"):
        check_points(frame)


def test_text_is_named_with_its_column(make):
    with pytest.raises(
        NotNumbersError, match=r"X must have .* real numbers, got the column 'color' \(strings\)"
    ):
        check_points(make({"size": [1.0, 2.0], "color": ["red", "blue"]}))
    with pytest.raises(
        NotNumbersError, match=r"Y must .* got the columns 'digits' \(.*, 'late' \("
    ):
        check_points(make({"digits": ["1", "2"], "size": [1, 2], "late": [True, False]}), "Y")


@pytest.mark.parametrize(
    "column",
    [
        pd.Categorical([1, 2]),
        pd.to_datetime(["2020-01-01", "2020-01-02"]),
        pd.to_timedelta([1, 2]),
        np.array([1, "2"], dtype=object),
        np.array([1j, 2]),
        pd.array([None, None], dtype=object),
        pd.array([True, False]),
        pd.array([True, None], dtype="boolean"),
        np.array([True, False]),
    ],
    ids=lambda column: str(column.dtype),
)
def test_other_types_of_columns_are_refused(column):
    """A non-numeric column raises an error, with the same message in all functions."""
    frame = pd.DataFrame({"odd": column, "b": [0.5, 1.5]})
    functions = [
        check_points,
        isodepth.Metric().regions,
        isodepth.Metric(levels=2, random_state=0).region_table,
        lambda X: isodepth.pairwise([X, X]),
        lambda X: isodepth.region_tables([X]),
        isodepth.ProjectionDepth().fit,
        lambda X: isodepth.Metric(levels=2, random_state=0).region_table(isodepth.scan(X)),
    ]
    for function in functions:
        with pytest.raises(
            NotNumbersError, match="have columns of real numbers, got the column 'odd'"
        ):
            function(frame)


class Foreign:
    columns = ("a", "b")


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_decimals_beyond_the_precision_of_floats_are_announced(make):
    large = [decimal.Decimal(10) ** 25 + k for k in range(50)]
    exact = [decimal.Decimal(2) ** 60 * k / 4 for k in range(50)]
    x = make({"large": large, "exact": exact})
    with pytest.warns(ColumnWarning) as found:
        isodepth.distance(x, x, n_directions=10)
    with pytest.warns(ColumnWarning) as of_one:
        isodepth.region_tables([x], n_directions=10)
    texts = [str(each.message).split(",")[0] for each in (*found, *of_one)]
    samples = ("X", "Y", "samples[0]")
    assert texts == [f"column 'large' of {s} contains numbers up to {large[-1]}" for s in samples]


def test_intervals_in_a_frame_of_polars_are_not_numbers():
    frame = pd.DataFrame({"size": np.sin(np.arange(200.0))})
    frame["bin"] = pd.cut(frame["size"], 4)
    x = to_polars(frame)
    assert [each.use for each in isodepth.Monitor(x, random_state=0).kinds] == [
        "numeric", "category"
    ]  # fmt: skip
    with pytest.raises(isodepth.errors.InvalidInputError, match="got the column 'bin'"):
        isodepth.region_tables([x, x])


@pytest.mark.parametrize(
    ("sample", "said"),
    [(make(data), "empty") for make in MAKERS.values() for data in ({}, {"a": np.empty(0)})]
    + [(series, r"X\.to_frame\(\)") for series in (pd.Series([1.0]), pl.Series("a", [1.0]))]
    + [(pl.DataFrame({"a": [1.0]}).lazy(), r"X\.collect\(\)"), (Foreign(), "got a Foreign")],
)
def test_other_samples_are_refused_with_advice(sample, said):
    with pytest.raises(InvalidInputError, match=said):
        check_points(sample)


# -- names ----------------------------------------------------------------------------------------


def frame(labels, rows=3):
    return pd.DataFrame(
        np.arange(rows * len(labels), dtype=float).reshape(rows, -1), columns=labels
    )


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        ([0, 1], None),
        (np.array([0, 1]), None),
        ([1, 0], ("1", "0")),
        ([1, 2], ("1", "2")),
        ([0, 2], ("0", "2")),
        ([0, "b"], ("0", "b")),
        (["0", "1"], ("0", "1")),
        ([False, True], ("False", "True")),
        ([0.0, 1.0], ("0.0", "1.0")),
        ([("a", 1), ("a", 2)], ("('a', 1)", "('a', 2)")),
    ],
)
def test_which_labels_are_names(labels, names):
    assert check_points(frame(labels))[1] == names


@pytest.mark.parametrize(
    ("first", "second"),
    [([0, 1], [0, 2]), ([5, 6], [0, 1]), (["a", "b"], ["b", "c"]), ([1, 2], ["a", "b"])],
)
def test_other_columns_are_refused(first, second):
    for read in (read_pair, lambda X, Y: isodepth.pairwise([X, Y])):
        with pytest.raises(InvalidInputError, match="name their columns differently"):
            read(frame(first), frame(second))


@pytest.mark.parametrize(
    ("first", "second", "names"),
    [
        # Default labels match any names.
        ([0, 1], [0, 1], None),
        ([1, 0], [1, 0], ("1", "0")),
        ([0, 1], ["a", "b"], ("a", "b")),
        (["a", "b"], [0, 1], ("a", "b")),
        # Columns in another order.
        ([0, 1], [1, 0], None),
        ([1, 0], [0, 1], ("1", "0")),
        ([7, 3], [3, 7], ("7", "3")),
        (["a", "b"], ["b", "a"], ("a", "b")),
    ],
)
def test_columns_are_matched_by_name(first, second, names):
    x, y = np.array([[1.0, 2.0], [3.0, 5.0]]), np.array([[10.0, 20.0], [30.0, 50.0]])
    stored = y[:, ::-1] if first == second[::-1] else y
    one, other = pd.DataFrame(x, columns=first), pd.DataFrame(stored, columns=second)
    got_x, got_y = read_pair(one, other)
    np.testing.assert_array_equal(got_x.points, x)
    np.testing.assert_array_equal(got_y.points, y)
    assert got_y.points.flags.c_contiguous or stored is y
    assert got_x.columns == got_y.columns == names
    assert isodepth.distance(one, other, random_state=0) == isodepth.distance(x, y, random_state=0)


def test_an_array_matches_any_frame_except_permuted_labels():
    array = np.ones((4, 2))
    assert read_pair(frame(["a", "b"]), array)[1].columns == ("a", "b")
    assert read_pair(array, frame([5, 6]))[0].columns == ("5", "6")
    with pytest.raises(InvalidInputError, match=r"\['1', '0'\] and no names"):
        read_pair(frame([1, 0]), array)


@pytest.mark.parametrize("labels", [["a", "a"], [0, "0"], [1, 1]])
def test_two_columns_of_one_name_are_refused(labels):
    with pytest.raises(InvalidInputError, match="give all columns different names"):
        check_points(frame(labels))


@pytest.mark.parametrize("labels", [["a", "b", "b"], ["a", "a"], ["a", 1, "1"]])
def test_equal_names_in_one_sample_are_refused_as_such(labels):
    """Check that the error is about equal names in one sample, not about different columns."""
    odd, other, twice = frame(labels), frame(["a", "b"]), labels[-1]
    for x, y, name in ((odd, other, "X"), (other, odd, "Y")):
        words = f"two columns of {name} are named '{twice}'; give all columns different names"
        with pytest.raises(InvalidInputError, match=words):
            isodepth.distance(x, y)
        with pytest.raises(InvalidInputError, match=words):
            isodepth.two_sample_test(x.assign(kind="u"), y.assign(kind="u"), n_permutations=19)
    with pytest.raises(InvalidInputError, match=r"two columns of samples\[0\] are named"):
        isodepth.pairwise([odd, other])


def test_names_with_surrogates_are_refused():
    with pytest.raises(InvalidInputError, match=r"column 1 of X is not valid text: 'b\\ud800'"):
        check_points(NamedArray(np.ones((2, 2)), ("a", "b\ud800")))


# -- imports --------------------------------------------------------------------------------------


def test_arrays_lists_and_tables_do_not_load_narwhals():
    code = (
        "import sys, numpy as np\n"
        "from isodepth.table.frames import NamedArray\n"
        "from isodepth.table.validation import check_points\n"
        "X = np.ones((3, 2))\n"
        "for sample in (X, X.tolist(), tuple(map(tuple, X)), NamedArray(X, ('a', 'b'))):\n"
        "    check_points(sample)\n"
        "print('narwhals' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
