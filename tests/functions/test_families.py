"""Families of functions of a row with values 0 and 1 agree with plain loops over rows."""

from __future__ import annotations

import numpy as np
import pytest
from twins.naive_families import value_at

from isodepth.functions import families
from isodepth.functions.families import FAMILIES, Rows, filled


def table(seed: int, n: int = 300) -> Rows:
    """Draw n rows with ties, missing values, a constant column, an empty column and categories."""
    rng = np.random.default_rng(seed)
    numbers = np.column_stack([
        rng.normal(size=n), np.round(rng.normal(size=n), 1), rng.integers(0, 7, n),
        np.where(rng.random(n) < 0.1, -9999.0, rng.exponential(size=n)), np.full(n, 2013.0),
        np.full(n, np.nan),
    ])  # fmt: skip
    numbers[rng.random(numbers.shape) < 0.1] = np.nan
    rare = rng.choice(3, n, p=[0.5, 0.45, 0.05])
    codes = np.column_stack([rng.integers(0, 3, n), np.zeros(n), rare]).astype(float)
    codes[rng.random(n) < 0.2, 0] = np.nan
    return Rows(numbers, codes, np.abs(rng.normal(size=n)))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", FAMILIES)
def test_functions_have_their_defined_values(kind: type[families.Family], seed: int) -> None:
    rows = table(seed)
    family = kind.choose(rows)
    found = family.evaluate(rows)
    assert found.shape == (len(family.members), 300)
    assert len(family.members) > 0
    np.testing.assert_array_equal(family.count(rows), np.nansum(found, axis=1))
    wanted = [[value_at(member, rows, i) for i in range(300)] for member in family.members]
    np.testing.assert_array_equal(found, wanted)
    # A function of a row does not depend on the other rows.
    for i in (0, 299):
        alone = Rows(rows.numbers[i : i + 1], rows.codes[i : i + 1], rows.distance[i : i + 1])
        np.testing.assert_array_equal(family.evaluate(alone), found[:, i : i + 1])


@pytest.mark.parametrize("kind", FAMILIES)
def test_the_choice_does_not_depend_on_the_order_of_rows(kind: type[families.Family]) -> None:
    rows = table(5)
    order = np.random.default_rng(0).permutation(300)
    shuffled = Rows(rows.numbers[order], rows.codes[order], rows.distance[order])
    assert {*kind.choose(rows).members} == {*kind.choose(shuffled).members}


def test_extremes_have_4_8_16_rows_up_to_an_eighth() -> None:
    rows = table(0)
    family = families.Extremes.choose(rows)
    of_first = [m for m in family.members if m.columns == (0,) and m.upper]
    column = rows.numbers[:, 0]
    assert sorted(int((column >= m.value).sum()) for m in of_first) == [4, 8, 16, 32]
    # A tie of a third of the rows is not an extreme value.
    assert not [m for m in family.members if m.columns == (4,)]


def columns_only(*columns: np.ndarray) -> Rows:
    numbers = np.column_stack(columns)
    return Rows(numbers, np.empty((len(numbers), 0)), np.zeros(len(numbers)))


def test_isolated_values_are_beyond_a_gap() -> None:
    rng = np.random.default_rng(0)
    plain, skewed = rng.normal(size=400), np.exp(rng.normal(size=400))
    wrong_unit, sentinel, heavy = plain + 10, plain.copy(), rng.standard_cauchy(400)
    wrong_unit[:9] *= 1000
    sentinel[:20] = -9999
    few, many = plain.copy(), plain.copy()
    few[:5], many[:60] = 1e6, 1e6
    counts = rng.integers(0, 3, 400)
    rows = columns_only(plain, skewed, wrong_unit, sentinel, heavy, few, many, counts)
    found = families.IsolatedValues.choose(rows).members
    assert found == [
        families.Member("extremes", (2,), float(wrong_unit[:9].min()), True),
        families.Member("extremes", (3,), -9999.0, False),
    ]


@pytest.mark.parametrize(
    "column",
    [
        np.full(80, 1.0), np.full(80, np.nan), np.repeat([0.0, 1.0], [73, 7]),
        np.concatenate([np.arange(5.0), np.full(75, np.nan)]), 1e308 * np.linspace(-1, 1, 80),
    ],
)  # fmt: skip
def test_columns_without_a_gap(column: np.ndarray) -> None:
    with np.errstate(all="raise"):
        assert not families.IsolatedValues.choose(columns_only(column)).members


@pytest.mark.parametrize(
    ("counts", "found"),
    [
        ((100, 60, 8), [2.0]),
        ((100, 11, 8), []),  # the next category is hardly more frequent
        ((100, 60, 5), []),  # too few rows for a significant difference
        ((100, 60, 8, 3), [2.0]),  # categories with fewer than four rows are ignored
        ((60, 60, 35), []),  # not rare
        ((168,), []),
    ],
)
def test_isolated_categories_are_much_rarer_than_the_others(
    counts: tuple[int, ...], found: list[float]
) -> None:
    codes = np.repeat(np.arange(len(counts), dtype=float), counts)[:, None]
    rows = Rows(np.empty((len(codes), 0)), codes, np.zeros(len(codes)))
    members = families.IsolatedCategories.choose(rows).members
    assert [member.value for member in members] == found


def test_single_values_are_frequent() -> None:
    members = families.SingleValues.choose(table(0)).members
    assert [(m.columns, m.value) for m in members if m.columns == (3,)] == [((3,), -9999.0)]
    assert not [m for m in members if m.columns in ((0,), (2,), (4,))]


def test_small_values_are_not_multiples() -> None:
    """A rounding error, such as 0.1 + 0.2 - 0.3, is a multiple of the units, but 1.5e-10 is not."""
    values = np.array([0.0, 0.1 + 0.2 - 0.3, 1.5e-10, 3e-9, -20.0, 0.1 + 0.2, np.nan])
    rows = Rows(values[:, None], np.empty((7, 0)), np.zeros(7))
    found = families.Precision.choose(rows).evaluate(rows)
    tenths, tens = [1, 1, 0, 0, 1, 1, np.nan], [1, 1, 0, 0, 1, 0, np.nan]
    np.testing.assert_array_equal(found, [tenths, tens, tens, tens])


def test_columns_of_small_values_have_no_multiples_of_five_and_ten() -> None:
    values = np.array([[0.0, 0.02, 7.0, -10.0], [1.0, 0.0, 0.0, np.nan], [np.nan] * 4])
    members = families.Precision.choose(Rows(values, np.empty((3, 0)), np.zeros(3))).members
    units = [[m.value for m in members if m.columns == (j,)] for j in range(4)]
    assert units == [[0.1, 1], [0.1, 1], [0.1, 1, 5], [0.1, 1, 5, 10]]


@pytest.mark.parametrize("seed", range(3))
def test_counts_of_multiples_are_those_of_all_units(seed: int) -> None:
    rows = table(seed)
    family = families.Precision.of_columns(rows.numbers.shape[1])
    wanted = [np.nansum(member.evaluate(rows)) for member in family.members]
    np.testing.assert_array_equal(family.count(rows), wanted)


def test_missing_values_have_the_mean_of_the_others() -> None:
    values = np.array([[1.0, 0.0, np.nan, 1.0], [np.nan] * 4, [1.0, 1.0, 0.0, 0.0]])
    np.testing.assert_allclose(filled(values), [[1, 0, 2 / 3, 1], [0] * 4, values[2]])
