"""Study that compares tools for drift: records and reports, with artificial tools."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from experiments.drift import study, tools
from experiments.drift.report import draw, report
from experiments.tables import sources
from experiments.tables.study import Pair, read_lines

LINE = {"table": "x/t", "garbage": False, "split": 0, "tool": "t"}


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=600), "b": rng.normal(size=600)})
    frame["c"] = pd.Series(rng.choice(["u", "v", "w"], 600), dtype=object)
    monkeypatch.setattr(sources, "read", lambda name: frame)
    monkeypatch.setenv("ISODEPTH_TABLES", str(tmp_path / "none.npz"))
    sources.load.cache_clear()
    yield frame
    sources.load.cache_clear()


def never(X: Any, Y: Any, seed: int) -> Any:
    return False, None


def fails(X: Any, Y: Any, seed: int) -> Any:
    raise ValueError("not for this table")


KNOWN = {
    "holm": tools.timed(tools._holm),
    "never": tools.timed(never),
    "fails": tools.timed(fails),
}


def test_answers_are_compared_with_the_change(table: Any) -> None:
    holm, no, failed = study.evaluate(Pair("x/t", "unit", False, 0), KNOWN)
    assert (holm["detected"], holm["first"], holm["wrong"]) == (True, True, 0)
    assert not no["detected"]
    assert "first" not in no
    assert failed["error"] == "ValueError: not for this table"


def test_impossible_changes_have_one_line(table: Any) -> None:
    (line,) = study.evaluate(Pair("x/t", "permuted column", False, 0), KNOWN)
    assert line["impossible"]


def test_column_tests_see_a_new_category(table: Any) -> None:
    made = study.make(Pair("x/t", "new category 6%", False, 1), 300)
    assert made is not None
    x, y, changed = made
    pvalues = tools.column_pvalues(x, y)
    assert min(pvalues, key=lambda name: pvalues[name]) == changed.columns[0] == "c"


def test_tools_are_selected_by_their_first_words() -> None:
    assert list(study.select(KNOWN, ["ne", "holm"])) == ["holm", "never"]


def test_runs_are_continued(table: Any, tmp_path: Path) -> None:
    chosen = [Pair("x/t", "clean", False, split) for split in (0, 1)]
    path = tmp_path / "ours.jsonl"
    for n in (1, 2, 2):
        study.run(path, chosen[:n], 1, lambda pair: study.evaluate(pair, {"never": KNOWN["never"]}))
    assert [lines[0]["split"] for lines in read_lines(path)] == [0, 1]


def test_report_counts_percentages_and_failures(tmp_path: Path) -> None:
    lines = [
        {**LINE, "change": "clean", "detected": False, "wrong": 0, "seconds": 1.0},
        {**LINE, "change": "sign", "detected": True, "first": True, "wrong": 0, "seconds": 3.0},
        {**LINE, "change": "unit", "detected": True, "first": False, "wrong": 1, "seconds": 2.0},
        {**LINE, "change": "scale", "detected": False, "first": False, "wrong": 0, "seconds": 2.0},
        {**LINE, "change": "swapped", "error": "ValueError: missing values"},
    ]
    text = report(lines, {"run": {"python": "3"}})
    assert "| t | 0 |  | 67 |  | 50 | 50 |  |  | 2.00 | 1 |" in text
    assert "| sign | 100 |" in text
    assert "* t, 1 times: `ValueError: missing values`" in text
    draw(lines, tmp_path / "f.png")
    assert (tmp_path / "f.png").stat().st_size > 1000
