"""Descriptions of changes in tables with constant, rounded, repeated and missing values."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from combined import compare_and_test

import isodepth
from isodepth.functions.describer import describe_column, exchanged_columns
from isodepth.functions.explanations import ColumnPair
from isodepth.rows.rows import TwoSamples
from isodepth.rows.suspicious import suspicious_rows

N = 200


def run(X: Any, Y: Any, **options: Any) -> isodepth.typing.TwoSampleResult:
    return isodepth.two_sample_test(X, Y, n_permutations=99, random_state=0, **options)


def related(seed: int, n: int = N) -> pd.DataFrame:
    """Return three columns of numbers that depend on each other, and a category."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n)
    group = np.where(a > 0, "high", "low")
    return pd.DataFrame(
        {"a": a, "b": a + 0.2 * rng.normal(size=n), "c": rng.normal(size=n), "group": group}
    )


def test_a_column_that_became_constant_is_one_change() -> None:
    """A column that became constant has one change: the share of its value.

    Changes of its rank correlations, and within categories, are not listed.
    """
    X, Y = related(0), related(1)
    Y["a"] = X["a"][0]
    (change,) = run(X, Y).changes
    assert change.text == f"a = {X['a'][0]:.10g}: 0.5% -> 100%"
    assert change.value == X["a"][0]


def test_the_value_of_a_constant_column_has_all_digits() -> None:
    """The text of a column that became constant shows all digits of its large integer or date."""
    rng = np.random.default_rng(0)
    x, time = 17 * 10**17 + rng.integers(0, 10**15, 200), pd.Timestamp("2020-02-03 04:05")
    days = time + pd.to_timedelta(rng.integers(0, 10**7, 200), "s")
    X = pd.DataFrame({"t": x, "day": days, "a": rng.normal(size=200)})
    Y = pd.DataFrame({"t": x[0] + 123456789012, "day": time, "a": rng.normal(size=200)})
    result = isodepth.two_sample_test(
        X, Y, kinds={"day": "numeric"}, n_permutations=99, random_state=0
    )
    values = {change.columns[0]: change.value for change in result.changes}
    assert values["t"] == Y["t"][0]
    texts = [change.text for change in result.changes]
    assert f"t = {Y['t'][0]}: 0% -> 100%" in texts
    assert "day = 2020-02-03 04:05: 0% -> 100%" in texts


@pytest.mark.parametrize("value", [0.0, 60.0])
def test_a_constant_sample_has_no_other_unit(value: float) -> None:
    """A change to or from a constant is not described as a multiplication by a factor."""
    x = np.random.default_rng(0).normal(118, 20, 40).round()
    (change,) = describe_column(ColumnPair("v", x, np.full(30, value)), 0.01)
    share = float(np.mean(x == value))
    assert (change.kind, change.value, change.before) == ("value", value, share)
    assert "multiplied" not in describe_column(ColumnPair("v", np.full(30, value), x), 0.01)[0].text


def test_an_exchange_with_one_of_two_similar_columns_is_not_named() -> None:
    """Columns b and c both have values like those of column a, and a like those of both."""
    rng = np.random.default_rng(0)
    low, high = rng.normal(size=(2, 60)), rng.normal(5, 1, size=(2, 60))
    a, b = ColumnPair("a", low[0], high[0]), ColumnPair("b", high[1], low[1])
    c = ColumnPair("c", high[1] + 0.3, low[1] + 0.3)
    assert c.like(a)
    assert a.like(c)
    assert not exchanged_columns([a, c, b], dict.fromkeys("abc", 0.01))
    assert exchanged_columns([a, b], dict.fromkeys("ab", 0.01)).keys() == {"a", "b"}


def test_missing_values_do_not_make_rows_repeated() -> None:
    """Rows that are equal because of missing values are not reported as repeated rows."""
    X, Y = related(0)[["a", "group"]], related(1)[["a", "group"]]
    Y.loc[:24, "a"] = np.nan
    result = run(X, Y)
    assert [change.text for change in result.changes] == ["a: missing 0% -> 12%"]
    assert not any(check.kind == "repeated rows" for check in result.checks)
    codes = pd.DataFrame({"v": [1.0, 2.0, None] * 10}), pd.DataFrame({"v": [1.0, 2.0, 1.0] * 10})
    assert [change.kind for change in run(*codes).changes] == ["missing"]


def test_copies_of_rows_with_missing_values_are_repeated() -> None:
    X, Y = related(0), related(1)
    for frame in (X, Y):
        frame.loc[::2, "c"] = np.nan
    Y = pd.concat([Y[:160], Y[:40]], ignore_index=True)
    result = run(X, Y)
    assert result.changes[0].text == "repeated rows: 0% -> 40%"
    assert "repeated rows within each sample: 0% -> 40%" in map(str, result.checks)
    # Columns of identifiers are not compared, so that equal compared rows may be different rows.
    for n, frame in enumerate((X, Y)):
        frame["key"] = [f"{n}-{i}" for i in range(len(frame))]
    result = run(X, Y)
    only = "in the compared columns only"
    assert result.changes[0].text == f"repeated rows, {only}: 0% -> 40%"
    text = "0 -> 40 rows are copies of another row, without regard to key"
    assert text in map(str, result.checks)


def test_the_values_of_a_rounded_column_do_not_look_wrong() -> None:
    """Values that X lacks are not reported as repeated if all values of Y are about as frequent."""
    x, y = np.random.default_rng(0).normal(100, 10, size=(2, 400))
    rows = suspicious_rows(TwoSamples.read(x[:, None], y.round()[:, None]))
    assert not rows.repeated_values
    assert not any(row.reason == "repeated value" for row in rows)


def test_a_frequent_value_of_a_rounded_column_looks_wrong() -> None:
    x, y = np.random.default_rng(0).normal(100, 10, size=(2, 400))
    y = np.where(np.arange(400) < 20, 77.7, y.round())
    (wrong,) = suspicious_rows(TwoSamples.read(x[:, None], y[:, None])).repeated_values
    assert (wrong.sample, wrong.value, wrong.count) == ("Y", 77.7, 20)


def test_a_column_may_have_the_empty_string_as_its_name() -> None:
    X, Y = (related(k).rename(columns={"a": "", "group": " "}) for k in (0, 1))
    result = run(X, Y + {"": 3, "b": 0, "c": 0, " ": ""})
    assert result.changes[0].columns == ("",)
    assert "" in {component.feature for component in result.components}


def test_notes_name_the_reason_why_a_column_is_not_compared() -> None:
    rng = np.random.default_rng(0)
    X, Y = (pd.DataFrame({"a": rng.normal(size=15)}) for _ in range(2))
    for frame, letter in ((X, "x"), (Y, "y")):
        frame["few"] = [1.0, 2.0 if letter == "x" else None, *[None] * 13]
        frame["one"], frame["none"] = 7, np.nan
        frame["name"] = [f"{letter}{i}" for i in range(15)]
    assert run(X, Y).notes[1:4] == (
        "constant or empty, not compared: one, none",
        "fewer than 4 values, not compared: few",
        "all values are rare, not compared: name",
    )


def test_missing_values_are_not_counted_as_a_code() -> None:
    X, Y = pl.DataFrame({"a": [1, 2, None] * 10}), pl.DataFrame({"a": [1, 2, 1] * 10})
    (kind,) = run(X, Y).kinds
    assert kind.note == "2 distinct values; choose 'category' if they are codes"


def test_changes_are_not_more_significant_than_the_samples() -> None:
    """A column has the same p-value in `changes` and in `column_tests`."""
    rng, found = np.random.default_rng(0), 0
    for _ in range(30):
        X, Y = (pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc")) for _ in range(2))
        Y["a"] += 0.55
        result = run(X, Y)
        tests = {each.column: each.pvalue for each in result.column_tests}
        for change in result.changes:
            assert change.pvalue >= result.pvalue
            if len(change.columns) == 1 and tests[change.columns[0]] <= 0.05:
                assert change.pvalue == tests[change.columns[0]]
                found += result.pvalue > 0.01
    assert found


@pytest.mark.parametrize("value", [1.0, np.nan, "a"])
def test_a_table_without_information_has_a_report(value: Any, tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [value] * 20, "b": 2})
    run(frame, frame).report(tmp_path / "report.html")
    report = (tmp_path / "report.html").read_text("utf-8")
    assert "No significant difference between X and Y (p = 1)." in report


def test_statistics_whose_squares_overflow_have_a_deviation() -> None:
    X, Y = related(0)[["a", "b"]], related(1)[["a", "b"]]
    result = run(X, Y)
    huge = result._with(null_distribution=result.null_distribution * 1e200)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        null = json.loads(huge.to_json())["null_distribution"]
    assert null["std"] == pytest.approx(1e200 * result.null_distribution.std())


def test_the_headline_names_columns_of_one_sample_and_of_two_types() -> None:
    """A column became strings, and another one was renamed; the test compares neither of them."""
    X, Y = related(0), related(1)
    X["price"], Y["price"] = X["a"], [f"EUR {value}" for value in Y["a"]]
    with pytest.warns(isodepth.errors.ColumnWarning, match="numbers in X, strings in Y"):
        result = compare_and_test(X, Y, n_permutations=99, random_state=0)
    headline = "but price: type numbers -> strings; check column 'price'."
    assert result.test.headline.endswith(headline)
    assert "check column 'price': numbers in X, strings in Y: " in str(result)
    Y = Y.drop(columns="price").rename(columns={"a": "amount"})
    fact = "not compared: a (only in X), price (only in X), amount (only in Y)"
    assert run(X, Y).headline.endswith(f", but {fact}.")
    Y["b"] += 2.0
    assert run(X, Y).headline.endswith(f"; also {fact}.")


def test_columns_of_few_rows_that_moved_are_not_exchanged() -> None:
    rng = np.random.default_rng(0)
    result = run(rng.normal(size=(5, 2)), rng.normal(size=(5, 2)) + 10)
    assert result.significant
    assert "exchange" not in {change.kind for change in result.changes}
