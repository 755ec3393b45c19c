"""Suspicious rows: wrong rows are listed with their indices, values and reasons."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from combined import compare_and_test

import isodepth
from isodepth.errors import InvalidOptionError
from isodepth.rows.rows import TwoSamples
from isodepth.rows.suspicious import (
    RULE,
    RepeatedValue,
    SuspiciousRows,
    repeated_values,
    suspicious_rows,
)
from isodepth.rows.suspicious.contradictions import find_contradictions


def frames(n: int = 400) -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(11)
    parts = []
    for _ in range(2):
        height = rng.normal(170, 10, n)
        weight = 0.5 * height - 15 + rng.normal(0, 3, n)
        kind = rng.choice(["a", "b"], n)
        parts.append(pd.DataFrame({"height": height, "weight": weight, "kind": kind}))
    return parts[0], parts[1]


def test_clean_samples_have_no_suspicious_rows() -> None:
    found = suspicious_rows(TwoSamples.read(*frames()))
    assert len(found) == 0
    assert RULE in str(found)


def test_values_units_and_categories_are_found_by_row_as_given() -> None:
    x, y = frames()
    y.loc[3, "weight"] = np.nan
    y.loc[50, "height"] = -9999
    y.loc[120, "weight"] = 85.0  # usual by itself, not for this height
    y.loc[120, "height"] = 150.0
    y.loc[7, "kind"] = "new"
    x.loc[9, "weight"] = 1e6
    options = {"nan_policy": "omit", "random_state": 0, "n_directions": 50}
    result = compare_and_test(x, y, n_permutations=19, **options)
    found = result.suspicious_rows()
    assert set(found.indices("Y")) == {50, 120}
    assert found.indices("X").tolist() == [9]
    with pytest.raises(InvalidOptionError, match="sample must be one of X, Y, got 'Z'"):
        found.indices("Z")
    by_row = {(row.sample, row.row): row for row in found}
    assert by_row["Y", 50].column == "height"
    assert by_row["Y", 50].value == -9999
    assert by_row["Y", 120].reason == "value given the other columns"
    assert [(v.column, v.value, v.row) for v in found.one_sided_values] == [("kind", "new", 7)]
    tested = result.test.suspicious_rows()
    assert tested.to_dict() == found.to_dict()


def test_usual_ranges_of_counts_are_not_negative() -> None:
    rng = np.random.default_rng(0)
    x, y = (
        pd.DataFrame({"a": a, "b": np.maximum(0, np.rint(2 * a + rng.normal(size=400)))})
        for a in rng.uniform(0, 10, size=(2, 400))
    )
    y.loc[5, ["a", "b"]] = 0.2, 17
    (row,) = suspicious_rows(TwoSamples.read(x, y)).rows
    assert (row.row, row.column, row.reason) == (5, "b", "value given the other columns")
    assert row.text.startswith("b = 17 at a = 0.2, usually 0 to ")


@pytest.mark.parametrize("n_rare", [0, 2])
@pytest.mark.parametrize(("value", "n_listed"), [(50.0, 0), (0.0, 0), (-9999.0, 30)])
def test_the_only_value_of_a_rare_category_is_listed_if_it_is_far(
    value: float, n_listed: int, n_rare: int
) -> None:
    """The rows of a rare category are listed neither as unusual values nor as repeated values."""
    rng = np.random.default_rng(15)
    parts = []
    for n_rows in (n_rare, 30):
        group, other = rng.integers(0, 8, 400), rng.normal(size=400)
        fee = 50 + 5 * group + 4 * other + rng.normal(0, 3, 400)
        kind = np.char.add("c", group.astype(str)).astype(object)
        kind[:n_rows], fee[:n_rows] = "new", value
        parts.append(pd.DataFrame({"fee": fee, "other": other, "kind": kind}))
    found = read(*parts)
    assert set(found.indices("Y")) == set(range(n_listed))
    assert set(found.indices("X")) <= set(range(min(n_rare, n_listed)))


@pytest.mark.parametrize("seed", range(3))
def test_usual_ranges_are_within_the_values_of_usual_rows(seed: int) -> None:
    """Both samples have wrong values, so that the other sample is not a clean reference."""
    rng = np.random.default_rng([13, seed])
    parts = []
    for _ in range(2):
        group = rng.integers(0, 8, 400)
        size = np.exp(rng.normal(0, 1.5, 400) + group)
        wind = np.clip(180 + 90 * np.log(size) + rng.normal(0, 40, 400), 0, 360)
        kind = np.char.add("c", group.astype(str))
        parts.append(pd.DataFrame({"size": size, "wind": wind, "kind": kind}))
    x, y = parts
    clean = {"X": y[20:].copy(), "Y": x.drop(index=range(100, 111))}  # the other sample
    y.loc[:19, "size"] = 1e8
    x.loc[100:110, "size"] = -1e5
    found = read(x, y)
    assert len(found) >= 20
    for row in found:
        assert row.usual_range is not None
        values = clean[row.sample][row.column]
        assert values.min() <= row.usual_range[0] < row.usual_range[1] <= values.max()


def test_a_column_without_overlap_is_a_change_and_not_a_list_of_rows() -> None:
    x, y = frames()
    x["day"], y["day"] = np.arange(400.0), np.arange(1000.0, 1400.0)
    y.loc[50, "height"] = -9999
    found = suspicious_rows(TwoSamples.read(x, y))
    assert found.skipped_columns == ("day",)
    assert "Columns without search for single values: day. Values are unusual in more" in str(found)
    assert found.indices("Y").tolist() == [50]
    assert len(found) == 1


@pytest.mark.parametrize("n_groups", [3, 30])
def test_far_values_are_listed_if_a_category_belongs_to_other_values(n_groups: int) -> None:
    rng = np.random.default_rng(12)
    parts = []
    for _ in range(2):
        group = rng.integers(0, n_groups, 300)
        size = 100 + 30 * group + rng.normal(0, 5, 300)
        kind = np.char.add("c", group.astype(str))
        parts.append(pd.DataFrame({"size": size, "other": rng.normal(size=300), "kind": kind}))
    x, y = parts
    y["kind"] = rng.permutation(y["kind"])
    y.loc[:19, "size"] = 1e6 * rng.uniform(1, 2, 20)
    found = read(x, y)
    assert set(found.indices("Y")) == set(range(20))
    assert len(found) == 20
    assert {(row.column, row.reason) for row in found} == {("size", "value")}
    (note,) = found._notes()
    assert note.startswith("Columns searched without other columns and categories: size. ")
    scanned = isodepth.two_sample_test(
        isodepth.scan(x), isodepth.scan(y), n_permutations=9, random_state=0
    ).suspicious_rows()
    assert set(scanned.indices("Y")) == set(range(20))
    assert scanned._notes() == [note]


def test_wrong_rows_of_one_sample_do_not_hide_those_of_the_other() -> None:
    x, y = frames()
    y.loc[:31, ["height", "weight"]] = -9999
    x.loc[5, "height"] = -5000
    found = suspicious_rows(TwoSamples.read(x, y))
    assert set(found.indices("Y")) == set(range(32))
    assert len(found.indices("X")) <= 1


def test_the_pooled_reference_refutes_tails() -> None:
    """Rows in heavy tails are compared with the rows of both samples, so few of them are listed.

    If they were compared with the other sample alone, 9 of these rows would have scores above 1.
    """
    names = tuple(map(str, range(30)))
    n_listed = 0
    for seed in range(10):
        pair = np.random.default_rng([15, seed]).standard_t(4, size=(2, 200, 30))
        n_listed += len(suspicious_rows(TwoSamples((pair[0], pair[1]), names, {})))
    assert n_listed <= 4


def test_repeated_values_are_found_from_minima_and_maxima() -> None:
    rng = np.random.default_rng(14)
    x, y = rng.normal(size=(2, 200, 3))
    y[:12, 1:] = 9999.0
    x[:3] = -9999.0  # too few
    x[10:14, 0] = 5.0  # too few, and not far from the other values
    (repeated,) = repeated_values(TwoSamples((x, y), ("a", "b", "c"), {}))
    assert repeated == RepeatedValue("Y", 9999.0, ("b", "c"), 12, 0.06)
    assert repeated._text("July") == "12 rows of July look wrong: b and 1 more column = 9999"


def read(x: pd.DataFrame, y: pd.DataFrame) -> SuspiciousRows:
    return suspicious_rows(TwoSamples.read(x, y))


def births(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng([16, seed])
    weeks = np.round(rng.normal(38, 3, n))
    weight = np.exp(2.0 + 0.1 * (weeks - 38) + rng.normal(0, 0.12, n))
    sex = rng.choice(["f", "m"], n)
    return pd.DataFrame({"weeks": weeks, "weight": weight, "sex": sex, "age": rng.normal(28, 6, n)})


def test_a_row_is_scored_by_the_values_that_it_has() -> None:
    """Wrong rows are found by their other values, although half of them have a missing age."""
    x, y = births(400, 0), births(400, 1)
    for part in (x, y):
        part.loc[::2, "age"] = np.nan
    wrong = list(range(20))
    y.loc[wrong, "weeks"], y.loc[wrong, "weight"] = 28.0, 9 + 0.01 * np.arange(20)
    found = read(x, y)
    assert set(found.indices("Y")) == set(wrong)
    assert len(found.indices("X")) == 0
    (row,) = (row for row in found if row.row == 0)
    # The unusual combination may be due to either value, and `weeks` is named.
    given = "weight = 9 and other columns"
    assert (row.column, row.value, row.given) == ("weeks", 28.0, given)
    assert row.usual_range is not None
    low, high = row.usual_range
    assert 36 < low < 40 < high < 44
    expected = f"expected {low:.4g} to {high:.4g} from {given}"
    assert row._text("July") == f"July[0]: weeks = 28, {expected}"


def test_numbers_within_a_category() -> None:
    rng = np.random.default_rng(17)
    parts = []
    for _ in range(2):
        kind = rng.choice(["fly", "cat", "cow"], 300)
        size = rng.normal(0, 1, 300) + np.select([kind == "fly", kind == "cat"], [0, 20], 40)
        parts.append(pd.DataFrame({"kind": kind, "size": size}))
    x, y = parts
    y.loc[5, ["kind", "size"]] = ["cat", 1.0]  # 1 is usual for a fly
    (row,) = read(x, y)
    assert (row.sample, row.row, row.column, row.given) == ("Y", 5, "size", "kind = cat")
    assert row.reason == "value within a category"
    assert row.usual_range is not None
    low, high = row.usual_range
    assert 15 < low < 20 < high < 25
    assert row.text.startswith("size = 1 for kind = cat, usually ")


@pytest.mark.parametrize("logarithm", [False, True])
def test_positive_numbers_of_another_category_are_found_on_their_scale(logarithm: bool) -> None:
    rng = np.random.default_rng(5)
    parts = []
    for _ in range(2):
        kind = rng.choice(["a", "b", "c"], 600)
        # Values of "a" reach down to 0.1, so that their logarithms have a long lower tail.
        size = 4 + 10.0 * (kind == "b") + 20 * (kind == "c") + rng.uniform(-3.9, 3.9, 600)
        parts.append(pd.DataFrame({"size": np.exp(size / 4) if logarithm else size, "kind": kind}))
    x, y = parts
    wrong = np.flatnonzero(y["kind"] == "c")[:5]
    y.loc[wrong, "size"] = y.loc[y["kind"] == "b", "size"].to_numpy()[:5]
    found = read(x, y)
    assert set(found.indices("Y")) == {*wrong.tolist()}
    assert len(found.indices("X")) == 0
    assert found.rows[0].usual_range is not None
    low, high = found.rows[0].usual_range
    assert (found[0], found[:1]) == (found.rows[0], found.rows[:1])
    inside = y.loc[(y["kind"] == "c") & ~y.index.isin(wrong), "size"].between(low, high)
    assert inside.mean() > 0.95


def countries() -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(18)
    continents = np.array(["Africa", "Asia", "Europe"])
    country = rng.integers(0, 30, 600)
    frame = pd.DataFrame(
        {"country": [f"c{i}" for i in country], "continent": continents[country % 3]}
    )
    return frame[:300].reset_index(drop=True), frame[300:].reset_index(drop=True)


def test_a_category_that_contradicts_another_one() -> None:
    x, y = countries()
    y.loc[7, ["country", "continent"]] = ["c3", "Asia"]
    (row,) = read(x, y)
    assert row._text("Y") == "Y[7]: continent = Asia, but always Africa for country = c3"
    assert (row.value, row.usual_values, row._usual_text) == ("Asia", ("Africa",), "Africa")
    assert row.usual_range is None
    assert row.reason == "category given another category"
    assert row.score > 1


def test_spaces_around_categories_are_visible() -> None:
    x, y = (frame + "  " for frame in countries())
    y.loc[7, ["country", "continent"]] = ["c3  ", "Asia  "]
    (row,) = read(x, y)
    assert row.text == "continent = 'Asia  ', but always 'Africa  ' for country = 'c3  '"
    assert row.value == "Asia  "
    y["continent"] += 60 * " "
    only = isodepth.two_sample_test(x, y, n_permutations=19, random_state=0)
    assert "only Y has continent = 'Asia' + 62 spaces" in str(only.suspicious_rows())
    assert "continent = 'Asia' + 62 spaces: 0% ->" in " ".join(c.text for c in only.changes)
    assert "continent: 3 vanished categories: 'Asia  ' (" in " ".join(map(str, only.checks))
    assert "   " not in str(only).replace("\n  ", "")


def test_pairs_of_categories_that_do_not_determine_each_other_are_not_listed() -> None:
    x, y = countries()
    rng = np.random.default_rng(19)
    for part in (x, y):
        part["continent"] = rng.choice(["Africa", "Asia", "Europe"], 300)
        part["rare"] = np.where(rng.random(300) < 0.01, "yes", "no")
    assert len(read(x, y)) == 0


def test_a_repeated_value_inside_the_range() -> None:
    rng = np.random.default_rng(20)
    x, y = (pd.DataFrame({"price": np.exp(rng.normal(8, 1, 400)).round()}) for _ in range(2))
    y.loc[:19, "price"] = 9999.0
    found = read(x, y)
    assert set(found.indices("Y")) == set(range(20))
    assert len(found) == 20
    assert found.rows[0].text == "price = 9999 in 20 rows, never in the other sample"
    (repeated,) = found.repeated_values
    assert repeated == RepeatedValue("Y", 9999.0, ("price",), 20, repeated.share)


def test_values_of_a_shifted_discrete_column_are_not_repeated_values() -> None:
    rng = np.random.default_rng(21)
    x, y = (pd.DataFrame({"wage": rng.normal(50, 10, 500).round()}) for _ in range(2))
    for part in (x, y):
        part.loc[:49, "wage"] = 50.0
    y["wage"] += 0.5
    assert len(read(x, y)) == 0


def test_proportional_columns_after_a_shift() -> None:
    """Few rows are listed if a shift gives all rows scores between 0.6 and 1, near the threshold.

    No row is then ordinary: rows with small scores do not exist.
    """
    rng = np.random.default_rng(22)
    pair = []
    for shift in (0.0, 0.2):
        logarithm = rng.normal(4.6, 0.35, 1000)
        points = np.column_stack([rng.normal(42, 11, 1000), logarithm + shift, np.exp(logarithm)])
        pair.append(points)
    found = suspicious_rows(TwoSamples((pair[0], pair[1]), ("age", "logwage", "wage"), {}))
    assert len(found) <= 4


@pytest.mark.parametrize(
    ("usual_values", "wrong", "usual"),
    [([0.0], 1.0, "0"), ([0.5, 1.0], 40.0, "0.5 or 1"), ([1.0, 2.0, 3.0], -40.0, "1, 2 or 3")],
)
def test_few_usual_values_are_named(usual_values: list[float], wrong: float, usual: str) -> None:
    rng = np.random.default_rng(11)
    x, y = (
        np.column_stack([rng.normal(size=400), rng.choice(usual_values, 400)]) for _ in range(2)
    )
    y[7, 1] = wrong
    (row,) = suspicious_rows(TwoSamples.read(x, y))
    assert (row.row, row.usual_values, row._usual_text) == (7, tuple(usual_values), usual)
    assert row.usual_range is None
    assert row.text == f"column 1 = {wrong:g}, usually {usual}"
    scanned = isodepth.two_sample_test(
        isodepth.scan(x), isodepth.scan(y), n_permutations=9, random_state=0
    )
    assert [each.text for each in scanned.suspicious_rows()] == [row.text]


@pytest.mark.parametrize(
    ("start", "step"),
    [(0, 1), (1_700_000_000, 1), (1_700_000_000_000, 1), (2**60, 1), (-273.15, 1e-8)],
)
def test_a_value_differs_from_its_usual_range_far_from_zero(
    start: float, step: float, tmp_path: Path
) -> None:
    x, y = np.random.default_rng(3).integers(0, 20_000, size=(2, 200))
    y[7] = 90_000
    result = isodepth.compare(*(pd.DataFrame({"at": start + step * v}) for v in (x, y)))
    (row,) = result.suspicious_rows()
    assert (row.row, row.value) == (7, start + step * 90_000)
    assert row.usual_range is not None
    assert start <= row.usual_range[0] < row.usual_range[1] < row.value
    shown, low, high = row.text.removeprefix("at = ").replace(", usually", " to").split(" to ")
    assert float(low) < float(high) < float(shown) or start == 2**60 < int(high) < int(shown)
    result.report(tmp_path / "report.html")
    assert f"<mark>at = {shown}</mark>" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize("sizes", [(10, 1000), (20, 1000), (50, 50)])
def test_few_rows_against_a_small_sample(sizes: tuple[int, int]) -> None:
    n_listed = 0
    for seed in range(10):
        rng = np.random.default_rng([23, seed])
        x, y = (np.column_stack([rng.normal(size=n), rng.exponential(size=n)]) for n in sizes)
        n_listed += len(suspicious_rows(TwoSamples((x, y), ("a", "b"), {})))
    assert n_listed <= 0.002 * 10 * sum(sizes)


def test_a_constant_column_of_a_small_sample_is_not_scored() -> None:
    rng = np.random.default_rng(36)
    y = np.column_stack([rng.normal(size=1000), rng.integers(1, 4, 1000)])
    for n, n_listed in ((10, 0), (60, 1)):
        x = np.column_stack([rng.normal(size=n), np.ones(n)])
        rare = np.where(np.arange(1000) == 4, y[:, 1], 1.0) if n == 60 else y[:, 1]
        rare[4] = 30.0
        pair = (x, np.column_stack([y[:, 0], rare]))
        assert len(suspicious_rows(TwoSamples(pair, ("a", "b"), {}))) == n_listed


def test_rare_values_of_columns_with_two_values_are_rarely_listed() -> None:
    """A rare value of a column with two values is rarely listed, as it may be absent by chance.

    2% of all rows have the value, and the other sample has 50 rows.
    """
    rng = np.random.default_rng(37)
    n_listed = 0
    for _ in range(40):
        x, y = ((rng.random((50, 6)) < 0.02).astype(float) for _ in range(2))
        n_listed += len(suspicious_rows(TwoSamples.read(x, y)))
    assert n_listed <= 0.002 * 40 * 100
    # The same holds within a group: 4% of the rows of group b have the value 1.
    n_listed = 0
    for _ in range(20):
        parts = []
        for _ in range(2):
            group = rng.choice(["a", "b"], 200)
            one = rng.random(200) < np.where(group == "a", 0.5, 0.04)
            parts.append(pd.DataFrame({"group": group, "one": one.astype(float)}))
        n_listed += len(read(*parts))
    assert n_listed <= 0.002 * 20 * 400


def test_a_value_that_1000_rows_do_not_have_is_listed() -> None:
    x, y = np.zeros((1000, 1)), np.zeros((1000, 1))
    y[7] = 1.0
    assert suspicious_rows(TwoSamples.read(x, y)).indices("Y").tolist() == [7]


def test_a_small_sample_is_noted_and_large_errors_are_still_listed() -> None:
    rng = np.random.default_rng(24)
    x, y = rng.normal(size=(10, 2)), rng.normal(size=(1000, 2))
    y[3] = -9999
    found = suspicious_rows(TwoSamples((x, y), ("a", "b"), {}))
    assert (found.indices("Y").tolist(), found.small_samples) == ([3], ("X",))
    (note,) = found._notes(("June", "July"))
    assert note.startswith("June has only 10 rows, too few")
    assert "rows of July are listed" in note
    assert found._notes()[0] in str(found)
    assert suspicious_rows(TwoSamples((y, y), ("a", "b"), {}))._notes() == []


UNTIDY = {
    "constant": lambda a: np.column_stack([a, np.full(len(a), 2013.0)]),
    "all missing": lambda a: np.column_stack([a, np.full(len(a), np.nan)]),
    "one value": lambda a: np.column_stack([a, np.r_[1.0, np.full(len(a) - 1, np.nan)]]),
    "only missing": lambda a: np.full_like(a, np.nan),
    "copies": lambda a: np.column_stack([a, a, 2 * a]),
    "huge": lambda a: np.vstack([a[:-2], np.full((2, 2), 1e308) * [[1], [-1]]]),
    "denormal": lambda a: a * 1e-310,
    "no columns": lambda a: a[:, :0],
}


@pytest.mark.parametrize("kind", UNTIDY)
@pytest.mark.parametrize("sizes", [(2, 5), (9, 300), (200, 200)])
def test_untidy_columns_raise_no_warnings(kind: str, sizes: tuple[int, int]) -> None:
    rng = np.random.default_rng(25)
    x, y = (UNTIDY[kind](rng.normal(size=(n, 2))) for n in sizes)
    names = tuple(f"c{j}" for j in range(x.shape[1]))
    values = [["a" if i % 2 else None for i in range(n)] for n in sizes]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = suspicious_rows(TwoSamples((x, y), names, {"k": values}))
    assert len(found) <= 2 * (kind == "huge") * len(sizes)


def test_a_column_that_is_missing_in_one_sample() -> None:
    rng = np.random.default_rng(35)
    x, y = rng.normal(size=(2, 100, 2)).round(1)
    x[:, 1], y[:50, 1] = np.nan, 0.0
    assert len(suspicious_rows(TwoSamples((x, y), ("a", "b"), {}))) == 0


def test_results_of_numbers_and_categories_become_data_frames() -> None:
    x, y = countries()
    y.loc[7, ["country", "continent"]] = ["c3", "Asia"]
    rng = np.random.default_rng(26)
    for part in (x, y):
        part["size"] = rng.normal(size=300)
    y.loc[9, "size"] = 1e6
    found = read(x, y)
    for backend in ("pandas", "polars", "pyarrow"):
        assert len(found.to_frame(backend)) == 2
    assert found.to_frame()["value"].dropna().tolist() == [1e6]
    assert {row["value"] for row in found.to_dict()["rows"]} == {1e6, "Asia"}


def test_a_rule_is_found_although_most_rows_have_one_value() -> None:
    """Rows that contradict the rule "species determines taxon" are found.

    98% of the rows have taxon 0, and only ten rows of two species have taxon 1.
    """
    species = np.concatenate([np.arange(490) % 5, [5] * 5, [6] * 5])
    codes = np.column_stack([species, species >= 5])
    wrong = codes.copy()
    wrong[[0, 1], 1] = [1, 2]  # taxon 1, and a taxon that the other sample does not have
    found = [each for each in find_contradictions(wrong, codes) if each.column == 1]
    assert [(each.row, each.given, each.usual) for each in found] == [(0, 0, 0), (1, 0, 0)]
    # If all rows have taxon 0, there is no evidence of a rule.
    rodents = codes[:490]
    assert not find_contradictions(wrong[:490], rodents)


@pytest.mark.parametrize("n_second", [13, 7, 3])
def test_a_repeated_value_of_both_samples_does_not_look_wrong(n_second: int) -> None:
    rng = np.random.default_rng(31)
    x, y = 10 - rng.exponential(0.4, size=(2, 700, 2))
    x[:15, 1] = y[:n_second, 1] = 0.0
    names = ["a", "s"]
    result = isodepth.two_sample_test(
        pd.DataFrame(x, columns=names),
        pd.DataFrame(y, columns=names),
        n_permutations=99,
        random_state=0,
    )
    assert "look wrong" not in str(result)
    assert f"s = 0 in 2.1% of X and {100 * n_second / 700:.2g}% of Y" in str(result)
    y[:n_second, 1] = 9.0
    result = isodepth.two_sample_test(
        pd.DataFrame(x, columns=names),
        pd.DataFrame(y, columns=names),
        n_permutations=99,
        random_state=0,
    )
    assert "15 rows of X look wrong: s = 0" in str(result)
    assert "15 suspicious rows in X" in str(result)


@pytest.mark.parametrize(("n_wrong", "n_days"), [(1, 400), (1, 3), (15, 400)])
def test_dates_are_shown_as_dates(n_wrong: int, n_days: int) -> None:
    rng = np.random.default_rng(32)
    x, y = (
        pd.DataFrame(
            {
                "t": pd.Timestamp("2020-01-09")
                + pd.to_timedelta(rng.integers(0, n_days, 300), "D"),
                "z": rng.normal(size=300),
            }
        )
        for _ in range(2)
    )
    y.loc[: n_wrong - 1, "t"] = pd.Timestamp("1900-01-01")
    result = isodepth.two_sample_test(
        x, y, kinds={"t": "numeric"}, n_permutations=99, random_state=0
    )
    rows = result.suspicious_rows()
    assert all(row.text.startswith("t = 1900-01-01") for row in rows)
    assert not any(":" in row.text for row in rows)  # no time of day
    assert len(rows) == n_wrong
    for row in rows:
        # Values of dates are days since 1970.
        assert row.is_date
        assert row.value == -25567
        usual = row.usual_range or row.usual_values or (18270.0,)
        assert all(18270 <= float(each) < 18270 + n_days for each in usual)
    for text in (str(result), str(rows)):
        assert "1900-01-01" in text
        assert "-25567" not in text
        assert "182" not in text  # days from 2020-01-09 on


def test_small_matrices_are_inverted_by_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search for suspicious rows uses one BLAS thread, which is faster for small matrices."""
    threadpoolctl = pytest.importorskip("threadpoolctl")
    counts: list[int] = []

    def record(samples: object, changed: object, pair: object) -> None:
        info = threadpoolctl.threadpool_info()
        counts.extend(each["num_threads"] for each in info if each["user_api"] == "blas")

    monkeypatch.setattr("isodepth.rows.kept.suspicious_rows", record)
    x = np.random.default_rng(0).normal(size=(30, 2))
    with threadpoolctl.threadpool_limits(2, "blas"):
        isodepth.compare(x, x + 1).suspicious_rows()
    assert set(counts) == {1}


def test_rows_are_numbered_by_position() -> None:
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X, Y = (pd.DataFrame(rng.normal(size=(200, 2)), columns=["a", "b"]) for _ in range(2))
    Y.index = range(1000, 1200)
    Y.iloc[3, 0] = -9999
    found = isodepth.compare(X, Y, random_state=0).suspicious_rows()
    assert str(found).splitlines()[0] == "1 suspicious row in Y (row positions, from 0)"
    assert str(found).splitlines()[1].startswith("  Y[3]: a = -9999")
    assert Y.iloc[found.indices("Y")]["a"].tolist() == [-9999]


def test_a_value_that_the_other_sample_has_more_often_does_not_look_wrong() -> None:
    """All scores of Y above 470 are 470, which 1.2% of the rows of X have, too."""
    rng = np.random.default_rng(37)
    x, y = (pd.DataFrame({"score": rng.normal(440, 30, 1000).round()}) for _ in range(2))
    x.loc[:9, "score"] = 470.0
    y["score"] = y["score"].clip(upper=470.0)
    result = isodepth.two_sample_test(x, y, n_permutations=99, random_state=0)
    assert "rows of X look wrong" not in str(result)
