"""Repeated rows, rows in both samples, and values that copies have in common."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest

import isodepth
from isodepth.significance.permutations import Permutations
from isodepth.table.arrays import is_duplicated, repeated_rows, row_hashes


def run(X: Any, Y: Any, **options: Any) -> isodepth.typing.TwoSampleResult:
    return isodepth.two_sample_test(X, Y, n_permutations=99, random_state=0, **options)


def table(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    g = rng.choice([*"abc"], n, p=[0.62, 0.25, 0.13])
    return pd.DataFrame({"u": rng.normal(size=n), "v": rng.exponential(size=n), "g": g})


def joined(*parts: pd.DataFrame) -> pd.DataFrame:
    return pd.concat(parts, ignore_index=True)


def copies_of(result: isodepth.typing.TwoSampleResult) -> list[isodepth.typing.Change]:
    return [change for change in result.changes if change.kind == "repeated"]


@pytest.mark.parametrize("in_blocks", [False, True])
def test_counts_of_repeated_rows_are_those_of_the_definition(in_blocks: bool) -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        n, m = rng.integers(5, 40, 2)
        rows = np.append(rng.integers(0, rng.integers(1, 30), n + m - 2), [99, 99])
        blocks = np.arange(n + m) // 3 + (np.arange(n + m) >= n) if in_blocks else None
        labels = Permutations.draw(n, m, 70, rng, blocks)
        _, group, sizes = np.unique(rows, return_inverse=True, return_counts=True)
        order = np.argsort(group, kind="stable")
        order, sizes = order[sizes[group[order]] > 1], sizes[sizes > 1]
        counts = labels.repeated_counts(order, sizes)
        for b, of_x in enumerate(labels.labels(dtype=bool).T):
            for sample, own in enumerate((of_x, ~of_x)):
                wanted = sum(k for k in Counter(rows[own].tolist()).values() if k > 1)
                assert counts[sample, b] == wanted


def test_equal_rows_have_equal_hashes() -> None:
    rows = np.array([[1.0, np.nan], [0.0, 2.0], [1.0, np.nan], [-0.0, 2.0], [2.0, 0.0]])
    assert repeated_rows(rows).tolist() == [1, 1, 1, 1, 0]
    assert is_duplicated(rows).tolist() == pd.DataFrame(rows).duplicated(keep=False).tolist()
    distinct = np.random.default_rng(0).integers(0, 50, (3000, 3)).astype(float)
    assert len(np.unique(row_hashes(distinct))) == len(np.unique(distinct, axis=0))


# -- repeated rows ---------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.02, 0.1])
def test_shares_of_repeated_rows_are_those_of_pandas(share: float) -> None:
    X, Y = table(300, 0), table(300, 1)
    Y = joined(Y, Y[: int(300 * share)])
    (change,) = copies_of(run(X, Y))
    assert (change.before, change.after) == (0, Y.duplicated(keep=False).mean())
    if share == 0.1:
        # Rows that occur once in each sample are not repeated.
        Y[100:200] = X[100:200].to_numpy()
        assert copies_of(run(X, Y))[0].text == change.text


@pytest.mark.parametrize("n", [1, 20, 300])
def test_a_copy_of_a_table_with_new_rows_has_no_repeated_rows(n: int) -> None:
    X = table(300, 0)
    result = run(X, joined(X, table(n, 1)))
    assert not result.significant
    assert next(c.pvalue for c in result.components if c.name == "repeated rows") == 1
    new = "1 new one" if n == 1 else f"{n} new ones"
    start = f"Y contains all 300 rows of X and {new}; a test of independent samples does not apply."
    assert result.headline.startswith(f"{start} No significant difference")


@pytest.mark.parametrize(("n", "m"), [(100, 1000), (1000, 100), (60, 90)])
def test_equal_rows_by_chance_are_not_repeated_rows(n: int, m: int) -> None:
    """Of 2000 products, about 5% of 100 rows and 39% of 1000 rows are repeated."""
    found = []
    for seed in range(10):
        products = np.random.default_rng(seed).integers(0, 2000, n + m).astype(str)
        frame = pd.DataFrame({"product": products})
        kinds = {"product": "category"}
        result = run(frame[:n], frame[n:], kinds=kinds)
        assert "independent" not in result.headline
        found.append(next(c.pvalue for c in result.components if c.name == "repeated rows"))
    # Of ten p-values, three or more are at most 0.05 once in 87.
    assert np.sum(np.array(found) <= 0.05) <= 2


def test_the_level_of_copies_is_that_of_the_test() -> None:
    """Rows that are repeated by chance are not a change, also with blocks."""
    rows = np.random.default_rng(0).integers(0, 15, (120, 2)).astype(float)
    pvalues = []
    for seed in range(20):
        order = np.random.default_rng(seed).permutation(120)
        options = {"blocks": np.arange(120) // 3, "n_directions": 2}
        result = run(rows[order[:30]], rows[order[30:]], **options)
        pvalues += [c.pvalue for c in result.components if c.name == "repeated rows"]
    # Of 20 p-values, five or more are at most 0.05 once in 390.
    assert len(pvalues) == 20
    assert np.sum(np.array(pvalues) <= 0.05) <= 4


def test_random_rows_of_chunks_are_named() -> None:
    X, Y = table(400, 0), table(400, 1)
    Y = joined(Y[:200], Y[:200])
    sources = [isodepth.scan([each[:170], each[170:]]) for each in (X, Y)]
    (change,) = copies_of(run(*sources, max_rows=200))
    assert change.text.startswith("repeated rows among the random rows: 0% -> ")
    (change,) = copies_of(run(*sources))
    assert change.text == "repeated rows: 0% -> 100%"


# -- values that copies have in common -------------------------------------------------------------


def test_a_join_that_multiplies_a_category_is_named() -> None:
    for seed in range(4):
        X, Y = table(200, 2 * seed), table(200, 2 * seed + 1)
        Y = joined(Y, *[Y[Y["g"] == "a"]] * 2)
        result = run(X, Y)
        (change,) = result.changes
        assert change.after == Y.duplicated(keep=False).mean()
        assert change.text.startswith("repeated rows (all copies have g = a): 0% -> ")
        assert change.text in result.headline
    # Two rows of other categories are repeated too.
    others = Y[Y["g"] == "b"][:2]
    text = run(X, joined(Y, others)).changes[0].text
    share = joined(Y, others).pipe(lambda y: y[y.duplicated(keep=False)])["g"].eq("a").mean()
    assert text.startswith(f"repeated rows ({100 * share:.0f}% of the copies have g = a): 0% -> ")


def test_the_usual_value_of_all_rows_is_not_named() -> None:
    X, Y = table(200, 0).assign(g="a"), table(200, 1).assign(g="a")
    assert run(X, joined(Y, Y[:20])).changes[0].text == "repeated rows: 0% -> 18%"


# -- one p-value per fault -------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [["u"], ["u", "g"]])
def test_ties_of_a_changed_column_are_not_copies(columns: list[str]) -> None:
    X, Y = 50 + 10 * table(400, 0)[["u"]], 50 + 10 * table(400, 1)[["u"]]
    X["g"], Y["g"] = table(400, 2)["g"], table(400, 3)["g"]
    sentinel = Y.assign(u=Y["u"].where(Y.index >= 60, -999.0))
    assert [c.text for c in run(X[columns], sentinel[columns]).changes] == ["u = -999: 0% -> 15%"]
    rounded = Y.assign(u=Y["u"].round())
    assert {c.columns for c in run(X[columns], rounded[columns]).changes} == {("u",)}
    # Copies are named beside a changed column.
    copied = joined(Y, Y[:100]).assign(u=lambda y: y["u"] + 20)
    assert {c.kind for c in run(X[columns], copied[columns]).changes} >= {"repeated", "location"}


def test_a_dependence_through_a_named_value_is_not_a_second_change() -> None:
    X, Y = (50 + 10 * table(400, seed)[["u", "v"]] for seed in (0, 1))
    for frame in (X, Y):
        frame["w"] = 2 * frame["u"] + frame.pop("v") / 2
    Y.loc[:20, "u"] = -999
    few = {"n_directions": 4}
    assert [change.columns for change in run(X, Y, **few).changes] == [("u",)]
    # The dependence of the other values is still compared.
    Y.loc[21:, "w"] = np.random.default_rng(2).permutation(Y.loc[21:, "w"])
    assert ("u", "w") in [change.columns for change in run(X, Y, **few).changes]


# -- rows in both samples --------------------------------------------------------------------------


def test_the_headline_describes_rows_in_both_samples() -> None:
    X, new = table(300, 0), table(300, 1)
    for Y, start in (
        (X.sample(frac=1, random_state=0), "Y contains all 300 rows of X;"),
        (X[:250], "X contains all 250 rows of Y and 50 other ones;"),
        (joined(X[100:], new[:90]), "200 of 300 rows of X also occur in Y, and 200 of 290 rows of"),
        (joined(X, X[:90]), "All 300 rows of X also occur in Y, and all 390 rows of Y in X;"),
    ):
        result = run(X, Y)
        assert result.headline.startswith(start)
        assert str(result).count("does not apply") == 1
        # The page is not green.
        status = result._headline(("x.csv", "y.csv")).status
        assert status == ("differs" if result.significant else "open")
    assert run(X, X)._headline(("x.csv", "y.csv")).sentence.startswith("y.csv contains")
    bootstrap = run(X, X.sample(300, replace=True, random_state=0)).headline
    assert "and all 300 rows of Y in X; a test of independent samples does not" in bootstrap
    less = run(X, joined(X[200:], new[:200]))
    assert "independent" not in less.headline
    text = "33% of the rows of the second sample also occur in the first (100 of 300 rows)"
    assert text in str(less)


def test_equal_rows_by_chance_are_never_too_many() -> None:
    """Among m products, a row occurs exactly once in m rows with the largest probability, 37%."""
    rng = np.random.default_rng(0)
    for k, m in ((30, 30), (100, 100), (50, 500), (400, 400)):
        for _ in range(10):
            frame = pd.DataFrame({"p": rng.integers(0, m, k + m).astype(str)})
            result = isodepth.two_sample_test(
                frame[:k], frame[k:], n_permutations=19, kinds={"p": "category"}, random_state=0
            )
            assert "independent" not in result.headline


def test_the_share_of_copies_with_a_common_value_is_that_of_their_sample() -> None:
    rng = np.random.default_rng(8)
    x, y = (
        pd.DataFrame({"a": rng.normal(size=300), "kind": rng.choice(["u", "v"], 300)})
        for _ in range(2)
    )
    x.loc[290:, :] = x.loc[:9].to_numpy()
    y = pd.concat([y, *[y[y["kind"] == "u"]] * 2], ignore_index=True)
    changes = isodepth.two_sample_test(x, y, random_state=0).changes
    (change,) = [each for each in changes if each.kind == "repeated"]
    assert "(all copies have kind = u)" in change.text
