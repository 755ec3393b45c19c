"""docs/command_line.md shows the help of every command."""

from __future__ import annotations

import re

import click
from pages.examples import ROOT

from isodepth.cli.program import cli


def commands(group: click.Group, above: str = "") -> list[str]:
    """All commands, each with those below it."""
    found = []
    for name, command in group.commands.items():
        found.append(f"{above}{name}")
        if isinstance(command, click.Group):
            found += commands(command, f"{above}{name} ")
    return found


def test_every_command_is_on_the_page() -> None:
    page = (ROOT / "docs" / "command_line.md").read_text("utf-8")
    shown = re.findall(r"^```\{command-help\} (.+)$", page, re.MULTILINE)
    assert {"compare", "monitor fit"} <= set(shown)
    assert sorted(shown) == sorted(commands(cli))
