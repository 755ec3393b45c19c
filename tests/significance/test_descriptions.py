"""Descriptions of changes of columns name the change that generated the data."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import isodepth
from isodepth.functions.changes import Change
from isodepth.functions.describer import (
    _explained,
    conditional_change,
    dependence_change,
    describe_column,
    exchanged_columns,
)
from isodepth.functions.explanations import ColumnPair, Explanation
from isodepth.functions.families import Member

RNG = np.random.default_rng(0)
NORMAL, LOGNORMAL = RNG.normal(size=(2, 800)), np.exp(RNG.normal(size=(2, 800)))
COUNTS = RNG.poisson(3, size=(2, 800)).astype(float)


@pytest.mark.parametrize(
    ("x", "y", "kind", "quantity"),
    [
        (NORMAL[0], NORMAL[1] + 0.4, "location", "median"),
        # The interquartile range of a skewed column hardly changes, its median does.
        (3000 * LOGNORMAL[0], 3000 * LOGNORMAL[1] + 3000, "location", "median"),
        # Ties of a column of counts are kept by the alignment.
        (COUNTS[0], COUNTS[1] + 0.7, "location", "median"),
        (np.repeat([0.0, 1.0], 400), np.repeat([0.0, 1.0], [200, 600]), "value", "share"),
        (NORMAL[0], 1.6 * NORMAL[1], "spread", "interquartile range"),
        (LOGNORMAL[0], 2.54 * LOGNORMAL[1], "unit", "median"),
        (LOGNORMAL[0], LOGNORMAL[1] / 1000, "unit", "median"),
        (LOGNORMAL[0], -LOGNORMAL[1], "sign", "median"),
        (NORMAL[0], np.sign(NORMAL[1]) + 0.2 * NORMAL[0], "shape", "share"),
        (NORMAL[0], np.where(NORMAL[1] > 1, 50 * NORMAL[1], NORMAL[1]), "extremes", "share"),
        (NORMAL[0], np.where(NORMAL[1] < -1, 50 * NORMAL[1], NORMAL[1]), "extremes", "share"),
        (NORMAL[0], np.where(NORMAL[1] < -1, -50.0, NORMAL[1]), "value", "share"),
    ],
)
def test_the_description_fits_the_change(
    x: np.ndarray, y: np.ndarray, kind: str, quantity: str
) -> None:
    change = describe_column(ColumnPair("v", x, y), 0.01)[0]
    assert (change.kind, change.columns, change.pvalue) == (kind, ("v",), 0.01)
    assert change.quantity == quantity
    assert (change.factor is not None) == (kind in ("unit", "sign"))
    if kind in ("shape", "extremes"):
        up_to = np.array([np.mean(v <= change.limit) for v in (x, y)])
        shares = 1 - up_to if change.side == "above" else up_to
        assert shares == pytest.approx([change.before, change.after])
    # The two formatted numbers differ.
    assert len(set(change._values)) == 2


@pytest.mark.parametrize("factor", [1.609, 2.54, 1000, 8])
def test_an_estimated_factor_is_called_about(factor: float) -> None:
    """The values of a continuous column do not decide the factor, whose standard error is 6%."""
    change = describe_column(ColumnPair("v", LOGNORMAL[0], factor * LOGNORMAL[1]), 0.01)[0]
    assert (change.kind, change.is_approximate) == ("unit", True)
    assert change.factor == pytest.approx(change.after / change.before, rel=0.06)
    assert f"v: values multiplied by about {change.factor:.4g}, median " in change.text


@pytest.mark.parametrize("decimals", [0, 1])
@pytest.mark.parametrize("factor", [2.2, 2.4, 2.54, 0.45359237, 0.454, 1000, 12])
def test_the_decimals_of_the_values_decide_the_factor(factor: float, decimals: int) -> None:
    """In samples of 100 rows, the standard error of the factor is 4%."""
    for seed in range(20):
        x, y = np.random.default_rng(seed).normal(170, 40, size=(2, 100)).round(decimals)
        change = describe_column(ColumnPair("v", x, factor * y), 0.01)[0]
        assert (change.kind, change.is_approximate) == ("unit", False)
        assert change.factor == pytest.approx(factor, rel=1e-9)


@pytest.mark.parametrize("factor", [2.54, 3.1, 0.4, 12])
@pytest.mark.parametrize("n", [100, 1000])
def test_a_wrong_factor_is_never_named(factor: float, n: int) -> None:
    """The new values are rounded so much that their decimals do not decide the factor."""
    for seed in range(20):
        x, y = np.random.default_rng(seed).gamma(3, 20, size=(2, n))
        changes = describe_column(ColumnPair("v", x.round(1), (factor * y).round(1)), 0.01)
        unit = [each for each in changes if each.kind == "unit"]
        assert all(each.is_approximate or each.factor == factor for each in unit)


@pytest.mark.parametrize("factor", [9, 10, 11, 0.11, 930, 1000, 1100])
def test_a_factor_is_exact_only_in_a_short_interval(factor: float) -> None:
    """The standard error of the estimated factor is 0.6%, and 0.02% if the spread is smaller."""
    for seed in range(8):
        x, y = np.random.default_rng(seed).normal(size=(2, 1500))
        change = describe_column(ColumnPair("v", 20 + 3 * x, factor * (20 + 3 * y)), 0.01)[0]
        assert (change.kind, change.is_approximate) == ("unit", True)
        assert change.factor == pytest.approx(factor, rel=0.1)
        assert float(f"{change.factor:.2g}") == change.factor
        change = describe_column(ColumnPair("v", 20 + 0.1 * x, factor * (20 + 0.1 * y)), 0.01)[0]
        assert change.is_approximate == (factor not in (10, 1000))


@pytest.mark.parametrize("factor", [930, 1000, 0.1, 0.093])
def test_decimals_show_whether_a_factor_is_a_power_of_ten(factor: float) -> None:
    """The standard error of the estimated factor is 10%, but the values have two decimals."""
    stated = []
    for seed in range(8):
        x, y = np.exp(np.random.default_rng(seed).normal(3, 1, size=(2, 200))).round(2)
        change = describe_column(ColumnPair("v", x, factor * y), 0.01)[0]
        stated.append(None if change.is_approximate else change.factor)
    known = [each for each in stated if each is not None]
    powers = sum(each in (1000, 0.1) for each in known)
    assert powers == len(known) >= 6 if factor in (1000, 0.1) else powers <= 1 < len(known)


def test_the_shown_numbers_agree_with_the_factor() -> None:
    """A description with a factor shows numbers whose ratio is about the factor.

    The factor 0.39 does not agree with the medians 3.3 and 0.8, so the means are shown.
    """
    x = np.concatenate([np.linspace(0, 3.3, 176), np.linspace(3.3, 60, 176)])
    y = np.concatenate([np.linspace(0, 0.8, 176), np.linspace(0.8, 24, 176)])
    column = ColumnPair("v", x, y)
    assert column.medians[1] / column.medians[0] == pytest.approx(0.8 / 3.3, rel=0.1)
    (named,) = _explained(column, Explanation("unit", 1, 0.0, 0.39), 0.01)
    assert (named.kind, named.factor, named.quantity) == ("unit", 0.39, "mean")
    assert (named.before, named.after) == (x.mean(), y.mean())
    (named,) = _explained(column, Explanation("unit", 1, 0.0, 0.25), 0.01)
    assert (named.quantity, named.before) == ("median", column.medians[0])
    (named,) = _explained(column, Explanation("unit", 1, 0.0, 7.0), 0.01)  # no quantity agrees
    assert named.quantity == "median"


def test_another_mix_of_rows_is_not_a_change_of_the_unit() -> None:
    """Doubled values in more rows are not described as a change of the unit of the column.

    Doubled are 25% of the rows of X and 75% of those of Y.
    """
    twice = 1.0 + (np.arange(800) >= 600), 1.0 + (np.arange(800) >= 200)
    x, y = (factors * values**0.3 for factors, values in zip(twice, LOGNORMAL, strict=True))
    column = ColumnPair("v", x, y)
    assert 1.3 < column.medians[1] / column.medians[0] < 1.8
    assert describe_column(column, 0.01)[0].kind != "unit"


def test_shift_and_spread_are_both_described() -> None:
    column = ColumnPair("v", NORMAL[0], 3 * NORMAL[1] + 3)
    assert {change.kind for change in describe_column(column, 0.01)} == {"location", "spread"}


def share(member: Member, before: float, after: float) -> tuple[Member, Change]:
    return member, member.change(("v",), None, before, after, 0.01)


ROUNDED = Member("precision", (0,), 1.0)
SENTINEL = Member("value", (0,), -9999.0)
FAR = Member("extremes", (0,), -9999.0, upper=False)


def kinds_of(x: np.ndarray, y: np.ndarray, *shares: tuple[Member, Change]) -> list[str]:
    return [change.kind for change in describe_column(ColumnPair("v", x, y, shares), 0.01)]


def test_single_values_and_precision_come_before_shapes() -> None:
    value, far = share(SENTINEL, 0.0, 0.08), share(FAR, 0.0, 0.08)
    # The median of Y is lower because 8% of its values are sentinels, and by chance.
    sentinel = np.where(np.arange(800) < 64, -9999.0, NORMAL[1] - 0.05)
    assert kinds_of(NORMAL[0], sentinel, far, value) == ["value"]
    assert kinds_of(NORMAL[0], sentinel, far) == ["extremes"]
    # If the other values changed too, the sentinels do not explain the change.
    sentinel = np.where(np.arange(800) < 64, -9999.0, NORMAL[1] + 1)
    assert kinds_of(NORMAL[0], sentinel, far, value)[0] == "location"


def test_rounding_is_named_unless_another_change_causes_it() -> None:
    rounded = share(ROUNDED, 0.0, 1.0)
    assert kinds_of(NORMAL[0], np.round(NORMAL[1]), rounded) == ["precision"]
    assert kinds_of(3 * NORMAL[0], np.round(3 * NORMAL[1] + 4), rounded) == [
        "location",
        "precision",
    ]
    # A shift by a fraction and a change of the unit explain that values are not whole numbers.
    unrounded = share(ROUNDED, 1.0, 0.0)
    assert kinds_of(COUNTS[0], COUNTS[1] + 0.7, unrounded) == ["location"]
    whole = np.round(50 * LOGNORMAL)
    assert kinds_of(whole[0], 2.54 * whole[1], unrounded) == ["unit"]


def test_a_shift_of_a_frequent_value_across_a_gap_is_not_a_change_of_precision() -> None:
    """A shift of a column with a frequent maximum is described as a change of location.

    Most values are equal to the maximum 45, and no value is between 40 and 45.
    """
    values = np.round(np.random.default_rng(2).uniform(10, 40, size=(2, 400)), 2)
    values[:, :350] = 45.0
    tenths = share(Member("precision", (0,), 0.1), 0.9, 0.01)
    assert kinds_of(values[0], values[1] + 1.03, tenths) == ["location"]


def test_a_shift_of_skewed_values_is_not_described_by_the_values_that_it_moves() -> None:
    """A shift of an exponential column is described as a shift, not by its smallest values.

    A shifted exponential distribution equals its conditional distribution above a cut point.
    """
    right = 0
    for seed in range(20):
        x, y = np.random.default_rng(seed).exponential(100, size=(2, 300))
        low = share(Member("extremes", (0,), 40.0, upper=False), 0.33, float(np.mean(y <= 5)))
        right += kinds_of(x, y + 35, low) == ["location"]
    assert right >= 17


def test_a_shift_of_even_values_is_not_described_by_its_extremes() -> None:
    """A shift of a uniform column is described as a shift, although only its ends change."""
    x, y = np.random.default_rng(1).random((2, 300))
    low = share(Member("extremes", (0,), 0.1, upper=False), 0.1, 0.0)
    assert kinds_of(x, y + 0.1, low) == ["location"]
    assert kinds_of(x, y[y > 0.1], low) == ["extremes"]


def test_counts_are_not_multiplied_by_a_fraction() -> None:
    more = RNG.poisson(4.5, size=800).astype(float)
    assert kinds_of(COUNTS[0], more)[0] in ("location", "spread")
    assert kinds_of(COUNTS[0] + 1, 12 * (COUNTS[1] + 1)) == ["unit"]


@pytest.mark.parametrize(
    ("low", "high", "unit"), [((1, 2), (1, 3), 1), (range(1, 6), range(1, 11), 1),
                              (range(1, 6), range(1, 11), 0.1), (range(1, 21), range(1, 41), 1)],
)  # fmt: skip
def test_a_factor_of_discrete_values_maps_them_to_each_other(
    low: Any, high: Any, unit: Any
) -> None:
    """A column of integers was not multiplied by 2 if half of its new values are not even."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        x, y = (unit * rng.choice(values, 300).astype(float) for values in (low, high))
        assert "unit" not in kinds_of(x, y)
        assert kinds_of(x, 12 * unit * rng.choice(low, 300)) == ["unit"]


@pytest.mark.parametrize("factor", [1.3, 1.5, 3.0])
def test_an_estimated_factor_agrees_with_the_shown_medians(factor: float) -> None:
    named = 0
    for seed in range(20):
        x, y = np.random.default_rng(seed).exponential(size=(2, 300))
        change = describe_column(ColumnPair("v", x, factor * y), 0.01)[0]
        if change.kind == "unit":
            assert change.factor is not None
            assert change.is_approximate
            assert change.after / change.before == pytest.approx(change.factor, rel=0.06)
            named += 1
    assert named >= 8


@pytest.mark.parametrize("seed", range(6))
def test_an_estimated_factor_is_not_stated_if_the_medians_contradict_it(seed: int) -> None:
    """Two thirds of the rows with the larger values are lost: the tail shrinks, the median less."""
    rng = np.random.default_rng(seed)
    x, y = np.exp(rng.normal(2, 0.7, size=(2, 400))).round()
    kept = y[(y <= np.median(y)) | (rng.random(400) < 1 / 3)]
    for change in isodepth.two_sample_test(x[:, None], kept[:, None], random_state=0).changes:
        if change.kind == "unit":
            assert change.factor == pytest.approx(change.after / change.before, rel=0.06)


def test_factors_of_columns_of_both_signs_are_changes_of_spread() -> None:
    assert kinds_of(NORMAL[0], 2.54 * NORMAL[1]) == ["spread"]
    change = describe_column(ColumnPair("v", NORMAL[0], 1000 * NORMAL[1]), 0.01)[0]
    assert (change.kind, change.factor) == ("unit", 1000.0)
    assert change.quantity == "interquartile range"  # the medians are about 0


def skewed(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.round(np.exp(rng.normal(3, 1, n)))


def two_groups(rng: np.random.Generator, n: int) -> np.ndarray:
    """Draw from a mixture of N(3, 1) and 1e6 times a lognormal distribution, half each.

    The median is near the gap between the two groups.
    """
    return np.where(rng.random(n) < 0.5, rng.normal(3, 1, n), 1e6 * rng.lognormal(size=n))


def capped(rng: np.random.Generator, n: int) -> np.ndarray:
    """Draw whole numbers, about a quarter of which equal the maximum."""
    return np.minimum(np.floor(rng.uniform(0, 180, n)), 137)


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, n: rng.normal(20, 5, n), lambda rng, n: rng.gamma(2, 10, n), skewed, capped,
        lambda rng, n: np.round(rng.normal(40, 10, n)), two_groups,
    ],
)  # fmt: skip
@pytest.mark.parametrize("change", ["location", "spread", "unit", "sign"])
def test_the_kind_is_right_in_most_samples(draw: Any, change: str) -> None:
    right = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x, y = draw(rng, 300), draw(rng, 300)
        middle = np.median(y)
        scaled = middle + 1.5 * (y - middle)
        if change == "location":
            y = y + 0.5 * y.std()
        elif change == "spread":
            y = scaled if draw not in (skewed, capped) else np.round(scaled)
        else:
            y = 2.54 * y if change == "unit" else -y
        right += describe_column(ColumnPair("v", x, y), 0.01)[0].kind == change
    # The median of `two_groups` lies in a gap, so that a change of spread also moves the median.
    assert right >= (15 if draw is two_groups and change == "spread" else 18)


@pytest.mark.parametrize("center", [-1.0, 1.0])
def test_a_shift_of_symmetric_values_is_a_change_of_sign_only_if_all_signs_change(
    center: float,
) -> None:
    """A shift of symmetric values by twice their center equals a negation.

    It is described as a change of sign only if nearly all values change their sign. With the center
    1, 16% of the values do not.
    """
    for seed in range(20):
        x, y = np.random.default_rng(seed).normal(size=(2, 300))
        assert kinds_of(x + center, y - center) == ["location"]
        assert kinds_of(x + 3 * center, y - 3 * center) == ["sign"]


def test_asymmetric_values_of_both_signs_are_negated() -> None:
    """Negated skewed values are a change of sign, and shifted ones a change of location.

    A fifth of the values is negative.
    """
    for seed in range(20):
        x, y = np.random.default_rng(seed).exponential(size=(2, 600)) - 0.22
        assert kinds_of(x, -y) == ["sign"]
        assert kinds_of(x, y - 0.94) == ["location"]


def exchanged(*columns: tuple[np.ndarray, np.ndarray]) -> set[str]:
    """Return the names of exchanged columns among a, b, ..., given their values in X and Y."""
    pairs = [ColumnPair(name, x, y) for name, (x, y) in zip("abcd", columns, strict=False)]
    found = exchanged_columns(pairs, dict.fromkeys("abcd", 0.01))
    assert all(len({*change._values}) == 2 for change in found.values())
    return {*found}


def test_exchanged_columns_are_recognized() -> None:
    low, high = NORMAL, 9 + np.exp(RNG.normal(0, 0.3, size=(2, 800)))
    a, b, c = (low[0], high[1]), (high[0], low[1]), (3 * low[0], 3 * low[1] + 5)
    assert exchanged(a, b) == exchanged(a, b, c) == {"a", "b"}
    # A third column has such values too, ranges differ, or precisions differ.
    assert not exchanged(a, b, (low[0], low[1] + 5))
    assert not exchanged((low[0], np.append(high[1], [90.0] * 12)), b)
    assert not exchanged((low[0], high[1].round(2)), b)


def test_columns_of_few_values_are_not_exchanged() -> None:
    """The shares of smokers and of retired persons are 35% and 12%, then 12% and 35%."""
    smoker, retired = (RNG.random((2, 1000)) < 0.35), (RNG.random((2, 1000)) < 0.12)
    frames = [
        pd.DataFrame({"smoker": a, "retired": b}).astype(int)
        for a, b in ((smoker[0], retired[0]), (retired[1], smoker[1]))
    ]
    result = isodepth.two_sample_test(*frames, n_permutations=99, random_state=0)
    assert {each.columns for each in result.changes} >= {("smoker",), ("retired",)}
    assert "exchange" not in {each.kind for each in result.changes}


def test_small_shifts_in_opposite_directions_are_not_an_exchange() -> None:
    """Yearly columns of similar values, one of which is lower and one higher in Y."""
    for seed in range(20):
        x = 50 + 10 * np.random.default_rng(seed).normal(size=(4, 300))
        assert not exchanged((x[0], x[1] + 6), (x[2] + 6, x[3]))


@pytest.mark.parametrize("values", [np.full(5, 1e300), np.array([0.0, 1e-310, 1e300]), np.ones(1)])
def test_odd_values_are_described(values: np.ndarray) -> None:
    with np.errstate(all="raise", under="ignore"):
        changes = describe_column(ColumnPair("v", values, -values / 2), 0.01)
    assert all(math.isfinite(change.before) for change in changes)


def test_dependence_by_hand() -> None:
    ranks = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 15.0]])
    change = dependence_change(("v", "w"), ranks, 0 * ranks, 0.5)
    assert (change.before, change.after) == (pytest.approx(0.5), 0.0)
    x, y = np.array([1.0, 2.0, 4.0]), np.array([3.0, 5.0])
    change = conditional_change(("v", "w"), "a", x, y, 0.5)
    assert change.text == "median of v within w = a: 2 -> 4"
    assert conditional_change(("v", "w"), "a", x, np.array([2.0, 2.0, 2.0]), 0.5).quantity == "mean"


def test_a_category_is_named_only_if_its_own_values_changed() -> None:
    """Values within category a are as in X, but the values of the other rows are lower in Y."""
    rng = np.random.default_rng(5)
    a = [rng.poisson(48, 600) for _ in range(2)]
    others = [rng.poisson(mean, 1200) for mean in (50, 30)]
    frames = [
        pd.DataFrame({"v": np.concatenate(both), "w": ["a"] * 600 + ["b"] * 1200})
        for both in zip(a, others, strict=True)
    ]
    result = isodepth.two_sample_test(*frames, n_permutations=99, random_state=0)
    (within,) = [each for each in result.changes if each.kind == "dependence"]
    assert (within.value, within.quantity) == ("b", "median")


def test_a_change_of_the_mix_is_no_change_within_a_category() -> None:
    """The share of `sex` changes; `height` given `sex` and `code` given `label` do not."""

    def people(share: float, more: float = 0.0) -> pd.DataFrame:
        sex = np.where(rng.random(500) < share, "F", "M")
        height = np.where(sex == "F", 165 + more, 178) + rng.normal(0, 6, 500)
        label = rng.choice(["low", "mid", "high"], 500, p=[1.1 - share, share - 0.3, 0.2])
        code = pd.Series(label).map({"low": 1, "mid": 2, "high": 3})
        return pd.DataFrame({"height": height, "sex": sex, "label": label, "code": code})

    for seed in range(5):
        rng = np.random.default_rng(seed)
        x, mixed, taller = people(0.5), people(0.8), people(0.8, more=8.0)
        options = {"n_permutations": 199, "random_state": seed}
        changes = isodepth.two_sample_test(x, mixed, **options).changes
        assert {each.kind for each in changes if each.columns == ("sex",)} == {"shares"}
        assert not [each.text for each in changes if each.kind == "dependence"]
        changes = isodepth.two_sample_test(x, taller, **options).changes
        within = [each for each in changes if each.kind == "dependence"]
        assert {(each.columns, each.value) for each in within} == {(("height", "sex"), "F")}


def test_spreads_near_the_limits_of_floating_point_are_described() -> None:
    tiny, huge = NORMAL[0] * 1e-310, NORMAL[1] * 1e305
    # The number of ratios is even, and the sum of two ratios overflows.
    values = np.maximum(np.linspace(-0.1, 1.5, 40), 0)
    for x, y in ((tiny, huge), (huge, tiny), (values * 1e-8, values * 1.1e300)):
        (change, *_) = describe_column(ColumnPair("a", x, y), 0.01)
        assert change.columns == ("a",)


def test_a_description_does_not_depend_on_the_order_of_the_rows() -> None:
    rng = np.random.default_rng(0)
    x, y = np.sort(rng.exponential(size=(2, 25_000)))
    for changed in (1.5 * y, y + 0.3, np.where(y > 2, 9.0, y)):
        of_sorted, of_shuffled = (
            describe_column(ColumnPair("a", a, b), 0.01)
            for a, b in ((x, changed), (rng.permutation(x), rng.permutation(changed)))
        )
        assert [c.text for c in of_sorted] == [c.text for c in of_shuffled]
    (change, *_) = describe_column(ColumnPair("a", x, 1.5 * y), 0.01)
    assert (change.before, change.after) == (np.median(x), np.median(1.5 * y))


@pytest.mark.parametrize("start", [1.7e9, 1.7e12, 4e15, -1e12])
def test_the_difference_of_large_numbers_is_visible(start: float) -> None:
    x, y = start + np.random.default_rng(0).normal([[0.0], [900.0]], 1000, size=(2, 300))
    result = isodepth.two_sample_test(x[:, None], y[:, None], n_permutations=19, random_state=0)
    before, after = map(float, result.headline.rstrip(".").split("median ")[1].split(" -> "))
    assert after - before == pytest.approx(np.median(y) - np.median(x), abs=100)


def test_limits_of_large_values_are_not_rounded() -> None:
    x, y = 1.7e9 + np.random.default_rng(0).normal(size=(2, 500, 1)).round(1)
    y[:40] += 1e5
    (change, *_) = isodepth.two_sample_test(x, y, n_permutations=99, random_state=0).changes
    assert change.limit is not None
    assert f"{change.side} {change.limit:.0f}:" in change.text


def test_medians_of_large_integers_are_the_values_of_the_user(tmp_path: Path) -> None:
    """Medians of integers beyond 2**53 are shown exactly.

    Floats are exact only after subtracting the minimum, which is then added to the medians.
    """
    rng, base = np.random.default_rng(0), 1_700_000_000_000_000_000
    x = pd.DataFrame({"t": base + rng.integers(0, 60, 500), "x": rng.normal(size=500)})
    y = x.assign(t=x["t"] + 60)
    medians = [base + round(float(np.median(t["t"] - base))) for t in (x, y)]
    result = isodepth.two_sample_test(x, y, n_permutations=99, random_state=0)
    assert result.headline.endswith(f"t: median {medians[0]} -> {medians[1]}.")
    assert [result.changes[0].before, result.changes[0].after] == medians
    monitor = isodepth.Monitor(x, random_state=0, path=tmp_path / "m.npz")
    found = monitor.check(y).changes[0]
    assert found.after == medians[1]
    assert f"{found.before} -> {medians[1]}" in found.text
    assert isodepth.Monitor.load(tmp_path / "m.npz", autosave=False).verdicts[0].changes[0] == found
    again = isodepth.Monitor(x, **monitor.settings)
    assert again.settings == monitor.settings


def test_a_few_wrong_rows_are_not_described_as_another_change() -> None:
    """A shift may fit better by chance. It is not named if only extreme values are significant."""
    named = []
    for seed in range(8):
        x, y = np.random.default_rng(seed).normal(3.5, 0.4, size=(2, 209, 1))
        y[:8] *= 10
        result = isodepth.two_sample_test(x, y, n_permutations=99, random_state=0)
        named += [change.kind for change in result.changes]
    assert len(named) >= 6
    assert set(named) == {"extremes"}


def test_standard_deviations_are_those_of_pandas() -> None:
    counts = [4, 12, 12, 4]
    x, y = np.repeat([0.0, 1, 2, 3], counts), np.repeat([-2.0, 1, 2, 5], counts)
    (change,) = describe_column(ColumnPair("v", x, y), 0.01)
    assert change.quantity == "standard deviation"
    expected = [pd.Series(x).std(), pd.Series(y).std()]
    assert [change.before, change.after] == pytest.approx(expected, rel=1e-12)


def compared(x: Any, y: Any, **kinds: str) -> Any:
    frames = [
        each if isinstance(each, pd.DataFrame) else pd.DataFrame({"v": each}) for each in (x, y)
    ]
    return isodepth.two_sample_test(*frames, n_permutations=99, random_state=0, kinds=kinds or None)


@pytest.mark.parametrize(
    ("convert", "text"),
    [
        (lambda t: 1.8 * t + 32, "values multiplied by 1.8, plus 32, median "),
        (lambda t: (1.8 * t + 32).round(1), "values multiplied by 1.8, plus 32, median "),
        (lambda t: t + 273.15, "all values plus 273.15, median "),
        # Whole degrees do not decide the factor.
        (lambda t: (1.8 * t + 32).round(), "median "),
        (lambda t: t + 273.7, "median "),
    ],
)
def test_temperatures_in_other_units_are_named_if_decimals_decide(convert: Any, text: str) -> None:
    x, y = np.random.default_rng(0).normal(15, 8, size=(2, 300)).round(1)
    assert compared(x, convert(y)).changes[0].text.startswith(f"v: {text}")
    if "multiplied" in text:
        back = compared(convert(x), y).changes[0]
        assert (back.kind, back.factor) == ("unit", pytest.approx(1 / 1.8))


def test_a_constant_is_named_for_codes_and_not_for_counts() -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        x, y = rng.integers(1, 6, size=(2, 300))
        assert compared(x, y + 1).changes[0].text.startswith("v: all values plus 1, median 3 -> 4")
        assert "plus" not in compared(rng.poisson(4, 300), rng.poisson(5, 300)).headline
        # Two periods of time are not a change of all values.
        assert "plus" not in compared(x, y + 5).headline


@pytest.mark.parametrize(
    ("unit", "words"),
    [(1.0, "whole numbers"), (5.0, "multiples of 5"), (100.0, "multiples of 100")],
)
def test_precision_is_named_by_the_coarsest_unit_of_all_new_values(unit: float, words: str) -> None:
    x, y = np.random.default_rng(0).gamma(3, 2000, size=(2, 300))
    changes = compared(x, unit * np.round(y / unit)).changes
    precision = [each.text for each in changes if each.kind == "precision"]
    assert precision == [f"v: {words} 0% -> 100%"]


def test_shares_of_columns_with_missing_values_are_those_of_the_known_values() -> None:
    def texts(x: np.ndarray, y: np.ndarray) -> list[str]:
        frames = [pd.DataFrame({"v": v, "w": w}) for v, w in ((x, others[0]), (y, others[1]))]
        return [each.text for each in compared(*frames).changes]

    x, y, *others = np.random.default_rng(0).normal(size=(4, 400))
    y[:60] = -9.0
    assert texts(x, y) == ["v = -9: 0% -> 15%"]
    x[200:] = np.nan
    assert {*texts(x, y)} == {"v: missing 50% -> 0%", "v = -9: 0% -> 15% of the known values"}


def test_rank_correlations_are_those_of_pandas() -> None:
    """Rows with both values are used, and ties have mean ranks."""
    rng = np.random.default_rng(0)
    frames = []
    for factor in (0.9, 0.0):
        a = rng.normal(size=500)
        b = factor * a + rng.normal(0, 0.4, 500)
        frames.append(pd.DataFrame({"a": a.round(), "b": b.round()}))
    frames[0].loc[:99, "a"] = frames[1].loc[50:200, "b"] = np.nan
    change = next(c for c in compared(*frames).changes if c.kind == "dependence")
    expected = [frame["a"].corr(frame["b"], method="spearman") for frame in frames]
    assert [change.before, change.after] == pytest.approx(expected)


def test_times_with_a_zone_are_shown_in_utc() -> None:
    times = pd.Series(pd.date_range("2024-01-01", periods=300, freq="7h", tz="America/New_York"))
    x, y = (pd.DataFrame({"v": times + pd.Timedelta(days=each)}) for each in (0, 90))
    result = compared(x, y, v="numeric")
    median = y["v"].dt.tz_convert("UTC").quantile(0.5).strftime("%Y-%m-%d %H:%M UTC")
    assert result.changes[0].text.endswith(median)
    assert next(check.text for check in result.checks if "to" in check.text).endswith(
        "UTC, without overlap"
    )
