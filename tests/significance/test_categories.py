"""Tables with categories: which columns are compared, how, and with what power."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from isodepth import InvalidInputError, InvalidOptionError, two_sample_test
from isodepth.significance.categories import OTHERS, category_of

pd = pytest.importorskip("pandas")


def flights(n: int, seed: int, share: float = 0.1, **more: Any) -> Any:
    rng = np.random.default_rng(seed)
    carriers = rng.choice(["UA", "AA", "B6"], n, p=[share, 0.6, 0.4 - share])
    return pd.DataFrame({"delay": rng.normal(size=n), "carrier": carriers, **more})


def run(X: Any, Y: Any, **options: Any) -> Any:
    return two_sample_test(X, Y, **{"n_permutations": 99, "random_state": 0, **options})


def test_a_share_that_moves_is_found_and_named() -> None:
    result = run(flights(1000, 0), flights(1000, 1, 0.25))
    assert result.p_value == 0.01
    assert result.columns[0].column == "carrier"
    assert result.columns[0].kind == "shares"
    assert "the share of carrier = UA" in result.verdict
    assert "delay" not in result.verdict
    assert next(c for c in result.components if c.name == "categories").p_value == 0.01


def test_every_column_is_accounted_for() -> None:
    n = 50
    more = {
        "when": pd.date_range("2013-01-01", periods=n),
        "tail": [f"N{i}" for i in range(n)],
        "late": np.arange(n) % 2 == 0,
        "zip": np.arange(n) % 3,
    }
    X, Y = flights(n, 0, **more), flights(n, 1, **more)
    result = run(X, Y[list(reversed(Y.columns))], kinds={"zip": "category"})
    kinds = {column.column: column.kind for column in result.kinds}
    assert kinds == {
        "delay": "numeric", "carrier": "category", "when": "omit", "tail": "omit",
        "late": "category", "zip": "category",
    }  # fmt: skip
    assert {column.column for column in result.columns} == {"delay", "carrier", "late", "zip"}
    assert any("when is left out: dates" in note for note in result.notes)
    assert any("tail is left out: nearly every row" in note for note in result.notes)
    assert run(X, Y, kinds={"tail": "category"}).kinds[3].kind == "category"
    assert "zip" not in {c.column for c in run(X, Y, kinds={"zip": "omit"}).columns}


def test_new_categories_are_reported() -> None:
    X, Y = flights(100, 0), flights(100, 1)
    Y.loc[:14, "carrier"] = "DL"
    result = run(X, Y)
    assert "only Y has carrier = DL" in result.notes
    assert result.p_value == 0.01


@pytest.mark.parametrize("tolerance", [None, 0.05])
def test_categories_alone(tolerance: float | None) -> None:
    X, Y = flights(500, 0)[["carrier"]], flights(500, 1, 0.3)[["carrier"]]
    result = run(X, Y, tolerance=tolerance)
    assert result.p_value == 0.01
    assert run(X, X.copy(), tolerance=tolerance).p_value == 1
    with pytest.raises(InvalidInputError, match="regions need a column of numbers"):
        run(X, Y, method="regions")
    with pytest.raises(AttributeError, match="categories alone"):
        _ = result.comparison


def test_contaminated_categories_are_tolerated() -> None:
    for seed in range(5):
        X, Y = flights(1000, seed), flights(1000, 100 + seed)
        X.loc[:49, "carrier"] = "foreign"
        assert run(X, Y, random_state=seed).p_value == 0.01
        assert run(X, Y, random_state=seed, tolerance=0.05).p_value > 0.05


def test_rare_categories_are_pooled_by_both_samples_together() -> None:
    found = category_of("c", ["a"] * 200 + ["r1"] * 3, ["a"] * 20 + ["r2"] * 9 + ["b"] * 10)
    assert found.values == ("a", "b", OTHERS)
    assert np.bincount(found.codes).tolist() == [220, 10, 12]
    assert (found.only_x, found.only_y) == (("r1",), ("b", "r2"))
    # One rare category keeps its name, and in small samples there is none.
    assert category_of("c", ["a"] * 300, ["a"] * 300 + ["r"]).values == ("a", "r")
    assert category_of("c", ["a"] * 3, ["b"] * 3 + ["c"]).values == ("a", "b", "c")


def test_missing_categories() -> None:
    X, Y = flights(60, 0), flights(60, 1)
    X.loc[3, "carrier"] = None
    X.loc[4, "delay"] = np.nan
    with pytest.raises(InvalidInputError, match="column 'carrier' of X has 1 missing value"):
        run(X, Y)
    result = run(X, Y, nan_policy="omit")
    assert result.n_rows == (59, 60)
    assert any("(missing)" in note for note in result.notes)


@pytest.mark.parametrize(
    ("kinds", "message"),
    [
        ({"zip": "category"}, "kinds names 'zip', which is not a column of X"),
        ({"carrier": "text"}, "must be one of numeric, category, omit"),
        (["carrier"], "kinds must be a dictionary"),
    ],
)
def test_kinds_that_make_no_sense_are_refused(kinds: Any, message: str) -> None:
    with pytest.raises(InvalidOptionError, match=message):
        run(flights(20, 0), flights(20, 1), kinds=kinds)
    with pytest.raises(InvalidOptionError, match="kinds"):
        run(np.ones((3, 2)), np.ones((3, 2)), kinds={"a": "category"})


def test_columns_that_differ_are_named() -> None:
    X, Y = flights(20, 0), flights(20, 1).rename(columns={"carrier": "airline"})
    with pytest.raises(InvalidInputError, match="'carrier' is only in X"):
        run(X, Y)


@pytest.mark.slow
def test_the_level_holds_with_categories_of_very_different_sizes() -> None:
    rejected, tests = 0, 1000
    p = [0.6, 0.3, 0.05, 0.03, 0.015, 0.005]
    for number in range(tests):
        rng = np.random.default_rng(number)
        X, Y = (
            pd.DataFrame({"c": rng.choice(list("abcdef"), n, p=p), "x": rng.normal(size=n)})
            for n in (100, 70)
        )
        rejected += run(X, Y, random_state=number).p_value <= 0.05
    assert rejected <= tests * 0.05 + 3 * np.sqrt(tests * 0.05 * 0.95)
