"""Study of real tables: its changes and judgments, on a small artificial table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from experiments.tables import changes, sources, study
from experiments.tables.changes import CHANGES


@pytest.fixture
def table() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    a = rng.normal(10, 2, 400)
    return pd.DataFrame(
        {
            "a": a,
            "b": np.round(50 + 3 * a + rng.normal(size=400), 3),
            "c": rng.choice(["red", "blue", "green"], 400),
            "constant": 1.0,
            "sparse": np.where(np.arange(400) % 100 == 0, 1.5, np.nan),
        }
    )


def test_sets_are_disjoint_and_follow_the_rule() -> None:
    assert set(sources.HELD_OUT) < set(sources.REPORT)
    sets = [sources.TUNING, sources.REPORT, sources.WORDS, sources.FRESH]
    assert not sources.USED & set().union(*sets)
    assert len(set().union(*sets)) == sum(map(len, sets))
    assert len(sources.REPORT) >= 40
    assert len(sources.HELD_OUT) == 10
    for names in (sources.TUNING, sources.REPORT):
        chapters = [name.split("/")[0] for name in names]
        assert max(map(chapters.count, chapters)) <= sources.PER_CHAPTER


def test_rule(table: pd.DataFrame) -> None:
    assert sources.eligible(table)
    assert not sources.eligible(table.head(100))
    assert not sources.eligible(table.drop(columns="b"))
    assert not sources.eligible(table[["a", "b"]])


def test_dump_keeps_tables(
    table: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table["c"] = table["c"].astype(object)
    table.loc[3, "c"] = None
    table["when"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(400), unit="h")
    table["yes"] = table["a"] > 10
    table = pd.DataFrame({name: sources._plain(table[name]) for name in table})
    monkeypatch.setattr(sources, "read", lambda name: table)
    sources.dump(tmp_path / "t.npz", ["x/t"])
    with np.load(tmp_path / "t.npz") as file:
        pd.testing.assert_frame_equal(sources._unpack(file, "x/t"), table)


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_affects_its_columns_only(table: pd.DataFrame, name: str) -> None:
    table["c"] = table["c"].astype(object)
    before = table.copy()
    changed = changes.change(name, table, 3)
    assert changed is not None
    pd.testing.assert_frame_equal(table, before)
    if name == "repeated 30%":
        assert changed.frame.duplicated(keep=False).mean() > 0.4
        return
    differs = {c for c in table if not changed.frame[c].equals(before[c])}
    assert differs == set(changed.columns)
    if changed.rows.any():
        (column,) = changed.columns
        same = changed.frame[column] == before[column]
        assert np.array_equal(~same.to_numpy(), changed.rows)


def test_impossible_changes(table: pd.DataFrame) -> None:
    numbers = table[["a", "constant"]]
    assert changes.change("new category 6%", numbers, 0) is None
    assert changes.change("permuted column", numbers, 0) is None
    assert changes.change("swapped", numbers, 0) is None


def test_garbage_changes_five_percent_of_the_rows(table: pd.DataFrame) -> None:
    wild = changes.add_garbage(table, 0)
    assert (wild["a"] != table["a"]).sum() == 20
    assert wild["c"].equals(table["c"])


def test_halves_are_disjoint_and_limited(table: pd.DataFrame) -> None:
    x, y = changes.halves(table, 0, 150)
    assert len(x) == len(y) == 150
    assert not set(x["a"]) & set(y["a"])


def line(**values: Any) -> dict[str, Any]:
    return {
        "table": "t", "change": "shift 0.3 sd", "garbage": False, "split": 0, "changed": ["a"],
        "pvalue": 0.01, "headline": "a: median 1 -> 2", "named": [["a"]], "detail": "", **values,
    }  # fmt: skip


def test_judgment() -> None:
    assert study.judge(line()) == {
        "detected": True, "first": True, "others": False, "words": True,
    }  # fmt: skip
    wrong = study.judge(line(named=[["b"], ["a", "b"]], headline="b: spread"))
    assert (wrong["first"], wrong["others"], wrong["words"]) == (False, True, False)
    assert study.judge(line(change="clean", changed=[]))["first"] is None
    spread = {"change": "unit", "headline": "a: interquartile range 1 -> 2"}
    assert study.judge(line(**spread, detail="x2"))["words"] is False
    assert study.judge(line(**spread, detail=f"x2{changes.CENTERED}"))["words"] is True


def test_summary_counts_failures_and_leaves_out_impossible_changes() -> None:
    text = study.summary(
        [line(), line(pvalue=0.5), line(error="ValueError: x"), line(impossible=True)]
    )
    assert "| shift 0.3 sd | 2 | 50 | 100 | 0 | 100 | 1 |" in text
    assert "* t: `ValueError: x`" in text


def test_runs_are_continued(
    table: pd.DataFrame,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    complete = table.drop(columns="sparse")
    monkeypatch.setattr(sources, "read", lambda name: complete)
    monkeypatch.setenv("ISODEPTH_TABLES", str(tmp_path / "none.npz"))
    sources.load.cache_clear()
    out = tmp_path / "run.jsonl"
    options = ["--tables", "x/t", "--changes", "sign", "--permutations", "19", "--out", str(out)]
    for splits in ("1", "2", "2"):
        study.main([*options, "--splits", splits])
    sources.load.cache_clear()
    assert [entry["split"] for entry in study.read_lines(out)] == [0, 1]
    assert "| sign | 2 | 100 | 100 |" in capsys.readouterr().out
