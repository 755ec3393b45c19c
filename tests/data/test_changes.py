"""Changes of columns in the units of the data, against values computed by hand."""

from __future__ import annotations

import math

import pytest

from isodepth.results.changes import Change, format_pair, lower_percent


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        # Two digits of the difference, but no decimals of numbers from 10 on that differ by 1.
        (9.5, 2.0, "9.5 2.0"), (10.0, 8.6, "10 9"), (20.25, 21.25, "20 21"),
        (20.25, 21.2, "20.25 21.20"), (-12.0, -3.0, "-12 -3"), (0.5, 1.5, "0.5 1.5"),
        (-0.04, 5.0, "0 5"), (5.0, 5.0, "5 5"), (1.0, 1 + 2e-9, "1 1"),
        (1.0, 1 + 3e-8, "1.00000000 1.00000003"),
        # Very large and very small numbers have an exponent.
        (9_999_999.0, 2.0, "9999999 2"), (1e7, 2.0, "1e+07 2"), (6e6, -6e6, "6e+06 -6e+06"),
        (0.0, 1.2e-4, "0.00000 0.00012"), (0.0, 9e-5, "0 9e-05"), (0.0, 0.0, "0 0"),
        (math.nan, 3.0, "nan 3"), (2.0, math.inf, "2 inf"),
    ],
)  # fmt: skip
def test_pairs_of_numbers_show_their_difference(before: float, after: float, shown: str) -> None:
    assert " ".join(format_pair(before, after)) == shown
    percents = format_pair(before / 100, after / 100, percent=True)
    assert " ".join(percents) == shown.replace(" ", "% ") + "%"


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (Change("location", ("v",), "median", 2.5, 7.0, 0.5), "v: median 2.5 -> 7.0"),
        (Change("missing", ("v",), "missing", 0.25, 0.5, 0.5), "v: missing 25% -> 50%"),
        (Change("value", ("v",), "share", 0.0, 0.08, 0.5, value="-9999"), "v = -9999: 0% -> 8%"),
        (Change("repeated", (), "repeated rows", 0.0, 0.46, 0.5), "repeated rows: 0% -> 46%"),
        (Change("unit", ("v",), "values multiplied by 10, median", 1.0, 10.0, 0.5),
         "v: values multiplied by 10, median 1 -> 10"),
        (Change("exchange", ("v", "w"), "median", 1.0, 10.0, 0.5),
         "v and w exchanged their values: median of v 1 -> 10"),
        (Change("joint", ("v", "w"), "joint shift: v and w higher", 0.0, 0.3, 0.5),
         "joint shift: v and w higher"),
        (Change("regions", (), "distance", 0.5, 2.0, 0.5), "distance 0.5 -> 2.0"),
    ],
)  # fmt: skip
def test_texts_of_changes(change: Change, text: str) -> None:
    assert str(change) == f"{text} (p = 0.5)"
    assert change.to_dict() == {**vars(change), "columns": list(change.columns), "text": text}


@pytest.mark.parametrize("count", [1, 7, 99, 100, 290, 999, 1000, 5700, 9960, 9999, 10000])
def test_lower_bounds_are_rounded_down(count: int) -> None:
    # `count` is the share in units of 1/10000, so that the reference needs integers only.
    step = 100 if count >= 1000 else 10 if count >= 100 else 1
    shown = lower_percent(count / 10000)
    assert round(100 * float(shown.removesuffix("%"))) == count // step * step
    assert "e" not in shown
