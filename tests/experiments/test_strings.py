"""Study of false alarms for tables with strings: verdicts, and one run of each tool and reader."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from experiments.level import strings


def test_verdicts() -> None:
    lines = [{"setting": "codes, test, scan", "rejected": int(k < 60)} for k in range(200)]
    text, kept = strings.summary(lines)
    assert "| codes, test, scan | 200 | 30.0% |" in text
    assert "FAIL" in text
    assert not kept
    lines = [{"setting": "codes, test, scan", "rejected": int(k < 12)} for k in range(200)]
    assert strings.summary(lines)[1]
    assert not strings.summary([*lines, {**lines[0], "rejected": 0, "error": "KeyError"}])[1]


def test_all_readers_have_the_same_data(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    monkeypatch.setattr(
        strings,
        "_test",
        lambda paths, *_: bool(seen.append([*map(Path.read_text, map(Path, paths))])),
    )
    for reader in ("pandas", "scan"):
        strings.run(f"codes, test, {reader}", 3)
    assert seen[0] == seen[1]
    assert len(seen[0]) == 1 + strings.BATCHES
    assert "A1" in seen[0][0]


@pytest.mark.parametrize("reader", [r for r in strings.READERS if r != "pyarrow"])
@pytest.mark.parametrize("tool", strings.TOOLS)
def test_each_reader_runs(
    tool: str, reader: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    small = strings._words(["true", "false"], [0.5, 0.5], 60, 30)
    monkeypatch.setitem(strings.DATA, "booleans", small)
    monkeypatch.setattr(strings, "BATCHES", 2)
    out = tmp_path / "strings.csv"
    name = f"booleans, {tool}, {reader}"
    options = ["--settings", name, "--runs", "1", "--permutations", "19", "--out", str(out)]
    assert strings.main(options) == 0
    found = pd.read_csv(out)
    assert found.setting.tolist() == [name]
    assert found.error.isna().all()
    assert found.refused.isna().all()
