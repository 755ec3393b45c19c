"""Texts and tables as HTML: what comes from data is escaped, here and nowhere else."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from typing import Any

_DIGITS = 4
_CONTROL = dict.fromkeys({*range(32), 127} - set(map(ord, "\t\n\r")), "\ufffd")


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
    text = str(value).translate(_CONTROL)
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


def html_table(columns: Mapping[str, Sequence[Any]], most: int) -> str:
    """A plain table of named columns: the first `most` rows and twice as many columns.

    Examples
    --------
    >>> html_table({"name": ["a<b", "c"]}, 1).partition("</thead>")[2]
    '<tbody><tr><td>a&lt;b</td></tr></tbody></table><p>and 1 more rows</p>'
    """
    names = list(columns)
    rows = list(zip(*columns.values(), strict=True))
    head = "".join(f"<th>{escaped(name)}</th>" for name in names[: 2 * most])
    body = "".join(
        "<tr>" + "".join(f"<td>{escaped(shown(value))}</td>" for value in row[: 2 * most]) + "</tr>"
        for row in rows[:most]
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    left = {"rows": len(rows) - most, "columns": len(names) - 2 * most}
    more = " and ".join(f"{count} more {what}" for what, count in left.items() if count > 0)
    return f"{table}<p>and {more}</p>" if more else table
