"""Formatting of values and keyword arguments as Python code."""

from __future__ import annotations

import math
from typing import Any


class Code(str):
    """Python code, whose `repr` is the code itself."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def keywords(options: dict[str, Any]) -> str:
    """Format keyword arguments as code, with a comma before each: ", p=1, q=2".

    Arguments that are None, False or empty are skipped, except `scale`.

    Examples
    --------
    >>> keywords({"sep": ";", "header": Code("None"), "na_values": []})
    ", sep=';', header=None"
    """
    texts = {
        name: f"float({str(value)!r})" if value in (math.inf, -math.inf) else repr(value)
        for name, value in options.items()
        if name == "scale"
        or (value is not None and value is not False and value not in ([], (), {}))
    }
    return "".join(f", {name}={text}" for name, text in texts.items())
