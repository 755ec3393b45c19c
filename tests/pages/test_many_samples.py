"""The examples of docs/many_samples.md run, and print what the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "many_samples.md"


def test_examples_print_what_they_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    code = "\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL))
    exec(compile(code, str(PAGE), "exec"), {"__name__": "page"})
    printed = capsys.readouterr().out.splitlines()
    prints = [line for line in code.splitlines() if line.lstrip().startswith("print(")]
    assert len(printed) == len(prints) > 8
    for line, got in zip(prints, printed, strict=True):
        _, _, said = line.rpartition("  # ")
        if said != line and "..." not in said:
            assert got == said.strip()
    assert "differ in seed" in "\n".join(printed)
