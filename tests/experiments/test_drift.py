"""Bookkeeping of the side-by-side study, on one small table with tools of known answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("vega_datasets")

from experiments.drift import study, tools
from experiments.drift.report import report

CARS = {"table": "cars", "garbage": False, "split": 0}


def never(X: Any, Y: Any, seed: int) -> Any:
    return False, None, None


def fails(X: Any, Y: Any, seed: int) -> Any:
    raise ValueError("not for this table")


def test_answers_are_compared_with_the_change() -> None:
    pair = study.Pair("cars", "shift", False, 0)
    known = {
        "holm": tools.timed(tools._holm),
        "never": tools.timed(never),
        "fails": tools.timed(fails),
    }
    holm, no, failed = study.evaluate(pair, known)
    assert holm["detected"]
    assert holm["right"]
    assert not no["detected"]
    assert not no["right"]
    assert failed["error"] == "ValueError: not for this table"


def test_column_tests_see_a_new_category() -> None:
    x, y, changed = study._make(study.Pair("cars", "new category", False, 1))
    pvalues = tools.column_pvalues(x, y)
    assert min(pvalues, key=lambda name: pvalues[name]) == changed.columns[0] == "Origin"


def test_runs_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = [study.Pair("cars", "none", False, split) for split in (0, 1)]
    monkeypatch.setattr(study, "pairs", lambda n: chosen[:n])
    known = {"never": tools.timed(never)}
    for n in (1, 2, 2):
        study.run(tmp_path, "ours", n, 1, known)
    lines = [json.loads(line) for line in (tmp_path / "ours.jsonl").read_text().splitlines()]
    assert [line["split"] for line in lines] == [0, 1]


def test_report_counts_percentages_and_failures() -> None:
    lines = [
        {**CARS, "tool": "t", "change": "none", "detected": False, "right": False, "seconds": 1.0},
        {**CARS, "tool": "t", "change": "shift", "detected": True, "right": True, "seconds": 3.0},
        {**CARS, "tool": "t", "change": "scale", "detected": True, "right": False, "seconds": 2.0},
        {**CARS, "tool": "t", "change": "missing", "error": "ValueError: missing values"},
        {**CARS, "tool": "t", "change": "none", "split": 1, "detected": True},  # incomplete
    ]
    text = report(lines, {"run": {"python": "3"}})
    assert "| t | 1 | 0 |  | 100 | 50 |  |  |  | 2.00 | 1 |" in text
    assert "| shift | 100 / 100 |" in text
    assert "* t, cars: `ValueError: missing values`" in text
