"""Missing values in comparisons."""

from __future__ import annotations

import functools
import math

import numpy as np
import pandas as pd
import pytest
from twins import naive_settings

import isodepth
from isodepth.errors import InvalidInputError, InvalidOptionError

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((60, 3)), RNG.standard_normal((80, 3)) + 0.5
X[RNG.random(X.shape) < 0.05] = np.nan
Y[RNG.random(Y.shape) < 0.1] = np.nan
KEPT = [naive_settings.without_missing(rows)[0] for rows in (X, Y)]
OPTIONS = {"n_directions": 40, "random_state": 0}
OMIT = {**OPTIONS, "nan_policy": "omit"}


def test_rows_are_left_out_of_distances() -> None:
    wanted = isodepth.distance(X[KEPT[0]], Y[KEPT[1]], **OPTIONS)
    assert isodepth.distance(X, Y, **OMIT) == wanted
    weights = np.arange(1.0, 61.0)
    assert isodepth.distance(X, Y, weights=(weights, None), **OMIT) == isodepth.distance(
        X[KEPT[0]], Y[KEPT[1]], weights=(weights[KEPT[0]], None), **OPTIONS
    )


def test_a_comparison_reports_dropped_rows() -> None:
    frames = [pd.DataFrame(rows, columns=["temp", "dewp", "wind"]) for rows in (X, Y)]
    result = isodepth.compare(*frames, **OMIT)
    assert (result.missing.x.n_rows, result.missing.y.n_rows) == (60, 80)
    assert (result.missing.x.n_dropped, result.missing.y.n_dropped) == tuple(
        n - len(kept) for n, kept in zip((60, 80), KEPT, strict=True)
    )
    counts = naive_settings.without_missing(X)[1]
    assert result.missing.x.counts == dict(zip(["temp", "dewp", "wind"], counts, strict=True))
    assert {share.column for share in result.missing.shares} == {"temp", "dewp", "wind"}
    assert f"{140 - len(KEPT[0]) - len(KEPT[1])} rows dropped" in repr(result)
    assert result.columns == ("temp", "dewp", "wind")
    assert isodepth.compare(np.ones((3, 1)), np.ones((3, 1))).missing is None


def test_values_that_go_missing_are_pointed_out() -> None:
    x, y = RNG.standard_normal((2, 400, 2))
    y[:100, 1] = math.nan
    result = isodepth.compare(x, y, **OMIT)
    first = result.missing.shares[0]
    assert (first.column, first.before, first.after) == ("column 1", 0.0, 0.25)
    assert first.z_score > 9
    assert "column 1 is missing in 0% of X and 25% of Y" in repr(result)
    calm = isodepth.compare(x, x, **OMIT)
    assert "missing in" not in repr(calm)


def test_everything_else_takes_the_policy() -> None:
    clean = [X[KEPT[0]], Y[KEPT[1]]]
    np.testing.assert_array_equal(
        isodepth.pairwise([X, Y], **OMIT), isodepth.pairwise(clean, **OPTIONS)
    )
    metric = isodepth.Metric(levels=5, **OMIT)
    np.testing.assert_array_equal(
        metric.region_table(X).values, metric.region_table(clean[0]).values
    )
    assert metric.regions(X).n_rows == len(KEPT[0])
    assert metric.with_directions(3).regions(X).n_rows == len(KEPT[0])
    rows = isodepth.RegionTransformer(**OMIT).fit_transform([X, Y])
    np.testing.assert_array_equal(rows, isodepth.RegionTransformer(**OPTIONS).fit_transform(clean))
    assert isodepth.distance(X, Y, scale="pooled", **OMIT) == isodepth.distance(
        *clean, scale="pooled", **OPTIONS
    )


def test_many_dropped_rows_are_a_warning_and_in_the_headline() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 100, 3))
    y[:21, 2] = np.nan
    with pytest.warns(
        isodepth.errors.ColumnWarning, match="21 of 200 rows dropped: .*column 2 .21."
    ):
        result = isodepth.compare(x, y, nan_policy="omit", random_state=0)
    assert "not tested; 21 of 200 rows dropped: missing values in column 2 (21)." in repr(result)
    y[20, 2] = 0.0
    assert "dropped: missing values in" not in repr(isodepth.compare(x, y, nan_policy="omit"))


def test_errors_name_the_columns_and_the_remedy() -> None:
    frame = pd.DataFrame(X, columns=["temp", "dewp", "wind"])
    for make in (
        lambda: isodepth.distance(frame, Y),
        lambda: isodepth.compare(Y[KEPT[1]], frame),
        lambda: isodepth.pairwise([frame]),
        lambda: isodepth.Metric().regions(frame),
    ):
        with pytest.raises(InvalidInputError, match=r": \w+ \(\d+\), .*nan_policy='omit'"):
            make()
    for call in (isodepth.distance, isodepth.compare):
        with pytest.raises(InvalidOptionError, match=r"tests and monitors.*distances cannot: use"):
            call(X, Y, nan_policy="keep")
    with pytest.raises(InvalidOptionError, match="nan_policy must be one of raise, omit"):
        isodepth.Metric(nan_policy="propagate")


def test_tests_and_monitors_keep_rows() -> None:
    frame = pd.DataFrame(X, columns=["temp", "dewp", "wind"])
    for make in (isodepth.Monitor, functools.partial(isodepth.two_sample_test, frame)):
        with pytest.raises(InvalidInputError, match=r": \w+ \(\d+\), .*nan_policy='keep'"):
            make(frame, nan_policy="raise")
        with pytest.raises(InvalidOptionError, match="which tests and monitors never do; use"):
            make(frame, nan_policy="omit")
    missing = isodepth.compare(X, Y, **OMIT).missing
    assert missing is not None
    assert missing.x.n_dropped > 0
    test = isodepth.two_sample_test(X, Y, n_permutations=9, random_state=0)
    assert test.n_used_rows == (len(X), len(Y))


def test_the_signature_does_not_contain_the_policy() -> None:
    assert isodepth.Metric(**OMIT).signature == isodepth.Metric(**OPTIONS).signature
    assert isodepth.Metric(**OMIT) != isodepth.Metric(**OPTIONS)
