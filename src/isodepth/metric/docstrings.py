"""What options mean, said once: the docstring of Metric, repeated where they are taken."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import Any, TypeVar

from isodepth.metric.base import BaseMetric

#: A line of its own among the parameters of a docstring.
PLACE = "{options of Metric}"

Documented = TypeVar("Documented", bound=Callable[..., Any])


def with_metric_options(leave_out: Iterable[str] = ()) -> Callable[[Documented], Documented]:
    """Write the parameters of :class:`isodepth.Metric` into a docstring, where it says PLACE.

    So `help` and the reference explain every option at the function that takes it, and there is one
    place to change the text. What the docstring explains itself, and the options `leave_out`, which
    do not apply, are not written.
    """

    def decorate(documented: Documented) -> Documented:
        text = documented.__doc__
        if text is None:  # python -OO
            return documented
        text = inspect.cleandoc(text)
        if f"\n{PLACE}\n" not in text:
            raise ValueError(f"{documented.__qualname__} has no line {PLACE!r} in its docstring")
        known = {*leave_out, *re.findall(r"^(\w+) : ", text, re.MULTILINE)}
        defaults = {f.name: repr(f.default).replace("'", '"') for f in fields(BaseMetric)}
        lines = [
            "\n".join([f"{name} : {kind}, default {defaults[name]}", *description])
            for name, (kind, description) in metric_parameters().items()
            if name not in known
        ]
        documented.__doc__ = text.replace(PLACE, "\n".join(lines))
        return documented

    return decorate


def metric_parameters() -> dict[str, tuple[str, list[str]]]:
    """What the docstring of Metric says: for every parameter its type, and indented lines."""
    text = inspect.cleandoc(BaseMetric.__doc__ or "")
    section = text.partition("Parameters\n----------\n")[2].partition("\n\nExamples\n")[0]
    entries = re.findall(r"^(\w+) : (.+)\n((?:    .+\n)+)", f"{section}\n", re.MULTILINE)
    return {name: (kind, lines.splitlines()) for name, kind, lines in entries}
