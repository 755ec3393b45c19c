"""Monitors with blocks: scores of whole blocks, and batches far beyond all blocks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from isodepth import Monitor, two_sample_test
from isodepth.errors import DegenerateDepthWarning, InvalidInputError, InvalidOptionError
from isodepth.significance.martingale import RankEvidence


def days(count: int, rng: np.random.Generator, rows: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of `count` days, each with its own mean, and the day of every row."""
    day = np.repeat(np.arange(count), rows)
    return rng.normal(size=(count * rows, 2)) + rng.normal(size=(count, 1))[day], day


def test_days_that_differ_from_each_other_are_no_change() -> None:
    rng = np.random.default_rng(8)
    reference, day = days(60, rng)
    monitor = Monitor(reference, blocks=day, random_state=0)
    verdicts = [monitor.check(days(1, rng)[0]) for _ in range(30)]
    assert not any(verdict.alarm or verdict.beyond_blocks for verdict in verdicts)
    assert all(verdict.exact_guarantee and verdict.score is not None for verdict in verdicts)
    changed = [monitor.check(days(1, rng)[0] * [1.0, 4.0]) for _ in range(12)]
    assert changed[-1].alarm
    assert changed[-1].n_window_batches == 42


def test_batches_beyond_all_blocks_are_named_at_once() -> None:
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(9)
    rows, day = days(40, rng)
    frame = pd.DataFrame(rows, columns=["a", "b"]).assign(k=rng.choice(["x", "y"], len(rows)))
    monitor = Monitor(frame, blocks=day, random_state=0)
    quiet = pd.DataFrame(days(1, rng)[0], columns=["a", "b"]).assign(k=rng.choice(["x", "y"], 60))
    assert not monitor.check(quiet).beyond_blocks
    # One new value is rare; new values in all rows are beyond all blocks.
    rare = quiet.assign(k=["new", *quiet["k"][1:]])
    assert not monitor.check(rare).beyond_blocks
    verdict = monitor.check(quiet.assign(k="new"))
    assert verdict.beyond_blocks
    assert not verdict.alarm
    assert verdict.changes[0].columns == ("k",)
    assert (verdict.changes[0].value, verdict.changes[0].after) == ("new", 1.0)
    far = monitor.check(quiet.assign(a=quiet["a"] + 100))
    assert far.beyond_blocks
    assert far.changes[0].columns == ("a",)


def test_categories_with_the_same_shares_in_all_blocks() -> None:
    """Batches can be scored if a category has the same share in all blocks.

    The standard deviation of the scores of categories is then 0, and scores are divided by 1.
    """
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(10)
    rows, day = days(40, rng)
    frame = pd.DataFrame(rows, columns=["a", "b"]).assign(k=np.tile(["x", "y"], len(rows) // 2))
    monitor = Monitor(frame, blocks=day, random_state=0)
    batches = [pd.DataFrame(days(1, rng)[0], columns=["a", "b"]) for _ in range(12)]
    quiet = [monitor.check(batch.assign(k=np.tile(["x", "y"], 30))) for batch in batches]
    assert not any(verdict.alarm for verdict in quiet)
    changed = [monitor.check(batch.assign(k="x")) for batch in batches]
    # A transformed share of 1/2 becomes 1: pi / 4, times the root of 60 rows.
    assert min(verdict.score for verdict in changed) >= math.sqrt(60) * math.pi / 4 - 1e-9
    assert max(verdict.score for verdict in quiet) < 5
    assert changed[-1].alarm


@pytest.mark.parametrize(
    ("alpha", "alarm", "no_alarm"), [(0.01, 3e-5, 3.5e-5), (0.05, 2e-3, 2.1e-3)]
)
def test_pvalues_with_which_the_first_batch_raises_an_alarm(
    alpha: float, alarm: float, no_alarm: float
) -> None:
    """The first batch raises an alarm up to the p-values that the documentation states."""
    start = RankEvidence.start(restarting=False, patience=1)
    assert start.after(alarm).log_evidence >= -math.log(alpha)
    assert start.after(no_alarm).log_evidence < -math.log(alpha)


def test_one_batch_raises_an_alarm_at_a_high_level() -> None:
    rng = np.random.default_rng(15)
    reference, day = days(400, rng, rows=10)
    monitor = Monitor(reference, blocks=day, alpha=0.5, random_state=0)
    assert monitor.check(days(1, rng, rows=10)[0] + 100).alarm


def test_a_reset_spends_no_new_capital() -> None:
    """After a reset, only the bets on later changes remain, with their former stakes."""
    rng = np.random.default_rng(11)
    reference, day = days(40, rng)
    monitor = Monitor(reference, blocks=day, alpha=0.1, random_state=0)
    for number in range(1, 13):
        verdict = monitor.check(days(1, rng)[0])
        ranks = monitor._state.ranks[None]
        assert ranks.n_batches == number
        assert verdict.n_window_batches == (number - 1) % 3 + 1
        if number % 3 == 0:
            monitor.reset()
            ranks = monitor._state.ranks[None]
            assert ranks.log_evidence == pytest.approx(-np.log(number + 1))


@pytest.mark.parametrize("options", [{"alpha": 0.1}, {"arl": 20.0}])
def test_a_reset_of_a_group_adds_no_capital(options: dict[str, float]) -> None:
    """After every batch of five groups a random one is reset, which lowers its evidence only."""
    rng = np.random.default_rng(16)
    monitor, unusual = shared_days(**options)
    for number in range(60):
        batch = unusual if number % 7 == 0 else days(1, rng, rows=10)[0]
        monitor.check(batch, group=number % 5)
        before, name = monitor._state.ranks, str(rng.integers(5))
        monitor.reset(name)
        after = monitor._state.ranks
        assert after[name].log_evidence <= before[name].log_evidence
        assert after[name].n_batches == before[name].n_batches
        assert all(after[other] is before[other] for other in after if other != name)
        assert name not in monitor.alarm_groups


def shared_days(**options: Any) -> tuple[Monitor, np.ndarray]:
    """Return a monitor of five groups with the same rows, and the rows of an unusual day."""
    rng = np.random.default_rng(14)
    rows, day = days(60, rng, rows=10)
    options = {"blocks": np.tile(day, 5), "groups": np.repeat(np.arange(5), len(rows))} | options
    monitor = Monitor(np.tile(rows, (5, 1)), random_state=0, **options)
    return monitor, days(1, rng, rows=10)[0] + 100


@pytest.mark.parametrize("options", [{"alpha": 0.1}, {"arl": 20.0}])
def test_an_unusual_day_of_all_groups_counts_once(options: dict[str, float]) -> None:
    """A day that is unusual in all groups is not stronger evidence than in a single group.

    Batches of different groups may depend on each other, so their p-values are not multiplied.
    """
    monitor, unusual = shared_days(**options)
    for group in range(5):
        verdict = monitor.check(unusual, group=group)
        assert verdict.pvalue < 1 / 45
        assert verdict.n_window_batches == 1
        assert verdict.threshold == pytest.approx(0.02 if "alpha" in options else 0.025)
        assert not verdict.alarm
    # A second unusual day follows.
    assert any(monitor.check(unusual, group=group).alarm for group in range(5))


def test_heavy_tailed_blocks_are_described_without_a_guarantee() -> None:
    """If the means of days have a Cauchy distribution, no alarm is raised.

    Batches beyond all blocks occur, for which there is no guarantee.
    """
    beyond = 0
    for seed in range(8):
        rng = np.random.default_rng([12, seed])
        day = np.repeat(np.arange(20), 30)
        levels = rng.standard_cauchy(35)
        reference = rng.normal(size=(600, 1)) + levels[:20][day][:, None]
        monitor = Monitor(reference, blocks=day, random_state=seed)
        verdicts = [monitor.check(rng.normal(size=(30, 1)) + level) for level in levels[20:]]
        beyond += any(verdict.beyond_blocks for verdict in verdicts)
        assert not any(verdict.alarm for verdict in verdicts)
        assert all(verdict.changed_share is None for verdict in verdicts)
    assert beyond > 0


def test_sizes_and_options_of_blocks() -> None:
    rng = np.random.default_rng(10)
    reference, day = days(12, rng)
    monitor = Monitor(reference, blocks=day, random_state=0)
    for size in (59, 67):
        with pytest.raises(InvalidInputError, match="60 to 60"):
            monitor.check(rng.normal(size=(size, 2)))
    assert not monitor.check(rng.normal(size=(66, 2))).exact_guarantee
    with pytest.raises(InvalidOptionError, match=r"tolerance=0\.1 has no guarantee with blocks"):
        Monitor(reference, blocks=day, tolerance=0.1)
    with pytest.raises(InvalidInputError, match="at least 4"):
        Monitor(reference, blocks=day // 4)
    assert (
        Monitor(reference, blocks=day // 3, random_state=0).check(reference[:180]).exact_guarantee
    )
    missing = Monitor(reference, blocks=day, nan_policy="keep", random_state=0)
    gone = missing.check(np.column_stack([rng.normal(size=60), np.full(60, np.nan)]))
    assert gone.beyond_blocks
    assert gone.score is None
    assert str(gone.changes[0]).startswith("column 1: missing 0% -> 100%")


@pytest.mark.parametrize(("changed", "text"), [
    (lambda rows: np.vstack([[-9999.0, 0.1], [-9999.0, 0.2], [-9999.0, 0.3], [-9999.0, 0.4],
                             [-9999.0, 0.5], rows[5:]]), "column 0 = -9999: 0% -> 8.3%"),
    (lambda rows: np.column_stack([np.round(rows[:, 0]), rows[:, 1]]), "column 0: whole numbers"),
])  # fmt: skip
def test_single_values_and_precision_are_named(changed: Any, text: str) -> None:
    rng = np.random.default_rng(13)
    reference, day = days(40, rng)
    monitor = Monitor(reference, blocks=day, random_state=0)
    assert not any(monitor.check(days(1, rng)[0]).changes for _ in range(5))
    assert monitor.check(changed(days(1, rng)[0])).changes[0].text.startswith(text)


@pytest.mark.parametrize("option", ["blocks", "groups"])
def test_the_name_of_a_column_is_refused_for_arrays(option: str) -> None:
    rows, _ = days(2, np.random.default_rng(10))
    words = f"{option}='day' names a column, so (the reference|X) must be a data frame"
    with pytest.raises(InvalidInputError, match=words):
        Monitor(rows, **{option: "day"})
    if option == "blocks":
        with pytest.raises(InvalidInputError, match=words):
            two_sample_test(rows[:50], rows[50:], blocks="day", n_permutations=19)
        with pytest.raises(InvalidInputError, match=r"blocks\[1\] must hold .* the string 'day'"):
            two_sample_test(rows, rows, blocks=(np.arange(120), "day"), n_permutations=19)


def test_a_monitor_takes_labels_from_columns() -> None:
    rng = np.random.default_rng(11)
    rows, day = days(40, rng)
    frame = pd.DataFrame(rows, columns=["a", "b"])
    labeled = frame.assign(day=day, site=np.where(day % 2, "u", "v"))
    batch = pd.DataFrame(days(1, rng)[0], columns=["a", "b"])
    by_name = Monitor(labeled, blocks="day", groups="site", random_state=0)
    by_label = Monitor(
        frame, blocks=labeled["day"], groups=labeled["site"].to_numpy(), random_state=0
    )
    assert by_name.columns == ("a", "b")
    first = by_name.check(batch.assign(day=99, site="u"), group="u")
    assert first == by_label.check(batch, group="u")
    with pytest.raises(InvalidOptionError, match="blocks and groups are both 'day'"):
        Monitor(labeled, blocks="day", groups="day")
    with pytest.raises(InvalidInputError, match="groups='town' is not a column of the reference"):
        Monitor(labeled, groups="town")


def test_numbers_and_strings_that_are_equal_as_strings_are_not_merged() -> None:
    rows, day = days(40, np.random.default_rng(12))
    names = np.array([1, "1"], dtype=object)[day % 2]
    for labels in (names, names.tolist()):
        with pytest.raises(InvalidInputError, match="groups has labels of different types"):
            Monitor(rows, groups=labels)


def test_blocks_with_few_complete_rows_are_named_in_a_warning() -> None:
    """A monitor has no option `depth`, which the warning of the depth recommends."""
    rng = np.random.default_rng(8)
    rows, blocks = rng.normal(size=(400, 3)), np.repeat(np.arange(20), 20)
    rows[4:20, 2] = np.nan
    with pytest.warns(DegenerateDepthWarning, match=r"has 4 rows without missing") as told:
        monitor = Monitor(rows, blocks=blocks, random_state=0)
    with pytest.warns(DegenerateDepthWarning, match=r"has 4 rows without missing"):
        monitor.check(rows[:20])
    assert "Leave out columns" in str(told[0].message)
    assert not any("depth=" in str(each.message) for each in told)
