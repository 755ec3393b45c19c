"""Missing values: dropped rows, counts per column, and shares in two samples."""

from __future__ import annotations

import functools
import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from twins import naive_settings

from isodepth.errors import InvalidInputError, NotNumbersError
from isodepth.table.frames import NamedArray
from isodepth.table.missing import MissingPair, MissingReport
from isodepth.table.validation import read_sample

omit_missing = functools.partial(read_sample, nan_policy="omit")


def holey(seed: int, share: float) -> np.ndarray:
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((60, 4))
    points[rng.random(points.shape) < share] = np.nan
    return points


@pytest.mark.parametrize("share", [0.0, 0.1, 0.4])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_rows_and_counts_are_those_of_the_twin(share: float, dtype: str) -> None:
    points = holey(0, share).astype(dtype)
    weights = np.arange(1.0, 61.0)
    left = omit_missing(points, weights)
    kept, counts = naive_settings.without_missing(points)
    np.testing.assert_array_equal(left.points, points[kept])
    assert left.points.dtype == dtype
    assert left.weights is not None
    assert left.weights.tolist() == weights[kept].tolist()
    assert np.flatnonzero(left.kept).tolist() == kept
    assert left.missing == MissingReport(
        60, 60 - len(kept), {f"column {j}": c for j, c in enumerate(counts)}
    )


@pytest.mark.parametrize(
    "given",
    [
        [[1.0, 2.0], [None, 3.0], [4.0, 5.0]],
        np.array([[1.0, 2.0], [None, 3.0], [4.0, 5.0]], dtype=object),
        np.array([[1.0, 2.0], [pd.NA, 3.0], [4.0, 5.0]], dtype=object),
        pd.DataFrame({"a": pd.array([1, None, 4], dtype="Int64"), "b": [2.0, 3.0, 5.0]}),
        pl.DataFrame({"a": [1, None, 4], "b": [2.0, 3.0, 5.0]}),
        NamedArray(np.array([[1.0, 2.0], [np.nan, 3.0], [4.0, 5.0]]), ("a", "b")),
        np.ma.masked_equal([[1, 2], [9, 3], [4, 5]], 9),
    ],
    ids=["list", "None", "NA", "Int64", "polars", "NamedArray", "masked"],
)
def test_missing_values_of_all_types(given: object) -> None:
    left = omit_missing(given)
    assert left.points[:, 1].tolist() == [2.0, 5.0]
    assert [*left.missing.counts.values()] == [1, 0]
    assert left.kept.tolist() == [True, False, True]


def test_names_of_columns_are_reported() -> None:
    frame = pd.DataFrame({"temp": [1.0, math.nan, 2.0], "wind": [math.nan, math.nan, 0.0]})
    left = omit_missing(frame)
    assert left.columns == ("temp", "wind")
    assert str(left.missing) == "2 of 3 rows, missing values in wind (2), temp (1)"
    assert str(omit_missing(frame.fillna(0)).missing) == "0 of 3 rows"


def test_infinite_values_are_refused() -> None:
    frame = pd.DataFrame({"temp": [math.nan, 1.0, math.inf], "wind": [0.0, 1.0, 2.0]})
    with pytest.raises(InvalidInputError, match=r"1 infinite value, at row 2, column 'temp'"):
        omit_missing(frame)


@pytest.mark.parametrize(
    ("rows", "weights", "reason"),
    [
        ([[1.0, math.nan], [2.0, math.nan]], None, r"all 2 rows of X .*column 1 \(2\)"),
        ([[1.0], [math.nan]], [0.0, 1.0], "without its rows of missing values are all zero"),
        ([[1.0], [math.nan]], [1.0], "each of the 2 rows"),
    ],
)
def test_rows_and_weights_remain(rows: list, weights: list | None, reason: str) -> None:
    with pytest.raises(InvalidInputError, match=reason):
        omit_missing(rows, weights)


def test_strings_are_not_missing() -> None:
    with pytest.raises(NotNumbersError, match="'n/a'"):
        omit_missing(np.array([[1.0], ["n/a"]], dtype=object))
    with pytest.raises(InvalidInputError, match="real numbers"):
        omit_missing([["1.0"], ["n/a"]])


def test_missing_shares_side_by_side() -> None:
    x = MissingReport(100, 10, {"a": 0, "b": 10, "c": 5})
    y = MissingReport(400, 90, {"a": 0, "b": 80, "c": 20})
    b, a, c = MissingPair(x, y).shares
    assert (a.column, b.column, c.column) == ("a", "b", "c")
    assert (b.before, b.after, c.before, c.after) == (0.1, 0.2, 0.05, 0.05)
    assert (a.z_score, c.z_score) == (0.0, 0.0)
    # Two proportions, pooled: 90 of 500.
    assert b.z_score == pytest.approx(0.1 / math.sqrt(0.18 * 0.82 * (1 / 100 + 1 / 400)), rel=1e-12)


def test_reports_of_a_frame_and_an_array() -> None:
    x, y = MissingReport(9, 0, {"a": 3}), MissingReport(9, 0, {"column 0": 0})
    (share,) = MissingPair(x, y).shares
    assert (share.column, share.before, share.after) == ("a", 1 / 3, 0.0)
    assert hash(x) == hash(MissingReport(9, 0, {"a": 3}))
    assert pickle.loads(pickle.dumps(x)) == x != y


def test_many_columns_are_not_all_listed() -> None:
    report = MissingReport(9, 9, {f"c{j}": j for j in range(9)})
    assert str(report).endswith("c8 (8), c7 (7), c6 (6), c5 (5), c4 (4) and 3 more")


def test_without_dropped_rows_nothing_is_said_to_be_dropped() -> None:
    x, y = MissingReport(100, 0, {"a": 50, "b": 0}), MissingReport(100, 0, {"a": 0, "b": 0})
    text = str(MissingPair(x, y))
    assert text.startswith("X has missing values in a (50); no row dropped; a is missing in 50%")
    assert text.endswith("standard errors apart")
    assert str(MissingPair(y, y)) == "no row dropped"


def test_reports_can_be_converted_and_compared() -> None:
    report = MissingReport(9, 1, {"a": 3})
    assert report.to_dict() == {"n_rows": 9, "n_dropped": 1, "counts": {"a": 3}}
    assert report == MissingReport(9, 1, {"a": 3}) != MissingReport(9, 1, {"a": 2})
