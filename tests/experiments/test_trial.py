"""The trial: accidents, and the verdicts of the checker on true and false sentences."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments.tables import sources
from experiments.trial import claims, study, tables
from experiments.trial.accidents import ACCIDENTS, Accident, happen
from experiments.trial.numbers import agrees


@pytest.fixture
def table() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    a = rng.normal(10, 2, 400).round(2)
    frame = pd.DataFrame({
        "a": a, "b": (50 + 3 * a + rng.normal(size=400)).round(1),
        "k": rng.integers(1, 6, 400), "c": rng.choice(["Red", "Blue", "Green"], 400),
    })  # fmt: skip
    return frame.astype({"c": object})


@pytest.mark.parametrize("name", ACCIDENTS)
def test_an_accident_changes_its_columns_only(table: pd.DataFrame, name: str) -> None:
    before = table.copy()
    made = happen(name, table, 3)
    assert made is not None
    pd.testing.assert_frame_equal(table, before)
    assert made.share is not None
    assert (made.share == 0) == (name == "clean")
    if len(made.frame) == len(table) and name != "duplicates":
        assert {c for c in table if not made.frame[c].equals(table[c])} <= {*made.columns}


def case(x: pd.DataFrame, y: pd.DataFrame, accident: Accident | None = None) -> claims.Case:
    return claims.Case(x, y, accident or Accident(y, share=0.0), 0.001, 0.05, list(x))


def verdicts(sentence: str, given: claims.Case) -> list[str]:
    return [each.verdict for each in claims.judge(sentence, given)]


def test_verdicts_on_numbers(table: pd.DataFrame) -> None:
    x, y = table[:200].reset_index(drop=True), table[200:].reset_index(drop=True)
    y.loc[:19, "a"] = np.nan
    y["b"] = y["b"] * 2
    given = case(x, y, Accident(y, ("b",), {"map": (2.0, 0.0)}, 1.0))
    medians = f"{x.b.median():.1f} -> {y.b.median():.1f}"
    for sentence, expected in {
        "a: missing 0% -> 10% (p = 0.001)": "true",
        "a: missing 0% -> 20% (p = 0.001)": "false",
        f"b: median {medians}": "true",
        "b: median 80 -> 81": "false",
        f"b: values multiplied by 2, median {medians}": "true",
        f"b: values multiplied by 2.205, median {medians}": "false",
        f"b: values multiplied by about 2.1, median {medians}": "true",
        f"a: values multiplied by 2, median {x.a.median():.2f} -> {y.a.median():.2f}": "false",
        f"a and b exchanged their values: median of a {x.a.median():.2f} -> 1": "false",
        f"c = Red: {(x.c == 'Red').mean():.1%} -> {(y.c == 'Red').mean():.1%}": "true",
        "c = Red: 1% -> 2%": "false",
        "repeated rows: 0% -> 50%": "false",
        "rank correlation of a and b: 0.98 -> -0.5": "false",
        "all columns together are higher": "unclear",
        "something changed": "unclear",
        "no change of at least 1% of the rows can be claimed (95% confidence)": "false",
        "numbers: k (5 distinct values; choose 'category' if they are codes)": "true",
        "numbers: k (6 distinct values; choose 'category' if they are codes)": "false",
    }.items():
        assert verdicts(sentence, given) == [expected], sentence


def test_shares_of_the_known_values_must_be_named(table: pd.DataFrame) -> None:
    x, y = table[:200].reset_index(drop=True), table[200:].reset_index(drop=True)
    y.loc[:99, "c"] = None
    shares = f"{(x.c == 'Red').mean():.1%} -> {(y.c[100:] == 'Red').mean():.1%}"
    assert verdicts(f"c = Red: {shares}", case(x, y)) == ["false"]
    assert verdicts(f"c = Red: {shares} of the known values", case(x, y)) == ["true"]


def test_verdicts_on_rows(table: pd.DataFrame) -> None:
    x, y = table[:200].reset_index(drop=True), table[200:].reset_index(drop=True)
    y.loc[3, "a"] = 99.0
    low, high = x.a.min(), x.a.max()
    given = case(x, y, Accident(y, ("a",), {}, 0.005))
    for sentence, expected in {
        f"Y[3]: a = 99, usually {low} to {high}": "true",
        f"Y[4]: a = 99, usually {low} to {high}": "false",
        "Y[3]: a = 99, usually 9 to 11": "false",
        f"Y[3]: a = 99, expected 15 to 16 from b = {y.b[3]:g}": "false",
        f"Y[3]: a = 99, expected 5 to 6 from k = {y.k[3]}": "false",
        "1 rows of Y look wrong: a = 99": "true",
        "1 row of Y looks wrong: a = 99": "true",
        "1 row of Y looks wrong: a = 98": "false",
        "only Y has a = 99 (1 row)": "true",
    }.items():
        assert verdicts(sentence, given) == [expected], sentence


def test_headlines_are_split(table: pd.DataFrame) -> None:
    x, y = table[:200].reset_index(drop=True), table[200:].reset_index(drop=True)
    y["a"] += 5
    given = case(x, y, Accident(y, ("a",), {}, 1.0))
    medians = f"{x.a.median():.1f} -> {y.a.median():.1f}"
    sentence = f"Y differs from X (p = 0.001): a: median {medians}; also c became empty."
    assert verdicts(sentence, given) == ["true", "true", "false"]
    assert verdicts(sentence.replace("0.001", "0.01"), given)[0] == "false"
    assert verdicts("No significant difference between X and Y (p = 0.001).", given) == ["false"]


def test_printed_precision() -> None:
    assert agrees("16100", 16098.0)
    assert not agrees("16150", 16098.0)
    assert agrees("2024-01-15", 19737.0)
    assert not agrees("0%", 0.006)


@pytest.mark.parametrize("name", ["trial", "retrial", "unseen"])
def test_the_tables_are_new(name: str) -> None:
    own = {*sources.SETS[name]}
    others = set().union(*(names for key, names in sources.SETS.items() if key != name))
    assert len(own) == 20
    assert not own & (others | sources.USED | {*tables.PRACTICE, *tables.FORMER})
    assert {*tables.PRACTICE} <= others


def test_a_short_trial(
    table: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(study, "load", lambda name: table[:160])
    study.main(["--tables", "x/t", "--accidents", "unit", "--out", str(tmp_path)])
    with (tmp_path / "sentences.csv").open() as file:
        rows = list(csv.DictReader(file))
    with (tmp_path / "comparisons.csv").open() as file:
        (line,) = csv.DictReader(file)
    assert (line["found"], line["error"]) == ("True", "")
    assert {"two_sample_test", "monitor"} <= {row["source"] for row in rows}
    assert {row["verdict"] for row in rows} <= {"true", "false", "unclear"}
    assert "| unit | 1 | 100.0% |" in (tmp_path / "summary.md").read_text()
