"""Messages of the library in the terms of the command line: flags instead of Python options."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import click

from isodepth.errors import IsodepthError

# The option `kinds` in messages that also name the flag.
_KINDS = re.compile(r"kinds=\{[^{}]*\}, (?=--)")
# Option with a value, such as nan_policy='keep' or levels=20.
_ASSIGNMENT = re.compile(r"\b(\w+)=(['\"]?)([\w.]+)\2(?![\w=])")
# Advice to choose another kind of a column, or to remove one or two options.
_CHOICE = re.compile(r"\bchoose '(category|numeric)'")
_REMOVAL = re.compile(r"\b(?<=remove )(\w+)(?: or (\w+))?\b(?!-)")
# One or two options at the start of a message.
_SUBJECT = re.compile(r"^(\w+)(?: and (\w+))?(?= (?:must|has no|have no|needs|exclude)\b)")
# Alternative of a value that only Python has, such as "; or None, which chooses by q".
_PYTHON_ALTERNATIVE = re.compile(r"; or [^;]*\bNone\b[^;]*")


def flags_of(params: Sequence[click.Parameter]) -> dict[str, str]:
    """Return a dictionary from the names of options to their flags; arguments have no flag."""
    flags = {str(each.name): max(each.opts, key=len) for each in params}
    return {name: flag for name, flag in flags.items() if flag.startswith("-")}


def command_message(message: str, params: Sequence[click.Parameter]) -> str:
    """Return a message of the library with flags in place of options and functions of Python.

    `params` are the parameters of the command.

    Examples
    --------
    >>> options = [click.Option(["--nan-policy"]), click.Option(["--category"])]
    >>> command_message("use nan_policy='keep' or two_sample_test", options)
    'use --nan-policy keep or isodepth test'
    >>> command_message("3 distinct values; choose 'category' if they are codes", options)
    '3 distinct values; choose --category if they are codes'
    """
    # Messages of `monitor check` name the option --nan-policy of `monitor fit`.
    flags = {"nan_policy": "--nan-policy", **flags_of(params)}
    choices = {each.name: each.type.choices for each in params if hasattr(each.type, "choices")}

    def assigned(match: re.Match[str]) -> str:
        value = "none" if match[3] == "None" else match[3]
        # The commands that compute a distance have "omit" in place of "keep".
        if match[1] == "nan_policy" and value not in choices.get("nan_policy", [value]):
            value = choices["nan_policy"][0]
        return f"{flags[match[1]]} {value}" if match[1] in flags else match[0]

    message = _KINDS.sub("", message).replace("blocks=...", "--blocks COLUMN")
    message = choices_message(_ASSIGNMENT.sub(assigned, message), params)
    message = message.replace("(two_sample_test, isodepth test)", "(isodepth test)")
    return message.replace("two_sample_test", "isodepth test")


def choices_message(message: str, params: Sequence[click.Parameter]) -> str:
    """Return a message with flags in advice about kinds of columns, such as "choose 'numeric'".

    Commands without categories leave out such columns.
    """
    flags = flags_of(params)
    if "category" not in flags:
        flags["category"] = flags.get("drop", "'category'")
    return _CHOICE.sub(lambda match: f"choose {flags.get(match[1], repr(match[1]))}", message)


def error_message(error: IsodepthError, params: Sequence[click.Parameter]) -> str:
    """Return the message of an error for a command with the parameters `params`.

    The message starts with the flag of the option that the error is about.

    Examples
    --------
    >>> from isodepth.errors import InvalidOptionError
    >>> options = [click.Option(["--n-directions", "n_directions"])]
    >>> error_message(InvalidOptionError("n_directions must be 1", option="n_directions"), options)
    '--n-directions must be 1'
    """
    flags = flags_of(params)

    def named(match: re.Match[str]) -> str:
        names = [flags.get(name, name) for name in match.groups() if name is not None]
        return (" and " if match.re is _SUBJECT else " or ").join(names)

    message = _PYTHON_ALTERNATIVE.sub("", command_message(str(error), params))
    message = _REMOVAL.sub(named, _SUBJECT.sub(named, message))
    flag = flags.get(getattr(error, "option", None) or "", "")
    return message if message.startswith(flag) else f"{flag}: {message}"


def with_files(message: str, values: Mapping[str, Any]) -> str:
    """Add the names of the files to a message about the arguments "X" and "Y" of a function."""
    files = [values["x"], values["y"]] if "x" in values else values.get("files", ())
    if len(files) != 2 or not re.search(r"\b[XY]\b", message):
        return message
    return f"{message} (X is {files[0]}, Y is {files[1]})"
