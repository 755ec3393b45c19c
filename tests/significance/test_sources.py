"""Tests of samples that are read in chunks: random rows, and rare events in all rows."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import fisher_exact
from stream.tables import FORMS, mixed_frame, scanned, to_polars

import isodepth
from isodepth import scan
from isodepth.errors import InvalidOptionError
from isodepth.significance.rare_events import adjusted_pvalue, rare_events
from isodepth.stream.passes import Runner
from isodepth.stream.subsets import subset_pair

X, Y = mixed_frame(300, 1), mixed_frame(240, 2, 0.5)
OPTIONS: dict[str, Any] = {"random_state": 0, "n_permutations": 49}


@pytest.fixture(scope="module")
def in_memory() -> isodepth.typing.TwoSampleResult:
    return isodepth.two_sample_test(X, Y, **OPTIONS)


@pytest.mark.parametrize("form", FORMS)
def test_all_rows_as_in_memory(
    form: str, tmp_path: Path, in_memory: isodepth.typing.TwoSampleResult
) -> None:
    pytest.importorskip(form if form in ("dask", "polars") else "pandas")
    x, y = scanned(form, X, tmp_path / "x"), scanned(form, Y, tmp_path / "y")
    found, expected = isodepth.two_sample_test(x, y, **OPTIONS), in_memory
    assert (found.pvalue, found.statistic) == (expected.pvalue, expected.statistic)
    assert found.changes == expected.changes
    assert [replace(each, note="", option=None) for each in found.kinds] == [
        replace(each, note="", option=None) for each in expected.kinds
    ]
    assert found.n_rows == found.n_used_rows == (300, 240)
    assert found._tested_rows_text == ""


def test_permutations_of_random_rows_have_a_part_of_the_level() -> None:
    """The permutation p-value of the tested rows is divided by 0.8, their part of the level.

    The rest of the level is for rare events.
    """
    x = np.random.default_rng(0).normal(size=(100, 1))
    few, enough = (
        isodepth.two_sample_test(
            scan(x), scan(x + 9), max_rows=60, n_permutations=n, random_state=0
        )
        for n in (23, 24)
    )
    assert few.headline == (
        "No significant difference between X and Y (p = 0.0521; 23 permutations cannot give an "
        "adjusted p-value of at most 0.05, at least 24 are needed)."
    )
    assert enough.significant
    assert len(enough.changes) == 1


def _with_codes(n: int, seed: int) -> pd.DataFrame:
    """Return categorical columns whose categories are numbers or strings of numbers."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"size": rng.normal(size=n), "month": rng.integers(1, 13, n)})
    frame["zip"] = rng.choice(["01", "02", "10"], n)
    return frame.astype({"month": "category", "zip": "category"})


@pytest.mark.parametrize("form", [form for form in FORMS if form != "csv"])
@pytest.mark.parametrize("n", [300, 20_000])  # all rows, or random rows, decide the kinds
def test_numbers_in_categorical_columns_are_categories(form: str, n: int, tmp_path: Path) -> None:
    pytest.importorskip(form if form in ("dask", "polars") else "pandas")
    x, y = _with_codes(n, 1), _with_codes(240, 2)
    options = OPTIONS | {"max_rows": 20_000, "n_permutations": 19}
    found = isodepth.two_sample_test(scanned(form, x, tmp_path / "x"), y, **options)
    assert {each.column: each.use for each in found.kinds} == {
        "size": "numeric", "month": "category", "zip": "category"
    }  # fmt: skip
    assert {each.value for each in found.category_shares if each.column == "zip"} == {
        "01", "02", "10"
    }  # fmt: skip
    monitor = isodepth.Monitor(scanned(form, x, tmp_path / "z"), random_state=0)
    # Parquet and polars store categories that are integers as integers.
    month = "numeric" if form in ("parquet", "polars") else "category"
    assert [each.use for each in monitor.kinds] == ["numeric", month, "category"]


@pytest.mark.parametrize("name", ["periods", "intervals"])
def test_extension_types_of_pandas_as_in_memory(name: str) -> None:
    """Periods and intervals in chunks have the kinds that they have in memory."""
    frame = pd.DataFrame({"size": np.random.default_rng(0).normal(size=300)})
    frame["periods"] = pd.period_range("2020-01", periods=300, freq="D")
    frame["intervals"] = pd.arrays.IntervalArray.from_breaks(range(301))
    frame = frame[["size", name]]
    x, y = frame[:150], frame[150:]
    found = isodepth.two_sample_test(scan(x), scan(y), **OPTIONS)
    expected = isodepth.two_sample_test(x, y, **OPTIONS)
    assert found.kinds == expected.kinds
    assert found.pvalue == expected.pvalue


@pytest.mark.parametrize("library", ["pyarrow", "polars"])
def test_periods_are_strings_in_every_library(library: str) -> None:
    """Periods in pyarrow and polars are categories, like those in pandas, not numbers."""
    import pyarrow as pa

    frame = pd.DataFrame({"size": np.random.default_rng(0).normal(size=300)})
    frame["month"] = pd.period_range("2020-01", periods=12, freq="M").tolist() * 25
    frame.loc[5, "month"] = None
    x, y = (pa.Table.from_pandas(part) for part in (frame[:150], frame[150:]))
    expected = isodepth.two_sample_test(frame[:150], frame[150:], **OPTIONS)
    if library == "polars":
        x, y = map(to_polars, (x, y))
    for form in (lambda table: table, scan):
        found = isodepth.two_sample_test(form(x), form(y), **OPTIONS)
        assert found.kinds == expected.kinds
        assert found.pvalue == expected.pvalue
    monitor = isodepth.Monitor(scan(x), random_state=0)
    assert [each.kind for each in monitor.kinds] == ["numeric", "category"]


@pytest.mark.parametrize("value", [dt.time(1, 30), dt.timedelta(hours=30)])
def test_objects_of_times_and_durations_are_left_out(value: object) -> None:
    """Columns of Python times and durations are left out, in memory and in chunks."""
    frame = pd.DataFrame({"size": np.random.default_rng(0).normal(size=300)})
    frame["at"] = pd.Series([value] * 299 + [None], dtype=object)
    x, y = frame[:150], frame[150:]
    note = "durations" if isinstance(value, dt.timedelta) else "dates and times"
    for form in (lambda table: table, scan):
        found = isodepth.two_sample_test(form(x), form(y), **OPTIONS)
        assert [(each.kind, each.use) for each in found.kinds][1] == ("date", "omit")
        assert found.kinds[1].note == note
    late = y.assign(at=[dt.time(23)] * 150) if note == "dates and times" else y
    later = isodepth.two_sample_test(x, late, **OPTIONS)
    assert any("23:00:00" in check.text for check in later.checks) is (late is not y)


def test_decimals_equal_floats() -> None:
    """Decimals are converted to the nearest floats; pyarrow would round 0.57 and 2.29 wrongly."""
    from decimal import Decimal

    import pyarrow as pa

    cents = list(range(-500, 1000))
    x = pa.table({"price": pa.array([Decimal(cent) / 100 for cent in cents])})
    y = pd.DataFrame({"price": [cent / 100 for cent in cents]})
    assert isodepth.Metric().regions(x).points[:, 0].tolist() == y["price"].tolist()
    for form in (scan, lambda table: table):
        result = isodepth.two_sample_test(form(x), form(y), n_permutations=19, random_state=0)
        assert result.pvalue == 1.0
        assert [each.difference for each in result.column_tests] == [0.0]


def test_random_rows() -> None:
    found = isodepth.two_sample_test(scan(X), Y, max_rows=100, **OPTIONS)
    assert (found.n_used_rows, found.n_rows) == ((100, 100), (300, 240))
    assert "100 of 300 rows of X and 100 of 240 rows of Y" in str(found)
    assert found.to_dict()["n_used_rows"] == [100, 100]
    again = isodepth.two_sample_test(scan(X), scan(Y), max_rows=100, **OPTIONS)
    assert again.pvalue == found.pvalue
    tolerant = isodepth.two_sample_test(scan(X), Y, max_rows=100, tolerance=0.1, **OPTIONS)
    assert "rare events" not in [each.name for each in tolerant.components]
    assert "rare events are counted in all rows" in str(found)
    for option in ({"tolerance": 0.1}, {"method": "regions"}):
        other = isodepth.two_sample_test(scan(X), Y, max_rows=100, **option, **OPTIONS)
        assert "100 of 300 rows" in str(other)
        assert "rare events" not in str(other)


@pytest.mark.parametrize("n", [20, 100, 999, 10_000])
def test_a_pvalue_is_divided_without_rounding_it_above_the_level(n: int) -> None:
    """A p-value divided by 0.8 is not above the level because of rounding, as 14 / 100 / 0.8 is."""
    for count in range(1, n * 4 // 5 + 1):
        level = float(Fraction(5 * count, 4 * n))
        assert adjusted_pvalue(count / n, Fraction(4, 5)) == level
        assert adjusted_pvalue((count + 1) / n, Fraction(4, 5)) > level or level == 1.0
    assert adjusted_pvalue(1e-300, Fraction(1, 5)) == 5e-300


def test_a_test_of_sources_at_the_level_of_its_pvalue() -> None:
    rng = np.random.default_rng(22)  # 14 of 100 statistics are at least that of the samples
    x, y = rng.normal(size=(2, 300, 2))
    options = {"max_rows": 60, "n_permutations": 99, "random_state": 0}
    result = isodepth.two_sample_test(scan(x), scan(y), alpha=0.175, **options)
    assert (result.pvalue, result.significant) == (0.175, True)
    assert result.changes


@pytest.mark.parametrize("max_rows", [None, 100])
def test_unnamed_columns_have_the_labels_of_arrays_in_memory(max_rows: int | None) -> None:
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(2, 300, 2)) + [[[0.0]], [[2.0]]]
    expected = isodepth.two_sample_test(x, y, **OPTIONS)
    pairs: list[Any] = [(scan(x), scan(y)), (scan([x[:9], x[9:]]), y)]
    for pair in [*pairs, [scan(lambda each=each: iter([each])) for each in (x, y)]]:
        found = isodepth.two_sample_test(*pair, max_rows=max_rows, **OPTIONS)
        labels = {name for change in found.changes for name in change.columns}
        assert labels == {"column 0", "column 1"}
        assert {each.column for each in found.column_tests} == labels
        assert {each.column for each in found.kinds} == labels
        if max_rows is None:
            assert found.changes == expected.changes
            assert found.checks == expected.checks
    assert {row.column for row in found.suspicious_rows()} <= labels


@pytest.mark.filterwarnings("ignore::isodepth.errors.ColumnWarning")
@pytest.mark.parametrize("form", [lambda frame: frame, scan])
def test_default_labels_of_frames_are_the_labels_in_kinds(form: Any) -> None:
    """Columns with the default labels 0, 1, ... are named "0", "1", ... in the option `kinds`.

    Their kinds, such as dates and large integers, apply to the texts of changes.
    """
    rng = np.random.default_rng(5)
    days = rng.integers(0, 100, 400)
    day = pd.Timestamp("2020-01-01") + pd.to_timedelta(days, "D")
    frame = pd.DataFrame({0: 17 * 10**17 + days, 1: day, 2: rng.choice(["u", "v"], 400)})
    later = pd.DataFrame({0: frame[0] + 90, 1: day + pd.Timedelta("90D"), 2: frame[2]})
    options = {"kinds": {"1": "numeric"}}
    result = isodepth.two_sample_test(form(frame), form(later), **options, **OPTIONS)
    monitor = isodepth.Monitor(form(frame), random_state=0, **options)
    for changes in (result.changes, monitor.check(form(later)).changes):
        first, second = sorted((each.text for each in changes), key=len, reverse=True)
        assert first.startswith("column 0: median 1700000000000000")
        assert second.startswith("column 1: median 2020-0")
        assert {name for each in changes for name in each.columns} == {"0", "1"}
    assert [each.column for each in result.kinds] == ["0", "1", "2"]
    assert [each.column for each in monitor.kinds] == ["0", "1", "2"]


def test_columns_share_the_level_with_rare_events() -> None:
    x, y = X, Y.assign(count=Y["count"] + 100)
    whole = isodepth.two_sample_test(x, y, n_permutations=19, random_state=0)
    assert whole.column_tests[0].pvalue == whole.pvalue == 1 / 20
    assert whole.column_tests[0].change_kind is not None
    # 80% of the level is for the tested rows: a p-value of 1 / 20 counts as 1 / 16.
    random = isodepth.two_sample_test(
        scan(x), y, max_rows=100, n_permutations=19, random_state=0, kinds={"site": "omit"}
    )
    assert random.column_tests[0].pvalue == 1 / 16
    assert random.column_tests[0].change_kind is None
    assert all(each.pvalue <= 0.05 for each in random.changes)


def test_options_that_are_refused() -> None:
    with pytest.raises(InvalidOptionError, match="max_rows applies to samples"):
        isodepth.two_sample_test(X, Y, max_rows=100)
    with pytest.raises(InvalidOptionError, match="blocks is not available"):
        isodepth.two_sample_test(scan(X), Y, blocks=np.arange(540))


def rare_frame(n: int, seed: int, changed: bool = False) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": np.where(rng.random(n) < 0.002, np.nan, rng.normal(size=n)),
            "site": rng.choice(["x", "y", "rare"], n, p=[0.6, 0.398, 0.002]),
        }
    )
    if changed:
        frame.loc[rng.random(n) < 0.004, "site"] = "rare"
        frame.loc[rng.random(n) < 0.0005, "site"] = "new"
    return frame


def test_rare_events_are_counted_in_all_other_rows() -> None:
    x, y = rare_frame(20_000, 1), rare_frame(30_000, 2, changed=True)
    result = isodepth.two_sample_test(scan(x), scan([y[:9], y[9:]]), max_rows=200, **OPTIONS)
    assert result.pvalue < 1e-6
    assert result.changes[0].text.startswith("site = ")
    (test,) = (each for each in result.column_tests if each.column == "site")
    assert (test.pvalue, test.change_kind) == (result.changes[0].pvalue, "shares")
    pair = subset_pair(scan(x), scan(y), 200, random_state=0)
    tested = np.concatenate([table.numbers for table in pair.tables])
    events = rare_events(pair, tested, Runner())
    rest = [
        frame.drop(index=pair.indices(side)) for side, frame in enumerate((x, y))
    ]  # fmt: skip
    assert {each.member.event for each in events} == {"missing", "extremes", "shares"}
    for event in events:
        member = event.member
        known = [frame["site"].notna() for frame in rest]
        if member.event == "missing":
            own = [frame["size"].isna() for frame in rest]
        elif member.event == "extremes":
            sign = 1 if member.upper else -1
            own = [sign * frame["size"] >= sign * member.value for frame in rest]
            known = [frame["size"].notna() for frame in rest]
        else:
            own = [frame["site"] == event.category for frame in rest]
        assert event.counts == tuple(int(each.sum()) for each in own)
        assert event.totals == tuple(int(each.sum()) for each in known)
        table = [[c, n - c] for c, n in zip(event.counts, event.totals, strict=True)]
        # SciPy defines two-sided p-values in another way, so that the p-values are only similar.
        ratio = event.pvalue / len(events) / fisher_exact(table)[1]
        assert event.pvalue == 1.0 or 0.4 < ratio < 2.5
    assert {event.category for event in events} == {None, "rare", "new"}


def test_level_of_rare_events() -> None:
    """At most 5% of the tests of equal distributions are significant, up to 3.4 standard errors."""
    count = 0
    for seed in range(60):
        x, y = (rare_frame(3000, 2 * seed + side) for side in (0, 1))
        result = isodepth.two_sample_test(
            scan(x), scan(y), max_rows=60, n_permutations=39, random_state=seed
        )
        count += result.pvalue <= 0.05
    assert count <= 60 * 0.05 + 3.4 * np.sqrt(60 * 0.05 * 0.95)
