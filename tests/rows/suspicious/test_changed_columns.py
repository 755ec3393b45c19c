"""Suspicious rows if a column of Y changed: rows of X are not wrong because of this change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import isodepth

Change = Callable[[pd.DataFrame], pd.DataFrame]


def table(seed: int, n: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n).astype(float)
    income = (1000 + 50 * age + rng.normal(0, 40, n)).round(1)
    return pd.DataFrame({"age": age, "income": income, "kind": rng.choice(["a", "b"], n)})


def censored(y: pd.DataFrame) -> pd.DataFrame:
    return y.assign(age=y["age"].clip(upper=70))


def in_order(y: pd.DataFrame) -> pd.DataFrame:
    return y.assign(age=np.sort(y["age"]))


def within_a_category(y: pd.DataFrame) -> pd.DataFrame:
    return y.assign(income=y["income"] + 3000 * (y["kind"] == "a"))


@pytest.mark.parametrize("change", [censored, in_order, within_a_category])
@pytest.mark.parametrize("scanned", [False, True])
def test_rows_of_x_are_not_listed(tmp_path: Path, change: Change, scanned: bool) -> None:
    x, y = table(1), change(table(2))
    wrong = x.assign(age=x["age"].where(x.index != 7, 4000.0))
    for each, expected in ((x, []), (wrong, [7])):
        samples = [each, y]
        if scanned:
            for name, frame in zip("xy", samples, strict=True):
                frame.to_csv(tmp_path / f"{name}.csv", index=False)
            samples = [isodepth.scan(tmp_path / f"{name}.csv") for name in "xy"]
        result = isodepth.two_sample_test(*samples, random_state=0)
        assert result.significant
        assert result.suspicious_rows().indices("X").tolist() == expected


def test_rows_of_y_are_listed() -> None:
    x, y = table(1), table(2)
    y.loc[:14, "age"] = np.random.default_rng(3).uniform(500, 900, 15).round()
    result = isodepth.two_sample_test(x, y, random_state=0)
    assert result.changes[0].columns == ("age",)
    assert set(result.suspicious_rows().indices("Y")) == set(range(15))


def test_categories_of_x_do_not_contradict_changed_ones() -> None:
    rng = np.random.default_rng(4)
    city = np.resize(["Rome", "Bern", "Oslo"], 300)
    land = pd.Series(city).map({"Rome": "Italy", "Bern": "Swiss", "Oslo": "Norway"})
    x = pd.DataFrame({"city": city, "land": land, "a": rng.normal(size=300)})
    y = x.assign(land="Italy", a=rng.normal(size=300))
    result = isodepth.two_sample_test(x, y, random_state=0)
    assert [change.columns for change in result.changes] == [("land",)]
    assert len(result.suspicious_rows().indices("X")) == 0


def test_frequent_values_of_x_are_not_repeated_values_if_y_became_constant() -> None:
    rng = np.random.default_rng(5)
    x, y = (pd.DataFrame({"visits": np.floor(rng.exponential(20, 600))}) for _ in range(2))
    x["a"], y["a"] = rng.normal(size=(2, 600))
    x.loc[:69, "visits"], x.loc[70:399, "visits"], y["visits"] = 1.0, 0.0, 0.0
    result = isodepth.two_sample_test(x, y, random_state=0)
    assert result.changes[0].columns == ("visits",)
    assert len(result.suspicious_rows().indices("X")) == 0
