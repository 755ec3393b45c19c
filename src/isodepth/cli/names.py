"""Names in messages of a command: flags in place of options, and commands in place of functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from isodepth.base.messages import Names, plain_text

# Commands by the name of the function that they call.
_COMMANDS = {"two_sample_test": "isodepth test"}


class CommandNames(Names):
    """Names in messages of the command with the parameters `params`.

    `samples` has the names of samples by their names in messages of the library.

    Examples
    --------
    >>> from isodepth.base.messages import Message
    >>> names = CommandNames([click.Option(["--nan-policy"]), click.Option(["--drop"])])
    >>> advice = Message("use {--nan_policy='keep'}, {--omit=} or {two_sample_test()}", omit="id")
    >>> advice.rendered(names)
    'use --nan-policy keep, --drop id or isodepth test'
    """

    python = False

    def __init__(
        self, params: Sequence[click.Parameter], samples: Mapping[str, str] | None = None
    ) -> None:
        self._samples = samples or {}
        self._metavars = {each.name: each.metavar for each in params if each.metavar}
        self._choices = {each.name: getattr(each.type, "choices", None) for each in params}
        flags = {str(each.name): max(each.opts, key=len) for each in params}
        self._flags = {name: flag for name, flag in flags.items() if flag.startswith("-")}
        # Messages of `monitor check` name the option of `monitor fit`.
        self._flags.setdefault("nan_policy", "--nan-policy")
        # Commands without categories leave out such columns; a monitor has the kinds of its fit.
        if "drop" in self._flags:
            without = "--category" if any(each.name == "monitor" for each in params) else "--drop"
            self._flags |= {"omit": "--drop", "category": self._flags.get("category", without)}

    def option(self, name: str) -> str:
        return self._flags.get(name) or super().option(name)

    def setting(self, name: str, value: Any) -> str:
        # The commands that compute a distance have "omit" in place of "keep".
        choices = self._choices.get(name)
        if name == "nan_policy" and choices and value not in choices:
            value = choices[0]
        flag = self._flags.get(name)
        if flag is None:
            return super().setting(name, value)
        shown = value if isinstance(value, str) else plain_text(value)
        if value is None or shown == "...":
            shown = "none" if value is None else self._metavars.get(name, "VALUE")
        return f"{flag} {shown}"

    def sample(self, role: str) -> str:
        return self._samples.get(role, role)

    def function(self, name: str) -> str:
        return _COMMANDS.get(name, name)
