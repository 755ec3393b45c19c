"""Verdicts: what is usual, what is not, which columns, and what cannot be judged."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from isodepth import DepthMonitor, InvalidInputError, InvalidOptionError

RNG = np.random.default_rng(10)
REFERENCE = RNG.normal(size=(4000, 3))
OPTIONS: dict[str, Any] = {"n_directions": 25, "levels": 8, "random_state": 0}
SHIFT = np.array([0.0, 1.0, 0.0])


def fresh(reference: Any = REFERENCE, **options: Any) -> DepthMonitor:
    return DepthMonitor(reference, **{"batch_size": 60, **OPTIONS, **options})


def batches(count: int, rows: int = 60, shift: Any = 0.0, seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(rows, 3)) + shift for _ in range(count)]


WAYS = {
    "ranks": {},
    "tolerance": {"tolerance": 0.05},
    "arl": {"arl": 500.0},
    "patience": {"patience": 2},
    "tolerance, arl": {"tolerance": 0.05, "arl": 500.0},
    "tolerance, patience": {"tolerance": 0.05, "patience": 2},
}


@pytest.mark.parametrize("options", WAYS.values(), ids=list(WAYS))
def test_quiet_before_a_change_and_ringing_after_it(options: dict) -> None:
    monitor = fresh(**options, n_directions=150)
    before = [monitor.check(batch) for batch in batches(30)]
    assert not any(verdict.alarm for verdict in before)
    after = [monitor.check(batch) for batch in batches(8, shift=1.5 * SHIFT, seed=1)]
    rings = [verdict.alarm for verdict in after]
    assert any(rings)
    first = rings.index(True)
    assert after[first].evidence >= after[first].threshold
    assert after[first].alarm_since == 31 + first
    assert after[first].columns[0][0] == "column 1"
    assert after[first].columns[0][1] > 0.7
    assert after[first].pvalue == 1 / (monitor.calibration.sizes[0] + 1)
    if "arl" not in options:
        # It goes on until somebody resets it.
        assert all(rings[first:])
        assert {verdict.alarm_since for verdict in after[first:]} == {31 + first}
        monitor.reset()
        assert not monitor.check(batches(1, seed=2)[0]).alarm
    else:
        assert rings.count(True) < len(rings[first:])
    if options.get("patience") == 2:
        assert first >= 1


def test_a_verdict_says_it_all() -> None:
    monitor = fresh(alpha=0.02)
    verdict = monitor.check(batches(1)[0])
    assert (verdict.batch, verdict.n_rows, verdict.group) == (1, 60, None)
    assert verdict.score == monitor.score(batches(1)[0])
    assert verdict.usual[0] <= verdict.score <= verdict.usual[1]
    assert 0 < verdict.pvalue <= 1
    assert verdict.threshold == 50
    assert (verdict.alarm, verdict.alarm_since) == (False, None)
    assert (verdict.calibration, verdict.interpolated, verdict.exact) == ("disjoint", False, True)
    assert verdict.missing is None
    shares = [share for _, share in verdict.columns]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(1.0)
    fields = verdict.to_dict()
    assert json.loads(verdict.to_json()) == fields
    assert "\n" not in verdict.to_json()
    assert set(fields) == set(verdict.__dataclass_fields__)
    assert fields["columns"][0] == {"name": verdict.columns[0][0], "share": shares[0]}
    assert "no alarm" in str(verdict)
    assert "alarm at 50" in str(verdict)
    assert monitor.verdicts == [verdict]
    assert json.loads(json.dumps(monitor.to_dict()))["verdicts"] == [fields]
    assert "1 batch(es) checked, disjoint calibration" in repr(monitor)


def test_scoring_is_not_checking() -> None:
    monitor = fresh()
    monitor.score(batches(1)[0])
    assert monitor.verdicts == []


def test_the_seed_decides_everything() -> None:
    first, second, third = (fresh(random_state=seed) for seed in (5, 5, 6))
    verdicts = [[m.check(batch) for batch in batches(5)] for m in (first, second, third)]
    assert verdicts[0] == verdicts[1] != verdicts[2]
    drawn = DepthMonitor(REFERENCE, batch_size=60, n_directions=25, levels=8)
    assert drawn.check(batches(1)[0]).n_rows == 60


# -- sizes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [1, 59, 61])
@pytest.mark.parametrize("tolerance", [0.0, 0.05])
def test_another_size_is_refused(rows: int, tolerance: float) -> None:
    monitor = fresh(tolerance=tolerance)
    with pytest.raises(InvalidInputError, match=rf"{rows} row\(s\).*batches of 60.*batch_size=\["):
        monitor.check(np.zeros((rows, 3)))
    assert monitor.verdicts == []


@pytest.mark.parametrize("tolerance", [0.0, 0.05])
def test_sizes_between_declared_ones_are_interpolated(tolerance: float) -> None:
    monitor = fresh(batch_size=[30, 120], tolerance=tolerance)
    verdicts = [monitor.check(batch) for batch in batches(12, rows=60)]
    assert all(verdict.interpolated and not verdict.exact for verdict in verdicts)
    assert not any(verdict.alarm for verdict in verdicts)
    # Usual scores of the sizes around lie around.
    ends = [monitor.check(batches(1, rows=n, seed=n)[0]).usual for n in (30, 120)]
    assert ends[1][0] < verdicts[0].usual[0] < ends[0][0]
    later = monitor.check(batches(1, rows=30, seed=5)[0])
    assert not later.interpolated
    # Ranks among scores that were interpolated are no longer exact.
    assert not later.exact
    drifted = [monitor.check(batch) for batch in batches(9, rows=60, shift=SHIFT)]
    assert drifted[-1].alarm
    with pytest.raises(InvalidInputError, match="30 to 120"):
        monitor.check(np.zeros((121, 3)))


def test_batches_of_one_row() -> None:
    monitor = fresh(batch_size=1)
    quiet = [monitor.check(row[None]) for row in batches(1)[0][:20]]
    assert not any(verdict.alarm for verdict in quiet)
    loud = [monitor.check(np.full((1, 3), 30.0)) for _ in range(5)]
    assert loud[-1].alarm


@pytest.mark.parametrize("tolerance", [0.0, 0.05])
def test_constant_batches_are_far_away(tolerance: float) -> None:
    monitor = fresh(tolerance=tolerance)
    verdicts = [monitor.check(np.zeros((60, 3))) for _ in range(5)]
    assert verdicts[0].pvalue == 1 / (monitor.calibration.sizes[0] + 1)
    assert verdicts[-1].alarm


@pytest.mark.parametrize("tolerance", [0.0, 0.05])
def test_a_constant_reference(tolerance: float) -> None:
    monitor = fresh(np.ones((4000, 3)), tolerance=tolerance)
    same = [monitor.check(np.ones((60, 3))) for _ in range(30)]
    assert {verdict.pvalue for verdict in same} == {1.0}
    assert not any(verdict.alarm for verdict in same)
    other = [monitor.check(np.ones((60, 3)) + SHIFT) for _ in range(6)]
    assert other[-1].alarm


def test_few_rows_are_resampled_and_said_to_be() -> None:
    monitor = fresh(REFERENCE[:400])
    verdict = monitor.check(batches(1)[0])
    assert (verdict.calibration, verdict.exact) == ("resampled", False)
    assert "approximately" in str(verdict)


# -- blocks and groups ----------------------------------------------------------------------------


def weeks(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows of one week have a level in common, which is another one every week."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(40, 80, count)
    levels = rng.normal(size=(count, 3))
    rows = [rng.normal(size=(n, 3)) + level for n, level in zip(sizes, levels, strict=True)]
    return np.concatenate(rows), np.repeat(np.arange(count), sizes)


@pytest.mark.parametrize("tolerance", [0.0, 0.05])
def test_blocks_know_what_weeks_have_in_common(tolerance: float) -> None:
    rows, labels = weeks(80)
    of_weeks = fresh(rows, batch_size=None, blocks=labels, tolerance=tolerance)
    shuffled = fresh(rows, batch_size=60, tolerance=tolerance)
    more, again = weeks(30, seed=1)
    new = [more[again == week] for week in range(30)]
    verdicts = [of_weeks.check(week) for week in new]
    assert not any(verdict.alarm for verdict in verdicts)
    assert {verdict.calibration for verdict in verdicts} == {"blocks"}
    # Rows drawn from all weeks say that every week is unusual.
    assert any(shuffled.check(week[:40].repeat(2, axis=0)[:60]).alarm for week in new)
    with pytest.raises(InvalidInputError, match="so different a size"):
        of_weeks.check(np.zeros((300, 3)))
    with pytest.raises(InvalidOptionError, match="do not go together"):
        fresh(rows, blocks=labels)


@pytest.mark.parametrize("tolerance", [0.0, 0.05])
def test_every_group_has_a_calibration_of_its_own(tolerance: float) -> None:
    sites = RNG.integers(0, 2, len(REFERENCE))
    monitor = fresh(REFERENCE + 5.0 * sites[:, None], groups=sites, tolerance=tolerance)
    quiet = []
    for north, south in zip(batches(15), batches(15, seed=1), strict=True):
        quiet += [monitor.check(north, group=0), monitor.check(south + 5.0, group="1")]
    assert not any(verdict.alarm for verdict in quiet)
    assert [verdict.group for verdict in quiet[:2]] == ["0", "1"]
    assert set(monitor.reference) == {"0", "1"}
    assert monitor.score(batches(1)[0] + 5.0, group=1) < monitor.score(batches(1)[0], group=1)
    swapped = [monitor.check(batch, group=1) for batch in batches(12, seed=2)]
    assert swapped[-1].alarm
    for group in (None, "2"):
        with pytest.raises(InvalidInputError, match="group must be one of '0', '1'"):
            monitor.check(batches(1)[0], group=group)
    with pytest.raises(InvalidInputError, match="no groups"):
        fresh().score(batches(1)[0], group="0")


@pytest.mark.parametrize("tolerance", [0.0, 0.05])
def test_every_group_has_units_of_its_own(tolerance: float) -> None:
    """What hardly varies at night may go up and down by day."""
    by_day = np.arange(len(REFERENCE)) % 2 == 1
    rows = np.where(by_day[:, None], REFERENCE * [1.0, 100.0, 1.0], REFERENCE)
    monitor = fresh(rows, groups=by_day, tolerance=tolerance)
    wide = batches(1)[0] * [1.0, 100.0, 1.0]
    night = monitor.check(wide, group=False)
    assert night.score > 20 * monitor.check(wide, group=True).score
    assert night.pvalue < 0.05
    assert night.columns[0][0] == "column 1"


@pytest.mark.parametrize("name", ["groups", "blocks"])
def test_labels_must_fit(name: str) -> None:
    size = None if name == "blocks" else 60
    with pytest.raises(InvalidInputError, match=rf"{name} must hold one label"):
        fresh(batch_size=size, **{name: np.zeros(3)})
    for odd in (np.full(4000, np.nan), np.array([None] * 4000)):
        with pytest.raises(InvalidInputError, match=r"no label for 4000 row\(s\)"):
            fresh(batch_size=size, **{name: odd})


# -- missing values and names ---------------------------------------------------------------------


@pytest.mark.parametrize("tolerance", [0.0, 0.05])
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
    with pytest.raises(InvalidInputError, match="nan_policy='omit'"):
        fresh(frame)
    strict = fresh(frame.dropna(), tolerance=tolerance)
    with pytest.raises(InvalidInputError, match="nan_policy='omit'"):
        strict.check(batch)


def test_batches_must_have_the_columns_of_the_reference() -> None:
    pd = pytest.importorskip("pandas")
    monitor = fresh(pd.DataFrame(REFERENCE, columns=list("abc")))
    with pytest.raises(InvalidInputError, match="'b' is only in the reference"):
        monitor.check(pd.DataFrame(batches(1)[0], columns=list("cxa")))
    turned = pd.DataFrame(batches(1)[0][:, ::-1], columns=list("cba"))
    assert monitor.score(turned) == monitor.score(batches(1)[0])
    with pytest.raises(InvalidInputError, match="3 and 2 columns"):
        monitor.check(batches(1)[0][:, :2])
    assert {name for name, _ in monitor.check(batches(1)[0]).columns} == set("abc")


# -- settings -------------------------------------------------------------------------------------


def test_units_of_the_columns_do_not_matter() -> None:
    units = np.array([1e-3, 1.0, 1e6])
    plain, other = fresh(), fresh(REFERENCE * units)
    for batch in batches(5):
        a, b = plain.check(batch), other.check(batch * units)
        assert a.score == pytest.approx(b.score, rel=1e-9)
    unscaled = fresh(REFERENCE * units, scale=None)
    assert unscaled.check(batches(1)[0] * units).score > 1e3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch_size": 0}, "batch_size"),
        ({"alpha": 0.0}, "alpha"),
        ({"alpha": 1.0}, "alpha"),
        ({"alpha": 0.05, "arl": 100.0}, "give one of them"),
        ({"arl": 1.0}, "arl"),
        ({"tolerance": 0.5}, "tolerance"),
        ({"tolerance": -0.1}, "tolerance"),
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


def test_what_only_goes_with_batches() -> None:
    for odd in ({"alpha": 0.05}, {"tolerance": 0.1}, {"patience": 2}, {"path": "m.npz"}):
        with pytest.raises(InvalidOptionError, match="give batch_size"):
            DepthMonitor(REFERENCE, **OPTIONS, **odd)
    plain = DepthMonitor(REFERENCE, **OPTIONS)
    assert plain.calibration is None
    for call in (lambda: plain.check(batches(1)[0]), plain.reset, lambda: plain.verdicts):
        with pytest.raises(InvalidOptionError, match="only scores batches"):
            call()


def test_directions_of_ones_own() -> None:
    own = np.vstack([np.eye(3), np.ones((1, 3))])
    for tolerance in (0.0, 0.1):
        monitor = DepthMonitor(
            REFERENCE, batch_size=60, directions=own, tolerance=tolerance, random_state=0
        )
        assert monitor.check(batches(1)[0]).score > 0
    line = DepthMonitor(REFERENCE[:, :1], batch_size=60, tolerance=0.1, random_state=0)
    assert line.check(batches(1)[0][:, :1]).score >= 0


def test_one_corrupt_batch_never_rings_with_patience() -> None:
    """Neither from a fresh start nor later; without patience it does."""
    corrupt = np.full((60, 3), 1e6)
    for options in ({}, {"tolerance": 0.05}):
        for quiet in (0, 20):
            patient = fresh(**options, patience=2)
            assert not any(patient.check(batch).alarm for batch in batches(quiet))
            assert not patient.check(corrupt).alarm
            assert not any(patient.check(batch).alarm for batch in batches(15, seed=3))
    impatient = fresh(alpha=0.2)
    assert impatient.check(corrupt).alarm


# -- statistics -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("tolerance", [0.0, 0.1])
def test_undrifted_streams_seldom_ring(tolerance: float) -> None:
    """200 streams of 40 batches at 10%, foreign rows in every batch where there is a tolerance."""
    rings = 0
    for seed in range(200):
        rng = np.random.default_rng([11, seed])
        monitor = fresh(
            rng.normal(size=(2500, 3)), alpha=0.1, tolerance=tolerance, random_state=seed
        )
        alarm = False
        for _ in range(40):
            batch = rng.normal(size=(60, 3))
            if tolerance:
                batch[:6] = 3.0 + 0.1 * rng.normal(size=(6, 3))
            alarm = monitor.check(batch).alarm
        rings += alarm
    assert rings / 200 <= 0.1 + 2 * np.sqrt(0.1 * 0.9 / 200)
