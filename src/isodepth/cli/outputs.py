"""What commands write: checked before the work, written after it, whole or not at all."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from isodepth.data.extras import load_extra
from isodepth.data.output import check_target
from isodepth.errors import InvalidOptionError

_PAGES = (".html", ".htm")


class Note(UserWarning):
    """Something to know about a file, which is not a fault."""


def note(text: str) -> None:
    """Say something on stderr, and among the warnings of the JSON."""
    warnings.warn(text, Note, stacklevel=2)


def as_json(content: dict[str, Any], notes: list[str]) -> str:
    """The form for machines of all commands."""
    return json.dumps({**content, "warnings": notes}, indent=2, allow_nan=False)


def progress_wanted() -> bool:
    """Whether to show progress: on a terminal, if there is tqdm, and never in a pipe."""
    return sys.stderr is not None and sys.stderr.isatty() and find_spec("tqdm") is not None


def command_line(options: argparse.Namespace) -> str:
    """What was typed, to be typed again."""
    return shlex.join(["isodepth", *getattr(options, "arguments", [])])


def check_outputs(options: argparse.Namespace) -> None:
    """Check that a picture and a report can be made and written, before the work."""
    if getattr(options, "plot", None) is not None:
        from isodepth.plot.picture import check_picture

        check_picture(options.plot)
    path = getattr(options, "page", None)
    if path is not None:
        if Path(path).suffix.lower() not in _PAGES:
            raise InvalidOptionError(
                f"cannot write {path}: a report is a page of HTML, and its name must end in .html"
            )
        check_target(path)
        load_extra("matplotlib.figure", "plot", "a report with pictures")


def save_plot(drawn: Any, path: str | None) -> None:
    """Write what a function of `isodepth.plot` drew; nothing where nobody asked."""
    if path is not None:
        from isodepth.plot.picture import save_picture

        save_picture(getattr(drawn, "figure", drawn), path)


def save_report(result: Any, options: argparse.Namespace, notes: list[str], **more: Any) -> None:
    """Write the report that `--report` asks for."""
    if options.page is not None:
        result.report(options.page, notes=notes, command=command_line(options), **more)


def add_pictures(group: Any, drawn: str) -> None:
    """Add `--plot` and `--report`."""
    group.add_argument("--plot", metavar="FILE", help=f"draw {drawn} (.png, .pdf, .svg)")
    group.add_argument(
        "--report", dest="page", metavar="FILE",
        help="write a report: one page of HTML that needs nothing else",
    )  # fmt: skip
