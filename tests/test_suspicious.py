"""Suspicious rows: wrong rows are listed under their numbers as given, correct rows are not."""

from __future__ import annotations

import numpy as np
import pandas as pd

import isodepth
from isodepth.suspicious import RULE, repeated_values, suspicious_rows
from isodepth.two_samples import TwoSamples


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
    result = isodepth.compare(x, y, n_permutations=19, **options)
    found = result.suspicious_rows()
    assert set(found.indices("Y")) == {50, 120}
    assert found.indices("X").tolist() == [9]
    by_row = {(row.sample, row.row): row for row in found}
    assert by_row["Y", 50].column == "height"
    assert by_row["Y", 50].value == -9999
    assert by_row["Y", 120].reason == "value given the other columns"
    assert [(v.column, v.value, v.row) for v in found.values] == [("kind", "new", 7)]
    tested = result.test.suspicious_rows()
    assert tested.to_dict() == found.to_dict()


def test_a_column_without_overlap_is_a_change_and_not_a_list_of_rows() -> None:
    x, y = frames()
    x["day"], y["day"] = np.arange(400.0), np.arange(1000.0, 1400.0)
    y.loc[50, "height"] = -9999
    found = suspicious_rows(TwoSamples.read(x, y))
    assert found.skipped == ("day",)
    assert found.indices("Y").tolist() == [50]
    assert len(found) == 1


def test_wrong_rows_of_one_sample_do_not_hide_those_of_the_other() -> None:
    x, y = frames()
    y.loc[:31, ["height", "weight"]] = -9999
    x.loc[5, "height"] = -5000
    found = suspicious_rows(TwoSamples.read(x, y))
    assert set(found.indices("Y")) == set(range(32))
    assert len(found.indices("X")) <= 1


def test_the_pooled_reference_refutes_tails() -> None:
    """Tails of 30 columns: relative to the other sample alone, 9 of these rows exceed 1."""
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
    assert repeated == ("Y", 9999.0, ("b", "c"), 12, 0.06)
    assert repeated.text("July") == "12 rows of July look wrong: b and 1 more column = 9999"
