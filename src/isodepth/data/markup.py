"""Texts and tables as HTML: what comes from data is escaped, here and nowhere else."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from typing import Any

_DIGITS = 4


def escaped(value: Any) -> str:
    """A value as text that is safe inside elements and quoted attributes of HTML.

    Characters that HTML does not allow, such as the null byte, become the replacement character.

    Examples
    --------
    >>> escaped('<b title="x">')
    '&lt;b title=&quot;x&quot;&gt;'
    >>> escaped("a\\x00b")
    'a\\ufffdb'
    """
    text = "".join(
        letter if letter in "\t\n\r" or (letter >= " " and letter != "\x7f") else "\ufffd"
        for letter in str(value)
    )
    # Half of a surrogate pair cannot be written in UTF-8.
    text = text.encode("utf-8", "replace").decode("utf-8")
    return html.escape(text, quote=True)


def shown(value: Any) -> str:
    """A cell of a table for people: numbers with a few digits, nothing for None.

    Examples
    --------
    >>> shown(0.123456), shown(12), shown(None), shown(True), shown(float("inf"))
    ('0.1235', '12', '', 'yes', '∞')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        if math.isnan(value):
            return "–"
        if math.isinf(value):
            return "∞" if value > 0 else "−∞"
        return f"{value:.{_DIGITS}g}"
    return str(value)


def html_table(columns: Mapping[str, Sequence[Any]], most: int | None = None) -> str:
    """A plain table of named columns; of more than `most` rows the first, and how many follow.

    Of more than twice as many columns, also the first alone.

    Examples
    --------
    >>> html_table({"name": ["a<b"], "share": [0.25]})
    '<table><thead><tr><th>name</th><th>share</th></tr></thead><tbody><tr><td>a&lt;b</td><td>0.25</td></tr></tbody></table>'
    """
    names = list(columns)
    rows = list(zip(*columns.values(), strict=True))
    wide = 0 if most is None else len(names) - 2 * most
    if most is not None and wide > 0:
        names, rows = names[: 2 * most], [row[: 2 * most] for row in rows]
    head = "".join(f"<th>{escaped(name)}</th>" for name in names)
    body = "".join(
        "<tr>" + "".join(f"<td>{escaped(shown(value))}</td>" for value in row) + "</tr>"
        for row in rows[:most]
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    left = 0 if most is None else len(rows) - most
    more = [f"{left} more rows"] if left > 0 else []
    more += [f"{wide} more columns"] if wide > 0 else []
    return f"{table}<p>and {' and '.join(more)}</p>" if more else table
