"""Verdicts: what undrifted batches score, what does not fit, which columns, and what is refused."""

from __future__ import annotations

import copy
import json
import pickle
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from isodepth import BusyFileError, DepthMonitor, InvalidInputError, InvalidOptionError

RNG = np.random.default_rng(10)
REFERENCE = RNG.normal(size=(4000, 3))
OPTIONS: dict[str, Any] = {"n_directions": 25, "levels": 8, "random_state": 0}
SHIFT = np.array([0.0, 1.0, 0.0])
TOLERANCES = pytest.mark.parametrize("tolerance", [0.0, 0.05])


def fresh(reference: Any = REFERENCE, **options: Any) -> DepthMonitor:
    return DepthMonitor(reference, **{"batch_size": 60, **OPTIONS, **options})


def batches(count: int, rows: int = 60, shift: Any = 0.0, seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(rows, 3)) + shift for _ in range(count)]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"tolerance": 0.05},
        {"arl": 500.0},
        {"patience": 2},
        {"tolerance": 0.05, "arl": 500.0},
        {"tolerance": 0.05, "patience": 2},
    ],
    ids=str,
)
def test_an_alarm_after_a_change_and_not_before(options: dict) -> None:
    monitor = fresh(**options, n_directions=150)
    assert not any(monitor.check(batch).alarm for batch in batches(30))
    after = [monitor.check(batch) for batch in batches(8, shift=1.5 * SHIFT, seed=1)]
    alarms = [verdict.alarm for verdict in after]
    first = alarms.index(True)
    assert after[first].evidence >= after[first].threshold
    assert after[first].alarm_since == 31 + first
    assert after[first].columns[0][0] == "column 1"
    assert after[first].columns[0][1] > 0.7
    assert after[first].pvalue == 1 / (monitor.calibration.sizes[0] + 1)
    if "arl" in options:
        assert alarms.count(True) < len(alarms[first:])
    else:
        # Until it is reset.
        assert {verdict.alarm_since for verdict in after[first:]} == {31 + first}
        assert monitor.alarm
        monitor.reset()
        assert not monitor.alarm
        assert not monitor.check(batches(1, seed=2)[0]).alarm
    assert first >= options.get("patience", 1) - 1


def test_an_alarm_that_has_passed_says_so() -> None:
    from isodepth.report.sentences import monitor_headline

    monitor = fresh(alpha=0.2)
    verdict = [monitor.check(batch) for batch in batches(3, shift=2 * SHIFT)][-1]
    assert "ALARM since batch" in str(verdict)
    assert "Alarm since batch" in monitor_headline(monitor.verdicts, monitor.alarm).sentence
    verdict = [monitor.check(batch) for batch in batches(60, seed=1)][-1]
    assert verdict.alarm
    assert verdict.evidence < verdict.threshold
    assert "ALARM" not in str(verdict)
    assert "below the threshold again" in str(verdict)
    assert "has not been reset" in monitor_headline(monitor.verdicts, monitor.alarm).sentence
    monitor.reset()
    assert "No alarm now" in monitor_headline(monitor.verdicts, monitor.alarm).sentence
    assert not monitor.to_dict()["alarm"]


def test_a_verdict_says_it_all() -> None:
    monitor = fresh(alpha=0.02)
    verdict = monitor.check(batches(1)[0])
    assert (verdict.batch, verdict.label, verdict.n_rows, verdict.group) == (1, None, 60, None)
    assert verdict.score == monitor.score(batches(1)[0])
    assert verdict.null_interval[0] <= verdict.score <= verdict.null_interval[1]
    assert 0 < verdict.pvalue <= 1
    assert verdict.threshold == 50
    assert (verdict.alarm, verdict.alarm_since) == (False, None)
    assert (verdict.calibration, verdict.interpolated, verdict.exact) == ("disjoint", False, True)
    shares = [share for _, share in verdict.columns]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(1.0)
    fields = verdict.to_dict()
    assert json.loads(verdict.to_json()) == fields
    assert set(fields) == set(verdict.__dataclass_fields__)
    assert "no alarm" in str(verdict)
    # Scoring is not checking.
    assert monitor.verdicts == [verdict]
    assert json.loads(json.dumps(monitor.to_dict()))["verdicts"] == [fields]
    assert "1 batch(es) checked, disjoint calibration" in repr(monitor)
    again, other = (fresh(alpha=0.02, random_state=seed).check(batches(1)[0]) for seed in (0, 6))
    assert again == verdict != other


# -- threads and labels ---------------------------------------------------------------------------


@pytest.mark.parametrize("kept", [False, True])
def test_threads_lose_no_batch(tmp_path: Path, kept: bool) -> None:
    files = {"path": tmp_path / "m.npz", "log": tmp_path / "m.jsonl"} if kept else {}
    monitor = fresh(**files)
    with ThreadPool(8) as pool:
        said = pool.map(monitor.check, batches(60))
    assert sorted(verdict.batch for verdict in said) == list(range(1, 61))
    assert sorted(said, key=lambda verdict: verdict.batch) == monitor.verdicts
    if kept:
        lines = (tmp_path / "m.jsonl").read_text().splitlines()
        assert [json.loads(line)["batch"] for line in lines] == list(range(1, 61))
        assert DepthMonitor.load(tmp_path / "m.npz").verdicts == monitor.verdicts


def test_copies_go_their_own_ways() -> None:
    monitor = fresh()
    monitor.check(batches(1)[0])
    for other in (copy.copy(monitor), copy.deepcopy(monitor), pickle.loads(pickle.dumps(monitor))):
        assert other.check(batches(2)[1]) == fresh_after(2)
        assert len(monitor.verdicts) == 1


def test_copies_of_a_saved_monitor_do_not_overwrite_each_other(tmp_path: Path) -> None:
    monitor = fresh(path=tmp_path / "m.npz")
    other = copy.copy(monitor)
    monitor.check(batches(1)[0])
    with pytest.raises(BusyFileError):
        other.check(batches(1)[0])


def fresh_after(count: int) -> Any:
    monitor = fresh()
    return [monitor.check(batch) for batch in batches(count)][-1]


def test_a_batch_that_comes_again_with_its_label_is_counted_once(tmp_path: Path) -> None:
    path, log = tmp_path / "m.npz", tmp_path / "m.jsonl"
    monitor, (first, second) = fresh(path=path, log=log), batches(2)
    verdict = monitor.check(first, label="2024-01-07")
    assert verdict.label == "2024-01-07"
    assert "batch 1 (2024-01-07)" in str(verdict)
    monitor.check(second, label=np.datetime64("2024-01-14"))
    monitor.check(second)
    for again in (monitor, DepthMonitor.load(path, autosave=True, log=log)):
        assert again.check(first, label="2024-01-07") == verdict
        with pytest.raises(InvalidInputError, match="batch 1 has the label '2024-01-07' already"):
            again.check(second, label="2024-01-07")
        assert [v.label for v in again.verdicts] == ["2024-01-07", "2024-01-14", None]
    assert [json.loads(line)["label"] for line in log.read_text().splitlines()] == [
        v.label for v in monitor.verdicts
    ]
    assert monitor._rows()["label"][0] == "2024-01-07"
    for odd in ("", "x" * 201, "a\nb"):
        with pytest.raises(InvalidInputError, match="label must be"):
            monitor.check(first, label=odd)


# -- sizes ----------------------------------------------------------------------------------------


@TOLERANCES
def test_another_size_is_refused_or_interpolated(tolerance: float) -> None:
    monitor = fresh(tolerance=tolerance)
    for rows in (1, 59, 61):
        with pytest.raises(InvalidInputError, match=rf"{rows} row\(s\).*batches of 60.*a monitor"):
            monitor.check(np.zeros((rows, 3)))
    assert monitor.verdicts == []
    monitor = fresh(batch_size=[30, 120], tolerance=tolerance)
    verdicts = [monitor.check(batch) for batch in batches(12, rows=60)]
    assert all(verdict.interpolated and not verdict.exact for verdict in verdicts)
    assert not any(verdict.alarm for verdict in verdicts)
    # Scores of the sizes around lie around.
    ends = [monitor.check(batches(1, rows=n, seed=n)[0]).null_interval for n in (30, 120)]
    assert ends[1][0] < verdicts[0].null_interval[0] < ends[0][0]
    later = monitor.check(batches(1, rows=30, seed=5)[0])
    # Ranks among scores that were interpolated are no longer exact.
    assert (later.interpolated, later.exact) == (False, False)
    assert [monitor.check(batch) for batch in batches(9, rows=60, shift=SHIFT)][-1].alarm


@TOLERANCES
def test_constants_and_single_rows(tolerance: float) -> None:
    monitor = fresh(tolerance=tolerance)
    verdicts = [monitor.check(np.zeros((60, 3))) for _ in range(5)]
    assert verdicts[0].pvalue == 1 / (monitor.calibration.sizes[0] + 1)
    assert verdicts[-1].alarm
    monitor = fresh(np.ones((4000, 3)), tolerance=tolerance)
    same = [monitor.check(np.ones((60, 3))) for _ in range(30)]
    assert {(verdict.pvalue, verdict.alarm) for verdict in same} == {(1.0, False)}
    for shift in (SHIFT, -SHIFT):
        other = copy.deepcopy(monitor)
        assert [other.check(np.ones((60, 3)) + shift) for _ in range(6)][-1].alarm
    if not tolerance:
        monitor = fresh(batch_size=1)
        assert not any(monitor.check(row[None]).alarm for row in batches(1)[0][:20])
        assert [monitor.check(np.full((1, 3), 30.0)) for _ in range(5)][-1].alarm
    few = fresh(REFERENCE[:400], tolerance=tolerance).check(batches(1)[0])
    assert (few.calibration, few.exact) == ("resampled", False)
    assert "approximately" in str(few)


# -- blocks and groups ----------------------------------------------------------------------------


def weeks(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows of one week have a level in common, which is another one every week."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(40, 80, count)
    sizes[:2] = 40, 79
    levels = rng.normal(size=(count, 3))
    rows = [rng.normal(size=(n, 3)) + level for n, level in zip(sizes, levels, strict=True)]
    return np.concatenate(rows), np.repeat(np.arange(count), sizes)


@TOLERANCES
def test_blocks_know_what_weeks_have_in_common(tolerance: float) -> None:
    rows, labels = weeks(80)
    of_weeks = fresh(rows, batch_size=None, blocks=labels, tolerance=tolerance)
    shuffled = fresh(rows, batch_size=60, tolerance=tolerance)
    more, again = weeks(30, seed=1)
    new = [more[again == week] for week in range(30)]
    verdicts = [of_weeks.check(week) for week in new]
    assert {(v.alarm, v.calibration, v.exact) for v in verdicts} == {(False, "blocks", False)}
    # Rows drawn from all weeks say that every week is unusual.
    assert any(shuffled.check(week[:40].repeat(2, axis=0)[:60]).alarm for week in new)
    for n in (39, 87):
        with pytest.raises(InvalidInputError, match="blocks of the reference had 40 to 79"):
            of_weeks.check(np.zeros((n, 3)))
    with pytest.raises(InvalidOptionError, match="do not go together"):
        fresh(rows, blocks=labels)


@TOLERANCES
def test_every_group_has_units_and_a_calibration_of_its_own(tolerance: float) -> None:
    sites = RNG.integers(0, 2, len(REFERENCE))
    wide = 5.0 * sites[:, None] + REFERENCE * np.where(sites, 100.0, 1.0)[:, None]
    monitor = fresh(wide, groups=sites, tolerance=tolerance)
    quiet = []
    for north, south in zip(batches(15), batches(15, seed=1), strict=True):
        quiet += [monitor.check(north, group=0), monitor.check(100 * south + 5.0, group="1")]
    assert not any(verdict.alarm for verdict in quiet)
    assert [verdict.group for verdict in quiet[:2]] == ["0", "1"]
    assert [monitor.check(100 * batch, group=0) for batch in batches(12, seed=2)][-1].alarm
    for group in (None, "2"):
        with pytest.raises(InvalidInputError, match="group must be one of '0', '1'"):
            monitor.check(batches(1)[0], group=group)
    with pytest.raises(InvalidInputError, match="no groups"):
        fresh().check(batches(1)[0], group="0")


@pytest.mark.parametrize("name", ["groups", "blocks"])
def test_labels_of_rows_must_fit(name: str) -> None:
    size = None if name == "blocks" else 60
    with pytest.raises(InvalidInputError, match=rf"{name} must hold one label"):
        fresh(batch_size=size, **{name: np.zeros(3)})
    for odd in (np.full(4000, np.nan), np.array([None] * 4000)):
        with pytest.raises(InvalidInputError, match=r"got 4000 missing label\(s\)"):
            fresh(batch_size=size, **{name: odd})


# -- columns and settings -------------------------------------------------------------------------


@TOLERANCES
def test_missing_values_are_left_out_and_counted(tolerance: float) -> None:
    pd = pytest.importorskip("pandas")
    reference = REFERENCE.copy()
    reference[:400, 2] = np.nan
    frame = pd.DataFrame(reference, columns=list("abc"))
    groups = np.where(np.arange(4000) % 2 == 0, "even", "odd")
    monitor = fresh(frame, nan_policy="omit", tolerance=tolerance, groups=groups, batch_size=40)
    batch = pd.DataFrame(batches(1, rows=40)[0], columns=list("abc"))
    batch.iloc[:10, 0] = np.nan
    verdict = monitor.check(batch, group="odd")
    assert verdict.n_rows == 30
    assert verdict.missing == {
        "n_dropped": 10,
        "columns": {
            "a": {"batch": 0.25, "reference": 0.0},
            "b": {"batch": 0.0, "reference": 0.0},
            "c": {"batch": 0.0, "reference": 0.1},
        },
    }
    assert "left out   10 row(s)" in str(verdict)
    strict = fresh(frame.dropna(), tolerance=tolerance, batch_size=40)
    for call in (lambda: fresh(frame), lambda: strict.check(batch)):
        with pytest.raises(InvalidInputError, match="nan_policy='omit'"):
            call()


def test_batches_must_have_the_columns_of_the_reference() -> None:
    pd = pytest.importorskip("pandas")
    monitor = fresh(pd.DataFrame(REFERENCE, columns=list("abc")))
    with pytest.raises(InvalidInputError, match="'b' is only in the reference"):
        monitor.check(pd.DataFrame(batches(1)[0], columns=list("cxa")))
    turned = pd.DataFrame(batches(1)[0][:, ::-1], columns=list("cba"))
    assert monitor.score(turned) == monitor.score(batches(1)[0])
    with pytest.raises(InvalidInputError, match="got 3 in the reference and 2"):
        monitor.check(batches(1)[0][:, :2])


def test_units_of_the_columns_do_not_matter() -> None:
    units = np.array([1e-3, 1.0, 1e6])
    for tolerance in (0.0, 0.05):
        plain, other = fresh(tolerance=tolerance), fresh(REFERENCE * units, tolerance=tolerance)
        for batch in batches(5):
            assert plain.score(batch) == pytest.approx(other.score(batch * units), rel=1e-9)
    assert fresh(REFERENCE * units, scale=None).score(batches(1)[0] * units) > 1e3
    for tolerance in (0.0, 0.1):
        own = fresh(directions=np.vstack([np.eye(3), np.ones((1, 3))]), tolerance=tolerance)
        assert own.check(batches(1)[0]).score > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch_size": 0}, "batch_size"),
        ({"alpha": 0.0}, "alpha"),
        ({"alpha": 0.05, "arl": 100.0}, "give one of them"),
        ({"arl": 1.0}, "arl"),
        ({"tolerance": 0.5}, "tolerance"),
        ({"patience": 0}, "patience"),
        ({"scale": "pooled"}, "one reference"),
        ({"nan_policy": "drop"}, "nan_policy"),
        ({"log": "log.jsonl"}, "give path="),
        ({"weights": np.ones(4000)}, "weights"),
        ({"tolerance": 0.1, "depth": "irw", "q": 2}, "depth, q"),
        ({"refine": 3}, "cannot be refined"),
        ({"unknown": 3}, "unknown"),
        ({"random_state": -1}, "random_state"),
    ],
)
def test_bad_settings_are_refused(options: dict, message: str) -> None:
    with pytest.raises(InvalidOptionError, match=message):
        fresh(**options)


# -- statistics -----------------------------------------------------------------------------------


def flights(rng: np.random.Generator, n: int, later: float = 0.0) -> np.ndarray:
    """Skewed delays, a distance, and a column of 0 and 1."""
    delay = np.exp(rng.normal(2.2, 1.1, n)) - 8 + later
    far = np.exp(rng.normal(6.6, 0.6, n))
    return np.column_stack([delay, delay + 10 * rng.normal(size=n), far, rng.random(n) < 0.1])


def test_a_tolerance_sees_a_shift_of_a_skewed_column() -> None:
    rng = np.random.default_rng(3)
    monitor = DepthMonitor(flights(rng, 20_000), batch_size=500, tolerance=0.05, random_state=0)
    verdicts = [monitor.check(flights(rng, 500, later=6.0)) for _ in range(6)]
    assert verdicts[-1].alarm
    assert verdicts[-1].columns[0][0] == "column 0"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["none", "far", "near", "binary", "smallest"])
def test_undrifted_streams_seldom_raise_an_alarm(kind: str) -> None:
    """100 streams of 30 batches at 10%, a tenth of all rows replaced but for the first kind."""
    alarms = 0
    for seed in range(100):
        rng = np.random.default_rng([11, seed])
        tolerance = 0.0 if kind == "none" else 0.1
        monitor = fresh(flights(rng, 3000), alpha=0.1, tolerance=tolerance, random_state=seed)
        for _ in range(30):
            batch = flights(rng, 60)
            if kind == "smallest":
                batch[np.argsort(batch[:, 0])[:6]] = np.quantile(batch, 0.9, axis=0)
            elif kind != "none":
                rows = {"far": [1e4] * 4, "near": [12.0, 12.0, 900.0, 0.0]}
                batch[:6] = rows.get(kind, [*batch[0, :3], 1.0])
            verdict = monitor.check(batch)
        alarms += verdict.alarm
    assert alarms / 100 <= 0.1 + 2 * np.sqrt(0.1 * 0.9 / 100)


@pytest.mark.slow
def test_blocks_of_one_size_keep_the_promise() -> None:
    alarms = 0
    for seed in range(100):
        rng = np.random.default_rng([12, seed])
        labels = np.arange(6000) // 60
        monitor = fresh(
            rng.normal(size=(6000, 3)), batch_size=None, blocks=labels, alpha=0.1, random_state=seed
        )
        alarms += [monitor.check(batch) for batch in batches(30, seed=1000 + seed)][-1].alarm
    assert alarms / 100 <= 0.1 + 2 * np.sqrt(0.1 * 0.9 / 100)
