"""How commands look: their help with examples that run, and the options that all of them have."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

_EXAMPLES = "examples:\n"
TABLES = "(.csv, .tsv, .parquet, .feather, .npy, .npz; also .gz; - for standard input)"


class _HelpFormatter(argparse.HelpFormatter):
    """Wraps descriptions, and leaves examples as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if text.startswith(_EXAMPLES):
            return "".join(indent + line for line in text.splitlines(keepends=True))
        return super()._fill_text(text, width, indent)


def add_command(
    commands: Any, name: str, summary: str, description: str, examples: Sequence[str]
) -> argparse.ArgumentParser:
    """A parser for a command; every example is a line that runs."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=description,
        epilog=_EXAMPLES + "\n".join(f"  {example}" for example in examples),
        formatter_class=_HelpFormatter,
    )
    return parser


def add_json(group: Any) -> None:
    """Add the form for machines."""
    group.add_argument("--json", action="store_true", help="print JSON for machines")
