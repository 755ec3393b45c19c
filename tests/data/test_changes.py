"""Changes of columns in the units of the data, against values computed by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from isodepth.data import changes
from isodepth.data.changes import Change, format_pair

X, Y = np.array([4.0, 2.0, math.nan, 1.0, 3.0]), np.array([12.0, 4.0, 6.0, 2.0, 8.0, 10.0])
FEW = np.array([0.0, 0.0, 0.0, 0.0, 4.0])
RANKS = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 15.0]])


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
    ("kind", "arguments", "text"),
    [
        ("location", ("v", X, Y), "v: median 2.5 -> 7.0"),
        ("location", ("v", FEW, 0 * Y), "v: mean 0.8 -> 0.0"),
        ("spread", ("v", X, Y), "v: interquartile range 1.5 -> 5.0"),
        ("spread", ("v", FEW, -FEW / 2), "v: standard deviation 1.6 -> 0.8"),
        ("spread", ("v", X, X + 1), "v: standard deviation 1.1 -> 1.1"),
        ("spread", ("v", X, FEW), "v: standard deviation 1.12 -> 1.60"),
        ("spread", ("v", FEW, X), "v: standard deviation 1.60 -> 1.12"),
        ("shape", ("v", X, Y), "v: share of values up to 4 100% -> 33%"),
        ("missing", ("v", 0.25, 0.5), "v: missing 25% -> 50%"),
        ("dependence", (("v", "w"), RANKS, 0 * RANKS), "rank correlation of v and w: 0.5 -> 0.0"),
        ("conditional", (("v", "w"), "a", X, Y), "median of v within w = a: 2.5 -> 7.0"),
    ],
)
def test_values_and_texts_of_changes(kind: str, arguments: tuple, text: str) -> None:
    change = getattr(changes, f"{kind}_change")(*arguments, 0.5)
    assert change.kind == ("dependence" if kind == "conditional" else kind)
    assert str(change) == f"{text} (p = 0.5)"
    assert change.to_dict() == {**vars(change), "columns": list(change.columns), "text": text}
    assert (
        str(Change("regions", (), "distance", 0.5, 2.0, 0.04)) == "distance 0.5 -> 2.0 (p = 0.04)"
    )
