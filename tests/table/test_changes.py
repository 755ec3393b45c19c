"""Texts of changes, with numbers in the units of the data, equal texts written by hand."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

import isodepth
from isodepth.errors import ColumnWarning
from isodepth.functions.changes import QUANTITIES, Change, for_kinds, format_pair, lower_percent
from isodepth.table.columns import Reason
from isodepth.table.kinds import ColumnKind


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        # Two digits of the difference, but no decimals of numbers from 10 on that differ by 1.
        (9.5, 2.0, "9.5 2.0"), (10.0, 8.6, "10 9"), (20.25, 21.25, "20 21"),
        (20.25, 21.2, "20.25 21.20"), (-12.0, -3.0, "-12 -3"), (0.5, 1.5, "0.5 1.5"),
        (-0.04, 5.0, "0 5"), (5.0, 5.0, "5 5"), (1.0, 1 + 2e-9, "1 1.000000002"),
        (1.0, 1 + 3e-8, "1 1.00000003"),
        # Very small numbers have an exponent.
        (9_999_999.0, 2.0, "9999999 2"), (1e7, 2.0, "10000000 2"), (6e6, -6e6, "6000000 -6000000"),
        (0.0, 1.2e-4, "0.00000 0.00012"), (0.0, 9e-5, "0 9e-05"), (0.0, 0.0, "0 0"),
        (math.nan, 3.0, "nan 3"), (2.0, math.inf, "2 inf"),
    ],
)  # fmt: skip
def test_pairs_of_numbers_show_their_difference(before: float, after: float, shown: str) -> None:
    assert " ".join(format_pair(before, after)) == shown
    percents = format_pair(before / 100, after / 100, percent=True)
    # Percentages have no trailing zeros.
    numbers = [float(each.rstrip("%")) for each in percents]
    np.testing.assert_array_equal(numbers, [*map(float, shown.split())])
    assert not any(re.search(r"\.\d*0%$", each) for each in percents)


def change(
    kind: str, columns: str, quantity: str, both: tuple[float, float], **more: Any
) -> Change:
    """Return a `Change` of the kind `kind`, of columns with names of one letter.

    `columns` has the names as one string, such as "ab" for two columns. `both` are the values
    before and after, and `more` further attributes.
    """
    before, after = both
    return Change(
        kind=kind, columns=(*columns,), quantity=quantity, before=before, after=after, pvalue=0.5,
        **more,
    )  # fmt: skip


SHARES = 0.25, 0.5
NUMBERS = 1.0, 10.0
DAYS = 19737.0, 19768.5
TEXTS = [
    (change("location", "v", "median", (2.5, 7.0)), "v: median 2.5 -> 7.0"),
    (change("location", "v", "mean", NUMBERS, n_batches=4), "v: mean (mean of 4 batches) 1 -> 10"),
    (change("spread", "v", "interquartile range", NUMBERS), "v: interquartile range 1 -> 10"),
    (change("missing", "v", "share", SHARES), "v: missing 25% -> 50%"),
    (change("value", "v", "share", (0.0, 0.08), value=-9999.0), "v = -9999: 0% -> 8%"),
    (change("shares", "v", "share", SHARES, value="a"), "v = a: 25% -> 50%"),
    (change("repeated", "", "share", (0.0, 0.46)), "repeated rows: 0% -> 46%"),
    (change("extremes", "", "share", SHARES), "rows far from the center: 25% -> 50%"),
    (change("extremes", "v", "share", SHARES), "v far from its usual values: 25% -> 50%"),
    (change("extremes", "v", "share", SHARES, limit=12345.6, side="below"),
     "v below 12346: 25% -> 50%"),
    (change("shape", "v", "share", SHARES, limit=0.5, side="at most"),
     "v: share of values up to 0.5 25% -> 50%"),
    (change("shape", "v", "share", SHARES, limit=2.0, side="within"),
     "v: share of values within 2 of the median 25% -> 50%"),
    (change("precision", "v", "share", SHARES, multiple_of=0.1), "v: whole tenths 25% -> 50%"),
    (change("precision", "v", "share", SHARES, multiple_of=5.0), "v: multiples of 5 25% -> 50%"),
    (change("unit", "v", "median", NUMBERS, factor=10.0),
     "v: values multiplied by 10, median 1 -> 10"),
    (change("unit", "v", "median", NUMBERS, factor=1.2531, n_batches=2),
     "v: values multiplied by 1.253, median (mean of 2 batches) 1 -> 10"),
    (change("unit", "v", "median", NUMBERS, factor=2.4, is_approximate=True),
     "v: values multiplied by about 2.4, median 1 -> 10"),
    (change("unit", "v", "median", NUMBERS, factor=1.8, shift=32.0),
     "v: values multiplied by 1.8, plus 32, median 1 -> 10"),
    (change("location", "v", "median", NUMBERS, shift=-273.15),
     "v: all values minus 273.15, median 1 -> 10"),
    (change("value", "v", "share", SHARES, value=0.0, of_known_values=True),
     "v = 0: 25% -> 50% of the known values"),
    (change("sign", "v", "median", (1.0, -1.0), factor=-1.0), "v: sign changed, median 1 -> -1"),
    (change("exchange", "vw", "median", NUMBERS),
     "v and w exchanged their values: median of v 1 -> 10"),
    (change("dependence", "vw", "rank correlation", (0.0, 0.3)),
     "rank correlation of v and w: 0.0 -> 0.3"),
    (change("dependence", "vw", "median", NUMBERS, value="a"), "median of v within w = a: 1 -> 10"),
    (change("dependence", "vw", "share", SHARES, value="a", limit=1.0, side="at most"),
     "share up to the median of v within w = a: 25% -> 50%"),
    (change("joint", "vw", "median", (0.0, 0.3), description="joint shift: v and w higher"),
     "joint shift: v and w higher"),
    (change("regions", "", "share", SHARES, description="rows in a region"),
     "rows in a region 25% -> 50%"),
    # Dates are compared as days since 1970.
    (change("location", "v", "median", DAYS, is_date=True),
     "v: median 2024-01-15 -> 2024-02-15 12:00"),
    (change("location", "v", "median", DAYS, is_date=True, is_utc=True, shift=31.0),
     "v: median 2024-01-15 UTC -> 2024-02-15 12:00 UTC"),
    (change("exchange", "vw", "median", DAYS, is_date=True),
     "v and w exchanged their values: median of v 2024-01-15 -> 2024-02-15 12:00"),
    (change("spread", "v", "interquartile range", NUMBERS, is_date=True),
     "v: interquartile range 1 -> 10"),
    (change("value", "v", "share", SHARES, value=19737.0, is_date=True),
     "v = 2024-01-15: 25% -> 50%"),
    (change("extremes", "v", "share", SHARES, limit=19737.0, side="at least", is_date=True),
     "v at least 2024-01-15: 25% -> 50%"),
    (change("shape", "v", "share", SHARES, limit=3.0, side="within", is_date=True),
     "v: share of values within 3 of the median 25% -> 50%"),
    (change("missing", "v", "share", SHARES, is_date=True), "v: missing 25% -> 50%"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "text"), TEXTS)
def test_texts_of_changes(change: Change, text: str) -> None:
    assert str(change) == f"{text} (p = 0.5)"
    assert change.to_dict() == {**vars(change), "columns": list(change.columns), "text": text}
    assert change.quantity in QUANTITIES
    assert eval(repr(change)) == change
    assert "None" not in repr(change)


def test_changes_of_columns_of_dates_are_marked() -> None:
    changes = [each for each, _ in TEXTS if not each.is_date]
    marked = [bool(each.columns) and each.columns[0] == "v" for each in changes]
    kinds = [
        ColumnKind("v", "date", "numeric", Reason.SINCE_1970.value, reasons=("since_1970",)),
        ColumnKind("w", "numeric", "numeric"),
    ]
    assert [each.is_date for each in for_kinds(changes, kinds)] == marked
    assert for_kinds(changes, kinds[1:]) == changes


WORDS = [f"{i}A" for i in range(30)]


def test_words_that_are_read_as_missing_are_not_called_missing() -> None:
    numbers = [*map(str, range(90))]
    x, y = (pd.DataFrame({"v": values}) for values in (numbers, [*numbers[:60], *WORDS]))
    with pytest.warns(ColumnWarning, match="read as missing"):
        result = isodepth.two_sample_test(
            x, y, kinds={"v": "numeric"}, n_permutations=99, random_state=0
        )
    (change,) = (each for each in result.changes if each.kind == "missing")
    assert change.text == "v: missing or not a number 0% -> 33%"


def test_the_documentation_lists_all_quantities() -> None:
    entry = (Change.__doc__ or "").partition("quantity : str")[2].partition("before, after")[0]
    assert re.findall('"(.*?)"', entry) == [*QUANTITIES]


@pytest.mark.parametrize("count", [1, 7, 99, 100, 290, 999, 1000, 5700, 9960, 9999, 10000])
def test_lower_bounds_are_rounded_down(count: int) -> None:
    # `count` is the share in units of 1/10000, so that the reference needs integers only.
    step = 100 if count >= 1000 else 10 if count >= 100 else 1
    shown = lower_percent(count / 10000)
    assert round(100 * float(shown.removesuffix("%"))) == count // step * step
    assert "e" not in shown


def test_an_integer_that_was_subtracted_is_added_to_the_numbers_of_a_change() -> None:
    base = 1_700_000_000_000_000_000
    kinds = [ColumnKind("t", "numeric", "numeric", option=base)]
    median = change("location", "t", "median", (32.0, 90.4))
    spread = change("spread", "t", "interquartile range", (3.0, 9.0))
    within = change("shape", "t", "share", (0.1, 0.5), limit=7.0, side="within")
    limit = change("extremes", "t", "share", (0.0, 0.5), limit=7.0, side="above")
    value = change("value", "t", "share", (0.0, 0.5), value=5.0)
    other = change("location", "x", "median", (32.0, 90.0))
    texts = [each.text for each in for_kinds([median, spread, within, limit, value, other], kinds)]
    assert texts == [
        f"t: median {base + 32} -> {base + 90}",
        spread.text,
        within.text,
        f"t above {base + 7}: 0% -> 50%",
        f"t = {base + 5}: 0% -> 50%",
        other.text,
    ]
