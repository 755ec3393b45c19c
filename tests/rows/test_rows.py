"""TwoSamples.read: types of tables, kinds of columns, and columns that only one sample has."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from isodepth.errors import InvalidInputError
from isodepth.rows.rows import TwoSamples
from isodepth.significance.samples import read_samples
from isodepth.table.frames import NamedArray
from isodepth.table.kinds import ColumnKind

X = pd.DataFrame({"a": [1.0, 2.0], "c": ["u", None], "x": [0, 1], "b": [3, 4]})
Y = pd.DataFrame({"b": [7.0, None, 9.0], "c": ["u", "v", "u"], "a": [4, 5, 6], "y": ["s"] * 3})


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_common_columns_are_read_and_the_others_are_listed(library: str) -> None:
    make = {"pandas": lambda f: f, "polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}
    samples = TwoSamples.read(make[library](X), make[library](Y), {"x": "category"}, common=True)
    assert samples.columns == ("a", "b")
    assert samples.n_rows == (2, 3)
    np.testing.assert_array_equal(samples.points[0], [[1, 3], [2, 4]])
    np.testing.assert_array_equal(samples.points[1], [[4, 7], [5, np.nan], [6, 9]])
    assert samples.categories == {"c": [["u", None], ["u", "v", "u"]]}
    assert samples.only == (("x",), ("y",))
    assert [(each.column, each.use) for each in samples.kinds] == [
        ("a", "numeric"), ("c", "category"), ("b", "numeric"),
    ]  # fmt: skip
    with pytest.raises(InvalidInputError, match="'x' is only in X, 'y' is only in Y"):
        TwoSamples.read(make[library](X), make[library](Y))


def test_common_columns_of_numeric_tables() -> None:
    x, y = NamedArray(np.eye(3), ("a", "b", "c")), NamedArray(2 * np.eye(3)[:, :2], ("d", "a"))
    samples = TwoSamples.read(x, y, common=True)
    assert (samples.columns, samples.only) == (("a",), (("b", "c"), ("d",)))
    assert samples.points[1].ravel().tolist() == [0, 2, 0]
    assert samples.kinds == (ColumnKind("a", "numeric", "numeric"),)
    with pytest.raises(InvalidInputError, match="'a' is only in X, 'd' is only in Y"):
        TwoSamples.read(NamedArray(np.eye(1), ("a",)), NamedArray(np.eye(1), ("d",)), common=True)


def test_columns_without_names_are_matched_by_position() -> None:
    named = pd.DataFrame(np.eye(2), columns=["a", "b"])
    for other in (np.eye(2), pd.DataFrame(np.eye(2))):
        samples = TwoSamples.read(named, other, common=True)
        assert (samples.columns, samples.only) == (("a", "b"), ((), ()))
    assert TwoSamples.read(np.eye(2), np.eye(2)).columns == ("column 0", "column 1")
    with pytest.raises(InvalidInputError, match="same number of columns, got 2 in X and 3 in Y"):
        TwoSamples.read(np.eye(2), np.eye(3), common=True)


def test_samples_without_columns_to_compare() -> None:
    dates = pd.DataFrame({"when": pd.date_range("2013-01-01", periods=3)})
    with pytest.raises(InvalidInputError, match=r"got neither; left out: when \(dates and times\)"):
        TwoSamples.read(dates, dates)
    only = TwoSamples.read(X[["c"]], Y[["c"]])
    assert [part.shape for part in only.points] == [(2, 0), (3, 0)]


def test_missing_values_are_refused_or_kept() -> None:
    for column, message in (("b", "Y contains 1 NaN"), ("c", "column 'c' of X has 1 missing")):
        with pytest.raises(InvalidInputError, match=message):
            read_samples(X[[column]], Y[[column]], "raise", None, None)
    assert read_samples(X[["a"]], Y[["a"]], "raise", None, None).read.named
    assert not TwoSamples.read(np.eye(2), np.eye(2)).named
