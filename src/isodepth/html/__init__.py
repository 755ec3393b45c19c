"""Jinja templates of reports and of results in notebooks, and formatting of values for HTML."""

from __future__ import annotations

import html
import math
from collections.abc import Callable
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

_DIGITS = 4
_CONTROL = dict.fromkeys({*range(32), 127} - set(map(ord, "\t\n\r")), "\ufffd")


def render(
    template: str, variables: dict[str, Any], functions: dict[str, Callable[..., Any]] | None = None
) -> str:
    """Render a template of this package; all values except `Markup` objects are escaped.

    `functions` are available in the template and in the macros that it imports.
    """
    environment = Environment(
        loader=PackageLoader("isodepth.html"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
        finalize=lambda value: value if isinstance(value, Markup) else Markup(escaped(value)),
    )  # fmt: skip
    environment.tests["numbers"] = lambda values: all(map(_is_number, values))
    environment.filters |= {"percent": "{:.1%}".format, "shown": shown, "sort_key": _sort_key}
    environment.globals.update(functions or {})
    return environment.get_template(template).render(variables)


def escaped(value: Any) -> str:
    """Convert a value to a string and escape it for elements and quoted attributes of HTML.

    Characters that HTML does not allow, such as the null byte, are replaced by U+FFFD.

    Examples
    --------
    >>> escaped('<b title="x">')
    '&lt;b title=&quot;x&quot;&gt;'
    >>> escaped("a\\x00b")
    'a\\ufffdb'
    """
    text = str(value).translate(_CONTROL)
    # Lone surrogates cannot be encoded in UTF-8. They are replaced by question marks.
    text = text.encode("utf-8", "replace").decode("utf-8")
    return html.escape(text, quote=True)


def shown(value: Any) -> str:
    """Format a value for a cell of an HTML table: floats with four significant digits, None as "".

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


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _sort_key(value: Any) -> str:
    """Return the key by which the script of a page sorts a table cell.

    The key of missing values is "", which comes last.
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return str(value).replace("inf", "Infinity") if isinstance(value, float) else str(value)
