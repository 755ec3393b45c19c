"""Tables with categories: compared columns, statistics and power of the test."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from combined import compare_and_test

import isodepth
from isodepth import two_sample_test
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.significance.samples import OTHERS, Category
from isodepth.table.kinds import MISSING, ColumnKind

pd = pytest.importorskip("pandas")


def flights(n: int, seed: int, share: float = 0.1, **more: Any) -> Any:
    rng = np.random.default_rng(seed)
    carriers = rng.choice(["UA", "AA", "B6"], n, p=[share, 0.6, 0.4 - share])
    return pd.DataFrame({"delay": rng.normal(size=n), "carrier": carriers, **more})


def run(X: Any, Y: Any, **options: Any) -> Any:
    return two_sample_test(X, Y, **{"n_permutations": 99, "random_state": 0, **options})


def category_of(values: list[str | None]) -> Category:
    """Return a category column with these values."""
    words = list(dict.fromkeys(value for value in values if value is not None))
    codes = np.array([-1 if value is None else words.index(value) for value in values])
    return Category.of("c", codes, words)


def test_a_share_that_moves_is_found_and_named() -> None:
    result = run(flights(1000, 0), flights(1000, 1, 0.25))
    first = result.column_tests[0]
    assert (first.column, first.change_kind) == ("carrier", "shares")
    (change,) = result.changes
    assert (change.columns, change.value) == (("carrier",), "UA")
    assert result.headline == f"Y differs from X (p = 0.01): {change.text}."
    assert change.text == "carrier = UA: 9% -> 24%"
    assert next(c for c in result.components if c.name == "categories").pvalue == 0.01


def mixed(n: int, seed: int) -> Any:
    columns = {
        "when": pd.date_range("2013-01-01", periods=n),
        "tail": [f"N{i}" for i in range(n)],
        "late": np.arange(n) % 2 == 0,
        "zip": np.arange(n) % 2,
        "size": pd.Categorical(["S", "L"] * (n // 2), ["S", "M", "L"], ordered=True),
    }
    return flights(n, seed, **columns)


KINDS = {
    "delay": ("numeric", "numeric"), "carrier": ("category", "category"),
    "when": ("date", "omit"), "tail": ("identifier", "omit"),
    "late": ("category", "category"), "zip": ("numeric", "numeric"),
    "size": ("category", "category"),
}  # fmt: skip


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_every_column_is_accounted_for(library: str) -> None:
    X, Y = mixed(50, 0), mixed(50, 1).sample(frac=1, random_state=0)
    if library != "pandas":
        given = pytest.importorskip(library)
        make = given.from_pandas if library == "polars" else given.Table.from_pandas
        X, Y = make(X), make(Y.reset_index(drop=True))
    result = compare_and_test(X, Y, n_permutations=99, random_state=0, scale=None)
    assert {k.column: (k.kind, k.use) for k in result.kinds} == KINDS
    assert result.test.kinds == result.kinds
    assert result.columns == ("delay", "zip")
    assert {c.column for c in result.test.column_tests} == KINDS.keys() - {"when", "tail"}
    notes = "\n".join(result.test.notes)
    assert "left out: when (dates and times), tail (50 of 100 values are distinct" in notes
    assert "numbers: zip (2 distinct values; choose 'category' if they are codes)" in notes
    assert "not compared: when (dates and times), tail (50 of 100 values" in repr(result)
    assert {row["column"] for row in result.to_dict()["kinds"]} == KINDS.keys()
    with pytest.warns(
        isodepth.errors.ColumnWarning, match="categories: carrier, late, size; left out"
    ):
        apart = isodepth.distance(X, Y, random_state=0)
    assert apart == result.distance


def test_kinds_can_be_given() -> None:
    X, Y = mixed(50, 0), mixed(50, 1)[::-1]
    Y = Y[list(reversed(Y.columns))]
    kinds = {
        "zip": "category", "when": "numeric", "tail": "omit", "late": "numeric", "size": "numeric",
        "carrier": ["AA", "B6", "UA"],
    }  # fmt: skip
    result = isodepth.compare(X, Y, kinds=kinds, random_state=0, scale=None)
    assert result.columns == ("delay", "carrier", "when", "late", "size")
    ranks = X["carrier"].map({"AA": 0, "B6": 1, "UA": 2})
    days = np.arange(50) + 15706.0
    expected = [X["delay"], ranks, days, np.arange(50) % 2 == 0, np.tile([0, 2], 25)]
    assert result.regions[0].points.tolist() == np.transpose(expected).tolist()
    assert result.regions[1].points[:, 2].tolist() == days[::-1].tolist()
    notes = {k.column: k.note for k in result.kinds}
    assert (notes["when"], notes["late"]) == ("days since 1970", "0 and 1")
    assert notes["size"] == notes["carrier"] == "ranks of its values"
    expected = ColumnKind(
        "tail", "identifier", "omit", "on request", "omit", reasons=("on_request",)
    )
    assert result.kinds[3] == expected
    assert run(X, Y, kinds={"tail": "category"}).kinds[3].use == "category"
    with pytest.raises(InvalidInputError, match="'size' has 'L' in X, which is not in the list"):
        isodepth.compare(X, Y, kinds={"size": ["S", "M"]})


def test_a_distance_needs_numbers() -> None:
    X, Y = (flights(50, seed)[["carrier"]] for seed in (0, 1))
    for call in (isodepth.compare, isodepth.distance):
        with pytest.raises(InvalidInputError, match=r"no numeric column.*two_sample_test"):
            call(X, Y)
    with pytest.raises(InvalidOptionError, match="key 'a', which is not a column of X"):
        isodepth.distance(isodepth.scan(np.eye(3)), isodepth.scan(np.eye(3)), kinds={"a": "omit"})


def test_new_categories_are_reported() -> None:
    X, Y = flights(100, 0), flights(100, 1)
    Y.loc[:14, "carrier"] = "DL"
    result = run(X, Y)
    assert "only Y has carrier = DL" in result.notes
    assert result.pvalue == 0.01
    X["carrier"] = [f"D{i % 6}" for i in range(100)]
    notes = run(X, Y).notes
    assert "only X has carrier = D0, D1, D2, D3, D4, ..." in notes
    assert "only Y has carrier = AA, B6, DL, UA" in notes


@pytest.mark.parametrize("tolerance", [None, 0.05])
def test_categories_alone(tolerance: float | None) -> None:
    X, Y = flights(500, 0)[["carrier"]], flights(500, 1, 0.3)[["carrier"]]
    result = run(X, Y, tolerance=tolerance)
    assert result.pvalue == run(X, Y, tolerance=tolerance, scale=None).pvalue == 0.01
    assert run(X, X.copy(), tolerance=tolerance).pvalue == 1
    (column,) = result.column_tests
    shares = [part["carrier"].value_counts(normalize=True) for part in (X, Y)]
    assert (column.column, column.change_kind) == ("carrier", "shares")
    assert column.difference == pytest.approx(0.5 * abs(shares[0] - shares[1]).sum(), rel=1e-12)
    assert column.shift is None
    with pytest.raises(InvalidInputError, match="needs a numeric column with different values"):
        run(X, Y, method="regions")
    with pytest.raises(InvalidInputError, match="categories alone has no regions"):
        _ = result._comparison


def test_contaminated_categories_are_tolerated() -> None:
    for seed in range(5):
        X, Y = flights(1000, seed), flights(1000, 100 + seed)
        X.loc[:49, "carrier"] = "foreign"
        assert run(X, Y, random_state=seed).pvalue == 0.01
        assert run(X, Y, random_state=seed, tolerance=0.05).pvalue > 0.05


def test_rare_categories_are_pooled_by_both_samples_together() -> None:
    values = ["a"] * 200 + ["r1"] * 3 + ["a"] * 20 + ["r2"] * 9 + ["b"] * 10
    found = category_of([*values, None])
    assert found.values == ("a", "b", OTHERS, MISSING)
    assert np.bincount(found.codes).tolist() == [220, 10, 12, 1]
    assert found.only_in(203) == (("r1",), ("b", "r2"))
    # A single rare category is not pooled, and small samples have no rare categories.
    assert category_of(["a"] * 600 + ["r"]).values == ("a", "r")
    assert category_of(["a"] * 3 + ["b"] * 3 + ["c"]).values == ("a", "b", "c")


def test_many_pairs_are_compared_by_a_random_selection() -> None:
    rng = np.random.default_rng(0)
    numbers = {f"x{j}": rng.normal(size=80) for j in range(65)}
    letters = {f"c{j}": rng.choice(list("abcd"), 80) for j in range(8)}
    frame = pd.DataFrame({**numbers, **letters})
    assert run(frame[:40], frame[40:], n_permutations=5, n_directions=65).notes[:2] == (
        "dependence was compared in 2016 random pairs of columns",
        "means by category were compared in 2016 random pairs of a column and a value",
    )


def test_missing_categories() -> None:
    X, Y = flights(60, 0), flights(60, 1)
    X["carrier"] = X["carrier"].astype("string")
    X.loc[3, "carrier"] = pd.NA
    with pytest.raises(InvalidInputError, match="column 'carrier' of X has 1 missing value"):
        run(X, Y, nan_policy="raise")
    assert isodepth.compare(X, Y, random_state=0).distance > 0  # distance of the numeric columns
    X.loc[4, "delay"] = np.nan
    result = run(X, Y)
    assert result.n_rows == (60, 60)
    assert [share.before for share in result.category_shares if share.value == MISSING] == [1 / 60]
    X.loc[:29, "carrier"] = pd.NA
    assert run(X, Y).headline == "Y differs from X (p = 0.01): carrier: missing 50% -> 0%."


def test_kinds_that_make_no_sense_are_refused() -> None:
    for kinds, message in (
        ({"zip": "category"}, "kinds has the key 'zip', which is not a column of X"),
        ({"carrier": ["AA"]}, "must be one of numeric, category, omit"),
        (["carrier"], "kinds must be a dictionary"),
    ):
        with pytest.raises(InvalidOptionError, match=message):
            run(flights(20, 0), flights(20, 1), kinds=kinds)
    with pytest.raises(InvalidOptionError, match="kinds"):
        run(np.ones((3, 2)), np.ones((3, 2)), kinds={"a": "category"})
    renamed = flights(20, 1).rename(columns={"carrier": "airline"})
    texts = [check.text for check in run(flights(20, 0), renamed).checks]
    assert "missing column, not compared: carrier" in texts
    assert "new column, not compared: airline" in texts


def test_shares_of_a_category_are_relative_to_all_rows() -> None:
    X, Y = flights(400, 0), flights(400, 1, 0.35)
    X.loc[:79, "carrier"] = None
    Y.loc[:79, "carrier"] = None
    for options in ({}, {"tolerance": 0.01}):
        result = run(X, Y, **options)
        (change,) = result.changes
        shares = {each.value: (each.before, each.after) for each in result.category_shares}
        assert (change.before, change.after) == pytest.approx(shares[change.value])


def test_the_named_category_does_not_depend_on_the_permutations() -> None:
    X, Y = flights(1000, 0), flights(1000, 1, 0.25)
    named = {
        run(X, Y, n_permutations=count, random_state=seed).changes[0].value
        for seed in range(5)
        for count in (39, 99)
    }
    assert named == {"UA"}
