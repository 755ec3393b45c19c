"""Jinja templates of reports and of results in notebooks, and formatting of values for HTML."""

from __future__ import annotations

import functools
import hashlib
import html
import io
import math
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from isodepth.base.export import p_text
from isodepth.base.extras import load_extra
from isodepth.show import style

_DIGITS = 4
# Resolution of images in SVG elements.
_DPI = 150
# Colors of `show.style` that are replaced by CSS variables, which have other values in dark mode.
_COLORS = ("INK", "QUIET", "FAINT", "PAPER", "FIRST", "SECOND", "MARK")
_CONTROL = dict.fromkeys({*range(32), 127} - set(map(ord, "\t\n\r")), "\ufffd")
# Characters that change the text direction, as in `isodepth.base.export.printable`.
_DIRECTIONS = {code: f"\\u{code:04x}" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}
_ESCAPES = _CONTROL | _DIRECTIONS


@functools.cache
def _environment() -> Environment:
    """Return the environment of all templates, which compiles each template once."""
    environment = Environment(
        loader=PackageLoader("isodepth.show"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
        finalize=lambda value: value if isinstance(value, Markup) else Markup(escaped(value)),
    )  # fmt: skip
    environment.tests["numbers"] = lambda values: all(map(_is_number, values))
    environment.filters |= {
        "percent": _percent, "shown": shown, "sort_key": _sort_key, "setting_text": _setting_text
    }  # fmt: skip
    environment.globals |= {"svg": lambda *drawn: inline_svg(*drawn), "p_text": p_text}
    return environment


def render(template: str, variables: Mapping[str, Any]) -> str:
    """Render a template of this package; all values except `Markup` objects are escaped.

    `template` is the name of a file, and `variables` are those of the template.
    """
    return _environment().get_template(template).render(variables)


def asset(name: str) -> Markup:
    """Return the file `name` of the folder of templates: a style or a script."""
    path = files("isodepth.show").joinpath("templates", name)
    return Markup(path.read_text("utf-8"))


def escaped(value: Any) -> str:
    """Convert a value to a string and escape it for elements and quoted attributes of HTML.

    Characters that HTML does not allow, such as the null byte, are replaced by U+FFFD. Characters
    that change the text direction are replaced by their codes.

    Examples
    --------
    >>> escaped('<b title="x">')
    '&lt;b title=&quot;x&quot;&gt;'
    >>> escaped("a\\x00b")
    'a\\ufffdb'
    >>> escaped("a\\u202eb")
    'a\\\\u202eb'
    """
    text = str(value).translate(_ESCAPES)
    # Lone surrogates cannot be encoded in UTF-8. They are replaced by question marks.
    text = text.encode("utf-8", "replace").decode("utf-8")
    return html.escape(text, quote=True)


def shown(value: Any) -> str:
    """Format a value for a cell of an HTML table: floats with four significant digits, None as "".

    Floats from 10,000 to 10 million, such as postal codes, are rounded to integers instead. NaN is
    shown as a dash. Positive floats below 1e-300, which are p-values, are only bounded.

    Examples
    --------
    >>> shown(0.123456), shown(12), shown(None), shown(True), shown(float("inf"))
    ('0.1235', '12', '', 'yes', '∞')
    >>> shown(98117.0), shown(-12345.6), shown(9999.6), shown(2.5e7), shown(2.3e-308)
    ('98117', '-12346', '10000', '2.5e+07', '<1e-300')
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
        if 9999.5 <= abs(value) < 1e7:
            return f"{value:.0f}"
        return "<1e-300" if 0 < value < 1e-300 else f"{value:.{_DIGITS}g}"
    return str(value)


def _percent(share: float) -> str:
    """Format a share with one decimal, without a decimal that is 0, and tiny shares as "<0.1%"."""
    return "<0.1%" if 0 < share < 0.0005 else f"{100 * share:.1f}".removesuffix(".0") + "%"


def _setting_text(value: Any) -> str:
    """Format the value of a setting: a string, a number, None, or the options of a metric."""
    if isinstance(value, dict):
        return ", ".join(f"{name} = {_setting_text(each)}" for name, each in value.items())
    return "none" if value is None else str(value)


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _sort_key(value: Any) -> str:
    """Return the string by which the script of a page sorts a table cell.

    It is "" for missing values, which come last.
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return str(value).replace("inf", "Infinity") if isinstance(value, float) else str(value)


def inline_svg(drawn: Any, alternative: str) -> Markup:
    """Convert axes or a figure to an SVG element for an HTML page.

    Equal figures give equal bytes.

    Parameters
    ----------
    drawn : matplotlib.axes.Axes or matplotlib.figure.Figure
    alternative : str
        Text for readers who cannot see the figure.
    """
    matplotlib = load_extra("matplotlib", "plot", "drawing")
    # SVG identifiers must differ between the figures of a page. matplotlib derives them from a
    # salt, for which a hash of the alternative text is used.
    salt = hashlib.sha256(alternative.encode("utf-8", "replace")).hexdigest()[:12]
    buffer = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": salt, "svg.fonttype": "path"}):
        getattr(drawn, "figure", drawn).savefig(
            buffer, format="svg", transparent=True, dpi=_DPI,
            metadata={"Date": None, "Creator": None, "Format": None, "Type": None},
        )  # fmt: skip
    text = buffer.getvalue().decode("utf-8")
    # The style element of the SVG is removed, because it would apply to the whole HTML page.
    unused = r"<metadata>.*?</metadata>|<!--.*?-->|<defs>\s*<style[^>]*>.*?</style>\s*</defs>"
    text = re.sub(rf"({unused})\s*", "", text[text.index("<svg") :].strip(), flags=re.DOTALL)
    text = re.sub(r'<g id="[A-Za-z0-9_.]*_[0-9]+"', "<g", text)
    text = re.sub(r'(\bid="|href="#|url\(#)', rf"\1p{salt}-", text)
    box = re.search(r'viewBox="[^"]*"', text)
    opening = (
        f'<svg {box.group() if box else ""} role="img" '
        f'aria-label="{escaped(alternative)}"><title>{escaped(alternative)}</title>'
    )
    text = opening + text[text.index(">") + 1 :]
    for name in _COLORS:
        text = text.replace(f": {getattr(style, name)}", f": var(--{name.lower()})")
    return Markup(text)
