"""Results of `compare`: largest gap, units, distance, and printed summary."""

from __future__ import annotations

import numpy as np
import pytest
from combined import compare_and_test

import isodepth

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 3))
Y = RNG.standard_normal((50, 3)) * [1, 1, 3] + [0, 2, 0]


@pytest.mark.parametrize("levels", ["exact", 7])
def test_the_largest_gap_is_found_with_its_level_and_direction(levels) -> None:
    result = isodepth.compare(X, Y, scale=None, levels=levels, random_state=0)
    worst = result.largest_gap
    at = int(np.argmax(result.gaps))
    assert worst.gap == result.gaps[at] == result.gaps.max()
    assert worst.level == result.levels[at]
    np.testing.assert_array_equal(worst.direction, result.gap_directions[at])
    x, y = result.regions
    attained = x.support(worst.direction, worst.level) - y.support(worst.direction, worst.level)
    assert abs(attained) == pytest.approx(worst.gap, rel=1e-12)
    squares = {f"column {j}": value for j, value in enumerate(worst.direction**2)}
    assert {each.column: each.fraction for each in worst.contributions} == pytest.approx(squares)


def test_it_prints_sizes_and_where() -> None:
    result = isodepth.compare(X, Y, scale=None, random_state=0)
    first, second, *others = repr(result).splitlines()
    assert first == f"X and Y are at distance {result.distance:.3g}, not tested."
    assert second.strip().startswith(f"largest contributions: {result.contributions[0].column} ")
    assert f"distance {result.distance:.4g} in {result.units}" in "".join(others)
    assert result.signature not in repr(result)


@pytest.mark.parametrize(
    ("options", "unit"),
    [
        ({}, "units of the columns"),
        ({"scale": "pooled"}, "robust standard deviations"),
        ({"scale": [1.0, 2.0, 3.0]}, "given scales"),
    ],
)
def test_the_distance_has_its_units(options: dict, unit: str) -> None:
    result = isodepth.compare(X, Y, random_state=0, **options)
    assert unit in result.units
    assert result.to_dict()["units"] == result.units
    scale = options.get("scale")
    assert result.distance == isodepth.distance(X, Y, random_state=0, scale=scale)


@pytest.mark.parametrize(
    ("scale", "unit"),
    [
        ("pooled", "robust standard deviations"),
        (None, "the units"),
        ([1.0, 2.0, 3.0], "given scales"),
    ],
)
def test_the_comparison_of_a_test_has_the_units_of_the_test(scale: object, unit: str) -> None:
    test = isodepth.two_sample_test(X, Y, n_permutations=1, scale=scale, random_state=0)
    assert test._comparison.units == f"{unit} of the columns"


def test_of_many_columns_three_are_printed() -> None:
    wide = RNG.standard_normal((30, 6))
    second = repr(isodepth.compare(wide, wide + 1.0, scale=None, random_state=0)).splitlines()[1]
    assert second.count("column") == 3


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("p", [1, 3.5, float("inf")])
def test_the_distance_is_the_mean_of_the_gaps(p: float, normalize: bool) -> None:
    result = isodepth.compare(X, Y, scale=None, p=p, eps=0.25, normalize=normalize, random_state=0)
    widths = np.diff(result.level_intervals, axis=1)[:, 0]
    if p == float("inf"):
        expected = result.gaps.max()
    else:
        total = float((widths * result.gaps**p).sum())
        expected = (total / 0.75 if normalize else total) ** (1 / p)
    assert result.distance == pytest.approx(expected, rel=1e-12)


def test_tests_are_not_options_of_a_comparison() -> None:
    result = isodepth.compare(X, Y, random_state=0)
    assert result.headline == f"X and Y are at distance {result.distance:.3g}, not tested."
    for option in ("n_permutations", "tolerance", "blocks"):
        with pytest.raises(isodepth.errors.UnknownOptionError, match="is an option of two_sample_"):
            isodepth.compare(X, Y, **{option: 19})


def test_numbers_of_rows_are_those_as_passed_and_those_in_the_distance() -> None:
    holes = X.copy()
    holes[:7, 1] = np.nan
    result = compare_and_test(holes, Y, nan_policy="omit", n_permutations=19, random_state=0)
    assert result.n_rows == result.test.n_rows == result.test.n_used_rows == (60, 50)
    assert result.n_used_rows == (53, 50)
    assert result.to_dict()["n_rows"] == result.to_dict()["missing"]["n_rows"] == [60, 50]
    assert result.headline == result.test.headline
    whole = isodepth.compare(X, Y, random_state=0)
    assert whole.n_rows == whole.n_used_rows == (60, 50)
    assert whole.without_rows().n_rows == (60, 50)
