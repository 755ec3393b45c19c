"""docs/command_line.md contains the help of every command."""

from __future__ import annotations

import re

import click
from pages.examples import ROOT

from isodepth.cli.program import cli


def commands(group: click.Group, parent: str = "") -> list[str]:
    """Return the names of all commands and subcommands."""
    names = []
    for name, command in group.commands.items():
        names.append(f"{parent}{name}")
        if isinstance(command, click.Group):
            names += commands(command, f"{parent}{name} ")
    return names


def test_every_command_is_on_the_page() -> None:
    page = (ROOT / "docs" / "command_line.md").read_text("utf-8")
    shown = re.findall(r"^```\{command-help\} (.+)$", page, re.MULTILINE)
    assert {"compare", "monitor fit"} <= set(shown)
    assert sorted(shown) == sorted(commands(cli))
