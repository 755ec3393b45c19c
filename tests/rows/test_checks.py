"""Checks of two tables: facts that need no test, each with one sentence."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
from collections import Counter
from decimal import Decimal
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import isodepth
from isodepth.errors import InvalidInputError
from isodepth.rows.checks import _percent, table_checks
from isodepth.rows.rows import TwoSamples
from isodepth.table.kinds import ColumnKind, column_lines

N = 40
A = np.arange(float(N))


def checks(X, Y, kinds=None):
    return table_checks(X, Y, TwoSamples.read(X, Y, kinds, common=True))


def found(x, y):
    """Return the sentences about tables with one column v, of values x in X and y in Y."""
    X, Y = (pd.DataFrame({"v": v, "a": A[: len(v)] + k}) for k, v in ((0, x), (0.5, y)))
    return [each.text for each in checks(X, Y) if each.kind != "not compared"]


DAYS = pd.date_range("2013-01-01", periods=N)
NEXT = pd.date_range("2023-01-01", periods=N)


@pytest.mark.parametrize(
    ("x", "y", "texts"),
    [
        ([2013] * N, [2013] * N, ["v is constant (2013)"]),
        ([2013] * N, [2014] * N, ["v is constant in each sample: 2013 -> 2014"]),
        (A, [7] * N, ["v became constant (7)"]),
        ([7.5, None] * 20, A, ["v is not constant any more (it was 7.5)"]),
        ([1] + [0] * (N - 1), [0] * N, ["v is constant in one sample (0)"]),
        ([2**60] * N, [2**60] * N, [f"v is constant ({2**60})"]),
        ([None] * N, [None] * N, ["v is empty"]),
        (A, [None] * N, ["v became empty"]),
        ([None] * N, A, ["v is not empty any more"]),
        ([None] * N, [1.0] + [None] * (N - 1), ["v is empty in one sample"]),
        (["a", "b"] * 20, [*["a"] * 30, *["c"] * 10], [
            "v: new category c (10 rows, 25%)", "v: vanished category b (20 rows, 50%)",
        ]),
        (["a", "b"] * 20, [*["a", "b"] * 19, "c", "d"], [
            "rare categories in one sample only: v (2 new)",
        ]),
        ([*"abcde"] * 8, ["f"] * N, [
            "v became constant (f)",
            "v: new category f (40 rows, 100%)",
            "v: 5 vanished categories: a (8 rows, 20%), b (8 rows, 20%), c (8 rows, 20%) and 2 "
            "more",
        ]),
        (["New York", "Rome"] * 20, ["new  york", " Rome"] * 20, [
            "v: 2 new categories: 'new  york' (20 rows, 50%), ' Rome' (20 rows, 50%)",
            "v: 2 vanished categories: New York (20 rows, 50%), Rome (20 rows, 50%)",
            "v: spellings that differ in case or spaces: 'New York' (20 -> 0 rows), 'new  york' "
            "(0 -> 20 rows); 1 more category has several spellings",
        ]),
        (["1.5", "2.5"] * 20, [1.5, 2.5] * 20, ["v: type strings -> numbers"]),
        ([True, False] * 20, [1, 0] * 20, ["v: type booleans -> numbers"]),
        (pd.Categorical([1, 2] * 20), [1, 2] * 20, ["v: type categories -> numbers"]),
        (DAYS, DAYS, []),
        (DAYS, NEXT, [
            "v: 2013-01-01 to 2013-02-09 -> 2023-01-01 to 2023-02-09, without overlap",
        ]),
        (NEXT.astype(str), DAYS.astype(str), [
            "v: 2023-01-01 to 2023-02-09 -> 2013-01-01 to 2013-02-09, without overlap",
        ]),
        (DAYS, NEXT.astype(str), [
            "v: type dates -> strings",
            "v: 2013-01-01 to 2013-02-09 -> 2023-01-01 to 2023-02-09, without overlap",
        ]),
        (DAYS, DAYS.strftime("%d.%m.%Y"), ["v: type dates -> strings"]),
        (DAYS.astype(str), DAYS.strftime("%d.%m.%Y"), [
            "v: date format YYYY-MM-DD -> DD.MM.YYYY",
        ]),
        (DAYS.strftime("%d/%m/%Y"), NEXT.strftime("%d/%m/%Y"), [
            "v: 2013-01-01 to 2013-02-09 -> 2023-01-01 to 2023-02-09, without overlap",
        ]),
        (["01/02/2013"] * N, ["01/02/2023"] * N, []),  # day or month first is unknown
        (DAYS.strftime("%m/%d/%Y"), DAYS.strftime("%d/%m/%Y"), [
            "v: date format MM/DD/YYYY -> DD/MM/YYYY",
        ]),
        (DAYS.strftime("%m/%d/%Y"), ["01/02/2013"] * N, []),
        (DAYS.astype(str), [*NEXT.astype(str)[:36], *["n.d."] * 2, "2023-13-45", "?"], [
            "v: not a date 0% -> 10%, such as 'n.d.'",
            "v: 2013-01-01 to 2013-02-09 -> 2023-01-01 to 2023-02-05, without overlap",
        ]),
        (DAYS, DAYS.tz_localize("UTC"), ["v: time zone none -> UTC"]),
        (["2013-01-01T08:00Z"] * N, ["2013-01-01 08:00"] * N, ["v: time zone Z -> none"]),
        (DAYS[:1].repeat(N), DAYS[:1].repeat(N) + pd.Timedelta("2h"), [
            "v: 2013-01-01 00:00:00 to 2013-01-01 00:00:00 -> 2013-01-01 02:00:00 to 2013-01-01 "
            "02:00:00, without overlap",
        ]),
        (DAYS, [*DAYS[:20], *[pd.NaT] * 20], [
            "v: missing 0% -> 50%", "v: 2013-01-01 to 2013-02-09 -> 2013-01-01 to 2013-01-20",
        ]),
        (DAYS, DAYS + pd.Timedelta("2h"), []),  # the same days
        ([f"id{i}" for i in range(N)], [*map(str, DAYS[:20]), *[None] * 20], [
            "v: missing 0% -> 50%",
        ]),
    ],
)  # fmt: skip
def test_facts_about_one_column(x, y, texts: list[str]) -> None:
    assert found(x, y) == texts


def test_constant_dates_that_are_compared_as_numbers_are_shown_as_dates() -> None:
    X, Y = (pd.DataFrame({"v": days, "a": A}) for days in (DAYS[:1].repeat(N), NEXT))
    (text,) = [each.text for each in checks(X, Y, {"v": "numeric"}) if each.kind == "constant"]
    assert text == "v is not constant any more (it was 2013-01-01)"


@pytest.mark.parametrize("kinds", [None, {"v": "numeric"}])
def test_overlapping_ranges_of_dates_are_not_part_of_the_headline(kinds: Any) -> None:
    X, Y = (pd.DataFrame({"v": DAYS[rows], "a": A[:30]}) for rows in (slice(30), slice(10, N)))
    (check,) = [each for each in checks(X, Y, kinds) if "date range" in each.kind]
    assert check.text == "v: 2013-01-01 to 2013-01-30 -> 2013-01-11 to 2013-02-09"
    assert check.kind == "overlapping date range"
    result = isodepth.two_sample_test(X, Y, kinds=kinds, n_permutations=19, random_state=0)
    assert check.text in [each.text for each in result.checks]
    assert "2013-02-09" not in result.headline


def test_percentages_have_two_digits_and_are_not_rounded_to_all_or_none() -> None:
    shares = (0.0, 0.00012, 0.0949, 19 / 200, 0.12, 0.995, 0.99996, 1.0)
    texts = ["0%", "0.012%", "9.5%", "9.5%", "12%", "99.5%", "99.9%", "100%"]
    assert [_percent(share) for share in shares] == texts


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_every_library_gives_the_same_facts(library: str) -> None:
    X = pd.DataFrame({
        "when": DAYS, "day": DAYS.astype(str), "late": [True, False] * 20, "x": A, "old": A,
        "id": [f"id{i}" for i in range(N)], "year": 2013, "c": list("ab") * 20,
    })  # fmt: skip
    Y = X.assign(when=NEXT, late=True, c=list("ac") * 20, x=A + 0.5, new=1).drop(columns="old")
    if library == "polars":
        X, Y = pl.from_pandas(X), pl.from_pandas(Y)
    elif library == "pyarrow":
        X, Y = pa.Table.from_pandas(X), pa.Table.from_pandas(Y)
    facts = checks(X, Y)
    assert [(each.kind, each.columns, each.sample) for each in facts] == [
        ("column", ("old",), "X"), ("column", ("new",), "Y"), ("constant", ("late",), "Y"),
        ("constant", ("year",), None), ("vanished category", ("late",), "X"),
        ("new category", ("c",), "Y"), ("vanished category", ("c",), "X"),
        ("date range", ("when",), None), ("not compared", ("when", "day", "id"), None),
    ]  # fmt: skip
    assert facts[0].text == "missing column, not compared: old"
    assert str(facts[1]) == "new column, not compared: new"
    assert (facts[5].before, facts[5].after) == (0, 0.5)
    assert json.loads(json.dumps(facts[5].to_dict()))["columns"] == ["c"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        facts[0].text = ""
    same = [each.kind for each in checks(X, X)]
    assert same == ["constant", "row number", "row number", "shared rows", "not compared"]


# -- rows -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("numbered", [False, True])
def test_copies_are_found_without_regard_to_an_identifier(numbered: bool) -> None:
    """Three rows of X and 8 of Y have other identifiers than the rows that they are copies of."""

    def table(n_copies: int, seed: int) -> pd.DataFrame:
        rng = np.random.default_rng(seed)
        rows = pd.DataFrame({
            "a": rng.normal(size=100), "day": rng.choice(DAYS, 100), "c": rng.choice([*"uv"], 100),
        })  # fmt: skip
        rows = rows.iloc[[*range(100), *range(n_copies)]].reset_index(drop=True)
        return rows.assign(id=[k if numbered else f"id{seed}{k}" for k in range(len(rows))])

    X, Y = table(3, 0), table(8, 1)
    (check,) = [each for each in checks(X, Y) if each.kind in ("copied rows", "repeated rows")]
    assert check.text == "3 -> 8 rows are copies of another row, without regard to id"
    assert (check.before, check.after) == (3 / 103, 8 / 108)
    (check,) = [each for each in checks(X[:100], table(1, 1)) if each.kind == "copied rows"]
    assert check.text.startswith("0 -> 1 rows are copies of another row")
    others = [
        (X[:100], Y[:100]),
        (X[:100], Y.assign(day=pd.date_range("2013-01-01", periods=108))),
        [each.assign(name=[f"n{k}" for k in range(len(each))]) for each in (X, Y)],
    ]
    for pair in others:
        assert "copied rows" not in {each.kind for each in checks(*pair)}


def naive_shares(rows, other):
    """Return the fractions of `rows` that occur more than once, and that occur in `other`."""
    counts, others = Counter(rows), set(other)
    n = len(rows)
    return sum(counts[row] > 1 for row in rows) / n, sum(row in others for row in rows) / n


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        (A, A, True),
        (A + 1, A + N + 1, True),  # the second file continues the numbers of the first
        (2 * A, 2 * A + 1, True),  # a table divided into two parts
        (A + 1, A[:20] + 1, True),
        (2 * A, 2 * A, False),
        (A + 1900, A + 1900, False),  # years
        (A.astype(int) + 2**60, A.astype(int) + 2**60, False),  # compared as differences
        (A[::-1], A, False),
        (A + 0.5, A, False),
        (np.where(A == 3, np.nan, A), A, False),
        (np.where(A == 3, 2, A), A, False),
        (A[:9], A[:9], False),
    ],
)
def test_row_numbers_count_from_zero_or_one(x: np.ndarray, y: np.ndarray, expected: bool) -> None:
    facts = checks(*(pd.DataFrame({"id": v, "u": np.sin(v)}) for v in (x, y)))
    texts = [each.text for each in facts if each.kind == "row number"]
    assert texts == ["id looks like a row number"] * expected


def test_headline_names_row_numbers_last_and_with_the_suspicion() -> None:
    rng = np.random.default_rng(0)
    X, Y = (pd.DataFrame({"id": A + at, "u": rng.normal(size=N)}) for at in (1, N + 1))
    options = {"n_permutations": 99, "random_state": 0}
    result = isodepth.two_sample_test(X, Y, **options)
    assert [each.columns for each in result.changes] == [("id",)]
    assert result.headline.endswith(f"{result.changes[0].text} (id looks like a row number).")
    result = isodepth.two_sample_test(X, Y.assign(u=Y["u"] + 1), **options)
    assert "): u: median" in result.headline
    assert "row number" not in result.headline


def test_repeated_and_shared_rows_are_counted_exactly() -> None:
    rng = np.random.default_rng(0)
    for _ in range(30):
        n, m = rng.integers(20, 60, 2)
        pool = np.arange(200)
        ids = [rng.choice(pool[:150], n), rng.choice(pool[rng.integers(0, 150) :], m)]
        frames = [
            pd.DataFrame({
                "u": np.where(i % 7 == 0, np.nan, i), "v": np.where(i % 5 == 0, 0.0, -0.0),
                "w": np.where(i % 7 == 0, "w" + i.astype(str).astype(object), None),
            })
            for i in ids
        ]  # fmt: skip
        x, y = (each.tolist() for each in ids)
        (before, in_y), (after, in_x) = naive_shares(x, y), naive_shares(y, x)
        facts = {each.kind: each for each in checks(*frames, {"w": "category"})}
        if before or after:
            fact = facts["repeated rows"]
            assert (fact.before, fact.after) == (pytest.approx(before), pytest.approx(after))
        shared = in_x * m > 2 * max(m * before, n * after) + 2
        assert ("shared rows" in facts) == shared
        if shared:
            fact = facts["shared rows"]
            assert (fact.before, fact.after) == (pytest.approx(in_y), pytest.approx(in_x))


def test_a_leak_between_two_samples() -> None:
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(500, 3)), rng.normal(size=(200, 3))
    assert checks(X, Y) == ()
    Y[:92] = X[:92]
    (fact,) = checks(X, Y)
    text = "46% of the rows of the second sample also occur in the first (92 of 200 rows)"
    assert (fact.text, fact.after) == (text, 0.46)
    # Rows of a discrete table are equal by chance.
    assert checks(*rng.integers(0, 3, (2, 500, 3)).astype(float)) == ()
    # Random halves of a table with repeated rows share about as many rows as each half repeats.
    both = np.vstack([rng.normal(size=(400, 3))] * 2 + [rng.normal(size=(400, 3))])
    for _ in range(20):
        x, y = np.split(rng.permutation(both), 2)
        assert [each.kind for each in checks(x, y)] == ["repeated rows"]


def test_rows_without_values_are_not_repeated_rows() -> None:
    X = pd.DataFrame({"a": [*A, *[None] * 5], "c": [*["u", "v"] * 20, *[None] * 5]})
    assert checks(X, X.assign(a=X["a"] + 0.5)) == ()


# -- odd tables -----------------------------------------------------------------------------------

ODD = {
    "lists": [[1], [2]] * 20,
    "tuples": [(1, 2), ()] * 20,
    "bytes": [b"a", b"b"] * 20,
    "objects": [object() for _ in range(N)],
    "mixed": [1, "a", None, True] * 10,
    "decimals": [Decimal("1.5"), Decimal(2)] * 20,
    "durations": pd.to_timedelta(A, unit="h"),
    "times": [dt.time(3), dt.time(4)] * 20,
    "days": [dt.date(2013, 1, 1), None] * 20,
    "periods": pd.period_range("2013-01", periods=N, freq="M"),
    "intervals": pd.interval_range(0, N),
    "sparse": pd.arrays.SparseArray([0.0, 1.0] * 20),
    "zones": DAYS.tz_localize("Europe/Berlin"),
    "NA": pd.array([1, None] * 20, dtype="Int64"),
    "strings": pd.array(["", None] * 20, dtype="string"),
    "surrogates": pd.Series(["\ud800", "a"] * 20, dtype=object),
    "huge": [2**80, 5] * 20,
    "late": ["9999-12-31", "0001-01-01"] * 20,
}


def test_ranges_of_durations_are_complete() -> None:
    first = pd.Series(pd.to_timedelta(np.arange(N), unit="h"))
    later = first + pd.Timedelta(days=4)
    before, after = "0 days 00:00:00 to 1 days 15:00:00", "4 days 00:00:00 to 5 days 15:00:00"
    assert found(first, later)[0] == f"v: {before} -> {after}, without overlap"


@pytest.mark.filterwarnings("ignore::isodepth.errors.ColumnWarning")
def test_odd_values_do_not_fail() -> None:
    n_read = 0
    # Each pair is tested in one order only, to save time.
    for names in combinations_with_replacement(ODD, 2):
        X, Y = (pd.DataFrame({"v": ODD[name], 5: A}) for name in names)
        try:
            samples = TwoSamples.read(X, Y)
        except InvalidInputError:
            continue
        n_read += 1
        for fact in table_checks(X, Y, samples):
            fact.text.encode()
    assert n_read > 100


def test_nested_columns_of_polars_do_not_fail() -> None:
    X = pl.DataFrame({"v": [[1], [2]] * 20, "s": [{"a": 1}] * N, "n": [None] * N, "a": A})
    assert "empty" in {each.kind for each in checks(X, X)}


def test_constant_columns_of_wide_unchanged_tables_may_be_chance() -> None:
    """Sparse columns that are constant in one sample by chance share a single check."""
    rng = np.random.default_rng(33)
    names = [f"species {j}" for j in range(600)]
    x, y = (
        pd.DataFrame((rng.random((100, 600)) < 0.02).astype(float), columns=names) for _ in range(2)
    )
    checks = table_checks(x, y, TwoSamples.read(x, y))
    constant = [check for check in checks if check.kind == "constant"]
    assert [check.sample for check in constant if len(check.columns) == 1] == []
    assert "constant in one sample" in constant[-1].text
    y["species 0"], x["species 0"] = rng.normal(size=100), 0.0
    checks = table_checks(x, y, TwoSamples.read(x, y))
    assert "species 0 is not constant any more (it was 0)" in [check.text for check in checks]


def test_a_summary_lists_six_of_many_numeric_columns_with_a_note() -> None:
    kinds = [ColumnKind(f"v{j}", "numeric", "numeric", "counts") for j in range(20)]
    assert column_lines(kinds) == ["numbers: v0, v1, v2, v3, v4, v5 and 14 more (counts)"]
    kinds = [ColumnKind(f"v{j}", "numeric", "numeric", f"note {j}") for j in range(20)]
    (line,) = column_lines(kinds)
    assert line.endswith("v5 (note 5) and 14 more")
