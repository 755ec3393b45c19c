"""Samples with names: dictionaries, groups and frames with `by`; columns in any order."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import isodepth
from isodepth.errors import InvalidInputError, InvalidOptionError, UnknownLabelError

OPTIONS: dict[str, Any] = {"n_directions": 30, "levels": 5, "random_state": 0}
RNG = np.random.default_rng(0)
MONTHS = np.repeat([3, 1, 10], 20)
ROWS = RNG.normal(size=(60, 2)) + MONTHS[:, None]
FRAME = pd.DataFrame({"a": ROWS[:, 0], "month": MONTHS, "b": ROWS[:, 1]})
ORDERED = [ROWS[month == MONTHS] for month in (1, 3, 10)]
MATRIX = isodepth.pairwise(ORDERED, **OPTIONS)


def check(found: Any, labels: tuple[Any, ...] = (1, 3, 10)) -> None:
    """Check that a matrix has these labels, and the distances of the samples in this order."""
    assert isinstance(found, isodepth.DistanceMatrix)
    assert found.labels == labels == found.other_labels
    order = [("1", "3", "10").index(str(label)) for label in labels]
    np.testing.assert_array_equal(found.values, MATRIX[np.ix_(order, order)])
    assert found.signature == isodepth.region_tables(ORDERED, **OPTIONS).signature


def test_samples_with_names() -> None:
    check(isodepth.pairwise(dict(zip((1, 3, 10), ORDERED, strict=True)), **OPTIONS))
    with pytest.raises(InvalidInputError, match="tuple"):
        isodepth.pairwise(FRAME.groupby("month"), **OPTIONS)


@pytest.mark.parametrize("by", ["month", ["month"]])
@pytest.mark.parametrize("kind", [lambda f: f, pl.from_pandas, pa.Table.from_pandas],
                         ids=["pandas", "polars", "pyarrow"])  # fmt: skip
def test_a_frame_by_a_column(kind: Any, by: Any) -> None:
    check(isodepth.pairwise(kind(FRAME), by=by, **OPTIONS))


def test_keys_that_cannot_be_sorted_keep_their_order() -> None:
    frame = FRAME.assign(month=FRAME["month"].astype(object).replace({1: "1"}))
    found = isodepth.pairwise(frame, by="month", **OPTIONS)
    check(found, (3, "1", 10))
    assert repr(found) == ("DistanceMatrix: distances between 3 samples, without refinement")
    with pytest.raises(ValueError, match="copy"):
        np.asarray(found, dtype="float32", copy=False)


@pytest.mark.parametrize("kind", [pd.CategoricalDtype, lambda c: pd.CategoricalDtype(c, True)])
def test_categories_keep_their_order(kind: Any) -> None:
    frame = FRAME.assign(month=FRAME["month"].astype(kind([10, 3, 7, 1])))
    check(isodepth.pairwise(frame, by="month", **OPTIONS), (10, 3, 1))
    by_two = frame.assign(site=np.tile(["x", "y"], 30))
    labels = isodepth.region_tables(by_two, by=["site", "month"], **OPTIONS).labels
    assert labels == (("x", 10), ("x", 3), ("x", 1), ("y", 10), ("y", 3), ("y", 1))
    words = frame.assign(month=frame["month"].cat.rename_categories({10: "may", 3: "june", 1: "c"}))
    test = isodepth.pairwise_test(words, by="month", n_permutations=9, random_state=0)
    assert test.labels == ("may", "june", "c")
    assert test["may", "june"].n_rows == (20, 20)
    months = pl.from_pandas(words.assign(month=words["month"].astype(str)))
    months = months.with_columns(pl.col("month").cast(pl.Enum(["may", "june", "c"])))
    assert isodepth.pairwise(months, by="month", **OPTIONS).labels == ("may", "june", "c")


def test_a_frame_by_two_columns() -> None:
    frame = FRAME.assign(site=np.tile(["x", "y"], 30))
    found = isodepth.pairwise(frame, by=["month", "site"], **OPTIONS)
    assert found.labels == tuple((month, site) for month in (1, 3, 10) for site in "xy")
    assert found["1, x", "3, y"] == found[(1, "x"), (3, "y")] == found[0, 3]
    assert found.to_frame().index.tolist()[:2] == ["1, x", "1, y"]
    bag = frame[(frame.month == 3) & (frame.site == "y")][["a", "b"]].to_numpy()
    other = frame[(frame.month == 1) & (frame.site == "x")][["a", "b"]].to_numpy()
    assert found.values[0, 3] == isodepth.pairwise([other, bag], **OPTIONS)[0, 1]


def test_labels_of_both_sides() -> None:
    some, others = {"x": ORDERED[0]}, {"y": ORDERED[1], "z": ORDERED[2]}
    found = isodepth.pairwise(some, others, **OPTIONS)
    assert (found.labels, found.other_labels) == (("x",), ("y", "z"))
    np.testing.assert_array_equal(found.values, MATRIX[:1, 1:])
    mixed = isodepth.pairwise(some, list(others.values()), **OPTIONS)
    assert (mixed.labels, mixed.other_labels) == (("x",), ("0", "1"))
    mixed = isodepth.pairwise(ORDERED, {"y": ORDERED[1]}, **OPTIONS)
    assert (mixed.labels, mixed.other_labels) == (("0", "1", "2"), ("y",))


def test_tables_and_a_place_for_the_result() -> None:
    stack = isodepth.region_tables(ORDERED, **OPTIONS)
    check(isodepth.pairwise(dict(zip((1, 3, 10), stack, strict=True))))
    out = np.empty((3, 3))
    found = isodepth.pairwise(FRAME, by="month", out=out, **OPTIONS)
    assert np.shares_memory(found.values, out)


@pytest.mark.parametrize(
    ("samples", "by", "error", "said"),
    [
        (FRAME, None, InvalidInputError, "by='month'"),
        (FRAME, "mont", InvalidOptionError, "the columns are a, month, b"),
        (FRAME, [], InvalidOptionError, "by must name columns"),
        (FRAME[["month"]], "month", InvalidOptionError, "leaves no column"),
        (ORDERED, "month", InvalidOptionError, "by=.month. needs one data frame"),
        (FRAME.iloc[:0], "month", InvalidInputError, "no rows"),
        (FRAME.assign(month=[None, *MONTHS[1:]]), "month", InvalidInputError, "1 rows of samples"),
        ({}, None, InvalidInputError, "is empty"),
        ([("a", ORDERED[0])], None, InvalidInputError, "must hold numbers, got a tuple"),
        ({1: ORDERED[0], "1": ORDERED[1]}, None, InvalidInputError, "got '1' twice"),
        ({"a": 3}, None, InvalidInputError, "samples"),
    ],
)
def test_bad_input(samples: Any, by: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        isodepth.pairwise(samples, by=by, **OPTIONS)


def test_tables_have_the_labels_of_their_samples() -> None:
    tables = isodepth.region_tables(FRAME, by="month", **OPTIONS)
    assert tables.labels == (1, 3, 10)
    check(isodepth.pairwise(tables))
    named = dict(zip(("1", "3", "10"), ORDERED, strict=True))
    assert isodepth.region_tables(named, **OPTIONS).values.tolist() == tables.values.tolist()
    assert tables["3"] == tables[3] == [*tables][1]
    assert tables[1:].labels == (3, 10)
    mixed = isodepth.pairwise(ORDERED[:1] * 2, **OPTIONS)
    plain = isodepth.region_tables(ORDERED[:1] * 2, **OPTIONS)
    assert isodepth.pairwise(plain) == mixed
    between = isodepth.pairwise(tables[:2], plain)
    assert (between.labels, between.other_labels) == ((1, 3), ("0", "1"))
    for one, known in ((tables, "1, 3, 10"), (plain, "0, 1")):
        with pytest.raises(InvalidInputError, match=f"no sample '7'; the samples are {known}"):
            one["7"]


@pytest.mark.parametrize("function", [isodepth.pairwise, isodepth.region_tables])
def test_labels_are_keys(function: Any) -> None:
    """Keys that are integers are labels; integers are positions if labels are strings."""
    years = function(dict(zip((2020, 2021, 1), ORDERED, strict=True)), **OPTIONS)
    words = function(dict(zip(("x", "y", "1"), ORDERED, strict=True)), **OPTIONS)
    for key, position in ((2020, 0), (np.int64(2021), 1), ("2021", 1), (1, 2), ("1", 2)):
        assert np.array_equal(values_of(years[key]), years.values[position])
    for key, position in (("x", 0), (1, 1), ("1", 2), (-1, 2)):
        assert np.array_equal(values_of(words[key]), words.values[position])
    for key in (2020, np.int64(2021), "2021", 1):
        assert key in years
    for key in (0, 7, "2022", 2020.5, None, np.zeros(3), slice(1), ("x",), years.values[0]):
        assert key not in years
    assert ("x" in words, 0 in words, "z" in words) == (True, False, False)
    for key in (0, 7, 2020.5, "2022"):
        with pytest.raises(KeyError, match=r"the samples are 2020, 2021, 1$") as caught:
            years[key]
        assert isinstance(caught.value, InvalidInputError)
        assert str(caught.value).startswith(f"there is no sample {key!r}; ")
    with pytest.raises(IndexError):
        words[3]
    for each, values in zip(years, years.values, strict=True):
        assert np.array_equal(values_of(each), values)
    assert np.array_equal(values_of(years[1:]), years.values[1:])
    assert (len(years), pickle.loads(pickle.dumps(years)) == years) == (3, True)


def values_of(item: Any) -> Any:
    return getattr(item, "values", item)


def test_pairs_of_labels() -> None:
    years = dict(zip((2020, 2021, 1), ORDERED, strict=True))
    matrix = isodepth.pairwise(years, **OPTIONS)
    assert matrix[2020, 1] == matrix["2020", "1"] == matrix.values[0, 2]
    assert np.array_equal(matrix[2021, :2], matrix.values[1, :2])
    tests = isodepth.pairwise_test(years, n_permutations=19, random_state=0)
    assert (tests.labels, tests.pairs[0]) == ((2020, 2021, 1), (2020, 2021))
    assert tests[2020, 1] is tests["2020", "1"] is tests.tests[1]
    assert [pair in tests for pair in ((2020, 1), (1, 2020), (0, 1), 2020, (2020,))] == [
        True, False, False, False, False,
    ]  # fmt: skip
    with pytest.raises(KeyError, match=r"^there is no pair 0 and 1; the samples are 2020, 2021, 1"):
        tests[0, 1]
    with pytest.raises(KeyError, match=r"use result\[2020, 1\]$"):
        tests[1, 2020]


def test_frames_keep_labels() -> None:
    years = dict(zip((2020, 2021, 1), ORDERED, strict=True))
    table = pd.DataFrame({"year": [1, 2021], "city": ["Bonn", "Essen"]})
    matrix = isodepth.pairwise(years, **OPTIONS)
    tests = isodepth.pairwise_test(years, n_permutations=19, random_state=0)
    joined = matrix.to_frame().join(table.set_index("year"), how="inner")
    assert joined[2020].tolist() == [matrix[2021, 2020], matrix[1, 2020]]
    assert len(tests.to_frame().merge(table, left_on="second", right_on="year")) == 3
    assert matrix.to_frame("polars")["sample"].to_list() == [2020, 2021, 1]
    assert matrix.to_frame("pyarrow").column_names == ["sample", "2020", "2021", "1"]
    assert matrix.to_dict()["labels"] == tests.to_dict()["labels"] == ["2020", "2021", "1"]
    assert tests.to_dict()["tests"][1]["first"] == "2020"
    assert "2021" in matrix._repr_html_()
    assert str(matrix).splitlines()[1].split() == ["2020", "2021", "1"]
    ticks = matrix.plot().get_xticklabels()
    assert {tick.get_text() for tick in ticks} == {"2020", "2021", "1"}
    dated = isodepth.pairwise(
        pd.DataFrame({"a": ROWS[:, 0], "day": pd.to_datetime("2020-01-01")}), by="day", **OPTIONS
    )
    assert dated.to_frame().index[0] == pd.Timestamp("2020-01-01") in dated
    assert dated["2020-01-01 00:00:00"][0] == 0
    assert dated.to_json().count('"2020-01-01 00:00:00"') == 2


def test_transformers_refuse_dictionaries() -> None:
    with pytest.raises(InvalidInputError, match=r"list\(X.values\(\)\)"):
        isodepth.RegionTransformer().fit({"a": ORDERED[0]})


# -- columns in any order -------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [None, "pooled", np.array([1.0, 3.0])])
@pytest.mark.parametrize("kind", [lambda f: f, pl.from_pandas, pa.Table.from_pandas],
                         ids=["pandas", "polars", "pyarrow"])  # fmt: skip
def test_columns_of_many_are_matched(kind: Any, scale: Any) -> None:
    frames = [pd.DataFrame(bag, columns=["a", "b"]) for bag in ORDERED]
    turned = [kind(frames[0]), kind(frames[1][["b", "a"]]), kind(frames[2])]
    wanted = isodepth.pairwise(ORDERED, scale=scale, **OPTIONS)
    np.testing.assert_array_equal(isodepth.pairwise(turned, scale=scale, **OPTIONS), wanted)
    crossed = isodepth.pairwise(turned[:1], turned[1:], scale=scale, **OPTIONS)
    np.testing.assert_array_equal(crossed, wanted[:1, 1:])
    stack = isodepth.region_tables(turned, scale=scale, **OPTIONS)
    assert stack.columns == ("a", "b")
    np.testing.assert_array_equal(
        stack.values, isodepth.region_tables(ORDERED, scale=scale, **OPTIONS).values
    )


def test_bags_of_transformers_are_matched() -> None:
    frames = [pd.DataFrame(bag, columns=["a", "b"]) for bag in ORDERED]
    fitted = isodepth.RegionTransformer(**OPTIONS).fit(frames)
    turned = [frame[["b", "a"]] for frame in frames]
    np.testing.assert_array_equal(fitted.transform(turned), fitted.transform(frames))
    with pytest.raises(InvalidInputError, match="'a' is only in the fitted bags"):
        fitted.transform([frames[0].rename(columns={"a": "c"})])


def test_two_samples_with_missing_values_are_matched() -> None:
    x = pd.DataFrame(ORDERED[0], columns=["a", "b"])
    y = pd.DataFrame(ORDERED[1].copy(), columns=["a", "b"])
    y.loc[3, "b"] = np.nan
    turned = y[["b", "a"]]
    options = {"n_directions": 30, "random_state": 0, "nan_policy": "omit"}
    wanted = isodepth.compare(x, y, **options)
    found = isodepth.compare(x, turned, **options)
    assert found.distance == wanted.distance
    assert found.missing.y.counts == {"a": 0, "b": 1}
    tested = [
        isodepth.two_sample_test(x, each, n_permutations=9, random_state=0) for each in (y, turned)
    ]
    assert tested[0].statistic == tested[1].statistic
    assert tested[1].missing is not None
    assert tested[1].missing.y.counts == {"a": 0, "b": 1}


@pytest.mark.parametrize("call", [isodepth.pairwise, isodepth.pairwise_test])
def test_labels_are_different_strings(call) -> None:
    X, Y = np.random.default_rng(0).normal(size=(2, 30, 2))
    with pytest.raises(
        isodepth.errors.InvalidInputError, match=r"labels of samples .* got '1' twice"
    ):
        call({1: X, "1": Y})
    frame = pd.DataFrame(np.r_[X, Y], columns=["a", "b"]).assign(month=[1] * 30 + ["1"] * 30)
    with pytest.raises(isodepth.errors.InvalidInputError, match="got '1' twice"):
        call(frame, by="month")


def mixed(frame: pd.DataFrame) -> pd.DataFrame:
    """Add columns: numbers as strings, a category, an ordered category, and an identifier."""
    letters = np.where(frame["a"] > 5, "x", "y")
    sizes = np.where(frame["b"] > 5, "L", "S")
    ids = [f"r{i}" for i in range(len(frame))]
    return frame.assign(text=frame["a"].astype(str), letter=letters, size=sizes, id=ids)


KINDS: dict[str, Any] = {
    "text": "numeric", "letter": "category", "size": ["S", "M", "L"], "id": "omit"
}  # fmt: skip


@pytest.mark.parametrize("kind", [lambda f: f, pl.from_pandas, pa.Table.from_pandas],
                         ids=["pandas", "polars", "pyarrow"])  # fmt: skip
def test_kinds_of_columns(kind: Any) -> None:
    whole = mixed(FRAME)
    wanted = FRAME.assign(text=FRAME["a"], size=np.where(FRAME["b"] > 5, 2, 0))
    expected = isodepth.pairwise(wanted, by="month", **OPTIONS)
    found = isodepth.pairwise(kind(whole), by="month", kinds=KINDS, **OPTIONS)
    np.testing.assert_array_equal(found.values, expected.values)
    again = isodepth.pairwise(kind(whole), kind(whole), by="month", kinds=KINDS, **OPTIONS)
    np.testing.assert_array_equal(again.values, expected.values)
    parts = [part.drop(columns="month") for _, part in whole.groupby("month")]
    bags = [kind(part.reset_index(drop=True)) for part in parts]
    tables = isodepth.region_tables(bags, kinds=KINDS, **OPTIONS)
    assert tables.columns == ("a", "b", "text", "size")
    np.testing.assert_array_equal(isodepth.pairwise(tables).values, expected.values)


def test_other_columns_need_an_entry() -> None:
    bags = [part.drop(columns="month") for _, part in mixed(FRAME).groupby("month")]
    without = {name: kind for name, kind in KINDS.items() if name != "text"}
    for function in (isodepth.pairwise, isodepth.region_tables):
        with pytest.raises(InvalidInputError, match=r"column.* 'text'"):
            function(bags, kinds=without, **OPTIONS)
        with pytest.raises(InvalidOptionError, match="kinds has the key 'sise', which is not a"):
            function(bags, kinds={**KINDS, "sise": "omit"}, **OPTIONS)
        with pytest.raises(InvalidOptionError, match="kinds needs data frames in memory, got nda"):
            function(ORDERED, kinds={"a": "omit"}, **OPTIONS)
        with pytest.raises(InvalidOptionError, match="kinds leaves no column of samples"):
            function(bags, kinds=dict.fromkeys(bags[0], "omit"), **OPTIONS)
        with pytest.raises(InvalidOptionError, match="must be one of numeric, category, omit"):
            function(bags, kinds={"text": "number"}, **OPTIONS)
    tables = isodepth.region_tables(bags, kinds=KINDS, **OPTIONS)
    with pytest.raises(InvalidOptionError, match="kinds has no effect on tables"):
        isodepth.pairwise(tables, kinds=KINDS)


def test_a_list_of_positions_selects_tables() -> None:
    """A list or array of positions, or a mask, selects a collection of region tables."""
    rng = np.random.default_rng(0)
    bags = {name: rng.normal(size=(20, 2)) for name in "abc"}
    tables = isodepth.region_tables(bags, n_directions=5, random_state=0)
    for chosen in ([2, 0], np.array([2, 0]), np.array([-1, -3])):
        selected = tables[chosen]
        assert selected.labels == ("c", "a")
        assert [each == tables[name] for each, name in zip(selected, "ca", strict=True)] == [
            True
        ] * 2
        assert repr(selected).startswith("RegionTables(2 tables")
    assert tables[np.array([True, False, True])].labels == ("a", "c")
    for wrong in (None, True, ...):
        with pytest.raises(TypeError, match="label or positions"):
            tables[wrong]
    with pytest.raises(KeyError, match="no sample"):
        tables[0, 1]


def test_tuples_that_are_labels_select_rows() -> None:
    """A tuple that is a label selects a row of the matrix; it is not read as a pair of labels."""
    labels = [("u", 1), ("v", 2), ("w", 3)]
    found = isodepth.pairwise(dict(zip(labels, ORDERED, strict=True)), **OPTIONS)
    for position, label in enumerate(labels):
        assert label in found
        np.testing.assert_array_equal(found[label], found.values[position])
    assert found[("u", 1), ("v", 2)] == found[0, 1] == found.values[0, 1]
    np.testing.assert_array_equal(found[("u", 1), :], found.values[0])
    with pytest.raises(UnknownLabelError, match=r"no sample 'u'; .* are \('u', 1\), \('v', 2\), "):
        found["u", 2]
    with pytest.raises(UnknownLabelError, match="no sample 'x'"):
        found[("u", 1), "x"]


def test_pairs_are_read_before_labels() -> None:
    labels = ["u", "v", ("u", "v")]
    found = isodepth.pairwise(dict(zip(labels, ORDERED, strict=True)), **OPTIONS)
    assert found["u", "v"] == found.values[0, 1]
    np.testing.assert_array_equal(found[("u", "v"), :], found.values[2])
