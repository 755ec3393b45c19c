"""What all commands share: examples in the help, JSON, notes, and how a command ends."""

from __future__ import annotations

import json
import os
import re
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, NoReturn

import click

from isodepth.errors import IsodepthError

_INPUT_ERROR = 2
_INTERRUPTED = 130


class Note(UserWarning):
    """Something to know about a file, which is not a fault."""


def note(text: str) -> None:
    """Say something on stderr, and among the warnings of the JSON."""
    warnings.warn(text, Note, stacklevel=2)


def progress_wanted() -> bool:
    """Whether to show progress: on a terminal, if there is tqdm, and never in a pipe."""
    return sys.stderr is not None and sys.stderr.isatty() and find_spec("tqdm") is not None


@dataclass
class Answer:
    """What a command has to say: lines for people, content for JSON, and the exit code."""

    lines: Sequence[str]
    content: dict[str, Any]
    code: int = 0


@dataclass
class Session:
    """One run of the program: what was typed, and the warnings so far."""

    arguments: Sequence[str]
    caught: list[warnings.WarningMessage] = field(default_factory=list)

    def notes(self) -> list[tuple[str, str]]:
        """Warnings so far as pairs of a kind and a text, in the words of the command line."""
        params = click.get_current_context().command.params
        found = {}
        for each in self.caught:
            if issubclass(each.category, UserWarning):
                kind = "note" if issubclass(each.category, Note) else "warning"
                found[_with_flags(str(each.message), params)] = kind
        return [(kind, text) for text, kind in found.items()]


def session() -> Session:
    """The present run."""
    return click.get_current_context().obj


class Command(click.Command):
    """A command that prints its answer, as JSON where it is asked to."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.params.append(click.Option(["--json"], is_flag=True, help="Print JSON."))

    def invoke(self, ctx: click.Context) -> int:
        """Run the command and print its answer; what it is asked to write is written by then."""
        as_json = ctx.params.pop("json")
        try:
            answer: Answer = super().invoke(ctx)
        except IsodepthError as error:
            raise click.ClickException(_with_flags(str(error), self.params)) from error
        notes = ctx.obj.notes()
        for kind, text in notes:
            _say(kind, text)
        if as_json:
            content = {**answer.content, "warnings": [text for _, text in notes]}
            _print(json.dumps(content, indent=2, allow_nan=False), sys.stdout)
        else:
            _print("\n".join(answer.lines), sys.stdout)
        return answer.code


class CommandLine(click.Group):
    """All commands. Each ends with a code and at most one line on what is wrong."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order in which they were added."""
        return list(self.commands)

    def main(self, args: Any = None, prog_name: Any = None, **extra: Any) -> NoReturn:  # type: ignore[override]
        """Run a command and end the program."""
        extra["standalone_mode"] = False
        arguments = sys.argv[1:] if args is None else list(args)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            try:
                extra["obj"] = Session(arguments, caught)
                code = super().main(arguments, prog_name, **extra)
            except (click.Abort, KeyboardInterrupt):
                code = _INTERRUPTED
            except SystemExit as stop:  # Click leaves this way with 1, which is the alarm's code
                code = _INPUT_ERROR if stop.code else 0
            except Exception as error:
                code = _INPUT_ERROR
                _say("error", _reason(error))
        sys.exit(code)


def _reason(error: Exception) -> str:
    """One line on what is wrong; nothing where nobody reads the output any more."""
    if isinstance(error, BrokenPipeError):
        return ""
    if isinstance(error, click.UsageError):
        path = "isodepth" if error.ctx is None else error.ctx.command_path
        return f"{error.format_message()} (see {path} --help)"
    if isinstance(error, click.ClickException | OSError | MemoryError):
        return str(error) or "there is not enough memory"
    return f"unexpected {type(error).__name__}: {error}; please report this"


def _with_flags(message: str, params: Sequence[click.Parameter]) -> str:
    """A message of the library with options as they are given on the command line.

    Examples
    --------
    >>> _with_flags("n_levels must be 2; use levels='exact'", [
    ...     click.Option(["--n-levels"]), click.Option(["--levels"])])
    '--n-levels must be 2; use --levels exact'
    """
    for param in params:
        if isinstance(param, click.Option) and param.name:
            flag, name = max(param.opts, key=len), param.name
            message = re.sub(rf"\b{name}='?([\w.-]+)'?", rf"{flag} \1", message)
            message = re.sub(rf"^{name}(?= (must|belongs|does|needs|only)\b)", flag, message)
    return message


# -- output ---------------------------------------------------------------------------------------


def _say(kind: str, message: str) -> None:
    """One line on stderr, or none where that is closed or full."""
    if message:
        with suppress(OSError):
            _print(f"isodepth: {kind}: {' '.join(message.split())}", sys.stderr)


def _print(text: str, stream: Any) -> None:
    """Print; names of files and columns may have letters that a terminal cannot show."""
    if stream is None:
        raise OSError("there is no standard output")
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        print(text.encode(encoding, "backslashreplace").decode(encoding), file=stream, flush=True)
    except OSError:
        # What is left in the buffer goes nowhere: Python would try to write it as it ends.
        with suppress(OSError, ValueError, AttributeError), open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), stream.fileno())
        raise
