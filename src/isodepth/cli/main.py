"""The command line: one module a command.

This module dispatches, and sees to it that a command ends with a code and at most one line.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Sequence
from typing import NoReturn, TextIO

from isodepth._version import __version__
from isodepth.cli.cite import add_cite_parser
from isodepth.cli.compare import add_compare_parser
from isodepth.cli.depth import add_depth_parser
from isodepth.cli.interrupts import prompt_interrupts
from isodepth.cli.many import add_nearest_parser, add_pairwise_parser
from isodepth.cli.monitor import add_monitor_parser
from isodepth.cli.outputs import Note
from isodepth.cli.report import add_report_parser
from isodepth.cli.score import add_score_parser
from isodepth.cli.test import add_test_parser
from isodepth.cli.warm_up import add_warm_up_parser
from isodepth.errors import IsodepthError

_BAD_INPUT = 2
# What shells and sysexits.h know for a disk that fails, an interrupt, and a pipe that was closed.
_OUTPUT_FAILED = 74
_INTERRUPTED = 130
_PIPE_CLOSED = 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        What follows the name of the command; `sys.argv` by default.

    Returns
    -------
    code : int
        0; 1 where `monitor check` rings; 2 after one line on stderr that says what is wrong with
        the input; 74 after one line where the output cannot be written; 130 after Ctrl-C; 141
        where nobody reads the output.
    """
    try:
        return _run(arguments)
    except KeyboardInterrupt:
        return _INTERRUPTED
    except _OutputFailed as failure:
        _give_up(sys.stdout)
        if isinstance(failure.reason, BrokenPipeError):
            return _PIPE_CLOSED
        reason = failure.reason.strerror or failure.reason
        _say("error", f"cannot write the report: {reason}")
        return _OUTPUT_FAILED
    except (IsodepthError, MemoryError) as error:
        _say("error", error if str(error) else "there is not enough memory")
        return _BAD_INPUT
    except OSError as error:
        _say("error", error)
        return _OUTPUT_FAILED


def _run(arguments: Sequence[str] | None) -> int:
    """Do what is asked for, and print it."""
    parser = _parser()
    if "_ARGCOMPLETE" in os.environ:  # a shell asks what could follow
        _complete(parser)
    try:
        options = parser.parse_args(arguments)
    except SystemExit as stop:  # argparse leaves this way, after help as after a mistake
        return int(stop.code or 0)
    options.arguments = sys.argv[1:] if arguments is None else list(arguments)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        # Where a command writes as it works, an interrupt waits until a file is whole.
        alone = arguments is None and not getattr(options, "writes", False)
        with prompt_interrupts(alone, _INTERRUPTED):
            result = options.work(options)
        notes = _texts(caught)
        finish = getattr(options, "finish", None)
        if finish is not None:
            finish(result, notes, options)
    notes = _texts(caught)
    gentle = {str(warning.message) for warning in caught if warning.category is Note}
    for note in notes:
        _say("note" if note in gentle else "warning", note)
    _print(options.report(result, notes, options) + "\n")
    code = getattr(options, "code", None)
    return 0 if code is None else code(result)


def _texts(caught: Sequence[warnings.WarningMessage]) -> list[str]:
    return list(dict.fromkeys(str(warning.message) for warning in caught))


def _complete(parser: argparse.ArgumentParser) -> None:
    """Answer a shell that completes a command line, and end; see the extra `cli`."""
    try:
        import argcomplete
    except ImportError:
        return
    argcomplete.autocomplete(parser)


class _OutputFailed(Exception):
    """Standard output is closed, full or not there."""

    def __init__(self, reason: OSError) -> None:
        self.reason = reason


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        # argparse prints its usage first; a program that reads stderr wants the reason alone.
        _say("error", f"{message} (see {self.prog} --help)")
        self.exit(_BAD_INPUT)

    def _print_message(self, message: str, file: object = None) -> None:
        # Help and version; argparse would not say that they cannot be written.
        _print(message)


#: In the order of the help.
_COMMANDS = (
    add_compare_parser,
    add_test_parser,
    add_pairwise_parser,
    add_nearest_parser,
    add_depth_parser,
    add_monitor_parser,
    add_report_parser,
    add_score_parser,
    add_warm_up_parser,
    add_cite_parser,
)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="isodepth",
        description="How far apart two samples are, and where, untroubled by a few outliers.",
    )
    parser.add_argument("--version", action="version", version=f"isodepth {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for add in _COMMANDS:
        add(commands)
    return parser


# -- output ---------------------------------------------------------------------------------------


def _say(kind: str, message: object) -> None:
    """One line on stderr, or none where that is closed or full."""
    try:
        print(f"isodepth: {kind}: {' '.join(str(message).split())}", file=sys.stderr, flush=True)
    except OSError:
        _give_up(sys.stderr)


def _print(text: str) -> None:
    """Write all of a text to stdout: what is left in a buffer fails when Python ends."""
    try:
        stream = sys.stdout
        if stream is None:
            raise OSError("there is no standard output")
        # Names of columns may have letters that the encoding of a terminal does not have.
        encoding = stream.encoding or "utf-8"
        content = text.encode(encoding, "backslashreplace")
        buffer = getattr(stream, "buffer", None)
        if buffer is None:
            stream.write(content.decode(encoding))
        else:
            stream.flush()
            # Without a buffer of Python's own (python -u) a pipe takes what it has room for, and
            # TextIOWrapper drops the rest.
            left = memoryview(content.replace(b"\n", os.linesep.encode()))
            while left:
                left = left[buffer.write(left) :]
        stream.flush()
    except OSError as error:
        raise _OutputFailed(error) from None


def _give_up(stream: TextIO | None) -> None:
    """Let what is left in the buffer go nowhere: Python would try again as it ends."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())  # type: ignore[union-attr]
        os.close(nowhere)
    except (OSError, ValueError, AttributeError):
        pass


if __name__ == "__main__":
    sys.exit(main())
