"""Study of guarantees: which rows the attacks change, and results of very short runs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from experiments.guarantees import alarms, bounds, study


@pytest.mark.parametrize("attack", bounds.ATTACKS)
@pytest.mark.parametrize("kind", ["normal", "categories"])
def test_adversaries_replace_the_stated_rows(attack: str, kind: str) -> None:
    rng = np.random.default_rng(0)
    monitor = bounds.fitted(bounds.table(kind, 200, rng), rng)
    window = bounds.as_read(monitor, bounds.table(kind, 80, rng))
    before = window.copy()
    bad = bounds.ATTACKS[attack](monitor, window, 40, 0.3, rng)
    changed = (before != window) & ~(np.isnan(before) & np.isnan(window))
    assert set(np.flatnonzero(changed.any(axis=1))) <= {*bad.tolist()}
    if attack == "no row replaced":
        assert not len(bad)
    else:
        assert 0 < len(bad) <= 24
        assert changed[bad].any()


def test_no_adversary_is_better_than_the_most_deviating_cell() -> None:
    """The bound on the share of replaced rows is positive and valid under the worst attack.

    Half of the rows become copies of a row for which the most deviating function is 1.
    """
    rng = np.random.default_rng(1)
    monitor = bounds.fitted(bounds.table("counts", 2000, rng), rng)
    window = bounds.as_read(monitor, bounds.table("counts", 400, rng))
    bad = bounds.ATTACKS["most deviating cell"](monitor, window, 400, 0.5, rng)
    verdict = bounds.check(monitor, window)
    assert 0.5 * len(bad) < 400 * verdict.changed_share <= len(bad)


def test_rows_depend_on_each_other_within_a_day_only() -> None:
    rows, day = alarms.days("normal", 400, np.random.default_rng(2))
    means = np.array([rows[day == d].mean() for d in range(400)])
    # The standard deviation of a mean is that of the level of the day.
    assert means.std() == pytest.approx(1.0, abs=0.15)
    assert abs(np.corrcoef(means[1:], means[:-1])[0, 1]) < 0.2


def test_each_part_runs() -> None:
    """One setting of each part of the study runs, and the summary has a row for each of them."""
    names = [
        "changed share: untidy, most deviating cell",
        "patience and groups: alpha 20%, patience 2, 3 groups, random resets",
        "blocks: rare categories, random resets",
        "chunks: untidy, 40 + 45, 10 tested",
    ]
    lines = [{"setting": name, "measured": study.measured(name, range(1))} for name in names]
    text = study.summary(lines)
    for name in names:
        limits = study.SETTINGS[name].limits
        assert all(f"| {name} | {key} | 1 |" in text for key in limits)
    found = lines[2]["measured"]
    assert found["any alarm"][0] == min(1.0, found["alarms"][0])


def test_summary_shows_the_distance_from_the_limit() -> None:
    name = "blocks: normal"
    found = {"any alarm": [1.0] * 3 + [0.0] * 7}
    text = study.summary([
        {"setting": name, "measured": found}, {"setting": name, "error": "ValueError: a"},
    ])  # fmt: skip
    # The standard error is that of the rate 0.1: the root of 0.1 * 0.9 / 10.
    assert f"| {name} | any alarm | 10 | 30.00 | 10 | +2.1 |" in text
    assert f"at most 30.00% of 10 runs ({name})" in text
    assert f"* {name}: `ValueError: a`" in text


def test_a_run_continues_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(study, "CHUNK", 1)
    out = tmp_path / "rates.jsonl"
    name = "chunks: untidy, 40 + 45, 10 tested"
    for runs in ("1", "2"):
        assert study.main(["--settings", name, "--runs", runs, "--out", str(out)]) == 0
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert [line["chunk"] for line in lines] == [0, 1]
    assert f"| {name} | rejected | 2 |" in capsys.readouterr().out
