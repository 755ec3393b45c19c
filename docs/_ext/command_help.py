"""``command-help``: what `isodepth COMMAND --help` says, as it says it."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive

#: Columns of a page.
WIDTH = 88


def help_of(words: list[str]) -> str:
    """The help of a command, in the width of a page."""
    from click.testing import CliRunner

    from isodepth.cli.program import cli

    width = {"terminal_width": WIDTH, "max_content_width": WIDTH}
    result = CliRunner().invoke(cli, [*words, "--help"], **width)
    if result.exit_code != 0:
        raise ValueError(f"isodepth {' '.join(words)} --help ends with {result.exit_code}")
    return result.stdout.rstrip()


class CommandHelp(Directive):
    """The words after the name of the directive are those of the command."""

    has_content = False
    optional_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        words = self.arguments[0].split() if self.arguments else []
        try:
            text = help_of(words)
        except ValueError as error:
            raise self.error(str(error)) from None
        block = nodes.literal_block(text, text)
        block["language"] = "text"
        return [block]


def setup(app: Any) -> dict[str, Any]:
    app.add_directive("command-help", CommandHelp)
    return {"version": "1", "parallel_read_safe": True}
