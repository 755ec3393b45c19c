"""Printed results have no signatures, notes about possible codes, and facts stated twice."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import isodepth
from isodepth.errors import InvalidInputError
from isodepth.functions.changes import format_pair


def frames():
    rng = np.random.default_rng(0)
    columns = {f"flag{i}": rng.integers(0, 2, 400) for i in range(24)}
    frame = pd.DataFrame({"v": rng.normal(size=400), "c": rng.choice(list("xyz"), 400), **columns})
    return frame[:200], frame[200:]


def test_signatures_and_notes_about_codes_are_not_printed() -> None:
    X, Y = frames()
    test = isodepth.two_sample_test(X, Y, n_permutations=19, random_state=0)
    compared = isodepth.compare(X, Y, random_state=0)
    matrix = isodepth.pairwise({"x": X[["v"]], "y": Y[["v"]]})
    for result in (test, compared, matrix):
        assert result.signature
        for printed in (repr(result), result._repr_html_()):
            assert result.signature not in printed
            assert "codes" not in printed
    assert any("if they are codes" in kind.note for kind in test.kinds)


def test_a_check_that_a_change_repeats_is_not_printed_again() -> None:
    X, Y = (frame.copy() for frame in frames())
    Y["v"] = np.nan
    Y.iloc[:60, 1] = "new"
    test = isodepth.two_sample_test(X, Y, n_permutations=199, random_state=0)
    printed = repr(test)
    assert {"v became empty", "c: new category new (60 rows, 30%)"} <= {*map(str, test.checks)}
    assert {("v",), ("c",)} <= {change.columns for change in test.changes}
    assert printed.count("v became") + printed.count("v: missing 0% -> 100%") == 1
    assert printed.count("new category new") + printed.count("c = new: 0% -> 30%") == 1


def test_shares_are_written_in_one_way() -> None:
    assert format_pair(0, 0.031, percent=True) == ("0%", "3.1%")
    assert format_pair(1, 0.9969, percent=True) == ("100%", "99.69%")
    assert format_pair(0.03, 0.045, percent=True) == ("3%", "4.5%")
    assert format_pair(0.2, 0.3, percent=True) == ("20%", "30%")


@pytest.mark.parametrize("make", [np.asarray, pd.DataFrame, isodepth.scan])
def test_a_test_of_100000_columns_is_refused_at_once(make) -> None:
    X, Y = (make(np.full((5, 100_000), i, dtype=np.float32)) for i in range(2))
    with pytest.raises(InvalidInputError, match="at most 10000 columns to be tested, got 100000"):
        isodepth.two_sample_test(X, Y)
