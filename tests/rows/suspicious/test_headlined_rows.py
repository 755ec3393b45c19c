"""Rows in headlines, and samples without rows that look wrong."""

from __future__ import annotations

import numpy as np
import pytest

import isodepth

pd = pytest.importorskip("pandas")

OPTIONS = {"n_permutations": 99, "random_state": 0}
ORDERS = pytest.mark.parametrize("wrong", ["X", "Y"])


def ordered(clean, changed, wrong):
    return (clean, changed) if wrong == "Y" else (changed, clean)


def people(rng, n):
    income = np.round(rng.lognormal(10, 0.8, n))
    return pd.DataFrame({"inc": income, "age": rng.integers(18, 90, n).astype(float)})


@ORDERS
def test_values_beyond_any_extrapolation_are_in_the_headline(wrong: str) -> None:
    rng = np.random.default_rng(0)
    clean, changed = people(rng, 300), people(rng, 300)
    x, y = ordered(clean, changed, wrong)
    headline = isodepth.two_sample_test(x, y, **OPTIONS)._headline(("X", "Y"))
    assert headline.status == "alike"
    assert "wrong" not in headline.sentence
    changed.loc[5, "inc"], changed.loc[[7, 9], "age"] = 1e12, -999
    result = isodepth.two_sample_test(x, y, **OPTIONS)
    assert not result.significant
    named = f"but 3 rows of {wrong} look wrong: inc = 1000000000000, age = -999."
    assert result.headline.endswith(named)
    assert result.without_rows().headline == result.headline
    assert result._headline(("X", "Y")).status == "open"
    assert 'class="verdict open"' in result._repr_html_()
    assert sorted(result.suspicious_rows().indices(wrong)) == [5, 7, 9]
    chunked = isodepth.two_sample_test(isodepth.scan(x), isodepth.scan(y), **OPTIONS)
    assert chunked.headline.endswith(named)


def test_far_values_of_both_samples_and_of_a_changed_column() -> None:
    rng = np.random.default_rng(1)
    x, y = people(rng, 300), people(rng, 300)
    x.loc[3, "age"] = y.loc[4, "age"] = -999  # a code that both samples have
    result = isodepth.two_sample_test(x, y, **OPTIONS)
    assert "wrong" not in result.headline
    y["age"] += 20
    y.loc[4, "age"] = 1e6
    result = isodepth.two_sample_test(x, y, **OPTIONS)
    assert result.changes[0].columns == ("age",)
    assert "also 1 row of X looks wrong: age = -999; 1 row of Y looks wrong: age = 1000000" in (
        result.headline.replace("age = 1000000.", "age = 1000000")
    )


@ORDERS
@pytest.mark.parametrize("change", ["noise", "unit", "shift"])
def test_a_changed_column_has_no_suspicious_rows_of_the_other_sample(
    wrong: str, change: str
) -> None:
    rng = np.random.default_rng(2)

    def houses(n: int):
        lot = np.round(rng.gamma(9, 600, n))
        lot[:12] = 6000.0
        return pd.DataFrame({"lot": lot, "price": lot * 8 + rng.normal(size=n) * 4000})

    clean, broken = houses(270), houses(270)
    broken["lot"] = {
        "noise": broken.lot + rng.normal(size=270) * 300,
        "unit": broken.lot * 1.2,
        "shift": broken.lot + 2000,
    }[change]
    result = isodepth.two_sample_test(*ordered(clean, broken, wrong), **OPTIONS)
    assert any("lot" in each.columns for each in result.changes)
    assert "wrong" not in result.headline
    other = "X" if wrong == "Y" else "Y"
    rows = result.suspicious_rows()
    assert not len(rows.indices(other))
    # Single wrong rows of the changed column are still listed.
    broken.loc[200, "lot"] = -1e6
    result = isodepth.two_sample_test(*ordered(clean, broken, wrong), **OPTIONS)
    assert 200 in result.suspicious_rows().indices(wrong)
    assert f"1 row of {wrong} looks wrong: lot = -1000000" in result.headline


def test_uniform_samples_have_no_suspicious_rows() -> None:
    listed = []
    for seed in range(10):
        x, y = np.random.default_rng([seed, 200, 2]).random((2, 200, 2))
        listed += isodepth.compare(x, y, random_state=0).suspicious_rows().rows
    assert not [row.text for row in listed]


def test_expectations_need_a_relation() -> None:
    """No value is expected from a column or a category on which it does not depend."""
    given = []
    for seed in range(10):
        rng = np.random.default_rng([4, 300, 8, seed])
        tables = [
            pd.DataFrame(
                {
                    "age": np.round(rng.gamma(2, 20, 300)),
                    "city": [f"c{k}" for k in rng.zipf(1.5, 300) % 9],
                }
            )
            for _ in range(2)
        ]
        rows = isodepth.two_sample_test(*tables, n_permutations=19, random_state=0)
        given += [row.text for row in rows.suspicious_rows() if row.given]
    for seed in (27, 52, 56):
        x, y = np.random.default_rng([seed, 200, 2]).random((2, 200, 2))
        given += [row.text for row in isodepth.compare(x, y).suspicious_rows() if row.given]
    assert not given
    rng = np.random.default_rng(0)
    x, y = (rng.normal(size=(300, 1)) * [1, 2] + rng.normal(size=(300, 2)) / 5 for _ in range(2))
    y[8] = [1.5, -3.0]  # both values are usual
    (row,) = isodepth.compare(x, y, random_state=0).suspicious_rows()
    assert (row.row, row.reason) == (8, "value given the other columns")


@ORDERS
def test_a_repeated_value_of_another_sign_needs_no_test(wrong: str) -> None:
    rng = np.random.default_rng(3)

    def incomes():
        known = np.where(rng.random(208) < 0.05, 0.0, np.round(rng.lognormal(10, 0.8, 208), -3))
        return pd.DataFrame({"income": np.concatenate([known, np.full(42, np.nan)])})

    clean, changed = incomes(), incomes()
    changed.loc[:9, "income"] = -999.0
    result = isodepth.two_sample_test(*ordered(clean, changed, wrong), **OPTIONS)
    rows = result.suspicious_rows()
    assert set(rows.indices(wrong)) >= set(range(10))
    (value,) = rows.repeated_values
    assert (value.sample, value.value, value.count) == (wrong, -999.0, 10)
    assert "income = -999" in result.headline
    changed.loc[4:9, "income"] = 30_000.0  # four rows are not enough
    result = isodepth.two_sample_test(*ordered(clean, changed, wrong), **OPTIONS)
    assert not result.suspicious_rows().repeated_values
