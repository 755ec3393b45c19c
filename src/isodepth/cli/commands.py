"""Base classes of the commands: output as lines or JSON, warnings, errors and exit codes."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

import click

from isodepth.base.export import printable
from isodepth.base.messages import Message, rendered
from isodepth.base.options import option_error, suggested_name
from isodepth.base.paths import system_reason
from isodepth.cli.names import CommandNames
from isodepth.errors import (
    DegenerateDepthWarning,
    InvalidOptionError,
    IsodepthError,
)

#: Exit codes.
INPUT_ERROR = 2
INTERRUPTED = 130
# Names of the parameters that are output files, and of the options that are input files. Positional
# arguments are input files as well.
_OUTPUTS = ("output", "page")
_INPUTS = ("reference", "candidates", "references")


class Note(UserWarning):
    """Category of warnings that only inform the user, shown as "note" instead of "warning"."""


def note(message: str) -> None:
    """Issue a note, which the command prints on stderr and includes in its JSON output."""
    warnings.warn(Note(message), stacklevel=2)


def progress_wanted() -> bool:
    """Return whether to show a progress bar: if stderr is a terminal and tqdm is installed."""
    return sys.stderr is not None and sys.stderr.isatty() and find_spec("tqdm") is not None


@dataclass
class Answer:
    """Result of a command: printed lines, content of the JSON output, and exit code.

    If the command failed after a part of its work, `failure` is the error. It is raised after the
    result of this part is printed.
    """

    lines: Sequence[str]
    content: dict[str, Any]
    code: int = 0
    failure: BaseException | None = None


@dataclass
class Session:
    """One run of the program.

    Attributes
    ----------
    arguments : sequence of str
        Arguments of the program.
    caught : list
        Warnings issued so far.
    about : str
        Files that errors of the library are about, in parentheses.
    samples : dict
        Names of samples by their names in messages of the library.
    """

    arguments: Sequence[str]
    caught: list[warnings.WarningMessage] = field(default_factory=list)
    about: str = ""
    samples: dict[str, str] = field(default_factory=dict)

    def notes(self) -> list[tuple[str, str]]:
        """Return pairs ("note" or "warning", message) for the distinct warnings of the run.

        Of the warnings about a depth that cannot order a few points, which may occur for each
        sample, only the first is returned.
        """
        depths = [each for each in self.caught if each.category is DegenerateDepthWarning]
        names = command_names()
        levels = {
            rendered(each.message, names): "note" if issubclass(each.category, Note) else "warning"
            for each in self.caught
            if issubclass(each.category, UserWarning) and each not in depths[1:]
        }
        return [(level, message) for message, level in levels.items()]

    def error_text(self, error: IsodepthError) -> str:
        """Return the message of an error, with flags and the names of the samples."""
        names, text = command_names(), rendered(error, command_names())
        option = error.option if isinstance(error, InvalidOptionError) else None
        if option is None or names.option(option) == option:
            return f"{text} ({self.about})" if self.about else text
        message = error.args[0]
        mentioned = isinstance(message, Message) and option in message.options
        return text if mentioned else f"{names.option(option)}: {text}"


def session() -> Session:
    """Return the `Session` object of the current run."""
    return click.get_current_context().obj


def command_names() -> CommandNames:
    """Return the names in messages of the current command."""
    return CommandNames(click.get_current_context().command.params, session().samples)


class Command(click.Command):
    """Command that prints its answer as lines, or as JSON with --json."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.params.append(click.Option(["--json"], is_flag=True, help="Print JSON."))

    def invoke(self, ctx: click.Context) -> int:
        """Run the command, print its answer, notes and warnings, and return the exit code."""
        as_json = ctx.params.pop("json")
        try:
            _refuse_outputs_that_are_inputs(self.params, ctx.params)
            answer: Answer = super().invoke(ctx)
            _print_answer(answer, ctx.obj.notes(), as_json)
            if answer.failure is not None:
                raise answer.failure
        except IsodepthError as error:
            raise click.ClickException(ctx.obj.error_text(error)) from error
        return answer.code


def _print_answer(answer: Answer, notes: Sequence[tuple[str, str]], as_json: bool) -> None:
    for level, text in notes:
        _say(level, text)
    if as_json:
        content = {**answer.content, "warnings": [text for _, text in notes]}
        _print(json.dumps(content, indent=2, allow_nan=False), sys.stdout)
    else:
        names = command_names()
        _print("\n".join(rendered(line, names) for line in answer.lines), sys.stdout)


class CommandLine(click.Group):
    """Group of all commands, which converts an error to one line on stderr and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order in which they were added."""
        return list(self.commands)

    def main(self, args: Any = None, prog_name: Any = None, **extra: Any) -> NoReturn:  # type: ignore[override]
        """Run a command, then end the program with its exit code."""
        extra["standalone_mode"] = False
        arguments = sys.argv[1:] if args is None else list(args)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            try:
                extra["obj"] = Session(arguments, caught)
                code = super().main(arguments, prog_name, **extra)
            except (click.Abort, KeyboardInterrupt):
                code = INTERRUPTED
            except SystemExit as stop:
                # Click may exit with code 1. Replace this code, because here 1 means an alarm.
                code = INPUT_ERROR if stop.code else 0
            except Exception as error:
                code = INPUT_ERROR
                _say("error", _reason(error))
        sys.exit(code)


def _reason(error: Exception) -> str:
    """Return the message about an error; "" if the reader of the output closed the pipe."""
    if isinstance(error, BrokenPipeError):
        return ""
    if isinstance(error, click.NoSuchOption) and error.ctx is not None:
        # Click would suggest --scale for --seed.
        params = error.ctx.command.params
        wrong = error.option_name.lstrip("-").replace("-", "_")
        meant = suggested_name(wrong, [str(each.name) for each in params], CommandNames(params))
        message = f"No such option {error.option_name!r}{meant}"
        error = click.NoSuchOption(error.option_name, message, ctx=error.ctx)
    if isinstance(error, click.UsageError):
        path = "isodepth" if error.ctx is None else error.ctx.command_path
        return f"{error.format_message()} (see {path} --help)"
    if isinstance(error, OSError) and error.strerror:
        file = "" if error.filename is None else f"{error.filename}: "
        return f"{file}{system_reason(error)}"
    if isinstance(error, click.ClickException | OSError | MemoryError):
        return str(error) or "there is not enough memory"
    return f"unexpected {type(error).__name__}: {error}; please report this"


def _refuse_outputs_that_are_inputs(
    params: Sequence[click.Parameter], values: Mapping[str, Any]
) -> None:
    """Raise an error if an output would overwrite an input file or a file of an input folder."""
    inputs = [
        path
        for param in params
        if isinstance(param, click.Argument) or param.name in _INPUTS
        for path in _paths(values.get(str(param.name)))
    ]
    for name in _OUTPUTS:
        for output in _paths(values.get(name)):
            if any(_same_file(output, each) for each in inputs):
                raise option_error(
                    "{output} is one of the input files and would be overwritten; choose another "
                    "name", name, output=output,
                )  # fmt: skip


def _paths(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value or ())


def _same_file(output: str, path: str) -> bool:
    root = Path(path)
    # An error means that a path is not a file. The paths are then not the same file.
    with suppress(OSError, ValueError):
        files = filter(Path.exists, root.rglob("*")) if root.is_dir() else [root]
        return any(file.samefile(output) for file in files)
    return False


# -- output ---------------------------------------------------------------------------------------


def _say(level: str, message: str) -> None:
    """Print a nonempty message on stderr, as one line that starts with "isodepth: `level`: ".

    Errors of writing to stderr are ignored.
    """
    if message:
        with suppress(OSError):
            _print(f"isodepth: {level}: {' '.join(message.split())}", sys.stderr)


def _print(text: str, stream: Any) -> None:
    """Print a string. Escape control characters, and characters that cannot be encoded."""
    if stream is None:
        raise OSError("there is no standard output")
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        text = printable(text)
        print(text.encode(encoding, "backslashreplace").decode(encoding), file=stream, flush=True)
    except OSError:
        # Redirect the stream to the null device. Otherwise Python would try again to write the
        # buffer when the interpreter exits.
        with suppress(OSError, ValueError, AttributeError), open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), stream.fileno())
        raise
