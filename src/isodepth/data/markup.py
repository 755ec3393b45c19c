"""Strings and tables as HTML. All strings from data are escaped here."""

from __future__ import annotations

import functools
import html
import math
from collections.abc import Mapping, Sequence
from typing import Any

_DIGITS = 4
_CONTROL = dict.fromkeys({*range(32), 127} - set(map(ord, "\t\n\r")), "\ufffd")


def escaped(value: Any) -> str:
    """Escape a value for elements and quoted attributes of HTML.

    Characters that HTML does not allow, such as the null byte, are replaced by U+FFFD.

    Examples
    --------
    >>> escaped('<b title="x">')
    '&lt;b title=&quot;x&quot;&gt;'
    >>> escaped("a\\x00b")
    'a\\ufffdb'
    """
    text = str(value).translate(_CONTROL)
    # A lone surrogate cannot be encoded in UTF-8.
    text = text.encode("utf-8", "replace").decode("utf-8")
    return html.escape(text, quote=True)


def shown(value: Any) -> str:
    """Format a cell of a table: four significant digits, and "" for None.

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
    """Format named columns as a table: the first `most` rows and twice that number of columns.

    Examples
    --------
    >>> html_table({"name": ["a<b", "c"]}, 1).partition("</thead>")[2]
    '<tbody><tr><td>a&lt;b</td></tr></tbody></table><p>and 1 more rows</p>'
    """
    rows = list(zip(*columns.values(), strict=True))
    hidden = {"rows": len(rows) - most, "columns": len(columns) - 2 * most}
    more = " and ".join(f"{count} more {what}" for what, count in hidden.items() if count > 0)
    return _table_template().render(
        names=[escaped(name) for name in columns][: 2 * most],
        rows=[[escaped(shown(cell)) for cell in row[: 2 * most]] for row in rows[:most]],
        more=more,
    )


@functools.cache
def _table_template() -> Any:
    from jinja2 import Template

    return Template(
        "<table><thead><tr>{% for name in names %}<th>{{ name }}</th>{% endfor %}</tr></thead>"
        "<tbody>{% for row in rows %}<tr>{% for cell in row %}<td>{{ cell }}</td>{% endfor %}</tr>"
        "{% endfor %}</tbody></table>{% if more %}<p>and {{ more }}</p>{% endif %}"
    )
