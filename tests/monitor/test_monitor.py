"""Monitors: guarantees, alarms in the first batch, changed columns, labels, threads, input."""

from __future__ import annotations

import copy
import datetime as dt
import functools
import json
import pickle
import re
import warnings
from dataclasses import replace
from decimal import Decimal
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from isodepth import Monitor, scan, two_sample_test
from isodepth.errors import (
    BusyFileError,
    ColumnWarning,
    DependenceWarning,
    InvalidInputError,
    InvalidOptionError,
)
from isodepth.functions.changes import Change
from isodepth.monitor.labels import label_string
from isodepth.monitor.windows import AlarmPolicy
from isodepth.table.frames import NamedArray
from isodepth.typing import Verdict

pd = pytest.importorskip("pandas")

EVERY_25 = np.arange(500) % 25 == 0
REFERENCE = np.random.default_rng(50).normal(size=(3000, 3))


def batches(count: int, rows: int = 60, seed: int = 51, shift: float = 0.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(count, rows, 3)) + shift * np.eye(3)[1]


def fresh(**options: Any) -> Monitor:
    return Monitor(REFERENCE, **{"random_state": 0, **options})


def mixed(n: int, rng: np.random.Generator) -> Any:
    """Return n rows of numbers, integers, categories, booleans and missing values."""
    frame = pd.DataFrame(
        {
            "length": rng.normal(size=n),
            "price": rng.lognormal(size=n),
            "count": rng.poisson(2.0, n),
            "kind": rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1]),
            "flag": rng.random(n) < 0.2,
        }
    )
    frame.loc[rng.random(n) < 0.05, "price"] = np.nan
    return frame


# -- alarms ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options", [{}, {"tolerance": 0.05}, {"patience": 2}, {"arl": 300}, {"alpha": 0.001}], ids=str
)
def test_an_alarm_after_a_change_and_not_before(options: dict[str, Any]) -> None:
    monitor = fresh(**options)
    assert not any(monitor.check(batch).alarm for batch in batches(40))
    assert not monitor.alarm
    changed = [monitor.check(batch) for batch in batches(4, seed=52, shift=2.0)]
    assert any(verdict.alarm for verdict in changed)
    # With patience 2, a single batch never raises an alarm.
    assert changed[0].alarm is (options != {"patience": 2})
    assert changed[1].alarm or options == {"arl": 300}
    first = next(verdict for verdict in changed if verdict.alarm)
    assert first.changes[0].columns == ("column 1",)
    assert first.changes[0].kind == "location"
    assert first.window_pvalue <= first.threshold
    assert (monitor.check(batches(1)[0]).alarm) is ("arl" not in options)
    monitor.reset()
    assert not monitor.alarm
    assert not monitor.check(batches(1, seed=53)[0]).alarm


def test_five_percent_of_the_worst_rows_are_tolerated() -> None:
    """With a tolerance of 5%, contaminated rows of several kinds raise no alarm.

    They are far away, in the center, or all in one octant.
    """
    for seed, bad in enumerate(([9.0, 9.0, 9.0], [0.0, 0.0, 0.0], [1.0, -1.0, 1.0])):
        tolerant, strict = fresh(tolerance=0.05), fresh()
        found = []
        for batch in batches(30, rows=200, seed=60 + seed):
            batch[:10] = bad
            found.append([monitor.check(batch).alarm for monitor in (tolerant, strict)])
        assert not any(alarm for alarm, _ in found)
        assert any(alarm for _, alarm in found) or seed > 0


def test_an_unseen_category_and_a_shift_raise_an_alarm_in_the_first_batch() -> None:
    rng = np.random.default_rng(54)
    reference = mixed(4000, rng)
    monitor = Monitor(reference, nan_policy="keep", random_state=0)
    for _ in range(20):
        assert not monitor.check(mixed(150, rng)).alarm
    cases = {
        "kind": (lambda f: f.assign(kind="new"), "shares"),
        "length": (lambda f: f.assign(length=f["length"] + 1.0), "location"),
        "price": (lambda f: f.assign(price=f["price"].mask(rng.random(150) < 0.4)), "missing"),
        "flag": (lambda f: f.assign(flag=True), "shares"),
        "count": (lambda f: f.assign(count=f["count"] + 2), "location"),
    }
    for column, (change, kind) in cases.items():
        verdict = copy.deepcopy(monitor).check(change(mixed(150, rng)))
        assert verdict.alarm, column
        assert verdict.changes[0].columns == (column,)
        assert verdict.changes[0].kind == kind
        assert verdict.changes[0].pvalue < 1e-6
        assert len(verdict.changes) == 1
    verdict = copy.deepcopy(monitor).check(mixed(150, rng).assign(kind="new"))
    assert str(verdict.changes[0]).startswith("kind = new: 0% -> 100%")
    assert verdict.n_suspicious == 150


def test_shares_of_new_categories_are_their_own_shares() -> None:
    """A change names a category only with the share of this category, not that of all rare ones."""
    rng = np.random.default_rng(0)
    kind = np.array(["A", "B"] * 1500, object)
    kind[rng.choice(3000, 30, replace=False)] = [f"rare {i // 2}" for i in range(30)]
    rare = Monitor(pd.DataFrame({"kind": kind, "z": rng.normal(size=3000)}), random_state=0)
    none = Monitor(
        pd.DataFrame({"kind": ["A", "B"] * 1500, "z": rng.normal(size=3000)}), random_state=0
    )

    def check(monitor: Monitor, *values: str) -> Any:
        kinds = np.array(["A", "B"] * 400, object)
        kinds[: len(values)] = values
        verdict = monitor.check(pd.DataFrame({"kind": kinds, "z": rng.normal(size=800)}))
        (change,) = verdict.changes
        assert (change.kind, change.columns, change.after) == ("shares", ("kind",), 0.05)
        return change

    single = check(copy.deepcopy(rare), *["NEW"] * 40)
    assert (single.before, single.value, single.text) == (0, "NEW", "kind = NEW: 0% -> 5%")
    several = check(none, *["NEW"] * 20, *["NEXT"] * 10, *["LAST"] * 10)
    assert (several.before, several.value) == (0, None)
    assert several.text == "kind: new values (such as NEW) 0% -> 5%"
    # If rare values of the reference have become frequent, they are not called new.
    kinds = pd.DataFrame({"kind": ["A", "B"] * 300 + ["NEW"] * 10, "z": 0.0})
    kinds.loc[:89, "kind"] = [f"rare {i % 15}" for i in range(90)]
    (with_rare,) = (c for c in rare.check(kinds).changes if c.value is None and c.kind == "shares")
    assert 0 < with_rare.before <= 0.01
    assert with_rare.text.startswith("kind: rare or new values (such as NEW) 0.")
    # The counts of single new values are known for the last batch only.
    both = check(none, *["LAST"] * 40)
    assert none.verdicts[-1].n_window_batches == 2
    assert both.text == "kind: rare or new values (such as LAST) 0% -> 5%"


def test_a_shift_of_a_correlated_column_is_not_called_dependence() -> None:
    rng = np.random.default_rng(61)
    x = rng.normal(size=(5000, 1))
    rows = np.hstack([x, x + 0.1 * rng.normal(size=(5000, 1))])
    monitor = Monitor(rows[:4500], random_state=0)
    verdict = monitor.check(rows[4500:] + [0.0, 0.5])
    assert [(c.kind, c.columns) for c in verdict.changes] == [("location", ("column 1",))]


def test_shares_of_pairs_count_ties_and_missing_values_like_pandas() -> None:
    """The share of rows on the same side of two numbers is that of pandas, with ties and NaN."""
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 4300))
    y[:4000] = 0.9 * x[:4000] + 0.44 * y[:4000]
    for many in (y, np.round(y), np.round(y, 2), np.where(rng.random(4300) < 0.4, np.nan, y)):
        rows = pd.DataFrame({"x": x, "y": many})
        (change,) = Monitor(rows[:4000], random_state=0).check(rows[4000:]).changes
        assert (change.kind, change.columns, change.quantity) == ("dependence", ("x", "y"), "share")
        number = r"(-?[\d.e-]+)"
        pattern = rf"rows with x above {number} and y above {number}, or x below .* and y below "
        a, b = map(float, re.match(pattern, change.text).groups())
        same = rows[["x", "y"]].gt([a, b]).all(axis=1) | rows[["x", "y"]].lt([a, b]).all(axis=1)
        shares = same[:4000].mean(), same[4000:].mean()
        assert (change.before, change.after) == pytest.approx(shares, abs=0.001)


def test_changes_have_the_numbers_of_pandas() -> None:
    """Numbers of the reference are those of all of its rows; shares of known values say so."""
    rng = np.random.default_rng(11)
    frame = pd.DataFrame({"a": rng.gamma(2, 50, 1700), "z": rng.normal(size=1700)})
    frame.loc[rng.random(1700) < 0.1, "a"] = np.nan
    reference, batch = frame[:1500], frame[1500:]

    def changes(values: Any) -> list[Any]:
        return Monitor(reference, random_state=0).check(batch.assign(a=values)).changes

    (shift,) = changes(batch["a"] + 50)
    assert (shift.kind, shift.before) == ("location", pytest.approx(reference["a"].median()))
    zeros = batch["a"].mask(rng.random(200) < 0.1, 0.0)
    (zero,) = changes(zeros)
    known = zeros.dropna()
    assert (zero.value, zero.before, zero.after) == (0.0, 0.0, (known == 0).mean())
    assert zero.of_known_values
    rounded = batch["a"].round().mask(rng.random(200) < 0.3)
    missing, precision = sorted(changes(rounded), key=lambda change: change.kind)
    assert (missing.before, missing.after) == (reference["a"].isna().mean(), rounded.isna().mean())
    assert precision.text == "a: whole numbers 0% -> 100% of the known values"


def test_batches_of_any_size_add_up() -> None:
    """Batches of one row can raise an alarm, and batches of any size are counted together."""
    monitor = fresh()
    rows = batches(1, rows=60, seed=56, shift=3.0)[0]
    verdicts = [monitor.check(row[None]) for row in rows]
    first = next(verdict.batch_number for verdict in verdicts if verdict.alarm)
    assert 1 < first < 10
    sizes = fresh()
    rng = np.random.default_rng(57)
    assert 0 < sizes.check(np.full((3000, 3), 9.0)).pvalue < 1e-300  # exp(log p) is 0
    sizes.reset()
    for size in (1, 2000, 7, 300, 1, 50):
        assert not sizes.check(rng.normal(size=(size, 3))).alarm


@pytest.mark.parametrize("streams", [15, pytest.param(60, marks=pytest.mark.slow)])
def test_false_alarms_are_rarer_than_alpha(streams: int) -> None:
    """The rate of streams with a false alarm is at most alpha = 20%, up to random errors.

    Streams have 30 batches with discrete and heavy-tailed columns, and small references.
    """
    alarms = 0
    for seed in range(streams):
        rng = np.random.default_rng([58, seed])
        rows = np.column_stack([rng.poisson(1.0, 1500), rng.standard_cauchy(1500)])
        monitor = Monitor(rows[:300], alpha=0.2, random_state=seed)
        alarms += any(monitor.check(batch).alarm for batch in np.split(rows[300:], 30))
    # Three standard errors above 20%.
    assert alarms <= streams * 0.2 + 3 * np.sqrt(streams * 0.2 * 0.8)


def test_groups_have_references_of_their_own() -> None:
    rng = np.random.default_rng(59)
    site = np.arange(3000) % 2
    monitor = Monitor(REFERENCE + 5.0 * site[:, None], groups=site, random_state=0)
    for number in range(10):
        verdict = monitor.check(rng.normal(size=(50, 3)) + 5.0 * (number % 2), group=number % 2)
        assert not verdict.alarm
        assert verdict.group == str(number % 2)
    assert monitor.check(rng.normal(size=(50, 3)), group=1).alarm
    with pytest.raises(InvalidInputError, match="group must be one of '0', '1'; none is given"):
        monitor.check(REFERENCE[:5])
    with pytest.raises(InvalidInputError, match="no groups"):
        fresh().check(REFERENCE[:5], group="a")
    with pytest.raises(InvalidInputError, match="blocks must hold one label"):
        Monitor(REFERENCE, blocks=site[:5])


def two_sites(**options: Any) -> Monitor:
    return fresh(groups=np.array(["u", "v"] * 1500), **options)


@pytest.mark.parametrize("options", [{}, {"arl": 300}, {"patience": 2}], ids=str)
def test_an_alarm_belongs_to_its_group(options: dict[str, Any], tmp_path: Path) -> None:
    monitor = two_sites(path=tmp_path / "m.npz", **options)
    clean, shifted = batches(6), batches(2, seed=52, shift=3.0)
    since = [monitor.check(batch, group="u").alarm_since for batch in shifted][-1]
    # With patience 2, the second crossing is the alarm. With `arl`, batch 2 raises another one.
    assert since == (2 if options else 1)
    for again in (monitor, Monitor.load(tmp_path / "m.npz", autosave=False)):
        verdict = again.check(clean[0], group="v")
        assert (verdict.alarm, verdict.alarm_since, verdict.crossed) == (False, None, False)
        assert (again.alarm, again.alarm_groups) == (True, ("u",))
        assert f"alarm of group u since batch {since})" in repr(again)
        assert [each["alarm_since"] for each in again.to_dict()["groups"]] == [since, None]
        verdict = again.check(clean[1], group="u")
        assert verdict.alarm is ("arl" not in options)
        assert again.alarm is verdict.alarm
    monitor.check(clean[2], group="v")
    with pytest.raises(InvalidInputError, match="group must be one of 'u', 'v'; got 'w'"):
        monitor.reset("w")
    before = monitor._state.groups
    monitor.reset("u")
    assert (monitor.alarm, monitor.alarm_groups) == (False, ())
    assert monitor._state.groups["v"] is before["v"]
    assert monitor._state.groups["u"].sums == before["u"].sums.restarted()
    assert not monitor.check(clean[3], group="u").alarm
    monitor.reset()
    assert not any(run for group in monitor._state.groups.values() for run in group.sums.runs)
    with pytest.raises(InvalidInputError, match="the monitor has no groups; remove group"):
        fresh().reset("u")


def test_patience_counts_the_windows_of_a_group() -> None:
    """One crossing in each of two groups is no alarm, and the second one in a group is."""
    monitor, shifted = two_sites(patience=2), batches(3, seed=52, shift=3.0)
    for group, batch in zip("uv", shifted[:2], strict=True):
        verdict = monitor.check(batch, group=group)
        assert (verdict.crossed, verdict.alarm) == (True, False)
    assert monitor.check(shifted[2], group="v").alarm
    assert monitor.alarm_groups == ("v",)


@pytest.mark.parametrize("patience", [1, 3])
def test_resets_of_groups_use_no_level_twice(
    patience: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The levels of all tests sum to at most patience * alpha, whatever groups are reset when."""
    spent: list[float] = []
    level = AlarmPolicy.window_level

    def counted(*arguments: Any) -> float:
        spent.append(level(*arguments))
        return spent[-1]

    monkeypatch.setattr(AlarmPolicy, "window_level", counted)
    rng = np.random.default_rng(62)
    monitor = two_sites(alpha=0.2, patience=patience)
    rows, groups = REFERENCE[:1], ["u", "v"]
    for _ in range(150):
        monitor.check(rows, group=rng.choice(groups))
        monitor.reset(rng.choice([*groups, None], p=[0.4, 0.3, 0.3]))
    assert 0.25 * patience * 0.2 < sum(spent) <= patience * 0.2


@pytest.mark.parametrize("streams", [12, pytest.param(60, marks=pytest.mark.slow)])
def test_resets_of_changed_groups_add_no_false_alarms(streams: int) -> None:
    """Sites u and v do not change, and w has an alarm in every batch and is reset at once.

    Site u is reset after every batch with a p-value above 0.5, to omit the windows with this batch.
    Sites u and v have two thirds of alpha = 30%.
    """
    alarms = 0
    for seed in range(streams):
        rng = np.random.default_rng([63, seed])
        rows = np.column_stack([rng.poisson(1.0, 2100), rng.standard_cauchy(2100)])
        sites = np.array(["u", "v", "w"] * 300)
        monitor = Monitor(rows[:900], alpha=0.3, groups=sites, random_state=seed)
        false = False
        for number, batch in enumerate(np.split(rows[900:], 40)):
            verdict = monitor.check(batch, group="uv"[number % 2])
            false |= verdict.alarm
            if verdict.group == "u" and verdict.pvalue > 0.5:
                monitor.reset("u")
            if number % 4 == 0:
                assert monitor.check(batch + 1e6, group="w").alarm
                monitor.reset("w")
        alarms += false
    # Three standard errors above 20%.
    assert alarms <= streams * 0.2 + 3 * np.sqrt(streams * 0.2 * 0.8)


# -- memory ---------------------------------------------------------------------------------------


def test_memory_does_not_grow_with_the_stream(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = 100
    for module in ("saved", "state"):
        monkeypatch.setattr(f"isodepth.monitor.{module}.HISTORY", kept)
    monitor, rows = fresh(), batches(1, rows=1)[0]
    sizes = {}
    for number in range(1, 2 * kept + 1):
        monitor.check(rows)
        if number in (kept, 2 * kept):
            monitor.save(tmp_path / "m.npz", overwrite=number > kept)
            sizes[number] = (tmp_path / "m.npz").stat().st_size
    runs = monitor._state.groups[None].sums.runs
    assert len(runs) <= (2 * kept).bit_length()
    assert len(monitor.verdicts) == kept
    assert monitor.n_batches == 2 * kept
    one_more = 12 * monitor.to_dict()["groups"][0]["n_functions"] + 1000
    assert sizes[2 * kept] < sizes[kept] + one_more + 10_000


# -- labels, threads, copies ----------------------------------------------------------------------


def test_a_batch_that_comes_again_with_its_label_is_counted_once(tmp_path: Path) -> None:
    monitor, (first, second) = fresh(path=tmp_path / "m.npz"), batches(2)
    verdict = monitor.check(first, label="2024-01-07")
    monitor.check(second, label=np.datetime64("2024-01-14"))
    monitor.check(second)
    for again in (monitor, Monitor.load(tmp_path / "m.npz")):
        assert again.check(first, label="2024-01-07") == verdict
        with pytest.raises(InvalidInputError, match="label '2024-01-07'"):
            again.check(second, label="2024-01-07")
        assert [v.label for v in again.verdicts] == ["2024-01-07", "2024-01-14", None]
    assert monitor.check(first, label="x" * 200).batch_number == 4
    for odd in ("", "x" * 201, "a\nb"):
        with pytest.raises(InvalidInputError, match="label must have"):
            monitor.check(first, label=odd)
    # The number of rows is part of the identity of a batch, even if all rows are extreme.
    monitor.check(np.full((5, 3), 1e9), label="far")
    with pytest.raises(InvalidInputError, match="batch 5 already has the label 'far'"):
        monitor.check(np.full((500, 3), 2e9), label="far")


def test_groups_have_labels_of_their_own(tmp_path: Path) -> None:
    sites = np.where(np.arange(3000) % 2, "a", "b")
    monitor = fresh(groups=sites, path=tmp_path / "m.npz")
    rows = dict(zip("ab", batches(2), strict=True))
    verdicts = {site: monitor.check(rows[site], label="Monday", group=site) for site in "ab"}
    assert [v.batch_number for v in verdicts.values()] == [1, 2]
    for again in (monitor, Monitor.load(tmp_path / "m.npz")):
        for site, number, other in (("a", 1, "b"), ("b", 2, "a")):
            assert again.check(rows[site], label="Monday", group=site) == verdicts[site]
            with pytest.raises(InvalidInputError, match=f"batch {number} already has the label"):
                again.check(rows[other], label="Monday", group=site)
        assert again.n_batches == 2
    # The same rows in another group are another batch.
    assert monitor.check(rows["a"], label="Tuesday", group="a").batch_number == 3
    assert monitor.check(rows["a"], label="Tuesday", group="b").batch_number == 4


def test_labels_are_remembered_after_their_verdicts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("saved", "state"):
        monkeypatch.setattr(f"isodepth.monitor.{module}.HISTORY", 3)
    rows = batches(8)
    rows[1:] += 3.0
    monitor = fresh(path=tmp_path / "m.npz")
    verdicts = [monitor.check(batch, label=str(i)) for i, batch in enumerate(rows)]
    for again in (monitor, Monitor.load(tmp_path / "m.npz")):
        found = [again.check(batch, label=str(i)) for i, batch in enumerate(rows)]
        assert again.n_batches == 8
        assert found[5:] == verdicts[5:]
        for early, verdict in zip(found[:5], verdicts, strict=False):
            for name in ("batch_number", "label", "n_rows", "alarm", "alarm_since", "n_suspicious"):
                assert getattr(early, name) == getattr(verdict, name)
            assert np.isnan(early.pvalue)
        assert str(found[0]) == "batch 1 (0): no alarm; its verdict is no longer stored"
        assert json.loads(found[1].to_json())["pvalue"] is None
        assert Verdict._from_json(found[1].to_json()) == found[1]
        with pytest.raises(
            InvalidInputError, match="batch 1 already has the label '0', with other"
        ):
            again.check(rows[1], label="0")


def test_suspicious_rows_are_listed() -> None:
    rows = batches(1, rows=300)[0]
    rows[[7, 100, 250]] = 50.0
    verdict = fresh().check(scan(rows, chunk_rows=90))
    assert {7, 100, 250} <= {*verdict.suspicious_indices}
    assert len(verdict.suspicious_indices) == verdict.n_suspicious < 10
    many = fresh().check(rows + 100.0)
    assert (many.n_suspicious, many.suspicious_indices) == (300, tuple(range(100)))


def test_suspicious_rows_have_wrong_values() -> None:
    """Negative values of positive columns are suspicious; large values of heavy tails are not."""
    rng = np.random.default_rng(64)

    def table(n: int) -> Any:
        age, income = rng.normal(40, 12, n).clip(18, 90).round(), rng.lognormal(10, 0.8, n).round()
        age[rng.random(n) < 0.05] = np.nan
        return pd.DataFrame({"age": age, "income": income, "plan": rng.choice(["a", "b"], n)})

    reference, batch = table(900), table(700)
    batch.loc[[3, 5, 8, 13, 21, 34], "income"], batch.loc[55, "age"] = -1, 999
    batch.loc[[60, 61], "income"] = 0.0, 1.2 * reference["income"].max()
    batch.loc[89, "plan"] = "c"
    wrong = [3, 5, 8, 13, 21, 34, 55, 89]
    for options in ({}, {"blocks": np.arange(900) // 100}):
        monitor = Monitor(reference, random_state=0, **options)
        assert monitor.check(batch.iloc[:100]).suspicious_indices == tuple(wrong)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda x: -x, "b: sign changed, median 1 -> -1 "),
        (lambda x: 1000 * x, "b: values multiplied by about 1000, median 0.982 -> 968 "),
        (lambda x: np.where(EVERY_25, 1000 * x, x), "b above 15.13: 0.02% -> 4% "),
        (lambda x: np.where(EVERY_25, -9999, x), "b = -9999: 0% -> 4% "),
        (lambda x: np.where(EVERY_25, 0, x), "b = 0: 0% -> 4% "),
        (np.round, "b: whole numbers 0% -> 100% "),
        (lambda x: np.round(x, 1), "b: whole tenths 0% -> 100% "),
        (lambda x: x + 1, "b: median 0.98 -> 1.97 "),
        (lambda x: 1 + 3 * (x - 1), "b: interquartile range 1.1 -> 3.2 "),
    ],
)
def test_the_largest_effect_describes_a_change_in_the_first_batch(change: Any, text: str) -> None:
    """A change is described correctly after one batch, for nine changes of a column.

    The changes are of signs, units, single values, precision, location and spread.
    """
    rng = np.random.default_rng(62)
    rows = np.column_stack([rng.normal(size=5500), rng.lognormal(sigma=0.8, size=5500)])
    monitor = Monitor(pd.DataFrame(rows[:5000], columns=["a", "b"]), random_state=0)
    batch = np.column_stack([rows[5000:, 0], change(rows[5000:, 1])])
    verdict = monitor.check(pd.DataFrame(batch, columns=["a", "b"]))
    assert verdict.alarm
    assert [change.columns for change in verdict.changes] == [("b",)]
    assert str(verdict.changes[0]).startswith(text)
    assert 0.0 < verdict.changes[0].changed_share <= verdict.changed_share
    assert verdict.changed_share == verdict.changes[0].changed_share or "median" in text


@pytest.mark.parametrize(
    ("center", "change", "kind"),
    [
        (-0.25, lambda x: x + 0.5, "location"),  # the medians are -0.25 and 0.25
        (-1.0, lambda x: x + 2.0, "location"),
        (1.0, lambda x: x - 2.0, "location"),
        (3.0, lambda x: -x, "sign"),
        (-3.0, lambda x: -x, "sign"),
    ],
)
def test_a_shift_across_zero_is_not_a_change_of_sign(center: float, change: Any, kind: str) -> None:
    rng = np.random.default_rng(2)
    monitor = Monitor(rng.normal(center, 1, (5000, 2)), random_state=0)
    batch = rng.normal(center, 1, (300, 2))
    batch[:, 0] = change(batch[:, 0])
    (found,) = monitor.check(batch).changes
    assert (found.kind, found.quantity) == (kind, "median")
    assert found.factor == (-1.0 if kind == "sign" else None)


@pytest.mark.parametrize("wild", [1000.0, [990.0, 995.0], "integers"])
def test_wild_values_are_a_range_and_not_multiples(wild: Any) -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        prices = [rng.uniform(5, 20.75, n).round(2) for n in (4000, 200)]
        values = np.arange(500.0, 1500.0) if wild == "integers" else np.atleast_1d(wild)
        prices[1][:10] = rng.choice(values, 10)
        X, Y = (pd.DataFrame({"price": each, "z": rng.normal(size=len(each))}) for each in prices)
        (change,) = Monitor(X, random_state=0).check(Y).changes
        assert change.text.startswith(("price above 20.", "price at least 20."))


@pytest.mark.parametrize("factor", [9, 10, 11, 0.11, 930, 1000, 1100])
def test_a_factor_is_a_power_of_ten_only_if_the_medians_are_near_it(factor: float) -> None:
    rng = np.random.default_rng(0)
    monitor = Monitor(rng.normal(20, 3, (3000, 1)), random_state=0)
    (found,) = monitor.check(factor * rng.normal(20, 3, (1000, 1))).changes
    error = 0 if factor in (10, 1000) else 0.02
    assert (found.kind, found.factor) == ("unit", pytest.approx(factor, rel=error))


def test_columns_that_exchanged_their_values_have_no_factor() -> None:
    rng = np.random.default_rng(1)

    def table(n: int) -> Any:
        hours = rng.integers(1500, 2600, n)
        return pd.DataFrame({"age": rng.integers(18, 80, n), "hours": hours})

    reference, batch = table(2000), table(500)
    exchanged = batch.rename(columns={"age": "hours", "hours": "age"})
    for change in Monitor(reference, random_state=0).check(exchanged).changes:
        assert (change.kind, change.factor) in (("location", None), ("spread", None))
    batch["age"] *= 51.0
    (multiplied,) = Monitor(reference, random_state=0).check(batch).changes
    assert (multiplied.kind, multiplied.columns) == ("unit", ("age",))


def test_an_uncertain_factor_has_one_digit() -> None:
    rng = np.random.default_rng(2)
    income = rng.lognormal(9, 1.5, (4000, 1))
    monitor = Monitor(income[:3000], random_state=0)
    (change,) = monitor.check(0.3048 * income[3000:]).changes
    assert (change.kind, change.factor) == ("unit", 0.3)


@pytest.mark.parametrize("unit", [10, 1000])
def test_the_unit_of_all_new_values_is_named(unit: int) -> None:
    rng = np.random.default_rng(3)
    income = pd.DataFrame({"income": rng.lognormal(9, 1, 2500).round()})
    monitor = Monitor(income[:2000], random_state=0)
    rounded = (income[2000:] / unit).round() * unit
    (change,) = [each for each in monitor.check(rounded).changes if each.kind == "precision"]
    share = float((income["income"][:2000] % 10 == 0).mean())
    assert (change.multiple_of, change.before, change.after) == (10, share, 1.0)
    assert ("(all new values: of 1000)" in change.text) == (unit == 1000)


@pytest.mark.parametrize(
    ("center", "kind"), [(-20, "sign"), (-21, "sign"), (-25, "location"), (-30, "location")]
)
@pytest.mark.parametrize("seed", range(3))
def test_the_test_and_the_monitor_agree_about_a_change_of_sign(
    center: float, kind: str, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.normal(20, 5, (3000, 1)), rng.normal(center, 5, (1000, 1))
    (of_test,) = two_sample_test(x, y, n_permutations=99, random_state=0).changes
    (of_monitor,) = Monitor(x, random_state=0).check(y).changes
    assert of_test.kind == of_monitor.kind == kind
    assert of_test.text == of_monitor.text


def test_a_shift_of_skewed_values_is_not_a_change_of_sign() -> None:
    """A shift of a skewed column to the negated median is not described as a change of sign.

    The shift gives the median and about the interquartile range of the negated values, but another
    distribution.
    """
    rng = np.random.default_rng(3)
    values = rng.lognormal(sigma=0.8, size=(6000, 2))
    monitor = Monitor(values[:5000], random_state=0)
    (found,) = monitor.check(values[5000:] - [2.0, 0.0]).changes
    assert (found.kind, found.columns) == ("location", ("column 0",))


@functools.cache
def monitors_and_next_rows() -> list[tuple[Monitor, np.ndarray]]:
    rng, found = np.random.default_rng(63), []
    for seed in range(60):
        rows = np.column_stack([rng.poisson(2.0, 900), rng.normal(size=900)])
        found.append((Monitor(rows[:600], random_state=seed), rows[600:]))
    return found


@pytest.mark.parametrize("share", [0.0, 0.1, 0.6])
def test_the_bound_on_the_changed_share_holds(share: float) -> None:
    """At least 95% of the lower bounds on the share of replaced rows hold, up to 3 standard errors.

    The replacements are outliers or copies of a central value.
    """
    above = 0
    for (monitor, rows), bad in zip(monitors_and_next_rows(), [9.0, 0.0, 0.3] * 20, strict=True):
        batch = rows.copy()
        # The largest values are replaced, which changes the counts most.
        batch[np.argsort(-batch[:, 1])[: int(share * 300)]] = bad
        verdict = copy.copy(monitor).check(batch)
        assert (verdict.changed_share > share) <= (verdict.pvalue < 0.05)
        above += verdict.changed_share > share
    assert above <= 60 * 0.05 + 3 * np.sqrt(60 * 0.05 * 0.95)
    if share == 0.6:
        assert verdict.changed_share > 0.3


@pytest.mark.parametrize("kept", [False, True])
def test_threads_lose_no_batch(tmp_path: Path, kept: bool) -> None:
    monitor = fresh(path=tmp_path / "m.npz") if kept else fresh()
    with ThreadPool(8) as pool:
        found = pool.map(monitor.check, batches(30))
    assert sorted(verdict.batch_number for verdict in found) == list(range(1, 31))
    assert sorted(found, key=lambda verdict: verdict.batch_number) == monitor.verdicts


def test_copies_are_independent(tmp_path: Path) -> None:
    monitor = fresh(path=tmp_path / "m.npz")
    monitor.check(batches(1)[0])
    other = copy.copy(monitor)
    alone = pickle.loads(pickle.dumps(fresh()))
    assert alone.check(batches(1)[0]) == monitor.verdicts[0]
    monitor.check(batches(1)[0])
    with pytest.raises(BusyFileError):
        other.check(batches(1)[0])


def test_the_text_of_a_verdict() -> None:
    values = {"quantity": "median", "before": 0.0, "after": 2.0, "pvalue": 1e-9}
    changes = [Change(kind="location", columns=(name,), **values) for name in "abcdefg"]
    verdict = Verdict(
        batch_number=3, label="May", group="north", n_rows=40, pvalue=0.25,
        n_window_batches=4, window_pvalue=1e-4,
        threshold=2e-4, crossed=True, alarm=False, alarm_since=None,
        changed_share=0.963, beyond_blocks=False, changes=changes, n_suspicious=2,
        suspicious_indices=(3, 5), score=None, exact_guarantee=False,
    )  # fmt: skip
    assert str(verdict).splitlines() == [
        "batch 3 (May) of group north: threshold crossed, no alarm yet",
        "  p-value    0.25 for this batch (rows: 40)",
        "  window     p = 0.0001 for the last 4 batches, threshold 0.0002, approximately",
        "  changed    at least 96% of the rows of the last 4 batches (95% confidence)",
        f"  changes    {changes[0]}",
        *(f"             {change}" for change in changes[1:5]),
        "             and 2 more",
        "  suspicious rows with a value far outside the reference, or a new category: 2",
    ]
    single = {
        "label": None,
        "group": None,
        "n_window_batches": 1,
        "exact_guarantee": True,
        "crossed": False,
    }
    verdict = replace(verdict, **single, changes=changes[:5], n_suspicious=0, changed_share=0.0)
    assert len(lines := str(verdict).splitlines()) == 8
    assert lines[0] == "batch 3: no alarm"
    assert lines[2] == "  window     p = 0.0001 for this batch, threshold 0.0002"
    verdict = replace(verdict, beyond_blocks=True, alarm=True, alarm_since=2)
    assert str(verdict).splitlines()[0] == (
        "batch 3: BEYOND all blocks of the reference (no guarantee); ALARM since batch 2"
    )
    assert repr(verdict) == str(verdict)


def test_a_change_along_a_direction_names_its_largest_entries() -> None:
    rng = np.random.default_rng(67)
    monitor = Monitor(rng.normal(size=(2000, 60)), random_state=0)
    functions = monitor._state.groups[None].functions
    for direction in functions.directions[[0, 7]]:
        batch = rng.normal(size=(200, 60)) + 0.9 * direction
        (change,) = copy.deepcopy(monitor).check(batch).changes
        first, second = np.argsort(-abs(direction))[:2]
        assert (change.kind, change.columns) == ("regions", ())
        assert (change.quantity, change.limit) == ("share", None)
        assert change.description.startswith("share of rows up to a cut point of a direction (")
        assert f"{abs(direction[first]):.2g} column {first} " in change.description
        assert f" {abs(direction[second]):.2g} column {second} " in change.description


@pytest.mark.parametrize("present", ["a", "ax", "axy", "b"])
def test_a_batch_without_a_column_of_the_reference(present: str) -> None:
    """The error about a batch that lacks columns advises to add the columns or to fit again."""
    rng = np.random.default_rng(68)
    monitor = Monitor(pd.DataFrame(rng.normal(size=(100, 2)), columns=["a", "b"]), random_state=0)
    batch = pd.DataFrame(rng.normal(size=(20, len(present))), columns=[*present])
    lacking = "'a'" if present == "b" else "'b'"
    message = f"the batch lacks the column {lacking} of the reference; add it to the batch, or fit"
    for given in (batch, scan(batch)):
        with pytest.raises(InvalidInputError, match=message):
            monitor.check(given)
    with pytest.raises(InvalidInputError, match=r"lacks the columns 'a', 'b' of .* without them"):
        monitor.check(batch.rename(columns="not {}".format))
    assert monitor.n_batches == 0


def test_a_verdict_has_no_truth_value() -> None:
    """``if monitor.check(batch):`` is an error, because it looks like a test for an alarm."""
    with pytest.raises(TypeError, match=r"use verdict\.alarm"):
        bool(fresh().check(batches(1)[0]))


def test_the_frame_of_a_verdict_has_all_attributes_of_its_changes() -> None:
    rng = np.random.default_rng(66)
    monitor = Monitor(pd.DataFrame({"plan": rng.choice(["free", "pro"], 2000)}), random_state=0)
    verdict = monitor.check(pd.DataFrame({"plan": ["free"] * 300}))
    (row,) = verdict.to_frame().to_dict("records")
    (change,) = verdict.changes
    assert row == change.to_dict() | {"columns": "plan"}
    assert row["value"] in ("free", "pro")
    assert row["changed_share"] > 0.3
    assert row["text"] == change.text


def test_results_can_be_read_by_programs() -> None:
    monitor = fresh()
    verdict = monitor.check(batches(1, shift=2.0)[0])
    assert Verdict._from_json(verdict.to_json()) == verdict
    (change, *_) = verdict.changes
    unknown = replace(verdict, threshold=np.nan, changes=[replace(change, before=np.nan)])
    again = Verdict._from_json(unknown.to_json())
    assert np.isnan([again.threshold, again.changes[0].before]).all()
    assert again.to_json() == unknown.to_json()
    with pytest.raises(TypeError, match="None in place of int"):
        Verdict._from_json(json.dumps(verdict.to_dict() | {"n_rows": None}))
    fields = json.loads(json.dumps(monitor.to_dict()))
    assert fields["verdicts"] == [verdict.to_dict()]
    assert fields["settings"] == monitor.settings == {
        "alpha": 0.01, "arl": None, "tolerance": None, "patience": 1, "blocks": None,
        "groups": None, "kinds": None, "nan_policy": "keep", "random_state": 0,
    }  # fmt: skip
    assert monitor._rows()["change"][0].startswith("column 1: median")
    assert verdict._rows()["columns"] == [c.columns[0] for c in verdict.changes]
    assert "1 batch checked, alarm since batch 1" in repr(monitor)
    assert fields["groups"][0]["n_functions"] == len(monitor._state.groups[None].functions.members)


# -- columns and kinds ----------------------------------------------------------------------------


def test_columns_are_matched_by_name_and_others_ignored() -> None:
    rng = np.random.default_rng(70)
    monitor = Monitor(mixed(1000, rng), nan_policy="keep", random_state=0)
    batch = mixed(80, rng)
    expected = copy.deepcopy(monitor).check(batch)
    turned = batch[batch.columns[::-1]].assign(extra="text", more=1.0)
    assert copy.deepcopy(monitor).check(turned) == expected
    with pytest.raises(InvalidInputError, match="lacks the column 'kind' of the reference"):
        monitor.check(batch.drop(columns="kind"))
    numeric = Monitor(pd.DataFrame(REFERENCE, columns=["a", "b", "c"]), random_state=0)
    rows = batches(1)[0]
    expected = copy.deepcopy(numeric).check(pd.DataFrame(rows, columns=["a", "b", "c"]))
    frame = pd.DataFrame(rows[:, [2, 0, 1]], columns=["c", "a", "b"]).assign(text="x")
    assert copy.deepcopy(numeric).check(frame) == expected
    table = NamedArray(np.column_stack([rows, rows[:, 0]]), ("a", "b", "c", "d"))
    assert copy.deepcopy(numeric).check(table) == expected
    assert numeric.n_batches == monitor.n_batches == 0


def test_columns_are_in_the_order_of_the_reference() -> None:
    rng = np.random.default_rng(64)
    frame = mixed(300, rng)[["kind", "price", "flag", "length"]]
    frame.insert(1, "day", pd.date_range("2024-01-01", periods=300))
    monitor = Monitor(frame, random_state=0)
    assert monitor.columns == ("kind", "price", "flag", "length")
    assert monitor.to_dict()["columns"] == [*monitor.columns]
    batch = frame[:50][[*monitor.columns]]
    array = pd.DataFrame(batch.to_numpy(object), columns=monitor.columns).infer_objects()
    assert monitor.check(array, label="a") is not None
    assert monitor.check(batch, label="a").batch_number == 1  # the rows are equal
    unnamed = fresh()
    assert unnamed.columns is None
    assert unnamed.to_dict()["columns"] is None
    assert not unnamed.check(pd.DataFrame(batches(1)[0], columns=unnamed.columns)).alarm


def test_a_batch_without_names_is_refused_if_the_reference_has_names() -> None:
    """A batch without column names is an error, because its columns may be in another order."""
    named = Monitor(pd.DataFrame(REFERENCE, columns=["a", "b", "c"]), random_state=0)
    (rows,) = batches(1)
    unnamed = (rows, rows.tolist(), pd.DataFrame(rows), pd.DataFrame(rows[:, :2]), scan(rows),
               NamedArray(rows, None))  # fmt: skip
    for batch in unnamed:
        with pytest.raises(InvalidInputError, match=r"no column names.*'a', 'b', 'c'.*not counted"):
            named.check(batch)
    assert named.n_batches == 0
    assert named.check(pd.DataFrame(rows, columns=named.columns)).batch_number == 1
    # Default labels of pandas become the strings "0", "1", ... in a Parquet file.
    for labels in (["0", "1", "2"], None):
        plain = Monitor(pd.DataFrame(REFERENCE, columns=labels), random_state=0)
        for batch in (*unnamed[:3], *unnamed[4:], pd.DataFrame(rows, columns=["0", "1", "2"])):
            plain.check(batch)
    # Columns of a reference without names are matched by position, also with those of a source.
    frame = pd.DataFrame(rows, columns=["a", "b", "c"])
    found = [copy.deepcopy(plain).check(batch).pvalue for batch in (frame, scan([frame]), rows)]
    assert found[0] == found[1] == found[2]


def as_strings(frame: Any, decimal: str) -> Any:
    """Return a frame with numbers of three decimals as strings with this decimal mark."""
    strings = [f"{value:.3f}".replace(".", decimal) for value in frame["v"]]
    return frame.assign(v=pd.Series(strings, dtype=object))


@pytest.mark.parametrize("form", ["memory", "source", "saved"])
@pytest.mark.parametrize(("decimal", "first"), [(",", 0.5), (".", 1.0)])
def test_the_reference_decides_about_the_decimal_mark(
    decimal: str, first: float, form: str, tmp_path: Path
) -> None:
    values = np.random.default_rng(0).permutation(np.linspace(first, 9.999, 600))
    reference = pd.DataFrame({"v": np.round(values, 3)})
    batch = pd.DataFrame({"v": np.arange(2000, 2060) / 1000})  # "2,000" alone is two thousand
    own = Monitor(reference, random_state=0)
    given = as_strings(reference, decimal), as_strings(batch, decimal)
    data = [scan(frame, chunk_rows=20) if form == "source" else frame for frame in given]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        monitor = Monitor(data[0], random_state=0)
        if form == "saved":
            monitor.save(tmp_path / "m.npz")
            monitor = Monitor.load(tmp_path / "m.npz")
        assert monitor.check(data[1]) == own.check(batch)
    other = "." if decimal == "," else ","
    odd = as_strings(batch / 10, other)
    fault = f"has '0{other}2\\d+' in .* not a number with '{decimal}' as the decimal mark"
    with pytest.raises(InvalidInputError, match=f"{fault}.* was not counted"):
        monitor.check(scan(odd) if form == "source" else odd)
    assert monitor.n_batches == 1


def test_a_reference_of_integers_does_not_decide_about_the_decimal_mark() -> None:
    values = np.random.default_rng(0).permutation(np.arange(1, 601))[1:]
    monitor = Monitor(pd.DataFrame({"v": values.astype(str)}), random_state=0)
    for cell in ("12.5", "12,5"):
        assert not monitor.check(pd.DataFrame({"v": [cell] * 20})).n_suspicious
    with pytest.warns(ColumnWarning, match="',' is read as a thousands separator, but it may"):
        assert monitor.check(pd.DataFrame({"v": ["1,500"] * 20})).n_suspicious == 20


def test_booleans_with_missing_values_equal_strings_of_the_reference() -> None:
    rng = np.random.default_rng(74)
    flags = rng.random(1200) < 0.6
    words = pd.DataFrame({"ok": np.where(flags, "true", "false")})
    words.loc[rng.random(1200) < 0.1, "ok"] = None
    monitor = Monitor(words[:1000], random_state=0)
    batch = words[1000:].reset_index(drop=True)
    expected = copy.deepcopy(monitor).check(batch)
    booleans = pd.DataFrame({"ok": batch["ok"].map({"true": True, "false": False})})
    assert booleans["ok"].dtype == object
    found = monitor.check(booleans)
    assert (found.pvalue, found.changes) == (expected.pvalue, ())


@pytest.mark.parametrize("words", [("false", "true"), ("0", "1"), ("FALSE", "True")])
@pytest.mark.parametrize("missing", [False, True])
def test_booleans_equal_their_strings(
    words: tuple[str, str], missing: bool, tmp_path: Path
) -> None:
    """Booleans in a batch equal strings such as "true" and "1" in the reference, and vice versa.

    The same table has strings in a CSV file, and booleans in a Parquet file.
    """
    rng = np.random.default_rng(72)
    table = pd.DataFrame({"ok": rng.random(1200) < 0.6, "x": rng.normal(size=1200)})
    if missing:
        table["ok"] = table["ok"].astype(object).mask(rng.random(1200) < 0.1)
    reference, batch = table[:1000], table[1000:].reset_index(drop=True)
    fitted = Monitor(reference, random_state=0, path=tmp_path / "m.npz")
    strings = batch.assign(ok=batch["ok"].map({False: words[0], True: words[1]}))
    expected = fitted.check(batch)
    later = Monitor.load(tmp_path / "m.npz", autosave=False)
    found = later.check(strings)
    assert (found.pvalue, found.changes) == (expected.pvalue, ())
    # Strings that stand for something else are new categories.
    assert later.check(batch.assign(ok="yes")).alarm


def test_a_batch_of_another_kind_is_refused_and_not_counted() -> None:
    """Strings in a numeric column and numbers in a column of categories are errors."""
    rng = np.random.default_rng(71)
    monitor = Monitor(mixed(1000, rng)[["length", "kind"]], nan_policy="raise", random_state=0)
    batch = mixed(60, rng)[["length", "kind"]]
    words = batch.assign(length=rng.choice(["low", "high"], 60))
    for odd, column in ((words, "length"), (batch.assign(kind=1.5), "kind")):
        with pytest.raises(InvalidInputError, match=f"'{column}'.*not counted"):
            monitor.check(odd)
    with pytest.raises(InvalidInputError, match="column 'kind' of the batch has 3 missing values"):
        monitor.check(batch.assign(kind=batch["kind"].where(batch.index > 2)))
    assert monitor.n_batches == 0
    monitor.check(batch)
    # Categories are compared by value: integers become floats if a value is missing.
    whole = rng.integers(1, 4, 1000)
    grades = Monitor(pd.DataFrame({"k": pd.Categorical(whole)}), random_state=0)
    for same in (pd.Categorical(whole), pd.Categorical(whole * 1.0), whole):
        assert grades.check(pd.DataFrame({"k": same})).pvalue == 1.0
    codes = pd.DataFrame({"code": np.arange(300) % 3})
    coded = Monitor(codes, kinds={"code": "category"}, random_state=0)
    verdict = coded.check(pd.DataFrame({"code": [1, 7, 7, 8, 8, 8, 9, 9, 9]}))
    assert verdict.changes[0].text == "code: new values (such as 9) 0% -> 89%"
    assert verdict.n_suspicious == 8
    with pytest.raises(InvalidInputError, match="not a data frame"):
        monitor.check(REFERENCE[:, :2])
    with pytest.raises(InvalidInputError, match="has no row"):
        Monitor(batch[["kind"]], random_state=0).check(batch[["kind"]][:0])


@pytest.mark.parametrize("form", ["object", "string", "boolean", "NaT", "arrow", "parquet", "csv"])
def test_a_column_without_values_is_missing_whatever_its_type(form: str, tmp_path: Path) -> None:
    """A column of a batch without values is read as missing numbers, for any type of the column.

    It may contain None, have the type null, or have empty cells.
    """
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    frame = pd.DataFrame(REFERENCE, columns=["a", "b", "c"])
    monitor = Monitor(frame, random_state=0)
    rest = frame[:60][["b", "c"]]
    batch: Any = {
        "object": rest.assign(a=None), "NaT": rest.assign(a=pd.NaT),
        "string": rest.assign(a=pd.array([None] * 60, dtype="string")),
        "boolean": rest.assign(a=pd.array([None] * 60, dtype="boolean")),
    }.get(form)  # fmt: skip
    if batch is None:
        table = pa.Table.from_pandas(rest).append_column("a", pa.nulls(60))
        pq.write_table(table, tmp_path / "batch.parquet")
        rest.assign(a=None).to_csv(tmp_path / "batch.csv", index=False)
        batch = scan([table]) if form == "arrow" else scan(tmp_path / f"batch.{form}")
    assert [change.text for change in monitor.check(batch).changes] == ["a: missing 0% -> 100%"]


def test_an_integer_column_without_values_keeps_its_base() -> None:
    large = 2**60 + np.random.default_rng(0).integers(0, 1000, 300)
    frame = pd.DataFrame({"time": large, "x": REFERENCE[:300, 0]})
    monitor = Monitor(frame, random_state=0)
    verdict = monitor.check(frame[:60].assign(time=None))
    assert [change.text for change in verdict.changes] == ["time: missing 0% -> 100%"]


def test_errors_recommend_code_that_runs() -> None:
    with pytest.raises(InvalidInputError, match=r"use reference\.reshape\(-1, 1\)"):
        Monitor(REFERENCE[:, 0])
    monitor = fresh()
    with pytest.raises(InvalidInputError, match=r"reshape\(len\(batch\), -1\)"):
        monitor.check(REFERENCE[None])
    with pytest.raises(InvalidInputError, match=r"got None; pass a sample\. The batch was not cou"):
        monitor.check(None)


def test_missing_values_are_refused_or_counted() -> None:
    rows = batches(1)[0]
    rows[:30, 2] = np.nan
    with pytest.raises(InvalidInputError, match="fit the monitor with nan_policy='keep'"):
        fresh(nan_policy="raise").check(rows)
    verdict = fresh().check(rows)
    assert verdict.alarm
    assert [str(c).split(" (")[0] for c in verdict.changes] == ["column 2: missing 0% -> 50%"]
    with pytest.raises(InvalidInputError, match="infinite"):
        fresh().check(np.full((5, 3), np.inf))
    whole = rows.copy()
    whole[:, 2] = np.nan
    assert fresh().check(whole).alarm


@pytest.mark.parametrize("missing", [False, True])
def test_sources_are_counted_in_chunks(missing: bool) -> None:
    rows = np.concatenate(batches(4, rows=300))
    if missing:
        rows[::7, 1] = np.nan
    options = {"nan_policy": "keep" if missing else "raise"}
    expected = fresh(**options).check(rows)
    found = fresh(**options).check(scan(rows, chunk_rows=100))
    assert found.pvalue == expected.pvalue
    assert found.n_rows == 1200
    of_source = Monitor(scan(REFERENCE, chunk_rows=500), random_state=0)
    assert of_source.check(batches(1)[0]) == fresh().check(batches(1)[0])
    columns = NamedArray(np.column_stack([rows, rows[:, :1]]), ("a", "b", "c", "d"))
    named = Monitor(NamedArray(REFERENCE, ("b", "c", "a")), random_state=0, **options)
    direct = copy.deepcopy(named).check(columns)
    assert named.check(scan(columns)).pvalue == direct.pvalue


def test_extreme_numbers_and_constants() -> None:
    rng = np.random.default_rng(72)
    rows = np.column_stack([np.ones(500), 1e-300 * rng.random(500), 1e200 * rng.random(500)])
    monitor = Monitor(rows, random_state=0)
    assert not Monitor(rows[:20], random_state=0).check(rows[20:40]).alarm
    assert not monitor.check(rows[:40]).alarm
    verdict = monitor.check(rows[:40] + [1.0, 0.0, 0.0])
    assert verdict.alarm
    assert verdict.changes[0].columns == ("column 0",)
    with pytest.raises(InvalidInputError, match="at least 20"):
        Monitor(rows[:19])


# -- dependence of rows ---------------------------------------------------------------------------


def test_dependent_rows_of_a_reference_warn() -> None:
    rng = np.random.default_rng(73)
    day = np.repeat(np.arange(60), 50)
    rows = rng.normal(size=(3000, 2))
    rows[:, 1] += rng.normal(size=60)[day]
    with pytest.warns(DependenceWarning, match=r"in 50 .* times the variance .*column 1.*blocks"):
        Monitor(rows, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DependenceWarning)
        Monitor(rows, blocks=day, random_state=0)
        Monitor(np.arange(130.0)[:, None], random_state=0)  # too few rows for 5 parts
        for seed in range(15):
            Monitor(rng.permutation(rows), random_state=seed)
    # Sorted rows have the maximum variance: 105 counted rows in 5 parts, 105 / (5 - 1) times.
    with pytest.warns(DependenceWarning, match=r"in 5 consecutive parts have 2[456]\.\d times"):
        Monitor(np.arange(140.0)[:, None], random_state=0)


def test_settings_are_checked() -> None:
    for options, name in (
        ({"overwrite": True}, "overwrite"),
        ({"nan_policy": "drop"}, "nan_policy"),
        ({"random_state": -1}, "random_state"),
        ({"alpha": 0}, "alpha"),
        ({"alpha": 1}, "alpha"),
        ({"alpha": 0.1, "arl": 100}, "alpha .* arl"),
        ({"arl": 1}, "arl"),
        ({"tolerance": 0.5}, "tolerance"),
        ({"patience": 0}, "patience"),
        ({"patience": 101}, "patience"),
    ):
        with pytest.raises(InvalidOptionError, match=name):
            fresh(**options)


def test_a_median_is_that_of_all_reference_rows_and_a_mean_over_batches_is_named() -> None:
    """The text of a change has the median of all reference rows, and names a mean of medians.

    The latter is shown for a window of several batches.
    """
    rng = np.random.default_rng(7)
    reference = np.sort(rng.exponential(size=2000))[:, None]
    with pytest.warns(DependenceWarning):
        monitor = Monitor(reference, random_state=0)
    verdict = monitor.check(rng.exponential(size=(300, 1)) + 1)
    assert (verdict.changes[0].quantity, verdict.changes[0].n_batches) == ("median", None)
    assert verdict.changes[0].before == pytest.approx(np.median(reference), rel=0.05)
    batches = [rng.exponential(size=(40, 1)) + 0.35 for _ in range(2)]
    monitor.reset()
    verdict = [monitor.check(batch) for batch in batches][-1]
    assert (verdict.n_window_batches, verdict.changes[0].kind) == (2, "location")
    assert (verdict.changes[0].quantity, verdict.changes[0].n_batches) == ("median", 2)
    assert verdict.changes[0].text.startswith("column 0: median (mean of 2 batches) ")
    assert verdict.changes[0].after == pytest.approx(np.mean([np.median(b) for b in batches]))


def test_changes_of_columns_of_dates_show_dates(tmp_path: Path) -> None:
    """Dates are compared as days since 1970, before and after the monitor is saved and loaded."""
    rng, day = np.random.default_rng(69), pd.Timedelta(days=1)
    signup = pd.Timestamp("2024-01-15") + rng.integers(-9, 10, 1300) * day
    frame = pd.DataFrame({"signup": signup, "size": rng.normal(size=1300)})
    later = frame[1000:].assign(signup=frame["signup"][1000:] + 31 * day)
    path = tmp_path / "m.npz"
    monitor = Monitor(frame[:1000], kinds={"signup": "numeric"}, path=path, random_state=0)
    for batch in (later, scan(later)):
        (change,) = monitor.check(batch).changes
        monitor.reset()
        assert change.is_date
        assert (change.kind, change.before) == ("location", 19737.0)
        assert change.text == "signup: median 2024-01-15 -> 2024-02-15"
    assert Monitor.load(path).verdicts == monitor.verdicts
    assert "2024-02-15" in str(Monitor.load(path).verdicts[0])


def flags(seed: int, n: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"a": rng.normal(size=n), "flag": rng.random(n) < 0.4})


@pytest.mark.parametrize("kinds", [None, {"flag": "category"}])
@pytest.mark.parametrize("type_", [int, float, str])
def test_zeros_and_ones_equal_the_booleans_of_the_reference(type_: type, kinds: Any) -> None:
    monitor = Monitor(flags(0), kinds=kinds, random_state=0)
    batch = flags(1, 100)
    same = monitor.check(batch.assign(flag=batch["flag"].astype(type_)))
    assert same == Monitor(flags(0), kinds=kinds, random_state=0).check(batch)
    constant = monitor.check(batch.assign(flag=1 if type_ is int else 1.0))
    assert constant.changes[0].text == "flag = True: 38% -> 100%"


def test_booleans_equal_zeros_and_ones_of_the_reference() -> None:
    codes = flags(0).assign(flag=flags(0)["flag"].astype(int))
    monitor = Monitor(codes, kinds={"flag": "category"}, random_state=0)
    assert not monitor.check(flags(1, 100)).changes


@pytest.mark.parametrize("value", [2, pd.Timestamp("2024-01-01")])
def test_the_refusal_of_other_values_names_booleans(value: Any) -> None:
    monitor = Monitor(flags(0), random_state=0)
    with pytest.raises(InvalidInputError, match="'flag' holds booleans in the reference and"):
        monitor.check(flags(1, 100).assign(flag=value))


def test_values_beside_a_constant_boolean_are_new() -> None:
    monitor = Monitor(flags(0).assign(flag=True), random_state=0)
    verdict = monitor.check(flags(1, 100).assign(flag=0))
    assert "0% -> 100%" in verdict.changes[0].text


@pytest.mark.parametrize(
    "reference",
    [np.full((60, 2), np.nan), pd.DataFrame({"a": [np.nan] * 60, "b": [None] * 60})],
)
def test_a_reference_without_values_is_refused(reference: Any) -> None:
    with pytest.raises(InvalidInputError, match="all values of the reference are missing"):
        Monitor(reference)
    one_column = Monitor(pd.DataFrame({"a": [np.nan] * 60, "b": np.arange(60.0)}), random_state=0)
    assert one_column.columns == ("a", "b")


def test_a_group_without_values_is_refused() -> None:
    rows = np.random.default_rng(0).normal(size=(120, 2))
    rows[:60] = np.nan
    with pytest.raises(InvalidInputError, match="all values of group 'u' of the reference"):
        Monitor(rows, groups=np.repeat(["u", "v"], 60))


def test_a_batch_with_two_columns_of_one_name() -> None:
    """The error about a batch with two columns "a" names this column."""
    pd = pytest.importorskip("pandas")
    rows = np.random.default_rng(0).normal(size=(100, 2))
    reference = pd.DataFrame(rows, columns=["a", "b"]).assign(c=["x", "y"] * 50)
    monitor = Monitor(reference, random_state=0)
    batch = pd.concat([reference, reference[["a"]]], axis=1)
    with pytest.raises(InvalidInputError, match=r"two columns of the batch are named 'a'"):
        monitor.check(batch)


def test_monitors_are_compared_by_identity() -> None:
    """Monitors are hashable, and a monitor is equal only to itself."""
    monitor = fresh()
    assert monitor == monitor
    assert monitor != fresh()
    assert copy.deepcopy(monitor) != monitor
    assert [None, monitor].index(monitor) == 1
    assert {monitor: "a"}[monitor] == "a"


# -- blocks and groups of a batch -----------------------------------------------------------------


def by_site(sites: list[Any]) -> Any:
    rng = np.random.default_rng(9)
    return pd.DataFrame({"x": rng.normal(size=400), "site": sites * (400 // len(sites))})


def test_a_batch_of_another_group_is_refused() -> None:
    """A batch with rows of site s, or without a site, is an error for the group of site n."""
    frame = by_site(["n", "s"])
    monitor = Monitor(frame, groups="site", random_state=0)
    with pytest.raises(InvalidInputError, match="column 'site' has the value 's'; pass"):
        monitor.check(frame[frame.site == "s"], group="n")
    with pytest.raises(InvalidInputError, match="'site' also has the value 's'"):
        monitor.check(frame, group="n")
    with pytest.raises(InvalidInputError, match="'site' has the value missing"):
        monitor.check(frame[:50].assign(site=None), group="n")
    assert monitor.n_batches == 0
    north = frame[frame.site == "n"]
    assert monitor.check(north, group="n").group == "n"
    assert monitor.check(north[["x"]], group="n").group == "n"


def test_the_group_of_a_batch_is_in_its_column() -> None:
    for sites in (["n", "s"], [1, 2], [1.0, 2.0], ["01", "1"]):
        frame = by_site(sites)
        monitor = Monitor(frame, groups="site", random_state=0)
        second = frame[frame.site == sites[1]]
        assert monitor.check(second).group == label_string(sites[1])
        if sites[1] == "1":
            assert monitor.check(second.assign(site=1)).group == "1"
            continue
        with pytest.raises(InvalidInputError, match="'site' of this batch has 2 different values"):
            monitor.check(frame)
        with pytest.raises(InvalidInputError, match="the value '9', and the groups of the ref"):
            monitor.check(second.assign(site=9))
        with pytest.raises(InvalidInputError, match="the value missing, and the groups"):
            monitor.check(second.assign(site=None))
        with pytest.raises(InvalidInputError, match=r"group must be one of .*; none is given"):
            monitor.check(second[["x"]])
        assert monitor.n_batches == 1
    with pytest.raises(InvalidInputError, match="group must be one of 'n', 's'; none is given"):
        # The monitor does not know the column of labels that were passed.
        Monitor(by_site(["n", "s"])[["x"]], groups=["n", "s"] * 200).check(frame)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_file_with_rows_of_another_group_is_refused(ending: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    frame, path = by_site([1, 2]), tmp_path / f"rows.{ending}"
    monitor = Monitor(frame, groups="site", random_state=0)
    frame.to_csv(path, index=False) if ending == "csv" else frame.to_parquet(path)
    with pytest.raises(InvalidInputError, match="'site' also has the value '2'"):
        monitor.check(scan(path), group=1)
    one = frame[frame.site == 1]
    one.to_csv(path, index=False) if ending == "csv" else one.to_parquet(path)
    assert monitor.check(scan(path), group=1).group == "1"


def test_numbers_of_another_type_are_the_same_group() -> None:
    frame = by_site([1, 2])
    monitor = Monitor(frame, groups="site", random_state=0)
    assert monitor.check(frame[frame.site == 1].astype(float), group=1).group == "1"
    with pytest.raises(InvalidInputError, match="has the value '2'"):
        monitor.check(frame[frame.site == 2].astype(float), group=1)


def test_a_batch_of_several_blocks_is_refused() -> None:
    """A batch with rows of several days is an error if each block of the reference is one day."""
    rng = np.random.default_rng(9)
    frame = pd.DataFrame({"x": rng.normal(size=500), "day": np.repeat(np.arange(50), 10)})
    monitor = Monitor(frame, blocks="day", random_state=0)
    with pytest.raises(InvalidInputError, match="'day' of this batch has 10 different values"):
        monitor.check(frame[::50])
    for batch in (frame[:10], frame[:10].assign(day=99), frame[:10][["x"]]):
        monitor.check(batch)
    assert monitor.n_batches == 3


def test_the_text_about_suspicious_rows_includes_new_categories() -> None:
    frame = by_site(["n", "s"])
    verdict = Monitor(frame, random_state=0).check(frame[:50].assign(site="q"))
    assert "a value far outside the reference, or a new category: 50" in str(verdict)


DAY = dt.date(2024, 1, 1)
MIDNIGHTS = [DAY, pd.Timestamp(DAY), np.datetime64("2024-01-01T00"), "2024-01-01"]


@pytest.mark.parametrize(
    ("labels", "text"),
    [
        (MIDNIGHTS, "2024-01-01"),
        ([7, 7.0, np.int8(7), np.float32(7), Decimal("7.0"), "7"], "7"),
        ([pd.Timestamp("2024-01-01 06:30:00.50"), np.datetime64("2024-01-01T06:30:00.500")],
         "2024-01-01 06:30:00.5"),
        ([np.datetime64("2024-01-01T06:30"), dt.datetime(2024, 1, 1, 6, 30)],
         "2024-01-01 06:30:00"),
        (["7.0", np.str_("7.0")], "7.0"),
    ],
)  # fmt: skip
def test_the_type_of_a_label_does_not_matter(labels: list[Any], text: str) -> None:
    monitor, batch = fresh(), batches(1)[0]
    verdicts = [monitor.check(batch, label=label) for label in labels]
    assert {verdict.label for verdict in verdicts} == {text}
    assert monitor.n_batches == 1


@pytest.mark.parametrize(
    "labels",
    [
        pd.Series([1.0, 2.0] * 200),
        np.array([1, 2] * 200, object),
        np.array([1, 2.0, 1.0, 2] * 100, object),
        pd.Series([DAY, pd.Timestamp("2024-01-02 06:30")] * 200),
        pd.to_datetime(pd.Series(MIDNIGHTS[:1] + ["2024-01-02 06:30"]), format="mixed").sample(
            400, replace=True, random_state=0, ignore_index=True
        ),
    ],
    ids=["floats", "integers", "both", "dates and times", "times"],
)
@pytest.mark.parametrize("by_name", [False, True])
def test_the_type_of_a_group_does_not_matter(labels: Any, by_name: bool) -> None:
    rows = pd.DataFrame(REFERENCE[:400], columns=["a", "b", "c"])
    if by_name:
        rows["site"] = labels
    monitor = Monitor(rows, groups="site" if by_name else labels, random_state=0)
    names = [each["group"] for each in monitor.to_dict()["groups"]]
    if names[0] == "1":
        assert names == ["1", "2"]
        first: list[Any] = [1, 1.0, np.float32(1), "1"]
    else:
        assert names == ["2024-01-01", "2024-01-02 06:30:00"]
        first = MIDNIGHTS
    for group in first:
        batch = rows[:50].assign(site=[group] * 50)
        assert monitor.check(batch, group=group).group == names[0]
        monitor.reset(group)


@pytest.mark.parametrize(
    "label", [[1], (1, 2), {"a": 1}, np.array(["a"]), np.nan, pd.NaT, np.datetime64("NaT"), b"a"]
)
def test_labels_that_are_not_names_are_refused(label: Any) -> None:
    monitor = fresh()
    with pytest.raises(InvalidInputError, match="label must be a string, a date or a number"):
        monitor.check(batches(1)[0], label=label)
    assert monitor.n_batches == 0


@pytest.mark.filterwarnings("ignore::isodepth.errors.ColumnWarning")
@pytest.mark.parametrize("style", ["${:,.2f}", "{:.1f}%", "{:,.0f}"])
def test_numbers_in_another_style_than_in_the_reference_are_refused(style: str) -> None:
    """Any conversion could give a wrong number, as in the two-sample test."""
    rng = np.random.default_rng(5)
    prices = rng.gamma(2, 1000, 800).round(2) + 1000
    reference, batch = pd.DataFrame({"price": prices[:600]}), pd.DataFrame({"price": prices[600:]})
    styled = pd.DataFrame({"price": [style.format(price) for price in batch["price"]]})
    monitor = Monitor(reference, random_state=0)
    with pytest.raises(InvalidInputError, match=r"strings such as .* in the batch; convert them"):
        monitor.check(styled)
    assert monitor.n_batches == 0
    plain = monitor.check(batch.astype(str))
    assert plain.pvalue == Monitor(reference, random_state=0).check(batch).pvalue
    converting = Monitor(reference, kinds={"price": "numeric"}, random_state=0)
    assert converting.check(styled).n_rows == 200
