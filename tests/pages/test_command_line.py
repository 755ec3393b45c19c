"""docs/command_line.md shows the help of every command."""

from __future__ import annotations

import re

import pytest
from pages.examples import ROOT

from isodepth.cli import main


def commands(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    """The commands that a help lists, each with those below it."""
    assert main([*words, "--help"]) == 0
    shown = capsys.readouterr().out
    names = re.findall(r"^    ([a-z][\w-]*)(?:  |$)", shown, re.MULTILINE)
    found = []
    for name in names:
        found += [" ".join([*words, name]), *commands(capsys, *words, name)]
    return found


def test_every_command_is_on_the_page(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("NO_COLOR", "1")
    page = (ROOT / "docs" / "command_line.md").read_text("utf-8")
    shown = re.findall(r"^```\{command-help\} (.+)$", page, re.MULTILINE)
    there = commands(capsys)

    assert {"compare", "monitor fit"} <= set(there)
    assert sorted(shown) == sorted(there)
